/* SPDX-License-Identifier: BSD-2-Clause */
/* intake.c: see intake.h. */
#include "intake.h"
#include "budget.h"
#include "changes.h"
#include "clock.h"
#include "delta.h"
#include "memory.h"
#include "metrics.h"
#include "picture.h"
#include "plain.h"
#include "seen.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define MOST_FILE  ((off_t)1 << 30)
#define MOST_FOUND ((size_t)1 << 16) /* files of one look */

/* A file that may be a profile. */
struct found {
    struct hpx_seen_file file;
    int64_t mtime_ns; /* from 1970 on, to 2262 */
    off_t size;
    char *name;
    size_t folder;
    bool base; /* it was handed on before: nothing is told or counted */
};

struct hpx_intake {
    struct hpx_intake_asked asked;
    int *dirs; /* -1: it could not be opened, which was told */
    struct hpx_seen *seen;
    struct hpx_delta *delta;
    struct hpx_list found; /* struct found: of the last look at the folders, the oldest first */
    size_t next;           /* the first of them that was not taken */
    bool looked;           /* at all of the folders, since the list of files was saved */
    struct hpx_changes changes;
    uint64_t most;          /* bytes that reading a file may allocate */
    struct hpx_list handed; /* struct found: not yet settled */
    char host[256];
    bool told;
};

/* ---- what is told ---- */

static void tell(const struct found *f, const char *what, const char *why)
{
    struct hpx_err line;
    (void)hpx_err_set(&line, HPX_E_IO, "%s %s: %s", f->name, what, why);
    if (!f->base) {
        (void)fprintf(stderr, "hprofx: %s\n", hpx_plain(line.msg));
    }
}

/* why: perhaps with the file's name before it, which is told already. */
static void faulty(const struct found *f, const char *cause, const char *what, const char *why)
{
    size_t n = strlen(f->name);
    if (!f->base) {
        hpx_metric_add(HPX_METRIC_PROFILES_BROKEN, cause, NULL, 1);
    }
    tell(f, what, strncmp(why, f->name, n) == 0 && strncmp(why + n, ": ", 2) == 0 ? why + n + 2 : why);
}

/* ---- begin and end ---- */

static void forget_names(struct hpx_list *l)
{
    for (size_t i = 0; i < l->len; i++) {
        free(((struct found *)l->items + i)->name);
    }
    l->len = 0;
}

void hpx_intake_close(struct hpx_intake *in)
{
    if (in == NULL) {
        return;
    }
    for (size_t i = 0; in->dirs != NULL && i < in->asked.nfolders; i++) {
        (void)(in->dirs[i] >= 0 ? close(in->dirs[i]) : 0);
    }
    forget_names(&in->found);
    forget_names(&in->handed);
    hpx_changes_close(&in->changes);
    free(in->found.items);
    free(in->handed.items);
    free(in->dirs);
    hpx_seen_close(in->seen);
    hpx_delta_free(in->delta);
    free(in);
}

/* The file that was read when the last two processes were killed is left alone from now on, or it would kill this one, too. false: no
 * memory. */
static bool set_aside(struct hpx_intake *in)
{
    const struct hpx_seen_file *fatal = hpx_seen_fatal(in->seen);
    if (fatal == NULL || hpx_seen_has(in->seen, fatal)) {
        return true;
    }
    const struct found f = {.file = *fatal, .name = (char *)(uintptr_t)fatal->name};
    if (!hpx_seen_add(in->seen, fatal)) {
        return false;
    }
    hpx_seen_keep(in->seen);
    if (hpx_seen_save(in->seen)) { /* else it stays in the file `reading`, until another file is read */
        hpx_seen_end(in->seen);
    }
    faulty(&f, "killed", "is set aside", "hprofx-ship was killed twice while it read it; it is tried again if it gets another name");
    return true;
}

