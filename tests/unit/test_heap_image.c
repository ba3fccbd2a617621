/* SPDX-License-Identifier: BSD-2-Clause */
/* test_heap_image.c: a whole image of a heap, in both formats, and without memory. */
#include "binary_fixture.h"
#include "digits.h"
#include "failing_memory.h"
#include "heap_fixture.h"
#include "heap_reader.h"
#include "hprof_heap.h"
#include <inttypes.h>
#include <stdarg.h>

#define NOW 1795250000 /* Sat Nov 21 08:33:20 2026 UTC */

static const struct hpx_heap_fact facts[] = {
    {.klass = {HX_DERIVED}, .kind = HPX_HEAP_LOADER, .value = HX_ID(2)},
    {.klass = {HX_BASE}, .kind = HPX_HEAP_STATIC, .index = 2, .type = HPX_TYPE_LONG, .value = 0x1122334455667788},
    {.klass = {HX_BASE}, .kind = HPX_HEAP_CONSTANT, .index = 9, .type = HPX_TYPE_OBJECT, .value = HX_ID(3)},
    {.klass = {HX_BASE}, .kind = HPX_HEAP_CONSTANT, .index = 12, .type = HPX_TYPE_OBJECT, .value = HX_ID(4)},
    {.klass = {HX_BASE}, .kind = HPX_HEAP_VM_SIZE, .value = 24},
    {.klass = {HX_DERIVED}, .kind = HPX_HEAP_VM_SIZE, .value = 32},
    {.klass = {1000}, .kind = HPX_HEAP_DOMAIN, .value = 1} /* of no class of the dump */
};
static const struct hpx_heap_root_fact roots[] = {
    {.object = HX_ID(1), .thread = HX_THREAD, .method = 12, .depth = 1, .kind = HPX_ROOT_JAVA_FRAME},
    {.object = HX_ID(2), .thread = HX_THREAD, .method = 12, .depth = 0, .kind = HPX_ROOT_JAVA_FRAME}, /* the thread has called since */
    {.object = HX_ID(2), .thread = HX_THREAD, .method = 13, .depth = 0, .kind = HPX_ROOT_JAVA_FRAME}, /* a method that is gone */
    {.object = HX_ID(2), .thread = HX_THREAD, .depth = -1, .kind = HPX_ROOT_JNI_LOCAL},
    {.object = HX_ID(4), .thread = 0, .method = 12, .depth = 0, .kind = HPX_ROOT_JAVA_FRAME}, /* of a thread that was not listed */
    {.object = HX_THREAD, .depth = -1, .kind = HPX_ROOT_THREAD_OBJECT},
    {.object = HX_ID(3), .depth = -1, .kind = HPX_ROOT_JNI_GLOBAL},
    {.object = HPX_CLASS_OBJECT_FIRST + HX_BASE, .depth = -1, .kind = HPX_ROOT_STICKY_CLASS},
    {.object = HX_ID(3), .depth = -1, .kind = HPX_ROOT_MONITOR_USED},
    {.object = HX_ID(3), .depth = -1, .kind = HPX_ROOT_UNKNOWN}};

static struct hpx_method_rec method;
static struct hx x;

static void begin_image(uint32_t ids)
{
    method = (struct hpx_method_rec){
        .class_name = text("p.Base"), .name = text("run"), .source = text("Base.java"), .klass = {100002}, .number = 1};
    const struct hpx_frame_rec frames[] = {{&method, 3, 1}, {&method, 4, 2}};
    hx_begin(&x, ids, facts, HPX_ARRAY_LEN(facts), roots, HPX_ARRAY_LEN(roots), frames);
}

