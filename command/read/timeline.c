/* SPDX-License-Identifier: BSD-2-Clause */
/* timeline.c: see timeline.h. */
#include "timeline.h"
#include "reader.h"
#include <string.h>

static const char *const kinds[] = {HPX_TIMELINE_KINDS};
static const char *const parts[] = {HPX_TIMELINE_PARTS};

struct scan {
    const char *at, *end;
    bool ok;
};

static void word(struct scan *s, const char *text)
{
    size_t n = strlen(text);
    s->ok = s->ok && (size_t)(s->end - s->at) >= n && memcmp(s->at, text, n) == 0;
    s->at += s->ok ? n : 0;
}

static uint64_t number(struct scan *s)
{
    uint64_t v = 0;
    const char *first = s->at;
    for (; s->ok && s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        s->ok = !__builtin_mul_overflow(v, UINT64_C(10), &v) && !__builtin_add_overflow(v, (uint64_t)(*s->at - '0'), &v);
    }
    s->ok = s->ok && s->at > first;
    return v;
}

static uint32_t serial(struct scan *s)
{
    uint64_t v = number(s);
    s->ok = s->ok && v <= UINT32_MAX;
    return (uint32_t)v;
}

/* One of `n` words, with a blank or the end behind it. */
static size_t choice(struct scan *s, const char *const *of, size_t n)
{
    for (size_t i = 0; s->ok && i < n; i++) {
        size_t len = strlen(of[i]);
        if ((size_t)(s->end - s->at) >= len && memcmp(s->at, of[i], len) == 0 && (s->at + len == s->end || s->at[len] == ' ')) {
            s->at += len;
            return i;
        }
    }
    s->ok = false;
    return 0;
}

static struct hpx_rd_text rest(struct scan *s)
{
    struct hpx_rd_text t = {s->at, 0};
    if (s->ok && s->at < s->end) {
        word(s, " ");
        t = (struct hpx_rd_text){s->at, (size_t)(s->end - s->at)};
        s->at = s->end;
    }
    return t;
}

/* The state and the class of what the thread waits for, as WALL CLOCK of binary files has them. */
static struct hpx_rd_text state(struct scan *s)
{
    word(s, " ");
    struct hpx_rd_text t = {s->at, (size_t)(s->end - s->at)};
    s->ok = s->ok && hpx_rd_is_state(t);
    s->at = s->end;
    return t;
}

static void place(struct scan *s, struct hpx_rd_place *p)
{
    word(s, "p ");
    p->kind = (enum hpx_rd_time_kind)choice(s, kinds, sizeof kinds / sizeof kinds[0]);
    word(s, " ");
    p->trace = serial(s);
    switch (p->kind) {
    case HPX_RD_TIME_WALL:
        p->name = state(s);
        break;
    case HPX_RD_TIME_ALLOC:
        word(s, " ");
        p->bytes = number(s);
        word(s, " ");
        p->shares = number(s);
        p->name = rest(s);
        break;
    case HPX_RD_TIME_BLOCK:
        word(s, " ");
        p->tag = HPX_TAG_MONITOR_TIME + (int)choice(s, parts, sizeof parts / sizeof parts[0]);
        word(s, " ");
        p->owner = serial(s);
        p->name = rest(s);
        break;
    case HPX_RD_TIME_CPU:
    case HPX_RD_TIME_GC:
    default:
        break;
    }
    s->ok = s->ok && s->at == s->end;
}

static void begin(struct scan *s, struct hpx_rd_timeline *t)
{
    word(s, HPX_TIMELINE_BEGIN "zero = ");
    t->zero_ms = number(s);
    word(s, ", end = ");
    t->end_ms = number(s);
    word(s, ", places = ");
    t->places = number(s);
    word(s, ", events = ");
    t->events = number(s);
    word(s, ", coarse = ");
    t->coarse_ms = number(s);
    word(s, ")");
    s->ok = s->ok && s->at == s->end;
}

static int moment(struct scan *s, struct hpx_rd_event *ev, hpx_rd_take *take, void *ctx)
{
    ev->moment.place = serial(s);
    ev->moment.count = 1;
    ev->moment.ns = 0;
    if (s->at < s->end && *s->at == '*') {
        s->at++;
        ev->moment.count = number(s);
    }
    if (s->at < s->end && *s->at == '/') {
        s->at++;
        ev->moment.ns = number(s);
    }
    return s->ok ? take(ctx, ev) : HPX_TIMELINE_NO_MATCH;
}

static int moments(struct scan *s, hpx_rd_take *take, void *ctx)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_MOMENT, .moment = {.unit = 1}};
    int rc = HPX_RD_SOUND;
    word(s, "t");
    while (s->ok && rc == HPX_RD_SOUND && s->at < s->end) {
        word(s, " ");
        char mark = '\0';
        if (s->ok && s->at < s->end) {
            mark = *s->at;
        }
        s->at += mark == '@' || mark == '+' || mark == '~' || mark == '#' ? 1 : 0;
        switch (mark) {
        case '@':
            ev.moment.ms = number(s);
            break;
        case '+':
            s->ok = !__builtin_add_overflow(ev.moment.ms, number(s), &ev.moment.ms) && s->ok;
            break;
        case '~':
            ev.moment.unit = number(s);
            s->ok = s->ok && ev.moment.unit > 0;
            break;
        case '#':
            ev.moment.thread = serial(s);
            break;
        default:
            rc = moment(s, &ev, take, ctx);
            break;
        }
    }
    return s->ok ? rc : HPX_TIMELINE_NO_MATCH;
}

int hpx_timeline_line(struct hpx_rd_text line, hpx_rd_take *take, void *ctx, bool *end)
{
    struct scan s = {line.p, line.p + line.n, true};
    struct hpx_rd_event ev = {.kind = HPX_RD_PLACE};
    *end = false;
    if (line.n >= 3 && memcmp(line.p, "t @", 3) == 0) {
        return moments(&s, take, ctx);
    }
    if (line.n >= 2 && memcmp(line.p, "p ", 2) == 0) {
        place(&s, &ev.place);
    } else if (line.n == sizeof HPX_TIMELINE_END - 1 && memcmp(line.p, HPX_TIMELINE_END, line.n) == 0) {
        ev.kind = HPX_RD_TIMELINE_END;
        *end = true;
    } else {
        ev.kind = HPX_RD_TIMELINE;
        begin(&s, &ev.timeline);
    }
    return s.ok ? take(ctx, &ev) : HPX_TIMELINE_NO_MATCH;
}
