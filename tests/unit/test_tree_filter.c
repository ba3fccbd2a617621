/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tree_filter.c: which stacks filters leave, and what is left of them: of small trees whose answers are plain. */
#include "cmocka_all.h"
#include "compiler.h"
#include "failing_memory.h"
#include "filter.h"
#include <stdlib.h>
#include <string.h>

static struct hpx_tree tree;
static struct hpx_filter filter;

/* A stack, outermost first, its frames apart by blanks; one that begins with @ is a class or state, in which _ is a blank. */
static void sample(enum hpx_view_kind view, const char *stack, const char *thread, uint64_t count, uint64_t amount)
{
    uint32_t node = 0;
    for (const char *at = stack; *at != '\0'; at += at[0] == ' ') {
        char text[64];
        size_t n = strcspn(at, " ");
        bool class = at[0] == '@';
        (void)snprintf(text, sizeof text, "%.*s", (int)(n - class), at + class);
        for (char *c = text; class && *c != '\0'; c++) {
            *c = *c == '_' ? ' ' : *c;
        }
        uint32_t name = hpx_tree_name(&tree, text, strlen(text));
        node = hpx_tree_node(&tree, node, hpx_tree_frame(&tree, name, 0, 0, class ? HPX_FRAME_CLASS : HPX_FRAME_METHOD));
        at += n;
    }
    hpx_tree_add(&tree, &tree.views[view], node, hpx_tree_name(&tree, thread, strlen(thread)), (uint64_t[]){count, amount, 0, 0});
}

/* The same of the view that came last, at some time. */
static void at(uint64_t ms, enum hpx_view_kind view, uint64_t count)
{
    const struct hpx_tree_view *v = &tree.views[view];
    const struct hpx_tree_sample *s = hpx_tree_sample_at(v, v->samples.len - 1);
    const struct hpx_tree_moment m = {.at_ms = ms, .unit_ms = 1, .node = s->node, .thread = s->thread};
    hpx_tree_add_moment(&tree, &tree.views[view], &m, (uint64_t[]){count, 0, 0, 0});
}

static void fill(void)
{
    assert_true(hpx_tree_init(&tree));
    sample(HPX_VIEW_CPU, "m.main w.A.serve d.Pool.get", "http-1", 1, 10);
    sample(HPX_VIEW_CPU, "m.main w.B.serve d.Pool.get d.Pool$Lock.take", "http-2", 2, 20);
    sample(HPX_VIEW_CPU, "m.main w.A.serve w.A.serve w.B.serve d.Pool.get", "http-1", 4, 40); /* nested, recursive */
    sample(HPX_VIEW_CPU, "m.main w.A$Inner.serve", "pool;[x]", 8, 80);
    sample(HPX_VIEW_CPU, "m.main wide.A.serve(int,long)", "main", 16, 160);
    sample(HPX_VIEW_CPU, "", "main", 32, 320);
    sample(HPX_VIEW_ALLOC, "m.main w.A.serve @d.Row", "http-1", 1, 100);
    sample(HPX_VIEW_ALLOC, "m.main w.B.serve @byte[]", "http-2", 2, 200);
    sample(HPX_VIEW_WALL, "m.main w.A.serve @blocked_d.Pool", "http-1", 7, 0);
    sample(HPX_VIEW_WALL, "m.main w.A.serve @parked", "http-1", 11, 0);
    sample(HPX_VIEW_WALL, "m.main @running", "main", 13, 0);
    tree.effective = 63;
    tree.sampled = 30;
    tree.verdict = strdup("all of it\n");
    hpx_tree_finish(&tree);
    assert_false(tree.no_memory);
}

static void forget(void)
{
    hpx_tree_fini(&tree);
    hpx_filter_fini(&filter);
}

static void put(enum hpx_filter_kind kind, const char *pattern)
{
    assert_true(hpx_filter_add(&filter, kind, pattern));
}

static char text[2048];

static size_t put_stack(size_t at, uint32_t node)
{
    const struct hpx_tree_node *n = hpx_tree_node_at(&tree, node);
    if (node != 0) {
        at = put_stack(at, n->parent);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s ", hpx_tree_text(&tree, hpx_tree_frame_at(&tree, n->frame)->name));
    }
    return at;
}

/* "stack count; ", in the order of the nodes, which is that of samples that came first. */
static const char *left(enum hpx_view_kind view)
{
    const struct hpx_tree_view *v = &tree.views[view];
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < v->samples.len; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, i > 0 ? "; " : "");
        at = put_stack(at, hpx_tree_sample_at(v, i)->node);
        at += (size_t)snprintf(text + at, sizeof text - at, "%u", (unsigned)hpx_tree_values_at(v, i)[0]);
    }
    return text;
}

