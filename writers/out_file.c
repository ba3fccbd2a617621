/* SPDX-License-Identifier: BSD-2-Clause */
/* out_file.c: outputs under a name: regular files by way of NAME.part, FIFOs, devices, descriptors 1 and 2. */
#include "out_file.h"
#include "leftover.h"
#include "log.h"
#include "out_gzip.h"
#include "owner.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CANDIDATES 10
#define PART       ".part"
#define NOBODY     ((uid_t)-1)

struct out_file {
    _Atomic int fd; /* relaxed; -1: a FIFO not yet opened, or closed. hpx_out_file_forget() in a forked child reads its own copy */
    struct hpx_out *out;
    struct hpx_gzip *gzip; /* NULL: not compressed */
    struct stat fifo;
    uid_t stranger; /* owner of a FIFO or a device that was refused for its owner; else NOBODY */
    char final[PATH_MAX];
    char part[PATH_MAX]; /* where a regular file is until published */
};

static int get_fd(struct out_file *f)
{
    return atomic_load_explicit(&f->fd, memory_order_relaxed);
}

static void set_fd(struct out_file *f, int fd)
{
    atomic_store_explicit(&f->fd, fd, memory_order_relaxed);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && (a->st_mode & S_IFMT) == (b->st_mode & S_IFMT);
}

