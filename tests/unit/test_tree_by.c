/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tree_by.c: what methods that match a pattern have below them, in all views: of small trees whose sums are plain. */
#include "by.h"
#include "cmocka_all.h"
#include "compiler.h"
#include "failing_memory.h"
#include "filter.h"
#include <stdlib.h>
#include <string.h>

static struct hpx_tree tree;
static struct hpx_by by;

/* A stack, outermost first, its frames apart by blanks; one that begins with @ is a class or state, in which _ is a blank. */
static void sample(enum hpx_view_kind view, const char *stack, uint64_t count, uint64_t amount)
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
    hpx_tree_add(&tree, &tree.views[view], node, 0, (uint64_t[]){count, amount, 0, 0});
}

static int setup(void **state)
{
    (void)state;
    bool made = hpx_tree_init(&tree);
    sample(HPX_VIEW_CPU, "main w.A.get db", 1, 0);
    sample(HPX_VIEW_CPU, "main w.A.get", 2, 0);
    sample(HPX_VIEW_CPU, "main w.A.get w.A.get x w.A.get", 4, 0); /* recursion */
    sample(HPX_VIEW_CPU, "main w.B.get w.A.get db", 8, 0);        /* the outermost */
    sample(HPX_VIEW_CPU, "main other", 16, 0);
    sample(HPX_VIEW_CPU, "", 32, 0);
    sample(HPX_VIEW_ALLOC, "main w.A.get @p.Row", 1, 100);
    sample(HPX_VIEW_ALLOC, "main other @w.A.get", 1, 50); /* a class is no method */
    sample(HPX_VIEW_WALL, "main w.A.get @blocked_p.C", 1, 0);
    sample(HPX_VIEW_WALL, "main w.A.get @parked", 2, 0);
    sample(HPX_VIEW_WALL, "main w.B.get @sleeping", 4, 0);
    sample(HPX_VIEW_WALL, "main w.B.get @running", 8, 0);
    sample(HPX_VIEW_WALL, "main w.B.get @runnable", 16, 0);
    sample(HPX_VIEW_WALL, "main @blocked", 32, 0);
    hpx_tree_finish(&tree);
    return made && !tree.no_memory ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    hpx_by_fini(&by);
    hpx_tree_fini(&tree);
    return 0;
}

static char text[512];

static size_t put(size_t at, const char *name, const struct hpx_by_row *r)
{
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at > 0 ? "; " : "", name);
    for (size_t i = 0; i < by.ncolumns; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, " %u", (unsigned)r->values[i]);
    }
    return at;
}

/* The rows, then the rest and the sum of all. */
static const char *rows_of(size_t view, const char *a, const char *b)
{
    const char *all[] = {a, b};
    struct hpx_list patterns = {.items = all, .len = b != NULL ? 2 : 1};
    size_t at = 0;
    hpx_by_fini(&by);
    assert_true(hpx_by_make(&by, &tree, &patterns, view));
    for (size_t i = 0; i < by.rows.len; i++) {
        const struct hpx_by_row *r = (const struct hpx_by_row *)by.rows.items + i;
        at = put(at, hpx_tree_text(&tree, r->name), r);
    }
    at = put(at, "rest", &by.rest);
    (void)put(at, "all", &by.all);
    return text;
}

TEST(by_counts_each_stack_once_for_its_outermost_method, setup, teardown)
{
    /* CPU, wall, blocked, waiting, allocated */
    assert_string_equal(rows_of(HPX_VIEWS, "w", NULL), "w.B.get 8 28 0 4 0; w.A.get 7 3 1 2 100; rest 48 32 32 0 50; all 63 63 33 6 150");
}

TEST(by_of_one_method_has_it_also_below_others, setup, teardown)
{
    assert_string_equal(rows_of(HPX_VIEW_CPU, "w.A", NULL), "w.A.get 15; rest 48; all 63");
    assert_string_equal(rows_of(HPX_VIEW_CPU, "db", "x"), "db 9; x 4; rest 50; all 63");
    assert_string_equal(rows_of(HPX_VIEW_CPU, "*", NULL), "main 31; rest 32; all 63");
    assert_string_equal(rows_of(HPX_VIEW_CPU, "nowhere", NULL), "rest 63; all 63");
}

TEST(by_views_chooses_columns, setup, teardown)
{
    assert_string_equal(rows_of(HPX_VIEW_WALL, "w.A.get", NULL), "w.A.get 3 1 2; rest 60 32 4; all 63 33 6");
    assert_int_equal(by.columns[1].states, HPX_BY_BLOCKED);
    assert_string_equal(rows_of(HPX_VIEW_LOCK, "w.A.get", NULL), "rest; all");
}

TEST(by_without_memory_says_so, setup, teardown)
{
    const char *all[] = {"w"};
    struct hpx_list patterns = {.items = all, .len = 1};
    uint64_t first = memory_first_fault();
    for (bool reached = true; reached; first += memory_fault_step()) {
        memory_fail(first, first);
        bool made = hpx_by_make(&by, &tree, &patterns, HPX_VIEWS);
        reached = memory_calls() >= first;
        memory_allow();
        hpx_by_fini(&by);
        assert_int_equal(made, !reached);
    }
    assert_true(first > 3);
}

TESTS(NULL, NULL)
