/* SPDX-License-Identifier: BSD-2-Clause */
/* test_bci_probes.c: what the probes of SITES, OBJECTS and STORES look like, alone and beside those of CALLS; their limits. */
#include "bci_code.h"

TEST(the_stack_grows_by_what_the_probes_push)
{
    static const struct {
        const char *code, *with;
        uint32_t stack;
    } all[] = {{"bb 0004 57 b1", "bb 0004 03 b8 @alloc 57 b1", 3},
               {"03 bc 0a 57 b1", "03 bc 0a 59 be 03 b8 @array 57 b1", 4},
               {"03 03 c5 0008 02 57 b1", "03 03 c5 0008 02 59 03 b8 @multi 57 b1", 4}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct cf_class c;
        begin(&c);
        add_static(&c, "m", 2, 0, all[i].code);
        struct checked k = check_opts(&c, kinds(SITES));
        assert_code(&k, all[i].stack, all[i].with);
        check_free(&k);
    }
}

/* The class T with a method that stores to its field `permit`, and covers just that. */
static void storing(struct cf_class *c)
{
    begin(c);
    struct cf_code m = {.max_stack = 2, .max_locals = 1};
    uint16_t to = cf_pair(c, 9, cf_class_ref(c, "T"), cf_pair(c, 12, cf_utf8(c, "permit"), cf_utf8(c, "Z")));
    cf_ops(&m, "2a 03");
    cf_op2(&m, 0xb5, to);
    cf_ops(&m, "a7 0006 2a 57 00 b1 57 b1"); /* 5 goto 11; 8 aload_0; 9 pop; 10 nop; 11 return; 12 pop; 13 return */
    cf_handler(&m, 2, 5, 12, 0);
    add_frame(&m, "08");
    add_frame(&m, "02");
    add_frame(&m, "40 07 0004");
    cf_method(c, 0, "m", "()V", &m);
}

TEST(a_store_to_a_field_has_a_probe_behind_it)
{
    static const char *const fields[] = {"permit", "permits", "permi", "Z", NULL};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct cf_class c;
        storing(&c);
        struct checked k = check_opts(&c, (struct hprofx_bci_opts){.tracker = "t/W", .probes = STORES, .stores = fields[i]});
        assert_int_equal(k.how, i == 0 ? 0 : 1);
        assert_int_equal(k.compared.stores, i == 0);
        if (i == 0) {
            assert_int_equal(k.result.numbered, 0);
            (void)assert_code(&k, 2, "2a 03 b5 000e b8 @stored a7 0006 2a 57 00 b1 57 b1");
            assert_null(memmem(k.out, k.m, "enter", 5));
        } else {
            assert_int_equal(k.result.left[HPROFX_BCI_LEFT_NOTHING], 1);
        }
        check_free(&k);
    }
}

static unsigned want_both(void *ctx, const struct hprofx_bci_method *m)
{
    (void)ctx;
    return m->index == 0 ? STORES : CALLS | SITES | OBJECTS | STORES;
}

TEST(stores_beside_other_kinds)
{
    struct cf_class c;
    storing(&c);
    struct cf_code m = {.max_stack = 2, .max_locals = 1};
    cf_ops(&m, "2a 03 b5 000e 03 bc 0a 57 b1");
    cf_method(&c, 0, "n", "()V", &m);
    struct checked k =
        check_opts(&c, (struct hprofx_bci_opts){.probes = CALLS | SITES | OBJECTS | STORES, .stores = "permit", .want = want_both});
    assert_int_equal(k.how, 0);
    assert_int_equal(k.compared.stores, 2);
    assert_int_equal(k.result.numbered, 1);
    assert_int_equal(k.result.sites, 1);
    (void)assert_code(&k, 2, "2a 03 b5 000e b8 @stored a7 0006 2a 57 00 b1 57 b1");
    check_free(&k);
}

/* A method of p/C that calls a method of this class, name and type with local 0. */
static struct checked calls_it(const char *owner, const char *name, const char *desc, uint8_t op, unsigned probes)
{
    struct cf_class c;
    begin(&c);
    struct cf_code m = {.max_stack = 1, .max_locals = 1};
    uint16_t ref = cf_method_ref(&c, owner, name, desc);
    cf_ops(&m, "2a");
    cf_op2(&m, op, ref);
    cf_ops(&m, "57 b1");
    cf_method(&c, 9, "m", "([I)V", &m);
    return check_opts(&c, kinds(probes));
}

