/* SPDX-License-Identifier: BSD-2-Clause */
/* budget.c: see budget.h. The agent has none of it. */
#include "budget.h"
#include <stdatomic.h>
#include <stdio.h>

static _Thread_local struct hpx_budget *current; /* NULL: everything is allowed */
static _Thread_local uint64_t refused;           /* the bound that was reached; 0: none */
static _Thread_local bool by_share;              /* what others have of the share was too much */

void hpx_budget_begin(struct hpx_budget *b, uint64_t most, struct hpx_budget_share *share)
{
    *b = (struct hpx_budget){.most = most, .share = share, .outer = current != NULL};
    if (!b->outer) {
        current = b;
        refused = 0;
    }
}

void hpx_budget_share_give(struct hpx_budget_share *share, uint64_t bytes)
{
    (void)atomic_fetch_sub_explicit(&share->used, bytes, memory_order_relaxed);
}

void hpx_budget_end(struct hpx_budget *b)
{
    if (!b->outer) {
        if (b->share != NULL) {
            hpx_budget_share_give(b->share, b->used);
        }
        current = NULL;
    }
}

bool hpx_budget_take(uint64_t bytes)
{
    struct hpx_budget *b = current;
    if (b == NULL) {
        return true;
    }
    if (bytes > b->most - b->used) {
        refused = b->most;
        by_share = false;
        return false;
    }
    if (b->share != NULL && atomic_fetch_add_explicit(&b->share->used, bytes, memory_order_relaxed) + bytes > b->share->most) {
        hpx_budget_share_give(b->share, bytes);
        refused = b->share->most;
        by_share = true;
        return false;
    }
    b->used += bytes;
    return true;
}

/* Not more than was taken: it may have been allocated before the budget began. */
static uint64_t leave(uint64_t bytes)
{
    struct hpx_budget *b = current;
    bytes = b == NULL ? 0 : bytes < b->used ? bytes : b->used;
    if (bytes > 0) {
        b->used -= bytes;
    }
    return bytes;
}

void hpx_budget_give(uint64_t bytes)
{
    bytes = leave(bytes);
    if (bytes > 0 && current->share != NULL) {
        hpx_budget_share_give(current->share, bytes);
    }
}

uint64_t hpx_budget_hand_on(uint64_t bytes)
{
    return leave(bytes);
}

bool hpx_budget_refused(void)
{
    return refused != 0;
}

bool hpx_budget_refused_by_share(void)
{
    return refused != 0 && by_share;
}

const char *hpx_budget_why(void)
{
    static _Thread_local char text[200];
    if (refused == 0) {
        return "no memory";
    }
    (void)snprintf(text, sizeof text,
                   "%s more than %llu MiB of memory, which is the limit here; HPROFX_MEMORY=SIZE (such as 4g) sets another",
                   by_share ? "with what others have taken it needs" : "it needs", (unsigned long long)(refused >> 20));
    return text;
}
