/* SPDX-License-Identifier: BSD-2-Clause */
/* ascii.c: lines of a text file, its header, and records that the original cut or let run over lines. */
#include "ascii.h"
#include "utf8.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES (HPX_SOURCE_MAX - 1)

int hpx_txt_emit(struct hpx_txt *t, struct hpx_rd_event *ev)
{
    ev->at = t->at;
    ev->line = t->line;
    return hpx_reader_emit(t->r, ev);
}

int hpx_txt_record(struct hpx_txt *t, int tag)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_RECORD, .record = {.tag = tag}};
    t->bare &= tag != HPX_TAG_OLD;
    return hpx_txt_emit(t, &ev);
}

int hpx_txt_break(struct hpx_txt *t, const char *what)
{
    return hpx_reader_break(t->r, t->at, t->line, "%s", what);
}

/* How much of a line a message shows, without what would drive a terminal. */
static int no_record(struct hpx_txt *t, struct hpx_rd_text l, const char *where)
{
    char shown[61];
    size_t n = l.n < sizeof(shown) - 1 ? l.n : sizeof(shown) - 1;
    for (size_t i = 0; i < n; i++) {
        shown[i] = '?';
        if (l.p[i] >= ' ' && l.p[i] <= '~') {
            shown[i] = l.p[i];
        }
    }
    shown[n] = '\0';
    return hpx_reader_break(t->r, t->at, t->line, "%s: '%s%s'", where, shown, n < l.n ? "..." : "");
}

static const char *where(const struct hpx_txt *t)
{
    static char text[80];
    if (t->state == hpx_txt_top) {
        return "no record begins like this";
    }
    snprintf(text, sizeof(text), "no line of the section that begins in line %" PRIu64, t->begun);
    return text;
}

static bool begins_as_record(struct hpx_rd_text l)
{
    static const char *const words[] = {"THREAD START (",
                                        "THREAD END (",
                                        "TRACE ",
                                        "SITES BEGIN (",
                                        "HEAP DUMP BEGIN (",
                                        "WAIT: MONITOR ",
                                        "WAITED: MONITOR ",
                                        "MONITOR DUMP ",
                                        "MONITOR TIME ",
                                        "MONITOR OWNERS ",
                                        "WAIT TIME ",
                                        "LOCK TIME ",
                                        "PINNED TIME ",
                                        "WALL CLOCK (ms) ",
                                        "DEADLOCKS ",
                                        HPX_TIMELINE_BEGIN,
                                        "CPU SAMPLES BEGIN (",
                                        "CPU TIME (ms) ",
                                        "METHOD CALLS ",
                                        "CPU SAMPLES END",
                                        "SITES END",
                                        "HEAP DUMP END",
                                        "OBJ ",
                                        "ARR ",
                                        "CLS ",
                                        "ROOT "};
    for (size_t i = 0; i < HPX_ARRAY_LEN(words); i++) {
        if (hpx_txt_begins(l, words[i])) {
            return true;
        }
    }
    return false;
}

static int take_cut(struct hpx_txt *t, struct hpx_rd_text l)
{
    t->cut = true;
    int rc = t->state(t, l);
    t->cut = false;
    return rc == HPX_RD_SOUND ? hpx_reader_note(t->r, HPX_NOTE_LINE_CUT, t->at, t->line) : rc;
}

static int unended(struct hpx_txt *t)
{
    return hpx_reader_break(t->r, t->begun_at, t->begun, "THREAD START without its end");
}

