/* SPDX-License-Identifier: BSD-2-Clause */
/* without.c: the room in a build that reads nothing of the VM's internals (-Dhotspot=false): the only file of it that is compiled.
 *
 * Everything answers as it does on a VM where it is not found, so whoever asks takes the way by JVMTI. Functions that nobody calls after
 * such an answer do nothing. */
#include "async_stack.h"
#include "checks.h"
#include "code_age.h"
#include "codemap.h"
#include "internals.h"
#include "native_word.h"
#include "oops.h"
#include "outside.h"
#include "quiet_stack.h"
#include "thread_id.h"
#include "vm_flags.h"
#include "waited_monitor.h"

/* tests/jvm/build.py looks for this text in the library. */
static const char none[] = "this build reads nothing of the VM's internals";

/* ---- sampler=async: sampler=walk instead ---- */

int hpx_async_stack_init(jvmtiEnv *jvmti, bool (*astray)(const struct hpx_ev_frame *frames, int n), struct hpx_err *err)
{
    (void)jvmti, (void)astray;
    return hpx_err_set(err, HPX_E_VM, "%s", none);
}

bool hpx_async_stack_begin(void)
{
    return false;
}

void hpx_async_stack_end(void)
{
}

bool hpx_async_stack_test_sig(void *env, void *context, enum hpx_guard *end)
{
    (void)env, (void)context, (void)end;
    return false;
}

bool hpx_async_stack_raw_sig(const struct hpx_asgct *w, const void *context, struct hpx_raw_stack *to, bool *faulted)
{
    (void)w, (void)context, (void)to;
    *faulted = false;
    return false;
}

int hpx_async_stack_names_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, const void *context, uint32_t *broken, bool *faulted)
{
    (void)w, (void)frames, (void)context, (void)broken;
    *faulted = false;
    return 0;
}

int hpx_async_stack_take_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, void *context, struct hpx_async_stack *how)
{
    (void)w, (void)frames, (void)context;
    *how = (struct hpx_async_stack){.end = HPX_GUARD_PASSED};
    return -(int)HPX_UNKNOWN_OTHER;
}

void hpx_outside_note_sig(const struct hpx_asgct *w, int answer)
{
    (void)w, (void)answer;
}

void hpx_outside_lines(struct hpx_lines *to)
{
    (void)to;
}

/* ---- what code is at a pc: only sampler=async asks ---- */

const char *hpx_checks_names(void)
{
    return none;
}

void hpx_checks_announce(const char *name, const void *code, size_t size)
{
    (void)name, (void)code, (void)size;
}

bool hpx_checks_live(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_counters *counters, bool guard)
{
    (void)jvmti, (void)env, (void)counters, (void)guard;
    return false;
}

void hpx_checks_thread(JNIEnv *env, jthread thread, struct hpx_counters *counters)
{
    (void)env, (void)thread, (void)counters;
}

void hpx_checks_class(JNIEnv *env, uintptr_t stack_low, uintptr_t stack_end, struct hpx_counters *counters)
{
    (void)env, (void)stack_low, (void)stack_end, (void)counters;
}

void hpx_code_age_begin(void)
{
}

bool hpx_code_age_now(struct hpx_code_age *age)
{
    *age = (struct hpx_code_age){0};
    return false;
}

void hpx_codemap_add(const void *code, size_t size, uint64_t method)
{
    (void)code, (void)size, (void)method;
}

void hpx_codemap_remove(const void *code, uint64_t method)
{
    (void)code, (void)method;
}

void hpx_codemap_clear(void)
{
}

/* ---- Unsafe.park is taken for the VM's ---- */

uintptr_t hpx_native_word_find(uint64_t running, uint64_t wanted, uintptr_t up_to)
{
    (void)running, (void)wanted, (void)up_to;
    return 0;
}

uintptr_t hpx_native_word_read(uintptr_t word)
{
    (void)word;
    return 0;
}

/* ---- stacks of allocations and blocks: by GetStackTrace ---- */

void hpx_quiet_stack_load(const void *mode)
{
    (void)mode;
}

