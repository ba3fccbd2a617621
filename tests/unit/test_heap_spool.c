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
    assert_int_equal(s.first_end, n);
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
    assert_true(s.first_end <= 2 * ((uint64_t)UINT32_MAX + HEAD));
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
    hpx_heap_spool_fini(&s);
    close(full);
}

TESTS(NULL, NULL)
