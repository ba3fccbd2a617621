/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of heap_graph.h: who refers to whom in a heap dump that is known, for ids of 4 and of 8 bytes; and of what is made of it without
 * memory: paths, JSON, sites, comparisons. */
#include "cmocka_all.h"
#include "failing_memory.h"
#include "heap_diff.h"
#include "heap_json.h"
#include "heap_sites.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Objects: OBJECT, ABOVE, BELOW, ARRAY are classes; the others what their names say. GONE is not in the dump. */
enum {
    OBJECT = 0x100,
    ABOVE = 0x180,
    BELOW = 0x200,
    ARRAY = 0x280,
    CLASS = 0x300,
    ONE = 0x400,
    TWO = 0x440,
    LIST = 0x480,
    BYTES = 0x4c0,
    FRAME = 0x500,
    STACK = 7, /* a serial number */
    GONE = 0x999
};

#define TEXT 16384 /* bytes of a page */

struct file {
    unsigned char bytes[4096];
    size_t n, at, id_size;
};

static void put(struct file *f, uint64_t v, size_t size)
{
    assert_true(f->n + size <= sizeof f->bytes);
    for (size_t i = size; i-- > 0;) {
        f->bytes[f->n++] = (unsigned char)(v >> 8 * i);
    }
}

static void put_id(struct file *f, uint64_t id)
{
    put(f, id, f->id_size);
}

static void put_text(struct file *f, const char *text)
{
    for (; *text != '\0'; text++) {
        put(f, (unsigned char)*text, 1);
    }
}

/* Begins a record; its length is put by end(). */
static size_t begin(struct file *f, int tag)
{
    put(f, (uint64_t)tag, 1);
    put(f, 0, 8);
    return f->n;
}

static void end(struct file *f, size_t from)
{
    size_t n = f->n - from, now = f->n;
    f->n = from - 4;
    put(f, n, 4);
    f->n = now;
}

static void put_class_name(struct file *f, uint64_t id, const char *name)
{
    size_t at = begin(f, HPX_TAG_STRING);
    put_id(f, id + 1);
    put_text(f, name);
    end(f, at);
    at = begin(f, HPX_TAG_LOAD_CLASS);
    put(f, id, 4);
    put_id(f, id);
    put(f, 0, 4);
    put_id(f, id + 1);
    end(f, at);
}

/* One, of one frame, which all objects have. */
static void put_stack(struct file *f)
{
    size_t at = begin(f, HPX_TAG_FRAME);
    put_id(f, FRAME);
    for (int i = 0; i < 3; i++) {
        put_id(f, OBJECT + 1); /* its names */
    }
    put(f, OBJECT, 4);
    put(f, 12, 4);
    end(f, at);
    at = begin(f, HPX_TAG_TRACE);
    put(f, STACK, 4);
    put(f, 0, 4);
    put(f, 1, 4);
    put_id(f, FRAME);
    end(f, at);
}

/* Up to its constants. */
static void put_class(struct file *f, uint64_t id, uint64_t above, uint64_t loader)
{
    put(f, HPX_SUB_CLASS, 1);
    put_id(f, id);
    put(f, 0, 4);
    put_id(f, above);
    put_id(f, loader);
    for (int i = 0; i < 4; i++) {
        put_id(f, 0);
    }
    put(f, 0, 4);
}

static void put_plain_class(struct file *f, uint64_t id, uint64_t above)
{
    put_class(f, id, above, 0);
    put(f, 0, 6); /* nothing of its own */
}

static void put_root(struct file *f, int kind, uint64_t id)
{
    put(f, (uint64_t)kind, 1);
    put_id(f, id);
}

static void put_instance(struct file *f, uint64_t id, uint64_t of, size_t bytes)
{
    put(f, HPX_SUB_INSTANCE, 1);
    put_id(f, id);
    put(f, STACK, 4);
    put_id(f, of);
    put(f, bytes, 4);
}

static void put_array(struct file *f, uint64_t id, uint64_t of, const uint64_t *elements, size_t n)
{
    put(f, HPX_SUB_OBJECTS, 1);
    put_id(f, id);
    put(f, 0, 4);
    put(f, n, 4);
    put_id(f, of);
    for (size_t i = 0; i < n; i++) {
        put_id(f, elements[i]);
    }
}

