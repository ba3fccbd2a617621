/* SPDX-License-Identifier: BSD-2-Clause */
/* inputs.c: see inputs.h. */
#include "inputs.h"
#include "budget.h"
#include "check.h"
#include "compare.h"
#include "picture.h"
#include "window.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of several profiles of a run the last counts in these views, but the times of each: they have no others'. */
static const unsigned once[] = {HPX_VIEW_ALLOC, HPX_VIEW_HEAP};
#define ONCE         HPX_ARRAY_LEN(once)
#define ONCE_VIEWS   (1U << HPX_VIEW_ALLOC | 1U << HPX_VIEW_HEAP)
#define OTHERS_VIEWS (((1U << HPX_VIEWS) - 1) & ~ONCE_VIEWS)

/* ---- words ---- */

static enum hpx_status add(struct hpx_inputs *in, const char *name, bool found, struct hpx_err *err)
{
    struct hpx_input *to = hpx_list_push(&in->files, sizeof *to);
    char *copy = to != NULL ? strdup(name) : NULL;
    if (copy == NULL) {
        in->files.len -= to != NULL;
        return hpx_fail(err, HPX_FAILED, "no memory");
    }
    *to = (struct hpx_input){copy, found};
    return HPX_OK;
}

static bool ends(const char *name, const char *with)
{
    size_t n = strlen(name), k = strlen(with);
    return n >= k && strcmp(name + n - k, with) == 0;
}

/* By its name alone. What a folder may also have: files that are written now, pages, formats that hprofx does not read. */
static bool may_be_profile(const char *name)
{
    static const char *const others[] = {".part", ".html", ".json", ".otlp"};
    const char *slash = strrchr(name, '/');
    bool may = (slash != NULL ? slash[1] : name[0]) != '.';
    for (size_t i = 0; i < HPX_ARRAY_LEN(others); i++) {
        may = may && !ends(name, others[i]);
    }
    return may;
}

/* Adds a file that was found. */
static enum hpx_status consider(struct hpx_inputs *in, const char *name, struct hpx_err *err)
{
    struct stat st;
    bool is = may_be_profile(name) && lstat(name, &st) == 0 && S_ISREG(st.st_mode);
    return is ? add(in, name, true, err) : HPX_OK;
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(((const struct hpx_input *)a)->name, ((const struct hpx_input *)b)->name); /* x.9 before x.10 */
}

/* Sorts those from `first` on; there must be one. */
static enum hpx_status found(struct hpx_inputs *in, size_t first, const char *word, const char *none, struct hpx_err *err)
{
    size_t n = in->files.len - first;
    if (n == 0) {
        return hpx_fail(err, HPX_FAILED, "%s: %s", word, none);
    }
    qsort((struct hpx_input *)in->files.items + first, n, sizeof(struct hpx_input), by_name);
    return HPX_OK;
}

static enum hpx_status add_folder(struct hpx_inputs *in, const char *word, struct hpx_err *err)
{
    DIR *d = opendir(word);
    size_t first = in->files.len;
    enum hpx_status s = HPX_OK;
    if (d == NULL) {
        return hpx_fail(err, HPX_FAILED, "%s: %s", word, strerror(errno));
    }
    for (const struct dirent *e; s == HPX_OK && (e = readdir(d)) != NULL;) {
        char *name = NULL;
        s = asprintf(&name, "%s%s%s", word, ends(word, "/") ? "" : "/", e->d_name) >= 0 ? consider(in, name, err)
                                                                                        : hpx_fail(err, HPX_FAILED, "no memory");
        free(name);
    }
    (void)closedir(d);
    return s == HPX_OK ? found(in, first, word, "the folder has no profile", err) : s;
}

