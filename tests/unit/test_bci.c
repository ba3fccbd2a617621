/* SPDX-License-Identifier: BSD-2-Clause */
/* test_bci.c: what a rewritten class looks like: calls, handlers, frames, tables. The comparison (bci_compare.c) looks at every result. */
#include "bci_check.h"

TEST(calls_can_be_named_and_can_take_no_number)
{
    struct cf_class c;
    cf_init(&c, 52);
    add_static(&c, "m", 0, 0, "00 b1");
    struct cf_bytes b = cf_finish(&c);
    cf_fini(&c);
    struct hprofx_bci_opts opts = {
        .tracker = "odd/T", .enter = {"in", true}, .exit = {"out", true}, .thrown = {"up", true}, .first = 70000};
    uint8_t *out;
    size_t m;
    const char *why;
    assert_int_equal(hprofx_bci_rewrite(&opts, b.p, b.n, &out, &m, &why), 0);
    static const uint8_t head[8] = {0, 1, 0, 0, 0, 0, 0, 12}; /* three calls, nop, return, athrow */
    assert_non_null(memmem(out, m, head, sizeof(head)));
    assert_non_null(memmem(out, m, "\0\5odd/T", 7));
    assert_non_null(memmem(out, m, "\0\2up", 4));
    free(out);
    cf_free(&b);
}

/* 0 iconst_1; 1 ifeq 5; 4 return; 5 return, with a frame at 5. A higher number than the highest is passed as that. */
TEST(an_entry_call_can_be_all)
{
    static const struct {
        uint32_t first, most;
        const char *code; /* max_stack, max_locals, length, push, invokestatic */
    } all[] = {{4, 0, "\0\1\0\0\0\0\0\12\7\270"},
               {32767, 0, "\0\1\0\0\0\0\0\14\21\177\377\270"},
               {32768, 32767, "\0\1\0\0\0\0\0\14\21\177\377\270"}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct cf_class c;
        cf_init(&c, 52);
        struct cf_code code = {.max_stack = 1};
        cf_ops(&code, "04 99 0004 b1 b1");
        add_frame(&code, "05");
        cf_method(&c, 8, "m", "()V", &code);
        struct cf_bytes b = cf_finish(&c);
        cf_fini(&c);
        struct hprofx_bci_result r;
        const struct hprofx_bci_opts opts = {
            .enter = {.name = "count"}, .no_exit = true, .first = all[i].first, .most = all[i].most, .result = &r};
        uint8_t *out;
        size_t m;
        const char *why;
        assert_int_equal(hprofx_bci_rewrite(&opts, b.p, b.n, &out, &m, &why), 0);
        assert_int_equal(r.numbered, 1);
        assert_non_null(memmem(out, m, all[i].code, i == 0 ? 10 : 12));
        assert_non_null(memmem(out, m, "\0\5count", 7));
        assert_null(memmem(out, m, "thrown", 6));
        assert_null(memmem(out, m, "Throwable", 9));
        free(out);
        cf_free(&b);
    }
}

TEST(the_entry_call_passes_the_object_where_there_is_one)
{
    static const struct {
        const char *name;
        uint16_t access;
        const char *head; /* max_stack, max_locals, length of the code, its first bytes */
        bool passed;
    } all[] = {{"virtual", 1, "\0\2\0\1\0\0\0\20\52\7\270", true},
               {"fixed", 9, "\0\2\0\1\0\0\0\17\7\270", false},
               {"<init>", 1, "\0\2\0\1\0\0\0\17\7\270", false}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct cf_class c;
        cf_init(&c, 52);
        struct cf_code m = {.max_locals = 1};
        cf_ops(&m, "00 b1"); /* nop return */
        cf_method(&c, all[i].access, all[i].name, "()V", &m);
        struct cf_bytes b = cf_finish(&c);
        cf_fini(&c);
        struct hprofx_bci_opts opts = {.self = "here", .first = 4};
        uint8_t *out;
        size_t n;
        const char *why;
        assert_int_equal(hprofx_bci_rewrite(&opts, b.p, b.n, &out, &n, &why), 0);
        if (strcmp(all[i].name, "<init>") != 0) { /* a constructor that calls no other has no handler */
            assert_non_null(memmem(out, n, all[i].head, all[i].passed ? 11 : 10));
        }
        assert_int_equal(memmem(out, n, "\52\7\270", 3) != NULL, all[i].passed);
        free(out);
        cf_free(&b);
    }
}

