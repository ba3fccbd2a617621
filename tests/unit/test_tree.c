/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tree.c: the tree itself (names, stacks, values, columns), generated names, and the tree without memory. */
#include "cmocka_all.h"
#include "compare.h"
#include "compiler.h"
#include "failing_memory.h"
#include "generated.h"
#include "text_check.h"
#include "tree.h"
#include <stdlib.h>
#include <string.h>

static struct hpx_tree tree;

static int setup(void **state)
{
    (void)state;
    return hpx_tree_init(&tree) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    hpx_tree_fini(&tree);
    return 0;
}

static uint32_t name(const char *text)
{
    return hpx_tree_name(&tree, text, strlen(text));
}

static uint32_t method(uint32_t parent, const char *text)
{
    return hpx_tree_node(&tree, parent, hpx_tree_frame(&tree, name(text), 0, 0, HPX_FRAME_METHOD));
}

TEST(names_frames_and_nodes_are_made_once, setup, teardown)
{
    assert_int_equal(name("main"), name("main"));
    assert_true(name("main") != name("mai"));
    assert_int_equal(name(""), 0);
    uint32_t f = hpx_tree_frame(&tree, name("p.C.m"), name("C.java"), 7, HPX_FRAME_METHOD);
    assert_int_equal(hpx_tree_frame(&tree, name("p.C.m"), name("C.java"), 7, HPX_FRAME_METHOD), f);
    assert_true(hpx_tree_frame(&tree, name("p.C.m"), name("C.java"), 8, HPX_FRAME_METHOD) != f);
    assert_true(hpx_tree_frame(&tree, name("p.C.m"), name("C.java"), 7, HPX_FRAME_CLASS) != f);
    assert_true(hpx_tree_frame(&tree, name("p.C.m"), 0, 7, HPX_FRAME_METHOD) != f);
    uint32_t n = hpx_tree_node(&tree, 0, f);
    assert_int_equal(hpx_tree_node(&tree, 0, f), n);
    assert_true(hpx_tree_node(&tree, n, f) > n);
    assert_int_equal(hpx_tree_node_at(&tree, n)->parent, 0);
    assert_string_equal(hpx_tree_text(&tree, hpx_tree_frame_at(&tree, hpx_tree_node_at(&tree, n)->frame)->name), "p.C.m");
    assert_int_equal(tree.nodes.len, 3);
    assert_string_equal(hpx_tree_text(&tree, 1000), "");
}

TEST(names_are_text_without_controls_and_have_an_end, setup, teardown)
{
    static char longest[5000], other[5000];
    assert_string_equal(hpx_tree_text(&tree, name("a\x1b[2Jb\n\xff")), "a\\u001B[2Jb\\n\\u00FF");
    memset(longest, '\x1b', sizeof longest);
    memset(other, '\x1b', sizeof other);
    other[4500] = 'x';
    uint32_t n = hpx_tree_name(&tree, longest, sizeof longest);
    assert_int_equal(hpx_tree_name(&tree, other, sizeof other), n); /* 4 KiB are kept */
    assert_int_equal(strlen(hpx_tree_text(&tree, n)), 6 * 4096);
    assert_null(text_fault(hpx_tree_text(&tree, n), strlen(hpx_tree_text(&tree, n)), false));
}

TEST(values_of_a_stack_add_and_do_not_wrap, setup, teardown)
{
    struct hpx_tree_view *v = &tree.views[HPX_VIEW_CPU];
    uint32_t m = method(0, "m");
    hpx_tree_add(&tree, v, m, 0, (uint64_t[]){1, 10});
    hpx_tree_add(&tree, v, m, name("a"), (uint64_t[]){2, 20});
    hpx_tree_add(&tree, v, m, 0, (uint64_t[]){4, UINT64_MAX - 5});
    assert_int_equal(v->samples.len, 2);
    assert_int_equal(hpx_tree_values_at(v, 0)[0], 5);
    assert_int_equal(hpx_tree_values_at(v, 0)[1], UINT64_MAX);
    assert_int_equal(hpx_tree_values_at(v, 1)[1], 20);
    hpx_tree_finish(&tree);
    assert_int_equal(v->totals[0], 7);
    assert_int_equal(v->totals[1], UINT64_MAX);
}

