/* SPDX-License-Identifier: BSD-2-Clause */
/* folded_in.c: reads collapsed stacks. A line has the frames of a stack, outermost first, separated by semicolons, then a blank and a
 * count. */
#include "formats.h"
#include <string.h>

struct folded {
    struct hpx_tree *tree;
    struct hpx_tree_view *view;
    size_t measure;
    uint64_t line, taken;
};

/* The count at the end of the line; the line without it. */
static bool count_of(struct hpx_rd_text *line, uint64_t *count)
{
    size_t at = line->n;
    *count = 0;
    while (at > 0 && line->p[at - 1] != ' ') {
        at--;
    }
    if (at < 2 || at == line->n) {
        return false;
    }
    for (size_t i = at; i < line->n; i++) {
        unsigned digit = (unsigned char)line->p[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(*count, 10u, count) || __builtin_add_overflow(*count, digit, count)) {
            return false;
        }
    }
    line->n = at - 1;
    return true;
}

static bool take(struct folded *f, struct hpx_rd_text line)
{
    uint64_t values[HPX_TREE_VALUES] = {0};
    uint32_t node = 0;
    if (!count_of(&line, &values[f->measure])) {
        return false;
    }
    for (const char *at = line.p, *end = line.p + line.n; at <= end;) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        uint32_t name = stop > at ? hpx_tree_name(f->tree, at, (size_t)(stop - at)) : 0;
        if (stop > at && !hpx_tree_no_stack(f->tree, node, name)) {
            node = hpx_tree_node(f->tree, node, hpx_tree_frame(f->tree, name, 0, 0, HPX_FRAME_METHOD));
        }
        at = stop + 1;
    }
    if (values[f->measure] > 0) {
        hpx_tree_add(f->tree, f->view, node, 0, values);
    }
    return true;
}

/* The next line without its end; false: there is none. *whole: the bytes to take from the source for it. A line longer than the buffer
 * comes in pieces; *cut: more of them follow. */
static bool next(struct hpx_source *s, struct hpx_rd_text *line, size_t *whole, bool *cut)
{
    size_t have = hpx_source_ahead(s, 1), want = have;
    const char *end;
    while ((end = memchr(hpx_source_bytes(s), '\n', have)) == NULL && want < HPX_SOURCE_MAX) {
        want = have < HPX_SOURCE_MAX / 2 ? have * 2 : HPX_SOURCE_MAX;
        size_t more = hpx_source_ahead(s, want);
        if (more == have) {
            break;
        }
        have = more;
    }
    *line = (struct hpx_rd_text){hpx_source_bytes(s), end != NULL ? (size_t)(end - hpx_source_bytes(s)) : have};
    *whole = line->n + (end != NULL);
    *cut = end == NULL && have >= HPX_SOURCE_MAX;
    line->n -= line->n > 0 && line->p[line->n - 1] == '\r';
    return have > 0;
}

enum hpx_tree_read hpx_tree_read_folded(struct hpx_tree *t, struct hpx_source *s, struct hpx_err *err)
{
    struct folded f = {.tree = t};
    struct hpx_rd_text line;
    size_t whole;
    uint64_t bad = 0;
    bool cut = false;
    f.view = hpx_tree_find(t, "samples", "count", &f.measure);
    for (bool inside = false; next(s, &line, &whole, &cut) && !t->no_memory; hpx_source_take(s, whole), inside = cut) {
        bool comment = line.n > 0 && line.p[0] == '#' && (line.n == 1 || line.p[1] == ' '); /* names may begin with it */
        bool blank = !inside && !cut && (line.n == 0 || comment);
        f.line += !inside;
        if (!blank && !inside && !cut && take(&f, line)) {
            f.taken++;
        } else if (!blank && bad == 0) {
            bad = f.line;
        }
    }
    if (t->no_memory || s->error != 0 || f.taken == 0) {
        (void)hpx_err_set(err, HPX_E_RANGE, "%s",
                          t->no_memory    ? "no memory"
                          : s->error != 0 ? strerror(s->error)
                                          : "neither HPROF, nor pprof, nor collapsed stacks");
        return HPX_TREE_FAILED;
    }
    if (bad > 0) {
        (void)hpx_err_set(err, HPX_E_RANGE, "line %llu is not a stack and a count; such lines are left out", (unsigned long long)bad);
        return HPX_TREE_PART;
    }
    return HPX_TREE_WHOLE;
}
