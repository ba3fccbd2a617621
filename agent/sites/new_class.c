/* SPDX-License-Identifier: BSD-2-Clause */
/* new_class.c: see new_class.h. */
#include "new_class.h"
#include "boot_class.h"

HPX_OF_SESSION bool hpx_new_class_matters;
HPX_OF_SESSION _Atomic uint32_t hpx_new_class_pauses;
HPX_OF_SESSION _Atomic uint32_t hpx_new_class_repairs;
static HPX_OF_SESSION struct {
    struct hpx_class_number klass; /* of java.lang.Class */
    uint64_t bare;                 /* bytes of one without static fields, which lie behind these, whatever the alignment of objects is */
} known;

void JNICALL hpx_new_class_paused(jvmtiEnv *jvmti)
{
    (void)jvmti;
    atomic_fetch_add_explicit(&hpx_new_class_pauses, 1, memory_order_relaxed);
}

void hpx_new_class_look(jvmtiEnv *jvmti, JNIEnv *env)
{
    jclass klass = hpx_boot_class(env, "java/lang/Class"), array = klass != NULL ? hpx_boot_class(env, "[Ljava/lang/Object;") : NULL;
    jlong bare = 0;
    (*env)->ExceptionClear(env);
    if (array != NULL && (*jvmti)->GetObjectSize(jvmti, array, &bare) == JVMTI_ERROR_NONE) { /* arrays have no static fields */
        known.klass = hpx_class_number(jvmti, klass);
        known.bare = (uint64_t)bare;
    }
    hpx_new_class_matters = known.klass.v != 0;
    (*env)->DeleteLocalRef(env, array);
    (*env)->DeleteLocalRef(env, klass);
}

bool hpx_new_class_has_fields(struct hpx_class_number klass, uint64_t size)
{
    return klass.v == known.klass.v && size > known.bare;
}
