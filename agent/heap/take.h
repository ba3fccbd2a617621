/* SPDX-License-Identifier: BSD-2-Clause */
/* take.h: takes images of the heap, and keeps them in order for the dumps that show them. */
#ifndef HPX_TAKE_H
#define HPX_TAKE_H

#include "layout.h"

struct hpx_heap_take {
    struct hpx_heap_take *next;
    struct hpx_heap_image image; /* its threads are those of the layout */
    struct hpx_layout layout;
    uint32_t users;          /* dumps that show it */
    bool last;               /* the one at exit */
    bool of_error;           /* of an OutOfMemoryError: what filled the heap may be gone at a later attempt */
    const char *failed;      /* why there is no image; NULL: there is one; static text */
    const char *engine;      /* "fork" or "walk" */
    char reason[256];        /* why not fork; empty: fork, or walk was asked for */
    uint64_t stopped_ns, ns; /* the program stood still; in all */
    uint64_t unknown;        /* objects of classes that were loaded during the walk */
    uint64_t cut;            /* arrays that are longer than a record can be */
};

/* At load. */
void hpx_take_init(void);
/* Takes an image now, unless one that no dump has is waiting; may take long. last: at exit. Any attached thread inside the gate, or
 * VMDeath's; waits for another thread that takes one. */
void hpx_take_now(jvmtiEnv *jvmti, JNIEnv *env, bool last);
/* Begins to take one: with fork a copy of the process goes on after the return, and the next hpx_take_now() waits for it. No effect while a
 * thread takes one. As hpx_take_now(). */
void hpx_take_begin(jvmtiEnv *jvmti, JNIEnv *env);
/* The oldest image that is complete; NULL: none. Another dump may get the last one too. The caller drops it. Any thread. */
struct hpx_heap_take *hpx_take_get(void);
/* Whether hpx_take_get() has one. Any thread. */
bool hpx_take_waits(void);
void hpx_take_drop(struct hpx_heap_take *t);
/* VMInit: measures arrays. */
void hpx_take_measure(jvmtiEnv *jvmti, JNIEnv *env);
/* VMInit: asks for the classes that are loaded, as a full heap later has no room for what this needs of Java. */
void hpx_take_learn(jvmtiEnv *jvmti, JNIEnv *env);
/* At the end of a session: frees the images. */
void hpx_take_fini(void);

#endif
