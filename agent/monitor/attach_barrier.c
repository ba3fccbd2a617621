/* SPDX-License-Identifier: BSD-2-Clause */
/* attach_barrier.c: see attach_barrier.h. */
#include "attach_barrier.h"
#include "clock.h"
#include "compiler.h"
#include <stdatomic.h>
#include <time.h>

#define RELEASE_CRASHES 23
#define LOOK_NS         20000
#define WAIT_NS         UINT64_C(2000000000) /* who asks may be suspended by a debugger, behind the question */

static struct {
    JavaVM *java;                          /* constant from load on */
    const struct JNIInvokeInterface_ *vms; /* constant from load on; NULL: this VM needs no care */
    struct JNIInvokeInterface_ ours;
    _Atomic uint32_t attaching, asking; /* seq_cst: each side announces itself, then looks for the other */
} barrier;

static bool is_attached(JavaVM *vm)
{
    void *env = NULL;
    return barrier.vms->GetEnv(vm, &env, JNI_VERSION_1_6) == JNI_OK;
}

static void begin(void)
{
    atomic_fetch_add(&barrier.attaching, 1);
    uint64_t until = atomic_load(&barrier.asking) > 0 ? hpx_clock_mono() + WAIT_NS : 0;
    while (atomic_load(&barrier.asking) > 0 && hpx_clock_mono() < until) {
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
}

static void end(void)
{
    atomic_fetch_sub(&barrier.attaching, 1);
}

static jint attach_apart(JavaVM *vm, jint(JNICALL *how)(JavaVM *, void **, void *), void **env, void *args)
{
    if (is_attached(vm)) {
        return how(vm, env, args);
    }
    begin();
    jint rc = how(vm, env, args);
    end();
    return rc;
}

static jint JNICALL attach(JavaVM *vm, void **env, void *args)
{
    return attach_apart(vm, barrier.vms->AttachCurrentThread, env, args);
}

static jint JNICALL attach_as_daemon(JavaVM *vm, void **env, void *args)
{
    return attach_apart(vm, barrier.vms->AttachCurrentThreadAsDaemon, env, args);
}

/* The VM attaches the calling thread under this name, unless it is attached already. */
static jint JNICALL destroy(JavaVM *vm)
{
    JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)(uintptr_t) "DestroyJavaVM", NULL};
    void *env = NULL;
    (void)attach(vm, &env, &args);
    return barrier.vms->DestroyJavaVM(vm);
}

void hpx_attach_barrier_load(JavaVM *vm, jint release)
{
    if (release < RELEASE_CRASHES || barrier.vms != NULL) {
        return;
    }
    barrier.java = vm;
    barrier.vms = *vm;
    barrier.ours = *barrier.vms;
    barrier.ours.AttachCurrentThread = attach;
    barrier.ours.AttachCurrentThreadAsDaemon = attach_as_daemon;
    barrier.ours.DestroyJavaVM = destroy;
    /* partner: the VM's callers, which follow the pointer */
    __atomic_store_n((const struct JNIInvokeInterface_ **)barrier.java, &barrier.ours, __ATOMIC_RELEASE);
}

enum hpx_usage_answer hpx_attach_barrier_ask(jvmtiEnv *jvmti, jobject object, jvmtiMonitorUsage *to)
{
    enum hpx_usage_answer answer;
    atomic_fetch_add(&barrier.asking, 1);
    if (barrier.vms != NULL && *barrier.java != &barrier.ours) { /* by the VM's, or by its own, which may call the VM's */
        answer = HPX_USAGE_REPLACED;
    } else if (barrier.vms != NULL && atomic_load(&barrier.attaching) > 0) {
        answer = HPX_USAGE_ATTACHING;
    } else {
        jvmtiError e = (*jvmti)->GetObjectMonitorUsage(jvmti, object, to);
        answer = e == JVMTI_ERROR_NONE ? HPX_USAGE_TOLD : HPX_USAGE_REFUSED;
    }
    atomic_fetch_sub(&barrier.asking, 1);
    return answer;
}