TEST(a_cleared_view_begins_anew, setup, teardown)
{
    struct hpx_tree_view *v = &tree.views[HPX_VIEW_LOCK];
    uint32_t m = method(0, "m");
    hpx_tree_add(&tree, v, m, 0, (uint64_t[]){1, 10});
    hpx_tree_clear(v);
    hpx_tree_finish(&tree);
    assert_int_equal(v->samples.len, 0);
    assert_int_equal(v->totals[1], 0);
    hpx_tree_add(&tree, v, m, 0, (uint64_t[]){3, 30});
    hpx_tree_finish(&tree);
    assert_int_equal(v->samples.len, 1);
    assert_int_equal(v->totals[1], 30);
}

TEST(a_finished_view_is_in_order_with_its_values, setup, teardown)
{
    struct hpx_tree_view *v = &tree.views[HPX_VIEW_CALLS];
    uint32_t a = method(0, "a"), b = method(a, "b"), t1 = name("t1"), t2 = name("t2");
    static const uint64_t values[] = {1, 2, 3, 4, 5};
    const struct hpx_tree_sample given[] = {{b, 0}, {a, t2}, {b, t1}, {a, t1}, {0, 0}};
    static const size_t order[] = {4, 3, 1, 0, 2};
    for (size_t i = 0; i < HPX_ARRAY_LEN(given); i++) {
        hpx_tree_add(&tree, v, given[i].node, given[i].thread, (uint64_t[]){values[i], 10 * values[i]});
    }
    hpx_tree_finish(&tree);
    for (size_t i = 0; i < HPX_ARRAY_LEN(given); i++) {
        assert_int_equal(hpx_tree_sample_at(v, i)->node, given[order[i]].node);
        assert_int_equal(hpx_tree_sample_at(v, i)->thread, given[order[i]].thread);
        assert_int_equal(hpx_tree_values_at(v, i)[1], 10 * values[order[i]]);
    }
    assert_int_equal(v->totals[0], 15);
}

TEST(columns_are_those_with_values_and_the_main_one_is_first, setup, teardown)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES], c;
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_ALLOC], method(0, "m"), 0, (uint64_t[]){2, 64, 1, 32});
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_CPU], method(0, "m"), 0, (uint64_t[]){5, 0});
    hpx_tree_finish(&tree);
    static const struct hpx_tree_column wanted[] = {
        {HPX_VIEW_CPU, 0}, {HPX_VIEW_ALLOC, 1}, {HPX_VIEW_ALLOC, 0}, {HPX_VIEW_ALLOC, 2}, {HPX_VIEW_ALLOC, 3}};
    assert_int_equal(hpx_tree_columns(&tree, of), HPX_ARRAY_LEN(wanted));
    assert_memory_equal(of, wanted, sizeof wanted);
    static const struct {
        const char *name;
        bool found;
        struct hpx_tree_column is;
    } names[] = {{NULL, true, {HPX_VIEW_CPU, 0}},
                 {"alloc", true, {HPX_VIEW_ALLOC, 1}},
                 {"inuse_space", true, {HPX_VIEW_ALLOC, 3}},
                 {"samples", true, {HPX_VIEW_CPU, 0}},
                 {"lock", false, {0, 0}},
                 {"delay", false, {0, 0}},
                 {"", false, {0, 0}}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        assert_int_equal(hpx_tree_column(&tree, names[i].name, &c), names[i].found);
        assert_true(!names[i].found || (c.view == names[i].is.view && c.measure == names[i].is.measure));
    }
}

TEST(a_measure_of_others_goes_into_a_view_of_its_own, setup, teardown)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct hpx_tree_view *other = &tree.views[HPX_VIEW_OTHER];
    size_t m;
    assert_ptr_equal(hpx_tree_find(&tree, "contentions", "count", &m), &tree.views[HPX_VIEW_LOCK]);
    assert_int_equal(m, 0);
    assert_ptr_equal(hpx_tree_find(&tree, "inuse_space", "bytes", &m), &tree.views[HPX_VIEW_ALLOC]);
    assert_int_equal(m, 3);
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        assert_ptr_equal(hpx_tree_find(&tree, names[i], i == 0 ? "bytes" : "parsecs", &m), other);
        assert_int_equal(m, i);
    }
    assert_int_equal(other->measures[0].unit, HPX_UNIT_BYTES);
    assert_int_equal(other->measures[1].unit, HPX_UNIT_OTHER);
    assert_null(hpx_tree_find(&tree, "i", "count", &m)); /* full */
    assert_null(hpx_tree_find(&tree, "c", "count", &m));
    assert_ptr_equal(hpx_tree_find(&tree, "c", "parsecs", &m), other);
    assert_int_equal(m, 2);
}

