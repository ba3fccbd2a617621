/* SPDX-License-Identifier: BSD-2-Clause */
/* spool.c: see spool.h. What waits is a list in memory, in the order of the numbers; the folder is read once. */
#include "spool.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PART      "body.part"
#define MOST_BODY ((uint64_t)1 << 30)
#define LAST      (UINT64_MAX >> 1) /* a number from here on is none of ours: nothing could come behind it */

struct waiting {
    uint64_t number, bytes, oldest_ms;
};

struct hpx_spool {
    int dir;
    uint64_t most, next;
    hpx_spool_dropped *dropped;
    void *ctx;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t more;
    struct hpx_list waiting; /* struct waiting */
    uint64_t bytes;
    bool taken; /* the first of them */
    bool woken;
};

static void name_of(uint64_t number, char to[32])
{
    (void)snprintf(to, 32, "%016" PRIx64, number);
}

static struct waiting *at(const struct hpx_spool *s, size_t i)
{
    return (struct waiting *)s->waiting.items + i;
}

static void take_away(struct hpx_spool *s, size_t i)
{
    s->bytes -= at(s, i)->bytes;
    memmove(at(s, i), at(s, i + 1), (s->waiting.len - i - 1) * sizeof(struct waiting));
    s->waiting.len--;
}

static bool line_of(int fd, struct hpx_batch_head *head)
{
    char line[HPX_BATCH_LINE];
    return pread(fd, line, sizeof line, 0) == (ssize_t)sizeof line && hpx_batch_head_read(head, line);
}

/* A regular file of ours, or -1: errno; EINVAL: something else has the name, or nothing. */
static int open_body(const struct hpx_spool *s, uint64_t number, struct stat *st)
{
    char name[32];
    name_of(number, name);
    int fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, st) != 0 || !S_ISREG(st->st_mode))) {
        (void)close(fd);
        fd = -1;
        errno = EINVAL;
    }
    errno = fd < 0 && (errno == ELOOP || errno == ENXIO || errno == ENOENT) ? EINVAL : errno;
    return fd;
}

static void remove_body(const struct hpx_spool *s, uint64_t number)
{
    char name[32];
    name_of(number, name);
    (void)unlinkat(s->dir, name, 0);
}

/* ---- what an earlier shipper left ---- */

static int by_number(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static bool keep(struct hpx_spool *s, uint64_t number, uint64_t bytes, uint64_t oldest_ms)
{
    pthread_mutex_lock(&s->lock);
    struct waiting *w = hpx_list_push(&s->waiting, sizeof *w);
    if (w != NULL) {
        *w = (struct waiting){number, bytes, oldest_ms};
        s->bytes += bytes;
        pthread_cond_signal(&s->more);
    }
    pthread_mutex_unlock(&s->lock);
    return w != NULL;
}

/* false: errno; it stays for the next shipper. */
static bool left(struct hpx_spool *s, const char *name)
{
    struct stat st;
    struct hpx_batch_head head = {0};
    uint64_t number;
    char again[32];
    bool kept = true;
    if (sscanf(name, "%16" SCNx64, &number) != 1 || (name_of(number, again), strcmp(again, name) != 0)) {
        return true;
    }
    s->next = number >= s->next && number < LAST ? number + 1 : s->next; /* also behind what cannot be removed, as a folder */
    int fd = open_body(s, number, &st);
    if (fd < 0 && errno != EINVAL) {
        return false;
    }
    if (fd < 0 || !line_of(fd, &head) || number >= LAST) {
        s->dropped(s->ctx, &head, "broken");
        remove_body(s, number);
    } else {
        kept = keep(s, number, (uint64_t)st.st_size, head.oldest_ms);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    errno = kept ? errno : ENOMEM;
    return kept;
}

static bool read_names(struct hpx_spool *s, DIR *d)
{
    const struct dirent *e;
    while (errno = 0, (e = readdir(d)) != NULL) {
        if (!left(s, e->d_name)) {
            return false;
        }
    }
    return errno == 0;
}

static bool read_folder(struct hpx_spool *s)
{
    int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    bool all = d != NULL && read_names(s, d);
    int error = errno;
    (void)(d != NULL ? closedir(d) : fd >= 0 ? close(fd) : 0);
    if (s->waiting.len > 0) {
        qsort(s->waiting.items, s->waiting.len, sizeof(struct waiting), by_number);
    }
    errno = error;
    return all;
}

struct hpx_spool *hpx_spool_open(int dir, const char *name, uint64_t most, hpx_spool_dropped *dropped, void *ctx, struct hpx_err *err)
{
    pthread_condattr_t attr;
    struct hpx_spool *s = calloc(1, sizeof *s);
    if (s == NULL) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        return NULL;
    }
    if (mkdirat(dir, name, 0700) != 0 && errno != EEXIST) {
        (void)hpx_err_set(err, HPX_E_IO, "the folder %s of the spool cannot be made: %s", name, strerror(errno));
        free(s);
        return NULL;
    }
    *s = (struct hpx_spool){
        .dir = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), .most = most, .next = 1, .dropped = dropped, .ctx = ctx};
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&s->more, &attr);
    (void)pthread_condattr_destroy(&attr);
    if (s->dir < 0 || !read_folder(s)) {
        (void)hpx_err_set(err, HPX_E_IO, "the folder %s of the spool cannot be read: %s", name, strerror(errno));
        hpx_spool_close(s);
        return NULL;
    }
    return s;
}

