/* SPDX-License-Identifier: BSD-2-Clause */
/* run_files.c: see run_files.h. */
#include "run_files.h"
#include "plain.h"
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

static const char journal[] = ".journal.part";

/* For glob(): what file= expands becomes a star. */
static void make_glob(char *to, size_t size, const char *pattern)
{
    size_t n = 0;
    for (const char *c = pattern; *c != '\0' && n + 3 < size; c++) {
        const char *close = c[0] == '%' && c[1] == '{' ? strchr(c, '}') : NULL;
        if (close != NULL || (c[0] == '%' && c[1] != '\0' && strchr("pthn", c[1]) != NULL)) {
            c = close != NULL ? close : c + 1;
            to[n++] = '*';
            continue;
        }
        if (strchr("*?[]\\", *c) != NULL) {
            to[n++] = '\\';
        }
        to[n++] = *c;
        c += c[0] == '%' && c[1] == '%';
    }
    to[n] = '\0';
}

static bool ends(const char *name, const char *with)
{
    size_t n = strlen(name), k = strlen(with);
    return n > k && strcmp(name + n - k, with) == 0;
}

static bool add(struct hpx_list *to, const char *name)
{
    struct stat st;
    bool unfinished = ends(name, journal);
    if ((!unfinished && ends(name, ".part")) || lstat(name, &st) != 0) {
        return true; /* on its way: its journal, or its name later, counts */
    }
    struct hpx_run_file *f = hpx_list_push(to, sizeof *f);
    char *copy = f != NULL ? strndup(name, strlen(name) - (unfinished ? strlen(journal) : 0)) : NULL;
    if (copy == NULL) {
        to->len -= f != NULL;
        return false;
    }
    *f = (struct hpx_run_file){copy, st, unfinished};
    return true;
}

static int in_order(const void *a, const void *b)
{
    const struct hpx_run_file *f = a, *g = b;
    return f->unfinished != g->unfinished ? (int)f->unfinished - (int)g->unfinished : strverscmp(f->name, g->name);
}

bool hpx_run_files_find(struct hpx_list *to, const char *pattern)
{
    char name[4 * PATH_MAX + sizeof journal];
    bool whole = true;
    make_glob(name, sizeof name - sizeof journal, pattern);
    size_t n = strlen(name);
    for (int pass = 0; pass < 2 && whole; pass++) {
        glob_t g;
        int rc = glob(name, GLOB_NOSORT, NULL, &g);
        whole = rc != GLOB_NOSPACE;
        for (size_t i = 0; rc == 0 && i < g.gl_pathc && whole; i++) {
            whole = ends(g.gl_pathv[i], journal) == (pass == 1) ? add(to, g.gl_pathv[i]) : true; /* a star may stand for both */
        }
        if (rc == 0) {
            globfree(&g);
        }
        memcpy(name + n, journal, sizeof journal);
    }
    if (to->len > 1) {
        qsort(to->items, to->len, sizeof(struct hpx_run_file), in_order);
    }
    return whole;
}

/* A device or a pipe is written in place, and its times tell nothing. */
static bool is_as_it_was(const struct hpx_run_file *f, const struct hpx_list *before)
{
    const struct hpx_run_file *old = before->items;
    for (size_t i = 0; i < before->len; i++) {
        const struct stat *a = &f->at, *b = &old[i].at;
        if (old[i].unfinished == f->unfinished && strcmp(old[i].name, f->name) == 0) {
            return S_ISREG(a->st_mode) && a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
                   a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
        }
    }
    return false;
}

void hpx_run_files_since(struct hpx_list *now, const struct hpx_list *before)
{
    struct hpx_run_file *f = now->items;
    size_t kept = 0;
    for (size_t i = 0; i < now->len; i++) {
        bool is = !is_as_it_was(&f[i], before);
        for (size_t k = 0; k < kept && f[i].unfinished; k++) {
            is = is && strcmp(f[k].name, f[i].name) != 0;
        }
        if (is) {
            f[kept++] = f[i];
        } else {
            free(f[i].name);
        }
    }
    now->len = kept;
}

void hpx_run_files_fini(struct hpx_list *l)
{
    for (size_t i = 0; i < l->len; i++) {
        free(((struct hpx_run_file *)l->items)[i].name);
    }
    free(l->items);
    *l = (struct hpx_list){0};
}

size_t hpx_run_files_finished(const struct hpx_list *l)
{
    size_t n = 0;
    while (n < l->len && !((const struct hpx_run_file *)l->items)[n].unfinished) {
        n++;
    }
    return n;
}

/* A JVM that lives holds its journal. */
static bool is_written(const struct hpx_run_file *f)
{
    char name[PATH_MAX + sizeof journal];
    (void)snprintf(name, sizeof name, "%s%s", f->name, journal);
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return held;
}

bool hpx_run_files_tell_unfinished(const struct hpx_list *l)
{
    const struct hpx_run_file *f = l->items;
    size_t first = hpx_run_files_finished(l);
    for (size_t i = first; i < l->len; i++) {
        char line[2 * PATH_MAX + 200];
        if (is_written(&f[i])) {
            (void)snprintf(line, sizeof line, "a JVM of the program still runs; its profile will be %s, at its end or by `hprofx stop`",
                           f[i].name);
        } else {
            (void)snprintf(line, sizeof line, "the profile %s is not finished; `hprofx recover %s` rebuilds it", f[i].name, f[i].name);
        }
        (void)fprintf(stderr, "hprofx: %s\n", hpx_plain(line));
    }
    return first < l->len;
}

bool hpx_run_files_number(char *to, size_t size, const char *pattern)
{
    const char *slash = strrchr(pattern, '/'), *base = slash != NULL ? slash + 1 : pattern, *end = base + strlen(base);
    const char *packed = end - base > 3 && strcmp(end - 3, ".gz") == 0 ? end - 3 : end, *dot = packed;
    while (dot > base && *dot != '.') {
        dot--;
    }
    dot = dot > base ? dot : packed;
    int n = snprintf(to, size, "%.*s.%%p%s", (int)(dot - pattern), pattern, dot);
    return n > 0 && (size_t)n < size;
}
