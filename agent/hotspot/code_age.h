/* SPDX-License-Identifier: BSD-2-Clause */
/* code_age.h: how much of the compiled code has no debug information between safepoints, because no session asked for it when it was
 * compiled.
 *
 * Touches what code_cache.h does, under guard.h, on the same releases. After a fault, as at a block that the VM is just making, the answer
 * is not known. */
#ifndef HPX_CODE_AGE_H
#define HPX_CODE_AGE_H

#include "code_cache.h"

struct hpx_code_age {
    uint64_t methods, bytes;         /* compiled */
    uint64_t old_methods, old_bytes; /* of them: without the information */
};

/* After hpx_checks_live() was content, when the compilers have just been asked for the information. Not in handlers. */
void hpx_code_age_begin(void);
/* Before the compilers stop recording it and the guard is removed. Reads nothing after this. Not in handlers. */
void hpx_code_age_end(void);
/* Of the code that is there now. false: all code has the information, or it is not known. Any thread, not in handlers. */
bool hpx_code_age_now(struct hpx_code_age *age);

#endif
