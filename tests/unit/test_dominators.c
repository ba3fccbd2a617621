/* SPDX-License-Identifier: BSD-2-Clause */
/* test_dominators.c: dominators, retained sizes and ways: of small graphs whose answers are plain, of random ones against definitions that
 * are slow and short, and of deep ones. */
#include "cmocka_all.h"
#include "compiler.h"
#include "dominators.h"
#include "failing_memory.h"
#include "retained.h"
#include <string.h>

#define SMALL  24
#define DEEP   1000000U
#define DRAWN  6000
#define KINDS  3
#define UNSEEN HPX_HEAP_UNREACHED

struct graph {
    uint32_t n, len;
    uint64_t first[SMALL + 1];
    uint32_t refs[SMALL * 8], klass[SMALL], size[SMALL];
};

static uint32_t idom[SMALL], before[SMALL], held[SMALL], alike[SMALL];
static uint64_t retained[SMALL], of_class[KINDS + 1];

static void solve(const struct graph *g)
{
    assert_int_equal(hpx_heap_dominators(g->n, g->first, g->refs, idom, NULL), 0);
    assert_int_equal(hpx_heap_nearest(g->n, g->first, g->refs, before, NULL), 0);
    assert_int_equal(hpx_heap_retained(g->n, idom, g->size, retained, held, NULL), 0);
    assert_int_equal(hpx_heap_retained_classes(g->n, idom, retained, g->klass, KINDS, of_class, alike, NULL), 0);
}

/* Arcs as pairs of letters: "@A AC" is 0 to 1, 1 to 3. */
static struct graph graph_of(uint32_t n, const char *arcs)
{
    struct graph g = {.n = n};
    for (uint32_t i = 0; i < n; i++) {
        g.size[i] = i;
        for (const char *at = arcs; *at != '\0'; at += at[2] == ' ' ? 3 : 2) {
            if (at[0] == (char)('@' + i)) {
                g.refs[g.len++] = (uint32_t)(at[1] - '@');
            }
        }
        g.first[i + 1] = g.len;
    }
    return g;
}

/* The dominators as letters; a dot is a node that no way leads to. */
static void dominators_are(uint32_t n, const char *arcs, const char *wanted)
{
    static const char letters[] = "@ABCDEFGHIJKLMNOPQRSTUVWX";
    struct graph g = graph_of(n, arcs);
    char text[SMALL + 1] = "........................";
    solve(&g);
    text[n] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        if (idom[i] != UNSEEN) {
            text[i] = letters[idom[i]];
        }
    }
    assert_string_equal(text, wanted);
}

TEST(a_single_way_is_its_own_tree_of_dominators)
{
    dominators_are(4, "@A AB BC", "@@AB");
}

TEST(two_ways_meet_below_the_node_where_they_part)
{
    dominators_are(5, "@A AB AC BD CD", "@@AAA");
}

TEST(an_object_of_two_roots_belongs_to_neither)
{
    dominators_are(4, "@A @B AC BC", "@@@@");
}

TEST(a_root_belongs_to_nobody_who_refers_to_it)
{
    dominators_are(4, "@A @C AB BC", "@@A@");
}

TEST(the_graph_of_lengauer_and_tarjan)
{
    /* R, A, B, ... L of their paper are A, B, C, ... M here. */
    dominators_are(14, "@A AB AC AD BE CB CE CF DG DH EM FI GJ HJ HK IF IL JL KJ LJ LA MI", "@@AAAAADDAAHAE");
}

TEST(garbage_has_no_dominator_even_if_it_refers_to_what_lives)
{
    dominators_are(5, "@A AB CD DC CB", "@@A..");
    assert_int_equal(before[3], UNSEEN);
    assert_int_equal(retained[3], 0);
    assert_int_equal(retained[1], 1 + 2);
}

TEST(nodes_that_refer_to_themselves_twice_or_to_the_top_change_nothing)
{
    dominators_are(3, "@A AA AA AB AB BB B@ BA", "@@A");
}

TEST(a_heap_without_roots_retains_nothing)
{
    dominators_are(3, "AB", "@..");
    assert_int_equal(retained[0], 0);
}

TEST(the_top_alone)
{
    dominators_are(1, "", "@");
}

TEST(what_an_object_retains_is_counted_with_it)
{
    struct graph g = graph_of(6, "@A AB AC BD CD DE");
    solve(&g);
    assert_int_equal(retained[1], 1 + 2 + 3 + 4 + 5);
    assert_int_equal(held[1], 5);
    assert_int_equal(retained[4], 4 + 5);
    assert_int_equal(held[2], 1);
}

