/* SPDX-License-Identifier: BSD-2-Clause */
/* code_source.c: the flag, or the event. Contract: code_source.h. */
#include "code_source.h"
#include "code_age.h"
#include "internals.h"
#include "log.h"
#include "report.h"
#include "vm_flags.h"
#include <inttypes.h>

#define FLAG                   "DebugNonSafepoints"
#define RELEASE_LINES_OF_LOOPS 9 /* the second compiler of JDK 8 loses the lines of inlined loops for every reader */

/* load's */
static HPX_OF_SESSION struct {
    enum hpx_flag_set flag; /* what became of it */
    bool event;             /* the event is on from the start */
} source;

/* Unload first: a method that the VM unloads between the two calls must not stay in the table. */
static jvmtiError set_event(jvmtiEnv *jvmti, jvmtiEventMode mode)
{
    jvmtiError e = (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_COMPILED_METHOD_UNLOAD, NULL);
    return e != JVMTI_ERROR_NONE ? e : (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
}

static void say_refused(jvmtiError e)
{
    if (e != JVMTI_ERROR_NONE) {
        hpx_warn("cpu=samples: samples may lack the methods of compiled code: %s", hpx_jvmti_error(e));
    }
}

void hpx_code_source_use_event(jvmtiEnv *jvmti)
{
    jvmtiError e = set_event(jvmti, JVMTI_ENABLE);
    say_refused(e != JVMTI_ERROR_NONE ? e : (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD));
}

void hpx_code_source_use_event_from_load(void)
{
    source.event = true;
    say_refused(set_event(hpx_vm.jvmti, JVMTI_ENABLE));
}

void hpx_code_source_close(jvmtiEnv *jvmti)
{
    (void)set_event(jvmti, JVMTI_DISABLE);
}

const char *hpx_code_source_set_flag(void)
{
    const char *why = hpx_internals_closed(); /* asked first: if it is closed, nothing is read */
    if (why != NULL) {
        return why;
    }
    source.flag = hpx_vm_flag_set(FLAG, &why);
    return source.flag == HPX_FLAG_UNREADABLE ? why : NULL;
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

void hpx_code_source_live(void)
{
    if (hpx_vm.late && source.flag == HPX_FLAG_SET) {
        hpx_code_age_begin();
    }
}

void hpx_code_source_over(void)
{
    hpx_code_age_end();
}

static const char *information(void)
{
    if (source.flag == HPX_FLAG_CHOSEN) {
        return "off by -XX:-" FLAG ": inlined methods may be charged to their callers";
    }
    return source.event ? "by events, unless -XX:-" FLAG " turns it off" : "by " FLAG;
}

void hpx_code_source_lines(struct hpx_lines *to)
{
    struct hpx_code_age a;
    hpx_lines_add(to, "hprofx: debug information: %s\n", information());
    if (hpx_vm_release() < RELEASE_LINES_OF_LOOPS) {
        hpx_lines_add(to, "hprofx: inlined loops: the compiler of this JDK shows the time of some at a line of their caller, or at an "
                          "allocation next to them; the shares of a method and its caller add up\n");
    }
    if (hpx_code_age_now(&a)) {
        hpx_lines_add(to, "hprofx: without debug information: %" PRIu64 " of %" PRIu64 " compiled methods, %.3g %% of the code\n",
                      a.old_methods, a.methods, 100.0 * (double)a.old_bytes / (double)a.bytes);
    }
}