/* The totals of all views, as (view counts) in their order, behind one filter. */
static uint64_t total(enum hpx_filter_kind kind, const char *pattern, enum hpx_view_kind view)
{
    fill();
    put(kind, pattern);
    hpx_filter_apply(&tree, &filter);
    assert_false(tree.no_memory);
    uint64_t n = tree.views[view].totals[0];
    forget();
    return n;
}

TEST(filter_patterns_name_a_method_a_class_or_a_package)
{
    static const struct {
        const char *pattern, *name;
        bool fits;
    } all[] = {{"w.A.serve", "w.A.serve", true},
               {"w.A.serve", "w.A.serve(int)", true},
               {"w.A", "w.A.serve", true},
               {"w.A", "w.A$Inner.serve", true},
               {"w", "w.A.serve", true},
               {"w", "wide.A.serve", false},
               {"w.A.serv", "w.A.serve", false},
               {"A.serve", "w.A.serve", false},
               {"*.A.serve", "w.A.serve", true},
               {"*.A.serve", "w.A.serve(int,p.C)", true},
               {"*.A", "w.A.serve", true},
               {"*.A", "w.A$Inner.serve", false},
               {"*Inner", "w.A$Inner.serve", true},
               {"w.*.serve", "w.A.serve", true},
               {"*", "anything at all", true},
               {"w.A$Inner", "w.A$Inner.<init>", true},
               {"w.A$Inner.<init>", "w.A$Inner.<init>(int)", true},
               {"*.<clinit>", "p.C.<clinit>", true},
               {"p.C$$Lambda", "p.C$$Lambda.run", true},
               {"byte[]", "byte[]", true},
               {"[no stack]", "[no stack]", true},
               {"*\xc3\xa9*", "p.\xc3\xa9t\xc3\xa9.m", true},
               {"", "w.A", false},
               {".", "w.A", false}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        if (hpx_filter_fits(all[i].pattern, all[i].name) != all[i].fits) {
            fail_msg("%s %s", all[i].pattern, all[i].name);
        }
    }
}

TEST(filters_take_the_times_of_what_they_leave)
{
    assert_true(hpx_tree_init(&tree));
    tree.timed = true;
    sample(HPX_VIEW_CPU, "m.main w.A.serve d.Pool.get", "http-1", 3, 10);
    at(10, HPX_VIEW_CPU, 1);
    at(30, HPX_VIEW_CPU, 2);
    sample(HPX_VIEW_CPU, "m.main w.B.serve d.Pool.get", "http-2", 4, 10);
    at(20, HPX_VIEW_CPU, 4);
    hpx_tree_add_pause(&tree, &(struct hpx_tree_pause){15, 5, hpx_tree_name(&tree, "G1New", 5)});
    hpx_tree_add_times(&tree, 10, 30);
    hpx_tree_finish(&tree);
    put(HPX_FILTER_ROOT, "w.A.serve");
    put(HPX_FILTER_LEAF, "w.A.serve");
    hpx_filter_apply(&tree, &filter);
    const struct hpx_tree_view *v = &tree.views[HPX_VIEW_CPU];
    assert_false(tree.no_memory);
    assert_string_equal(left(HPX_VIEW_CPU), "w.A.serve 3");
    assert_int_equal(v->moments.len, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(hpx_tree_moment_at(v, i)->node, hpx_tree_sample_at(v, 0)->node);
        assert_int_equal(hpx_tree_moment_at(v, i)->at_ms, i == 0 ? 10 : 30);
        assert_int_equal(hpx_tree_moment_values_at(v, i)[0], i + 1);
        assert_string_equal(hpx_tree_text(&tree, hpx_tree_moment_at(v, i)->thread), "http-1");
    }
    assert_int_equal(tree.pauses.len, 1);
    assert_string_equal(hpx_tree_text(&tree, ((struct hpx_tree_pause *)tree.pauses.items)->name), "G1New");
    assert_int_equal(tree.times_to_ms, 30);
    forget();
}

TEST(filter_without_patterns_changes_nothing)
{
    fill();
    hpx_filter_apply(&tree, NULL);
    hpx_filter_apply(&tree, &filter);
    assert_int_equal(tree.views[HPX_VIEW_CPU].totals[0], 63);
    assert_int_equal(tree.views[HPX_VIEW_CPU].before[0], 0);
    assert_int_equal(tree.filtered, 0);
    assert_string_equal(tree.verdict, "all of it\n");
    forget();
}