/* One more line of a THREAD START whose name has newlines. *rest: what of the line is behind the record. */
static int join(struct hpx_txt *t, struct hpx_rd_text l, struct hpx_rd_text *rest)
{
    size_t room = sizeof(t->join) - t->joined - 1;
    size_t k = l.n < room ? l.n : room;
    if (begins_as_record(l)) {
        return unended(t);
    }
    t->join[t->joined] = '\n';
    memcpy(t->join + t->joined + 1, l.p, k);
    t->joined += 1 + k;
    struct hpx_rd_text whole = {t->join, t->joined};
    int rc = HPX_TXT_NO_MATCH;
    if (k == l.n) {
        rc = hpx_txt_top(t, whole);
    }
    if (rc == HPX_TXT_NO_MATCH && t->joined == sizeof(t->join)) {
        rc = take_cut(t, whole);
        if (rc == HPX_TXT_NO_MATCH) {
            return unended(t);
        }
    }
    if (rc == HPX_TXT_NO_MATCH) {
        return HPX_RD_SOUND;
    }
    t->joined = 0;
    *rest = (struct hpx_rd_text){l.p + k, l.n - k};
    return rc;
}

/* A line, which may be the rest of one record, a whole one, or several that were cut. */
static int feed(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_text rest = {NULL, 0};
    if (t->joined > 0) {
        int rc = join(t, l, &rest);
        if (rc != HPX_RD_SOUND || rest.n == 0) {
            return rc;
        }
        l = rest;
    }
    for (;;) {
        struct hpx_rd_text behind = {l.p + HPX_TXT_CUT, l.n > HPX_TXT_CUT ? l.n - HPX_TXT_CUT : 0};
        int rc = behind.n > 0 && begins_as_record(behind) ? HPX_TXT_NO_MATCH : t->state(t, l);
        if (rc == HPX_TXT_NO_MATCH && l.n >= HPX_TXT_CUT) {
            rc = take_cut(t, (struct hpx_rd_text){l.p, HPX_TXT_CUT});
            if (rc == HPX_RD_SOUND && behind.n > 0) {
                l = behind;
                continue;
            }
        }
        if (rc == HPX_TXT_NO_MATCH && t->state == hpx_txt_top && l.n < HPX_TXT_CUT && hpx_txt_begins(l, "THREAD START (obj=")) {
            memcpy(t->join, l.p, l.n);
            t->joined = l.n;
            t->begun = t->line;
            t->begun_at = t->at;
            return hpx_reader_note(t->r, HPX_NOTE_RAW_NEWLINE, t->at, t->line);
        }
        return rc == HPX_TXT_NO_MATCH ? no_record(t, l, where(t)) : rc;
    }
}

static hpx_txt_state prose, last_blank;

static int first_line(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_HEADER, .header = {.text = true, .minor = 1}};
    struct hpx_scan s = hpx_scan_line(t, l);
    if (!hpx_txt_begins(l, "JAVA PROFILE ")) {
        if (!begins_as_record(l) && !hpx_txt_begins(l, "count callee caller time")) {
            return hpx_txt_break(t, "no HPROF file: it begins neither with JAVA PROFILE nor as the output of cpu=old");
        }
        ev.header.bare = t->bare = true;
        ev.header.minor = 0;
        t->state = hpx_txt_top;
        int rc = hpx_txt_emit(t, &ev);
        return rc == HPX_RD_SOUND ? feed(t, l) : rc;
    }
    hpx_scan_word(&s, "JAVA PROFILE 1.0.");
    ev.header.minor = (int)(hpx_scan_serial(&s) & 0xff);
    hpx_scan_word(&s, ", created ");
    ev.header.date = hpx_scan_date(&s);
    if (!hpx_scan_done(&s) || ev.header.minor < 1 || ev.header.minor > 2) {
        return hpx_txt_break(t, "the first line is not 'JAVA PROFILE 1.0.1, created DATE'");
    }
    t->state = prose;
    return hpx_txt_emit(t, &ev);
}

/* Up to the line of eight dashes. */
static int prose(struct hpx_txt *t, struct hpx_rd_text l)
{
    if (l.n == 8 && memcmp(l.p, "--------", 8) == 0) {
        t->state = last_blank;
    } else if (l.n == sizeof HPX_TEXT_SINCE - 1 && memcmp(l.p, HPX_TEXT_SINCE, l.n) == 0) {
        return hpx_txt_emit(t, &(struct hpx_rd_event){.kind = HPX_RD_SINCE});
    }
    return HPX_RD_SOUND;
}

