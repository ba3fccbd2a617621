/* SPDX-License-Identifier: BSD-2-Clause */
/* out.h: where a writer's bytes go: one interface over file, FIFO, device, descriptor (later socket, gzip).
 *
 * One thread at a time: the writer's. Buffered (64 KiB, allocated at init). The first error is kept and said once; what comes after it is
 * counted as lost and not written: what is in the file stays a valid prefix. Never ends the process; EINTR and short writes are repeated. */
#ifndef HPX_OUT_H
#define HPX_OUT_H

#include "err.h"
#include <sys/types.h>

/* The system, replaced in tests. Each returns -1 with errno as the call of its name. */
struct hpx_out_ops {
    ssize_t (*write)(void *ctx, const void *p, size_t n);
    int (*truncate)(void *ctx, off_t length); /* NULL: cannot be cut back */
    int (*publish)(void *ctx);                /* the first complete state gets its final name; may be NULL */
    int (*close)(void *ctx);
};

struct hpx_out {
    const struct hpx_out_ops *ops;
    void *ctx;
    char *buf;
    size_t used;
    uint64_t written;     /* bytes given to ops->write and taken by it */
    uint64_t mark;        /* offset behind the last complete section */
    uint64_t lost;        /* bytes not written after the error */
    int error;            /* errno of the first failed write; 0: fine */
    bool published;
    char name[4096];      /* for messages */
    _Atomic uint64_t progress; /* relaxed: bytes taken so far, for who waits for the end */
};

/* name: for messages. 0, -HPX_E_NOMEM. */
int hpx_out_init(struct hpx_out *o, const struct hpx_out_ops *ops, void *ctx, const char *name);

void hpx_out_bytes(struct hpx_out *o, const void *p, size_t n);
void hpx_out_str(struct hpx_out *o, const char *s);
void hpx_out_char(struct hpx_out *o, char c);
/* At most 512 bytes of output a call; for fixed layouts, never for names of the program. */
void hpx_out_printf(struct hpx_out *o, const char *fmt, ...) HPX_PRINTF(2, 3);

/* What is buffered goes out. 0 or -HPX_E_IO. */
int hpx_out_flush(struct hpx_out *o);
/* A section is complete: flush, remember the place; the first time, publish (rename to the final name) if `publish`. 0, or -HPX_E_IO:
 * then the output is cut back to the last complete section, and one line on stderr has said so with the reason. */
int hpx_out_section(struct hpx_out *o, bool publish);
/* Flush, publish if not yet, close, free. 0, -HPX_E_IO (said). */
int hpx_out_close(struct hpx_out *o);

#endif
