/* SPDX-License-Identifier: BSD-2-Clause */
/* folded_in.c: reads collapsed stacks. A line has the frames of a stack, outermost first, separated by semicolons, then a blank and a
 * count. Any sentence that ends with a number would do, so the file is judged as a whole. async-profiler tells at the end of a name what
 * kind of frame it is: "java/lang/Thread.run_[j]". */
#include "budget.h"
#include "formats.h"
#include "generated.h"
#include "names.h"
#include <string.h>

struct folded {
    struct hpx_tree *tree;
    struct hpx_tree_view *view;
    size_t measure;
    uint64_t line, taken;
    uint64_t likely, bad, two; /* lines: that look like stacks; that are none; with two counts */
    uint64_t first_bad;
};

#define LOOKED 1000u /* lines after which a file that is none is left */

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

/* Frames are names, and blanks stand in parentheses or brackets, or in names of threads before other frames; words with blanks between and
 * no frame are a sentence. */
static bool is_likely(struct hpx_rd_text stack)
{
    int depth = 0;
    if (memchr(stack.p, ';', stack.n) != NULL) {
        return memmem(stack.p, stack.n, "; ", 2) == NULL;
    }
    for (size_t i = 0; i < stack.n; i++) {
        char c = stack.p[i];
        depth += (c == '(' || c == '[' || c == '<') - ((c == ')' || c == ']' || c == '>') && depth > 0);
        if (c == ' ' && depth == 0 && stack.p[stack.n - 1] != ')') { /* "void f(int)" */
            return false;
        }
    }
    return true;
}

bool hpx_folded_is_stack(struct hpx_rd_text line)
{
    uint64_t count;
    line.n -= line.n > 0 && line.p[line.n - 1] == '\r';
    return count_of(&line, &count) && is_likely(line);
}

/* The kind of a frame, of which the name has no need: Java code that was compiled (j, 1), inlined (i) or interpreted (0), whose names have
 * slashes; code of the kernel (k). */
static uint32_t name_of(struct folded *f, const char *at, size_t n)
{
    static const char kinds[] = "ji01k";
    char text[4200], spoken[4200];
    bool has = n > 4 && at[n - 4] == '_' && at[n - 3] == '[' && at[n - 1] == ']' && strchr(kinds, at[n - 2]) != NULL && at[n - 2] != '\0';
    bool java = has && at[n - 2] != 'k';
    n -= has ? 4 : 0;
    if (!java || n >= sizeof text) {
        return hpx_name_of_frame(f->tree, at, n);
    }
    memcpy(text, at, n);
    text[n] = '\0';
    hpx_name_spoken(spoken, sizeof spoken, text);
    return hpx_name_of_frame(f->tree, spoken, strlen(spoken));
}

static bool take(struct folded *f, struct hpx_rd_text line)
{
    uint64_t values[HPX_TREE_VALUES] = {0}, before;
    uint32_t node = 0;
    if (!count_of(&line, &values[f->measure])) {
        return false;
    }
    struct hpx_rd_text rest = line;
    if (memchr(line.p, ';', line.n) != NULL && count_of(&rest, &before)) {
        f->two++;
        return false;
    }
    f->likely += is_likely(line);
    for (const char *at = line.p, *end = line.p + line.n; at <= end;) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        uint32_t name = stop > at ? name_of(f, at, (size_t)(stop - at)) : 0;
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

/* Most lines are something else. */
static bool is_none(const struct folded *f)
{
    return f->taken == 0 || 2 * f->likely < f->taken + f->bad;
}

enum hpx_tree_read hpx_tree_read_folded(struct hpx_tree *t, struct hpx_source *s, struct hpx_err *err)
{
    struct folded f = {.tree = t};
    struct hpx_rd_text line;
    size_t whole;
    bool cut = false;
    f.view = hpx_tree_find(t, "samples", "count", &f.measure);
    for (bool inside = false; next(s, &line, &whole, &cut) && !t->no_memory; hpx_source_take(s, whole), inside = cut) {
        bool comment = line.n > 0 && line.p[0] == '#' && (line.n == 1 || line.p[1] == ' '); /* names may begin with it */
        bool blank = !inside && !cut && (line.n == 0 || comment);
        f.line += !inside;
        if (!blank && !inside && !cut && take(&f, line)) {
            f.taken++;
        } else if (!blank) {
            f.first_bad = f.first_bad == 0 ? f.line : f.first_bad;
            f.bad += !inside;
        }
        if (f.line == LOOKED && is_none(&f)) {
            break;
        }
    }
    if (t->no_memory || s->error != 0 || is_none(&f)) {
        (void)hpx_err_set(err, HPX_E_RANGE, "%s",
                          t->no_memory    ? hpx_budget_why()
                          : s->error != 0 ? strerror(s->error)
                          : f.two > 0 ? "stacks with two counts: the difference of two profiles, which hprofx diff makes of the profiles"
                                      : "neither HPROF, nor pprof, nor collapsed stacks");
        return HPX_TREE_FAILED;
    }
    if (f.first_bad > 0) {
        (void)hpx_err_set(err, HPX_E_RANGE, "line %llu is not a stack and a count; such lines are left out",
                          (unsigned long long)f.first_bad);
        return HPX_TREE_PART;
    }
    return HPX_TREE_WHOLE;
}