#define ACCESSOR "newInstance0", "(Ljava/lang/reflect/Constructor;[Ljava/lang/Object;)Ljava/lang/Object;"

static const struct {
    const char *owner, *name, *desc;
    uint8_t op;
    enum { OBJECT, ARRAYS, HAS_CONSTRUCTOR } makes;
} makers[] = {
    {"[I", "clone", "()Ljava/lang/Object;", 0xB6, OBJECT},
    {"[[J", "clone", "()Ljava/lang/Object;", 0xB6, OBJECT},
    {"[Lp/C;", "clone", "()Ljava/lang/Object;", 0xB6, OBJECT},
    {"java/lang/Object", "clone", "()Ljava/lang/Object;", 0xB6, OBJECT},
    {"java/lang/Object", "clone", "()Ljava/lang/Object;", 0xB7, OBJECT},
    {"java/lang/reflect/Array", "newInstance", "(Ljava/lang/Class;I)Ljava/lang/Object;", 0xB8, OBJECT},
    {"java/lang/reflect/Array", "newInstance", "(Ljava/lang/Class;[I)Ljava/lang/Object;", 0xB8, ARRAYS},
    {"java/util/Arrays", "copyOf", "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;", 0xB8, OBJECT},
    {"java/util/Arrays", "copyOfRange", "([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;", 0xB8, OBJECT},
    {"sun/misc/Unsafe", "allocateInstance", "(Ljava/lang/Class;)Ljava/lang/Object;", 0xB6, OBJECT},
    {"jdk/internal/misc/Unsafe", "allocateUninitializedArray0", "(Ljava/lang/Class;I)Ljava/lang/Object;", 0xB7, OBJECT},
    {"sun/reflect/NativeConstructorAccessorImpl", ACCESSOR, 0xB8, HAS_CONSTRUCTOR},
    {"jdk/internal/reflect/DirectConstructorHandleAccessor$NativeAccessor", ACCESSOR, 0xB8, HAS_CONSTRUCTOR},
};

TEST(what_a_maker_returns_is_handed_over)
{
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        char text[96];
        struct checked k = calls_it(makers[i].owner, makers[i].name, makers[i].desc, makers[i].op, OBJECTS);
        const char *call = (makers[i].makes == ARRAYS) ? "59 03 b8 @multi" : "59 b8 @object";
        assert_int_equal(k.how, makers[i].makes == HAS_CONSTRUCTOR); /* the constructor of Object has the probe */
        if (k.how == 0) {
            (void)snprintf(text, sizeof(text), "2a %02x %04x %s 57 b1", makers[i].op,
                           (unsigned)method_ref(&k, makers[i].name, strlen(makers[i].name)), call);
            assert_code(&k, 2 + (makers[i].makes == ARRAYS), text);
            assert_int_equal(k.result.objects, 1);
        }
        check_free(&k);
        k = calls_it(makers[i].owner, makers[i].name, makers[i].desc, makers[i].op, SITES);
        assert_int_equal(k.how, 0);
        (void)snprintf(text, sizeof(text), "2a %02x %04x 59 03 b8 @multi 57 b1", makers[i].op,
                       (unsigned)method_ref(&k, makers[i].name, strlen(makers[i].name)));
        assert_code(&k, 3, text);
        assert_int_equal(k.result.sites, 1);
        check_free(&k);
    }
    static const char *const others[][3] = {{"p/C", "clone", "()Ljava/lang/Object;"},
                                            {"[I", "clones", "()Ljava/lang/Object;"},
                                            {"[I", "clone", "()[I"},
                                            {"", "clone", "()Ljava/lang/Object;"}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct checked k = calls_it(others[i][0], others[i][1], others[i][2], 0xB6, OBJECTS | SITES);
        assert_int_equal(k.how, 1);
        assert_int_equal(k.result.left[HPROFX_BCI_LEFT_NOTHING], 1);
    }
    assert_int_equal(calls_it("[I", "clone", "()Ljava/lang/Object;", 0xB7, OBJECTS | SITES).how, 1);
    struct checked k = calls_it("java/lang/Object", "clone", "()Ljava/lang/Object;", 0xB6, CALLS);
    assert_int_equal(k.result.objects, 0);
    check_free(&k);
}

