/* SPDX-License-Identifier: BSD-2-Clause */
/* watched.h: what is known of the threads that watch.h looks at, by their places in thread_list.h, whose lock guards it and the ring into
 * which all records go. */
#ifndef HPX_WATCHED_H
#define HPX_WATCHED_H

#include "mode_thread.h"
#include "session.h"
#include "thread_list.h"

static inline uint32_t hpx_watch_depth(void)
{
    return atomic_load_explicit(&hpx_session.depth, memory_order_relaxed);
}

/* At load, before the aggregator runs: makes the ring. 0; -HPX_E_NOMEM: there is no ring, and all else works without one. */
int hpx_watched_begin(const void *mode);
/* A thread with a ring of this mode is gone (hpx_mode.gone): that of the looking thread, or a carrier's (carrier.h). */
void hpx_watched_gone(struct hpx_thread *t);
/* hpx_session_end(). */
void hpx_watched_fini(void);

/* A thread with these states is announced. The thread, or VMInit; inside the gate. Without memory it is not watched, which is counted. */
void hpx_watched_add(struct hpx_mode_thread *first);
/* A thread is there that carries virtual threads. Any thread. */
void hpx_watched_carrier(void);
/* It ends, and its states will retire. The thread, or VMInit; inside the gate. */
void hpx_watched_remove(struct hpx_mode_thread *first);

/* ---- the looking thread ---- */

struct hpx_watch_round {
    bool all, sums; /* all: reads the clocks of all threads; sums: what is due will be written */
    bool last;      /* looks at all of them, due or not: nothing follows */
    uint64_t now;   /* looks at threads that are due until then */
};

/* What the VM said of it. */
struct hpx_watch_found {
    const jvmtiFrameInfo *frames;
    jint n;         /* < 0: no stack, -enum hpx_unknown */
    uint32_t state; /* HPX_WALL_RUNNABLE: it wants a CPU, and the rest says nothing */
    uint32_t klass; /* number of the class of what it waits for (wait_class.h); 0: none, or unknown */
};

/* Looks at some threads from place *from on, and holds those whose wait has to be found out: hpx_watched_deliver() must follow. *from is
 * where to go on. false: these were the last places. */
bool hpx_watched_look(uint32_t *from, const struct hpx_watch_round *r, struct hpx_held held[HPX_HELD_MOST], uint32_t *n);
/* How long the periods of threads that run are from now on (share.h). Any thread. */
void hpx_watched_pace(uint64_t interval);
/* No thread is due before that (hpx_clock_mono()), but one that begins meanwhile. UINT64_MAX: there is none. */
uint64_t hpx_watched_soonest(void);
/* Reads the thread's stack without the VM (quiet_stack.h), with the frames of a probe. Under the lock, which the thread takes before it
 * ends: its stack and its JavaThread stay as long. A thread that ends while the gate closes does not take it: then a read may fault, which
 * guard.h catches, or find what is no longer there, and the thread's clock has moved. Returns the number of frames, at most `most`; 0: the
 * VM has to be asked. */
uint32_t hpx_watched_walk(const struct hpx_held *h, jvmtiFrameInfo *frames, uint32_t most);
/* The class of the monitor that the thread enters or waits on, read without the VM. Under the lock, as hpx_watched_walk().
 * thread: hpx_waited_monitor_thread(). false: not known. */
bool hpx_watched_monitor(const struct hpx_held *h, uint64_t thread, char *to);
/* f: NULL: nothing was found out. If the thread has run since the look, f says nothing. Returns whether f says where the thread waits. */
bool hpx_watched_deliver(JNIEnv *env, const struct hpx_held *h, const struct hpx_watch_found *f);
/* Writes what is due. last: nothing follows; who wants a CPU has waited for it, and what has no place is written as unknown. false: these
 * were the last places. */
bool hpx_watched_sums(uint32_t from, bool last);

struct hpx_watched_figures {
    uint64_t threads, looks, stacks, moved; /* moved: stacks thrown away, because the thread had run meanwhile */
    uint64_t walked;                        /* of `stacks`: without the VM */
    uint64_t carriers;                      /* threads that carry virtual threads, since the start */
    uint64_t moved_ns, idle_ns;             /* mean time for which a look at a thread stood that had run, and that had not */
    uint64_t unseen;                        /* older threads whose kernel id is not known, which have no clock */
    uint64_t bytes;
};
/* Any thread; each value for itself. */
struct hpx_watched_figures hpx_watched_figures(void);

#endif
