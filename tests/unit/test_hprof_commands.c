/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hprof_commands.c: each command of the socket, whole and in pieces, too short, too long, unknown, broken. */
#include "cmocka_all.h"
#include "command_check.h"
#include <math.h>
#include <stdlib.h>

static struct hpx_commands parser;
static struct hpx_command command;

static int setup(void **state)
{
    (void)state;
    hpx_commands_init(&parser, 8);
    memset(&command, 0xEE, sizeof(command));
    return 0;
}

/* All bytes at once; true: one command, and nothing behind it. */
static bool feed(const void *bytes, size_t n)
{
    struct hpx_command none;
    bool found, more;
    size_t taken = hpx_commands_feed(&parser, bytes, n, &command, &found);
    taken += hpx_commands_feed(&parser, (const uint8_t *)bytes + taken, n - taken, &none, &more);
    assert_int_equal(taken, n);
    assert_false(more);
    return found;
}

#define FEED(s) feed(s, sizeof(s) - 1)

TEST(faults_are_told_and_skipped_whole, setup)
{
    static const struct {
        const char *bytes;
        size_t n;
        enum hpx_command_fault fault;
    } all[] = {{"\x55\0\0\0\7\0\0\0\0", 9, HPX_COMMAND_UNKNOWN_TAG},
               {"\x55\0\0\0\7\0\0\0\3\1\2\3", 12, HPX_COMMAND_UNKNOWN_TAG},
               {"\0\0\0\0\7\0\0\0\1\1", 10, HPX_COMMAND_UNKNOWN_TAG},
               {"\x09\0\0\0\7\0\0\0\0", 9, HPX_COMMAND_UNKNOWN_TAG},
               {"\xfe\0\0\0\7\0\0\0\0", 9, HPX_COMMAND_UNKNOWN_TAG},
               {"\3\0\0\0\7\0\0\0\5\0\0\0\0\0", 14, HPX_COMMAND_SHORT},
               {"\7\0\0\0\7\0\0\0\0", 9, HPX_COMMAND_SHORT},
               {"\x08\0\0\0\7\0\0\0\1\0", 10, HPX_COMMAND_SHORT},
               {"\x08\0\0\0\7\0\0\0\2\0\0", 11, HPX_COMMAND_UNKNOWN_SUB},
               {"\x08\0\0\0\7\0\0\0\2\0\x08", 11, HPX_COMMAND_UNKNOWN_SUB},
               {"\x08\0\0\0\7\0\0\0\2\1\5", 11, HPX_COMMAND_UNKNOWN_SUB},
               {"\x08\0\0\0\7\0\0\0\2\0\3", 11, HPX_COMMAND_SHORT},
               {"\x08\0\0\0\7\0\0\0\5\0\4\0\0\0", 14, HPX_COMMAND_SHORT},
               {"\x08\0\0\0\7\0\0\0\3\0\6\1", 12, HPX_COMMAND_SHORT},
               {"\x08\0\0\0\7\0\0\0\2\0\7", 11, HPX_COMMAND_SHORT}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        assert_true(feed(all[i].bytes, all[i].n));
        assert_int_equal(command.fault, all[i].fault);
        assert_int_equal(command.control, HPX_CONTROL_NONE);
        assert_true(strlen(hpx_command_fault_text(command.fault)) > 0);
        assert_true(FEED("\1\0\0\0\x08\0\0\0\0")); /* the next one is in its place */
        assert_int_equal(command.serial, 8);
    }
    assert_string_equal(hpx_command_name(0x55), "unknown command");
    assert_string_equal(hpx_command_name(0), "unknown command");
    assert_string_equal(hpx_command_name(0xFF), "EOF");
}

TEST(a_length_above_65536_breaks_the_stream, setup)
{
    static const uint8_t most[9 + 65536] = "\x55\0\0\0\7\0\1\0";
    assert_true(feed(most, sizeof(most)));
    assert_int_equal(command.length, 65536);
    assert_int_equal(parser.state, HPX_COMMANDS_OPEN);
    assert_false(FEED("\1\0\0\0\7\0\1\0\1\1\0\0\0\7\0\0\0\0"));
    assert_int_equal(parser.state, HPX_COMMANDS_BROKEN);
    assert_int_equal(command.length, 65537);
    assert_int_equal(command.serial, 7);
    assert_false(FEED("\1\0\0\0\7\0\0\0\0"));
    setup(NULL);
    assert_false(FEED("\xfe\0\0\0\7\xff\xff\xff\xff"));
    assert_int_equal(parser.state, HPX_COMMANDS_BROKEN);
}

/* Streams of the right shape, which random bytes seldom have. */
TEST(random_streams_in_random_pieces, setup)
{
    srand(1);
    for (int round = 0; round < 2000; round++) {
        uint8_t bytes[1024], id_size = rand() & 1 ? 4 : 8;
        size_t n = 0, at = 0;
        while (n < 900) {
            uint8_t tag = (uint8_t)(rand() % 11), length = (uint8_t)(rand() % 14);
            bytes[n] = tag;
            bytes[n + 5] = bytes[n + 6] = bytes[n + 7] = 0;
            bytes[n + 8] = length;
            for (int i = 0; i < length; i++) {
                bytes[n + 9 + (size_t)i] = (uint8_t)(rand() % (i < 2 ? 9 : 256) * (i != 0));
            }
            for (size_t i = 1; i < 5; i++) {
                bytes[n + i] = (uint8_t)rand();
            }
            n += 9u + length;
        }
        hpx_commands_init(&parser, id_size);
        for (size_t fed = 0, piece = 0; fed < n; fed += piece) {
            piece = 1 + (size_t)rand() % 40;
            piece = piece < n - fed ? piece : n - fed;
            bool found = true;
            for (size_t done = 0; found || done < piece;) {
                done += hpx_commands_feed(&parser, bytes + fed + done, piece - done, &command, &found);
                size_t next = 0;
                assert_true(!found || command_agrees(bytes + at, n - at, &command, id_size, &next));
                at += next;
            }
        }
        assert_int_equal(at, n);
    }
}

TESTS(NULL, NULL)
