/* SPDX-License-Identifier: BSD-2-Clause */
/* micro.c: rounds, medians, tables and JSON of the micro-benchmarks. */
#include "micro.h"
#include "clock.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool hpx_bench_parse(struct hpx_bench_args *a, const char *name, int argc, char **argv)
{
    *a = (struct hpx_bench_args){0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            a->json = argv[++i];
        } else if (strcmp(argv[i], "--quick") == 0) {
            a->quick = true;
        } else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
            a->seconds = strtod(argv[++i], NULL);
        } else {
            (void)fprintf(stderr, "usage: bench_%s [--quick] [--seconds N] [--json FILE]\n", name);
            return false;
        }
    }
    return true;
}

struct hpx_bench_box hpx_bench_box(double seconds)
{
    return (struct hpx_bench_box){.end = seconds > 0 ? hpx_clock_mono() + (uint64_t)(seconds * 1e9) : 0};
}

bool hpx_bench_box_fits(struct hpx_bench_box *box)
{
    uint64_t now = hpx_clock_mono();
    bool first = box->began == 0;
    if (!first && now - box->began > box->longest) {
        box->longest = now - box->began;
    }
    box->began = now;
    return first || box->end == 0 || now + box->longest + box->longest / 2 <= box->end;
}

struct hpx_bench_box hpx_bench_box_share(const struct hpx_bench_box *box, unsigned parts)
{
    uint64_t now = hpx_clock_mono(), left = now < box->end ? box->end - now : 0;
    return (struct hpx_bench_box){.end = box->end ? now + left / parts : 0};
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double hpx_bench_median(double *v, size_t n)
{
    qsort(v, n, sizeof(*v), compare);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

bool hpx_bench_pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof(set), &set) == 0;
}

bool hpx_bench_two_processors(int cpu[2])
{
    cpu_set_t set;
    int n = 0;
    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        return false;
    }
    for (int c = 0; c < CPU_SETSIZE && n < 2; c++) {
        if (CPU_ISSET(c, &set)) {
            cpu[n++] = c;
        }
    }
    return n == 2;
}

static bool measure_row(struct hpx_bench_row *row, unsigned round)
{
    double now[HPX_BENCH_COLUMNS];
    for (unsigned c = 0; c < HPX_BENCH_COLUMNS; c++) {
        now[c] = NAN;
    }
    if (!row->once(row, now)) {
        return false;
    }
    for (unsigned c = 0; c < HPX_BENCH_COLUMNS; c++) {
        row->rounds[c][round] = now[c];
    }
    return true;
}

static bool measure_round(struct hpx_bench_section *tables, size_t n, unsigned round)
{
    for (size_t t = 0; t < n; t++) {
        for (size_t i = 0; i < tables[t].nrows; i++) {
            if (!measure_row(&tables[t].rows[i], round)) {
                return false;
            }
        }
    }
    return true;
}

unsigned hpx_bench_measure(struct hpx_bench_section *tables, size_t n, unsigned rounds, double seconds)
{
    struct hpx_bench_box box = hpx_bench_box(seconds);
    unsigned made = 0;
    while (made < rounds && hpx_bench_box_fits(&box)) {
        if (!measure_round(tables, n, made++)) {
            return 0;
        }
    }
    for (size_t t = 0; t < n; t++) {
        for (size_t i = 0; i < tables[t].nrows; i++) {
            struct hpx_bench_row *row = &tables[t].rows[i];
            for (unsigned c = 0; c < HPX_BENCH_COLUMNS; c++) {
                row->figures[c] = hpx_bench_median(row->rounds[c], made);
            }
        }
    }
    return made;
}

void hpx_bench_print(const struct hpx_bench_section *tables, size_t n)
{
    for (const struct hpx_bench_section *t = tables; t != tables + n; t++) {
        printf("%-40s", t->title);
        for (unsigned c = 0; c < HPX_BENCH_COLUMNS && t->columns[c].title; c++) {
            printf(" %18s", t->columns[c].title);
        }
        printf("\n");
        for (size_t i = 0; i < t->nrows; i++) {
            printf("  %-38s", t->rows[i].name);
            for (unsigned c = 0; c < HPX_BENCH_COLUMNS && t->columns[c].title; c++) {
                double v = t->rows[i].figures[c];
                if (isnan(v)) {
                    printf(" %18s", "-");
                } else {
                    printf(" %18.*f", v < 100 ? 2 : 0, v);
                }
            }
            printf("\n");
        }
    }
}

static bool met(const struct hpx_bench_goal *g)
{
    return g->at_least ? g->value >= g->limit : g->value <= g->limit;
}

void hpx_bench_print_goals(const struct hpx_bench_goal *goals, size_t n)
{
    for (const struct hpx_bench_goal *g = goals; g != goals + n; g++) {
        const char *missed = g->later ? "" : " MISSED";
        printf("%s: %.2f (%s %s %g)%s\n", g->what, g->value, g->later ? "later goal" : "goal", g->at_least ? ">=" : "<=", g->limit,
               met(g) ? "" : missed);
    }
}

static void json_row(FILE *out, const struct hpx_bench_section *t, const struct hpx_bench_row *row)
{
    (void)fprintf(out, "   {\"name\": \"%s\"", row->name);
    for (unsigned c = 0; c < HPX_BENCH_COLUMNS && t->columns[c].title; c++) {
        if (isnan(row->figures[c])) {
            (void)fprintf(out, ", \"%s\": null", t->columns[c].key);
        } else {
            (void)fprintf(out, ", \"%s\": %.3f", t->columns[c].key, row->figures[c]);
        }
    }
    (void)fprintf(out, "}");
}

bool hpx_bench_write_json(const struct hpx_bench_report *r, const char *file)
{
    FILE *out = fopen(file, "we");
    if (!out) {
        perror(file);
        return false;
    }
    (void)fprintf(out, "{\"bench\": \"%s\", \"rounds\": %u, %s,\n \"tables\": {", r->name, r->rounds, r->head);
    for (size_t t = 0; t < r->ntables; t++) {
        (void)fprintf(out, "%s\n  \"%s\": [", t ? "," : "", r->tables[t].key);
        for (size_t i = 0; i < r->tables[t].nrows; i++) {
            (void)fprintf(out, "%s\n", i ? "," : "");
            json_row(out, &r->tables[t], &r->tables[t].rows[i]);
        }
        (void)fprintf(out, "]");
    }
    (void)fprintf(out, "},\n \"goals\": [");
    for (size_t g = 0; g < r->ngoals; g++) {
        (void)fprintf(out, "%s\n  {\"what\": \"%s\", \"value\": %.3f, \"%s\": %g, \"later\": %s}", g ? "," : "", r->goals[g].what,
                      r->goals[g].value, r->goals[g].at_least ? "at_least" : "at_most", r->goals[g].limit,
                      r->goals[g].later ? "true" : "false");
    }
    (void)fprintf(out, "]}\n");
    if (fclose(out) != 0) {
        perror(file);
        return false;
    }
    return true;
}
