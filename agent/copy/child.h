/* SPDX-License-Identifier: BSD-2-Clause */
/* child.h: runs the rest of a heap walk in a copy of the process.
 *
 * The VM calls the first callback of a heap walk on its VM thread, at a safepoint. There hpx_child_fork() clones the process. The parent
 * aborts the walk, and the program goes on. The child consists of the VM thread alone, and of workers that this makes; it walks its copy of
 * the heap and writes to the descriptors that it keeps. After the walk the VM thread waits for its next operation; this wait shows that the
 * walk is over, unless a callback knows that before (hpx_child_finish()).
 *
 * A thread that the child does not have may hold any lock of the C library or the VM. So the child replaces the addresses through which
 * libjvm calls other libraries: memory comes from an allocator without locks, locks are always free, nothing is logged. Callbacks in the
 * child must likewise take no lock and call neither malloc() nor stdio nor the JVM; system calls, memcpy() and the like are safe.
 *
 * Not for ZGC and other heaps in shared memory: fork_check.h. */
#ifndef HPX_CHILD_H
#define HPX_CHILD_H

#include "child_calls.h"
#include "fork_watch.h"
#include <stdatomic.h>
#include <sys/types.h>

#define HPX_CHILD_COUNTERS 4 /* mappings of hsperfdata, at most; a VM has one */
#define HPX_CHILD_FIGURES  16

/* Memory that parent and child share. Every field is written by the child and may be read by the parent at any time. */
struct hpx_child_shared {
    _Atomic uint64_t progress;                  /* relaxed: bumped by the child's callbacks, by any amount; shows that the child is alive */
    _Atomic uint64_t figure[HPX_CHILD_FIGURES]; /* relaxed: results, for the caller; in order once the child has ended */
    _Atomic int fault_signal;                   /* relaxed: the signal of a crash, 0: none */
    _Atomic uint64_t fault_address;             /* relaxed: of a SIGSEGV or SIGBUS */
};

/* What one fork needs. Made by hpx_child_prepare(), released by hpx_child_release(); owned by the caller. */
struct hpx_child {
    const struct hpx_child_slots *slots;
    struct hpx_child_shared *shared;
    struct {
        void *at;
        size_t size;
    } counters[HPX_CHILD_COUNTERS]; /* the VM's hsperfdata, which is mapped shared: the child must not write it */
    unsigned ncounters;
    /* Called in the child on the VM thread after the walk: writes what comes last. Its value, 0 to HPX_CHILD_STATUS, is the child's exit
     * status. Same restrictions as for callbacks. */
    int (*over)(void *arg);
    void *arg;
    const int *keep; /* descriptors that the child keeps; the array lives until the fork */
    unsigned nkeep;
    /* A pipe. After the fork only the child has alive[1] open, so alive[0] hangs up when the child ends. -1: no pipe; the end is then seen
     * 2 ms late. If a process that the program started has a copy of alive[1], the end is seen 20 ms late. */
    int alive[2];
};

/* Makes the shared page and the pipe, and finds the VM's counters; clears *child but for `slots`. The caller then sets over, arg, keep and
 * nkeep. Before the walk, on a thread that may allocate and read files. 0, -HPX_E_NOMEM. */
int hpx_child_prepare(struct hpx_child *child, const struct hpx_child_slots *slots, struct hpx_err *err);
/* Unmaps the shared page and closes the pipe. In the parent, after the child was reaped or when no fork took place. */
void hpx_child_release(struct hpx_child *child);

/* Clones the process: > 0 in the parent: the child's pid; 0 in the child; < 0: -errno, no child. Called in a callback of the walk. Takes no
 * lock, allocates nothing, runs no atfork handler; in the parent closes alive[1]. `frame` is HPX_FRAME_END() of that callback: a
 * wait nearer to the bottom of the stack is the end of the walk, one further up belongs to the walk, which then has failed
 * (HPX_CHILD_WAITED). In the parent the stop is as long as the kernel copies page tables.
 *
 * The program does not notice the child: its end raises no signal, and wait() without __WCLONE or __WALL does not report it. The child
 * blocks all signals but faults, closes all descriptors but `keep` and alive[1], leaves no core or hs_err file, is the kernel's first
 * victim when memory runs out, and dies with the thread that forked it (the VM thread lives as long as the VM). */
