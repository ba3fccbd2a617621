/* SPDX-License-Identifier: BSD-2-Clause */
/* code_source.c: chooses between structures and event. Contract: code_source.h. */
#include "code_source.h"
#include "checks.h"
#include "code_age.h"
#include "engine.h"
#include "internals.h"
#include "log.h"
#include "owner_compare.h"
#include "report.h"
#include "service.h"
#include "vm_flags.h"
#include <inttypes.h>

#define FLAG                   "DebugNonSafepoints"
#define RELEASE_LINES_OF_LOOPS 9 /* the second compiler of 8 loses the lines of loops that it has inlined, whoever reads them */

/* load's */
static HPX_OF_SESSION struct {
    bool unread;            /* they are switched off, so the flag was not read either */
    bool refused;           /* the command line has -XX:-DebugNonSafepoints */
    enum hpx_flag_set flag; /* what became of it */
    bool event;             /* the event is on from the start */
    bool names;             /* the structures have all names */
    bool blurred_loops;     /* of this release */
} source;

/* Unload first: a method that the VM unloads meanwhile must not stay in the code map. */
static jvmtiError set_event(jvmtiEnv *jvmti, jvmtiEventMode mode)
{
    jvmtiError e = (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_COMPILED_METHOD_UNLOAD, NULL);
    return e != JVMTI_ERROR_NONE ? e : (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
}

jvmtiError hpx_code_source_use_event(jvmtiEnv *jvmti)
{
    jvmtiError e = set_event(jvmti, JVMTI_ENABLE);
    return e != JVMTI_ERROR_NONE ? e : (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
}

static void say_refused(jvmtiError e)
{
    if (e != JVMTI_ERROR_NONE) {
        hpx_warn("cpu=samples: samples may lack the methods of compiled code: %s", hpx_jvmti_error(e));
    }
}

static void use_event_from_load(void)
{
    source.event = true;
    say_refused(set_event(hpx_vm.jvmti, JVMTI_ENABLE));
}

void hpx_code_source_close(jvmtiEnv *jvmti)
{
    (void)set_event(jvmti, JVMTI_DISABLE);
#ifdef HPX_COMPARE_OWNERS
    hpx_owner_compare_print();
#endif
}

/* NULL: the structures may be used. */
static const char *prepare(void)
{
    const char *why = hpx_checks_names();
    if (why != NULL) {
        return why;
    }
    source.flag = hpx_vm_flag_set(FLAG, &why);
    return source.flag == HPX_FLAG_UNREADABLE ? why : NULL;
}

void hpx_code_source_load(void)
{
    const char *why = hpx_internals_closed();                         /* first: then nothing is read */
    source.blurred_loops = hpx_vm_release() < RELEASE_LINES_OF_LOOPS; /* the report's thread may not ask */
    source.unread = why != NULL;
    source.refused = why == NULL && hpx_vm_flag_refused(FLAG);
    bool wanted = hpx_engine_takes_stacks() && hpx_engine_now() == HPX_ENGINE_ASYNC;
    if (wanted && why == NULL) {
        why = prepare();
    }
    source.names = wanted && why == NULL;
    if (why != NULL) { /* not because this mode does without: others may want them */
        hpx_internals_leave(why);
    }
    if (!source.names && hpx_engine_now() != HPX_ENGINE_POLL && hpx_engine_takes_stacks()) {
        use_event_from_load();
    }
#ifdef HPX_COMPARE_OWNERS
    use_event_from_load();
#endif
}

void hpx_code_source_disable(void)
{
    if (source.flag == HPX_FLAG_SET) {
        hpx_vm_flag_reset(FLAG);
    }
    if (hpx_vm.jvmti != NULL) {
        (void)set_event(hpx_vm.jvmti, JVMTI_DISABLE);
    }
}

void hpx_code_source_live(JNIEnv *env, struct hpx_sample_thread *t, bool guard)
{
    if (source.names && !hpx_checks_live(hpx_vm.jvmti, env, t != NULL ? &t->s.base.counters : NULL, guard)) {
        hpx_internals_event_done(); /* a fault asked for what is done here */
        say_refused(hpx_code_source_use_event(hpx_vm.jvmti));
    } else if (hpx_vm.late && source.flag == HPX_FLAG_SET) {
        hpx_code_age_begin();
    }
}

static jvmtiError replay(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)env;
    return hpx_code_source_use_event(jvmti);
}

void hpx_code_source_look(void)
{
    static const struct hpx_service_task task = HPX_SERVICE_TASK(replay, "cpu=samples: samples may lack the methods of compiled code");
    static HPX_OF_SESSION struct hpx_service_work work;
    if (hpx_internals_event_wanted() && hpx_service_prepare(&work, &task)) {
        hpx_internals_event_done();
    }
}

static const char *information(void)
{
    if (source.unread) {
        return "by events, unless -XX:-" FLAG " turns it off";
    }
    if (source.refused) {
        return "off by -XX:-" FLAG ": inlined methods may be charged to their callers";
    }
    return source.event ? "by events" : "by " FLAG;
}

void hpx_code_source_lines(struct hpx_lines *to)
{
    struct hpx_code_age a;
    hpx_lines_add(to, "hprofx: debug information: %s\n", information());
    if (source.blurred_loops) {
        hpx_lines_add(to, "hprofx: inlined loops: the compiler of this JDK shows the time of some at a line of their caller, or at an "
                          "allocation next to them; the shares of a method and its caller add up\n");
    }
    if (hpx_code_age_now(&a)) {
        hpx_lines_add(to, "hprofx: without debug information: %" PRIu64 " of %" PRIu64 " compiled methods, %.3g %% of the code\n",
                      a.old_methods, a.methods, 100.0 * (double)a.old_bytes / (double)a.bytes);
    }
}