/* Waits for a reader: on the writer's thread, not on one of the program's. */
static int open_fifo(struct out_file *f)
{
    int fd = -1;
    do {
        fd = open(f->final, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        return -1;
    }
    struct stat st;
    if (fstat(fd, &st) != 0 || !same_file(&st, &f->fifo) || !hpx_owner_may_read(&st)) {
        close(fd);
        errno = ENXIO; /* another file has this name now */
        return -1;
    }
    set_fd(f, fd);
    return 0;
}

static ssize_t file_write(void *ctx, const void *p, size_t n)
{
    struct out_file *f = ctx;
    if (get_fd(f) < 0 && open_fifo(f) != 0) {
        return -1;
    }
    for (;;) {
        ssize_t k = write(get_fd(f), p, n);
        if (k >= 0 || errno != EAGAIN) {
            return k;
        }
        /* descriptors 1 and 2 belong to the program, which may have made them non-blocking */
        struct pollfd pfd = {.fd = get_fd(f), .events = POLLOUT};
        if (poll(&pfd, 1, -1) < 0 && errno != EINTR) {
            return -1;
        }
    }
}

static int file_truncate(void *ctx, off_t length)
{
    return ftruncate(get_fd(ctx), length);
}

static int file_publish(void *ctx)
{
    struct out_file *f = ctx;
    if (rename(f->part, f->final) != 0) {
        return -1;
    }
    snprintf(f->out->name, sizeof(f->out->name), "%s", f->final);
    f->out->adopt = NULL; /* it replaces parts */
    return 0;
}

/* `final` and a suffix; truncates the last component if it would be too long. */
static bool part_name(char part[static PATH_MAX], const char *final, const char *suffix)
{
    const char *slash = strrchr(final, '/');
    size_t dir = slash != NULL ? (size_t)(slash + 1 - final) : 0;
    size_t base = strlen(final + dir);
    size_t room = NAME_MAX - strlen(suffix);
    int n = snprintf(part, PATH_MAX, "%.*s%s", (int)(dir + (base < room ? base : room)), final, suffix);
    return n < PATH_MAX;
}

/* Renames files that a killed run left under the name of `part`. */
static void make_way(const char *part)
{
    char base[PATH_MAX];
    snprintf(base, sizeof(base), "%.*s", (int)(strlen(part) - strlen(PART)), part);
    hpx_leftover_keep(base);
}

/* A regular file of this user. O_APPEND: what follows a truncation stands behind it (hpx_out_take_back). */
static int open_own(const char *path, int how)
{
    int fd;
    do {
        fd = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | how, 0600);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* false: another run has taken it for a killed run's. On a file system without locks: continue without */
static bool lock(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* The bytes of the output from `at` to `end`, moved on by `by`. */
static bool copy_to(struct out_file *f, int to, uint64_t at, uint64_t end, uint64_t by)
{
    while (at < end) { /* the buffer of the output is empty */
        ssize_t k = pread(get_fd(f), f->out->buf, end - at < HPX_OUT_BUFFER ? (size_t)(end - at) : HPX_OUT_BUFFER, (off_t)at);
        if (k > 0) {
            k = pwrite(to, f->out->buf, (size_t)k, (off_t)(at + by));
        }
        if (k == 0 || (k < 0 && errno != EINTR)) {
            return false;
        }
        at += k > 0 ? (uint64_t)k : 0;
    }
    return true;
}

/* `name` is a link to the file behind fd: it takes the place of the part, if that is still this output's. -1: it does not. */
static int replace_part(struct out_file *f, const char *name, int fd)
{
    struct stat own = {0}, other = {0}; /* compilers look at them before they know that fstat() has failed */
    int mine = fstat(get_fd(f), &own) == 0 && lstat(f->part, &other) == 0 && same_file(&own, &other) ? open_own(name, 0) : -1;
    if (mine >= 0 && fstat(fd, &own) == 0 && fstat(mine, &other) == 0 && same_file(&own, &other) && lock(mine) &&
        rename(name, f->part) == 0) {
        return mine;
    }
    if (mine >= 0) {
        close(mine);
    }
    return -1;
}

/* A kill at any moment leaves a part with all that was written: linkat() cannot replace it. */
static bool file_adopt(void *ctx, int fd, uint64_t head, uint64_t end)
{
    struct out_file *f = ctx;
    const uint64_t point = f->out->point_at, written = f->out->written;
    char from[32], name[PATH_MAX], suffix[64];
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    snprintf(suffix, sizeof suffix, ".%ld.0" PART, (long)getpid()); /* no other part has this name */
    if (!part_name(name, f->final, suffix) || !copy_to(f, fd, 0, point, 0) || !copy_to(f, fd, point, written, head - written) ||
        ftruncate(fd, (off_t)end) != 0) {
        return false;
    }
    make_way(name);
    if (linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) != 0) {
        return false;
    }
    int old = get_fd(f), mine = replace_part(f, name, fd);
    if (mine < 0) {
        unlink(name);
        return false;
    }
    set_fd(f, mine);
    close(old);
    return true;
}

static int file_close(void *ctx)
{
    struct out_file *f = ctx;
    int fd = get_fd(f);
    int rc = fd >= 0 ? close(fd) : 0;
    int error = errno;
    hpx_gzip_free(f->gzip);
    free(f);
    errno = error;
    return rc;
}

static const struct hpx_out_ops file_ops = {file_write, file_truncate, file_publish, file_close};
/* Not cut back: descriptor 1 may be a file with the program's own lines in it. */
static const struct hpx_out_ops in_place_ops = {file_write, NULL, NULL, file_close};

/* gz=y: the same, with hpx_gzip between. */
static ssize_t gzip_write(void *ctx, const void *p, size_t n)
{
    return hpx_gzip_write(((struct out_file *)ctx)->gzip, p, n);
}

static int gzip_truncate(void *ctx, off_t length)
{
    (void)length; /* uncompressed: the end of the last section */
    return hpx_gzip_truncate(((struct out_file *)ctx)->gzip);
}

static int gzip_section(void *ctx)
{
    return hpx_gzip_section(((struct out_file *)ctx)->gzip);
}

static int gzip_point(void *ctx)
{
    return hpx_gzip_point(((struct out_file *)ctx)->gzip);
}

static int gzip_back(void *ctx)
{
    return hpx_gzip_back(((struct out_file *)ctx)->gzip);
}

static const struct hpx_out_ops gzip_ops = {gzip_write, gzip_truncate, file_publish, file_close};
static const struct hpx_out_ops gzip_in_place_ops = {gzip_write, gzip_truncate, NULL, file_close};

/* A new file, locked: 1; 0: the name is taken; -1: nothing can be made here (errno). */
static int create_part(struct out_file *f, const char *path)
{
    int fd = open_own(path, O_CREAT | O_EXCL);
    if (fd < 0) {
        return errno == EEXIST ? 0 : -1;
    }
    struct stat st;
    if (!lock(fd)) {
        close(fd);
        return 0;
    }
    if (fstat(fd, &st) != 0) {
        int error = errno;
        unlink(path); /* the lock is ours: no other run has taken it */
        close(fd);
        errno = error;
        return -1;
    }
    if (st.st_nlink != 1) {
        close(fd);
        return 0;
    }
    set_fd(f, fd);
    return 1;
}

static bool open_regular(struct out_file *f)
{
    for (int i = 0; i < CANDIDATES; i++) {
        char suffix[64] = PART;
        if (i == 1) {
            snprintf(suffix, sizeof(suffix), ".%ld" PART, (long)getpid());
        } else if (i > 1) {
            snprintf(suffix, sizeof(suffix), ".%ld.%d" PART, (long)getpid(), i);
        }
        if (!part_name(f->part, f->final, suffix)) {
            return false;
        }
        make_way(f->part);
        int made = create_part(f, f->part);
        if (made < 0) {
            return false;
        }
        if (made > 0) {
            if (i > 0) {
                hpx_warn("file=%.1500s: another run writes its .part file, or it cannot be replaced; writing %.1500s%s until the first "
                         "dump is complete; put %%p into file=",
                         f->final, f->final, suffix);
            }
            return true;
        }
    }
    return false;
}

/* Whoever made a FIFO in a folder that all may write reads what comes out of it. A refused one is not even opened: that would wake its
 * reader. */
static bool open_in_place(struct out_file *f, const struct stat *named)
{
    if (!hpx_owner_may_read(named)) {
        f->stranger = named->st_uid;
        errno = EPERM;
        return false;
    }
    int fd = open(f->final, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        f->fifo = *named;
        return errno == ENXIO && S_ISFIFO(named->st_mode); /* no reader yet: the first write waits for one */
    }
    struct stat st = {0}; /* compilers look at it before they know that fstat() has failed */
    int flags = fcntl(fd, F_GETFL);
    if (fstat(fd, &st) != 0 || !same_file(&st, named) || !hpx_owner_may_read(&st) || flags < 0 ||
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) {
        close(fd);
        return false;
    }
    set_fd(f, fd);
    return true;
}

/* force=n: the name beside an existing file of that name. */
static bool add_pid(char name[static PATH_MAX], const struct hpx_out_file_opts *opts)
{
    char old[PATH_MAX];
    size_t n = strlen(name);
    memcpy(old, name, n + 1);
    bool gz = opts->gzip && n >= 3 && strcasecmp(name + n - 3, ".gz") == 0;
    const char *behind = gz ? old + n - 3 : "";
    n -= strlen(behind);
    bool txt = n >= 4 && strncasecmp(name + n - 4, ".txt", 4) == 0;
    long pid = (long)getpid();
    int k = 0;
    if (!opts->text) {
        k = snprintf(name, PATH_MAX, "%.*s.%ld%s", (int)n, old, pid, behind);
    } else if (txt) {
        k = snprintf(name, PATH_MAX, "%.*s.%ld%s", (int)(n - 4), old, pid, old + n - 4);
    } else {
        k = snprintf(name, PATH_MAX, "%.*s.%ld.txt%s", (int)n, old, pid, behind);
    }
    return k < PATH_MAX;
}

static bool duplicate(struct out_file *f, int fd)
{
    set_fd(f, fcntl(fd, F_DUPFD_CLOEXEC, 3)); /* above 2: the program may close and reopen its standard descriptors */
    return get_fd(f) >= 0;
}

/* Opens the output and returns its operations; NULL: refused. */
static const struct hpx_out_ops *open_named(struct out_file *f, const struct hpx_out_file_opts *opts)
{
    size_t len = strlen(opts->name);
    if (len == 0 || len >= sizeof(f->final)) {
        return NULL;
    }
    memcpy(f->final, opts->name, len + 1);
    if (strcmp(f->final, "/dev/stdout") == 0) {
        return duplicate(f, STDOUT_FILENO) ? &in_place_ops : NULL;
    }
    if (strcmp(f->final, "/dev/stderr") == 0) {
        return duplicate(f, STDERR_FILENO) ? &in_place_ops : NULL;
    }
    struct stat st;
    bool there = lstat(f->final, &st) == 0;
    if (there && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))) {
        return open_in_place(f, &st) ? &in_place_ops : NULL;
    }
    if (there && S_ISREG(st.st_mode) && !opts->force) {
        if (!add_pid(f->final, opts)) {
            return NULL;
        }
        there = lstat(f->final, &st) == 0;
    }
    if (there ? !S_ISREG(st.st_mode) : errno != ENOENT) {
        return NULL;
    }
    return open_regular(f) ? &file_ops : NULL;
}

