/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_view.c: hprofx view: its command line, and what of the profile is shown. Contract: look.h. */
#include "filters.h"
#include "heap_source.h"
#include "heap_text.h"
#include "idle.h"
#include "look.h"
#include "own.h"
#include "picture.h"
#include "subcommands.h"
#include "units.h"
#include "words.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ROWS        20 /* of the one view that was asked for */
#define ROWS_BRIEF  10
#define ROWS_THREAD 5  /* of each thread */
#define BUSIEST     5  /* threads whose methods are shown */
#define LISTED      10 /* methods that a part of a name may mean */

enum form { TABLE, TREE, METHOD, THREADS, BY };

struct asked {
    const char *view, *method, *out;
    const char *file; /* the word, of several the first */
    struct hpx_inputs inputs;
    enum form form;
    unsigned forms; /* that were asked for */
    bool json;
    size_t rows;   /* 0: not given */
    uint32_t dump; /* --dump; 0: not given */
    double least;
    bool least_given;
};

/* ---- names that the user gives ---- */

/* 3: the name itself; 2: its end, from a dot, dollar sign or slash on; 1: a part; 0: it is another one. */
static int likeness(const char *name, const char *wanted)
{
    size_t n = strlen(name), w = strlen(wanted);
    bool ends = n > w && strcmp(name + n - w, wanted) == 0;
    return strcmp(name, wanted) == 0 ? 3 : ends && strchr(".$/", name[n - w - 1]) != NULL ? 2 : strstr(name, wanted) != NULL ? 1 : 0;
}

static void list(const struct hpx_tree *t, const struct hpx_list *methods, const char *wanted, int best, size_t n)
{
    const struct hpx_graph_method *m = methods->items;
    size_t listed = 0;
    (void)fprintf(stderr, "hprofx: %s methods have that name, or a part of it:\n", hpx_words_number(n));
    for (size_t i = 0; i < methods->len && listed < LISTED; i++) {
        if (likeness(hpx_tree_text(t, m[i].name), wanted) == best) {
            (void)fprintf(stderr, "  %s\n", hpx_tree_text(t, m[i].name));
            listed++;
        }
    }
    if (n > listed) {
        (void)fprintf(stderr, "  and %s more\n", hpx_words_number(n - listed));
    }
}

/* The method that `wanted` means. */
static enum hpx_status choose(const struct hpx_tree *t, const struct hpx_list *methods, const char *wanted,
                              const struct hpx_graph_method **found, struct hpx_err *err)
{
    const struct hpx_graph_method *m = methods->items;
    int best = 0;
    size_t n = 0;
    for (size_t i = 0; i < methods->len; i++) {
        int like = likeness(hpx_tree_text(t, m[i].name), wanted);
        if (like > best) {
            best = like;
            n = 0;
            *found = m + i;
        }
        n += like == best && like > 0;
    }
    if (n == 0) {
        return hpx_fail(err, HPX_FAILED, "the view has no method with %s in its name", wanted);
    }
    if (n > 1) {
        list(t, methods, wanted, best, n);
        return hpx_fail(err, HPX_USAGE, "which method? give more of its name");
    }
    return HPX_OK;
}

/* ---- one profile ---- */

size_t hpx_look_beside(const struct hpx_tree *t, struct hpx_tree_column c)
{
    const struct hpx_tree_view *v = &t->views[c.view];
    size_t pair = c.measure ^ 1; /* measures of hprofx come in pairs */
    return c.view != HPX_VIEW_OTHER && pair < v->values && v->totals[pair] > 0 ? pair : c.measure;
}

static enum hpx_status one_method(struct hpx_look *l, const char *wanted, struct hpx_err *err)
{
    struct hpx_graph c;
    struct hpx_list methods = {0};
    const struct hpx_graph_method *found = NULL;
    enum hpx_status s = hpx_fail(err, HPX_FAILED, "no memory");
    if (hpx_graph_make(&c, &l->of) && hpx_graph_methods(&methods, &c, l->tree)) {
        s = choose(l->tree, &methods, wanted, &found, err);
        if (s == HPX_OK) {
            hpx_look_head(l);
            s = hpx_look_method(l, &c, found) ? HPX_OK : hpx_fail(err, HPX_FAILED, "no memory");
        }
    }
    free(methods.items);
    hpx_graph_fini(&c);
    return s;
}

