/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_page.c: the differences of diff.h as a page: the call trees of both sides, and beside them what the terminal says, in its words and
 * with its numbers, for every measure that a side has, as shares and as amounts:
 *
 *   {"absolute": what was asked for, "runs": [before, after], "conditions": [[result, lines], ...], "measures": [{"name", "unit", "modes":
 *   [shares, amounts]}]}, a mode: {"said": sentences, "known": whether changes can be told from chance, "rows": [[method, bits, cells of
 *   self, cells of total], ...]}; bits: 1 self is beyond chance, 2 total, 4 it is a class; cells: before, after, change, interval.
 *
 * Rows without cells have none that the trees do not tell; methods without a row are within chance, or were too small to be judged. */
#include "diff.h"
#include "writers.h"
#include <stdlib.h>
#include <string.h>

#define LEAST 0.00005 /* of the total */

/* A side has one tree. */
static bool join(struct hpx_tree *to, const struct hpx_compare *c, int side)
{
    bool ready = hpx_tree_init(to);
    size_t first = side == HPX_BEFORE ? 0 : c->runs[HPX_BEFORE];
    for (size_t i = 0; ready && i < c->runs[side]; i++) {
        hpx_tree_join(to, c->run[first + i].tree);
    }
    hpx_tree_finish(to);
    return ready && !to->no_memory;
}

static struct hpx_tree_column column_of(const struct hpx_compare *c, const struct hpx_tree *t)
{
    struct hpx_tree_column found = {0, 0};
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        for (size_t m = 0; m < t->views[k].values; m++) {
            if (strcmp(t->views[k].measures[m].name, c->measure.name) == 0) {
                found = (struct hpx_tree_column){k, m};
            }
        }
    }
    return found;
}

static void put_cells(FILE *to, const struct hpx_compare *c, const struct hpx_compare_method *m)
{
    struct hpx_diff_cells cells;
    for (int figure = HPX_SELF; figure <= HPX_TOTAL; figure++) {
        hpx_diff_cells(c, m, figure, &cells);
        (void)fputs(",[", to);
        hpx_json_string(to, cells.before);
        (void)fputc(',', to);
        hpx_json_string(to, cells.after);
        (void)fputc(',', to);
        hpx_json_string(to, cells.change);
        (void)fputc(',', to);
        hpx_json_string(to, cells.interval);
        (void)fputc(']', to);
    }
}

/* Of figures that are smaller than that the cells are left out: there may be very many, and all are 0.00 %. */
static bool is_large(const struct hpx_compare *c, const struct hpx_compare_method *m)
{
    bool large = false;
    for (int side = 0; side < HPX_SIDES; side++) {
        double all = c->absolute ? hpx_compare_total(c, side) : 1;
        large = large || (all > 0 && m->side[HPX_TOTAL][side].mean >= LEAST * all);
    }
    return large;
}

static void put_rows(FILE *to, const struct hpx_compare *c)
{
    bool alone = c->runs[HPX_BEFORE] == 1 && c->runs[HPX_AFTER] == 1;
    const char *between = "";
    for (size_t i = 0; i < c->methods.len; i++) {
        const struct hpx_compare_method *m = hpx_compare_method(c, i);
        bool changed = m->changed[HPX_SELF] || m->changed[HPX_TOTAL], tested = m->tested[HPX_SELF] || m->tested[HPX_TOTAL];
        /* Of what neither changed nor has an interval the trees tell the same. */
        bool cells = is_large(c, m) && (changed || !alone || (tested && !hpx_diff_counted(c)));
        if (changed || cells) {
            (void)fprintf(to, "%s[", between);
            hpx_json_string(to, m->name);
            (void)fprintf(to, ",%d", m->changed[HPX_SELF] + 2 * m->changed[HPX_TOTAL] + 4 * m->is_class);
            if (cells) {
                put_cells(to, c, m);
            }
            (void)fputc(']', to);
            between = ",\n";
        }
    }
}

static bool put_text(FILE *to, const struct hpx_diff *d, const struct hpx_condition *k)
{
    char *text = NULL;
    size_t n;
    FILE *lines = open_memstream(&text, &n);
    if (lines == NULL) {
        return false;
    }
    if (k != NULL) {
        hpx_diff_say_condition(lines, &d->compare, k);
    } else {
        hpx_diff_say_sides(lines, d);
        hpx_diff_say_changes(lines, &d->compare);
    }
    bool good = fclose(lines) == 0;
    if (good) {
        hpx_json_string(to, text);
    }
    free(text);
    return good;
}

static bool put_mode(FILE *to, const struct hpx_diff *d)
{
    const struct hpx_compare *c = &d->compare;
    bool alone = c->runs[HPX_BEFORE] == 1 && c->runs[HPX_AFTER] == 1;
    (void)fputs("{\"said\":", to);
    bool good = put_text(to, d, NULL);
    (void)fprintf(to, ",\"known\":%s,\"rows\":[", c->kind == HPX_CHANGE_UNKNOWN && alone ? "false" : "true");
    put_rows(to, c);
    (void)fputs("]}", to);
    return good;
}

