/* SPDX-License-Identifier: BSD-2-Clause */
/* journal.c: writes the journal, and decides when to start a new one. */
#include "journal.h"
#include "leftover.h"
#include "log.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG_BYTES (UINT64_C(16) << 20) /* shorter journals are not replaced */
#define LONGEST    ".killed.journal.part"
#define LONG_TIMES 4u /* nor journals that are less than this many times as long as a table of everything */

static HPX_OF_SESSION struct {
    char of[PATH_MAX], name[PATH_MAX], fresh[PATH_MAX]; /* of: the output's name */
    struct hpx_stream stream;
    bool open;
    bool gone;        /* its bytes were truncated for the output */
    bool dead;        /* nothing more is written to it */
    bool named;       /* a line has said that it may be recovered */
    uint64_t whole;   /* bytes of header and first table */
    atomic_bool on;   /* relaxed: a hint; what comes all the same is not written */
    atomic_bool said; /* relaxed: want of memory */
    atomic_bool anew; /* relaxed: the table itself comes by the lane */
} journal;

/* Relaxed: hpx_journal_forget() reads copies. -1: none. held_fd: the journal that keeps its name and lock while its successor is written;
 * without the lock another run would take it for the file of a killed run. Not in `journal`, because -1 is no zero. */
static _Atomic int journal_fd = -1, held_fd = -1;

/* 0: no file has this name, or it is our file; else why we cannot use it: EEXIST: another run's file, or not a regular one. */
static int taken(const char *path, int ours)
{
    struct stat st, own;
    if (lstat(path, &st) != 0) {
        return errno == ENOENT ? 0 : errno;
    }
    return ours >= 0 && fstat(ours, &own) == 0 && own.st_dev == st.st_dev && own.st_ino == st.st_ino ? 0 : EEXIST;
}

/* The names of a killed run's files must fit, too. */
static bool names_fit(const char *name)
{
    const char *slash = strrchr(name, '/');
    size_t base = strlen(slash != NULL ? slash + 1 : name);
    return base + strlen(LONGEST) <= NAME_MAX && strlen(name) + strlen(LONGEST) < PATH_MAX;
}

void hpx_journal_init(const char *name)
{
    if (!names_fit(name)) {
        hpx_warn(
            "file=%.1500s: the name is too long for a journal; if the program is killed, only completed dumps survive; shorten the name",
            name);
        return; /* a truncated name may be that of another file */
    }
    snprintf(journal.of, sizeof journal.of, "%s", name);
    snprintf(journal.name, sizeof journal.name, "%.*s.journal.part", (int)strlen(name), name);
    snprintf(journal.fresh, sizeof journal.fresh, "%.*s.journal.new.part", (int)strlen(name), name);
    journal.gone = journal.dead = journal.named = false;
    atomic_store_explicit(&journal.said, false, memory_order_relaxed);
    atomic_store_explicit(&journal.anew, true, memory_order_relaxed);
    atomic_store_explicit(&journal.on, true, memory_order_relaxed);
}

bool hpx_journal_on(void)
{
    return atomic_load_explicit(&journal.on, memory_order_relaxed);
}

bool hpx_journal_take_anew(void)
{
    return atomic_exchange_explicit(&journal.anew, false, memory_order_relaxed);
}

void hpx_journal_want_anew(void)
{
    atomic_store_explicit(&journal.anew, true, memory_order_relaxed);
}

void hpx_journal_no_memory(void)
{
    if (!hpx_journal_on()) {
        return;
    }
    hpx_journal_want_anew();
    hpx_warn_once(&journal.said,
                  "%s: no memory for a table of the journal; its counts go into a later one, and are lost if the program is killed before; "
                  "raise the memory limit of the process or lower depth=",
                  hpx_session_modes());
}

static int get_fd(void)
{
    return atomic_load_explicit(&journal_fd, memory_order_relaxed);
}

static ssize_t journal_write(void *ctx, const void *p, size_t n)
{
    (void)ctx;
    return write(get_fd(), p, n);
}

static int journal_truncate(void *ctx, off_t length)
{
    (void)ctx;
    return ftruncate(get_fd(), length);
}

static int journal_publish(void *ctx)
{
    int why = taken(journal.fresh, get_fd());
    (void)ctx;
    if (why != 0) {
        errno = why;
        return -1;
    }
    return rename(journal.fresh, journal.name);
}

static int journal_close(void *ctx)
{
    int fd = get_fd();
    (void)ctx;
    atomic_store_explicit(&journal_fd, -1, memory_order_relaxed);
    return close(fd);
}

static const struct hpx_out_ops journal_ops = {journal_write, journal_truncate, journal_publish, journal_close};