static enum hpx_status one_view(struct hpx_look *l, const struct asked *a, struct hpx_tree_column c, struct hpx_err *err)
{
    l->of.column = c;
    l->of.beside = hpx_look_beside(l->tree, c);
    if (a->form == METHOD) {
        return one_method(l, a->method, err);
    }
    hpx_look_head(l);
    bool made = a->form == TREE ? hpx_look_tree(l) : a->form == THREADS ? hpx_look_threads(l) : hpx_look_table(l);
    return made ? HPX_OK : hpx_fail(err, HPX_FAILED, "no memory");
}

/* The columns to show: the one that was asked for, or the main one of every view. */
static size_t chosen(const struct hpx_tree *t, const struct asked *a, struct hpx_tree_column c, struct hpx_tree_column to[2 * HPX_VIEWS])
{
    struct hpx_tree_column all[HPX_VIEWS * HPX_TREE_VALUES];
    size_t n = hpx_tree_columns(t, all), kept = 0;
    if (a->view != NULL || a->form != TABLE) {
        to[0] = c;
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        bool live =
            !a->json && all[i].view == HPX_VIEW_ALLOC && strcmp(t->views[all[i].view].measures[all[i].measure].name, "inuse_space") == 0;
        if (kept == 0 || to[kept - 1].view != all[i].view || live) { /* the first of a view is the main one, if it has any */
            to[kept++] = all[i];
        }
    }
    return kept;
}

/* What the report of hprofx says, and the other views. */
static void foot(const struct hpx_look *l, const struct hpx_tree_column *columns, size_t shown)
{
    const struct hpx_tree *t = l->tree;
    const char *lost = hpx_tree_text(t, t->lost), *own = hpx_tree_text(t, t->own), *between = "\nAlso here: --view ";
    for (size_t k = 0; k < HPX_VIEWS && shown == 1; k++) {
        const struct hpx_tree_view *v = &t->views[k];
        if (k != l->of.column.view && v->samples.len > 0) {
            (void)fprintf(l->to, "%s%s", between, v->key);
            between = ", ";
        }
    }
    (void)fputs(between[0] == ',' ? "\n" : "", l->to);
    for (size_t k = 0; k < shown && l->folded; k++) {
        if (columns[k].view == HPX_VIEW_WALL) {
            (void)fputs("\n" HPX_IDLE ": threads of the VM, pools and servers that wait for work; --idle shows where.\n", l->to);
        }
    }
    for (size_t k = 0; k < shown && t->replaced != 0; k++) {
        if (columns[k].view == HPX_VIEW_CALLS) {
            hpx_words_replaced(l->to, hpx_tree_text(t, t->replaced));
        }
    }
    if (lost[0] != '\0' || own[0] != '\0') {
        (void)fprintf(l->to, "\n%s%s%s%s%s.\n", lost[0] != '\0' ? "Lost: " : "", lost, lost[0] != '\0' && own[0] != '\0' ? ". " : "",
                      own[0] != '\0' ? "Own CPU time: " : "", own);
    }
}

/* ---- heap dumps ---- */

/* One file, all of it: then a heap dump in it is told of, if that is binary. */
static bool wants_heap(const struct asked *a, const struct hpx_tree *t)
{
    const struct hpx_input *in = a->inputs.files.items;
    return a->inputs.files.len == 1 && a->view == NULL && t->filtered == 0 && a->form == TABLE && a->out == NULL &&
           !hpx_engine_is(a->file) && strcmp(a->file, "-") != 0 && t->heap_dump && hpx_heap_is_file(in->name);
}

/* false: nothing is told of the dump; if the whole page is, the reason is on stderr, unless the dump is text. *s: what the command ends
 * with. */
