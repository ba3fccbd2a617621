/* SPDX-License-Identifier: BSD-2-Clause */
/* sink.h: memory that an hpx_out writes into. For unit tests and fuzz targets. */
#ifndef HPX_SINK_H
#define HPX_SINK_H

#include "out.h"

struct sink {
    uint8_t *bytes; /* the owner frees it; a 0 stands behind the last one */
    size_t len, cap;
};

/* What hpx_out_init says. What `to` has stays. */
int sink_open(struct hpx_out *out, struct sink *to);

#endif
