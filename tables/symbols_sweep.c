/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols_sweep.c: forgets unloaded classes.
 *
 * When twice as many classes are held as at the end of the last sweep (HPX_SWEEP_MIN at least), all are looked at once, in batches: the
 * service thread says which are gone. So what is held is at most twice what lives, and a class that lives is asked about a number of times
 * that grows as the logarithm of all classes.
 *
 * A stack that was taken while the class lived may still be in a ring when the answer comes. The next pass reads its tails after that, so
 * the class is forgotten at the end of the next pass. Its reference is deleted by a message behind all requests that name it. */
#include "symbols_internal.h"
#include <stdlib.h>

#define HPX_SWEEP_MIN   1000u
#define HPX_SWEEP_BATCH 1024u /* about a millisecond of forgetting, of one thread and of the other */

void hpx_symbols_sweep_init(struct hpx_symbols *s)
{
    s->sweep.due = HPX_SWEEP_MIN;
}

static void sweep_ended(struct hpx_symbols *s)
{
    uint32_t live = s->methods.live;
    s->sweep.running = s->sweep.awaited = false;
    s->sweep.due = live + (live > HPX_SWEEP_MIN ? live : HPX_SWEEP_MIN);
}

static void send_batch(struct hpx_symbols *s)
{
    struct hpx_symbols_sweep *w = &s->sweep;
    struct hpx_msg_sweep *b = NULL;
    for (; w->cursor < s->methods.classes.len && !(b && b->n == HPX_SWEEP_BATCH); w->cursor++) {
        const struct hpx_msg_class *said = hpx_methods_class(&s->methods, (struct hpx_class_index){w->cursor})->said;
        if (!said || !said->ref) {
            continue;
        }
        b = b ? b : hpx_msg_new(HPX_MSG_SWEEP, sizeof(*b) + HPX_SWEEP_BATCH * sizeof(b->of[0]));
        if (!b) {
            break; /* the next sweep looks at them */
        }
        b->of[b->n++] = (struct hpx_class_ref){.ref = said->ref, .klass = {w->cursor}};
    }
    if (b) {
        s->cfg.request(s->cfg.ctx, &b->m);
    } else {
        sweep_ended(s);
    }
}

void hpx_symbols_swept(struct hpx_symbols *s, struct hpx_msg_sweep *b)
{
    uint32_t gone = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        if (b->of[i].gone) {
            hpx_methods_class(&s->methods, b->of[i].klass)->said->ref = 0; /* nothing is asked about it any more */
            b->of[gone++] = b->of[i];
        }
    }
    b->n = gone;
    s->sweep.back = b;
    s->sweep.seen = gone == 0;
}

static void forget(struct hpx_symbols *s)
{
    struct hpx_msg_sweep *b = s->sweep.back;
    s->sweep.back = NULL;
    for (uint32_t i = 0; i < b->n; i++) {
        if (s->cfg.class_event && !hpx_methods_class(&s->methods, b->of[i].klass)->listed) {
            (void)hpx_symbols_announce_class(s, b->of[i].klass, true);
        }
        hpx_methods_forget(&s->methods, b->of[i].klass);
    }
    hpx_count(s->cfg.counters, HPX_C_CLASSES_UNLOADED, b->n);
    if (b->n > 0) {
        b->m.kind = HPX_MSG_DROP;
        s->cfg.request(s->cfg.ctx, &b->m);
    } else {
        free(b);
    }
}

void hpx_symbols_forget_refs(struct hpx_symbols *s, void (*fn)(void *ctx, uint64_t ref), void *ctx)
{
    for (uint32_t i = 0; i < s->methods.classes.len; i++) {
        struct hpx_msg_class *said = hpx_methods_class(&s->methods, (struct hpx_class_index){i})->said;
        if (said != NULL && said->ref != 0) {
            fn(ctx, said->ref);
            said->ref = 0;
        }
    }
}

void hpx_symbols_look_for_unloaded(struct hpx_symbols *s)
{
    s->sweep.wanted = s->cfg.class_event && s->cfg.request;
}

bool hpx_symbols_pass_end(struct hpx_symbols *s)
{
    struct hpx_symbols_sweep *w = &s->sweep;
    hpx_symbols_look_end_pass(s);
    if (w->back && !w->seen) {
        w->seen = true;
        return true;
    }
    if (w->back) {
        forget(s);
        send_batch(s);
    } else if (!w->running && s->cfg.request && (s->methods.live >= w->due || w->wanted)) {
        w->running = true;
        w->awaited = w->wanted;
        w->wanted = false;
        w->cursor = 1;
        send_batch(s);
    }
    return false;
}
