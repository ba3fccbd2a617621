/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_binary.c: the records of the binary format but those of the heap. */
#include "hprof_binary.h"
#include "hash.h"
#include "hprof_table.h"
#include "log.h"
#include "text.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Id spaces: strings, frames and objects are looked up apart, but distinct ids are easier to read. */
#define FIRST_SPARE_FRAME 0x60000000u
#define FIRST_FRAME       0x70000000u /* + the number, from 1 */
#define FIRST_STRING      0xA0000000u
#define TRACE_ROOM        ((size_t)64 << 10) /* asked for before each trace and its definitions */
#define FRAME_ROOM        512u               /* for each of its frames */
#define LAST_STRING       (UINT32_MAX - FIRST_STRING)
#define LONGEST_STRING    ((UINT32_MAX - 8) / 6) /* 6: what a byte can become */
#define SHORT_STRING      2048u                  /* put into a piece whole, as its length is known afterwards */

static_assert(HPX_RECORD_HEAD + 8 + 6 * SHORT_STRING <= HPX_OUT_PIECE, "the longest short string");
static_assert(HPX_RECORD_HEAD + 12 + 8 * HPX_BINARY_FRAMES <= HPX_OUT_PIECE, "the deepest trace");

struct method_strings {
    uint32_t name, signature, source; /* ids: they all fit */
};

void hpx_binary_init(struct hpx_binary *w, struct hpx_out *o, uint32_t id_size)
{
    memset(w, 0, sizeof(*w));
    w->out = o;
    w->id_size = id_size;
    w->strings_ready = hpx_intern_init(&w->strings, 0) == 0;
    hpx_vec_init(&w->held, sizeof(struct hpx_class_serial));
    hpx_vec_init(&w->methods, sizeof(struct method_strings));
}

static void forget(struct hpx_binary *w)
{
    hpx_bitset_fini(&w->traces);
    hpx_bitset_fini(&w->frames);
    hpx_bitset_fini(&w->classes);
    hpx_bitset_fini(&w->begun);
    hpx_intern_fini(&w->strings);
    hpx_vec_fini(&w->methods);
}

void hpx_binary_fini(struct hpx_binary *w)
{
    forget(w);
    hpx_vec_fini(&w->held);
}

void hpx_binary_restart(struct hpx_binary *w)
{
    forget(w);
    w->strings_ready = hpx_intern_init(&w->strings, 0) == 0;
    memset(w->recent, 0, sizeof(w->recent));
    w->nstrings = w->nnames = w->spare_frames = 0;
    w->time_us = w->unplaced = 0;
    atomic_store_explicit(&w->shown_us, 0, memory_order_relaxed);
}

/* ---- records ---- */

void hpx_binary_at(struct hpx_binary *w, uint64_t mono_ns)
{
    uint64_t us = mono_ns > w->zero_ns ? (mono_ns - w->zero_ns) / 1000 : 0;
    w->time_us = us > w->time_us ? us : w->time_us;
    atomic_store_explicit(&w->shown_us, (uint32_t)w->time_us, memory_order_relaxed);
}

uint8_t *hpx_binary_head(const struct hpx_binary *w, uint8_t *to, uint8_t tag, uint32_t length)
{
    return hpx_put_record(to, tag, (uint32_t)w->time_us, length); /* wraps, as the original's */
}

uint32_t hpx_binary_fit(uint32_t n, uint32_t fixed, uint32_t each)
{
    uint32_t most = (UINT32_MAX - fixed) / each;
    return n < most ? n : most;
}

/* Part of a record. */
static void put_part(struct hpx_binary *w, const uint8_t *part, const uint8_t *end)
{
    hpx_out_bytes(w->out, part, (size_t)(end - part));
}

/* After an error of another output nothing is refused, because its later bytes do not matter. */
bool hpx_binary_end_record(struct hpx_binary *w)
{
    bool taken = w->out->record == NULL || hpx_out_record(w->out);
    w->refused = w->refused || !taken;
    return taken;
}

