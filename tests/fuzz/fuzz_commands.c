/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_commands.c: any bytes as a command stream, in pieces of any size: the same commands as when the whole is looked at in memory. First
 * byte: bit 0 the size of ids, the rest the seed of the pieces. */
#include "../unit/command_check.h"
#include "fuzz.h"

/* What is behind the last whole command must be why there is no other. */
static void check_end(const struct hpx_commands *p, const uint8_t *rest, size_t n, bool ended)
{
    bool broken = n >= 9 && rest[0] != 0xFF && command_number(rest + 5, 4) > HPX_COMMAND_MAX_LENGTH;
    if (ended) {
        require(p->state == HPX_COMMANDS_ENDED, "EOF did not end it");
    } else if (broken) {
        require(p->state == HPX_COMMANDS_BROKEN, "a length that cannot be was taken");
    } else {
        require(p->state == HPX_COMMANDS_OPEN, "ended without reason");
        require(n == 0 || (rest[0] != 0xFF && (n < 9 || n - 9 < command_number(rest + 5, 4))), "a whole command was not found");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    uint8_t id_size = data[0] & 1 ? 4 : 8;
    uint32_t seed = data[0] >> 1;
    struct hpx_commands p;
    hpx_commands_init(&p, id_size);
    const uint8_t *from = ++data;
    size--;
    size_t at = 0; /* of the next command in the whole */
    bool ended = false;
    for (size_t fed = 0; fed < size;) {
        seed = seed * 1103515245u + 12345u;
        size_t piece = 1 + (seed >> 16) % 24;
        piece = piece < size - fed ? piece : size - fed;
        uint8_t *own = malloc(piece); /* the address sanitizer sees a read behind the piece */
        require(own != NULL, "no memory");
        memcpy(own, from + fed, piece);
        for (size_t done = 0, next = 0; done < piece || next > 0;) {
            struct hpx_command c;
            bool found;
            size_t taken = hpx_commands_feed(&p, own + done, piece - done, &c, &found);
            require(taken <= piece - done, "took more than there was");
            done += taken;
            next = 0;
            if (found) {
                require(!ended && command_agrees(data + at, size - at, &c, id_size, &next), "another command");
                ended = c.tag == HPX_COMMAND_EOF;
                at += next;
                require(ended || at <= fed + done, "a command before its last byte");
            } else {
                require(done == piece, "bytes left without a command");
            }
        }
        free(own);
        fed += piece;
    }
    check_end(&p, data + at, size - at, ended);
    return 0;
}
