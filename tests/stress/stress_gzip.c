/* SPDX-License-Identifier: BSD-2-Clause */
/* stress_gzip.c: sections of random sizes, points, ways back and errors, with as many compressing threads as there may be: what comes out
 * is what went in. */
#include "clock.h"
#include "out_gzip.h"
#include "stress.h"
#include <errno.h>
#include <string.h>
#include <zlib.h>

#define BLOCK   3000
#define SECTION 100000 /* most bytes */

unsigned __wrap_hpx_cpus_spare(void);
unsigned __wrap_hpx_cpus_spare(void)
{
    return HPX_GZIP_WORKERS;
}

static struct {
    unsigned char data[1u << 20];
    size_t len;
    uint64_t seed;
    bool fails; /* one of eight writes */
} to;

static ssize_t to_write(void *ctx, const void *p, size_t n)
{
    (void)ctx;
    uint64_t random = stress_random(&to.seed);
    if (to.fails && random % 8 == 0) {
        errno = ENOSPC;
        return -1;
    }
    n = random % 3 == 0 && n > 1 ? n / 2 : n;
    if (to.len + n > sizeof to.data) {
        errno = EFBIG;
        return -1;
    }
    memcpy(to.data + to.len, p, n);
    to.len += n;
    return (ssize_t)n;
}

static int to_truncate(void *ctx, off_t length)
{
    (void)ctx;
    to.len = (size_t)length;
    return 0;
}

static const struct hpx_out_ops ops = {.write = to_write, .truncate = to_truncate};

static unsigned char in[SECTION * 8], out[sizeof in];

/* Repeats what failed. false: it fails again and again. */
static bool put(struct hpx_gzip *z, const unsigned char *p, size_t n)
{
    for (unsigned tries = 0; n > 0 && tries < 1000;) {
        ssize_t k = hpx_gzip_write(z, p, n);
        tries = k > 0 ? 0 : tries + 1;
        p += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return n == 0;
}

static bool done(int (*what)(struct hpx_gzip *z), struct hpx_gzip *z)
{
    int rc = -1;
    for (unsigned tries = 0; rc != 0 && tries < 1000; tries++) {
        rc = what(z);
    }
    return rc == 0;
}

static size_t unpacked(void)
{
    z_stream s = {.next_in = to.data, .avail_in = (uInt)to.len, .next_out = out, .avail_out = sizeof out};
    assert_int_equal(inflateInit2(&s, 31), Z_OK);
    while (s.avail_in > 0) {
        assert_int_equal(inflate(&s, Z_FINISH), Z_STREAM_END);
        assert_int_equal(inflateReset(&s), Z_OK);
    }
    inflateEnd(&s);
    return sizeof out - s.avail_out;
}

/* One output: most sections are kept; of some a part is taken back, some are cut back. */
static void one(uint64_t *seed)
{
    size_t len = 0;
    to.len = 0;
    to.seed = stress_random(seed);
    to.fails = to.seed % 2 == 0;
    struct hpx_gzip *z = hpx_gzip_new(&ops, NULL, BLOCK);
    assert_non_null(z);
    for (unsigned section = 0; section < 6; section++) {
        size_t n = stress_random(seed) % SECTION, point = n > 0 ? stress_random(seed) % n : 0;
        assert_true(put(z, in + len, point) && done(hpx_gzip_point, z));
        if (section == 5 && n % 4 == 0) {
            assert_true(put(z, in, n / 2)); /* in the middle of it the output is cut back, as after an error, and closed */
            assert_int_equal(hpx_gzip_truncate(z), 0);
            break;
        }
        if (n % 4 == 1) {
            assert_true(put(z, in, n) && done(hpx_gzip_back, z));
        }
        assert_true(put(z, in + len + point, n - point) && done(hpx_gzip_section, z));
        len += n;
    }
    hpx_gzip_free(z);
    assert_int_equal(unpacked(), len);
    assert_memory_equal(out, in, len);
}

TEST(what_comes_out_is_what_went_in)
{
    uint64_t seed = hpx_clock_mono() | 1, begun = seed;
    assert_int_equal(hpx_gzip_load(NULL), 0);
    for (size_t i = 0; i < sizeof in; i++) {
        in[i] = (unsigned char)((i * 2654435761u >> 13 ^ i) & 0x3f);
    }
    print_message("seed %llu\n", (unsigned long long)begun);
    for (uint64_t n = stress_times(300); n > 0; n--) {
        one(&seed);
    }
}

TESTS(NULL, NULL)