struct hpx_intake *hpx_intake_open(const struct hpx_intake_asked *asked, struct hpx_err *err)
{
    struct hpx_intake *in = calloc(1, sizeof *in);
    if (in != NULL) {
        in->asked = *asked;
        in->dirs = malloc(asked->nfolders * sizeof *in->dirs);
        in->most = hpx_memory_of_server();
        in->delta = hpx_delta_new(in->most / HPX_DELTA_BYTES / 4 < HPX_DELTA_STACKS ? in->most / HPX_DELTA_BYTES / 4 : HPX_DELTA_STACKS);
        in->seen = hpx_seen_open(asked->state, err);
        (void)gethostname(in->host, sizeof in->host - 1);
    }
    if (in == NULL || in->dirs == NULL || in->delta == NULL || in->seen == NULL) {
        (void)(in == NULL || in->seen != NULL ? hpx_err_set(err, HPX_E_NOMEM, "no memory") : 0);
        free(in != NULL ? in->dirs : NULL);
        if (in != NULL) {
            in->dirs = NULL;
        }
        hpx_intake_close(in);
        return NULL;
    }
    memset(in->dirs, 0xff, asked->nfolders * sizeof *in->dirs);
    for (size_t i = 0; i < asked->nfolders; i++) {
        in->dirs[i] = open(asked->folders[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (in->dirs[i] < 0) {
            (void)hpx_err_set(err, HPX_E_IO, "%s: %s", asked->folders[i], strerror(errno));
            hpx_intake_close(in);
            return NULL;
        }
    }
    in->asked.folders = NULL; /* the caller's */
    if (!hpx_changes_open(&in->changes, in->dirs, asked->nfolders) || !set_aside(in)) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        hpx_intake_close(in);
        return NULL;
    }
    return in;
}

/* ---- what is new ---- */

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n >= k && strcmp(name + n - k, end) == 0;
}

/* Anybody may set the times of his files to anything. */
static int64_t ns_of(int64_t seconds, int64_t ns)
{
    return seconds < 0 ? 0 : seconds < INT64_MAX / 1000000000 ? seconds * 1000000000 + ns : INT64_MAX;
}

