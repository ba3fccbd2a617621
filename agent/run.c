/* SPDX-License-Identifier: BSD-2-Clause */
/* run.c: the order in which a session begins and ends. Contract: run.h. */
#include "run.h"
#include "archive.h"
#include "c_frames.h"
#include "callbacks.h"
#include "clock.h"
#include "handler.h"
#include "kept_states.h"
#include "known_threads.h"
#include "later.h"
#include "life.h"
#include "log.h"
#include "modes.h"
#include "options.h"
#include "origin.h"
#include "output.h"
#include "service.h"
#include "session_life.h"
#include "sigmask.h"
#include "steer.h"
#include "thread_list.h"
#include "thread_names.h"
#include "threads.h"
#include "ticks.h"
#include "trial.h"
#include "vm_mode.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct kept {
    size_t bytes;
    uint32_t states;
};

static void add_kept(void *ctx, const struct hpx_mode_thread *s)
{
    struct kept *k = ctx;
    k->bytes += hpx_vm_mode_of(s)->state_bytes;
    k->states++;
}

/* What sessions before this one left for the next. */
static void kept_lines(struct hpx_lines *to)
{
    struct kept k = {0};
    hpx_kept_states_each(add_kept, &k);
    hpx_lines_add(to, "hprofx: kept by the process: %zu bytes, for %u states of threads\n", k.bytes, k.states);
}

static void lines(struct hpx_lines *to)
{
    hpx_threads_lines(to);
    if (hpx_vm.late) {
        kept_lines(to);
    }
}

static HPX_OF_SESSION _Atomic uint64_t next_names; /* relaxed: hpx_clock_mono(): when a table of the journal asks again */

/* At most one percent of the time is spent on asking for the journal. */
static jvmtiError ask_names(jvmtiEnv *jvmti, JNIEnv *env)
{
    uint64_t from = hpx_clock_mono();
    hpx_thread_names_ask(jvmti, env);
    uint64_t now = hpx_clock_mono();
    atomic_store_explicit(&next_names, now + 100 * (now - from), memory_order_relaxed);
    return JVMTI_ERROR_NONE;
}

static bool names(bool dump)
{
    static const struct hpx_service_task task = HPX_SERVICE_TASK(ask_names, "threads could not be asked for their names");
    static HPX_OF_SESSION struct hpx_service_work work;
    bool due = dump || work.asked || hpx_clock_mono() >= atomic_load_explicit(&next_names, memory_order_relaxed);
    return !hpx_known_threads_kept() || !due || hpx_service_prepare(&work, &task);
}

static uint64_t own_cpu(void)
{
    return hpx_service_cpu() + hpx_callbacks_cpu();
}

/* Of the model's questions those about functions of C need no JVM. */
static void post(struct hpx_msg *m)
{
    if (m->kind == HPX_MSG_RESOLVE && hpx_ev_is_c(((struct hpx_msg_resolve *)(void *)m)->id)) {
        hpx_c_frames_post((struct hpx_msg_resolve *)(void *)m);
    } else {
        hpx_service_post(m);
    }
}

static const struct hpx_host host = {post, hpx_service_collect, hpx_service_quit, hpx_service_exit, own_cpu, lines, names};

void hpx_run_say(const struct hpx_err *err)
{
    const char *prefix = "HPROF ERROR: ", *line = err->msg;
    for (bool more = true; more; prefix = "") { /* a hint may follow on its own line */
        size_t n = strcspn(line, "\n");
        hpx_say("%s%.*s", prefix, (int)n, line);
        more = line[n] != 0;
        line += n + more;
    }
}

/* One fork at a time: nothing else keeps these handlers of two threads apart (glibc 2.36 on). */
static struct {
    pthread_mutex_t lock;
    sigset_t mask;   /* of the thread that forks; its lock's */
    bool registered; /* the handlers; its lock's */
    bool session;    /* its lock's: the child finds a session, whose descriptors it closes */
} forking = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A clone() that our timer interrupts would start anew, for ever if the process is big. Blocked before the lock is taken: a handler of the
 * program may fork. */
