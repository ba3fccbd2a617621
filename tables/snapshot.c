/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot.c: the rows lie in the snapshot's own block; the records belong to the model. */
#include "snapshot.h"
#include <stdlib.h>

void hpx_snapshot_destroy(struct hpx_snapshot *s)
{
    free(s);
}

void hpx_call_snapshot_destroy(struct hpx_call_snapshot *s)
{
    free(s);
}

void hpx_site_snapshot_destroy(struct hpx_site_snapshot *s)
{
    free(s);
}