TEST(filter_included_and_excluded_are_all_of_it)
{
    static const char *const patterns[] = {"w",       "w.A", "w.A.serve", "*Inner*", "d.Pool",   "m.main", "wide.A.serve(int,long)",
                                           "nowhere", "*",   "http-1",    "http-*",  "pool;[x]", "byte[]", "*Row"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(patterns); i++) {
        for (enum hpx_view_kind k = HPX_VIEW_CPU; k <= HPX_VIEW_ALLOC; k++) {
            uint64_t all = k == HPX_VIEW_CPU ? 63 : k == HPX_VIEW_WALL ? 31 : k == HPX_VIEW_ALLOC ? 3 : 0;
            assert_int_equal(total(HPX_FILTER_INCLUDE, patterns[i], k) + total(HPX_FILTER_EXCLUDE, patterns[i], k), all);
        }
    }
    assert_int_equal(total(HPX_FILTER_INCLUDE, "w.A", HPX_VIEW_CPU), 1 + 4 + 8);
    assert_int_equal(total(HPX_FILTER_INCLUDE, "w.A.serve", HPX_VIEW_CPU), 1 + 4);
    assert_int_equal(total(HPX_FILTER_INCLUDE, "http-*", HPX_VIEW_CPU), 1 + 2 + 4);
    assert_int_equal(total(HPX_FILTER_INCLUDE, "pool;[x]", HPX_VIEW_CPU), 8);
    assert_int_equal(total(HPX_FILTER_INCLUDE, "byte[]", HPX_VIEW_ALLOC), 2);
    assert_int_equal(total(HPX_FILTER_INCLUDE, "running", HPX_VIEW_WALL), 0); /* a state is no method */
}

TEST(filter_of_several_any_includes_and_none_excludes)
{
    fill();
    put(HPX_FILTER_INCLUDE, "w.B");
    put(HPX_FILTER_INCLUDE, "w.A$Inner");
    put(HPX_FILTER_EXCLUDE, "d.Pool$Lock");
    put(HPX_FILTER_EXCLUDE, "nowhere");
    hpx_filter_apply(&tree, &filter);
    assert_string_equal(left(HPX_VIEW_CPU), "m.main w.A.serve w.A.serve w.B.serve d.Pool.get 4; m.main w.A$Inner.serve 8");
    assert_string_equal(left(HPX_VIEW_ALLOC), "m.main w.B.serve byte[] 2");
    assert_string_equal(hpx_tree_text(&tree, tree.filtered),
                        "--include w.B --include 'w.A$Inner' --exclude 'd.Pool$Lock' --exclude nowhere");
    assert_int_equal(tree.views[HPX_VIEW_CPU].before[1], 630);
    assert_int_equal(tree.views[HPX_VIEW_CPU].totals[1], 120);
    assert_int_equal(tree.effective, 12);
    assert_int_equal(tree.sampled, 20);
    assert_null(tree.verdict);
    forget();
}

TEST(filter_of_threads_is_the_name_else_a_part_of_it)
{
    assert_int_equal(total(HPX_FILTER_THREAD, "http-1", HPX_VIEW_CPU), 5);
    assert_int_equal(total(HPX_FILTER_THREAD, "http", HPX_VIEW_CPU), 7);
    assert_int_equal(total(HPX_FILTER_THREAD, "*-2", HPX_VIEW_CPU), 2);
    assert_int_equal(total(HPX_FILTER_THREAD, "http*", HPX_VIEW_WALL), 18);
    assert_int_equal(total(HPX_FILTER_THREAD, ";[", HPX_VIEW_CPU), 8);
    assert_int_equal(total(HPX_FILTER_THREAD, "nobody", HPX_VIEW_CPU), 0);
    assert_int_equal(total(HPX_FILTER_THREAD, "main", HPX_VIEW_CPU), 48); /* no stack is needed */
}

TEST(filter_of_states_is_with_or_without_their_class)
{
    assert_int_equal(total(HPX_FILTER_STATE, "blocked", HPX_VIEW_WALL), 7);
    assert_int_equal(total(HPX_FILTER_STATE, "blocked d.Pool", HPX_VIEW_WALL), 7);
    assert_int_equal(total(HPX_FILTER_STATE, "blocked d.Lock", HPX_VIEW_WALL), 0);
    assert_int_equal(total(HPX_FILTER_STATE, "*ed", HPX_VIEW_WALL), 18);
    assert_int_equal(total(HPX_FILTER_STATE, "running", HPX_VIEW_CPU), 0);
    assert_int_equal(total(HPX_FILTER_STATE, "byte[]", HPX_VIEW_ALLOC), 0); /* a class is no state */
}