/* What `diff --view NAME`, with or without --absolute, tells of the same files. */
static bool put_measure(FILE *to, const struct hpx_diff *d, const struct hpx_tree_measure *m)
{
    static const char *const units[] = {"count", "ns", "bytes", "other"};
    bool good = true;
    (void)fputs("{\"name\":", to);
    hpx_json_string(to, m->name);
    (void)fprintf(to, ",\"unit\":\"%s\",\"modes\":[", units[m->unit]);
    for (int absolute = 0; absolute < 2 && good; absolute++) {
        struct hpx_diff other = {.files = d->files};
        const struct hpx_compare *c = &d->compare;
        (void)fputs(absolute == 1 ? ",\n" : "", to);
        if (c->absolute == (absolute == 1) && c->measure.unit == m->unit && strcmp(c->measure.name, m->name) == 0) {
            good = put_mode(to, d);
            continue;
        }
        good = hpx_compare_init(&other.compare, c->runs[HPX_BEFORE], c->runs[HPX_AFTER], absolute == 1);
        for (size_t i = 0; good && i < c->all_runs; i++) {
            hpx_compare_run(&other.compare, i, c->run[i].tree);
        }
        good = good && hpx_compare_choose(&other.compare, m->name) && hpx_compare_methods(&other.compare) && put_mode(to, &other);
        hpx_compare_fini(&other.compare);
    }
    (void)fputs("]}", to);
    return good;
}

static void put_conditions(FILE *to, const struct hpx_diff *d, bool *good)
{
    static const char *const words[] = {[HPX_CONDITION_HOLDS] = "fails", [HPX_CONDITION_NOT] = "passes", [HPX_CONDITION_UNSURE] = "unsure"};
    for (size_t i = 0; i < d->nconditions; i++) {
        (void)fprintf(to, "%s[\"%s\",", i == 0 ? "" : ",\n", words[d->conditions[i].result]);
        *good = put_text(to, d, &d->conditions[i]) && *good;
        (void)fputc(']', to);
    }
}

static bool has(const struct hpx_tree *t, const struct hpx_tree_measure *m)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    bool found = false;
    for (size_t i = 0, n = hpx_tree_columns(t, of); i < n; i++) {
        const struct hpx_tree_measure *its = &t->views[of[i].view].measures[of[i].measure];
        found = found || (its->unit == m->unit && strcmp(its->name, m->name) == 0);
    }
    return found;
}

/* The measures of a side, without those that `said` has. */
static bool put_measures(FILE *to, const struct hpx_diff *d, const struct hpx_tree *t, const struct hpx_tree *said, const char **between)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    bool good = true;
    for (size_t i = 0, n = hpx_tree_columns(t, of); i < n && good; i++) {
        const struct hpx_tree_measure *m = &t->views[of[i].view].measures[of[i].measure];
        if (said == NULL || !has(said, m)) {
            (void)fputs(*between, to);
            *between = ",\n";
            good = put_measure(to, d, m);
        }
    }
    return good;
}

static bool put_all(FILE *to, const struct hpx_diff *d, const struct hpx_tree *sides)
{
    const struct hpx_compare *c = &d->compare;
    const char *between = "";
    bool good = true;
    (void)fprintf(to, "{\"absolute\":%s,\"runs\":[%zu,%zu],\"conditions\":[", c->absolute ? "true" : "false", c->runs[HPX_BEFORE],
                  c->runs[HPX_AFTER]);
    put_conditions(to, d, &good);
    (void)fputs("],\"measures\":[", to);
    good = good && put_measures(to, d, &sides[HPX_AFTER], NULL, &between) &&
           put_measures(to, d, &sides[HPX_BEFORE], &sides[HPX_AFTER], &between);
    (void)fputs("]}", to);
    return good;
}

bool hpx_diff_page(FILE *to, const struct hpx_diff *d)
{
    struct hpx_tree sides[HPX_SIDES];
    char *text = NULL;
    size_t n = 0;
    bool good = true;
    for (int side = 0; side < HPX_SIDES; side++) {
        good = join(&sides[side], &d->compare, side) && good;
    }
    FILE *said = good ? open_memstream(&text, &n) : NULL;
    if (said != NULL) {
        good = put_all(said, d, sides);
        good = fclose(said) == 0 && good;
    }
    good = good && said != NULL &&
           hpx_write_page_diff(&sides[HPX_BEFORE], &sides[HPX_AFTER], column_of(&d->compare, &sides[HPX_AFTER]), text, n, to);
    free(text);
    for (int side = 0; side < HPX_SIDES; side++) {
        hpx_tree_fini(&sides[side]);
    }
    return good;
}
