/* SPDX-License-Identifier: BSD-2-Clause */
/* test_unwind_table.c: tables made of .eh_frame that the test writes, and of bytes that are wrong. */
#include "cmocka_all.h"
#include "compiler.h"
#include "unwind_table.h"
#include <link.h>
#include <string.h>

#define AT   UINT64_C(0x7000) /* address of the bytes */
#define BASE UINT64_C(0x1000)
#define CODE UINT64_C(0x2000) /* of the first function */
#define SIZE 0x100u           /* of each */
#define ROOM (512u << 10)

enum { FP = 6, SP = 7, BX = 3, RA = 16 }; /* x86-64 */

/* ---- .eh_frame ---- */

static struct {
    uint8_t bytes[ROOM];
    size_t n;
    size_t cie, functions[16]; /* where they are */
    unsigned nfunctions;
} made;

static void put(const void *bytes, size_t n)
{
    assert_true(n <= ROOM - made.n);
    memcpy(made.bytes + made.n, bytes, n);
    made.n += n;
}

static void put4(uint64_t v)
{
    uint32_t word = (uint32_t)v;
    put(&word, 4);
}

static void end_entry(size_t begin)
{
    while ((made.n - begin) % 8 != 0) {
        put("", 1); /* DW_CFA_nop */
    }
    uint32_t n = (uint32_t)(made.n - begin - 4);
    memcpy(made.bytes + begin, &n, 4);
}

/* The header has room for 16 functions. */
static void begin(const char *augmentation, const void *program, size_t n, bool link)
{
    memset(made.bytes, 0, 4096);
    made.nfunctions = 0;
    made.n = 12 + 16 * 8;
    made.cie = made.n;
    put4(0);
    put4(0);
    put("\x01", 1);
    put(augmentation, strlen(augmentation) + 1);
    put(link ? "\x04\x78\x1e" : "\x01\x78\x10", 3); /* steps of code, of data; the register of return addresses */
    put(augmentation[0] == 'z' ? "\x01\x1b" : "", augmentation[0] == 'z' ? 2 : 0);
    put(program, n);
    end_entry(made.cie);
}

static void function_at(uint64_t at, uint32_t size, const void *program, size_t n)
{
    const size_t begin = made.n;
    made.functions[made.nfunctions++] = begin;
    put4(0);
    put4(begin + 4 - made.cie);
    put4(at - (AT + made.n));
    put4(size);
    put("", 1);
    put(program, n);
    end_entry(begin);
}

static void function(const void *program, size_t n)
{
    function_at(CODE + made.nfunctions * SIZE, SIZE, program, n);
}

static struct hpx_unwind_bytes finish(bool link)
{
    put4(0);
    const size_t n = made.n;
    made.n = 0;
    put("\x01\x1b\x03\x3b", 4);
    put4(made.cie - 4);
    put4(made.nfunctions);
    for (unsigned i = 0; i < made.nfunctions; i++) {
        int32_t from;
        memcpy(&from, made.bytes + made.functions[i] + 8, 4);
        put4(AT + made.functions[i] + 8 + (uint64_t)from - AT);
        put4(made.functions[i]);
    }
    made.n = n;
    return (struct hpx_unwind_bytes){made.bytes, n, AT, AT, BASE, link};
}

#define TEXT(text) (text), sizeof(text) - 1

static const char x86[] = "\x0c\x07\x08\x90\x01"; /* the frame ends 8 above the stack pointer, and the return address is below its end */

static struct hpx_unwind_table *make(bool link)
{
    const struct hpx_unwind_bytes from = finish(link);
    struct hpx_unwind_table *t;
    assert_true(hpx_unwind_table_make(&from, &t));
    return t;
}

static void check(const struct hpx_unwind_table *t, uint64_t address, struct hpx_unwind_rule wanted)
{
    uint32_t function = 0;
    const struct hpx_unwind_rule r = hpx_unwind_table_find_sig(t, (uint32_t)(address - BASE), &function);
    assert_int_equal(r.how, wanted.how);
    assert_int_equal(r.cfa, wanted.cfa);
    assert_int_equal(r.ra, wanted.ra);
    assert_int_equal(r.fp, wanted.fp);
    assert_int_equal(r.base, wanted.base);
    if (r.how != HPX_UNWIND_NONE) {
        assert_int_equal(function, (address - CODE) / SIZE * SIZE + CODE - BASE);
    }
}

#define IS(...)    ((struct hpx_unwind_rule){__VA_ARGS__})
#define JUST(what) ((struct hpx_unwind_rule){.how = (what)})

