/* SPDX-License-Identifier: BSD-2-Clause */
/* class_number.c: see class_number.h. */
#include "class_number.h"
#include <pthread.h>

struct hpx_site_ids hpx_ids;

static pthread_mutex_t numbering = PTHREAD_MUTEX_INITIALIZER; /* two numbers of one class would be two classes in a heap dump */

uint32_t hpx_class_announced(jvmtiEnv *jvmti, jclass klass, uint64_t table)
{
    const uint64_t both = HPX_SITE_CLASS_TAG | table;
    jlong tag = 0;
    return (*jvmti)->GetTag(jvmti, klass, &tag) == JVMTI_ERROR_NONE && ((uint64_t)tag & both) == both ? (uint32_t)tag : 0;
}

uint32_t hpx_class_number(jvmtiEnv *jvmti, jclass klass)
{
    jlong tag = 0;
    uint32_t number = 0;
    if ((*jvmti)->GetTag(jvmti, klass, &tag) != JVMTI_ERROR_NONE || hpx_site_class_of((uint64_t)tag) != 0) {
        return hpx_site_class_of((uint64_t)tag);
    }
    pthread_mutex_lock(&numbering);
    if ((*jvmti)->GetTag(jvmti, klass, &tag) == JVMTI_ERROR_NONE) {
        number = hpx_site_class_of((uint64_t)tag);
        if (number == 0) {
            number = hpx_site_ids_class(&hpx_ids, (uint64_t)tag);
            if (number != 0 && (*jvmti)->SetTag(jvmti, klass, (jlong)hpx_site_class_tag(number)) != JVMTI_ERROR_NONE) {
                number = 0;
            }
        }
    }
    pthread_mutex_unlock(&numbering);
    return number;
}

bool hpx_class_set_announced(jvmtiEnv *jvmti, jclass klass, uint32_t number, uint64_t table)
{
    jlong tag = 0;
    if ((*jvmti)->GetTag(jvmti, klass, &tag) != JVMTI_ERROR_NONE || hpx_site_class_of((uint64_t)tag) != number) {
        return false;
    }
    return (*jvmti)->SetTag(jvmti, klass, (jlong)((uint64_t)tag | table)) == JVMTI_ERROR_NONE;
}
