/* SPDX-License-Identifier: BSD-2-Clause */
/* fleet_batches.h: bodies of batches in memory, unpacked; and trees for them. */
#ifndef HPX_FLEET_BATCHES_H
#define HPX_FLEET_BATCHES_H

#include "batch.h"
#include "fleet_fixture.h"
#include <zlib.h>

static const uint8_t ids[2][HPX_PROFILE_ID] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5}, {0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
static int body_fd = -1;

static inline void begin_body(struct hpx_batch *b, enum hpx_engine engine)
{
    body_fd = memfd_create("body", MFD_CLOEXEC);
    assert_true(body_fd >= 0);
    assert_true(hpx_batch_begin(b, engine, body_fd));
}

/* What is in the file, unpacked if `gzip`; with a 0 behind it. The caller frees it. */
static inline char *bytes_of(int fd, bool gzip, size_t *n)
{
    size_t size = 1 << 16, at = 0;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    assert_int_equal(lseek(own, 0, SEEK_SET), 0);
    gzFile from = gzdopen(own, "rb");
    char *bytes = NULL;
    assert_non_null(from);
    for (int got = 1; got > 0; at += got > 0 ? (size_t)got : 0) {
        size = at + 1 >= size / 2 ? size * 2 : size;
        bytes = realloc(bytes, size);
        assert_non_null(bytes);
        got = gzread(from, bytes + at, (unsigned)(size - at - 1));
        assert_true(got >= 0);
    }
    assert_true(at == 0 || gzdirect(from) == !gzip);
    assert_int_equal(gzclose(from), Z_OK);
    bytes[at] = '\0';
    *n = at;
    return bytes;
}

/* Ends a batch, and gives its body to a reader that makes text of it. */
static inline char *body_with(struct hpx_batch *b, char *(*reader)(const char *bytes, size_t n))
{
    size_t n;
    assert_true(hpx_batch_end(b));
    char *bytes = bytes_of(body_fd, b->engine != HPX_PYROSCOPE, &n), *text = reader(bytes, n);
    free(bytes);
    (void)close(body_fd);
    return text;
}

/* Four columns, of two views. */
static inline void sample_tree(struct hpx_tree *t)
{
    assert_true(hpx_tree_init(t));
    origin_in(t, "h", 7, "shop", 1);
    t->lost = name_in(t, "0");
    hpx_tree_add(t, &t->views[HPX_VIEW_CPU], stack_in(t, "main;a"), 0, (uint64_t[]){1, 10});
    hpx_tree_add(t, &t->views[HPX_VIEW_CPU], stack_in(t, "main;b;c"), 0, (uint64_t[]){2, 20});
    hpx_tree_add(t, &t->views[HPX_VIEW_LOCK], stack_in(t, "main;b"), 0, (uint64_t[]){3, 30});
    hpx_tree_finish(t);
    hpx_tree_without_threads(t);
    assert_false(t->no_memory);
}

/* A tree with such a measure of another profiler. */
static inline void with_other(struct hpx_tree *t, const char *const *names, size_t n, uint64_t value)
{
    uint64_t values[HPX_TREE_VALUES] = {0};
    size_t measure;
    assert_true(hpx_tree_init(t));
    for (size_t i = 0; i < n; i++) {
        assert_non_null(hpx_tree_find(t, hpx_tree_text(t, name_in(t, names[i])), "count", &measure));
        values[measure] = value + i;
    }
    hpx_tree_add(t, &t->views[HPX_VIEW_OTHER], stack_in(t, "main;m"), 0, values);
    hpx_tree_finish(t);
    hpx_tree_without_threads(t);
    assert_false(t->no_memory);
}

static inline uint64_t sum_of(const struct hpx_batch_head *h, const char *name)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < h->nkinds; i++) {
        sum += strcmp(h->kinds[i].name, name) == 0 ? h->kinds[i].sum : 0;
    }
    return sum;
}

/* Names that cannot be packed well: the body is larger than every buffer on its way. */
static inline void large_tree(struct hpx_tree *t, unsigned seed)
{
    uint64_t random = 88172645463325252u + seed;
    assert_true(hpx_tree_init(t));
    for (unsigned i = 0; i < 300; i++) {
        char text[64];
        for (size_t k = 0; k < sizeof text - 1; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            text[k] = (char)('!' + random % 90);
        }
        text[sizeof text - 1] = '\0';
        uint32_t frame = hpx_tree_frame(t, name_in(t, text), 0, 0, HPX_FRAME_METHOD);
        hpx_tree_add(t, &t->views[HPX_VIEW_CPU], hpx_tree_node(t, 0, frame), 0, (uint64_t[]){1 + random % 1000, random % 1000000});
    }
    hpx_tree_finish(t);
    hpx_tree_without_threads(t);
}

#endif