static void lock_forks(void)
{
    sigset_t ours, old;
    hpx_sigmask_ours(&ours);
    pthread_sigmask(SIG_BLOCK, &ours, &old);
    pthread_mutex_lock(&forking.lock);
    forking.mask = old;
}

static void unlock_forks(void)
{
    sigset_t old = forking.mask;
    pthread_mutex_unlock(&forking.lock);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* The child has no aggregator and no clocks: it counts nothing, writes nothing and closes our descriptors. */
static void after_fork_child(void)
{
    hpx_gate_close(&hpx_session.gate);
    if (forking.session) {
        hpx_output_forget();
        hpx_callbacks_forget();
    }
    hpx_steer_forget();
    unlock_forks();
}

/* A fork waits for no more than this: nothing is freed under the lock. Without the lock a child could be made while the session's memory
 * goes, and would follow pointers to it. */
static void show_to_forks(bool session)
{
    lock_forks();
    if (!session && forking.session) {
        hpx_output_forget(); /* what is still open: the child would not know it any more */
    }
    forking.session = session;
    unlock_forks();
}

int hpx_run_watch_forks(struct hpx_err *err)
{
    lock_forks();
    forking.registered = forking.registered || hpx_atfork(lock_forks, unlock_forks, after_fork_child) == 0;
    bool watched = forking.registered;
    unlock_forks();
    return watched ? 0 : hpx_err_set(err, HPX_E_NOMEM, "no memory for the fork handlers; raise the memory limit of the process");
}

static void warn_idle(const char *option, const char *needs, const char *missing)
{
    hpx_warn("%s has no effect without %s: there will be no %s; add %s, or leave out %s", option, needs, missing, needs, option);
}

static void note_origin(void)
{
    char *command = NULL;
    bool known = (*hpx_vm.jvmti)->GetSystemProperty(hpx_vm.jvmti, "sun.java.command", &command) == JVMTI_ERROR_NONE;
    hpx_origin_begin(known ? command : NULL);
    if (known && command != NULL) {
        (*hpx_vm.jvmti)->Deallocate(hpx_vm.jvmti, (unsigned char *)command);
    }
}

/* HotSpot gives an environment while it loads agents and in the live phase. */
static int get_jvmti(JavaVM *vm, jvmtiEnv **to, struct hpx_err *err)
{
    jint rc = (*vm)->GetEnv(vm, (void **)to, JVMTI_VERSION_1_2);
    if (rc == JNI_OK) {
        return 0;
    }
    return rc == JNI_EDETACHED ? hpx_err_set(err, HPX_E_NOT_LIVE, "the JVM is starting, or is ending; try again when it runs")
                               : hpx_err_set(err, HPX_E_VM, "this VM does not support JVMTI 1.2");
}

/* Of an environment that was given in the live phase. */
static bool is_dead(jvmtiEnv *jvmti)
{
    jvmtiPhase phase;
    return (*jvmti)->GetPhase(jvmti, &phase) != JVMTI_ERROR_NONE || phase != JVMTI_PHASE_LIVE;
}

int hpx_run_is_live(JavaVM *vm, struct hpx_err *err)
{
    jvmtiEnv *jvmti = NULL;
    int rc = get_jvmti(vm, &jvmti, err);
    if (rc == 0) {
        (*jvmti)->DisposeEnvironment(jvmti);
    }
    return rc;
}

static bool needs_rewriting(const struct hpx_mode *m)
{
    bool needs = false;
    for (const jvmtiEvent *e = m->vm->on_load; *e != 0; e++) {
        needs = needs || *e == JVMTI_EVENT_CLASS_FILE_LOAD_HOOK;
    }
    return needs;
}

/* While the VM records classes for an archive nothing may change them: what needs that is left out, the rest goes on. */
static int spare_archive(struct hpx_err *err)
{
    const char *option;
    uint32_t off = 0;
    if (hpx_archive(&option) == HPX_ARCHIVE_NONE) {
        return 0;
    }
    hpx_session.in_effect.rewrites = false;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        off += needs_rewriting(hpx_session.modes[i]);
    }
    if (off > 0 && off == hpx_session.nmodes) {
        return hpx_err_set(err, HPX_E_VM,
                           "the VM records classes for an archive (%s), which changed ones would spoil; use cpu=samples, or a run without "
                           "that option",
                           option);
    }
    for (uint32_t i = hpx_session.nmodes; i-- > 0;) {
        if (needs_rewriting(hpx_session.modes[i])) {
            hpx_warn("%s is off: the VM records classes for an archive (%s), which changed ones would spoil; use a run without that option",
                     hpx_session.modes[i]->name, option);
            hpx_session_drop(hpx_session.modes[i]);
        }
    }
    if (hpx_session.opt->heap_sites && hpx_session.in_effect.sites == HPX_SITES_COUNTS) {
        hpx_warn(
            "sites=counts: the VM records classes for an archive (%s), which changed ones would spoil; sites=exact is used instead, at "
            "a higher cost; use a run without that option",
            option);
        hpx_session.in_effect.sites = HPX_SITES_EXACT;
    }
    return 0;
}

