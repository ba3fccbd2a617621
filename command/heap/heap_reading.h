/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_reading.h: a graph (heap_graph.h) from a heap dump of a binary HPROF file.
 *
 * The file is read two times: objects, classes and roots; then references. What a caller wants to know of contents he takes from the second
 * time, or from a third one (hpx_heap_again()). The bytes are hostile: what does not fit is left out, or ends the reading.
 *
 * Of several dumps the last complete one counts. If none is complete, what the last has is taken. One thread.
 *
 * Memory, n objects and m references: 16 bytes an object for classes and sizes alone (HPX_HEAP_CLASSES), as long as the file is read; with
 * references 32 n before the second reading, 29 n + 8 m at its end, and 25 n + 4 m afterwards. In addition 16 bytes a root in the first
 * reading, and classes and names. Objects, roots and references are in lists that grow: those may have twice as much address space as
 * they use, and the budget (budget.h) counts all of it. */
#ifndef HPX_HEAP_READING_H
#define HPX_HEAP_READING_H

#include "err.h"
#include "heap_graph.h"

/* The bytes of a file, which can be read again from its beginning. */
struct hpx_heap_file {
    ssize_t (*read)(void *ctx, void *to, size_t n); /* as read(2) */
    bool (*again)(void *ctx);                       /* false: errno */
    void *ctx;
};

enum hpx_heap_want { HPX_HEAP_CLASSES, HPX_HEAP_REFERENCES };

/* Told in the second reading of every object that counts, before its contents, and of those (CONTENT) behind it. false: no memory. */
typedef bool hpx_heap_sink(void *ctx, const struct hpx_heap_graph *g, uint32_t node, const struct hpx_rd_event *ev);

enum hpx_heap_read {
    HPX_HEAP_READ = 0,
    HPX_HEAP_PARTIAL, /* what is told of the dump is, but the dump is not complete, or the file is broken; err says so */
    HPX_HEAP_NONE,    /* the file has no heap dump in binary; err says so */
    HPX_HEAP_FAILED,  /* err: no memory, or it cannot be read */
};

/* What is read, and how; zeroes: classes of the dump that counts, in the layout that fits best. */
struct hpx_heap_how {
    uint32_t dump; /* 0, or its number from 1 */
    enum hpx_heap_want want;
    const struct hpx_heap_fit *beside; /* `fits` of another graph: the layout counts that fits both, if there is one; or NULL */
    hpx_heap_sink *sink;               /* needs HPX_HEAP_REFERENCES; or NULL */
    void *ctx;
};

/* If the file does not have the dump, err lists those that it has. The graph is to be given back in any case. */
enum hpx_heap_read hpx_heap_graph_read(struct hpx_heap_graph *g, const struct hpx_heap_file *file, const struct hpx_heap_how *how,
                                       struct hpx_err *err);
/* Another reading of the same dump, for the sink alone, until that returns false. It is also told of the fields of classes, with node 0,
 * before the class. */
enum hpx_heap_read hpx_heap_again(const struct hpx_heap_graph *g, const struct hpx_heap_file *file, hpx_heap_sink *sink, void *ctx,
                                  struct hpx_err *err);
#endif
