/* SPDX-License-Identifier: BSD-2-Clause */
/* internals.c: the state of internals.h. */
#include "internals.h"
#include "session.h"
#include "structures.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static HPX_OF_SESSION struct {
    atomic_bool on;                                     /* release: turn_on; acquire: on_sig. Only then structures are read */
    _Atomic(const char *) why;                          /* release: leave; acquire: off. NULL: on, or not checked yet */
    atomic_bool anchors;                                /* release: turn_anchors_on; acquire: anchors_sig. Covers where the anchors are */
    atomic_bool raw;                                    /* release: turn_raw_on; acquire: raw_sig. Covers what raw_walk.c has found */
    _Atomic(const char *) without[HPX_INTERNALS_PARTS]; /* seq_cst: why a part is not read */
} internals;

const char *hpx_internals_closed(void)
{
    const char *env = getenv("HPROFX_VMSTRUCTS"), *absent = hpx_structures_absent();
    return absent != NULL                     ? absent
           : !hpx_session.opt->vmstructs      ? "vmstructs=n"
           : env != NULL && !strcmp(env, "n") ? "HPROFX_VMSTRUCTS=n"
                                              : NULL;
}

bool hpx_internals_on_sig(void)
{
    return atomic_load_explicit(&internals.on, memory_order_acquire); /* partner: hpx_internals_turn_on() */
}

void hpx_internals_turn_on(void)
{
    atomic_store_explicit(&internals.on, true, memory_order_release); /* partner: hpx_internals_on_sig() */
}

void hpx_internals_leave(const char *why)
{
    const char *none = NULL;
    atomic_store_explicit(&internals.on, false, memory_order_relaxed);
    /* partner: hpx_internals_off() */
    (void)atomic_compare_exchange_strong_explicit(&internals.why, &none, why, memory_order_release, memory_order_relaxed);
}

const char *hpx_internals_off(void)
{
    return atomic_load_explicit(&internals.why, memory_order_acquire); /* partner: hpx_internals_leave() */
}

bool hpx_internals_anchors_sig(void)
{
    /* partner: hpx_internals_turn_anchors_on() */
    return hpx_internals_on_sig() && atomic_load_explicit(&internals.anchors, memory_order_acquire) &&
           internals.without[HPX_INTERNALS_ANCHORS] == NULL;
}

void hpx_internals_turn_anchors_on(void)
{
    atomic_store_explicit(&internals.anchors, true, memory_order_release); /* partner: hpx_internals_anchors_sig() */
}

bool hpx_internals_raw_sig(void)
{
    /* partner: hpx_internals_turn_raw_on() */
    return atomic_load_explicit(&internals.raw, memory_order_acquire) && internals.without[HPX_INTERNALS_RAW] == NULL &&
           hpx_internals_anchors_sig();
}

void hpx_internals_turn_raw_on(void)
{
    atomic_store_explicit(&internals.raw, true, memory_order_release); /* partner: hpx_internals_raw_sig() */
}

bool hpx_internals_names_sig(void)
{
    return internals.without[HPX_INTERNALS_NAMES] == NULL && hpx_internals_raw_sig();
}

void hpx_internals_leave_part_sig(enum hpx_internals_part part, const char *why)
{
    const char *none = NULL;
    (void)atomic_compare_exchange_strong(&internals.without[part], &none, why);
}

const char *hpx_internals_without(enum hpx_internals_part part)
{
    return internals.without[part];
}

const char *hpx_internals_why(enum hpx_internals_part part)
{
    static const unsigned needs[HPX_INTERNALS_PARTS] = {[HPX_INTERNALS_RAW] = 1u << HPX_INTERNALS_ANCHORS,
                                                        [HPX_INTERNALS_NAMES] = 1u << HPX_INTERNALS_ANCHORS | 1u << HPX_INTERNALS_RAW,
                                                        [HPX_INTERNALS_EVENTS] = 1u << HPX_INTERNALS_ANCHORS | 1u << HPX_INTERNALS_RAW,
                                                        [HPX_INTERNALS_MONITORS] = 1u << HPX_INTERNALS_ANCHORS};
    const char *why = internals.without[part];
    if (why == NULL && part != HPX_INTERNALS_IDS) {
        why = hpx_internals_off();
    }
    for (int p = 0; why == NULL && p < HPX_INTERNALS_PARTS; p++) {
        why = needs[part] >> p & 1 ? internals.without[p] : NULL;
    }
    return why;
}
