/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_unwind.c: any bytes as a part of a library, for its unwind table, and as a file with its symbols. The first byte chooses the
 * processor, the second where .eh_frame_hdr is. */
#include "elf_symbols.h"
#include "fuzz.h"
#include "unwind_table.h"
#include <string.h>

static void ask_table(const uint8_t *bytes, size_t size, uint8_t header, bool link)
{
    enum { AT = 0x7000, BASE = 0x1000 };
    const struct hpx_unwind_bytes from = {bytes, size, AT, AT + header, BASE, link};
    struct hpx_unwind_table *t;
    require(hpx_unwind_table_make(&from, &t), "no memory");
    for (uint32_t offset = 0; t != NULL && offset < 0x10000; offset += 61) {
        uint32_t function = 0, again = 0;
        const struct hpx_unwind_rule r = hpx_unwind_table_find_sig(t, offset, &function);
        const struct hpx_unwind_rule kept = hpx_unwind_table_find_sig(t, offset, &again);
        require(function <= offset && r.how <= HPX_UNWIND_PLT && r.ra <= 0, "a rule that is none");
        require(function == again && r.how == kept.how && r.cfa == kept.cfa, "another answer the second time");
    }
    hpx_unwind_table_free(t);
}

static void ask_symbols(const uint8_t *bytes, size_t size)
{
    const struct hpx_elf_source from = hpx_elf_source_bytes(bytes, size);
    struct hpx_elf_symbols *s = hpx_elf_symbols_new();
    require(s != NULL, "no memory");
    (void)hpx_elf_symbols_add(s, &from, (const uint8_t *)"\x01\x02\x03\x04", 4 * (size % 2));
    hpx_elf_symbols_sort(s);
    for (uint32_t offset = 0; offset < 0x10000; offset += 61) {
        const char *name = hpx_elf_symbols_find(s, offset);
        require(name == NULL || strlen(name) > 0, "a name that is none");
    }
    hpx_elf_symbols_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 2) {
        ask_table(data + 2, size - 2, data[1], data[0] % 2 != 0);
    }
    ask_symbols(data, size);
    return 0;
}
