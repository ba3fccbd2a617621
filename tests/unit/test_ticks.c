/* SPDX-License-Identifier: BSD-2-Clause */
/* test_ticks.c: clocks of threads that another thread starts, and stops while the handler is inside. */
#include "cmocka_all.h"
#include "handler.h"
#include "session.h"
#include "threads.h"
#include "ticks.h"
#include "vm.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct hpx_mode mode = {.name = "made up"};
static struct hpx_mode_thread the_state;
static struct hpx_ticker tick;
static atomic_bool inside, go_on, late;

/* Threads older than VMInit. Without a thread of Java they are not found. */
#define OLDER 100
static struct older {
    struct hpx_mode_thread s;
    struct hpx_ticker tick;
    pthread_t id;
    _Atomic pid_t tid;
    atomic_uint ticks;
} older[OLDER];
static JNIEnv env;
static sem_t begin;

static struct hpx_ticker *ticker(struct hpx_mode_thread *s)
{
    return s == &the_state ? &tick : &HPX_CONTAINER_OF(s, struct older, s)->tick;
}

static void tick_sig(struct hpx_mode_thread *s, void *context, uint64_t weight)
{
    (void)context, (void)weight;
    if (s != &the_state) {
        struct older *o = HPX_CONTAINER_OF(s, struct older, s);
        atomic_fetch_add(&o->ticks, s->env == &env && pthread_equal(o->id, pthread_self()) ? 1 : 1000000); /* its own, complete */
        return;
    }
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
    the_state.first = &the_state;
    the_state.base.mode = &mode;
    the_state.tid = (pid_t)syscall(SYS_gettid);
    hpx_ticker_init(&tick, &the_state);
    hpx_ticks_arm(&tick);
    while (!atomic_load(&late)) { /* uses CPU time until the clock has ticked */
    }
    return NULL;
}

TEST(a_clock_is_abandoned_when_its_handler_has_left)
{
    pthread_t id;
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
}

static atomic_bool hold, held; /* a handler that completes its state */

static jint JNICALL get_env(JavaVM *vm, void **to, jint version)
{
    (void)vm, (void)version;
    while (atomic_load(&hold)) {
        atomic_store(&held, true);
    }
    *to = &env;
    return JNI_OK;
}

static jint JNICALL attach(JavaVM *vm, void **to, void *args)
{
    (void)vm, (void)args;
    *to = &env;
    return JNI_OK;
}

static const struct JNIInvokeInterface_ vm_table = {.GetEnv = get_env, .AttachCurrentThreadAsDaemon = attach};
static JavaVM vm = &vm_table;

static void *work_older(void *arg)
{
    struct older *o = arg;
    atomic_store(&o->tid, (pid_t)syscall(SYS_gettid));
    sem_wait(&begin);
    while (atomic_load(&o->ticks) == 0) {
    }
    return NULL;
}

static void start_working(struct older *o, void *(*on)(void *))
{
    assert_int_equal(pthread_create(&o->id, NULL, on, o), 0);
    while (atomic_load(&o->tid) == 0) {
        sched_yield();
    }
    o->s.first = &o->s;
    o->s.base.mode = &mode;
    o->s.tid = atomic_load(&o->tid);
    o->s.adopted = true;
    hpx_ticker_init(&o->tick, &o->s);
    hpx_ticks_arm(&o->tick);
}

static void start_older(struct older *o)
{
    start_working(o, work_older);
}

TEST(any_number_of_threads_is_found_by_kernel_id)
{
    uint64_t measured = 0;
    for (int i = 0; i < OLDER; i++) {
        start_older(&older[i]);
    }
    for (int i = 0; i < OLDER; i++) {
        sem_post(&begin);
    }
    for (int i = 0; i < OLDER; i++) {
        pthread_join(older[i].id, NULL);
        assert_true(atomic_load(&older[i].ticks) < 1000000);
        assert_true(hpx_ticks_abandon(&older[i].tick));
        measured += hpx_counter_get(&older[i].s.base.counters, HPX_C_HANDLER_MEASURED);
    }
    assert_true(measured > 0); /* the cost of the handler in threads of one signal counts, too */
}