void hpx_spool_close(struct hpx_spool *s)
{
    if (s->dir >= 0) {
        (void)close(s->dir);
    }
    free(s->waiting.items);
    (void)pthread_cond_destroy(&s->more);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ---- the thread that adds ---- */

int hpx_spool_begin(struct hpx_spool *s)
{
    (void)unlinkat(s->dir, PART, 0); /* of a shipper that was killed */
    int fd = openat(s->dir, PART, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0 && lseek(fd, HPX_BATCH_LINE, SEEK_SET) < 0) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

void hpx_spool_abort(struct hpx_spool *s, int fd)
{
    (void)close(fd);
    (void)unlinkat(s->dir, PART, 0);
}

bool hpx_spool_drop(struct hpx_spool *s, const char *cause)
{
    struct stat st;
    struct hpx_batch_head head = {0};
    pthread_mutex_lock(&s->lock);
    size_t i = s->taken ? 1 : 0;
    bool any = i < s->waiting.len;
    uint64_t number = any ? at(s, i)->number : 0;
    if (any) {
        take_away(s, i);
    }
    pthread_mutex_unlock(&s->lock);
    if (any) {
        int fd = open_body(s, number, &st);
        if (fd >= 0) {
            (void)line_of(fd, &head);
            (void)close(fd);
        }
        remove_body(s, number);
        s->dropped(s->ctx, &head, cause);
    }
    return any;
}

bool hpx_spool_is_full(int error)
{
    return error == ENOSPC || error == EDQUOT;
}

const char *hpx_spool_cause(int error)
{
    return error == ENOMEM ? "no memory" : hpx_spool_is_full(error) ? "disk full" : "spool cannot be written";
}

static bool write_line(int fd, const struct hpx_batch_head *head)
{
    char line[HPX_BATCH_LINE];
    hpx_batch_head_write(head, line);
    errno = ENOSPC; /* for a write of a part */
    return pwrite(fd, line, sizeof line, 0) == (ssize_t)sizeof line;
}

static bool full(struct hpx_spool *s)
{
    pthread_mutex_lock(&s->lock);
    bool is = s->bytes > s->most;
    pthread_mutex_unlock(&s->lock);
    return is;
}

bool hpx_spool_add(struct hpx_spool *s, int fd, const struct hpx_batch_head *head)
{
    struct stat st;
    char name[32];
    name_of(s->next, name);
    bool lined = write_line(fd, head);
    while (!lined && hpx_spool_is_full(errno) && hpx_spool_drop(s, "disk full")) {
        lined = write_line(fd, head);
    }
    if (!lined || fstat(fd, &st) != 0 || renameat(s->dir, PART, s->dir, name) != 0) {
        const char *cause = hpx_spool_cause(errno);
        hpx_spool_abort(s, fd);
        s->dropped(s->ctx, head, cause);
        return false;
    }
    (void)close(fd);
    if (!keep(s, s->next, (uint64_t)st.st_size, head->oldest_ms)) {
        remove_body(s, s->next);
        s->dropped(s->ctx, head, "no memory");
        return false;
    }
    s->next++;
    while (full(s) && hpx_spool_drop(s, "spool full")) {
    }
    return true;
}

/* ---- the thread that takes ---- */

/* false: errno. */
static bool read_open(int fd, const struct stat *st, struct hpx_spool_item *item)
{
    if (!line_of(fd, &item->head) || st->st_size < HPX_BATCH_LINE || (uint64_t)st->st_size >= MOST_BODY) {
        errno = EINVAL;
        return false;
    }
    item->n = (size_t)st->st_size - HPX_BATCH_LINE;
    item->body = malloc(item->n + 1);
    bool all = item->body != NULL;
    errno = ENOMEM;
    for (size_t at = 0; all && at < item->n;) {
        errno = EINVAL; /* shorter than it was */
        ssize_t n = pread(fd, item->body + at, item->n - at, (off_t)(HPX_BATCH_LINE + at));
        all = n > 0;
        at += all ? (size_t)n : 0;
    }
    return all;
}

static bool read_body(const struct hpx_spool *s, struct hpx_spool_item *item)
{
    struct stat st;
    int fd = open_body(s, item->number, &st);
    if (fd < 0) {
        return false;
    }
    bool all = read_open(fd, &st, item);
    int error = errno;
    (void)close(fd);
    if (!all) {
        free(item->body);
        item->body = NULL;
    }
    errno = error;
    return all;
}

static bool first(struct hpx_spool *s, uint64_t *number, unsigned ms)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&s->lock);
    for (int rc = 0; ms > 0 && rc == 0 && s->waiting.len == 0 && !s->woken;) {
        rc = pthread_cond_timedwait(&s->more, &s->lock, &until);
    }
    bool any = s->waiting.len > 0;
    if (any) {
        *number = at(s, 0)->number;
        s->taken = true;
    }
    pthread_mutex_unlock(&s->lock);
    return any;
}

