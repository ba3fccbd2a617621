/* SPDX-License-Identifier: BSD-2-Clause */
/* pace.c: the two bounds of pace.h. */
#include "pace.h"

static bool costs(const struct hpx_command *c)
{
    return hpx_command_dumps(c->tag) || c->tag == HPX_COMMAND_FORCE_GC || c->tag == HPX_COMMAND_EXIT ||
           c->control == HPX_CONTROL_CLEAR_CPU || c->control == HPX_CONTROL_CLEAR_SITES;
}

static bool collects(const struct hpx_pace *p, const struct hpx_command *c)
{
    return c->tag == HPX_COMMAND_FORCE_GC ||
           (p->sites_collect && (c->tag == HPX_COMMAND_ALLOC_SITES || c->tag == HPX_COMMAND_HEAP_SUMMARY));
}

bool hpx_pace_may(const struct hpx_pace *p, const struct hpx_command *c, uint64_t now)
{
    if (collects(p, c) && now < p->next_collect) {
        return false;
    }
    return p->turn ? !p->cost && now - p->began < HPX_PACE_TURN_NS : now >= p->next;
}

void hpx_pace_begin(struct hpx_pace *p, const struct hpx_command *c, uint64_t now)
{
    if (!p->turn) {
        p->turn = true;
        p->cost = p->collects = false;
        p->began = now;
    }
    p->cost = p->cost || costs(c);
    p->collects = p->collects || collects(p, c);
}

void hpx_pace_end(struct hpx_pace *p, uint64_t now)
{
    if (!p->turn) {
        return;
    }
    uint64_t took = now - p->began, rest = HPX_PACE_COLLECT_REST * took;
    p->turn = false;
    p->next = now + took;
    if (p->collects) {
        p->next_collect = now + (rest > HPX_PACE_COLLECT_NS ? rest : HPX_PACE_COLLECT_NS);
    }
}

bool hpx_patience_lasts(struct hpx_patience *p, uint64_t ns, uint64_t taken)
{
    p->waited += ns;
    if (taken - p->taken >= HPX_PATIENCE_BYTES) {
        *p = (struct hpx_patience){.taken = taken};
    }
    return p->waited < HPX_PATIENCE_NS;
}
