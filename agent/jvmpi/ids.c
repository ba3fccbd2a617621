/* SPDX-License-Identifier: BSD-2-Clause */
/* ids.c: a jobjectID is the object's tag in our environment of JVMTI. Numbers count up from 1, so none is used twice and none is 0.
 *
 * JVMTI cannot set a tag only if there is none, so two threads that ask for the id of one object take turns by a lock, across calls of
 * JVMTI. A thread that the agent suspends could stop in such a call and keep the lock, and the agent would wait for ever on its next id.
 * So the lock is also held while a thread is suspended, and a thread that gets it looks whether it was suspended since it last looked:
 * then it lets go, calls the VM, where it stops until it is resumed, and tries again. */
#include "frees.h"
#include "java_threads.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic jlong last; /* relaxed: a counter */

void hpx_jvmpi_ids_lock(void)
{
    struct hpx_jvmpi_thread *self = hpx_jvmpi_self();
    for (;;) {
        (void)pthread_mutex_lock(&lock);
        if (self == NULL || self->suspensions == self->seen) {
            return;
        }
        unsigned n = self->suspensions;
        (void)pthread_mutex_unlock(&lock);
        (void)(*self->env)->ExceptionCheck(self->env); /* stops here while it is suspended */
        self->seen = n;
    }
}

void hpx_jvmpi_ids_unlock(void)
{
    (void)pthread_mutex_unlock(&lock);
}

jlong hpx_jvmpi_id_mint(void)
{
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static jlong tag_of(jobject object)
{
    jlong tag = 0;
    if (object == NULL || (*hpx_jvmpi.jvmti)->GetTag(hpx_jvmpi.jvmti, object, &tag) != JVMTI_ERROR_NONE) {
        return -1;
    }
    return tag;
}

static atomic_bool walks; /* relaxed: set long before the VM stops the program for the first walk */

void hpx_jvmpi_ids_walk(void)
{
    atomic_store_explicit(&walks, true, memory_order_relaxed);
}

static jobjectID set_new(jobject object)
{
    jlong tag = hpx_jvmpi_id_mint();
    if (object == NULL || (*hpx_jvmpi.jvmti)->SetTag(hpx_jvmpi.jvmti, object, tag) != JVMTI_ERROR_NONE) {
        return NULL;
    }
    if (hpx_jvmpi_on(JVMPI_EVENT_OBJECT_FREE) && hpx_jvmpi_frees_by_looks()) {
        (void)hpx_jvmpi_frees_follow(object, hpx_jvmpi_id(tag), false);
    }
    return hpx_jvmpi_id(tag);
}

jobjectID hpx_jvmpi_id_of_new(jobject object)
{
    return hpx_unlikely(atomic_load_explicit(&walks, memory_order_relaxed)) ? hpx_jvmpi_id_of(object) : set_new(object);
}

jobjectID hpx_jvmpi_id_of(jobject object)
{
    jlong tag = tag_of(object);
    if (tag != 0) {
        return tag > 0 ? hpx_jvmpi_id(tag) : NULL;
    }
    hpx_jvmpi_ids_lock();
    tag = tag_of(object);
    jobjectID id = tag == 0 ? set_new(object) : tag > 0 ? hpx_jvmpi_id(tag) : NULL;
    hpx_jvmpi_ids_unlock();
    return id;
}

jobject hpx_jvmpi_object_of(jobjectID id)
{
    jlong tag = hpx_jvmpi_tag(id);
    jint n = 0;
    jobject *found = NULL, object = NULL;
    if (tag <= 0 || (*hpx_jvmpi.jvmti)->GetObjectsWithTags(hpx_jvmpi.jvmti, 1, &tag, &n, &found, NULL) != JVMTI_ERROR_NONE) {
        return NULL;
    }
    if (n > 0) {
        object = found[0];
    }
    hpx_jvmpi_give_back(found);
    return object;
}
