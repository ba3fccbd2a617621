/* SPDX-License-Identifier: BSD-2-Clause */
/* ascii_records.c: threads, traces, tables, waits and reports of text files. */
#include "ascii.h"
#include "timeline.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void hpx_txt_open(struct hpx_txt *t, hpx_txt_state *state)
{
    t->state = state;
    t->begun = t->line;
    t->begun_at = t->at;
}

static int thread_start(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_THREAD_START};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "THREAD START (obj=");
    (void)hpx_scan_hex(&s);
    hpx_scan_word(&s, ", id = ");
    ev.thread.serial = hpx_scan_serial(&s);
    hpx_scan_word(&s, ", name=\"");
    ev.thread.name = hpx_scan_before_last(&s, "\", group=\"");
    ev.thread.group = hpx_scan_before_last(&s, "\")");
    if (!hpx_scan_done(&s)) {
        return HPX_TXT_NO_MATCH;
    }
    int rc = hpx_txt_record(t, HPX_TAG_START_THREAD);
    if (rc == HPX_RD_SOUND && memchr(l.p, '\t', l.n) != NULL) {
        rc = hpx_reader_note(t->r, HPX_NOTE_RAW_CONTROL, t->at, t->line);
    }
    return rc == HPX_RD_SOUND ? hpx_txt_emit(t, &ev) : rc;
}

static int thread_end(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_THREAD_END};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "THREAD END (id = ");
    ev.serial = hpx_scan_serial(&s);
    hpx_scan_word(&s, ")");
    if (!hpx_scan_done(&s)) {
        return HPX_TXT_NO_MATCH;
    }
    int rc = hpx_txt_record(t, HPX_TAG_END_THREAD);
    return rc == HPX_RD_SOUND ? hpx_txt_emit(t, &ev) : rc;
}

static int thread_name(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_THREAD_NAME};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, HPX_THREAD_NAME);
    ev.thread.serial = hpx_scan_serial(&s);
    hpx_scan_word(&s, ": \"");
    ev.thread.name = hpx_scan_before_last(&s, "\"");
    if (!hpx_scan_done(&s)) {
        return HPX_TXT_NO_MATCH;
    }
    int rc = hpx_txt_record(t, HPX_TAG_THREAD_NAME);
    return rc == HPX_RD_SOUND ? hpx_txt_emit(t, &ev) : rc;
}

/* class.method(source:line). The last colon and the last parenthesis before it are the frame's own: names of classes and methods may hold
 * parentheses in languages other than Java, and file names may not. */
static int frame(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_FRAME_OF_TRACE};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "\t");
    ev.of.method = hpx_scan_before_last(&s, "(");
    ev.of.source = hpx_scan_before_last(&s, ":");
    if (s.ok && !s.ran_out && *s.p == 'U') {
        hpx_scan_word(&s, "Unknown line)");
    } else {
        ev.of.line = (int32_t)(hpx_scan_serial(&s) & INT32_MAX);
        hpx_scan_word(&s, ")");
    }
    if (!hpx_scan_done(&s) || t->empty) {
        return HPX_TXT_NO_MATCH;
    }
    if (!s.cut && (memchr(ev.of.method.p, '.', ev.of.method.n) == NULL || ev.of.source.n == 0 ||
                   memchr(ev.of.method.p, '\t', ev.of.method.n) != NULL)) {
        return HPX_TXT_NO_MATCH;
    }
    t->frames++;
    return hpx_txt_emit(t, &ev);
}

static int end_trace(struct hpx_txt *t)
{
    if (t->frames == 0 && !t->empty) {
        return hpx_reader_break(t->r, t->begun_at, t->begun, "TRACE %" PRIu32 " has neither frames nor <empty>", t->open.trace.serial);
    }
    t->state = hpx_txt_top;
    t->r->whole = t->at;
    t->open.kind = HPX_RD_TRACE_END;
    return hpx_txt_emit(t, &t->open);
}

static int trace_lines(struct hpx_txt *t, struct hpx_rd_text l)
{
    if (l.n > 0 && l.p[0] == '\t') {
        static const char empty[] = "\t<empty>";
        if (l.n == sizeof(empty) - 1 && memcmp(l.p, empty, l.n) == 0 && t->frames == 0 && !t->empty) {
            t->empty = true;
            return HPX_RD_SOUND;
        }
        return frame(t, l);
    }
    int rc = end_trace(t);
    return rc == HPX_RD_SOUND ? hpx_txt_top(t, l) : rc;
}

