/* SPDX-License-Identifier: BSD-2-Clause */
/* picture.c: see picture.h. */
#include "picture.h"
#include "budget.h"
#include "filter.h"
#include "window.h"
#include "within.h"
#include "words.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SMALL ((off_t)4 << 20) /* bytes of a file whose times are looked at for the verdict */

struct told {
    const struct hpx_verdict *verdict;
    const char *file;
};

/* "40 s", "1.5 s": the number is one that --from takes. */
static void put_offset(FILE *to, uint64_t ms)
{
    if (ms % 1000 == 0 || ms >= 100000) {
        (void)fprintf(to, "%" PRIu64 " s", (ms + 500) / 1000);
    } else {
        (void)fprintf(to, "%.1f s", (double)ms / 1000);
    }
}

/* What changed within the run; offsets count from where those of --from do. */
static void say_within(FILE *to, const struct hpx_tree *t)
{
    struct hpx_within w;
    const uint64_t behind = t->times_from_ms > t->times_zero_ms ? t->times_from_ms - t->times_zero_ms : 0; /* a later file of split=y */
    if (hpx_window_is_set() || !hpx_within_find(t, &w) || w.part.n == 0) {
        return;
    }
    (void)fputs(w.first ? "The first " : w.last ? "The last " : "From ", to);
    put_offset(to, w.first ? w.to_ms : w.last ? t->times_to_ms - t->times_from_ms - w.from_ms : behind + w.from_ms);
    if (!w.first && !w.last) {
        (void)fputs(" to ", to);
        put_offset(to, behind + w.to_ms);
    }
    (void)fputs(w.first || w.last ? " differ beyond chance: there " : " the run differs beyond chance: there ", to);
    for (size_t i = 0; i < w.part.n; i++) {
        const struct hpx_within_change *c = &w.part.top[i];
        (void)fputs(i > 0 ? ", " : "", to);
        hpx_words_java(to, w.names[i] != 0 ? hpx_tree_text(t, w.names[i]) : HPX_NO_STACK);
        (void)fprintf(to, i == 0 ? " has %.0f %% of the CPU time, else %.0f %%" : " %.0f %%, else %.0f %%", 100 * c->inside,
                      100 * c->outside);
    }
    (void)fputs(".\n", to);
}

/* The sentences for the tree, in memory. */
static void keep_verdict(void *ctx, struct hpx_tree *t, struct hpx_profile *p)
{
    const struct told *told = ctx;
    const struct hpx_verdict none = {.name = told->file};
    size_t n;
    char *text = NULL;
    FILE *to = open_memstream(&text, &n);
    if (to == NULL) {
        return; /* the picture is whole without it */
    }
    hpx_verdict_say(to, told->verdict != NULL ? told->verdict : &none, p);
    say_within(to, t);
    if (fclose(to) == 0) {
        free(t->verdict);
        t->verdict = text;
    } else {
        free(text);
    }
}

enum hpx_status hpx_picture_read_fd(struct hpx_tree *t, int fd, const char *name, const struct hpx_verdict *v, struct hpx_err *err)
{
    struct hpx_err why = {""};
    struct told told = {v, name};
    struct stat st;
    t->told_times = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SMALL;
    enum hpx_tree_read done = hpx_tree_read(t, fd, keep_verdict, &told, &why);
    return done == HPX_TREE_WHOLE  ? HPX_OK
           : done == HPX_TREE_PART ? hpx_fail(err, HPX_PARTIAL, "%s: %s", name, why.msg)
                                   : hpx_fail(err, HPX_FAILED, "%s: %s", name, why.msg);
}

enum hpx_status hpx_picture_read(struct hpx_tree *t, const char *file, struct hpx_err *err)
{
    if (strcmp(file, "-") == 0) {
        return hpx_picture_read_fd(t, STDIN_FILENO, "standard input", NULL, err);
    }
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return hpx_fail(err, HPX_FAILED, "%s: %s", file, strerror(errno));
    }
    enum hpx_status s = hpx_picture_read_fd(t, fd, file, NULL, err);
    (void)close(fd);
    return s;
}

/* ---- writing ---- */

