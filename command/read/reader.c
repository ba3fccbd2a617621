/* SPDX-License-Identifier: BSD-2-Clause */
/* reader.c: which format it is, what was noted, what broke. */
#include "reader.h"
#include "budget.h"
#include "foreign.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const hpx_rd_note_texts[HPX_NOTE_COUNT] = {
#define HPX_NOTE_TEXT(symbol, text) text,
    HPX_NOTES(HPX_NOTE_TEXT)
#undef HPX_NOTE_TEXT
};

const char *const hpx_rd_note_names[HPX_NOTE_COUNT] = {
#define HPX_NOTE_NAME(symbol, text) #symbol,
    HPX_NOTES(HPX_NOTE_NAME)
#undef HPX_NOTE_NAME
};

static bool begins(struct hpx_rd_text t, const char *word)
{
    size_t n = strlen(word);
    return t.n >= n && memcmp(t.p, word, n) == 0;
}

bool hpx_rd_is_thread_name(const struct hpx_rd_string *s)
{
    return s->id >= HPX_THREAD_NAME_FIRST && s->id <= HPX_THREAD_NAME_LAST && begins(s->text, HPX_THREAD_NAME);
}

bool hpx_rd_is_timeline(const struct hpx_rd_string *s)
{
    return s->id >= HPX_THREAD_NAME_FIRST && s->id <= HPX_THREAD_NAME_LAST && begins(s->text, HPX_TIMELINE_NOTE);
}

bool hpx_rd_is_report(const struct hpx_rd_string *s)
{
    return begins(s->text, "hprofx: ") && !begins(s->text, "hprofx: WALL CLOCK ") && !hpx_rd_is_thread_name(s) && !hpx_rd_is_timeline(s);
}

static int broken(struct hpx_reader *r, int result, uint64_t at, uint64_t line)
{
    r->result = result;
    r->at = at;
    r->line = line;
    return result;
}

int hpx_reader_break(struct hpx_reader *r, uint64_t at, uint64_t line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->why, sizeof(r->why), fmt, args);
    va_end(args);
    return broken(r, HPX_RD_BROKEN, at, line);
}

int hpx_reader_ended(struct hpx_reader *r)
{
    if (r->source->error == 0) {
        return HPX_RD_SOUND;
    }
    snprintf(r->why, sizeof(r->why), "cannot be read: %s", strerror(r->source->error));
    return broken(r, HPX_RD_FAILED, hpx_source_offset(r->source), 0);
}

int hpx_reader_cut(struct hpx_reader *r, uint64_t at, uint64_t line, const char *fmt, ...)
{
    if (hpx_reader_ended(r) != HPX_RD_SOUND) {
        return r->result;
    }
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->why, sizeof(r->why), fmt, args);
    va_end(args);
    return broken(r, HPX_RD_CUT, at, line);
}

int hpx_reader_no_memory(struct hpx_reader *r)
{
    snprintf(r->why, sizeof(r->why), "%s", hpx_budget_why());
    return broken(r, HPX_RD_FAILED, hpx_source_offset(r->source), 0);
}

int hpx_reader_note(struct hpx_reader *r, enum hpx_rd_note note, uint64_t at, uint64_t line)
{
    struct hpx_rd_noted *n = &r->notes[note];
    if (n->count == 0) {
        n->at = at;
        n->line = line;
    }
    n->count++;
    return r->strict ? hpx_reader_break(r, at, line, "strict: %s", hpx_rd_note_texts[note]) : HPX_RD_SOUND;
}

int hpx_reader_emit(struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(r->sinks); i++) {
        int rc = r->sinks[i] != NULL ? r->sinks[i](r->ctx[i], r, ev) : HPX_RD_SOUND;
        if (rc != HPX_RD_SOUND) {
            return rc;
        }
    }
    return HPX_RD_SOUND;
}

int hpx_reader_finish(struct hpx_reader *r)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_FINISH, .at = hpx_source_offset(r->source), .line = r->line_at};
    return hpx_reader_emit(r, &ev);
}

/* A file cut inside its first line is of either format; binary has no line. */
bool hpx_reader_is_binary(struct hpx_source *s)
{
    size_t n = hpx_source_ahead(s, HPX_VERSION_END + 1);
    const char *p = hpx_source_bytes(s);
    return memcmp(p, HPX_MAGIC, n < HPX_MAGIC_BYTES ? n : HPX_MAGIC_BYTES) == 0 && (n <= HPX_VERSION_END || p[HPX_VERSION_END] == '\0');
}

/* NULL: it may be HPROF. */
static const char *foreign(struct hpx_source *s)
{
    size_t n = hpx_source_ahead(s, HPX_FOREIGN_BYTES);
    return hpx_foreign(hpx_source_bytes(s), n < HPX_FOREIGN_BYTES ? n : HPX_FOREIGN_BYTES);
}

int hpx_reader_run(struct hpx_reader *r)
{
    const char *other;
    r->result = HPX_RD_SOUND;
    if (hpx_source_ahead(r->source, 1) == 0) {
        if (hpx_reader_ended(r) == HPX_RD_SOUND && r->unfinished) { /* killed before the JVM was up, which is when the header comes */
            hpx_reader_note(r, HPX_NOTE_EMPTY, 0, 0);
        } else if (r->result == HPX_RD_SOUND) {
            hpx_reader_cut(r, 0, 0, "the file is empty");
        }
    } else if (hpx_reader_is_binary(r->source)) {
        hpx_rd_binary(r);
    } else if ((other = foreign(r->source)) != NULL) {
        hpx_reader_break(r, 0, 0, "no HPROF file: it is %s", other);
    } else {
        r->text = true;
        hpx_rd_ascii(r);
    }
    r->end = hpx_source_offset(r->source);
    /* what no whole record stands in is no profile, finished or not */
    if (r->result == HPX_RD_CUT && r->unfinished && r->whole > 0) {
        r->result = HPX_RD_SOUND;
        hpx_reader_note(r, HPX_NOTE_CUT_END, r->at, r->line);
    }
    return r->result;
}

bool hpx_rd_is_state(struct hpx_rd_text t)
{
    size_t n = 0;
    while (n < t.n && t.p[n] >= 'a' && t.p[n] <= 'z') {
        n++;
    }
    return n > 0 && n < 32 && (n == t.n || (n + 1 < t.n && t.p[n] == ' ' && t.p[n + 1] != ' '));
}
