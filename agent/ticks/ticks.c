/* SPDX-License-Identifier: BSD-2-Clause */
/* ticks.c: the signal handler of ticks.h. */
#include "ticks.h"
#include "clock.h"
#include "handler.h"
#include "later.h"
#include "log.h"
#include "report.h"
#include "session.h"
#include "signal_watch.h"
#include "threads.h"
#include "tick_context.h"
#include "trial.h"
#include "vm.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LISTS   1024 /* of threads older than VMInit, by kernel id */
#define STOP_NS (20ull * 1000 * 1000)

/* Of the calling thread; NULL: none, or the thread is older than VMInit and had no signal yet. */
static __thread struct hpx_ticker *own;

/* Handlers that look for their ticker: the lists, and what is in them, stay meanwhile. seq_cst with gate.open; only the first signal of a
 * thread that is older than VMInit, and late ones, count here */
static _Atomic int looking;

static HPX_OF_SESSION struct {
    const struct hpx_ticks_user *users[HPX_TICKS_USERS]; /* constant after load */
    uint32_t nusers;
    /* threads older than VMInit: their handler finds the ticker by kernel id, once. Nothing is taken out: such states are kept while the
     * session lasts */
    _Atomic(struct hpx_ticker *) adopted[LISTS]; /* release: expect_adopted(); acquire: find_sig(). Covers the ticker and next_adopted */
    atomic_bool said_blocked;
    atomic_bool armed;               /* relaxed: a clock was started */
    void (*test_sig)(void *context); /* VMInit's thread and its handler */
} ticks;

void hpx_ticks_begin(void)
{
    ticks.nusers = 0;
}

void hpx_ticks_use(const struct hpx_ticks_user *user)
{
    ticks.users[ticks.nusers++] = user;
}

bool hpx_ticks_shared(void)
{
    return ticks.nusers > 1;
}

bool hpx_ticks_leads(const struct hpx_mode *mode)
{
    return ticks.nusers > 0 && ticks.users[0]->mode == mode;
}

const char *hpx_ticks_of(void)
{
    return ticks.users[0]->what;
}

bool hpx_ticks_armed(void)
{
    return atomic_load_explicit(&ticks.armed, memory_order_relaxed);
}

void hpx_ticker_init(struct hpx_ticker *k, struct hpx_mode_thread *s)
{
    k->clock.perf_fd = -1;
    k->clock.tid = s->tid;
    k->clock.adopted = s->adopted;
    k->clock.counters = &s->base.counters;
    for (uint32_t i = 0; i < ticks.nusers; i++) {
        struct hpx_mode_thread *at = s->first;
        while (at != NULL && at->base.mode != ticks.users[i]->mode) {
            at = at->next;
        }
        k->of[i] = at;
    }
}

/* ---- the handler ---- */

static _Atomic(struct hpx_ticker *) *list_of(pid_t tid)
{
    return &ticks.adopted[(unsigned)tid % LISTS];
}

static bool gate_is_open(void)
{
    return atomic_load_explicit(&hpx_session.gate.open, memory_order_seq_cst);
}

/* The ticker of a thread older than VMInit, marked as one that has a handler inside; NULL: none, or the session ends. */
static struct hpx_ticker *find_sig(void)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    struct hpx_ticker *k = NULL;
    atomic_fetch_add_explicit(&looking, 1, memory_order_seq_cst); /* partner: hpx_ticks_stop() */
    if (gate_is_open()) {
        k = atomic_load_explicit(list_of(tid), memory_order_acquire); /* partner: expect_adopted() */
    }
    while (k != NULL && (k->clock.tid != tid || !atomic_load_explicit(&k->expected, memory_order_relaxed))) {
        k = k->next_adopted;
    }
    if (k != NULL) {
        atomic_store_explicit(&k->in_handler, 1, memory_order_seq_cst); /* partner: hpx_ticks_quiesce() */
        k->session = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
    }
    atomic_fetch_sub_explicit(&looking, 1, memory_order_seq_cst);
    return k;
}

/* Completes the state of a thread older than VMInit, which find_sig() has found. Not of one that has ended: VMInit's thread abandons the
 * state. */
static bool adopt_sig(struct hpx_ticker *k)
{
    void *env = NULL;
    if (hpx_threads_left() || (*hpx_vm.java)->GetEnv(hpx_vm.java, &env, JNI_VERSION_1_6) != JNI_OK) {
        return false;
    }
    own = k;
    for (uint32_t u = 0; u < ticks.nusers; u++) {
        __atomic_store_n(&k->of[u]->env, env, __ATOMIC_RELAXED); /* partner: walk() of watched.c, on another thread */
        if (ticks.users[u]->found_sig != NULL) {
            ticks.users[u]->found_sig(k->of[u]);
        }
    }
    return true;
}

