/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_json.h: what is in a heap dump, as JSON: the same as heap_text.h tells in words. The keys are in hprofx(1). One thread. */
#ifndef HPX_HEAP_JSON_H
#define HPX_HEAP_JSON_H

#include "heap_holders.h"
#include "heap_waste.h"
#include "json.h"

/* What was found in a dump. */
struct hpx_heap_told {
    const struct hpx_heap_graph *graph;
    const struct hpx_heap_waste *waste;
    const struct hpx_heap_holders *holders; /* NULL: there was no memory; `missing` says it */
    const char *missing;
};

/* The member "heap_dump" of the open object. rows: of classes; 0: all. false: no memory. */
bool hpx_heap_json(struct hpx_json *j, const struct hpx_heap_told *t, size_t rows);

#endif
