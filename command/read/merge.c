/* SPDX-License-Identifier: BSD-2-Clause */
/* merge.c: rows of all tables summed by trace, in one pass; the rest of the file copied in a second. */
#include "merge.h"
#include "budget.h"
#include "check.h"
#include "hprof_table.h"
#include "memory.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES, WALL, TIMES, OLD, KINDS }; /* in the order of a dump */

struct sum {
    uint64_t key, count;
    uint64_t self;    /* times, wall: ns; old: ms */
    uint64_t name_at; /* text: where the names of the last row stand, and its state; binary, wall: number of its struct kind_of_wait */
    uint32_t name_len;
};

struct table {
    struct hpx_seeded_map index; /* trace, wall: and hash of the state, old: hash of both names -> index of rows + 1 */
    struct hpx_list rows;        /* struct sum */
    uint64_t total, seen;
    uint64_t ns, exact; /* times, wall: the total; tables that tell their times exactly */
    char date[32];
};

struct range {
    uint64_t from, to;
};

/* A row of the open table: its sum, and what was added to it by its share. */
struct touched {
    size_t sum;
    uint64_t self;
};

/* Binary: a state and class that threads wait for, which has a head and a table in every dump. */
struct kind_of_wait {
    uint64_t id;           /* of the string that was its first head */
    uint64_t at, total;    /* where its words stand; ms */
    uint32_t length, seen; /* of its words; tables */
};

