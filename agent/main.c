/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c: loading and unloading. The only code of hprofx that may end the process: `help`, an option error, an output that cannot be made -
 * before main. */
#include "callbacks.h"
#include "log.h"
#include "modes.h"
#include "output.h"
#include "service.h"
#include "session_life.h"
#include "sigmask.h"
#include "threads.h"
#include "ticks.h"
#include "twin.h"
#include "vm_mode.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hpx_host host = {hpx_service_post, hpx_service_collect, hpx_service_quit,
                                     hpx_service_exit, hpx_service_cpu,     hpx_threads_lines};

static void print_stdout(void *ctx, const char *s)
{
    (void)ctx;
    fputs(s, stdout);
}

static void end_before_main(int status)
{
    fflush(stdout);
    exit(status); /* as the original; the program has not begun */
}

static void warn_idle(const char *option, const char *needs, const char *missing)
{
    hpx_warn("%s has no effect without %s: there will be no %s; add %s, or leave out %s", option, needs, missing, needs, option);
}

static void refuse(const struct hpx_err *err)
{
    const char *prefix = "HPROF ERROR: ", *line = err->msg;
    for (bool more = true; more; prefix = "") { /* a hint may follow on its own line */
        size_t n = strcspn(line, "\n");
        hpx_say("%s%.*s", prefix, (int)n, line);
        more = line[n] != 0;
        line += n + more;
    }
    end_before_main(1);
}

/* The program continues without profiling, and without the cost of its events. */
static void disable(const struct hpx_err *err)
{
    hpx_warn("%s is off: %s", hpx_session_modes(), err->msg);
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        if (hpx_session.modes[i]->vm->disable != NULL) {
            hpx_session.modes[i]->vm->disable();
        }
    }
    if (hpx_vm.jvmti != NULL) {
        (*hpx_vm.jvmti)->DisposeEnvironment(hpx_vm.jvmti);
        hpx_vm.jvmti = NULL;
    }
}

/* A wrong option or output ends the start; lack of memory does not. */
static void refuse_or_disable(int rc, const struct hpx_err *err)
{
    if (rc != -HPX_E_NOMEM) {
        refuse(err);
    }
    disable(err);
}

/* One fork at a time: nothing else keeps these handlers of two threads apart (glibc 2.36 on). */
static struct {
    pthread_mutex_t lock;
    sigset_t mask; /* of the thread that forks; its lock's */
} forking = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A clone() that our timer interrupts would start anew, for ever if the process is big. Blocked before the lock is taken: a handler of the
 * program may fork. */
static void before_fork(void)
{
    sigset_t ours, old;
    hpx_sigmask_ours(&ours);
    pthread_sigmask(SIG_BLOCK, &ours, &old);
    pthread_mutex_lock(&forking.lock);
    forking.mask = old;
}

static void after_fork_parent(void)
{
    sigset_t old = forking.mask;
    pthread_mutex_unlock(&forking.lock);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* The child has no aggregator and no clocks: it counts nothing, writes nothing and closes our descriptors. */
static void after_fork_child(void)
{
    hpx_gate_close(&hpx_session.gate);
    hpx_output_forget();
    hpx_callbacks_forget();
    after_fork_parent();
}

/* Everything that can fail before the output is created. */
static int prepare(struct hpx_err *err)
{
    if ((*hpx_vm.java)->GetEnv(hpx_vm.java, (void **)&hpx_vm.jvmti, JVMTI_VERSION_1_2) != JNI_OK) {
        return hpx_err_set(err, HPX_E_VM, "this VM does not support JVMTI 1.2");
    }
    if (hpx_callbacks_capabilities(err) != 0) {
        return -HPX_E_VM;
    }
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        if (hpx_session.modes[i]->vm->options != NULL) {
            hpx_session.modes[i]->vm->options();
        }
    }
    if (hpx_session_begin(&host) != 0 || hpx_service_init() != 0) {
        return hpx_err_set(err, HPX_E_NOMEM, "no memory for the tables; raise the memory limit of the process");
    }
    if (pthread_atfork(before_fork, after_fork_parent, after_fork_child) != 0) {
        return hpx_err_set(err, HPX_E_NOMEM, "no memory for the fork handlers; raise the memory limit of the process");
    }
    int rc = 0;
    hpx_ticks_begin();
    for (uint32_t i = 0; rc == 0 && i < hpx_session.nmodes; i++) {
        rc = hpx_session.modes[i]->vm->load != NULL ? hpx_session.modes[i]->vm->load(err) : 0;
    }
    rc = rc != 0 ? rc : hpx_ticks_init(err);
    return rc != 0 ? rc : hpx_callbacks_init(err);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    static atomic_bool loaded;
    static struct hpx_err err;
    (void)reserved;
    if (atomic_exchange_explicit(&loaded, true, memory_order_relaxed) || hpx_twin_is_loaded()) {
        hpx_warn("loaded twice; the second load has no effect; check the command line for duplicate options");
        return JNI_OK;
    }
    hpx_vm.java = vm;
    hpx_session.start = time(NULL);
    int rc = hpx_options_parse(&hpx_session.opt, getenv("_JAVA_HPROF_OPTIONS"), getenv("HPROFX_OPTIONS"), options, &err);
    if (rc != 0) {
        refuse_or_disable(rc, &err);
        return JNI_OK;
    }
    if (hpx_session.opt.help) {
        hpx_options_help(print_stdout, NULL);
        end_before_main(0);
    }
    hpx_options_idle(&hpx_session.opt, warn_idle);
    hpx_session_choose(hpx_modes);
    rc = prepare(&err);
    if (rc == -HPX_E_OPT) {
        refuse(&err);
    }
    if (rc != 0) {
        disable(&err);
        return JNI_OK;
    }
    rc = hpx_output_init(&err);
    if (rc != 0) {
        refuse_or_disable(rc, &err);
        return JNI_OK;
    }
    hpx_vm.prepared = true;
    return JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
    (void)vm;
    if (hpx_vm.finished) {
        hpx_aggregator_stop(&hpx_session.aggregator);
    }
}