static bool show_heap(const struct asked *a, struct hpx_json *json, enum hpx_status *s, struct hpx_err *err)
{
    const struct hpx_input *in = a->inputs.files.items;
    struct hpx_err why, said;
    enum hpx_heap_read done = HPX_HEAP_FAILED;
    int fd = open(in->name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0) {
        done = hpx_heap_tell(stdout, fd, &(struct hpx_heap_ask){a->rows, a->dump, json}, &why);
        (void)close(fd);
    } else {
        (void)hpx_err_set(&why, HPX_E_IO, "%s", strerror(errno));
    }
    bool told = done == HPX_HEAP_READ || done == HPX_HEAP_PARTIAL;
    if (done == HPX_HEAP_FAILED && a->dump == 0) {
        (void)hpx_complain(hpx_fail(&said, HPX_FAILED, "%s: only the table of its heap: %s", in->name, why.msg), &said);
    }
    *s = done == HPX_HEAP_PARTIAL ? hpx_fail(err, HPX_PARTIAL, "%s: %s", in->name, why.msg)
         : !told && a->dump != 0  ? hpx_fail(err, HPX_FAILED, "%s: %s", in->name, why.msg)
                                  : HPX_OK;
    return told || a->dump != 0;
}

static enum hpx_status put_json(const struct hpx_look *l, const struct asked *a, const struct hpx_tree_column *columns, size_t n,
                                struct hpx_err *err)
{
    struct hpx_json j = {.to = l->to};
    hpx_json_open(&j, NULL, '{');
    hpx_json_text(&j, "file", a->file);
    enum hpx_status s = hpx_look_json(l, &j, columns, n) ? HPX_OK : hpx_fail(err, HPX_FAILED, "no memory");
    if (s == HPX_OK && wants_heap(a, l->tree)) {
        (void)show_heap(a, &j, &s, err);
    }
    hpx_json_close(&j, '}');
    (void)fputc('\n', l->to);
    return s;
}

static bool by_thread;

void hpx_look_by_thread(void)
{
    by_thread = true;
}

/* Of one thread. */
static bool show_thread(const struct hpx_look *l, uint32_t name, bool *threads)
{
    struct hpx_look one = *l;
    one.trend = NULL;
    threads[name] = true;
    one.of.threads = threads;
    one.thread = hpx_tree_text(l->tree, name);
    one.rows = ROWS_THREAD;
    (void)fputs("\nThread ", l->to);
    hpx_words_name(l->to, one.thread, HPX_NAME_COLUMNS, false);
    (void)fputc('\n', l->to);
    bool made = hpx_look_table(&one);
    threads[name] = false;
    return made;
}

/* What the threads did, the busiest first. Without names of threads there is nothing to tell. */
static enum hpx_status show_threads(struct hpx_look *l, struct hpx_tree_column c, struct hpx_err *err)
{
    struct hpx_list all = {0};
    bool *threads = calloc(l->tree->names.len, sizeof *threads);
    l->of.column = c;
    l->of.beside = hpx_look_beside(l->tree, c);
    bool made = threads != NULL && hpx_graph_threads(&all, &l->of);
    const struct hpx_graph_method *t = all.items;
    bool named = made && (all.len > 1 || (all.len == 1 && t[0].name != 0));
    if (named) {
        (void)fputc('\n', l->to);
        made = hpx_look_threads(l);
    }
    for (size_t i = 0, shown = 0; named && made && i < all.len && shown < BUSIEST; i++) {
        if (t[i].name != 0 && t[i].self > 0) {
            made = show_thread(l, t[i].name, threads);
            shown++;
        }
    }
    free(all.items);
    free(threads);
    return made ? HPX_OK : hpx_fail(err, HPX_FAILED, "no memory");
}

static enum hpx_status show_text(struct hpx_look *l, const struct asked *a, const struct hpx_tree_column *columns, size_t n,
                                 struct hpx_err *err)
{
    enum hpx_status s = HPX_OK;
    for (size_t i = 0; i < n && s == HPX_OK; i++) {
        s = one_view(l, a, columns[i], err);
        if (s == HPX_OK && i == 0 && by_thread && a->form == TABLE && l->thread == NULL) {
            s = show_threads(l, columns[i], err);
        }
    }
    if (a->view == NULL && a->form == TABLE) {
        hpx_look_empty(l);
    }
    foot(l, columns, n);
    return s;
}