static int last_blank(struct hpx_txt *t, struct hpx_rd_text l)
{
    t->state = hpx_txt_top;
    return l.n == 0 ? HPX_RD_SOUND : hpx_txt_top(t, l);
}

static int judge_bytes(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_utf8 u = {0};
    int rc = HPX_RD_SOUND;
    hpx_utf8_feed(&u, l.p, l.n);
    hpx_utf8_end(&u);
    if (u.broken && l.n < HPX_TXT_CUT && t->joined == 0) {
        return hpx_txt_break(t, "neither UTF-8 nor modified UTF-8");
    }
    if (u.modified) {
        rc = hpx_reader_note(t->r, HPX_NOTE_MODIFIED_UTF8, t->at, t->line);
    }
    return rc == HPX_RD_SOUND && u.controls ? hpx_reader_note(t->r, HPX_NOTE_RAW_CONTROL, t->at, t->line) : rc;
}

/* The next line without its newline: 1; 0: the file ended, *l is what stands behind the last newline; -1: too long. */
static int next_line(struct hpx_source *s, struct hpx_rd_text *l)
{
    size_t searched = 0;
    for (size_t have = hpx_source_ahead(s, 1);; have = hpx_source_ahead(s, have + 1)) {
        const char *p = hpx_source_bytes(s);
        const char *newline = have > searched ? memchr(p + searched, '\n', have - searched) : NULL;
        if (newline != NULL) {
            *l = (struct hpx_rd_text){p, (size_t)(newline - p)};
            return 1;
        }
        *l = (struct hpx_rd_text){p, have};
        if (have >= LINE_MAX_BYTES) {
            return -1;
        }
        if (s->ended && have == s->end - s->at && have == searched) {
            return 0;
        }
        searched = have;
    }
}

static int at_end(struct hpx_txt *t, struct hpx_rd_text l)
{
    if (hpx_reader_ended(t->r) != HPX_RD_SOUND) {
        return t->r->result;
    }
    if (l.n > 0) {
        t->line++;
        t->at = hpx_source_offset(t->r->source);
        return hpx_reader_cut(t->r, t->at, t->line, "the last line has no end");
    }
    int rc = hpx_txt_close(t);
    if (rc != HPX_RD_SOUND) {
        return rc;
    }
    if (t->joined > 0 || t->state != hpx_txt_top) {
        return hpx_reader_cut(t->r, t->r->whole, t->begun, "the file ends inside the %s that begins in line %" PRIu64,
                              t->r->whole == 0 ? "header" : "record or section", t->begun);
    }
    t->r->line_at = t->line;
    return hpx_reader_finish(t->r);
}

int hpx_rd_ascii(struct hpx_reader *r)
{
    struct hpx_txt t = {.r = r, .state = first_line, .begun = 1};
    struct hpx_rd_text l;
    int got;
    int rc = HPX_RD_SOUND;
    while (rc == HPX_RD_SOUND && (got = next_line(r->source, &l)) > 0) {
        bool header = t.state == prose;
        t.at = hpx_source_offset(r->source);
        t.line++;
        rc = header ? HPX_RD_SOUND : judge_bytes(&t, l);
        if (rc == HPX_RD_SOUND) {
            rc = feed(&t, l);
        }
        hpx_source_take(r->source, l.n + 1);
        if (rc == HPX_RD_SOUND && t.joined == 0 && hpx_txt_between(&t) && (!t.bare || r->unfinished)) {
            r->whole = hpx_source_offset(r->source);
        }
    }
    r->line_at = t.line;
    if (rc != HPX_RD_SOUND) {
        return rc;
    }
    t.at = hpx_source_offset(r->source);
    return got < 0 ? hpx_txt_break(&t, "a line of more than 16 MiB") : at_end(&t, l);
}