/* One method of (J)Z, in which the local variable `max_locals` is free, with a frame at `frame`. */
static int rewrite_kept(uint16_t max_locals, const char *hex, const char *frame, uint8_t **out, size_t *m, struct hprofx_bci_result *result)
{
    struct cf_class c;
    cf_init(&c, 52);
    struct cf_code code = {.max_stack = 1, .max_locals = max_locals};
    cf_ops(&code, hex);
    cf_handler(&code, 1, 2, 4, 0);
    add_frame(&code, frame);
    cf_method(&c, 8, "m", "(J)Z", &code);
    struct cf_bytes b = cf_finish(&c);
    cf_fini(&c);
    const struct hprofx_bci_opts opts = {.tracker = "t/W", .kept = "now", .exit = {.name = "gone"}, .no_handler = true, .result = result};
    const char *why;
    int how = hprofx_bci_rewrite(&opts, b.p, b.n, out, m, &why);
    cf_free(&b);
    return how;
}

/* 0 iconst_1; 1 nop; 2 nop; 3 ireturn; 4 athrow, with the exception on the stack */
TEST(the_value_of_a_field_at_the_entry_is_kept_for_the_exit)
{
    static const struct {
        uint16_t locals;
        const uint8_t *code;
        size_t n;
    } all[] = {{2, (const uint8_t *)"\0\3\0\4\0\0\0\15\262", 9},   /* 5 + 4 + 4 bytes */
               {7, (const uint8_t *)"\0\3\0\11\0\0\0\17\262", 9}}; /* an index of the variable needs a byte more, twice */
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        uint8_t *out;
        size_t m;
        struct hprofx_bci_result r;
        assert_int_equal(rewrite_kept(all[i].locals, "04 00 00 ac bf", "44 07 0004", &out, &m, &r), 0);
        assert_int_equal(r.numbered, 1);
        const uint8_t *code = memmem(out, m, all[i].code, all[i].n);
        assert_non_null(code);
        code += 8;
        static const uint8_t near[] = {0x41, 4, 0, 0, 0x20, 0xb8}, far[] = {0x37, 7, 4, 0, 0, 0x16, 7, 0xb8};
        assert_memory_equal(code + 3, i == 0 ? near : far, i == 0 ? sizeof near : sizeof far);
        assert_non_null(memmem(out, m, "\0\3t/W", 5));
        assert_non_null(memmem(out, m, "\0\4gone", 6));
        assert_non_null(memmem(out, m, "\0\4(J)V", 6));
        assert_null(memmem(out, m, "enter", 5));
        free(out);
    }
}

TEST(a_frame_before_a_return_would_lose_the_kept_value)
{
    uint8_t *out;
    size_t m;
    struct hprofx_bci_result r;
    assert_int_equal(rewrite_kept(2, "04 00 00 ac 57 04 ac", "44 07 0004", &out, &m, &r), 1);
    assert_int_equal(r.left[HPROFX_BCI_LEFT_FRAME], 1);
    assert_int_equal(rewrite_kept(256, "04 00 00 ac bf", "44 07 0004", &out, &m, &r), 1);
    assert_int_equal(r.left[HPROFX_BCI_LEFT_LIMIT], 1);
}

struct told {
    struct hprofx_bci_method m[8];
    uint32_t n, asked;
};

static void tell(void *ctx, const struct hprofx_bci_method *m)
{
    struct told *t = ctx;
    t->m[t->n++] = *m;
}

static unsigned not_b(void *ctx, const struct hprofx_bci_method *m)
{
    (void)ctx;
    return m->name.len == 1 && m->name.at[0] == 'b' ? 0 : HPROFX_BCI_CALLS;
}

static uint32_t from_40(void *ctx, uint32_t methods)
{
    struct told *t = ctx;
    t->asked = methods;
    return 40;
}

