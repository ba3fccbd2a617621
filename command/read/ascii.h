/* SPDX-License-Identifier: BSD-2-Clause */
/* ascii.h: what the parsers of the text format share: the state between lines, and a scanner of one line. */
#ifndef HPX_READ_ASCII_H
#define HPX_READ_ASCII_H

#include "reader.h"

#define HPX_TXT_CUT      1023 /* the original cuts a record there, its newline included */
#define HPX_TXT_NO_MATCH (-1) /* the line is none of those that may stand here; nothing was told */

struct hpx_txt;
/* A line in a state: an enum hpx_rd_result, or HPX_TXT_NO_MATCH. */
typedef int hpx_txt_state(struct hpx_txt *t, struct hpx_rd_text line);

struct hpx_txt {
    struct hpx_reader *r;
    hpx_txt_state *state;
    uint64_t at, line;        /* of the line */
    uint64_t begun_at, begun; /* of the section or trace that is open */
    bool bare;                /* without a header; a profile only once the table of cpu=old has come */
    bool cut;                 /* the line is the first 1023 bytes of a longer record */
    struct hpx_rd_event open; /* TRACE, TABLE or HEAP, for its end */
    uint32_t frames;          /* of the open trace */
    bool empty;               /* it said <empty> */
    size_t joined;            /* bytes of a THREAD START whose name has raw newlines */
    char join[HPX_TXT_CUT];
};

struct hpx_scan {
    const char *p, *end;
    bool ok;
    bool cut, ran_out; /* cut: the end of the line may come anywhere */
};

hpx_txt_state hpx_txt_top, hpx_txt_heap, hpx_txt_monitor, hpx_txt_deadlocks;
/* At the end of the file: ends the parts that no line ends. */
int hpx_txt_close(struct hpx_txt *t);
/* Is what was read so far whole? */
bool hpx_txt_between(const struct hpx_txt *t);
int hpx_txt_begin_heap(struct hpx_txt *t, struct hpx_rd_text line);
int hpx_txt_begin_monitors(struct hpx_txt *t, struct hpx_rd_text line);
int hpx_txt_begin_deadlocks(struct hpx_txt *t, struct hpx_rd_text line);
/* Opens a section. */
void hpx_txt_open(struct hpx_txt *t, hpx_txt_state *state);

int hpx_txt_emit(struct hpx_txt *t, struct hpx_rd_event *ev);
/* The event HPX_RD_RECORD of this tag. */
int hpx_txt_record(struct hpx_txt *t, int tag);
int hpx_txt_break(struct hpx_txt *t, const char *what);

struct hpx_scan hpx_scan_line(const struct hpx_txt *t, struct hpx_rd_text line);
void hpx_scan_word(struct hpx_scan *s, const char *word);
uint64_t hpx_scan_number(struct hpx_scan *s); /* decimal */
uint32_t hpx_scan_serial(struct hpx_scan *s); /* decimal, 32 bits */
uint64_t hpx_scan_hex(struct hpx_scan *s);
/* What stands before the last `word` that ends the line, or after the last `word` in it; goes behind the word. */
struct hpx_rd_text hpx_scan_before_last(struct hpx_scan *s, const char *word);
/* What stands before the first `word`; goes behind it. */
struct hpx_rd_text hpx_scan_before(struct hpx_scan *s, const char *word);
struct hpx_rd_text hpx_scan_rest(struct hpx_scan *s);
struct hpx_rd_text hpx_scan_date(struct hpx_scan *s);
bool hpx_scan_done(const struct hpx_scan *s);

static inline bool hpx_txt_begins(struct hpx_rd_text line, const char *word)
{
    size_t n = __builtin_strlen(word);
    return line.n >= n && __builtin_memcmp(line.p, word, n) == 0;
}

#endif
