/* SPDX-License-Identifier: BSD-2-Clause */
/* test_heap_spool.c: segments, arrays longer than one, byte order, and a descriptor that refuses bytes. */
#include "cmocka_all.h"
#include "heap_spool.h"
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MANY 3000000u /* of 1 to 8 bytes: more than a segment */
#define HEAD HPX_RECORD_HEAD

static struct hpx_heap_spool s;
static int fd;

static void begin(void)
{
    fd = memfd_create("spool", 0);
    assert_true(fd >= 0);
    assert_int_equal(hpx_heap_spool_init(&s, fd, 8, 100), 0);
}

static const uint8_t *all(size_t n)
{
    assert_int_equal(hpx_heap_spool_flush(&s), 0);
    assert_int_equal(s.written, n);
    const uint8_t *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

static void end(const uint8_t *p, size_t n)
{
    munmap((void *)(uintptr_t)p, n);
    hpx_heap_spool_fini(&s);
    close(fd);
}

TEST(primitive_arrays_are_big_endian_whatever_their_length)
{
    static const struct {
        uint8_t type, size;
    } types[] = {{HPX_TYPE_BYTE, 1}, {HPX_TYPE_CHAR, 2}, {HPX_TYPE_INT, 4}, {HPX_TYPE_LONG, 8}};
    for (size_t t = 0; t < HPX_ARRAY_LEN(types); t++) {
        size_t size = types[t].size, n = HEAD + 18 + MANY * size;
        uint8_t *elements = malloc(MANY * size);
        assert_non_null(elements);
        for (size_t i = 0; i < MANY * size; i++) {
            elements[i] = (uint8_t)(i * 7 + i / 251);
        }
        begin();
        assert_int_equal(hpx_heap_spool_primitives(&s, 1, 2, types[t].type, MANY, elements), MANY);
        const uint8_t *p = all(n);
        for (size_t i = 0; i < MANY * size; i++) { /* on a machine of the other byte order */
            size_t from = __BYTE_ORDER == __LITTLE_ENDIAN ? i / size * size + (size - 1 - i % size) : i;
            if (p[HEAD + 18 + i] != elements[from]) {
                fail_msg("type %u: byte %zu", types[t].type, i);
            }
        }
        end(p, n);
        free(elements);
    }
}

TEST(short_arrays_are_big_endian_whatever_their_length)
{
    static const struct {
        uint8_t type, size;
    } types[] = {{HPX_TYPE_BOOLEAN, 1}, {HPX_TYPE_SHORT, 2}, {HPX_TYPE_FLOAT, 4}, {HPX_TYPE_DOUBLE, 8}};
    uint8_t elements[8 * 40];
    for (size_t i = 0; i < sizeof elements; i++) {
        elements[i] = (uint8_t)(i + 1);
    }
    for (size_t t = 0; t < HPX_ARRAY_LEN(types); t++) {
        for (uint32_t many = 1; many <= 39; many++) {
            size_t size = types[t].size, n = HEAD + 18 + many * size;
            begin();
            assert_int_equal(hpx_heap_spool_primitives(&s, 1, 2, types[t].type, many, elements + size), many); /* any alignment */
            const uint8_t *p = all(n);
            for (size_t i = 0; i < many * size; i++) {
                size_t from = __BYTE_ORDER == __LITTLE_ENDIAN ? i / size * size + (size - 1 - i % size) : i;
                assert_int_equal(p[HEAD + 18 + i], elements[size + from]);
            }
            end(p, n);
        }
    }
}

static uint32_t u4(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

TEST(segments_hold_whole_sub_records_and_tell_of_sites)
{
    enum { N = 100000, SUB = 25 + 12 };
    begin();
    for (uint32_t i = 0; i < N; i++) {
        uint8_t *at = hpx_heap_spool_instance(&s, i + 1, i == 0 || i == N - 1 ? 7 : 0, 2, 12);
        hpx_heap_spool_value(&s, at + 8, HPX_TYPE_INT, i);
    }
    assert_int_equal(hpx_heap_spool_flush(&s), 0);
    size_t n = s.written, count = 0, segments = 0;
    const uint8_t *p = all(n);
    for (size_t at = 0; at < n; segments++) {
        uint32_t length = u4(p + at + 5);
        assert_int_equal(p[at], HPX_TAG_SEGMENT);
        assert_true(HEAD + length <= HPX_HEAP_SEGMENT && length % SUB == 0);
        assert_int_equal(u4(p + at + 1), at == 0 || at + HEAD + length == n);
        for (at += HEAD; length > 0; length -= SUB, at += SUB, count++) {
            assert_int_equal(p[at], HPX_SUB_INSTANCE);
            assert_int_equal(u4(p + at + 5), count + 1);
            assert_int_equal(u4(p + at + 9), count == 0 || count == N - 1 ? HPX_HEAP_SITE + 7 : HPX_SERIAL_TRACE);
            assert_int_equal(u4(p + at + 21), 12);
            assert_true(u4(p + at + 25) == 0 && u4(p + at + 29) == 0 && u4(p + at + 33) == count);
        }
    }
    assert_int_equal(count, N);
    assert_true(segments >= N * (size_t)SUB / HPX_HEAP_SEGMENT);
    end(p, n);
}

TEST(an_instance_longer_than_a_segment_has_one_to_itself)
{
    enum { LONG = 2 * HPX_HEAP_SEGMENT };
    const size_t lengths[] = {25, 25 + LONG, 25}, n = 3 * HEAD + 75 + LONG;
    fd = memfd_create("spool", 0);
    assert_int_equal(hpx_heap_spool_init(&s, fd, 8, LONG), 0);
    (void)hpx_heap_spool_instance(&s, 1, 0, 2, 0);
    hpx_heap_spool_value(&s, hpx_heap_spool_instance(&s, 2, 0, 2, LONG) + LONG - 8, HPX_TYPE_LONG, 0x1122334455667788);
    (void)hpx_heap_spool_instance(&s, 3, 0, 2, 0);
    const uint8_t *p = all(n), *at = p;
    for (size_t i = 0; i < HPX_ARRAY_LEN(lengths); i++) {
        assert_int_equal(u4(at + 5), lengths[i]);
        assert_int_equal(u4(at + HEAD + 5), i + 1);
        at += HEAD + lengths[i];
    }
    assert_memory_equal(at - HEAD - 25 - 8, "\x11\x22\x33\x44\x55\x66\x77\x88", 8);
    end(p, n);
}

TEST(an_array_that_a_record_cannot_hold_is_cut)
{
    int null = open("/dev/null", O_WRONLY);
    assert_true(null >= 0);
    assert_int_equal(hpx_heap_spool_init(&s, null, 8, 100), 0);
    assert_int_equal(hpx_heap_spool_primitives(&s, 1, 0, HPX_TYPE_LONG, 600000000, NULL), (UINT32_MAX - 18) / 8);
    assert_int_equal(hpx_heap_spool_objects(&s, 1, 0, 3, 600000000), (UINT32_MAX - 25) / 8);
    assert_true(hpx_heap_spool_element(&s, 599999999, 1)); /* behind the cut */
    hpx_heap_spool_objects_end(&s);
    assert_int_equal(hpx_heap_spool_flush(&s), 0);
    assert_true(s.written <= 2 * ((uint64_t)UINT32_MAX + HEAD));
    hpx_heap_spool_fini(&s);
    close(null);
}

TEST(after_a_failed_write_the_rest_is_dropped)
{
    int full = open("/dev/full", O_WRONLY);
    if (full < 0) {
        skip();
    }
    assert_int_equal(hpx_heap_spool_init(&s, full, 8, 100), 0);
    assert_int_equal(hpx_heap_spool_primitives(&s, 1, 0, HPX_TYPE_LONG, MANY, NULL), MANY);
    (void)hpx_heap_spool_instance(&s, 1, 0, 2, 100);
    assert_int_equal(hpx_heap_spool_flush(&s), ENOSPC);
    assert_int_equal(s.written, 0);
    hpx_heap_spool_fini(&s);
    close(full);
}

TESTS(NULL, NULL)
