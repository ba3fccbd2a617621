/* SPDX-License-Identifier: BSD-2-Clause */
/* condition.h: what must not change between two sides of profiles: "METHOD [self] +5%", judged with 95 % certainty. No output. One thread.
 *
 * METHOD is the end of a name, from a dot or dollar sign on (m, C.m, p.C.m), and may have * and ?. Methods that fit count as one, because
 * stacks are asked whether they have any of them. "*" is every method by itself; "total" is the sum of all stacks, of amounts. The change
 * is relative (+5%) or in percentage points (+2pt); - is a decrease. */
#ifndef HPX_TREE_CONDITION_H
#define HPX_TREE_CONDITION_H

#include "compare.h"
#include "err.h"

enum hpx_condition_result {
    HPX_CONDITION_HOLDS,  /* it changed by more */
    HPX_CONDITION_NOT,    /* it did not */
    HPX_CONDITION_UNSURE, /* the interval of the change has both */
};

struct hpx_finding {
    const char *name; /* the method; of a union what was asked for */
    struct hpx_change change;
    struct hpx_change_side side[HPX_SIDES];
    enum hpx_condition_result result;
    /* Where it is unsure: what would do, on each side. 0: not that; INFINITY: no number. */
    double samples, runs;
};

struct hpx_condition {
    const char *text;
    char *method;    /* owned */
    char change[32]; /* "+5%" */
    bool self, every, whole, points;
    int sign;
    double by; /* 0.05: 5 %, or 5 percentage points */
    /* judged */
    size_t methods;          /* that fit, or were judged */
    struct hpx_list finding; /* struct hpx_finding; of "*" those that are not HPX_CONDITION_NOT, the surest first */
    enum hpx_condition_result result;
};

/* `text` must outlive it. -HPX_E_OPT (err), -HPX_E_NOMEM. hpx_condition_fini() in any case. */
int hpx_condition_parse(struct hpx_condition *k, const char *text, bool absolute, struct hpx_err *err);
void hpx_condition_fini(struct hpx_condition *k);
/* Behind hpx_compare_methods(). false: no memory. */
bool hpx_condition_judge(struct hpx_condition *k, struct hpx_compare *c);
/* Whether a name is what a METHOD means. */
bool hpx_condition_fits(const char *pattern, const char *name);

#endif
