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

const char *hpx_wall_state_name(enum hpx_wall_state state)
{
    static const char *const names[HPX_WALL_STATES] = {
#define NAME(sym, name) name,
        HPX_WALL_STATES_OF(NAME)
#undef NAME
    };
    return names[state];
}

void hpx_wall_snapshot_destroy(struct hpx_wall_snapshot *s)
{
    free(s);
}

void hpx_block_snapshot_destroy(struct hpx_block_snapshot *s)
{
    for (uint32_t i = 0; s && i < HPX_BLOCK_PARTS; i++) {
        free(s->of[i].rows);
    }
    free(s);
}
