/* SPDX-License-Identifier: BSD-2-Clause */
/* binary.c: the layout of binary files: header, records, and that each record holds its fields and nothing else. heap.c has heap dumps. */
#include "binary.h"
#include "timeline.h"
#include "utf8.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MOST 19 /* of 64 bits */
#define TEXT_SHOWN  ((size_t)64 << 10)
#define BACK_MAX_US 60000000u /* TIME that goes back by less did not wrap */

static const char wall[] = "hprofx: WALL CLOCK ";

const char *hpx_bin_take(struct hpx_bin *b, size_t n)
{
    static const char zeros[16];
    if (b->status != HPX_RD_SOUND) {
        return zeros;
    }
    if (b->left < n) {
        b->status = hpx_reader_break(b->r, b->at, 0, "%s of %" PRIu64 " bytes: too short for its fields", b->what, b->length);
        return zeros;
    }
    if (hpx_source_ahead(b->r->source, n) < n) {
        b->status = hpx_reader_cut(b->r, b->record_at, 0, "the file ends inside this %s", hpx_tag_name(b->tag));
        return zeros;
    }
    const char *p = hpx_source_bytes(b->r->source);
    hpx_source_take(b->r->source, n);
    b->left -= n;
    return p;
}

bool hpx_bin_holds(struct hpx_bin *b, uint64_t n)
{
    if (b->status == HPX_RD_SOUND && n > b->left) {
        b->status =
            hpx_reader_break(b->r, b->at, 0, "%s has %" PRIu64 " bytes of contents, its record %" PRIu64 " more", b->what, n, b->left);
    }
    return b->status == HPX_RD_SOUND;
}

void hpx_bin_skip(struct hpx_bin *b, uint64_t n)
{
    struct hpx_source *s = b->r->source;
    (void)hpx_bin_holds(b, n);
    while (b->status == HPX_RD_SOUND && n > 0) {
        size_t have = hpx_source_ahead(s, 1);
        if (have == 0) {
            b->status = hpx_reader_cut(b->r, b->record_at, 0, "the file ends inside this %s", hpx_tag_name(b->tag));
            return;
        }
        size_t k = have < n ? have : (size_t)n;
        hpx_source_take(s, k);
        b->left -= k;
        n -= k;
    }
}

void hpx_bin_emit(struct hpx_bin *b, struct hpx_rd_event *ev)
{
    if (b->status == HPX_RD_SOUND) {
        ev->at = b->at;
        ev->line = 0;
        b->status = hpx_reader_emit(b->r, ev);
    }
}

static int header(struct hpx_bin *b)
{
    struct hpx_reader *r = b->r;
    struct hpx_rd_event ev = {.kind = HPX_RD_HEADER};
    const size_t magic = HPX_MAGIC_BYTES;
    if (hpx_source_ahead(r->source, HPX_HEADER_BYTES) < HPX_HEADER_BYTES) {
        return hpx_reader_cut(r, 0, 0, "the file ends inside the header");
    }
    const char *p = hpx_source_bytes(r->source);
    if (p[magic] != '1' && p[magic] != '2') {
        return hpx_reader_break(r, magic, 0, "JAVA PROFILE 1.0.%c: only 1.0.1 and 1.0.2 are known",
                                p[magic] >= ' ' && p[magic] <= '~' ? p[magic] : '?');
    }
    ev.header.minor = p[magic] - '0';
    ev.header.id_size = hpx_get_be4(p + magic + 2);
    ev.header.ms = hpx_get_be8(p + magic + 6);
    if (ev.header.id_size != 4 && ev.header.id_size != 8) {
        return hpx_reader_break(r, magic + 2, 0, "identifiers of %" PRIu32 " bytes: only 4 and 8 are known", ev.header.id_size);
    }
    hpx_source_take(r->source, HPX_HEADER_BYTES);
    b->id_size = ev.header.id_size;
    b->minor = ev.header.minor;
    r->whole = HPX_HEADER_BYTES;
    return hpx_reader_emit(r, &ev);
}

