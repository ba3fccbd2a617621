/* SPDX-License-Identifier: BSD-2-Clause */
/* wall_table.c: events and snapshots of wall_table.h. */
#include "wall_table.h"
#include "id_map.h"
#include "model_table.h"
#include "sample_table.h"
#include "timeline_table.h"
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

/* A stack in a state, which waits for an object of a class. */
struct cell {
    uint32_t raw, state, klass;
    uint64_t ns;                /* since the start */
    uint64_t dumped, journaled; /* of them, what dumps have reset, and what the journal has */
};

/* Where a watched thread is. */
struct place {
    uint32_t cell, thread; /* cell: its number + 1; 0: not known. thread: its serial */
};

struct hpx_walls {
    struct hpx_model *m;
    struct hpx_symbols *symbols;
    uint64_t interval_ns;
    struct hpx_intern index; /* of cells */
    struct hpx_vec cells;    /* struct cell */
    struct hpx_vec classes;  /* uint32_t, by number of a class: number of its name; 0: not known */
    struct hpx_vec places;   /* struct place, by watched thread */
    struct hpx_slots last;   /* by serial of a live thread: raw trace of its last sample */
    struct hpx_vec gone;     /* uint32_t: serials of threads that have ended, the first `ngone`, which are forgotten in the next pass */
    uint32_t ngone, ngone_before; /* ngone_before: of them, those of the pass before */
    uint64_t lost_ns;             /* less than what is counted: a millisecond */
    struct hpx_wall_totals totals;
};

/* ---- the last samples of threads ---- */

#define LAST_WORDS 3 /* the last one is the raw trace */

static bool is_thread(const void *serial, const uint32_t *slot)
{
    return slot[0] == *(const uint32_t *)serial + 1;
}

static uint32_t *last_of(const struct hpx_walls *w, uint32_t serial)
{
    return hpx_slots_find(&w->last, LAST_WORDS, hpx_id_hash(serial), is_thread, &serial);
}

/* Without memory the thread's time without a CPU has no stack. */
static void set_last(struct hpx_walls *w, uint32_t serial, uint32_t raw)
{
    uint32_t *slot = last_of(w, serial);
    if (!slot && hpx_slots_reserve(&w->last, LAST_WORDS, NULL, NULL) == 0) {
        slot = hpx_slots_put(&w->last, LAST_WORDS, hpx_id_hash(serial), serial);
    }
    if (slot) {
        slot[LAST_WORDS - 1] = raw;
    }
}

static void forget(struct hpx_walls *w, uint32_t serial)
{
    uint32_t *slot = last_of(w, serial);
    if (slot) {
        hpx_slots_remove(&w->last, slot);
    }
}

/* Its last record about time without a CPU is in another ring, which may be drained only in the next pass. */
static void thread_gone(void *self, struct hpx_thread *t)
{
    struct hpx_walls *w = self;
    uint32_t serial = hpx_serial_of(t);
    uint32_t *gone = w->ngone < w->gone.len ? hpx_vec_at(&w->gone, w->ngone) : hpx_vec_push(&w->gone);
    if (gone) {
        *gone = serial;
        w->ngone++;
    } else {
        forget(w, serial);
    }
}

static void pass_end(void *self)
{
    struct hpx_walls *w = self;
    for (uint32_t i = 0; i < w->ngone; i++) {
        uint32_t *serial = hpx_vec_at(&w->gone, i);
        if (i < w->ngone_before) {
            forget(w, *serial);
        } else {
            *(uint32_t *)hpx_vec_at(&w->gone, i - w->ngone_before) = *serial;
        }
    }
    w->ngone -= w->ngone_before;
    w->ngone_before = w->ngone;
}

/* ---- cells ---- */

static void lose(struct hpx_walls *w, uint64_t ns)
{
    w->lost_ns += ns;
    hpx_count(hpx_model_counters(w->m), HPX_C_WALL_LOST, w->lost_ns / NS_PER_MS);
    w->lost_ns %= NS_PER_MS;
}

