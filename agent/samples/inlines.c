/* SPDX-License-Identifier: BSD-2-Clause */
/* inlines.c: the records of inlines.h: a sorted array of compiled methods; in each, the chains of its program counters as a tree, since
 * neighbours share their outer frames. */
#include "inlines.h"
#include <jvmticmlr.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NO_BCI 0xffffu /* no bytecode has this index */

struct node {
    uint32_t up;     /* index + 1 of the caller's node; 0: the outermost */
    uint16_t method; /* index in `methods` */
    uint16_t bci;
};

struct place {
    uint32_t offset; /* last offset of the chain; it begins after the previous place */
    uint32_t node;
};

struct code {
    uintptr_t start;
    size_t size, bytes;
    uint64_t outermost;
    uint32_t places, nodes, methods;
    struct place *place;
    struct node *node;
    uint64_t *method;
};

static struct {
    pthread_mutex_t lock; /* guards all but `on` */
    struct code **codes;  /* by start */
    size_t n, cap, bytes;
    atomic_bool on; /* relaxed: GenerateEvents replays events missed in between */
} inlines = {.lock = PTHREAD_MUTEX_INITIALIZER};

void hpx_inlines_enable(void)
{
    atomic_store_explicit(&inlines.on, true, memory_order_relaxed);
}

bool hpx_inlines_enabled(void)
{
    return atomic_load_explicit(&inlines.on, memory_order_relaxed);
}

static void code_free(struct code *c)
{
    if (c != NULL) {
        free(c->place);
        free(c->node);
        free(c->method);
        free(c);
    }
}

/* UINT16_MAX: no room for one more. */
static uint16_t method_index(struct code *c, uint64_t method)
{
    for (uint32_t i = c->methods; i-- > 0;) {
        if (c->method[i] == method) {
            return (uint16_t)i;
        }
    }
    if (c->methods == UINT16_MAX) {
        return UINT16_MAX;
    }
    c->method[c->methods] = method;
    return (uint16_t)c->methods++;
}

/* Adds the chain of one record of the VM. level[]: the nodes of the previous chain, outermost first. */
static void add_place(struct code *c, const PCStackInfo *pc, uint32_t level[HPX_INLINES_DEPTH], uint32_t *depth)
{
    uintptr_t at = (uintptr_t)pc->pc - c->start;
    uint32_t last = c->places ? c->place[c->places - 1].offset : 0;
    if (pc->numstackframes <= 0 || at > c->size || (c->places && at <= last)) {
        return;
    }
    uint32_t n = (uint32_t)pc->numstackframes, shared = 0;
    bool same = true;
    for (uint32_t j = 0; j < n && j < HPX_INLINES_DEPTH; j++) {
        uint64_t method = (uint64_t)(uintptr_t)pc->methods[n - 1 - j];
        jint raw = pc->bcis[n - 1 - j];
        uint16_t bci = raw >= 0 && raw < (jint)NO_BCI ? (uint16_t)raw : (uint16_t)NO_BCI;
        same = same && j < *depth && c->node[level[j]].bci == bci && c->method[c->node[level[j]].method] == method;
        if (!same) {
            uint16_t index = method_index(c, method);
            if (index == UINT16_MAX) {
                break;
            }
            c->node[c->nodes] = (struct node){j > 0 ? level[j - 1] + 1 : 0, index, bci};
            level[j] = c->nodes++;
        }
        shared = j + 1;
    }
    *depth = shared;
    if (shared > 0) {
        c->place[c->places++] = (struct place){(uint32_t)at, level[shared - 1]};
    }
}

static void *shrink(void *p, size_t n)
{
    void *q = n ? realloc(p, n) : NULL;
    return q != NULL ? q : p;
}

static bool fill(struct code *c, const jvmtiCompiledMethodLoadInlineRecord *r)
{
    size_t frames = 0;
    for (jint i = 0; i < r->numpcs; i++) {
        frames += r->pcinfo[i].numstackframes > 0 ? (size_t)r->pcinfo[i].numstackframes : 0;
    }
    c->place = malloc((size_t)r->numpcs * sizeof *c->place + 1);
    c->node = malloc(frames * sizeof *c->node + 1);
    c->method = malloc(frames * sizeof *c->method + 1);
    if (c->place == NULL || c->node == NULL || c->method == NULL) {
        return false;
    }
    uint32_t level[HPX_INLINES_DEPTH], depth = 0;
    for (jint i = 0; i < r->numpcs; i++) {
        add_place(c, &r->pcinfo[i], level, &depth);
    }
    c->place = shrink(c->place, c->places * sizeof *c->place);
    c->node = shrink(c->node, c->nodes * sizeof *c->node);
    c->method = shrink(c->method, c->methods * sizeof *c->method);
    c->bytes += c->places * sizeof *c->place + c->nodes * sizeof *c->node + c->methods * sizeof *c->method;
    return true;
}