TEST(filter_of_roots_cuts_above_the_outermost_match)
{
    fill();
    put(HPX_FILTER_ROOT, "*.serve");
    hpx_filter_apply(&tree, &filter);
    assert_string_equal(left(HPX_VIEW_CPU), "w.A.serve d.Pool.get 1; w.B.serve d.Pool.get d.Pool$Lock.take 2; "
                                            "w.A.serve w.A.serve w.B.serve d.Pool.get 4; w.A$Inner.serve 8; wide.A.serve(int,long) 16");
    assert_string_equal(left(HPX_VIEW_WALL), "w.A.serve blocked d.Pool 7; w.A.serve parked 11");
    forget();
}

TEST(filter_of_leaves_cuts_below_the_outermost_match_and_adds_up)
{
    fill();
    put(HPX_FILTER_ROOT, "w.A");
    put(HPX_FILTER_ROOT, "w.B");
    put(HPX_FILTER_LEAF, "w");
    hpx_filter_apply(&tree, &filter);
    assert_string_equal(left(HPX_VIEW_CPU), "w.A.serve 5; w.B.serve 2; w.A$Inner.serve 8");
    assert_string_equal(left(HPX_VIEW_ALLOC), "w.A.serve d.Row 1; w.B.serve byte[] 2"); /* what was allocated stays */
    forget();
    fill();
    put(HPX_FILTER_ROOT, "w.B");
    put(HPX_FILTER_LEAF, "w.A");
    hpx_filter_apply(&tree, &filter); /* none below such a root */
    assert_string_equal(left(HPX_VIEW_CPU), "");
    assert_int_equal(tree.effective, 0);
    forget();
}

TEST(filter_leaves_no_name_of_what_is_gone)
{
    fill();
    put(HPX_FILTER_EXCLUDE, "d.Pool");
    hpx_filter_apply(&tree, &filter);
    for (uint32_t i = 0; i < tree.names.len; i++) {
        if (i != tree.filtered) {
            assert_null(strstr(hpx_tree_text(&tree, i), "Pool.get"));
        }
    }
    forget();
}

TEST(filter_behind_another_says_both)
{
    fill();
    put(HPX_FILTER_THREAD, "http-1");
    hpx_filter_apply(&tree, &filter);
    hpx_filter_fini(&filter);
    put(HPX_FILTER_LEAF, "it's");
    hpx_filter_apply(&tree, &filter);
    assert_string_equal(hpx_tree_text(&tree, tree.filtered), "--thread http-1; --leaf 'it's'");
    forget();
}

TEST(filter_keeps_measures_that_are_not_hprofx_own)
{
    size_t at;
    assert_true(hpx_tree_init(&tree));
    const char *own = hpx_tree_text(&tree, hpx_tree_name(&tree, "cycles", 6));
    struct hpx_tree_view *v = hpx_tree_find(&tree, own, "count", &at);
    assert_ptr_equal(v, &tree.views[HPX_VIEW_OTHER]);
    sample(HPX_VIEW_OTHER, "a b", "", 5, 0);
    sample(HPX_VIEW_OTHER, "a c", "", 6, 0);
    hpx_tree_finish(&tree);
    put(HPX_FILTER_INCLUDE, "c");
    hpx_filter_apply(&tree, &filter);
    assert_string_equal(tree.views[HPX_VIEW_OTHER].measures[0].name, "cycles");
    assert_int_equal(tree.views[HPX_VIEW_OTHER].totals[0], 6);
    assert_int_equal(tree.views[HPX_VIEW_OTHER].before[0], 11);
    forget();
}

TEST(filter_without_memory_leaves_a_tree_that_is_not_shown)
{
    uint64_t first = memory_first_fault(), begin = first;
    for (bool reached = true; reached; first += memory_fault_step()) {
        fill();
        put(HPX_FILTER_ROOT, "w");
        memory_fail(first, first);
        hpx_filter_apply(&tree, &filter);
        reached = memory_calls() >= first;
        memory_allow();
        assert_int_equal(tree.no_memory, reached);
        forget();
    }
    assert_true(first > begin + 10);
}

TESTS(NULL, NULL)
