/* SPDX-License-Identifier: BSD-2-Clause */
/* lane.c: two senders and a receiver that sleeps: each message comes once, complete, in the order of its sender, and none is left when the
 * receiver sleeps. A message is sent back and posted again. The queue is liburcu's own code; the wake is a counter with the orders that
 * wake.h promises, because ck's is in a library. */
#include "lane.h"
#include "relacy.h"
#include <stdatomic.h>

#define SENDERS 2u
#define EACH    3u

struct message {
    struct hpx_msg head;
    uint32_t sender, number;
};

static struct hpx_lane lane, back;
static struct message messages[SENDERS][EACH];

/* ---- what lane.c calls ---- */

static _Atomic uint32_t *counter(struct hpx_wake *w)
{
    return (_Atomic uint32_t *)(void *)w;
}

void hpx_wake_init(struct hpx_wake *w)
{
    atomic_init(counter(w), 0);
}

uint32_t hpx_wake_value(struct hpx_wake *w)
{
    return atomic_load_explicit(counter(w), memory_order_acquire);
}

void hpx_wake_post(struct hpx_wake *w)
{
    atomic_fetch_add_explicit(counter(w), 1, memory_order_release);
}

bool hpx_wake_wait(struct hpx_wake *w, uint32_t seen, uint64_t ns)
{
    (void)ns;
    while (hpx_wake_value(w) == seen) {
        relacy_pause(); /* for ever: a livelock is a fault */
    }
    return false;
}

/* ---- the test ---- */

static void begin(void)
{
    hpx_lane_init(&lane);
    hpx_lane_init(&back);
}

static void post(struct message *m, uint32_t sender, uint32_t number)
{
    m->head.kind = 1;
    m->sender = sender;
    m->number = number;
    hpx_lane_post(&lane, &m->head, true);
}

static void send(void)
{
    uint32_t self = relacy_self() - 1;
    for (uint32_t i = 0; i < EACH; i++) {
        post(&messages[self][i], self, i);
    }
}

/* Posts one message, and that again when it has come back. */
static void send_again(void)
{
    uint32_t self = relacy_self() - 1;
    post(&messages[self][0], self, 0);
    for (uint32_t i = 1; i < EACH; i++) {
        struct hpx_msg *m;
        for (;;) {
            uint32_t seen = hpx_wake_value(&back.wake);
            if ((m = hpx_lane_splice(&back)) != NULL) {
                break;
            }
            (void)hpx_wake_wait(&back.wake, seen, 0);
        }
        relacy_check(m == &messages[self][0].head && m->next == NULL && messages[self][0].number == i - 1);
        post(&messages[self][0], self, i);
    }
}

static void receive(void)
{
    uint32_t next[SENDERS] = {0, 0};
    while (next[0] + next[1] < SENDERS * EACH) {
        uint32_t seen = hpx_wake_value(&lane.wake);
        struct hpx_msg *m = hpx_lane_splice(&lane), *following;
        if (m == NULL) {
            (void)hpx_wake_wait(&lane.wake, seen, 0);
        }
        for (; m != NULL; m = following) {
            struct message *is = (struct message *)(void *)m;
            following = m->next;
            relacy_check(m->kind == 1 && is->sender < SENDERS && is->number == next[is->sender]);
            next[is->sender]++;
            if (is == &messages[1][0] && is->number < EACH - 1) {
                hpx_lane_post(&back, m, true);
            }
        }
    }
    relacy_check(hpx_lane_splice(&lane) == NULL);
}

const struct relacy_test relacy_tests[] = {
    {.name = "lane", .runs = 6000, .before = begin, .thread = {receive, send, send_again}},
    {.name = NULL},
};
