/* SPDX-License-Identifier: BSD-2-Clause */
/* code_age.h: how much of the compiled code is older than a session that began late: it has no debug information between safepoints.
 *
 * Touches what code_cache.h does, under guard.h, on the same releases. A fault turns the structures off (internals.h). */
#ifndef HPX_CODE_AGE_H
#define HPX_CODE_AGE_H

#include "code_cache.h"

struct hpx_code_age {
    struct hpx_code_sum all, old;
};

/* After hpx_checks_live() was content, when the compilers have just been asked for the information. Not in handlers. */
void hpx_code_age_begin(void);
/* Before the guard is removed: nothing is read any more. Not in handlers. */
void hpx_code_age_end(void);
/* Of the code that is there now. false: nothing is older, or it is not known. Any thread, not in handlers. */
bool hpx_code_age_now(struct hpx_code_age *age);

#endif
