/* SPDX-License-Identifier: BSD-2-Clause */
/* test_watch.c: decisions of `hprofx watch`, and its memory of processes. */
#include "cmocka_all.h"
#include "watch.h"
#include "watch_choice.h"
#include "watch_known.h"
#include <stdio.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

/* ---- which JVMs ---- */

static const char command[] = "/jdk/bin/java\0-cp\0/srv/shop.jar\0com.shop.Main\0--port=80";

static bool matches(const char *pattern)
{
    return hpx_watch_matches(pattern, "com.shop.Main", command, sizeof command);
}

TEST(a_word_is_looked_for_in_every_word)
{
    assert_true(matches("shop.Main"));
    assert_true(matches("/srv/"));
    assert_true(matches("port=8"));
    assert_false(matches("shop.main"));
    assert_false(matches("shop.jar com")); /* across two words */
    assert_true(matches(""));
}

TEST(a_glob_fits_a_whole_word_or_the_name)
{
    assert_true(matches("com.shop.*"));
    assert_true(matches("*/shop.jar"));
    assert_true(matches("com.shop.Mai[mn]"));
    assert_false(matches("shop.*"));
    assert_false(matches("?"));
    assert_true(hpx_watch_matches("app.*", "app.jar", command, sizeof command)); /* the name of a jar has no folder */
    assert_false(hpx_watch_matches("app.*", "?", "", 0));
}

TEST(hosts_of_a_share_are_in_every_larger_one_and_as_many_as_it_says)
{
    unsigned in[3] = {0};
    const double shares[] = {1, 10, 50};
    for (unsigned i = 0; i < 20000; i++) {
        char host[32];
        bool before = false;
        (void)snprintf(host, sizeof host, "host-%u.example", i);
        for (size_t k = 0; k < HPX_ARRAY_LEN(shares); k++) {
            bool is = hpx_watch_in_share(host, shares[k]);
            assert_true(is || !before);
            assert_true(is == hpx_watch_in_share(host, shares[k]));
            in[k] += is;
            before = is;
        }
        assert_true(hpx_watch_in_share(host, 100));
    }
    assert_in_range(in[0], 130, 270); /* 200, and five times the standard deviation */
    assert_in_range(in[1], 1780, 2220);
    assert_in_range(in[2], 9640, 10360);
}

/* ---- the budget ---- */

TEST(the_costliest_sessions_end_until_the_others_fit)
{
    struct hpx_watch_cost of[] = {{.ns = 10}, {.ns = 50}, {.ns = 0}, {.ns = 30}, {.ns = 20}};
    assert_int_equal(hpx_watch_balance(of, 5, 5, 115), 0);
    assert_int_equal(hpx_watch_balance(of, 5, 5, 114), 1);
    assert_true(of[1].ends);
    assert_int_equal(hpx_watch_balance(of, 5, 5, 64), 2);
    assert_true(of[1].ends && of[3].ends && !of[0].ends && !of[2].ends && !of[4].ends);
}

TEST(sessions_that_cost_nothing_go_on_even_if_the_watcher_is_over_the_budget)
{
    struct hpx_watch_cost of[] = {{.ns = 0, .ends = true}, {.ns = 1}, {.ns = 0}};
    assert_int_equal(hpx_watch_balance(of, 3, 100, 10), 1);
    assert_true(!of[0].ends && of[1].ends && !of[2].ends);
    assert_int_equal(hpx_watch_balance(NULL, 0, 100, 10), 0);
}

TEST(the_budget_is_of_all_cpus)
{
    assert_int_equal(hpx_watch_allowance(1, 8, 60 * SECOND), SECOND * 48 / 10);
    assert_int_equal(hpx_watch_allowance(100, 1, 5), 5);
}

static uint64_t own_cpu(const char *text)
{
    return hpx_watch_own_cpu(text, strlen(text));
}

TEST(the_last_line_tells_the_agents_cpu_time)
{
    assert_int_equal(own_cpu("hprofx: own CPU time: 9.279 ms (0.99 % of the program's)\n"), 9279000);
    assert_int_equal(own_cpu("TRACE 1:\n\thprofx: own CPU time: 1 ms\nhprofx: own CPU time: 2 ms\nhprofx: tables: 1 KiB\n"), 2000000);
    assert_int_equal(own_cpu("hprofx: own CPU time: "), 0);
    assert_int_equal(own_cpu("hprofx: own CPU time: nan"), 0);
    assert_int_equal(own_cpu("hprofx: own CPU time: -5 ms"), 0);
    assert_int_equal(own_cpu("hprofx: own CPU time: 99999999999999999999999999999999999999999 ms"), 0);
    assert_int_equal(own_cpu("hprofx: own CPU tim"), 0);
    assert_int_equal(hpx_watch_own_cpu("", 0), 0);
}

/* ---- names ---- */

TEST(names_of_files_are_read_as_they_are_written)
{
    char name[64], more[96];
    struct hpx_watch_name is;
    hpx_watch_print(4711, 0x1a2b, name, sizeof name);
    assert_string_equal(name, "hprofx-watch-4711-1a2b.hprof");
    assert_true(hpx_watch_parse(name, &is));
    assert_true(is.pid == 4711 && is.id == 0x1a2b && is.file == HPX_WATCH_LAST);
    (void)snprintf(more, sizeof more, "%s.12", name);
    assert_true(hpx_watch_parse(more, &is));
    assert_true(is.file == HPX_WATCH_NUMBERED && is.number == 12);
    static const char *const unfinished[] = {".part", ".12.part", ".journal.part"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(unfinished); i++) {
        (void)snprintf(more, sizeof more, "%s%s", name, unfinished[i]);
        assert_true(hpx_watch_parse(more, &is) && is.file == HPX_WATCH_UNFINISHED);
    }
}

