/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_names.c: see thread_names.h. */
#include "thread_names.h"
#include "hash.h"
#include "known_threads.h"
#include "model_msg.h"
#include "thread_info.h"
#include <stdlib.h>
#include <string.h>

void hpx_thread_names_load(void)
{
    if (hpx_session.opt->thread) {
        hpx_known_threads_keep(false);
    }
}

uint64_t hpx_thread_names_hash(const char *name)
{
    return name != NULL ? hpx_hash128(name, strlen(name)).lo : 0;
}

static void post(struct hpx_thread_ref *t, const char *name)
{
    uint32_t n = (uint32_t)strlen(name);
    struct hpx_msg_thread_name *m = hpx_msg_thread_name_new(n);
    if (m == NULL) {
        (void)hpx_known_threads_rename(t, hpx_thread_names_hash(NULL)); /* the next time tells it */
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED, 1);
        return;
    }
    m->key = t->number;
    m->serial = t->serial;
    memcpy(m->text, name, n);
    hpx_lane_post(&hpx_session.aggregator.control, &m->m, false);
}

/* thread NULL: the calling one. */
static void ask(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, struct hpx_thread_ref *t)
{
    char *name = hpx_thread_info_name(jvmti, env, thread);
    if (name != NULL && hpx_known_threads_rename(t, hpx_thread_names_hash(name))) {
        post(t, name);
    }
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
}

void hpx_thread_names_ask(jvmtiEnv *jvmti, JNIEnv *env)
{
    struct hpx_thread_ref *refs = NULL;
    uint32_t n = hpx_known_threads_kept() ? hpx_known_threads_list(env, &refs, true) : 0;
    for (uint32_t i = 0; i < n; i++) {
        jthread thread = refs[i].thread;
        if (!refs[i].ended) { /* it has told its last name itself */
            ask(jvmti, env, thread, &refs[i]);
        }
        (*env)->DeleteLocalRef(env, thread);
    }
    free(refs);
}

void hpx_thread_names_end(jvmtiEnv *jvmti, JNIEnv *env, uint64_t number)
{
    struct hpx_thread_ref self = {.number = number};
    if (hpx_known_threads_kept()) {
        ask(jvmti, env, NULL, &self);
    }
}
