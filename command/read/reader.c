/* SPDX-License-Identifier: BSD-2-Clause */
/* reader.c: which format it is, what was noted, what broke; names of tags and types. */
#include "reader.h"
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
    snprintf(r->why, sizeof(r->why), "no memory");
    return broken(r, HPX_RD_FAILED, hpx_source_offset(r->source), 0);
}

int hpx_reader_note(struct hpx_reader *r, enum hpx_rd_note note, uint64_t at, uint64_t line)
{
    return hpx_reader_notes(r, note, 1, at, line);
}

int hpx_reader_notes(struct hpx_reader *r, enum hpx_rd_note note, uint64_t count, uint64_t at, uint64_t line)
{
    struct hpx_rd_noted *n = &r->notes[note];
    if (n->count == 0) {
        n->at = at;
        n->line = line;
    }
    n->count += count;
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
static bool looks_binary(struct hpx_source *s)
{
    static const char magic[] = "JAVA PROFILE 1.0.";
    size_t n = hpx_source_ahead(s, sizeof(magic) + 1);
    const char *p = hpx_source_bytes(s);
    if (n < sizeof(magic) + 1) {
        return memcmp(p, magic, n < sizeof(magic) - 1 ? n : sizeof(magic) - 1) == 0;
    }
    return memcmp(p, magic, sizeof(magic) - 1) == 0 && p[sizeof(magic)] == '\0';
}

int hpx_reader_run(struct hpx_reader *r)
{
    r->result = HPX_RD_SOUND;
    if (hpx_source_ahead(r->source, 1) == 0) {
        if (hpx_reader_ended(r) == HPX_RD_SOUND && r->unfinished) { /* killed before the JVM was up, which is when the header comes */
            hpx_reader_note(r, HPX_NOTE_EMPTY, 0, 0);
        } else if (r->result == HPX_RD_SOUND) {
            hpx_reader_cut(r, 0, 0, "the file is empty");
        }
    } else if (looks_binary(r->source)) {
        hpx_rd_binary(r);
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

const char *hpx_rd_tag_name(int tag)
{
    static const char *const names[HPX_TAGS] = {
        [HPX_TAG_STRING] = "UTF8",
        [HPX_TAG_LOAD_CLASS] = "LOAD CLASS",
        [HPX_TAG_UNLOAD_CLASS] = "UNLOAD CLASS",
        [HPX_TAG_FRAME] = "STACK FRAME",
        [HPX_TAG_TRACE] = "STACK TRACE",
        [HPX_TAG_SITES] = "ALLOC SITES",
        [HPX_TAG_SUMMARY] = "HEAP SUMMARY",
        [HPX_TAG_START_THREAD] = "START THREAD",
        [HPX_TAG_END_THREAD] = "END THREAD",
        [HPX_TAG_HEAP_DUMP] = "HEAP DUMP",
        [HPX_TAG_SAMPLES] = "CPU SAMPLES",
        [HPX_TAG_CONTROL] = "CONTROL SETTINGS",
        [HPX_TAG_SEGMENT] = "HEAP DUMP SEGMENT",
        [HPX_TAG_HEAP_END] = "HEAP DUMP END",
        [HPX_TAG_TIMES] = "CPU TIME (ms)",
        [HPX_TAG_OLD] = "cpu=old table",
        [HPX_TAG_MONITOR_DUMP] = "MONITOR DUMP",
        [HPX_TAG_DEADLOCKS] = "DEADLOCKS",
        [HPX_TAG_MONITOR_TIME] = "MONITOR TIME",
        [HPX_TAG_MONITOR_OWNERS] = "MONITOR OWNERS",
        [HPX_TAG_WAIT_TIME] = "WAIT TIME",
        [HPX_TAG_LOCK_TIME] = "LOCK TIME",
        [HPX_TAG_PINNED_TIME] = "PINNED TIME",
        [HPX_TAG_WALL] = "WALL CLOCK (ms)",
        [HPX_TAG_WAIT] = "WAIT, WAITED",
        [HPX_TAG_REPORT] = "hprofx report",
    };
    return tag >= 0 && tag < HPX_TAGS ? names[tag] : NULL;
}

const char *hpx_rd_sub_name(int sub)
{
    switch (sub) {
    case HPX_SUB_UNKNOWN_ROOT:
        return "ROOT UNKNOWN";
    case HPX_SUB_JNI_GLOBAL:
        return "ROOT JNI GLOBAL";
    case HPX_SUB_JNI_LOCAL:
        return "ROOT JNI LOCAL";
    case HPX_SUB_JAVA_FRAME:
        return "ROOT JAVA FRAME";
    case HPX_SUB_NATIVE_STACK:
        return "ROOT NATIVE STACK";
    case HPX_SUB_STICKY_CLASS:
        return "ROOT STICKY CLASS";
    case HPX_SUB_THREAD_BLOCK:
        return "ROOT THREAD BLOCK";
    case HPX_SUB_MONITOR_USED:
        return "ROOT MONITOR USED";
    case HPX_SUB_THREAD_OBJECT:
        return "ROOT THREAD OBJECT";
    case HPX_SUB_CLASS:
        return "CLASS DUMP";
    case HPX_SUB_INSTANCE:
        return "INSTANCE DUMP";
    case HPX_SUB_OBJECTS:
        return "OBJECT ARRAY DUMP";
    case HPX_SUB_PRIMITIVES:
        return "PRIMITIVE ARRAY DUMP";
    default:
        return NULL;
    }
}

bool hpx_rd_is_state(struct hpx_rd_text t)
{
    size_t n = 0;
    while (n < t.n && t.p[n] >= 'a' && t.p[n] <= 'z') {
        n++;
    }
    return n > 0 && n < 32 && (n == t.n || (n + 1 < t.n && t.p[n] == ' ' && t.p[n + 1] != ' '));
}

uint32_t hpx_rd_type_size(int type, uint32_t id_size)
{
    static const uint8_t sizes[HPX_TYPE_LONG + 1] = {0, 0, 0, 0, 1, 2, 4, 8, 1, 2, 4, 8};
    return type == HPX_TYPE_OBJECT ? id_size : type >= HPX_TYPE_BOOLEAN && type <= HPX_TYPE_LONG ? sizes[type] : 0;
}

const char *hpx_rd_type_name(int type)
{
    static const char *const names[HPX_TYPE_LONG + 1] = {NULL,    NULL,     "object", NULL,    "boolean", "char",
                                                         "float", "double", "byte",   "short", "int",     "long"};
    return type >= 0 && type <= HPX_TYPE_LONG ? names[type] : NULL;
}
