/* SPDX-License-Identifier: BSD-2-Clause */
/* time_store.c: see time_store.h. */
#include "time_store.h"
#include <stdlib.h>
#include <string.h>

#define EVENT_MOST 48u /* bytes of an event */
#define FALL       8u  /* blocks that fall together */
#define PART       4u  /* of the blocks, what a resolution keeps before it falls */
#define SCRATCH    ((size_t)FALL * HPX_TIME_STORE_BLOCK / 4)

struct hpx_time_block {
    struct hpx_time_block *next;
    uint32_t level;               /* of units[] */
    uint32_t used;                /* bytes of data */
    struct hpx_time_event before; /* the last event in it: its ms and thread */
    uint8_t data[];
};

#define ROOM (HPX_TIME_STORE_BLOCK - sizeof(struct hpx_time_block))

static const uint64_t units[HPX_TIME_STORE_LEVELS] = {1, 1000, 10000, 60000, 600000, 3600000};

/* The first byte of an event. */
enum {
    STEPS = 0x1f, /* ms since the event before; STEPS itself: a varint follows, zigzag */
    SAME = 0x20,  /* of the same thread */
    ONCE = 0x40,  /* its count is 1 */
    TIMED = 0x80  /* it has ns */
};

/* ---- bytes ---- */

static uint8_t *put(uint8_t *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7) {
        *to++ = (uint8_t)(v | 0x80);
    }
    *to++ = (uint8_t)v;
    return to;
}

static uint64_t get(const uint8_t **at)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t b = *(*at)++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) {
            return v;
        }
    }
}

static void encode(struct hpx_time_block *b, const struct hpx_time_event *e)
{
    uint8_t *first = b->data + b->used, *to = first + 1;
    uint64_t step = e->ms - b->before.ms;
    *first = (uint8_t)(step < STEPS ? step : STEPS);
    if (step >= STEPS) {
        to = put(to, step << 1 ^ (uint64_t)((int64_t)step >> 63));
    }
    if (e->thread == b->before.thread) {
        *first |= SAME;
    } else {
        to = put(to, e->thread);
    }
    to = put(to, e->place);
    if (e->count == 1) {
        *first |= ONCE;
    } else {
        to = put(to, e->count);
    }
    if (e->ns > 0) {
        *first |= TIMED;
        to = put(to, e->ns);
    }
    b->used = (uint32_t)(to - b->data);
    b->before = *e;
}

struct hpx_time_reader hpx_time_store_read(const struct hpx_time_store *s)
{
    return (struct hpx_time_reader){.block = s->first};
}

bool hpx_time_next(struct hpx_time_reader *r, struct hpx_time_event *to)
{
    while (r->block != NULL && r->at == r->block->used) {
        if (r->block->next == NULL) {
            return false;
        }
        *r = (struct hpx_time_reader){.block = r->block->next};
    }
    if (r->block == NULL) {
        return false;
    }
    const uint8_t *at = r->block->data + r->at;
    uint8_t first = *at++;
    uint64_t step = first & STEPS;
    if (step == STEPS) {
        step = get(&at);
        step = step >> 1 ^ (0 - (step & 1));
    }
    to->ms = r->before.ms + step;
    to->thread = (first & SAME) != 0 ? r->before.thread : (uint32_t)get(&at);
    to->place = (uint32_t)get(&at);
    to->count = (first & ONCE) != 0 ? 1 : get(&at);
    to->ns = (first & TIMED) != 0 ? get(&at) : 0;
    r->before = *to;
    r->at = (size_t)(at - r->block->data);
    return true;
}

uint64_t hpx_time_unit(const struct hpx_time_reader *r)
{
    return r->block != NULL ? units[r->block->level] : 1;
}

/* ---- blocks ---- */

static struct hpx_time_block *new_block(struct hpx_time_store *s, uint32_t level)
{
    struct hpx_time_block *b = malloc(HPX_TIME_STORE_BLOCK);
    if (b != NULL) {
        *b = (struct hpx_time_block){.level = level};
        s->bytes += HPX_TIME_STORE_BLOCK;
        s->blocks[level]++;
    }
    return b;
}

static void free_block(struct hpx_time_store *s, struct hpx_time_block *b)
{
    s->bytes -= HPX_TIME_STORE_BLOCK;
    s->blocks[b->level]--;
    free(b);
}

