/* SPDX-License-Identifier: BSD-2-Clause */
/* class_list.h: the classes that are loaded at a moment, and whether a class is one of them. For the thread that retransforms them. */
#ifndef HPX_CLASS_LIST_H
#define HPX_CLASS_LIST_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct hpx_class_list {
    jclass *all; /* local references */
    jint n;
    uint32_t *slots; /* of the index, by the VM's hash: 1 + place in `all`; 0: none */
    uint32_t mask;
};

/* false: the VM has no memory; nothing is held. */
bool hpx_class_list_init(struct hpx_class_list *l, jvmtiEnv *jvmti, JNIEnv *env);
/* Makes the index. false: no memory. */
bool hpx_class_list_index(struct hpx_class_list *l, jvmtiEnv *jvmti);
/* After index. true also if the VM does not hash the class. */
bool hpx_class_list_has(const struct hpx_class_list *l, jvmtiEnv *jvmti, JNIEnv *env, jclass klass);
void hpx_class_list_fini(struct hpx_class_list *l, jvmtiEnv *jvmti, JNIEnv *env);

#endif
