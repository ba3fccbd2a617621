/* SPDX-License-Identifier: BSD-2-Clause */
/* stress_lane.c: senders post while the receiver splices and sleeps; first in, first out for each sender, none lost, none twice. */
#include "lane.h"
#include "stress.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define SENDERS 4
#define MINUTE  UINT64_C(60000000000)

struct numbered {
    struct hpx_msg msg;
    uint64_t number;
};

struct sender {
    struct hpx_lane *lane;
    uint32_t id;
    uint64_t count, posted;
};

static void *send_all(void *arg)
{
    struct sender *s = arg;
    for (uint64_t i = 0; i < s->count; i++) {
        struct numbered *m = hpx_msg_new(s->id, sizeof(*m));
        if (!m) {
            continue;
        }
        m->number = s->posted++;
        /* The last one always wakes: the receiver sleeps for a minute otherwise. */
        hpx_lane_post(s->lane, &m->msg, i % 16 == 0 || i + 1 == s->count);
    }
    return NULL;
}

TEST(lane_keeps_the_order_of_each_sender_and_loses_no_wake)
{
    static struct hpx_lane lane;
    static struct sender senders[SENDERS];
    pthread_t threads[SENDERS];
    uint64_t expect[SENDERS] = {0}, received = 0, order_errors = 0, overslept = 0;
    uint64_t each = stress_times(20000);
    hpx_lane_init(&lane);
    for (uint32_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){.lane = &lane, .id = i, .count = each};
        assert_int_equal(pthread_create(&threads[i], NULL, send_all, &senders[i]), 0);
    }
    while (received < each * SENDERS) {
        uint32_t seen = hpx_wake_value(&lane.wake);
        struct hpx_msg *m = hpx_lane_splice(&lane);
        bool any = m != NULL;
        while (m) {
            struct hpx_msg *next = m->next;
            order_errors += ((struct numbered *)(void *)m)->number != expect[m->kind]++;
            received++;
            free(m);
            m = next;
        }
        if (!any && hpx_wake_wait(&lane.wake, seen, MINUTE)) {
            overslept++;
            break;
        }
    }
    uint64_t posted = 0;
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], NULL);
        posted += senders[i].posted;
    }
    assert_int_equal(overslept, 0);
    assert_int_equal(order_errors, 0);
    assert_int_equal(received, posted);
    assert_null(hpx_lane_splice(&lane));
    hpx_lane_fini(&lane);
}

static struct hpx_lane one_lane;
static _Atomic uint64_t answered; /* release: the receiver; acquire: the sender */

static void *send_one_by_one(void *arg)
{
    uint64_t n = *(uint64_t *)arg;
    for (uint64_t i = 0; i < n; i++) {
        struct hpx_msg *m = hpx_msg_new(0, sizeof(*m));
        if (!m) {
            return NULL; /* the receiver oversleeps and says so */
        }
        hpx_lane_post(&one_lane, m, true);
        while (atomic_load_explicit(&answered, memory_order_acquire) != i + 1) {
            sched_yield();
        }
    }
    return NULL;
}

TEST(lane_wakes_a_receiver_that_has_nothing_else_to_do)
{
    pthread_t thread;
    uint64_t n = stress_times(2000), received = 0;
    hpx_lane_init(&one_lane);
    assert_int_equal(pthread_create(&thread, NULL, send_one_by_one, &n), 0);
    bool overslept = false;
    while (received < n && !overslept) {
        uint32_t seen = hpx_wake_value(&one_lane.wake);
        struct hpx_msg *m = hpx_lane_splice(&one_lane);
        if (m) {
            free(m);
            atomic_store_explicit(&answered, ++received, memory_order_release);
        } else {
            overslept = hpx_wake_wait(&one_lane.wake, seen, MINUTE);
        }
    }
    assert_false(overslept);
    pthread_join(thread, NULL);
    hpx_lane_fini(&one_lane);
}

TESTS(NULL, NULL)