/* The number of the cell; HPX_INTERN_NONE without memory. */
static uint32_t cell_of(struct hpx_walls *w, uint32_t raw, uint32_t state, uint32_t klass)
{
    const uint32_t key[3] = {raw, state, klass};
    struct hpx_hash128 h = hpx_hash128(key, sizeof(key));
    uint32_t found = raw != HPX_INTERN_NONE ? hpx_intern_find(&w->index, h) : HPX_INTERN_NONE;
    if (found != HPX_INTERN_NONE || raw == HPX_INTERN_NONE) {
        return found;
    }
    struct cell *c = hpx_intern_reserve(&w->index) == 0 ? hpx_vec_push(&w->cells) : NULL;
    if (!c) {
        return HPX_INTERN_NONE;
    }
    *c = (struct cell){.raw = raw, .state = state, .klass = klass};
    hpx_intern_put(&w->index, h, w->cells.len - 1);
    return w->cells.len - 1;
}

static void add(struct hpx_walls *w, uint32_t cell, uint64_t ns)
{
    if (hpx_unlikely(cell == HPX_INTERN_NONE)) {
        lose(w, ns);
        return;
    }
    struct cell *c = hpx_vec_at(&w->cells, cell);
    c->ns += ns;
    w->totals.ns[c->state] += ns;
}

/* A thread was there so long, until the time of the ring of t. */
static void add_to_timeline(const struct hpx_walls *w, const struct hpx_thread *t, uint32_t thread, uint32_t cell, uint64_t ns)
{
    if (cell != HPX_INTERN_NONE) {
        hpx_timeline_add(hpx_timeline_of(w->m), t, HPX_TIME_WALL, thread, cell, 1, ns);
    }
}

/* A sample of the sample table. */
static void sampled(void *self, uint32_t raw, uint64_t weight, uint32_t serial)
{
    struct hpx_walls *w = self;
    if (hpx_likely(raw != HPX_INTERN_NONE)) {
        set_last(w, serial, raw);
    }
    add(w, cell_of(w, raw, HPX_WALL_RUNNING, 0), weight * w->interval_ns);
}

/* ---- events ---- */

/* The cell of what a WALL_DEF or WALL_VIRTUAL tells, and the thread. */
static struct place told(struct hpx_walls *w, const struct hpx_ev_head *ev)
{
    const struct hpx_ev_hash *hash = (const void *)(ev + 1);
    const struct hpx_ev_wall *wall = (const void *)(hash + 1);
    uint32_t n = ev->units - 3u, raw;
    uint32_t thread = hpx_symbols_thread(w->symbols, wall->serial), state = wall->state < HPX_WALL_STATES ? wall->state : HPX_WALL_NATIVE;
    if (n > 0) {
        raw = hpx_symbols_stack(w->symbols, hash, (const void *)(wall + 1), n, thread);
    } else {
        raw = hpx_symbols_no_stack(w->symbols, (enum hpx_unknown)wall->why, thread);
    }
    return (struct place){cell_of(w, raw, state, wall->klass) + 1, wall->serial}; /* 0, not known, when there was no memory */
}

static void define(struct hpx_walls *w, const struct hpx_ev_head *ev)
{
    struct place is = told(w, ev), *place = hpx_vec_reach(&w->places, ev->id);
    if (place) {
        *place = is;
    }
}

static bool is_unknown(const struct hpx_walls *w, uint32_t cell)
{
    const struct cell *c = hpx_vec_at(&w->cells, cell);
    return hpx_symbols_is_unknown(w->symbols, c->raw);
}

static void waited(struct hpx_walls *w, const struct hpx_thread *t, const struct hpx_ev_head *ev, const struct place *place)
{
    uint32_t cell = place ? place->cell - 1 : HPX_INTERN_NONE;
    add(w, cell, ev->stamp);
    add_to_timeline(w, t, place ? place->thread : HPX_SERIAL_THREAD, cell, ev->stamp);
    w->totals.unknown_ns += cell != HPX_INTERN_NONE && is_unknown(w, cell) ? ev->stamp : 0;
}

