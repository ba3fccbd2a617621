/* SPDX-License-Identifier: BSD-2-Clause */
/* write_shared.c: what the writers share. */
#include "writers.h"

bool hpx_tree_stack(const struct hpx_tree *t, uint32_t node, struct hpx_list *stack, size_t *n)
{
    stack->len = 0;
    for (; node != 0; node = hpx_tree_node_at(t, node)->parent) {
        uint32_t *slot = hpx_list_push(stack, sizeof *slot);
        if (slot == NULL) {
            return false;
        }
        *slot = hpx_tree_node_at(t, node)->frame;
    }
    uint32_t *frames = stack->items;
    for (size_t i = 0, k = stack->len; i + 1 < k; i++) {
        uint32_t swap = frames[i];
        frames[i] = frames[--k];
        frames[k] = swap;
    }
    *n = stack->len;
    return true;
}

void hpx_json_string(FILE *to, const char *text)
{
    (void)putc_unlocked('"', to);
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\') {
            (void)putc_unlocked('\\', to);
            (void)putc_unlocked(c, to);
        } else if (c < ' ' || c == '<' || c == 0x7f) {
            (void)fprintf(to, "\\u%04x", c);
        } else {
            (void)putc_unlocked(c, to);
        }
    }
    (void)putc_unlocked('"', to);
}