TEST(the_code_of_a_maker_has_no_probes_of_its_own)
{
    for (int i = 0; i < 2; i++) {
        struct cf_class c;
        cf_init(&c, 52);
        c.this_class = cf_ref(&c, 7, cf_utf8(&c, i == 0 ? "java/util/Arrays" : "java/util/Others"));
        struct cf_code m = {.max_stack = 1, .max_locals = 3};
        cf_ops(&m, "03 bc 0a 57 01 b0");
        cf_method(&c, 9, "copyOf", "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;", &m);
        struct checked k = check_opts(&c, kinds(OBJECTS | SITES));
        assert_int_equal(k.how, i == 0 ? 1 : 0);
        check_free(&k);
    }
}

/* The class java/lang/Object with this constructor. */
static struct checked root(unsigned probes, const char *hex)
{
    struct cf_class c;
    cf_init(&c, 52);
    c.this_class = c.super_class;
    c.super_class = 0;
    struct cf_code m = {.max_stack = 0, .max_locals = 1};
    cf_ops(&m, hex);
    cf_method(&c, 1, "<init>", "()V", &m);
    return check_opts(&c, kinds(probes));
}

TEST(every_other_object_passes_the_constructor_of_object)
{
    struct checked k = root(OBJECTS, "b1");
    assert_code(&k, 1, "2a b8 @object b1");
    assert_int_equal(k.result.objects, 1);
    check_free(&k);
    k = root(OBJECTS | SITES | CALLS, "b1");
    assert_code(&k, 1, "03 b8 @enter 2a b8 @object 03 b8 @exit b1");
    assert_int_equal(k.result.bare[HPROFX_BCI_BARE_ROOT], 1);
    check_free(&k);
    k = root(OBJECTS, "00 b1 00 b1");
    assert_code(&k, 1, "00 2a b8 @object b1 00 2a b8 @object b1");
    assert_int_equal(k.result.objects, 2);
    check_free(&k);
    assert_int_equal(root(SITES, "b1").how, 1);
    /* Another class's constructor is not asked. */
    struct cf_class c;
    cf_init(&c, 52);
    struct cf_code m = {.max_stack = 1, .max_locals = 1};
    cf_ops(&m, "2a");
    cf_op2(&m, 0xB7, cf_method_ref(&c, "java/lang/Object", "<init>", "()V"));
    cf_ops(&m, "b1");
    cf_method(&c, 1, "<init>", "()V", &m);
    assert_int_equal(check_opts(&c, kinds(OBJECTS | SITES)).how, 1);
}

TEST(a_branch_to_the_next_instruction_does_not_run_the_probe)
{
    struct cf_class c;
    begin(&c);
    struct cf_code m = {.max_stack = 1, .max_locals = 1};
    add_frame(&m, "04"); /* 4 */
    add_frame(&m, "06"); /* 11 */
    /* 0 iload_0, 1 ifeq 11, 4 iconst_0, 5 newarray, 7 pop, 8 goto 11, 11 iload_0, 12 ifne 4, 15 return */
    cf_ops(&m, "1a 99 000a 03 bc 0a 57 a7 0003 1a 9a fff8 b1");
    cf_method(&c, 9, "m", "(I)V", &m);
    struct checked k = check_opts(&c, kinds(SITES));
    assert_int_equal(k.how, 0);
    assert_code(&k, 3, "1a 99 0010 03 bc 0a 59 be 03 b8 @array 57 a7 0003 1a 9a fff2 b1");
    check_free(&k);
    /* 0 aconst_null, 1 iload_0, 2 ifeq 9, 5 pop, 6 iconst_0, 7 newarray, 9 pop: right behind newarray. */
    begin(&c);
    cf_ops(&m, "01 1a 99 0007 57 03 bc 0a 57 b1");
    m.max_stack = 2;
    m.max_locals = 1;
    add_frame(&m, "49 05"); /* 9, null on the stack: too narrow for the JVM, which the comparison does not mind */
    cf_method(&c, 9, "m", "(I)V", &m);
    k = check_opts(&c, kinds(SITES | OBJECTS));
    assert_code(&k, 4, "01 1a 99 0011 57 03 bc 0a 59 be 03 b8 @array 59 b8 @object 57 b1");
    check_free(&k);
}

