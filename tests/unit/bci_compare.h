/* SPDX-License-Identifier: BSD-2-Clause */
/* bci_compare.h: a second opinion on bci/: is a rewritten class, minus its probes, the class that it was? Shares no code with the rewriter.
 */
#ifndef HPX_BCI_COMPARE_H
#define HPX_BCI_COMPARE_H

#include <stddef.h>
#include <stdint.h>

enum { BCI_CALLS = 1, BCI_SITES = 2, BCI_OBJECTS = 4, BCI_STORES = 8 }; /* as HPROFX_BCI_CALLS etc. */

/* What was asked of the rewriter. */
struct bci_asked {
    const char *tracker;
    unsigned probes;       /* as in struct hprofx_bci_opts, but not 0 */
    uint32_t min;          /* likewise */
    const char *stores;    /* likewise */
    const uint8_t *chosen; /* instead of `probes`, by the methods' positions in the class; NULL: none */
};

struct bci_compared {
    uint32_t methods;                /* that hold probes */
    uint32_t handlers;               /* of these, with a catch-all handler */
    uint32_t sites, objects, stores; /* probes */
    uint32_t trampolines, inverted, wide;
    char fault[200]; /* what differs */
};

/* NULL if every method of `out` is that of `in`, or is it plus all probes that were asked for and wider branches that lead to the same
 * places; with tables and frames to match. Else r->fault. Ids of sites ascend, in a method by 1. For one thread. */
const char *bci_compare(const uint8_t *in, size_t n, const uint8_t *out, size_t m, const struct bci_asked *asked, struct bci_compared *r);

#endif