static bool put(struct hpx_binary *w, const uint8_t *record, const uint8_t *end)
{
    put_part(w, record, end);
    return hpx_binary_end_record(w);
}

/* Place for the next record, up to HPX_OUT_PIECE bytes. */
static uint8_t *piece(struct hpx_binary *w)
{
    return (uint8_t *)hpx_out_piece(w->out);
}

static bool put_piece(struct hpx_binary *w, const uint8_t *end)
{
    hpx_out_filled(w->out, end);
    return hpx_likely(w->out->record == NULL) || hpx_binary_end_record(w);
}

static void put_serial(struct hpx_binary *w, uint8_t tag, uint32_t serial)
{
    uint8_t record[HPX_BINARY_SMALL];
    (void)put(w, record, hpx_put_be4(hpx_binary_head(w, record, tag, 4), serial));
}

void hpx_binary_header(struct hpx_binary *w, struct timespec wall, uint64_t mono_ns, uint32_t settings, uint32_t depth)
{
    static const char version[] = HPX_MAGIC "2"; /* with its 0 */
    uint8_t record[HPX_BINARY_SMALL], *at = record;
    uint64_t ms = (uint64_t)wall.tv_sec * 1000 + (uint64_t)wall.tv_nsec / 1000000;
    uint64_t rest = (uint64_t)wall.tv_nsec % 1000000; /* the header's time is earlier than now by so much */
    w->zero_ns = mono_ns > rest ? mono_ns - rest : 0;
    hpx_binary_at(w, mono_ns);
    hpx_out_bytes(w->out, version, sizeof(version));
    at = hpx_put_be8(hpx_put_be4(at, w->id_size), ms);
    at = hpx_binary_head(w, at, HPX_TAG_CONTROL, 6);
    at = hpx_put_be2(hpx_put_be4(at, settings | HPX_SETTING_SINCE), (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX));
    at = hpx_binary_head(w, at, HPX_TAG_TRACE, 12);
    (void)put(w, record, hpx_put_be4(hpx_put_be4(hpx_put_be4(at, HPX_SERIAL_TRACE), 0), 0));
}

/* ---- strings ---- */

static bool put_string(struct hpx_binary *w, uint32_t number, struct hpx_text s)
{
    uint8_t record[HPX_BINARY_SMALL];
    if (s.len <= SHORT_STRING) {
        uint8_t *at = piece(w), *body = at + HPX_RECORD_HEAD;
        size_t n = hpx_text_to_utf8((char *)hpx_binary_id(w, body, (uint64_t)FIRST_STRING + number), s) + w->id_size;
        (void)hpx_binary_head(w, at, HPX_TAG_STRING, (uint32_t)n);
        return put_piece(w, body + n);
    }
    s.len = s.len < LONGEST_STRING ? s.len : LONGEST_STRING;
    uint8_t *at = hpx_binary_head(w, record, HPX_TAG_STRING, (uint32_t)(w->id_size + hpx_text_utf8(NULL, s)));
    put_part(w, record, hpx_binary_id(w, at, (uint64_t)FIRST_STRING + number));
    (void)hpx_text_utf8(w->out, s);
    return hpx_binary_end_record(w);
}

/* A string under a new number, 0 when there are no more or it was refused. */
static uint32_t new_string(struct hpx_binary *w, struct hpx_text s)
{
    if (w->nstrings == LAST_STRING) {
        if (!w->exhausted_said) {
            hpx_warn("format=b: all string ids are used; further names are missing from the file");
        }
        w->exhausted_said = true;
        return 0;
    }
    return put_string(w, ++w->nstrings, s) ? w->nstrings : 0;
}

static uint64_t string_id(uint32_t number)
{
    return number ? (uint64_t)FIRST_STRING + number : 0;
}