/* Fills what tells a file from all others, and from itself when it has been changed. false: it is no file that may be read, or errno. */
static bool identify(int at, const char *name, int how, struct found *f)
{
    struct stat st;
    struct statx more;
    errno = 0;
    if (fstatat(at, name, &st, how) != 0 || !S_ISREG(st.st_mode)) {
        return false;
    }
    bool born = statx(at, name, how | AT_STATX_DONT_SYNC, STATX_BTIME, &more) == 0 && (more.stx_mask & STATX_BTIME) != 0;
    f->file.dev = st.st_dev;
    f->file.ino = st.st_ino;
    f->file.born_ns = born ? (uint64_t)ns_of(more.stx_btime.tv_sec, more.stx_btime.tv_nsec) : 0;
    f->mtime_ns = ns_of(st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    f->size = st.st_size;
    return true;
}

static bool same_file(const struct found *a, const struct found *b)
{
    return a->file.dev == b->file.dev && a->file.ino == b->file.ino && a->file.born_ns == b->file.born_ns;
}

static void look_at(struct hpx_intake *in, size_t folder, const char *name)
{
    struct found f = {.file = {.name = name}, .folder = folder};
    if (name[0] == '.' || ends_with(name, ".part")) {
        return;
    }
    hpx_metric_add(HPX_METRIC_FILES_LOOKED_AT, NULL, NULL, 1);
    if (!identify(in->dirs[folder], name, AT_SYMLINK_NOFOLLOW, &f) || hpx_seen_has(in->seen, &f.file)) {
        return;
    }
    struct found *slot = in->found.len < MOST_FOUND ? hpx_list_push(&in->found, sizeof f) : NULL;
    f.name = slot != NULL ? strdup(name) : NULL;
    if (f.name == NULL) {
        in->found.len -= slot != NULL;
        in->changes.folders[folder].whole = true; /* the next scan finds it again */
        return;
    }
    f.file.name = f.name;
    *slot = f;
}

/* false: not all of the folder could be looked at. */
static bool look_into(struct hpx_intake *in, size_t folder)
{
    int fd = openat(in->dirs[folder], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (d == NULL) {
        (void)(fd >= 0 ? close(fd) : 0);
        return false;
    }
    const struct dirent *e;
    while (errno = 0, (e = readdir(d)) != NULL) {
        look_at(in, folder, e->d_name);
    }
    bool all = errno == 0;
    (void)closedir(d);
    return all;
}

/* Profiles of a run one after the other: their times may be equal, and "x.9" comes before "x.10". */
static int by_age(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    size_t n = strlen(x->name), k = strlen(y->name);
    return x->mtime_ns != y->mtime_ns ? (x->mtime_ns > y->mtime_ns) - (x->mtime_ns < y->mtime_ns)
           : n != k                   ? (n > k) - (n < k)
                                      : strcmp(x->name, y->name);
}

/* ---- a profile ---- */

static void broken(const struct found *f, const char *cause, const char *why)
{
    faulty(f, cause, "is not sent", why);
}

static bool id_of(int fd, const char *host, uint8_t id[HPX_PROFILE_ID])
{
    static char block[1 << 16];
    XXH128_canonical_t bytes;
    XXH3_state_t *s = XXH3_createState();
    bool all = s != NULL && XXH3_128bits_reset_withSeed(s, XXH3_64bits(host, strlen(host))) == XXH_OK;
    for (off_t at = 0; all;) {
        ssize_t n = pread(fd, block, sizeof block, at);
        all = n >= 0 && XXH3_128bits_update(s, block, (size_t)n) == XXH_OK;
        at += n;
        if (n <= 0) {
            break;
        }
    }
    if (all) {
        XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(s));
        memcpy(id, bytes.digest, HPX_PROFILE_ID);
    }
    (void)XXH3_freeState(s);
    return all;
}

static uint32_t name_in(struct hpx_tree *t, const char *text, size_t n)
{
    return hpx_tree_name(t, text, n);
}

/* What the profile does not say itself. */
static void complete(const struct hpx_intake *in, struct hpx_tree *t, const struct found *f)
{
    struct hpx_tree_origin *o = &t->origin;
    if (in->asked.service != NULL) {
        o->service = name_in(t, in->asked.service, strlen(in->asked.service));
    } else if (o->service == 0) {
        o->service = name_in(t, f->name, strcspn(f->name, "-."));
    }
    o->host = o->host != 0 ? o->host : name_in(t, in->host, strlen(in->host));
    t->start_ms = t->start_ms != 0 ? t->start_ms : (uint64_t)f->mtime_ns / 1000000;
}

/* The file, if it is one that can be read, and the same as was found; *now: as it is. */
static int open_found(const struct hpx_intake *in, const struct found *f, struct found *now)
{
    int fd = openat(in->dirs[f->folder], f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && (!identify(fd, "", AT_EMPTY_PATH, now) || !same_file(f, now))) {
        (void)close(fd);
        fd = -1;
        errno = ENOENT;
    }
    if (fd < 0 && (errno == ELOOP || errno == ENXIO)) {
        errno = ENOENT; /* something else has its name now */
    }
    return fd;
}

enum outcome {
    HANDED,
    BROKEN,
    GONE,  /* before it was read */
    LATER, /* it is being written, or something is short: the next scan finds it again */
};

static enum outcome not_opened(const struct found *f)
{
    int error = errno;
    if (error == ENOENT) {
        broken(f, "gone", "it was removed or replaced before it was read");
        return GONE;
    }
    if (error == EMFILE || error == ENFILE || error == ENOMEM) {
        return LATER;
    }
    broken(f, "unreadable", strerror(error));
    return BROKEN;
}

/* Reads it into a tree that the caller ends. */
static enum outcome read_profile(const struct hpx_intake *in, const struct found *f, struct hpx_tree *t, uint8_t id[HPX_PROFILE_ID])
{
    struct hpx_err err = {""};
    struct found before = {.size = 0}, after;
    int fd = open_found(in, f, &before);
    if (fd < 0) {
        return not_opened(f);
    }
    enum hpx_status s = HPX_FAILED;
    struct hpx_budget budget;
    const char *cause = "not a profile";
    if (before.size > MOST_FILE) {
        cause = "too large";
        (void)hpx_err_set(&err, HPX_E_RANGE, "it has more than 1 GiB");
    } else if (!id_of(fd, in->host, id)) {
        cause = "unreadable";
        (void)hpx_err_set(&err, HPX_E_IO, "%s", strerror(errno));
    } else {
        hpx_budget_begin(&budget, in->most, NULL);
        s = hpx_picture_read_fd(t, fd, f->name, NULL, &err);
        hpx_budget_end(&budget);
        cause = hpx_budget_refused() ? "too large" : cause;
    }
    bool grows = !identify(fd, "", AT_EMPTY_PATH, &after) || after.size != before.size || after.mtime_ns != before.mtime_ns;
    (void)close(fd);
    if (grows) {
        return LATER;
    }
    if (s != HPX_OK && s != HPX_PARTIAL) {
        broken(f, cause, err.msg);
        return BROKEN;
    }
    if (s == HPX_PARTIAL) {
        faulty(f, "cut off", "is sent as far as it could be read", err.msg);
    }
    complete(in, t, f);
    hpx_tree_finish(t);
    hpx_tree_without_threads(t);
    if (t->no_memory) {
        broken(f, "no memory", "there is no memory for it");
        return BROKEN;
    }
    return HANDED;
}

/* After a start: the profile of the run that was sent last, if its file is still there, says what need not be sent again. */
static void find_base(struct hpx_intake *in, const struct hpx_tree *t, const struct found *f)
{
    const struct hpx_seen_file *last = hpx_seen_last(in->seen, hpx_delta_run(t));
    struct hpx_tree before;
    uint8_t id[HPX_PROFILE_ID];
    if (last == NULL) {
        return;
    }
    struct found was = {.file = *last, .name = (char *)(uintptr_t)last->name, .folder = f->folder, .base = true};
    if (hpx_tree_init(&before) && read_profile(in, &was, &before, id) == HANDED && hpx_delta_run(&before) == hpx_delta_run(t) &&
        before.origin.number < t->origin.number) {
        (void)hpx_delta_take(in->delta, &before, true, hpx_clock_mono() / 1000000000);
    }
    hpx_tree_fini(&before);
}

static void count(const struct hpx_tree *t)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    hpx_metric_add(HPX_METRIC_PROFILES_READ, NULL, NULL, 1);
    for (size_t i = 0, n = hpx_tree_columns(t, of); i < n; i++) {
        const struct hpx_tree_view *v = &t->views[of[i].view];
        hpx_metric_add(HPX_METRIC_VALUES_READ, v->measures[of[i].measure].name, NULL, v->totals[of[i].measure]);
    }
}