/* A number and the words behind it; NULL: something else stands there. Else what follows. */
static const char *number_before(const char *at, const char *words, uint64_t *n)
{
    char *end = NULL;
    *n = 0;
    if (at == NULL || *at < '0' || *at > '9') {
        return NULL;
    }
    *n = strtoull(at, &end, 10);
    return end - at <= DIGITS_MOST && strncmp(end, words, strlen(words)) == 0 ? end + strlen(words) : NULL;
}

/* "hprofx: WALL CLOCK STATE CLASS, total N ms, M ms per count", with or without a class: what the next CPU SAMPLES has, unless net=
 * dropped it: then the report comes first. The table of a dump, of all its states, ends with the report. */
static void take_wall(struct hpx_bin *b, const struct hpx_rd_string *s)
{
    struct hpx_rd_text t = s->text;
    char line[HPX_BIN_STATE + 128];
    size_t n = sizeof wall - 1;
    if (t.n < n || t.n >= sizeof line || memcmp(t.p, wall, n) != 0) {
        bool reported = hpx_rd_is_report(s);
        b->wall_open = b->wall_open && !reported;
        b->wall_ms = reported ? 0 : b->wall_ms;
        return;
    }
    memcpy(line, t.p + n, t.n - n);
    line[t.n - n] = '\0';
    static const char total[] = ", total ";
    const char *at = NULL;
    for (const char *next = line; (next = strstr(next, total)) != NULL; next += sizeof total - 1) { /* the last one: a class may have one */
        at = next;
    }
    size_t word = at != NULL ? (size_t)(at - line) : 0;
    at = at != NULL ? at + sizeof total - 1 : NULL;
    at = number_before(number_before(at, " ms, ", &b->wall_total), " ms per count", &b->wall_ms);
    bool sound = at != NULL && *at == '\0' && hpx_rd_is_state((struct hpx_rd_text){line, word}) && word < sizeof b->wall_state;
    b->wall_ms = sound ? b->wall_ms : 0;
    memcpy(b->wall_state, line, sound ? word : 0);
    b->wall_state[sound ? word : 0] = '\0';
}

/* "hprofx: thread NUMBER: NAME". */
static void thread_name(struct hpx_bin *b, struct hpx_rd_text t)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_THREAD_NAME};
    const char *at = t.p + sizeof HPX_THREAD_NAME - 1, *end = t.p + t.n;
    uint64_t serial = 0;
    for (; at < end && *at >= '0' && *at <= '9' && serial <= UINT32_MAX; at++) {
        serial = serial * 10 + (uint64_t)(*at - '0');
    }
    if (serial == 0 || serial > UINT32_MAX || end - at < 2 || at[0] != ':' || at[1] != ' ') {
        b->status = hpx_reader_break(b->r, b->at, 0, "a newest name without its thread");
        return;
    }
    ev.thread.serial = (uint32_t)serial;
    ev.thread.name = (struct hpx_rd_text){at + 2, (size_t)(end - at) - 2};
    hpx_bin_emit(b, &ev);
}

static int take_time(void *ctx, struct hpx_rd_event *ev)
{
    struct hpx_bin *b = ctx;
    hpx_bin_emit(b, ev);
    return b->status;
}

/* Lines of TIMELINE. What a stream has lost makes the others no worse: without its begin they are not of the section before. */
static void timeline(struct hpx_bin *b, struct hpx_rd_text t)
{
    const char *at = t.p + sizeof HPX_TIMELINE_NOTE - 1, *end = t.p + t.n;
    while (at < end && b->status == HPX_RD_SOUND) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        struct hpx_rd_text line = {at, (size_t)((newline != NULL ? newline : end) - at)};
        bool begins = line.n > sizeof HPX_TIMELINE_BEGIN - 1 && memcmp(line.p, HPX_TIMELINE_BEGIN, sizeof HPX_TIMELINE_BEGIN - 1) == 0;
        bool last = false;
        b->timeline = b->timeline || begins;
        if (b->timeline && hpx_timeline_line(line, take_time, b, &last) == HPX_TIMELINE_NO_MATCH) {
            b->status = hpx_reader_break(b->r, b->at, 0, "no line of TIMELINE");
        }
        b->timeline = b->timeline && !last;
        at = newline != NULL ? newline + 1 : end;
    }
}

