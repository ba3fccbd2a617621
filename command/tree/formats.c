/* SPDX-License-Identifier: BSD-2-Clause */
/* formats.c: see formats.h. */
#include "formats.h"
#include "budget.h"
#include "edits.h"
#include "foreign.h"
#include "gunzip.h"
#include "jfr.h"
#include "memory.h"
#include "window.h"
#include "writers.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool begins(const struct hpx_source *s, size_t n, const char *with)
{
    size_t len = strlen(with);
    return n >= len && memcmp(hpx_source_bytes(s), with, len) == 0;
}

/* HPROF without a header is a report of cpu=old, or a section that somebody cut out. */
static bool is_hprof(const struct hpx_source *s, size_t n)
{
    static const char *const starts[] = {"JAVA PROFILE ",     "count callee caller time", "THREAD START",          "TRACE ",
                                         "CPU SAMPLES BEGIN", "CPU TIME (ms) BEGIN",      "WALL CLOCK (ms) BEGIN", "SITES BEGIN",
                                         "HEAP DUMP BEGIN",   "METHOD CALLS BEGIN"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(starts); i++) {
        if (begins(s, n, starts[i])) {
            return true;
        }
    }
    return false;
}

static bool is_jfr(const struct hpx_source *s, size_t n)
{
    return n >= 4 && memcmp(hpx_source_bytes(s), HPX_JFR_MAGIC, 4) == 0;
}

/* The first field of a pprof profile is the type of its samples, a message; writers may begin with another one, but none with text. */
static bool is_pprof(const struct hpx_source *s, size_t n)
{
    const char *p = hpx_source_bytes(s);
    size_t k = n < 64 ? n : 64;
    for (size_t i = 0; i < k; i++) {
        if ((unsigned char)p[i] < ' ' && p[i] != '\t' && p[i] != '\n' && p[i] != '\r') {
            return true;
        }
    }
    return false;
}

/* A name of a thread or class may begin as JSON does: "[main tid=1];p.C.m 3". */
static bool is_collapsed(struct hpx_source *s)
{
    struct hpx_rd_text line = {NULL, hpx_source_ahead(s, 4096)};
    line.p = hpx_source_bytes(s);
    const char *end = line.n > 0 ? memchr(line.p, '\n', line.n) : NULL;
    line.n = end != NULL ? (size_t)(end - line.p) : line.n;
    return hpx_folded_is_stack(line);
}

enum hpx_tree_read hpx_tree_read(struct hpx_tree *t, int fd, hpx_tree_profile *tell, void *ctx, struct hpx_err *err)
{
    struct hpx_source s;
    struct hpx_budget budget;
    struct hpx_gunzip *g = malloc(sizeof *g);
    enum hpx_tree_read done;
    if (g == NULL) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        return HPX_TREE_FAILED;
    }
    hpx_budget_begin(&budget, hpx_memory_for_file(fd), NULL);
    hpx_gunzip_init(g, fd);
    if (hpx_source_init(&s, hpx_gunzip_read, g) != 0) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        done = HPX_TREE_FAILED;
    } else {
        size_t n = hpx_source_ahead(&s, 64);
        const char *other = is_jfr(&s, n) ? NULL : hpx_foreign(hpx_source_bytes(&s), n < HPX_FOREIGN_BYTES ? n : HPX_FOREIGN_BYTES);
        if (other != NULL && !is_collapsed(&s)) {
            (void)hpx_err_set(err, HPX_E_RANGE, "hprofx does not read this: %s", other);
            done = HPX_TREE_FAILED;
        } else if (hpx_window_is_set() && !is_hprof(&s, n) && !is_jfr(&s, n)) {
            (void)hpx_err_set(err, HPX_E_RANGE, "only HPROF of hprofx and JFR have times of samples");
            done = HPX_TREE_FAILED;
        } else {
            done = is_hprof(&s, n)   ? hpx_tree_read_hprof(t, &s, tell, ctx, err)
                   : is_jfr(&s, n)   ? hpx_tree_read_jfr(t, &s, err)
                   : is_pprof(&s, n) ? hpx_tree_read_pprof(t, &s, err)
                                     : hpx_tree_read_folded(t, &s, err);
        }
        if (done != HPX_TREE_WHOLE && g->fault != NULL) {
            (void)hpx_err_set(err, HPX_E_IO, "%s", g->fault);
        } else if (done == HPX_TREE_WHOLE && g->cut) {
            (void)hpx_err_set(err, HPX_E_IO, "the compressed data end too early");
            done = HPX_TREE_PART;
        }
    }
    hpx_source_fini(&s);
    hpx_gunzip_fini(g);
    free(g);
    hpx_budget_end(&budget);
    return done;
}

#define ONE(view) (1u << (view))
#define NO_BINARY                                                                                                                          \
    (ONE(HPX_VIEW_CALLS) | ONE(HPX_VIEW_LOCK) | ONE(HPX_VIEW_OWNER) | ONE(HPX_VIEW_PARK) | ONE(HPX_VIEW_WAIT) | ONE(HPX_VIEW_PINNED) |     \
     ONE(HPX_VIEW_OTHER))

#define NO_JFR (ONE(HPX_VIEW_CALLS) | ONE(HPX_VIEW_HEAP) | ONE(HPX_VIEW_OWNER) | ONE(HPX_VIEW_PINNED) | ONE(HPX_VIEW_OTHER))

