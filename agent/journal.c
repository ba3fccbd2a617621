/* SPDX-License-Identifier: BSD-2-Clause */
/* journal.c: the file of journal.h, and when it is begun anew. */
#include "journal.h"
#include "log.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG_BYTES (UINT64_C(16) << 20) /* shorter ones are not begun anew */
#define LONG_TIMES 4u                   /* nor those that are not so many times as long as a table of everything */

static struct {
    char name[PATH_MAX], fresh[PATH_MAX];
    struct hpx_stream stream;
    bool open;
    bool gone;        /* its bytes were given up */
    bool dead;        /* nothing more is written to it */
    uint64_t whole;   /* bytes of header and first table */
    _Atomic int fd;   /* relaxed: hpx_journal_forget() reads a copy. -1: none */
    atomic_bool on;   /* relaxed: a hint; what comes all the same is not written */
    atomic_bool anew; /* relaxed: the table itself comes by the lane */
} journal = {.fd = -1};

/* Whether the file of this name may be replaced: not there, or ours, or of this user and held by no living run. */
static bool replaceable(const char *path, int ours)
{
    struct stat st, own;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return errno == ENOENT;
    }
    bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1;
    bool is_ours = good && ours >= 0 && fstat(ours, &own) == 0 && own.st_dev == st.st_dev && own.st_ino == st.st_ino;
    good = good && (is_ours || (ours < 0 && (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)));
    close(fd);
    return good;
}

/* Of a run that died: as NAME.part it goes when another run takes the name. */
static void remove_stale(const char *path)
{
    if (replaceable(path, -1)) {
        (void)unlink(path);
    }
}

void hpx_journal_init(const char *name)
{
    int n = snprintf(journal.name, sizeof journal.name, "%s.journal.part", name);
    int m = snprintf(journal.fresh, sizeof journal.fresh, "%s.journal.new.part", name);
    if (n <= 0 || m <= 0 || (size_t)m >= sizeof journal.fresh) {
        hpx_warn("file=%.1500s: the name is too long for a journal; should the program be killed, nothing is kept but what was dumped",
                 name);
        return; /* and a name that was cut may be another file's */
    }
    remove_stale(journal.name);
    remove_stale(journal.fresh);
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

static int get_fd(void)
{
    return atomic_load_explicit(&journal.fd, memory_order_relaxed);
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
    (void)ctx;
    return rename(journal.fresh, journal.name);
}

static int journal_close(void *ctx)
{
    int fd = get_fd();
    (void)ctx;
    atomic_store_explicit(&journal.fd, -1, memory_order_relaxed);
    return close(fd);
}

static const struct hpx_out_ops journal_ops = {journal_write, journal_truncate, journal_publish, journal_close};

static int create(void)
{
    if (!replaceable(journal.name, get_fd()) || !replaceable(journal.fresh, -1)) {
        errno = EEXIST;
        return -1;
    }
    (void)unlink(journal.fresh); /* of a run that died */
    int fd = open(journal.fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd >= 0) {
        (void)flock(fd, LOCK_EX | LOCK_NB); /* where there are no locks: without */
    }
    return fd;
}

static void close_stream(void)
{
    if (journal.open) {
        journal.open = false;
        hpx_stream_end(&journal.stream);
    }
}

static void stop(const char *why)
{
    atomic_store_explicit(&journal.on, false, memory_order_relaxed);
    journal.dead = true;
    hpx_warn("file=%.1500s: %s; should the program be killed, nothing is kept of it but what was dumped", journal.name, why);
}

struct hpx_stream *hpx_journal_begin(struct timespec wall, uint64_t mono_ns)
{
    char text[64];
    int fd = hpx_journal_on() ? create() : -1;
    if (fd < 0) {
        if (hpx_journal_on()) {
            snprintf(text, sizeof text, "cannot be made (error %d)", errno);
            stop(errno == EEXIST ? "another run writes it, or it cannot be replaced" : text);
        }
        return NULL;
    }
    close_stream();
    atomic_store_explicit(&journal.fd, fd, memory_order_relaxed);
    if (hpx_out_init(&journal.stream.out, &journal_ops, NULL, journal.name) != 0) {
        journal_close(NULL);
        unlink(journal.fresh);
        unlink(journal.name); /* it would end here, and nobody would remove it */
        stop("no memory for it");
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

void hpx_journal_table(struct hpx_snapshot *samples, struct hpx_call_snapshot *calls)
{
    static const struct hpx_dump_wish everything = {.cutoff = 0};
    struct hpx_out *o = &journal.stream.out;
    if (hpx_journal_stream() == NULL) {
        return;
    }
    hpx_stream_dump(&journal.stream, samples, calls, &everything, "");
    if (hpx_out_section(o, true) != 0) { /* said */
        atomic_store_explicit(&journal.on, false, memory_order_relaxed);
        journal.dead = true;
        return;
    }
    journal.whole = journal.whole > 0 ? journal.whole : o->written;
    if (o->written > LONG_BYTES && o->written > LONG_TIMES * journal.whole) {
        hpx_journal_want_anew();
    }
}

bool hpx_journal_give_up(void)
{
    if (!journal.open || journal.gone) {
        return false;
    }
    journal.gone = journal.dead = true;
    atomic_store_explicit(&journal.on, false, memory_order_relaxed);
    return ftruncate(get_fd(), 0) == 0;
}

void hpx_journal_end(void)
{
    atomic_store_explicit(&journal.on, false, memory_order_relaxed);
    if (get_fd() >= 0) {
        if (replaceable(journal.name, get_fd())) {
            (void)unlink(journal.name);
        }
        if (!journal.stream.out.published) {
            (void)unlink(journal.fresh);
        }
        journal.stream.out.published = true;  /* closing gives it no name again */
        journal.stream.out.error = ECANCELED; /* and writes nothing */
    }
    close_stream();
}

uint64_t hpx_journal_progress(void)
{
    return atomic_load_explicit(&journal.stream.out.progress, memory_order_relaxed);
}

void hpx_journal_forget(void)
{
    int fd = get_fd();
    atomic_store_explicit(&journal.fd, -1, memory_order_relaxed);
    if (fd >= 0) {
        close(fd);
    }
}
