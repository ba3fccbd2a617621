/* SPDX-License-Identifier: BSD-2-Clause */
/* fetch.c: see fetch.h. */
#include "fetch.h"
#include "answer.h"
#include "http.h"
#include "picture.h"
#include "select.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST 300               /* seconds of a query */
#define MOST    ((size_t)1 << 30) /* bytes of its answer */

static const char usage[] =
    "usage: hprofx fetch [OPTIONS] 'clickhouse:http://HOST:8123/DATABASE.TABLE?service=NAME&from=-1h' [-o FILE]\n"
    "Writes the sum of profiles that hprofx ship has sent to ClickHouse. A profile that was sent twice counts once.\n"
    "  service= version= host= container= pid= kind=   select profiles; a key given several times means any of its values\n"
    "  from= to=       -30m, -1h, -7d: before now; 2026-11-25T10:00 (local time, with Z UTC); seconds since 1970\n"
    "  -o, --output FILE\n"
    "                  pprof, or another format by suffix (hprofx convert --help); -: pprof to standard output\n"
    "  --headers FILE  lines of HTTP headers, such as X-ClickHouse-User: NAME and X-ClickHouse-Key: PASSWORD; FILE needs mode 600\n"
    "  --ca FILE       trust these certificates instead of the system's\n"
    "  --cert FILE     client certificate\n"
    "  --key FILE      private key of the client certificate\n"
    "Status: 0 ok, 1 no answer, or no such profile, 2 usage, 6 FILE lacks a part of the answer.\n";

struct asked {
    const char *url, *out;
    struct hpx_http_how how;
};

static int misuse(const char *why)
{
    hpx_misuse("fetch", why);
    return HPX_USAGE;
}

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

static enum hpx_status ask_facts(struct hpx_http *h, const struct hpx_select *s, struct hpx_tree *t, struct hpx_err *err)
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
    return HPX_OK;
}

static enum hpx_status ask_rows(struct hpx_http *h, const struct hpx_select *s, struct hpx_tree *t, struct hpx_err *err)
{
    struct hpx_answer rows;
    hpx_answer_init(&rows, t);
    struct hpx_http_reply r = {.body = take_rows, .ctx = &rows, .most = MOST};
    struct hpx_err why;
    enum hpx_status done = ask(h, s, s->rows, &r, err);
    if (done == HPX_OK && hpx_answer_end(&rows, &why) != 0) {
        done = hpx_fail(err, HPX_FAILED, "ClickHouse: %s", why.msg);
    } else if (done == HPX_OK && rows.crowded) {
        done = hpx_fail(err, HPX_PARTIAL,
                        "more than %d kinds that hprofx does not know; the others are left out: ask for one by kind=", HPX_TREE_VALUES);
    }
    hpx_answer_fini(&rows);
    return done;
}

static enum hpx_status fetch(struct hpx_http *h, const struct asked *a, const struct hpx_select *s, struct hpx_err *err)
{
    struct hpx_tree t;
    size_t n;
    const struct hpx_format *f = hpx_format_of(a->out);
    bool ready = hpx_tree_init(&t);
    enum hpx_status done = ready ? ask_facts(h, s, &t, err) : hpx_fail(err, HPX_FAILED, "no memory"), kept = HPX_OK;
    done = done == HPX_OK ? ask_rows(h, s, &t, err) : done;
    if (done != HPX_FAILED) {
        struct hpx_err why;
        hpx_tree_finish(&t);
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
static int take(int opt, struct asked *a)
{
    struct hpx_err unknown;
    switch (opt) {
    case 'o':
        a->out = optarg;
        return hpx_format_is_unknown(optarg, &unknown) ? misuse(unknown.msg) : -1;
    case 'H':
        a->how.headers = optarg;
        return -1;
    case 'a':
        a->how.ca = optarg;
        return -1;
    case 'c':
        a->how.cert = optarg;
        return -1;
    case 'k':
        a->how.key = optarg;
        return -1;
    case 'h':
        (void)fputs(usage, stdout);
        return HPX_OK;
    default:
        return HPX_USAGE;
    }
}

int hpx_fetch(int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"headers", required_argument, NULL, 'H'},
                                            {"ca", required_argument, NULL, 'a'},
                                            {"cert", required_argument, NULL, 'c'},
                                            {"key", required_argument, NULL, 'k'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct asked a = {.out = "-", .how = {.seconds = LONGEST}};
    argv[0] = "hprofx"; /* getopt_long() begins its messages with it */
    for (int opt; (opt = getopt_long(argc, argv, "ho:", options, NULL)) != -1;) {
        int status = take(opt, &a);
        if (status >= 0) {
            return status;
        }
    }
    if (argc - optind != 1) {
        return misuse("fetch needs one URL");
    }
    if (strcmp(a.out, "-") == 0 && isatty(STDOUT_FILENO)) {
        return misuse("pprof is not for a terminal: give -o FILE, or use hprofx view");
    }
    a.url = argv[optind];
    return run(&a);
}
