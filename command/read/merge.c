/* SPDX-License-Identifier: BSD-2-Clause */
/* merge.c: rows of all tables summed by trace, in one pass; the rest of the file copied in a second. */
#include "merge.h"
#include "big_endian.h"
#include "check.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES, WALL, TIMES, OLD, KINDS }; /* in the order of a dump */

struct sum {
    uint64_t key, count;
    uint64_t self;    /* times, wall: hundredths of a percent x ms; old: ms */
    uint64_t name_at; /* text: where the names of the last row stand, and its state */
    uint32_t name_len;
};

struct table {
    struct hpx_idmap index; /* trace, wall: and hash of the state, old: hash of both names -> index of rows + 1 */
    struct hpx_list rows;   /* struct sum */
    uint64_t total, seen;
    char date[32];
};

struct range {
    uint64_t from, to;
};

struct merge {
    int from;
    uint64_t whole;
    uint64_t read; /* how far the first pass is */
    bool text, odd, in_table;
    uint64_t us;            /* of the last record */
    uint64_t ms;            /* of the open table */
    struct hpx_list tables; /* struct range: where they stand */
    struct table of[KINDS];
    int open; /* the table's kind */
};

static int kind_of(int tag)
{
    return tag == HPX_TAG_SAMPLES ? SAMPLES : tag == HPX_TAG_WALL ? WALL : tag == HPX_TAG_TIMES ? TIMES : tag == HPX_TAG_OLD ? OLD : KINDS;
}

/* Whose rows tell their share: a time. */
static bool shared(int kind)
{
    return kind == TIMES || kind == WALL;
}

/* Records that define, or tell what happened: they stand in any order around tables. */
static bool stays(int tag)
{
    return (tag >= HPX_TAG_STRING && tag <= HPX_TAG_TRACE) || tag == HPX_TAG_START_THREAD || tag == HPX_TAG_END_THREAD ||
           tag == HPX_TAG_CONTROL || tag == HPX_TAG_WAIT;
}

static ssize_t read_whole(void *ctx, void *to, size_t n)
{
    struct merge *m = ctx;
    uint64_t left = m->whole - m->read;
    ssize_t got = pread(m->from, to, n < left ? n : (size_t)left, (off_t)m->read);
    m->read += got > 0 ? (uint64_t)got : 0;
    return got;
}

/* A table ends where the next record that is none begins. */
static int record(struct merge *m, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    bool table = kind_of(ev->record.tag) != KINDS;
    struct range *last = m->tables.len > 0 ? (struct range *)m->tables.items + m->tables.len - 1 : NULL;
    m->us = ev->record.us;
    m->odd |= !table && !stays(ev->record.tag);
    if (m->in_table && !table && last != NULL) {
        last->to = ev->at;
    } else if (table && !m->in_table) {
        struct range *new = hpx_list_push(&m->tables, sizeof(*new));
        if (new == NULL) {
            return hpx_reader_no_memory(r);
        }
        *new = (struct range){ev->at, m->whole};
    }
    m->in_table = table;
    return HPX_RD_SOUND;
}

static void begin_table(struct merge *m, const struct hpx_rd_event *ev)
{
    m->open = kind_of(ev->table.tag);
    m->ms = ev->table.total;
    if (m->open == KINDS || (m->open == WALL && !m->text)) { /* binary: its heads are strings, which stay */
        m->open = KINDS;
        m->odd = true;
        return;
    }
    struct table *t = &m->of[m->open];
    size_t n = ev->table.date.n < sizeof(t->date) - 1 ? ev->table.date.n : sizeof(t->date) - 1;
    m->odd |= __builtin_add_overflow(t->total, ev->table.total, &t->total);
    t->seen++;
    if (n > 0) {
        memcpy(t->date, ev->table.date.p, n);
    }
    t->date[n] = '\0';
}