static enum hpx_status add_pattern(struct hpx_inputs *in, const char *word, struct hpx_err *err)
{
    glob_t g;
    size_t first = in->files.len;
    enum hpx_status s = HPX_OK;
    int rc = glob(word, GLOB_NOSORT, NULL, &g);
    if (rc == GLOB_NOSPACE) {
        return hpx_fail(err, HPX_FAILED, "no memory");
    }
    for (size_t i = 0; rc == 0 && i < g.gl_pathc && s == HPX_OK; i++) {
        s = consider(in, g.gl_pathv[i], err);
    }
    if (rc == 0) {
        globfree(&g);
    }
    return s == HPX_OK ? found(in, first, word, strerror(ENOENT), err) : s;
}

enum hpx_status hpx_inputs_add(struct hpx_inputs *in, const char *word, struct hpx_err *err)
{
    struct stat st;
    if (strcmp(word, "-") == 0 || hpx_engine_is(word)) {
        return add(in, word, false, err);
    }
    bool exists = stat(word, &st) == 0;
    if (!exists && strpbrk(word, "*?[") != NULL) {
        return add_pattern(in, word, err);
    }
    return exists && S_ISDIR(st.st_mode) ? add_folder(in, word, err) : add(in, word, false, err);
}

void hpx_inputs_fini(struct hpx_inputs *in)
{
    for (size_t i = 0; i < in->files.len; i++) {
        free(((struct hpx_input *)in->files.items)[i].name);
    }
    free(in->files.items);
    in->files = (struct hpx_list){0};
    hpx_filter_fini(&in->filter);
}

/* ---- one file ---- */

