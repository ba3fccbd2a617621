/* SPDX-License-Identifier: BSD-2-Clause */
/* java_vm.c: the JavaVM that the agent gets. */
#include "java_vm.h"
#include "shim.h"

static jint JNICALL destroy(JavaVM *vm)
{
    (void)vm;
    return (*hpx_jvmpi.vm)->DestroyJavaVM(hpx_jvmpi.vm);
}

static jint JNICALL attach(JavaVM *vm, void **env, void *args)
{
    (void)vm;
    return (*hpx_jvmpi.vm)->AttachCurrentThread(hpx_jvmpi.vm, env, args);
}

static jint JNICALL detach(JavaVM *vm)
{
    (void)vm;
    return (*hpx_jvmpi.vm)->DetachCurrentThread(hpx_jvmpi.vm);
}

static jint JNICALL attach_daemon(JavaVM *vm, void **env, void *args)
{
    (void)vm;
    return (*hpx_jvmpi.vm)->AttachCurrentThreadAsDaemon(hpx_jvmpi.vm, env, args);
}

static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
    (void)vm;
    if (version != JVMPI_VERSION_1 && version != JVMPI_VERSION_1_1 && version != JVMPI_VERSION_1_2) {
        return (*hpx_jvmpi.vm)->GetEnv(hpx_jvmpi.vm, env, version);
    }
    if (env == NULL) {
        return JNI_EINVAL;
    }
    *env = &hpx_jvmpi.interface;
    return JNI_OK;
}

JavaVM *hpx_jvmpi_java_vm(void)
{
    static const struct JNIInvokeInterface_ functions = {
        .DestroyJavaVM = destroy,
        .AttachCurrentThread = attach,
        .DetachCurrentThread = detach,
        .GetEnv = get_env,
        .AttachCurrentThreadAsDaemon = attach_daemon,
    };
    static JavaVM vm = &functions;
    return &vm;
}