static void ready(struct hpx_walls *w, const struct hpx_thread *t, const struct hpx_ev_head *ev)
{
    const uint32_t serial = ((const struct hpx_ev_thread *)(const void *)(ev + 1))->serial;
    const uint32_t *last = last_of(w, serial);
    uint32_t raw = last ? last[LAST_WORDS - 1] : HPX_INTERN_NONE;
    if (!last) {
        raw = hpx_symbols_no_stack(w->symbols, HPX_UNKNOWN_NO_JAVA, hpx_symbols_thread(w->symbols, serial));
        w->totals.unknown_ns += ev->stamp;
    }
    uint32_t cell = cell_of(w, raw, HPX_WALL_RUNNABLE, 0);
    add(w, cell, ev->stamp);
    add_to_timeline(w, t, serial, cell, ev->stamp);
}

static const struct hpx_ev_head *apply(void *self, struct hpx_thread *t, const struct hpx_ev_head *ev, const struct hpx_ev_head *end)
{
    for (; hpx_model_table_has(ev, end, HPX_EV_WALL_DEF, HPX_EV_WALL_READY); ev += ev->units) {
        if (ev->kind == HPX_EV_WALL_DEF && ev->units >= 3) {
            define(self, ev);
        } else if (ev->kind == HPX_EV_WALL) {
            waited(self, t, ev, hpx_vec_find(&((struct hpx_walls *)self)->places, ev->id));
        } else if (ev->kind == HPX_EV_WALL_VIRTUAL && ev->units >= 3) {
            const struct place is = told(self, ev);
            waited(self, t, ev, &is);
        } else if (ev->kind == HPX_EV_WALL_READY && ev->units == 2) {
            ready(self, t, ev);
        }
    }
    return ev;
}

static size_t bytes(const void *self)
{
    const struct hpx_walls *w = self;
    return hpx_intern_bytes(&w->index) + w->cells.bytes + w->classes.bytes + w->places.bytes + w->last.bytes + w->gone.bytes;
}

static bool message(void *self, struct hpx_msg *msg)
{
    struct hpx_walls *w = self;
    if (msg->kind != HPX_MSG_WALL_CLASS) {
        return false;
    }
    const struct hpx_msg_row_class *c = (const struct hpx_msg_row_class *)(const void *)msg;
    uint32_t *name = hpx_vec_reach(&w->classes, c->number);
    uint32_t number = name ? hpx_symbols_class_name(w->symbols, (struct hpx_text){c->signature, c->len}) : 0;
    if (number) {
        *name = number;
    } else { /* its rows have no class */
        hpx_count(hpx_model_counters(w->m), HPX_C_CLASSES_UNNAMED, 1);
    }
    free(msg);
    return true;
}

static void destroy(void *self)
{
    struct hpx_walls *w = self;
    hpx_intern_fini(&w->index);
    hpx_vec_fini(&w->cells);
    hpx_vec_fini(&w->classes);
    hpx_vec_fini(&w->places);
    hpx_vec_fini(&w->gone);
    hpx_slots_fini(&w->last, LAST_WORDS);
    free(w);
}

static const struct hpx_model_table table = {.first = HPX_EV_WALL_DEF,
                                             .last = HPX_EV_WALL_READY,
                                             .message = message,
                                             .apply = apply,
                                             .pass_end = pass_end,
                                             .thread_gone = thread_gone,
                                             .bytes = bytes,
                                             .destroy = destroy};

static hpx_time_resolve resolve;

