/* SPDX-License-Identifier: BSD-2-Clause */
/* write_folded.c: collapsed stacks: folded_in.c has the format. A semicolon in a name would be two frames, and becomes a comma; a line that
 * begins with # and a blank would be a comment, and gets a backslash. A number behind the last blank of the innermost name would be a first
 * count, of two, to flamegraph.pl: an underscore takes the blank's place. */
#include "writers.h"
#include <stdlib.h>
#include <string.h>

/* Where a number that ends the name has its blank; NULL: there is none. */
static const char *blank_before_number(const char *name)
{
    const char *blank = strrchr(name, ' ');
    return blank != NULL && blank[1 + strspn(blank + 1, "0123456789.")] == '\0' ? blank : NULL;
}

static bool like_comment(const char *name)
{
    return name[0] == '#' && (name[1] == '\0' || name[1] == ' ');
}

static void put_name(FILE *to, const char *name, bool innermost)
{
    const char *number = innermost ? blank_before_number(name) : NULL;
    for (const char *at = name; *at != '\0'; at++) {
        (void)putc_unlocked(*at == ';' ? ',' : at == number ? '_' : *at, to);
    }
}

bool hpx_write_folded(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    struct hpx_list stack = {0};
    uint32_t node;
    uint64_t value;
    bool all = true;
    for (size_t i = 0, n; hpx_tree_next(&t->views[c.view], c.measure, &i, &node, &value);) {
        all = hpx_tree_stack(t, node, &stack, &n);
        if (!all) {
            break;
        }
        const uint32_t *frames = stack.items;
        if (all && n > 0 && like_comment(hpx_tree_text(t, hpx_tree_frame_at(t, frames[0])->name))) {
            (void)putc_unlocked('\\', to);
        }
        for (size_t k = 0; k < n; k++) {
            put_name(to, hpx_tree_text(t, hpx_tree_frame_at(t, frames[k])->name), k + 1 == n);
            (void)putc_unlocked(k + 1 < n ? ';' : ' ', to);
        }
        (void)fputs(n == 0 ? HPX_NO_STACK " " : "", to);
        hpx_json_number(to, value);
        (void)putc_unlocked('\n', to);
    }
    free(stack.items);
    return all;
}
