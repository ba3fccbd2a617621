/* SPDX-License-Identifier: BSD-2-Clause */
/* live_threads.c: the balanced tree of libc under live_threads.h. */
#include "live_threads.h"
#include <search.h>
#include <stddef.h>

static void *root; /* the writer's thread's */
static void (*each)(const struct hpx_thread_rec *rec);

static int by_serial(const void *a, const void *b)
{
    uint32_t x = ((const struct hpx_thread_rec *)a)->serial, y = ((const struct hpx_thread_rec *)b)->serial;
    return (x > y) - (x < y);
}

bool hpx_live_threads_add(const struct hpx_thread_rec *rec)
{
    const void *const *node = tsearch(rec, &root, by_serial);
    return node != NULL && *node == rec;
}

const struct hpx_thread_rec *hpx_live_threads_find(uint32_t serial)
{
    const struct hpx_thread_rec key = {.serial = serial};
    const void *const *node = tfind(&key, &root, by_serial);
    return node != NULL ? *node : NULL;
}

const struct hpx_thread_rec *hpx_live_threads_remove(uint32_t serial)
{
    const struct hpx_thread_rec *rec = hpx_live_threads_find(serial);
    if (rec != NULL) {
        (void)tdelete(rec, &root, by_serial);
    }
    return rec;
}

static void visit(const void *node, VISIT which, int depth)
{
    (void)depth;
    if (which == postorder || which == leaf) { /* between its two sides: in order */
        each(*(const struct hpx_thread_rec *const *)node);
    }
}

void hpx_live_threads_each(void (*fn)(const struct hpx_thread_rec *rec))
{
    each = fn;
    twalk(root, visit);
}

void hpx_live_threads_clear(void (*fn)(void *rec))
{
    tdestroy(root, fn);
    root = NULL;
}
