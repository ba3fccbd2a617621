/* SPDX-License-Identifier: BSD-2-Clause */
/* test_answer.c: what hprofx fetch asks ClickHouse, and how it reads the answer, which may be anything. */
#include "answer.h"
#include "cmocka_all.h"
#include "select.h"
#include <stdlib.h>
#include <string.h>

/* ---- answers ---- */

static struct hpx_tree tree;
static struct hpx_answer answer;
static struct hpx_err err;
static char bytes[1 << 18];
static size_t len;

static int setup(void **state)
{
    (void)state;
    len = 0;
    hpx_answer_init(&answer, &tree);
    return hpx_tree_init(&tree) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    hpx_answer_fini(&answer);
    hpx_tree_fini(&tree);
    return 0;
}

static void number(uint64_t v)
{
    for (; v >= 0x80; v >>= 7) {
        bytes[len++] = (char)(v | 0x80);
    }
    bytes[len++] = (char)v;
}

static void text(const char *s)
{
    number(strlen(s));
    memcpy(bytes + len, s, strlen(s));
    len += strlen(s);
}

static void fixed(uint64_t v)
{
    for (size_t i = 0; i < 8; i++) {
        bytes[len++] = (char)(v >> 8 * i);
    }
}

/* stack: NULL-terminated. */
static void row_of(const char *kind, const char *const *stack, uint64_t value, uint64_t from, uint64_t to)
{
    size_t n = 0;
    while (stack[n] != NULL) {
        n++;
    }
    text(kind);
    number(n);
    for (size_t i = 0; i < n; i++) {
        text(stack[i]);
    }
    fixed(value);
    fixed(from);
    fixed(to);
}

static void row(const char *kind, const char *const *stack, uint64_t value)
{
    row_of(kind, stack, value, 0, 0);
}

static int take(void)
{
    hpx_answer_take(&answer, bytes, len);
    int rc = hpx_answer_end(&answer, &err);
    hpx_tree_finish(&tree);
    return rc;
}

#define STACK(...) ((const char *const[]){__VA_ARGS__, NULL})

static uint64_t total(const char *measure)
{
    struct hpx_tree_column c;
    return hpx_tree_column(&tree, measure, &c) ? tree.views[c.view].totals[c.measure] : 0;
}

TEST(rows_become_stacks_by_kind, setup, teardown)
{
    row("cpu", STACK("main", "p.C.m"), 30);
    row("samples", STACK("main", "p.C.m"), 3);
    row("samples", STACK(NULL), 2);
    row("samples", STACK("[no stack]"), 2);
    row("alloc_space", STACK("main", "java.lang.String"), UINT64_MAX);
    row("mine", STACK("a", ""), 5);
    assert_int_equal(take(), 0);
    assert_int_equal(answer.rows, 6);
    assert_int_equal(total("cpu"), 30);
    assert_int_equal(total("samples"), 7);
    assert_true(total("alloc_space") == UINT64_MAX);
    assert_int_equal(total("mine"), 5);
    const struct hpx_tree_view *v = &tree.views[HPX_VIEW_ALLOC];
    const struct hpx_tree_node *n = hpx_tree_node_at(&tree, hpx_tree_sample_at(v, 0)->node);
    assert_int_equal(hpx_tree_frame_at(&tree, n->frame)->kind, HPX_FRAME_CLASS);
    assert_int_equal(hpx_tree_sample_at(&tree.views[HPX_VIEW_CPU], 0)->node, 0);
}

TEST(rows_have_the_time_of_their_profiles, setup, teardown)
{
    const struct hpx_tree_view *v = &tree.views[HPX_VIEW_CPU];
    tree.timed = true;
    row_of("samples", STACK("main"), 5, 1000, 61000);
    row_of("samples", STACK("main"), 7, 61000, 121000);
    row_of("samples", STACK("main"), 2, 0, 0);
    row_of("samples", STACK("main"), 1, 0, UINT64_MAX); /* a unit that no moment has */
    row_of("samples", STACK("main"), 1, 9, 8);
    assert_int_equal(take(), 0);
    assert_int_equal(total("samples"), 16);
    assert_int_equal(v->moments.len, 2);
    const struct hpx_tree_moment *m = hpx_tree_moment_at(v, 1);
    assert_true(m->at_ms == 61000 && m->unit_ms == 60000 && m->node == hpx_tree_sample_at(v, 0)->node && !m->lasted);
    assert_int_equal(hpx_tree_moment_values_at(v, 1)[0] + hpx_tree_moment_values_at(v, 1)[1], 7);
}

