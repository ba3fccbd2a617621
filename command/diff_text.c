/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_text.c: the differences of diff.h for people. */
#include "diff.h"
#include "grid.h"
#include "words.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS    20
#define LISTED  10   /* methods of "*" */
#define EXAMPLE 0.2  /* of the samples */
#define WIDE    1000 /* percent, from which on no tenths are shown */

static const char *const figures[HPX_FIGURES] = {"Self: the method itself", "Total: the method and what it calls"};

/* ---- numbers ---- */

static uint64_t whole(double v)
{
    return v < 1.8e19 ? (uint64_t)(v + 0.5) : UINT64_MAX;
}

static void amount(char *to, size_t room, const struct hpx_compare *c, double v)
{
    if (!c->absolute) {
        (void)snprintf(to, room, "%.2f %%", 100 * v);
    } else {
        (void)snprintf(to, room, "%s", c->measure.unit == HPX_UNIT_NS ? hpx_words_seconds(whole(v) / 1000) : hpx_words_number(whole(v)));
    }
}

static double percent(double ratio)
{
    return 100 * (ratio - 1);
}

static void relative(char *to, size_t room, double ratio)
{
    if (isnan(ratio)) {
        (void)snprintf(to, room, "none");
    } else if (isinf(ratio)) {
        (void)snprintf(to, room, "new");
    } else {
        (void)snprintf(to, room, ratio <= 0 ? "gone" : "%+.*f %%", percent(ratio) < WIDE ? 1 : 0, percent(ratio));
    }
}

static void interval(char *to, size_t room, const struct hpx_change *h)
{
    if (isinf(h->low)) {
        (void)snprintf(to, room, "new");
    } else if (isinf(h->high) && h->low <= 0) {
        (void)snprintf(to, room, "not known");
    } else if (isinf(h->high)) {
        (void)snprintf(to, room, "above %+.0f %%", percent(h->low));
    } else {
        (void)snprintf(to, room, "%+.*f to %+.*f %%", percent(h->low) < WIDE ? 1 : 0, percent(h->low), percent(h->high) < WIDE ? 1 : 0,
                       percent(h->high));
    }
}

bool hpx_diff_counted(const struct hpx_compare *c)
{
    bool alone = c->runs[HPX_BEFORE] == 1 && c->runs[HPX_AFTER] == 1;
    return c->kind == HPX_CHANGE_COUNTED || (c->kind == HPX_CHANGE_MEASURED && alone);
}

static bool cannot_tell(const struct hpx_compare *c)
{
    return c->kind == HPX_CHANGE_UNKNOWN && c->runs[HPX_BEFORE] == 1 && c->runs[HPX_AFTER] == 1;
}

/* ---- the head ---- */

/* Also where only the other side was sampled. */
static bool side_was_counted(const struct hpx_compare *c, int side)
{
    return hpx_compare_samples(c, side) <= 0 && hpx_compare_total(c, side) > 0;
}

static void say_side(FILE *to, const struct hpx_diff *d, int side)
{
    const struct hpx_compare *c = &d->compare;
    double n = hpx_compare_samples(c, side), sum = hpx_compare_total(c, side);
    double recorded = hpx_compare_recorded(c, side);
    bool said =
        c->kind == HPX_CHANGE_DRAWN && c->runs[side] == 1 && strcmp(c->measure.name, "samples") == 0 && whole(recorded) == whole(sum);
    char total[64];
    (void)fputs(side == HPX_BEFORE ? "Before: " : "After: ", to);
    if (c->runs[side] == 1) {
        hpx_words_name(to, d->files[side == HPX_BEFORE ? 0 : c->runs[HPX_BEFORE]], 0, false);
    } else {
        (void)fprintf(to, "%zu runs", c->runs[side]);
    }
    if (c->kind == HPX_CHANGE_DRAWN && side_was_counted(c, side)) {
        (void)fputs(", counted", to);
    } else if (c->kind == HPX_CHANGE_DRAWN) {
        (void)fprintf(to, ", %s samples", hpx_words_number(whole(recorded)));
        if (whole(recorded) != whole(n)) {
            (void)fprintf(to, " (%s effective)", hpx_words_number(whole(n)));
        }
    }
    if ((c->absolute && !said) || c->kind != HPX_CHANGE_DRAWN) {
        struct hpx_compare amounts = *c;
        amounts.absolute = true;
        amount(total, sizeof total, &amounts, sum);
        (void)fprintf(to, ", %s%s%s", total, c->measure.unit == HPX_UNIT_NS ? "" : " ",
                      c->measure.unit == HPX_UNIT_NS ? "" : c->measure.title);
    }
    (void)fputs(side == HPX_BEFORE ? ". " : ".\n", to);
}

