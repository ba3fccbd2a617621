/* SPDX-License-Identifier: BSD-2-Clause */
/* child_calls.h: the calls of libjvm that the child of a heap walk (child.h) replaces.
 *
 * Touches the global offset table of libjvm: finds it in the ELF headers of the loaded library, and writes it in the child alone. The same
 * on every release of HotSpot, glibc and musl; x86-64 and aarch64 (elsewhere nothing is found). -Dhotspot=false: never called. */
#ifndef HPX_CHILD_CALLS_H
#define HPX_CHILD_CALLS_H

#include "err.h"
#include <sys/syscall.h>
#include <unistd.h>

#define HPX_CHILD_SLOTS  128 /* at most; a libjvm has about 40 of them */
#define HPX_CHILD_STATUS 63  /* the highest exit status that over() may return */

/* Where libjvm keeps the addresses of the functions that a child replaces. Filled by hpx_child_find(), constant afterwards. */
struct hpx_child_slots {
    unsigned n;
    struct {
        void **at;
        unsigned function; /* index of the table in child_calls.c */
    } slot[HPX_CHILD_SLOTS];
};

/* Finds these addresses in the library that contains `inside` (any address in libjvm, such as that of a JVMTI function). Reads only; any
 * thread, once, before the first fork. 0; -HPX_E_SYS: the library lacks what a child needs (malloc, free and the waits), there is no fork
 * on this VM. */
int hpx_child_find(struct hpx_child_slots *slots, const void *inside, struct hpx_err *err);

/* Exit statuses of the child itself, above HPX_CHILD_STATUS. */
enum { HPX_CHILD_EXIT_FAULT = 120, HPX_CHILD_EXIT_GAVE_UP, HPX_CHILD_EXIT_WAITED, HPX_CHILD_EXIT_UNREADY, HPX_CHILD_EXIT_ORPHAN };

/* In the child, once: libjvm calls our functions from now on. A wait of a frame above `frame` is the end of the walk: it calls over(arg),
 * whose value is the exit status. false: the slots cannot be written. */
bool hpx_child_redirect(const struct hpx_child_slots *slots, int (*over)(void *arg), void *arg, uintptr_t frame);
/* In the child, after hpx_child_redirect(): the walk is over, by what its callbacks know. Does not return. */
_Noreturn void hpx_child_finish(void);
/* Ends the process without the C library. Async-signal-safe. */
static inline _Noreturn void hpx_child_leave(int status)
{
    for (;;) {
        syscall(SYS_exit_group, status);
    }
}

#endif
