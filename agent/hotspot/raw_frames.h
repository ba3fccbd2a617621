/* SPDX-License-Identifier: BSD-2-Clause */
/* raw_frames.h: the frames below the one on top of a raw walk (raw_walk.h), one after another: compiled, of the interpreter, from C into
 * Java, and what is left out between them. Touches what raw_walk.h names, and reads only.
 *
 * A frame is where its method goes on: pc, the stack pointer there, the frame pointer. To add one is to add it to the hash and, if they
 * are wanted, to the names. Any word of the stack may be wrong: see hpx_raw_walk_take_sig(). */
#ifndef HPX_RAW_FRAMES_H
#define HPX_RAW_FRAMES_H

#include "frame_names.h"
#include "raw_walk.h"

struct hpx_frames {
    const struct hpx_raw_thread *t;
    struct hpx_registers r; /* the frame that comes next; sp as its method left it, without arguments that an adapter added */
    struct hpx_raw_stack to;
    uintptr_t low, high;              /* where that and its callers are: the thread's stack, or a chunk of one in the heap */
    uintptr_t floor;                  /* they are above it */
    uintptr_t parent;                 /* the chunk with their callers; 0: none */
    uintptr_t first, second;          /* blob of the first compiled method, 0: none yet; pc of the caller of the first frame */
    uintptr_t entry;                  /* of the continuation whose chunks were read */
    uint64_t places;                  /* a hash of where they were */
    uint32_t collections;             /* before the first chunk was read */
    uint32_t chunks, mounted;         /* chunks that were read; names before them */
    struct hpx_raw_stack one, copied; /* `to` behind the first frame; what it has to be behind frames that are in both places */
    bool chunk;                       /* they are in the heap */
    bool carrier;                     /* at `broken` AsyncGetCallTrace goes on at the carrier */
    bool whole;                       /* there is no further frame */
    bool heap;                        /* frames in the heap were left out */
    bool leaf;                        /* the frame on top has called C */
    enum hpx_raw_end gap;             /* why frames on top were; HPX_END_WHOLE: they were not */
    enum hpx_raw_end end;             /* why a step failed */
    enum hpx_frame_place place;       /* of the frame that comes next, if it is compiled */
    struct hpx_frame_names *names;    /* NULL: a hash will do */
    struct hpx_frame_names *kept;     /* that, while `copied` is compared */
    enum hpx_frame_place behind_stub; /* place of a frame that called a stub */
    uint32_t c;                       /* frames of C that were added */
    uint32_t broken;                  /* as of hpx_raw_walk_frames_sig() */
};

static inline bool hpx_frames_stop(struct hpx_frames *k, enum hpx_raw_end why)
{
    k->end = why;
    return false;
}

/* A place for a frame: `words` words from `at` on are where the frames are, above the frame before. */
static inline bool hpx_frames_in_stack(const struct hpx_frames *k, uintptr_t at, uintptr_t low, uintptr_t words)
{
    return at % sizeof(uintptr_t) == 0 && at >= low && at < k->high && words <= (k->high - at) / sizeof(uintptr_t);
}

/* A bijection of each half for every word, so stacks that differ in one frame differ. */
static inline void hpx_frames_add(struct hpx_frames *k, uint64_t word)
{
    k->to.lo = ((k->to.lo ^ word) << 29 | (k->to.lo ^ word) >> 35) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    k->to.hi = ((k->to.hi ^ word) << 37 | (k->to.hi ^ word) >> 27) * UINT64_C(0xd6e8feb86659fd93) + 3;
}

/* ---- async-signal-safe. Of those that return whether: false, and k->end says why ---- */

/* Adds k->r and its callers, down to the first Java frame or the depth. */
bool hpx_frames_go_down_sig(struct hpx_frames *k);
/* Adds a stub: which one, because the way to its caller may go wrong where its frame is half built, but for each stub in the same way. */
void hpx_frames_add_stub_sig(struct hpx_frames *k, const struct hpx_code_frame *f, int way);
/* Adds frames of C. */
void hpx_frames_add_c(struct hpx_frames *k, const uint64_t *methods, uint32_t n);
/* Adds a frame HPX_UNKNOWN_TRUNCATED to the names: for those that are left out here. */
void hpx_frames_leave_out_sig(struct hpx_frames *k);

/* Adds the frames of the interpreter that deoptimization has not filled yet, as it will fill them. */
bool hpx_frames_fill_sig(struct hpx_frames *k);
/* To the caller of k->r, which is not added: of a frame of that many words; of one that the interpreter is building or leaving. */
bool hpx_frames_pop_sig(struct hpx_frames *k, int32_t words);
bool hpx_frames_pop_unbuilt_sig(struct hpx_frames *k);

/* The thread has yielded, and came back with some of its frames: the last of them returns to a stub, the barrier, which fetches the rest
 * from the heap. of_method: *r is where a method returns; else the stub must be one that was met. 0: it is not the barrier; else the
 * address of the entry of the continuation. */
uintptr_t hpx_frames_at_barrier_sig(const struct hpx_frames *k, const struct hpx_registers *r, bool of_method);
/* From the barrier to the frames in the heap. fetches: the thread does that, and the next frames may be in neither place. If those in the
 * heap cannot be read, or none are there, the walk ends: false if only a whole one is wanted. */
bool hpx_frames_cross_sig(struct hpx_frames *k, uintptr_t entry, bool fetches);
/* Behind the walk: whether the objects whose frames were read were at these addresses meanwhile. */
bool hpx_frames_are_there_sig(const struct hpx_frames *k);
/* To the frames of a chunk. false: it has none, or is none. */
bool hpx_frames_enter_chunk_sig(struct hpx_frames *k, uintptr_t oop);

bool hpx_frames_is_interpreter_sig(uintptr_t pc);
/* Whether a frame may return to *r. */
bool hpx_frames_is_return_sig(const struct hpx_frames *k, const struct hpx_registers *r);
/* Whether k->r is a compiled method: only these call stubs that have a frame. Anything else is deoptimization, which makes frames of the
 * interpreter before it fills them. */
bool hpx_frames_called_by_method_sig(const struct hpx_frames *k);
/* The stack pointer that the method of the interpreter whose frame is at fp has stored, because it waits for a callee. 0: it does not. */
uintptr_t hpx_frames_waits_sig(const struct hpx_frames *k, uintptr_t fp);
/* Whether k->r is in the stub by which C calls Java, whose frame is built: then it is as if Java had returned there. */
bool hpx_frames_in_call_stub_sig(struct hpx_frames *k);

/* At load, after those of code_cache.h and frame_anchor.h: finds the names. NULL, or why there is no raw walk; as of
 * hpx_structures_fields(). */
const char *hpx_frames_init(void);
/* VMInit, after that of code_cache.h, under the guard: where the interpreter and the way from C into Java are. NULL, or what contradicts:
 * then there is no raw walk. */
const char *hpx_frames_live(void);

#endif
