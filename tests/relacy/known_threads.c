/* SPDX-License-Identifier: BSD-2-Clause */
/* known_threads.c: VMInit enters threads and adopts them, while they enter themselves, or look for themselves by their kernel id. */
#include "known_threads.h"
#include "relacy.h"

#define MOST 3u

static struct hpx_mode_thread states[MOST + 1];
static bool mine_of[RELACY_THREADS][MOST + 1];

static void begin(void)
{
    for (unsigned t = 0; t < RELACY_THREADS; t++) {
        for (unsigned i = 1; i <= MOST; i++) {
            mine_of[t][i] = false;
        }
    }
}

/* Half of them have no kernel id. */
static pid_t tid_of(uint64_t number)
{
    return number % 2 == 0 ? 0 : (pid_t)number;
}

static void adopt(void)
{
    for (uint64_t i = 1; i <= MOST; i++) {
        struct hpx_known_thread *k = hpx_known_threads_enter(i, HPX_KNOWN_ADOPTING, tid_of(i), &mine_of[relacy_self()][i]);
        if (mine_of[relacy_self()][i]) {
            k->first = &states[i];
            atomic_store_explicit(&k->stage, HPX_KNOWN_ADOPTED, memory_order_release);
        }
    }
}

static void look(void)
{
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 1; i <= MOST; i++) {
            struct hpx_known_thread *k = tid_of(i) != 0 ? hpx_known_threads_of_tid(tid_of(i)) : hpx_known_threads_without_tid(i);
            relacy_check(k == NULL || (k->number == i && k->first == &states[i]));
        }
    }
}

static void enter(void)
{
    uint64_t i = 1 + relacy_rand(MOST);
    struct hpx_known_thread *k = hpx_known_threads_enter(i, HPX_KNOWN_BEGUN, 0, &mine_of[relacy_self()][i]);
    relacy_check(k->number == i);
    look();
}

static void end(void)
{
    for (unsigned i = 1; i <= MOST; i++) {
        relacy_check(mine_of[0][i] + mine_of[1][i] + mine_of[2][i] == 1);
    }
    hpx_known_threads_fini();
}

const struct relacy_test relacy_tests[] = {
    {.name = "known_threads", .runs = 5000, .before = begin, .thread = {adopt, enter, look}, .after = end},
    {.name = NULL},
};
