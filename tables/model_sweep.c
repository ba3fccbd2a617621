/* SPDX-License-Identifier: BSD-2-Clause */
/* model_sweep.c: forgets unloaded classes.
 *
 * When twice as many classes are held as at the end of the last sweep (HPX_SWEEP_MIN at least), all are looked at once, in batches: the
 * service thread says which are gone. So what is held is at most twice what lives, and a class that lives is asked about a number of times
 * that grows as the logarithm of all classes.
 *
 * A stack that was taken while the class lived may still be in a ring when the answer comes. The next pass reads its tails after that, so
 * the class is forgotten at the end of the next pass. Its reference is deleted by a message behind all requests that name it. */
#include "model_internal.h"
#include <stdlib.h>

#define HPX_SWEEP_MIN   1000u
#define HPX_SWEEP_BATCH 1024u /* about a millisecond of forgetting, of one thread and of the other */

void hpx_model_sweep_init(struct hpx_model *m)
{
    m->sweep.due = HPX_SWEEP_MIN;
}

static void sweep_ended(struct hpx_model *m)
{
    uint32_t live = m->methods.live;
    m->sweep.running = m->sweep.awaited = false;
    m->sweep.due = live + (live > HPX_SWEEP_MIN ? live : HPX_SWEEP_MIN);
}

static void send_batch(struct hpx_model *m)
{
    struct hpx_model_sweep *w = &m->sweep;
    struct hpx_msg_sweep *s = NULL;
    for (; w->cursor < m->methods.classes.len && !(s && s->n == HPX_SWEEP_BATCH); w->cursor++) {
        const struct hpx_msg_class *said = hpx_methods_class(&m->methods, w->cursor)->said;
        if (!said || !said->ref) {
            continue;
        }
        s = s ? s : hpx_msg_new(HPX_MSG_SWEEP, sizeof(*s) + HPX_SWEEP_BATCH * sizeof(s->of[0]));
        if (!s) {
            break; /* the next sweep looks at them */
        }
        s->of[s->n++] = (struct hpx_class_ref){.ref = said->ref, .klass = w->cursor};
    }
    if (s) {
        m->cfg.request(m->cfg.ctx, &s->m);
    } else {
        sweep_ended(m);
    }
}

void hpx_model_swept(struct hpx_model *m, struct hpx_msg_sweep *s)
{
    uint32_t gone = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->of[i].gone) {
            hpx_methods_class(&m->methods, s->of[i].klass)->said->ref = 0; /* nothing is asked about it any more */
            s->of[gone++] = s->of[i];
        }
    }
    s->n = gone;
    m->sweep.back = s;
    m->sweep.seen = gone == 0;
}

static void forget(struct hpx_model *m)
{
    struct hpx_msg_sweep *s = m->sweep.back;
    m->sweep.back = NULL;
    for (uint32_t i = 0; i < s->n; i++) {
        if (m->cfg.class_event && !hpx_methods_class(&m->methods, s->of[i].klass)->listed) {
            (void)hpx_model_announce_class(m, s->of[i].klass, true);
        }
        hpx_methods_forget(&m->methods, s->of[i].klass);
    }
    hpx_count(&m->counters, HPX_C_CLASSES_UNLOADED, s->n);
    if (s->n > 0) {
        s->m.kind = HPX_MSG_DROP;
        m->cfg.request(m->cfg.ctx, &s->m);
    } else {
        free(s);
    }
}

void hpx_model_forget_refs(struct hpx_model *m, void (*fn)(void *ctx, uint64_t ref), void *ctx)
{
    for (uint32_t i = 0; i < m->methods.classes.len; i++) {
        struct hpx_msg_class *said = hpx_methods_class(&m->methods, i)->said;
        if (said != NULL && said->ref != 0) {
            fn(ctx, said->ref);
            said->ref = 0;
        }
    }
}

void hpx_model_look_for_unloaded(struct hpx_model *m)
{
    m->sweep.wanted = m->cfg.class_event && m->cfg.request;
}

bool hpx_model_pass_end(struct hpx_model *m)
{
    for (uint32_t i = 0; i < m->ntables; i++) {
        if (m->tables[i].table->pass_end) {
            m->tables[i].table->pass_end(m->tables[i].self);
        }
    }
    struct hpx_model_sweep *w = &m->sweep;
    if (w->back && !w->seen) {
        w->seen = true;
        return true;
    }
    if (w->back) {
        forget(m);
        send_batch(m);
    } else if (!w->running && m->cfg.request && (m->methods.live >= w->due || w->wanted)) {
        w->running = true;
        w->awaited = w->wanted;
        w->wanted = false;
        w->cursor = 1;
        send_batch(m);
    }
    return false;
}
