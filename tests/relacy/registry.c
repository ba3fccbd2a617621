/* SPDX-License-Identifier: BSD-2-Clause */
/* registry.c: threads that push their state and retire, and an aggregator that collects them: it sees what they did before each of the two,
 * and has each once. One is given away and comes back. The stack is ck's own code. */
#include "relacy.h"
#include "thread.h"

#define EACH 2u

static struct hpx_registry registry;
static struct hpx_thread threads[2][EACH];
static struct hpx_thread *live[2 * EACH];
static size_t n_live, collected;
static bool given;

static void begin(void)
{
    hpx_registry_init(&registry);
    for (size_t i = 0; i < 2 * EACH; i++) {
        struct hpx_thread *t = &threads[i / EACH][i % EACH];
        atomic_init(&t->state, HPX_THREAD_ATTACHED);
        t->serial = 0;
        t->mark = 0;
    }
    n_live = collected = 0;
    given = false;
}

static void push(void)
{
    struct hpx_thread *mine = threads[relacy_self() - 1];
    for (size_t i = 0; i < EACH; i++) {
        mine[i].serial = 7;
        hpx_registry_push(&registry, &mine[i]);
        mine[i].mark = 8; /* as records in its ring */
        hpx_registry_retire(&mine[i]);
    }
}

static void take(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    relacy_check(t->serial == 7);
    if (!given) {
        given = true;
        hpx_registry_push(&registry, t);
        return;
    }
    relacy_check(n_live < 2 * EACH);
    live[n_live++] = t;
    collected++;
}

static void collect(void)
{
    for (size_t gone = 0; gone < 2 * EACH;) {
        hpx_registry_collect(&registry, take, NULL);
        for (size_t i = 0; i < n_live;) {
            if (atomic_load_explicit(&live[i]->state, memory_order_acquire) == HPX_THREAD_RETIRED) {
                relacy_check(live[i]->mark == 8);
                live[i]->serial = 0; /* as thread_gone(), which frees it */
                gone++;
                live[i] = live[--n_live];
            } else {
                i++;
            }
        }
        relacy_pause();
    }
    relacy_check(collected == 2 * EACH);
}

const struct relacy_test relacy_tests[] = {
    {.name = "registry", .runs = 6000, .before = begin, .thread = {collect, push, push}},
    {.name = NULL},
};
