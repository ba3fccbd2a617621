/* SPDX-License-Identifier: BSD-2-Clause */
/* out.c: the buffer, the first error, and the last complete section of an output. */
#include "out.h"
#include "c_locale.h"
#include "log.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_NAME 2048 /* a line on stderr holds 4 KiB: the end of a longer name leaves room for the reason */

int hpx_out_init(struct hpx_out *o, const struct hpx_out_ops *ops, void *ctx, const char *name)
{
    memset(o, 0, sizeof(*o));
    o->buf = malloc(HPX_OUT_BUFFER + HPX_OUT_PIECE);
    if (o->buf == NULL) {
        return -HPX_E_NOMEM;
    }
    o->ops = ops;
    o->ctx = ctx;
    snprintf(o->name, sizeof(o->name), "%s", name);
    return 0;
}

static const char *shown_name(const struct hpx_out *o)
{
    size_t n = strlen(o->name);
    return n > SHOWN_NAME ? o->name + (n - SHOWN_NAME) : o->name;
}

/* strerror() would use the program's language, and may share a buffer with its threads. */
static const char *reason(int error)
{
    return strerror_l(error, hpx_c_locale());
}

static const char *advice(const struct hpx_out *o, int error)
{
    const char *remedy = o->remedy != NULL ? o->remedy() : NULL;
    if (remedy != NULL) {
        return remedy;
    }
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return "free some space or choose another file=";
    case EFBIG:
        return "raise the limit of the file size (ulimit -f) or choose another file=";
    case EPIPE:
        return "keep a reader attached until the program ends";
    default:
        return "choose another file=";
    }
}

static void fail(struct hpx_out *o, int error)
{
    o->error = error;
    o->lost += o->used;
    o->used = 0;
    uint64_t behind = o->written - o->mark;
    bool cut = behind > 0 && o->ops->truncate != NULL && o->ops->truncate(o->ctx, (off_t)o->mark) == 0;
    if (cut || o->end_section != NULL) { /* of what was held back nobody knows what came out */
        o->lost += behind;
        o->written = o->mark;
    }
    const char *state = "the output ends after its last complete section";
    if (behind > 0 && !cut) {
        state = "the output ends inside a section";
    } else if (o->mark == 0) {
        state = "no section of the output is complete";
    }
    hpx_warn("file=%s: %s: %s; %s", shown_name(o), reason(error), state, advice(o, error));
}

static bool again(const struct hpx_out *o, int error)
{
    return error == EINTR || ((error == ENOSPC || error == EDQUOT) && o->make_room != NULL && o->make_room());
}

static void accepted(struct hpx_out *o, size_t n)
{
    o->written += n;
    atomic_store_explicit(&o->progress, o->written, memory_order_relaxed);
}

/* Returns how many of the n bytes were written; fewer: *error is why. */
static size_t write_all(struct hpx_out *o, const char *p, size_t n, int *error)
{
    size_t done = 0;
    while (done < n) {
        ssize_t k = o->ops->write(o->ctx, p + done, n - done);
        if (k > 0) {
            done += (size_t)k;
            accepted(o, (size_t)k);
            continue;
        }
        *error = k < 0 ? errno : EIO;
        if (!again(o, *error)) {
            return done;
        }
    }
    return done;
}

/* Writes the first n bytes of the buffer and moves the rest to its start. */
static int write_out(struct hpx_out *o, size_t bytes)
{
    int error = 0;
    size_t done = write_all(o, o->buf, bytes, &error);
    o->used -= done;
    if (done < bytes) { /* the rest is lost */
        fail(o, error);
        return -HPX_E_IO;
    }
    memmove(o->buf, o->buf + bytes, o->used);
    return 0;
}

void hpx_out_pour(struct hpx_out *o)
{
    (void)write_out(o, HPX_OUT_BUFFER); /* a failure is kept in o->error */
}

void hpx_out_bytes(struct hpx_out *o, const void *p, size_t n)
{
    const char *from = p;
    while (n > 0) {
        if (o->used >= HPX_OUT_BUFFER) {
            hpx_out_pour(o);
        }
        if (o->error != 0) {
            o->lost += n;
            return;
        }
        size_t room = HPX_OUT_BUFFER - o->used;
        size_t k = n < room ? n : room;
        if (k == HPX_OUT_BUFFER) { /* whole pieces need no copy */
            int error = 0;
            size_t pieces = n / HPX_OUT_BUFFER * HPX_OUT_BUFFER;
            k = write_all(o, from, pieces, &error);
            if (k < pieces) {
                fail(o, error);
            }
        } else {
            memcpy(o->buf + o->used, from, k);
            o->used += k;
        }
        from += k;
        n -= k;
    }
}

