/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_diff.c: the command line of hprofx diff, its files, and its status. */
#include "budget.h"
#include "diff.h"
#include "filters.h"
#include "heap_diff.h"
#include "heap_source.h"
#include "inputs.h"
#include "picture.h"
#include "subcommands.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUTS 8

/* As diff(1) and grep(1) have it: 1 is an answer. */
#define TROUBLE HPX_USAGE

struct asked {
    const char *view;
    bool absolute, json, retained;
    const char *outputs[OUTPUTS];
    size_t noutputs, before; /* files: those of all sides in d.files */
    size_t files;
    struct hpx_engine_how how;
    struct hpx_filter filter;
    struct hpx_diff d;
};

int hpx_diff_status(const struct hpx_diff *d)
{
    int status = d->broken ? HPX_PARTIAL : HPX_OK;
    for (size_t i = 0; i < d->nconditions; i++) {
        enum hpx_condition_result r = d->conditions[i].result;
        if (r == HPX_CONDITION_HOLDS) {
            return HPX_FAILED;
        }
        status = r == HPX_CONDITION_UNSURE ? HPX_PARTIAL : status;
    }
    return status;
}

/* ---- files to write ---- */

enum kind { KIND_NONE, KIND_PAGE, KIND_JSON, KIND_TEXT };

static enum kind kind_of(const char *file)
{
    static const struct {
        const char *suffix;
        enum kind kind;
    } kinds[] = {{".html", KIND_PAGE}, {".json", KIND_JSON}, {".txt", KIND_TEXT}};
    size_t n = strlen(file);
    for (size_t i = 0; i < HPX_ARRAY_LEN(kinds); i++) {
        size_t k = strlen(kinds[i].suffix);
        if (n > k && strcmp(file + n - k, kinds[i].suffix) == 0) {
            return kinds[i].kind;
        }
    }
    return KIND_NONE;
}

static enum hpx_status save(const struct hpx_diff *d, const char *file, struct hpx_err *err)
{
    bool made = false;
    enum kind kind = kind_of(file);
    int fd = hpx_out_open(file, &made, err);
    FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd < 0) {
        return HPX_FAILED;
    }
    if (to == NULL) {
        (void)close(fd);
        return hpx_fail(err, HPX_FAILED, "cannot write %s: %s", file, strerror(errno));
    }
    (void)!ftruncate(fd, 0); /* a pipe has no length */
    errno = 0;
    bool ok = kind == KIND_PAGE ? hpx_diff_page(to, d) : kind == KIND_JSON ? hpx_diff_json(to, d) : hpx_diff_text(to, d);
    int why = ok ? 0 : errno != 0 ? errno : ENOMEM;
    ok = ferror(to) == 0 && ok;
    if (fclose(to) != 0 || !ok) {
        why = why != 0 ? why : errno;
        if (made) {
            (void)unlink(file);
        }
        return hpx_fail(err, HPX_FAILED, "cannot write %s: %s", file, strerror(why));
    }
    return HPX_OK;
}

static enum hpx_status write_all(const struct asked *a, struct hpx_err *err)
{
    enum hpx_status s = HPX_OK;
    if (!(a->json ? hpx_diff_json(stdout, &a->d) : hpx_diff_text(stdout, &a->d))) {
        return hpx_fail(err, HPX_FAILED, "no memory");
    }
    for (size_t i = 0; i < a->noutputs && s == HPX_OK; i++) {
        s = save(&a->d, a->outputs[i], err);
    }
    return s;
}

/* ---- comparing ---- */

/* No run of the side has what is compared, but other figures: it was recorded in another mode, and did not do without. */
static bool is_of_other(const struct hpx_compare *c, int side)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    bool has = false, others = false;
    for (size_t i = side == 0 ? 0 : c->runs[0], end = i + c->runs[side]; i < end; i++) {
        has = has || c->run[i].view != NULL;
        others = others || hpx_tree_columns(c->run[i].tree, of) > 0;
    }
    return others && !has;
}

static enum hpx_status fail_nothing(const struct asked *a, struct hpx_err *err)
{
    const char *filters = "";
    for (size_t i = 0; i < a->files && filters[0] == '\0'; i++) {
        const struct hpx_tree *t = a->d.compare.run[i].tree;
        filters = hpx_tree_text(t, t->filtered);
    }
    return filters[0] != '\0' && a->view == NULL ? hpx_fail(err, HPX_FAILED, "nothing in the profiles fits %s", filters)
           : filters[0] != '\0'                  ? hpx_fail(err, HPX_FAILED, "no profile has %s that fits %s", a->view, filters)
           : a->view != NULL                     ? hpx_fail(err, HPX_FAILED, "no profile has %s", a->view)
                                                 : hpx_fail(err, HPX_FAILED, "the profiles have no stacks");
}