TEST(an_answer_in_single_bytes_is_the_same, setup, teardown)
{
    static char long_name[70000];
    memset(long_name, 'x', sizeof long_name - 1);
    row("cpu", STACK("main", long_name, "</script>\n"), 30);
    row("cpu", STACK("main"), 4);
    for (size_t i = 0; i < len; i++) {
        hpx_answer_take(&answer, bytes + i, 1);
    }
    assert_int_equal(hpx_answer_end(&answer, &err), 0);
    hpx_tree_finish(&tree);
    assert_int_equal(total("cpu"), 34);
    assert_int_equal(tree.nodes.len, 4);
}

TEST(an_answer_that_ends_early_is_told, setup, teardown)
{
    row("cpu", STACK("main"), 30);
    for (size_t n = 1; n < len; n++) {
        struct hpx_answer a;
        hpx_answer_init(&a, &tree);
        hpx_answer_take(&a, bytes, n);
        assert_int_equal(hpx_answer_end(&a, &err), -HPX_E_RANGE);
        assert_non_null(strstr(err.msg, "cut off"));
        hpx_answer_fini(&a);
    }
}

TEST(nonsense_is_told_and_nothing_of_it_kept, setup, teardown)
{
    static const char *const all[] = {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", /* no number */
                                      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",         /* beyond 64 bits */
                                      "\x81\x80\xC0\x01",                                 /* a kind of 3 MB */
                                      "\x01k\x81\x80\x04",                                /* 65537 frames */
                                      "\x01k\x02\x81\x80\xC0\x01"};                       /* a frame of 3 MB */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct hpx_answer a;
        hpx_answer_init(&a, &tree);
        hpx_answer_take(&a, all[i], strlen(all[i]));
        hpx_answer_take(&a, "more", 4);
        assert_int_equal(hpx_answer_end(&a, &err), -HPX_E_RANGE);
        assert_non_null(strstr(err.msg, "not made of rows"));
        assert_int_equal(a.held.len, 0);
        hpx_answer_fini(&a);
    }
}

TEST(kinds_without_room_are_told, setup, teardown)
{
    char kind[16];
    for (int i = 0; i < HPX_TREE_VALUES + 2; i++) {
        (void)snprintf(kind, sizeof kind, "k%d", i);
        row(kind, STACK("main"), 1);
    }
    assert_int_equal(take(), 0);
    assert_true(answer.crowded);
}

/* ---- questions ---- */

#define URL "clickhouse:http://h:8123/"

static uint64_t step;

/* What is asked for that; "" if it is refused. */
static const char *rows_of(const char *url)
{
    static char text_of[4096];
    struct hpx_select s;
    int rc = hpx_select_parse(&s, url, 1700000000, &err);
    char *rows = rc == 0 ? hpx_select_rows(&s, step) : NULL;
    assert_true(rc != 0 || rows != NULL);
    (void)snprintf(text_of, sizeof text_of, "%s", rc == 0 ? rows : "");
    free(rows);
    if (rc == 0) {
        assert_non_null(strstr(s.facts, "FORMAT RowBinary"));
    }
    hpx_select_fini(&s);
    return text_of;
}