static void put_classes(struct file *f)
{
    put_plain_class(f, OBJECT, 0);
    put_plain_class(f, CLASS, OBJECT);
    put_class(f, ABOVE, OBJECT, TWO);
    put(f, 1, 2); /* a constant */
    put(f, 7, 2);
    put(f, HPX_TYPE_OBJECT, 1);
    put_id(f, LIST);
    put(f, 2, 2); /* static fields */
    put_id(f, OBJECT + 1);
    put(f, HPX_TYPE_INT, 1);
    put(f, ONE, 4); /* no reference */
    put_id(f, OBJECT + 1);
    put(f, HPX_TYPE_OBJECT, 1);
    put_id(f, BYTES);
    put(f, 1, 2); /* fields */
    put_id(f, OBJECT + 1);
    put(f, HPX_TYPE_OBJECT, 1);
    put_class(f, BELOW, ABOVE, 0);
    put(f, 0, 4);
    put(f, 2, 2);
    put_id(f, OBJECT + 1);
    put(f, HPX_TYPE_BYTE, 1);
    put_id(f, OBJECT + 1);
    put(f, HPX_TYPE_OBJECT, 1);
    put_plain_class(f, ARRAY, OBJECT);
}

/* first: what BELOW's own field of ONE refers to. */
static void put_dump(struct file *f, uint64_t first)
{
    size_t at = begin(f, HPX_TAG_SEGMENT);
    put_instance(f, ONE, BELOW, 1 + 2 * f->id_size); /* before its class, which other writers may do */
    put(f, 1, 1);
    put_id(f, first);
    put_id(f, LIST);
    put_classes(f);
    end(f, at);
    at = begin(f, HPX_TAG_SEGMENT);
    put_root(f, HPX_ROOT_STICKY_CLASS, OBJECT);
    put_root(f, HPX_ROOT_MONITOR_USED, ONE);
    put_root(f, HPX_ROOT_UNKNOWN, ONE);
    put_root(f, HPX_ROOT_UNKNOWN, GONE);
    put_instance(f, TWO, ABOVE, f->id_size);
    put_id(f, 0);
    put_array(f, LIST, ARRAY, (const uint64_t[]){TWO, 0, TWO, GONE, ONE}, 5);
    put(f, HPX_SUB_PRIMITIVES, 1);
    put_id(f, BYTES);
    put(f, 0, 4);
    put(f, 3, 4);
    put(f, HPX_TYPE_BYTE, 1);
    put(f, 0, 3);
    put_instance(f, TWO, ABOVE, f->id_size); /* once more: it counts once */
    put_id(f, ONE);
    end(f, at);
    end(f, begin(f, HPX_TAG_HEAP_END));
}

static void put_file(struct file *f, size_t id_size)
{
    *f = (struct file){.id_size = id_size};
    put_text(f, "JAVA PROFILE 1.0.2");
    put(f, 0, 1);
    put(f, id_size, 4);
    put(f, 0, 8);
    put_class_name(f, OBJECT, "java/lang/Object");
    put_class_name(f, CLASS, "java/lang/Class");
    put_class_name(f, ABOVE, "p/Above");
    put_class_name(f, BELOW, "p/Below");
    put_class_name(f, ARRAY, "[Ljava/lang/Object;");
    put_stack(f);
}

static ssize_t give(void *ctx, void *to, size_t n)
{
    struct file *f = ctx;
    n = n < f->n - f->at ? n : f->n - f->at;
    memcpy(to, f->bytes + f->at, n);
    f->at += n;
    return (ssize_t)n;
}

static bool again(void *ctx)
{
    ((struct file *)ctx)->at = 0;
    return true;
}

static enum hpx_heap_read read_graph(struct hpx_heap_graph *g, struct file *f, uint32_t dump, struct hpx_err *err)
{
    const struct hpx_heap_how how = {.dump = dump, .want = HPX_HEAP_REFERENCES};
    return hpx_heap_graph_read(g, &(struct hpx_heap_file){give, again, f}, &how, err);
}

/* The references of an object, in their order; of 0 the roots. A list ends with 0. */
static void refers(const struct hpx_heap_graph *g, uint64_t id, const uint64_t *to)
{
    uint32_t node = id != 0 ? hpx_heap_node(g, id) : 0;
    size_t n = 0;
    assert_true(id == 0 || node != 0);
    while (to[n] != 0) {
        n++;
    }
    assert_int_equal(g->first[node + 1] - g->first[node], n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(g->ids[g->refs[g->first[node] + i]], to[i]);
    }
}

