/* SPDX-License-Identifier: BSD-2-Clause */
/* agent.c: planted bugs in a JVMTI callback, chosen by the option. The sanitized Java tests must see each reported with the JVM's frames
 * below it before their own results count. */
#include <jvmti.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char bug[32];
static volatile int most = INT_MAX;
static char *volatile bytes; /* so that no compiler foresees the bugs */

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti, (void)env, (void)thread;
    bytes = malloc(16);
    if (bytes == NULL) {
        return;
    }
    if (strcmp(bug, "heap_overflow") == 0) {
        bytes[strlen(bug) + 3] = 1;
    } else if (strcmp(bug, "signed_overflow") == 0) {
        most = most + (int)strlen(bug);
    }
    free(bytes);
    if (strcmp(bug, "use_after_free") == 0) {
        bytes[1] = 1;
    }
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    jvmtiEnv *jvmti = NULL;
    jvmtiEventCallbacks cb;
    memset(&cb, 0, sizeof cb);
    cb.VMInit = on_vm_init;
    snprintf(bug, sizeof bug, "%s", options != NULL ? options : "");
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK ||
        (*jvmti)->SetEventCallbacks(jvmti, &cb, (jint)sizeof cb) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) != JVMTI_ERROR_NONE) {
        fputs("planted: no JVMTI\n", stderr);
    }
    return JNI_OK;
}