static void hand_on(struct hpx_intake *in, struct hpx_tree *t, struct found *f, const uint8_t id[HPX_PROFILE_ID],
                    hpx_intake_profile *profile, void *ctx)
{
    uint64_t run = hpx_delta_run(t);
    if (run != 0 && t->origin.number > 1 && !hpx_delta_knows(in->delta, run)) {
        find_base(in, t, f);
    }
    if (hpx_delta_take(in->delta, t, false, hpx_clock_mono() / 1000000000) != HPX_DELTA_DONE) {
        hpx_metric_add(HPX_METRIC_RUNS_WITHOUT_BASE, NULL, NULL, 1);
        tell(f, "is sent without allocations", "those of its run before are not known");
    }
    f->file.run = run;
    count(t);
    profile(ctx, t, id);
}

void hpx_intake_receive(struct hpx_intake *in, struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID], hpx_intake_profile *profile, void *ctx)
{
    static char name[] = "java"; /* a service that does not say its name */
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    struct found f = {.name = name, .mtime_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec};
    complete(in, t, &f);
    hpx_tree_finish(t);
    hpx_tree_without_threads(t);
    if (t->no_memory) {
        broken(&f, "no memory", "there is no memory for it");
        return;
    }
    hand_on(in, t, &f, id, profile, ctx);
}

static enum outcome take(struct hpx_intake *in, struct found *f, hpx_intake_profile *profile, void *ctx)
{
    struct hpx_tree t;
    uint8_t id[HPX_PROFILE_ID];
    enum outcome o = hpx_tree_init(&t) ? read_profile(in, f, &t, id) : LATER;
    if (o == HANDED) {
        hand_on(in, &t, f, id, profile, ctx);
    }
    hpx_tree_fini(&t);
    return o;
}

/* Names of which nothing is known but that they changed. */
static void look_at_names(struct hpx_intake *in)
{
    struct hpx_list names = in->changes.names;
    in->changes.names = (struct hpx_list){0};
    for (size_t i = 0; i < names.len; i++) {
        const struct hpx_changed_name *n = (const struct hpx_changed_name *)names.items + i;
        if (!in->changes.folders[n->folder].whole) {
            look_at(in, n->folder, n->name);
        }
    }
    struct hpx_changes done = {.names = names};
    hpx_changes_taken(&done);
    free(names.items);
}