static void views(const struct hpx_tree *t, char *to, size_t room)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    size_t n = hpx_tree_columns(t, of), at = 0;
    to[0] = '\0';
    for (size_t i = 0; i < n && at < room; i++) {
        at += (size_t)snprintf(to + at, room - at, "%s%s", i == 0 ? "" : ", ", t->views[of[i].view].measures[of[i].measure].name);
    }
}

/* What the format cannot hold of a view; NULL: nothing. */
static const char *missing(const struct hpx_tree *t, const struct hpx_format *f, size_t view)
{
    const struct hpx_tree_view *v = &t->views[view];
    if (v->samples.len == 0) {
        return NULL;
    }
    if (f->hprof && view == HPX_VIEW_CPU && v->totals[0] == 0) {
        return "CPU time without a number of samples";
    }
    if (f->hprof && view == HPX_VIEW_HEAP && t->views[HPX_VIEW_ALLOC].samples.len > 0) {
        return "Heap beside Allocations"; /* both would be SITES */
    }
    if (f->no_live && view == HPX_VIEW_ALLOC && v->totals[0] == 0 && v->totals[1] == 0) {
        return "live objects";
    }
    return (f->leaves_out >> view & 1) != 0 ? v->title : NULL;
}

/* What the format cannot hold is said, and none of it may be asked for. */
static enum hpx_status fits(const struct hpx_tree *t, const struct hpx_format *f, struct hpx_tree_column c, const char *view,
                            const char *name, struct hpx_err *err)
{
    char out[256];
    size_t at = 0;
    bool any = false;
    out[0] = '\0';
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        const char *what = missing(t, f, k);
        any |= t->views[k].samples.len > 0 && what == NULL;
        if (what != NULL && at < sizeof out) {
            at += (size_t)snprintf(out + at, sizeof out - at, "%s%s", at == 0 ? "" : ", ", what);
        }
    }
    if (!any || (view != NULL && missing(t, f, c.view) != NULL)) {
        return hpx_fail(err, HPX_FAILED, "%s cannot be written: %s does not hold %s", name, f->what, out);
    }
    if (at > 0) {
        (void)fprintf(stderr, "hprofx: %s is without %s, which %s does not hold\n", name, out, f->what);
    }
    return HPX_OK;
}

/* What to do if a filter leaves nothing; a part of the time alone has no pattern. */
static const char *advice(const struct hpx_tree *t)
{
    char option[16];
    bool pattern = false;
    for (int k = 0; k < HPX_FILTERS; k++) {
        (void)snprintf(option, sizeof option, "--%s ", hpx_filter_name((enum hpx_filter_kind)k));
        pattern |= strstr(hpx_tree_text(t, t->filtered), option) != NULL;
    }
    return pattern ? "; a pattern is a whole name, or has * for any characters" : "";
}

enum hpx_status hpx_picture_column(const struct hpx_tree *t, const char *view, struct hpx_tree_column *c, struct hpx_err *err)
{
    char have[512];
    if (t->no_memory) {
        return hpx_fail(err, HPX_FAILED, "%s", hpx_budget_why());
    }
    if (hpx_tree_column(t, view, c)) {
        return HPX_OK;
    }
    views(t, have, sizeof have);
    return have[0] == '\0' && t->filtered != 0
               ? hpx_fail(err, HPX_FAILED, "nothing in the profile fits %s%s", hpx_tree_text(t, t->filtered), advice(t))
           : have[0] == '\0' ? hpx_fail(err, HPX_FAILED, "the profile has no stacks")
           : t->filtered != 0
               ? hpx_fail(err, HPX_FAILED, "no %s in the profile fits %s; what fits has %s", view, hpx_tree_text(t, t->filtered), have)
               : hpx_fail(err, HPX_FAILED, "the profile has no %s; it has %s", view, have);
}

static void put_escaped(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        const char *as = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        (void)(as != NULL ? fputs(as, to) : fputc(*text, to));
    }
}

/* A page of text in place of one with pictures. */
static bool write_empty_page(const struct hpx_tree *t, FILE *to)
{
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>hprofx: nothing to show</title>\n"
                "<body style=\"font: 16px sans-serif; margin: 2em; white-space: pre-wrap\">",
                to);
    put_escaped(to, t->verdict != NULL ? t->verdict : "");
    (void)fputs("There is nothing to show: the profile has no stacks.</body></html>\n", to);
    return true;
}

