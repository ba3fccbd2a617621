/* SPDX-License-Identifier: BSD-2-Clause */
/* usage.c: see usage.h. */
#include "usage.h"
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
} usage;

static bool is_attached(JavaVM *vm)
{
    void *env = NULL;
    return usage.vms->GetEnv(vm, &env, JNI_VERSION_1_6) == JNI_OK;
}

static void begin(void)
{
    atomic_fetch_add(&usage.attaching, 1);
    uint64_t until = atomic_load(&usage.asking) > 0 ? hpx_clock_mono() + WAIT_NS : 0;
    while (atomic_load(&usage.asking) > 0 && hpx_clock_mono() < until) {
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
}

static void end(void)
{
    atomic_fetch_sub(&usage.attaching, 1);
}

static jint JNICALL attach(JavaVM *vm, void **env, void *args)
{
    if (is_attached(vm)) {
        return usage.vms->AttachCurrentThread(vm, env, args);
    }
    begin();
    jint rc = usage.vms->AttachCurrentThread(vm, env, args);
    end();
    return rc;
}

static jint JNICALL attach_as_daemon(JavaVM *vm, void **env, void *args)
{
    if (is_attached(vm)) {
        return usage.vms->AttachCurrentThreadAsDaemon(vm, env, args);
    }
    begin();
    jint rc = usage.vms->AttachCurrentThreadAsDaemon(vm, env, args);
    end();
    return rc;
}

/* The VM attaches the calling thread under this name, unless it is attached already. */
static jint JNICALL destroy(JavaVM *vm)
{
    JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)(uintptr_t) "DestroyJavaVM", NULL};
    void *env = NULL;
    (void)attach(vm, &env, &args);
    return usage.vms->DestroyJavaVM(vm);
}

void hpx_usage_load(JavaVM *vm, jint release)
{
    if (release < RELEASE_CRASHES || usage.vms != NULL) {
        return;
    }
    usage.java = vm;
    usage.vms = *vm;
    usage.ours = *usage.vms;
    usage.ours.AttachCurrentThread = attach;
    usage.ours.AttachCurrentThreadAsDaemon = attach_as_daemon;
    usage.ours.DestroyJavaVM = destroy;
    /* partner: the VM's callers, which follow the pointer */
    __atomic_store_n((const struct JNIInvokeInterface_ **)usage.java, &usage.ours, __ATOMIC_RELEASE);
}

enum hpx_usage_answer hpx_usage_ask(jvmtiEnv *jvmti, jobject object, jvmtiMonitorUsage *to)
{
    enum hpx_usage_answer answer;
    atomic_fetch_add(&usage.asking, 1);
    if (usage.vms != NULL && *usage.java != &usage.ours) { /* by the VM's, or by its own, which may call the VM's */
        answer = HPX_USAGE_REPLACED;
    } else if (usage.vms != NULL && atomic_load(&usage.attaching) > 0) {
        answer = HPX_USAGE_ATTACHING;
    } else {
        jvmtiError e = (*jvmti)->GetObjectMonitorUsage(jvmti, object, to);
        answer = e == JVMTI_ERROR_NONE ? HPX_USAGE_TOLD : HPX_USAGE_REFUSED;
    }
    atomic_fetch_sub(&usage.asking, 1);
    return answer;
}
