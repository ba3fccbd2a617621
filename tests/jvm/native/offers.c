/* SPDX-License-Identifier: BSD-2-Clause */
/* An agent that prints what its VM offers, one line each on stdout before main: the version of JVMTI, whether AsyncGetCallTrace is
 * exported, the numbers of the bits of the potential capabilities (the test finds their names in the JDK's own jvmti.h). With an option N
 * it also takes the stack of another thread N times, for the VM's log to show how. */
#include <dlfcn.h>
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int times;

static void JNICALL vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    jthread *threads;
    jint count, got, done = 0;
    (void)thread;
    if ((*jvmti)->GetAllThreads(jvmti, &count, &threads) != JVMTI_ERROR_NONE) {
        return;
    }
    for (jint i = 0; i < count && done == 0; i++) {
        jvmtiFrameInfo frame;
        jvmtiThreadInfo info;
        if ((*jvmti)->GetThreadInfo(jvmti, threads[i], &info) == JVMTI_ERROR_NONE && strcmp(info.name, "Finalizer") == 0) {
            while (done < times && (*jvmti)->GetStackTrace(jvmti, threads[i], 0, 1, &frame, &got) == JVMTI_ERROR_NONE) {
                done++;
            }
        }
    }
    printf("stacks %d\n", (int)done);
    fflush(stdout);
    (void)jni;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiEnv *jvmti;
    jvmtiCapabilities capabilities;
    unsigned char bytes[sizeof(capabilities)];
    jint version;
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_0) != JNI_OK) {
        return JNI_ERR;
    }
    (*jvmti)->GetVersionNumber(jvmti, &version);
    (*jvmti)->GetPotentialCapabilities(jvmti, &capabilities);
    memcpy(bytes, &capabilities, sizeof(bytes));
    printf("jvmti %d.%d.%d\nAsyncGetCallTrace %s\ncapabilities", (int)(version >> 16) & 0xfff, (int)(version >> 8) & 0xff,
           (int)version & 0xff, dlsym(RTLD_DEFAULT, "AsyncGetCallTrace") != NULL ? "yes" : "no");
    for (size_t i = 0; i < sizeof(bytes) * 8; i++) {
        if ((bytes[i / 8] >> (i % 8)) & 1) {
            printf(" %zu", i);
        }
    }
    printf("\n");
    fflush(stdout);
    times = options != NULL ? atoi(options) : 0;
    if (times > 0) {
        jvmtiEventCallbacks callbacks = {.VMInit = vm_init};
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks));
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    }
    return JNI_OK;
}