static size_t changed_methods(const struct hpx_compare *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->methods.len; i++) {
        const struct hpx_compare_method *m = hpx_compare_method(c, i);
        n += m->changed[HPX_SELF] || m->changed[HPX_TOTAL];
    }
    return n;
}

static void say_within(FILE *to, const struct hpx_compare *c)
{
    double far = hpx_change_within(EXAMPLE, hpx_compare_samples(c, HPX_BEFORE), hpx_compare_samples(c, HPX_AFTER));
    bool alone = c->runs[HPX_BEFORE] == 1 && c->runs[HPX_AFTER] == 1;
    if (c->kind == HPX_CHANGE_DRAWN && !c->absolute && alone && isfinite(far)) {
        (void)fprintf(to, " The change of a method with %.0f %% of the samples is right within %.*f %%.", 100 * EXAMPLE, far < 0.1 ? 1 : 0,
                      100 * far);
    }
}

const char *hpx_diff_filtered(const struct hpx_diff *d, int side, uint64_t *part, uint64_t *all)
{
    const struct hpx_compare *c = &d->compare;
    const char *filters = NULL;
    *part = *all = 0;
    for (size_t i = side == HPX_BEFORE ? 0 : c->runs[HPX_BEFORE], end = i + c->runs[side]; i < end; i++) {
        const struct hpx_compare_run *r = &c->run[i];
        filters = r->tree->filtered != 0 ? hpx_tree_text(r->tree, r->tree->filtered) : filters;
        *part = hpx_tree_sum(*part, r->view != NULL ? r->view->totals[r->measure] : 0);
        *all = hpx_tree_sum(*all, r->view != NULL ? r->view->before[r->measure] : 0);
    }
    return filters;
}

static void say_filtered(FILE *to, const struct hpx_diff *d)
{
    uint64_t part[HPX_SIDES], all[HPX_SIDES];
    const char *before = hpx_diff_filtered(d, HPX_BEFORE, &part[HPX_BEFORE], &all[HPX_BEFORE]),
               *after = hpx_diff_filtered(d, HPX_AFTER, &part[HPX_AFTER], &all[HPX_AFTER]);
    if (before == NULL && after == NULL) {
        return;
    }
    (void)fputs("Filtered by ", to);
    hpx_words_name(to, before != NULL ? before : after, 0, false);
    for (int side = 0; side < HPX_SIDES; side++) {
        char of[64];
        struct hpx_compare amounts = d->compare;
        amounts.absolute = true;
        amount(of, sizeof of, &amounts, (double)part[side]);
        (void)fprintf(to, "%s%s of ", side == HPX_BEFORE ? ": before " : ", after ", of);
        amount(of, sizeof of, &amounts, (double)all[side]);
        (void)fprintf(to, "%s", all[side] > 0 ? of : "an unknown total");
    }
    (void)fprintf(to, " (%s).\n", d->compare.measure.title);
}

void hpx_diff_say_sides(FILE *to, const struct hpx_diff *d)
{
    say_side(to, d, HPX_BEFORE);
    say_side(to, d, HPX_AFTER);
    say_filtered(to, d);
}

void hpx_diff_say_changes(FILE *to, const struct hpx_compare *c)
{
    size_t n = changed_methods(c);
    const char *all = hpx_words_number(c->methods.len);
    (void)fprintf(to, "%s of %s%s: ", c->absolute ? "Amounts" : "Shares", c->measure.title, c->absolute ? " in a run" : "");
    if (cannot_tell(c)) {
        (void)fputs("the profiles do not say from how many samples they are; several runs on each side tell changes from chance.\n", to);
    } else if (hpx_diff_counted(c) && n == 0) {
        (void)fprintf(to, "none of %s methods differs.\n", all);
    } else if (hpx_diff_counted(c)) {
        (void)fprintf(to, "%s of %s methods differ%s.%s\n", hpx_words_number(n), all, n == 1 ? "s" : "",
                      c->kind == HPX_CHANGE_MEASURED ? " Times differ from run to run: several runs on each side show by how much." : "");
    } else if (n == 0) {
        (void)fprintf(to, "none of %s methods differs beyond chance.", all);
        say_within(to, c);
        (void)fputc('\n', to);
    } else {
        (void)fprintf(to, "%s of %s methods differ%s beyond chance (at most 5 %% of such rows are false).\n", hpx_words_number(n), all,
                      n == 1 ? "s" : "");
    }
}

/* ---- the tables ---- */

