/* SPDX-License-Identifier: BSD-2-Clause */
/* binary_check.h: is this a sound binary HPROF file, as far as cpu=samples goes? A second opinion on hprof_binary.c, written from the
 * manual alone: every record's length, every id defined before its use and once, TIME monotone. For tests: small files, linear search of
 * bits. */
#ifndef HPX_BINARY_CHECK_H
#define HPX_BINARY_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct bin_figures {
    uint64_t strings, classes, unloads, begun, ended, frames, traces, tables, rows, count; /* rows, count: of all tables */
};

enum { BIN_STRING, BIN_FRAME, BIN_TRACE, BIN_CLASS, BIN_THREAD, BIN_SPACES };
#define BIN_IDS (1u << 17)

struct bin {
    const uint8_t *at, *end;
    uint32_t id_size;
    uint8_t known[BIN_SPACES][BIN_IDS]; /* 1: defined, 2: ended */
    const char *fault;
};

static inline uint64_t bin_u(struct bin *b, uint32_t n)
{
    uint64_t v = 0;
    if ((size_t)(b->end - b->at) < n) {
        b->fault = "a field beyond its record";
        b->at = b->end;
        return 0;
    }
    for (; n > 0; n--) {
        v = v << 8 | *b->at++;
    }
    return v;
}

static inline uint8_t *bin_slot(struct bin *b, int space, uint64_t id)
{
    static const uint64_t first[BIN_SPACES] = {0xA0000000u, 0x70000000u, 300000, 100000, 200000};
    if (space == BIN_FRAME && id < first[space]) {
        return &b->known[space][(BIN_IDS - 1 - (id - 0x60000000u)) % BIN_IDS]; /* frames without a number */
    }
    return &b->known[space][(id - first[space]) % BIN_IDS];
}

static inline void bin_define(struct bin *b, int space, uint64_t id)
{
    uint8_t *s = bin_slot(b, space, id);
    if (*s || id == 0) {
        b->fault = id ? "defined twice" : "an id of 0";
    }
    *s = 1;
}

static inline void bin_use(struct bin *b, int space, uint64_t id, bool none_allowed)
{
    if (id == 0 ? !none_allowed : *bin_slot(b, space, id) == 0) {
        static const char *const faults[] = {"string before its definition", "frame before its definition", "trace before its definition",
                                             "class before its definition", "thread before its definition"};
        b->fault = faults[space];
    }
}

static inline void bin_end(struct bin *b, int space, uint64_t id)
{
    uint8_t *s = bin_slot(b, space, id);
    if (*s != 1) {
        b->fault = "the end of what has not begun, or has ended";
    }
    *s = 2;
}

static inline void bin_frame(struct bin *b)
{
    bin_define(b, BIN_FRAME, bin_u(b, b->id_size));
    bin_use(b, BIN_STRING, bin_u(b, b->id_size), false);
    bin_use(b, BIN_STRING, bin_u(b, b->id_size), false);
    bin_use(b, BIN_STRING, bin_u(b, b->id_size), true);
    uint64_t klass = bin_u(b, 4);
    bin_use(b, BIN_CLASS, klass, false);
    if (*bin_slot(b, BIN_CLASS, klass) == 2) {
        b->fault = "a frame of an unloaded class";
    }
    int32_t line = (int32_t)bin_u(b, 4);
    if (line < -3 || line == 0) {
        b->fault = "a line";
    }
}

static inline void bin_trace(struct bin *b)
{
    bin_define(b, BIN_TRACE, bin_u(b, 4));
    bin_use(b, BIN_THREAD, bin_u(b, 4), true);
    for (uint64_t n = bin_u(b, 4); n > 0 && !b->fault; n--) {
        bin_use(b, BIN_FRAME, bin_u(b, b->id_size), false);
    }
}

static inline void bin_table(struct bin *b, struct bin_figures *f)
{
    uint64_t total = bin_u(b, 4), sum = 0, last = UINT32_MAX, n = bin_u(b, 4);
    for (f->rows += n; n > 0 && !b->fault; n--) {
        uint64_t count = bin_u(b, 4);
        bin_use(b, BIN_TRACE, bin_u(b, 4), false);
        if (count > last || count == 0) {
            b->fault = "the order of rows";
        }
        last = count;
        sum += count;
    }
    f->count += sum;
    if (sum > total) {
        b->fault = "rows above their total";
    }
}

static inline void bin_record(struct bin *b, unsigned tag, struct bin_figures *f)
{
    switch (tag) {
    case 0x01:
        f->strings++;
        bin_define(b, BIN_STRING, bin_u(b, b->id_size));
        b->at = b->end;
        break;
    case 0x02:
        f->classes++;
        bin_define(b, BIN_CLASS, bin_u(b, 4));
        (void)bin_u(b, b->id_size);
        bin_use(b, BIN_TRACE, bin_u(b, 4), false);
        bin_use(b, BIN_STRING, bin_u(b, b->id_size), false);
        break;
    case 0x03:
        f->unloads++;
        bin_end(b, BIN_CLASS, bin_u(b, 4));
        break;
    case 0x04:
        f->frames++;
        bin_frame(b);
        break;
    case 0x05:
        f->traces++;
        bin_trace(b);
        break;
    case 0x0A:
        f->begun++;
        bin_define(b, BIN_THREAD, bin_u(b, 4));
        (void)bin_u(b, b->id_size);
        bin_use(b, BIN_TRACE, bin_u(b, 4), false);
        bin_use(b, BIN_STRING, bin_u(b, b->id_size), false);
        bin_use(b, BIN_STRING, bin_u(b, b->id_size), false);
        bin_use(b, BIN_STRING, bin_u(b, b->id_size), true);
        break;
    case 0x0B:
        f->ended++;
        bin_end(b, BIN_THREAD, bin_u(b, 4));
        break;
    case 0x0D:
        f->tables++;
        bin_table(b, f);
        break;
    case 0x0E:
        (void)bin_u(b, 6);
        break;
    default:
        b->fault = "a tag";
        break;
    }
}

/* What is wrong with the file; NULL: nothing. */
static inline const char *bin_check(const uint8_t *file, size_t n, struct bin_figures *f)
{
    static struct bin b;
    uint64_t time = 0;
    memset(&b, 0, sizeof(b));
    memset(f, 0, sizeof(*f));
    if (n < 31 || memcmp(file, "JAVA PROFILE 1.0.2", 19) != 0) {
        return "the head";
    }
    const uint8_t *stop = file + n;
    b.at = file + 19;
    b.end = stop;
    b.id_size = (uint32_t)bin_u(&b, 4);
    (void)bin_u(&b, 8);
    while (!b.fault && b.at < stop) {
        unsigned tag = (unsigned)bin_u(&b, 1);
        uint64_t now = bin_u(&b, 4), length = bin_u(&b, 4);
        if (b.fault || length > (size_t)(stop - b.at)) {
            return "the end of the last record";
        }
        if (now < time) {
            return "TIME that goes back";
        }
        time = now;
        b.end = b.at + length;
        bin_record(&b, tag, f);
        if (!b.fault && b.at != b.end) {
            return "a length";
        }
        b.end = stop;
    }
    return b.fault;
}

#endif
