/* SPDX-License-Identifier: BSD-2-Clause */
/* recover.c: cutting the tail of a file that ends inside a record. */
#include "recover.h"
#include "budget.h"
#include "check.h"
#include "gunzip.h"
#include "memory.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX  ".part"
#define JOURNAL ".journal.part"
#define FRESH   ".journal.new.part" /* a journal on its way: never the only one, or nothing had been counted */

/* One of the files of a run. */
struct half {
    char path[PATH_MAX];
    int fd; /* -1: not there */
    struct stat st;
    int result;
    uint64_t at, line, whole, dumps, counted;
    bool waited; /* has time of WALL CLOCK */
    char why[512];
    bool gzip;     /* what follows and the offsets above are uncompressed */
    char head[64]; /* its first bytes: the header with the time of the run */
    size_t head_len;
};

static const char a_program[] = "a running program writes it";

static int refuse(struct hpx_err *said, const struct half *h, const char *why)
{
    return hpx_err_set(said, HPX_E_IO, "%s: %s", h->path, why);
}

/* A run that starts puts aside, or removes, what it finds unlocked, and makes its own. */
static bool has_name(const char *path, int fd)
{
    struct stat own, now;
    return fstat(fd, &own) == 0 && lstat(path, &now) == 0 && own.st_dev == now.st_dev && own.st_ino == now.st_ino;
}

static bool is_written(const struct half *h)
{
    return flock(h->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
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
    if (held && is_written(h)) {
        return refuse(said, h, a_program);
    }
    if (!has_name(h->path, h->fd)) {
        return refuse(said, h, "changed while it was read");
    }
    return 0;
}

static int examine(struct half *h, struct hpx_err *said)
{
    static struct hpx_gunzip g;
    struct hpx_source s;
    struct hpx_check c;
    struct hpx_budget budget;
    if (h->fd < 0) {
        return 0;
    }
    hpx_budget_begin(&budget, hpx_memory_for_file(h->fd), NULL);
    hpx_gunzip_init(&g, h->fd);
    if (hpx_source_init(&s, hpx_gunzip_read, &g) != 0) {
        hpx_budget_end(&budget);
        return hpx_err_set(said, HPX_E_NOMEM, "no memory");
    }
    size_t ahead = hpx_source_ahead(&s, sizeof(h->head));
    h->head_len = ahead < sizeof(h->head) ? ahead : sizeof(h->head);
    memcpy(h->head, hpx_source_bytes(&s), h->head_len);
    hpx_check_init(&c);
    struct hpx_reader r = {.source = &s, .sinks = {hpx_check_event}, .ctx = {&c}};
    h->result = hpx_reader_run(&r);
    h->at = r.at;
    h->line = r.line;
    h->whole = r.result == HPX_RD_SOUND ? r.end : r.whole;
    h->dumps = c.dumps;
    h->counted = c.counted;
    h->waited = c.waited;
    memcpy(h->why, r.why, sizeof(h->why));
    h->gzip = g.gzip;
    if (g.cut && h->result == HPX_RD_SOUND) {
        h->result = HPX_RD_CUT;
    }
    if (g.fault != NULL) { /* such as blocks that a full disk lacks */
        h->result = HPX_RD_BROKEN;
        snprintf(h->why, sizeof(h->why), "%s", g.fault);
    }
    hpx_check_fini(&c);
    hpx_source_fini(&s);
    hpx_gunzip_fini(&g);
    hpx_budget_end(&budget);
    return h->result == HPX_RD_FAILED ? refuse(said, h, h->why) : 0;
}

/* The same first line, or the same binary header, whose time may have any bytes. */
#define TEXT_HEAD "JAVA PROFILE "

static bool one_run(const struct half *a, const struct half *b)
{
    size_t n = a->head_len < b->head_len ? a->head_len : b->head_len;
    bool binary = n > HPX_VERSION_END && a->head[HPX_VERSION_END] == '\0';
    if (n < sizeof(TEXT_HEAD) - 1 || memcmp(a->head, TEXT_HEAD, sizeof(TEXT_HEAD) - 1) != 0) {
        return false; /* the table of cpu=old alone: nothing tells its run */
    }
    const char *newline = binary ? NULL : memchr(a->head, '\n', n);
    size_t header = newline != NULL ? (size_t)(newline - a->head) : HPX_HEADER_BYTES;
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
    if (name->counted != part->counted) {
        return name->counted > part->counted ? name : part;
    }
    if (name->dumps != part->dumps) {
        return name->dumps > part->dumps ? name : part;
    }
    return name->whole > part->whole ? name : part;
}

/* The journal has all that was counted until shortly before the end, a dump less: so it stands in for what is missing in the others. Of two
 * runs the later one. */
static const struct half *choose_all(const struct half *name, const struct half *part, const struct half *journal)
{
    const struct half *best = choose(name, part);
    if (journal->fd < 0 || journal->whole == 0 || journal->result == HPX_RD_BROKEN) {
        return best;
    }
    if (best->fd < 0 || best->whole == 0) {
        return journal;
    }
    if (!one_run(best, journal)) {
        return journal->st.st_mtime >= best->st.st_mtime ? journal : best;
    }
    if (best->gzip && best->result != HPX_RD_SOUND && journal->counted == best->counted && journal->counted > 0) {
        return journal; /* the other one cannot be cut */
    }
    bool idle = journal->counted == best->counted && journal->waited && !best->waited; /* the program used no CPU */
    return journal->counted > best->counted || idle ? journal : best;
}

static int copy(int from, int to, uint64_t n)
{
    off_t at = 0;
    while ((uint64_t)at < n) {
        ssize_t k = sendfile(to, from, &at, n - (uint64_t)at);
        if (k == 0 || (k < 0 && errno != EINTR)) {
            errno = k == 0 ? EIO : errno;
            return -1;
        }
    }
    return fsync(to);
}

/* The whole records of NAME into a new NAME.part, which then takes its place. Locked: a run that starts meanwhile would take it for a dead
 * one's, and have its own under the name. */
static int replace(const struct half *name, const char *part, struct hpx_err *said)
{
    int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0) {
        return hpx_err_set(said, HPX_E_IO, "%s: %s", part, strerror(errno));
    }
    (void)flock(fd, LOCK_EX | LOCK_NB); /* where there are no locks: without */
    int rc = copy(name->fd, fd, name->whole);
    int error = errno;
    bool ours = has_name(part, fd);
    if (rc == 0 && ours) {
        rc = rename(part, name->path);
        error = errno;
    }
    if (rc != 0 && ours) {
        unlink(part);
    }
    close(fd); /* copy() has written all of it to the disk */
    return rc == 0 && ours ? 0 : hpx_err_set(said, HPX_E_IO, "%s: %s", part, ours ? strerror(error) : "changed while it was written");
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

static int drop(const struct half *h, const struct half *chosen, struct hpx_err *said)
{
    return h == chosen || h->fd < 0 || unlink(h->path) == 0 || errno == ENOENT ? 0 : refuse(said, h, strerror(errno));
}

enum { NAME, PART, LOG, NEW, HALVES };

static int apply(const struct half *chosen, const struct half h[static HALVES], struct hpx_err *said)
{
    const struct half *name = &h[NAME];
    int rc = chosen != name ? promote(chosen, name, said) : drop(&h[PART], chosen, said);
    if (rc == 0 && chosen == name && name->result == HPX_RD_CUT) {
        rc = replace(name, h[PART].path, said);
    }
    for (int i = PART; i < HALVES && rc == 0; i++) {
        rc = drop(&h[i], chosen, said);
    }
    if (rc != 0) {
        return rc;
    }
    char several[96] = "";
    if (chosen == &h[LOG] && chosen->dumps > 1) {
        snprintf(several, sizeof(several), "; of its %" PRIu64 " dumps hprofx convert makes one", chosen->dumps);
    }
    if (chosen->result == HPX_RD_CUT) {
        snprintf(said->msg, sizeof(said->msg), "%.2000s: recovered: %" PRIu64 " bytes, %" PRIu64 " cut off (%s)%s", name->path,
                 chosen->whole, (uint64_t)chosen->st.st_size - chosen->whole, chosen->why, several);
    } else {
        snprintf(said->msg, sizeof(said->msg), "%.2000s: %s%s", name->path, chosen != name ? "recovered: it was whole" : "sound", several);
    }
    return 0;
}

static int judge(const struct half *chosen, const struct half *name, struct hpx_err *said)
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
    if (chosen->gzip && chosen->result == HPX_RD_CUT) {
        return refuse(said, chosen, "compressed (gz=y): it cannot be cut; hprofx info --part shows what it has");
    }
    if (chosen->st.st_uid != geteuid()) {
        return refuse(said, chosen, "belongs to another user");
    }
    if (name->fd >= 0 && is_written(name)) {
        return refuse(said, name, a_program);
    }
    return chosen->st.st_nlink == 1 ? 0 : refuse(said, chosen, "has more than one link");
}