/* For what comes again and again, and is held by the model too. */
uint64_t hpx_binary_string(struct hpx_binary *w, struct hpx_text s)
{
    struct hpx_hash128 h = hpx_hash128(s.bytes, s.len);
    uint32_t number = w->strings_ready ? hpx_intern_find(&w->strings, h) : HPX_INTERN_NONE;
    if (number == HPX_INTERN_NONE) {
        number = new_string(w, s);
        if (w->strings_ready && number) {
            (void)hpx_intern_insert(&w->strings, h, number);
        }
    }
    return string_id(number);
}

/* For what mostly comes once. */
static uint64_t passing(struct hpx_binary *w, struct hpx_text s)
{
    struct hpx_hash128 h = hpx_hash128(s.bytes, s.len);
    struct hpx_recent *r = &w->recent[h.lo % HPX_BINARY_RECENT];
    if (r->number == 0 || memcmp(&r->hash, &h, sizeof h) != 0) {
        *r = (struct hpx_recent){h, new_string(w, s)};
    }
    return string_id(r->number);
}

/* ---- threads and classes ---- */

void hpx_binary_thread_start(struct hpx_binary *w, const struct hpx_thread_rec *t)
{
    uint8_t record[HPX_BINARY_SMALL];
    if (!hpx_bitset_add(&w->begun, t->serial - HPX_SERIAL_THREAD)) {
        return; /* then it has no end either, and its samples name the empty trace */
    }
    w->refused = false;
    uint64_t name = passing(w, t->name), group = passing(w, t->group), parent = t->parent_group.len > 0 ? passing(w, t->parent_group) : 0;
    uint8_t *at = hpx_binary_head(w, record, HPX_TAG_START_THREAD, 8 + 4 * w->id_size);
    at = hpx_binary_id(w, hpx_put_be4(at, t->serial), t->object);
    at = hpx_put_be4(at, HPX_SERIAL_TRACE);
    at = hpx_binary_id(w, hpx_binary_id(w, hpx_binary_id(w, at, name), group), parent);
    if (w->refused || !put(w, record, at)) {
        hpx_bitset_remove(&w->begun, t->serial - HPX_SERIAL_THREAD);
    }
}

bool hpx_binary_has_thread(const struct hpx_binary *w, uint32_t serial)
{
    return hpx_bitset_has(&w->begun, serial - HPX_SERIAL_THREAD);
}

void hpx_binary_thread_end(struct hpx_binary *w, const struct hpx_thread_rec *t)
{
    if (hpx_bitset_has(&w->begun, t->serial - HPX_SERIAL_THREAD)) {
        put_serial(w, HPX_TAG_END_THREAD, t->serial);
    }
}

void hpx_binary_thread_name(struct hpx_binary *w, const struct hpx_thread_rec *t)
{
    uint8_t record[HPX_BINARY_SMALL];
    char begin[sizeof HPX_THREAD_NAME + 16];
    struct hpx_text s = t->newest;
    if (!hpx_bitset_has(&w->begun, t->serial - HPX_SERIAL_THREAD) || w->nnames > HPX_THREAD_NAME_LAST - HPX_THREAD_NAME_FIRST) {
        return;
    }
    s.len = s.len < LONGEST_STRING - sizeof begin ? s.len : LONGEST_STRING - (uint32_t)sizeof begin;
    size_t n = (size_t)snprintf(begin, sizeof begin, HPX_THREAD_NAME "%" PRIu32 ": ", t->serial);
    uint8_t *at = hpx_binary_head(w, record, HPX_TAG_STRING, (uint32_t)(w->id_size + n + hpx_text_utf8(NULL, s)));
    put_part(w, record, hpx_binary_id(w, at, (uint64_t)HPX_THREAD_NAME_FIRST + w->nnames++));
    hpx_out_bytes(w->out, begin, n);
    (void)hpx_text_utf8(w->out, s);
    (void)hpx_binary_end_record(w);
}

