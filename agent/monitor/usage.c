/* SPDX-License-Identifier: BSD-2-Clause */
/* usage.c: see usage.h. */
#include "usage.h"
#include <stdatomic.h>
#include <time.h>

#define RELEASE_CRASHES 23
#define LOOK_NS         20000
#define LOOKS           100000 /* 2 s: who asks may be suspended by a debugger, behind the question */

static struct {
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
    for (uint32_t i = 0; i < LOOKS && atomic_load(&usage.asking) > 0; i++) {
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

void hpx_usage_load(jint release)
{
    if (release < RELEASE_CRASHES || usage.vms != NULL) {
        return;
    }
    usage.vms = *hpx_vm.java;
    usage.ours = *usage.vms;
    usage.ours.AttachCurrentThread = attach;
    usage.ours.AttachCurrentThreadAsDaemon = attach_as_daemon;
    usage.ours.DestroyJavaVM = destroy;
    /* partner: the VM's callers, which follow the pointer */
    __atomic_store_n((const struct JNIInvokeInterface_ **)hpx_vm.java, &usage.ours, __ATOMIC_RELEASE);
}

jvmtiError hpx_usage_ask(jvmtiEnv *jvmti, jobject object, jvmtiMonitorUsage *to)
{
    jvmtiError e = JVMTI_ERROR_NOT_AVAILABLE;
    atomic_fetch_add(&usage.asking, 1);
    /* another agent may have put back the VM's table, or one of its own that calls the VM's */
    if (usage.vms == NULL || (atomic_load(&usage.attaching) == 0 && *hpx_vm.java == &usage.ours)) {
        e = (*jvmti)->GetObjectMonitorUsage(jvmti, object, to);
    }
    atomic_fetch_sub(&usage.asking, 1);
    return e;
}
