/* SPDX-License-Identifier: BSD-2-Clause */
/* stack_chunk.h: where the frames of a virtual thread are while they are not on a stack: in objects of the class
 * jdk.internal.vm.StackChunk, of which a continuation has a list.
 *
 * Touches the fields of StackChunk and Continuation, ContinuationEntry, the nmethod of Continuation.enterSpecial, and what
 * heap_objects.h names; reads only. On JDK 21 to 28, where RAW walks are possible.
 *
 * A chunk has a stack behind its fields, as it was on the thread's: compiled frames follow their size, frames of the interpreter their
 * frame pointer. Addresses in frames of the interpreter, and the frame pointer that a callee of one saves, count in words from where they
 * are stored, because the object moves. A mounted thread has the callers of the last frame on its stack in its chunks; that frame returns
 * to the barrier, which fetches them. Source: HotSpot's stackChunkOop.inline.hpp, stackChunkFrameStream.inline.hpp, continuationEntry.hpp.
 */
#ifndef HPX_STACK_CHUNK_H
#define HPX_STACK_CHUNK_H

#include "compiler.h"

/* What only JNI tells. */
struct hpx_stack_chunk_layout {
    uintptr_t chunk;                   /* the Klass of StackChunk */
    uint32_t size, sp, bottom, parent; /* offsets of its fields */
    uint32_t tail;                     /* of the field of Continuation */
    uint64_t enters, yields;           /* jmethodIDs of Continuation.enterSpecial and doYield */
};

/* VMInit, after heap_objects.h, under the guard; once. NULL, or the constant text why frames in the heap are not read. */
const char *hpx_stack_chunk_init(const struct hpx_stack_chunk_layout *layout);
/* Whether they are. Any thread. */
bool hpx_stack_chunk_known_sig(void);

/* The frames of one chunk. */
struct hpx_stack_chunk {
    uintptr_t low, end; /* its stack; the last frame ends within two words of `end` */
    uintptr_t sp;       /* of its frame on top, which has its pc and frame pointer below it, as if it had called something */
    uintptr_t parent;   /* the chunk with their callers; 0: there is none; HPX_OBJECT_UNKNOWN: it cannot be told */
};

/* ---- async-signal-safe, under guard.h. An address of an object counts only as long as that does not move (hpx_stack_chunk_moment_sig());
 * in a copy of the process, as long as no collection of objects ran in the moment of the copy ---- */

enum hpx_stack_chunk_state { HPX_CHUNK_FRAMES, HPX_CHUNK_EMPTY, HPX_CHUNK_UNKNOWN };
/* The first chunk with frames, from this one on. EMPTY: none has any. UNKNOWN: that is no chunk, or its words make no sense. */
enum hpx_stack_chunk_state hpx_stack_chunk_open_sig(uintptr_t oop, struct hpx_stack_chunk *to);
/* The address of the first chunk of a continuation, whose address this is; 0: it has none, or that is no address;
 * HPX_OBJECT_UNKNOWN (heap_objects.h): it cannot be told. */
uintptr_t hpx_stack_chunk_of_sig(uintptr_t continuation);

/* ---- the lower end of a virtual thread that is mounted: the frame of Continuation.enterSpecial ---- */

/* The start of the blob of that method; 0: it has not run, or is not known. */
uintptr_t hpx_stack_chunk_entry_code_sig(void);
/* Whether the entry, the lowest part of such a frame, is that of a virtual thread. */
bool hpx_stack_chunk_is_virtual_sig(uintptr_t entry);
/* The address of the continuation; HPX_OBJECT_UNKNOWN: it cannot be told. runs: the thread whose stack it is, is in Java. */
uintptr_t hpx_stack_chunk_continuation_sig(uintptr_t entry, bool runs);
/* Whether the method is the one in which a continuation puts its frames in the heap: then they may be in both places. */
bool hpx_stack_chunk_is_yield_sig(uintptr_t blob);

/* Whether the calling thread reads objects that the VM may move meanwhile, and what it has stored of them: it may free either in the midst
 * of it, so that a fault does not tell that the words are others. From now on it does, or does not. Returns whether it did. */
bool hpx_stack_chunk_reading_sig(bool now);

/* Objects stay where they are from one call until the next one that gives the same *collections; with hpx_heap_moves_while_running()
 * (heap_objects.h) those that are found at the same addresses again. runs: the thread is the calling one, and is in Java: it meets no pause
 * meanwhile. false: they may move. */
bool hpx_stack_chunk_moment_sig(bool runs, uint32_t *collections);

#endif