TEST(ranges_that_cover_the_instruction_cover_the_probe)
{
    struct cf_class c;
    begin(&c);
    struct cf_code m = {.max_stack = 1, .max_locals = 1};
    struct cf_bytes lines = {0}, variables = {0};
    cf_ops(&m, "03 bc 0a 4b b1 57 b1"); /* 0 iconst_0, 1 newarray, 3 astore_0, 4 return, 5 pop, 6 return */
    cf_handler(&m, 1, 3, 5, 0);
    cf_handler(&m, 3, 4, 5, 0);
    add_frame(&m, "45 07 0004");
    cf_u2(&lines, 2);
    cf_u4(&lines, 0x00010007);
    cf_u4(&lines, 0x00030008);
    cf_attribute(&c, &m.attrs, "LineNumberTable", &lines);
    cf_u2(&variables, 1);
    cf_u4(&variables, 0x00030001);
    cf_u4(&variables, 0x00010001);
    cf_u2(&variables, 0);
    cf_attribute(&c, &m.attrs, "LocalVariableTable", &variables);
    m.attr_n = 2;
    cf_method(&c, 9, "m", "()V", &m);
    cf_free(&lines);
    cf_free(&variables);
    struct checked k = check_opts(&c, kinds(SITES));
    const uint8_t *handlers = assert_code(&k, 3, "03 bc 0a 59 be 03 b8 @array 4b b1 57 b1");
    assert_memory_equal(handlers, "\0\2\0\1\0\11\0\13\0\0\0\11\0\12\0\13\0\0", 18); /* 1 to 9, 9 to 10, at 11 */
    assert_non_null(memmem(k.out, k.m, "\0\2\0\1\0\7\0\11\0\10", 10));              /* line 7 from 1, line 8 from 9 on */
    assert_non_null(memmem(k.out, k.m, "\0\1\0\11\0\1\0\1", 8));                    /* variable from 9 to 10 */
    check_free(&k);
}

TEST(the_least_length_and_finalizers_concern_calls_alone)
{
    struct cf_class c;
    begin(&c);
    add_static(&c, "short", 1, 0, "03 bc 0a 57 b1");
    add_static(&c, "empty", 0, 0, "b1");
    add_static(&c, "long", 1, 0, "00 00 00 00 b1");
    struct cf_code m = {.max_locals = 1};
    cf_ops(&m, "b1");
    cf_method(&c, 1, "finalize", "()V", &m);
    struct checked k = check_opts(&c, (struct hprofx_bci_opts){.probes = CALLS | SITES, .min = 6});
    assert_int_equal(k.result.rewritten, 1);
    assert_int_equal(k.result.sites, 1);
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_SHORT], 3);
    check_free(&k);
    begin(&c);
    m.max_locals = 1;
    cf_ops(&m, "b1");
    cf_method(&c, 1, "finalize", "()V", &m);
    k = check_opts(&c, kinds(CALLS | SITES | OBJECTS));
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_FINALIZER], 1);
    begin(&c);
    m.max_locals = 1;
    cf_ops(&m, "b1");
    cf_method(&c, 1, "finalize", "()V", &m);
    k = check_opts(&c, kinds(SITES | OBJECTS));
    assert_int_equal(k.result.left[HPROFX_BCI_LEFT_NOTHING], 1);
}

TEST(operands_that_name_no_constant_leave_the_method_alone)
{
    static const char *const odd[] = {"b1 bc",      "bb 0040 57 b1", "03 bd 0040 57 b1", "03 c5 0040 01 57 b1", "01 b6 0040 57 b1",
                                      "b1 c5 0008", "b1 b6 00"};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct cf_class c;
        begin(&c);
        add_static(&c, "m", 2, 0, odd[i]);
        struct checked k = check_opts(&c, kinds(SITES | OBJECTS));
        assert_int_equal(k.how, 1);
        assert_int_equal(k.result.left[HPROFX_BCI_LEFT_MALFORMED], 1);
    }
}

TEST(code_may_grow_up_to_65535_bytes)
{
    for (uint32_t more = 0; more < 2; more++) {
        struct cf_class c;
        begin(&c);
        struct cf_code m = {.max_stack = 2};
        cf_pad(&m, 0, 65535 - 12 - 5 + more);
        cf_ops(&m, "03 bc 0a 57 b1"); /* the probes take 12 bytes: dup arraylength sipush and call, dup and call */
        cf_method(&c, 9, "m", "()V", &m);
        add_static(&c, "small", 1, 0, "03 bc 0a 57 b1");
        struct checked k = check_opts(&c, (struct hprofx_bci_opts){.probes = SITES | OBJECTS, .first_site = 1000});
        assert_int_equal(k.how, 0);
        assert_int_equal(k.result.rewritten, 2 - more);
        assert_int_equal(k.result.left[HPROFX_BCI_LEFT_CODE_FULL], more);
        check_free(&k);
    }
}

