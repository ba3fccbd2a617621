/* SPDX-License-Identifier: BSD-2-Clause */
/* out.h: the output of a writer: one interface for files, FIFOs, devices, descriptors (out_file.h) and connections (out_socket.h).
 *
 * One thread at a time: the writer's, with all signals blocked, so SIGPIPE (a pipe without a reader) and SIGXFSZ (a size limit) stay
 * pending. init allocates the buffer; it is written in multiples of 64 KiB, which are whole pages of the file unless flushed in between.
 * The first error is kept and reported once. A regular file is then truncated to its last complete section, and later bytes are counted
 * as lost, so the file stays a valid prefix. Never ends the process; retries after EINTR and short writes. A connection takes records
 * instead of sections: it may refuse a record, and the stream continues (hpx_out_record()). */
#ifndef HPX_OUT_H
#define HPX_OUT_H

#include "err.h"
#include <sys/types.h>

#define HPX_OUT_END ((size_t)128 << 10) /* bytes of a record in parts after its last part */

/* The system, replaced in tests. Each returns -1 with errno as the call of its name. */
struct hpx_out_ops {
    ssize_t (*write)(void *ctx, const void *p, size_t n); /* may be short; 0 counts as an error */
    int (*truncate)(void *ctx, off_t length);             /* NULL: cannot be truncated */
    int (*publish)(void *ctx);                            /* gives the first complete state its final name; NULL: it has that name */
    int (*close)(void *ctx);
};

#define HPX_OUT_BUFFER ((size_t)64 * 1024)
#define HPX_OUT_PIECE  ((size_t)17 * 1024) /* of hpx_out_piece() */

struct hpx_out {
    const struct hpx_out_ops *ops;
    void *ctx;
    char *buf;                                    /* HPX_OUT_BUFFER and a piece */
    size_t used;                                  /* below HPX_OUT_BUFFER at the start of a piece */
    uint64_t written;                             /* bytes in the output: accepted by ops->write and not truncated */
    uint64_t mark;                                /* offset after the last complete section */
    uint64_t lost;                                /* bytes passed in that are not in the output; 0 without an error */
    int error;                                    /* errno of the first failed write; 0: none */
    bool published;                               /* has its final name */
    bool unpublished_said;                        /* a failed publish was reported */
    bool (*record)(void *ctx);                    /* set by the opener: ends a record; NULL: the output has no records */
    bool (*part)(void *ctx);                      /* set by the opener: ends a part of a record; NULL: no parts */
    size_t piece, piece_room;                     /* set by the opener: least bytes of a part; space for a part and the end of its record */
    int (*end_section)(void *ctx);                /* set by the opener whose ops->write holds bytes back: passes them on; as ops->write */
    size_t most;                                  /* set by the opener: most bytes of a record without parts; 0: no limit */
    int (*point)(void *ctx);                      /* set by the opener: the same of hpx_out_point() and */
    int (*back)(void *ctx);                       /* hpx_out_take_back() for ops->write; NULL: only a plain output has points */
    uint64_t point_at;                            /* of the last point */
    bool returns;                                 /* there is one */
    bool plain;                                   /* set by the opener: ops->write is a system call, behind the end after ops->truncate */
    uint64_t piece_at;                            /* start of the current record or part */
    bool parted;                                  /* the current record has parts */
    uint64_t refused;                             /* records and parts that are not in the output */
    void (*leave_out)(void *ctx, uint64_t bytes); /* set by the opener: counts bytes beyond `most` */
    /* Set by the opener: that of hpx_out_adopt(). NULL: this output cannot. */
    bool (*adopt)(void *ctx, int fd, uint64_t head, uint64_t end);
    void (*room)(size_t n);      /* set by the owner: waits, bounded, until a record of n bytes would fit; NULL: nothing is dropped */
    bool (*make_room)(void);     /* set by the opener: frees space on a full disk; true: try again. May be NULL */
    const char *(*remedy)(void); /* set by the opener: how to recover lost data, printed instead of advice; may be or return NULL */
    char name[4096];             /* current name, for messages; the opener may change it in ops->publish */
    _Atomic uint64_t progress;   /* relaxed: bytes accepted by ops->write so far, to detect a stalled output */
};

