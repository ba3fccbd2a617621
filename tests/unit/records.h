/* SPDX-License-Identifier: BSD-2-Clause */
/* records.h: what a writer is given, made by hand. */
#ifndef HPX_RECORDS_H
#define HPX_RECORDS_H

#include "snapshot.h"

struct hpx_text text(const char *s);
/* The caller frees it. */
struct hpx_trace_rec *trace(uint32_t serial, uint32_t thread, uint32_t n, const struct hpx_frame_rec *frames);
struct hpx_snapshot samples_of(uint32_t n, struct hpx_row *rows);

#endif