struct hpx_walls *hpx_walls_create(struct hpx_model *m, uint64_t interval_ns)
{
    struct hpx_samples *samples = hpx_model_table(m, HPX_EV_SAMPLE);
    struct hpx_walls *w = calloc(1, sizeof(*w));
    if (!w) {
        return NULL;
    }
    w->m = m;
    w->symbols = hpx_model_symbols(m);
    w->interval_ns = interval_ns;
    hpx_vec_init(&w->cells, sizeof(struct cell));
    hpx_vec_init(&w->classes, sizeof(uint32_t));
    hpx_vec_init(&w->places, sizeof(struct place));
    hpx_vec_init(&w->gone, sizeof(uint32_t));
    if (hpx_intern_init(&w->index, 0) != 0) {
        free(w);
        return NULL;
    }
    if (hpx_slots_init(&w->last, LAST_WORDS, 0) != 0) {
        hpx_intern_fini(&w->index);
        free(w);
        return NULL;
    }
    hpx_model_add_table(m, &table, w);
    if (samples) {
        hpx_samples_listen(samples, sampled, w);
    }
    hpx_timeline_source(m, HPX_TIME_WALL, resolve, w);
    return w;
}

struct hpx_wall_totals hpx_walls_totals(const struct hpx_walls *w)
{
    return w->totals;
}

/* ---- io or native ---- */

/* Native methods that wait for a socket, a pipe or a file; a prefix of the method, "": all natives of the class. */
static const struct {
    const char *class_name, *method;
} io_methods[] = {
    {"java.net.SocketInputStream", "socketRead0"},
    {"java.net.SocketOutputStream", "socketWrite0"},
    {"java.net.PlainSocketImpl", "socket"},
    {"java.net.PlainDatagramSocketImpl", ""},
    {"java.net.Inet4AddressImpl", ""},
    {"java.net.Inet6AddressImpl", ""},
    {"java.io.FileDescriptor", ""}, /* fsync, close */
    {"java.io.FileCleanable", ""},
    {"java.io.FileInputStream", ""},
    {"java.io.FileOutputStream", ""},
    {"java.io.RandomAccessFile", ""},
    {"java.io.UnixFileSystem", ""},
    {"java.nio.MappedByteBuffer", "force"},
    {"java.nio.MappedMemoryUtils", "force"},
    {"java.util.zip.ZipFile", ""},
    {"sun.nio.ch.Net", ""},
    {"sun.nio.ch.NativeThread", ""},
    {"sun.nio.ch.EPoll", ""},
    {"sun.nio.ch.EPollPort", ""},
    {"sun.nio.ch.EPollArrayWrapper", ""},
    {"sun.nio.ch.PollArrayWrapper", ""},
    {"sun.nio.ch.PollSelectorImpl", ""},
    {"sun.nio.ch.IOUtil", ""},
    {"sun.nio.ch.ServerSocketChannelImpl", ""},
    {"sun.nio.ch.SocketChannelImpl", ""},
    {"sun.nio.ch.DatagramChannelImpl", ""},
    {"sun.nio.ch.FileChannelImpl", ""},
    {"sun.nio.ch.FileDispatcherImpl", ""},
    {"sun.nio.ch.SocketDispatcher", ""},
    {"sun.nio.ch.DatagramDispatcher", ""},
    {"sun.nio.ch.UnixDispatcher", ""},
    {"sun.nio.ch.UnixFileDispatcherImpl", ""},
    {"sun.nio.ch.UnixDomainSockets", ""},
    {"sun.nio.ch.UnixAsynchronousServerSocketChannelImpl", ""},
    {"sun.nio.ch.UnixAsynchronousSocketChannelImpl", ""},
    {"sun.nio.fs.UnixNativeDispatcher", ""},
    {"sun.nio.fs.LinuxNativeDispatcher", ""},
    {"sun.nio.fs.LinuxWatchService", ""},
    {"sun.nio.fs.UnixCopyFile", ""},
    {"sun.nio.fs.UnixFileSystem", ""},
};