/* The place of the class in the marks, and of its object among the ids of class objects. */
static uint32_t bit_of(struct hpx_class_serial serial)
{
    return serial.v - HPX_SERIAL_CLASS;
}

/* false without memory, or refused. */
static bool load_class(struct hpx_binary *w, struct hpx_class_serial serial, struct hpx_text class_name)
{
    uint8_t record[HPX_BINARY_SMALL];
    if (!hpx_bitset_add(&w->classes, bit_of(serial))) {
        return false;
    }
    w->refused = false;
    uint64_t name = passing(w, class_name);
    uint8_t *at = hpx_put_be4(hpx_binary_head(w, record, HPX_TAG_LOAD_CLASS, 8 + 2 * w->id_size), serial.v);
    at = hpx_put_be4(hpx_binary_id(w, at, HPX_CLASS_OBJECT_FIRST + (uint64_t)bit_of(serial)), HPX_SERIAL_TRACE);
    if (w->refused || !put(w, record, hpx_binary_id(w, at, name))) {
        hpx_bitset_remove(&w->classes, bit_of(serial));
        return false;
    }
    return true;
}

static bool is_loaded(const struct hpx_binary *w, struct hpx_class_serial serial)
{
    return hpx_bitset_has(&w->classes, bit_of(serial));
}

bool hpx_binary_class(struct hpx_binary *w, struct hpx_class_serial serial, struct hpx_text name)
{
    return is_loaded(w, serial) || load_class(w, serial, name);
}

void hpx_binary_class_load(struct hpx_binary *w, const struct hpx_class_rec *c)
{
    if (!is_loaded(w, c->serial)) {
        (void)load_class(w, c->serial, c->name);
    }
}

void hpx_binary_class_unload(struct hpx_binary *w, const struct hpx_class_rec *c)
{
    struct hpx_class_serial *held = c->in_traces ? hpx_vec_push(&w->held) : NULL;
    if (held != NULL) {
        *held = c->serial;
    } else if (is_loaded(w, c->serial)) {
        put_serial(w, HPX_TAG_UNLOAD_CLASS, c->serial.v);
    }
}

void hpx_binary_release(struct hpx_binary *w)
{
    for (uint32_t i = 0; i < w->held.len; i++) {
        struct hpx_class_serial serial = *(const struct hpx_class_serial *)hpx_vec_at(&w->held, i);
        if (is_loaded(w, serial)) {
            put_serial(w, HPX_TAG_UNLOAD_CLASS, serial.v);
        }
    }
    w->held.len = 0;
}

/* ---- traces ---- */

static struct hpx_class_serial class_of(const struct hpx_method_rec *m)
{
    return m->klass.v ? m->klass : (struct hpx_class_serial){HPX_SERIAL_CLASS};
}

/* What the frames of m name, in the file afterwards. false: refused. */
static bool find_strings(struct hpx_binary *w, const struct hpx_method_rec *m, struct method_strings *to)
{
    static const struct hpx_text nameless = {"<Unknown Method>", 16};
    struct method_strings *known = hpx_vec_find(&w->methods, m->number);
    if (known != NULL && known->name != 0) {
        *to = *known;
        return true;
    }
    w->refused = false;
    to->name = (uint32_t)hpx_binary_string(w, m->name.len > 0 ? m->name : nameless);
    to->signature = (uint32_t)hpx_binary_string(w, m->signature);
    to->source = m->source.len > 0 ? (uint32_t)hpx_binary_string(w, m->source) : 0;
    known = m->number != 0 && !w->refused ? hpx_vec_reach(&w->methods, m->number) : NULL;
    if (known != NULL) {
        *known = *to;
    }
    return !w->refused;
}

