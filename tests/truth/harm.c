// SPDX-License-Identifier: BSD-2-Clause
/* An agent that does harm when the program ends: "hang" never lets it end, "code" changes its exit code. What the judge of harm must find.
 */
#include <jvmti.h>
#include <string.h>
#include <unistd.h>

static int hangs;

static void JNICALL vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti;
    (void)env;
    while (hangs) {
        pause();
    }
    _exit(9);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    jvmtiEnv *jvmti;
    jvmtiEventCallbacks callbacks = {.VMDeath = vm_death};
    hangs = options != NULL && strcmp(options, "hang") == 0;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE) {
        return JNI_ERR;
    }
    return (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL) == JVMTI_ERROR_NONE ? JNI_OK : JNI_ERR;
}