void hpx_quiet_stack_callbacks(jvmtiEventCallbacks *all)
{
    (void)all;
}

void hpx_quiet_stack_ready(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_counters *counters)
{
    (void)jvmti, (void)env, (void)counters;
}

void hpx_quiet_stack_thread(JNIEnv *env, jthread self, struct hpx_counters *counters)
{
    (void)env, (void)self, (void)counters;
}

void hpx_quiet_stack_over(void)
{
}

void hpx_quiet_stack_lines(const void *mode, struct hpx_lines *to, const struct hpx_counters *total)
{
    (void)mode, (void)to, (void)total;
}

bool hpx_quiet_stack_hash(const struct hpx_quiet_thread *t, struct hpx_raw_stack *to)
{
    (void)t, (void)to;
    return false;
}

int hpx_quiet_stack_frames(const struct hpx_quiet_thread *t, struct hpx_ev_frame *frames)
{
    (void)t, (void)frames;
    return 0;
}

const char *hpx_waited_monitor_init(JNIEnv *env, jthread self)
{
    (void)env, (void)self;
    return none;
}

uint64_t hpx_waited_monitor_thread(JNIEnv *env, jthread thread)
{
    (void)env, (void)thread;
    return 0;
}

bool hpx_waited_monitor_class(uint64_t thread, char to[HPX_WAITED_MONITOR_ROOM])
{
    (void)thread, (void)to;
    return false;
}

const char *hpx_waited_monitor_off(void)
{
    return NULL;
}

bool hpx_quiet_stack_compares(uint32_t seen)
{
    (void)seen;
    return false;
}

void hpx_quiet_stack_compared(struct hpx_counters *counters, bool same)
{
    (void)counters, (void)same;
}

void hpx_quiet_stack_not_compared(struct hpx_counters *counters)
{
    (void)counters;
}

/* ---- the VM's structures: closed ---- */

const char *hpx_internals_absent(void)
{
    return none;
}

const char *hpx_internals_closed(void)
{
    return none;
}

const char *hpx_internals_off(void)
{
    return none;
}

bool hpx_internals_raw_sig(void)
{
    return false;
}

bool hpx_internals_names_sig(void)
{
    return false;
}

const char *hpx_internals_without(enum hpx_internals_part part)
{
    (void)part;
    return NULL;
}

void hpx_internals_leave_part_sig(enum hpx_internals_part part, const char *why)
{
    (void)part, (void)why;
}

void hpx_internals_leave(const char *why)
{
    (void)why;
}

bool hpx_internals_event_wanted(void)
{
    return false;
}

void hpx_internals_event_done(void)
{
}

/* ---- flags: the callers' defaults ---- */

bool hpx_vm_flag(const char *name, bool otherwise)
{
    (void)name;
    return otherwise;
}

const char *hpx_vm_flag_text(const char *name)
{
    (void)name;
    return NULL;
}

bool hpx_vm_flag_refused(const char *name)
{
    (void)name;
    return false;
}

enum hpx_flag_set hpx_vm_flag_set(const char *name, const char **why)
{
    (void)name;
    *why = none;
    return HPX_FLAG_UNREADABLE;
}

void hpx_vm_flag_reset(const char *name)
{
    (void)name;
}

/* ---- kernel ids: by name ---- */

const char *hpx_thread_id_init(JNIEnv *env, jthread self)
{
    (void)env, (void)self;
    return none;
}

pid_t hpx_thread_id_of(JNIEnv *env, jthread thread, struct hpx_stack_bounds *stack)
{
    (void)env, (void)thread;
    *stack = (struct hpx_stack_bounds){0, 0};
    return -1;
}

const char *hpx_thread_id_off(void)
{
    return none;
}

/* ---- heap=dump: by tags, in the JVM ---- */

const char *hpx_oops_check(struct hpx_oops *o, jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)o, (void)jvmti, (void)env;
    return none;
}

const char *hpx_oops_check_roots(const struct hpx_oops *o, jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)o, (void)jvmti, (void)env;
    return none;
}