size_t hpx_recover_base(const char *given)
{
    static const char *const suffixes[] = {FRESH, JOURNAL, SUFFIX};
    size_t n = strlen(given);
    for (size_t i = 0; i < HPX_ARRAY_LEN(suffixes); i++) {
        size_t k = strlen(suffixes[i]);
        if (n > k && strcmp(given + n - k, suffixes[i]) == 0) {
            return n - k;
        }
    }
    return n;
}

static int open_all(struct half h[static HALVES], const char *given, struct hpx_err *said)
{
    static const char *const suffixes[HALVES] = {[NAME] = "", [PART] = SUFFIX, [LOG] = JOURNAL, [NEW] = FRESH};
    size_t n = hpx_recover_base(given);
    int rc = 0;
    if (n == 0 || n + sizeof(FRESH) > sizeof(h->path)) {
        return hpx_err_set(said, HPX_E_IO, "%.2000s: not a name", given);
    }
    for (int i = HALVES - 1; i >= 0 && rc == 0; i--) {
        snprintf(h[i].path, sizeof(h[i].path), "%.*s%s", (int)n, given, suffixes[i]);
        rc = open_half(&h[i], i != NAME, said);
    }
    for (int i = LOG; i >= 0 && rc == 0; i--) {
        rc = examine(&h[i], said);
    }
    return rc;
}

int hpx_recover(const char *given, struct hpx_err *said)
{
    static struct half h[HALVES];
    memset(h, 0, sizeof(h));
    for (int i = 0; i < HALVES; i++) {
        h[i].fd = -1;
    }
    int rc = open_all(h, given, said);
    if (rc == 0) {
        const struct half *chosen = choose_all(&h[NAME], &h[PART], &h[LOG]);
        bool alone = h[PART].fd < 0 && h[LOG].fd < 0 && h[NEW].fd < 0;
        bool untouched = chosen == &h[NAME] && chosen->fd >= 0 && chosen->result == HPX_RD_SOUND && alone;
        rc = untouched ? 0 : judge(chosen, &h[NAME], said);
        if (rc == 0) {
            rc = apply(chosen, h, said);
        }
    }
    for (int i = 0; i < HALVES; i++) {
        if (h[i].fd >= 0) {
            close(h[i].fd);
        }
    }
    return rc;
}
