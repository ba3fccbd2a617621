/* SPDX-License-Identifier: BSD-2-Clause */
/* ask_deadlocks.c: threads that wait for each other, for monitors and locks of java.util.concurrent. */
#include "asker.h"
#include "deadlock.h"
#include "thread_info.h"
#include <stdlib.h>
#include <string.h>

/* Threads have numbers: those of the asker first, then virtual ones by the edges of the census. */

/* The number of the virtual thread with this id; HPX_ASKED_NONE: it waits for nobody. */
static uint32_t virtual_number(const struct hpx_asker *a, uint64_t tid)
{
    uint32_t edge = tid != 0 ? hpx_id_map_find(&a->by_virtual, tid) : HPX_INTERN_NONE;
    return edge != HPX_INTERN_NONE ? a->threads.len + edge : HPX_ASKED_NONE;
}

static uint32_t any_number(const struct hpx_asker *a, uint64_t tid)
{
    uint32_t known = tid != 0 ? hpx_id_map_find(&a->by_tid, tid) : HPX_INTERN_NONE;
    return known != HPX_INTERN_NONE ? known : virtual_number(a, tid);
}

static const struct hpx_census_edge *edge_of(const struct hpx_asker *a, uint32_t number)
{
    return number >= a->threads.len ? &a->take->census->edges[number - a->threads.len] : NULL;
}

static uint32_t number_of(const struct hpx_asker *a, jthread thread)
{
    return thread != NULL ? any_number(a, (uint64_t)(*a->env)->GetLongField(a->env, thread, hpx_vm_fields.tid)) : HPX_ASKED_NONE;
}

/* The lock that a parked thread waits for, and its owner, local references; NULL: none, or nobody owns it. No question stops anything. */
static jobject lock_of(const struct hpx_asker *a, jthread thread, jthread *owner)
{
    JNIEnv *env = a->env;
    *owner = NULL;
    jobject lock = (*env)->GetObjectField(env, thread, hpx_vm_fields.blocker);
    if (lock != NULL && (*env)->IsInstanceOf(env, lock, hpx_askable.synchronizer)) {
        *owner = (*env)->GetObjectField(env, lock, hpx_askable.owner);
    }
    if (*owner == NULL) {
        (*env)->DeleteLocalRef(env, lock);
        return NULL;
    }
    return lock;
}

static bool parked(jint state)
{
    const jint both = JVMTI_THREAD_STATE_PARKED | JVMTI_THREAD_STATE_WAITING;
    return (state & both) == both;
}

/* The thread that this one waits for. */
static uint32_t awaited(struct hpx_asker *a, uint32_t thread)
{
    const struct hpx_census_edge *e = edge_of(a, thread);
    if (e != NULL) {
        return any_number(a, e->owner);
    }
    struct hpx_asked_thread *t = hpx_asked_thread(a, thread);
    if (!t->alive) {
        return HPX_WAITS_FOR_NONE;
    }
    if (t->monitor != HPX_ASKED_NONE) {
        return hpx_asked_monitor(a, t->monitor)->owner; /* HPX_ASKED_NONE is HPX_WAITS_FOR_NONE */
    }
    if (parked(t->state) && hpx_vm_fields.blocker != NULL && hpx_askable.owner != NULL) {
        jthread owner;
        t->blocker = lock_of(a, t->ref, &owner);
        t->lock_owner = number_of(a, owner);
        (*a->env)->DeleteLocalRef(a->env, owner);
        if (t->lock_owner == HPX_ASKED_NONE) {
            (*a->env)->DeleteLocalRef(a->env, t->blocker);
            t->blocker = NULL;
        } else {
            (void)(*a->env)->EnsureLocalCapacity(a->env, 64);
            (*a->env)->ExceptionClear(a->env);
        }
    }
    return t->lock_owner;
}

/* The thread still waits for the same, and the same thread owns it: *of, a local reference, if it is a lock's. */
static bool still(struct hpx_asker *a, uint32_t thread, uint32_t owner, jthread *of)
{
    struct hpx_asked_thread *t = hpx_asked_thread(a, thread);
    jint state = 0;
    if (!hpx_thread_info_bits(a->jvmti, a->env, t->ref, &state)) {
        return false;
    }
    bool monitor = t->monitor != HPX_ASKED_NONE;
    jobject object = monitor         ? (state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) ? hpx_ask_contended(a, t->ref) : NULL
                     : parked(state) ? lock_of(a, t->ref, of)
                                     : NULL;
    bool same = object != NULL && (*a->env)->IsSameObject(a->env, object, monitor ? hpx_asked_monitor(a, t->monitor)->ref : t->blocker);
    uint32_t now = number_of(a, *of);
    if (same && monitor) {
        jvmtiMonitorUsage u;
        now = hpx_ask_usage(a, object, &u) ? hpx_asker_thread(a, u.owner) : HPX_ASKED_NONE;
        hpx_asked_usage_free(a, &u);
    }
    (*a->env)->DeleteLocalRef(a->env, object);
    return same && now == owner;
}

/* The same of a virtual thread, which the one before it has told as the owner of its lock. */
static bool still_virtual(struct hpx_asker *a, uint32_t thread, jthread ref, uint32_t owner, jthread *of)
{
    jobject lock = number_of(a, ref) == thread ? lock_of(a, ref, of) : NULL;
    (*a->env)->DeleteLocalRef(a->env, lock);
    return number_of(a, *of) == owner;
}