static bool idle_shown;

void hpx_look_idle(void)
{
    idle_shown = true;
}

static struct hpx_list by; /* const char * */

bool hpx_look_by_method(const char *pattern)
{
    const char **slot = hpx_list_push(&by, sizeof *slot);
    if (slot != NULL) {
        *slot = pattern;
    }
    return slot != NULL;
}

/* view: which; HPX_VIEWS: all. */
static enum hpx_status show_by(struct hpx_look *l, const struct asked *a, size_t view, struct hpx_err *err)
{
    struct hpx_by b;
    struct hpx_json j = {.to = l->to};
    enum hpx_status s = hpx_by_make(&b, l->tree, &by, view) ? HPX_OK : hpx_fail(err, HPX_FAILED, "no memory");
    if (s == HPX_OK && b.rows.len == 0 && a->form == BY) {
        s = hpx_fail(err, HPX_FAILED, "no stack has a method that matches --by; a pattern is a whole name, or has * for any characters");
    } else if (s == HPX_OK && a->json) {
        hpx_json_open(&j, NULL, '{');
        hpx_json_text(&j, "file", a->file);
        hpx_look_by_json(l, &j, &b, &by);
        hpx_json_close(&j, '}');
        (void)fputc('\n', l->to);
    } else if (s == HPX_OK) {
        hpx_look_by(l, &b, &by);
    }
    hpx_by_fini(&b);
    return s;
}

/* Threads that have nothing to do are most of the time of most programs, and say nothing. Who asks for a method may mean one of theirs. */
static bool folds(const struct asked *a)
{
    return !idle_shown && !a->json && a->form != METHOD;
}

static enum hpx_status show(struct hpx_look *l, const struct asked *a, struct hpx_err *err)
{
    struct hpx_tree_column c = {0, 0}, shown[2 * HPX_VIEWS];
    bool empty =
        a->view == NULL && a->form == TABLE && (l->tree->empty != 0 || l->tree->states != NULL || (a->json && wants_heap(a, l->tree)));
    enum hpx_status s = hpx_picture_column(l->tree, a->view, &c, err);
    s = empty && !l->tree->no_memory ? HPX_OK : s;
    if (!a->json && l->tree->verdict != NULL) { /* it may say why there is nothing */
        (void)fputs(l->tree->verdict, l->to);
        l->apart |= l->tree->verdict[0] != '\0';
    }
    l->rows = a->rows > 0 ? a->rows : a->json ? SIZE_MAX : ROWS;
    if (s == HPX_OK && by.len > 0) { /* one of the methods may be in threads that are idle */
        l->least = a->least_given ? a->least : 0;
        s = show_by(l, a, a->view != NULL ? c.view : HPX_VIEWS, err);
        l->least = a->least;
        if (a->form == BY) {
            return s;
        }
    }
    l->folded = folds(a) && hpx_idle_fold(l->tree);
    size_t n = s == HPX_OK ? chosen(l->tree, a, c, shown) : 0;
    l->rows = a->rows > 0 ? a->rows : a->json ? SIZE_MAX : a->view != NULL || n == 1 ? ROWS : ROWS_BRIEF;
    if (s == HPX_OK && a->json) {
        s = put_json(l, a, shown, n, err);
    } else if (s == HPX_OK) {
        s = show_text(l, a, shown, n, err);
    }
    return s;
}

static bool writes_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0') {
            return strcasestr(value, "UTF-8") != NULL || strcasestr(value, "UTF8") != NULL;
        }
    }
    return false;
}

/* A sentence in the place of those about one file. */
static void tell_sum(struct hpx_tree *t, const struct hpx_inputs *in)
{
    char *text = NULL;
    if (in->files.len > 1 && t->verdict == NULL &&
        asprintf(&text, "The sum of %zu profile%s of %zu run%s.\n", in->read, in->read == 1 ? "" : "s", in->runs,
                 in->runs == 1 ? "" : "s") >= 0) {
        t->verdict = text;
    }
}

static enum hpx_status show_or_save(struct hpx_look *l, const struct asked *a, struct hpx_err *err)
{
    return a->out != NULL ? hpx_picture_save(l->tree, hpx_format_of(a->out), a->view, a->out, err) : show(l, a, err);
}

