/* SPDX-License-Identifier: BSD-2-Clause */
/* class_list.c: see class_list.h. */
#include "class_list.h"
#include <stdlib.h>

#define MIX 0x9e3779b1u

bool hpx_class_list_init(struct hpx_class_list *l, jvmtiEnv *jvmti, JNIEnv *env)
{
    *l = (struct hpx_class_list){.n = 0};
    if ((*jvmti)->GetLoadedClasses(jvmti, &l->n, &l->all) != JVMTI_ERROR_NONE) {
        return false;
    }
    if ((*env)->EnsureLocalCapacity(env, l->n + 64) != 0) {
        (*env)->ExceptionClear(env);
    }
    return true;
}

static uint32_t first_slot(const struct hpx_class_list *l, jint hash)
{
    return ((uint32_t)hash * MIX) >> 8 & l->mask;
}

bool hpx_class_list_index(struct hpx_class_list *l, jvmtiEnv *jvmti)
{
    uint32_t size = 64;
    while (size / 2 < (uint32_t)l->n) {
        size *= 2;
    }
    l->slots = calloc(size, sizeof *l->slots);
    l->mask = size - 1;
    for (jint i = 0; l->slots != NULL && i < l->n; i++) {
        jint hash;
        if ((*jvmti)->GetObjectHashCode(jvmti, l->all[i], &hash) != JVMTI_ERROR_NONE) {
            continue;
        }
        uint32_t at = first_slot(l, hash);
        while (l->slots[at] != 0) {
            at = (at + 1) & l->mask;
        }
        l->slots[at] = (uint32_t)i + 1;
    }
    return l->slots != NULL;
}

bool hpx_class_list_has(const struct hpx_class_list *l, jvmtiEnv *jvmti, JNIEnv *env, jclass klass)
{
    jint hash;
    if ((*jvmti)->GetObjectHashCode(jvmti, klass, &hash) != JVMTI_ERROR_NONE) {
        return true;
    }
    for (uint32_t at = first_slot(l, hash); l->slots[at] != 0; at = (at + 1) & l->mask) {
        if ((*env)->IsSameObject(env, l->all[l->slots[at] - 1], klass)) {
            return true;
        }
    }
    return false;
}

void hpx_class_list_fini(struct hpx_class_list *l, jvmtiEnv *jvmti, JNIEnv *env)
{
    for (jint i = 0; i < l->n; i++) {
        (*env)->DeleteLocalRef(env, l->all[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)l->all);
    free(l->slots);
}
