/* SPDX-License-Identifier: BSD-2-Clause */
/* frame_names.h: what the frames of a raw walk (raw_walk.h) are called: methods and bytecodes, as AsyncGetCallTrace gives them; 0 for a
 * method without a jmethodID.
 *
 * Touches Method and ConstMethod, debug information and scopes of compiled methods (debug_info.h, scopes.h); reads only. On JDK 8 to 22 and
 * 25 to 28, x86-64. */
#ifndef HPX_FRAME_NAMES_H
#define HPX_FRAME_NAMES_H

#include "code_cache.h"
#include "event.h"

/* At load, after those of code_cache.h and debug_info.h. NULL, or the constant text why frames have no names. */
const char *hpx_frame_names_init(void);

/* The answer. */
struct hpx_frame_names {
    struct hpx_ev_frame *out; /* room for `most` */
    uint32_t most, n;
    bool addresses; /* Method* in place of jmethodIDs */
};

/* Where a compiled frame stands. */
enum hpx_frame_place {
    HPX_FRAME_CALLER,      /* behind a call: its debug information is at the pc */
    HPX_FRAME_ANCHOR,      /* of the last frame before the thread left Java: the same; if there is none, what is described next */
    HPX_FRAME_INTERRUPTED, /* anywhere: what is described next holds */
    HPX_FRAME_UNBUILT      /* on top, with a frame that is not built yet, or left: the method alone, without a bytecode */
};

/* ---- in the handler, under its guard as a read of structures; async-signal-safe. Methods for which `out` has no room
 * are left out. false: the information about the frame makes no sense, and nothing was added ---- */

bool hpx_frame_names_compiled_sig(struct hpx_frame_names *names, const struct hpx_code_frame *f, enum hpx_frame_place place);
/* method: Method*; place: as below. */
void hpx_frame_names_interpreted_sig(struct hpx_frame_names *names, uintptr_t method, uint32_t place);
/* Bytes from the begin of its bytecodes, plus 1; 0: it is outside of them, as in a native method. */
uint32_t hpx_frame_names_place_sig(uintptr_t method, uintptr_t bytecode);
/* Whether an interpreted frame of this method may have so many words from the stack pointer to the frame pointer. */
bool hpx_frame_names_fits_sig(uintptr_t method, uintptr_t words);

#endif