TEST(a_class_counts_only_its_highest_objects)
{
    struct graph g = graph_of(6, "@A AB BC @D DE"); /* A holds B holds C; D holds E */
    memcpy(g.klass, (uint32_t[]){9, 1, 2, 1, 1, 9}, 6 * sizeof g.klass[0]);
    solve(&g);
    assert_int_equal(of_class[0], 0);
    assert_int_equal(of_class[1], (1 + 2 + 3) + (4 + 5));
    assert_int_equal(of_class[2], 2 + 3);
    assert_int_equal(of_class[3], 5);
}

TEST(the_biggest_are_told_once_per_list_of_nodes)
{
    struct graph g = graph_of(7, "@A AB BC CD @E EF"); /* A to D: a list of one class; E holds F of another */
    uint32_t top[4];
    memcpy(g.klass, (uint32_t[]){9, 1, 1, 1, 1, 0, 2}, 7 * sizeof g.klass[0]);
    solve(&g);
    assert_int_equal(hpx_heap_biggest(7, idom, retained, alike, top, 4), 3);
    assert_memory_equal(top, ((uint32_t[]){5, 1, 6}), 3 * sizeof *top);
    assert_int_equal(hpx_heap_biggest(7, idom, retained, alike, top, 2), 2);
    assert_memory_equal(top, ((uint32_t[]){5, 1}), 2 * sizeof *top);
    assert_int_equal(hpx_heap_biggest(7, idom, retained, alike, top, 0), 0);
}

TEST(a_list_of_nodes_of_two_classes_is_told_once_for_each)
{
    struct graph g = graph_of(20, "@A AB BC CD DE EF FG GH HI IJ JK KL LM MN NO OP PQ QR RS");
    uint32_t top[20];
    for (uint32_t i = 1; i < g.n; i++) {
        g.klass[i] = i % 5 == 0;
        g.size[i] = i + 1 < g.n ? 1 : 1000;
    }
    solve(&g);
    assert_int_equal(hpx_heap_biggest(g.n, idom, retained, alike, top, 20), 2);
    assert_memory_equal(top, ((uint32_t[]){1, 5}), 2 * sizeof *top);
}

TEST(a_map_in_a_map_is_told_unless_it_is_nearly_the_same)
{
    struct graph g = graph_of(7, "@A AB BC CD DE");
    uint32_t top[7];
    memcpy(g.klass, (uint32_t[]){9, 1, 0, 1, 0, 1, 2}, 7 * sizeof g.klass[0]);
    memcpy(g.size, (uint32_t[]){0, 1, 50, 1, 1, 100, 0}, 7 * sizeof g.size[0]);
    solve(&g);
    assert_int_equal(hpx_heap_biggest(7, idom, retained, alike, top, 7), 4); /* E is nearly C */
    assert_memory_equal(top, ((uint32_t[]){1, 2, 3, 4}), 4 * sizeof *top);
}

/* ---- random graphs, and the definitions ---- */

static uint64_t state_of_draw = 88172645463325252U;

static uint32_t draw(uint32_t below)
{
    state_of_draw ^= state_of_draw << 13;
    state_of_draw ^= state_of_draw >> 7;
    state_of_draw ^= state_of_draw << 17;
    return (uint32_t)(state_of_draw >> 33) % below;
}

/* Some with more arcs than nodes, some with fewer; some with arcs mostly to the next nodes, as lists have. */
static struct graph drawn(void)
{
    struct graph g = {.n = 1 + draw(SMALL - 1)};
    uint32_t arcs = draw(8), ahead = draw(2) == 0 ? g.n : 1 + draw(4);
    for (uint32_t i = 0; i < g.n; i++) {
        uint32_t of_it = arcs == 0 ? draw(3) : draw(arcs);
        for (uint32_t k = 0; k < of_it; k++) {
            g.refs[g.len++] = draw(3) == 0 ? draw(g.n) : (i + draw(ahead + 1)) % g.n;
        }
        g.first[i + 1] = g.len;
        g.klass[i] = draw(KINDS + 1);
        g.size[i] = draw(100);
    }
    return g;
}