static const struct hpx_format formats[] = {
    {.suffix = ".html", .what = "a page to look at", .times = true, .write = hpx_write_page},
    {.suffix = ".pb.gz", .what = "pprof", .gzip = true, .write = hpx_write_pprof},
    {.suffix = ".pprof", .what = "pprof", .gzip = true, .write = hpx_write_pprof},
    {.suffix = ".folded", .what = "collapsed stacks", .one_column = true, .roots = true, .write = hpx_write_folded},
    {.suffix = ".collapsed", .what = "collapsed stacks", .one_column = true, .roots = true, .write = hpx_write_folded},
    {.suffix = ".hprof", .what = "binary HPROF", .hprof = true, .binary = true, .leaves_out = NO_BINARY, .write = hpx_write_hprof},
    {.suffix = ".txt", .what = "HPROF as text", .hprof = true, .leaves_out = ONE(HPX_VIEW_OTHER), .write = hpx_write_text},
    {.suffix = ".speedscope.json", .what = "speedscope", .times = true, .write = hpx_write_speedscope},
    {.suffix = ".firefox.json", .what = "Firefox Profiler", .times = true, .write = hpx_write_firefox},
    {.suffix = ".jfr",
     .what = "Java Flight Recorder",
     .times = true,
     .apart = true,
     .no_live = true,
     .leaves_out = NO_JFR,
     .write = hpx_write_jfr},
    {.suffix = ".otlp", .what = "OpenTelemetry profiles", .write = hpx_write_otlp},
};

const struct hpx_format *hpx_formats(size_t *n)
{
    *n = HPX_ARRAY_LEN(formats);
    return formats;
}

const struct hpx_format *hpx_format_of(const char *file)
{
    size_t len = strlen(file);
    for (size_t i = 0; i < HPX_ARRAY_LEN(formats); i++) {
        size_t n = strlen(formats[i].suffix);
        if (len >= n && strcmp(file + len - n, formats[i].suffix) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

/* ---- suffixes that are none ---- */

static const char *suffix_of(const char *file)
{
    const char *slash = strrchr(file, '/'), *base = slash != NULL ? slash + 1 : file, *dot = strrchr(base, '.');
    bool letters = false, plain = dot != NULL && dot != base;
    for (const char *c = plain ? dot + 1 : ""; *c != '\0'; c++) {
        letters |= isalpha((unsigned char)*c) != 0;
        plain = plain && isalnum((unsigned char)*c) != 0;
    }
    return plain && letters ? dot : NULL;
}

/* Of a name such as x.pb.gzz. */
static const char *first_dot(const char *file)
{
    const char *slash = strrchr(file, '/');
    return strchr(slash != NULL ? slash : file, '.');
}

/* What people write for a thing that has another suffix here, or is not written. */
static const char *meant(const char *suffix, const char *all)
{
    static const char *const words[][2] = {{".svg", ".html"},      {".htm", ".html"},   {".png", ".html"},    {".json", ".speedscope.json"},
                                           {".pb", ".pb.gz"},      {".gz", ".pb.gz"},   {".proto", ".pb.gz"}, {".prof", ".pb.gz"},
                                           {".stacks", ".folded"}, {".bin", ".hprof"},  {".log", ".txt"},     {".text", ".txt"},
                                           {".out", ".txt"},       {".dump", ".hprof"}, {".flame", ".html"},  {".otel", ".otlp"}};
    const char *best = NULL;
    unsigned least = 4;
    for (size_t i = 0; i < HPX_ARRAY_LEN(words); i++) {
        if (strcasecmp(suffix, words[i][0]) == 0) {
            return words[i][1];
        }
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(formats); i++) {
        unsigned of_all = hpx_edits(all, formats[i].suffix), d = hpx_edits(suffix, formats[i].suffix);
        d = of_all < d ? of_all : d;
        if (d < least) {
            least = d;
            best = formats[i].suffix;
        }
    }
    return best;
}

/* The suffix of a format that other profilers have by a word for -o; NULL: the file has no such name. */
static const char *of_word(const char *file)
{
    static const char *const words[][2] = {{"collapsed", ".collapsed"},
                                           {"folded", ".folded"},
                                           {"flamegraph", ".html"},
                                           {"html", ".html"},
                                           {"tree", ".html"},
                                           {"pprof", ".pb.gz"},
                                           {"jfr", ".jfr"},
                                           {"text", ".txt"},
                                           {"flat", ".txt"},
                                           {"traces", ".txt"},
                                           {"speedscope", ".speedscope.json"}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(words); i++) {
        if (strcmp(file, words[i][0]) == 0) {
            return words[i][1];
        }
    }
    return NULL;
}

bool hpx_format_is_unknown(const char *file, struct hpx_err *err)
{
    const char *of = of_word(file);
    if (of != NULL) {
        (void)hpx_err_set(err, HPX_E_OPT, "%s names a format, and a file is wanted: %s%s, or ./%s if that is its name", file, file, of,
                          file);
        return true;
    }
    const char *suffix = hpx_format_of(file) == NULL ? suffix_of(file) : NULL,
               *near = suffix != NULL ? meant(suffix, first_dot(file)) : NULL;
    if (suffix == NULL) {
        return false;
    }
    (void)hpx_err_set(err, HPX_E_OPT, "%s: no format has the suffix %s%s%s", file, suffix, near != NULL ? "; the nearest is " : "",
                      near != NULL ? near : "");
    return true;
}