static int begin_trace(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_TRACE};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "TRACE ");
    ev.trace.serial = hpx_scan_serial(&s);
    hpx_scan_word(&s, ":");
    if (hpx_txt_begins((struct hpx_rd_text){s.p, (size_t)(s.end - s.p)}, " (thread=")) {
        hpx_scan_word(&s, " (thread=");
        ev.trace.thread = hpx_scan_serial(&s);
        hpx_scan_word(&s, ")");
    }
    if (s.ok && s.p < s.end) {
        hpx_scan_word(&s, " (from ");
        (void)hpx_scan_before(&s, " phase of JVM)");
    }
    if (!hpx_scan_done(&s)) {
        return HPX_TXT_NO_MATCH;
    }
    hpx_txt_open(t, trace_lines);
    t->frames = 0;
    t->empty = false;
    t->open = ev;
    int rc = hpx_txt_record(t, HPX_TAG_TRACE);
    return rc == HPX_RD_SOUND ? hpx_txt_emit(t, &ev) : rc;
}

static int end_table(struct hpx_txt *t)
{
    t->state = hpx_txt_top;
    t->open.kind = HPX_RD_TABLE_END;
    return hpx_txt_emit(t, &t->open);
}

/* "12.34%" as 1234. */
static uint32_t share(struct hpx_scan *s)
{
    while (s->p < s->end && *s->p == ' ') {
        s->p++;
    }
    uint64_t whole = hpx_scan_number(s);
    hpx_scan_word(s, ".");
    if (!s->ok || s->ran_out || s->end - s->p < 3 || s->p[0] < '0' || s->p[0] > '9' || s->p[1] < '0' || s->p[1] > '9' || whole > 1000000) {
        s->ok = s->ok && s->cut;
        return 0;
    }
    uint32_t hundredths = (uint32_t)whole * 100 + (uint32_t)(s->p[0] - '0') * 10 + (uint32_t)(s->p[1] - '0');
    s->p += 2;
    hpx_scan_word(s, "%");
    return hundredths;
}

static uint64_t column(struct hpx_scan *s)
{
    while (s->p < s->end && *s->p == ' ') {
        s->p++;
    }
    return hpx_scan_number(s);
}

/* The word of a state, or one with the class of what the thread waits for: "parked CLASS; ". */
static struct hpx_rd_text state(struct hpx_scan *s)
{
    struct hpx_scan classed = *s;
    struct hpx_rd_text word = hpx_scan_before(&classed, "; ");
    if (classed.ok && hpx_rd_is_state(word) && memchr(word.p, ' ', word.n) != NULL) {
        *s = classed;
        return word;
    }
    word = hpx_scan_before(s, " ");
    s->ok = s->ok && (hpx_rd_is_state(word) || s->ran_out);
    while (s->ok && s->p < s->end && *s->p == ' ') {
        s->p++;
    }
    return word;
}

static int row(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_ROW};
    struct hpx_scan s = hpx_scan_line(t, l);
    struct hpx_rd_row *w = &ev.row;
    bool sites = t->open.table.tag == HPX_TAG_SITES;
    uint64_t owner = 0;
    (void)column(&s); /* its rank */
    w->self = share(&s);
    (void)share(&s); /* of all rows so far */
    if (sites) {
        w->live_bytes = column(&s);
        w->live_objects = column(&s);
        w->bytes = column(&s);
        w->objects = column(&s);
    } else {
        w->count = column(&s);
    }
    uint64_t trace = column(&s);
    w->trace = (uint32_t)(trace & UINT32_MAX);
    if (t->open.table.tag == HPX_TAG_MONITOR_OWNERS) {
        owner = column(&s);
        w->owner = (uint32_t)(owner & UINT32_MAX);
        s.ok = s.ok && (owner != 0 || s.ran_out);
    }
    hpx_scan_word(&s, " ");
    if (t->open.table.tag == HPX_TAG_WALL) {
        w->state = state(&s);
    }
    w->name = hpx_scan_rest(&s);
    if (hpx_rd_blocked(t->open.table.tag) && s.ok && !s.cut) {
        static const char java[] = " (Java)";
        size_t n = sizeof(java) - 1;
        s.ok = w->name.n > n && memcmp(w->name.p + w->name.n - n, java, n) == 0;
        w->name.n -= s.ok ? n : 0;
    }
    return hpx_scan_done(&s) && trace <= UINT32_MAX && owner <= UINT32_MAX ? hpx_txt_emit(t, &ev) : HPX_TXT_NO_MATCH;
}

static bool same(struct hpx_rd_text l, const char *word)
{
    return l.n == strlen(word) && memcmp(l.p, word, l.n) == 0;
}

/* The name of a section is that of its tag. */
static bool ends(struct hpx_rd_text l, int tag)
{
    const char *name = hpx_tag_name(tag);
    size_t n = strlen(name);
    return hpx_txt_begins(l, name) && same((struct hpx_rd_text){l.p + n, l.n - n}, " END");
}

