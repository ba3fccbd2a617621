/* SPDX-License-Identifier: BSD-2-Clause */
/* cpuclock_check.c: the self-test of cpuclock: every way to be switched out, and the rate of the counter. */
#include "cpuclock_check.h"
#include "sigmask.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRIES          3u    /* of each event */
#define YIELDS         1000u /* until the other thread got its turn */
#define SHORT_NS       50000
#define RATE_NS        UINT64_C(2000000) /* the counter is held against the clock at least so long: 50 ns of doubt are 25 ppm */
#define RATE_AGAIN_NS  UINT64_C(100000)
#define RATE_PART      64 /* two rates that differ by no more than this part are the same one: a look is short, and others run beside */
#define OFFSET_CPU_ID  4  /* in the kernel's struct rseq */
#define OFFSET_RSEQ_CS 8

/* Looked up, not linked: a library that names them would ask for glibc 2.35 wherever it is loaded. */
static void *symbol(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

_Atomic uint64_t *hpx_cpuclock_word(intptr_t offset)
{
    char *area = (char *)__builtin_thread_pointer() + offset;
    /* Written by the kernel before the thread ran; negative: not registered. */
    return *(volatile int32_t *)(void *)(area + OFFSET_CPU_ID) >= 0 ? (_Atomic uint64_t *)(void *)(area + OFFSET_RSEQ_CS) : NULL;
}

struct instant {
    uint64_t count, ns;
};

/* The pair with the least time around it. Not adjusted by NTP: the scheduler's clock is not, either. */
static struct instant instant(void)
{
    struct instant best = {0};
    uint64_t narrowest = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        struct timespec ts;
        hpx_counter_fence();
        uint64_t before = hpx_counter();
        (void)clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
        hpx_counter_fence();
        uint64_t width = hpx_counter() - before;
        if (width < narrowest) {
            narrowest = width;
            best = (struct instant){before + width / 2, (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec};
        }
    }
    return best;
}

static void sleep_shortly(void)
{
    (void)nanosleep(&(struct timespec){0, SHORT_NS}, NULL);
}

/* Nanoseconds per tick * 2^32 since then, after a sleep to at least that length. 0: no rate that a counter has. */
static uint64_t rate_since(const struct instant *then, uint64_t at_least)
{
    struct instant now = instant();
    while (now.ns - then->ns < at_least) {
        sleep_shortly();
        now = instant();
    }
    double rate = (double)(now.ns - then->ns) / (double)(now.count - then->count);
    return rate > 0.05 && rate < 20 * HPX_COUNTER_NS ? (uint64_t)(rate * 4294967296.0) : 0;
}

static bool same_rate(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) <= b / RATE_PART;
}

uint64_t hpx_cpuclock_rate(uint64_t measured, uint64_t told_hz)
{
    uint64_t told = told_hz != 0 ? (uint64_t)(1e9 / (double)told_hz * 4294967296.0) : measured;
    return same_rate(told, measured) ? told : measured;
}

struct check {
    _Atomic uint64_t *word; /* of the testing thread */
    void (*after)(const char *event, _Atomic uint64_t *cs);
    int pipe[2];
    atomic_int cpu;   /* the helper's place, -1: any; relaxed: it matters little when it gets there */
    atomic_bool ask;  /* a byte, please; relaxed: the byte says the rest */
    atomic_bool stop; /* relaxed: pthread_join follows */
    intptr_t offset;  /* set before the thread starts */
    uint64_t scale;   /* read after it was joined, as why */
    const char *why;
};

static long switches(void)
{
    struct rusage u;
    return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nvcsw + u.ru_nivcsw : 0;
}

static void do_sleep(struct check *k)
{
    (void)k;
    sleep_shortly();
}

static void do_futex(struct check *k)
{
    (void)k;
    uint32_t word = 1;
    (void)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &(struct timespec){0, SHORT_NS}, NULL, 0);
}

static void do_read(struct check *k)
{
    char byte;
    atomic_store_explicit(&k->ask, true, memory_order_relaxed);
    ssize_t n = read(k->pipe[0], &byte, 1);
    (void)n; /* a signal is blocked here, and an early return is no switch */
}

static void do_yield(struct check *k)
{
    (void)k;
    long before = switches();
    for (unsigned i = 0; i < YIELDS && switches() == before; i++) {
        (void)sched_yield();
    }
}

static bool pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    return sched_setaffinity(0, sizeof(set), &set) == 0;
}

/* To another processor; stays where it is if there is no other, or none is allowed. */
static void do_migrate(struct check *k)
{
    (void)k;
    cpu_set_t set;
    int here = sched_getcpu();
    CPU_ZERO(&set);
    (void)sched_getaffinity(0, sizeof(set), &set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (cpu != here && CPU_ISSET((unsigned)cpu, &set) && pin(cpu)) {
            break;
        }
    }
    (void)sched_setaffinity(0, sizeof(set), &set);
}

