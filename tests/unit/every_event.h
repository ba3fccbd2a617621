/* SPDX-License-Identifier: BSD-2-Clause */
/* every_event.h: producers of every kind of event, without a JVM: they write into rings and post definitions as the agent does, and `made`
 * has what they have told of: samples, calls, objects, blocks, ms of wall-clock time. */
#ifndef HPX_EVERY_EVENT_H
#define HPX_EVERY_EVENT_H

#include "block_table.h"
#include "call_rows.h"
#include "cmocka_all.h"
#include "hash.h"
#include "sample_table.h"
#include "session.h"
#include "site_table.h"
#include "wall_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES 24u
#define METHODS 48u /* with numbers */
#define MS      UINT64_C(1000000)

static uint64_t made;
static struct hpx_site_ids ids, places;

/* ---- rings, of two threads ---- */

enum { SAMPLES, WALLS, CALLS, SITES, BLOCKS, RINGS };
static HPX_ALIGNED(HPX_CACHE_LINE) struct hpx_thread threads[2][RINGS];

/* weight: what a lost record counts for. false: there is no ring, or no room, which is counted. */
static bool push(struct hpx_thread *t, enum hpx_ev_kind kind, uint32_t id, uint64_t stamp, const void *body, size_t n, uint64_t weight)
{
    if (t->ring.bytes == NULL) {
        return false;
    }
    struct hpx_ev_head *ev = hpx_reserve_or_drop(&hpx_session.aggregator, t, sizeof *ev + n, weight);
    made += weight;
    if (ev == NULL) {
        return false;
    }
    *ev = (struct hpx_ev_head){.kind = (uint16_t)kind, .id = id, .stamp = stamp};
    if (n > 0) {
        memcpy(ev + 1, body, n);
    }
    hpx_ring_commit(&t->ring, ev, sizeof *ev + n);
    return true;
}

#define FRAMES 3u
struct stack {
    struct hpx_ev_hash hash;
    struct hpx_ev_frame frames[FRAMES];
};

/* Of methods of known classes, of unknown ones, of none but a cause; each i has another one. */
static struct stack stack_of(uint32_t i)
{
    struct stack s = {.frames = {{(int32_t)i, 0, 10000 + 8 * (i % (2 * CLASSES))},
                                 {4, 0, i % 20 ? 10008 : 8 + 8 * i},
                                 {-1, 0, i % 7 ? 10016 : HPX_EV_METHOD_OF(HPX_UNKNOWN_DRIFTED)}}};
    struct hpx_hash128 h = hpx_hash128(s.frames, sizeof s.frames);
    s.hash = (struct hpx_ev_hash){h.lo, h.hi};
    return s;
}

/* ---- definitions: what cannot be posted costs names alone ---- */

static void post(void *m)
{
    if (m != NULL) {
        hpx_lane_post(&hpx_session.aggregator.control, m, true);
    }
}

static void post_classes(uint64_t rebound)
{
    for (uint32_t i = 0; i < CLASSES; i++) {
        char text[128];
        int n = snprintf(text, sizeof text, "Lp/Class%u;%cC%u.java%crun%u%c()V%cstop%u%c()V", i, 0, i, 0, i, 0, 0, i, 0);
        struct hpx_msg_class *c = hpx_msg_class_new(2, i % 3 ? (uint32_t)n + 1 : 0);
        if (c != NULL) {
            c->ref = i % 9 ? i + 1 : 0;
            c->named = c->text_len > 0;
            memcpy(c->text, text, c->text_len);
            c->ids[0] = 10000 + 16 * i + rebound;
            c->ids[1] = c->ids[0] + 8;
            post(c);
        }
    }
}

static void post_thread_start(uint32_t which)
{
    static const char text[] = "worker\0group\0system";
    struct hpx_msg_thread_start *s = hpx_msg_thread_start_new(sizeof text - 1);
    if (s != NULL) {
        s->key = which + 1;
        for (uint32_t i = 0; i < RINGS; i++) {
            s->threads[s->nthreads++] = &threads[which][i];
        }
        memcpy(s->text, text, sizeof text - 1);
        post(s);
    }
}

