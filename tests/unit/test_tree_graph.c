/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tree_graph.c: self and total of methods, callers and callees, threads: of small trees whose sums are plain. */
#include "cmocka_all.h"
#include "compiler.h"
#include "failing_memory.h"
#include "graph.h"
#include <stdlib.h>
#include <string.h>

static struct hpx_tree tree;
static struct hpx_graph whole, part;

static uint32_t name(const char *text)
{
    return hpx_tree_name(&tree, text, strlen(text));
}

/* A stack, outermost first, its frames apart by blanks; one that begins with @ is a class. */
static void sample(enum hpx_view_kind view, const char *stack, const char *thread, uint64_t count, uint64_t amount)
{
    uint32_t node = 0;
    int32_t line = 1;
    for (const char *at = stack; *at != '\0'; at += at[0] == ' ') {
        size_t n = strcspn(at, " ");
        bool class = at[0] == '@';
        uint32_t frame = hpx_tree_frame(&tree, hpx_tree_name(&tree, at + class, n - class), 0, class ? 0 : line++,
                                        class ? HPX_FRAME_CLASS : HPX_FRAME_METHOD);
        node = hpx_tree_node(&tree, node, frame);
        at += n;
    }
    hpx_tree_add(&tree, &tree.views[view], node, name(thread), (uint64_t[]){count, amount, 0, 0});
}

static int setup(void **state)
{
    (void)state;
    bool made = hpx_tree_init(&tree);
    sample(HPX_VIEW_CPU, "main a b", "one", 4, 40);
    sample(HPX_VIEW_CPU, "main a b a", "one", 8, 80); /* a recurs */
    sample(HPX_VIEW_CPU, "main a", "two", 1, 10);
    sample(HPX_VIEW_CPU, "main c a d", "two", 16, 160);
    sample(HPX_VIEW_CPU, "", "", 32, 320);
    sample(HPX_VIEW_CPU, "main zero", "one", 0, 1);
    sample(HPX_VIEW_ALLOC, "main a @p.D", "one", 3, 30);
    sample(HPX_VIEW_ALLOC, "main b @p.D", "", 2, 20);
    sample(HPX_VIEW_ALLOC, "main b @byte[]", "", 1, 100);
    hpx_tree_finish(&tree);
    return made && !tree.no_memory ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    hpx_graph_fini(&whole);
    hpx_graph_fini(&part);
    hpx_tree_fini(&tree);
    return 0;
}

static const struct hpx_graph_method *called(const char *text_of_it)
{
    static struct hpx_graph_method m;
    m = (struct hpx_graph_method){.name = name(text_of_it)};
    return &m;
}

static struct hpx_graph_of of(size_t view, size_t measure, size_t beside)
{
    return (struct hpx_graph_of){.tree = &tree, .column = {view, measure}, .beside = beside};
}

static char text[1024];
static size_t text_len;

static void put(const struct hpx_graph *g, uint32_t node, unsigned depth)
{
    for (uint32_t n = hpx_graph_at(g, node)->first; n != 0; n = hpx_graph_at(g, n)->next) {
        const struct hpx_graph_node *of_it = hpx_graph_at(g, n);
        text_len += (size_t)snprintf(text + text_len, sizeof text - text_len, "%s%u:%s %u/%u", text_len > 0 ? ", " : "", depth,
                                     hpx_tree_text(&tree, of_it->name), (unsigned)of_it->self, (unsigned)of_it->total);
        put(g, n, depth + 1);
    }
}

/* Nodes in the order of a walk, each as depth:name self/total. */
static const char *text_of(const struct hpx_graph *g)
{
    text[0] = '\0';
    text_len = 0;
    put(g, 0, 0);
    return text;
}

/* name self/total(count), in their order. */
static const char *rows(const struct hpx_list *methods)
{
    const struct hpx_graph_method *m = methods->items;
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < methods->len; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s %u/%u(%u)", at > 0 ? ", " : "", hpx_tree_text(&tree, m[i].name),
                               (unsigned)m[i].self, (unsigned)m[i].total, (unsigned)m[i].count);
    }
    return text;
}

TEST(a_method_that_recurs_counts_once_in_its_total, setup, teardown)
{
    struct hpx_list methods;
    const struct hpx_graph_of cpu = of(HPX_VIEW_CPU, 0, 1);
    assert_true(hpx_graph_make(&whole, &cpu));
    assert_true(hpx_graph_methods(&methods, &whole, &tree));
    assert_string_equal(rows(&methods), " 32/32(320), d 16/16(160), a 9/29(90), b 4/12(40), main 0/29(0), c 0/16(0)");
    hpx_graph_rank(&methods, 2);
    assert_string_equal(rows(&methods), " 32/32(320), a 9/29(90), main 0/29(0), d 16/16(160), c 0/16(0), b 4/12(40)");
    free(methods.items);
}