/* Tag and length of the records that were written, as text. */
static const char *tags(void)
{
    static char list[256];
    size_t n = 0;
    list[0] = 0;
    assert_int_equal(hpx_out_flush(&out), 0);
    for (size_t at = 0; at < sink.len;) {
        n += (size_t)snprintf(list + n, sizeof list - n, "%02X ", sink.bytes[at]);
        at += 9 +
              ((size_t)sink.bytes[at + 5] << 24 | (size_t)sink.bytes[at + 6] << 16 | (size_t)sink.bytes[at + 7] << 8 | sink.bytes[at + 8]);
    }
    return list;
}

/* The stack ends before the frame of the root: at most as many frames away as there are. */
TEST(a_root_far_below_the_stack_is_on_no_frame)
{
    uint64_t methods[] = {5, 5, 5, 6};
    struct hpx_heap_thread t = {.nframes = 4, .methods = methods};
    struct hpx_heap_root_fact root = {.method = 5};
    static const int32_t frames[] = {0, 1, 2, 2, 2, 2, -1, -1, -1};
    for (size_t i = 0; i < HPX_ARRAY_LEN(frames); i++) {
        root.depth = (int32_t)i;
        assert_int_equal(hpx_heap_frame(&t, &root), frames[i]);
    }
    root.depth = INT32_MAX;
    assert_int_equal(hpx_heap_frame(&t, &root), -1);
    /* the last frame, from above the first one */
    t.above = 2;
    root = (struct hpx_heap_root_fact){.method = 6, .depth = 0};
    assert_int_equal(hpx_heap_frame(&t, &root), 3);
}

/* ---- many superclasses ---- */

#define DEEP 140000u /* an instance of the last class is longer than a segment, the array than the reader's buffer */

/* Classes 1 to DEEP, the last one is the superclass of all, each with one field. */
static const struct hpx_heap_klass **deep_classes(void)
{
    const struct hpx_heap_klass **all = calloc(DEEP + 1, sizeof *all);
    assert_non_null(all);
    for (uint32_t n = DEEP; n > 0; n--) {
        char name[16];
        snprintf(name, sizeof name, "f%u", n);
        struct hpx_heap_klass *c = hx_class(n, strdup(name), n < DEEP ? all[n + 1] : NULL, 1);
        c->instance_size = 8 * (DEEP - n + 1);
        c->fields[0] = (struct hpx_heap_field){.name = c->name, .type = HPX_TYPE_OBJECT};
        all[n] = c;
    }
    return all;
}

static char *expected;
static size_t expected_len;
static void HPX_PRINTF(1, 2) expect(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    expected_len += (size_t)vsprintf(expected + expected_len, format, ap);
    va_end(ap);
}

static uint64_t address(uint32_t n)
{
    return HPX_HEAP_OBJECT_FIRST + UINT64_C(0x7fff00000000) + 8 * (uint64_t)n;
}

static void put_deep(int fd)
{
    struct hpx_heap_spool s;
    assert_int_equal(hpx_heap_spool_init(&s, fd, 8, 8 * (size_t)DEEP), 0);
    uint8_t *v = hpx_heap_spool_instance(&s, address(0), 0, HPX_CLASS_OBJECT_FIRST + 1, 8 * DEEP);
    for (uint32_t n = 1; n <= DEEP; n++) {
        hpx_heap_spool_value(&s, v + 8 * (size_t)(n - 1), HPX_TYPE_OBJECT, n % 5 != 0 ? address(n) : 0);
    }
    (void)hpx_heap_spool_objects(&s, UINT64_MAX, 0, 1, 3 * DEEP); /* a class that is not in the dump */
    for (uint32_t n = 1; n < 3 * DEEP; n += 7) {
        assert_true(hpx_heap_spool_element(&s, n, address(n)));
    }
    hpx_heap_spool_objects_end(&s);
    assert_int_equal(hpx_heap_spool_flush(&s), 0);
    hpx_heap_spool_fini(&s);
}

