/* SPDX-License-Identifier: BSD-2-Clause */
/* leftover.c: finds the files of a killed run, checks whether they contain counts, and renames them. */
#include "leftover.h"
#include "hprof_format.h"
#include "log.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_BYTES ((uint64_t)16 << 20) /* bytes that are searched for counts; a longer file without counts in them is kept */
#define PIECE      ((size_t)64 << 10)

enum { PART, JOURNAL, FRESH, FILES };
static const char *const suffixes[FILES] = {".part", ".journal.part", ".journal.new.part"};

struct left {
    char at[PATH_MAX], to[PATH_MAX];
    struct stat older; /* the file `to` when the call began; st_nlink 0: there was none */
    int fd;            /* -1: there is no such file, or it is not of a killed run */
    bool counted;
};

/* The state of one call. */
struct leftovers {
    struct left file[FILES];
    char piece[PIECE];
};

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && (a->st_mode & S_IFMT) == (b->st_mode & S_IFMT);
}

/* Opens and locks a file of a killed run. -1 with errno ENOENT: no file has this name; -1 with another errno: the file is not of a killed
 * run and stays untouched. */
static int open_dead(const char *path)
{
    struct stat before, opened = {0}, after = {0}; /* compilers look at them before they know that fstat() has failed */
    if (lstat(path, &before) != 0) {
        return -1;
    }
    int fd = S_ISREG(before.st_mode) ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1;
    if (fd >= 0 && fstat(fd, &opened) == 0 && same_file(&before, &opened) && opened.st_uid == geteuid() && opened.st_nlink == 1 &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 && lstat(path, &after) == 0 && same_file(&opened, &after)) {
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    errno = EBUSY;
    return -1;
}

/* ---- does a file contain counts? ---- */

/* true if a whole line behind the header of a text file has counts. */
static bool line_counts(const char *line, size_t n)
{
    static const char *const others[] = {"THREAD ", "TRACE ", "\t"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(others); i++) {
        size_t k = strlen(others[i]);
        if (n >= k && memcmp(line, others[i], k) == 0) {
            return false;
        }
    }
    return n > 0;
}

static bool text_counts(int fd, char *piece)
{
    char head[8]; /* the first bytes of the current line */
    size_t n = 0;
    bool body = false;
    ssize_t got = 0;
    for (uint64_t at = 0; at < LOOK_BYTES && (got = pread(fd, piece, PIECE, (off_t)at)) > 0; at += (uint64_t)got) {
        for (const char *p = piece, *end = piece + got, *next; p < end; p = next) {
            const char *newline = memchr(p, '\n', (size_t)(end - p));
            size_t k = (size_t)((newline != NULL ? newline : end) - p);
            size_t room = sizeof(head) - n;
            memcpy(head + n, p, k < room ? k : room);
            n += k < room ? k : room;
            next = newline != NULL ? newline + 1 : end;
            if (newline == NULL) {
                continue;
            }
            if (body && line_counts(head, n)) {
                return true;
            }
            body = body || (n == sizeof(head) && memcmp(head, "--------", n) == 0);
            n = 0;
        }
    }
    return got != 0; /* the file is too long to search, or cannot be read: keep it */
}

/* true if a whole record has counts: it is none of names, classes, frames, traces, threads and settings. */
static bool binary_counts(int fd, char *piece, uint64_t size)
{
    static const uint32_t others = 1u << HPX_TAG_STRING | 1u << HPX_TAG_LOAD_CLASS | 1u << HPX_TAG_UNLOAD_CLASS | 1u << HPX_TAG_FRAME |
                                   1u << HPX_TAG_TRACE | 1u << HPX_TAG_START_THREAD | 1u << HPX_TAG_END_THREAD | 1u << HPX_TAG_CONTROL;
    uint64_t from = 0, have = 0;
    for (uint64_t at = HPX_HEADER_BYTES; at + HPX_RECORD_HEAD <= size;) {
        if (at >= LOOK_BYTES) {
            return true;
        }
        if (at + HPX_RECORD_HEAD > from + have) {
            ssize_t got = pread(fd, piece, PIECE, (off_t)at);
            if (got < (ssize_t)HPX_RECORD_HEAD) {
                return true;
            }
            from = at;
            have = (uint64_t)got;
        }
        const unsigned char *record = (const unsigned char *)piece + (at - from);
        at += HPX_RECORD_HEAD + hpx_get_be4(record + 5);
        if (at <= size && (record[0] >= 32 || !(others >> record[0] & 1))) {
            return true;
        }
    }
    return false;
}

static bool counts(int fd, char *piece)
{
    struct stat st;
    ssize_t n = fstat(fd, &st) == 0 ? pread(fd, piece, HPX_HEADER_BYTES, 0) : -1;
    size_t known = n < (ssize_t)HPX_MAGIC_BYTES ? (size_t)(n > 0 ? n : 0) : HPX_MAGIC_BYTES;
    if (n == 0) {
        return false;
    }
    if (n < 0 || memcmp(piece, HPX_MAGIC, known) != 0) {
        return true; /* this is no file of hprofx: keep it */
    }
    return (size_t)n > HPX_VERSION_END && piece[HPX_VERSION_END] == '\0' ? binary_counts(fd, piece, (uint64_t)st.st_size)
                                                                         : text_counts(fd, piece);
}

/* ---- renaming ---- */

/* true if the file may be renamed to `to`. Removes an older kept file that no process holds. Does not remove a file that has appeared since
 * this call began, because another process then keeps files of the same run. */
static bool free_place(const struct left *f)
{
    const char *path = f->to;
    struct stat st;
    if (lstat(path, &st) == 0 && (f->older.st_nlink == 0 || !same_file(&st, &f->older))) {
        return !f->counted;
    }
    int fd = open_dead(path);
    if (fd < 0) {
        return errno == ENOENT;
    }
    bool removed = unlink(path) == 0;
    close(fd);
    return removed;
}

static void keep(const struct leftovers *l, const char *name)
{
    const struct left *part = &l->file[PART], *journal = &l->file[JOURNAL];
    bool moved = free_place(part) && free_place(journal) && (!part->counted || rename(part->at, part->to) == 0) &&
                 (!journal->counted || rename(journal->at, journal->to) == 0);
    if (moved) {
        hpx_warn("file=%.1200s: a killed run left an unfinished profile; recover it with hprofx recover %.1200s.killed before another "
                 "run is killed",
                 name, name);
    } else {
        hpx_warn("file=%.1200s: a killed run left an unfinished profile; renaming it to %.1200s.killed.part failed; recover it with hprofx "
                 "recover "
                 "%.1200s",
                 name, name, name);
    }
}

static bool names(struct leftovers *l, const char *name)
{
    for (int i = 0; i < FILES; i++) {
        struct left *f = &l->file[i];
        (void)snprintf(f->at, sizeof(f->at), "%s%s", name, suffixes[i]);
        int n = snprintf(f->to, sizeof(f->to), "%s.killed%s", name, suffixes[i]);
        if ((size_t)n >= sizeof(f->to)) { /* the longer one */
            return false;
        }
    }
    return true;
}

void hpx_leftover_keep(const char *name)
{
    struct leftovers *l = malloc(sizeof(*l));
    if (l == NULL || !names(l, name)) {
        free(l);
        return;
    }
    bool any = false;
    /* Two processes may each lock some of the files. The older generation is read before the first lock, so that a file that the other
     * process keeps now is not taken for it. All files are locked before one is read, because reading may take long. */
    for (int i = 0; i < FILES; i++) {
        struct left *f = &l->file[i];
        if (lstat(f->to, &f->older) != 0) {
            f->older.st_nlink = 0;
        }
    }
    for (int i = 0; i < FILES; i++) {
        l->file[i].fd = open_dead(l->file[i].at);
    }
    for (int i = 0; i < FILES; i++) {
        struct left *f = &l->file[i];
        f->counted = f->fd >= 0 && i != FRESH && counts(f->fd, l->piece);
        any |= f->counted;
    }
    for (int i = 0; i < FILES; i++) {
        if (l->file[i].fd >= 0 && !l->file[i].counted) {
            (void)unlink(l->file[i].at);
        }
    }
    if (any) {
        keep(l, name);
    }
    for (int i = 0; i < FILES; i++) {
        if (l->file[i].fd >= 0) {
            close(l->file[i].fd);
        }
    }
    free(l);
}