static int table_lines(struct hpx_txt *t, struct hpx_rd_text l)
{
    int tag = t->open.table.tag;
    if (tag == HPX_TAG_SITES ? same(l, "SITES END") : ends(l, tag)) {
        return end_table(t);
    }
    bool titles = hpx_txt_begins(l, "rank ") || hpx_txt_begins(l, " rank ") || hpx_txt_begins(l, "          percent ");
    return titles ? HPX_RD_SOUND : row(t, l);
}

static int begin_table(struct hpx_txt *t, const struct hpx_rd_event *ev, hpx_txt_state *lines)
{
    hpx_txt_open(t, lines);
    t->open = *ev;
    int rc = hpx_txt_record(t, ev->table.tag);
    return rc == HPX_RD_SOUND ? hpx_txt_emit(t, &t->open) : rc;
}

static int begin_sites(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_TABLE, .table = {.tag = HPX_TAG_SITES}};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "SITES BEGIN (ordered by ");
    struct hpx_rd_text by = hpx_scan_before(&s, " bytes) ");
    ev.table.date = hpx_scan_date(&s);
    ev.table.flags = same(by, "allocated") ? 2 : 0;
    if (!hpx_scan_done(&s) || (ev.table.flags == 0 && !same(by, "live"))) {
        return HPX_TXT_NO_MATCH;
    }
    return begin_table(t, &ev, table_lines);
}

static int begin_cpu(struct hpx_txt *t, struct hpx_rd_text l, int tag)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_TABLE, .table = {.tag = tag}};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, hpx_tag_name(tag));
    hpx_scan_word(&s, " BEGIN (total = ");
    bool negative = s.ok && s.p < s.end && *s.p == '-'; /* the original's 32 bits */
    s.p += negative;
    ev.table.total = hpx_scan_number(&s);
    hpx_scan_word(&s, hpx_rd_blocked(tag) ? " ms) " : ") ");
    ev.table.date = hpx_scan_date(&s);
    if (!hpx_scan_done(&s)) {
        return HPX_TXT_NO_MATCH;
    }
    if (negative) {
        ev.table.total = UINT64_MAX;
        int rc = hpx_reader_note(t->r, HPX_NOTE_WRAPPED, t->at, t->line);
        if (rc != HPX_RD_SOUND) {
            return rc;
        }
    }
    return begin_table(t, &ev, table_lines);
}

/* "%d callee caller %d": names may have blanks in other languages than Java, so the outer numbers are taken first. */
static int old_lines(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_ROW, .row = {.self = HPX_NO_SHARE}};
    struct hpx_scan s = hpx_scan_line(t, l);
    if (l.n == 0 || l.p[0] < '0' || l.p[0] > '9') {
        int rc = end_table(t);
        return rc == HPX_RD_SOUND ? hpx_txt_top(t, l) : rc;
    }
    ev.row.count = hpx_scan_number(&s);
    hpx_scan_word(&s, " ");
    struct hpx_rd_text names = hpx_scan_before_last(&s, " ");
    ev.row.bytes = hpx_scan_number(&s);
    struct hpx_scan two = {.p = names.p, .end = names.p + names.n, .ok = s.ok, .cut = s.cut};
    if (hpx_txt_begins(names, "<unknown callee> ")) {
        ev.row.name = (struct hpx_rd_text){names.p, sizeof("<unknown callee>") - 1};
        two.p += ev.row.name.n + 1;
    } else {
        ev.row.name = hpx_scan_before(&two, " ");
    }
    ev.row.caller = hpx_scan_rest(&two);
    if (!hpx_scan_done(&s) || !two.ok || ((ev.row.name.n == 0 || ev.row.caller.n == 0) && !s.cut)) {
        return HPX_TXT_NO_MATCH;
    }
    return hpx_txt_emit(t, &ev);
}

static int report(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_REPORT};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "hprofx: ");
    ev.report.key = hpx_scan_before(&s, ": ");
    ev.report.value = hpx_scan_rest(&s);
    if (!hpx_scan_done(&s) || ev.report.key.n == 0 || ev.report.value.n == 0) {
        return HPX_TXT_NO_MATCH;
    }
    int rc = hpx_txt_record(t, HPX_TAG_REPORT);
    return rc == HPX_RD_SOUND ? hpx_txt_emit(t, &ev) : rc;
}

