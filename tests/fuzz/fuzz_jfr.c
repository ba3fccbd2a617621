/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_jfr.c: any bytes as a JFR recording, or as the inside of one chunk: the reader ends, events and what they name are sound, and the
 * same bytes in pieces make the same events. What the tree makes of them is with fuzz_tree.c, which has the same seeds. */
#include "budget.h"
#include "fuzz.h"
#include "jfr.h"
#include <stdlib.h>
#include <string.h>

#define MOST (UINT64_C(256) << 20)
#define HEAD 68

struct given {
    const uint8_t *at;
    size_t n, piece;
};

struct seen {
    uint64_t events, frames, sum;
};

static ssize_t give(void *ctx, void *to, size_t n)
{
    struct given *g = ctx;
    n = n < g->n ? n : g->n;
    n = n < g->piece ? n : g->piece;
    memcpy(to, g->at, n);
    g->at += n;
    g->n -= n;
    return (ssize_t)n;
}

static void text(struct seen *s, const char *text, size_t room)
{
    size_t n = strnlen(text, room);
    require(n < room, "a text without an end");
    for (size_t i = 0; i < n; i++) {
        s->sum = s->sum * 31 + (unsigned char)text[i];
    }
}

static void names(struct seen *s, struct hpx_jfr *j, const struct hpx_jfr_value *v)
{
    char small[24], large[300], other[300];
    (void)hpx_jfr_text(&j->chunk, v, small, sizeof small);
    text(s, small, sizeof small);
    (void)hpx_jfr_class(j, v, large, sizeof large);
    text(s, large, sizeof large);
    (void)hpx_jfr_thread(j, v, large, sizeof large);
    text(s, large, sizeof large);
    hpx_jfr_method(j, v, large, other, sizeof large);
    text(s, large, sizeof large);
    text(s, other, sizeof other);
}

/* Every field as if it were of every kind. */
static bool event(void *ctx, struct hpx_jfr *j, const struct hpx_jfr_event *ev)
{
    struct seen *s = ctx;
    struct hpx_list frames = {0};
    require(ev->kind > HPX_JFR_NONE && ev->kind <= HPX_JFR_JVM && j->chunks > 0, "an event of no kind");
    require(ev->at <= INT64_MAX && ev->ns <= INT64_MAX, "a time that is none");
    s->events++;
    s->sum = s->sum * 31 + ev->at + ev->ns;
    for (size_t i = 0; i < HPX_JFR_SLOTS; i++) {
        const struct hpx_jfr_value *v = &ev->v[i];
        require(v->f == NULL || (v->at >= j->chunk.bytes && v->at <= j->chunk.bytes + j->chunk.n), "a value outside the chunk");
        s->sum += v->n;
        if (v->f != NULL) {
            names(s, j, v);
        }
    }
    (void)hpx_jfr_frames(j, &ev->v[HPX_JFR_STACK], &frames);
    for (size_t i = 0; i < frames.len && i < 4; i++) {
        names(s, j, &((const struct hpx_jfr_frame *)frames.items)[i].method);
    }
    s->frames += frames.len;
    hpx_budget_give(frames.cap * sizeof(struct hpx_jfr_frame));
    free(frames.items);
    return true;
}

static struct seen read_all(const uint8_t *data, size_t size, size_t piece)
{
    struct seen s = {0, 0, 0};
    struct given given = {data, size, piece};
    struct hpx_source source;
    struct hpx_budget budget;
    hpx_budget_begin(&budget, MOST, NULL);
    require(hpx_source_init(&source, give, &given) == 0, "no memory");
    struct hpx_jfr j = {.source = &source, .sink = event, .ctx = &s};
    hpx_jfr_read(&j);
    require(!j.no_memory, "more memory than a small file may need");
    require(j.chunks > 0 || size == 0 || j.why[0] != '\0', "nothing was read, and nothing is said");
    require(j.start <= j.end || j.chunks == 0, "it ends before it begins");
    hpx_jfr_fini(&j);
    hpx_source_fini(&source);
    hpx_budget_end(&budget);
    return s;
}

static void check(const uint8_t *data, size_t size)
{
    struct seen whole = read_all(data, size, SIZE_MAX), pieces = read_all(data, size, 7);
    require(memcmp(&whole, &pieces, sizeof whole) == 0, "otherwise in pieces");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check(data, size);
    if (size > 0 && size < 1 << 20 && data[0] != 'F') { /* without a head */
        static const uint8_t head[] = {'F', 'L', 'R', 0, 0, 2};
        uint8_t *all = calloc(1, HEAD + size);
        require(all != NULL, "no memory");
        memcpy(all, head, sizeof head);
        all[HEAD - 1] = data[0] & 1;
        memcpy(all + HEAD, data + 1, size - 1);
        check(all, HEAD + size - 1);
        free(all);
    }
    return 0;
}