static int create(void)
{
    if (taken(journal.name, get_fd()) != 0 || taken(journal.fresh, -1) != 0) {
        hpx_leftover_keep(journal.of); /* the run that held it when we started has died since */
    }
    int why = taken(journal.name, get_fd());
    if (why != 0) {
        errno = why;
        return -1;
    }
    int fd = open(journal.fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
    struct stat st;
    /* between open and flock another run may take the file for a killed run's. On a file system without locks: continue without */
    if (fd >= 0 && ((flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) || fstat(fd, &st) != 0 || st.st_nlink != 1)) {
        close(fd);
        errno = EEXIST;
        return -1;
    }
    return fd;
}

static int held(void)
{
    return atomic_load_explicit(&held_fd, memory_order_relaxed);
}

static void let_go(void)
{
    int fd = atomic_exchange_explicit(&held_fd, -1, memory_order_relaxed);
    if (fd >= 0) {
        close(fd);
    }
}

static void close_stream(void)
{
    if (journal.open) {
        journal.open = false;
        hpx_stream_end(&journal.stream);
    }
}

/* An older journal stays: it is valid up to its end. */
static void stop(const char *why)
{
    bool older = journal.open && !journal.gone && journal.stream.out.published;
    atomic_store_explicit(&journal.on, false, memory_order_relaxed);
    journal.dead = true;
    if (older) {
        hpx_warn("file=%.1500s: %s; if the program is killed, later counts are lost", journal.name, why);
    } else {
        hpx_warn("file=%.1500s: %s; if the program is killed, only completed dumps survive", journal.name, why);
    }
}

struct hpx_stream *hpx_journal_begin(struct timespec wall, uint64_t mono_ns)
{
    char text[64];
    int fd = hpx_journal_on() ? create() : -1;
    if (fd < 0) {
        if (hpx_journal_on()) {
            snprintf(text, sizeof text, "cannot be created (error %d)", errno);
            stop(errno == EEXIST         ? "another run writes it, or it cannot be replaced"
                 : errno == ENAMETOOLONG ? "the name is too long for this file system"
                                         : text);
        }
        return NULL;
    }
    let_go();
    if (journal.open) {
        atomic_store_explicit(&held_fd, fcntl(get_fd(), F_DUPFD_CLOEXEC, 3), memory_order_relaxed); /* shares its lock */
    }
    close_stream();
    atomic_store_explicit(&journal_fd, fd, memory_order_relaxed);
    if (hpx_out_init(&journal.stream.out, &journal_ops, NULL, journal.name) != 0) {
        journal_close(NULL);
        unlink(journal.fresh);
        unlink(journal.name); /* it would end here and never be removed */
        let_go();
        stop("no memory");
        return NULL;
    }
    journal.open = true;
    journal.whole = 0;
    hpx_stream_begin(&journal.stream, wall, mono_ns);
    return &journal.stream;
}

struct hpx_stream *hpx_journal_stream(void)
{
    return journal.open && !journal.dead ? &journal.stream : NULL;
}

void hpx_journal_table(const struct hpx_parts *parts)
{
    static const struct hpx_dump_request everything = {.cutoff = 0};
    struct hpx_out *o = &journal.stream.out;
    if (hpx_journal_stream() == NULL) {
        return;
    }
    journal.stream.bound.spent = 0; /* each table has the whole bound: the journal begins anew when it has become too long */
    if (hpx_stream_dump(&journal.stream, parts, &everything, true)) {
        hpx_stream_report(&journal.stream, "");
    }
    if (journal.stream.unwritten > 0) {
        hpx_journal_no_memory();
    }
    if (hpx_out_section(o, true) != 0) { /* said */
        atomic_store_explicit(&journal.on, false, memory_order_relaxed);
        journal.dead = true;
        return;
    }
    if (o->published) {
        let_go();
    }
    journal.whole = journal.whole > 0 ? journal.whole : o->written;
    if (o->written > LONG_BYTES && o->written > LONG_TIMES * journal.whole) {
        hpx_journal_want_anew();
    }
}

bool hpx_journal_give_up(void)
{
    if (journal.gone || !(journal.open || hpx_journal_on())) {
        return false;
    }
    bool said = !journal.open || journal.dead;
    journal.gone = true;
    if (!said) {
        stop("the disk is full, and the output takes its space");
    }
    /* A journal that has not started never starts: it would use the space that truncating the output frees. The output's own message
     * reports the loss. */
    atomic_store_explicit(&journal.on, false, memory_order_relaxed);
    journal.dead = true;
    return journal.open && ftruncate(get_fd(), 0) == 0;
}

const char *hpx_journal_remedy(void)
{
    static char text[1600];
    if (!journal.open || journal.gone || !journal.stream.out.published) {
        return NULL;
    }
    journal.named = true;
    snprintf(text, sizeof text, "when the program has ended, rebuild the profile with hprofx recover %.1500s", journal.of);
    return text;
}

void hpx_journal_end(bool keep)
{
    atomic_store_explicit(&journal.on, false, memory_order_relaxed);
    if (get_fd() >= 0) {
        keep = keep && !journal.gone && journal.stream.out.published;
        if (keep && !journal.named) {
            hpx_warn("file=%.1500s: the profile is incomplete (write failed); rebuild it with hprofx recover %.1500s", journal.of,
                     journal.of);
        } else if (!keep && (taken(journal.name, get_fd()) == 0 || taken(journal.name, held()) == 0)) {
            (void)unlink(journal.name);
        }
        if (!journal.stream.out.published && taken(journal.fresh, get_fd()) == 0) {
            (void)unlink(journal.fresh);
        }
        journal.stream.out.published = true;  /* so that closing does not publish it again */
        journal.stream.out.error = ECANCELED; /* and writes nothing */
    }
    close_stream();
    let_go();
}

uint64_t hpx_journal_progress(void)
{
    return atomic_load_explicit(&journal.stream.out.progress, memory_order_relaxed);
}

void hpx_journal_forget(void)
{
    int fd = atomic_exchange_explicit(&journal_fd, -1, memory_order_relaxed);
    if (fd >= 0) {
        close(fd);
    }
    let_go();
}
