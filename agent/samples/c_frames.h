/* SPDX-License-Identifier: BSD-2-Clause */
/* c_frames.h: native=y: the frames of C of a sample: on top of the Java frames, between two parts of Java, or alone.
 *
 * The handler walks them (unwind.h) under the guard, and puts them into the raw walk (raw_walk.h), whose hash then tells stacks apart by
 * them, too. The thread hprofx-native, which calls no JVM, looks which libraries are mapped, and names functions when the model asks. */
#ifndef HPX_C_FRAMES_H
#define HPX_C_FRAMES_H

#include "lines.h"
#include "model_msg.h"
#include "raw_walk.h"
#include "unwind.h"

struct hpx_c_frames {
    uint32_t n;
    bool called;                         /* by code of the VM */
    uint64_t methods[HPX_EV_C_MOST + 1]; /* the last one: HPX_UNKNOWN_TRUNCATED, if the walk came neither to Java nor to the begin */
};

/* With native=y starts the thread, if it does not run. While the JVM starts, when all is prepared, so that the tables of its libraries are
 * there when the program begins: what failed until then has no thread to wait for. */
void hpx_c_frames_start(void);
/* When raw walks are possible: starts the thread, and from now on handlers walk. */
void hpx_c_frames_live(void);
/* The engine is not async, or no longer: with native=y a message says that stacks have no frames of C. */
void hpx_c_frames_left_out(void);
/* A question for the name of a function of C (hpx_ev_is_c()); the answer goes to the control lane. The aggregator. */
void hpx_c_frames_post(struct hpx_msg_resolve *r);
/* After the last question: asks the thread to leave. */
void hpx_c_frames_over(void);
/* Waits for that until then (hpx_clock_mono()). false: it has not left. */
bool hpx_c_frames_left(uint64_t until_ns);
/* When it has left, and no handler will begin any more. inside: a handler is stopped in the middle and may go on. */
void hpx_c_frames_end(bool inside);
/* CPU time of the thread. */
uint64_t hpx_c_frames_cpu(void);
/* The report. */
void hpx_c_frames_lines(struct hpx_lines *to, uint64_t samples);

/* Frames of C that a stack may have; 0: there are none. The same throughout a session. Any thread; async-signal-safe. */
uint32_t hpx_c_frames_room(void);
/* Whether stacks have them now. acquire. Async-signal-safe. */
bool hpx_c_frames_on_sig(void);
/* In the handler: those above Java of the thread that was interrupted there; weight: of the sample. Async-signal-safe. */
void hpx_c_frames_take_sig(const struct hpx_raw_thread *t, const void *context, uint64_t weight, struct hpx_c_frames *to);
/* For struct hpx_raw_thread. */
uint32_t hpx_c_frames_between_sig(const struct hpx_raw_thread *t, const struct hpx_registers *at, uint64_t *methods, uint32_t most);

#endif
