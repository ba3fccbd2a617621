/* SPDX-License-Identifier: BSD-2-Clause */
/* layout.h: what a heap dump needs to know before the walk: the fields of all classes, the threads and their stacks. Asked of the JVM by
 * one attached thread at a time, while the program runs. */
#ifndef HPX_LAYOUT_H
#define HPX_LAYOUT_H

#include "address_map.h"
#include "arena.h"
#include "heap_image.h"
#include "named_stacks.h"
#include "site_ids.h"
#include <jvmti.h>

struct hpx_layout {
    const struct hpx_heap_klass **classes; /* by number; NULL: none; with every superclass */
    uint32_t nclasses, loaded;             /* loaded: how many the VM listed */
    struct hpx_class_number class_class, object_class, string_class;
    uint32_t largest;                       /* bytes of the largest instance */
    jclass *class_refs;                     /* all that are loaded, references of the caller's local frame */
    struct hpx_class_number *class_numbers; /* of the same; 0: none */
    struct hpx_heap_thread *threads;        /* `trace` is NULL */
    struct hpx_named_stack *stacks;         /* of the same threads */
    jthread *refs;                          /* the same, references of the caller's local frame */
    uint32_t nthreads;
    struct hpx_address_map tids; /* Thread.getId() -> place in `threads`; empty: the VM does not tell it */
    uint64_t taker;              /* Thread.getId() of the thread that has the references above; 0: not known */
    struct hpx_arena arena;      /* names */
};

/* Lists classes and threads. The caller has pushed a local frame. Layouts of classes are kept for the next dump. full: the Java heap is
 * full. 0, -HPX_E_NOMEM, -HPX_E_VM. hpx_layout_fini() also after an error. */
int hpx_layout_make(struct hpx_layout *l, jvmtiEnv *jvmti, JNIEnv *env, bool full);
/* Keeps the layouts of the classes that are loaded, for later dumps. As hpx_layout_make(). */
void hpx_layout_learn(jvmtiEnv *jvmti, JNIEnv *env);
/* A new environment for a walk. tagged: its classes have the tags of hpx_site_class_tag(), the threads of the layout those of
 * hpx_layout_thread_tag(); else no object has a tag, which makes the walk faster. NULL: the VM refuses. The caller disposes of it. In the
 * same local frame. */
jvmtiEnv *hpx_layout_environment(const struct hpx_layout *l, bool tagged);
/* Frees class_refs, once the walk has begun; also after an error. */
void hpx_layout_drop_refs(struct hpx_layout *l, jvmtiEnv *jvmti);
#define HPX_LAYOUT_THREAD_TAG (UINT64_C(1) << 62)
static inline uint64_t hpx_layout_thread_tag(uint32_t place)
{
    return HPX_LAYOUT_THREAD_TAG | place;
}
/* Any thread. */
void hpx_layout_fini(struct hpx_layout *l);
/* At the end of a session, when no image is left: frees the layouts of all classes. */
void hpx_layout_forget(void);

#endif