bool hpx_out_point(struct hpx_out *o)
{
    o->returns = o->error == 0 && (o->plain || (o->point != NULL && hpx_out_flush(o) == 0 && o->point(o->ctx) == 0));
    o->point_at = o->written + o->used;
    return o->returns;
}

void hpx_out_take_back(struct hpx_out *o)
{
    if (!o->returns || o->error != 0) { /* after an error the output ends earlier */
        return;
    }
    o->returns = false;
    if (o->point_at >= o->written) {
        o->used = (size_t)(o->point_at - o->written);
    } else if ((o->back != NULL ? o->back(o->ctx) : o->ops->truncate(o->ctx, (off_t)o->point_at)) == 0) {
        o->written = o->point_at;
        o->used = 0;
    } else {
        fail(o, errno);
    }
}

bool hpx_out_adopt(struct hpx_out *o, int fd, uint64_t head, uint64_t end)
{
    if (o->adopt == NULL || hpx_out_flush(o) != 0 || o->written > head || !o->adopt(o->ctx, fd, head, end)) {
        return false;
    }
    accepted(o, (size_t)(end - o->written));
    return true;
}

void hpx_out_str(struct hpx_out *o, const char *s)
{
    hpx_out_bytes(o, s, strlen(s));
}

void hpx_out_char(struct hpx_out *o, char c)
{
    hpx_out_bytes(o, &c, 1);
}

void hpx_out_printf(struct hpx_out *o, const char *fmt, ...)
{
    char text[513] = "";
    va_list ap;
    locale_t before = uselocale(hpx_c_locale()); /* a comma in 12.34 would break every reader */
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    uselocale(before);
    hpx_out_str(o, text);
}

int hpx_out_flush(struct hpx_out *o)
{
    if (o->error != 0) {
        return -HPX_E_IO;
    }
    return write_out(o, o->used);
}

static bool end_record(struct hpx_out *o, bool (*end)(void *ctx))
{
    bool in = hpx_out_flush(o) == 0 && end(o->ctx);
    o->refused += !in;
    o->piece_at = o->written;
    return in;
}

bool hpx_out_end_record(struct hpx_out *o)
{
    o->parted = false;
    return end_record(o, o->record);
}

void hpx_out_end_part(struct hpx_out *o, bool last)
{
    if (last ? !o->parted : o->written + o->used - o->piece_at < o->piece) {
        return;
    }
    o->parted = true;
    if (end_record(o, o->part)) {
        hpx_out_room(o, o->piece_room);
    }
}

void hpx_out_leave_out(struct hpx_out *o, uint64_t bytes)
{
    o->refused++;
    o->leave_out(o->ctx, bytes);
}

static void publish(struct hpx_out *o)
{
    if (o->ops->publish == NULL || o->ops->publish(o->ctx) == 0) {
        o->published = true;
        return;
    }
    int error = errno;
    if (!o->unpublished_said) {
        o->unpublished_said = true;
        hpx_warn("file=%s: cannot rename the output to its final name: %s; it keeps this name", shown_name(o), reason(error));
    }
}

int hpx_out_section(struct hpx_out *o, bool publish_it)
{
    if (hpx_out_flush(o) != 0) {
        return -HPX_E_IO;
    }
    if (o->end_section != NULL && !publish_it) {
        return 0; /* a compressed block would end early */
    }
    while (o->end_section != NULL && o->end_section(o->ctx) != 0) {
        int error = errno;
        if (!again(o, error)) {
            fail(o, error);
            return -HPX_E_IO;
        }
    }
    o->mark = o->written;
    if (publish_it && !o->published) {
        publish(o);
    }
    return 0;
}

int hpx_out_close(struct hpx_out *o)
{
    int rc = hpx_out_section(o, true);
    void *ctx = o->ctx;
    o->ctx = NULL; /* first, because the child of a fork must not use freed memory */
    if (o->ops->close(ctx) != 0 && errno != EINTR && rc == 0) {
        o->error = errno;
        hpx_warn("file=%s: %s: the end of the output may be missing; %s", shown_name(o), reason(o->error), advice(o, o->error));
        rc = -HPX_E_IO;
    }
    free(o->buf);
    o->buf = NULL;
    return rc;
}

void hpx_out_abandon(struct hpx_out *o)
{
    o->error = ECANCELED;
    (void)hpx_out_close(o);
}
