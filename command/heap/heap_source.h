/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_source.h: an open file, plain or gzip, that is read several times from its beginning (lseek). One thread. */
#ifndef HPX_HEAP_SOURCE_H
#define HPX_HEAP_SOURCE_H

#include "budget.h"
#include "heap_reading.h"

struct hpx_gunzip;

struct hpx_heap_source {
    struct hpx_heap_file file; /* good until the end */
    struct hpx_gunzip *z;
    struct hpx_budget budget;
};

/* What is read again has to be opened a second time: only a regular file has its bytes then. */
bool hpx_heap_is_file(const char *name);
/* Without another budget of the caller, hpx_memory_for_file() is what may be allocated until the end. false: no memory; there is no end. */
bool hpx_heap_source_begin(struct hpx_heap_source *s, int fd, struct hpx_err *err);
void hpx_heap_source_end(struct hpx_heap_source *s);

#endif