static void check(const struct hpx_heap_graph *g, uint64_t first)
{
    assert_int_equal(g->objects, 9);
    assert_int_equal(g->n, 10);
    refers(g, 0, (const uint64_t[]){OBJECT, ONE, 0});
    assert_int_equal(g->roots[0], HPX_ROOT_STICKY_CLASS);
    assert_int_equal(g->roots[1], HPX_ROOT_MONITOR_USED);
    refers(g, OBJECT, (const uint64_t[]){CLASS, 0});
    refers(g, ABOVE, (const uint64_t[]){CLASS, OBJECT, TWO, LIST, BYTES, 0});
    refers(g, BELOW, (const uint64_t[]){CLASS, ABOVE, 0});
    refers(g, ONE, (const uint64_t[]){BELOW, first, LIST, 0});
    refers(g, TWO, (const uint64_t[]){ABOVE, 0});
    refers(g, LIST, (const uint64_t[]){ARRAY, TWO, TWO, ONE, 0});
    refers(g, BYTES, (const uint64_t[]){0}); /* the file has no class byte[] */
    assert_int_equal(g->dangling, 2);
    assert_int_equal(g->twice, 1);
    assert_string_equal(hpx_heap_class_at(g, g->klass[hpx_heap_node(g, BYTES)])->name, "byte[]");
    assert_string_equal(hpx_heap_class_at(g, g->klass[hpx_heap_node(g, ONE)])->name, "p.Below");
    assert_string_equal(hpx_heap_class_at(g, g->klass[hpx_heap_node(g, ARRAY)])->name, "java.lang.Class");
    assert_int_equal(hpx_heap_node(g, GONE), 0);
}

TEST(who_refers_to_whom_is_what_the_dump_says)
{
    struct file f;
    struct hpx_heap_graph g;
    struct hpx_err err;
    for (size_t id_size = 4; id_size <= 8; id_size += 4) {
        put_file(&f, id_size);
        put_dump(&f, TWO);
        assert_int_equal(read_graph(&g, &f, 0, &err), HPX_HEAP_READ);
        check(&g, TWO);
        assert_true(g.complete);
        hpx_heap_graph_fini(&g);
    }
}

TEST(the_dump_that_is_asked_for_is_read)
{
    struct file f;
    struct hpx_heap_graph g;
    struct hpx_err err;
    put_file(&f, 8);
    put_dump(&f, TWO);
    put_dump(&f, BYTES);
    for (uint32_t dump = 0; dump <= 2; dump++) {
        assert_int_equal(read_graph(&g, &f, dump, &err), HPX_HEAP_READ);
        check(&g, dump == 1 ? TWO : BYTES);
        assert_int_equal(g.dump, dump == 1 ? 1 : 2);
        assert_int_equal(g.dumps, 2);
        assert_true(g.complete);
        hpx_heap_graph_fini(&g);
    }
    assert_int_equal(read_graph(&g, &f, 3, &err), HPX_HEAP_NONE);
    assert_string_equal(err.msg, "the file has no heap dump 3; it has 1 of 10 objects, 2 of 10 objects");
    hpx_heap_graph_fini(&g);
}

/* Wherever the file ends, what was read keeps its bounds; and nothing is read beyond (the sanitizer sees it). */
TEST(a_file_may_end_anywhere)
{
    struct file f, whole;
    struct hpx_heap_graph g;
    struct hpx_err err;
    put_file(&whole, 8);
    put_dump(&whole, TWO);
    for (size_t n = 0; n < whole.n; n++) {
        f = whole;
        f.n = n;
        if (read_graph(&g, &f, 0, &err) == HPX_HEAP_READ) {
            assert_false(g.complete);
            for (uint64_t i = 0; i < g.first[g.n]; i++) {
                assert_in_range(g.refs[i], 1, g.n - 1);
            }
        }
        hpx_heap_graph_fini(&g);
    }
}

TEST(without_memory_there_is_an_error)
{
    struct file f;
    struct hpx_heap_graph g;
    struct hpx_err err;
    enum hpx_heap_read read = HPX_HEAP_FAILED;
    put_file(&f, 8);
    put_dump(&f, TWO);
    for (uint64_t i = memory_first_fault(); read != HPX_HEAP_READ; i += memory_fault_step()) {
        struct hpx_heap_waste w = {0};
        struct hpx_heap_file file = {give, again, &f};
        memory_fail(i, i);
        const struct hpx_heap_how how = {.want = HPX_HEAP_REFERENCES, .sink = hpx_heap_waste_take, .ctx = &w};
        read = hpx_heap_graph_read(&g, &file, &how, &err);
        bool made = read == HPX_HEAP_READ && hpx_heap_waste_finish(&w, &g);
        memory_allow();
        assert_true(read == HPX_HEAP_READ || read == HPX_HEAP_FAILED);
        if (read == HPX_HEAP_READ) {
            check(&g, TWO);
        } else {
            assert_string_equal(err.msg, "no memory");
        }
        read = made ? read : HPX_HEAP_FAILED;
        hpx_heap_waste_fini(&w);
        hpx_heap_graph_fini(&g);
    }
}

/* As JSON. */
static bool tell(char text[static TEXT], const struct hpx_heap_graph *g, const struct hpx_heap_holders *h)
{
    FILE *to = fmemopen(text, TEXT, "w");
    assert_non_null(to);
    struct hpx_json j = {.to = to};
    bool made = hpx_heap_json(&j, &(struct hpx_heap_told){g, &(struct hpx_heap_waste){0}, h, ""}, 0);
    memory_allow();
    assert_int_equal(fclose(to), 0);
    return made;
}