/* Its class is in the file. false: refused. */
static bool put_frame(struct hpx_binary *w, uint64_t id, const struct hpx_frame_rec *f)
{
    struct method_strings s;
    if (!find_strings(w, f->method, &s)) {
        return false;
    }
    uint8_t *at = hpx_binary_head(w, piece(w), HPX_TAG_FRAME, 8 + 4 * w->id_size);
    at = hpx_binary_id(w, hpx_binary_id(w, hpx_binary_id(w, hpx_binary_id(w, at, id), s.name), s.signature), s.source);
    return put_piece(w, hpx_put_be4(hpx_put_be4(at, class_of(f->method).v), (uint32_t)f->line));
}

/* 0 without memory, or refused. */
static uint64_t frame_id(struct hpx_binary *w, const struct hpx_frame_rec *f)
{
    static const struct hpx_text pseudo = {"hprofx.unknown", 14};
    const struct hpx_method_rec *m = f->method;
    uint64_t id = (uint64_t)FIRST_FRAME + f->number;
    if (hpx_likely(f->number != 0 && hpx_bitset_has(&w->frames, f->number))) {
        return id;
    }
    if (!is_loaded(w, class_of(m)) && !load_class(w, class_of(m), m->klass.v ? m->class_name : pseudo)) {
        return 0; /* before the frame is marked */
    }
    bool numbered = f->number != 0 && hpx_bitset_add(&w->frames, f->number);
    if (!numbered) {
        id = (uint64_t)FIRST_SPARE_FRAME + w->spare_frames++;
    }
    if (!put_frame(w, id, f)) {
        if (numbered) {
            hpx_bitset_remove(&w->frames, f->number);
        }
        return 0;
    }
    return id;
}

/* false without memory, or refused. */
static bool begin_thread(struct hpx_binary *w, uint32_t serial)
{
    static const struct hpx_text name = {"<unknown thread>", 16};
    struct hpx_thread_rec t = {.serial = serial, .object = HPX_OBJECT_FIRST - 1 + (serial - HPX_SERIAL_THREAD), .name = name};
    const struct hpx_thread_rec *known = w->live_thread != NULL ? w->live_thread(serial) : NULL;
    hpx_binary_thread_start(w, known != NULL ? known : &t);
    if (known != NULL && known->newest.bytes != NULL) {
        hpx_binary_thread_name(w, known);
    }
    return hpx_bitset_has(&w->begun, serial - HPX_SERIAL_THREAD);
}

/* Where the ids of the frames go. */
static uint8_t *trace_head(const struct hpx_binary *w, uint8_t *to, const struct hpx_trace_rec *t, uint32_t n)
{
    to = hpx_binary_head(w, to, HPX_TAG_TRACE, 12 + n * w->id_size);
    return hpx_put_be4(hpx_put_be4(hpx_put_be4(to, t->serial), t->thread), n);
}

/* The ids of the first frames, as far as they are in the file; returns how many. A loop for each size of an id: it is most of the writer's
 * time. */
static inline uint32_t put_ids(const struct hpx_bitset frames, uint8_t *at, const struct hpx_frame_rec *f, uint32_t n, bool wide)
{
    uint32_t i = 0;
    for (; i < n && hpx_likely(hpx_bitset_has(&frames, f[i].number)); i++) { /* 0 never is */
        at = wide ? hpx_put_be8(at, (uint64_t)FIRST_FRAME + f[i].number) : hpx_put_be4(at, FIRST_FRAME + f[i].number);
    }
    return i;
}

/* The record behind its first `done` frames, at w->record: the definitions go out while it is put together. NULL without memory, or
 * refused. */
static uint8_t *new_trace(struct hpx_binary *w, const struct hpx_trace_rec *t, uint32_t n, uint32_t done)
{
    uint8_t *at = w->record + HPX_RECORD_HEAD + 12 + (size_t)done * w->id_size;
    for (uint32_t i = done; i < n; i++) {
        uint64_t id = frame_id(w, &t->frames[i]);
        if (id == 0) {
            return NULL;
        }
        at = hpx_binary_id(w, at, id);
    }
    return at;
}

