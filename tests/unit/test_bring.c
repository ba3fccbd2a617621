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

TEST(a_pull_waits_for_two_turns)
{
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

TEST(the_end_waits_for_no_turn)
{
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

TESTS(NULL, NULL)