static void expect_deep(void)
{
    expect("HEAP DUMP BEGIN (2 objects, 9 bytes) Sat Nov 21 08:33:20 2026\n");
    expect("OBJ %" PRIx64 " (sz=4000000000, trace=300000, class=f1@10000001)\n", address(0));
    for (uint32_t n = DEEP; n > 0; n--) {
        if (n % 5 != 0) {
            expect("\tf%u\t%s%" PRIx64 "\n", n, "\t", address(n));
        }
    }
    expect("ARR ffffffffffffffff (sz=%u, trace=300000, nelems=%u, elem type=hprofx.unknown@1)\n", 16 + 12 * DEEP, 3 * DEEP);
    for (uint32_t n = 1; n < 3 * DEEP; n += 7) {
        expect("\t[%u]\t\t%" PRIx64 "\n", n, address(n));
    }
    for (uint32_t n = DEEP; n > 0; n--) {
        expect("CLS %x (name=f%u, trace=300000)\n", HPX_CLASS_OBJECT_FIRST + n, n);
        if (n < DEEP) {
            expect("\tsuper\t\t%x\n", HPX_CLASS_OBJECT_FIRST + n + 1);
        }
    }
    expect("HEAP DUMP END\n");
}

TEST(any_number_of_superclasses_is_written_each_once)
{
    static const struct hpx_heap_fact size = {.klass = {1}, .kind = HPX_HEAP_VM_SIZE, .value = 4000000000};
    const struct hpx_heap_klass **classes = deep_classes();
    struct hpx_ascii a;
    setenv("TZ", "UTC", 1);
    int fd = memfd_create("spool", 0);
    put_deep(fd);
    uint64_t objects_end = (uint64_t)lseek(fd, 0, SEEK_END);
    assert_int_equal(write(fd, &size, sizeof size), sizeof size);
    const struct hpx_heap_image i = {.spool = fd,
                                     .once = true,
                                     .id_size = 8,
                                     .found.objects_end = objects_end,
                                     .found.facts_at = objects_end,
                                     .found.nfacts = 1,
                                     .found.roots_at = objects_end,
                                     .found.objects = 2,
                                     .found.bytes = 9,
                                     .array_base = 16,
                                     .reference_size = 4,
                                     .classes = classes,
                                     .nclasses = DEEP + 1};
    begin(8);
    hpx_ascii_init(&a, &out);
    assert_int_equal(hpx_heap_ascii(&a, &i, NOW), 0);
    assert_int_equal(hpx_out_flush(&out), 0);
    expected = malloc(128 * (size_t)DEEP);
    assert_non_null(expected);
    expect_deep();
    assert_int_equal(sink.len, expected_len);
    assert_memory_equal(sink.bytes, expected, expected_len);
    hpx_ascii_fini(&a);
    end();
    close(fd);
    for (uint32_t n = 1; n <= DEEP; n++) {
        free((void *)(uintptr_t)classes[n]->name.bytes);
        free((void *)(uintptr_t)classes[n]);
    }
    free(classes);
    free(expected);
}

/* ---- figures ---- */

TEST(figures_are_those_of_printf)
{
    for (unsigned shift = 0; shift < 64; shift++) {
        for (int k = -40; k <= 40; k++) {
            char want[32], got[32];
            uint64_t v = (UINT64_C(1) << shift) * 10 + (uint64_t)(int64_t)k, at = (UINT64_C(1) << shift) + (uint64_t)(int64_t)k;
            snprintf(want, sizeof want, "%" PRIx64, at);
            *hpx_digits_hex(got, at) = 0;
            assert_string_equal(got, want);
            snprintf(want, sizeof want, "%" PRIu64, v);
            *hpx_digits_decimal(got, v) = 0;
            assert_string_equal(got, want);
        }
    }
    for (uint64_t power = 1, n = 0; n < 20; n++, power *= 10) {
        for (uint64_t v = power - 1; v <= power + 1; v++) {
            char want[32], got[32];
            snprintf(want, sizeof want, "%" PRIu64, v);
            *hpx_digits_decimal(got, v) = 0;
            assert_string_equal(got, want);
        }
    }
}

