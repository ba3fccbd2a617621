/* SPDX-License-Identifier: BSD-2-Clause */
/* take.h: takes images of the heap, and keeps them in order for the dumps that show them.
 *
 * One image is taken at a time. While a copy of the process walks for it (child.h), a separate thread waits for the copy, and no other
 * thread of hprofx is held up. */
#ifndef HPX_TAKE_H
#define HPX_TAKE_H

#include "images.h"
#include "layout.h"

/* How an image was taken, for the report. */
struct hpx_heap_course {
    bool forked;             /* a copy of the process walked, in the last attempt */
    bool traced;             /* and read the heap by a trace (trace.h) */
    const char *untraced;    /* why the VM walks everything where a trace was possible; NULL: it may be traced */
    char why[256];           /* why not by fork, or why there is no image; empty: nothing to tell */
    char doubt[128];         /* why by tags */
    uint64_t stopped_ns, ns; /* the program stood still; in all */
};

struct hpx_heap_take {
    struct hpx_image queued;     /* first */
    struct hpx_heap_image image; /* its threads are those of the layout */
    struct hpx_layout layout;
    bool named;    /* the aggregator's: its stacks and sites have their traces */
    bool of_error; /* of an OutOfMemoryError: what filled the heap may be gone at a later attempt */
    bool by_tags;  /* the walk tagged every object */
    struct hpx_heap_course course;
    bool moving;               /* of a copy: the collector may move objects while the program runs */
    bool failed;               /* there is no image; course.why tells the cause */
    uint64_t fork_ns, walk_ns; /* of the last attempt: the copy of the process; the walk in the JVM */
};

/* At load. */
void hpx_take_init(void);
/* Begins an image unless one is being taken or waits for a dump; completes one whose copy of the process is over. May take long without a
 * copy. Any attached thread inside the gate. */
void hpx_take_step(jvmtiEnv *jvmti, JNIEnv *env);
/* The same for an OutOfMemoryError, on the thread that has no memory: asks nothing of Java, and keeps no limit of the stop. */
void hpx_take_at_error(jvmtiEnv *jvmti, JNIEnv *env);
/* A copy of the process walks. Any thread; acquire. */
bool hpx_take_walks(void);
/* No image is being taken. Any thread; acquire. */
bool hpx_take_idle(void);
/* VMDeath, after the gate was closed: waits for a copy that walks, for a bounded time, and completes its image; then takes the last one if
 * fewer images wait than dumps follow. */
void hpx_take_last(jvmtiEnv *jvmti, JNIEnv *env, uint32_t dumps);

/* The oldest image that is complete; NULL: none. Another dump may get the last one too. The caller drops it. Any thread. */
struct hpx_heap_take *hpx_take_get(void);
void hpx_take_drop(struct hpx_heap_take *t);
/* VMInit: measures arrays, checks addresses. */
void hpx_take_measure(jvmtiEnv *jvmti, JNIEnv *env);
/* VMInit: asks for the classes that are loaded, as a full heap later has no room for what this needs of Java. */
void hpx_take_learn(jvmtiEnv *jvmti, JNIEnv *env);
/* CPU time of the threads that wait for copies, ns. Any thread. */
uint64_t hpx_take_cpu(void);
/* At the end of a session: frees the images. */
void hpx_take_fini(void);

#endif
