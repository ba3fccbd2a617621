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

/* ---- times ---- */

static void moment(enum hpx_view_kind view, uint64_t at, uint32_t node, const char *thread, uint64_t first, uint64_t second)
{
    const struct hpx_tree_moment m = {.at_ms = at, .unit_ms = 1, .node = node, .thread = name(thread)};
    hpx_tree_add_moment(&tree, &tree.views[view], &m, (uint64_t[HPX_TREE_VALUES]){first, second});
}

static char told[1024];

/* "AT NODE'S FRAME [THREAD] FIRST; " of each moment. */
static const char *moments(const struct hpx_tree *t, enum hpx_view_kind view)
{
    const struct hpx_tree_view *v = &t->views[view];
    size_t at = 0;
    told[0] = '\0';
    assert_int_equal(v->moment_numbers.len, v->moments.len * v->values);
    for (size_t i = 0; i < v->moments.len; i++) {
        const struct hpx_tree_moment *m = hpx_tree_moment_at(v, i);
        uint32_t above = hpx_tree_node_at(t, m->node)->parent;
        at += (size_t)snprintf(told + at, sizeof told - at, "%u %s<%s [%s] %u; ", (unsigned)m->at_ms,
                               hpx_tree_text(t, hpx_tree_frame_at(t, hpx_tree_node_at(t, m->node)->frame)->name),
                               hpx_tree_text(t, hpx_tree_frame_at(t, hpx_tree_node_at(t, above)->frame)->name), hpx_tree_text(t, m->thread),
                               (unsigned)hpx_tree_moment_values_at(v, i)[0]);
    }
    return told;
}

/* Times of two threads, of which the samples tell the threads only of view CPU. */
static void put_times(void)
{
    uint32_t a = method(0, "a"), b = method(a, "b"),
             state = hpx_tree_node(&tree, b, hpx_tree_frame(&tree, name("blocked"), 0, 0, HPX_FRAME_CLASS));
    tree.timed = true;
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_CPU], a, name("x"), (uint64_t[]){3, 30});
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_CPU], b, name("y"), (uint64_t[]){4, 40});
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_WALL], state, 0, (uint64_t[]){5});
    moment(HPX_VIEW_CPU, 30, b, "y", 4, 40);
    moment(HPX_VIEW_CPU, 10, a, "x", 1, 10);
    moment(HPX_VIEW_CPU, 20, a, "x", 2, 20);
    moment(HPX_VIEW_WALL, 25, state, "x", 5, 0);
    hpx_tree_add_pause(&tree, &(struct hpx_tree_pause){9, 900, name("late")});
    hpx_tree_add_pause(&tree, &(struct hpx_tree_pause){8, 800, 0});
    hpx_tree_add_times(&tree, 5, 40);
    hpx_tree_finish(&tree);
}

TEST(moments_and_pauses_stand_in_the_order_of_their_times, setup, teardown)
{
    put_times();
    assert_string_equal(moments(&tree, HPX_VIEW_CPU), "10 a< [x] 1; 20 a< [x] 2; 30 b<a [y] 4; ");
    assert_int_equal(hpx_tree_moment_values_at(&tree.views[HPX_VIEW_CPU], 2)[1], 40);
    const struct hpx_tree_pause *p = tree.pauses.items;
    assert_int_equal(p[0].ns, 800);
    assert_string_equal(hpx_tree_text(&tree, p[1].name), "late");
    moment(HPX_VIEW_CPU, 15, 0, "", 7, 0);
    moment(HPX_VIEW_CPU, 5, 0, "", 8, 0);
    moment(HPX_VIEW_CPU, 5, 0, "", 9, 0);
    hpx_tree_finish(&tree);
    assert_string_equal(moments(&tree, HPX_VIEW_CPU), "5 < [] 8; 5 < [] 9; 10 a< [x] 1; 15 < [] 7; 20 a< [x] 2; 30 b<a [y] 4; ");
}

