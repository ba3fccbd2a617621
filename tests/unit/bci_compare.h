/* SPDX-License-Identifier: BSD-2-Clause */
/* bci_compare.h: a second opinion on bci/: is a rewritten class, minus the calls, the class that it was? Shares no code with the rewriter.
 */
#ifndef HPX_BCI_COMPARE_H
#define HPX_BCI_COMPARE_H

#include <stddef.h>
#include <stdint.h>

struct bci_compared {
    uint32_t methods;  /* that hold calls */
    uint32_t handlers; /* of these, with a catch-all handler */
    uint32_t trampolines, inverted, wide;
    char fault[200]; /* what differs */
};

/* NULL if every method of `out` is that of `in`, or is it plus: an entry call at 0, an exit call before each return, a handler (thrown,
 * athrow) at the end, wider branches that lead to the same places; with tables and frames to match. Else r->fault. For one thread. */
const char *bci_compare(const uint8_t *in, size_t n, const uint8_t *out, size_t m, const char *tracker, struct bci_compared *r);

#endif
