/* SPDX-License-Identifier: BSD-2-Clause */
/* unannounced.c: see unannounced.h. */
#include "unannounced.h"
#include "clock.h"
#include "id_map.h"
#include "names.h"
#include <stdlib.h>

#define DEPTH 512 /* frames of a thread that are looked at */

static atomic_bool rewrites; /* relaxed: only ever set, long before a session looks at it */

struct method {
    bool listed; /* a loaded class lists it */
    bool stayed; /* it is in a stack after the list, too */
};

struct look {
    jvmtiEnv *jvmti;
    JNIEnv *env;
    struct hpx_msg_look *known; /* NULL: all loaded classes have been announced */
    struct hpx_id_map ids;      /* of methods in stacks */
    struct method *methods;     /* by their numbers */
    jclass *all;
    jint n;
    uint32_t found;
};

static int by_id(const void *key, const void *element)
{
    uint64_t id = *(const uint64_t *)key, other = ((const struct hpx_known_class *)element)->id;
    return (id > other) - (id < other);
}

/* The class was announced with this method. */
static bool is_known(const struct look *k, jclass klass, jmethodID method)
{
    const uint64_t id = (uint64_t)(uintptr_t)method;
    const struct hpx_msg_look *m = k->known;
    const struct hpx_known_class *c = m != NULL ? bsearch(&id, m->known, m->n, sizeof m->known[0], by_id) : NULL;
    return c != NULL && (*k->env)->IsSameObject(k->env, (jobject)(uintptr_t)c->ref, klass);
}

static void take_id(struct look *k, uint64_t id)
{
    uint32_t number = hpx_id_map_find(&k->ids, id);
    if (k->methods == NULL && number == HPX_INTERN_NONE) {
        (void)hpx_id_map_bind(&k->ids, id);
    } else if (k->methods != NULL && number != HPX_INTERN_NONE) {
        k->methods[number].stayed = true;
    }
}

/* Before there are `methods` it collects the methods, and then looks which of them are still there. */
static bool take_stacks(struct look *k)
{
    jvmtiStackInfo *stacks = NULL;
    jint n = 0;
    if ((*k->jvmti)->GetAllStackTraces(k->jvmti, DEPTH, &stacks, &n) != JVMTI_ERROR_NONE) {
        return false;
    }
    for (jint i = 0; i < n; i++) {
        for (jint f = 0; f < stacks[i].frame_count; f++) {
            if (stacks[i].frame_buffer[f].method != NULL) {
                take_id(k, (uint64_t)(uintptr_t)stacks[i].frame_buffer[f].method);
            }
        }
    }
    (void)(*k->jvmti)->Deallocate(k->jvmti, (unsigned char *)stacks);
    return true;
}

static void list_class(struct look *k, jclass klass)
{
    jint n = 0;
    jmethodID *ids = NULL;
    if ((*k->jvmti)->GetClassMethods(k->jvmti, klass, &n, &ids) != JVMTI_ERROR_NONE) {
        return; /* an array or primitive class, or one that is not linked */
    }
    for (jint i = 0; i < n; i++) {
        uint32_t number = hpx_id_map_find(&k->ids, (uint64_t)(uintptr_t)ids[i]);
        if (number != HPX_INTERN_NONE && k->methods != NULL) {
            k->methods[number].listed = true;
        }
    }
    if (n > 0 && k->known != NULL && !is_known(k, klass, ids[0])) {
        hpx_names_methods(k->jvmti, k->env, klass, ids, n, HPX_NAMES_ALL, true);
        k->found++;
    }
    (void)(*k->jvmti)->Deallocate(k->jvmti, (unsigned char *)ids);
}

/* A class whose method is in a stack before and after the list was alive in between: the list has it, and keeps it alive. */
static void announce_unlisted(struct look *k)
{
    for (uint32_t i = 0; i < k->ids.keys.len; i++) {
        jmethodID id = (jmethodID)(uintptr_t)hpx_id_map_key(&k->ids, i); /* NOLINT(performance-no-int-to-ptr) */
        jclass klass = NULL;
        if (k->methods[i].listed || !k->methods[i].stayed ||
            (*k->jvmti)->GetMethodDeclaringClass(k->jvmti, id, &klass) != JVMTI_ERROR_NONE) {
            continue;
        }
        if (!is_known(k, klass, id)) {
            hpx_names_methods(k->jvmti, k->env, klass, &id, 1, HPX_NAMES_ALL, false);
            k->found++;
        }
        (*k->env)->DeleteLocalRef(k->env, klass);
    }
}

static void look(struct look *k)
{
    if (hpx_id_map_init(&k->ids) != 0) {
        return;
    }
    if (take_stacks(k)) {
        k->methods = calloc(k->ids.keys.len + 1, sizeof *k->methods);
    }
    if (hpx_names_list(k->jvmti, k->env, &k->n, &k->all) == JVMTI_ERROR_NONE) {
        for (jint i = 0; i < k->n && hpx_gate_is_open(&hpx_session.gate); i++) {
            list_class(k, k->all[i]);
        }
        if (k->methods != NULL && hpx_gate_is_open(&hpx_session.gate) && take_stacks(k)) {
            announce_unlisted(k);
        }
        for (jint i = 0; i < k->n; i++) {
            (*k->env)->DeleteLocalRef(k->env, k->all[i]);
        }
        (void)(*k->jvmti)->Deallocate(k->jvmti, (unsigned char *)k->all);
    }
    free(k->methods);
    hpx_id_map_fini(&k->ids);
}

void hpx_unannounced_serve(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_msg_look *m)
{
    struct look k = {.jvmti = jvmti, .env = env, .known = m};
    uint64_t began = hpx_clock_mono();
    if (env != NULL) {
        look(&k);
    }
    m->found = k.found;
    m->ns = hpx_clock_mono() - began;
    hpx_lane_post(&hpx_session.aggregator.control, &m->m, true);
}

void hpx_unannounced_begin(jvmtiEnv *jvmti, JNIEnv *env)
{
    struct look k = {.jvmti = jvmti, .env = env};
    if (hpx_vm.late && atomic_load_explicit(&rewrites, memory_order_relaxed)) {
        look(&k);
    }
}

void hpx_unannounced_note_rewriting(void)
{
    atomic_store_explicit(&rewrites, true, memory_order_relaxed);
}