void hpx_diff_cells(const struct hpx_compare *c, const struct hpx_compare_method *m, int figure, struct hpx_diff_cells *to)
{
    amount(to->before, sizeof to->before, c, m->side[figure][HPX_BEFORE].mean);
    amount(to->after, sizeof to->after, c, m->side[figure][HPX_AFTER].mean);
    relative(to->change, sizeof to->change, m->change[figure].ratio);
    to->interval[0] = '\0';
    if (!hpx_diff_counted(c)) {
        interval(to->interval, sizeof to->interval, &m->change[figure]);
    }
}

struct row {
    const struct hpx_compare_method *method;
    double far;
};

static int farthest(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->far != y->far ? (x->far < y->far) - (x->far > y->far) : strcmp(x->method->name, y->method->name);
}

static void table(FILE *to, const struct hpx_compare *c, int figure, const struct row *rows, size_t n)
{
    static const struct hpx_grid_column columns[] = {
        {"before", 2, 8, false}, {"after", 2, 8, false}, {"change", 2, 8, false}, {"95 % interval", 2, 13, false}};
    struct hpx_grid g;
    (void)fprintf(to, "\n%s\n", figures[figure]);
    hpx_grid_begin(&g, to, columns, hpx_diff_counted(c) ? 3 : 4);
    do {
        hpx_grid_heads(&g);
        if (hpx_grid_end(&g)) {
            (void)fputs("  method\n", to);
        }
        for (size_t i = 0; i < n && i < ROWS; i++) {
            const struct hpx_compare_method *m = rows[i].method;
            struct hpx_diff_cells cells;
            hpx_diff_cells(c, m, figure, &cells);
            hpx_grid_cell(&g, cells.before);
            hpx_grid_cell(&g, cells.after);
            hpx_grid_cell(&g, cells.change);
            if (!hpx_diff_counted(c)) {
                hpx_grid_cell(&g, cells.interval);
            }
            if (hpx_grid_end(&g)) {
                (void)fputs("  ", to);
                hpx_words_java(to, m->name);
                (void)fputc('\n', to);
            }
        }
    } while (hpx_grid_again(&g));
    if (n > ROWS) {
        (void)fprintf(to, "  and %s more methods\n", hpx_words_number(n - ROWS));
    }
}

static bool tables(FILE *to, const struct hpx_compare *c)
{
    struct row *rows = calloc(c->methods.len + 1, sizeof *rows);
    for (int figure = HPX_TOTAL; rows != NULL && figure >= HPX_SELF; figure--) {
        size_t n = 0;
        for (size_t i = 0; i < c->methods.len; i++) {
            const struct hpx_compare_method *m = hpx_compare_method(c, i);
            if (m->changed[figure]) {
                rows[n++] = (struct row){m, fabs(m->change[figure].points)};
            }
        }
        if (n > 0) {
            qsort(rows, n, sizeof *rows, farthest);
            table(to, c, figure, rows, n);
        }
    }
    free(rows);
    return rows != NULL;
}

/* ---- the conditions ---- */

static void say_figures(FILE *to, const struct hpx_compare *c, const struct hpx_condition *k, const struct hpx_finding *f)
{
    char before[64], after[64], change[64], between[64];
    amount(before, sizeof before, c, f->side[HPX_BEFORE].mean);
    amount(after, sizeof after, c, f->side[HPX_AFTER].mean);
    relative(change, sizeof change, f->change.ratio);
    interval(between, sizeof between, &f->change);
    if (k->points) {
        (void)snprintf(change, sizeof change, "%+.2f points", 100 * f->change.points);
        (void)snprintf(between, sizeof between, "%+.2f to %+.2f", 100 * f->change.points_low, 100 * f->change.points_high);
    }
    (void)fprintf(to, ": %s -> %s (%s", before, after, change);
    if (!hpx_diff_counted(c) && !(isinf(f->change.points_high))) {
        (void)fprintf(to, ", %s interval %s", k->every ? "joint 95 %" : "95 %", between);
    }
    (void)fputs("): ", to);
}

static const char *about(double n)
{
    double scale = n >= 1000 ? pow(10, floor(log10(n)) - 1) : 1;
    return hpx_words_number(whole(ceil(n / scale) * scale));
}

