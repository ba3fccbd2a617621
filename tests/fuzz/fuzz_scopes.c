/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_scopes.c: libFuzzer over the scopes of compiled code. Input: the smallest byte of a number (0 or 1), a place, the stream: whatever
 * it is, a chain of scopes ends, and no read is outside (AddressSanitizer). */
#include "fuzz.h"
#include "scopes.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uintptr_t metadata[] = {0x10000, 0x20000, 8, 0x30004, UINT64_MAX - 7};
    if (size < 3) {
        return 0;
    }
    uint8_t *bytes = malloc(size - 2);
    require(bytes != NULL, "no memory");
    memcpy(bytes, data + 2, size - 2);
    struct hpx_scopes s = {bytes, (uint32_t)(size - 2), data[0] & 1, sizeof metadata / sizeof *metadata, (uintptr_t)metadata};
    struct hpx_scope one = {.caller = data[1]};
    for (uint32_t before = one.caller; one.caller != 0; before = one.caller) {
        if (!hpx_scopes_read_sig(&s, before, &one)) {
            break;
        }
        require(one.caller < before, "a chain without an end");
        require(one.method == metadata[0] || one.method == metadata[1], "a method that is none");
        require(one.bci >= -1 && one.bci < 65536, "a bytecode that is none");
    }
    free(bytes);
    return 0;
}
