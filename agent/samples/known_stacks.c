/* SPDX-License-Identifier: BSD-2-Clause */
/* known_stacks.c: the cache of known_stacks.h. */
#include "known_stacks.h"
#include "judge.h"
#include "stacks.h"

static struct hpx_known *entry_of(struct hpx_sample_thread *t, const struct hpx_raw_stack *raw)
{
    return &t->known[(raw->lo + (uint64_t)raw->top * (HPX_KNOWN / 4 + 1)) % HPX_KNOWN];
}

static uint64_t check_of(const struct hpx_raw_stack *raw)
{
    return raw->hi + (uint64_t)raw->top;
}

/* NULL: the thread does not know it, or its slot has been given to another stack since. */
static const struct hpx_known *find(struct hpx_sample_thread *t, const struct hpx_raw_stack *raw)
{
    const struct hpx_known *k = entry_of(t, raw);
    return k->slot != 0 && k->check == check_of(raw) && k->stack == (uint32_t)t->slots[k->slot - 1u].hi ? k : NULL;
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
        hpx_count(&t->s.base.counters, HPX_C_KNOWN, weight);
        hpx_count(&t->s.base.counters, HPX_C_IN_PROBES, k->flags & HPX_KNOWN_PROBE ? weight : 0);
        hpx_count(&t->s.base.counters, HPX_C_TRUNCATED, k->flags & HPX_KNOWN_HEAP ? weight : 0);
    }
    return true;
}

bool hpx_known_stacks_learn_sig(struct hpx_sample_thread *t, const struct hpx_known_look *look, uint16_t flags)
{
    struct hpx_known now = {check_of(&look->raw), (uint32_t)t->slots[t->last_slot - 1].hi, (uint16_t)t->last_slot, flags};
    *entry_of(t, &look->raw) = now;
    bool same = look->was.stack == now.stack && look->was.slot == now.slot && look->was.flags == now.flags;
    return look->known && hpx_judge_told_sig(HPX_JUDGED_KNOWN, same ? HPX_JUDGED_SAME : HPX_JUDGED_DIFFERENT);
}