TEST(a_frame_that_is_built_and_left)
{
    (void)state;
    begin("zR", x86, 5, false);
    /* push rbp; mov rbp, rsp; ... leave; ret */
    function(TEXT("\x41\x0e\x10\x86\x02\x43\x0d\x06\x02\x50\x0c\x07\x08"));
    struct hpx_unwind_table *t = make(false);
    check(t, CODE, IS(HPX_UNWIND_SP, 8, -1, 0, 0));
    check(t, CODE + 1, IS(HPX_UNWIND_SP, 16, -1, -2, 0));
    check(t, CODE + 3, IS(HPX_UNWIND_SP, 16, -1, -2, 0));
    check(t, CODE + 4, IS(HPX_UNWIND_FP, 16, -1, -2, 0));
    check(t, CODE + 0x53, IS(HPX_UNWIND_FP, 16, -1, -2, 0));
    check(t, CODE + 0x54, IS(HPX_UNWIND_SP, 8, -1, -2, 0));
    check(t, CODE + SIZE, JUST(HPX_UNWIND_NONE));
    check(t, CODE - 1, JUST(HPX_UNWIND_NONE));
    hpx_unwind_table_free(t);
}

TEST(states_that_are_remembered)
{
    (void)state;
    begin("zR", x86, 5, false);
    function(TEXT("\x44\x0e\x30\x83\x03\x44\x0a\x0e\x08\xc3\x44\x0b"));
    struct hpx_unwind_table *t = make(false);
    check(t, CODE + 4, IS(HPX_UNWIND_SP, 48, -1, 0, -3));
    check(t, CODE + 8, IS(HPX_UNWIND_SP, 8, -1, 0, 0));
    check(t, CODE + 12, IS(HPX_UNWIND_SP, 48, -1, 0, -3));
    hpx_unwind_table_free(t);
}

TEST(each_way_to_say_where_a_frame_ends)
{
    (void)state;
    begin("zR", x86, 5, false);
    function(TEXT("\x12\x07\x7d"));                                         /* def_cfa_sf: -3 * -8 */
    function(TEXT("\x13\x7c"));                                             /* def_cfa_offset_sf: -4 * -8 */
    function(TEXT("\x0c\x03\x18"));                                         /* the base register */
    function(TEXT("\x0c\x0a\x00"));                                         /* r10, of which nothing is known */
    function(TEXT("\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00"));             /* where the word below rbp says; rbp at itself */
    function(TEXT("\x0f\x03\x77\x08\x06"));                                 /* the word above rsp */
    function(TEXT("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22")); /* a PLT */
    function(TEXT("\x0f\x04\x76\x78\x06\x06"));                             /* another expression */
    function(TEXT("\x07\x10"));                                             /* no return address: the outermost */
    function(TEXT("\x05\x06\x04\x11\x03\x05"));                             /* offset_extended, offset_extended_sf */
    struct hpx_unwind_table *t = make(false);
    const struct hpx_unwind_rule wanted[] = {IS(HPX_UNWIND_SP, 24, -1, 0, 0),
                                             IS(HPX_UNWIND_SP, 32, -1, 0, 0),
                                             IS(HPX_UNWIND_BASE, 24, -1, 0, 0),
                                             JUST(HPX_UNWIND_UNKNOWN),
                                             IS(HPX_UNWIND_AT_FP, -8, -1, HPX_UNWIND_AT_FP_ITSELF, 0),
                                             IS(HPX_UNWIND_AT_SP, 8, -1, 0, 0),
                                             IS(HPX_UNWIND_PLT, 11, -1, 0, 0),
                                             JUST(HPX_UNWIND_UNKNOWN),
                                             JUST(HPX_UNWIND_END),
                                             IS(HPX_UNWIND_SP, 8, -1, -4, -5)};
    for (unsigned i = 0; i < HPX_ARRAY_LEN(wanted); i++) {
        check(t, CODE + i * SIZE + 5, wanted[i]);
    }
    hpx_unwind_table_free(t);
}

TEST(the_code_that_a_handler_returns_to)
{
    (void)state;
    begin("zRS", x86, 5, false);
    function(TEXT(""));
    struct hpx_unwind_table *t = make(false);
    check(t, CODE + 1, JUST(HPX_UNWIND_SIGNAL));
    hpx_unwind_table_free(t);
}

