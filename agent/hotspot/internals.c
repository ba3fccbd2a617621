/* SPDX-License-Identifier: BSD-2-Clause */
/* internals.c: the state of internals.h. */
#include "internals.h"
#include "session.h"
#include "structures.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static HPX_OF_SESSION struct {
    atomic_bool on;            /* release: turn_on; acquire: on_sig. Covers what the checks have found */
    _Atomic(const char *) why; /* release: leave; acquire: without. NULL: on, or not checked yet */
} parts[HPX_INTERNALS_PARTS];

/* The part that every part needs. A part that needs no other names itself. */
static const enum hpx_internals_part needs[HPX_INTERNALS_PARTS] = {
    [HPX_INTERNALS_CODE] = HPX_INTERNALS_CODE,   [HPX_INTERNALS_ANCHORS] = HPX_INTERNALS_CODE,
    [HPX_INTERNALS_RAW] = HPX_INTERNALS_ANCHORS, [HPX_INTERNALS_NAMES] = HPX_INTERNALS_RAW,
    [HPX_INTERNALS_EVENTS] = HPX_INTERNALS_RAW,  [HPX_INTERNALS_MONITORS] = HPX_INTERNALS_ANCHORS,
    [HPX_INTERNALS_IDS] = HPX_INTERNALS_IDS,
};

const char *hpx_internals_closed(void)
{
    const char *env = getenv("HPROFX_VMSTRUCTS"), *absent = hpx_structures_absent();
    return absent != NULL                     ? absent
           : !hpx_session.opt->vmstructs      ? "vmstructs=n"
           : env != NULL && !strcmp(env, "n") ? "HPROFX_VMSTRUCTS=n"
                                              : NULL;
}

void hpx_internals_turn_on(enum hpx_internals_part part)
{
    atomic_store_explicit(&parts[part].on, true, memory_order_release); /* partner: hpx_internals_on_sig() */
}

bool hpx_internals_on_sig(enum hpx_internals_part part)
{
    for (;; part = needs[part]) {
        /* partner: hpx_internals_turn_on() */
        if (!atomic_load_explicit(&parts[part].on, memory_order_acquire) || hpx_internals_without(part) != NULL) {
            return false;
        }
        if (part == needs[part]) {
            return true;
        }
    }
}

void hpx_internals_leave_sig(enum hpx_internals_part part, const char *why)
{
    const char *none = NULL;
    /* partner: hpx_internals_without() */
    (void)atomic_compare_exchange_strong_explicit(&parts[part].why, &none, why, memory_order_release, memory_order_relaxed);
}

const char *hpx_internals_without(enum hpx_internals_part part)
{
    return atomic_load_explicit(&parts[part].why, memory_order_acquire); /* partner: hpx_internals_leave_sig() */
}

/* The part's own reason. If it has none, the reason of the lowest part that it needs. */
const char *hpx_internals_why(enum hpx_internals_part part)
{
    const char *why = hpx_internals_without(part), *below = NULL;
    for (; part != needs[part]; part = needs[part]) {
        const char *its = hpx_internals_without(needs[part]);
        below = its != NULL ? its : below;
    }
    return why != NULL ? why : below;
}
