/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_sites.c: see heap_sites.h. */
#include "heap_sites.h"
#include "names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hpx_heap_sites_init(struct hpx_heap_sites *s)
{
    *s = (struct hpx_heap_sites){0};
    hpx_seeded_map_init(&s->of, true);
}

bool hpx_heap_sites_take(void *ctx, const struct hpx_heap_graph *g, uint32_t node, const struct hpx_rd_event *ev)
{
    struct hpx_heap_sites *s = ctx;
    if (ev->kind != HPX_RD_INSTANCE && ev->kind != HPX_RD_OBJECTS && ev->kind != HPX_RD_PRIMITIVES) {
        return true;
    }
    uint64_t key = (uint64_t)g->klass[node] << 32 | ev->object.trace;
    struct hpx_heap_site *site = hpx_list_entry(&s->of, &s->all, sizeof *site, key);
    if (site != NULL) {
        site->klass = g->klass[node];
        site->trace = ev->object.trace;
        site->objects++;
        site->bytes += (uint64_t)g->size[node] * 8;
    }
    return site != NULL;
}

char *hpx_heap_site_name(struct hpx_heap_graph *g, uint32_t trace)
{
    struct hpx_definitions *d = &g->defined;
    const uint32_t *known = hpx_seeded_map_find(&d->trace_of, trace);
    const struct hpx_defined_trace *t = known != NULL ? (const struct hpx_defined_trace *)d->traces.items + *known - 1 : NULL;
    char text[4096] = "", method[1100];
    size_t n = 0;
    for (uint32_t i = 0; t != NULL && i < t->frames && i < HPX_HEAP_SITE_FRAMES; i++) {
        uint32_t frame = hpx_defined_frame(d, t, i);
        if (frame != 0) {
            hpx_name_spoken(method, sizeof method, hpx_defined_name(d, hpx_defined_method(d, frame)));
            int32_t line = ((const struct hpx_defined_frame *)d->frames.items)[frame - 1].line;
            n += (size_t)snprintf(text + n, sizeof text - n, line > 0 ? "%s%s:%d" : "%s%s", n > 0 ? " < " : "", method, (int)line);
        }
    }
    return d->no_memory ? NULL : strdup(text);
}

void hpx_heap_sites_fini(struct hpx_heap_sites *s)
{
    free(s->all.items);
    hpx_seeded_map_fini(&s->of);
}
