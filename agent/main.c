/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c: loading and unloading. The only code of hprofx that may end the process: `help`, an option error, an output that cannot be made -
 * before main. */
#include "agent.h"
#include "aggregator.h"
#include "callbacks.h"
#include "clocks.h"
#include "company.h"
#include "dump.h"
#include "log.h"
#include "output.h"
#include "sampler.h"
#include "service.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hpx_agent hpx_agent;

static const struct {
    jvmtiError code;
    const char *name;
} jvmti_errors[] = {
    {JVMTI_ERROR_NOT_AVAILABLE, "JVMTI_ERROR_NOT_AVAILABLE"},
    {JVMTI_ERROR_MUST_POSSESS_CAPABILITY, "JVMTI_ERROR_MUST_POSSESS_CAPABILITY"},
    {JVMTI_ERROR_OUT_OF_MEMORY, "JVMTI_ERROR_OUT_OF_MEMORY"},
    {JVMTI_ERROR_WRONG_PHASE, "JVMTI_ERROR_WRONG_PHASE"},
    {JVMTI_ERROR_INTERNAL, "JVMTI_ERROR_INTERNAL"},
    {JVMTI_ERROR_UNATTACHED_THREAD, "JVMTI_ERROR_UNATTACHED_THREAD"},
    {JVMTI_ERROR_INVALID_EVENT_TYPE, "JVMTI_ERROR_INVALID_EVENT_TYPE"},
};

const char *hpx_agent_mode(void)
{
    static const char *const names[] = {[HPX_CPU_OFF] = "profiling", /* the options are not known yet */
                                        [HPX_CPU_SAMPLES] = "cpu=samples",
                                        [HPX_CPU_TIMES] = "cpu=times",
                                        [HPX_CPU_OLD] = "cpu=old",
                                        [HPX_CPU_SAMPLES | HPX_CPU_TIMES] = "cpu=samples,cpu=times",
                                        [HPX_CPU_SAMPLES | HPX_CPU_OLD] = "cpu=samples,cpu=old"};
    return names[hpx_agent.opt.cpu];
}

const char *hpx_agent_signalled(void)
{
    return hpx_agent_samples() ? "cpu=samples" : "times=sampled";
}

const char *hpx_jvmti_error(jvmtiError e)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(jvmti_errors); i++) {
        if (jvmti_errors[i].code == e) {
            return jvmti_errors[i].name;
        }
    }
    return "another JVMTI error";
}

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

static void refuse(const struct hpx_err *err)
{
    const char *prefix = "HPROF ERROR: ", *line = err->msg;
    for (bool more = true; more; prefix = "") { /* a hint may follow on a line of its own */
        size_t n = strcspn(line, "\n");
        hpx_say("%s%.*s", prefix, (int)n, line);
        more = line[n] != 0;
        line += n + more;
    }
    end_before_main(1);
}

/* The program runs on without us, and without the price of our events. */
static void stay_out(const struct hpx_err *err)
{
    hpx_warn("%s is off: %s", hpx_agent_mode(), err->msg);
    hpx_sampler_stay_out();
    if (hpx_agent.jvmti != NULL) {
        (*hpx_agent.jvmti)->DisposeEnvironment(hpx_agent.jvmti);
        hpx_agent.jvmti = NULL;
    }
}

/* A wrong option or output ends the start; want of memory does not. */
static void refuse_or_stay_out(int rc, const struct hpx_err *err)
{
    if (rc != -HPX_E_NOMEM) {
        refuse(err);
    }
    stay_out(err);
}

static void before_fork(void)
{
    hpx_gate_before_fork(); /* blocks all signals of this thread too: a clone() that our timer interrupts would start anew, for ever if the
                               process is big */
}

static void after_fork_parent(void)
{
    hpx_gate_after_fork_parent();
}

/* The child has no aggregator and no clocks: it counts nothing, writes nothing, holds nothing of ours open. */
static void after_fork_child(void)
{
    hpx_gate_after_fork_child();
    hpx_gate_shut(&hpx_agent.gate);
    hpx_agent.live = false;
    hpx_output_forget();
    hpx_clocks_forget();
}

/* What can fail before anything is written. */
static int prepare(struct hpx_err *err)
{
    if ((*hpx_agent.vm)->GetEnv(hpx_agent.vm, (void **)&hpx_agent.jvmti, JVMTI_VERSION_1_2) != JNI_OK) {
        return hpx_err_set(err, HPX_E_VM, "this VM has no JVMTI 1.2");
    }
    hpx_sampler_need_timers();
    struct hpx_sink sink;
    if (hpx_dump_init(&sink) != 0 || hpx_aggregator_init(&hpx_agent.aggregator, &sink) != 0 || hpx_service_init() != 0) {
        return hpx_err_set(err, HPX_E_NOMEM, "no memory for its tables; raise the limit of the process's memory");
    }
    if (pthread_atfork(before_fork, after_fork_parent, after_fork_child) != 0) {
        return hpx_err_set(err, HPX_E_NOMEM, "no memory for its handlers of fork; raise the limit of the process's memory");
    }
    int rc = hpx_agent_samples() || hpx_agent_sampled() ? hpx_sampler_init(err) : 0;
    if (hpx_agent_calls() && !hpx_agent_sampled()) {
        hpx_cpuclock_setup(hpx_agent.opt.times == HPX_TIMES_WALL ? HPX_CPUCLOCK_WALL : HPX_CPUCLOCK_CPU, NULL);
    }
    return rc != 0 ? rc : hpx_callbacks_init(err);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    static atomic_bool loaded;
    static struct hpx_err err;
    (void)reserved;
    if (atomic_exchange_explicit(&loaded, true, memory_order_relaxed) || hpx_company_twin()) {
        hpx_warn("loaded twice: this second load has no effect, the first goes on; check the command line for duplicate options");
        return JNI_OK;
    }
    hpx_agent.vm = vm;
    hpx_agent.start = time(NULL);
    int rc = hpx_options_parse(&hpx_agent.opt, getenv("_JAVA_HPROF_OPTIONS"), getenv("HPROFX_OPTIONS"), options, &err);
    if (rc != 0) {
        refuse_or_stay_out(rc, &err);
        return JNI_OK;
    }
    if (hpx_agent.opt.help) {
        hpx_options_help(print_stdout, NULL);
        end_before_main(0);
    }
    if (hpx_options_supported(&hpx_agent.opt, &err) != 0) {
        refuse(&err);
    }
    atomic_store_explicit(&hpx_agent.depth, hpx_agent.opt.depth, memory_order_relaxed);
    if (prepare(&err) != 0) {
        stay_out(&err);
        return JNI_OK;
    }
    rc = hpx_output_init(&err);
    if (rc != 0) {
        refuse_or_stay_out(rc, &err);
        return JNI_OK;
    }
    hpx_agent.prepared = true;
    return JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
    (void)vm;
    if (hpx_agent.finished) {
        hpx_aggregator_stop(&hpx_agent.aggregator);
    }
}