TEST(without_memory_there_is_a_whole_dump_or_none)
{
    bool failed = true;
    for (uint64_t fault = memory_first_fault(); failed; fault += memory_fault_step()) {
        begin(8);
        begin_image(8);
        memory_fail(fault, fault);
        int rc = hpx_heap_binary(&w, &x.image);
        failed = memory_calls() >= fault;
        memory_allow();
        assert_true(rc == 0 || rc == -HPX_E_NOMEM);
        const char *all = tags();
        assert_true((strstr(all, "1C ") != NULL) == (strstr(all, "2C ") != NULL));
        assert_true(rc == 0 || strstr(all, "1C ") == NULL);
        assert_true(failed || rc == 0);
        hx_end(&x);
        end();
    }
}

TEST(without_memory_there_is_a_whole_text_or_none)
{
    bool failed = true;
    for (uint64_t fault = memory_first_fault(); failed; fault += memory_fault_step()) {
        struct hpx_ascii a;
        begin(8);
        hpx_ascii_init(&a, &out);
        begin_image(8);
        memory_fail(fault, fault);
        int rc = hpx_heap_ascii(&a, &x.image, NOW);
        failed = memory_calls() >= fault;
        memory_allow();
        assert_int_equal(hpx_out_flush(&out), 0);
        assert_true(rc == 0 || (rc == -HPX_E_NOMEM && sink.len == 0));
        assert_true(failed || rc == 0);
        hpx_ascii_fini(&a);
        hx_end(&x);
        end();
    }
}

static uint32_t times(const char *all, const char *what)
{
    uint32_t n = 0;
    for (const char *at = strstr(all, what); at != NULL; at = strstr(at + 1, what)) {
        n++;
    }
    return n;
}

/* Whatever the first dump could not remember, the second one defines nothing again. late: the file was begun behind the thread's start. */
TEST(what_cannot_be_remembered_is_not_defined_twice)
{
    for (int late = 0; late < 2; late++) {
        bool failed = true;
        for (uint64_t fault = 1; failed; fault++) {
            struct hpx_ascii a;
            begin(8);
            hpx_ascii_init(&a, &out);
            begin_image(8);
            a.late = late;
            x.thread.known = late;
            x.thread.name = text("main");
            x.image.once = false;
            memory_fail(fault, fault);
            int rc = hpx_heap_ascii(&a, &x.image, NOW);
            failed = memory_calls() >= fault;
            memory_allow();
            assert_int_equal(hpx_heap_ascii(&a, &x.image, NOW), 0);
            assert_int_equal(hpx_out_flush(&out), 0);
            const char *all = (const char *)sink.bytes;
            assert_int_equal(times(all, "THREAD START"), 1);
            assert_int_equal(times(all, "TRACE 300005:"), 1);
            assert_int_equal(times(all, "TRACE 300006:"), 1);
            assert_int_equal(times(all, "HEAP DUMP END"), rc == 0 ? 2 : 1);
            hpx_ascii_fini(&a);
            hx_end(&x);
            end();
        }
    }
}

/* The same for the binary format: what a dump names stands before it. */
TEST(what_cannot_be_marked_leaves_the_dump_out)
{
    bool failed = true;
    for (uint64_t fault = 1; failed; fault++) {
        begin(8);
        begin_image(8);
        memory_fail(fault, fault);
        int rc = hpx_heap_binary(&w, &x.image);
        failed = memory_calls() >= fault;
        memory_allow();
        const char *all = tags();
        assert_int_equal(times(all, "02 "), rc == 0 ? HX_CLASSES - 1 : 0);
        assert_int_equal(times(all, "0A "), rc == 0);
        assert_int_equal(times(all, "2C "), rc == 0);
        hx_end(&x);
        end();
    }
}

static int teardown(void **state)
{
    (void)state;
    memory_allow();
    free(sink.bytes);
    return 0;
}

TESTS(NULL, teardown)
