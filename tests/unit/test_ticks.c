/* SPDX-License-Identifier: BSD-2-Clause */
/* test_ticks.c: the clock of a thread is stopped by another thread while the handler is inside. */
#include "cmocka_all.h"
#include "session.h"
#include "ticks.h"
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const struct hpx_mode mode = {.name = "made up"};
static struct hpx_mode_thread state;
static struct hpx_ticker tick;
static atomic_bool inside, go_on, late;

static struct hpx_ticker *ticker(struct hpx_mode_thread *s)
{
    (void)s;
    return &tick;
}

static void tick_sig(struct hpx_mode_thread *s, void *context, uint64_t weight)
{
    (void)s, (void)context, (void)weight;
    atomic_store(&inside, true);
    while (!atomic_load(&go_on)) {
    }
}

static void due(struct hpx_mode_thread *s, uint64_t weight)
{
    (void)s, (void)weight;
}

static void untimed(struct hpx_mode_thread *s, int why)
{
    (void)s, (void)why;
    fail();
}

static const struct hpx_ticks_user user = {&mode, "a test", ticker, tick_sig, due, untimed, NULL};

static void *work(void *unused)
{
    (void)unused;
    state.first = &state;
    state.base.mode = &mode;
    state.tid = (pid_t)syscall(SYS_gettid);
    hpx_ticker_init(&tick, &state);
    hpx_ticks_arm(&tick);
    while (!atomic_load(&late)) { /* uses CPU time until the clock has ticked */
    }
    return NULL;
}

static void a_clock_is_abandoned_when_its_handler_has_left(void **unused)
{
    struct hpx_err err;
    pthread_t id;
    (void)unused;
    hpx_session.opt.signal = SIGPROF;
    hpx_session.opt.interval_ns = 1000 * 1000;
    hpx_ticks_begin();
    hpx_ticks_use(&user);
    assert_int_equal(hpx_ticks_init(&err), 0);
    hpx_gate_open(&hpx_session.gate);
    assert_int_equal(pthread_create(&id, NULL, work, NULL), 0);
    while (!atomic_load(&inside)) {
        nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    assert_false(hpx_ticks_abandon(&tick));
    atomic_store(&go_on, true);
    assert_true(hpx_ticks_quiesce(&tick, UINT64_MAX));
    assert_true(hpx_ticks_abandon(&tick)); /* again, as nothing happens then */
    atomic_store(&late, true);
    pthread_join(id, NULL);
    assert_int_equal(atomic_load(&tick.clock.clock), HPX_CLOCK_NONE);
    hpx_ticks_disable();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_is_abandoned_when_its_handler_has_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