pid_t hpx_child_fork(struct hpx_child *child, const void *frame);

/* ---- in the child: threads of its own ---- */

/* One more thread, which neither the C library nor the VM knows: it runs run(arg) on this stack, and shares errno and all thread variables
 * with the one that made it, so it may use none. A crash of it is one of the child. *running: not 0, and cleared by the kernel when the
 * thread has ended and its stack may go. false: there is none (musl, for one, refuses). */
bool hpx_child_worker(int (*run)(void *arg), void *arg, void *stack_end, _Atomic int *running);
/* In run(): 10 nicer than the thread that made it, so that the program goes first. */
void hpx_child_worker_nice(void);

/* ---- in the parent: the end of the child ---- */

enum hpx_child_end {
    HPX_CHILD_RUNS,
    HPX_CHILD_ENDED,     /* value: the exit status that over() gave */
    HPX_CHILD_CRASHED,   /* value: the signal of the fault, 0 if the VM itself gave up (abort(), exit()) */
    HPX_CHILD_WAITED,    /* the VM thread waited for another thread during the walk: the walk is incomplete */
    HPX_CHILD_UNREADY,   /* the child could not redirect libjvm's calls; it walked nothing */
    HPX_CHILD_KILLED,    /* value: the signal. SIGKILL: most often memory ran out */
    HPX_CHILD_STUCK,     /* neither progress nor CPU time, or CPU time without progress: killed by hpx_child_await() */
    HPX_CHILD_CANCELLED, /* killed by hpx_child_await() as the caller wished */
    HPX_CHILD_MEMORY,    /* killed by hpx_child_await() because memory grew short; why: the watch's reason */
    HPX_CHILD_LOST,      /* somebody else reaped it: the result is unknown */
};

struct hpx_child_report {
    enum hpx_child_end end;
    int value;
    const char *why; /* NULL but for HPX_CHILD_MEMORY; in the watch, which must outlive the report */
};

/* Has the child ended? Then reaps it and reports how. Does not wait; any thread of the parent. After any other end than HPX_CHILD_RUNS the
 * pid is invalid. Every child must be reaped, by this or by hpx_child_await(). */
struct hpx_child_report hpx_child_poll(const struct hpx_child *child, pid_t pid);

struct hpx_child_wait {
    uint64_t stall_ns; /* kill a child that used no CPU time and made no progress for that long; 0: never */
    uint64_t spin_ns;  /* kill a child that used that much CPU time without progress; 0: never */
    /* NULL, or called every 20 ms or so with the child's progress; false: kill the child (HPX_CHILD_CANCELLED). */
    bool (*go_on)(void *arg, uint64_t progress);
    void *arg;
    const _Atomic bool *cancel; /* NULL, or a flag that asks for the same */
    /* NULL, or looked at every 20 ms or so: a child that costs too much memory is killed (HPX_CHILD_MEMORY). Begun by the caller. */
    struct hpx_fork_watch *watch;
};

/* Waits for the end of the child, kills it if need be, and reaps it. Never reports HPX_CHILD_RUNS. Any thread of the parent that may block.
 */
struct hpx_child_report hpx_child_await(const struct hpx_child *child, pid_t pid, const struct hpx_child_wait *how);
/* Kills the child and reaps it; a child that ended before is reported as it ended. Any thread of the parent. */
struct hpx_child_report hpx_child_kill(const struct hpx_child *child, pid_t pid, enum hpx_child_end why);
/* Writes one clause about the end into buf, such as "the child crashed (signal 11 at address 0x10)". Any thread. Returns buf. */
const char *hpx_child_text(const struct hpx_child *child, struct hpx_child_report report, char *buf, size_t size);

#endif
