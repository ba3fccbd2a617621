/* SPDX-License-Identifier: BSD-2-Clause */
/* balance.h: the table of live blocks behind the counting library: what it holds now, and who asked for it.
 *
 * Callers: any thread, not in signal handlers (nor may what it counts be called there). A lock orders the calls; it is held over a fork. */
#ifndef HPX_BALANCE_H
#define HPX_BALANCE_H

#include <stddef.h>
#include <stdint.h>

enum hpx_balance_kind { HPX_BALANCE_HEAP = 1, HPX_BALANCE_MAPPING, HPX_BALANCE_JVMTI };

/* The library's own address of the call that leads here; 0 for calls from elsewhere. `frame` is __builtin_frame_address(0) of the wrapper.
 */
void hpx_balance_add(enum hpx_balance_kind kind, const void *p, size_t bytes, const void *frame);
/* NULL is nothing. A block that is not in the table is counted as strange. */
void hpx_balance_remove(enum hpx_balance_kind kind, const void *p);
/* Takes a block out that is documented to stay; nothing if there is none. */
void hpx_balance_keep(const void *p);
/* The next report leaves this block out, which will be given back. One that is not in the table is counted as strange. */
void hpx_balance_spare(const void *p);

/* Opens HPX_BALANCE.PID for the report; without HPX_BALANCE nothing is written. */
void hpx_balance_open(void);
void hpx_balance_close(void);
/* One line a group of live blocks: STAGE KIND BLOCKS BYTES OFFSET..., offsets from the base of the library, innermost call first. */
void hpx_balance_report(const char *stage);
/* A line for the reader: how often something was so that should not be. */
void hpx_balance_note(const char *stage, const char *what, unsigned long long n);

/* Wraps the allocating functions of the agent's environment. */
void hpx_balance_jvmti(void);

/* The bug asked for by HPX_BALANCE_PLANT, if it is `name`. */
int hpx_balance_planted(const char *name);

#endif