static struct code *code_new(jmethodID method, const void *code, size_t size, const void *compile_info)
{
    struct code *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    c->start = (uintptr_t)code;
    c->size = size;
    c->bytes = sizeof *c;
    c->outermost = (uint64_t)(uintptr_t)method;
    const jvmtiCompiledMethodLoadRecordHeader *h = compile_info;
    while (h != NULL && h->kind != JVMTI_CMLR_INLINE_INFO) {
        h = h->next;
    }
    if (h != NULL && ((const jvmtiCompiledMethodLoadInlineRecord *)(const void *)h)->numpcs > 0 &&
        !fill(c, (const jvmtiCompiledMethodLoadInlineRecord *)(const void *)h)) {
        code_free(c);
        return NULL;
    }
    return c;
}

/* Index of the first code that begins above pc. Lock held. */
static size_t above(uintptr_t pc)
{
    size_t low = 0, high = inlines.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (inlines.codes[mid]->start > pc) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return low;
}

static bool grow_locked(void)
{
    if (inlines.n < inlines.cap) {
        return true;
    }
    size_t cap = inlines.cap ? inlines.cap * 2 : 1024;
    struct code **more = realloc(inlines.codes, cap * sizeof(void *));
    if (more == NULL) {
        return false;
    }
    inlines.codes = more;
    inlines.cap = cap;
    return true;
}

static struct code *take_out_locked(size_t i)
{
    struct code *c = inlines.codes[i];
    memmove(inlines.codes + i, inlines.codes + i + 1, (inlines.n - i - 1) * sizeof(void *));
    inlines.n--;
    inlines.bytes -= c->bytes;
    return c;
}

bool hpx_inlines_add(jmethodID method, const void *code, size_t size, const void *compile_info)
{
    if (!hpx_inlines_enabled()) {
        return true;
    }
    struct code *c = code_new(method, code, size, compile_info);
    if (c == NULL) {
        return false;
    }
    pthread_mutex_lock(&inlines.lock);
    size_t i = above(c->start);
    i -= i > 0 && inlines.codes[i - 1]->start + inlines.codes[i - 1]->size > c->start;
    while (i < inlines.n && inlines.codes[i]->start < c->start + c->size) {
        code_free(take_out_locked(i));
    }
    bool room = grow_locked();
    if (room) {
        memmove(inlines.codes + i + 1, inlines.codes + i, (inlines.n - i) * sizeof(void *));
        inlines.codes[i] = c;
        inlines.n++;
        inlines.bytes += c->bytes;
    }
    pthread_mutex_unlock(&inlines.lock);
    code_free(room ? NULL : c);
    return room;
}

void hpx_inlines_remove(jmethodID method, const void *code)
{
    struct code *c = NULL;
    if (!hpx_inlines_enabled()) {
        return;
    }
    pthread_mutex_lock(&inlines.lock);
    size_t i = above((uintptr_t)code);
    if (i > 0 && inlines.codes[i - 1]->start == (uintptr_t)code && inlines.codes[i - 1]->outermost == (uint64_t)(uintptr_t)method) {
        c = take_out_locked(i - 1);
    }
    pthread_mutex_unlock(&inlines.lock);
    code_free(c);
}

/* The VM records a place at the end of the instructions that it describes: the first one at or behind pc, as its own search does. */
static uint32_t chain_of(const struct code *c, uint32_t offset, struct hpx_ev_frame *chain)
{
    uint32_t low = 0, high = c->places, n = 0;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (c->place[mid].offset < offset) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    if (c->places == 0) {
        chain[0] = (struct hpx_ev_frame){-1, 0, c->outermost};
        return 1;
    }
    low = low < c->places ? low : c->places - 1;
    for (uint32_t at = c->place[low].node + 1; at != 0 && n < HPX_INLINES_DEPTH; n++) {
        const struct node *node = &c->node[at - 1];
        chain[n] = (struct hpx_ev_frame){node->bci == NO_BCI ? -1 : (int32_t)node->bci, 0, c->method[node->method]};
        at = node->up;
    }
    return n;
}

uint32_t hpx_inlines_find(uintptr_t pc, struct hpx_ev_frame *chain)
{
    uint32_t n = 0;
    if (pc == 0 || !hpx_inlines_enabled()) {
        return 0;
    }
    pthread_mutex_lock(&inlines.lock);
    size_t i = above(pc);
    const struct code *c = i > 0 ? inlines.codes[i - 1] : NULL;
    if (c != NULL && pc - c->start < c->size) {
        n = chain_of(c, (uint32_t)(pc - c->start), chain);
    }
    pthread_mutex_unlock(&inlines.lock);
    return n;
}

void hpx_inlines_fini(void)
{
    pthread_mutex_lock(&inlines.lock);
    atomic_store_explicit(&inlines.on, false, memory_order_relaxed);
    for (size_t i = 0; i < inlines.n; i++) {
        code_free(inlines.codes[i]);
    }
    free(inlines.codes);
    inlines.codes = NULL;
    inlines.n = inlines.cap = inlines.bytes = 0;
    pthread_mutex_unlock(&inlines.lock);
}

size_t hpx_inlines_bytes(void)
{
    pthread_mutex_lock(&inlines.lock);
    size_t bytes = inlines.bytes + inlines.cap * sizeof(void *);
    pthread_mutex_unlock(&inlines.lock);
    return bytes;
}
