/* SPDX-License-Identifier: BSD-2-Clause */
/* without.c: the room in a build that reads nothing of the VM's internals (-Dhotspot=false).
 *
 * A table of the functions that other rooms call, each with what it answers on a VM where nothing is found. hpx_structures_absent() closes
 * internals.h, so that most of them are only linked. Parts that touch nothing are compiled in this build, too: archive.c, internals.c,
 * judge.c. */
#include "asgct.h"
#include "async_stack.h"
#include "code_age.h"
#include "code_cache.h"
#include "guard.h"
#include "internals.h"
#include "native_word.h"
#include "oops.h"
#include "quiet_stack.h"
#include "structures.h"
#include "thread_id.h"
#include "vm_flags.h"
#include "waited_monitor.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* A function and its value. */
#define ANSWER(type, name, parameters, value)                                                                                              \
    type name parameters                                                                                                                   \
    {                                                                                                                                      \
        return value;                                                                                                                      \
    }                                                                                                                                      \
    _Static_assert(true, "")
#define DOES(name, parameters, what)                                                                                                       \
    void name parameters                                                                                                                   \
    {                                                                                                                                      \
        what;                                                                                                                              \
    }                                                                                                                                      \
    _Static_assert(true, "")
#define NOTHING(name, parameters) DOES(name, parameters, (void)0)

/* tests/jvm/build.py looks for this text in the library. */
static const char none[] = "this build reads nothing of the VM's internals";

ANSWER(const char *, hpx_structures_absent, (void), none);

/* sampler=async, asgct: sampler=walk instead */
ANSWER(const char *, hpx_asgct_init, (jvmtiEnv * jvmti), none);
ANSWER(bool, hpx_asgct_guardable, (void), false);
ANSWER(int, hpx_asgct_take_sig, (void *env, struct hpx_ev_frame *frames, uint32_t depth, void *context), -(int)HPX_UNKNOWN_OTHER);
ANSWER(bool, hpx_async_stack_hash_sig, (const struct hpx_raw_thread *t, struct hpx_raw_stack *to, bool *faulted), (*faulted = false));
ANSWER(int, hpx_async_stack_names_sig,
       (const struct hpx_raw_thread *t, struct hpx_ev_frame *frames, enum hpx_raw_end *end, uint32_t *broken, struct hpx_raw_stack *hash),
       (*end = HPX_END_NATIVE, 0));
ANSWER(enum hpx_unknown, hpx_async_stack_unknown_sig, (const struct hpx_raw_thread *t, enum hpx_raw_end end), HPX_UNKNOWN_OTHER);
ANSWER(const char *, hpx_guard_forbidden, (void), none);
ANSWER(bool, hpx_guard_install, (void), false);
NOTHING(hpx_guard_remove, (void));
NOTHING(hpx_code_age_begin, (void));
NOTHING(hpx_code_age_end, (void));
ANSWER(bool, hpx_code_age_now, (struct hpx_code_age * age), false);

/* native=y: needs sampler=async */
ANSWER(bool, hpx_code_cache_has_sig, (uintptr_t pc), false);
ANSWER(bool, hpx_guard_read_sig, (int (*body)(void *arg), void *arg, int *answer), false);

/* Unsafe.park: taken for the VM's */
ANSWER(uintptr_t, hpx_native_word_find, (uint64_t running, uint64_t wanted, uintptr_t up_to), 0);
ANSWER(uintptr_t, hpx_native_word_read, (uintptr_t word), 0);

/* stacks of allocations and blocks: GetStackTrace */
NOTHING(hpx_quiet_stack_load, (const void *mode));
NOTHING(hpx_quiet_stack_callbacks, (jvmtiEventCallbacks * all));
NOTHING(hpx_quiet_stack_ready, (jvmtiEnv * jvmti, JNIEnv *env, struct hpx_counters *counters));
NOTHING(hpx_quiet_stack_thread, (JNIEnv * env, jthread self, struct hpx_counters *counters));
NOTHING(hpx_quiet_stack_over, (void));
NOTHING(hpx_quiet_stack_lines, (const void *mode, struct hpx_lines *to, const struct hpx_counters *total));
ANSWER(bool, hpx_quiet_stack_hash, (const struct hpx_quiet_thread *t, struct hpx_raw_stack *to), false);
ANSWER(int, hpx_quiet_stack_frames, (const struct hpx_quiet_thread *t, struct hpx_ev_frame *frames), 0);
ANSWER(bool, hpx_quiet_stack_compares, (uint32_t seen), false);
NOTHING(hpx_quiet_stack_compared, (enum hpx_judged_as as));

/* wall=: rows without a class */
ANSWER(const char *, hpx_waited_monitor_init, (JNIEnv * env, jthread self), none);
ANSWER(uint64_t, hpx_waited_monitor_thread, (JNIEnv * env, jthread thread), 0);
ANSWER(bool, hpx_waited_monitor_class, (uint64_t thread, char to[HPX_WAITED_MONITOR_ROOM]), false);
ANSWER(const char *, hpx_waited_monitor_off, (void), NULL);

/* flags: the callers' defaults */
ANSWER(bool, hpx_vm_flag, (const char *name, bool otherwise), otherwise);
ANSWER(const char *, hpx_vm_flag_text, (const char *name), NULL);
ANSWER(enum hpx_flag_set, hpx_vm_flag_set, (const char *name, const char **why), (*why = none, HPX_FLAG_UNREADABLE));
NOTHING(hpx_vm_flag_reset, (const char *name));

/* kernel ids: by thread name */
DOES(hpx_thread_id_init, (JNIEnv * env, jthread self), hpx_internals_leave_sig(HPX_INTERNALS_IDS, none));
ANSWER(pid_t, hpx_thread_id_of, (JNIEnv * env, jthread thread, struct hpx_stack_bounds *stack),
       (*stack = (struct hpx_stack_bounds){0, 0}, -1));

/* heap=dump: by tags */
ANSWER(const char *, hpx_oops_check, (struct hpx_oops * o, jvmtiEnv *jvmti, JNIEnv *env), none);
ANSWER(const char *, hpx_oops_check_roots, (const struct hpx_oops *o, jvmtiEnv *jvmti, JNIEnv *env), none);
