/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_json.c: the differences of diff.h as one JSON object; hprofx(1) explains its keys. */
#include "diff.h"
#include "json.h"
#include <math.h>

/* "before", "after", "change", "low", "high" of the object that is open. */
static void change(struct hpx_json *j, const struct hpx_change_side *side, const struct hpx_change *c)
{
    hpx_json_real(j, "before", side[HPX_BEFORE].mean);
    hpx_json_real(j, "after", side[HPX_AFTER].mean);
    hpx_json_real(j, "change", c->ratio - 1);
    hpx_json_real(j, "low", c->low - 1);
    hpx_json_real(j, "high", c->high - 1);
    hpx_json_real(j, "difference", c->points);
    hpx_json_real(j, "difference_low", c->points_low);
    hpx_json_real(j, "difference_high", c->points_high);
}

static void side(struct hpx_json *j, const struct hpx_diff *d, int s)
{
    const struct hpx_compare *c = &d->compare;
    size_t first = s == HPX_BEFORE ? 0 : c->runs[HPX_BEFORE];
    hpx_json_open(j, s == HPX_BEFORE ? "before" : "after", '[');
    for (size_t i = 0; i < c->runs[s]; i++) {
        const struct hpx_compare_run *r = &c->run[first + i];
        hpx_json_open(j, NULL, '{');
        hpx_json_text(j, "file", d->files[first + i]);
        hpx_json_real(j, "total", r->all.value);
        if (r->view != NULL && r->view->before[r->measure] > 0) {
            hpx_json_uint(j, "of", r->view->before[r->measure]);
        }
        hpx_json_real(j, "samples", r->samples > 0 ? nearbyint(r->samples) : NAN);
        hpx_json_close(j, '}');
    }
    hpx_json_close(j, ']');
}

static const char *word(enum hpx_condition_result r)
{
    return r == HPX_CONDITION_HOLDS ? "fails" : r == HPX_CONDITION_NOT ? "passes" : "unsure";
}

static void condition(struct hpx_json *j, const struct hpx_condition *k)
{
    const struct hpx_finding *f = k->finding.items;
    hpx_json_open(j, NULL, '{');
    hpx_json_text(j, "condition", k->text);
    hpx_json_text(j, "result", word(k->result));
    hpx_json_uint(j, "methods", k->methods);
    hpx_json_open(j, "found", '[');
    for (size_t i = 0; i < k->finding.len; i++) {
        hpx_json_open(j, NULL, '{');
        hpx_json_text(j, "method", f[i].name);
        hpx_json_text(j, "result", word(f[i].result));
        change(j, f[i].side, &f[i].change);
        hpx_json_real(j, "samples_needed", f[i].samples > 0 ? ceil(f[i].samples) : NAN);
        hpx_json_real(j, "runs_needed", f[i].runs > 0 ? f[i].runs : NAN);
        hpx_json_close(j, '}');
    }
    hpx_json_close(j, ']');
    hpx_json_close(j, '}');
}

static void method(struct hpx_json *j, const struct hpx_compare_method *m)
{
    static const char *const names[HPX_FIGURES] = {"self", "total"};
    hpx_json_open(j, NULL, '{');
    hpx_json_text(j, "method", m->name);
    hpx_json_flag(j, "class", m->is_class);
    for (int f = HPX_SELF; f <= HPX_TOTAL; f++) {
        hpx_json_open(j, names[f], '{');
        hpx_json_flag(j, "changed", m->changed[f]);
        change(j, m->side[f], &m->change[f]);
        hpx_json_real(j, "p", m->tested[f] ? m->change[f].p : NAN);
        hpx_json_close(j, '}');
    }
    hpx_json_close(j, '}');
}

bool hpx_diff_json(FILE *to, const struct hpx_diff *d)
{
    static const char *const kinds[] = {[HPX_CHANGE_COUNTED] = "counted",
                                        [HPX_CHANGE_DRAWN] = "sampled",
                                        [HPX_CHANGE_MEASURED] = "measured",
                                        [HPX_CHANGE_UNKNOWN] = "unknown"};
    const struct hpx_compare *c = &d->compare;
    struct hpx_json j = {.to = to};
    const char *filters = NULL;
    uint64_t part, all;
    hpx_json_open(&j, NULL, '{');
    hpx_json_uint(&j, "status", (uint64_t)hpx_diff_status(d));
    hpx_json_text(&j, "view", c->key);
    hpx_json_text(&j, "measure", c->measure.name);
    hpx_json_text(&j, "unit", hpx_tree_unit_name(c->measure.unit));
    hpx_json_flag(&j, "absolute", c->absolute);
    hpx_json_text(&j, "kind", kinds[c->kind]);
    hpx_json_flag(&j, "broken", d->broken);
    for (int s = HPX_BEFORE; s < HPX_SIDES && filters == NULL; s++) {
        filters = hpx_diff_filtered(d, s, &part, &all);
    }
    if (filters != NULL) {
        hpx_json_text(&j, "filtered", filters);
    }
    side(&j, d, HPX_BEFORE);
    side(&j, d, HPX_AFTER);
    hpx_json_open(&j, "conditions", '[');
    for (size_t i = 0; i < d->nconditions; i++) {
        condition(&j, &d->conditions[i]);
    }
    hpx_json_close(&j, ']');
    hpx_json_open(&j, "methods", '[');
    for (size_t i = 0; i < c->methods.len; i++) {
        method(&j, hpx_compare_method(c, i));
    }
    hpx_json_close(&j, ']');
    hpx_json_close(&j, '}');
    (void)fputc('\n', to);
    return true;
}