/* After the pass that has read its start. */
static void post_thread_name(uint32_t which)
{
    static const char text[] = "renamed";
    struct hpx_msg_thread_name *s = hpx_msg_thread_name_new(sizeof text - 1);
    if (s != NULL) {
        s->key = which + 1;
        s->serial = threads[which][0].serial;
        memcpy(s->text, text, sizeof text - 1);
        post(s);
    }
}

static void post_thread_end(uint32_t which)
{
    struct hpx_msg_thread_end *e = hpx_msg_new(HPX_MSG_THREAD_END, sizeof *e);
    if (e != NULL) {
        e->key = which + 1;
        post(e);
    }
}

static void post_row_class(enum hpx_model_msg kind)
{
    post(hpx_msg_row_class_new(kind, 1, "Lp/Account;"));
    post(hpx_msg_row_class_new(kind, 2, "[I"));
}

/* ---- cpu=samples, wall= ---- */

static void make_samples(uint32_t which, uint32_t n, uint32_t also_ms)
{
    struct hpx_thread *t = &threads[which][SAMPLES];
    for (uint32_t i = 0; i < n; i++) {
        struct stack s = stack_of(i);
        uint32_t slot = i % HPX_SLOTS, weight = 1 + i % 5;
        made += push(t, HPX_EV_SAMPLE_DEF, slot, weight, &s, sizeof s, weight) ? weight * also_ms : 0;
        made += push(t, HPX_EV_SAMPLE, slot, 2, NULL, 0, 2) ? UINT64_C(2) * also_ms : 0;
    }
    made += push(t, HPX_EV_SAMPLE_UNKNOWN, HPX_UNKNOWN_GC_ACTIVE, 5, NULL, 0, 5) ? UINT64_C(5) * also_ms : 0;
    made += push(t, HPX_EV_SAMPLE_STALLED, 0, 70, NULL, 0, 70) ? UINT64_C(70) * also_ms : 0;
}

static void make_walls(uint32_t which, uint32_t n)
{
    struct hpx_thread *t = &threads[which][WALLS];
    const struct hpx_ev_thread ready = {.serial = HPX_SERIAL_THREAD + 1 + which}, unseen = {.serial = HPX_SERIAL_THREAD + 99};
    struct {
        struct hpx_ev_hash hash;
        struct hpx_ev_wall wall;
        struct hpx_ev_frame frames[FRAMES];
    } def;
    post_row_class(HPX_MSG_WALL_CLASS);
    for (uint32_t i = 0; i < n; i++) {
        struct stack s = stack_of(i);
        bool bare = i % 10 == 9;
        def.hash = s.hash;
        def.wall = (struct hpx_ev_wall){HPX_SERIAL_THREAD + 1 + i % 3, i % HPX_WALL_STATES, HPX_UNKNOWN_NO_JAVA, i % 4};
        memcpy(def.frames, s.frames, sizeof s.frames);
        (void)push(t, HPX_EV_WALL_DEF, i % 6, 0, &def, bare ? offsetof(__typeof__(def), frames) : sizeof def, 0);
        (void)push(t, HPX_EV_WALL, i % 6, (1 + i % 4) * MS, NULL, 0, 1 + i % 4);
    }
    def.wall.serial = HPX_SERIAL_THREAD;
    (void)push(t, HPX_EV_WALL_VIRTUAL, 0, 5 * MS, &def, sizeof def, 5);
    (void)push(t, HPX_EV_WALL_READY, 0, 3 * MS, &ready, sizeof ready, 3);
    (void)push(t, HPX_EV_WALL_READY, 0, 2 * MS, &unseen, sizeof unseen, 2);
}

/* ---- cpu=times ---- */

static void post_methods(void)
{
    char text[4096] = "Lp/A;\0A.java", *at = text + sizeof "Lp/A;\0A.java";
    for (uint32_t i = 0; i < METHODS; i++) {
        at += snprintf(at, 32, "m%u", i) + 1;
        at += snprintf(at, 32, "()V") + 1;
    }
    struct hpx_msg_methods *m = hpx_msg_methods_new(METHODS, (uint32_t)(at - text));
    if (m != NULL) {
        m->first = 1;
        memcpy(m->text, text, m->text_len);
        m->of[3].replaced = m->of[7].replaced = 1;
        post(m);
    }
}