/* Why nothing can be said, and what would help. */
static void say_need(FILE *to, const struct hpx_compare *c, const struct hpx_condition *k, const struct hpx_finding *f)
{
    double before = hpx_compare_samples(c, HPX_BEFORE), after = hpx_compare_samples(c, HPX_AFTER);
    if (c->kind == HPX_CHANGE_UNKNOWN && f->change.degrees < 1) {
        (void)fprintf(to, "cannot tell %s: the profiles do not say from how many samples they are; give several runs on each side",
                      k->change);
        return;
    }
    if (c->kind == HPX_CHANGE_UNKNOWN && !(f->side[HPX_BEFORE].mean > 0 && f->side[HPX_AFTER].mean > 0)) {
        (void)fprintf(to, "cannot tell %s: on one side it is in no run", k->change);
        return;
    }
    if (f->samples > 0) {
        bool counts = side_was_counted(c, HPX_BEFORE) || side_was_counted(c, HPX_AFTER);
        (void)fprintf(to, "too few samples to tell %s", k->change);
        if (isinf(f->samples)) {
            (void)fputs(before > 0 && after > 0 ? "; no number would do"
                        : counts                ? " on the side that was sampled"
                                                : "; a side has none",
                        to);
        } else {
            (void)fprintf(to, ": about %s on each side would do, now %s", about(f->samples), hpx_words_number(whole(before)));
            bool all =
                whole(before) == whole(hpx_compare_recorded(c, HPX_BEFORE)) && whole(after) == whole(hpx_compare_recorded(c, HPX_AFTER));
            (void)fprintf(to, " and %s%s", hpx_words_number(whole(after)), all ? "" : " effective ones");
        }
    }
    if (f->runs > 0) {
        (void)fprintf(to, "%s", f->samples > 0 ? ", and the runs differ" : "the runs differ too much to tell ");
        (void)fputs(f->samples > 0 ? "" : k->change, to);
        if (isfinite(f->runs)) {
            (void)fprintf(to, ": about %.0f on each side would do, now %zu and %zu", f->runs, c->runs[HPX_BEFORE], c->runs[HPX_AFTER]);
        }
    }
}

static void say_finding(FILE *to, const struct hpx_compare *c, const struct hpx_condition *k, const struct hpx_finding *f)
{
    if (k->every) {
        hpx_words_java(to, f->name);
    } else {
        hpx_words_name(to, k->method, 0, false);
    }
    if (k->methods != 1 && !k->every && k->methods > 0) {
        (void)fprintf(to, " (%s methods)", hpx_words_number(k->methods));
    }
    (void)fputs(k->self ? " itself" : "", to);
    if (k->methods == 0) {
        (void)fputs(": no method of these profiles has that name: check it\n", to);
        return;
    }
    say_figures(to, c, k, f);
    if (f->result == HPX_CONDITION_UNSURE) {
        say_need(to, c, k, f);
    } else {
        (void)fprintf(to, "%s %s", f->result == HPX_CONDITION_HOLDS ? "fails" : "passes", k->change);
    }
    (void)fputc('\n', to);
}

static void say_every(FILE *to, const struct hpx_compare *c, const struct hpx_condition *k)
{
    const struct hpx_finding *f = k->finding.items;
    size_t holds = 0;
    if (k->methods == 0) {
        (void)fprintf(to, "*%s: cannot tell %s: no method has 1 %% of the total%s\n", k->self ? " itself" : "", k->change,
                      k->self ? " by itself" : "");
        return;
    }
    for (size_t i = 0; i < k->finding.len; i++) {
        holds += f[i].result == HPX_CONDITION_HOLDS;
        if (i < LISTED) {
            say_finding(to, c, k, &f[i]);
        }
    }
    (void)fprintf(to, "*: of %s method%s%s, ", hpx_words_number(k->methods), k->methods == 1 ? "" : "s",
                  c->kind == HPX_CHANGE_COUNTED ? "" : " with at least 1 %");
    if (k->finding.len == 0) {
        (void)fprintf(to, "none: passes %s\n", k->change);
    } else {
        (void)fprintf(to, "%s fail%s %s", hpx_words_number(holds), holds == 1 ? "s" : "", k->change);
        (void)fprintf(to, " and %s cannot be told\n", hpx_words_number(k->finding.len - holds));
    }
}

void hpx_diff_say_condition(FILE *to, const struct hpx_compare *c, const struct hpx_condition *k)
{
    if (k->every) {
        say_every(to, c, k);
    } else {
        say_finding(to, c, k, k->finding.items);
    }
}

bool hpx_diff_text(FILE *to, const struct hpx_diff *d)
{
    const struct hpx_compare *c = &d->compare;
    hpx_diff_say_sides(to, d);
    hpx_diff_say_changes(to, c);
    if (!tables(to, c)) {
        return false;
    }
    for (size_t i = 0; i < d->nconditions; i++) {
        (void)fputs(i == 0 ? "\n" : "", to);
        hpx_diff_say_condition(to, c, &d->conditions[i]);
    }
    return true;
}