TEST(the_caller_chooses_methods_and_is_told_of_each)
{
    struct cf_class c;
    struct told t = {.n = 0};
    cf_init(&c, 52);
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        struct cf_code m = {.max_stack = 1};
        struct cf_bytes lines = {0};
        cf_ops(&m, "00 00 b1");
        cf_u2(&lines, 2);
        cf_u4(&lines, 0x00000010);
        cf_u4(&lines, 0x0001000E);
        cf_attribute(&c, &m.attrs, "LineNumberTable", &lines);
        m.attr_n = 1;
        cf_method(&c, 9, names[i], "()V", &m);
        cf_free(&lines);
    }
    add_static(&c, "d", 0, 0, "b1");
    cf_u2(&c.methods, 0x0109);
    cf_u2(&c.methods, cf_utf8(&c, "n"));
    cf_u2(&c.methods, cf_utf8(&c, "()V"));
    cf_u2(&c.methods, 0);
    c.method_n++;
    struct cf_bytes source = {0};
    cf_u2(&source, cf_utf8(&c, "T.java"));
    cf_attribute(&c, &c.attrs, "SourceFile", &source);
    c.attr_n = 1;
    struct cf_bytes b = cf_finish(&c);
    struct checked k =
        check_bytes(b.p, b.n, (struct hprofx_bci_opts){.method = tell, .want = not_b, .number = from_40, .min = 2, .ctx = &t});
    assert_int_equal(k.how, 0);
    assert_int_equal(k.result.methods, 5);
    assert_int_equal(k.result.with_code, 4);
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_UNWANTED], 1);
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_SHORT], 1);
    assert_int_equal(k.result.first, 40);
    assert_int_equal(t.asked, 4);
    assert_int_equal(t.n, 2);
    assert_int_equal(t.m[1].number, 41);
    assert_int_equal(t.m[1].index, 2);
    assert_int_equal(t.m[1].access, 9);
    assert_int_equal(t.m[1].first_line, 14);
    assert_int_equal(t.m[1].code_length, 3);
    assert_int_equal(t.m[1].new_length, 3 + 5 * 3 + 1);
    free(k.out);
    cf_free(&b);
    cf_fini(&c);
    cf_free(&source);
}

TEST(wide_forms_and_nested_subroutines_are_kept)
{
    struct cf_class c;
    cf_init(&c, 48);
    struct cf_code m = {.max_stack = 2, .max_locals = 300};
    cf_ops(&m, "04 c4 36 0100 c4 84 0100 0005"); /* wide istore, wide iinc */
    cf_branch(&m, 0xA8, 20);                     /* 11: jsr */
    cf_branch(&m, 0xC9, 20);                     /* 14: jsr_w */
    cf_ops(&m, "b1");                            /* 19 */
    cf_ops(&m, "4c");                            /* 20: astore_1 */
    cf_branch(&m, 0xA8, 26);
    cf_ops(&m, "a9 01");                 /* 24: ret 1 */
    cf_ops(&m, "c4 3a 0101 c4 a9 0101"); /* 26: wide astore, wide ret */
    cf_method(&c, 9, "subroutines", "()V", &m);
    cf_branch(&m, 0xC8, 5);
    cf_ops(&m, "b1");
    cf_method(&c, 9, "far", "()V", &m);
    struct checked k = check_all(&c);
    assert_int_equal(k.compared.methods, 2);
    check_free(&k);
}

TEST(frames_of_an_unknown_type_leave_the_method_alone)
{
    for (uint32_t type = 128; type <= 246; type++) {
        struct cf_class c;
        cf_init(&c, 72);
        struct cf_code m = {.max_stack = 1};
        char frame[16];
        cf_ops(&m, "00 00 b1");
        (void)snprintf(frame, sizeof(frame), "%02x 0001 0003", (unsigned)type);
        add_frame(&m, frame);
        cf_u1(&m.frames, type == 246 ? 246 : 0); /* a prefix before a prefix is none */
        cf_method(&c, 9, "odd", "()V", &m);
        add_static(&c, "good", 0, 0, "b1");
        struct checked k = check(&c);
        assert_int_equal(k.how, 0);
        assert_int_equal(k.result.rewritten, 1);
        assert_int_equal(k.result.left[HPROFX_BCI_LEFT_FRAME], 1);
        check_free(&k);
    }
}

TEST(early_larval_frames_move)
{
    struct cf_class c;
    cf_init(&c, 72);
    struct cf_code m = {.max_stack = 1, .max_locals = 2};
    uint16_t init = cf_method_ref(&c, "java/lang/Object", "<init>", "()V");
    cf_ops(&m, "1b");
    cf_branch(&m, 0x99, 5);
    cf_ops(&m, "00 2a"); /* 4; 5 */
    cf_op2(&m, 0xB7, init);
    cf_ops(&m, "00 b1");
    add_frame(&m, "f6 0002 0005 0006 05");
    cf_method(&c, 1, "<init>", "(I)V", &m);
    struct checked k = check_all(&c);
    assert_int_equal(k.compared.handlers, 1);
    check_free(&k);
}