int hpx_run_prepare(struct hpx_err *err)
{
    enum hpx_life was;
    if (!hpx_vm.late) {
        (void)hpx_life_tell(HPX_LIFE_PREPARE, &was); /* nobody else can yet */
    }
    if (!hpx_session.opt->start) {
        return hpx_err_set(err, HPX_E_OPT, "start=n is for the command line of the JVM");
    }
    hpx_options_idle(hpx_session.opt, warn_idle);
    if (spare_archive(err) != 0) {
        return -HPX_E_VM;
    }
    int got = get_jvmti(hpx_vm.java, &hpx_vm.jvmti, err);
    if (got != 0) {
        return got;
    }
    if (!hpx_vm_keep_environment()) {
        return hpx_err_set(err, HPX_E_VM, "the VM refuses a JVMTI environment");
    }
    if (hpx_vm.late && is_dead(hpx_vm.jvmti)) {
        return hpx_err_set(err, HPX_E_BUSY, "the JVM is ending");
    }
    if (hpx_callbacks_capabilities(err) != 0) {
        return -HPX_E_VM;
    }
    HPX_EACH_MODE(vm->options, ());
    if (hpx_session_begin(&host) != 0 || hpx_service_init() != 0) {
        return hpx_err_set(err, HPX_E_NOMEM, "no memory for the tables; raise the memory limit of the process");
    }
    int rc = hpx_run_watch_forks(err);
    if (rc != 0) {
        return rc;
    }
    show_to_forks(true);
    note_origin();
    hpx_ticks_begin();
    hpx_thread_names_load();
    for (uint32_t i = 0; rc == 0 && i < hpx_session.nmodes; i++) {
        rc = hpx_session.modes[i]->vm->load != NULL ? hpx_session.modes[i]->vm->load(err) : 0;
    }
    rc = rc != 0 ? rc : hpx_ticks_init(err);
    return rc != 0 ? rc : hpx_callbacks_init(err);
}

/* ---- while the program runs ---- */

void hpx_run_loaded(void)
{
    enum hpx_life was;
    HPX_EACH_MODE(vm->loaded, ());
    (void)hpx_life_tell(HPX_LIFE_PREPARED, &was);
}

static void end_session(void)
{
    hpx_handlers_give_back();
    show_to_forks(false);
    hpx_known_threads_fini();
    hpx_thread_list_fini();
    hpx_session_end();
}

/* Gives back what was prepared. PREPARING, UNDOING. */
static void undo(void)
{
    enum hpx_life was;
    hpx_callbacks_disable();
    if (hpx_vm.jvmti != NULL) {
        (*hpx_vm.jvmti)->DisposeEnvironment(hpx_vm.jvmti);
        hpx_vm.jvmti = NULL;
    }
    hpx_service_fini();
    end_session();
    (void)hpx_life_tell(HPX_LIFE_UNDONE, &was);
}

void hpx_run_disable(const struct hpx_err *err)
{
    hpx_warn("%s is off: %s", hpx_session_modes(), err->msg);
    undo();
}