static void leave_sig(struct hpx_ticker *k)
{
    atomic_store_explicit(&k->in_handler, 0, memory_order_release); /* partner: hpx_ticks_quiesce() */
}

/* The ticker of this thread in this session, marked as one that has a handler inside; NULL: none, or the gate is closed. First the mark,
 * then the gate: either the end waits for this handler, or the gate is seen closed. Then the number: a gate that the next session has
 * opened comes with its number. */
static struct hpx_ticker *enter_sig(void)
{
    struct hpx_ticker *k = own;
    if (k != NULL) {
        atomic_store_explicit(&k->in_handler, 1, memory_order_seq_cst); /* partner: hpx_ticks_quiesce() */
        bool open = gate_is_open();
        if (open && hpx_session_is(k->session)) {
            return k;
        }
        leave_sig(k);
        if (!open) {
            return NULL;
        }
    }
    k = find_sig();
    if (k != NULL && !adopt_sig(k)) {
        leave_sig(k);
        k = NULL;
    }
    return k;
}

/* Who keeps a tick among its calls first: the walk may take long. */
static void take_signal(struct hpx_ticker *k, siginfo_t *si, void *context)
{
    uint64_t weight = hpx_clocks_weight_sig(&k->clock, si);
    hpx_count(k->clock.counters, HPX_C_SIGNALS, 1);
    context = hpx_tick_context_sig(k->of[0], context);
    for (uint32_t i = ticks.nusers; i > 0; i--) {
        ticks.users[i - 1]->tick_sig(k->of[i - 1], context, weight);
    }
    hpx_clocks_go_on_sig(&k->clock);
}

/* Async-signal-safe: no lock, no allocation; reads its own clock, has its users write their own rings. errno is kept. */
static void on_signal(int sig, siginfo_t *si, void *context)
{
    int saved = errno;
    if (si->si_code == SI_QUEUE && si->si_value.sival_ptr == (void *)&ticks) {
        if (ticks.test_sig != NULL) {
            ticks.test_sig(context);
        }
        errno = saved;
        return;
    }
    if (!hpx_clocks_own_sig(si)) {
        hpx_count(&hpx_session.counters, HPX_C_SIGNALS_FOREIGN, 1);
        hpx_handler_pass_on_sig(sig, si, context);
        errno = saved;
        return;
    }
    struct hpx_ticker *k = enter_sig();
    if (k == NULL) {
        if (gate_is_open()) {
            hpx_count(&hpx_session.counters, HPX_C_SIGNALS_LATE, 1);
        }
        errno = saved;
        return;
    }
    uint32_t signals = atomic_load_explicit(&k->signals, memory_order_relaxed) + 1;
    atomic_store_explicit(&k->signals, signals, memory_order_relaxed);
    bool measured = (signals + (uint32_t)k->clock.tid) % 8 == 0; /* the clock costs a tenth of a walk; any signal may be the one */
    uint64_t begin = measured ? hpx_clock_thread_cpu() : 0;
    take_signal(k, si, context);
    leave_sig(k);
    if (measured) {
        hpx_count(k->clock.counters, HPX_C_HANDLER_NS, hpx_clock_thread_cpu() - begin);
        hpx_count(k->clock.counters, HPX_C_HANDLER_MEASURED, 1);
    }
    errno = saved;
}

bool hpx_ticks_test(void (*test_sig)(void *context))
{
    sigset_t blocked;
    sigemptyset(&blocked);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    ticks.test_sig = test_sig;
    bool sent = !hpx_signal_watch_took_signal() && sigismember(&blocked, hpx_session.opt->signal) != 1 &&
                hpx_trial_passes(HPX_TRIAL_SIGQUEUE) && hpx_sigqueue_self(hpx_session.opt->signal, &ticks) == 0;
    ticks.test_sig = NULL; /* a signal to the thread itself has been handled when the call returns */
    return sent;
}

/* ---- threads ---- */

/* From now on its handler finds k, until hpx_ticks_disarm(). Once for a ticker. */
static void expect_adopted(struct hpx_ticker *k)
{
    _Atomic(struct hpx_ticker *) *list = list_of(k->clock.tid);
    atomic_store_explicit(&k->expected, true, memory_order_relaxed);
    k->next_adopted = atomic_load_explicit(list, memory_order_relaxed);
    /* partner: find_sig() */
    while (!atomic_compare_exchange_weak_explicit(list, &k->next_adopted, k, memory_order_release, memory_order_relaxed)) {
    }
}