bool hpx_walls_is_io(struct hpx_text class_name, struct hpx_text name)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(io_methods); i++) {
        size_t n = strlen(io_methods[i].class_name), prefix = strlen(io_methods[i].method);
        if (n == class_name.len && memcmp(class_name.bytes, io_methods[i].class_name, n) == 0 && prefix <= name.len &&
            memcmp(name.bytes, io_methods[i].method, prefix) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- snapshot ---- */

static uint64_t due(const struct cell *c, enum hpx_take take)
{
    return take == HPX_TAKE_ALL ? c->ns : c->ns - (take == HPX_TAKE_NEW ? c->journaled : c->dumped);
}

static struct hpx_text class_of(const struct hpx_walls *w, uint32_t number)
{
    const uint32_t *name = hpx_vec_find(&w->classes, number);
    return hpx_symbols_text(w->symbols, name ? *name : 0);
}

static struct hpx_wall_row row_of(struct hpx_walls *w, const struct cell *c, enum hpx_take take)
{
    struct hpx_wall_row row = {hpx_symbols_of_raw(w->symbols, c->raw)->rec, (enum hpx_wall_state)c->state, due(c, take),
                               class_of(w, c->klass)};
    if (row.state == HPX_WALL_NATIVE && row.trace->nframes > 0 &&
        hpx_walls_is_io(row.trace->frames[0].method->class_name, row.trace->frames[0].method->name)) {
        row.state = HPX_WALL_IO;
    }
    return row;
}

static bool resolve(void *self, struct hpx_time_place *to)
{
    const struct cell *c = hpx_vec_at(&((struct hpx_walls *)self)->cells, to->id);
    uint32_t symbolized;
    if (!hpx_symbols_print(((struct hpx_walls *)self)->symbols, c->raw, &symbolized)) {
        return false;
    }
    struct hpx_wall_row row = row_of(self, c, HPX_TAKE_ALL);
    to->trace = row.trace;
    to->class_name = row.class_name;
    to->part = row.state;
    return true;
}

static int by_row(const void *a, const void *b)
{
    const struct hpx_wall_row *x = a, *y = b;
    if (x->trace->serial != y->trace->serial) {
        return x->trace->serial < y->trace->serial ? -1 : 1;
    }
    if (x->state != y->state) {
        return x->state < y->state ? -1 : 1;
    }
    /* names are interned, so equal ones are at one address */
    return (x->class_name.bytes > y->class_name.bytes) - (x->class_name.bytes < y->class_name.bytes);
}

static void merge(struct hpx_wall_snapshot *s)
{
    uint32_t n = 0;
    if (s->nrows > 1) {
        qsort(s->rows, s->nrows, sizeof(s->rows[0]), by_row);
    }
    for (uint32_t i = 0; i < s->nrows; i++) {
        if (n > 0 && by_row(&s->rows[n - 1], &s->rows[i]) == 0) {
            s->rows[n - 1].ns += s->rows[i].ns;
        } else {
            s->rows[n++] = s->rows[i];
        }
    }
    s->nrows = n;
}

static void taken(struct cell *c, enum hpx_take take)
{
    if (take == HPX_TAKE_RESET) {
        c->dumped = c->ns;
    } else if (take >= HPX_TAKE_NEW) {
        c->journaled = c->ns;
    }
}

struct hpx_wall_snapshot *hpx_walls_snapshot(struct hpx_walls *w, enum hpx_take take)
{
    uint32_t rows = 0, symbolized;
    for (uint32_t i = 0; i < w->cells.len; i++) {
        const struct cell *c = hpx_vec_at(&w->cells, i);
        if (due(c, take) > 0) {
            rows++;
            if (!hpx_symbols_print(w->symbols, c->raw, &symbolized)) {
                return NULL;
            }
        }
    }
    struct hpx_wall_snapshot *s = malloc(sizeof(*s) + rows * sizeof(s->rows[0]));
    if (!s) {
        return NULL;
    }
    *s = (struct hpx_wall_snapshot){.rows = (struct hpx_wall_row *)(void *)(s + 1)};
    for (uint32_t i = 0; i < w->cells.len; i++) {
        struct cell *c = hpx_vec_at(&w->cells, i);
        if (due(c, take) > 0) {
            s->rows[s->nrows] = row_of(w, c, take);
            s->ns += s->rows[s->nrows++].ns;
            taken(c, take);
        }
    }
    merge(s);
    return s;
}