/* UNDOING. 0: it is undone. */
static int undo_begun(struct hpx_err *err)
{
    const char *stands = hpx_callbacks_undo();
    if (stands == NULL) {
        undo();
        return 0;
    }
    hpx_life_stall(stands);
    return hpx_life_refuse(HPX_LIFE_STUCK, err);
}

/* What a session before left undone. 0: nothing, or nothing any more. */
static int finish_last(JNIEnv *env, struct hpx_err *err)
{
    enum hpx_life was, now = hpx_life_now();
    if (now == HPX_LIFE_STALLED || now == HPX_LIFE_STUCK) {
        int rc = hpx_run_end(env, err);
        return rc == -HPX_E_SYS ? rc : 0; /* else another thread has ended it, which PREPARE will tell */
    }
    return hpx_life_tell(HPX_LIFE_UNDO, &was) ? undo_begun(err) : 0;
}

static int prepare_late(JavaVM *vm, const char *options, struct hpx_err *err)
{
    hpx_vm.java = vm;
    hpx_vm.late = true;
    hpx_trial_begin();
    (void)hpx_kept_states_sweep();
    hpx_session.start = time(NULL);
    int rc = hpx_session_parse(NULL, NULL, options, err);
    if (rc == 0 && hpx_session.opt->maxfile == HPX_OPT_AUTO_BYTES) { /* no command line of HPROF began it */
        hpx_session.in_effect.maxfile = HPX_OPT_MAXFILE;
    }
    if (rc == 0 && hpx_session.opt->help) {
        rc = hpx_err_set(err, HPX_E_OPT, "help is for the command line of the JVM");
    }
    if (rc == 0) {
        hpx_session_choose(hpx_modes);
        rc = hpx_run_prepare(err);
    }
    return rc != 0 ? rc : hpx_output_init(err);
}

int hpx_run_begin(JavaVM *vm, JNIEnv *env, const char *options, struct hpx_err *err)
{
    enum hpx_life was;
    int rc;
    bool is_ours = false;
    do { /* again: another thread's could not begin meanwhile */
        rc = finish_last(env, err);
    } while (rc == 0 && !(is_ours = hpx_life_tell(HPX_LIFE_PREPARE, &was)) && was == HPX_LIFE_UNSTARTED);
    if (!is_ours) {
        return rc != 0 ? rc : hpx_life_refuse(was, err);
    }
    hpx_callbacks_begin();
    rc = prepare_late(vm, options, err);
    if (rc == 0 && !hpx_life_tell(HPX_LIFE_PREPARED, &was)) {
        rc = hpx_life_refuse(was, err);
    }
    if (rc != 0) {
        undo();
        return rc;
    }
    struct hpx_err why, unsaid;
    if (hpx_callbacks_go_live(env, &why)) {
        return 0;
    }
    if (why.msg[0] == 0 || hpx_life_now() == HPX_LIFE_DYING) {
        return hpx_life_refuse(HPX_LIFE_DYING, err);
    }
    if (hpx_life_tell(HPX_LIFE_UNDO, &was)) {
        (void)undo_begun(&unsaid); /* if it cannot be undone now, the next command tells */
    }
    return hpx_err_set(err, HPX_E_SYS, "a thread of the profiler could not be started: %s", why.msg);
}

int hpx_run_end(JNIEnv *env, struct hpx_err *err)
{
    enum hpx_life was;
    if (!hpx_life_tell(HPX_LIFE_END, &was)) {
        return hpx_life_refuse(was, err);
    }
    if (was == HPX_LIFE_STUCK) {
        return undo_begun(err);
    }
    const char *stands = hpx_callbacks_end(env, was == HPX_LIFE_STALLED);
    if (stands != NULL) {
        hpx_life_stall(stands);
        return hpx_life_refuse(HPX_LIFE_STALLED, err);
    }
    end_session();
    (void)hpx_kept_states_sweep();
    hpx_vm.jvmti = NULL;
    (void)hpx_life_tell(HPX_LIFE_ENDED, &was);
    return 0;
}