bool hpx_picture_is_empty(const struct hpx_tree *t)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    return !t->no_memory && hpx_tree_columns(t, of) == 0;
}

/* A profile without stacks is written whatever view was asked for: nothing happened in any. */
static bool put(const struct hpx_tree *t, const struct hpx_format *f, struct hpx_tree_column c, FILE *to)
{
    return hpx_picture_is_empty(t) && strcmp(f->suffix, ".html") == 0 ? write_empty_page(t, to) : f->write(t, c, to);
}

void hpx_picture_join_locks(struct hpx_tree *t)
{
    struct hpx_tree_view *both = &t->views[HPX_VIEW_LOCK], *locks = &t->views[HPX_VIEW_PARK];
    if (locks->samples.len == 0 || t->no_memory) {
        return;
    }
    for (size_t i = 0; i < locks->samples.len; i++) { /* both count times and nanoseconds; the innermost frames tell them apart */
        const struct hpx_tree_sample *s = hpx_tree_sample_at(locks, i);
        hpx_tree_add(t, both, s->node, s->thread, hpx_tree_values_at(locks, i));
    }
    for (size_t i = 0; i < locks->moments.len; i++) {
        hpx_tree_add_moment(t, both, hpx_tree_moment_at(locks, i), hpx_tree_moment_values_at(locks, i));
    }
    hpx_tree_clear(locks);
    both->title = "Monitors and locks";
    hpx_tree_finish(t);
}

/* Of a format with one view. Who names a measure means that alone. */
static bool means_locks(const struct hpx_tree *t, const struct hpx_format *f, const char *view)
{
    struct hpx_tree_column c;
    return f->one_column && (view == NULL || strcmp(view, t->views[HPX_VIEW_LOCK].key) == 0) && hpx_tree_column(t, view, &c) &&
           c.view == HPX_VIEW_LOCK;
}

enum hpx_status hpx_picture_write(struct hpx_tree *t, const struct hpx_format *f, const char *view, int fd, const char *name,
                                  struct hpx_err *err)
{
    struct hpx_tree_column c = {0, 0};
    if (means_locks(t, f, view)) {
        hpx_picture_join_locks(t);
    }
    const char *shown = hpx_out_is_stdout(name) ? "standard output" : name;
    bool empty = hpx_picture_is_empty(t);
    enum hpx_status s = empty ? HPX_OK : hpx_picture_column(t, view, &c, err);
    s = s == HPX_OK && !empty ? fits(t, f, c, view, shown, err) : s;
    if (s != HPX_OK) {
        return s;
    }
    if (f->roots) {
        hpx_tree_root_threads(t);
        if (t->no_memory) {
            return hpx_fail(err, HPX_FAILED, "no memory");
        }
    }
    hpx_out_empty(fd, name); /* only now: a command that fails leaves the file as it was */
    FILE *to = hpx_out_stream(fd, f->gzip);
    if (to == NULL) {
        return hpx_fail(err, HPX_FAILED, "cannot write %s: %s", shown, strerror(errno));
    }
    errno = 0;
    bool memory = put(t, f, c, to), bad = ferror(to) != 0;
    int why = errno;
    bad = fclose(to) != 0 || bad;
    bad = bad && !(hpx_out_is_stdout(name) && hpx_out_nobody_reads()); /* `| head` has seen enough */
    if (!memory || bad) {
        return hpx_fail(err, HPX_FAILED, "cannot write %s: %s", shown, strerror(!memory ? ENOMEM : why != 0 ? why : errno));
    }
    if (empty) {
        (void)fprintf(stderr, "hprofx: %s says only that the profile has no stacks\n", shown);
    }
    return HPX_OK;
}

enum hpx_status hpx_picture_save(struct hpx_tree *t, const struct hpx_format *f, const char *view, const char *file, struct hpx_err *err)
{
    bool made = false;
    int fd = hpx_out_open(file, &made, err);
    if (fd < 0) {
        return HPX_FAILED;
    }
    enum hpx_status s = hpx_picture_write(t, f, view, fd, file, err);
    if (close(fd) != 0 && s == HPX_OK) {
        s = hpx_fail(err, HPX_FAILED, "cannot write %s: %s", file, strerror(errno));
    }
    if (s != HPX_OK && made) {
        (void)unlink(file);
    }
    return s;
}