/* seen[i]: the number of arcs of the shortest way plus one, without node `without`; 0: there is none. */
static void reach(const struct graph *g, uint32_t without, uint32_t seen[SMALL])
{
    memset(seen, 0, SMALL * sizeof *seen);
    seen[0] = without != 0;
    for (uint32_t round = 1; round <= g->n; round++) {
        for (uint32_t i = 0; i < g->n; i++) {
            for (uint64_t a = g->first[i]; seen[i] == round && a < g->first[i + 1]; a++) {
                seen[g->refs[a]] = g->refs[a] == without || seen[g->refs[a]] != 0 ? seen[g->refs[a]] : round + 1;
            }
        }
    }
}

static bool refers(const struct graph *g, uint32_t from, uint32_t to)
{
    for (uint64_t a = g->first[from]; a < g->first[from + 1]; a++) {
        if (g->refs[a] == to) {
            return true;
        }
    }
    return false;
}

/* By the definitions: what no way leads to without d, d dominates. */
static void compare(const struct graph *g)
{
    static uint32_t live[SMALL], without[SMALL][SMALL];
    uint64_t sums[KINDS + 1] = {0}, above[SMALL] = {0};
    reach(g, UNSEEN, live);
    for (uint32_t d = 0; d < g->n; d++) {
        uint64_t size = 0;
        uint32_t count = 0;
        reach(g, d, without[d]);
        for (uint32_t i = 0; i < g->n; i++) {
            bool its = live[d] != 0 && live[i] != 0 && without[d][i] == 0;
            size += its ? g->size[i] : 0;
            count += its;
            above[i] += its && d != i; /* dominators of i */
        }
        assert_int_equal(retained[d], size);
        assert_int_equal(held[d], count);
    }
    for (uint32_t i = 0; i < g->n; i++) {
        bool highest = live[i] != 0 && i != 0;
        assert_int_equal(idom[i] == UNSEEN, live[i] == 0);
        assert_int_equal(before[i] == UNSEEN, live[i] == 0);
        if (live[i] == 0 || i == 0) {
            continue;
        }
        assert_int_equal(without[idom[i]][i], 0); /* it dominates i, and is the lowest one that does */
        assert_int_equal(above[idom[i]] + 1, above[i]);
        assert_true(refers(g, before[i], i));
        assert_int_equal(live[before[i]] + 1, live[i]);
        uint32_t nearest = 0;
        for (uint32_t d = 1; d < g->n; d++) {
            bool same = d != i && live[d] != 0 && without[d][i] == 0 && g->klass[d] == g->klass[i];
            nearest = same && (nearest == 0 || above[d] > above[nearest]) ? d : nearest;
            highest = highest && !same;
        }
        assert_int_equal(alike[i], nearest);
        sums[g->klass[i]] += highest ? retained[i] : 0;
    }
    assert_memory_equal(of_class, sums, sizeof sums);
}

TEST(random_graphs_agree_with_the_definitions)
{
    for (int i = 0; i < DRAWN; i++) {
        struct graph g = drawn();
        solve(&g);
        compare(&g);
    }
}

/* ---- deep ones ---- */

struct deep {
    uint64_t *first, *retained;
    uint32_t *refs, *idom, *before, *size, *held, *alike, n;
    uint64_t len;
};

static struct deep deep_of(uint32_t n, size_t arcs)
{
    struct deep d = {.n = n};
    d.first = calloc(n + 1U, sizeof *d.first);
    d.retained = calloc(n, sizeof *d.retained);
    d.refs = calloc(n * arcs, sizeof *d.refs);
    d.idom = calloc(n, sizeof *d.idom);
    d.before = calloc(n, sizeof *d.before);
    d.size = calloc(n, sizeof *d.size);
    d.held = calloc(n, sizeof *d.held);
    d.alike = calloc(n, sizeof *d.alike);
    assert_true(d.first && d.retained && d.refs && d.idom && d.before && d.size && d.held && d.alike);
    for (uint32_t i = 0; i < n; i++) {
        d.size[i] = 1;
    }
    return d;
}

static void refer(struct deep *d, uint32_t from, uint32_t to)
{
    d->refs[d->len++] = to;
    d->first[from + 1] = d->len;
}

static void solve_deep(const struct deep *d)
{
    static uint64_t sums[2];
    assert_int_equal(hpx_heap_dominators(d->n, d->first, d->refs, d->idom, NULL), 0);
    assert_int_equal(hpx_heap_nearest(d->n, d->first, d->refs, d->before, NULL), 0);
    assert_int_equal(hpx_heap_retained(d->n, d->idom, d->size, d->retained, d->held, NULL), 0);
    assert_int_equal(hpx_heap_retained_classes(d->n, d->idom, d->retained, d->size, 1, sums, d->alike, NULL), 0);
    assert_int_equal(sums[1], d->retained[0] - 1); /* one class: all but the top */
}

