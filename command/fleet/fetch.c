/* SPDX-License-Identifier: BSD-2-Clause */
/* fetch.c: see fetch.h. */
#include "fetch.h"
#include "answer.h"
#include "budget.h"
#include "filters.h"
#include "http.h"
#include "memory.h"
#include "picture.h"
#include "select.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST 300                 /* seconds of a query */
#define MOST    ((size_t)1 << 30)   /* bytes of its answer */
#define FEWEST  10                  /* with fewer a time line says nothing */
#define STEPS   500                 /* of its time, about */
#define ROWS    ((uint64_t)1 << 20) /* in steps: each has the text of its stack */

struct asked {
    const char *url, *out;
    struct hpx_http_how how;
    struct hpx_filter filter;
};

/* ---- asking ---- */

/* The whole answer to a question with few numbers. */
struct facts {
    unsigned char bytes[24];
    size_t n; /* that came */
};

static void take_facts(void *ctx, const char *bytes, size_t n)
{
    struct facts *f = ctx;
    size_t room = f->n < sizeof f->bytes ? sizeof f->bytes - f->n : 0;
    memcpy(f->bytes + sizeof f->bytes - room, bytes, n < room ? n : room);
    f->n += n;
}

static uint64_t number(const struct facts *f, size_t i)
{
    uint64_t v = 0;
    for (size_t k = 8; k-- > 0;) {
        v = v << 8 | f->bytes[8 * i + k];
    }
    return v;
}

static void take_rows(void *ctx, const char *bytes, size_t n)
{
    hpx_answer_take(ctx, bytes, n);
}

static enum hpx_status ask(struct hpx_http *h, const struct hpx_select *s, const char *query, struct hpx_http_reply *r, struct hpx_err *err)
{
    static const char *const headers[] = {"Content-Type: text/plain; charset=UTF-8", NULL};
    hpx_http_post(h, s->url, headers, query, strlen(query), r);
    return r->status == 200 ? HPX_OK
           : r->status == 0 ? hpx_fail(err, HPX_FAILED, "ClickHouse: %s", r->why)
                            : hpx_fail(err, HPX_FAILED, "ClickHouse answers %ld: %s", r->status, r->why);
}

/* 0: without times, because there are too many rows for a few steps. */
static uint64_t step_of(uint64_t rows, uint64_t ms)
{
    const uint64_t steps = rows <= ROWS ? STEPS : STEPS * ROWS / rows;
    return steps >= FEWEST ? ms / 1000 / steps + 1 : 0;
}

static enum hpx_status ask_facts(struct hpx_http *h, const struct hpx_select *s, struct hpx_tree *t, uint64_t *step, struct hpx_err *err)
{
    struct facts f = {.n = 0};
    struct hpx_http_reply r = {.body = take_facts, .ctx = &f};
    enum hpx_status done = ask(h, s, s->facts, &r, err);
    if (done != HPX_OK) {
        return done;
    }
    if (f.n != sizeof f.bytes) {
        return hpx_fail(err, HPX_FAILED, "ClickHouse: the answer is not that of a table of profiles");
    }
    if (number(&f, 0) == 0) {
        return hpx_fail(err, HPX_FAILED, "ClickHouse has no profile that matches the URL");
    }
    t->start_ms = number(&f, 1);
    t->duration_ms = number(&f, 2) > t->start_ms ? number(&f, 2) - t->start_ms : 0;
    *step = t->timed ? step_of(number(&f, 0), t->duration_ms) : 0;
    if (*step > 0) {
        t->times_zero_ms = t->start_ms;
        hpx_tree_add_times(t, t->start_ms, t->start_ms + t->duration_ms);
    }
    return HPX_OK;
}

static enum hpx_status ask_rows(struct hpx_http *h, const struct hpx_select *s, struct hpx_tree *t, uint64_t step, struct hpx_err *err)
{
    struct hpx_answer rows;
    struct hpx_budget budget;
    hpx_budget_begin(&budget, hpx_memory_for_file(-1), NULL);
    hpx_answer_init(&rows, t);
    struct hpx_http_reply r = {.body = take_rows, .ctx = &rows, .most = MOST};
    struct hpx_err why;
    char *query = hpx_select_rows(s, step);
    enum hpx_status done = query != NULL ? ask(h, s, query, &r, err) : hpx_fail(err, HPX_FAILED, "no memory");
    if (done == HPX_OK && hpx_answer_end(&rows, &why) != 0) {
        done = hpx_fail(err, HPX_FAILED, "ClickHouse: %s", why.msg);
    } else if (done == HPX_OK && rows.crowded) {
        done = hpx_fail(err, HPX_PARTIAL,
                        "more than %d kinds that hprofx does not know; the others are left out: ask for one by kind=", HPX_TREE_VALUES);
    }
    free(query);
    hpx_answer_fini(&rows);
    hpx_budget_end(&budget);
    return done;
}

