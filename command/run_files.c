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

static const char journal[] = ".journal.part", part[] = ".part";

/* For glob(): what file= expands becomes a star, a number a star behind a digit. */
static void make_glob(char *to, size_t size, const char *pattern)
{
    size_t n = 0;
    for (const char *c = pattern; *c != '\0' && n + 8 < size; c++) {
        const char *close = c[0] == '%' && c[1] == '{' ? strchr(c, '}') : NULL;
        if (close != NULL || (c[0] == '%' && c[1] != '\0' && strchr("pthn", c[1]) != NULL)) {
            bool number = close == NULL && (c[1] == 'p' || c[1] == 'n');
            n += (size_t)sprintf(to + n, "%s", number ? "[0-9]*" : "*");
            c = close != NULL ? close : c + 1;
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

/* Somebody writes it: a JVM that lives holds its files. */
static bool is_held(const char *name, const char *suffix)
{
    char full[PATH_MAX + sizeof journal];
    (void)snprintf(full, sizeof full, "%s%s", name, suffix);
    int fd = open(full, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return held;
}

static bool is_written(const struct hpx_run_file *f)
{
    return is_held(f->name, "") || is_held(f->name, part) || is_held(f->name, journal);
}

/* A file of that name may be anybody's: a profile of ours begins so, and belongs to us. What is no file, as a device, is not opened. */
static bool is_profile(const char *name, const struct stat *st)
{
    static const char *const begins[] = {"JAVA PROFILE ", "\x1f\x8b", "MONITOR ", "THREAD ", "TRACE ", "hprofx: "};
    char head[16] = {0};
    if (!S_ISREG(st->st_mode)) {
        return true;
    }
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    bool own = fd >= 0 && (geteuid() == 0 || st->st_uid == geteuid()), is = false;
    if (own && read(fd, head, sizeof head - 1) > 0) {
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
            is = is || strncmp(head, begins[i], strlen(begins[i])) == 0;
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return is;
}

/* suffix: of what was found; "": a profile. */
static bool add(struct hpx_list *to, const char *name, const char *suffix)
{
    struct stat st;
    bool unfinished = *suffix != '\0';
    if (lstat(name, &st) != 0 || (!unfinished && !is_profile(name, &st))) {
        return true;
    }
    struct hpx_run_file *f = hpx_list_push(to, sizeof *f);
    char *copy = f != NULL ? strndup(name, strlen(name) - strlen(suffix)) : NULL;
    if (copy == NULL) {
        to->len -= f != NULL;
        return false;
    }
    *f = (struct hpx_run_file){copy, st, unfinished};
    return true;
}

/* Which of the suffixes a name has; a star may stand for one, too. */
static const char *suffix_of(const char *name)
{
    return ends(name, journal) ? journal : ends(name, part) ? part : "";
}

static int in_order(const void *a, const void *b)
{
    const struct hpx_run_file *f = a, *g = b;
    int order = f->unfinished != g->unfinished ? (int)f->unfinished - (int)g->unfinished : strverscmp(f->name, g->name);
    return order != 0 ? order : (f->at.st_ino > g->at.st_ino) - (f->at.st_ino < g->at.st_ino); /* a journal and a .part have one name */
}

/* Two patterns have found them. */
static void drop_doubles(struct hpx_list *l)
{
    struct hpx_run_file *f = l->items;
    size_t kept = 1;
    for (size_t i = 1; i < l->len; i++) {
        const struct hpx_run_file *last = &f[kept - 1];
        if (f[i].at.st_ino == last->at.st_ino && f[i].at.st_dev == last->at.st_dev && strcmp(f[i].name, last->name) == 0) {
            free(f[i].name);
        } else {
            f[kept++] = f[i];
        }
    }
    l->len = kept;
}

bool hpx_run_files_find(struct hpx_list *to, const char *pattern)
{
    char name[(size_t)4 * PATH_MAX + sizeof journal];
    bool whole = true;
    make_glob(name, sizeof name - sizeof journal, pattern);
    size_t n = strlen(name);
    const char *const suffixes[] = {"", journal, part};
    for (size_t pass = 0; pass < sizeof suffixes / sizeof *suffixes && whole; pass++) {
        glob_t g;
        memcpy(name + n, suffixes[pass], strlen(suffixes[pass]) + 1);
        int rc = glob(name, GLOB_NOSORT, NULL, &g);
        whole = rc != GLOB_NOSPACE;
        for (size_t i = 0; rc == 0 && i < g.gl_pathc && whole; i++) {
            bool is = suffix_of(g.gl_pathv[i]) == suffixes[pass] || (*suffixes[pass] == '\0' && *suffix_of(g.gl_pathv[i]) == '\0');
            is = is && !ends(g.gl_pathv[i], ".journal.new.part");
            whole = !is || add(to, g.gl_pathv[i], suffixes[pass]);
        }
        if (rc == 0) {
            globfree(&g);
        }
    }
    if (to->len > 1) {
        qsort(to->items, to->len, sizeof(struct hpx_run_file), in_order);
        drop_doubles(to);
    }
    return whole;
}

/* A device or a pipe is written in place, and its times tell nothing. */
static bool is_as_it_was(const struct hpx_run_file *f, const struct hpx_list *before)
{
    const struct hpx_run_file *old = before->items;
    for (size_t i = 0; i < before->len; i++) {
        const struct stat *a = &f->at, *b = &old[i].at;
        if (old[i].unfinished == f->unfinished && strcmp(old[i].name, f->name) == 0 && S_ISREG(a->st_mode) && a->st_ino == b->st_ino &&
            a->st_dev == b->st_dev && a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec) {
            return true;
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
        for (size_t k = 0; k < kept && f[i].unfinished; k++) { /* of its journal and its beginning one */
            is = is && !(f[k].unfinished && strcmp(f[k].name, f[i].name) == 0);
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

/* true: something was said. */
static bool tell(const struct hpx_run_file *f)
{
    char line[2 * PATH_MAX + 200], beside[PATH_MAX + sizeof journal];
    (void)snprintf(beside, sizeof beside, "%s%s", f->name, journal);
    bool rebuilds = access(beside, F_OK) == 0;
    (void)snprintf(beside, sizeof beside, "%s%s", f->name, part);
    if (is_written(f)) {
        (void)snprintf(line, sizeof line, "a JVM of the program still runs; its profile will be %s, at its end or by `hprofx stop`",
                       f->name);
    } else if (rebuilds) {
        (void)snprintf(line, sizeof line, "the profile %s is not finished; `hprofx recover %s` rebuilds it", f->name, f->name);
    } else if (f->unfinished && access(beside, F_OK) == 0) {
        (void)snprintf(line, sizeof line, "the profile %s is lost: its JVM ended before it had written anything", f->name);
    } else {
        return false; /* it has been finished since */
    }
    (void)fprintf(stderr, "hprofx: %s\n", hpx_plain(line));
    return true;
}

bool hpx_run_files_tell_unfinished(const struct hpx_list *l)
{
    const struct hpx_run_file *f = l->items;
    bool told = false;
    for (size_t i = 0; i < l->len; i++) {
        bool again = false; /* a profile of dumps, and the journal of what came later */
        for (size_t k = 0; k < i && !again; k++) {
            again = strcmp(f[k].name, f[i].name) == 0;
        }
        told = (!again && tell(&f[i])) || told;
    }
    return told;
}

bool hpx_run_files_is_over(const struct hpx_list *l)
{
    const struct hpx_run_file *f = l->items;
    return l->len == 1 && !f->unfinished && !is_written(f);
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

bool hpx_run_files_plain(char *to, size_t size, const char *name, const char *pattern)
{
    const char *suffix = strrchr(pattern, '%') + 2; /* no known suffix has a percent sign */
    size_t len = strlen(name), behind = strlen(suffix), end = len > behind ? len - behind : 0, at = end;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') {
        at--;
    }
    int n = at > 0 && name[at - 1] == '.' ? snprintf(to, size, "%.*s%s", (int)at - 1, name, suffix) : -1;
    return n > 0 && (size_t)n < size;
}
