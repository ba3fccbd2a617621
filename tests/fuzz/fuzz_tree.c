/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_tree.c: any bytes as a profile, in whatever format they look like: the reader ends, the tree is sound, the same bytes in pieces make
 * the same tree, and every writer takes it and a part of its time. What was written as collapsed stacks and as pprof has the totals of the
 * tree when read back. */
#include "../unit/text_check.h"
#include "formats.h"
#include "fuzz.h"
#include "graph.h"
#include "window.h"
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static int file(void)
{
    int fd = memfd_create("profile", MFD_CLOEXEC);
    require(fd >= 0, "memfd_create");
    return fd;
}

static enum hpx_tree_read read_file(struct hpx_tree *t, int fd)
{
    struct hpx_err err = {""};
    require(lseek(fd, 0, SEEK_SET) == 0 && hpx_tree_init(t), "a tree");
    t->timed = true;
    enum hpx_tree_read done = hpx_tree_read(t, fd, NULL, NULL, &err);
    require((done == HPX_TREE_WHOLE) == (err.msg[0] == '\0'), "a message without a fault, or a fault without one");
    hpx_tree_finish(t);
    require(!t->no_memory, "no memory");
    return done;
}

/* Of one that is finished. */
static void check(const struct hpx_tree *t)
{
    for (uint32_t i = 0; i < t->names.len; i++) {
        const char *name = hpx_tree_text(t, i), *fault = text_fault(name, strlen(name), false);
        require(fault == NULL, fault != NULL ? fault : "");
    }
    for (uint32_t i = 1; i < t->frames.len; i++) {
        const struct hpx_tree_frame *f = hpx_tree_frame_at(t, i);
        require(f->name < t->names.len && f->source < t->names.len && f->line >= 0, "a frame of no name");
    }
    for (uint32_t i = 1; i < t->nodes.len; i++) {
        const struct hpx_tree_node *n = hpx_tree_node_at(t, i);
        require(n->parent < i && n->frame > 0 && n->frame < t->frames.len, "a node of no parent or frame");
    }
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        const struct hpx_tree_view *v = &t->views[k];
        require(v->numbers.len == v->samples.len * v->values, "numbers that are of no sample");
        for (size_t i = 0; i < v->samples.len; i++) {
            const struct hpx_tree_sample *s = hpx_tree_sample_at(v, i), *before = i > 0 ? s - 1 : NULL;
            require(s->node < t->nodes.len && s->thread < t->names.len, "a sample of no node or thread");
            require(before == NULL || before->node < s->node || (before->node == s->node && before->thread < s->thread), "not in order");
        }
        require(v->moment_numbers.len == v->moments.len * v->values, "numbers that are of no moment");
        for (size_t i = 0; i < v->moments.len; i++) {
            const struct hpx_tree_moment *m = hpx_tree_moment_at(v, i);
            require(m->node < t->nodes.len && m->thread < t->names.len && m->unit_ms > 0, "a moment of no node or thread");
            require(i == 0 || hpx_tree_moment_at(v, i - 1)->at_ms <= m->at_ms, "moments not in order");
        }
    }
}

static void check_calls(const struct hpx_tree *t, struct hpx_tree_column c)
{
    const struct hpx_graph_of of = {.tree = t, .column = c, .beside = c.measure};
    uint64_t total = t->views[c.view].totals[c.measure];
    struct hpx_graph whole, part;
    struct hpx_list methods;
    require(hpx_graph_make(&whole, &of) && hpx_graph_methods(&methods, &whole, t), "no memory");
    require(hpx_graph_at(&whole, 0)->total == total, "a total that is not the root's");
    const struct hpx_graph_method *m = methods.items;
    for (size_t i = 0; i < methods.len && i < 3; i++) {
        require(m[i].total <= total && m[i].self <= m[i].total, "more than all");
        if (m[i].name == 0) {
            continue; /* also what has no stack */
        }
        require(hpx_graph_callees(&part, &whole, m + i) && hpx_graph_at(&part, 0)->total == m[i].total, "callees of something else");
        hpx_graph_fini(&part);
        require(hpx_graph_callers(&part, &whole, m + i) && hpx_graph_at(&part, 0)->total == m[i].total, "callers of something else");
        hpx_graph_fini(&part);
    }
    free(methods.items);
    hpx_graph_fini(&whole);
}

struct text {
    const char *at;
    size_t n;
};

static ssize_t give(void *ctx, void *to, size_t n)
{
    struct text *t = ctx;
    n = n < t->n ? n : t->n;
    memcpy(to, t->at, n);
    t->at += n;
    t->n -= n;
    return (ssize_t)n;
}

/* Whether most lines of collapsed stacks look like sentences: names with blanks that nothing calls. The reader takes such a file for a log.
 */
static bool is_log(const char *text, size_t n)
{
    size_t lines = 0, stacks = 0;
    for (const char *at = text, *end; (end = memchr(at, '\n', (size_t)(text + n - at))) != NULL; at = end + 1) {
        lines++;
        stacks += hpx_folded_is_stack((struct hpx_rd_text){at, (size_t)(end - at)});
    }
    return 2 * stacks < lines;
}

