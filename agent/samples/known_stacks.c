/* SPDX-License-Identifier: BSD-2-Clause */
/* known_stacks.c: the cache of known_stacks.h. */
#include "known_stacks.h"
#include "hash.h"
#include "judge.h"
#include "shared_stacks.h"
#include "stacks.h"

static HPX_OF_SESSION _Atomic uint32_t found; /* relaxed: stacks that were named by another thread */

static struct hpx_known *entry_of(struct hpx_sample_thread *t, const struct hpx_raw_stack *raw)
{
    return &t->known[raw->lo % HPX_KNOWN];
}

/* NULL: the thread does not know the stack, or its slot now has another stack. */
static const struct hpx_known *find(struct hpx_sample_thread *t, const struct hpx_raw_stack *raw)
{
    const struct hpx_known *k = entry_of(t, raw);
    return k->slot != 0 && k->check == raw->hi && k->stack == (uint32_t)t->slots[k->slot - 1u].hi ? k : NULL;
}

static void remember(struct hpx_sample_thread *t, const struct hpx_raw_stack *raw, uint16_t flags)
{
    *entry_of(t, raw) = (struct hpx_known){raw->hi, (uint32_t)t->slots[t->last_slot - 1].hi, (uint16_t)t->last_slot, flags};
}

static void count(struct hpx_sample_thread *t, uint16_t flags, uint64_t weight)
{
    hpx_count(&t->s.base.counters, HPX_C_KNOWN, weight);
    hpx_count(&t->s.base.counters, HPX_C_IN_PROBES, flags & HPX_KNOWN_PROBE ? weight : 0);
    hpx_count(&t->s.base.counters, HPX_C_TRUNCATED, flags & HPX_KNOWN_HEAP ? weight : 0);
}

bool hpx_known_stacks_push_sig(struct hpx_sample_thread *t, const struct hpx_raw_thread *w, uint64_t weight, struct hpx_known_look *look)
{
    look->whole = hpx_async_stack_hash_sig(w, &look->raw, &look->faulted);
    const struct hpx_known *k = look->whole ? find(t, &look->raw) : NULL;
    look->known = k != NULL;
    if (k == NULL) {
        return false;
    }
    look->was = *k;
    if (hpx_judge_asks_sig(HPX_JUDGED_KNOWN, ++t->known_all)) {
        return false;
    }
    if (hpx_stacks_known(t, k->slot - 1u, weight)) {
        count(t, k->flags, weight);
    }
    return true;
}

bool hpx_known_stacks_commit_shared_sig(struct hpx_sample_thread *t, struct hpx_ev_frame *frames, uint32_t depth, uint64_t weight,
                                        struct hpx_known_look *look)
{
    uint16_t flags;
    int n = look->whole && !look->known ? hpx_shared_stacks_find_sig(&look->raw, frames, depth, &flags) : 0;
    if (n == 0) {
        return false;
    }
    if (hpx_judge_asks_sig(HPX_JUDGED_KNOWN, atomic_fetch_add_explicit(&found, 1, memory_order_relaxed) + 1)) {
        struct hpx_hash128 h = hpx_hash128(frames, (size_t)n * sizeof *frames);
        look->known = true;
        look->was = (struct hpx_known){look->raw.hi, (uint32_t)h.hi, (uint16_t)(hpx_stacks_slot(h.lo) + 1), flags};
        return false;
    }
    hpx_stacks_commit(t, frames, n, weight);
    remember(t, &look->raw, flags);
    count(t, flags, weight);
    return true;
}

bool hpx_known_stacks_learn_sig(struct hpx_sample_thread *t, const struct hpx_known_look *look, uint16_t flags)
{
    remember(t, &look->raw, flags);
    if (!look->known) {
        return false;
    }
    const struct hpx_known *now = entry_of(t, &look->raw), *was = &look->was;
    bool same = was->stack == now->stack && was->slot == now->slot && was->flags == now->flags;
    return hpx_judge_told_sig(HPX_JUDGED_KNOWN, same ? HPX_JUDGED_SAME : HPX_JUDGED_DIFFERENT);
}

void hpx_known_stacks_alone_sig(const struct hpx_known_look *look)
{
    if (look->known) {
        (void)hpx_judge_told_sig(HPX_JUDGED_KNOWN, HPX_JUDGED_ALONE);
    }
}
