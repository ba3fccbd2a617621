/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof99_tables.c: traces, sites and objects. Contract: hprof99.h. */
#include "hprof99.h"
#include <stdlib.h>
#include <string.h>

#define LISTS (1u << 16)

static struct trace *traces[LISTS];
static struct site *sites[LISTS];
static struct tables all;

static void *checked(void *p)
{
    if (p == NULL) {
        abort();
    }
    return p;
}

static void *room_for_one_more(void *array, int n)
{
    return (n & (n - 1)) == 0 ? checked(realloc(array, sizeof(void *) * (n == 0 ? 1 : 2 * (size_t)n))) : array;
}

struct trace *trace_of(const JVMPI_CallFrame *frames, int n)
{
    uint64_t hash = (uint64_t)n;
    for (int i = 0; i < n; i++) {
        hash = (hash ^ (uintptr_t)frames[i].method_id ^ (uint64_t)(uint32_t)frames[i].lineno << 40) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    struct trace **list = &traces[hash % LISTS];
    for (struct trace *t = *list; t != NULL; t = t->next) {
        int i = 0;
        while (t->n == n && i < n && t->frames[i].method_id == frames[i].method_id && t->frames[i].lineno == frames[i].lineno) {
            i++;
        }
        if (t->n == n && i == n) {
            return t;
        }
    }
    struct trace *t = checked(calloc(1, sizeof(*t) + sizeof(*frames) * (size_t)n));
    t->n = n;
    memcpy(t->frames, frames, sizeof(*frames) * (size_t)n);
    t->next = *list;
    *list = t;
    all.traces = room_for_one_more(all.traces, all.ntraces);
    all.traces[all.ntraces++] = t;
    return t;
}

struct site *site_of(struct trace *trace, jobjectID class_id, jint is_array)
{
    uint64_t key = (uintptr_t)trace ^ (uintptr_t)class_id * 31 ^ (uint64_t)(uint32_t)is_array << 50;
    struct site **list = &sites[book_hash(key) % LISTS];
    for (struct site *s = *list; s != NULL; s = s->next) {
        if (s->trace == trace && s->class_id == class_id && s->is_array == is_array) {
            return s;
        }
    }
    struct site *s = checked(calloc(1, sizeof(*s)));
    *s = (struct site){.trace = trace, .class_id = class_id, .is_array = is_array, .next = *list};
    *list = s;
    all.sites = room_for_one_more(all.sites, all.nsites);
    all.sites[all.nsites++] = s;
    return s;
}

/* ---- objects that live: open addressing; an entry without a site was freed ---- */

static struct object {
    jobjectID id;
    struct site *site;
    jint size;
} * objects;
static size_t nslots, used;

static struct object *slot(struct object *in, size_t n, jobjectID id)
{
    size_t i = (size_t)((uintptr_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (n - 1);
    while (in[i].id != NULL && in[i].id != id) {
        i = (i + 1) & (n - 1);
    }
    return &in[i];
}

static void grow(void)
{
    size_t bigger = nslots == 0 ? 1u << 16 : 2 * nslots;
    struct object *fresh = checked(calloc(bigger, sizeof(*fresh)));
    used = 0;
    for (size_t i = 0; i < nslots; i++) {
        if (objects[i].site != NULL) {
            *slot(fresh, bigger, objects[i].id) = objects[i];
            used++;
        }
    }
    free(objects);
    objects = fresh;
    nslots = bigger;
}

void object_made(jobjectID id, struct site *site, jint size)
{
    if (2 * used >= nslots) {
        grow();
    }
    *slot(objects, nslots, id) = (struct object){id, site, size};
    used++;
    site->objects++;
    site->live++;
    site->bytes += size;
    site->live_bytes += size;
}

void object_freed(jobjectID id)
{
    struct object *o = nslots != 0 ? slot(objects, nslots, id) : NULL;
    if (o != NULL && o->site != NULL) {
        o->site->live--;
        o->site->live_bytes -= o->size;
        o->site = NULL;
    }
}

const struct tables *tables_all(void)
{
    return &all;
}