static int refuse(const struct out_file *f, const char *name, struct hpx_err *err)
{
    if (f->stranger == NOBODY) {
        return hpx_err_set(err, HPX_E_IO, "can't create profile file: %s", name);
    }
    return hpx_err_set(err, HPX_E_IO,
                       "can't create profile file: %s: the FIFO or device belongs to user %lu, who could read the profile; choose another "
                       "file=, or one of your own or of root",
                       name, (unsigned long)f->stranger);
}

int hpx_out_file_open(struct hpx_out *o, const struct hpx_out_file_opts *opts, struct hpx_err *err)
{
    int rc = opts->gzip ? hpx_gzip_load(err) : 0;
    if (rc != 0) {
        return rc;
    }
    struct out_file *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        return hpx_err_set(err, HPX_E_NOMEM, "no memory for the output");
    }
    f->out = o;
    set_fd(f, -1);
    f->stranger = NOBODY;
    errno = 0;
    const struct hpx_out_ops *ops = open_named(f, opts);
    if (ops == NULL) {
        int error = errno;
        rc = refuse(f, opts->name, err);
        free(f);
        errno = error;
        return rc;
    }
    bool regular = ops == &file_ops;
    f->gzip = opts->gzip ? hpx_gzip_new(ops, f, HPX_GZIP_BLOCK) : NULL;
    if (f->gzip != NULL) {
        ops = regular ? &gzip_ops : &gzip_in_place_ops;
    }
    if ((opts->gzip && f->gzip == NULL) || hpx_out_init(o, ops, f, regular ? f->part : f->final) != 0) {
        if (regular) {
            unlink(f->part);
        }
        file_close(f);
        return hpx_err_set(err, HPX_E_NOMEM, "no memory for the output");
    }
    o->end_section = opts->gzip ? gzip_section : NULL;
    o->point = opts->gzip && regular ? gzip_point : NULL;
    o->back = opts->gzip ? gzip_back : NULL;
    o->plain = regular && !opts->gzip;
    o->adopt = o->plain ? file_adopt : NULL;
    return 0;
}

void hpx_out_file_rename(struct hpx_out *o, const struct hpx_out_file_opts *opts)
{
    struct out_file *f = o->ctx;
    struct stat st;
    char name[PATH_MAX];
    size_t len = strlen(opts->name);
    if (f == NULL || o->published || o->ops->publish == NULL || len == 0 || len >= sizeof name) {
        return;
    }
    memcpy(name, opts->name, len + 1);
    if (opts->force || lstat(name, &st) != 0 || add_pid(name, opts)) {
        memcpy(f->final, name, strlen(name) + 1);
    }
}

const char *hpx_out_file_name(const struct hpx_out *o)
{
    const struct out_file *f = o->ctx;
    return f != NULL ? f->final : o->name;
}

void hpx_out_file_forget(struct hpx_out *o)
{
    struct out_file *f = o->ctx;
    if (f == NULL) {
        return;
    }
    int fd = get_fd(f);
    set_fd(f, -1);
    if (fd >= 0) {
        close(fd);
    }
}
