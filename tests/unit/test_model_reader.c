/* SPDX-License-Identifier: BSD-2-Clause */
/* test_model_reader.c: a writer's thread walks a snapshot while the owner adds to every table (a finding only under ThreadSanitizer). */
#include "model_fixture.h"
#include <pthread.h>
#include <sched.h>

#define ROUNDS 40u
#define STACKS 400u

struct handover {
    _Atomic(struct hpx_snapshot *) given; /* release: the owner; acquire: the reader. As the lane to the writer orders it. */
    _Atomic bool end;                     /* release: the owner; acquire: the reader */
    uint64_t total, sum, bytes, rounds;   /* the reader's, read after the join */
};

/* Reads each byte that a writer would. */
static uint64_t walk(struct handover *h, const struct hpx_snapshot *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct hpx_trace_rec *t = s->rows[i].trace;
        sum += s->rows[i].count;
        for (uint32_t k = 0; k < t->nframes; k++) {
            const struct hpx_method_rec *m = t->frames[k].method;
            for (uint32_t b = 0; b < m->class_name.len; b++) {
                h->bytes += (unsigned char)m->class_name.bytes[b];
            }
            for (uint32_t b = 0; b < m->name.len; b++) {
                h->bytes += (unsigned char)m->name.bytes[b];
            }
            h->bytes += m->source.len + (uint32_t)t->frames[k].line + t->serial + t->thread;
        }
    }
    return sum;
}

/* Walks each snapshot until the next one comes: so it reads while the owner adds, however the two are scheduled. */
static void *reader(void *arg)
{
    struct handover *h = arg;
    struct hpx_snapshot *s = NULL;
    while (!atomic_load_explicit(&h->end, memory_order_acquire)) {
        struct hpx_snapshot *next = atomic_exchange_explicit(&h->given, NULL, memory_order_acquire);
        if (next) {
            hpx_snapshot_destroy(s);
            s = next;
            h->total += s->total;
            h->sum += walk(h, s);
            h->rounds++;
        } else if (s) {
            (void)walk(h, s);
        }
    }
    hpx_snapshot_destroy(s);
    return NULL;
}

static void add_round(struct fx *f, struct hpx_thread *t, uint32_t round)
{
    char text[128];
    int n = snprintf(text, sizeof(text), "Lp/Class%u;%cC%u.java%crun%u%c()V", round, 0, round, 0, round, 0);
    fx_class(f, round + 1, 8 * (round + 1), 1, text, (uint32_t)n + 1);
    fx_define(f, t, 0, 1, FX_STACK({8, 1})); /* in each snapshot: its record is looked up while it is read */
    for (uint32_t i = 0; i < STACKS; i++) {
        fx_define(f, t, i % HPX_SLOTS, 1, FX_STACK({8 * (1 + i % (round + 1)), (int32_t)(i + round)}, {8 * (round + 1), (int32_t)i}));
    }
}

TEST(reader_walks_a_snapshot_while_the_owner_adds)
{
    static struct fx f;
    struct hpx_thread t = {0};
    struct handover h = {.total = 0};
    pthread_t thread;
    const struct hpx_model_config cfg = {.thread_in_traces = true};
    fx_begin(&f, &cfg);
    fx_thread_start(&f, 1, &t, FX_TEXT("t\0g\0s"));
    assert_int_equal(pthread_create(&thread, NULL, reader, &h), 0);
    uint64_t given = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        add_round(&f, &t, round);
        struct hpx_snapshot *s = hpx_samples_snapshot(f.samples, HPX_TAKE_RESET);
        assert_non_null(s);
        given += s->total;
        atomic_store_explicit(&h.given, s, memory_order_release);
        while (atomic_load_explicit(&h.given, memory_order_relaxed)) {
            (void)sched_yield(); /* one hand-over at a time */
        }
    }
    atomic_store_explicit(&h.end, true, memory_order_release);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(h.rounds, ROUNDS);
    assert_int_equal(h.total, given);
    assert_int_equal(h.sum, given);
    hpx_model_thread_gone(f.m, &t);
    fx_end(&f);
}

TESTS(NULL, NULL)