static void string(struct hpx_bin *b)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_STRING};
    struct hpx_utf8 u = {0};
    ev.string.id = hpx_bin_id(b);
    ev.string.length = b->left;
    if (b->status != HPX_RD_SOUND) {
        return;
    }
    ev.string.text.n = b->left < TEXT_SHOWN ? (size_t)b->left : TEXT_SHOWN;
    if (hpx_source_ahead(b->r->source, ev.string.text.n) < ev.string.text.n) {
        hpx_bin_skip(b, b->left); /* which finds the end */
        return;
    }
    ev.string.text.p = hpx_source_bytes(b->r->source);
    hpx_utf8_feed(&u, ev.string.text.p, ev.string.text.n);
    if (b->left == ev.string.text.n) {
        hpx_utf8_end(&u);
    }
    ev.string.modified = u.modified;
    take_wall(b, &ev.string);
    hpx_bin_emit(b, &ev);
    if (hpx_rd_is_thread_name(&ev.string)) {
        thread_name(b, ev.string.text);
    } else if (hpx_rd_is_timeline(&ev.string) && ev.string.text.n == ev.string.length) {
        timeline(b, ev.string.text);
    }
    hpx_bin_skip(b, ev.string.text.n);
    while (b->status == HPX_RD_SOUND && b->left > 0) {
        size_t have = hpx_source_ahead(b->r->source, 1);
        size_t k = have < b->left ? have : (size_t)b->left;
        hpx_utf8_feed(&u, hpx_source_bytes(b->r->source), k);
        hpx_bin_skip(b, k > 0 ? k : 1);
        if (b->left == 0) {
            hpx_utf8_end(&u);
        }
    }
    if (b->status == HPX_RD_SOUND && u.broken) {
        b->status = hpx_reader_break(b->r, b->at, 0, "UTF8 %" PRIx64 " is neither UTF-8 nor modified UTF-8", ev.string.id);
    } else if (b->status == HPX_RD_SOUND && u.modified) {
        b->status = hpx_reader_note(b->r, HPX_NOTE_MODIFIED_UTF8, b->at, 0);
    }
}

static void load(struct hpx_bin *b)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_LOAD};
    ev.load.serial = hpx_bin_u4(b);
    ev.load.id = hpx_bin_id(b);
    (void)hpx_bin_u4(b); /* a trace */
    ev.load.name = hpx_bin_id(b);
    hpx_bin_emit(b, &ev);
}

static void frame(struct hpx_bin *b)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_FRAME};
    ev.frame.id = hpx_bin_id(b);
    ev.frame.method = hpx_bin_id(b);
    ev.frame.signature = hpx_bin_id(b);
    ev.frame.source = hpx_bin_id(b);
    ev.frame.class_serial = hpx_bin_u4(b);
    ev.frame.line = (int32_t)hpx_bin_u4(b);
    hpx_bin_emit(b, &ev);
}

/* Do `rows` rows of `size` bytes fill the rest of the record? */
static bool rows_fit(struct hpx_bin *b, uint32_t rows, uint32_t size)
{
    if (b->status == HPX_RD_SOUND && b->left != (uint64_t)rows * size) {
        b->status = hpx_reader_break(b->r, b->at, 0, "%s says %" PRIu32 " entries of %" PRIu32 " bytes, %" PRIu64 " bytes follow", b->what,
                                     rows, size, b->left);
    }
    return b->status == HPX_RD_SOUND;
}

static void trace(struct hpx_bin *b)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_TRACE};
    struct hpx_rd_event of = {.kind = HPX_RD_FRAME_OF_TRACE};
    ev.trace.serial = hpx_bin_u4(b);
    ev.trace.thread = hpx_bin_u4(b);
    ev.trace.frames = hpx_bin_u4(b);
    if (!rows_fit(b, ev.trace.frames, b->id_size)) {
        return;
    }
    hpx_bin_emit(b, &ev);
    while (b->status == HPX_RD_SOUND && b->left > 0) {
        of.of.id = hpx_bin_id(b);
        hpx_bin_emit(b, &of);
    }
    ev.kind = HPX_RD_TRACE_END;
    hpx_bin_emit(b, &ev);
}