static enum hpx_status judge(struct asked *a, struct hpx_err *err)
{
    struct hpx_compare *c = &a->d.compare;
    if (!hpx_compare_choose(c, a->view)) {
        return fail_nothing(a, err);
    }
    for (int side = 0; a->view == NULL && side < HPX_SIDES; side++) {
        if (is_of_other(c, side)) {
            return hpx_fail(err, HPX_FAILED, "the profiles %s have stacks, but no %s: nothing to compare; --view chooses what is compared",
                            side == 0 ? "before" : "after", c->title);
        }
    }
    bool ok = hpx_compare_methods(c);
    for (size_t i = 0; ok && i < a->d.nconditions; i++) {
        ok = hpx_condition_judge(&a->d.conditions[i], c);
    }
    return ok ? write_all(a, err) : hpx_fail(err, HPX_FAILED, "no memory");
}

/* The run that a word stands for. */
static enum hpx_status read_run(struct asked *a, const char *word, struct hpx_tree *t, struct hpx_err *err)
{
    struct hpx_inputs in = {.how = a->how};
    enum hpx_status s = hpx_inputs_add(&in, word, err);
    s = s == HPX_OK ? hpx_inputs_read(&in, t, err) : s;
    if (s == HPX_OK || s == HPX_PARTIAL) {
        hpx_filter_apply(t, &a->filter);
    }
    hpx_inputs_fini(&in);
    a->d.broken |= s == HPX_PARTIAL;
    s = s == HPX_PARTIAL ? HPX_OK : s;
    return s == HPX_OK && t->no_memory ? hpx_fail(err, HPX_FAILED, "%s", hpx_budget_why()) : s;
}

static enum hpx_status read_all(struct asked *a, struct hpx_tree *trees, struct hpx_err *err)
{
    enum hpx_status s = HPX_OK;
    for (size_t i = 0; i < a->files && s == HPX_OK; i++) {
        s = read_run(a, a->d.files[i], &trees[i], err);
    }
    return s;
}

static bool has_heap_alone(const struct hpx_tree *t)
{
    bool alone = true;
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        alone = alone && (k == HPX_VIEW_HEAP || t->views[k].samples.len == 0);
    }
    return alone;
}

/* Two files with a heap dump and nothing else, for a person, who thinks of classes then and not of methods. */
static bool wants_heaps(const struct asked *a, const struct hpx_tree *trees)
{
    bool heaps = a->files == 2 && a->view == NULL && !a->absolute && !a->json && a->noutputs == 0 && a->d.nconditions == 0 &&
                 a->filter.patterns.len == 0;
    for (size_t i = 0; heaps && i < a->files; i++) {
        heaps = !hpx_engine_is(a->d.files[i]) && strcmp(a->d.files[i], "-") != 0 && has_heap_alone(&trees[i]) &&
                hpx_heap_is_file(a->d.files[i]);
    }
    return heaps;
}

/* *none: a file has its dump as text. */
static enum hpx_status compare_heaps(const struct asked *a, bool *none, struct hpx_err *err)
{
    struct hpx_heap_side side[2];
    struct hpx_err why = {""};
    enum hpx_heap_read done = HPX_HEAP_READ;
    for (int i = 0; i < 2; i++) {
        side[i] = (struct hpx_heap_side){a->d.files[i], open(a->d.files[i], O_RDONLY | O_CLOEXEC | O_NOCTTY)};
        done = side[i].fd >= 0 ? done : HPX_HEAP_NONE;
    }
    done = done == HPX_HEAP_READ ? hpx_heap_diff_tell(stdout, side, a->retained, &why) : done;
    for (int i = 0; i < 2; i++) {
        if (side[i].fd >= 0) {
            (void)close(side[i].fd);
        }
    }
    *none = done == HPX_HEAP_NONE;
    return done == HPX_HEAP_FAILED                    ? hpx_fail(err, HPX_FAILED, "%s", why.msg)
           : done == HPX_HEAP_PARTIAL && !a->d.broken ? hpx_fail(err, HPX_PARTIAL, "%s", why.msg)
                                                      : HPX_OK;
}

static enum hpx_status compare_trees(struct asked *a, const struct hpx_tree *trees, struct hpx_err *err)
{
    bool none = true;
    if (wants_heaps(a, trees)) {
        enum hpx_status s = compare_heaps(a, &none, err);
        if (s != HPX_OK || !none) {
            return s;
        }
    }
    if (a->retained) {
        return hpx_fail(err, HPX_FAILED, "--retained compares two binary files that have a heap dump and nothing else");
    }
    bool enough = hpx_compare_init(&a->d.compare, a->before, a->files - a->before, a->absolute);
    for (size_t i = 0; enough && i < a->files; i++) {
        hpx_compare_run(&a->d.compare, i, &trees[i]);
    }
    return enough ? judge(a, err) : hpx_fail(err, HPX_FAILED, "no memory");
}

