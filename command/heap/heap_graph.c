/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_graph.c: see heap_graph.h. */
#include "heap_graph.h"
#include <stdlib.h>
#include <string.h>

uint32_t hpx_heap_node(const struct hpx_heap_graph *g, uint64_t id)
{
    if (g->n < 2 || id < g->ids[1] || id > g->ids[g->n - 1]) {
        return 0;
    }
    uint64_t k = (id - g->ids[1]) >> g->shift;
    uint32_t low = g->bucket[k], high = g->bucket[k + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->ids[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < g->n && g->ids[low] == id ? low : 0;
}

void hpx_heap_graph_drop_classes(struct hpx_heap_graph *g)
{
    for (size_t i = 0; i < g->classes.len; i++) {
        free(hpx_heap_class_at(g, (uint32_t)i)->name);
    }
    g->classes.len = 0;
    g->fields.len = 0;
}

bool hpx_heap_field_at(const struct hpx_heap_graph *g, const struct hpx_heap_class *c, const char *name, int type, uint64_t *at)
{
    const struct hpx_heap_field *f = hpx_heap_fields_of(g, c);
    *at = 0;
    for (uint32_t i = 0; i < c->fields; i++) {
        const uint32_t *known = f[i].type == type ? hpx_seeded_map_find(&g->defined.strings, f[i].name) : NULL;
        if (known != NULL && strcmp(hpx_defined_name(&g->defined, *known), name) == 0) {
            return true;
        }
        *at += hpx_type_size(f[i].type, g->id_size);
    }
    return false;
}

void hpx_heap_graph_fini(struct hpx_heap_graph *g)
{
    hpx_heap_graph_drop_classes(g);
    free(g->classes.items);
    free(g->fields.items);
    free(g->ids);
    free(g->klass);
    free(g->size);
    free(g->first);
    free(g->refs);
    free(g->roots);
    free(g->bucket);
    hpx_definitions_fini(&g->defined);
}
