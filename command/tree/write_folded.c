/* SPDX-License-Identifier: BSD-2-Clause */
/* write_folded.c: collapsed stacks: folded_in.c has the format. A semicolon in a name would be two frames, and becomes a comma. */
#include "writers.h"
#include <inttypes.h>
#include <stdlib.h>

static void put_name(FILE *to, const char *name)
{
    for (; *name != '\0'; name++) {
        (void)putc_unlocked(*name == ';' ? ',' : *name, to);
    }
}

bool hpx_write_folded(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    const struct hpx_tree_view *v = &t->views[c.view];
    struct hpx_list stack = {0};
    for (size_t i = 0; i < v->samples.len; i++) {
        uint32_t node = hpx_tree_sample_at(v, i)->node;
        uint64_t value = hpx_tree_values_at(v, i)[c.measure];
        while (i + 1 < v->samples.len && hpx_tree_sample_at(v, i + 1)->node == node) { /* all threads */
            uint64_t more = hpx_tree_values_at(v, ++i)[c.measure];
            value = value > UINT64_MAX - more ? UINT64_MAX : value + more;
        }
        size_t n;
        if (value == 0) {
            continue;
        }
        if (!hpx_tree_stack(t, node, &stack, &n)) {
            free(stack.items);
            return false;
        }
        const uint32_t *frames = stack.items;
        for (size_t k = 0; k < n; k++) {
            put_name(to, hpx_tree_text(t, hpx_tree_frame_at(t, frames[k])->name));
            (void)putc_unlocked(k + 1 < n ? ';' : ' ', to);
        }
        (void)fprintf(to, "%s%" PRIu64 "\n", n == 0 ? "[no stack] " : "", value);
    }
    free(stack.items);
    return true;
}
