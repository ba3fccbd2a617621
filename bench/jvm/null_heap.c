/* SPDX-License-Identifier: BSD-2-Clause */
/* null_heap.c: an agent that walks the heap as a dump has to and keeps nothing: the limit. Test code of tools/bench.
 *
 * At SIGQUIT: FollowReferences with all callbacks that a dump needs, which count; no object has a tag; one line says how long it took. */
#include <jvmti.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static jlong objects, seen; /* of the VM operation */

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong referrer_class_tag,
                                 jlong size, jlong *tag, jlong *referrer_tag, jint length, void *unused)
{
    (void)info, (void)class_tag, (void)referrer_class_tag, (void)size, (void)tag, (void)referrer_tag, (void)length, (void)unused;
    seen++;
    objects += kind == JVMTI_HEAP_REFERENCE_CLASS; /* every object refers to its class once */
    return JVMTI_VISIT_OBJECTS;
}

static jint JNICALL on_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong *tag, jvalue value,
                             jvmtiPrimitiveType type, void *unused)
{
    (void)kind, (void)info, (void)class_tag, (void)tag, (void)value, (void)type, (void)unused;
    seen++;
    return JVMTI_VISIT_OBJECTS;
}

static jint JNICALL on_array(jlong class_tag, jlong size, jlong *tag, jint n, jvmtiPrimitiveType type, const void *elements, void *unused)
{
    (void)class_tag, (void)size, (void)tag, (void)type, (void)elements, (void)unused;
    seen += n;
    return JVMTI_VISIT_OBJECTS;
}

static void JNICALL on_request(jvmtiEnv *jvmti)
{
    jvmtiHeapCallbacks all;
    struct timespec from, to;
    memset(&all, 0, sizeof(all));
    all.heap_reference_callback = on_reference;
    all.primitive_field_callback = on_field;
    all.array_primitive_value_callback = on_array;
    clock_gettime(CLOCK_MONOTONIC, &from);
    jvmtiError e = (*jvmti)->FollowReferences(jvmti, 0, NULL, NULL, &all, NULL);
    clock_gettime(CLOCK_MONOTONIC, &to);
    long long ns = (to.tv_sec - from.tv_sec) * 1000000000LL + (to.tv_nsec - from.tv_nsec);
    fprintf(stderr, "null walk: %d, %lld objects, %lld ns, %lld\n", (int)e, (long long)objects, ns, (long long)seen);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiEnv *jvmti;
    jvmtiCapabilities caps;
    jvmtiEventCallbacks callbacks;
    (void)options, (void)reserved;
    memset(&caps, 0, sizeof(caps));
    memset(&callbacks, 0, sizeof(callbacks));
    caps.can_tag_objects = 1;
    callbacks.DataDumpRequest = on_request;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK || (*jvmti)->AddCapabilities(jvmti, &caps) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof(callbacks)) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_DATA_DUMP_REQUEST, NULL) != JVMTI_ERROR_NONE) {
        fprintf(stderr, "null_heap: the JVM refused\n");
        return JNI_ERR;
    }
    return JNI_OK;
}