static void add_name(struct hpx_asker *a, jthread thread, struct hpx_text *to)
{
    jvmtiThreadInfo info;
    memset(&info, 0, sizeof info);
    if ((*a->jvmti)->GetThreadInfo(a->jvmti, thread, &info) == JVMTI_ERROR_NONE && info.name != NULL) {
        const char *copy = hpx_arena_copy(&a->take->arena, info.name, strlen(info.name));
        *to = copy != NULL ? (struct hpx_text){copy, (uint32_t)strlen(copy)} : *to;
        hpx_asker_release(a, info.name);
    }
    (*a->env)->DeleteLocalRef(a->env, info.thread_group);
    (*a->env)->DeleteLocalRef(a->env, info.context_class_loader);
}

static struct hpx_text class_of(struct hpx_asker *a, jobject object)
{
    struct hpx_text to = {"", 0};
    char *text = NULL;
    jclass klass = (*a->env)->GetObjectClass(a->env, object);
    if ((*a->jvmti)->GetClassSignature(a->jvmti, klass, &text, NULL) == JVMTI_ERROR_NONE) {
        const char *copy = hpx_arena_copy(&a->take->arena, text, strlen(text));
        to = copy != NULL ? (struct hpx_text){copy, (uint32_t)strlen(copy)} : to;
        hpx_asker_release(a, text);
    }
    (*a->env)->DeleteLocalRef(a->env, klass);
    return to;
}

static void add_virtual(struct hpx_asker *a, const struct hpx_census_edge *e, bool first)
{
    struct hpx_monitor_take *take = a->take;
    const struct hpx_census_group *g = &take->census->groups[e->group];
    const char *waits_for = g->waits_for != NULL ? g->waits_for : "";
    uint32_t at = take->image.ndeadlocks++;
    take->image.deadlocks[at] = (struct hpx_deadlock_thread){.virtual_tid = e->who.tid,
                                                             .name = {e->who.name, (uint32_t)strlen(e->who.name)},
                                                             .waits_for = {waits_for, (uint32_t)strlen(waits_for)},
                                                             .first = first};
    take->deadlock_virtuals[at] = 1 + g->stack;
}

static void add_member(struct hpx_asker *a, uint32_t thread, bool first)
{
    struct hpx_monitor_take *take = a->take;
    const struct hpx_census_edge *e = edge_of(a, thread);
    if (e != NULL) {
        add_virtual(a, e, first);
        return;
    }
    const struct hpx_asked_thread *t = hpx_asked_thread(a, thread);
    uint32_t at = take->image.ndeadlocks++;
    struct hpx_deadlock_thread *d = &take->image.deadlocks[at];
    *d = (struct hpx_deadlock_thread){.serial = t->serial, .name = {"", 0}, .monitor = t->monitor != HPX_ASKED_NONE, .first = first};
    d->waits_for = d->monitor ? hpx_asked_monitor(a, t->monitor)->shown.signature : class_of(a, t->blocker);
    add_name(a, t->ref, &d->name);
    take->deadlock_stacks[at] = t->stack;
}

/* Its parts came from different moments, so every part is read once more; the census is of one moment, so a ring of virtual threads alone
 * is not. */
static bool confirmed(struct hpx_asker *a, const uint32_t *next, uint32_t first)
{
    uint32_t begin = first;
    while (edge_of(a, begin) != NULL) {
        begin = next[begin];
        if (begin == first) {
            return true;
        }
    }
    uint32_t i = begin;
    jthread ref = NULL; /* of i, if it is virtual */
    bool same = true;
    do {
        jthread owner = NULL;
        if (hpx_asker_late()) {
            a->late.deadlocks++;
            same = false;
        } else {
            same = edge_of(a, i) != NULL ? still_virtual(a, i, ref, next[i], &owner) : still(a, i, next[i], &owner);
        }
        (*a->env)->DeleteLocalRef(a->env, ref);
        ref = owner;
        i = next[i];
    } while (same && i != begin);
    (*a->env)->DeleteLocalRef(a->env, ref);
    return same;
}

/* How many edges count: every thread has one. */
static uint32_t bind_edges(struct hpx_asker *a)
{
    const struct hpx_census *c = a->take->census;
    uint32_t n = 0;
    while (c != NULL && n < c->nedges && hpx_id_map_bind(&a->by_virtual, c->edges[n].who.tid) == n) {
        n++;
    }
    return n;
}

void hpx_ask_deadlocks(struct hpx_asker *a)
{
    uint32_t n = a->threads.len + bind_edges(a);
    uint32_t *next = calloc(3 * ((size_t)n + 1), sizeof *next);
    if (next == NULL) {
        a->no_memory = true;
        return;
    }
    uint32_t *members = next + n, *scratch = members + n;
    for (uint32_t i = 0; i < n; i++) {
        next[i] = awaited(a, i);
    }
    uint32_t len = hpx_deadlock_cycles(next, n, members, scratch);
    a->take->image.deadlocks = calloc((size_t)len + 1, sizeof *a->take->image.deadlocks);
    a->take->deadlock_stacks = calloc((size_t)len + 1, sizeof *a->take->deadlock_stacks);
    a->take->deadlock_virtuals = calloc((size_t)len + 1, sizeof *a->take->deadlock_virtuals);
    a->no_memory =
        a->no_memory || a->take->image.deadlocks == NULL || a->take->deadlock_stacks == NULL || a->take->deadlock_virtuals == NULL;
    for (uint32_t i = 0, first = 0, yes = 0; !a->no_memory && i < len; i++) {
        yes = i == first ? confirmed(a, next, members[i]) : yes;
        if (yes) {
            add_member(a, members[i], i == first);
        }
        first = next[members[i]] == members[first] ? i + 1 : first; /* the last one waits for the first */
    }
    free(next);
}