void hpx_time_store_fini(struct hpx_time_store *s)
{
    for (struct hpx_time_block *b = s->first, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    free(s->scratch);
    *s = (struct hpx_time_store){.most = s->most};
}

void hpx_time_store_take(struct hpx_time_store *s, struct hpx_time_store *to)
{
    *to = *s;
    to->scratch = NULL;
    *s = (struct hpx_time_store){.most = s->most, .scratch = s->scratch};
}

/* ---- the fall to the next resolution ---- */

static int by_unit(const void *a, const void *b)
{
    const struct hpx_time_event *x = a, *y = b;
    if (x->ms != y->ms) {
        return x->ms < y->ms ? -1 : 1;
    }
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    return (x->place > y->place) - (x->place < y->place);
}

/* Those of one unit, thread and place become one; how many are left. */
static size_t merge(struct hpx_time_event *of, size_t n)
{
    size_t left = 0;
    qsort(of, n, sizeof of[0], by_unit);
    for (size_t i = 0; i < n; i++) {
        if (left > 0 && by_unit(&of[left - 1], &of[i]) == 0) {
            of[left - 1].count += of[i].count;
            of[left - 1].ns += of[i].ns;
        } else {
            of[left++] = of[i];
        }
    }
    return left;
}

/* Appends an event to the blocks that end with *tail, for which *link leads on. false: no memory. */
static bool append(struct hpx_time_store *s, struct hpx_time_block ***link, struct hpx_time_block **tail, uint32_t level,
                   const struct hpx_time_event *e)
{
    if (*tail == NULL || (*tail)->level != level || (*tail)->used + EVENT_MOST > ROOM) {
        struct hpx_time_block *b = new_block(s, level);
        if (b == NULL) {
            return false;
        }
        b->next = **link;
        **link = b;
        *link = &b->next;
        *tail = b;
    }
    encode(*tail, e);
    return true;
}

/* The finest level that has more than its part and can fall; HPX_TIME_STORE_LEVELS: none. */
static uint32_t falling(const struct hpx_time_store *s)
{
    size_t all = s->bytes / HPX_TIME_STORE_BLOCK;
    for (uint32_t i = 0; i + 1 < HPX_TIME_STORE_LEVELS; i++) {
        if (s->blocks[i] > FALL && s->blocks[i] > all / PART) {
            return i;
        }
    }
    return HPX_TIME_STORE_LEVELS;
}

static uint64_t counts_of(const struct hpx_time_block *b)
{
    struct hpx_time_reader r = {.block = b};
    struct hpx_time_event e;
    uint64_t n = 0;
    while (r.block == b && r.at < b->used && hpx_time_next(&r, &e)) {
        n += e.count;
    }
    return n;
}

static uint64_t events_of(const struct hpx_time_block *b)
{
    struct hpx_time_reader r = {.block = b};
    struct hpx_time_event e;
    uint64_t n = 0;
    while (r.block == b && r.at < b->used && hpx_time_next(&r, &e)) {
        n++;
    }
    return n;
}

static void drop_oldest(struct hpx_time_store *s)
{
    struct hpx_time_block *b = s->first;
    s->lost += counts_of(b);
    s->events -= events_of(b);
    s->first = b->next;
    s->last = s->first == NULL ? NULL : s->last;
    free_block(s, b);
}

/* The events of the next block at *link, as many as the scratch has room for: all that a block may have. The block goes. */
static size_t take_block(struct hpx_time_store *s, struct hpx_time_block **link, uint64_t unit, size_t n)
{
    struct hpx_time_block *b = *link;
    struct hpx_time_reader r = {.block = b};
    struct hpx_time_event e;
    while (r.at < b->used && hpx_time_next(&r, &e)) {
        s->coarse_ms = e.ms > s->coarse_ms ? e.ms : s->coarse_ms;
        e.ms -= e.ms % unit;
        s->scratch[n++] = e;
    }
    *link = b->next;
    free_block(s, b);
    return n;
}

/* The oldest blocks of a level fall to the next one. false: nothing can fall, or there is no memory. */
static bool fall(struct hpx_time_store *s)
{
    uint32_t level = falling(s);
    s->scratch = s->scratch != NULL ? s->scratch : malloc(SCRATCH * sizeof s->scratch[0]);
    if (level == HPX_TIME_STORE_LEVELS || s->scratch == NULL) {
        return false;
    }
    struct hpx_time_block **link = &s->first, *tail = NULL;
    for (; (*link)->level > level; link = &(*link)->next) { /* older ones are coarser */
        tail = *link;
    }
    size_t n = 0;
    for (uint32_t i = 0; i < FALL && n + ROOM / 2 < SCRATCH; i++) {
        n = take_block(s, link, units[level + 1], n);
    }
    size_t left = merge(s->scratch, n);
    s->events -= n;
    for (size_t i = 0; i < left; i++) {
        if (append(s, &link, &tail, level + 1, &s->scratch[i])) {
            s->events++;
        } else {
            s->lost += s->scratch[i].count;
        }
    }
    return true;
}

void hpx_time_store_add(struct hpx_time_store *s, const struct hpx_time_event *e)
{
    struct hpx_time_block *b = s->last;
    if (b == NULL || b->used + EVENT_MOST > ROOM) {
        size_t most = s->most > 0 ? s->most : HPX_TIME_STORE_MOST;
        while (s->bytes + HPX_TIME_STORE_BLOCK > most && s->first != s->last) {
            if (!fall(s)) {
                drop_oldest(s);
            }
        }
        b = new_block(s, 0);
        if (b == NULL) {
            s->lost += e->count;
            return;
        }
        *(s->last != NULL ? &s->last->next : &s->first) = b;
        s->last = b;
    }
    encode(b, e);
    s->events++;
}