TEST(samples_keep_their_values_when_a_measure_is_added, setup, teardown)
{
    size_t m;
    struct hpx_tree_view *v = hpx_tree_find(&tree, "cycles", "count", &m);
    uint32_t n = method(0, "m");
    hpx_tree_add(&tree, v, 0, 0, (uint64_t[HPX_TREE_VALUES]){1});
    hpx_tree_add(&tree, v, n, 0, (uint64_t[HPX_TREE_VALUES]){2});
    assert_ptr_equal(hpx_tree_find(&tree, "misses", "count", &m), v);
    assert_int_equal(m, 1);
    hpx_tree_add(&tree, v, n, 0, (uint64_t[HPX_TREE_VALUES]){4, 8});
    assert_ptr_equal(hpx_tree_find(&tree, "cycles", "count", &m), v);
    assert_int_equal(m, 0);
    hpx_tree_finish(&tree);
    assert_int_equal(v->samples.len, 2);
    assert_memory_equal(hpx_tree_values_at(v, 0), ((uint64_t[]){1, 0, 6, 8}), 4 * sizeof(uint64_t));
}

/* A run without allocations says nothing of whether those of the others were counted. */
TEST(a_joined_tree_knows_what_was_counted, setup, teardown)
{
    struct hpx_tree from, to;
    assert_true(hpx_tree_init(&from) && hpx_tree_init(&to));
    uint32_t node = method(0, "main");
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_ALLOC], node, 0, (uint64_t[]){1, 16, 0, 0});
    tree.views[HPX_VIEW_ALLOC].exact = true;
    tree.verdict = strdup("counted\n");
    hpx_tree_finish(&tree);
    hpx_tree_finish(&from);
    assert_false(from.views[HPX_VIEW_ALLOC].exact);
    hpx_tree_join(&to, &tree);
    hpx_tree_join(&to, &from);
    hpx_tree_finish(&to);
    assert_false(to.no_memory);
    assert_true(to.views[HPX_VIEW_ALLOC].exact);
    assert_string_equal(to.verdict, "counted\n");
    assert_int_equal(to.views[HPX_VIEW_ALLOC].totals[1], 16);
    hpx_tree_fini(&to);
    hpx_tree_fini(&from);
}

/* ---- generated.c ---- */