struct merge {
    int from;
    uint64_t whole;
    uint64_t read; /* how far the first pass is */
    bool text, odd, in_table;
    uint32_t id_size;
    uint64_t us;                               /* of the last record */
    uint64_t ms;                               /* of the open table */
    struct hpx_list tables;                    /* struct range: where they stand, and what goes with them */
    struct hpx_list waits;                     /* struct kind_of_wait */
    struct hpx_seeded_map wait_of;             /* hash -> index of waits + 1 */
    struct range head;                         /* the last string that is the head of a table; to 0: none */
    uint64_t at;                               /* of the last record */
    uint64_t of_at, of_length, of_hash, of_id; /* its words, and the string */
    size_t wait;                               /* the number of the open table's kind */
    struct table of[KINDS];
    int open;                /* the table's kind */
    struct hpx_list touched; /* text: struct touched, of the open table */
    size_t exact;            /* of them: those whose time is exact */
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

/* The head goes whose table is not there, because the file ends between them: the next table would be taken for its own. false: no
 * memory. */
static bool drop_head(struct merge *m)
{
    struct range *last = m->head.to != 0 ? hpx_list_push(&m->tables, sizeof(*last)) : NULL;
    if (last != NULL) {
        *last = m->head;
    }
    bool dropped = last != NULL || m->head.to == 0;
    m->head.to = 0;
    return dropped;
}

/* The head of a table of WALL CLOCK: "hprofx: WALL CLOCK STATE CLASS, total ...". false: no memory. */
static bool string(struct merge *m, const struct hpx_rd_event *ev)
{
    static const char begin[] = "hprofx: WALL CLOCK ", behind[] = ", total ";
    const size_t n = sizeof(begin) - 1;
    struct hpx_rd_text t = ev->string.text;
    const char *end = NULL, *at = t.p;
    if (t.n < n || memcmp(t.p, begin, n) != 0) {
        return true;
    }
    while ((at = memmem(at, (size_t)(t.p + t.n - at), behind, sizeof(behind) - 1)) != NULL) { /* the last: a class may have one */
        end = at++;
    }
    if (end == NULL) {
        return true;
    }
    bool dropped = drop_head(m);
    m->head = (struct range){m->at, m->whole}; /* to: the next record tells */
    m->of_length = (size_t)(end - t.p) - n;
    m->of_at = m->at + HPX_RECORD_HEAD + m->id_size + n;
    m->of_hash = hpx_check_hash((struct hpx_rd_text){t.p + n, m->of_length});
    m->of_id = ev->string.id;
    return dropped;
}

/* A table ends where the next record that is none begins. */
static int record(struct merge *m, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    bool table = kind_of(ev->record.tag) != KINDS;
    struct range *last = m->tables.len > 0 ? (struct range *)m->tables.items + m->tables.len - 1 : NULL;
    m->us = ev->record.us;
    if (m->head.to == m->whole) {
        m->head.to = ev->at;
    }
    m->at = ev->at;
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

/* Its head goes with it: the range of the table itself is the last one. false: no memory. */
static bool begin_wall(struct merge *m, uint64_t ms)
{
    struct kind_of_wait *of = hpx_list_entry(&m->wait_of, &m->waits, sizeof(*of), m->of_hash);
    struct range *last = hpx_list_push(&m->tables, sizeof(*last));
    if (of == NULL || last == NULL) {
        return false;
    }
    m->wait = (size_t)(of - (struct kind_of_wait *)m->waits.items);
    if (of->seen++ == 0) {
        of->id = m->of_id;
        of->at = m->of_at;
        of->length = (uint32_t)m->of_length;
    }
    m->odd |= m->head.to == 0 || __builtin_add_overflow(of->total, ms, &of->total);
    last[0] = last[-1];
    last[-1] = m->head;
    m->head.to = 0;
    return true;
}

static int begin_table(struct merge *m, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    m->open = kind_of(ev->table.tag);
    m->ms = ev->table.total;
    if (m->open == KINDS) {
        m->odd = true;
        return HPX_RD_SOUND;
    }
    if (m->open == WALL && !m->text && !begin_wall(m, ev->table.total)) {
        return hpx_reader_no_memory(r);
    }
    m->head.to = 0; /* what the reader takes for no head stays as any string */
    struct table *t = &m->of[m->open];
    size_t n = ev->table.date.n < sizeof(t->date) - 1 ? ev->table.date.n : sizeof(t->date) - 1;
    m->odd |= __builtin_add_overflow(t->total, ev->table.total, &t->total);
    t->seen++;
    t->ns += ev->table.total * 1000000;
    m->touched.len = m->exact = 0;
    if (n > 0) {
        memcpy(t->date, ev->table.date.p, n);
    }
    t->date[n] = '\0';
    return HPX_RD_SOUND;
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
        name.n = m->text ? (size_t)(name.p + name.n - w->state.p) : 0;
        name.p = w->state.p;
    }
    struct table *t = &m->of[m->open];
    int added = hpx_seeded_map_add(&t->index, key, &index);
    struct sum *s = added > 0 ? hpx_list_push(&t->rows, sizeof(*s)) : added == 0 ? (struct sum *)t->rows.items + *index - 1 : NULL;
    if (s == NULL) {
        return hpx_reader_no_memory(r);
    }
    *index = added > 0 ? (uint32_t)t->rows.len : *index;
    s->key = m->open == WALL ? w->trace : key;
    s->count += w->count;
    uint64_t self = m->open == OLD ? w->bytes : m->text && shared(m->open) ? m->ms * w->self * 100 : 0;
    s->self += self;
    struct touched *last = m->text && shared(m->open) ? hpx_list_push(&m->touched, sizeof *last) : NULL;
    if (last != NULL) {
        *last = (struct touched){*index - 1, self};
    } else if (m->text && shared(m->open)) {
        return hpx_reader_no_memory(r);
    }
    if (m->text) { /* the line is what the source is at */
        s->name_at = hpx_source_offset(r->source) + (uint64_t)(name.p - hpx_source_bytes(r->source));
        s->name_len = (uint32_t)name.n;
    } else {
        s->name_at = m->open == WALL ? m->wait : 0;
    }
    return HPX_RD_SOUND;
}

/* A time in ns takes the place of one that was made of a share. */
static void exact(struct merge *m, const struct hpx_rd_exact *e)
{
    struct table *t = m->open != KINDS && shared(m->open) ? &m->of[m->open] : NULL;
    if (t != NULL && e->total) {
        t->ns += e->ns - m->ms * 1000000;
        t->exact++;
    } else if (t != NULL && m->exact < m->touched.len) {
        const struct touched *of = (const struct touched *)m->touched.items + m->exact++;
        ((struct sum *)t->rows.items)[of->sum].self += e->ns - of->self;
    }
}

static int on_event(void *ctx, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    struct merge *m = ctx;
    switch (ev->kind) {
    case HPX_RD_HEADER:
        m->text = ev->header.text;
        m->id_size = ev->header.id_size;
        return HPX_RD_SOUND;
    case HPX_RD_RECORD:
        return record(m, r, ev);
    case HPX_RD_TABLE:
        return begin_table(m, r, ev);
    case HPX_RD_STRING:
        return string(m, ev) ? HPX_RD_SOUND : hpx_reader_no_memory(r);
    case HPX_RD_ROW:
        return row(m, r, ev);
    case HPX_RD_EXACT:
        exact(m, &ev->exact);
        return HPX_RD_SOUND;
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

/* Binary: the rows of a table side by side. */
static int by_wait(const void *a, const void *b)
{
    const struct sum *x = a;
    const struct sum *y = b;
    return x->name_at != y->name_at ? (x->name_at > y->name_at) - (x->name_at < y->name_at) : by_share(a, b);
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

/* As hprof_table.c. */
static void put_exact(const struct table *t, uint64_t total, FILE *to)
{
    const struct sum *s = t->rows.items;
    size_t n = 0;
    fprintf(to, HPX_TEXT_EXACT_TOTAL "%" PRIu64 "\n", total);
    for (size_t i = 0; i < t->rows.len; i++) {
        n += (size_t)fprintf(to, "%s%" PRIu64, n == 0 ? HPX_TEXT_EXACT_ROWS : " ", s[i].self);
        if (n > HPX_TEXT_EXACT_LINE - 22 || i + 1 == t->rows.len) {
            fputc('\n', to);
            n = 0;
        }
    }
}

static int put_ranked(const struct merge *m, int kind, FILE *to)
{
    static const char *const titles[] = {[SAMPLES] = "CPU SAMPLES", [WALL] = "WALL CLOCK (ms)", [TIMES] = "CPU TIME (ms)"};
    const struct table *t = &m->of[kind];
    const struct sum *s = t->rows.items;
    uint64_t known = 0, total = shared(kind) ? t->ns : t->total, sum = 0;
    for (size_t i = 0; i < t->rows.len; i++) {
        known += shared(kind) ? s[i].self : s[i].count;
    }
    total = known > total ? known : total; /* shares are rounded */
    fprintf(to, "%s BEGIN (total = %" PRIu64 ") %s\n", titles[kind], shared(kind) ? hpx_whole_ms(t->ns) : t->total, t->date);
    if (t->rows.len > 0) {
        fputs(kind == WALL ? "rank   self  accum        ms trace state    method\n" : "rank   self  accum   count trace method\n", to);
    }
    for (size_t i = 0; i < t->rows.len; i++) {
        uint64_t part = shared(kind) ? s[i].self : s[i].count;
        sum += part;
        fprintf(to, "%4zu %5.2f%% %5.2f%% %*" PRIu64 " %5" PRIu64 " ", i + 1, hpx_percent(part, total), hpx_percent(sum, total),
                kind == WALL ? 9 : 7, s[i].count, s[i].key);
        if (copy(m, to, s[i].name_at, s[i].name_at + s[i].name_len) != 0) {
            return -1;
        }
        fputc('\n', to);
    }
    fprintf(to, "%s END\n", titles[kind]);
    if (shared(kind) && t->exact == t->seen) {
        put_exact(t, total, to);
    }
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

/* A count in the file is `unit` of ours. */
static uint64_t in_units(uint64_t count, uint64_t unit)
{
    return count / unit + (count % unit >= unit - unit / 2);
}

static void put_binary(const struct merge *m, FILE *to, const struct sum *s, size_t n, uint64_t total, uint64_t unit)
{
    uint8_t head[HPX_RECORD_HEAD + HPX_SAMPLES_HEAD], *at = head;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += in_units(s[i].count, unit);
    }
    total = in_units(total, unit);
    total = total > sum ? total : sum; /* heads and rows are rounded */
    at = hpx_put_record(at, HPX_TAG_SAMPLES, (uint32_t)m->us, (uint32_t)(HPX_SAMPLES_HEAD + HPX_SAMPLES_ROW * n));
    at = hpx_put_be4(hpx_put_be4(at, (uint32_t)total), (uint32_t)n);
    fwrite(head, 1, (size_t)(at - head), to);
    for (size_t i = 0; i < n; i++) {
        uint8_t pair[HPX_SAMPLES_ROW];
        hpx_put_be4(hpx_put_be4(pair, (uint32_t)in_units(s[i].count, unit)), (uint32_t)s[i].key);
        fwrite(pair, 1, sizeof(pair), to);
    }
}

/* As hprof_wall.c: ms per count, so that sums fit four bytes; half of them, because rows are rounded up. */
static uint64_t unit_of(uint64_t ms)
{
    uint64_t unit = 1;
    while (ms / unit >= UINT32_MAX / 2) {
        unit *= 10;
    }
    return unit;
}

static int put_head(const struct merge *m, FILE *to, const struct kind_of_wait *w, uint64_t unit)
{
    static const char begin[] = "hprofx: WALL CLOCK ";
    char end[96];
    size_t n = (size_t)snprintf(end, sizeof(end), ", total %" PRIu64 " ms, %" PRIu64 " ms per count", w->total, unit);
    uint8_t head[HPX_RECORD_HEAD + 8], *at = head;
    at = hpx_put_record(at, HPX_TAG_STRING, (uint32_t)m->us, m->id_size + (uint32_t)(sizeof(begin) - 1 + w->length + n));
    at = m->id_size == 8 ? hpx_put_be4(at, (uint32_t)(w->id >> 32)) : at;
    at = hpx_put_be4(at, (uint32_t)w->id);
    fwrite(head, 1, (size_t)(at - head), to);
    fputs(begin, to);
    int rc = copy(m, to, w->at, w->at + w->length);
    fputs(end, to);
    return rc;
}

static int put_waits(const struct merge *m, FILE *to)
{
    const struct table *t = &m->of[WALL];
    const struct sum *s = t->rows.items;
    int rc = 0;
    for (size_t from = 0, next; from < t->rows.len && rc == 0; from = next) {
        const struct kind_of_wait *w = (const struct kind_of_wait *)m->waits.items + s[from].name_at;
        uint64_t unit = unit_of(w->total);
        for (next = from + 1; next < t->rows.len && s[next].name_at == s[from].name_at; next++) {
        }
        rc = put_head(m, to, w, unit);
        put_binary(m, to, s + from, next - from, w->total, unit);
    }
    return rc;
}

static int put_tables(const struct merge *m, FILE *to)
{
    int rc = 0;
    for (int kind = 0; kind < KINDS && rc == 0; kind++) {
        const struct table *t = &m->of[kind];
        if (t->rows.len > 1) {
            qsort(t->rows.items, t->rows.len, sizeof(struct sum), kind == OLD ? by_count : m->text ? by_share : by_wait);
        }
        if (t->seen > 0 && !m->text && kind == WALL) {
            rc = put_waits(m, to);
        } else if (t->seen > 0 && !m->text) {
            put_binary(m, to, t->rows.items, t->rows.len, t->total, 1);
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
    bool binary = !m->text && s->total < UINT32_MAX && s->rows.len < UINT32_MAX / 8 - 1 && m->of[WALL].rows.len < UINT32_MAX / 8 - 1;
    return binary || (m->text && m->of[TIMES].total < UINT64_MAX / 4000000 && m->of[WALL].total < UINT64_MAX / 4000000);
}

static bool several(const struct merge *m)
{
    const struct kind_of_wait *w = m->waits.items;
    bool again = m->text && m->of[WALL].seen > 1;
    for (size_t i = 0; i < m->waits.len; i++) {
        again = again || w[i].seen > 1;
    }
    return m->of[SAMPLES].seen > 1 || again || m->of[TIMES].seen > 1 || m->of[OLD].seen > 1;
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
        hpx_seeded_map_init(&m.of[i].index, true);
    }
    hpx_seeded_map_init(&m.wait_of, true);
    struct hpx_budget budget;
    hpx_budget_begin(&budget, hpx_memory_for_file(from), NULL);
    int rc = read_tables(&m) == HPX_RD_SOUND && !m.odd && several(&m) && fits(&m) && drop_head(&m);
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
        hpx_seeded_map_fini(&m.of[i].index);
        free(m.of[i].rows.items);
    }
    hpx_seeded_map_fini(&m.wait_of);
    free(m.touched.items);
    free(m.tables.items);
    free(m.waits.items);
    hpx_budget_end(&budget);
    return rc;
}