static struct hpx_look look_at(FILE *to, struct hpx_tree *t, double least)
{
    struct winsize size = {0};
    bool terminal = to == stdout && isatty(STDOUT_FILENO);
    struct hpx_look l = {.to = to, .tree = t, .of = {.tree = t}, .least = least};
    l.bold = terminal && getenv("NO_COLOR") == NULL;
    l.boxes = terminal && writes_utf8();
    l.columns = terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    return l;
}

static struct {
    struct hpx_trend *of;
    size_t columns;
    bool utf8;
} trend;

void hpx_look_trend(struct hpx_trend *t, size_t columns, bool utf8)
{
    trend.of = t;
    trend.columns = columns;
    trend.utf8 = utf8;
}

enum hpx_status hpx_look_all(FILE *to, struct hpx_tree *t, bool apart, struct hpx_err *err)
{
    struct hpx_look l = look_at(to, t, 1);
    l.apart = apart;
    if (trend.of != NULL) {
        l.trend = trend.of;
        l.columns = trend.columns;
        l.boxes = trend.utf8;
    }
    return show(&l, &(struct asked){.least = 1}, err);
}

bool hpx_look_members(struct hpx_json *j, struct hpx_tree *t)
{
    struct hpx_tree_column shown[2 * HPX_VIEWS];
    struct hpx_look l = {.to = j->to, .tree = t, .of = {.tree = t}, .rows = SIZE_MAX};
    return !t->no_memory && hpx_look_json(&l, j, shown, chosen(t, &(struct asked){.json = true}, (struct hpx_tree_column){0, 0}, shown));
}

static enum hpx_status show_all(struct hpx_look *l, const struct asked *a, struct hpx_err *err)
{
    bool heap = wants_heap(a, l->tree), alone = heap && hpx_tree_is_heap(l->tree);
    if (a->dump != 0 && !heap) {
        return hpx_fail(err, HPX_FAILED, "%s: --dump chooses a heap dump of one binary file, and there is none", a->file);
    }
    enum hpx_status s = HPX_OK;
    if (alone && !a->json && show_heap(a, NULL, &s, err)) {
        return s;
    }
    s = show_or_save(l, a, err);
    if (s == HPX_OK && heap && !alone && !a->json) {
        (void)show_heap(a, NULL, &s, err);
    }
    return s;
}

static int run(struct asked *a)
{
    struct hpx_tree t;
    struct hpx_err err = {""};
    bool ready = hpx_tree_init(&t);
    t.timed = a->out != NULL && hpx_format_of(a->out)->times;
    struct hpx_look l = look_at(stdout, &t, a->least);
    enum hpx_status read = ready ? hpx_inputs_read(&a->inputs, &t, &err) : hpx_fail(&err, HPX_FAILED, "no memory"), s = read;
    if (read == HPX_OK || read == HPX_PARTIAL) {
        tell_sum(&t, &a->inputs);
        s = show_all(&l, a, &err);
    }
    hpx_tree_fini(&t);
    bool said = read == HPX_PARTIAL && s == HPX_PARTIAL; /* that the file is broken */
    return s != HPX_OK && !said ? hpx_complain(s, &err) : read == HPX_PARTIAL ? HPX_PARTIAL : HPX_OK;
}

/* ---- the command line ---- */

static bool take_least(struct asked *a, const char *text)
{
    char *end;
    a->least = strtod(text, &end);
    a->least_given = true;
    return end != text && *end == '\0' && a->least >= 0 && a->least <= 100;
}

static bool take_dump(struct asked *a, const char *text)
{
    size_t n = 0;
    bool good = hpx_rows_of(text, &n);
    a->dump = good ? (uint32_t)n : 0;
    return good;
}

static void take_form(struct asked *a, enum form form)
{
    a->form = form;
    a->forms++;
}

