/* SPDX-License-Identifier: BSD-2-Clause */
/* wake.h: an event count: any thread posts, threads sleep until the count changes; the only includer of ck_ec.
 *
 * Waiters: any thread, not in signal handlers; a post wakes all. Wakers: any thread, signal handlers too (one locked add, and a futex
 * system call only if a thread sleeps; errno is kept). A post between hpx_wake_value() and hpx_wake_wait() is never lost: wait returns
 * at once if the value has changed. Order: a hpx_wake_value() that sees a post also sees all writes before it (release / acquire). */
#ifndef HPX_WAKE_H
#define HPX_WAKE_H

#include "compiler.h"

struct hpx_wake {
    uint32_t opaque; /* struct ck_ec32, checked in wake.c */
};

void hpx_wake_init(struct hpx_wake *w);
uint32_t hpx_wake_value(struct hpx_wake *w);
/* Returns when the value is no longer `seen`, or after `ns` nanoseconds (true: timed out). */
bool hpx_wake_wait(struct hpx_wake *w, uint32_t seen, uint64_t ns);
void hpx_wake_post(struct hpx_wake *w);

#endif