TEST(a_ticker_is_not_found_any_more_when_its_clock_is_stopped)
{
    static struct older o;
    start_older(&o);
    assert_true(atomic_load(&o.tick.expected));
    sem_post(&begin);
    pthread_join(o.id, NULL);
    assert_true(hpx_ticks_abandon(&o.tick));
    assert_false(atomic_load(&o.tick.expected));
}

/* Else the session, and with it what the state leads to, would be freed meanwhile. */
TEST(the_end_waits_for_a_handler_that_completes_its_state)
{
    static struct older o;
    atomic_store(&hold, true);
    start_older(&o);
    sem_post(&begin);
    while (!atomic_load(&held)) {
        sched_yield();
    }
    hpx_gate_close(&hpx_session.gate);
    assert_false(hpx_ticks_quiesce(&o.tick, 0));
    atomic_store(&hold, false);
    assert_true(hpx_ticks_quiesce(&o.tick, UINT64_MAX));
    assert_true(hpx_ticks_left(0));
    hpx_gate_open(&hpx_session.gate);
    pthread_join(o.id, NULL);
    assert_true(hpx_ticks_abandon(&o.tick));
}

static void *work_without(void *arg)
{
    struct older *o = arg;
    sem_wait(&begin);
    atomic_store(&o->tid, (pid_t)syscall(SYS_gettid));
    (void)hpx_threads_attach("a thread that has left");
    while (hpx_counter_get(&hpx_session.counters, HPX_C_SIGNALS_LATE) == 0 && atomic_load(&o->ticks) == 0) {
    }
    return NULL;
}

TEST(a_thread_that_has_left_finds_no_state)
{
    static struct older o;
    sem_post(&begin);
    start_working(&o, work_without);
    pthread_join(o.id, NULL);
    assert_int_equal(atomic_load(&o.ticks), 0);
    assert_null(o.s.env);
    assert_true(hpx_ticks_abandon(&o.tick));
}

#define UNTOUCHED 7

/* In a session without ticks it finds other states; those of the one before are freed then. */
static void *work_over_sessions(void *arg)
{
    struct older *o = arg;
    o->s.first = &o->s;
    o->s.base.mode = &mode;
    o->s.tid = (pid_t)syscall(SYS_gettid);
    hpx_ticker_init(&o->tick, &o->s);
    hpx_ticks_arm(&o->tick);
    atomic_fetch_add(&hpx_session_number, 1);
    hpx_ticks_forget_own();
    atomic_store(&o->tick.in_handler, UNTOUCHED);
    for (uint64_t before = hpx_counter_get(&hpx_session.counters, HPX_C_SIGNALS_LATE), now = before; now == before;) {
        now = hpx_counter_get(&hpx_session.counters, HPX_C_SIGNALS_LATE);
    }
    return NULL;
}

TEST(a_state_of_an_earlier_session_is_not_touched_any_more)
{
    pthread_t id;
    static struct older o;
    assert_int_equal(pthread_create(&id, NULL, work_over_sessions, &o), 0);
    pthread_join(id, NULL);
    assert_int_equal(atomic_exchange(&o.tick.in_handler, 0), UNTOUCHED);
    assert_true(hpx_ticks_abandon(&o.tick));
}

/* ---- a thread that blocks the signal ---- */

static bool no_file;             /* of any thread: none can be opened */
static const char *other_status; /* opened instead of the status of a thread; NULL: its own */
static atomic_bool blocks_on;

FILE *__real_fopen(const char *path, const char *how);
FILE *__wrap_fopen(const char *path, const char *how);