/* Reads what a writer wrote, by its reader: a name may make it look like another format. */
static void check_again(const struct hpx_tree *t, struct hpx_tree_column c, const char *suffix, const char *text, size_t n)
{
    bool folded = strcmp(suffix, ".folded") == 0, pprof = strcmp(suffix, ".pprof") == 0;
    uint64_t total = t->views[c.view].totals[c.measure];
    struct hpx_tree again;
    if ((!folded && !pprof) || total > INT64_MAX || (folded && is_log(text, n))) { /* pprof has no larger numbers */
        return;
    }
    struct text of = {text, n};
    struct hpx_source source;
    struct hpx_err err = {""};
    require(hpx_source_init(&source, give, &of) == 0 && hpx_tree_init(&again), "no memory");
    enum hpx_tree_read done = folded ? hpx_tree_read_folded(&again, &source, &err) : hpx_tree_read_pprof(&again, &source, &err);
    require(done == HPX_TREE_WHOLE, err.msg);
    hpx_tree_finish(&again);
    struct hpx_tree_column as = {HPX_VIEW_CPU, 0};
    require(folded || hpx_tree_column(&again, t->views[c.view].measures[c.measure].name, &as), "a measure is lost");
    require(again.views[as.view].totals[as.measure] == total, "the totals differ");
    hpx_tree_fini(&again);
    hpx_source_fini(&source);
}

static void write_all(const struct hpx_tree *t)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    size_t columns = hpx_tree_columns(t, of), n, length;
    const struct hpx_format *f = hpx_formats(&n);
    for (size_t i = 0; i < n && columns > 0; i++) {
        for (size_t k = 0; k < (f[i].one_column ? columns : 1); k++) {
            char *text = NULL;
            FILE *to = open_memstream(&text, &length);
            require(to != NULL && f[i].write(t, of[k], to) && fclose(to) == 0, "no memory");
            check_again(t, of[k], f[i].suffix, text, length);
            free(text);
        }
    }
    for (size_t k = 0; k < columns; k++) {
        check_calls(t, of[k]);
    }
}

/* A socket of packets gives the bytes in pieces. */
static void in_pieces(const uint8_t *data, size_t size, const struct hpx_tree *t)
{
    int ends[2];
    struct hpx_tree again;
    struct hpx_err err = {""};
    if (size > 4096) { /* there is no thread that would write on */
        return;
    }
    require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 && hpx_tree_init(&again), "a socket");
    for (size_t at = 0; at < size; at += 97) {
        size_t n = size - at < 97 ? size - at : 97;
        require(write(ends[1], data + at, n) == (ssize_t)n, "write to a socket");
    }
    (void)close(ends[1]);
    again.timed = true;
    (void)hpx_tree_read(&again, ends[0], NULL, NULL, &err);
    hpx_tree_finish(&again);
    require(again.names.len == t->names.len && again.frames.len == t->frames.len && again.nodes.len == t->nodes.len, "otherwise in pieces");
    require(again.pauses.len == t->pauses.len, "other pauses in pieces");
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        require(again.views[k].moments.len == t->views[k].moments.len, "other moments in pieces");
        require(memcmp(again.views[k].totals, t->views[k].totals, sizeof again.views[k].totals) == 0, "other totals in pieces");
    }
    hpx_tree_fini(&again);
    (void)close(ends[0]);
}

static bool take_each(void *ctx, struct hpx_tree *t)
{
    unsigned *left = ctx;
    hpx_tree_finish(t);
    check(t);
    hpx_tree_without_threads(t);
    hpx_tree_fini(t);
    return --*left > 0;
}

/* The same bytes as what an agent sends. */
static void as_stream(const uint8_t *data, size_t size)
{
    struct text of = {(const char *)data, size};
    struct hpx_source source;
    struct hpx_err err = {""};
    unsigned left = 50;
    require(hpx_source_init(&source, give, &of) == 0, "no memory");
    (void)hpx_tree_stream_hprof(&source, take_each, &left, &err);
    hpx_source_fini(&source);
}

/* A part of the run is no more than the run, and a tree as any other. */
static void in_window(int fd, const struct hpx_tree *t)
{
    struct hpx_tree part;
    require(hpx_window_set(HPX_WINDOW_FROM, "1500ms") && hpx_window_set(HPX_WINDOW_TO, "3s"), "a window");
    if (read_file(&part, fd) != HPX_TREE_FAILED) {
        check(&part);
        for (size_t k = 0; k < HPX_VIEWS; k++) {
            require(part.views[k].moments.len <= t->views[k].moments.len, "moments that the run has not");
            for (size_t i = 0; i < part.views[k].moments.len; i++) {
                const struct hpx_tree_moment *m = hpx_tree_moment_at(&part.views[k], i);
                require(m->at_ms + m->unit_ms > part.times_from_ms, "a moment from before the window");
            }
        }
        write_all(&part);
    }
    hpx_tree_fini(&part);
    hpx_window_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hpx_tree t;
    int fd = file();
    require(write(fd, data, size) == (ssize_t)size, "a file of memory");
    enum hpx_tree_read done = read_file(&t, fd);
    check(&t);
    if (done != HPX_TREE_FAILED) {
        write_all(&t);
    }
    in_window(fd, &t);
    in_pieces(data, size, &t);
    as_stream(data, size);
    hpx_tree_fini(&t);
    (void)close(fd);
    return 0;
}
