/* SPDX-License-Identifier: BSD-2-Clause */
/* budget.h: how many bytes a thread may allocate in lists, maps and names for what it reads: a file of a few megabytes may hold names of
 * gigabytes. Beyond the budget an allocation fails as one without memory does, so nobody needs to handle it in another way; what is told
 * then is hpx_budget_why().
 *
 *     struct hpx_budget b;
 *     hpx_budget_begin(&b, most, NULL);
 *     ... lists, maps and hpx_budget_take() fail beyond `most` ...
 *     hpx_budget_end(&b);
 *
 * Lists count when they grow, maps also when they shrink; what else is freed before the end is given back by hand. A budget inside another
 * one is that other one. Each thread has its own; threads may have a share in common. */
#ifndef HPX_BUDGET_H
#define HPX_BUDGET_H

#include "compiler.h"

/* Of several threads together. */
struct hpx_budget_share {
    uint64_t most;
    _Atomic uint64_t used; /* relaxed: a number alone */
};

struct hpx_budget {
    uint64_t most, used;
    struct hpx_budget_share *share; /* NULL: none */
    bool outer;                     /* the thread had one already */
};

/* share: may be NULL. */
void hpx_budget_begin(struct hpx_budget *b, uint64_t most, struct hpx_budget_share *share);
/* What was taken of the share, and not handed on, is given back. */
void hpx_budget_end(struct hpx_budget *b);
/* For an allocation of that size. false: it must not be made. */
bool hpx_budget_take(uint64_t bytes);
void hpx_budget_give(uint64_t bytes);
/* What was allocated belongs to somebody else now, who gives the bytes that are returned back to the share. */
uint64_t hpx_budget_hand_on(uint64_t bytes);
void hpx_budget_share_give(struct hpx_budget_share *share, uint64_t bytes);
/* An allocation of this thread failed because of its budget, since the last hpx_budget_begin(). */
bool hpx_budget_refused(void);
/* The last of them because of what others have of its share, and not because of what it needs itself. */
bool hpx_budget_refused_by_share(void);
/* "no memory", or how much is allowed and what to do; of this thread, and good until its next call. */
const char *hpx_budget_why(void);

#endif