/* Every file begins with the empty trace. */
static uint32_t mark_of(const struct hpx_trace_rec *t)
{
    return t->serial == HPX_SERIAL_SUMMED ? 0 : t->serial - HPX_SERIAL_TRACE;
}

bool hpx_binary_trace(struct hpx_binary *w, const struct hpx_trace_rec *t)
{
    uint32_t bit = mark_of(t), n = t->nframes < HPX_BINARY_FRAMES ? t->nframes : HPX_BINARY_FRAMES;
    if (hpx_bitset_has(&w->traces, bit) || t->serial == HPX_SERIAL_TRACE) {
        return true;
    }
    if (t->thread != 0 && !hpx_bitset_has(&w->begun, t->thread - HPX_SERIAL_THREAD) && !begin_thread(w, t->thread)) {
        return false;
    }
    hpx_out_room(w->out, TRACE_ROOM + (size_t)n * FRAME_ROOM);
    uint8_t *start = piece(w), *ids = trace_head(w, start, t, n);
    uint32_t known = w->id_size == 8 ? put_ids(w->frames, ids, t->frames, n, true) : put_ids(w->frames, ids, t->frames, n, false);
    uint8_t *end = ids + (size_t)known * w->id_size;
    if (known < n) { /* definitions come first */
        memcpy(w->record, start, (size_t)(end - start));
        end = new_trace(w, t, n, known);
    }
    if (end == NULL || !hpx_bitset_add(&w->traces, bit)) {
        return false;
    }
    if (!(known == n ? put_piece(w, end) : put(w, w->record, end))) {
        hpx_bitset_remove(&w->traces, bit);
        return false;
    }
    return true;
}

/* ---- dumps ---- */

bool hpx_binary_has_trace(const struct hpx_binary *w, const struct hpx_trace_rec *t)
{
    return t->serial == HPX_SERIAL_TRACE || hpx_bitset_has(&w->traces, mark_of(t));
}

static bool placed(const struct hpx_binary *w, const struct hpx_row *r)
{
    return hpx_binary_has_trace(w, r->trace);
}

/* Those whose trace is in the stream, in their order; how many. */
static uint32_t leave_out(const struct hpx_binary *w, struct hpx_row *rows, uint32_t n)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (placed(w, &rows[i])) {
            rows[left++] = rows[i];
        }
    }
    return left;
}

uint32_t hpx_binary_cut(struct hpx_binary *w, uint32_t n, uint32_t fixed, uint32_t each)
{
    size_t most = w->out->most, before = HPX_RECORD_HEAD + fixed;
    if (most == 0 || before + (size_t)each * n <= most) {
        return n;
    }
    uint32_t fit = most > before ? (uint32_t)((most - before) / each) : 0;
    hpx_out_leave_out(w->out, (uint64_t)each * (n - fit));
    return fit;
}

void hpx_binary_cpu_samples(struct hpx_binary *w, struct hpx_snapshot *s, double cutoff)
{
    struct hpx_ranked ranked = hpx_table_rank(&hpx_table_samples, s->rows, s->nrows, s->total, cutoff);
    uint32_t n = hpx_binary_fit(ranked.ranked, HPX_SAMPLES_HEAD, HPX_SAMPLES_ROW), i = 0;
    for (; i < n && !hpx_binary_is_full(w, i, HPX_SAMPLES_ROW); i++) {
        if (!hpx_binary_trace(w, s->rows[i].trace)) {
            w->unplaced += w->out->record == NULL ? s->rows[i].count : 0;
        }
    }
    if (i < n && hpx_binary_trace(w, hpx_trace_summed)) {
        n = hpx_table_sum(&hpx_table_samples, &ranked, i, i, w->bound);
    }
    if (w->out->record != NULL) {
        n = hpx_binary_cut(w, leave_out(w, s->rows, n), HPX_SAMPLES_HEAD, HPX_SAMPLES_ROW);
    }
    hpx_out_room(w->out, 32 + (size_t)HPX_SAMPLES_ROW * n);
    uint8_t *at = hpx_binary_head(w, piece(w), HPX_TAG_SAMPLES, HPX_SAMPLES_HEAD + HPX_SAMPLES_ROW * n);
    hpx_out_filled(w->out, hpx_put_be4(hpx_put_be4(at, hpx_fit4(s->total)), n));
    for (i = 0; i < n; i++) {
        const struct hpx_row *r = &s->rows[i];
        at = hpx_put_be4(piece(w), hpx_fit4(r->count));
        hpx_out_filled(w->out, hpx_put_be4(at, placed(w, r) ? r->trace->serial : HPX_SERIAL_TRACE));
    }
    (void)hpx_binary_end_record(w);
}

