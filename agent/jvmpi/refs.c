/* SPDX-License-Identifier: BSD-2-Clause */
/* refs.c: global and weak global references that are made and freed by JNI.
 *
 * Four functions of the VM's JNI function table are replaced when the first of the events is enabled, and stay so: another agent may have
 * replaced them after us. Without an event they cost a look at a flag. References that the VM makes for itself do not pass them. */
#include "nested.h"

static struct {
    jniNativeInterface *before; /* of the VM, never freed; constant once installed */
    bool installed;             /* written where switches are serialised */
} table;

static void made(JNIEnv *env, jint event_type, jobject object, jobject ref)
{
    if (ref != NULL && hpx_jvmpi_nested_may(event_type)) {
        JVMPI_Event event = {.event_type = event_type, .u.jni_globalref_alloc = {.obj_id = hpx_jvmpi_id_of(object), .ref_id = ref}};
        hpx_jvmpi_nested_notify(env, &event);
    }
}

static void freed(JNIEnv *env, jint event_type, jobject ref)
{
    if (ref != NULL && hpx_jvmpi_nested_may(event_type)) {
        JVMPI_Event event = {.event_type = event_type, .u.jni_globalref_free.ref_id = ref};
        hpx_jvmpi_nested_notify(env, &event);
    }
}

static jobject JNICALL new_global(JNIEnv *env, jobject object)
{
    jobject ref = table.before->NewGlobalRef(env, object);
    made(env, JVMPI_EVENT_JNI_GLOBALREF_ALLOC, object, ref);
    return ref;
}

static jweak JNICALL new_weak(JNIEnv *env, jobject object)
{
    jweak ref = table.before->NewWeakGlobalRef(env, object);
    made(env, JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC, object, ref);
    return ref;
}

/* The agent hears of it before the VM may give the reference to another thread. */
static void JNICALL delete_global(JNIEnv *env, jobject ref)
{
    freed(env, JVMPI_EVENT_JNI_GLOBALREF_FREE, ref);
    table.before->DeleteGlobalRef(env, ref);
}

static void JNICALL delete_weak(JNIEnv *env, jweak ref)
{
    freed(env, JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE, ref);
    table.before->DeleteWeakGlobalRef(env, ref);
}

/* The VM's table may be longer than that of our header, so its own copy is changed. */
static bool install(void)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    jniNativeInterface *changed = NULL;
    if (table.installed) {
        return true;
    }
    if ((table.before == NULL && (*jvmti)->GetJNIFunctionTable(jvmti, &table.before) != JVMTI_ERROR_NONE) ||
        (*jvmti)->GetJNIFunctionTable(jvmti, &changed) != JVMTI_ERROR_NONE) {
        return false;
    }
    changed->NewGlobalRef = new_global;
    changed->DeleteGlobalRef = delete_global;
    changed->NewWeakGlobalRef = new_weak;
    changed->DeleteWeakGlobalRef = delete_weak;
    table.installed = (*jvmti)->SetJNIFunctionTable(jvmti, changed) == JVMTI_ERROR_NONE;
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)changed);
    return table.installed;
}

static jint switched(jint event, bool on, void *arg)
{
    (void)event, (void)arg;
    const bool now = on && atomic_load_explicit(&hpx_jvmpi.phase, memory_order_relaxed) == HPX_JVMPI_LIVE; /* else live() does it */
    return !now || install() ? JVMPI_SUCCESS : JVMPI_FAIL;
}

static void live(JNIEnv *env, jthread thread)
{
    (void)env, (void)thread;
    for (const jint *e = hpx_jvmpi_refs.events; *e != 0; e++) {
        if (hpx_jvmpi_on(*e)) {
            (void)install();
        }
    }
}

const struct hpx_jvmpi_source hpx_jvmpi_refs = {
    .events = (const jint[]){JVMPI_EVENT_JNI_GLOBALREF_ALLOC, JVMPI_EVENT_JNI_GLOBALREF_FREE, JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC,
                             JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE, 0},
    .switched = switched,
    .live = live,
};