static void sites(struct hpx_bin *b)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_TABLE, .table = {.tag = HPX_TAG_SITES}};
    struct hpx_rd_event row = {.kind = HPX_RD_ROW, .row = {.self = HPX_NO_SHARE}};
    ev.table.flags = hpx_bin_u2(b);
    (void)hpx_bin_u4(b); /* the cutoff */
    ev.table.total = hpx_bin_u4(b);
    ev.table.live_objects = hpx_bin_u4(b);
    ev.table.bytes = hpx_bin_u8(b);
    ev.table.objects = hpx_bin_u8(b);
    ev.table.rows = hpx_bin_u4(b);
    if (!rows_fit(b, ev.table.rows, HPX_SITES_ROW)) {
        return;
    }
    hpx_bin_emit(b, &ev);
    while (b->status == HPX_RD_SOUND && b->left > 0) {
        row.row.array = hpx_bin_u1(b);
        row.row.class_serial = hpx_bin_u4(b);
        row.row.trace = hpx_bin_u4(b);
        row.row.live_bytes = hpx_bin_u4(b);
        row.row.live_objects = hpx_bin_u4(b);
        row.row.bytes = hpx_bin_u4(b);
        row.row.objects = hpx_bin_u4(b);
        hpx_bin_emit(b, &row);
    }
    ev.kind = HPX_RD_TABLE_END;
    hpx_bin_emit(b, &ev);
}

/* The next CPU SAMPLES is one of WALL CLOCK. */
static uint64_t begin_wall(struct hpx_bin *b, struct hpx_rd_event *ev, struct hpx_rd_event *row)
{
    uint64_t ms = b->wall_ms;
    b->wall_ms = 0;
    if (ms > 0) {
        ev->table.tag = HPX_TAG_WALL;
        ev->table.total = b->wall_total;
        ev->table.more = b->wall_open;
        row->row.state = (struct hpx_rd_text){b->wall_state, strlen(b->wall_state)};
    }
    b->wall_open = ms > 0;
    return ms > 0 ? ms : 1;
}

static void samples(struct hpx_bin *b)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_TABLE, .table = {.tag = HPX_TAG_SAMPLES}};
    struct hpx_rd_event row = {.kind = HPX_RD_ROW, .row = {.self = HPX_NO_SHARE}};
    ev.table.total = hpx_bin_u4(b);
    ev.table.rows = hpx_bin_u4(b);
    if (!rows_fit(b, ev.table.rows, HPX_SAMPLES_ROW)) {
        return;
    }
    uint64_t times = begin_wall(b, &ev, &row);
    hpx_bin_emit(b, &ev);
    while (b->status == HPX_RD_SOUND && b->left > 0) {
        row.row.count = hpx_bin_u4(b);
        row.row.trace = hpx_bin_u4(b);
        if (__builtin_mul_overflow(row.row.count, times, &row.row.count)) {
            row.row.count = UINT64_MAX;
        }
        hpx_bin_emit(b, &row);
    }
    ev.kind = HPX_RD_TABLE_END;
    hpx_bin_emit(b, &ev);
}

static void summary(struct hpx_bin *b)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_SUMMARY, .table = {.tag = HPX_TAG_SUMMARY}};
    ev.table.total = hpx_bin_u4(b);
    ev.table.live_objects = hpx_bin_u4(b);
    ev.table.bytes = hpx_bin_u8(b);
    ev.table.objects = hpx_bin_u8(b);
    hpx_bin_emit(b, &ev);
}

static void start_thread(struct hpx_bin *b)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_THREAD_START};
    ev.thread.serial = hpx_bin_u4(b);
    (void)hpx_bin_id(b); /* its object, and a trace */
    (void)hpx_bin_u4(b);
    ev.thread.name_id = hpx_bin_id(b);
    ev.thread.group_id = hpx_bin_id(b);
    ev.thread.parent_id = hpx_bin_id(b);
    hpx_bin_emit(b, &ev);
}