/* Of the table before: no record, but what belongs to it. */
static int exact(struct hpx_txt *t, struct hpx_rd_text l, bool total)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_EXACT, .exact = {.total = total}};
    struct hpx_scan s = hpx_scan_line(t, l);
    int rc = HPX_RD_SOUND;
    hpx_scan_word(&s, total ? HPX_TEXT_EXACT_TOTAL : HPX_TEXT_EXACT_ROWS);
    do {
        ev.exact.ns = hpx_scan_number(&s);
        rc = s.ok ? hpx_txt_emit(t, &ev) : HPX_TXT_NO_MATCH;
        if (s.p < s.end) {
            hpx_scan_word(&s, " ");
        }
    } while (rc == HPX_RD_SOUND && !total && s.ok && s.p < s.end);
    return rc == HPX_RD_SOUND && !hpx_scan_done(&s) ? HPX_TXT_NO_MATCH : rc;
}

static int take_time(void *ctx, struct hpx_rd_event *ev)
{
    return hpx_txt_emit(ctx, ev);
}

static int timeline_lines(struct hpx_txt *t, struct hpx_rd_text l)
{
    bool end;
    int rc = hpx_txt_begins(l, HPX_TIMELINE_BEGIN) ? HPX_TXT_NO_MATCH : hpx_timeline_line(l, take_time, t, &end);
    if (rc == HPX_RD_SOUND && end) {
        t->state = hpx_txt_top;
    }
    return rc;
}
/* NOLINTNEXTLINE(misc-redundant-expression): of two headers */
static_assert((int)HPX_TIMELINE_NO_MATCH == (int)HPX_TXT_NO_MATCH, "a line that matches nothing");

static int begin_timeline(struct hpx_txt *t, struct hpx_rd_text l)
{
    bool end;
    int rc = hpx_txt_record(t, HPX_TAG_TIMELINE);
    hpx_txt_open(t, timeline_lines);
    return rc == HPX_RD_SOUND ? hpx_timeline_line(l, take_time, t, &end) : rc;
}

int hpx_txt_top(struct hpx_txt *t, struct hpx_rd_text l)
{
    static const struct hpx_rd_event old = {.kind = HPX_RD_TABLE, .table = {.tag = HPX_TAG_OLD}};
    static const int ranked[] = {HPX_TAG_SAMPLES,   HPX_TAG_TIMES,       HPX_TAG_MONITOR_TIME, HPX_TAG_MONITOR_OWNERS, HPX_TAG_WAIT_TIME,
                                 HPX_TAG_LOCK_TIME, HPX_TAG_PINNED_TIME, HPX_TAG_WALL,         HPX_TAG_CALLS};
    if (hpx_txt_begins(l, "THREAD START")) {
        return thread_start(t, l);
    }
    if (hpx_txt_begins(l, "THREAD END")) {
        return thread_end(t, l);
    }
    if (hpx_txt_begins(l, "TRACE ")) {
        return begin_trace(t, l);
    }
    if (hpx_txt_begins(l, "WAIT: ") || hpx_txt_begins(l, "WAITED: ")) {
        return hpx_txt_record(t, HPX_TAG_WAIT);
    }
    bool rows = hpx_txt_begins(l, HPX_TEXT_EXACT_ROWS);
    if (rows || hpx_txt_begins(l, HPX_TEXT_EXACT_TOTAL)) {
        return exact(t, l, !rows);
    }
    if (hpx_txt_begins(l, "hprofx: ")) {
        const size_t n = sizeof HPX_THREAD_NAME - 1; /* a report has "thread ids: " */
        bool name = hpx_txt_begins(l, HPX_THREAD_NAME) && l.n > n && l.p[n] >= '0' && l.p[n] <= '9';
        return name ? thread_name(t, l) : report(t, l);
    }
    if (hpx_txt_begins(l, "SITES ")) {
        return begin_sites(t, l);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(ranked); i++) {
        if (hpx_txt_begins(l, hpx_tag_name(ranked[i]))) {
            return begin_cpu(t, l, ranked[i]);
        }
    }
    if (hpx_txt_begins(l, HPX_TIMELINE_BEGIN)) {
        return begin_timeline(t, l);
    }
    if (hpx_txt_begins(l, "MONITOR DUMP ")) {
        return hpx_txt_begin_monitors(t, l);
    }
    if (hpx_txt_begins(l, "DEADLOCKS ")) {
        return hpx_txt_begin_deadlocks(t, l);
    }
    if (hpx_txt_begins(l, "HEAP DUMP ")) {
        return hpx_txt_begin_heap(t, l);
    }
    return same(l, "count callee caller time") ? begin_table(t, &old, old_lines) : HPX_TXT_NO_MATCH;
}

int hpx_txt_close(struct hpx_txt *t)
{
    return t->state == trace_lines && (t->frames > 0 || t->empty) ? end_trace(t) : t->state == old_lines ? end_table(t) : HPX_RD_SOUND;
}

bool hpx_txt_between(const struct hpx_txt *t)
{
    return t->state == hpx_txt_top || t->state == old_lines;
}
