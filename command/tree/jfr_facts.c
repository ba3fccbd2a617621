/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr_facts.c: see jfr_facts.h. */
#include "jfr_facts.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VERDICT ((size_t)64 << 10) /* bytes of a verdict that is read */

static const char writer[] = "hprofx", interval[] = "interval", effective[] = "effective samples", allocations[] = "allocations",
                  counted[] = "counted", before[] = "before filters", verdict[] = "verdict";

static const struct {
    const char *name;
    size_t at; /* of the name in struct hpx_tree */
} texts[] = {{"lost", offsetof(struct hpx_tree, lost)},
             {"own CPU time", offsetof(struct hpx_tree, own)},
             {"without debug information", offsetof(struct hpx_tree, older)},
             {"replaced by the VM", offsetof(struct hpx_tree, replaced)},
             {"filtered", offsetof(struct hpx_tree, filtered)},
             {"host", offsetof(struct hpx_tree, origin.host)},
             {"service version", offsetof(struct hpx_tree, origin.version)},
             {"container", offsetof(struct hpx_tree, origin.container)}};

/* ---- written ---- */

void hpx_jfr_put_setting(struct hpx_jfr_out *j, enum hpx_jfr_t of, const char *name, const char *value)
{
    if (value[0] != '\0') {
        hpx_jfr_begin(j, HPX_JFR_T_SETTING, j->begin_ns, 0);
        for (int i = 0; i < 3; i++) { /* length, thread, stack */
            hpx_pb_raw(&j->event, 0);
        }
        hpx_pb_raw(&j->event, of);
        hpx_jfr_put_string(&j->event, name);
        hpx_jfr_put_string(&j->event, value);
        hpx_jfr_end(j);
    }
}

static void put(struct hpx_jfr_out *j, const char *name, const char *value)
{
    hpx_jfr_put_setting(j, HPX_JFR_T_SETTING, name, value);
}

static void put_number(struct hpx_jfr_out *j, const char *name, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    put(j, name, value > 0 ? text : "");
}

/* A setting for each line. */
static void put_verdict(struct hpx_jfr_out *j, const char *lines)
{
    char line[4096];
    for (size_t n; *lines != '\0'; lines += n + (lines[n] != '\0')) {
        n = strcspn(lines, "\n");
        (void)snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line), lines);
        put(j, verdict, line);
    }
}

void hpx_jfr_put_facts(struct hpx_jfr_out *j)
{
    const struct hpx_tree *t = j->tree;
    put(j, writer, HPX_VERSION);
    put_number(j, interval, t->interval_ns);
    put_number(j, effective, t->effective);
    put_number(j, allocations, t->sampled);
    put(j, allocations, t->views[HPX_VIEW_ALLOC].exact && t->sampled == 0 ? counted : "");
    for (size_t i = 0; i < HPX_ARRAY_LEN(texts); i++) {
        put(j, texts[i].name, hpx_tree_text(t, *(const uint32_t *)((const char *)t + texts[i].at)));
    }
    put(j, before, hpx_tree_text(t, t->unfiltered));
    put_verdict(j, t->verdict != NULL ? t->verdict : "");
    if (t->origin.pid != 0) {
        hpx_jfr_begin(j, HPX_JFR_T_JVM, j->begin_ns, 0);
        hpx_jfr_put_string(&j->event, hpx_tree_text(t, t->origin.service));
        hpx_pb_raw(&j->event, t->origin.pid);
        hpx_jfr_end(j);
    }
}

/* ---- read ---- */

/* One more line, as names are escaped: it is shown on terminals. The first one too many ends the verdict: a file may have millions. */
static void take_line(struct hpx_tree *t, struct hpx_jfr_told *told, const char *value)
{
    if (told->all_lines) {
        return;
    }
    const char *line = hpx_tree_text(t, hpx_tree_name(t, value, strlen(value)));
    const size_t had = told->verdict, n = strlen(line);
    if (had + n > MOST_VERDICT) {
        told->all_lines = true;
        return;
    }
    char *text = realloc(t->verdict, had + n + 2);
    if (text == NULL) {
        t->no_memory = true;
        return;
    }
    (void)snprintf(text + had, n + 2, "%s\n", line);
    t->verdict = text;
    told->verdict = had + n + 1;
}

static void take_before(struct hpx_tree *t, struct hpx_jfr_told *told, const char *value)
{
    uint64_t had[HPX_VIEWS][HPX_TREE_VALUES];
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        memcpy(had[k], t->views[k].before, sizeof had[k]);
    }
    hpx_tree_take_before(t, value);
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        for (size_t m = 0; m < HPX_TREE_VALUES; m++) {
            told->filtered[k][m] |= t->views[k].before[m] > had[k][m];
        }
    }
}

void hpx_jfr_take_values(struct hpx_jfr_told *told, const struct hpx_tree *t, const struct hpx_tree_view *v, const uint64_t *values)
{
    const size_t k = (size_t)(v - t->views);
    for (size_t m = 0; m < v->values; m++) {
        told->left[k][m] = hpx_tree_sum(told->left[k][m], told->filtered[k][m] ? values[m] : 0);
    }
}

void hpx_jfr_take_unfiltered(struct hpx_tree *t, const struct hpx_jfr_told *told)
{
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        struct hpx_tree_view *v = &t->views[k];
        for (size_t m = 0; m < v->values; m++) {
            const uint64_t total = v->before[m] > 0 ? hpx_tree_total(v, m) : 0;
            v->before[m] = hpx_tree_sum(v->before[m], total > told->left[k][m] ? total - told->left[k][m] : 0);
        }
    }
}

void hpx_jfr_take_fact(struct hpx_tree *t, struct hpx_jfr_told *told, const char *name, const char *value)
{
    const uint64_t number = strtoull(value, NULL, 10);
    for (size_t i = 0; i < HPX_ARRAY_LEN(texts); i++) {
        if (strcmp(name, texts[i].name) == 0) {
            *(uint32_t *)((char *)t + texts[i].at) = hpx_tree_name(t, value, strlen(value));
            return;
        }
    }
    if (strcmp(name, writer) == 0) {
        memset(told->filtered, 0, sizeof told->filtered);
    } else if (strcmp(name, interval) == 0) {
        t->interval_ns = number <= INT64_MAX ? number : 0;
    } else if (strcmp(name, effective) == 0) {
        told->effective = true;
        t->effective = hpx_tree_sum(t->effective, number);
    } else if (strcmp(name, allocations) == 0) {
        told->sampled = true;
        t->views[HPX_VIEW_ALLOC].exact = strcmp(value, counted) == 0;
        t->sampled = hpx_tree_sum(t->sampled, number);
    } else if (strcmp(name, before) == 0) {
        take_before(t, told, value);
    } else if (strcmp(name, verdict) == 0) {
        take_line(t, told, value);
    }
}
