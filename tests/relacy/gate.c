/* SPDX-License-Identifier: BSD-2-Clause */
/* gate.c: both gates: whoever is inside writes what the closer takes away. The striped one has two stripes, and two threads of the three
 * share one. */
#include "gate.h"
#include "clock.h"
#include "relacy.h"
#include "trial.h"

#include <pthread.h>
#include <time.h>

/* ---- what gate.c calls ---- */

pthread_t relacy_pthread_self(void);
int relacy_nanosleep(const struct timespec *for_, struct timespec *left);
long relacy_syscall(long number, ...);

pthread_t relacy_pthread_self(void)
{
    return (pthread_t)(relacy_self() / 2 * 5); /* 0, 0, 5: stripes 0, 0, 1 */
}

int relacy_nanosleep(const struct timespec *for_, struct timespec *left)
{
    (void)for_;
    (void)left;
    relacy_pause();
    return 0;
}

long relacy_syscall(long number, ...)
{
    (void)number; /* membarrier */
    relacy_membarrier();
    return 0;
}

uint64_t hpx_clock_mono(void)
{
    return 0;
}

bool hpx_trial_passes(enum hpx_trial trial)
{
    (void)trial;
    return true;
}

/* ---- struct hpx_gate ---- */

static struct hpx_gate gate;
static uint64_t before_open, inside[RELACY_THREADS], taken;

static void begin(void)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(gate.stripes); i++) {
        atomic_init(&gate.stripes[i].inside, 0);
    }
    atomic_init(&gate.open, false);
    before_open = taken = 0;
}

static void open_then_close(void)
{
    before_open = 1; /* as what a session has made when it opens its gates */
    hpx_gate_open(&gate);
    relacy_pause();
    hpx_gate_close_and_wait(&gate);
    relacy_check(!hpx_gate_is_open(&gate));
    for (size_t i = 0; i < RELACY_THREADS; i++) {
        taken += inside[i];
    }
    before_open = 0;
    for (size_t i = 0; i < RELACY_THREADS; i++) {
        inside[i] = 0;
    }
}

static void pass(void)
{
    for (int i = 0; i < 3; i++) {
        if (hpx_gate_enter(&gate)) {
            relacy_check(before_open == 1);
            relacy_step();
            inside[relacy_self()]++;
            hpx_gate_leave(&gate);
        }
    }
}

/* ---- struct hpx_gate_own ---- */

static struct hpx_gate_own own;
static _Atomic int flags[RELACY_THREADS];

static void begin_own(void)
{
    atomic_init(&own.open, false);
    atomic_init(&own.fenced, false);
    for (size_t i = 0; i < RELACY_THREADS; i++) {
        atomic_init(&flags[i], 0);
    }
    before_open = taken = 0;
}

/* Opens twice: the second close needs a barrier of its own. */
static void open_then_close_own(void)
{
    for (uint64_t i = 1; i <= 2; i++) {
        before_open = i;
        hpx_gate_own_open(&own);
        relacy_pause();
        hpx_gate_own_close_fenced(&own);
        for (size_t t = 1; t < RELACY_THREADS; t++) {
            relacy_check(hpx_gate_own_wait(&flags[t], UINT64_MAX));
            taken += inside[t];
            inside[t] = 0;
        }
        before_open = 0;
    }
}

static void pass_own(void)
{
    unsigned self = relacy_self();
    for (int i = 0; i < 4; i++) {
        if (hpx_gate_own_enter(&own, &flags[self])) {
            relacy_check(before_open != 0);
            relacy_step();
            inside[self]++;
        }
        hpx_gate_own_leave(&flags[self]);
    }
}

const struct relacy_test relacy_tests[] = {
    {.name = "gate", .runs = 8000, .before = begin, .thread = {open_then_close, pass, pass}},
    {.name = "gate_own", .runs = 8000, .before = begin_own, .thread = {open_then_close_own, pass_own, pass_own}},
    {.name = NULL},
};
