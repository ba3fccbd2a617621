/* SPDX-License-Identifier: BSD-2-Clause */
/* naming.c: the checks of naming.h. */
#include "naming.h"
#include "differences.h"
#include "hash.h"
#include "internals.h"
#include "known_stacks.h"
#include <inttypes.h>
#include <string.h>

#define EACH     64u   /* one of this number of named stacks is compared */
#define FIRST    1024u /* named stacks of a session that are compared count ANSWERED, those without an answer 1, up to this */
#define ANSWERED 4u
#define SHARE    64u /* one of this number of compared stacks may differ */

static HPX_OF_SESSION struct {
    bool verify;             /* constant after begin: all are compared */
    _Atomic uint32_t looked; /* relaxed: grows until it is FIRST or more */
    struct hpx_differences differences;
} naming;

void hpx_naming_begin(bool verify)
{
    memset(&naming, 0, sizeof naming);
    naming.verify = verify;
}

static bool is_compared(struct hpx_sample_thread *t)
{
    t->named_all++;
    return naming.verify || t->named_all % EACH == 0 || atomic_load_explicit(&naming.looked, memory_order_relaxed) < FIRST;
}

static uint64_t hash_of(const struct hpx_ev_frame *frames, int n)
{
    return hpx_hash128(frames, (size_t)n * sizeof *frames).lo;
}

static int walk_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, const void *context, uint32_t *broken)
{
    bool faulted;
    int n = hpx_async_stack_names_sig(w, frames, context, broken, &faulted);
    if (faulted) {
        hpx_known_stacks_fault_sig();
    }
    return n;
}

void hpx_naming_take_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, struct hpx_ev_frame *frames, const void *context,
                         bool compare, struct hpx_naming *to)
{
    *to = (struct hpx_naming){.n = hpx_internals_names_sig() ? walk_sig(w, frames, context, NULL) : 0};
    if (to->n > 0) {
        to->compare = is_compared(t) || compare;
    }
}

static void note_look(uint32_t counts)
{
    if (atomic_load_explicit(&naming.looked, memory_order_relaxed) < FIRST) {
        atomic_fetch_add_explicit(&naming.looked, counts, memory_order_relaxed);
    }
}

static void note(struct hpx_sample_thread *t, bool different)
{
    note_look(ANSWERED);
    hpx_count(&t->s.base.counters, HPX_C_NAMED_COMPARED, 1);
    hpx_count(&t->s.base.counters, HPX_C_NAMED_DIFFERENT, different);
    if (hpx_differences_add_sig(&naming.differences, 1, different, SHARE)) {
        hpx_internals_leave_part_sig(HPX_INTERNALS_NAMES, "its stacks are not those of AsyncGetCallTrace");
    }
}

/* AsyncGetCallTrace breaks off where a caller is being deoptimized, and at a stub that called C that called Java, and says nothing of it.
 * Only there a part of the stack is no other one. */
int hpx_naming_compare_sig(struct hpx_sample_thread *t, const struct hpx_asgct *w, struct hpx_ev_frame *frames, const void *context,
                           int answer, bool *usable)
{
    bool same = true;
    if (*usable) {
        uint32_t broken = UINT32_MAX;
        uint64_t hash = hash_of(frames, answer);
        int n = walk_sig(w, frames, context, &broken);
        bool part = n > answer && (uint32_t)answer == broken;
        same = (n == answer || part) && hash_of(frames, answer) == hash;
        *usable = !same || !part;
        hpx_count(&t->s.base.counters, HPX_C_NAMED_PART, !*usable);
    } else {
        note_look(1);
        hpx_count(&t->s.base.counters, HPX_C_NAMED_ALONE, 1);
    }
    if (*usable) {
        note(t, !same);
    }
    return same ? walk_sig(w, frames, context, NULL) : 0;
}

void hpx_naming_lines(struct hpx_lines *to, const struct hpx_counters *total, uint64_t samples)
{
    const char *why = hpx_internals_without(HPX_INTERNALS_NAMES);
    uint64_t n = hpx_counter_get(total, HPX_C_NAMED), compared = hpx_counter_get(total, HPX_C_NAMED_COMPARED);
    uint64_t alone = hpx_counter_get(total, HPX_C_NAMED_ALONE), part = hpx_counter_get(total, HPX_C_NAMED_PART);
    if (why != NULL && n > 0) { /* one line: readers take the last one of a key */
        hpx_lines_add(to, "hprofx: named stacks: off, %s, after %" PRIu64 " (%.2f %%)\n", why, n, hpx_lines_percent(n, samples));
    } else if (why != NULL) {
        hpx_lines_add(to, "hprofx: named stacks: off, %s\n", why);
    } else if (n > 0) {
        hpx_lines_add(to, "hprofx: named stacks: %" PRIu64 " (%.2f %%)\n", n, hpx_lines_percent(n, samples));
    }
    if (compared + alone + part > 0) {
        hpx_lines_add(to,
                      "hprofx: named stacks compared: %" PRIu64 ", %" PRIu64 " different, %" PRIu64 " without an answer, %" PRIu64
                      " broken off\n",
                      compared, hpx_counter_get(total, HPX_C_NAMED_DIFFERENT), alone, part);
    }
}
