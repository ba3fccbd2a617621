/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_dump.c: HEAP_DUMP, levels 0 to 2: everything that is reachable, with its roots (1 and 2), and the traces in which roots lie.
 *
 * The program stands still while the VM walks. The whole dump is in memory until the agent returns. Traces are taken before the walk, so a
 * root whose frame is not in them any more has frame -1. */
#include "dump_walk.h"
#include "log.h"
#include "value_classes.h"
#include <stdlib.h>

#define ATTEMPTS 4 /* a class may be loaded between the list of classes and the walk */

/* The traces in which roots lie, in place. */
static jint rooted_traces(const struct hpx_jvmpi_walk *w, JVMPI_CallTrace *to)
{
    jint n = 0;
    for (jint i = 0; i < w->stacks->n; i++) {
        if (w->rooted[i]) {
            to[n++] = w->stacks->traces[i];
        }
    }
    return n;
}

static bool send(JNIEnv *env, struct hpx_jvmpi_walk *w)
{
    JVMPI_CallTrace *traces = calloc((size_t)w->stacks->n + 1, sizeof *traces);
    if (traces == NULL || w->out.failed) {
        free(traces);
        return false;
    }
    static char nothing;
    char *begin = w->out.at != NULL ? w->out.at : &nothing;
    jint n = w->level == JVMPI_DUMP_LEVEL_0 ? 0 : rooted_traces(w, traces);
    hpx_jvmpi_own_end();
    hpx_jvmpi_notify(&(JVMPI_Event){
        .event_type = JVMPI_EVENT_HEAP_DUMP | JVMPI_REQUESTED_EVENT,
        .env_id = env,
        .u.heap_dump = {
            .dump_level = w->level, .begin = begin, .end = begin + w->out.len, .num_traces = n, .traces = n > 0 ? traces : NULL}});
    hpx_jvmpi_own_begin();
    free(traces);
    return true;
}

static bool know_threads(JNIEnv *env, struct hpx_jvmpi_walk *w)
{
    for (jint i = 0; i < w->stacks->n; i++) {
        struct hpx_address_entry *e =
            w->stacks->ids[i] != NULL ? hpx_address_map_put(&w->threads, (uint64_t)hpx_jvmpi_tag(w->stacks->ids[i])) : NULL;
        if (e == NULL) {
            return false;
        }
        e->value = (uint64_t)i + 1;
        w->self = w->stacks->traces[i].env_id == env ? hpx_jvmpi_tag(w->stacks->ids[i]) : w->self;
    }
    w->rooted = calloc((size_t)w->stacks->n + 1, sizeof *w->rooted);
    return w->rooted != NULL;
}

/* One walk. false: no dump. *again: some classes were not known. */
static bool walk(JNIEnv *env, struct hpx_jvmpi_walk *w, bool *again)
{
    if (!know_threads(env, w) || !hpx_jvmpi_layout_all(w->layout)) {
        return false;
    }
    if (hpx_jvmpi_walk_follow(w, NULL) != JVMTI_ERROR_NONE || w->failed) {
        return false;
    }
    if (w->unknown > 0 && *again) {
        return true;
    }
    *again = false;
    hpx_jvmpi_walk_classes(w);
    return send(env, w);
}

static bool attempt(JNIEnv *env, jint level, bool *again)
{
    struct hpx_jvmpi_layout layout;
    struct hpx_jvmpi_stacks stacks;
    struct hpx_jvmpi_walk w = {.level = level, .layout = &layout, .stacks = &stacks};
    bool good = hpx_jvmpi_layout_init(&layout, env, level);
    good = hpx_jvmpi_stacks_take(&stacks, env) && good && walk(env, &w, again);
    free(w.rooted);
    hpx_jvmpi_walk_fini(&w);
    hpx_jvmpi_stacks_fini(&stacks);
    hpx_jvmpi_layout_fini(&layout);
    return good;
}

/* An id is a tag, and equal objects of value classes have one. */
static bool refuses_values(JNIEnv *env)
{
    jthrowable pending;
    bool values = hpx_jvmpi_dump_begin(env, &pending);
    if (values) {
        values = hpx_value_classes(env);
        hpx_jvmpi_dump_end(env, pending);
    }
    if (values) {
        hpx_warn("jvmpi: there is no heap dump: objects of value classes (--enable-preview) have no ids; run without --enable-preview");
    }
    return values;
}

/* arg: the level; NULL: 2. */
static jint requested(jint event, void *arg)
{
    (void)event;
    JNIEnv *env = hpx_jvmpi_env();
    jthrowable pending;
    jint level = arg != NULL ? ((const JVMPI_HeapDumpArg *)arg)->heap_dump_level : JVMPI_DUMP_LEVEL_2;
    bool good = level >= JVMPI_DUMP_LEVEL_0 && level <= JVMPI_DUMP_LEVEL_2 && !refuses_values(env), again = true;
    for (int i = 1; good && again && i <= ATTEMPTS; i++) {
        again = i < ATTEMPTS;
        good = hpx_jvmpi_dump_begin(env, &pending);
        if (good) {
            good = attempt(env, level, &again);
            hpx_jvmpi_dump_end(env, pending);
            if (!good) {
                hpx_warn("jvmpi: there is no heap dump: the VM refuses, or memory is short");
            }
        }
    }
    return good ? JVMPI_SUCCESS : JVMPI_FAIL;
}

const struct hpx_jvmpi_source hpx_jvmpi_heap_dump = {
    .events = (const jint[]){JVMPI_EVENT_HEAP_DUMP, 0},
    .requested = requested,
};
