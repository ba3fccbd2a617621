/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols_look.c: has the service thread look for classes whose announcement never came.
 *
 * JDK 21 raises no ClassPrepare for a class that is loaded while a virtual thread is in a transition, and no announcement has the old
 * version of a method that runs on after its class was redefined. Both show as frames without a known class. A look costs the service
 * thread microseconds per loaded class, so it takes at most one per cent of the time, and ever less while it finds nothing. */
#include "clock.h"
#include "symbols_internal.h"
#include <stdlib.h>

#define DELAY    UINT64_C(100000000) /* a class may be entered just before its ClassPrepare is handled */
#define GAP      UINT64_C(1000000000)
#define MOST_GAP (600 * GAP)
#define SHARE    100u

static int by_id(const void *a, const void *b)
{
    const struct hpx_known_class *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* NULL without memory. */
static struct hpx_msg_look *new_look(const struct hpx_symbols *s)
{
    struct hpx_msg_look *to = hpx_msg_new(HPX_MSG_LOOK, sizeof(*to) + s->methods.live * sizeof(to->known[0]));
    if (!to) {
        return NULL;
    }
    to->found = to->n = 0;
    for (uint32_t i = 1; i < s->methods.classes.len; i++) {
        const struct hpx_msg_class *said = hpx_methods_class(&s->methods, (struct hpx_class_index){i})->said;
        if (said && said->ref && said->nmethods > 0) {
            to->known[to->n++] = (struct hpx_known_class){said->ids[0], said->ref};
        }
    }
    qsort(to->known, to->n, sizeof(to->known[0]), by_id);
    return to;
}

void hpx_symbols_look_end_pass(struct hpx_symbols *s)
{
    struct hpx_symbols_look *k = &s->look;
    if (!k->wanted || k->running || !s->cfg.request) {
        return;
    }
    uint64_t now = hpx_clock_mono();
    k->due = k->due ? k->due : now + DELAY;
    struct hpx_msg_look *m = now >= k->due ? new_look(s) : NULL;
    if (m) {
        k->wanted = false;
        k->running = true;
        k->made++;
        s->cfg.request(s->cfg.ctx, &m->m);
    }
}

void hpx_symbols_looked(struct hpx_symbols *s, const struct hpx_msg_look *msg)
{
    struct hpx_symbols_look *k = &s->look;
    k->gap = msg->found > 0 || k->gap == 0 ? GAP : k->gap < MOST_GAP ? 2 * k->gap : MOST_GAP;
    k->due = hpx_clock_mono() + (k->gap > SHARE * msg->ns ? k->gap : SHARE * msg->ns);
    k->running = false;
}

bool hpx_symbols_look_drops(struct hpx_symbols *s, struct hpx_msg_class *msg)
{
    uint32_t at;
    for (uint32_t i = 0; i < msg->nmethods; i++) {
        struct hpx_class_index klass = hpx_methods_find(&s->methods, msg->ids[i], &at);
        if (!klass.v || hpx_methods_class(&s->methods, klass)->look != s->look.made) {
            return false; /* an id of an earlier class may be that of a class that is unloaded by now */
        }
    }
    struct hpx_msg_sweep *drop = msg->ref ? hpx_msg_new(HPX_MSG_DROP, sizeof(*drop) + sizeof(drop->of[0])) : NULL;
    if (msg->ref && !drop) {
        return false;
    }
    if (drop) {
        drop->n = 1;
        drop->of[0] = (struct hpx_class_ref){.ref = msg->ref};
        s->cfg.request(s->cfg.ctx, &drop->m);
    }
    free(msg);
    return true;
}
