/* SPDX-License-Identifier: BSD-2-Clause */
/* places.c: see places.h. */
#include "places.h"
#include "block_table.h"
#include "class_number.h"
#include "hash.h"
#include "lock_frames.h"
#include "monitor.h"
#include "probe_frames.h"
#include "session.h"
#include <math.h>
#include <string.h>

/* ---- classes ---- */

static struct hpx_msg *class_message(jvmtiEnv *jvmti, jclass klass, struct hpx_class_number number, const char *signature)
{
    struct hpx_msg_row_class *m = hpx_msg_row_class_new(HPX_MSG_BLOCK_CLASS, number.v, signature);
    (void)jvmti, (void)klass;
    return m != NULL ? &m->m : NULL;
}

uint32_t hpx_places_class(jvmtiEnv *jvmti, JNIEnv *env, jobject object)
{
    if (object == NULL) {
        return 0;
    }
    jclass klass = (*env)->GetObjectClass(env, object);
    uint32_t number = hpx_class_announce(jvmti, klass, HPX_BLOCK_ANNOUNCED, class_message).v;
    (*env)->DeleteLocalRef(env, klass);
    return number;
}

/* ---- records ---- */

void hpx_places_put(struct hpx_block_thread *t, uint16_t kind, uint32_t id, uint64_t stamp, uint32_t serial)
{
    size_t size = sizeof(struct hpx_ev_head) + (serial != 0 ? sizeof(struct hpx_ev_thread) : 0);
    hpx_session_time(&t->s.base);
    struct hpx_ev_head *ev = hpx_reserve_or_wait(&hpx_session.aggregator, &hpx_session.gate, &t->s.base, size);
    if (ev == NULL) {
        return; /* counted */
    }
    ev->kind = kind;
    ev->id = id;
    ev->stamp = stamp;
    if (serial != 0) {
        *(struct hpx_ev_thread *)(ev + 1) = (struct hpx_ev_thread){.serial = serial};
    }
    hpx_ring_commit(&t->s.base.ring, ev, size);
}

/* Most frames of a stack: those of a place must fit into a quarter of the ring. */
static uint32_t depth_of(const struct hpx_block_thread *t)
{
    size_t quarter = (t->s.base.ring.mask + 1) / 4 - HPX_EV_BLOCK_BYTES(HPX_LOCK_FRAMES + HPX_PROBE_FRAMES);
    uint32_t most = (uint32_t)(quarter / (hpx_session.in_effect.owner ? 2 : 1) / sizeof(struct hpx_ev_frame));
    uint32_t depth = atomic_load_explicit(&hpx_session.depth, memory_order_relaxed);
    return depth < most ? depth : most;
}

/* Takes off the frames of a probe, and at most `skip` frames of a lock. Returns the number of those that are left, at most depth. */
static uint32_t cut(struct hpx_ev_frame *frames, uint32_t n, uint32_t depth, uint32_t skip)
{
    uint32_t inner = skip > 0 ? hpx_lock_frames(frames, n) : hpx_probe_frames(frames, (int)n), left = n - inner;
    memmove(frames, frames + inner, left * sizeof *frames);
    return left < depth ? left : depth;
}

static uint32_t id_of(struct hpx_block_thread *t, uint64_t key, bool *fresh)
{
    uint64_t *known = &t->cache[key % HPX_PLACE_CACHE].key;
    uint32_t *id = &t->cache[key % HPX_PLACE_CACHE].id;
    *fresh = false;
    if (*known != key) {
        *id = hpx_site_ids_get(&hpx_monitor_shared.places, key, fresh);
        *known = *id != HPX_SITE_NONE ? key : 0;
    }
    return *id;
}

/* Whose stack, and how much of it. */
struct wanted {
    const struct hpx_place_of *of;
    uint32_t depth, skip, most; /* most: frames that are taken, with those that are left out */
    struct hpx_event_look look;
};

/* What tells places of one stack apart. */
static uint64_t parts_of(const struct hpx_block_thread *t, const struct hpx_place_of *of)
{
    uint32_t whose = !hpx_session.opt->thread ? 0 : of->serial != 0 ? of->serial : t->number;
    return (uint64_t)of->klass << 40 | (uint64_t)of->part << 32 | whose;
}

