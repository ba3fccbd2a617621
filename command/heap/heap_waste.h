/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_waste.h: strings with the same text, and collections without elements, in a heap dump. A sink of hpx_heap_graph_read(); one thread.
 *
 * Texts are compared by 64 bits of a hash. Memory: 16 bytes for every string, every array of bytes or chars, and every empty collection
 * with a table, until hpx_heap_waste_finish(); a bit for every object and 4 bytes for every class. */
#ifndef HPX_HEAP_WASTE_H
#define HPX_HEAP_WASTE_H

#include "heap_reading.h"
#include "heap_sort.h"

#define HPX_HEAP_TEXTS 20
#define HPX_HEAP_TEXT  (4 * 73 + 9) /* bytes of one: as many characters as a line shows, one more, and the room that the last one needs */

/* Strings with the same text. */
struct hpx_heap_text {
    uint64_t strings, arrays; /* arrays: that hold it; strings may have one in common */
    uint64_t bytes;           /* that all but one need */
    uint32_t node;            /* one of the arrays */
    bool wide;                /* two bytes a char */
    bool found;
    char text[HPX_HEAP_TEXT]; /* its beginning, UTF-8 */
};

/* Collections of a class with no element and a table. */
struct hpx_heap_empty {
    uint32_t klass;
    uint64_t count, bytes; /* bytes: of the tables */
};

struct hpx_heap_waste {
    uint64_t strings, texts;                  /* that have an array; different ones */
    uint64_t bytes;                           /* that would not be needed if there were each text once */
    uint64_t blank;                           /* strings of zeros alone, which are not compared: the dump was written so (redact=) */
    struct hpx_heap_text top[HPX_HEAP_TEXTS]; /* the greatest first */
    size_t tops;
    struct hpx_list empty; /* struct hpx_heap_empty, the greatest first */

    /* its own */
    bool ready;
    struct hpx_list strings_of, arrays; /* struct hpx_heap_entry */
    struct hpx_list tables;             /* struct hpx_heap_entry: its table, its class */
    struct hpx_list kinds;              /* struct hpx_heap_kind */
    uint32_t *kind_of;                  /* by class: index + 1 */
    uint8_t *no_elements;               /* a bit an object: an array of length 0 */
    uint32_t string;                    /* the class */
    uint64_t value_at, coder_at;
    bool coder;
    enum hpx_rd_kind kind; /* the open object */
    int type;
};

/* A hpx_heap_sink; ctx: the struct, zeroes at first. */
bool hpx_heap_waste_take(void *ctx, const struct hpx_heap_graph *g, uint32_t node, const struct hpx_rd_event *ev);
/* After the reading. false: no memory. */
bool hpx_heap_waste_finish(struct hpx_heap_waste *w, const struct hpx_heap_graph *g);
/* The texts of `top`, in another reading. */
enum hpx_heap_read hpx_heap_waste_texts(struct hpx_heap_waste *w, const struct hpx_heap_graph *g, const struct hpx_heap_file *file,
                                        struct hpx_err *err);
void hpx_heap_waste_fini(struct hpx_heap_waste *w);

#endif
