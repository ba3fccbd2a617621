/* SPDX-License-Identifier: BSD-2-Clause */
/* outfile.c: see outfile.h. */
#include "outfile.h"
#include "compiler.h"
#include "owner.h"
#include "plain.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define NOBODY ((uid_t)-1)

/* A file that is there. It is looked at before it is opened: a FIFO waits for its reader, and wakes it. */
static int open_old(const char *file, int how, uid_t *stranger)
{
    struct stat named, opened;
    if (lstat(file, &named) != 0) {
        return -1;
    }
    if (S_ISLNK(named.st_mode)) {
        errno = ELOOP;
        return -1;
    }
    if (!hpx_owner_may_read(&named)) {
        *stranger = named.st_uid;
        return -1;
    }
    int fd = open(file, how);
    if (fd >= 0 && (fstat(fd, &opened) != 0 || !hpx_owner_may_read(&opened))) {
        (void)close(fd);
        errno = EBUSY; /* another file has this name now */
        return -1;
    }
    return fd;
}

bool hpx_out_is_stdout(const char *file)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    bool is = false;
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        is = is || strcmp(file, names[i]) == 0;
    }
    return is;
}

void hpx_out_empty(int fd, const char *file)
{
    if (!hpx_out_is_stdout(file)) {
        (void)!ftruncate(fd, 0);
    }
}

int hpx_out_open(const char *file, bool *fresh, struct hpx_err *err)
{
    if (hpx_out_is_stdout(file)) {
        *fresh = false;
        int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        if (copy < 0) {
            (void)hpx_err_set(err, HPX_E_IO, "cannot write standard output: %s", strerror(errno));
        }
        return copy;
    }
    const int how = O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
    uid_t stranger = NOBODY;
    int fd = open(file, how | O_CREAT | O_EXCL, 0600);
    *fresh = fd >= 0;
    if (fd < 0 && errno == EEXIST) {
        fd = open_old(file, how, &stranger);
    }
    if (stranger != NOBODY) {
        (void)hpx_err_set(err, HPX_E_IO, "cannot write %s: it belongs to user %lu, who could read what is written; choose another name",
                          file, (unsigned long)stranger);
    } else if (fd < 0) {
        (void)hpx_err_set(err, HPX_E_IO, "cannot write %s: %s", file, strerror(errno));
    }
    return fd;
}

bool hpx_out_all(int fd, const void *bytes, size_t n)
{
    for (const char *at = bytes, *end = at + n; at < end;) {
        ssize_t k = write(fd, at, (size_t)(end - at));
        if (k < 0 && errno != EINTR) {
            return false;
        }
        at += k > 0 ? k : 0;
    }
    return true;
}

/* errno of what zlib says: of a call that failed it is there already, unless that was an allocation. */
static void say_memory(int e)
{
    if (e == Z_MEM_ERROR) {
        errno = ENOMEM;
    }
}

static ssize_t pack(void *gz, const char *bytes, size_t n)
{
    int e = Z_OK;
    bool done = n == 0 || gzwrite(gz, bytes, (unsigned)n) > 0;
    if (!done) {
        (void)gzerror(gz, &e);
        say_memory(e);
    }
    return done ? (ssize_t)n : 0;
}

static int end_pack(void *gz)
{
    int e = gzclose(gz);
    say_memory(e);
    return e == Z_OK ? 0 : EOF;
}

FILE *hpx_out_stream(int fd, bool gzip)
{
    int own = dup(fd);
    gzFile gz = own >= 0 && gzip ? gzdopen(own, "wb1") : NULL; /* 1: a tenth larger, a third of the time */
    FILE *to = gz != NULL          ? fopencookie(gz, "w", (cookie_io_functions_t){.write = pack, .close = end_pack})
               : own >= 0 && !gzip ? fdopen(own, "w")
                                   : NULL;
    if (to == NULL && gz != NULL) {
        (void)gzclose(gz);
    } else if (to == NULL && own >= 0) {
        (void)close(own);
    }
    return to;
}

bool hpx_out_nobody_reads(void)
{
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&p, 1, 0) > 0 && (p.revents & POLLERR) != 0;
}

void hpx_misuse(const char *verb, const char *why)
{
    size_t n = strlen(why);
    (void)fprintf(stderr, "hprofx: %s%s `hprofx %s%s--help` shows how\n", why, n > 0 && why[n - 1] == '?' ? "" : ";", verb,
                  verb[0] != 0 ? " " : "");
}

int hpx_complain(enum hpx_status s, struct hpx_err *err)
{
    if (s != HPX_OK) {
        (void)fprintf(stderr, "hprofx: %s\n", hpx_plain(err->msg));
    }
    return (int)s;
}