TEST(a_tree_that_nobody_asked_for_times_keeps_none, setup, teardown)
{
    size_t bytes = hpx_tree_bytes(&tree);
    moment(HPX_VIEW_CPU, 1, 0, "", 1, 1);
    hpx_tree_add_pause(&tree, &(struct hpx_tree_pause){1, 1, 0});
    assert_int_equal(tree.views[HPX_VIEW_CPU].moments.len + tree.pauses.len, 0);
    tree.timed = true;
    moment(HPX_VIEW_CPU, 1, 0, "", 1, 1);
    assert_true(hpx_tree_bytes(&tree) >= bytes + sizeof(struct hpx_tree_moment) + 2 * sizeof(uint64_t));
}

TEST(threads_of_moments_become_roots_where_those_of_samples_do, setup, teardown)
{
    put_times();
    hpx_tree_root_threads(&tree);
    assert_string_equal(moments(&tree, HPX_VIEW_CPU), "10 a<[x] [] 1; 20 a<[x] [] 2; 30 b<a [] 4; ");
    assert_string_equal(moments(&tree, HPX_VIEW_WALL), "25 blocked<b [] 5; ");
    for (size_t i = 0; i < 3; i++) {
        uint32_t node = hpx_tree_moment_at(&tree.views[HPX_VIEW_CPU], i)->node;
        assert_int_equal(node, hpx_tree_sample_at(&tree.views[HPX_VIEW_CPU], i / 2)->node);
    }
}

TEST(without_threads_moments_have_none, setup, teardown)
{
    put_times();
    hpx_tree_without_threads(&tree);
    assert_string_equal(moments(&tree, HPX_VIEW_CPU), "10 a< [] 1; 20 a< [] 2; 30 b<a [] 4; ");
}

TEST(a_joined_tree_has_the_times_of_both, setup, teardown)
{
    struct hpx_tree to;
    assert_true(hpx_tree_init(&to));
    put_times();
    hpx_tree_join(&to, &tree);
    assert_int_equal(to.views[HPX_VIEW_CPU].moments.len, 0);
    to.timed = true;
    (void)hpx_tree_name(&to, "other numbers of names", 22);
    hpx_tree_join_views(&to, &tree, 0, ~0U);
    hpx_tree_join_views(&to, &tree, 0, 1U << HPX_VIEW_WALL);
    hpx_tree_finish(&to);
    assert_string_equal(moments(&to, HPX_VIEW_CPU), "10 a< [x] 1; 20 a< [x] 2; 30 b<a [y] 4; ");
    assert_string_equal(moments(&to, HPX_VIEW_WALL), "25 blocked<b [x] 5; 25 blocked<b [x] 5; ");
    assert_int_equal(to.views[HPX_VIEW_CPU].totals[0], 7); /* of the first call */
    assert_int_equal(to.pauses.len, 2);
    assert_string_equal(hpx_tree_text(&to, ((struct hpx_tree_pause *)to.pauses.items)[1].name), "late");
    assert_int_equal(to.times_from_ms, 5);
    assert_int_equal(to.times_to_ms, 40);
    hpx_tree_add_times(&to, 3, 7);
    assert_int_equal(to.times_from_ms, 3);
    assert_int_equal(to.times_to_ms, 40);
    hpx_tree_fini(&to);
}

TEST(moments_keep_their_values_when_a_measure_is_added, setup, teardown)
{
    size_t m;
    struct hpx_tree_view *v = hpx_tree_find(&tree, "cycles", "count", &m);
    tree.timed = true;
    moment(HPX_VIEW_OTHER, 1, 0, "", 5, 0);
    moment(HPX_VIEW_OTHER, 2, 0, "", 6, 0);
    assert_ptr_equal(hpx_tree_find(&tree, "misses", "count", &m), v);
    moment(HPX_VIEW_OTHER, 3, 0, "", 7, 8);
    assert_memory_equal(v->moment_numbers.items, ((uint64_t[]){5, 0, 6, 0, 7, 8}), 6 * sizeof(uint64_t));
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