TEST(dense_allocations_stay_below_16_times_the_input)
{
    struct cf_class c;
    begin(&c);
    struct cf_code m = {.max_stack = 1};
    cf_ops(&m, "03");
    for (int i = 0; i < 4600; i++) {
        cf_ops(&m, "bc 0a"); /* no verifier takes it */
    }
    cf_ops(&m, "b1");
    cf_method(&c, 9, "m", "()V", &m);
    struct checked k = check_opts(&c, (struct hprofx_bci_opts){.probes = SITES | OBJECTS, .first_site = 100000});
    assert_int_equal(k.how, 0);
    assert_int_equal(k.result.sites, 4600);
    check_free(&k);
}

/* Probes push the branch's target out of reach; versions with frames and without. */
TEST(branches_over_probes_become_wide)
{
    static const uint16_t majors[] = {48, 52};
    for (int i = 0; i < 2; i++) {
        for (int cond = 0; cond < 2; cond++) {
            struct cf_class c;
            cf_init(&c, majors[i]);
            struct cf_code m = {.max_stack = 2, .max_locals = 1};
            cf_ops(&m, "1a 57 1a"); /* 3: the branch; 32003: its target */
            cf_branch(&m, cond ? 0x99 : 0xA7, 32003);
            for (int k = 0; k < 200; k++) {
                cf_ops(&m, "03 bc 0a 57");
            }
            cf_pad(&m, 0, 32003 - m.code.n);
            cf_ops(&m, "b1");
            m.code.p[2] = cond ? 0x1A : 0; /* a jump takes no int */
            if (i == 1) {
                add_frame(&m, "06");
                add_frame(&m, "fb 7cfc");
            }
            cf_method(&c, 9, "m", "(I)V", &m);
            struct checked k = check_opts(&c, kinds(SITES | OBJECTS));
            assert_int_equal(k.how, 0);
            assert_int_equal(k.result.sites, 200);
            assert_int_equal(cond ? k.compared.inverted : k.compared.wide, 1);
            check_free(&k);
        }
    }
}

static void note_direct(void *ctx, const struct hprofx_bci_method *m)
{
    bool *direct = ctx;
    *direct = m->direct;
}

/* code: bytes in hex; %04x is the constant of a constructor. */
static bool is_direct(const char *name, const char *code)
{
    struct cf_class c;
    cf_init(&c, 52);
    char ops[64];
    uint16_t init = cf_method_ref(&c, "java/lang/Object", "<init>", "()V");
    (void)snprintf(ops, sizeof ops, code, init);
    struct cf_code m = {.max_locals = 3, .max_stack = 4};
    cf_ops(&m, ops);
    cf_method(&c, 1, name, "(II)V", &m);
    struct cf_bytes b = cf_finish(&c);
    cf_fini(&c);
    bool direct = false;
    struct hprofx_bci_opts opts = {.self = "here", .first = 4, .method = note_direct, .ctx = &direct};
    uint8_t *out;
    size_t n;
    const char *why;
    assert_int_equal(hprofx_bci_rewrite(&opts, b.p, b.n, &out, &n, &why), 0);
    free(out);
    cf_free(&b);
    return direct;
}

TEST(constructors_that_run_nothing_before_super_are_direct)
{
    assert_true(is_direct("<init>", "2a b7 %04x b1"));              /* aload_0 invokespecial return */
    assert_true(is_direct("<init>", "2a 1b 1c 60 57 b7 %04x b1"));  /* iload_1 iload_2 iadd pop */
    assert_false(is_direct("<init>", "2a 1b 1c 6c 57 b7 %04x b1")); /* idiv may throw, and the exception has a constructor */
    assert_false(is_direct("<init>", "1b 99 00 03 2a b7 %04x b1")); /* a branch */
    assert_false(is_direct("<init>", "bb 00 02 57 2a b7 %04x b1")); /* new may load a class */
    assert_false(is_direct("<init>", "00 b1"));                     /* none */
    assert_false(is_direct("method", "2a b7 %04x b1"));
}

TESTS(NULL, NULL)
