/* SPDX-License-Identifier: BSD-2-Clause */
/* known_stacks.c: the cache of known_stacks.h. */
#include "known_stacks.h"
#include "differences.h"
#include "internals.h"
#include "stacks.h"
#include <inttypes.h>
#include <string.h>

#define EACH        64u  /* one of this number of recognised stacks is compared */
#define FIRST       256u /* recognised stacks of a session that are compared count ANSWERED, those without an answer 1, up to this */
#define ANSWERED    4u
#define SHARE       64u  /* one of this number of compared stacks may differ */
#define FAULT_SHARE 256u /* the same for reads that fault: where the VM is about to make frames, a word of the stack may be anything */
#define MOST_FAULTS 64u  /* each is a signal, which another library's handler might see */
#define BATCH       64u  /* walks that a thread counts alone */

static HPX_OF_SESSION struct {
    bool verify;             /* constant after begin: all are compared */
    _Atomic uint32_t looked; /* relaxed: grows until it is FIRST or more */
    _Atomic uint32_t faults; /* relaxed */
    struct hpx_differences differences, faulty;
} known;

void hpx_known_stacks_begin(bool verify)
{
    memset(&known, 0, sizeof known);
    known.verify = verify;
}

static void note_walks(uint32_t walks, uint32_t faults)
{
    uint32_t all = atomic_fetch_add_explicit(&known.faults, faults, memory_order_relaxed) + faults;
    if (hpx_differences_add_sig(&known.faulty, walks, faults, FAULT_SHARE) || all > MOST_FAULTS) {
        hpx_internals_leave_part_sig(HPX_INTERNALS_RAW, "its reads fault too often");
    }
}

void hpx_known_stacks_fault_sig(void)
{
    note_walks(0, 1);
}

static bool walk_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, const void *context, struct hpx_raw_stack *to)
{
    bool faulted = false;
    if (!hpx_internals_raw_sig()) {
        return false;
    }
    bool whole = hpx_async_stack_raw_sig(w, context, to, &faulted);
    if (++t->known_walks >= BATCH || faulted) {
        note_walks(t->known_walks, faulted);
        t->known_walks = 0;
    }
    return whole;
}

void hpx_known_stacks_end(struct hpx_sample_thread *t)
{
    note_walks(t->known_walks, 0);
    t->known_walks = 0;
}

static struct hpx_known *entry_of(struct hpx_sample_thread *t, const struct hpx_raw_stack *raw, enum hpx_raw_top top)
{
    return &t->known[(raw->lo + (uint64_t)top * (HPX_KNOWN / 4 + 1)) % HPX_KNOWN];
}

static uint64_t check_of(const struct hpx_raw_stack *raw, enum hpx_raw_top top)
{
    return raw->hi + (uint64_t)top;
}

/* NULL: the thread does not know it, or its slot has been given to another stack since. */
static const struct hpx_known *find(struct hpx_sample_thread *t, const struct hpx_raw_stack *raw, enum hpx_raw_top top)
{
    const struct hpx_known *k = entry_of(t, raw, top);
    return k->slot != 0 && k->check == check_of(raw, top) && k->stack == (uint32_t)t->slots[k->slot - 1u].hi ? k : NULL;
}

static bool is_compared(const struct hpx_sample_thread *t)
{
    return known.verify || t->known_all % EACH == 0 || atomic_load_explicit(&known.looked, memory_order_relaxed) < FIRST;
}

static void note_look(uint32_t counts)
{
    if (atomic_load_explicit(&known.looked, memory_order_relaxed) < FIRST) {
        atomic_fetch_add_explicit(&known.looked, counts, memory_order_relaxed);
    }
}

static void note_alone(struct hpx_sample_thread *t)
{
    note_look(1);
    hpx_count(&t->s.base.counters, HPX_C_KNOWN_ALONE, 1);
}

static void note_known(struct hpx_sample_thread *t, const struct hpx_known *k, uint64_t weight)
{
    hpx_count(&t->s.base.counters, HPX_C_KNOWN, weight);
    if (k->probe != 0) {
        hpx_count(&t->s.base.counters, HPX_C_IN_PROBES, weight);
    }
}

