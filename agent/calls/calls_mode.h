/* SPDX-License-Identifier: BSD-2-Clause */
/* calls_mode.h: cpu=times and cpu=old as one mode, which counts and times every call. */
#ifndef HPX_CALLS_MODE_H
#define HPX_CALLS_MODE_H

#include "call_rows.h"
#include "mode.h"
#include "session.h"

extern const struct hpx_mode hpx_calls_mode;       /* cpu=times */
extern const struct hpx_mode hpx_calls_mode_old;   /* cpu=old */
extern const struct hpx_vm_mode hpx_calls_vm_mode; /* the other half of both */

/* The active one of the two. */
const struct hpx_mode *hpx_calls_mode_active(void);
/* Its table. Constant once loaded. */
struct hpx_call_rows *hpx_calls_rows(void);
/* Adds the report's line of the methods that the VM can replace. The writer's thread. */
void hpx_calls_replaced_lines(struct hpx_lines *to, const struct hpx_call_snapshot *rows);
/* true with times=sampled. Constant once loaded. */
static inline bool hpx_calls_timed_by_samples(void)
{
    return hpx_session.in_effect.times == HPX_TIMES_SAMPLED;
}

#endif