TEST(a_processor_with_a_link_register)
{
    (void)state;
    begin("zR", TEXT("\x0c\x1f\x00"), true);
    /* paciasp; stp x29, x30, [sp, #-32]! */
    function(TEXT("\x41\x2d\x41\x0e\x20\x9d\x04\x9e\x03\x41\x0d\x1d"));
    struct hpx_unwind_table *t = make(true);
    check(t, CODE, IS(HPX_UNWIND_SP, 0, HPX_UNWIND_KEPT, 0, 0));
    check(t, CODE + 4, IS(HPX_UNWIND_SP, 0, HPX_UNWIND_KEPT, 0, 0));
    check(t, CODE + 8, IS(HPX_UNWIND_SP, 32, -3, -4, 0));
    check(t, CODE + 12, IS(HPX_UNWIND_FP, 32, -3, -4, 0));
    hpx_unwind_table_free(t);
}

TEST(between_functions_there_is_nothing)
{
    (void)state;
    begin("zR", x86, 5, false);
    function_at(CODE, 0x80, TEXT(""));
    function_at(CODE + SIZE, SIZE - 8, TEXT(""));
    function_at(CODE + 2 * SIZE, SIZE, TEXT("\x07\x10"));
    struct hpx_unwind_table *t = make(false);
    check(t, CODE + 0x7f, IS(HPX_UNWIND_SP, 8, -1, 0, 0));
    check(t, CODE + 0x80, JUST(HPX_UNWIND_NONE));
    check(t, CODE + SIZE, IS(HPX_UNWIND_SP, 8, -1, 0, 0));
    check(t, CODE + 2 * SIZE, JUST(HPX_UNWIND_END));
    hpx_unwind_table_free(t);
}

TEST(an_operation_that_nobody_knows_ends_a_program)
{
    (void)state;
    begin("zR", x86, 5, false);
    function(TEXT("\x44\x0e\x10\x44\x3f\x44\x0e\x20"));
    function(TEXT("\x0b")); /* nothing was remembered */
    function(TEXT("\x0e\x18"));
    struct hpx_unwind_table *t = make(false);
    check(t, CODE + 1, IS(HPX_UNWIND_SP, 8, -1, 0, 0));
    check(t, CODE + 7, IS(HPX_UNWIND_SP, 16, -1, 0, 0));
    check(t, CODE + 8, JUST(HPX_UNWIND_UNKNOWN));
    check(t, CODE + SIZE - 1, JUST(HPX_UNWIND_UNKNOWN));
    check(t, CODE + SIZE, JUST(HPX_UNWIND_UNKNOWN));
    check(t, CODE + 2 * SIZE, IS(HPX_UNWIND_SP, 24, -1, 0, 0));
    hpx_unwind_table_free(t);
}

TEST(a_program_that_goes_back_ends_there)
{
    (void)state;
    static const char program[] = "\x48\x0e\x10\x01\0\0\0\0\x0e\x20"; /* DW_CFA_set_loc of the function's begin */
    uint8_t bytes[sizeof program - 1];
    memcpy(bytes, program, sizeof bytes);
    begin("zR", x86, 5, false);
    const uint32_t at = (uint32_t)(CODE - (AT + made.n + 17 + 4));
    memcpy(bytes + 4, &at, 4);
    function(bytes, sizeof bytes);
    struct hpx_unwind_table *t = make(false);
    check(t, CODE + 7, IS(HPX_UNWIND_SP, 8, -1, 0, 0));
    check(t, CODE + 8, JUST(HPX_UNWIND_UNKNOWN));
    hpx_unwind_table_free(t);
}

/* More than fit: the ones behind stand for nothing that is known, and those that are there stay. */
TEST(a_table_has_no_more_rules_than_it_can_number)
{
    (void)state;
    enum { N = 70000 };
    static uint8_t bytes[N * 5];
    uint8_t *p = bytes;
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t cfa = 16 + 8 * i;
        *p++ = 0x41;
        *p++ = 0x0e;
        *p++ = (uint8_t)(cfa | 0x80);
        *p++ = (uint8_t)(cfa >> 7 | 0x80);
        *p++ = (uint8_t)(cfa >> 14);
    }
    begin("zR", x86, 5, false);
    function_at(CODE, N + 1, bytes, sizeof bytes);
    struct hpx_unwind_table *t = make(false);
    uint32_t unknown = 0;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t function = 0;
        const struct hpx_unwind_rule r = hpx_unwind_table_find_sig(t, (uint32_t)(CODE + 1 - BASE) + i, &function);
        assert_int_equal(function, CODE - BASE);
        unknown += r.how == HPX_UNWIND_UNKNOWN;
        assert_true(r.how == HPX_UNWIND_UNKNOWN || (r.how == HPX_UNWIND_SP && r.cfa == (int32_t)(16 + 8 * i)));
    }
    assert_int_equal(unknown, N - (0x8000 - 2)); /* but the one that is unknown, and the first one */
    hpx_unwind_table_free(t);
}