static void make_gap(struct hpx_thread *t, uint32_t returned, uint32_t entered, uint64_t calls)
{
    const struct {
        uint32_t returned, entered;
        uint64_t calls;
    } gap = {returned, entered, calls};
    (void)push(t, HPX_EV_GAP, 1, 0, &gap, sizeof gap, calls);
}

static void make_switch(struct hpx_thread *t, uint64_t key, uint64_t turn)
{
    const uint64_t to[2] = {key, turn};
    (void)push(t, HPX_EV_SWITCH, 0, 50, to, sizeof to, 0);
}

static void make_places(struct hpx_thread *t, uint32_t i);

/* turn: how many mounts the virtual thread has had. */
static void make_calls(uint32_t which, uint32_t n, uint32_t turn, bool ticks, bool allocate)
{
    struct hpx_thread *t = &threads[which][CALLS];
    uint64_t ns = ticks ? 0 : 1;
    post_methods();
    make_switch(t, 77, turn);
    for (uint32_t i = 1; i <= n; i++) {
        (void)push(t, HPX_EV_ENTER, i, 10 * ns, NULL, 0, 1);
        (void)push(t, HPX_EV_LEAF, i + 1, HPX_EV_LEAF_STAMP(7, 70 * ns), NULL, 0, 7);
        (void)push(t, HPX_EV_ENTER, i + 2, 20 * ns, NULL, 0, 1);
        if (allocate) {
            make_places(t, i);
        }
        if (ticks) {
            (void)push(t, HPX_EV_TICK, 0, MS, NULL, 0, 0);
        }
        (void)push(t, i % 2 ? HPX_EV_EXIT : HPX_EV_THROWN, i + 2, 30 * ns, NULL, 0, 0);
        if (i % 3 == 0) {
            (void)push(t, HPX_EV_EXIT, i, 40 * ns, NULL, 0, 0);
        }
        if (i % 20 == 0) {
            make_gap(t, 1, 2, 11);
        }
    }
    make_switch(t, 0, 0);
    (void)push(t, HPX_EV_FLOOR, 1, 60 * ns, NULL, 0, 0);
    (void)push(t, HPX_EV_ENTER, 5, 60 * ns, NULL, 0, 1);
    (void)push(t, HPX_EV_ENTER, 6, 60 * ns, NULL, 0, 1);
    (void)push(t, HPX_EV_FALL, 1, 1, NULL, 0, 0);
    make_gap(t, 0, 0, 3);
}

/* ---- heap=sites ---- */