bool hpx_binary_note(struct hpx_binary *w, struct hpx_text text)
{
    hpx_out_room(w->out, text.len + HPX_BINARY_SMALL);
    return new_string(w, text) != 0;
}

uint8_t *hpx_binary_note_head(struct hpx_binary *w, uint8_t *to, size_t bytes)
{
    uint8_t *at = hpx_binary_head(w, to, HPX_TAG_STRING, (uint32_t)(w->id_size + bytes));
    return w->nstrings < LAST_STRING ? hpx_binary_id(w, at, string_id(++w->nstrings)) : NULL;
}

bool hpx_binary_own_note(struct hpx_binary *w, struct hpx_text text)
{
    uint8_t record[HPX_BINARY_SMALL];
    if (w->nnames > HPX_THREAD_NAME_LAST - HPX_THREAD_NAME_FIRST) {
        return false;
    }
    hpx_out_room(w->out, text.len + HPX_BINARY_SMALL);
    uint8_t *at = hpx_binary_head(w, record, HPX_TAG_STRING, w->id_size + text.len);
    put_part(w, record, hpx_binary_id(w, at, (uint64_t)HPX_THREAD_NAME_FIRST + w->nnames++));
    hpx_out_bytes(w->out, text.bytes, text.len);
    return hpx_binary_end_record(w);
}

bool hpx_binary_reserve(struct hpx_binary *w, struct hpx_class_serial klass, uint32_t thread, const struct hpx_trace_rec *t)
{
    return (klass.v == 0 || hpx_bitset_reserve(&w->classes, bit_of(klass))) &&
           (thread == 0 || hpx_bitset_reserve(&w->begun, thread - HPX_SERIAL_THREAD)) &&
           (t == NULL || hpx_bitset_reserve(&w->traces, mark_of(t))) &&
           (t == NULL || t->thread == 0 || hpx_bitset_reserve(&w->begun, t->thread - HPX_SERIAL_THREAD));
}

void hpx_binary_traces(struct hpx_binary *w, struct hpx_snapshot *s)
{
    (void)hpx_table_rank(&hpx_table_samples, s->rows, s->nrows, s->total, NAN); /* equal counts: by serial */
    for (uint32_t i = 0; i < s->nrows; i++) {
        (void)hpx_binary_trace(w, s->rows[i].trace);
    }
}

void hpx_binary_dump_end(struct hpx_binary *w, const char *report)
{
    if (w->unplaced > 0) {
        hpx_warn("format=b: no memory for the stacks of %" PRIu64
                 " samples; this dump has them without stacks; raise the memory limit of the process",
                 w->unplaced);
        w->unplaced = 0;
    }
    if (w->unplaced_sites > 0) {
        hpx_warn("format=b: no memory for %" PRIu64 " allocation sites; this dump lacks them; raise the memory limit of the process",
                 w->unplaced_sites);
        w->unplaced_sites = 0;
    }
    (void)hpx_binary_note(w, (struct hpx_text){report, (uint32_t)strlen(report)});
    hpx_binary_release(w);
}