bool hpx_spool_take(struct hpx_spool *s, struct hpx_spool_item *item, unsigned ms)
{
    memset(item, 0, sizeof *item);
    return first(s, &item->number, ms);
}

static void let_go(struct hpx_spool *s, struct hpx_spool_item *item, bool done)
{
    pthread_mutex_lock(&s->lock);
    s->taken = false;
    if (done) {
        take_away(s, 0);
    }
    pthread_mutex_unlock(&s->lock);
    if (done) {
        remove_body(s, item->number);
    }
    free(item->body);
    item->body = NULL;
}

bool hpx_spool_read(struct hpx_spool *s, struct hpx_spool_item *item)
{
    return item->body != NULL || read_body(s, item);
}

void hpx_spool_done(struct hpx_spool *s, struct hpx_spool_item *item)
{
    let_go(s, item, true);
}

void hpx_spool_later(struct hpx_spool *s, struct hpx_spool_item *item)
{
    let_go(s, item, false);
}

/* ---- any thread ---- */

void hpx_spool_look(struct hpx_spool *s, struct hpx_spool_state *to)
{
    pthread_mutex_lock(&s->lock);
    *to = (struct hpx_spool_state){s->waiting.len, s->bytes, s->waiting.len > 0 ? at(s, 0)->oldest_ms : 0};
    pthread_mutex_unlock(&s->lock);
}

void hpx_spool_wake(struct hpx_spool *s)
{
    pthread_mutex_lock(&s->lock);
    s->woken = true;
    pthread_cond_signal(&s->more);
    pthread_mutex_unlock(&s->lock);
}