static void make_sites(uint32_t which, uint32_t n)
{
    struct {
        struct hpx_ev_hash hash;
        struct hpx_ev_site site;
        struct hpx_ev_frame frames[FRAMES];
    } def = {.site = {.klass = {0}}};
    if (threads[which][SITES].ring.bytes == NULL) {
        return; /* who makes an id has room for its definition */
    }
    for (uint32_t i = 1; i <= 40; i++) {
        char signature[32];
        int len = snprintf(signature, sizeof signature, i % 3 ? "Lp/Object%u;" : "[[Lp/Object%u;", i);
        struct hpx_msg_site_class *m = hpx_msg_site_class_new((uint32_t)len);
        if (m != NULL) {
            m->number.v = i;
            m->method = 10000 + 16 * i;
            memcpy(m->signature, signature, (size_t)len + 1);
            post(m);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        bool fresh = false;
        uint32_t id = hpx_site_ids_get(&ids, i + 1, &fresh);
        struct stack s = stack_of(i);
        if (id == HPX_SITE_NONE) {
            continue; /* the agent counts it */
        }
        (void)push(&threads[1][SITES], HPX_EV_ALLOC, id, 16, NULL, 0, 1); /* before its definition */
        def.hash = s.hash;
        def.site.klass.v = 1 + i % 45;
        memcpy(def.frames, s.frames, sizeof s.frames);
        (void)push(&threads[which][SITES], fresh ? HPX_EV_SITE_DEF : HPX_EV_ALLOC, id, 16, &def, fresh ? sizeof def : 0, 1);
        hpx_site_ids_freed(&ids, hpx_site_tag(id, 16));
    }
}

#define MULTI   4u /* arrays of a record */
#define MADE_OF 6u

static void post_place(uint32_t id)
{
    static const char text[] = "Lp/A;\0A.java\0run\0()V\0[[I";
    struct hpx_msg_sites *m = hpx_msg_sites_new(1, sizeof text);
    if (m != NULL) {
        memcpy(m->text, text, sizeof text);
        m->of[0].id = id;
        m->of[0].line = (uint16_t)id;
        m->of[0].opcode = 197; /* multianewarray */
        post(m);
    }
}

static void make_places(struct hpx_thread *t, uint32_t i)
{
    int in_calls = t == &threads[0][CALLS] || t == &threads[1][CALLS];
    int by = in_calls ? HPX_EV_PLACE - HPX_EV_COUNT : 0;
    (void)push(t, HPX_EV_COUNT_MULTI + by, i, HPX_EV_MULTI_STAMP(0, 1, 32), NULL, 0, 1);
    (void)push(t, HPX_EV_COUNT_MULTI + by, i, HPX_EV_MULTI_STAMP(1, MULTI, 24), NULL, 0, MULTI);
    (void)push(t, HPX_EV_COUNT + by, i, 16, NULL, 0, 1);
    (void)push(t, HPX_EV_COUNT_MADE + by, i, HPX_EV_MADE_STAMP((struct hpx_class_number){i}, MADE_OF, 24), NULL, 0, MADE_OF);
}

static void post_places(uint32_t n)
{
    for (uint32_t i = 1; i <= n; i++) {
        post_place(i);
    }
    post(hpx_msg_site_size_new("p/A", 24));
}

/* ---- monitor=y ---- */

/* sampled: blocks are counted by class, and some have a place beside. */
static void make_blocks(uint32_t which, uint32_t n, bool sampled)
{
    struct hpx_thread *t = &threads[which][BLOCKS];
    struct {
        struct hpx_ev_hash hashes[2];
        struct hpx_ev_block block;
        struct hpx_ev_frame frames[2 * FRAMES];
    } def;
    if (t->ring.bytes == NULL) {
        return; /* as of sites */
    }
    post_row_class(HPX_MSG_BLOCK_CLASS);
    for (uint32_t i = 0; i < n; i++) {
        struct stack s = stack_of(i), owner = stack_of(i + 1);
        bool fresh = false, owned = !sampled && i % 2;
        uint32_t part = i % 3 == 0 ? HPX_BLOCK_ENTER : i % 3 == 1 ? HPX_BLOCK_WAIT : HPX_BLOCK_PARK, klass = i % 4;
        uint32_t id = hpx_site_ids_get(&places, i + 1, &fresh);
        def.hashes[0] = s.hash;
        def.hashes[1] = owner.hash;
        def.block = (struct hpx_ev_block){.klass = klass, .part = part, .frames = FRAMES};
        memcpy(def.frames, s.frames, sizeof s.frames);
        memcpy(def.frames + FRAMES, owner.frames, sizeof owner.frames);
        if (id != HPX_SITE_NONE && i % 2) {
            (void)push(&threads[1][BLOCKS], sampled ? HPX_EV_BLOCK_SAMPLE : HPX_EV_BLOCKED, id, MS, NULL, 0, !sampled); /* early */
        }
        if (id != HPX_SITE_NONE && fresh) {
            (void)push(t, HPX_EV_BLOCK_DEF, id, 0, &def, owned ? sizeof def : offsetof(__typeof__(def), frames) + sizeof s.frames, 0);
        }
        if (id == HPX_SITE_NONE || sampled) {
            (void)push(t, HPX_EV_BLOCKED_CLASS, HPX_EV_BLOCK_ID(part, klass), 2 * MS, NULL, 0, 1);
        }
        if (id != HPX_SITE_NONE) {
            (void)push(t, sampled ? HPX_EV_BLOCK_SAMPLE : HPX_EV_BLOCKED, id, 2 * MS, NULL, 0, !sampled);
        }
    }
    const struct hpx_ev_thread other = {.serial = HPX_SERIAL_THREAD + 2};
    (void)push(t, HPX_EV_WAIT, 1, 100, NULL, 0, 0);
    (void)push(t, HPX_EV_WAITED, 1, 5 * MS, &other, sizeof other, 0);
}

#endif
