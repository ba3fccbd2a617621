/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_info.c: see thread_info.h. Source of the fields: java.lang.Thread, which has the name in every JDK, and ThreadGroup of JDK 19 and
 * later, whose FieldHolder has what a virtual thread has not. */
#include "thread_info.h"
#include "releases.h"
#include <string.h>

static void drop(JNIEnv *env, jobject local)
{
    if (local != NULL) {
        (*env)->DeleteLocalRef(env, local);
    }
}

/* NULL: a virtual thread, or the fields are not known. A local reference. */
static jobject holder_of(JNIEnv *env, jthread thread)
{
    return hpx_vm_fields.holder != NULL && thread != NULL ? (*env)->GetObjectField(env, thread, hpx_vm_fields.holder) : NULL;
}

/* A String in a field; in JVMTI's memory. */
static char *text_of(jvmtiEnv *jvmti, JNIEnv *env, jobject of, jfieldID field)
{
    jstring s = of != NULL ? (*env)->GetObjectField(env, of, field) : NULL;
    unsigned char *text = NULL;
    if (s != NULL) {
        jsize bytes = (*env)->GetStringUTFLength(env, s);
        if ((*jvmti)->Allocate(jvmti, (jlong)bytes + 1, &text) == JVMTI_ERROR_NONE) {
            (*env)->GetStringUTFRegion(env, s, 0, (*env)->GetStringLength(env, s), (char *)text);
            text[bytes] = 0;
        }
        drop(env, s);
    }
    return (char *)text;
}

static struct hpx_thread_info read_fields(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject holder, bool parent)
{
    struct hpx_thread_info i = {.name = text_of(jvmti, env, thread, hpx_vm_fields.name)};
    i.lives = ((*env)->GetIntField(env, holder, hpx_vm_fields.status) & JVMTI_THREAD_STATE_ALIVE) != 0;
    jobject group = i.lives ? (*env)->GetObjectField(env, holder, hpx_vm_fields.group) : NULL;
    jobject above = group != NULL && parent ? (*env)->GetObjectField(env, group, hpx_vm_fields.group_parent) : NULL;
    i.group = text_of(jvmti, env, group, hpx_vm_fields.group_name);
    i.parent = text_of(jvmti, env, above, hpx_vm_fields.group_name);
    drop(env, above);
    drop(env, group);
    return i;
}

static struct hpx_thread_info ask(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, bool parent)
{
    struct hpx_thread_info i = {.name = NULL};
    jvmtiThreadInfo t = {.name = NULL};
    jvmtiThreadGroupInfo g = {.name = NULL}, above = {.name = NULL};
    i.untold = (*jvmti)->GetThreadInfo(jvmti, thread, &t) != JVMTI_ERROR_NONE;
    if (!i.untold) {
        i.name = t.name;
        i.lives = t.thread_group != NULL;
        if (t.thread_group != NULL && (*jvmti)->GetThreadGroupInfo(jvmti, t.thread_group, &g) == JVMTI_ERROR_NONE) {
            i.group = g.name;
            if (parent && g.parent != NULL && (*jvmti)->GetThreadGroupInfo(jvmti, g.parent, &above) == JVMTI_ERROR_NONE) {
                i.parent = above.name;
                drop(env, above.parent);
            }
            drop(env, g.parent);
        }
        drop(env, t.thread_group);
        drop(env, t.context_class_loader);
    }
    return i;
}

struct hpx_thread_info hpx_thread_info_of(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, bool parent)
{
    jobject holder = holder_of(env, thread);
    struct hpx_thread_info i = holder != NULL ? read_fields(jvmti, env, thread, holder, parent) : ask(jvmti, env, thread, parent);
    drop(env, holder);
    return i;
}

char *hpx_thread_info_name(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    if (hpx_vm_fields.name != NULL && thread != NULL) {
        return text_of(jvmti, env, thread, hpx_vm_fields.name);
    }
    struct hpx_thread_info i = ask(jvmti, env, thread, false);
    char *name = i.name;
    i.name = NULL;
    hpx_thread_info_free(jvmti, &i);
    return name;
}

void hpx_thread_info_free(jvmtiEnv *jvmti, const struct hpx_thread_info *i)
{
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)i->name); /* NULL is allowed */
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)i->group);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)i->parent);
}

bool hpx_thread_info_bits(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jint *bits)
{
    if (hpx_vm_fields.own_status != NULL && thread != NULL) {
        *bits = (*env)->GetIntField(env, thread, hpx_vm_fields.own_status);
        return true;
    }
    return (*jvmti)->GetThreadState(jvmti, thread, bits) == JVMTI_ERROR_NONE;
}

jvmtiError hpx_thread_info_stack(jvmtiEnv *jvmti, jthread thread, jint most, jvmtiFrameInfo *frames, jint *n)
{
    jvmtiStackInfo *info = NULL;
    if (hpx_vm_release() >= HPX_RELEASE_THREAD_LISTS) {
        return (*jvmti)->GetStackTrace(jvmti, thread, 0, most, frames, n);
    }
    jvmtiError e = (*jvmti)->GetThreadListStackTraces(jvmti, 1, &thread, most, &info);
    if (e == JVMTI_ERROR_NONE) {
        *n = info->frame_count;
        memcpy(frames, info->frame_buffer, (size_t)*n * sizeof *frames);
        e = (info->state & JVMTI_THREAD_STATE_ALIVE) != 0 ? e : JVMTI_ERROR_THREAD_NOT_ALIVE;
        (*jvmti)->Deallocate(jvmti, (unsigned char *)info);
    }
    return e;
}

jint hpx_thread_info_state(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    jint state = 0;
    jobject holder = holder_of(env, thread);
    if (holder != NULL) {
        state = (*env)->GetIntField(env, holder, hpx_vm_fields.status);
        drop(env, holder);
    } else if (!hpx_thread_info_bits(jvmti, env, thread, &state)) {
        return HPX_STATE_UNTOLD;
    }
    return (state & JVMTI_THREAD_STATE_ALIVE) != 0 ? state : 0;
}
