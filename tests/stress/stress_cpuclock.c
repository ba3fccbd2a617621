/* SPDX-License-Identifier: BSD-2-Clause */
/* stress_cpuclock.c: threads that read, sleep and yield under signals while another checks the system again; nothing goes back, no switch
 * is missed, no thread's time is another's. */
#include "clock.h"
#include "cpuclock.h"
#include "stress.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

#define THREADS  4
#define AHEAD_NS (HPX_CPUCLOCK_SPAN + 100000) /* a span at 1 GHz */

struct run {
    struct hpx_cpuclock clock;
    pthread_t thread;
    pthread_barrier_t *last; /* nobody ends while signals may come */
    uint64_t rounds, seed;
    uint64_t backwards, ahead, behind, missed, switched; /* read after join */
    atomic_uint_fast64_t in_handler_backwards;           /* relaxed: the owner's, read after join */
    atomic_bool done;                                    /* relaxed: a hint to the main thread */
};

static _Thread_local struct run *self;
static _Thread_local uint64_t highest; /* of a read that was complete */

static void on_signal(int sig)
{
    (void)sig;
    if (self) {
        uint64_t ns = hpx_cpuclock_now(&self->clock);
        if (ns < highest) {
            atomic_fetch_add_explicit(&self->in_handler_backwards, 1, memory_order_relaxed);
        }
        highest = ns;
    }
}

static uint64_t read_once(struct run *r)
{
    uint64_t before = highest;
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t ns = hpx_cpuclock_now(&r->clock);
    atomic_signal_fence(memory_order_seq_cst);
    r->backwards += ns < before;
    return ns;
}

static long switches(void)
{
    struct rusage u;
    (void)getrusage(RUSAGE_THREAD, &u);
    return u.ru_nvcsw + u.ru_nivcsw;
}

static void work(struct run *r)
{
    uint64_t dice = stress_random(&r->seed);
    if (dice % 8 == 0) {
        (void)nanosleep(&(struct timespec){0, (long)(dice >> 8 & 0xffff)}, NULL);
    } else if (dice % 8 == 1) {
        (void)sched_yield();
    } else {
        for (uint64_t i = dice >> 8 & 0xfff; i; i--) {
            (void)read_once(r);
        }
    }
}

static void *body(void *arg)
{
    struct run *r = arg;
    hpx_cpuclock_enter(&r->clock);
    self = r;
    for (uint64_t i = 0; i < r->rounds; i++) {
        (void)read_once(r);
        uint64_t resyncs = atomic_load_explicit(&r->clock.resyncs, memory_order_relaxed);
        long before = switches();
        work(r);
        bool switched = switches() != before;
        uint64_t ns = read_once(r);
        r->switched += switched;
        r->missed += switched && atomic_load_explicit(&r->clock.resyncs, memory_order_relaxed) == resyncs;
        r->ahead += ns > hpx_clock_thread_cpu() + AHEAD_NS;
    }
    atomic_store_explicit(&r->done, true, memory_order_relaxed);
    (void)pthread_barrier_wait(r->last);
    self = NULL; /* a handler's resync would come between the switch and the read */
    atomic_signal_fence(memory_order_seq_cst);
    for (long before = switches(); switches() == before;) {
        (void)nanosleep(&(struct timespec){0, 1000}, NULL); /* the read behind it is a resync; it may end before it began */
    }
    uint64_t true_time = hpx_clock_thread_cpu();
    r->behind = read_once(r) < true_time;
    hpx_cpuclock_leave(&r->clock);
    return NULL;
}

static void run_all(uint64_t rounds)
{
    static struct run runs[THREADS];
    pthread_barrier_t last;
    assert_int_equal(pthread_barrier_init(&last, NULL, THREADS + 1), 0);
    for (int i = 0; i < THREADS; i++) {
        runs[i] = (struct run){.rounds = rounds, .seed = (uint64_t)i + 1, .last = &last};
        assert_int_equal(pthread_create(&runs[i].thread, NULL, body, &runs[i]), 0);
    }
    for (int done = 0; done < THREADS;) {
        assert_true(hpx_cpuclock_recheck());
        done = 0;
        for (int i = 0; i < THREADS; i++) {
            (void)pthread_kill(runs[i].thread, SIGUSR1);
            done += atomic_load_explicit(&runs[i].done, memory_order_relaxed);
        }
    }
    (void)pthread_barrier_wait(&last);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(runs[i].thread, NULL);
        assert_int_equal(runs[i].backwards, 0);
        assert_int_equal(atomic_load(&runs[i].in_handler_backwards), 0);
        assert_int_equal(runs[i].ahead, 0);
        assert_int_equal(runs[i].behind, 0);
        assert_int_equal(runs[i].missed, 0);
        assert_true(runs[i].switched > 0);
    }
    (void)pthread_barrier_destroy(&last);
}

TEST(cpuclock_holds_on_four_threads_under_signals)
{
    hpx_cpuclock_setup(HPX_CPUCLOCK_CPU, NULL);
    print_message("%s %s\n", hpx_cpuclock_name(), hpx_cpuclock_reason());
    run_all(stress_times(3000));
}

TEST(cpuclock_by_calls_holds_too)
{
    hpx_cpuclock_setup(HPX_CPUCLOCK_CALLS, NULL);
    run_all(stress_times(300));
}

int main(void)
{
    (void)sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART}, NULL);
    return run_the_tests(NULL, NULL);
}
