/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_stacks.c: see dump_stacks.h. */
#include "dump_stacks.h"
#include <stdlib.h>

static bool make_room(struct hpx_jvmpi_stacks *s, size_t n)
{
    s->threads = calloc(n, sizeof(void *));
    s->ids = calloc(n, sizeof(void *));
    s->traces = calloc(n, sizeof *s->traces);
    s->status = calloc(n, sizeof *s->status);
    s->probe_frames = calloc(n, sizeof *s->probe_frames);
    return s->threads != NULL && s->ids != NULL && s->traces != NULL && s->status != NULL && s->probe_frames != NULL;
}

/* One thread. Without memory for its frames it has none. */
static bool add(struct hpx_jvmpi_stacks *s, const jvmtiStackInfo *info)
{
    JNIEnv *its = hpx_jvmpi_env_of(info->thread);
    jint i = s->n;
    if (its == NULL) {
        return false;
    }
    s->n++;
    s->threads[i] = info->thread;
    s->ids[i] = hpx_jvmpi_id_of(info->thread);
    s->status[i] = hpx_jvmpi_status_from(info->state);
    s->traces[i].env_id = its;
    s->traces[i].frames = calloc((size_t)info->frame_count + 1, sizeof *s->traces[i].frames);
    if (s->traces[i].frames != NULL) {
        s->traces[i].num_frames = hpx_jvmpi_frames_from(info->frame_buffer, info->frame_count, s->traces[i].frames);
        s->probe_frames[i] = info->frame_count - s->traces[i].num_frames;
    }
    return true;
}

bool hpx_jvmpi_stacks_take(struct hpx_jvmpi_stacks *s, JNIEnv *env)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    jvmtiStackInfo *all = NULL;
    jint n = 0;
    *s = (struct hpx_jvmpi_stacks){.n = 0};
    if ((*jvmti)->GetAllStackTraces(jvmti, HPX_JVMPI_STACK_FRAMES, &all, &n) != JVMTI_ERROR_NONE) {
        return false;
    }
    (void)(*env)->EnsureLocalCapacity(env, n + 64);
    (*env)->ExceptionClear(env);
    bool good = make_room(s, (size_t)n + 1);
    for (jint i = 0; i < n; i++) {
        if (!good || !add(s, &all[i])) {
            (*env)->DeleteLocalRef(env, all[i].thread);
        }
    }
    hpx_jvmpi_give_back(all);
    return good;
}

void hpx_jvmpi_stacks_fini(struct hpx_jvmpi_stacks *s)
{
    for (jint i = 0; s->traces != NULL && i < s->n; i++) {
        free(s->traces[i].frames);
    }
    free(s->threads);
    free(s->ids);
    free(s->traces);
    free(s->status);
    free(s->probe_frames);
    *s = (struct hpx_jvmpi_stacks){.n = 0};
}
