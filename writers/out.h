/* SPDX-License-Identifier: BSD-2-Clause */
/* out.h: where a writer's bytes go: one interface over file, FIFO, device, descriptor (later socket, gzip).
 *
 * One thread at a time: the writer's, with all signals blocked: a pipe whose reader has gone sends SIGPIPE, a size limit SIGXFSZ, to the
 * thread that writes; blocked, they stay pending there and the program sees nothing. Buffered (allocated at init; written in pieces of
 * 64 KiB: whole pages of the file, while nothing is flushed between). The first error
 * is kept and said once; the output is cut back to its last complete section, and what comes after is counted as lost and not written: what
 * is in the file stays a valid prefix. Never ends the process; EINTR and short writes are repeated. */
#ifndef HPX_OUT_H
#define HPX_OUT_H

#include "err.h"
#include <locale.h>
#include <sys/types.h>

#define HPX_OUT_END ((size_t)128 << 10) /* of a record in parts, behind the last one */

/* The system, replaced in tests. Each returns -1 with errno as the call of its name. */
struct hpx_out_ops {
    ssize_t (*write)(void *ctx, const void *p, size_t n); /* may be short; 0 counts as an error */
    int (*truncate)(void *ctx, off_t length);             /* NULL: cannot be cut back */
    int (*publish)(void *ctx);                            /* the first complete state gets its final name; NULL: it has it already */
    int (*close)(void *ctx);
};

#define HPX_OUT_BUFFER ((size_t)64 * 1024)
#define HPX_OUT_PIECE  ((size_t)17 * 1024) /* of hpx_out_piece() */

struct hpx_out {
    const struct hpx_out_ops *ops;
    void *ctx;
    char *buf;                                    /* HPX_OUT_BUFFER and a piece */
    size_t used;                                  /* below HPX_OUT_BUFFER where a piece begins */
    uint64_t written;                             /* bytes in the output: taken by ops->write and not cut back */
    uint64_t mark;                                /* offset behind the last complete section */
    uint64_t lost;                                /* bytes given to us that are not in the output; 0 without an error */
    int error;                                    /* errno of the first failed write; 0: fine */
    bool published;                               /* has its final name */
    bool unpublished_said;                        /* a failed publish was said */
    bool (*record)(void *ctx);                    /* the opener's: a record ends here; NULL: the output is bytes, not records */
    bool (*part)(void *ctx);                      /* the opener's: a part of a record ends here; NULL: there are no parts */
    size_t piece, piece_room;                     /* the opener's: bytes of a part at least; room for one, and for the end of its record */
    size_t most;                                  /* the opener's: bytes of a record without parts; 0: any */
    uint64_t piece_at;                            /* where the record, or the part, begins */
    bool parted;                                  /* the record has parts */
    uint64_t refused;                             /* records and parts that are not in the output */
    void (*leave_out)(void *ctx, uint64_t bytes); /* the opener's: counts what is more than `most` */
    void (*room)(size_t n);  /* the owner's: waits, bounded, until a record of n bytes would be taken; NULL: nothing is dropped */
    bool (*make_room)(void); /* the opener's: the disk is full; true: there is more room now, try again. NULL: nothing can be given up */
    const char *(*remedy)(void); /* the opener's: where what is lost is to be had, in place of advice; it, or its result, NULL: nowhere */
    locale_t c_locale;         /* the program may have set another: a comma in 12.34 would break every reader. (locale_t)0: not to be had */
    char name[4096];           /* where the bytes are now, for messages; the opener may change it in ops->publish */
    _Atomic uint64_t progress; /* relaxed: bytes taken by ops->write so far, for who waits for the end and sees whether it moves */
};

/* name: for messages. 0, -HPX_E_NOMEM. *o must not move until closed. */
int hpx_out_init(struct hpx_out *o, const struct hpx_out_ops *ops, void *ctx, const char *name);

void hpx_out_bytes(struct hpx_out *o, const void *p, size_t n);
/* Instead of a buffer of the caller's: a place for up to HPX_OUT_PIECE bytes, good until the next call. What lies there up to `end` is part
 * of the output after hpx_out_filled(); without that call nothing is. */
void hpx_out_pour(struct hpx_out *o);
static inline char *hpx_out_piece(struct hpx_out *o)
{
    if (hpx_unlikely(o->used >= HPX_OUT_BUFFER)) {
        hpx_out_pour(o);
    }
    return o->buf + o->used;
}
static inline void hpx_out_filled(struct hpx_out *o, const void *end)
{
    size_t n = (size_t)((const char *)end - (o->buf + o->used));
    assert(n <= HPX_OUT_PIECE);
    if (hpx_likely(o->error == 0)) {
        o->used += n;
    } else {
        o->lost += n;
    }
}
void hpx_out_str(struct hpx_out *o, const char *s);
void hpx_out_char(struct hpx_out *o, char c);
/* At most 512 bytes of output a call, in the C locale; for fixed layouts, never for names of the program. */
void hpx_out_printf(struct hpx_out *o, const char *fmt, ...) HPX_PRINTF(2, 3);

/* A record ends here: what cannot be cut by an output that drops (a socket). Whole sections of the text format, a TRACE, a thread line, a
 * record of the binary format are one each. true: it is in the output; false: it is dropped, what it defines is not defined: try it again
 * before its next user, or leave that out. Nothing but a socket drops; after an error false. */
bool hpx_out_end_record(struct hpx_out *o); /* where records can be refused */
static inline bool hpx_out_record(struct hpx_out *o)
{
    return hpx_likely(o->record == NULL) ? o->error == 0 : hpx_out_end_record(o);
}
/* The record may be cut here: a large one goes out in parts, so that one larger than what the output holds back does too. Behind the last
 * place (`last`) only its end comes, HPX_OUT_END bytes at most, then hpx_out_record(). Room for the end is kept: where the first part was
 * taken the end is, too. Behind a part that was refused all others are: what is missing lies in one piece before the end. Waits for room as
 * hpx_out_room(). */
void hpx_out_end_part(struct hpx_out *o, bool last); /* where there are parts */
static inline void hpx_out_part(struct hpx_out *o, bool last)
{
    if (hpx_unlikely(o->part != NULL)) {
        hpx_out_end_part(o, last);
    }
}
/* What of a record, `bytes` long, was not even given, as it would be larger than o->most. */
void hpx_out_leave_out(struct hpx_out *o, uint64_t bytes);
/* Before a record of about n bytes. */
static inline void hpx_out_room(const struct hpx_out *o, size_t n)
{
    if (o->room != NULL) {
        o->room(n);
    }
}
/* The same, if it may be cut. */
static inline void hpx_out_room_parts(const struct hpx_out *o, size_t n)
{
    hpx_out_room(o, o->part != NULL && n > o->piece_room ? o->piece_room : n);
}
/* What is buffered goes out. 0 or -HPX_E_IO. */
int hpx_out_flush(struct hpx_out *o);
/* A section is complete: flush, remember the place; the first time, publish (rename to the final name) if `publish`. 0, or -HPX_E_IO:
 * then the output was cut back to the last complete section, and one line on stderr has said so with the reason. A publish that fails is
 * said once and tried again at the next section and at close; the section is complete all the same (0). */
int hpx_out_section(struct hpx_out *o, bool publish);
/* Flush, publish if not yet (a run without a dump leaves its file too; not after an error: what is incomplete keeps its name), close, free.
 * 0, -HPX_E_IO (said). */
int hpx_out_close(struct hpx_out *o);

#endif
