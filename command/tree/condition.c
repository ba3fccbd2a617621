/* SPDX-License-Identifier: BSD-2-Clause */
/* condition.c: see condition.h. */
#include "condition.h"
#include "sums.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST    0.01  /* of the total: a smaller method is not judged by "*", because it never has enough samples */
#define ROUNDING 1e-12 /* 105 of 100 are not more than 5 % */
#define TWICE    2.0   /* fewer more samples are not worth another run */
#define MOST     1e12
#define RUNS     1000 /* more than anybody has */

/* ---- names ---- */

/* * and ? as in a shell; one mark to come back to is enough, so the time is at most the product of both lengths. */
static bool glob(const char *pattern, const char *at, const char *end)
{
    const char *star = NULL, *mark = NULL;
    while (at < end) {
        if (*pattern == '*') {
            star = pattern++;
            mark = at;
        } else if (*pattern == '?' || (*pattern == *at && *pattern != '\0')) {
            pattern++;
            at++;
        } else if (star != NULL) {
            pattern = star + 1;
            at = ++mark;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

bool hpx_condition_fits(const char *pattern, const char *name)
{
    const char *arguments = strchr(pattern, '(') == NULL ? strchr(name, '(') : NULL;
    const char *end = arguments != NULL && arguments > name ? arguments : name + strlen(name);
    if (strcmp(name, HPX_REST) == 0) {
        return false;
    }
    if (glob(pattern, name, end)) {
        return true;
    }
    for (const char *at = name; pattern[0] != '*' && at < end; at++) {
        if ((*at == '.' || *at == '$' || *at == '/') && glob(pattern, at + 1, end)) {
            return true;
        }
    }
    return false;
}

static bool fits(void *pattern, const char *name)
{
    return hpx_condition_fits(pattern, name);
}

/* ---- the words ---- */

/* "+5%", "-2pt". What else strtod() takes, such as 0x5 and 1e3, ends behind the digits. */
static bool take_change(struct hpx_condition *k, const char *word)
{
    char *unit;
    size_t digits = word[0] != '\0' ? strspn(word + 1, "0123456789.") : 0;
    if ((word[0] != '+' && word[0] != '-') || strlen(word) >= sizeof k->change || digits == 0) {
        return false;
    }
    k->sign = word[0] == '-' ? -1 : 1;
    k->by = strtod(word + 1, &unit) / 100;
    k->points = strcmp(unit, "pt") == 0;
    (void)snprintf(k->change, sizeof k->change, "%s", word);
    return unit == word + 1 + digits && (k->points || strcmp(unit, "%") == 0) && k->by < (k->sign < 0 || k->points ? 1 : 1e4);
}

static void cut_blanks(char *text)
{
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == ' ') {
        text[--n] = '\0';
    }
}

int hpx_condition_parse(struct hpx_condition *k, const char *text, bool absolute, struct hpx_err *err)
{
    *k = (struct hpx_condition){.text = text};
    k->method = strdup(text + strspn(text, " "));
    if (k->method == NULL) {
        return hpx_err_set(err, HPX_E_NOMEM, "no memory");
    }
    cut_blanks(k->method);
    char *change = strrchr(k->method, ' ');
    if (change == NULL || !take_change(k, change + 1)) {
        return hpx_err_set(err, HPX_E_OPT, "--fail-if '%s': it wants a method and a change, such as 'Foo.bar +5%%' or 'Foo.bar +2pt'",
                           text);
    }
    *change = '\0';
    cut_blanks(k->method);
    size_t n = strlen(k->method);
    k->self = n > 5 && strcmp(k->method + n - 5, " self") == 0;
    if (k->self) {
        k->method[n - 5] = '\0';
        cut_blanks(k->method);
    }
    k->every = strcmp(k->method, "*") == 0;
    k->whole = strcmp(k->method, "total") == 0;
    return absolute && k->points   ? hpx_err_set(err, HPX_E_OPT, "--fail-if '%s': amounts have no percentage points", text)
           : !absolute && k->whole ? hpx_err_set(err, HPX_E_OPT, "--fail-if '%s': the total is always 100 %% without --absolute", text)
           : k->self && k->whole   ? hpx_err_set(err, HPX_E_OPT, "--fail-if '%s': the total is in no method", text)
           : k->method[0] == '\0'  ? hpx_err_set(err, HPX_E_OPT, "--fail-if '%s': which method?", text)
                                   : 0;
}

void hpx_condition_fini(struct hpx_condition *k)
{
    free(k->method);
    free(k->finding.items);
}

/* ---- judging ---- */

static enum hpx_condition_result judge(const struct hpx_condition *k, const struct hpx_change *c)
{
    double low = k->points ? c->points_low : c->low - 1, high = k->points ? c->points_high : c->high - 1;
    double limit = k->sign * k->by;
    if (isnan(c->ratio) && isnan(c->low)) { /* counted, and nothing on both sides */
        return HPX_CONDITION_NOT;
    }
    if (k->sign > 0) {
        return low > limit + ROUNDING ? HPX_CONDITION_HOLDS : high <= limit + ROUNDING ? HPX_CONDITION_NOT : HPX_CONDITION_UNSURE;
    }
    return high < limit - ROUNDING ? HPX_CONDITION_HOLDS : low >= limit - ROUNDING ? HPX_CONDITION_NOT : HPX_CONDITION_UNSURE;
}

/* How near the interval may come: as far as the estimate is from the limit, but an estimate beside it would want any number; so at least
 * half of what tells a change as large as the limit from none. */
static double distance(const struct hpx_condition *k, const struct hpx_change *c)
{
    double limit = k->points ? k->sign * k->by : log(1 + k->sign * k->by);
    double estimate = k->points ? c->points : c->low > 0 && !isinf(c->high) ? log(c->low * c->high) / 2 : 0;
    return fmax(fabs(estimate - limit), fabs(limit) / 2);
}

static double runs_needed(double each, double distance)
{
    unsigned low = 2, high = RUNS;
    while (high - low > 1) {
        unsigned n = (low + high) / 2;
        bool enough = hpx_change_t(HPX_CHANGE_CHANCE, 2 * (double)n - 2) * each * sqrt(2 / (double)n) <= distance;
        high = enough ? n : high;
        low = enough ? low : n;
    }
    return high < RUNS ? (double)high : INFINITY;
}

static void need(const struct hpx_condition *k, const struct hpx_compare *c, struct hpx_finding *f)
{
    const struct hpx_change *h = &f->change;
    double far = distance(k, h), before = hpx_compare_samples(c, HPX_BEFORE), after = hpx_compare_samples(c, HPX_AFTER);
    double drawn = k->points ? h->points_drawn : h->drawn, between = k->points ? h->points_between : h->between;
    if (c->kind == HPX_CHANGE_UNKNOWN && h->degrees < 1) {
        f->runs = 3;
        return;
    }
    if (drawn >= between || drawn > far) {
        double more = fmax(TWICE, drawn * drawn / (far * far));
        f->samples = before > 0 && after > 0 && more < MOST ? more * 2 / (1 / before + 1 / after) : INFINITY;
    }
    if (between > drawn || between > far) {
        double runs = 1 / (double)c->runs[HPX_BEFORE] + 1 / (double)c->runs[HPX_AFTER];
        double wanted = runs_needed(between / hpx_change_t(HPX_CHANGE_CHANCE, h->degrees) / sqrt(runs), far),
               most = (double)c->runs[HPX_BEFORE];
        most = fmax(most, (double)c->runs[HPX_AFTER]);
        f->runs = fmax(wanted, most + 1);
    }
}

static bool add(struct hpx_condition *k, const struct hpx_finding *f)
{
    struct hpx_finding *slot = hpx_list_push(&k->finding, sizeof *slot);
    if (slot != NULL) {
        *slot = *f;
    }
    return slot != NULL;
}

static bool judge_one(struct hpx_condition *k, struct hpx_compare *c)
{
    struct hpx_finding f = {.name = k->method};
    struct hpx_compare_sum *sums = calloc(c->all_runs, sizeof *sums);
    if (sums == NULL) {
        return false;
    }
    if (k->whole) {
        for (size_t i = 0; i < c->all_runs; i++) {
            sums[i] = c->run[i].all;
        }
        k->methods = 1;
    } else {
        k->methods = hpx_compare_union(c, fits, k->method, k->self ? HPX_SELF : HPX_TOTAL, sums);
    }
    for (int side = 0; side < HPX_SIDES; side++) {
        f.side[side] = hpx_compare_side(c, side, sums, 1);
    }
    free(sums);
    f.change = hpx_change_between(c->kind, &f.side[HPX_BEFORE], &f.side[HPX_AFTER], HPX_CHANGE_CHANCE);
    f.result = k->methods > 0 ? judge(k, &f.change) : HPX_CONDITION_UNSURE;
    if (f.result == HPX_CONDITION_UNSURE && k->methods > 0) {
        need(k, c, &f);
    }
    k->result = f.result;
    return !c->no_memory && add(k, &f);
}

static int surest_first(const void *a, const void *b)
{
    const struct hpx_finding *x = a, *y = b;
    return x->result != y->result ? (x->result > y->result) - (x->result < y->result)
                                  : (fabs(x->change.points) < fabs(y->change.points)) - (fabs(x->change.points) > fabs(y->change.points));
}

static bool is_judged(const struct hpx_compare *c, const struct hpx_compare_method *m, int figure)
{
    bool any = false;
    for (int side = 0; side < HPX_SIDES && strcmp(m->name, HPX_REST) != 0; side++) {
        double mean = m->side[figure][side].mean, least = c->kind == HPX_CHANGE_COUNTED ? 0 : LEAST;
        any = any || (mean > 0 && mean >= least * (c->absolute ? hpx_compare_total(c, side) : 1));
    }
    return any;
}

/* Bonferroni, over all methods and not the large ones alone, because whether one is large depends on what was drawn, too. */
static bool judge_every(struct hpx_condition *k, struct hpx_compare *c)
{
    int figure = k->self ? HPX_SELF : HPX_TOTAL;
    size_t all = 0;
    for (size_t i = 0; i < c->methods.len; i++) {
        const struct hpx_compare_method *m = hpx_compare_method(c, i);
        bool judged = is_judged(c, m, figure);
        k->methods += judged;
        all += judged || m->tested[figure];
    }
    k->result = k->methods > 0 ? HPX_CONDITION_NOT : HPX_CONDITION_UNSURE;
    for (size_t i = 0; i < c->methods.len; i++) {
        const struct hpx_compare_method *m = hpx_compare_method(c, i);
        struct hpx_finding f = {.name = m->name, .side = {m->side[figure][HPX_BEFORE], m->side[figure][HPX_AFTER]}};
        if (!is_judged(c, m, figure)) {
            continue;
        }
        f.change = hpx_change_between(c->kind, &f.side[HPX_BEFORE], &f.side[HPX_AFTER], HPX_CHANGE_CHANCE / (double)all);
        f.result = judge(k, &f.change);
        if (f.result == HPX_CONDITION_UNSURE) {
            need(k, c, &f);
        }
        if (f.result != HPX_CONDITION_NOT && !add(k, &f)) {
            return false;
        }
        bool holds = f.result == HPX_CONDITION_HOLDS || k->result == HPX_CONDITION_HOLDS;
        k->result = holds ? HPX_CONDITION_HOLDS : f.result == HPX_CONDITION_UNSURE ? f.result : k->result;
    }
    if (k->finding.len > 1) {
        qsort(k->finding.items, k->finding.len, sizeof(struct hpx_finding), surest_first);
    }
    return true;
}

bool hpx_condition_judge(struct hpx_condition *k, struct hpx_compare *c)
{
    return k->every ? judge_every(k, c) : judge_one(k, c);
}