/* Names are data: a method may have that of a class. */
TEST(a_class_and_a_method_of_one_name_are_two, setup, teardown)
{
    struct hpx_list methods;
    const struct hpx_graph_of heap = of(HPX_VIEW_HEAP, 0, 0);
    sample(HPX_VIEW_HEAP, "? @?", "", 5, 1);
    sample(HPX_VIEW_HEAP, "main ?", "", 7, 1);
    hpx_tree_finish(&tree);
    assert_true(hpx_graph_make(&whole, &heap));
    assert_true(hpx_graph_methods(&methods, &whole, &tree));
    assert_string_equal(rows(&methods), "? 12/12(12), ? 5/5(5), main 0/7(0)");
    free(methods.items);
    assert_true(hpx_graph_callers(&part, &whole, called("?")));
    assert_int_equal(hpx_graph_at(&part, 0)->total, 12);
}

TEST(only_threads_that_are_asked_for_count, setup, teardown)
{
    struct hpx_list rows_of;
    struct hpx_graph_of cpu = of(HPX_VIEW_CPU, 0, 1);
    assert_true(hpx_graph_threads(&rows_of, &cpu));
    assert_string_equal(rows(&rows_of), " 32/32(320), two 17/17(170), one 12/12(120)");
    free(rows_of.items);
    bool *wanted = calloc(tree.names.len, sizeof *wanted);
    assert_non_null(wanted);
    wanted[name("two")] = true;
    cpu.threads = wanted;
    assert_true(hpx_graph_make(&whole, &cpu));
    assert_string_equal(text_of(&whole), "0:main 0/17, 1:c 0/16, 2:a 0/16, 3:d 16/16, 1:a 1/1");
    assert_true(hpx_graph_threads(&rows_of, &cpu));
    assert_string_equal(rows(&rows_of), "two 17/17(170)");
    free(rows_of.items);
    free(wanted);
}

TEST(sums_do_not_wrap, setup, teardown)
{
    struct hpx_list methods;
    const struct hpx_graph_of lock = of(HPX_VIEW_LOCK, 1, 1);
    sample(HPX_VIEW_LOCK, "main a", "", 1, UINT64_MAX);
    sample(HPX_VIEW_LOCK, "main b a", "", 1, UINT64_MAX - 1);
    hpx_tree_finish(&tree);
    assert_true(hpx_graph_make(&whole, &lock));
    assert_true(hpx_graph_methods(&methods, &whole, &tree));
    const struct hpx_graph_method *m = methods.items;
    for (size_t i = 0; i < methods.len; i++) {
        assert_true(m[i].self <= m[i].total && m[i].total >= UINT64_MAX - 1);
    }
    assert_true(hpx_graph_at(&whole, 0)->total == UINT64_MAX);
    free(methods.items);
}

TEST(a_deep_stack_takes_no_stack_of_ours, setup, teardown)
{
    struct hpx_list methods;
    uint32_t node = 0, a = hpx_tree_frame(&tree, name("a"), 0, 0, HPX_FRAME_METHOD),
             b = hpx_tree_frame(&tree, name("b"), 0, 0, HPX_FRAME_METHOD);
    const struct hpx_graph_of wait = of(HPX_VIEW_WAIT, 0, 1);
    for (int i = 0; i < 200000; i++) {
        node = hpx_tree_node(&tree, node, i % 2 == 0 ? a : b);
        hpx_tree_add(&tree, &tree.views[HPX_VIEW_WAIT], node, 0, (uint64_t[]){1, 2});
    }
    hpx_tree_finish(&tree);
    assert_true(hpx_graph_make(&whole, &wait));
    assert_true(hpx_graph_methods(&methods, &whole, &tree));
    assert_string_equal(rows(&methods), "a 100000/200000(200000), b 100000/199999(200000)");
    free(methods.items);
    assert_true(hpx_graph_callees(&part, &whole, called("b")));
    assert_int_equal(hpx_graph_at(&part, 0)->total, 199999);
    hpx_graph_fini(&part);
    assert_true(hpx_graph_callers(&part, &whole, called("b")));
    assert_int_equal(hpx_graph_at(&part, 0)->total, 199999);
}

/* Not: what is then in them. */
static bool all_of_it(void)
{
    struct hpx_list methods = {0}, threads = {0};
    struct hpx_graph callers = {0};
    const struct hpx_graph_of cpu = of(HPX_VIEW_CPU, 0, 1);
    bool made = hpx_graph_make(&whole, &cpu) && hpx_graph_methods(&methods, &whole, &tree) && hpx_graph_threads(&threads, &cpu) &&
                hpx_graph_callees(&part, &whole, called("a")) && hpx_graph_callers(&callers, &whole, called("a"));
    free(methods.items);
    free(threads.items);
    hpx_graph_fini(&whole);
    hpx_graph_fini(&part);
    hpx_graph_fini(&callers);
    return made;
}

TEST(without_memory_each_says_so, setup, teardown)
{
    uint64_t first = memory_first_fault();
    for (bool reached = true; reached; first += memory_fault_step()) {
        memory_fail(first, first);
        bool made = all_of_it();
        reached = memory_calls() >= first;
        memory_allow();
        assert_int_equal(made, !reached);
    }
    assert_true(first > 10);
}

TESTS(NULL, NULL)