/* name: for messages. 0, -HPX_E_NOMEM. *o must not move until closed. */
int hpx_out_init(struct hpx_out *o, const struct hpx_out_ops *ops, void *ctx, const char *name);

void hpx_out_bytes(struct hpx_out *o, const void *p, size_t n);
/* A point to which hpx_out_take_back() returns in the same section. false: this output cannot, and then has no effect there. */
bool hpx_out_point(struct hpx_out *o);
void hpx_out_take_back(struct hpx_out *o);
/* The file behind fd, which has no name yet, becomes the output: what stands before the last point is copied to its beginning, what was
 * written since to the end of its first `head` bytes; what lies between stays. It ends at `end`, where the output goes on. The caller keeps
 * fd. false: the output has not changed. */
bool hpx_out_adopt(struct hpx_out *o, int fd, uint64_t head, uint64_t end);
/* A place in the buffer for up to HPX_OUT_PIECE bytes, valid until the next call. hpx_out_filled() makes the bytes up to `end` part of
 * the output. */
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
/* At most 512 bytes of output per call, in the C locale; for fixed layouts, never for names of the program. */
void hpx_out_printf(struct hpx_out *o, const char *fmt, ...) HPX_PRINTF(2, 3);

/* Ends a record, which an output that drops data (a socket) drops or keeps as a whole: a section of the text format, a TRACE, a thread
 * line, a record of the binary format. true: it is in the output. false: it was dropped; retry its definitions before their next use, or
 * omit the user. Only sockets drop records; false also after an error. */
bool hpx_out_end_record(struct hpx_out *o); /* if records can be refused */
static inline bool hpx_out_record(struct hpx_out *o)
{
    return hpx_likely(o->record == NULL) ? o->error == 0 : hpx_out_end_record(o);
}
/* Ends a part: a record larger than the queue of the output goes out in parts. After the last part (`last`) only the end of the record
 * follows, at most HPX_OUT_END bytes, then hpx_out_record(). Space for the end is reserved with the first part. After a refused part all
 * further ones are refused, so one contiguous piece before the end is missing. Waits for space as hpx_out_room(). */
void hpx_out_end_part(struct hpx_out *o, bool last); /* if there are parts */
static inline void hpx_out_part(struct hpx_out *o, bool last)
{
    if (hpx_unlikely(o->part != NULL)) {
        hpx_out_end_part(o, last);
    }
}
/* Counts `bytes` of a record that were not passed in, because the record would exceed o->most. */
void hpx_out_leave_out(struct hpx_out *o, uint64_t bytes);
/* Waits for space before a record of about n bytes. */
static inline void hpx_out_room(const struct hpx_out *o, size_t n)
{
    if (o->room != NULL) {
        o->room(n);
    }
}
/* The same, if the record has parts. */
static inline void hpx_out_room_parts(const struct hpx_out *o, size_t n)
{
    hpx_out_room(o, o->part != NULL && n > o->piece_room ? o->piece_room : n);
}
/* Writes the buffered bytes. 0 or -HPX_E_IO. */
int hpx_out_flush(struct hpx_out *o);
/* Ends a section: flushes and records the offset (with end_section only if `publish`); with `publish` gives the output its final name,
 * once. 0, or -HPX_E_IO: the output was truncated to the last complete section, and one line on stderr has the reason. A failed publish is
 * reported once and retried at the next section and at close; it does not change the result. */
int hpx_out_section(struct hpx_out *o, bool publish);
/* Flushes, publishes if necessary (a run without a dump also leaves its file; after an error the incomplete output keeps its name),
 * closes, frees. 0, -HPX_E_IO (reported). */
int hpx_out_close(struct hpx_out *o);
/* Closes and frees, and writes nothing: for who must not wait for the reader. What was not flushed is lost. */
void hpx_out_abandon(struct hpx_out *o);

#endif
