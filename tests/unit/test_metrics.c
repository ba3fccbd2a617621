/* SPDX-License-Identifier: BSD-2-Clause */
/* test_metrics.c: what hprofx-ship counts, and the page of it. What Prometheus' own checker says of the page: tests/fleet/test_pull.py. */
#include "cmocka_all.h"
#include "metrics.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *page(void)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    assert_non_null(to);
    hpx_metrics_write(to);
    assert_int_equal(fclose(to), 0);
    return text;
}

static void assert_page_has(const char *line, bool has)
{
    char *text = page();
    if ((strstr(text, line) != NULL) != has) {
        fail_msg("%s: %s\n%s", has ? "missing" : "there", line, text);
    }
    free(text);
}

TEST(hostile_values_of_labels_stay_values)
{
    hpx_metric_add(HPX_METRIC_PROFILES_DROPPED, "a\"} 1\nx{y=\"\\",
                   "\xff\x01gr\xc3\xb6\xc3\x9f"
                   "er",
                   1);
    hpx_metric_add(HPX_METRIC_PROFILES_DROPPED,
                   "gr\xc3\xb6\xc3\x9f"
                   "er",
                   "", 1);
    assert_page_has("hprofx_ship_profiles_dropped_total{destination=\"a\\\"} 1\\nx{y=\\\"\\\\\",cause=\"??gr????er\"} 1\n", true);
    assert_page_has("hprofx_ship_profiles_dropped_total{destination=\"gr\xc3\xb6\xc3\x9f"
                    "er\",cause=\"\"} 1\n",
                    true);
}

TEST(a_long_value_is_cut_between_characters)
{
    char name[1200] = "x", wanted[1200];
    for (size_t i = 1; i + 2 < sizeof name; i += 2) {
        memcpy(name + i, "\xc3\xb6", 3);
    }
    hpx_metric_add(HPX_METRIC_BYTES_SENT, name, NULL, 1);
    (void)snprintf(wanted, sizeof wanted, "{destination=\"%.511s\"} 1\n", name);
    assert_page_has(wanted, true);
}

TEST(more_series_than_there_is_room_for_are_counted_together)
{
    char name[16];
    hpx_metric_add(HPX_METRIC_VALUES_READ, "other", NULL, 5); /* somebody's own word */
    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "kind%d", i);
        hpx_metric_add(HPX_METRIC_VALUES_READ, name, NULL, 1);
        hpx_metric_add(HPX_METRIC_VALUES_READ, name, NULL, 1);
    }
    assert_int_equal(hpx_metric_get(HPX_METRIC_VALUES_READ, "kind63", NULL), 2);
    assert_int_equal(hpx_metric_get(HPX_METRIC_VALUES_READ, "kind64", NULL), 0);
    assert_int_equal(hpx_metric_get(HPX_METRIC_VALUES_READ, "other", NULL), 5 + 2 * 36);
    assert_page_has("{kind=\"kind63\"} 2\nhprofx_ship_values_read_total{kind=\"other\"} 77\n#", true);
}

static void *count(void *unused)
{
    for (int i = 0; i < 10000; i++) {
        hpx_metric_add(HPX_METRIC_REQUESTS, i % 2 == 0 ? "even" : "odd", "200", 1);
    }
    return unused;
}

TEST(threads_count_together)
{
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(hpx_metric_get(HPX_METRIC_REQUESTS, "even", "200"), 20000);
    assert_int_equal(hpx_metric_get(HPX_METRIC_REQUESTS, "odd", "200"), 20000);
}

TESTS(NULL, NULL)
