/* SPDX-License-Identifier: BSD-2-Clause */
/* event_stacks.c: the cache of event_stacks.h. */
#include "event_stacks.h"
#include "hash.h"
#include "quiet_stack.h"
#include <string.h>

#define COMPARED 128u /* frames of a stack that hpx_event_stacks_compare() looks at */

static struct hpx_quiet_thread own(const struct hpx_mode_thread *s, uint32_t depth)
{
    return (struct hpx_quiet_thread){.env = hpx_mode_thread_env(s),
                                     .stack_low = s->stack_low,
                                     .stack_end = s->stack_end,
                                     .depth = depth,
                                     .counters = (struct hpx_counters *)(uintptr_t)&s->base.counters};
}

static struct hpx_event_known *entries_of(struct hpx_event_stacks *e, uint64_t lo)
{
    return &e->known[lo % HPX_EVENT_STACKS / HPX_EVENT_WAYS * HPX_EVENT_WAYS];
}

/* 0: it is not known. */
static uint32_t known_id(struct hpx_event_stacks *e, uint64_t lo, uint64_t hi)
{
    const struct hpx_event_known *k = entries_of(e, lo);
    for (uint32_t i = 0; i < HPX_EVENT_WAYS; i++) {
        if (k[i].lo == lo && k[i].hi == hi) {
            return k[i].id;
        }
    }
    return 0;
}

uint32_t hpx_event_stacks_find(struct hpx_event_stacks *e, const struct hpx_mode_thread *s, uint32_t depth, const uint64_t what[2],
                               struct hpx_event_look *look)
{
    struct hpx_raw_stack raw;
    const struct hpx_quiet_thread t = own(s, depth);
    *look = (struct hpx_event_look){.whole = hpx_quiet_stack_hash(&t, &raw)};
    if (!look->whole) {
        return 0;
    }
    const uint64_t all[4] = {raw.lo, raw.hi, what[0], what[1]};
    struct hpx_hash128 h = hpx_hash128(all, sizeof all);
    look->lo = h.lo;
    look->hi = h.hi;
    uint32_t id = known_id(e, h.lo, h.hi);
    if (id == 0) {
        return 0;
    }
    if (hpx_unlikely(hpx_quiet_stack_compares(++e->recognised))) {
        look->was = id;
        return 0;
    }
    hpx_count_own(t.counters, HPX_C_EVENTS_KNOWN, 1);
    return id;
}

void hpx_event_stacks_learn(struct hpx_event_stacks *e, const struct hpx_event_look *look, uint32_t id)
{
    const bool learns = look->whole && id != 0;
    if (look->was != 0) {
        hpx_quiet_stack_compared(!learns ? HPX_JUDGED_ALONE : look->was == id ? HPX_JUDGED_SAME : HPX_JUDGED_DIFFERENT);
    }
    if (!learns) {
        return;
    }
    struct hpx_event_known *k = entries_of(e, look->lo);
    if (look->was != 0) {
        for (uint32_t i = 0; i < HPX_EVENT_WAYS; i++) {
            k[i].id = k[i].lo == look->lo && k[i].hi == look->hi ? id : k[i].id; /* the VM's answer counts */
        }
        return;
    }
    k[e->learned++ % HPX_EVENT_WAYS] = (struct hpx_event_known){look->lo, look->hi, id};
}

uint32_t hpx_event_stacks_ask(jvmtiEnv *jvmti, jthread thread, struct hpx_ev_frame *frames, uint32_t most)
{
    static_assert(sizeof(jvmtiFrameInfo) == sizeof(struct hpx_ev_frame), "frames are turned in place");
    jint n = 0;
    if (most == 0 || (*jvmti)->GetStackTrace(jvmti, thread, 0, (jint)most, (jvmtiFrameInfo *)(void *)frames, &n) != JVMTI_ERROR_NONE) {
        return 0;
    }
    for (jint i = 0; i < n; i++) {
        jvmtiFrameInfo f;
        memcpy(&f, &frames[i], sizeof f);
        frames[i] = (struct hpx_ev_frame){.bci = (int32_t)f.location, .method = (uint64_t)(uintptr_t)f.method};
    }
    return (uint32_t)n;
}

void hpx_event_stacks_compare(const struct hpx_mode_thread *s, jvmtiEnv *jvmti)
{
    struct hpx_ev_frame walked[COMPARED], told[COMPARED];
    const struct hpx_quiet_thread t = own(s, COMPARED);
    int n = (int)hpx_event_stacks_ask(jvmti, NULL, told, COMPARED); /* first: it gives every method an id */
    const struct hpx_judged_walk w = hpx_judge_walked_sig(walked, hpx_quiet_stack_frames(&t, walked), HPX_END_WHOLE, UINT32_MAX);
    hpx_quiet_stack_compared(hpx_judge_compare_sig(&w, told, n, COMPARED));
}

uint32_t hpx_event_stacks_take(struct hpx_event_stacks *e, struct hpx_mode_thread *s, jvmtiEnv *jvmti, jthread self,
                               struct hpx_event_look *look, struct hpx_ev_frame *frames, uint32_t most)
{
    const struct hpx_quiet_thread t = own(s, most);
    uint32_t named = look->whole && look->was == 0 ? (uint32_t)hpx_quiet_stack_frames(&t, frames) : 0;
    bool compares = named > 0 && hpx_quiet_stack_compares(++e->named);
    if (named > 0 && !compares) {
        hpx_count_own(t.counters, HPX_C_EVENTS_NAMED, 1);
        return named;
    }
    const struct hpx_judged_walk walked = hpx_judge_walked_sig(frames, (int)named, HPX_END_WHOLE, UINT32_MAX);
    uint32_t n = hpx_event_stacks_ask(jvmti, self, frames, most);
    hpx_count_own(t.counters, HPX_C_EVENTS_ASKED, 1);
    if (compares) {
        hpx_quiet_stack_compared(hpx_judge_compare_sig(&walked, frames, (int)n, most));
    }
    look->whole = look->whole && n > 0; /* the walk has found frames, so the VM failed: the next event asks again */
    return n;
}