FILE *__wrap_fopen(const char *path, const char *how)
{
    size_t len = strlen(path), end = sizeof "/status" - 1;
    if (other_status != NULL && len > end && strcmp(path + len - end, "/status") == 0) {
        path = other_status;
    }
    if (no_file) {
        errno = EMFILE;
        return NULL;
    }
    return __real_fopen(path, how);
}

static void *work_that_blocks(void *arg)
{
    struct older *o = arg;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    atomic_store(&o->tid, (pid_t)syscall(SYS_gettid));
    while (atomic_load(&blocks_on)) {
    }
    return NULL;
}

static uint64_t looked_blocked(void)
{
    hpx_ticks_look_blocked();
    return hpx_counter_get(&hpx_session.counters, HPX_C_THREADS_BLOCKED);
}

TEST(a_mask_that_cannot_be_read_is_read_again)
{
    static struct older o;
    struct hpx_thread *all = &o.s.base;
    atomic_store(&blocks_on, true);
    start_working(&o, work_that_blocks);
    while (!hpx_clocks_overdue(&o.tick.clock)) {
        sched_yield();
    }
    hpx_session.aggregator.threads = &all;
    hpx_session.aggregator.nthreads = 1;
    no_file = true;
    assert_int_equal(looked_blocked(), 0);
    no_file = false;
    assert_int_equal(looked_blocked(), 1);
    assert_int_equal(looked_blocked(), 1);
    hpx_session.aggregator.nthreads = 0;
    atomic_store(&blocks_on, false);
    pthread_join(o.id, NULL);
    assert_true(hpx_ticks_abandon(&o.tick));
}

/* ---- the signal goes back ---- */

static void begin_again(void)
{
    struct hpx_err err;
    assert_int_equal(hpx_ticks_init(&err), 0);
}

static sighandler_t current(void)
{
    struct sigaction now;
    assert_int_equal(sigaction(SIGPROF, NULL, &now), 0);
    return now.sa_handler;
}

static void set_current(sighandler_t handler)
{
    assert_int_not_equal(signal(SIGPROF, handler), SIG_ERR);
}

/* A thread that blocks the signal until its clock has expired, which is then stopped. */
static struct blocking {
    struct hpx_thread_clock clock;
    pthread_t id;
    bool raises; /* before: a signal that is pending already is not sent again */
    sem_t pending, unblock;
} blocking;

static void *work_blocked(void *unused)
{
    sigset_t set;
    (void)unused;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (blocking.raises) {
        (void)raise(SIGPROF);
    }
    blocking.clock = (struct hpx_thread_clock){.tid = (pid_t)syscall(SYS_gettid), .adopted = true, .perf_fd = -1};
    assert_int_equal(hpx_clocks_start(&blocking.clock), 0);
    do {
        sigpending(&set);
    } while (!sigismember(&set, SIGPROF));
    sem_post(&blocking.pending);
    sem_wait(&blocking.unblock);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return NULL;
}

static void begin_blocked(void)
{
    sem_init(&blocking.pending, 0, 0);
    sem_init(&blocking.unblock, 0, 0);
    assert_int_equal(pthread_create(&blocking.id, NULL, work_blocked, NULL), 0);
    sem_wait(&blocking.pending);
}

static void end_blocked(void)
{
    sem_post(&blocking.unblock);
    pthread_join(blocking.id, NULL);
}

TEST(the_default_action_is_back_after_a_session)
{
    hpx_handlers_give_back();
    assert_true(current() == SIG_DFL);
    begin_again();
    assert_true(current() != SIG_DFL);
}

TEST(the_default_action_does_not_come_back_while_a_clock_exists)
{
    begin_blocked();
    hpx_handlers_give_back();
    assert_true(current() != SIG_DFL);
    hpx_clocks_stop(&blocking.clock);
    begin_again();
    end_blocked();
}