TEST(a_function_that_is_not_above_the_one_before_is_left_out)
{
    (void)state;
    begin("zR", x86, 5, false);
    function_at(CODE, 2 * SIZE, TEXT(""));
    function_at(CODE + SIZE, SIZE, TEXT("\x07\x10"));
    struct hpx_unwind_table *t = make(false);
    uint32_t function = 0;
    assert_int_equal(hpx_unwind_table_find_sig(t, (uint32_t)(CODE + SIZE - BASE), &function).how, HPX_UNWIND_SP);
    assert_int_equal(function, CODE - BASE);
    hpx_unwind_table_free(t);
}

TEST(a_header_without_a_table_makes_none)
{
    (void)state;
    static const uint8_t wrong[][4] = {{2, 0x1b, 3, 0x3b}, {1, 0x1b, 0xff, 0x3b}, {1, 0x1b, 3, 0x1b}};
    for (unsigned i = 0; i < HPX_ARRAY_LEN(wrong); i++) {
        begin("zR", x86, 5, false);
        function(TEXT(""));
        const struct hpx_unwind_bytes from = finish(false);
        struct hpx_unwind_table *t;
        memcpy(made.bytes, wrong[i], 4);
        assert_true(hpx_unwind_table_make(&from, &t));
        assert_null(t);
    }
}

/* ---- bytes that are wrong ---- */

static void ask(const struct hpx_unwind_table *t)
{
    for (uint32_t offset = 0; t != NULL && offset < 0x3000; offset += 13) {
        uint32_t function = 0;
        const struct hpx_unwind_rule r = hpx_unwind_table_find_sig(t, offset, &function);
        assert_true(r.how <= HPX_UNWIND_PLT && function <= offset);
    }
}

TEST(any_byte_may_be_wrong)
{
    (void)state;
    begin("zR", x86, 5, false);
    function(TEXT("\x41\x0e\x10\x86\x02\x43\x0d\x06\x02\x50\x0c\x07\x08"));
    function(TEXT("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"));
    function(TEXT("\x44\x0e\x30\x83\x03\x44\x0a\x0e\x08\xc3\x44\x0b"));
    struct hpx_unwind_bytes from = finish(false);
    for (size_t i = 0; i < from.size; i++) {
        const uint8_t was = made.bytes[i];
        for (unsigned v = 0; v < 256; v += 3) {
            struct hpx_unwind_table *t;
            made.bytes[i] = (uint8_t)v;
            assert_true(hpx_unwind_table_make(&from, &t));
            ask(t);
            hpx_unwind_table_free(t);
        }
        made.bytes[i] = was;
    }
}

TEST(the_bytes_may_end_anywhere)
{
    (void)state;
    begin("zR", x86, 5, false);
    function(TEXT("\x41\x0e\x10\x86\x02\x43\x0d\x06\x02\x50\x0c\x07\x08"));
    function(TEXT("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"));
    struct hpx_unwind_bytes from = finish(false);
    for (size_t n = 0; n < from.size; n++) {
        uint8_t *copy = malloc(n + 1); /* so that a sanitizer sees a read behind them */
        struct hpx_unwind_table *t;
        memcpy(copy, made.bytes, n);
        const struct hpx_unwind_bytes cut = {copy, n, AT, AT, BASE, false};
        assert_true(hpx_unwind_table_make(&cut, &t));
        ask(t);
        hpx_unwind_table_free(t);
        free(copy);
    }
}

/* ---- libraries ---- */

static int look(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    unsigned *tables = ctx;
    uint64_t header = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        header = info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME ? info->dlpi_addr + info->dlpi_phdr[i].p_vaddr : header;
    }
    for (int i = 0; i < info->dlpi_phnum && header != 0; i++) {
        const uint64_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && header >= at && header - at < info->dlpi_phdr[i].p_filesz) {
            struct hpx_unwind_table *t;
            const struct hpx_unwind_bytes from = {
                (const uint8_t *)at,
                info->dlpi_phdr[i].p_filesz,
                at,
                header,
                info->dlpi_addr,
#if defined(__aarch64__)
                true
            };
#else
                false
            };
#endif
            assert_true(hpx_unwind_table_make(&from, &t));
            assert_non_null(t);
            assert_true(hpx_unwind_table_bytes(t) > 100);
            hpx_unwind_table_free(t);
            ++*tables;
        }
    }
    return 0;
}

TEST(every_library_of_this_process_has_a_table)
{
    (void)state;
    unsigned tables = 0;
    (void)dl_iterate_phdr(look, &tables);
    assert_true(tables > 0);
}

TESTS(NULL, NULL)
