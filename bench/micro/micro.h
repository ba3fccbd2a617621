/* SPDX-License-Identifier: BSD-2-Clause */
/* micro.h: what the micro-benchmarks share: arguments, medians, processors, and tables of figures as text and JSON.
 *
 * Main thread only, but hpx_bench_pause() and hpx_bench_pin(). */
#ifndef HPX_BENCH_MICRO_H
#define HPX_BENCH_MICRO_H

#include "compiler.h"
#include <ck_pr.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>

#define HPX_BENCH_COLUMNS 3
#define HPX_BENCH_ROUNDS  25 /* at most */

struct hpx_bench_args {
    const char *json; /* NULL: not asked for */
    bool quick;
    double seconds; /* 0: no time box */
};
/* [--quick] [--seconds N] [--json FILE]; false: something else, and the usage is on stderr. */
bool hpx_bench_parse(struct hpx_bench_args *a, const char *name, int argc, char **argv);

/* A time box: a round begins if one half as long again as the longest so far still fits: whoever is late
 * is killed and loses all rounds. The first always begins. */
struct hpx_bench_box {
    uint64_t end, began, longest; /* ns; end 0: none, began 0: no round yet */
};
struct hpx_bench_box hpx_bench_box(double seconds);
bool hpx_bench_box_fits(struct hpx_bench_box *box);
/* A box for the next of this many parts that have yet to begin. */
struct hpx_bench_box hpx_bench_box_share(const struct hpx_bench_box *box, unsigned parts);

/* Sorts v. n > 0. */
double hpx_bench_median(double *v, size_t n);

/* The calling thread stays on this processor; false: refused. */
bool hpx_bench_pin(int cpu);
/* The first two processors that we may use; false: there is one only. */
bool hpx_bench_two_processors(int cpu[2]);

/* One turn of a wait for another thread. */
static inline void hpx_bench_pause(unsigned *tries)
{
    ck_pr_stall();
    if (++*tries % 4096 == 0) {
        sched_yield(); /* the other side may not be running */
    }
}

/* What is compared: measured once a round, all rows of all tables in turn, so that a change of the machine meets all alike. */
struct hpx_bench_row {
    const char *name;
    /* Sets its columns; those left alone are nan: there is no such figure. false: did not run, said on stderr. */
    bool (*once)(const struct hpx_bench_row *row, double *figures);
    const void *how; /* once's */
    double rounds[HPX_BENCH_COLUMNS][HPX_BENCH_ROUNDS];
    double figures[HPX_BENCH_COLUMNS]; /* medians */
};

struct hpx_bench_section {
    const char *title, *key; /* of the text, of JSON */
    struct {
        const char *title, *key;
    } columns[HPX_BENCH_COLUMNS]; /* NULL: none */
    struct hpx_bench_row *rows;
    size_t nrows;
};

struct hpx_bench_goal {
    char what[96];
    double value, limit;
    bool at_least; /* else at most */
    bool later;    /* not missed yet */
};

/* Measures `rounds` rounds, fewer if the seconds are over, and sets the medians. Returns how many; 0: did not run. */
unsigned hpx_bench_measure(struct hpx_bench_section *tables, size_t n, unsigned rounds, double seconds);
void hpx_bench_print(const struct hpx_bench_section *tables, size_t n);
void hpx_bench_print_goals(const struct hpx_bench_goal *goals, size_t n);
/* {"bench": NAME, "rounds": N, HEAD, "tables": {KEY: [row, ...]}, "goals": [...]}; head: members of the object. false: said on stderr. */
struct hpx_bench_report {
    const char *name, *head;
    unsigned rounds;
    const struct hpx_bench_section *tables;
    size_t ntables;
    const struct hpx_bench_goal *goals;
    size_t ngoals;
};
bool hpx_bench_write_json(const struct hpx_bench_report *r, const char *file);

#endif