TEST(frames_are_ignored_below_version_50)
{
    for (int i = 0; i < 2; i++) {
        struct cf_class c;
        cf_init(&c, i == 0 ? 49 : 52);
        struct cf_code m = {.max_stack = 1};
        struct cf_bytes garbage = {0};
        cf_u4(&garbage, 0xFFFF8000);
        cf_ops(&m, "00 b1");
        cf_attribute(&c, &m.attrs, i == 0 ? "StackMapTable" : "StackMap", &garbage);
        m.attr_n = 1;
        cf_method(&c, 9, "m", "()V", &m);
        cf_free(&garbage);
        struct checked k = check_all(&c);
        check_free(&k);
    }
}

TEST(line_and_variable_tables_move)
{
    struct cf_class c;
    cf_init(&c, 52);
    struct cf_code m = {.max_stack = 1, .max_locals = 2};
    struct cf_bytes lines = {0}, variables = {0};
    cf_ops(&m, "1a");
    cf_branch(&m, 0x99, 5);
    cf_ops(&m, "b1 b1");
    add_frame(&m, "05");
    cf_u2(&lines, 4);
    static const uint32_t pcs[] = {0, 5, 1, 2}; /* out of order; inside an instruction */
    for (int i = 0; i < 4; i++) {
        cf_u2(&lines, pcs[i]);
        cf_u2(&lines, 7);
    }
    cf_attribute(&c, &m.attrs, "LineNumberTable", &lines);
    static const uint32_t ranges[][2] = {{0, 6}, {1, 4}, {5, 1}, {0, 0}, {4, 0}};
    cf_u2(&variables, 5);
    for (int i = 0; i < 5; i++) {
        cf_u2(&variables, ranges[i][0]);
        cf_u2(&variables, ranges[i][1]);
        cf_u2(&variables, 1);
        cf_u4(&variables, 0x00010000);
    }
    cf_attribute(&c, &m.attrs, "LocalVariableTable", &variables);
    cf_attribute(&c, &m.attrs, "LocalVariableTypeTable", &variables);
    m.attr_n = 3;
    cf_method(&c, 9, "m", "(I)V", &m);
    cf_free(&lines);
    cf_free(&variables);
    struct checked k = check_all(&c);
    check_free(&k);
}

/* A method of 1 return with one attribute of the given content. */
static void with_attribute(struct cf_class *c, uint16_t major, const char *name, const char *hex)
{
    cf_init(c, major);
    struct cf_code m = {.max_stack = 1}, content = {.max_stack = 0};
    cf_ops(&m, "00 b1");
    cf_ops(&content, hex);
    cf_attribute(c, &m.attrs, name, &content.code);
    m.attr_n = 1;
    cf_method(c, 9, "m", "()V", &m);
    cf_free(&content.code);
}

TEST(tables_that_point_outside_leave_the_method_alone)
{
    static const char *const odd[][2] = {{"LineNumberTable", "0001 0002 0001"},
                                         {"LineNumberTable", "0002 0000 0001"},
                                         {"LineNumberTable", "00"},
                                         {"LocalVariableTable", "0001 0002 0000 0001 0001 0000"},
                                         {"LocalVariableTypeTable", "0001 0000 0003 0001 0001 0000"},
                                         {"LocalVariableTable", "0001 ffff ffff 0001 0001 0000"},
                                         {"StackMapTable", "0001 02"},
                                         {"StackMapTable", "0002 00"},
                                         {"StackMapTable", "0001 00 00"},
                                         {"StackMapTable", "0001 ff 0000 ffff 01"},
                                         {"StackMapTable", "00"}};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct cf_class c;
        with_attribute(&c, 52, odd[i][0], odd[i][1]);
        check_left(&c, HPROFX_BCI_LEFT_MALFORMED);
    }
}