static int row(struct merge *m, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    const struct hpx_rd_row *w = &ev->row;
    struct hpx_rd_text name = w->name;
    uint64_t key = w->trace;
    uint32_t *index;
    if (m->open == KINDS) {
        return HPX_RD_SOUND;
    }
    if (m->open == OLD) { /* both names, with the blank between them */
        name.n = (size_t)(w->caller.p + w->caller.n - name.p);
        key = hpx_check_hash(name);
    }
    if (m->open == WALL) { /* the state, its blanks and the method */
        key = key << 32 | (hpx_check_hash(w->state) & UINT32_MAX);
        name.n = (size_t)(name.p + name.n - w->state.p);
        name.p = w->state.p;
    }
    struct table *t = &m->of[m->open];
    int added = hpx_idmap_add(&t->index, key, &index);
    struct sum *s = added > 0 ? hpx_list_push(&t->rows, sizeof(*s)) : added == 0 ? (struct sum *)t->rows.items + *index - 1 : NULL;
    if (s == NULL) {
        return hpx_reader_no_memory(r);
    }
    *index = added > 0 ? (uint32_t)t->rows.len : *index;
    s->key = m->open == WALL ? w->trace : key;
    s->count += w->count;
    s->self += m->open == OLD ? w->bytes : shared(m->open) ? m->ms * w->self : 0;
    if (m->text) { /* the line is what the source is at */
        s->name_at = hpx_source_offset(r->source) + (uint64_t)(name.p - hpx_source_bytes(r->source));
        s->name_len = (uint32_t)name.n;
    }
    return HPX_RD_SOUND;
}

static int on_event(void *ctx, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    struct merge *m = ctx;
    switch (ev->kind) {
    case HPX_RD_HEADER:
        m->text = ev->header.text;
        return HPX_RD_SOUND;
    case HPX_RD_RECORD:
        return record(m, r, ev);
    case HPX_RD_TABLE:
        begin_table(m, ev);
        return HPX_RD_SOUND;
    case HPX_RD_ROW:
        return row(m, r, ev);
    default:
        return HPX_RD_SOUND;
    }
}

static int by_share(const void *a, const void *b)
{
    const struct sum *x = a;
    const struct sum *y = b;
    if (x->self != y->self) {
        return x->self > y->self ? -1 : 1;
    }
    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    return (x->key > y->key) - (x->key < y->key);
}

static int by_count(const void *a, const void *b)
{
    const struct sum *x = a;
    const struct sum *y = b;
    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    return (x->name_at > y->name_at) - (x->name_at < y->name_at);
}

static int copy(const struct merge *m, FILE *to, uint64_t at, uint64_t end)
{
    char buf[4096];
    while (at < end) {
        size_t n = end - at < sizeof(buf) ? (size_t)(end - at) : sizeof(buf);
        ssize_t got = pread(m->from, buf, n, (off_t)at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0 || fwrite(buf, 1, (size_t)got, to) != (size_t)got) {
            errno = got == 0 ? EIO : errno;
            return -1;
        }
        at += (uint64_t)got;
    }
    return 0;
}

static double percent(uint64_t part, uint64_t total)
{
    return total > 0 ? (double)part * 100.0 / (double)total : 0.0;
}

static int put_ranked(const struct merge *m, int kind, FILE *to)
{
    static const char *const titles[] = {[SAMPLES] = "CPU SAMPLES", [WALL] = "WALL CLOCK (ms)", [TIMES] = "CPU TIME (ms)"};
    const struct table *t = &m->of[kind];
    const struct sum *s = t->rows.items;
    uint64_t known = 0, total = shared(kind) ? t->total * 10000 : t->total, sum = 0;
    for (size_t i = 0; i < t->rows.len; i++) {
        known += shared(kind) ? s[i].self : s[i].count;
    }
    total = known > total ? known : total; /* shares are rounded */
    fprintf(to, "%s BEGIN (total = %" PRIu64 ") %s\n", titles[kind], t->total, t->date);
    if (t->rows.len > 0) {
        fputs(kind == WALL ? "rank   self  accum        ms trace state    method\n" : "rank   self  accum   count trace method\n", to);
    }
    for (size_t i = 0; i < t->rows.len; i++) {
        uint64_t part = shared(kind) ? s[i].self : s[i].count;
        sum += part;
        fprintf(to, "%4zu %5.2f%% %5.2f%% %*" PRIu64 " %5" PRIu64 " ", i + 1, percent(part, total), percent(sum, total),
                kind == WALL ? 9 : 7, s[i].count, s[i].key);
        if (copy(m, to, s[i].name_at, s[i].name_at + s[i].name_len) != 0) {
            return -1;
        }
        fputc('\n', to);
    }
    fprintf(to, "%s END\n", titles[kind]);
    return 0;
}