static enum hpx_blocks say_if_blocked(pid_t tid)
{
    enum hpx_blocks is = hpx_signal_watch_blocked(tid);
    if (is == HPX_BLOCKS) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_BLOCKED, 1); /* its clock starts nevertheless: it may unblock the signal */
        hpx_warn_once(&ticks.said_blocked,
                      "%s: a thread blocks the sampling signal (%d); its CPU time is missing meanwhile; choose another signal, such as "
                      "signal=RTMIN+1, or sampler=poll",
                      hpx_ticks_of(), hpx_session.opt->signal);
    }
    return is;
}

/* A look at the mask of another thread costs more than all else that arms it, so it waits until one should have had a signal. */
static void look_if_blocked(struct hpx_ticker *k)
{
    bool unlooked = atomic_load_explicit(&k->unlooked, memory_order_relaxed);
    bool signalled = atomic_load_explicit(&k->signals, memory_order_relaxed) > 0;
    if (unlooked && (signalled || hpx_clocks_overdue(&k->clock)) && atomic_exchange_explicit(&k->unlooked, false, memory_order_relaxed) &&
        !signalled && say_if_blocked(k->clock.tid) == HPX_BLOCKS_UNKNOWN) { /* as without a free descriptor: the next look tells */
        atomic_store_explicit(&k->unlooked, true, memory_order_relaxed);
    }
}

static void say_untimed(struct hpx_ticker *k, int why)
{
    for (uint32_t i = ticks.nusers; i > 0; i--) {
        ticks.users[i - 1]->untimed(k->of[i - 1], why);
    }
}

void hpx_ticks_arm(struct hpx_ticker *k)
{
    bool self = k->clock.tid == (pid_t)syscall(SYS_gettid);
    if (self) {
        own = k;
        k->session = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst); /* partner: the handler on this thread */
    } else {
        expect_adopted(k);
    }
    if (hpx_signal_watch_took_signal()) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNSAMPLED, 1);
        return;
    }
    if (self) {
        (void)say_if_blocked(0);
    }
    atomic_store_explicit(&k->unlooked, !self, memory_order_relaxed);
    int why = hpx_clocks_start(&k->clock);
    if (why == 0) {
        atomic_store_explicit(&ticks.armed, true, memory_order_relaxed);
    } else if (self || (why != EINVAL && why != ESRCH)) { /* else the thread has ended */
        say_untimed(k, why);
    }
}

void hpx_ticks_forget_own(void)
{
    if (own != NULL && !hpx_session_is(own->session)) {
        own = NULL;
    }
}

void hpx_ticks_leave_own(void)
{
    own = NULL;
    atomic_signal_fence(memory_order_seq_cst); /* a signal that is still on its way finds no state */
}

void hpx_ticks_disarm(struct hpx_ticker *k)
{
    look_if_blocked(k);
    int clock = hpx_clocks_detach(&k->clock);
    if (own != k && clock == HPX_CLOCK_PERF) {
        hpx_ticks_quiesce(k, hpx_clock_mono() + STOP_NS); /* its handler may be about to use the descriptor; none uses a timer */
    }
    hpx_clocks_close(&k->clock, clock);
    atomic_store_explicit(&k->expected, false, memory_order_relaxed); /* its kernel id may be another thread's soon */
    if (own == k) {
        hpx_ticks_leave_own();
    }
}

bool hpx_ticks_abandon(struct hpx_ticker *k)
{
    hpx_ticks_disarm(k);
    return hpx_ticks_quiesce(k, hpx_clock_mono() + STOP_NS); /* a handler that enters now finds no weight, and writes nothing */
}

void hpx_ticks_settle(struct hpx_ticker *k)
{
    uint64_t due = hpx_signal_watch_ended() ? 0 : hpx_clocks_due(&k->clock);
    for (uint32_t i = ticks.nusers; i > 0; i--) {
        ticks.users[i - 1]->due(k->of[i - 1], due);
    }
}

/* seq_cst: partner of the handler's store: either it sees the gate closed, or we see it inside; acquire: what it wrote */
static bool wait_for_zero(_Atomic int *inside, uint64_t until_ns)
{
    while (atomic_load_explicit(inside, memory_order_seq_cst)) {
        if (hpx_clock_mono() > until_ns) {
            return false;
        }
        nanosleep(&(struct timespec){0, 50000}, NULL);
    }
    return true;
}

bool hpx_ticks_quiesce(struct hpx_ticker *k, uint64_t until_ns)
{
    return wait_for_zero(&k->in_handler, until_ns);
}

static struct hpx_ticker *ticker_of(struct hpx_thread *t)
{
    return ticks.users[0]->ticker(HPX_CONTAINER_OF(t, struct hpx_mode_thread, base));
}