TEST(numbers_of_generated_classes_are_cut)
{
    static const char *const names[][2] = {
        /* lambdas of JDK 8, 11 and 17, 21 and later; in HPROF and as others write them */
        {"p.Foo$$Lambda$14/1234567.run", "p.Foo$$Lambda.run"},
        {"p.Foo$$Lambda$14/0x0000000800c03000.run", "p.Foo$$Lambda.run"},
        {"p.Foo$$Lambda/0x00007f0388000a08.run", "p.Foo$$Lambda.run"},
        {"p.Foo$$Lambda.0x00007f0388000a08.run", "p.Foo$$Lambda.run"},
        {"p.Foo$$Lambda$14/1234567", "p.Foo$$Lambda"},
        {"p.Foo$$Lambda$14/1234567[]", "p.Foo$$Lambda[]"},
        {"p.Foo$$Lambda$14.run", "p.Foo$$Lambda.run"},
        {"p.Bar.m(p.Foo$$Lambda$14/1234567, int)", "p.Bar.m(p.Foo$$Lambda, int)"},
        {"java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke", "java.lang.invoke.LambdaForm$MH.invoke"},
        {"java.lang.invoke.LambdaForm$DMH/1234567.invokeStatic", "java.lang.invoke.LambdaForm$DMH.invokeStatic"},
        {"p.Hidden/0x0000000800c03000.m", "p.Hidden.m"},
        {"sun.reflect.GeneratedMethodAccessor12.invoke", "sun.reflect.GeneratedMethodAccessor.invoke"},
        {"jdk.internal.reflect.GeneratedConstructorAccessor3.newInstance", "jdk.internal.reflect.GeneratedConstructorAccessor.newInstance"},
        {"sun.reflect.GeneratedSerializationConstructorAccessor7.newInstance",
         "sun.reflect.GeneratedSerializationConstructorAccessor.newInstance"},
        {"com.sun.proxy.$Proxy5.close", "com.sun.proxy.$Proxy.close"},
        {"com.sun.proxy.jdk.proxy1.$Proxy12.m", "com.sun.proxy.jdk.proxy.$Proxy.m"},
        {"jdk.proxy2.$Proxy31.m", "jdk.proxy.$Proxy.m"},
        {"jdk/proxy2/$Proxy31.m", "jdk/proxy/$Proxy.m"},
        {"com.acme.$Proxy7", "com.acme.$Proxy"},
        {"java.lang.invoke.LambdaForm$MH014.invoke", "java.lang.invoke.LambdaForm$MH.invoke"},
        {"java.lang.invoke.LambdaForm$DMH000.invokeStatic_L_V", "java.lang.invoke.LambdaForm$DMH.invokeStatic_L_V"},
        {"java.lang.invoke.LambdaForm$MH+0x00007f12a0c03000.invoke", "java.lang.invoke.LambdaForm$MH.invoke"},
        {"p.Foo$$Lambda+0x00007f12a0c03000.run", "p.Foo$$Lambda.run"},
        {"p.Hidden/1234567.m", "p.Hidden.m"},
        {"user$eval123.invoke", "user$eval.invoke"},
        {"user$eval123$fn__45.invoke", "user$eval$fn__.invoke"},
        {"my.ns$fn__45.invokeStatic", "my.ns$fn__.invokeStatic"},
        {"my.ns$f$fn__45$fn__46.doInvoke", "my.ns$f$fn__$fn__.doInvoke"},
        {"my.ns$reify__1234.get", "my.ns$reify__.get"},
        {"clojure.core$iter__123__124$fn__125.invoke", "clojure.core$iter____$fn__.invoke"},
        {"p.Foo$ByteBuddy$aB3xY9zQ.m", "p.Foo$ByteBuddy$.m"},
        {"p.Foo$ByteBuddy$aB3xY9zQ$auxiliary$Qw1erTy2.call", "p.Foo$ByteBuddy$$auxiliary$.call"},
        {"p.Foo.m$original$aB3xY9zQ", "p.Foo.m$original$"},
        {"p.Foo.m$original$aB3xY9zQ$accessor$Qw1erTy2", "p.Foo.m$original$$accessor$"},
        {"java.util.List$MockitoMock$1842193374.size", "java.util.List$MockitoMock$.size"},
        {"p.List$MockitoMock$aB3xY9.size", "p.List$MockitoMock$.size"},
        {"p.E$HibernateProxy$aB3xY9zQ.getId", "p.E$HibernateProxy$.getId"},
        {"p.S$$SpringCGLIB$$FastClass$$1.invoke", "p.S$$SpringCGLIB$$FastClass$$.invoke"},
        {"p.S$$EnhancerBySpringCGLIB$$1a2b$$FastClassBySpringCGLIB$$3c4d.invoke",
         "p.S$$EnhancerBySpringCGLIB$$$$FastClassBySpringCGLIB$$.invoke"},
        {"p.S$$EnhancerByGuice$$12345.m", "p.S$$EnhancerByGuice$$.m"},
        {"p.E_$$_jvst1a2_0.m", "p.E_$$_jvst_0.m"},
        {"p.E_$$_javassist_12.m", "p.E_$$_javassist_.m"},
        {"__C1188collect_distributed_array.__m1190split_Let", "__Ccollect_distributed_array.__msplit_Let"},
        {"__C19.apply", "__C.apply"},
        {"is.hail.codegen.generated.C.__m7", "is.hail.codegen.generated.C.__m"},
        {"p.Bar.m(jdk.proxy2.$Proxy3, p.Foo$$Lambda$14/0x0000000800c03000[])", "p.Bar.m(jdk.proxy.$Proxy, p.Foo$$Lambda[])"},
        {"p.S$$EnhancerByCGLIB$$3f1a2b4c.m", "p.S$$EnhancerByCGLIB$$.m"},
        {"p.S$$FastClassBySpringCGLIB$$a1.invoke", "p.S$$FastClassBySpringCGLIB$$.invoke"},
        {"p.S$$SpringCGLIB$$0.m", "p.S$$SpringCGLIB$$.m"},
        /* what stays */
        {"p.Foo.lambda$run$14", "p.Foo.lambda$run$14"},
        {"p.Foo$1.run", "p.Foo$1.run"},
        {"p.Foo$Bar2.run", "p.Foo$Bar2.run"},
        {"p.Foo$Bar__2.run", "p.Foo$Bar__2.run"},
        {"p.Foo__2.run", "p.Foo__2.run"},
        {"p.foo.bar__2", "p.foo.bar__2"},
        {"fn2", "fn2"},
        {"fn__45", "fn__45"},
        {"eval", "eval"},
        {"eval123", "eval123"},
        {"my.ns$eval.invoke", "my.ns$eval.invoke"},
        {"my.ns$evaluate12.invoke", "my.ns$evaluate12.invoke"},
        {"p.Eval12.m3", "p.Eval12.m3"},
        {"p.Sha256.digest", "p.Sha256.digest"},
        {"Main2.run", "Main2.run"},
        {"p.v1.Handler2.handle", "p.v1.Handler2.handle"},
        {"jdk.proxy.m", "jdk.proxy.m"},
        {"jdk.proxies2.m", "jdk.proxies2.m"},
        {"p.jdkproxy2.m", "p.jdkproxy2.m"},
        {"p.Foo$ByteBuddy.m", "p.Foo$ByteBuddy.m"},
        {"p.Foo.copy$original$x", "p.Foo.copy$original$x"},
        {"p.MockitoMock.m", "p.MockitoMock.m"},
        {"p.MyCGLIB.m12", "p.MyCGLIB.m12"},
        {"p.LambdaForm$MHolder2.m", "p.LambdaForm$MHolder2.m"},
        {"p.C__C19.m", "p.C__C19.m"},
        {"p.x__m1", "p.x__m1"},
        {"p.Foo$$anonfun$3.apply", "p.Foo$$anonfun$3.apply"},
        {"p.Foo$$Proxy.m", "p.Foo$$Proxy.m"},
        {"GET /users/12345", "GET /users/12345"},
        {"app/server/12345.js", "app/server/12345.js"},
        {"[libc.so.6+0x12345]", "[libc.so.6+0x12345]"},
        {"p.Foo$$LambdaForm$14.run", "p.Foo$$LambdaForm$14.run"},
        {"p.Foo$$Lambda.run", "p.Foo$$Lambda.run"},
        {"p.GeneratedMethodAccessor.invoke", "p.GeneratedMethodAccessor.invoke"},
        {"p.GeneratedMethodAccessor12b.invoke", "p.GeneratedMethodAccessor12b.invoke"},
        {"p.$Proxy.m", "p.$Proxy.m"},
        {"p.0x12.m", "p.0x12.m"},
        {"java/lang/String.indexOf", "java/lang/String.indexOf"},
        {"p.C.m(int, long[])", "p.C.m(int, long[])"},
        {"1234567.m", "1234567.m"},
        {"p.C/12", "p.C/12"},
        {"./", "./"},
        {"", ""},
        {"...0x", "...0x"},
        {"$$Lambda", "$$Lambda"}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "%s", names[i][0]);
        hpx_name_generated(text);
        assert_string_equal(text, names[i][1]);
        hpx_name_generated(text); /* it is done */
        assert_string_equal(text, names[i][1]);
    }
}

