/* SPDX-License-Identifier: BSD-2-Clause */
/* An agent that spoils one class where it is retransformed: the VM gets half of its bytes and refuses them. Option: the class, or CLASS=N
 * to spoil it N times. */
#include <jvmti.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static char spoilt[200];
static int times = INT_MAX;

static void JNICALL class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass again, jobject loader, const char *name, jobject domain, jint n,
                               const unsigned char *data, jint *new_n, unsigned char **new_data)
{
    unsigned char *half;
    (void)jni, (void)loader, (void)domain;
    if (again != NULL && name != NULL && strcmp(name, spoilt) == 0 && times > 0 &&
        (*jvmti)->Allocate(jvmti, n / 2, &half) == JVMTI_ERROR_NONE) {
        memcpy(half, data, (size_t)n / 2);
        *new_data = half;
        *new_n = n / 2;
        times--;
    }
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiEnv *jvmti;
    jvmtiCapabilities wanted = {.can_retransform_classes = 1};
    jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = class_file};
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_1) != JNI_OK || options == NULL || strlen(options) >= sizeof(spoilt)) {
        return JNI_ERR;
    }
    memcpy(spoilt, options, strlen(options) + 1);
    if (strchr(spoilt, '=') != NULL) {
        times = atoi(strchr(spoilt, '=') + 1);
        *strchr(spoilt, '=') = '\0';
    }
    return (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
                   (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof(callbacks)) == JVMTI_ERROR_NONE &&
                   (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL) == JVMTI_ERROR_NONE
               ? JNI_OK
               : JNI_ERR;
}
