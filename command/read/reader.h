/* SPDX-License-Identifier: BSD-2-Clause */
/* reader.h: an HPROF file as a stream of events, with the first thing that is wrong in it.
 *
 * hpx_reader_run() reads to the end or to the first break. The parsers hold the file to the layout; a sink (check.h) holds it to the rules
 * between records. What the original agent got wrong and readers live with is a note; with `strict` a note is a break. Nothing recurses on
 * the input; memory: the source's buffer, and what the sinks keep. One thread. */
#ifndef HPX_READ_READER_H
#define HPX_READ_READER_H

#include "events.h"
#include "source.h"

/* X(symbol, what a person reads) */
#define HPX_NOTES(X)                                                                                                                       \
    X(NO_DUMP, "the file ends after a whole record, without a dump")                                                                       \
    X(TRACES_AFTER, "the file ends after a whole record: traces without the table they belong to")                                         \
    X(HEAP_OPEN, "the file ends after a whole record: HEAP DUMP SEGMENTs without HEAP DUMP END")                                           \
    X(CUT_END, "an unfinished file: it ends inside a record, which hprofx recover cuts off")                                               \
    X(EMPTY, "an unfinished file: nothing is in it yet")                                                                                   \
    X(SEVERAL_DUMPS, "several dumps in one file")                                                                                          \
    X(END_ONLY, "the end of a thread that never started")                                                                                  \
    X(TRACE_TWICE, "a trace that is repeated with the same frames")                                                                        \
    X(INSTANCE_SIZE, "the instance size in a CLASS DUMP is not the sum of its fields")                                                     \
    X(LINE_CUT, "a line cut at 1023 bytes, the next record on the same line")                                                              \
    X(RAW_NEWLINE, "a raw newline in a name")                                                                                              \
    X(RAW_CONTROL, "a raw control in a name")                                                                                              \
    X(MODIFIED_UTF8, "modified UTF-8, which is no UTF-8")                                                                                  \
    X(ARRAY_CLASS, "a site of an array class that was never loaded")                                                                       \
    X(WRAPPED, "a total or a count that 32 bits could not hold")                                                                           \
    X(TIME_BACK, "TIME goes back")

enum hpx_rd_note {
#define HPX_NOTE_ENUM(symbol, text) HPX_NOTE_##symbol,
    HPX_NOTES(HPX_NOTE_ENUM)
#undef HPX_NOTE_ENUM
        HPX_NOTE_COUNT
};

struct hpx_rd_noted {
    uint64_t count, at, line; /* at, line: of the first */
};

enum hpx_rd_result {
    HPX_RD_SOUND = 0,
    HPX_RD_BROKEN, /* against the format */
    HPX_RD_CUT,    /* the file ends inside a record */
    HPX_RD_FAILED, /* cannot be read, or no memory: nothing is known of the file */
};

struct hpx_reader;
/* HPX_RD_SOUND to go on; else what hpx_reader_break() or hpx_reader_note() returned. */
typedef int hpx_rd_sink(void *ctx, struct hpx_reader *r, const struct hpx_rd_event *ev);

struct hpx_reader {
    struct hpx_source *source;
    hpx_rd_sink *sinks[3]; /* in this order; NULL: none */
    void *ctx[3];
    bool strict;
    bool unfinished; /* a file of which an end inside a record is expected (NAME.part): a note */
    bool contents;   /* CONTENT is wanted */

    /* what came of it */
    int result; /* enum hpx_rd_result */
    bool text;
    uint64_t at, line; /* of the break */
    char why[512];
    uint64_t whole;   /* the bytes before this offset are whole records */
    uint64_t end;     /* where reading ended */
    uint64_t line_at; /* text: the last line read */
    struct hpx_rd_noted notes[HPX_NOTE_COUNT];
};

extern const char *const hpx_rd_note_texts[HPX_NOTE_COUNT];
/* Symbols in lower case, for JSON. */
extern const char *const hpx_rd_note_names[HPX_NOTE_COUNT];

/* Reads r->source to its end; r->result. */
int hpx_reader_run(struct hpx_reader *r);

/* The file is binary, or of either format: it ends inside its first line. */
bool hpx_reader_is_binary(struct hpx_source *s);

/* For parsers and sinks. Each returns what the caller returns. */
int hpx_reader_break(struct hpx_reader *r, uint64_t at, uint64_t line, const char *fmt, ...) HPX_PRINTF(4, 5);
int hpx_reader_cut(struct hpx_reader *r, uint64_t at, uint64_t line, const char *fmt, ...) HPX_PRINTF(4, 5);
int hpx_reader_no_memory(struct hpx_reader *r);
int hpx_reader_note(struct hpx_reader *r, enum hpx_rd_note note, uint64_t at, uint64_t line);
int hpx_reader_emit(struct hpx_reader *r, const struct hpx_rd_event *ev);
/* The end of a file whose last record is whole: FINISH for the sinks. */
int hpx_reader_finish(struct hpx_reader *r);
/* The source ended: HPX_RD_SOUND, or FAILED if it could not be read. */
int hpx_reader_ended(struct hpx_reader *r);

int hpx_rd_binary(struct hpx_reader *r);
int hpx_rd_ascii(struct hpx_reader *r);

/* Whether it may be the state of a thread in WALL CLOCK: small letters, and perhaps a blank and the class of what it waits for. */
bool hpx_rd_is_state(struct hpx_rd_text t);

#endif
