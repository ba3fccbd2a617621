/* SPDX-License-Identifier: BSD-2-Clause */
/* held.c: natives of tests/jvm/programs/SessionsHeld.java: the next thread that reaches a place in the agent waits there until it is
 * released; it can be suspended meanwhile. The linker puts the functions here before those of the agent (--wrap). */
#include "aggregator.h"
#include "class_number.h"
#include "gate.h"
#include "names.h"
#include "output.h"
#include "shared_stacks.h"
#include "stack_limit.h"
#include "vm.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

/* As in SessionsHeld.java. */
enum { NOWHERE, ALLOCATION, SAMPLER, CLASSES, STACK_END, RELEASES, RING, TABLE, EVENT };

static _Atomic int place; /* seq_cst: a test's */
static pthread_t holder;  /* called hold(), and is not held itself */
static sem_t reached, go_on;
static jvmtiEnv *suspends;
static jthread held; /* global; NULL: not a thread of Java */

static void reach(int at)
{
    int expected = at;
    JNIEnv *env = NULL;
    jthread self = NULL;
    if (atomic_load(&place) != at || pthread_equal(pthread_self(), holder) || !atomic_compare_exchange_strong(&place, &expected, NOWHERE)) {
        return;
    }
    if (at == ALLOCATION && (*hpx_vm.java)->GetEnv(hpx_vm.java, (void **)&env, JNI_VERSION_1_6) == JNI_OK &&
        (*suspends)->GetCurrentThread(suspends, &self) == JVMTI_ERROR_NONE) {
        held = (*env)->NewGlobalRef(env, self);
    }
    sem_post(&reached);
    while (sem_wait(&go_on) != 0) {
    }
}

__typeof__(hpx_class_announce) __real_hpx_class_announce, __wrap_hpx_class_announce;
__typeof__(hpx_gate_enter) __real_hpx_gate_enter, __wrap_hpx_gate_enter;
__typeof__(hpx_names_ignore) __real_hpx_names_ignore, __wrap_hpx_names_ignore;

/* Inside the gate; the VM is entered next. */
struct hpx_class_number __wrap_hpx_class_announce(jvmtiEnv *jvmti, jclass klass, uint64_t table, hpx_class_message *message)
{
    reach(ALLOCATION);
    return __real_hpx_class_announce(jvmti, klass, table, message);
}

static bool is_of_java(void)
{
    void *env;
    return (*hpx_vm.java)->GetEnv(hpx_vm.java, &env, JNI_VERSION_1_6) == JNI_OK;
}

/* The sampling thread, behind a stack that it has taken; a thread that the VM has called for an event of the session. */
bool __wrap_hpx_gate_enter(struct hpx_gate *g)
{
    char name[16] = "";
    int at = atomic_load(&place);
    if ((at == SAMPLER || at == EVENT) && pthread_getname_np(pthread_self(), name, sizeof name) == 0 &&
        (at == SAMPLER ? strcmp(name, "hprofx-sampler") == 0 : strncmp(name, "hprofx", 6) != 0 && is_of_java())) {
        reach(at);
    }
    return __real_hpx_gate_enter(g);
}

/* Between the list of the loaded classes and their rewriting. */
void __wrap_hpx_names_ignore(bool on)
{
    if (on) {
        reach(CLASSES);
    }
    __real_hpx_names_ignore(on);
}

__typeof__(hpx_stack_limit_event) __real_hpx_stack_limit_event, __wrap_hpx_stack_limit_event;

/* In a probe that is about to ask the VM for the number of frames. */
void __wrap_hpx_stack_limit_event(struct hpx_stack_limit *d, struct hpx_calls *c, enum hpx_ev_kind kind, uint32_t method, uint64_t now,
                                  uintptr_t at, hpx_stack_limit_frames_fn *frames, void *ctx)
{
    if (d->state == HPX_STACK_LIMIT_NEAR && kind == HPX_EV_ENTER && at < d->at) {
        reach(STACK_END);
    }
    __real_hpx_stack_limit_event(d, c, kind, method, now, at, frames, ctx);
}

__typeof__(hpx_reserve_or_wait) __real_hpx_reserve_or_wait, __wrap_hpx_reserve_or_wait;

/* In a probe: of sites=counts for an array of arrays, of cpu=times when the ring is full. */
void *__wrap_hpx_reserve_or_wait(struct hpx_aggregator *a, struct hpx_gate *g, struct hpx_thread *t, size_t n)
{
    reach(RING);
    return __real_hpx_reserve_or_wait(a, g, t, n);
}