static void quiesce(void *until, struct hpx_thread *t)
{
    hpx_ticks_quiesce(ticker_of(t), *(const uint64_t *)until);
}

static void disarm(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_ticks_disarm(ticker_of(t));
}

bool hpx_ticks_left(uint64_t until_ns)
{
    return wait_for_zero(&looking, until_ns); /* partner: find_sig() */
}

void hpx_ticks_stop(uint64_t until_ns)
{
    if (ticks.nusers > 0) {
        (void)hpx_ticks_left(until_ns); /* first: who leaves there may be inside */
        hpx_session_each(ticks.users[0]->mode, quiesce, &until_ns);
        hpx_session_each(ticks.users[0]->mode, disarm, NULL);
    }
}

static void look(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    look_if_blocked(ticker_of(t));
}

void hpx_ticks_look_blocked(void)
{
    hpx_session_each(ticks.users[0]->mode, look, NULL);
}

void hpx_ticks_disarm_all(void)
{
    hpx_session_each(ticks.users[0]->mode, disarm, NULL);
}

/* ---- load ---- */

static atomic_bool reached; /* relaxed: a test's; its handler runs on the same thread */

static void reach_sig(void *context)
{
    (void)context;
    atomic_store_explicit(&reached, true, memory_order_relaxed);
}

/* The handler of an earlier session. Another one may be before it and call it: then that one is expected from now on. */
static void expect_again(int signal, const struct sigaction *before)
{
    struct sigaction now;
    if (sigaction(signal, NULL, &now) != 0 || !(now.sa_flags & SA_SIGINFO)) {
        now.sa_sigaction = on_signal; /* that it is replaced shows at the first look */
    }
    hpx_signal_watch_expect(before, now.sa_sigaction);
    atomic_store_explicit(&reached, false, memory_order_relaxed);
    if (now.sa_sigaction != on_signal && (!hpx_ticks_test(reach_sig) || !atomic_load_explicit(&reached, memory_order_relaxed))) {
        hpx_signal_watch_expect(before, on_signal);
    }
}

int hpx_ticks_init(struct hpx_err *err)
{
    const struct sigaction *before;
    bool again;
    hpx_clocks_init();
    int signal = hpx_session.opt->signal;
    if (ticks.nusers == 0) {
        return 0; /* no signal at all */
    }
    int why = hpx_handler_install(signal, on_signal, &before, &again);
    if (why != 0) {
        return hpx_err_set(err, HPX_E_SYS, "%s: cannot install a handler for signal %d: %s", hpx_ticks_of(), signal, strerror(why));
    }
    if (again) {
        expect_again(signal, before);
    } else {
        hpx_signal_watch_expect(before, on_signal);
    }
    return 0;
}

/* ---- the report ---- */

void hpx_ticks_collect(const struct hpx_mode *mode, struct hpx_counters *total)
{
    if (hpx_ticks_leads(mode)) {
        hpx_count(total, HPX_C_SIGNAL_TAKEN, hpx_signal_watch_unsampled_ms());
    }
}

/* CPU time of one run of the handler; 0: none was measured. */
static uint64_t signal_ns(const struct hpx_counters *total)
{
    uint64_t measured = hpx_counter_get(total, HPX_C_HANDLER_MEASURED);
    return measured ? hpx_counter_get(total, HPX_C_HANDLER_NS) / measured : 0;
}

uint64_t hpx_ticks_cpu(const struct hpx_mode *mode, const struct hpx_counters *total)
{
    return hpx_ticks_leads(mode) ? signal_ns(total) * hpx_counter_get(total, HPX_C_SIGNALS) : 0;
}

void hpx_ticks_lines(struct hpx_lines *to, const struct hpx_report *r, double signal_ms)
{
    uint64_t signals = hpx_counter_get(&r->total, HPX_C_SIGNALS), ns = signal_ns(&r->total);
    uint64_t nested = hpx_counter_get(&r->total, HPX_C_SIGNALS_NESTED);
    hpx_lines_add(to, "hprofx: signals: %" PRIu64 "\n", signals);
    if (nested > 0) {
        hpx_lines_add(to, "hprofx: signals on top of another handler: %" PRIu64 "\n", nested);
    }
    if (signals > 0 && signal_ms >= 0) {
        hpx_lines_add(to, "hprofx: effective interval: %.6g ms\n", signal_ms / (double)signals);
    }
    if (signals > 0 && ns > 0) {
        hpx_lines_add(to, "hprofx: handler: %.2f us per signal\n", (double)ns / 1e3);
    }
}
