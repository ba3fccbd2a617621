/* SPDX-License-Identifier: BSD-2-Clause */
/* object_dump.c: OBJECT_DUMP: one object's record, as a heap dump of level 2 has it. The instance size of a class is 0 there, because no
 * instance is looked at. The VM stops the program, and some look at all tags to find the object. */
#include "dump_walk.h"
#include <limits.h>

static bool set_length(JNIEnv *env, struct hpx_jvmpi_walk *w, jobjectID id, jobject object)
{
    struct hpx_address_entry *e = hpx_address_map_put(&w->lengths, (uint64_t)hpx_jvmpi_tag(id));
    if (e != NULL) {
        e->value = (uint64_t)(*env)->GetArrayLength(env, object);
    }
    return e != NULL;
}

/* Writes the record. */
static bool look(JNIEnv *env, struct hpx_jvmpi_walk *w, jobjectID id, jobject object)
{
    jint status = 0;
    jclass of = (*env)->GetObjectClass(env, object);
    struct hpx_jvmpi_klass *c = hpx_jvmpi_layout_ask(w->layout, of), *itself = NULL;
    bool primitive = false;
    if (c == w->layout->class_class) {
        primitive = (*hpx_jvmpi.jvmti)->GetClassStatus(hpx_jvmpi.jvmti, object, &status) == JVMTI_ERROR_NONE &&
                    (status & JVMTI_CLASS_STATUS_PRIMITIVE) != 0;
        itself = primitive ? NULL : hpx_jvmpi_layout_ask(w->layout, object);
    }
    if (c == NULL || (c->kind != JVMPI_NORMAL_OBJECT && !set_length(env, w, id, object))) {
        return false;
    }
    if (primitive) {
        hpx_jvmpi_walk_mirror(w, id);
        return true;
    }
    if (hpx_jvmpi_walk_follow(w, object) != JVMTI_ERROR_NONE || w->failed) {
        return false;
    }
    if (itself != NULL) {
        hpx_jvmpi_walk_class(w, itself);
    }
    return true;
}

static bool send(JNIEnv *env, const struct hpx_jvmpi_walk *w)
{
    if (w->out.failed || w->out.len == 0 || w->out.len > INT_MAX) {
        return false;
    }
    hpx_jvmpi_own_end();
    hpx_jvmpi_notify(&(JVMPI_Event){.event_type = JVMPI_EVENT_OBJECT_DUMP | JVMPI_REQUESTED_EVENT,
                                    .env_id = env,
                                    .u.object_dump = {.data_len = (jint)w->out.len, .data = w->out.at}});
    hpx_jvmpi_own_begin();
    return true;
}

/* arg: the object's id. */
static jint requested(jint event, void *arg)
{
    (void)event;
    JNIEnv *env = hpx_jvmpi_env();
    jthrowable pending;
    struct hpx_jvmpi_layout layout;
    struct hpx_jvmpi_walk w = {.level = JVMPI_DUMP_LEVEL_2, .layout = &layout};
    if (!hpx_jvmpi_dump_begin(env, &pending)) {
        return JVMPI_FAIL;
    }
    bool good = hpx_jvmpi_layout_init(&layout, env, JVMPI_DUMP_LEVEL_2);
    jobject object = good ? hpx_jvmpi_object_of(arg) : NULL;
    good = object != NULL && look(env, &w, arg, object) && send(env, &w);
    hpx_jvmpi_walk_fini(&w);
    hpx_jvmpi_layout_fini(&layout);
    hpx_jvmpi_dump_end(env, pending);
    return good ? JVMPI_SUCCESS : JVMPI_FAIL;
}

const struct hpx_jvmpi_source hpx_jvmpi_object_dump = {
    .events = (const jint[]){JVMPI_EVENT_OBJECT_DUMP, 0},
    .requested = requested,
};