static enum hpx_status fetch(struct hpx_http *h, const struct asked *a, const struct hpx_select *s, struct hpx_err *err)
{
    struct hpx_tree t;
    size_t n;
    uint64_t step = 0;
    const struct hpx_format *f = hpx_format_of(a->out);
    bool ready = hpx_tree_init(&t);
    t.timed = f != NULL && f->times && strcmp(f->suffix, ".jfr") != 0; /* a row has one measure of a stack, an event all of its view */
    enum hpx_status done = ready ? ask_facts(h, s, &t, &step, err) : hpx_fail(err, HPX_FAILED, "no memory"), kept = HPX_OK;
    done = done == HPX_OK ? ask_rows(h, s, &t, step, err) : done;
    if (done != HPX_FAILED) {
        struct hpx_err why;
        hpx_tree_finish(&t);
        hpx_filter_apply(&t, &a->filter);
        if (t.timed && step == 0) {
            (void)fputs("hprofx: too many rows for a time line; from=, to= or kind= in the URL ask for less\n", stderr);
        }
        kept = hpx_picture_save(&t, f != NULL ? f : hpx_formats(&n) + 1, NULL, a->out, &why);
        if (kept != HPX_OK) {
            *err = why;
        }
    }
    hpx_tree_fini(&t);
    return kept != HPX_OK ? kept : done;
}

static int run(const struct asked *a)
{
    struct hpx_err err = {""};
    struct hpx_select s;
    enum hpx_status done = HPX_FAILED;
    int rc = hpx_select_parse(&s, a->url, time(NULL), &err);
    struct hpx_http *h = rc == 0 ? hpx_http_new(&a->how, &err) : NULL;
    if (rc == -HPX_E_OPT) {
        done = HPX_USAGE;
    } else if (h != NULL) {
        done = fetch(h, a, &s, &err);
    }
    hpx_http_free(h);
    hpx_select_fini(&s);
    return hpx_complain(done, &err);
}

/* ---- the command line ---- */

/* The status with which the command ends at once, or -1. */
static int take(const struct hpx_arguments *args, int option, struct asked *a)
{
    struct hpx_err unknown;
    const char *why;
    if (hpx_filters_option(&a->filter, option, args->value, &why)) {
        return why == NULL ? -1 : hpx_arguments_misuse(args, "%s", why);
    }
    switch (option) {
    case HPX_ARGUMENTS_WORD:
        if (a->url != NULL) {
            return hpx_arguments_misuse(args, "fetch needs one URL");
        }
        a->url = args->value;
        return -1;
    case HPX_O_OUTPUT:
        a->out = args->value;
        return hpx_format_is_unknown(args->value, &unknown) ? hpx_arguments_misuse(args, "%s", unknown.msg) : -1;
    case HPX_O_HEADERS:
        a->how.headers = args->value;
        return -1;
    case HPX_O_CA:
        a->how.ca = args->value;
        return -1;
    case HPX_O_CERT:
        a->how.cert = args->value;
        return -1;
    case HPX_O_KEY:
        a->how.key = args->value;
        return -1;
    default:
        return args->status;
    }
}

/* -1: go on. */
static int take_all(struct hpx_arguments *args, struct asked *a)
{
    for (int next, status; (next = hpx_arguments_next(args)) != HPX_ARGUMENTS_LAST;) {
        if ((status = take(args, next, a)) >= 0) {
            return status;
        }
    }
    return a->url == NULL ? hpx_arguments_misuse(args, "fetch needs one URL")
           : strcmp(a->out, "-") == 0 && isatty(STDOUT_FILENO)
               ? hpx_arguments_misuse(args, "pprof is not for a terminal: give -o FILE, or use hprofx view")
               : -1;
}

int hpx_fetch(struct hpx_arguments *args)
{
    struct asked a = {.out = "-", .how = {.seconds = LONGEST}};
    int status = take_all(args, &a);
    status = status >= 0 ? status : run(&a);
    hpx_filter_fini(&a.filter);
    return status;
}