TEST(type_annotations_move)
{
    /* Local variable, catch, new at 1, cast at 1 with its argument; values of every kind; one that points outside. */
    static const char *const content =
        "0005 40 0002 0000 0002 0001 0001 0001 0002 00 0001 0000"
        "     42 0007 00 0001 0001 0001 49 0001"
        "     44 0001 01 0000 0001 0003 0001 5b 0002 73 0001 65 0001 0001 0001 40 0001 0001 0001 63 0001 0001 5a 0001"
        "     47 0001 02 00 0001 0000"
        "     45 4444 00 0001 0000";
    static const char *const names[] = {"RuntimeVisibleTypeAnnotations", "RuntimeInvisibleTypeAnnotations"};
    for (int i = 0; i < 2; i++) {
        struct cf_class c;
        with_attribute(&c, 52, names[i], content);
        struct checked k = check_all(&c);
        check_free(&k);
        with_attribute(&c, 52, names[i], "0001 10 0001 00 0001 0000"); /* a target that code does not have */
        check_left(&c, HPROFX_BCI_LEFT_ATTRIBUTE);
        with_attribute(&c, 52, names[i], "0001 44 0001 ff 0001 0000");
        check_left(&c, HPROFX_BCI_LEFT_ATTRIBUTE);
    }
}

#define CANDIDATE "Ljdk/internal/vm/annotation/IntrinsicCandidate;"

/* Whether a method with these annotations is told as one that the VM may replace. "$" in hex: the type `name`. */
static bool told_as_candidate(const char *attribute, const char *name, const char *hex)
{
    struct cf_class c;
    struct told t = {.n = 0};
    struct cf_code m = {.max_stack = 0}, bytes = {0};
    char type[8];
    cf_init(&c, 61);
    (void)snprintf(type, sizeof(type), "%04x", cf_utf8(&c, name));
    for (; *hex != 0; hex++) {
        const char two[] = {hex[0], (char)(hex[0] == ' ' ? 0 : hex[1]), 0};
        cf_ops(&bytes, *hex == '$' ? type : two);
        hex += *hex != '$' && *hex != ' ';
    }
    cf_attribute(&c, &m.beside, attribute, &bytes.code);
    m.beside_n = 1;
    cf_ops(&m, "b1");
    cf_method(&c, 9, "m", "()V", &m);
    struct checked k = check_opts(&c, (struct hprofx_bci_opts){.method = tell, .ctx = &t});
    assert_int_equal(k.how, 0);
    assert_int_equal(t.n, 1);
    check_free(&k);
    cf_free(&bytes.code);
    return t.m[0].intrinsic;
}

TEST(methods_that_the_vm_may_replace_are_told)
{
    static const char *const visible = "RuntimeVisibleAnnotations";
    assert_true(told_as_candidate(visible, CANDIDATE, "0001 $ 0000"));
    assert_true(told_as_candidate(visible, "Ljdk/internal/HotSpotIntrinsicCandidate;", "0001 $ 0000"));
    /* behind another one with values of every kind: a constant, an enum, a class, an annotation, an array */
    assert_true(told_as_candidate(visible, CANDIDATE,
                                  "0002 0001 0005 0001 49 0001 0001 65 0001 0001 0001 63 0001 0001 40 0001 0001 0001 73 0001"
                                  " 0001 5b 0002 5a 0001 5b 0000 $ 0000"));
    assert_false(told_as_candidate(visible, "Ljava/lang/Deprecated;", "0001 $ 0000"));
    assert_false(told_as_candidate(visible, CANDIDATE "x", "0001 $ 0000"));
    assert_false(told_as_candidate("RuntimeInvisibleAnnotations", CANDIDATE, "0001 $ 0000"));
    assert_false(told_as_candidate(visible, CANDIDATE, "0001 0001 0001 0001 40 $ 0000")); /* a value of another annotation */
}

TEST(odd_annotations_are_copied_and_say_nothing)
{
    static const char *const odd[] = {
        "",
        "00",
        "0001",
        "0001 $",                         /* cut off */
        "0000 $ 0000",                    /* more than it says */
        "ffff 0001 ffff",                 /* more than there are */
        "0002 0001 0001 0001 78 $ 0000",  /* an unknown kind of value */
        "0002 0001 0001 0001 00 $ 0000",  /* no kind */
        "0002 ffff 0001 ffff 49 ffff 00", /* numbers of no constant */
    };
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        assert_false(told_as_candidate("RuntimeVisibleAnnotations", CANDIDATE, odd[i]));
    }
    char deep[4096] = "0002 0001 0001 0001"; /* arrays in arrays, then the right one: what nests deeper than 32 is not read */
    for (int i = 0; i < 40; i++) {
        strcat(deep, " 5b 0001");
    }
    strcat(deep, " 49 0001 $ 0000");
    assert_false(told_as_candidate("RuntimeVisibleAnnotations", CANDIDATE, deep));
}

TESTS(NULL, NULL)