/* The status with which the command ends at once, or -1. */
static int take(struct asked *a, const struct hpx_arguments *args, int option)
{
    struct hpx_err unknown;
    const char *value = args->value, *wrong;
    if (hpx_filters_option(&a->inputs.filter, option, value, &wrong)) {
        return wrong == NULL ? -1 : hpx_arguments_misuse(args, "%s", wrong);
    }
    switch (option) {
    case HPX_O_VIEW:
        a->view = value;
        return -1;
    case HPX_O_METHOD:
        a->method = value;
        take_form(a, METHOD);
        return -1;
    case HPX_O_BY:
        a->form = BY;
        a->forms += by.len == 0;
        return value[0] == '\0'            ? hpx_arguments_misuse(args, "--by wants a method, class or package")
               : hpx_look_by_method(value) ? -1
                                           : hpx_arguments_misuse(args, "no memory");
    case HPX_O_TABLE:
        take_form(a, TABLE);
        return -1;
    case HPX_O_TREE:
        take_form(a, TREE);
        return -1;
    case HPX_O_THREADS:
        take_form(a, THREADS);
        return -1;
    case HPX_O_ROWS:
        return hpx_rows_of(value, &a->rows) ? -1 : hpx_arguments_misuse(args, "-n wants a number of rows");
    case HPX_O_MIN:
        return take_least(a, value) ? -1 : hpx_arguments_misuse(args, "--min wants a percentage, 0 to 100");
    case HPX_O_MINE:
        return hpx_own_mine(value) ? -1 : hpx_arguments_misuse(args, "--mine wants prefixes of classes: com.acme,org.shop");
    case HPX_O_IDLE:
        hpx_look_idle();
        return -1;
    case HPX_O_DUMP:
        return take_dump(a, value) ? -1 : hpx_arguments_misuse(args, "--dump wants the number of a heap dump: 1 is the first of the file");
    case HPX_O_JSON:
        a->json = true;
        return -1;
    case HPX_O_OUTPUT:
        a->out = value;
        return hpx_format_of(value) != NULL ? -1
               : hpx_format_is_unknown(value, &unknown)
                   ? hpx_arguments_misuse(args, "%s", unknown.msg)
                   : hpx_arguments_misuse(args, "the file of -o has no suffix, which tells the format");
    default:
        (void)hpx_engine_option(&a->inputs.how, option, value);
        return -1;
    }
}

/* What may not be asked for together; NULL: nothing. */
static const char *conflict(const struct asked *a)
{
    return a->forms > 1                                   ? "--table, --tree, --method, --threads and --by exclude each other"
           : a->json && a->form != TABLE && a->form != BY ? "--json shows tables: neither --tree, nor --method, nor --threads"
           : a->dump != 0 && (a->forms > 0 || a->view != NULL || a->out != NULL)
               ? "--dump chooses a heap dump, which is told of without an option that chooses a view, and not written"
           : a->out != NULL && a->json ? "-o writes a file in the format of its name: no --json"
           : a->out != NULL && a->forms > 0
               ? "-o writes all of the profile: neither --table, nor --tree, nor --method, nor --threads, nor --by"
               : NULL;
}

static int look(struct hpx_arguments *args, struct asked *a)
{
    struct hpx_err err = {""};
    enum hpx_status s = HPX_OK;
    char **words = args->rest; /* words take the places of what was taken */
    size_t n = 0;
    for (int next, status; (next = hpx_arguments_next(args)) != HPX_ARGUMENTS_LAST;) {
        if (next == HPX_ARGUMENTS_WORD) {
            words[n++] = args->rest[-1];
        } else if ((status = next == HPX_ARGUMENTS_ENDS ? args->status : take(a, args, next)) >= 0) {
            return status;
        }
    }
    if (n == 0) {
        return hpx_arguments_misuse(args, "view needs a profile");
    }
    if (conflict(a) != NULL) {
        return hpx_arguments_misuse(args, "%s", conflict(a));
    }
    a->file = words[0];
    for (size_t i = 0; i < n && s == HPX_OK; i++) {
        s = hpx_inputs_add(&a->inputs, words[i], &err);
    }
    return s == HPX_OK ? run(a) : hpx_complain(s, &err);
}

int hpx_look(struct hpx_arguments *args)
{
    struct asked a = {.least = 1};
    int status = look(args, &a);
    hpx_inputs_fini(&a.inputs);
    return status;
}