bool hpx_known_stacks_push_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, void *context, struct hpx_known_look *look)
{
    look->whole = walk_sig(t, w, context, &look->raw);
    const struct hpx_known *k = look->whole ? find(t, &look->raw, look->raw.top) : NULL;
    look->known = k != NULL;
    if (k == NULL) {
        return false;
    }
    look->was = *k;
    t->known_all++;
    if (is_compared(t)) {
        return false;
    }
    if (hpx_stacks_known(t, k->slot - 1u, w->weight)) {
        note_known(t, k, w->weight);
    }
    return true;
}

bool hpx_known_stacks_instead_sig(struct hpx_sample_thread *t, const struct hpx_known_look *look, uint64_t weight, uint32_t *slot)
{
    if (!look->whole || (look->answer > 0 && !(look->known && look->retried))) {
        return false;
    }
    const struct hpx_known *k = look->known ? &look->was : find(t, &look->raw, HPX_RAW_STUB);
    if (k == NULL) {
        return false;
    }
    *slot = k->slot - 1u;
    note_known(t, k, weight);
    if (look->known) {
        note_alone(t);
    } else {
        struct hpx_known same = *k;
        same.check = check_of(&look->raw, look->raw.top);
        *entry_of(t, &look->raw, look->raw.top) = same;
    }
    return true;
}

static void compare_sig(struct hpx_sample_thread *t, const struct hpx_known *was, const struct hpx_known *now)
{
    bool different = was->stack != now->stack || was->slot != now->slot || was->probe != now->probe;
    note_look(ANSWERED);
    hpx_count(&t->s.base.counters, HPX_C_KNOWN_COMPARED, 1);
    hpx_count(&t->s.base.counters, HPX_C_KNOWN_DIFFERENT, different);
    if (hpx_differences_add_sig(&known.differences, 1, different, SHARE)) {
        hpx_internals_leave_part_sig(HPX_INTERNALS_RAW, "its stacks are not those of AsyncGetCallTrace");
    }
}

/* Every frame of a method stands for one frame of the answer at least: a shorter answer was broken off, and only counted. What a remedy
 * guessed is not learned, nor a frame without a name, which it may have when the stack comes again (unannounced.h). */
void hpx_known_stacks_learn_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, const struct hpx_known_look *look)
{
    if (!look->whole || look->answer <= 0 || look->nameless) { /* raw has nothing, or AsyncGetCallTrace not all */
        hpx_count(&t->s.base.counters, HPX_C_KNOWN_ALONE, look->whole && look->known && look->nameless && look->answer > 0);
        return;
    }
    uint32_t least = look->raw.methods < w->depth ? look->raw.methods : w->depth;
    if ((uint32_t)look->answer < least || look->retried || t->last_slot == 0) {
        hpx_count(&t->s.base.counters, HPX_C_KNOWN_PART, look->known && !look->retried);
        return;
    }
    struct hpx_known now = {check_of(&look->raw, look->raw.top), (uint32_t)t->slots[t->last_slot - 1].hi, (uint16_t)t->last_slot,
                            look->probe};
    if (look->known && look->alone) {
        note_alone(t);
    } else if (look->known) {
        compare_sig(t, &look->was, &now);
    }
    *entry_of(t, &look->raw, look->raw.top) = now;
}

void hpx_known_stacks_lines(struct hpx_lines *to, const struct hpx_counters *total, uint64_t samples)
{
    const char *why = hpx_internals_without(HPX_INTERNALS_RAW);
    uint64_t n = hpx_counter_get(total, HPX_C_KNOWN), compared = hpx_counter_get(total, HPX_C_KNOWN_COMPARED);
    uint64_t alone = hpx_counter_get(total, HPX_C_KNOWN_ALONE), part = hpx_counter_get(total, HPX_C_KNOWN_PART);
    if (why != NULL) {
        hpx_lines_add(to, "hprofx: raw walk: off, %s\n", why);
    }
    uint32_t faults = atomic_load_explicit(&known.faults, memory_order_relaxed);
    if (faults > 0) {
        hpx_lines_add(to, "hprofx: raw walk faults: %u\n", faults);
    }
    if (n + compared + alone + part > 0) {
        hpx_lines_add(to, "hprofx: known stacks: %" PRIu64 " (%.2f %%)\n", n, hpx_lines_percent(n, samples));
        hpx_lines_add(to,
                      "hprofx: known stacks compared: %" PRIu64 ", %" PRIu64 " different, %" PRIu64 " without an answer, %" PRIu64
                      " broken off\n",
                      compared, hpx_counter_get(total, HPX_C_KNOWN_DIFFERENT), alone, part);
    }
}