static void serial_only(struct hpx_bin *b, enum hpx_rd_kind kind)
{
    struct hpx_rd_event ev = {.kind = kind};
    ev.serial = hpx_bin_u4(b);
    hpx_bin_emit(b, &ev);
}

static void control(struct hpx_bin *b)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_CONTROL};
    ev.control.flags = hpx_bin_u4(b);
    ev.control.depth = hpx_bin_u2(b);
    hpx_bin_emit(b, &ev);
}

static void body(struct hpx_bin *b)
{
    switch (b->tag) {
    case HPX_TAG_STRING:
        string(b);
        break;
    case HPX_TAG_LOAD_CLASS:
        load(b);
        break;
    case HPX_TAG_UNLOAD_CLASS:
        serial_only(b, HPX_RD_UNLOAD);
        break;
    case HPX_TAG_FRAME:
        frame(b);
        break;
    case HPX_TAG_TRACE:
        trace(b);
        break;
    case HPX_TAG_SITES:
        sites(b);
        break;
    case HPX_TAG_SUMMARY:
        summary(b);
        break;
    case HPX_TAG_START_THREAD:
        start_thread(b);
        break;
    case HPX_TAG_END_THREAD:
        serial_only(b, HPX_RD_THREAD_END);
        break;
    case HPX_TAG_SAMPLES:
        samples(b);
        break;
    case HPX_TAG_CONTROL:
        control(b);
        break;
    default:
        hpx_bin_heap(b);
        break;
    }
}

/* TIME counts modulo 2^32 us, 71.6 minutes: a record with less than the one before comes after another round. */
static int unwrap_time(struct hpx_bin *b, uint32_t us)
{
    uint32_t last = (uint32_t)b->us;
    if (us < last && last - us < BACK_MAX_US) {
        return hpx_reader_note(b->r, HPX_NOTE_TIME_BACK, b->at, 0);
    }
    b->us += (uint32_t)(us - last);
    return HPX_RD_SOUND;
}

static int record(struct hpx_bin *b)
{
    struct hpx_reader *r = b->r;
    struct hpx_rd_event ev = {.kind = HPX_RD_RECORD, .at = b->at};
    const char *p = hpx_source_bytes(r->source);
    b->tag = (unsigned char)p[0];
    b->left = b->length = hpx_get_be4(p + 5);
    b->what = b->tag < HPX_TAG_TIMES ? hpx_tag_name(b->tag) : NULL;
    if (b->what == NULL) {
        return hpx_reader_break(r, b->at, 0, "a record with the unknown tag 0x%02x", (unsigned)b->tag);
    }
    uint32_t us = hpx_get_be4(p + 1);
    hpx_source_take(r->source, HPX_RECORD_HEAD);
    b->status = unwrap_time(b, us);
    if (b->status == HPX_RD_SOUND) {
        ev.record = (struct hpx_rd_record){.tag = b->tag, .us = b->us, .length = b->length};
        b->status = hpx_reader_emit(r, &ev);
    }
    if (b->status == HPX_RD_SOUND) {
        body(b);
    }
    if (b->status == HPX_RD_SOUND && b->left > 0) {
        return hpx_reader_break(r, b->record_at, 0, "%s of %" PRIu64 " bytes: %" PRIu64 " behind its fields", hpx_tag_name(b->tag),
                                b->length, b->left);
    }
    return b->status;
}

int hpx_rd_binary(struct hpx_reader *r)
{
    struct hpx_bin b = {.r = r};
    int rc = header(&b);
    while (rc == HPX_RD_SOUND) {
        size_t have = hpx_source_ahead(r->source, HPX_RECORD_HEAD);
        b.at = b.record_at = hpx_source_offset(r->source);
        if (have == 0) {
            return hpx_reader_ended(r) == HPX_RD_SOUND ? hpx_reader_finish(r) : r->result;
        }
        if (have < HPX_RECORD_HEAD) {
            return hpx_reader_cut(r, b.at, 0, "the file ends inside the head of a record");
        }
        rc = record(&b);
        if (rc == HPX_RD_SOUND) {
            r->whole = hpx_source_offset(r->source);
        }
    }
    return rc;
}
