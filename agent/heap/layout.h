/* SPDX-License-Identifier: BSD-2-Clause */
/* layout.h: what a heap dump needs to know before the walk: the fields of all classes, the threads and their stacks. Asked of the JVM by
 * one attached thread at a time, while the program runs. */
#ifndef HPX_LAYOUT_H
#define HPX_LAYOUT_H

#include "arena.h"
#include "heap_image.h"
#include "named_stacks.h"
#include "walk_tags.h"
#include <jvmti.h>

struct hpx_layout {
    const struct hpx_heap_klass **classes;            /* by number; NULL: none */
    uint32_t nclasses, loaded;                        /* loaded: how many the VM listed */
    uint32_t class_class, object_class, string_class; /* numbers */
    uint32_t largest;                                 /* bytes of the largest instance */
    struct hpx_heap_thread *threads;                  /* in the order of their ordinals; `trace` is NULL */
    struct hpx_named_stack *stacks;                   /* of the same threads */
    jthread *refs;                                    /* the same, references of the caller's local frame */
    uint64_t *thread_ids;
    uint32_t nthreads;
    struct hpx_arena arena; /* names */
};

/* Lists classes and threads, and tags the threads with the first ordinals of `tags`, which is empty. The caller has pushed a local frame.
 * Layouts of classes are kept for the next dump. full: the Java heap is full. 0, -HPX_E_NOMEM, -HPX_E_VM. hpx_layout_fini() also after an
 * error. */
int hpx_layout_make(struct hpx_layout *l, jvmtiEnv *jvmti, JNIEnv *env, struct hpx_walk_tags *tags, bool full);
/* Keeps the layouts of the classes that are loaded, for later dumps. As hpx_layout_make(). */
void hpx_layout_learn(jvmtiEnv *jvmti, JNIEnv *env);
/* After a walk in a child: gives the threads the tags that they had. The same thread, in the same local frame. */
void hpx_layout_untag(const struct hpx_layout *l, jvmtiEnv *jvmti, const struct hpx_walk_tags *tags);
/* Any thread. */
void hpx_layout_fini(struct hpx_layout *l);
/* At the end of a session, when no image is left: frees the layouts of all classes. */
void hpx_layout_forget(void);

#endif