TEST(words_become_literals)
{
    struct hpx_select s;
    assert_int_equal(hpx_select_parse(&s, "clickhouse:https://h:8443/x/db.t", 0, &err), 0);
    assert_string_equal(s.url, "https://h:8443/x/?wait_end_of_query=1");
    hpx_select_fini(&s);
    assert_non_null(strstr(rows_of("clickhouse:https://h:8443/x/db.t"), "FROM `db`.`t` WHERE 1 AND kind NOT IN"));
    assert_non_null(
        strstr(rows_of(URL "t?service=o%27x\\&service=b%zz&&version=%26&pid=12"),
               "FROM `t` WHERE 1 AND service IN ('o\\x27x\\x5C', 'b%zz') AND version IN ('&') AND pid IN (12) AND kind NOT IN"));
    assert_non_null(
        strstr(rows_of(URL "d`.t%20`?host=%00%0a"), "FROM `d\\x60`.`t \\x60` WHERE 1 AND host IN ('\\x00\\x0A') AND kind NOT IN"));
    assert_non_null(strstr(rows_of(URL "t?from=-1h&to=1699999999"), "ts >= toDateTime(1699996400) AND ts < toDateTime(1699999999)"));
}

TEST(times_are_asked_for_in_steps_but_those_of_live_objects)
{
    assert_null(strstr(rows_of(URL "t"), "intDiv"));
    step = 60;
    const char *q = rows_of(URL "t"), *live = strstr(q, " UNION ALL ");
    step = 0;
    assert_non_null(strstr(q, "sum(v), min(b) * 1000, max(b * 1000 + d) FROM"));
    assert_non_null(strstr(q, "GROUP BY k, s, intDiv(b, 60) UNION ALL"));
    assert_non_null(strstr(live, "sum(v), toUInt64(0), toUInt64(0) FROM"));
    assert_null(strstr(live, "intDiv"));
}

TEST(live_objects_are_those_of_the_last_profile_of_a_JVM)
{
    assert_non_null(strstr(rows_of(URL "t?pid=1"), " UNION ALL "));
    assert_non_null(strstr(rows_of(URL "t?pid=1"),
                           "AND (profile, kind) GLOBAL IN (SELECT argMax(profile, ts), kind FROM `t` WHERE 1 AND pid IN (1) AND kind IN "
                           "('inuse_objects', 'inuse_space', 'heap_objects', 'heap_space') GROUP BY service, host, container, pid, kind)"));
}

TEST(what_is_no_question_is_refused)
{
    static const char *const bad[] = {"http://h/t",
                                      "clickhouse:h/t",
                                      "clickhouse:http://h",
                                      "clickhouse:http:///t",
                                      URL,
                                      URL "?service=x",
                                      URL "t?pid=1%20OR%201",
                                      URL "t?pid=",
                                      URL "t?pid=99999999999",
                                      URL "t?from=",
                                      URL "t?from=-1y",
                                      URL "t?from=-1h%00x",
                                      URL "t?from=2026-13-01",
                                      URL "t?Service=x",
                                      URL "t?service",
                                      URL "t?x=1",
                                      URL "t?from=99999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (rows_of(bad[i])[0] != '\0') {
            fail_msg("%s", bad[i]);
        }
    }
}

TEST(times_are_those_of_people_and_machines)
{
    assert_int_equal(setenv("TZ", "UTC-1", 1), 0);
    tzset();
    assert_int_equal(hpx_select_time("-90s", 1000), 910);
    assert_int_equal(hpx_select_time("-7d", 700000), 95200);
    assert_int_equal(hpx_select_time("1764000000", 0), 1764000000);
    assert_int_equal(hpx_select_time("2025-11-24T16:00Z", 0), 1764000000);
    assert_int_equal(hpx_select_time("2025-11-24T17:00", 0), 1764000000);
    assert_int_equal(hpx_select_time("2025-11-24T16:00:30Z", 0), 1764000030);
    assert_int_equal(hpx_select_time("2025-11-24Z", 0), 1763942400);
    assert_int_equal(hpx_select_time("-1h", 10), -1);
    assert_int_equal(hpx_select_time("", 10), -1);
    assert_int_equal(hpx_select_time("-", 10), -1);
    assert_int_equal(hpx_select_time("2200-01-01", 10), -1);
}

TESTS(NULL, NULL)
