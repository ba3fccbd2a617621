/* SPDX-License-Identifier: BSD-2-Clause */
/* test_bring.c: pulls that wait for the main thread. The watcher is the test's. */
#include "bring.h"
#include "cmocka_all.h"
#include <poll.h>
#include <unistd.h>

#define LONG 3600000U /* ms: longer than the test may take */

bool hpx_watch_flush(struct hpx_watch *w, int ms)
{
    return w == NULL && ms > 0;
}

static void *pull(void *b)
{
    hpx_bring_now(b, LONG);
    return NULL;
}

static void wait_for_pull(const struct hpx_bring *b)
{
    struct pollfd wake = {.fd = b->wake, .events = POLLIN};
    assert_int_equal(poll(&wake, 1, -1), 1);
}

static void a_pull_waits_for_two_turns(void **state)
{
    (void)state;
    struct hpx_bring b;
    pthread_t thread;
    assert_true(hpx_bring_init(&b, NULL));
    assert_int_equal(pthread_create(&thread, NULL, pull, &b), 0);
    wait_for_pull(&b);
    for (int i = 0; i < 2; i++) {
        hpx_bring_wait(&b, LONG);
        hpx_bring_turned(&b);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(b.turns, 2);
    hpx_bring_fini(&b);
}

static void the_end_waits_for_no_turn(void **state)
{
    (void)state;
    struct hpx_bring b;
    pthread_t thread;
    assert_true(hpx_bring_init(&b, NULL));
    assert_int_equal(pthread_create(&thread, NULL, pull, &b), 0);
    wait_for_pull(&b);
    hpx_bring_now(&b, 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    hpx_bring_now(&b, LONG); /* one that comes late */
    assert_int_equal(b.turns, 0);
    hpx_bring_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_pull_waits_for_two_turns), cmocka_unit_test(the_end_waits_for_no_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
