/* SPDX-License-Identifier: BSD-2-Clause */
/* walk_roots.c: the roots of a walk: see walk_internal.h. */
#include "service.h"
#include "walk_internal.h"
#include <string.h>

/* An object that a root names. The walk has no record for a class object. */
static void note_root(struct hpx_walk *w, uint64_t key, const struct hpx_walk_class *c)
{
    bool first = w->found.objects == 0; /* stacks of virtual threads come among the objects */
    if (!w->by_tags && !w->traces && first && c != w->class_of_classes) {
        (void)put(w, &w->rooted, key);
    }
}

/* Roots of a thread come behind its own. */
static void begin_thread(struct hpx_walk *w, uint64_t key)
{
    uint64_t place = hpx_walk_known_as(w, key);
    if (place > w->layout->nthreads) {
        contradict(w); /* a class */
        return;
    }
    w->root_thread = place != 0 ? &w->layout->threads[place - 1] : NULL;
    w->matched += place != 0;
}

/* The thread of the layout with this Thread.getId(); NULL: none, or the VM does not tell it. */
static const struct hpx_heap_thread *listed(const struct hpx_layout *l, jlong id)
{
    const struct hpx_address_entry *e = id != 0 ? hpx_address_map_find(&l->tids, (uint64_t)id) : NULL;
    return e != NULL ? &l->threads[e->value] : NULL;
}

/* The object id of the thread that has this frame; 0: none of the layout, such as a virtual thread that this thread carries. */
static uint64_t thread_of(struct hpx_walk *w, jlong id)
{
    const struct hpx_heap_thread *t = w->layout->tids.room != 0 ? listed(w->layout, id) : w->root_thread;
    if (t != NULL && t != w->root_thread) {
        contradict(w); /* the root of that thread was of another object */
    }
    return t != NULL ? t->object : 0;
}

bool hpx_walk_own_root(const struct hpx_walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, uint64_t key,
                       const struct hpx_walk_class *c)
{
    const jlong id = kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL ? info->jni_local.thread_id : 0;
    const struct hpx_heap_thread *t = listed(w->layout, id);
    const bool ours = t != NULL && t->name.len >= strlen(HPX_OURS) && memcmp(t->name.bytes, HPX_OURS, strlen(HPX_OURS)) == 0;
    return id != 0 && (ours || (uint64_t)id == w->layout->taker) && c->special && hpx_walk_known_as(w, key) != 0;
}

void hpx_walk_meet_root(struct hpx_walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, uint64_t key,
                        const struct hpx_walk_class *c, uint64_t id)
{
    static const uint8_t kinds[] = {
        [JVMTI_HEAP_REFERENCE_JNI_GLOBAL] = HPX_ROOT_JNI_GLOBAL, [JVMTI_HEAP_REFERENCE_SYSTEM_CLASS] = HPX_ROOT_STICKY_CLASS,
        [JVMTI_HEAP_REFERENCE_MONITOR] = HPX_ROOT_MONITOR_USED,  [JVMTI_HEAP_REFERENCE_STACK_LOCAL] = HPX_ROOT_JAVA_FRAME,
        [JVMTI_HEAP_REFERENCE_JNI_LOCAL] = HPX_ROOT_JNI_LOCAL,   [JVMTI_HEAP_REFERENCE_THREAD] = HPX_ROOT_THREAD_OBJECT,
        [JVMTI_HEAP_REFERENCE_OTHER] = HPX_ROOT_UNKNOWN,
    };
    note_root(w, key, c);
    if ((size_t)kind >= HPX_ARRAY_LEN(kinds) || kinds[kind] == 0) {
        return; /* superclass and interface: known */
    }
    if (kind == JVMTI_HEAP_REFERENCE_THREAD) {
        begin_thread(w, key);
    }
    struct hpx_heap_root_fact *r = push(w, &w->roots, sizeof *r);
    if (r != NULL) {
        *r = (struct hpx_heap_root_fact){.object = id, .depth = -1, .kind = kinds[kind]};
        if (kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL || kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL) {
            const jvmtiHeapReferenceInfoJniLocal *local = &info->jni_local; /* that of a stack begins with the same members */
            r->thread = thread_of(w, local->thread_id);
            r->method = (uint64_t)(uintptr_t)local->method;
            r->depth = local->depth;
        }
    }
}

/* Every object that a root names, and every flattened one, was met as an object; and the roots of the threads that are known were where
 * they should be. */
void hpx_walk_check_roots(struct hpx_walk *w)
{
    bool whole = (w->matched > 0 || w->layout->nthreads == 0) && w->nflat == 0;
    for (uint64_t i = 0; i < w->rooted.room; i++) {
        whole = whole && (w->rooted.at[i].key == 0 || w->rooted.at[i].value != 0);
    }
    if (!whole) {
        fail(w, HPX_WALK_DOUBT);
    }
}
