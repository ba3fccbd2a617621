/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.c: the sums of judge.h. */
#include "judge.h"
#include "hash.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW       4096u /* the least number of comparisons that the sums cover */
#define FEW          8u    /* differences that are tolerated in any case */
#define SHARE        64u   /* one comparison in SHARE may differ */
#define FEW_ENDED    256u
#define SHARE_ENDED  2u /* half of the walks may end early: a wrong size or offset ends nearly all */
#define FEW_FAULTS   2u
#define SHARE_FAULTS WINDOW

struct window {
    _Atomic uint32_t n, bad; /* relaxed */
};

static HPX_OF_SESSION struct {
    bool verify; /* constant after begin */
    struct {
        struct window window, ended, faulted;
        _Atomic uint64_t compared, different, alone; /* relaxed */
    } of[HPX_JUDGED];
} judge;

static const struct {
    const char *key;
    uint32_t first, each; /* compared: the first `first` stacks of a session, then every `each`-th */
} rules[HPX_JUDGED] = {[HPX_JUDGED_KNOWN] = {"hprofx: known stacks compared: ", 256, 64},
                       [HPX_JUDGED_NAMED] = {"hprofx: named stacks compared: ", 0, UINT32_MAX},
                       [HPX_JUDGED_EVENT] = {"hprofx: stacks of events compared: ", 64, 1024}};

/* true: more than `few` of the window are bad, and more than one in `share`. */
static bool add(struct window *w, uint32_t n, uint32_t bad, uint32_t few, uint32_t share)
{
    uint32_t all = atomic_fetch_add_explicit(&w->n, n, memory_order_relaxed) + n;
    uint32_t wrong =
        bad > 0 ? atomic_fetch_add_explicit(&w->bad, bad, memory_order_relaxed) + bad : atomic_load_explicit(&w->bad, memory_order_relaxed);
    if (all >= 2 * WINDOW) {
        atomic_store_explicit(&w->n, all / 2, memory_order_relaxed);
        atomic_store_explicit(&w->bad, wrong / 2, memory_order_relaxed);
    }
    return wrong > few && wrong > all / share;
}

void hpx_judge_begin(void)
{
    const char *verify = getenv("HPROFX_VERIFY");
    judge.verify = verify != NULL && !strcmp(verify, "1");
}

bool hpx_judge_asks_sig(enum hpx_judged what, uint32_t seen)
{
    return judge.verify || seen % rules[what].each == 0 ||
           atomic_load_explicit(&judge.of[what].compared, memory_order_relaxed) < rules[what].first;
}

static uint64_t hash_of(const void *frames, int n)
{
    return hpx_hash128(frames, (size_t)n * sizeof(struct hpx_ev_frame)).lo;
}

struct hpx_judged_walk hpx_judge_walked_sig(const void *frames, int n, enum hpx_raw_end end, uint32_t broken)
{
    const bool carrier = broken < HPX_FRAME_IS_LEFT && (broken & HPX_FRAME_OF_CARRIER) != 0;
    const uint32_t first = carrier ? broken & ~HPX_FRAME_OF_CARRIER : broken;
    const int above = first < (uint32_t)n ? (int)first : n;
    return (struct hpx_judged_walk){.n = n,
                                    .above = above,
                                    .all = hash_of(frames, n),
                                    .part = hash_of(frames, above),
                                    .whole = end == HPX_END_WHOLE || end == HPX_END_HEAP,
                                    .lower = end == HPX_END_DEOPTIMIZATION || end == HPX_END_WAITING,
                                    .left = broken == HPX_FRAME_IS_LEFT,
                                    .carrier = carrier};
}

enum hpx_judged_as hpx_judge_compare_sig(const struct hpx_judged_walk *w, const void *told, int n, uint32_t depth)
{
    const bool broke = n == w->above && n < w->n && n > 0 && hash_of(told, n) == w->part;
    if (n <= 0 || w->n == 0 || w->left || broke || (w->lower && n == (int)depth)) { /* the lower end of a cut answer is not known */
        return HPX_JUDGED_ALONE;
    }
    if (w->carrier) {
        return w->above == 0 || w->lower                             ? HPX_JUDGED_ALONE
               : n >= w->above && hash_of(told, w->above) == w->part ? HPX_JUDGED_SAME
                                                                     : HPX_JUDGED_DIFFERENT;
    }
    bool fits = w->whole ? n == w->n : n >= w->n;
    const struct hpx_ev_frame *part = (const struct hpx_ev_frame *)told + (w->lower ? n - w->n : 0);
    return fits && hash_of(part, w->n) == w->all ? HPX_JUDGED_SAME : HPX_JUDGED_DIFFERENT;
}

bool hpx_judge_told_sig(enum hpx_judged what, enum hpx_judged_as as)
{
    if (as == HPX_JUDGED_ALONE) {
        atomic_fetch_add_explicit(&judge.of[what].alone, 1, memory_order_relaxed);
        return false;
    }
    atomic_fetch_add_explicit(&judge.of[what].compared, 1, memory_order_relaxed);
    if (as == HPX_JUDGED_DIFFERENT) {
        atomic_fetch_add_explicit(&judge.of[what].different, 1, memory_order_relaxed);
    }
    return add(&judge.of[what].window, 1, as == HPX_JUDGED_DIFFERENT, FEW, SHARE);
}

const char *hpx_judge_walks_sig(enum hpx_judged what, uint32_t walks, uint32_t ended)
{
    (void)add(&judge.of[what].faulted, walks, 0, FEW_FAULTS, SHARE_FAULTS);
    return add(&judge.of[what].ended, walks, ended, FEW_ENDED, SHARE_ENDED) ? "most walks of the stack end early" : NULL;
}

const char *hpx_judge_fault_sig(enum hpx_judged what)
{
    return add(&judge.of[what].faulted, 0, 1, FEW_FAULTS, SHARE_FAULTS) ? "three reads of the stack faulted" : NULL;
}

void hpx_judge_lines(struct hpx_lines *to, enum hpx_judged what)
{
    uint64_t compared = atomic_load_explicit(&judge.of[what].compared, memory_order_relaxed);
    uint64_t different = atomic_load_explicit(&judge.of[what].different, memory_order_relaxed);
    uint64_t alone = atomic_load_explicit(&judge.of[what].alone, memory_order_relaxed);
    if (compared + alone > 0) {
        hpx_lines_add(to, "%s%" PRIu64 ", %" PRIu64 " different, %" PRIu64 " (%.2f %%) not comparable\n", rules[what].key, compared,
                      different, alone, hpx_lines_percent(alone, compared + alone));
    }
}
