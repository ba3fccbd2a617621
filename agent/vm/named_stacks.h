/* SPDX-License-Identifier: BSD-2-Clause */
/* named_stacks.h: stacks of threads with the names of their methods, asked of the JVM while the classes are alive. The thread that takes
 * them. */
#ifndef HPX_NAMED_STACKS_H
#define HPX_NAMED_STACKS_H

#include "arena.h"
#include "id_map.h"
#include "model.h"
#include "vec.h"
#include <jvmti.h>

/* A stack whose names are known. */
struct hpx_named_stack {
    struct hpx_named_frame *frames; /* innermost first */
    uint32_t n;
    uint32_t above; /* frames of a probe that were above these */
};

/* Methods so far, by jmethodID: stacks of one program mostly share them. */
struct hpx_named_stacks {
    jvmtiEnv *jvmti;
    JNIEnv *env;
    struct hpx_arena *arena; /* frames and names; the caller's */
    bool numbers;            /* frames tell the numbers of their classes (class_number.h), which tags the classes */
    struct hpx_id_map index;
    struct hpx_vec methods;
};

/* 0, -HPX_E_NOMEM. hpx_named_stacks_fini() also after an error. */
int hpx_named_stacks_init(struct hpx_named_stacks *s, jvmtiEnv *jvmti, JNIEnv *env, struct hpx_arena *arena, bool numbers);
/* Names the innermost `most` frames of one thread, without those of a probe; without memory those that it has room for. methods: NULL, or
 * room for the jmethodIDs of the frames. */
void hpx_named_stacks_take(struct hpx_named_stacks *s, const jvmtiStackInfo *info, uint32_t most, struct hpx_named_stack *to,
                           uint64_t *methods);
/* The stacks stay: they are the arena's. */
void hpx_named_stacks_fini(struct hpx_named_stacks *s);

#endif
