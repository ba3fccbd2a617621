/* SPDX-License-Identifier: BSD-2-Clause */
/* instrument.c: the class hook of instrument.h. */
#include "instrument.h"
#include "hprofx_bci.h"
#include "log.h"
#include "patterns.h"
#include <stdlib.h>
#include <string.h>

#define BATCH 32 /* classes that are retransformed in one operation of the VM */

static struct {
    _Atomic uint32_t next; /* relaxed: numbers are unique, no more */
    _Atomic uint64_t classes, refused, methods, bare, untold;
    _Atomic uint64_t left[HPROFX_BCI_LEFT_COUNT];
} done = {.next = 1};

_Static_assert(HPROFX_BCI_LEFT_COUNT <= 16, "hpx_instrument_figures has room for the reasons");

static void add(_Atomic uint64_t *to, uint64_t n)
{
    if (n > 0) {
        atomic_fetch_add_explicit(to, n, memory_order_relaxed);
    }
}

/* What is told of the class: grows while the rewriter names its methods. */
struct telling {
    struct hpx_msg_code *msg; /* NULL: no memory */
    uint32_t first, n;
};

static uint32_t number(void *ctx, uint32_t methods)
{
    struct telling *t = ctx;
    t->first = atomic_fetch_add_explicit(&done.next, methods, memory_order_relaxed);
    return t->first;
}

static bool want(void *ctx, const struct hprofx_bci_method *m)
{
    (void)ctx;
    return hpx_patterns_want(&hpx_agent.opt.patterns, m->class_name.at, m->class_name.len, m->name.at, m->name.len);
}
