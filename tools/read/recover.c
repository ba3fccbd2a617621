/* SPDX-License-Identifier: BSD-2-Clause */
/* recover.c: cutting the tail of a file that ends inside a record. */
#include "recover.h"
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".part"

/* One of the two files. */
struct half {
    char path[PATH_MAX];
    int fd; /* -1: not there */
    struct stat st;
    int result;
    uint64_t at, line, whole, dumps;
    char why[512];
    char head[64]; /* its first bytes: the header with the time of the run */
    size_t head_len;
};

static int refuse(struct hpx_err *said, const struct half *h, const char *why)
{
    return hpx_err_set(said, HPX_E_IO, "%s: %s", h->path, why);
}

/* 0; *h without descriptor: not there. */
static int open_half(struct half *h, bool held, struct hpx_err *said)
{
    h->fd = open(h->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (h->fd < 0) {
        return errno == ENOENT ? 0 : refuse(said, h, errno == ELOOP ? "a symbolic link" : strerror(errno));
    }
    if (fstat(h->fd, &h->st) != 0 || !S_ISREG(h->st.st_mode)) {
        return refuse(said, h, "not a regular file");
    }
    if (held && flock(h->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return refuse(said, h, "a running program writes it");
    }
    ssize_t n = pread(h->fd, h->head, sizeof(h->head), 0);
    h->head_len = n > 0 ? (size_t)n : 0;
    return 0;
}

static int examine(struct half *h, struct hpx_err *said)
{
    struct hpx_source s;
    struct hpx_check c;
    if (h->fd < 0) {
        return 0;
    }
    if (hpx_source_init_fd(&s, h->fd) != 0) {
        return hpx_err_set(said, HPX_E_NOMEM, "no memory");
    }
    hpx_check_init(&c);
    struct hpx_reader r = {.source = &s, .sinks = {hpx_check_event}, .ctx = {&c}};
    h->result = hpx_reader_run(&r);
    h->at = r.at;
    h->line = r.line;
    h->whole = r.result == HPX_RD_SOUND ? r.end : r.whole;
    h->dumps = c.dumps;
    memcpy(h->why, r.why, sizeof(h->why));
    hpx_check_fini(&c);
    hpx_source_fini(&s);
    return h->result == HPX_RD_FAILED ? refuse(said, h, h->why) : 0;
}

/* The same first line, or the same binary header. */
static bool one_run(const struct half *a, const struct half *b)
{
    size_t n = a->head_len < b->head_len ? a->head_len : b->head_len;
    const char *newline = memchr(a->head, '\n', n);
    size_t header = newline != NULL ? (size_t)(newline - a->head) : 31;
    return n >= header && memcmp(a->head, b->head, header) == 0;
}

static const struct half *choose(const struct half *name, const struct half *part)
{
    if (part->fd < 0 || part->whole == 0) {
        return name->fd >= 0 && name->whole > 0 ? name : part->fd >= 0 ? part : name;
    }
    if (name->fd < 0 || name->whole == 0 || !one_run(name, part)) {
        return part;
    }
    if (name->dumps != part->dumps) {
        return name->dumps > part->dumps ? name : part;
    }
    return name->whole > part->whole ? name : part;
}

static int copy(int from, int to, uint64_t n)
{
    static char buf[1 << 16];
    off_t at = 0;
    while (n > 0) {
        ssize_t got = pread(from, buf, n < sizeof(buf) ? (size_t)n : sizeof(buf), at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            errno = got == 0 ? EIO : errno;
            return -1;
        }
        for (ssize_t put = 0; put < got;) {
            ssize_t k = write(to, buf + put, (size_t)(got - put));
            if (k < 0 && errno != EINTR) {
                return -1;
            }
            put += k > 0 ? k : 0;
        }
        at += got;
        n -= (uint64_t)got;
    }
    return fsync(to);
}

/* The whole records of NAME into a new NAME.part, which then takes its place. */
static int replace(const struct half *name, const char *part, struct hpx_err *said)
{
    int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0) {
        return hpx_err_set(said, HPX_E_IO, "%s: %s", part, strerror(errno));
    }
    int rc = copy(name->fd, fd, name->whole);
    int error = errno;
    if (close(fd) != 0 && rc == 0) {
        rc = -1;
        error = errno;
    }
    if (rc == 0 && rename(part, name->path) == 0) {
        return 0;
    }
    error = rc != 0 ? error : errno;
    unlink(part);
    return hpx_err_set(said, HPX_E_IO, "%s: %s", part, strerror(error));
}

/* NAME.part loses its tail and takes the name. */
static int promote(const struct half *part, const struct half *name, struct hpx_err *said)
{
    struct stat now;
    int fd = open(part->path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return refuse(said, part, strerror(errno));
    }
    bool same = fstat(fd, &now) == 0 && now.st_dev == part->st.st_dev && now.st_ino == part->st.st_ino;
    bool done = same && (part->result == HPX_RD_SOUND || ftruncate(fd, (off_t)part->whole) == 0) && fchmod(fd, 0600) == 0 &&
                fsync(fd) == 0 && rename(part->path, name->path) == 0;
    int error = errno;
    close(fd);
    return done ? 0 : refuse(said, part, same ? strerror(error) : "changed while it was read");
}

static int apply(const struct half *chosen, const struct half *name, const struct half *part, struct hpx_err *said)
{
    int rc = 0;
    if (chosen == part) {
        rc = promote(part, name, said);
    } else {
        if (part->fd >= 0 && unlink(part->path) != 0) {
            return refuse(said, part, strerror(errno));
        }
        rc = name->result == HPX_RD_CUT ? replace(name, part->path, said) : 0;
    }
    if (rc != 0) {
        return rc;
    }
    if (chosen->result == HPX_RD_CUT) {
        snprintf(said->msg, sizeof(said->msg), "%.2000s: recovered: %" PRIu64 " bytes, %" PRIu64 " cut off (%s)", name->path, chosen->whole,
                 (uint64_t)chosen->st.st_size - chosen->whole, chosen->why);
    } else {
        snprintf(said->msg, sizeof(said->msg), "%.2000s: %s", name->path, chosen == part ? "recovered: it was whole" : "sound");
    }
    return 0;
}

static int judge(const struct half *chosen, struct hpx_err *said)
{
    if (chosen->fd < 0) {
        return refuse(said, chosen, strerror(ENOENT));
    }
    if (chosen->result == HPX_RD_BROKEN) {
        return chosen->line > 0
                   ? hpx_err_set(said, HPX_E_RANGE, "%.2000s: broken in line %" PRIu64 ": %s", chosen->path, chosen->line, chosen->why)
                   : hpx_err_set(said, HPX_E_RANGE, "%.2000s: broken at offset %" PRIu64 ": %s", chosen->path, chosen->at, chosen->why);
    }
    if (chosen->whole == 0) {
        return hpx_err_set(said, HPX_E_RANGE, "%.2000s: nothing in it is whole: %s", chosen->path, chosen->why);
    }
    if (chosen->st.st_uid != geteuid()) {
        return refuse(said, chosen, "belongs to another user");
    }
    return chosen->st.st_nlink == 1 ? 0 : refuse(said, chosen, "has more than one link");
}

int hpx_recover(const char *given, struct hpx_err *said)
{
    struct half name = {.fd = -1};
    struct half part = {.fd = -1};
    size_t n = strlen(given);
    size_t suffix = sizeof(SUFFIX) - 1;
    if (n > suffix && strcmp(given + n - suffix, SUFFIX) == 0) {
        n -= suffix;
    }
    if (n == 0 || n + suffix >= sizeof(part.path)) {
        return hpx_err_set(said, HPX_E_IO, "%.2000s: not a name", given);
    }
    memcpy(name.path, given, n);
    name.path[n] = '\0';
    memcpy(part.path, given, n);
    memcpy(part.path + n, SUFFIX, suffix + 1);
    int rc = open_half(&part, true, said);
    if (rc == 0) {
        rc = open_half(&name, false, said);
    }
    if (rc == 0) {
        rc = examine(&part, said);
    }
    if (rc == 0) {
        rc = examine(&name, said);
    }
    if (rc == 0) {
        const struct half *chosen = choose(&name, &part);
        bool untouched = chosen == &name && name.fd >= 0 && name.result == HPX_RD_SOUND && part.fd < 0;
        rc = untouched ? 0 : judge(chosen, said);
        if (rc == 0) {
            rc = apply(chosen, &name, &part, said);
        }
    }
    if (name.fd >= 0) {
        close(name.fd);
    }
    if (part.fd >= 0) {
        close(part.fd);
    }
    return rc;
}
