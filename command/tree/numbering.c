/* SPDX-License-Identifier: BSD-2-Clause */
/* numbering.c: see numbering.h. */
#include "numbering.h"
#include <stdlib.h>

bool hpx_numbering_init(struct hpx_numbering *m, size_t n)
{
    *m = (struct hpx_numbering){.of = calloc(n > 0 ? n : 1, sizeof *m->of)};
    m->no_memory = m->of == NULL;
    return !m->no_memory;
}

void hpx_numbering_fini(struct hpx_numbering *m)
{
    free(m->of);
    free(m->used.items);
}

void hpx_numbering_clear(struct hpx_numbering *m)
{
    for (size_t i = 0; i < m->used.len; i++) {
        m->of[hpx_numbered_at(m, i)] = 0;
    }
    m->used.len = 0;
}

uint32_t hpx_number(struct hpx_numbering *m, uint32_t thing)
{
    if (m->of[thing] == 0) {
        uint32_t *slot = hpx_list_push(&m->used, sizeof *slot);
        if (slot == NULL) {
            m->no_memory = true;
            return 0;
        }
        *slot = thing;
        m->of[thing] = (uint32_t)m->used.len;
    }
    return m->of[thing];
}

bool hpx_functions_init(struct hpx_functions *f, const struct hpx_tree *t)
{
    struct hpx_seeded_map index;
    bool all = true;
    *f = (struct hpx_functions){.of = malloc(t->frames.len * sizeof *f->of)};
    hpx_seeded_map_init(&index, true);
    for (size_t i = 0; i < t->frames.len && all; i++) {
        const struct hpx_tree_frame *frame = hpx_tree_frame_at(t, (uint32_t)i);
        struct hpx_function *of = NULL;
        if (f->of != NULL) {
            of = hpx_list_entry(&index, &f->list, sizeof *of, (uint64_t)frame->name << 32 | frame->source);
        }
        all = of != NULL;
        if (all) {
            *of = (struct hpx_function){frame->name, frame->source};
            f->of[i] = (uint32_t)(of - (struct hpx_function *)f->list.items);
        }
    }
    hpx_seeded_map_fini(&index);
    return all;
}

void hpx_functions_fini(struct hpx_functions *f)
{
    free(f->of);
    free(f->list.items);
}