/* Later kernels drop the signal of a deleted timer when it is due; that of another sender stands for those of earlier ones. */
TEST(a_signal_that_is_pending_after_a_session_ends_nothing)
{
    blocking.raises = true;
    begin_blocked();
    blocking.raises = false;
    hpx_clocks_stop(&blocking.clock);
    hpx_handlers_give_back();
    assert_true(current() == SIG_DFL);
    end_blocked(); /* and the process with it, if the signal was still there */
    begin_again();
}

static atomic_uint foreign;

static void count_foreign(int sig)
{
    (void)sig;
    atomic_fetch_add(&foreign, 1);
}

TEST(a_handler_of_the_program_does_not_get_a_signal_of_ours)
{
    hpx_handlers_give_back();
    set_current(count_foreign);
    begin_again();
    begin_blocked();
    hpx_clocks_stop(&blocking.clock);
    hpx_handlers_give_back();
    assert_true(current() != count_foreign); /* ours stays, and passes on what is not ours */
    assert_int_equal(raise(SIGPROF), 0);
    assert_int_equal(atomic_load(&foreign), 1);
    end_blocked();
    assert_int_equal(atomic_load(&foreign), 1);
    hpx_handlers_give_back(); /* as after the next session */
    assert_true(current() == count_foreign);
    set_current(SIG_DFL);
    begin_again();
}

TEST(a_handler_of_the_program_does_not_come_back_if_the_pending_signals_are_not_known)
{
    hpx_handlers_give_back();
    set_current(count_foreign);
    begin_again();
    static const char *const untold[] = {"/proc", "/dev/null"}; /* cannot be read; does not say */
    for (size_t i = 0; i < sizeof untold / sizeof *untold; i++) {
        other_status = untold[i];
        hpx_handlers_give_back();
        assert_true(current() != count_foreign);
    }
    other_status = NULL;
    hpx_handlers_give_back();
    assert_true(current() == count_foreign);
    set_current(SIG_DFL);
    begin_again();
}

TEST(a_handler_that_came_later_stays)
{
    sighandler_t ours = current();
    set_current(count_foreign);
    hpx_handlers_give_back();
    assert_true(current() == count_foreign);
    struct sigaction a;
    sigaction(SIGPROF, NULL, &a);
    a.sa_handler = ours;
    a.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGPROF, &a, NULL);
    begin_again();
}

TEST(a_handler_that_went_without_us_is_installed_again)
{
    sighandler_t ours = current();
    set_current(SIG_DFL);
    hpx_handlers_give_back();
    begin_again();
    assert_true(current() == ours);
    set_current(SIG_IGN);
    begin_again();
    assert_true(current() == ours);
    hpx_handlers_give_back();
    assert_true(current() == SIG_IGN);
    set_current(SIG_DFL);
    begin_again();
}

/* How a child ends that gets the signal: by SIGKILL, from itself, if the signal has done nothing (a checker would not let it exit with 0).
 * used: our handler stays in place, because a clock exists. */
static int status_of_child(bool used)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        begin_blocked();
        if (!used) {
            hpx_handlers_give_back();
        }
        (void)raise(SIGPROF);
        (void)raise(current() == SIG_DFL ? SIGABRT : SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

TEST(a_signal_of_others_ends_the_program_only_without_a_session)
{
    int status = status_of_child(true);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    status = status_of_child(false);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF);
}

static int load(void **unused)
{
    struct hpx_err err;
    (void)unused;
    hpx_vm.java = &vm;
    sem_init(&begin, 0, 0);
    static const struct hpx_options options = {.signal = SIGPROF, .interval_ns = 1000 * 1000};
    hpx_session.opt = &options;
    atomic_store(&hpx_session_number, 1);
    hpx_ticks_begin();
    hpx_ticks_use(&user);
    int rc = hpx_ticks_init(&err);
    hpx_gate_open(&hpx_session.gate);
    return rc;
}

static int unload(void **unused)
{
    (void)unused;
    hpx_handlers_give_back();
    return 0;
}

TESTS(load, unload)