TEST(other_names_are_none_of_ours)
{
    static const char *const names[] = {"",
                                        "hprofx-watch-4711-1a2b",
                                        "hprofx-watch-4711-1a2b.hprofx",
                                        "hprofx-watch-4711-1a2b.hprof.",
                                        "hprofx-watch-4711-1a2b.hprof.0",
                                        "hprofx-watch-4711-1a2b.hprof.01",
                                        "hprofx-watch-4711-1a2b.hprof.-1",
                                        "hprofx-watch-4711-1a2b.hprof.4294967297",
                                        "hprofx-watch-4711-1a2b.hprof.1/x",
                                        "hprofx-watch-4711-1A2B.hprof",
                                        "hprofx-watch--1-1a2b.hprof",
                                        "hprofx-watch-0-1a2b.hprof",
                                        "hprofx-watch- 4711-1a2b.hprof",
                                        "hprofx-watch-4711-0x1a2b.hprof",
                                        "hprofx-4711-1a2b.profile"};
    struct hpx_watch_name is;
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        if (hpx_watch_parse(names[i], &is)) {
            fail_msg("%s", names[i]);
        }
    }
    char longest[300] = "hprofx-watch-1-1.hprof.";
    memset(longest + strlen(longest), '1', 250);
    longest[299] = 0;
    assert_false(hpx_watch_parse(longest, &is));
}

/* ---- processes ---- */

TEST(a_process_is_found_again_and_forgotten_when_it_is_gone)
{
    struct hpx_known_all all = {.list = {.items = NULL}};
    for (pid_t i = 0; i < 1000; i++) {
        struct hpx_known *k = hpx_known_get(&all, (i * 7919) % 1000 + 1);
        assert_true(k != NULL && k->kind == HPX_KNOWN_NEW && k->pid == (i * 7919) % 1000 + 1);
        k->kind = HPX_KNOWN_OTHER;
        k->look = (unsigned)k->pid % 2;
    }
    assert_int_equal(all.list.len, 1000);
    assert_int_equal(hpx_known_get(&all, 500)->kind, HPX_KNOWN_OTHER);
    hpx_known_find(&all, 500)->kind = HPX_KNOWN_KEPT; /* its keeper ends, and then it is forgotten */
    hpx_known_forget(&all, 1);
    assert_int_equal(all.list.len, 501);
    assert_non_null(hpx_known_find(&all, 500));
    assert_null(hpx_known_find(&all, 502));
    assert_null(hpx_known_find(&all, 0));
    for (pid_t pid = 1; pid < 1000; pid += 2) {
        assert_int_equal(hpx_known_find(&all, pid)->pid, pid);
    }
    hpx_known_fini(&all);
}

TEST(what_is_no_jvm_is_looked_at_ever_more_rarely)
{
    struct hpx_known k = {.pid = 1};
    static const uint64_t seconds[] = {4, 16, 64, 256, 600, 600};
    for (size_t i = 0; i < HPX_ARRAY_LEN(seconds); i++) {
        hpx_known_other(&k, 5);
        assert_int_equal(k.next, 5 + seconds[i] * SECOND);
    }
    k.kind = HPX_KNOWN_WAITS;
    hpx_known_other(&k, 0);
    assert_int_equal(k.next, 4 * SECOND);
}

TEST(a_number_that_is_used_again_is_another_process)
{
    const uint64_t later = 100 * SECOND;
    static const enum hpx_known_kind kinds[] = {HPX_KNOWN_OTHER, HPX_KNOWN_UNMATCHED, HPX_KNOWN_WAITS, HPX_KNOWN_REFUSED};
    for (size_t i = 0; i < HPX_ARRAY_LEN(kinds); i++) {
        struct hpx_known k = {.pid = 7, .look = 3};
        assert_false(hpx_known_compare(&k, 1000, SECOND)); /* the first look */
        k.kind = kinds[i];
        k.told = k.over_budget = true;
        k.over = 2;
        k.next = k.wait = UINT64_MAX;
        assert_false(hpx_known_is_stale(&k, 2 * SECOND)); /* it costs a file of /proc */
        assert_true(hpx_known_is_stale(&k, later));
        assert_false(hpx_known_compare(&k, 1000, later));
        assert_true(k.kind == kinds[i] && k.told && k.over == 2);
        assert_false(hpx_known_is_stale(&k, later + SECOND));
        assert_true(hpx_known_compare(&k, 1001, 2 * later));
        assert_true(k.kind == HPX_KNOWN_NEW && k.pid == 7 && k.look == 3 && !k.told && !k.over_budget && k.over == 0 && k.next == 0);
        assert_false(hpx_known_compare(&k, 1001, 2 * later));
    }
    struct hpx_known kept = {.pid = 7, .kind = HPX_KNOWN_KEPT, .started = 5}, fresh = {.pid = 8};
    assert_false(hpx_known_is_stale(&kept, later)); /* its keeper sees to it */
    assert_false(hpx_known_is_stale(&fresh, later));
}

/* ---- requests ---- */

TEST(every_counter_has_a_key_of_its_own)
{
    for (size_t i = 0; i < HPX_WATCH_COUNT; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(hpx_watch_infos[i].key, hpx_watch_infos[k].key);
        }
    }
}

TESTS(NULL, NULL)
