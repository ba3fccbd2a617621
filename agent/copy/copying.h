/* SPDX-License-Identifier: BSD-2-Clause */
/* copying.h: what a reading of the heap must know before a copy of the process (child.h) makes it: whether this VM can be copied, whether
 * there is memory for a copy, how long the program would stop.
 *
 * The functions are those of a thread that reads the heap, unless stated otherwise. */
#ifndef HPX_COPYING_H
#define HPX_COPYING_H

#include "child.h"
#include "fork_check.h"
#include <jni.h>

/* At load, by every mode that reads the heap. */
void hpx_copying_init(void);
/* Why this VM cannot be copied; NULL: it can. Constant from load on; any thread. */
const char *hpx_copying_never(void);
/* For hpx_child_prepare(). Constant from load on; any thread. */
const struct hpx_child_slots *hpx_copying_slots(void);

/* VMInit, or a reading that begins before VMInit has come here: looks up what hpx_copying_heap() calls. Any attached thread. */
void hpx_copying_measure(JNIEnv *env);
/* Bytes of the heap in use and committed; 0 if the VM does not tell. */
void hpx_copying_heap(JNIEnv *env, uint64_t *used, uint64_t *committed);
/* By how many bytes what is used may grow: Shenandoah commits memory only as it uses it. 0: not known. */
uint64_t hpx_copying_room(JNIEnv *env);

/* Of one reading. */
struct hpx_copying {
    struct hpx_fork_answer fork; /* of the last hpx_copying_ask() */
    uint64_t most;               /* bytes that the copy may use; the watch ends it beyond them */
};
/* Asks whether the process may be copied now, and what that costs. */
struct hpx_copying_how {
    bool here;        /* the VM reads its heap itself: only the memory of that matters */
    bool tagged;      /* the walk tags every object */
    bool light;       /* the walk writes to few objects */
    uintptr_t object; /* in the heap, or where the heap was a moment ago; 0: not known */
    uint64_t files;   /* bytes that may be written to files in memory (tmpfs) */
};
void hpx_copying_ask(struct hpx_copying *c, JNIEnv *env, struct hpx_copying_how how);
/* How many workers may read a heap at once: the processors that the program may use, from three on one less, which the program keeps. A
 * thread that may call Java. */
uint32_t hpx_copying_workers(JNIEnv *env);
/* The fork that was asked for stopped the program for that long: the next prediction is better. */
void hpx_copying_note(const struct hpx_copying *c, uint64_t fork_ns);
/* A measured rate, limited to a quarter and three times the usual one, so that one slow stop does not forbid all later ones. 0: none. Any
 * thread. */
uint64_t hpx_copying_within(uint64_t rate, uint64_t usual);

#define HPX_COPYING_OBJECT 40u /* mean size of an object, to estimate their number from the used heap */

#endif
