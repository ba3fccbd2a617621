/* SPDX-License-Identifier: BSD-2-Clause */
/* test_watched.c: what is written of a thread that wants a CPU when a session ends. Clocks and the JVM are stubs. */
#include "cmocka_all.h"
#include "probe_frames.h"
#include "quiet_stack.h"
#include "session.h"
#include "thread_list.h"
#include "waited_monitor.h"
#include "watched.h"
#include <string.h>

#define MS UINT64_C(1000000)

static uint64_t now, cpu, delay; /* the clocks */
static struct hpx_thread *ring;

uint64_t __wrap_hpx_clock_mono(void);
uint64_t __wrap_hpx_clock_mono(void)
{
    return now;
}

uint64_t __wrap_hpx_clock_tid_cpu(pid_t tid);
uint64_t __wrap_hpx_clock_tid_cpu(pid_t tid)
{
    (void)tid;
    return cpu;
}

uint64_t __wrap_hpx_run_delay(pid_t tid);
uint64_t __wrap_hpx_run_delay(pid_t tid)
{
    (void)tid;
    return delay;
}

void __wrap_hpx_registry_push(struct hpx_registry *reg, struct hpx_thread *t);
void __wrap_hpx_registry_push(struct hpx_registry *reg, struct hpx_thread *t)
{
    (void)reg;
    ring = t;
}

/* ---- what it does not call here ---- */

int hpx_quiet_stack_frames(const struct hpx_quiet_thread *t, struct hpx_ev_frame *frames)
{
    (void)t, (void)frames;
    return 0;
}

bool hpx_waited_monitor_class(uint64_t thread, char to[HPX_WAITED_MONITOR_ROOM])
{
    (void)thread, (void)to;
    return false;
}

uint32_t hpx_probe_frames_vm(const jvmtiFrameInfo *frames, jint n)
{
    (void)frames, (void)n;
    return 0;
}

static jobject JNICALL same(JNIEnv *env, jobject o)
{
    (void)env;
    return o;
}

static void JNICALL none(JNIEnv *env, jobject o)
{
    (void)env, (void)o;
}

static const struct JNINativeInterface_ functions = {.NewGlobalRef = same, .DeleteGlobalRef = none};
static JNIEnv env = &functions;

/* ---- a thread ---- */

static struct hpx_mode_thread first;

/* Looks at the thread, and delivers. */
static void look(bool last, const struct hpx_watch_found *f)
{
    const struct hpx_watch_round r = {.all = true, .last = last, .now = now};
    struct hpx_held jobs[HPX_HELD_MOST];
    uint32_t place = 0, n;
    (void)hpx_watched_look(&place, &r, jobs, &n);
    assert_int_equal(n, 1);
    (void)hpx_watched_deliver(&env, &jobs[0], f);
}

/* Of the records of the thread, at the end. */
static uint64_t ready_ns(void)
{
    uint64_t ns = 0;
    size_t bytes;
    assert_false(hpx_watched_sums(0, true));
    const struct hpx_ev_head *ev = hpx_ring_span(&ring->ring, hpx_ring_position(&ring->ring), hpx_ring_peek(&ring->ring), &bytes);
    const struct hpx_ev_head *end = (const struct hpx_ev_head *)((const char *)ev + bytes);
    for (; ev < end; ev = hpx_ring_next(ev, end)) {
        ns += ev->kind == HPX_EV_WALL_READY ? ev->stamp : 0;
    }
    return ns;
}

static int begin(void **unused)
{
    static const struct hpx_options options = {.wall_ns = 10 * MS};
    static char thread;
    (void)unused;
    now = 1000 * MS;
    cpu = delay = 0;
    hpx_session.opt = &options;
    assert_int_equal(hpx_watched_begin(NULL), 0);
    hpx_gate_open(&hpx_session.gate);
    first = (struct hpx_mode_thread){.tid = 5, .serial = 7};
    hpx_thread_list_add(&first, &env, (jthread)(void *)&thread);
    hpx_watched_add(&first);
    now += 20 * MS;
    cpu += MS;
    look(false, &(struct hpx_watch_found){.state = HPX_WALL_RUNNABLE}); /* it has run, and wants a CPU */
    now += 100 * MS;
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    hpx_gate_close(&hpx_session.gate);
    hpx_watched_gone(ring);
    hpx_watched_fini();
    hpx_thread_list_remove(&first, &env);
    hpx_thread_list_fini();
    return 0;
}

TEST(a_thread_that_wants_a_cpu_has_waited_for_it, begin, end)
{
    look(true, &(struct hpx_watch_found){.state = HPX_WALL_RUNNABLE});
    assert_true(ready_ns() >= 100 * MS);
}

TEST(that_is_not_forgotten_if_the_last_look_finds_out_nothing, begin, end)
{
    look(true, NULL);
    assert_true(ready_ns() >= 100 * MS);
}

TEST(if_it_has_run_since_and_nothing_is_found_out_it_is_not_known, begin, end)
{
    cpu += MS;
    look(true, NULL);
    assert_int_equal(ready_ns(), 0);
}

TEST(if_it_runs_while_it_is_looked_at_it_is_not_known, begin, end)
{
    const struct hpx_watch_round r = {.all = true, .last = true, .now = now};
    struct hpx_held jobs[HPX_HELD_MOST];
    uint32_t place = 0, n;
    (void)hpx_watched_look(&place, &r, jobs, &n);
    cpu += MS;
    (void)hpx_watched_deliver(&env, &jobs[0], &(struct hpx_watch_found){.state = HPX_WALL_WAITING});
    assert_int_equal(ready_ns(), 0);
}

TESTS(NULL, NULL)