/* true if the pointer was cleared every time the thread was switched out; *seen counts those times. */
static bool clears(struct check *k, const char *event, void (*make)(struct check *), unsigned *seen)
{
    *seen = 0;
    for (unsigned i = 0; i < TRIES; i++) {
        long before = switches();
        atomic_store_explicit(k->word, HPX_CPUCLOCK_OURS, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        make(k);
        if (k->after) {
            k->after(event, k->word);
        }
        bool switched = switches() != before; /* before the look: a switch between the two must not be held against the kernel */
        atomic_signal_fence(memory_order_seq_cst);
        bool stands = atomic_load_explicit(k->word, memory_order_relaxed) == HPX_CPUCLOCK_OURS;
        atomic_store_explicit(k->word, 0, memory_order_relaxed);
        *seen += switched;
        if (switched && stands) {
            return false;
        }
    }
    return true;
}

static const struct event {
    const char *name, *why;
    void (*make)(struct check *);
    bool certain; /* if no switch is seen, the system does not tell of them, and nothing is known */
} events[] = {
    {"nanosleep", "the kernel leaves rseq_cs alone at nanosleep", do_sleep, true},
    {"futex", "the kernel leaves rseq_cs alone at a futex wait", do_futex, true},
    {"migration", "the kernel leaves rseq_cs alone at a migration", do_migrate, false},
    {"read", "the kernel leaves rseq_cs alone at a read that waits", do_read, false},
    {"yield", "the kernel leaves rseq_cs alone at sched_yield", do_yield, false},
};

static const char *run_events(struct check *k)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(events); i++) {
        unsigned seen;
        if (i == 3 && pin(sched_getcpu())) {
            /* From here on both share one processor: a wait and a yield let the other run. */
            atomic_store_explicit(&k->cpu, sched_getcpu(), memory_order_relaxed);
        }
        if (!clears(k, events[i].name, events[i].make, &seen)) {
            return events[i].why;
        }
        if (events[i].certain && !seen) {
            return "the system does not count a thread's switches";
        }
    }
    return "";
}

static void *test(void *arg)
{
    struct check *k = arg;
    struct instant begin = instant();
    k->word = hpx_cpuclock_word(k->offset);
    k->why = k->word ? run_events(k) : "rseq is not registered for new threads";
    k->scale = hpx_cpuclock_rate(rate_since(&begin, RATE_NS), hpx_counter_hz());
    if (!*k->why && !k->scale) {
        k->why = "the " HPX_COUNTER_NAME "'s rate is none that can be used";
    }
    return NULL;
}

/* The thread beside: runs all the time, and writes the byte that the other waits for. */
static void *help(void *arg)
{
    struct check *k = arg;
    for (int at = -1; !atomic_load_explicit(&k->stop, memory_order_relaxed);) {
        int cpu = atomic_load_explicit(&k->cpu, memory_order_relaxed);
        if (cpu != at && pin(cpu)) {
            at = cpu;
        }
        if (atomic_exchange_explicit(&k->ask, false, memory_order_relaxed)) {
            if (write(k->pipe[1], "", 1) != 1) { /* an empty pipe takes a byte; else the other must not wait for it */
                (void)close(k->pipe[1]);
                k->pipe[1] = -1;
            }
        }
        (void)sched_yield();
    }
    return NULL;
}

static void run_pair(struct check *k)
{
    sigset_t ours, old;
    pthread_t tester, helper;
    hpx_sigmask_ours(&ours);
    (void)pthread_sigmask(SIG_BLOCK, &ours, &old);
    k->why = "no thread for the self-test";
    if (pthread_create(&helper, NULL, help, k) == 0) {
        if (pthread_create(&tester, NULL, test, k) == 0) {
            pthread_join(tester, NULL);
        }
        atomic_store_explicit(&k->stop, true, memory_order_relaxed);
        pthread_join(helper, NULL);
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void hpx_cpuclock_check(struct hpx_cpuclock_found *found, const struct hpx_cpuclock_ops *ops)
{
    *found = (struct hpx_cpuclock_found){0};
    if (!HPX_COUNTER) {
        found->why = "not made for this processor";
        return;
    }
    if (!(ops && ops->is_steady ? ops->is_steady : hpx_counter_is_steady)()) {
        found->why = "the " HPX_COUNTER_NAME " is not steady, or denied";
        return;
    }
    void *(*look_up)(const char *) = ops && ops->symbol ? ops->symbol : symbol;
    const ptrdiff_t *offset = look_up("__rseq_offset");
    const unsigned *size = look_up("__rseq_size");
    if (!offset || !size) {
        found->why = "the C library does not register rseq (glibc does from 2.35 on)";
        return;
    }
    if (!*size) {
        found->why = "rseq is not registered: refused by the kernel, or switched off by a glibc tunable";
        return;
    }
    struct check k = {.after = ops ? ops->after : NULL, .offset = *offset, .cpu = -1};
    if (pipe2(k.pipe, O_CLOEXEC) != 0) {
        found->why = "no pipe for the self-test";
        return;
    }
    run_pair(&k);
    (void)close(k.pipe[0]);
    (void)close(k.pipe[1]);
    *found = (struct hpx_cpuclock_found){.scale = *k.why ? 0 : k.scale, .offset = k.offset, .why = k.why};
}

bool hpx_cpuclock_check_again(struct hpx_cpuclock_found *found)
{
    struct check k = {.word = hpx_cpuclock_word(found->offset), .cpu = -1};
    if (!k.word) {
        return true; /* says nothing of other threads */
    }
    for (unsigned i = 0; i < TRIES; i++) {
        struct instant begin = instant();
        unsigned seen;
        if (!clears(&k, events[0].name, events[0].make, &seen)) {
            found->why = events[0].why;
            return false;
        }
        if (same_rate(rate_since(&begin, RATE_AGAIN_NS), found->scale)) {
            return true;
        }
    }
    found->why = "the " HPX_COUNTER_NAME " changed its rate";
    return false;
}