static int compare(struct asked *a)
{
    struct hpx_err err = {""};
    enum hpx_status s = HPX_OK;
    struct hpx_tree *trees = calloc(a->files + 1, sizeof *trees);
    size_t made = 0;
    bool ready = trees != NULL;
    while (ready && made < a->files) {
        ready = hpx_tree_init(&trees[made++]);
    }
    if (!ready) {
        s = hpx_fail(&err, HPX_FAILED, "no memory");
    } else if ((s = read_all(a, trees, &err)) == HPX_OK) {
        s = compare_trees(a, trees, &err);
        hpx_compare_fini(&a->d.compare);
    }
    while (made > 0) {
        hpx_tree_fini(&trees[--made]);
    }
    free(trees);
    return s != HPX_OK ? hpx_complain(s == HPX_FAILED ? TROUBLE : s, &err) : hpx_diff_status(&a->d);
}

/* ---- the command line ---- */

/* The status with which the command ends at once, or -1. */
static int take(struct asked *a, const struct hpx_arguments *args, int option)
{
    const char *value = args->value, *wrong;
    if (hpx_filters_option(&a->filter, option, value, &wrong)) {
        return wrong == NULL ? -1 : hpx_arguments_misuse(args, "%s", wrong);
    }
    switch (option) {
    case HPX_ARGUMENTS_WORD:
        a->d.files[a->files++] = args->rest[-1];
        return -1;
    case HPX_ARGUMENTS_ENDS:
        return args->status;
    case HPX_O_VIEW:
        a->view = value;
        return -1;
    case HPX_O_ABSOLUTE:
        a->absolute = true;
        return -1;
    case HPX_O_JSON:
        a->json = true;
        return -1;
    case HPX_O_RETAINED:
        a->retained = true;
        return -1;
    case HPX_O_FAIL_IF:
        a->d.conditions[a->d.nconditions++].text = value;
        return -1;
    case HPX_O_OUTPUT:
        if (kind_of(value) == KIND_NONE || a->noutputs == OUTPUTS) {
            return hpx_arguments_misuse(args, a->noutputs == OUTPUTS ? "too many -o" : "-o wants a file .html, .json or .txt");
        }
        a->outputs[a->noutputs++] = value;
        return -1;
    default:
        (void)hpx_engine_option(&a->how, option, value);
        return -1;
    }
}

/* Behind a -- that comes first nothing is an option; a second one stands between the sides. */
static int take_all(struct asked *a, struct hpx_arguments *args, bool *sides)
{
    int status = -1;
    for (int next; status < 0 && (next = hpx_arguments_next(args)) != HPX_ARGUMENTS_LAST;) {
        if (next != HPX_ARGUMENTS_DASHES) {
            status = take(a, args, next);
        } else if (*sides) {
            return hpx_arguments_misuse(args, "there are two sides: A... -- B...");
        } else if (a->files == 0 && !args->plain) {
            args->plain = true;
        } else {
            a->before = a->files;
            *sides = true;
        }
    }
    return status;
}

static int parse(struct asked *a, struct hpx_arguments *args)
{
    struct hpx_err err = {""};
    bool sides = false;
    a->before = 1;
    int status = take_all(a, args, &sides);
    if (status >= 0) {
        return status;
    }
    if (a->files < 2 || a->before == 0 || a->before == a->files || (!sides && a->files > 2)) {
        return hpx_arguments_misuse(args, sides ? "diff needs profiles before and behind --"
                                                : "diff needs two profiles; several on each side have -- between");
    }
    for (size_t i = 0; i < a->d.nconditions; i++) {
        if (hpx_condition_parse(&a->d.conditions[i], a->d.conditions[i].text, a->absolute, &err) != 0) {
            return hpx_complain(HPX_USAGE, &err);
        }
    }
    return -1;
}

int hpx_diff(struct hpx_arguments *args)
{
    struct asked a = {.view = NULL};
    size_t most = 1; /* words */
    for (char **word = args->rest; *word != NULL; word++) {
        most++;
    }
    a.d.files = calloc(most, sizeof *a.d.files);
    a.d.conditions = calloc(most, sizeof *a.d.conditions);
    int status = TROUBLE;
    if (a.d.files == NULL || a.d.conditions == NULL) {
        (void)fputs("hprofx: no memory\n", stderr);
    } else {
        status = parse(&a, args);
        status = status < 0 ? compare(&a) : status;
    }
    for (size_t i = 0; i < a.d.nconditions; i++) {
        hpx_condition_fini(&a.d.conditions[i]);
    }
    hpx_filter_fini(&a.filter);
    free(a.d.conditions);
    free(a.d.files);
    return status;
}