/* Files that are gone are forgotten after a look at all that is there. */
static void look_anew(struct hpx_intake *in)
{
    bool all = true;
    forget_names(&in->found);
    in->next = 0;
    hpx_changes_look(&in->changes);
    if (in->changes.gone > 64 + hpx_seen_count(in->seen) / 2) {
        hpx_changes_all(&in->changes);
    }
    look_at_names(in);
    for (size_t i = 0; i < in->asked.nfolders; i++) {
        struct hpx_changes_folder *f = &in->changes.folders[i];
        bool whole = f->whole;
        f->whole = false; /* it may be set again */
        f->whole |= whole && !look_into(in, i);
        all = all && whole && !f->whole;
    }
    in->looked = in->looked || all;
    in->changes.gone = all ? 0 : in->changes.gone;
    if (in->found.len > 0) {
        qsort(in->found.items, in->found.len, sizeof(struct found), by_age);
    }
}

/* It may have waited for long: what is removed after it was sent has to be as it was read. */
static void note_size(const struct hpx_intake *in, struct found *f)
{
    struct found now;
    if (identify(in->dirs[f->folder], f->name, AT_SYMLINK_NOFOLLOW, &now) && same_file(f, &now)) {
        f->size = now.size;
        f->mtime_ns = now.mtime_ns;
    }
}

static size_t take_found(struct hpx_intake *in, size_t most, hpx_intake_profile *profile, void *ctx)
{
    size_t handed = 0;
    for (; in->next < in->found.len && handed < most; in->next++) {
        struct found *f = (struct found *)in->found.items + in->next;
        if (hpx_seen_has(in->seen, &f->file)) { /* it was told of twice */
            continue;
        }
        struct found *slot = hpx_list_push(&in->handed, sizeof *slot);
        if (slot == NULL || !hpx_seen_add(in->seen, &f->file)) {
            in->handed.len -= slot != NULL;
            break; /* no memory: it is the next one of the next scan */
        }
        note_size(in, f);
        hpx_seen_begin(in->seen, &f->file);
        enum outcome o = take(in, f, profile, ctx);
        hpx_seen_end(in->seen);
        if (o == LATER) {
            hpx_seen_drop(in->seen, &f->file);
            hpx_changes_again(&in->changes, f->folder, f->name);
            in->handed.len--;
            continue;
        }
        handed += o == HANDED;
        hpx_seen_run(in->seen, &f->file);
        *slot = *f;
        slot->file.broken = o != HANDED;
        f->name = NULL;
    }
    return handed;
}

/* The folders are looked at when nothing is left of the last look: else a backlog would cost its square. */
size_t hpx_intake_scan(struct hpx_intake *in, size_t most, hpx_intake_profile *profile, void *ctx)
{
    bool fresh = in->next == in->found.len;
    if (fresh) {
        look_anew(in);
    }
    size_t handed = take_found(in, most, profile, ctx);
    if (handed == 0 && !fresh && in->next == in->found.len) { /* "nothing" is said of the folders as they are now */
        look_anew(in);
        handed = take_found(in, most, profile, ctx);
    }
    return handed;
}

bool hpx_intake_unsettled(const struct hpx_intake *in)
{
    return in->handed.len > 0;
}

bool hpx_intake_settle(struct hpx_intake *in)
{
    for (size_t i = 0; in->asked.removes && i < in->handed.len; i++) {
        const struct found *f = (struct found *)in->handed.items + i;
        struct found now;
        bool same = identify(in->dirs[f->folder], f->name, AT_SYMLINK_NOFOLLOW, &now) && same_file(f, &now) && f->size == now.size &&
                    f->mtime_ns == now.mtime_ns; /* what has been added since would be lost */
        if (same && (in->asked.owns || !f->file.broken)) {
            (void)unlinkat(in->dirs[f->folder], f->name, 0);
        }
    }
    if (!in->looked) {
        hpx_seen_keep(in->seen);
    }
    bool saves = in->handed.len > 0, kept = !saves || hpx_seen_save(in->seen);
    in->looked = in->looked && !saves;
    if (!kept && !in->told) {
        (void)fprintf(stderr, "hprofx: what was sent cannot be remembered (%s): after a restart it may be sent again\n", strerror(errno));
    }
    in->told = !kept;
    forget_names(&in->handed);
    return kept;
}
