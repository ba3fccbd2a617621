/* SPDX-License-Identifier: BSD-2-Clause */
/* code_cache.h: what the VM's code cache holds at an address, read from its own structures (structures.h) without a lock.
 *
 * Touches CodeCache, CodeHeap, HeapBlock, CodeBlob, nmethod, Method and its class; reads only. On JDK 8 to 28, under the names that each
 * has: one heap on 8; the kind of a blob by its name, from 24 on by a number; the Method* in nmethod, on 9 to 22 in CompiledMethod.
 *
 * The VM writes them meanwhile. For the pc of a running thread, or a return address of a live frame, the answer is right: that code stays.
 * For any other word it may be wrong, and the read may fault: call under guard.h. Source: HotSpot's heap.cpp (find_block_for) and
 * codeBlob.hpp. */
#ifndef HPX_CODE_CACHE_H
#define HPX_CODE_CACHE_H

#include "compiler.h"

enum hpx_blob_kind {
    HPX_BLOB_NONE,   /* no code: outside the heaps, free, or not understood */
    HPX_BLOB_METHOD, /* a compiled method, or the wrapper of a native one, that may be running */
    HPX_BLOB_DEAD,   /* a compiled method that must not run any more, or not yet */
    HPX_BLOB_OTHER   /* interpreter, stub, adapter */
};

/* The code at a pc. */
struct hpx_code_frame {
    enum hpx_blob_kind kind; /* METHOD: one that may be running, and pc is in its code proper, not in its handlers. Else DEAD */
    bool complete;           /* of METHOD: its frame is built at pc, unless it is just leaving */
    int32_t id;              /* of METHOD: the number of its compilation, which no other code of this VM has or gets */
    int32_t size;            /* words of its frame, with the return address; 0 or less: it has no fixed one */
    uintptr_t start;         /* of the blob */
    uint32_t offset;         /* of pc in it */
    uint32_t code;           /* of METHOD: bytes from the beginning of its code to pc */
    bool unpacks;            /* of OTHER: the stub of deoptimization */
    int32_t original; /* of DEAD: pc is in the handlers of a living method. If its frame is being deoptimized, the frame keeps its own pc
                       * this many bytes above its stack pointer: 0 in small frames of C2. -1: not known */
};

/* Where a Method* leads to its jmethodID: fields of Method, ConstMethod (twice), ConstantPool, and InstanceKlass, whose array has the ids
 * by the method's number behind its length. */
struct hpx_method_ids {
    uint64_t constant, number, pool, holder, ids;
};
/* At load. NULL, or the constant text why not. */
const char *hpx_method_ids_init(struct hpx_method_ids *to);

/* At load: finds the names. NULL, or why the code cache is not read. */
const char *hpx_code_cache_init(void);
/* VMInit, after init: finds the heaps, which exist by then. NULL, or why not. */
const char *hpx_code_cache_live(void);

/* Calls fn for each compiled method that may be running, and each wrapper of a native one: the number of its compilation, and its size. A
 * millisecond for 50 MB of code; any thread, after live; under guard.h. */
void hpx_code_cache_each(void (*fn)(void *ctx, int32_t id, uint64_t bytes), void *ctx);

/* Async-signal-safe, any thread; after live. */
/* Whether pc is in a code heap, whatever is there. */
bool hpx_code_cache_has_sig(uintptr_t pc);
struct hpx_code_frame hpx_code_cache_frame_sig(uintptr_t pc);
/* The Method* of the blob at `start`, of kind METHOD. */
uintptr_t hpx_code_cache_method_sig(uintptr_t start);
/* The jmethodID of a method of such a blob, as a number; 0: it has none. */
uint64_t hpx_code_cache_id_sig(uintptr_t method);

#endif