static int put_old(const struct merge *m, FILE *to)
{
    const struct table *t = &m->of[OLD];
    const struct sum *s = t->rows.items;
    fputs("count callee caller time\n", to);
    for (size_t i = 0; i < t->rows.len; i++) {
        fprintf(to, "%" PRIu64 " ", s[i].count);
        if (copy(m, to, s[i].name_at, s[i].name_at + s[i].name_len) != 0) {
            return -1;
        }
        fprintf(to, " %" PRIu64 "\n", s[i].self);
    }
    return 0;
}

static void put_binary(const struct merge *m, FILE *to)
{
    const struct table *t = &m->of[SAMPLES];
    const struct sum *s = t->rows.items;
    uint8_t head[17] = {HPX_TAG_SAMPLES}, *at = hpx_be4(head + 1, (uint32_t)m->us);
    at = hpx_be4(at, (uint32_t)(8 + 8 * t->rows.len));
    at = hpx_be4(hpx_be4(at, (uint32_t)t->total), (uint32_t)t->rows.len);
    fwrite(head, 1, (size_t)(at - head), to);
    for (size_t i = 0; i < t->rows.len; i++) {
        uint8_t pair[8];
        hpx_be4(hpx_be4(pair, (uint32_t)s[i].count), (uint32_t)s[i].key);
        fwrite(pair, 1, sizeof(pair), to);
    }
}

static int put_tables(const struct merge *m, FILE *to)
{
    int rc = 0;
    for (int kind = 0; kind < KINDS && rc == 0; kind++) {
        const struct table *t = &m->of[kind];
        if (t->rows.len > 1) {
            qsort(t->rows.items, t->rows.len, sizeof(struct sum), kind == OLD ? by_count : by_share);
        }
        if (t->seen > 0 && !m->text) {
            put_binary(m, to);
        } else if (t->seen > 0) {
            rc = kind == OLD ? put_old(m, to) : put_ranked(m, kind, to);
        }
    }
    return rc;
}

static int write_all(const struct merge *m, FILE *to)
{
    const struct range *cut = m->tables.items;
    uint64_t at = 0;
    for (size_t i = 0; i <= m->tables.len; i++) {
        if (copy(m, to, at, i < m->tables.len ? cut[i].from : m->whole) != 0) {
            return -1;
        }
        at = i < m->tables.len ? cut[i].to : m->whole;
    }
    return put_tables(m, to) == 0 && fflush(to) == 0 && !ferror(to) ? 0 : -1;
}

/* Sums and counts that fit where they go. */
static bool fits(const struct merge *m)
{
    const struct table *s = &m->of[SAMPLES];
    bool binary = !m->text && s->total < UINT32_MAX && s->rows.len < UINT32_MAX / 8 - 1;
    return binary || (m->text && m->of[TIMES].total < UINT64_MAX / 20000 && m->of[WALL].total < UINT64_MAX / 20000);
}

static bool several(const struct merge *m)
{
    return m->of[SAMPLES].seen > 1 || m->of[WALL].seen > 1 || m->of[TIMES].seen > 1 || m->of[OLD].seen > 1;
}

static int read_tables(struct merge *m)
{
    struct hpx_source s;
    if (hpx_source_init(&s, read_whole, m) != 0) {
        return HPX_RD_FAILED;
    }
    struct hpx_reader r = {.source = &s, .sinks = {on_event}, .ctx = {m}, .strict = true};
    int rc = hpx_reader_run(&r);
    int error = s.error;
    hpx_source_fini(&s);
    errno = error;
    return rc;
}

int hpx_merge(int from, uint64_t whole, int to)
{
    struct merge m = {.from = from, .whole = whole, .open = KINDS};
    for (int i = 0; i < KINDS; i++) {
        hpx_idmap_init(&m.of[i].index, true);
    }
    int rc = read_tables(&m) == HPX_RD_SOUND && !m.odd && several(&m) && fits(&m);
    FILE *f = rc > 0 ? fdopen(dup(to), "w") : NULL;
    if (f != NULL) {
        rc = write_all(&m, f) == 0 ? 1 : -1;
        int error = errno;
        rc = fclose(f) == 0 ? rc : -1;
        errno = rc < 0 && error != 0 ? error : errno;
    } else if (rc > 0) {
        rc = -1;
    }
    for (int i = 0; i < KINDS; i++) {
        hpx_idmap_fini(&m.of[i].index);
        free(m.of[i].rows.items);
    }
    free(m.tables.items);
    return rc;
}