TEST(without_memory_paths_are_missing_and_JSON_is_not_made)
{
    static char whole[TEXT], text[TEXT];
    struct file f;
    struct hpx_heap_graph g;
    struct hpx_heap_holders all, h;
    struct hpx_err err;
    put_file(&f, 8);
    put_dump(&f, TWO);
    const struct hpx_heap_file file = {give, again, &f};
    assert_int_equal(read_graph(&g, &f, 0, &err), HPX_HEAP_READ);
    assert_int_equal(hpx_heap_holders_find(&all, &g, &file, &err), HPX_HEAP_READ);
    assert_true(tell(whole, &g, &all));
    assert_non_null(strstr(whole, "\"by\": \"field\""));
    enum hpx_heap_read found = HPX_HEAP_FAILED;
    for (uint64_t i = memory_first_fault(); found != HPX_HEAP_READ; i += memory_fault_step()) {
        memory_fail(i, i);
        found = hpx_heap_holders_find(&h, &g, &file, &err);
        memory_allow();
        if (found == HPX_HEAP_READ) {
            assert_true(tell(text, &g, &h));
            assert_string_equal(text, whole);
        } else {
            assert_int_equal(found, HPX_HEAP_FAILED);
            assert_string_equal(err.msg, "no memory");
        }
        hpx_heap_holders_fini(&h);
    }
    bool made = false;
    for (uint64_t i = memory_first_fault(); !made; i += memory_fault_step()) {
        memory_fail(i, i);
        made = tell(text, &g, &all);
    }
    assert_string_equal(text, whole);
    hpx_heap_holders_fini(&all);
    hpx_heap_graph_fini(&g);
}

TEST(without_memory_there_are_no_sites)
{
    struct file f;
    struct hpx_heap_graph g;
    struct hpx_err err;
    enum hpx_heap_read read = HPX_HEAP_FAILED;
    put_file(&f, 8);
    put_dump(&f, TWO);
    const struct hpx_heap_file file = {give, again, &f};
    for (uint64_t i = memory_first_fault(); read != HPX_HEAP_READ; i += memory_fault_step()) {
        struct hpx_heap_sites s;
        hpx_heap_sites_init(&s);
        memory_fail(i, i);
        read = hpx_heap_graph_read(&g, &file, &(struct hpx_heap_how){.want = HPX_HEAP_REFERENCES, .sink = hpx_heap_sites_take, .ctx = &s},
                                   &err);
        memory_allow();
        if (read == HPX_HEAP_READ) {
            assert_int_equal(s.all.len, 4); /* BELOW, ABOVE, and the arrays without a stack */
            char *name = hpx_heap_site_name(&g, STACK);
            assert_string_equal(name, "java.lang.Object.java.lang.Object:12");
            free(name);
        } else {
            assert_string_equal(err.msg, "no memory");
        }
        hpx_heap_sites_fini(&s);
        hpx_heap_graph_fini(&g);
    }
}

static int descriptor_of(const struct file *f)
{
    int fd = memfd_create("heap", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, f->bytes, f->n), f->n);
    return fd;
}

/* false: not all of it is there, and the reason is said. */
static bool is_compared(const struct hpx_heap_side side[static 2], bool retained, const char *whole, char text[static TEXT])
{
    struct hpx_err err = {""};
    FILE *to = fmemopen(text, TEXT, "w");
    assert_non_null(to);
    enum hpx_heap_read done = hpx_heap_diff_tell(to, side, retained, &err);
    memory_allow();
    assert_int_equal(fclose(to), 0);
    if (done != HPX_HEAP_READ) {
        assert_int_equal(done, HPX_HEAP_FAILED);
        assert_string_equal(err.msg, "no memory");
        return false;
    }
    bool sites = strstr(text, "It is missing: no memory.") == NULL;
    assert_true(whole == NULL || !sites || strcmp(text, whole) == 0);
    return sites;
}

TEST(without_memory_dumps_are_not_compared)
{
    static char whole[TEXT], text[TEXT];
    struct file f, more;
    put_file(&f, 8);
    more = f;
    put_dump(&f, TWO);
    put_dump(&more, BYTES);
    const struct hpx_heap_side side[2] = {{"f", descriptor_of(&f)}, {"more", descriptor_of(&more)}};
    for (int retained = 0; retained < 2; retained++) {
        bool compared = false;
        assert_true(is_compared(side, retained != 0, NULL, whole));
        for (uint64_t i = memory_first_fault(); !compared; i += memory_fault_step()) {
            memory_fail(i, i);
            compared = is_compared(side, retained != 0, whole, text);
        }
    }
    (void)close(side[0].fd);
    (void)close(side[1].fd);
}

TESTS(NULL, NULL)
