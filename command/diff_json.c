/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_json.c: the differences of diff.h as one JSON object; hprofx(1) explains its keys. */
#include "diff.h"
#include "writers.h"
#include <math.h>

static void number(FILE *to, const char *key, double v)
{
    (void)fprintf(to, ", \"%s\": ", key);
    if (!isfinite(v)) {
        (void)fputs("null", to);
    } else if (v == nearbyint(v) && fabs(v) < 9e15) {
        (void)fprintf(to, "%.0f", v == 0 ? 0 : v); /* no -0 */
    } else {
        (void)fprintf(to, "%.9g", v);
    }
}

static void text(FILE *to, const char *key, const char *v)
{
    (void)fprintf(to, ", \"%s\": ", key);
    hpx_json_string(to, v);
}

static void flag(FILE *to, const char *key, bool v)
{
    (void)fprintf(to, ", \"%s\": %s", key, v ? "true" : "false");
}

/* "before", "after", "change", "low", "high": the caller has opened an object with a first member. */
static void change(FILE *to, const struct hpx_change_side *side, const struct hpx_change *c)
{
    number(to, "before", side[HPX_BEFORE].mean);
    number(to, "after", side[HPX_AFTER].mean);
    number(to, "change", c->ratio - 1);
    number(to, "low", c->low - 1);
    number(to, "high", c->high - 1);
    number(to, "difference", c->points);
    number(to, "difference_low", c->points_low);
    number(to, "difference_high", c->points_high);
}

static void side(FILE *to, const struct hpx_diff *d, int s)
{
    const struct hpx_compare *c = &d->compare;
    size_t first = s == HPX_BEFORE ? 0 : c->runs[HPX_BEFORE];
    (void)fprintf(to, ", \"%s\": [", s == HPX_BEFORE ? "before" : "after");
    for (size_t i = 0; i < c->runs[s]; i++) {
        const struct hpx_compare_run *r = &c->run[first + i];
        (void)fputs(i == 0 ? "\n  {\"file\": " : ",\n  {\"file\": ", to);
        hpx_json_string(to, d->files[first + i]);
        number(to, "total", r->all.value);
        number(to, "samples", r->samples > 0 ? nearbyint(r->samples) : NAN);
        (void)fputc('}', to);
    }
    (void)fputc(']', to);
}

static const char *word(enum hpx_condition_result r)
{
    return r == HPX_CONDITION_HOLDS ? "fails" : r == HPX_CONDITION_NOT ? "passes" : "unsure";
}

static void condition(FILE *to, const struct hpx_condition *k)
{
    const struct hpx_finding *f = k->finding.items;
    (void)fputs("{\"condition\": ", to);
    hpx_json_string(to, k->text);
    text(to, "result", word(k->result));
    number(to, "methods", (double)k->methods);
    (void)fputs(", \"found\": [", to);
    for (size_t i = 0; i < k->finding.len; i++) {
        (void)fputs(i == 0 ? "\n    {\"method\": " : ",\n    {\"method\": ", to);
        hpx_json_string(to, f[i].name);
        text(to, "result", word(f[i].result));
        change(to, f[i].side, &f[i].change);
        number(to, "samples_needed", f[i].samples > 0 ? ceil(f[i].samples) : NAN);
        number(to, "runs_needed", f[i].runs > 0 ? f[i].runs : NAN);
        (void)fputc('}', to);
    }
    (void)fputs("]}", to);
}

static void method(FILE *to, const struct hpx_compare_method *m)
{
    static const char *const names[HPX_FIGURES] = {"self", "total"};
    (void)fputs("{\"method\": ", to);
    hpx_json_string(to, m->name);
    flag(to, "class", m->is_class);
    for (int f = HPX_SELF; f <= HPX_TOTAL; f++) {
        (void)fprintf(to, ", \"%s\": {\"changed\": %s", names[f], m->changed[f] ? "true" : "false");
        change(to, m->side[f], &m->change[f]);
        number(to, "p", m->tested[f] ? m->change[f].p : NAN);
        (void)fputc('}', to);
    }
    (void)fputc('}', to);
}

bool hpx_diff_json(FILE *to, const struct hpx_diff *d)
{
    static const char *const kinds[] = {[HPX_CHANGE_COUNTED] = "counted",
                                        [HPX_CHANGE_DRAWN] = "sampled",
                                        [HPX_CHANGE_MEASURED] = "measured",
                                        [HPX_CHANGE_UNKNOWN] = "unknown"};
    static const char *const units[] = {
        [HPX_UNIT_COUNT] = "count", [HPX_UNIT_NS] = "nanoseconds", [HPX_UNIT_BYTES] = "bytes", [HPX_UNIT_OTHER] = "other"};
    const struct hpx_compare *c = &d->compare;
    (void)fprintf(to, "{\"status\": %d", hpx_diff_status(d));
    text(to, "view", c->key);
    text(to, "measure", c->measure.name);
    text(to, "unit", units[c->measure.unit]);
    flag(to, "absolute", c->absolute);
    text(to, "kind", kinds[c->kind]);
    flag(to, "broken", d->broken);
    side(to, d, HPX_BEFORE);
    side(to, d, HPX_AFTER);
    (void)fputs(",\n\"conditions\": [", to);
    for (size_t i = 0; i < d->nconditions; i++) {
        (void)fputs(i == 0 ? "\n  " : ",\n  ", to);
        condition(to, &d->conditions[i]);
    }
    (void)fputs("],\n\"methods\": [", to);
    for (size_t i = 0; i < c->methods.len; i++) {
        (void)fputs(i == 0 ? "\n  " : ",\n  ", to);
        method(to, hpx_compare_method(c, i));
    }
    (void)fputs("]}\n", to);
    return true;
}