__typeof__(hpx_output_wait) __real_hpx_output_wait, __wrap_hpx_output_wait;

/* Whoever waits for the output at VMDeath releases what is held. */
bool __wrap_hpx_output_wait(uint64_t stall_ns)
{
    int expected = RELEASES;
    if (atomic_compare_exchange_strong(&place, &expected, NOWHERE)) {
        sem_post(&go_on);
    }
    return __real_hpx_output_wait(stall_ns);
}

__typeof__(hpx_shared_stacks_find_sig) __real_hpx_shared_stacks_find_sig, __wrap_hpx_shared_stacks_find_sig;

#define PAGE 4096
static struct hpx_raw_stack *key_of_held; /* on a page that cannot be read until it is released */
static struct sigaction fault_before;

/* The handler has the table, and reads the key next. */
static void on_fault(int sig, siginfo_t *si, void *context)
{
    if (si->si_addr < (void *)key_of_held || si->si_addr >= (void *)((char *)key_of_held + PAGE)) {
        fault_before.sa_sigaction(sig, si, context);
        return;
    }
    reach(TABLE);
    (void)mprotect(key_of_held, PAGE, PROT_READ);
}

static bool hold_table(void)
{
    struct sigaction to = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    key_of_held = p;
    to.sa_sigaction = on_fault;
    return p != MAP_FAILED && sigaction(SIGSEGV, NULL, &fault_before) == 0 && sigaction(SIGSEGV, &to, NULL) == 0;
}

/* In a handler, of a stack that the thread does not know. */
int __wrap_hpx_shared_stacks_find_sig(const struct hpx_raw_stack *key, struct hpx_ev_frame *frames, uint32_t room, uint16_t *flags)
{
    static atomic_flag once = ATOMIC_FLAG_INIT;
    if (atomic_load(&place) == TABLE && !pthread_equal(pthread_self(), holder) && !atomic_flag_test_and_set(&once)) {
        *key_of_held = *key;
        (void)mprotect(key_of_held, PAGE, PROT_NONE);
        key = key_of_held;
    }
    return __real_hpx_shared_stacks_find_sig(key, frames, room, flags);
}

JNIEXPORT void JNICALL Java_SessionsHeld_hold(JNIEnv *env, jclass unused, jint at);
JNIEXPORT void JNICALL Java_SessionsHeld_hold(JNIEnv *env, jclass unused, jint at)
{
    const jvmtiCapabilities want = {.can_suspend = 1};
    JavaVM *vm = NULL;
    (void)unused;
    if (suspends == NULL && (*env)->GetJavaVM(env, &vm) == 0 && (*vm)->GetEnv(vm, (void **)&suspends, JVMTI_VERSION_1_2) == JNI_OK) {
        (void)(*suspends)->AddCapabilities(suspends, &want);
        sem_init(&reached, 0, 0);
        sem_init(&go_on, 0, 0);
    }
    holder = pthread_self();
    if (at != TABLE || hold_table()) {
        atomic_store(&place, at);
    }
}

JNIEXPORT void JNICALL Java_SessionsHeld_await(JNIEnv *env, jclass unused);
JNIEXPORT void JNICALL Java_SessionsHeld_await(JNIEnv *env, jclass unused)
{
    (void)env, (void)unused;
    while (sem_wait(&reached) != 0) {
    }
}

JNIEXPORT void JNICALL Java_SessionsHeld_release(JNIEnv *env, jclass unused);
JNIEXPORT void JNICALL Java_SessionsHeld_release(JNIEnv *env, jclass unused)
{
    (void)env, (void)unused;
    sem_post(&go_on);
}

JNIEXPORT jboolean JNICALL Java_SessionsHeld_suspend(JNIEnv *env, jclass unused);
JNIEXPORT jboolean JNICALL Java_SessionsHeld_suspend(JNIEnv *env, jclass unused)
{
    (void)env, (void)unused;
    return (*suspends)->SuspendThread(suspends, held) == JVMTI_ERROR_NONE;
}

JNIEXPORT jboolean JNICALL Java_SessionsHeld_resume(JNIEnv *env, jclass unused);
JNIEXPORT jboolean JNICALL Java_SessionsHeld_resume(JNIEnv *env, jclass unused)
{
    (void)env, (void)unused;
    return (*suspends)->ResumeThread(suspends, held) == JVMTI_ERROR_NONE;
}