static uint32_t take_new(struct hpx_block_thread *t, jvmtiEnv *jvmti, struct wanted *w)
{
    const struct hpx_place_of *of = w->of;
    struct hpx_ev_head *ev = hpx_reserve_or_wait(&hpx_session.aggregator, &hpx_session.gate, &t->s.base,
                                                 HPX_EV_BLOCK_BYTES(w->most + (of->owner != NULL ? w->depth : 0)));
    if (ev == NULL) {
        return 0;
    }
    struct hpx_ev_hash *hash = (struct hpx_ev_hash *)(ev + 1);
    struct hpx_ev_block *block = (struct hpx_ev_block *)(hash + 2);
    struct hpx_ev_frame *frames = (struct hpx_ev_frame *)(block + 1);
    uint32_t n = w->depth > 0 ? hpx_event_stacks_take(&t->stacks, &t->s, jvmti, of->thread, &w->look, frames, w->most) : 0, owners = 0;
    n = cut(frames, n, w->depth, w->skip);
    if (of->owner != NULL && w->depth > 0) {
        owners = hpx_event_stacks_ask(jvmti, of->owner, frames + n, w->depth + hpx_probe_frames_most());
        owners = cut(frames + n, owners, w->depth, 0);
    }
    struct hpx_hash128 h = hpx_hash128(frames, n * sizeof *frames), o = hpx_hash128(frames + n, owners * sizeof *frames);
    hash[0] = (struct hpx_ev_hash){h.lo, h.hi};
    hash[1] = (struct hpx_ev_hash){o.lo, o.hi};
    *block = (struct hpx_ev_block){.klass = of->klass, .thread = of->serial, .part = of->part, .frames = n};
    const uint64_t what[4] = {h.lo, h.hi, o.lo, parts_of(t, of)};
    uint64_t key = hpx_hash128(what, sizeof what).lo;
    bool fresh;
    uint32_t id = id_of(t, key != 0 ? key : 1, &fresh);
    if (fresh) {
        ev->kind = HPX_EV_BLOCK_DEF;
        ev->id = id;
        ev->stamp = 0;
        hpx_ring_commit(&t->s.base.ring, ev, HPX_EV_BLOCK_BYTES(n + owners));
    }
    return id;
}

uint32_t hpx_places_take(struct hpx_block_thread *t, jvmtiEnv *jvmti, const struct hpx_place_of *of, bool skip)
{
    struct wanted w = {.of = of, .depth = depth_of(t), .skip = skip ? HPX_LOCK_FRAMES : 0};
    w.most = w.depth + w.skip + hpx_probe_frames_most();
    if (of->owner != NULL || w.depth == 0) { /* another thread's stack belongs to the place */
        return take_new(t, jvmti, &w);
    }
    uint32_t id = hpx_event_stacks_find(&t->stacks, &t->s, w.most, (uint64_t[2]){parts_of(t, of), w.skip}, &w.look);
    if (id == 0) {
        id = take_new(t, jvmti, &w);
        hpx_event_stacks_learn(&t->stacks, &w.look, id);
    }
    return id;
}

/* stacks=sampled: whether a block of this length has its stack taken. The distances between stacks, in blocked time, are random with an
 * exponential distribution: so the probability depends on nothing but the length (block_table.c). */
static bool chosen(struct hpx_block_thread *t, uint64_t ns)
{
    bool first = t->left == 0, is = !first && t->left <= (double)ns;
    if (is || first) {
        t->random ^= t->random << 13;
        t->random ^= t->random >> 7;
        t->random ^= t->random << 17;
        t->left = -log(((double)(t->random >> 11) + 1) * 0x1p-53) * (double)hpx_session.opt->interval_ns;
    }
    if (first) {
        return chosen(t, ns);
    }
    t->left -= is ? 0 : (double)ns;
    return is;
}

void hpx_places_blocked(struct hpx_block_thread *t, jvmtiEnv *jvmti, const struct hpx_place_of *of, uint32_t id, uint64_t ns, bool skip)
{
    if (hpx_session.opt->stacks == HPX_STACKS_EXACT && id != 0) {
        hpx_places_put(t, HPX_EV_BLOCKED, id, ns, 0);
        return;
    }
    hpx_places_put(t, HPX_EV_BLOCKED_CLASS, HPX_EV_BLOCK_ID(of->part, of->klass), ns, 0);
    if (hpx_session.opt->stacks == HPX_STACKS_SAMPLED && chosen(t, ns)) {
        id = hpx_places_take(t, jvmti, of, skip);
        if (id != 0) {
            hpx_places_put(t, HPX_EV_BLOCK_SAMPLE, id, ns, 0);
        }
    }
}
