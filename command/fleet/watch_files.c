/* SPDX-License-Identifier: BSD-2-Clause */
/* watch_files.c: profiles in the /tmp of JVMs. Contract: watcher.h. The folder and its files are another user's: nothing there is opened
 * before it is known to be a regular file of that user, and nothing through a link. */
#include "outfile.h"
#include "watch_choice.h"
#include "watcher.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST     ((uint64_t)256 << 20)
#define REPORT_ROOM 65536 /* bytes at the end of a profile in which its report is looked for */

/* The last bytes that were copied. */
struct tail {
    size_t n;
    char text[2 * REPORT_ROOM];
};

static void remember(struct tail *t, const char *bytes, size_t n)
{
    if (t->n + n > sizeof t->text) {
        size_t kept = t->n < REPORT_ROOM ? t->n : REPORT_ROOM;
        memmove(t->text, t->text + t->n - kept, kept);
        t->n = kept;
    }
    memcpy(t->text + t->n, bytes, n);
    t->n += n;
}

/* HPX_WATCH_BROUGHT, or the counter of the loss. */
static enum hpx_watch_counter copy(int from, int to, uint64_t *bytes, struct tail *tail)
{
    static char block[REPORT_ROOM];
    ssize_t n;
    while ((n = read(from, block, sizeof block)) > 0) {
        *bytes += (uint64_t)n;
        if (*bytes > LARGEST) {
            return HPX_WATCH_LOST_LARGE;
        }
        if (!hpx_out_all(to, block, (size_t)n)) {
            return HPX_WATCH_LOST_DISK;
        }
        remember(tail, block, (size_t)n);
    }
    return n == 0 ? HPX_WATCH_BROUGHT : HPX_WATCH_LOST_READ;
}

/* Under its name when it is whole. It belongs to whoever owns the folder, as the one who ships it may not be root. */
static enum hpx_watch_counter bring(int from, int dir, const char *as, uint64_t *bytes, struct tail *tail)
{
    char part[128];
    struct stat folder;
    (void)snprintf(part, sizeof part, "%s.part", as);
    (void)unlinkat(dir, part, 0); /* of one that was killed */
    int to = openat(dir, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (to < 0) {
        return HPX_WATCH_LOST_DISK;
    }
    enum hpx_watch_counter how = copy(from, to, bytes, tail);
    if (how == HPX_WATCH_BROUGHT && geteuid() == 0 && fstat(dir, &folder) == 0 && folder.st_uid != 0) {
        how = fchown(to, folder.st_uid, folder.st_gid) == 0 ? how : HPX_WATCH_LOST_DISK;
    }
    bool closed = close(to) == 0;
    if (how == HPX_WATCH_BROUGHT && (!closed || renameat(dir, part, dir, as) != 0)) {
        how = HPX_WATCH_LOST_DISK;
    }
    if (how != HPX_WATCH_BROUGHT) {
        (void)unlinkat(dir, part, 0);
    }
    return how;
}

/* -1: *foreign: there is something, but no file of the JVM's user. */
static int open_own(const struct hpx_target *t, const char *name, bool *foreign)
{
    struct stat s;
    char link[64];
    int at = openat(t->tmp, name, O_PATH | O_CLOEXEC | O_NOFOLLOW), fd = -1;
    *foreign = at >= 0 && (fstat(at, &s) != 0 || !S_ISREG(s.st_mode) || s.st_uid != t->uid);
    if (at >= 0 && !*foreign) {
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", at);
        fd = open(link, O_RDONLY | O_CLOEXEC);
        *foreign = fd < 0;
    }
    if (at >= 0) {
        (void)close(at);
    }
    return fd;
}

enum hpx_fetched hpx_watch_fetch(const struct hpx_watcher *w, const struct hpx_target *t, const char *name, const char *as,
                                 uint64_t *agent_ns)
{
    static struct tail tail;
    uint64_t bytes = 0;
    bool foreign;
    tail.n = 0;
    int fd = open_own(t, name, &foreign);
    if (fd < 0) {
        return foreign ? HPX_FETCHED_FOREIGN : HPX_FETCHED_NOT;
    }
    enum hpx_watch_counter how = bring(fd, w->dir, as, &bytes, &tail);
    hpx_watch_add(w->shared, how, 1);
    (void)close(fd);
    hpx_watch_remove(t, name);
    if (how == HPX_WATCH_BROUGHT) {
        hpx_watch_add(w->shared, HPX_WATCH_BROUGHT_BYTES, bytes);
    }
    *agent_ns = hpx_watch_own_cpu(tail.text, tail.n);
    return how == HPX_WATCH_BROUGHT ? HPX_FETCHED : HPX_FETCHED_LOST;
}

void hpx_watch_remove(const struct hpx_target *t, const char *name)
{
    if (hpx_become(t, NULL) == HPX_OK) {
        (void)unlinkat(t->tmp, name, 0);
        hpx_become_self();
    }
}

void hpx_watch_each(const struct hpx_target *t, void (*fn)(void *ctx, const char *name, const struct hpx_watch_name *is, int64_t modified),
                    void *ctx)
{
    struct hpx_watch_name is;
    struct stat s;
    int fd = -1;
    if (hpx_become(t, NULL) == HPX_OK) {
        fd = openat(t->tmp, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        hpx_become_self();
    }
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    for (const struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        if (hpx_watch_parse(e->d_name, &is) && fstatat(fd, e->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode) &&
            s.st_uid == t->uid) {
            fn(ctx, e->d_name, &is, (int64_t)s.st_mtime);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    } else if (fd >= 0) {
        (void)close(fd);
    }
}