/* ---- no memory ---- */

static void fill(struct hpx_tree *t)
{
    size_t m;
    if (!hpx_tree_init(t)) {
        return;
    }
    struct hpx_tree_view *other = hpx_tree_find(t, "cycles", "count", &m);
    for (uint32_t i = 0; i < 100; i++) {
        char text[16];
        int n = snprintf(text, sizeof text, "m%u", i);
        uint32_t node = hpx_tree_node(t, i / 2, hpx_tree_frame(t, hpx_tree_name(t, text, (size_t)n), 0, 0, HPX_FRAME_METHOD));
        hpx_tree_add(t, &t->views[HPX_VIEW_CPU], node, 0, (uint64_t[]){i, 1});
        hpx_tree_add(t, other, node, 0, (uint64_t[HPX_TREE_VALUES]){1});
        (void)(i == 50 ? hpx_tree_find(t, "misses", "count", &m) : NULL);
    }
    hpx_tree_finish(t);
}

TEST(without_memory_a_tree_is_whole_or_says_so)
{
    uint64_t step = memory_fault_step(), whole = 0;
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        for (uint64_t first = memory_first_fault();; first += step) {
            struct hpx_tree t;
            memory_fail(first, for_ever ? UINT64_MAX : first);
            fill(&t);
            bool reached = memory_calls() >= first;
            memory_allow();
            assert_true(t.no_memory || (t.views[HPX_VIEW_CPU].totals[0] == 4950 && t.views[HPX_VIEW_OTHER].totals[0] == 100));
            assert_true(t.no_memory || t.nodes.len == 101);
            assert_true(reached || !t.no_memory);
            whole += !t.no_memory;
            hpx_tree_fini(&t);
            if (!reached) {
                break;
            }
        }
    }
    assert_true(whole >= 2);
}

TESTS(NULL, NULL)