static void deep_fini(struct deep *d)
{
    free(d->first);
    free(d->retained);
    free(d->refs);
    free(d->idom);
    free(d->before);
    free(d->size);
    free(d->held);
    free(d->alike);
}

TEST(a_list_of_a_million_nodes_needs_no_stack)
{
    struct deep d = deep_of(DEEP, 2);
    refer(&d, 0, 1);
    for (uint32_t i = 1; i < DEEP; i++) {
        if (i + 1 < DEEP) {
            refer(&d, i, i + 1);
        }
        refer(&d, i, i - 1); /* back, as LinkedList does */
    }
    solve_deep(&d);
    for (uint32_t i = 1; i < DEEP; i++) {
        if (d.idom[i] != i - 1 || d.before[i] != i - 1 || d.retained[i] != DEEP - i || d.held[i] != DEEP - i) {
            fail_msg("node %u", i);
        }
    }
    deep_fini(&d);
}

/* Nodes 1 to half are a list, each with an item, to which a root refers, too: only when all of the list is known. */
/* A list of half of n nodes, each with an item; the items are in an array, too. */
static struct deep list_and_array(uint32_t n)
{
    uint32_t half = n / 2, array = n - 1;
    struct deep d = deep_of(n, 4);
    refer(&d, 0, 1);
    refer(&d, 0, array);
    for (uint32_t i = 1; i < half; i++) {
        if (i + 1 < half) {
            refer(&d, i, i + 1);
        }
        refer(&d, i, half + i - 1);
    }
    for (uint32_t i = half; i < array; i++) {
        d.first[i + 1] = d.len;
    }
    for (uint32_t i = 1; i < half; i++) {
        refer(&d, array, half + i - 1);
    }
    return d;
}

TEST(a_long_list_whose_items_are_in_an_array_takes_no_longer)
{
    const uint32_t half = DEEP / 2;
    struct deep d = list_and_array(DEEP);
    solve_deep(&d);
    for (uint32_t i = 1; i < half; i++) {
        if (d.idom[i] != i - 1 || d.idom[half + i - 1] != 0 || d.retained[i] != half - i) {
            fail_msg("node %u", i);
        }
    }
    deep_fini(&d);
}

/* ---- without memory ---- */

TEST(without_memory_there_is_an_error)
{
    struct graph g = graph_of(4, "@A AB BC CA");
    struct hpx_err err = {""};
    for (uint64_t i = 1; i <= 3; i++) { /* two arrays, and the arcs to nodes met before */
        memory_fail(i, i);
        assert_int_equal(hpx_heap_dominators(g.n, g.first, g.refs, idom, &err), -HPX_E_NOMEM);
        memory_allow();
    }
    assert_int_equal(hpx_heap_dominators(g.n, g.first, g.refs, idom, &err), 0);
    struct deep d = list_and_array(DEEP); /* more arcs to nodes met before than there is room for at first */
    uint64_t failing = 0;
    for (int rc = -HPX_E_NOMEM; rc == -HPX_E_NOMEM && failing < 100; failing += rc != 0) {
        memory_fail(failing + 1, failing + 1);
        rc = hpx_heap_dominators(d.n, d.first, d.refs, d.idom, &err);
        memory_allow();
    }
    assert_true(failing > 3 && failing < 100);
    deep_fini(&d);
    memory_fail(1, 1);
    assert_int_equal(hpx_heap_nearest(g.n, g.first, g.refs, before, &err), -HPX_E_NOMEM);
    memory_fail(1, 1);
    assert_int_equal(hpx_heap_retained(g.n, idom, g.size, retained, held, &err), -HPX_E_NOMEM);
    for (uint64_t i = 1; i <= 2; i++) {
        memory_fail(i, i);
        assert_int_equal(hpx_heap_retained_classes(g.n, idom, retained, g.klass, KINDS, of_class, alike, &err), -HPX_E_NOMEM);
    }
    memory_allow();
    assert_int_equal(hpx_heap_dominators(HPX_HEAP_NODES, g.first, g.refs, idom, &err), -HPX_E_RANGE);
    assert_string_not_equal(err.msg, "");
}

TESTS(NULL, NULL)