/* A regular file still, of one that was found: -1: errno. */
static int open_found(const char *name)
{
    struct stat st;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        (void)close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

static enum hpx_status read_file(const struct hpx_inputs *in, const struct hpx_input *file, struct hpx_tree *t, struct hpx_err *err)
{
    enum hpx_status opened = HPX_OK;
    if (!file->found && !hpx_engine_is(file->name)) {
        return hpx_picture_read(t, file->name, err);
    }
    int fd = file->found ? open_found(file->name) : hpx_engine_open(file->name, &in->how, &opened, err);
    if (fd < 0) {
        return file->found ? hpx_fail(err, HPX_FAILED, "%s: %s", file->name, strerror(errno)) : opened;
    }
    struct hpx_err why;
    enum hpx_status s = hpx_picture_read_fd(t, fd, file->found ? file->name : "the answer of the engine", NULL, &why);
    (void)close(fd);
    if (s != HPX_OK) {
        *err = why;
    }
    return s != HPX_OK ? s : opened;
}

static void tell(struct hpx_inputs *in, enum hpx_status s, struct hpx_err *err)
{
    in->unread++;
    (void)hpx_complain(s, err);
}

/* ---- several ---- */

/* A run of a JVM, or one file that does not say of which run it is. */
struct run {
    uint64_t number, lost; /* of its last profile */
    struct {
        uint64_t number;
        size_t file; /* + 1; 0: none has the view */
    } last[ONCE];
    uint64_t before[ONCE][HPX_TREE_VALUES]; /* what its last profile had before a window was applied */
};

struct sum {
    struct hpx_inputs *in;
    struct hpx_tree *to;
    struct hpx_tree **kept; /* by file; NULL: it can be read again */
    struct hpx_seeded_map run_of;
    struct hpx_list runs; /* struct run */
    struct hpx_seeded_map profile_of;
    struct hpx_list profiles; /* char: those of runs that are in the sum; the value does not matter */
    uint64_t begin, end;      /* ms since 1970 */
    bool says_lost;
};

static bool tells_run(const struct hpx_tree *t)
{
    return t->origin.began_ms != 0 && t->origin.number != 0;
}

/* Views made of times are added up. */
static bool counts_once(const struct hpx_tree *t)
{
    return tells_run(t) && !hpx_window_is_set();
}

/* Of a run's profile of that number; number 0: of the run. */
static uint64_t key_of(const struct hpx_tree *t, size_t file, uint64_t number)
{
    const struct hpx_tree_origin *o = &t->origin;
    char key[1100];
    int n = tells_run(t) ? snprintf(key, sizeof key, "run %" PRIu64 " %" PRIu64 " %" PRIu64 " %s", number, o->began_ms, o->pid,
                                    hpx_tree_text(t, o->host))
                         : snprintf(key, sizeof key, "file %zu", file);
    size_t len = n < (int)sizeof key ? (size_t)n : sizeof key - 1;
    return hpx_check_hash((struct hpx_rd_text){key, len});
}

/* The sum has this profile: words may name a file twice, and a folder may have a copy. */
static bool is_there(struct sum *s, const struct hpx_tree *t, size_t file)
{
    size_t before = s->profiles.len;
    s->to->no_memory |= hpx_list_entry(&s->profile_of, &s->profiles, sizeof(char), key_of(t, file, t->origin.number)) == NULL;
    return s->profiles.len == before;
}

static void note_time(struct sum *s, const struct hpx_tree *t)
{
    uint64_t end = hpx_tree_sum(t->start_ms, t->duration_ms);
    if (t->start_ms > 0) {
        s->begin = s->begin == 0 || t->start_ms < s->begin ? t->start_ms : s->begin;
        s->end = end > s->end ? end : s->end;
    }
}

static uint32_t if_same(const struct hpx_tree *t, uint32_t name, const struct hpx_tree *other, uint32_t its)
{
    return strcmp(hpx_tree_text(t, name), hpx_tree_text(other, its)) == 0 ? name : 0;
}

/* The sum is that of a host or process only if all profiles are. */
static struct hpx_tree_origin shared(const struct hpx_tree *t, const struct hpx_tree *other)
{
    const struct hpx_tree_origin *a = &t->origin, *b = &other->origin;
    return (struct hpx_tree_origin){.host = if_same(t, a->host, other, b->host),
                                    .service = if_same(t, a->service, other, b->service),
                                    .version = if_same(t, a->version, other, b->version),
                                    .container = if_same(t, a->container, other, b->container),
                                    .pid = a->pid == b->pid ? a->pid : 0};
}

/* Of a window: what a profile has of these views counts from the start of its run, so that its growth is to be added. */
static void note_before(struct hpx_tree *to, struct run *r, const struct hpx_tree *t)
{
    for (size_t i = 0; i < ONCE * HPX_TREE_VALUES; i++) {
        uint64_t *had = &r->before[i / HPX_TREE_VALUES][i % HPX_TREE_VALUES];
        const uint64_t has = t->views[once[i / HPX_TREE_VALUES]].before[i % HPX_TREE_VALUES];
        to->views[once[i / HPX_TREE_VALUES]].before[i % HPX_TREE_VALUES] -= has < *had ? has : *had;
        *had = has > *had ? has : *had;
    }
}

/* What counts once for each run waits for the second pass. false: no memory. */
static bool add_tree(struct sum *s, const struct hpx_tree *t, size_t file)
{
    uint64_t number = t->origin.number;
    struct run *r = hpx_list_entry(&s->run_of, &s->runs, sizeof *r, key_of(t, file, 0));
    const char *lost = hpx_tree_text(t, t->lost);
    if (r == NULL) {
        return false;
    }
    if (number >= r->number) {
        r->number = number;
        r->lost = strtoull(lost, NULL, 10);
    }
    for (size_t i = 0; i < ONCE && counts_once(t); i++) {
        if (t->views[once[i]].samples.len > 0 && number >= r->last[i].number) {
            r->last[i].number = number;
            r->last[i].file = file + 1;
        }
    }
    s->says_lost |= lost[0] != '\0';
    note_time(s, t);
    struct hpx_tree_origin both = shared(s->to, t);
    hpx_tree_join_views(s->to, t, counts_once(t) ? OTHERS_VIEWS : OTHERS_VIEWS | ONCE_VIEWS, OTHERS_VIEWS | ONCE_VIEWS);
    if (tells_run(t) && hpx_window_is_set()) {
        note_before(s->to, r, t);
    }
    if (s->in->read > 1) {
        s->to->origin = both;
    }
    return !s->to->no_memory;
}

static const struct hpx_input *input(const struct sum *s, size_t i)
{
    return (const struct hpx_input *)s->in->files.items + i;
}

/* Reads a file into a tree of its own. *any: the tree has something. HPX_FAILED: err. What is wrong with a file that was found is said, but
 * not again in the second pass. */
static enum hpx_status read_one(struct sum *s, size_t i, struct hpx_tree *t, bool again, bool *any, struct hpx_err *err)
{
    bool ready = hpx_tree_init(t);
    t->timed = s->to->timed && !again;
    enum hpx_status done = ready ? read_file(s->in, input(s, i), t, err) : hpx_fail(err, HPX_FAILED, "no memory");
    if (done != HPX_FAILED) {
        hpx_tree_finish(t);
    }
    if ((done == HPX_OK || done == HPX_PARTIAL) && t->no_memory) {
        done = hpx_fail(err, HPX_FAILED, "%s: %s", input(s, i)->name, hpx_budget_why());
    }
    *any = done == HPX_OK || done == HPX_PARTIAL;
    if (done == HPX_PARTIAL || (!*any && ready && input(s, i)->found)) {
        if (!again || !*any) {
            tell(s->in, done, err);
        }
        done = HPX_OK;
    }
    return done;
}

/* Standard input and pipes have their bytes once. */
static bool can_read_again(const struct hpx_input *file)
{
    struct stat st;
    return file->found || (strcmp(file->name, "-") != 0 && stat(file->name, &st) == 0 && S_ISREG(st.st_mode));
}

/* Takes the tree for the second pass, if that needs it and cannot read it; t is empty then. false: no memory. */
static bool keep(struct sum *s, size_t i, struct hpx_tree *t)
{
    bool needed = false;
    for (size_t k = 0; k < ONCE && counts_once(t); k++) {
        needed |= t->views[once[k]].samples.len > 0;
    }
    if (!needed || can_read_again(input(s, i))) {
        return true;
    }
    s->kept[i] = malloc(sizeof *t);
    if (s->kept[i] == NULL) {
        return false;
    }
    *s->kept[i] = *t;
    (void)hpx_tree_init(t); /* if that fails it is empty all the same */
    return true;
}

/* The sum does not fit. */
static enum hpx_status too_much(struct hpx_err *err)
{
    return hpx_budget_refused() ? hpx_fail(err, HPX_FAILED, "the sum of the files cannot be made: %s", hpx_budget_why())
                                : hpx_fail(err, HPX_FAILED, "no memory");
}

static enum hpx_status first_pass(struct sum *s, struct hpx_err *err)
{
    enum hpx_status done = HPX_OK;
    for (size_t i = 0; i < s->in->files.len && done == HPX_OK; i++) {
        struct hpx_tree t;
        bool any;
        done = read_one(s, i, &t, false, &any, err);
        if (done == HPX_OK && any) {
            bool fresh = !is_there(s, &t, i);
            s->in->read += fresh;
            if (s->in->told != NULL) {
                s->in->told(s->in->told_to, input(s, i)->name, &t);
            }
            done = !s->to->no_memory && (!fresh || (add_tree(s, &t, i) && keep(s, i, &t))) ? HPX_OK : too_much(err);
        }
        hpx_tree_fini(&t);
    }
    return done;
}

static enum hpx_status add_again(struct sum *s, size_t file, unsigned views, struct hpx_err *err)
{
    struct hpx_tree t;
    bool any = true;
    if (s->kept[file] != NULL) {
        hpx_tree_join_views(s->to, s->kept[file], views, 0);
        return s->to->no_memory ? too_much(err) : HPX_OK;
    }
    enum hpx_status done = read_one(s, file, &t, true, &any, err);
    if (done == HPX_OK && any) {
        hpx_tree_join_views(s->to, &t, views, 0);
        done = s->to->no_memory ? too_much(err) : HPX_OK;
    }
    hpx_tree_fini(&t);
    return done;
}

/* The files that have the last totals of their run are read again, if they can be: to keep them would take memory for each JVM. */
static enum hpx_status second_pass(struct sum *s, struct hpx_err *err)
{
    enum hpx_status done = HPX_OK;
    for (size_t i = 0; i < s->runs.len; i++) {
        const struct run *r = (const struct run *)s->runs.items + i;
        size_t alloc = r->last[0].file, heap = r->last[1].file;
        bool both = alloc == heap;
        if (done == HPX_OK && alloc != 0) {
            done = add_again(s, alloc - 1, both ? ONCE_VIEWS : 1U << once[0], err);
        }
        if (done == HPX_OK && heap != 0 && !both) {
            done = add_again(s, heap - 1, 1U << once[1], err);
        }
    }
    return done;
}

/* The losses of a run count from its start, too. */
static void set_facts(struct sum *s)
{
    uint64_t lost = 0;
    char text[24];
    for (size_t i = 0; i < s->runs.len; i++) {
        lost = hpx_tree_sum(lost, ((const struct run *)s->runs.items)[i].lost);
    }
    if (s->says_lost) {
        int n = snprintf(text, sizeof text, "%" PRIu64, lost);
        s->to->lost = hpx_tree_name(s->to, text, (size_t)n);
    }
    if (s->begin > 0) {
        s->to->start_ms = s->begin;
        s->to->duration_ms = s->end - s->begin;
    }
    free(s->to->verdict); /* its sentences are those of one file */
    s->to->verdict = NULL;
}

static void forget_kept(struct sum *s)
{
    for (size_t i = 0; s->kept != NULL && i < s->in->files.len; i++) {
        if (s->kept[i] != NULL) {
            hpx_tree_fini(s->kept[i]);
            free(s->kept[i]);
        }
    }
    free(s->kept);
}

static enum hpx_status read_several(struct hpx_inputs *in, struct hpx_tree *t, struct hpx_err *err)
{
    struct sum s = {.in = in, .to = t, .kept = calloc(in->files.len + 1, sizeof(struct hpx_tree *))};
    hpx_seeded_map_init(&s.run_of, true);
    hpx_seeded_map_init(&s.profile_of, true);
    enum hpx_status done = s.kept != NULL ? first_pass(&s, err) : hpx_fail(err, HPX_FAILED, "no memory");
    done = done == HPX_OK ? second_pass(&s, err) : done;
    if (done == HPX_OK && in->read == 0) {
        done = hpx_fail(err, HPX_FAILED, "none of the %zu files is a profile", in->files.len);
    }
    set_facts(&s);
    in->runs = s.runs.len;
    hpx_tree_finish(t);
    forget_kept(&s);
    hpx_seeded_map_fini(&s.run_of);
    hpx_seeded_map_fini(&s.profile_of);
    free(s.runs.items);
    free(s.profiles.items);
    if (done == HPX_OK && t->crowded) {
        done = hpx_fail(err, HPX_PARTIAL, "more than %d measures that hprofx does not know; the others are left out", HPX_TREE_VALUES);
        (void)hpx_complain(done, err);
    }
    return done == HPX_OK && in->unread > 0 ? HPX_PARTIAL : done;
}

static enum hpx_status read_one_file(struct hpx_inputs *in, struct hpx_tree *t, struct hpx_err *err)
{
    enum hpx_status s = read_file(in, in->files.items, t, err);
    if (s == HPX_PARTIAL) {
        tell(in, s, err);
    }
    hpx_tree_finish(t);
    in->read = in->runs = 1;
    return s;
}

enum hpx_status hpx_inputs_read(struct hpx_inputs *in, struct hpx_tree *t, struct hpx_err *err)
{
    in->read = in->runs = in->unread = 0;
    enum hpx_status s = in->files.len == 1 ? read_one_file(in, t, err) : read_several(in, t, err);
    if (s == HPX_OK || s == HPX_PARTIAL) {
        hpx_filter_apply(t, &in->filter);
    }
    return s;
}
