/* SPDX-License-Identifier: BSD-2-Clause */
/* test_deadlock.c: cycles of threads that wait for each other, on drawn graphs and those that a program makes. */
#include "cmocka_all.h"
#include "deadlock.h"
#include <stdbool.h>
#include <string.h>

#define NONE HPX_WAITS_FOR_NONE
#define MOST 64

static uint32_t members[MOST], scratch[MOST];

static void expect(const uint32_t *next, uint32_t n, const uint32_t *want, uint32_t len)
{
    memset(members, 0xA5, sizeof members);
    memset(scratch, 0xA5, sizeof scratch);
    assert_int_equal(hpx_deadlock_cycles(next, n, members, scratch), len);
    for (uint32_t i = 0; i < len; i++) {
        assert_int_equal(members[i], want[i]);
    }
}
#define EXPECT(next, ...)                                                                                                                  \
    expect(next, sizeof(next) / sizeof *(next), (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* Follows every thread as far as there are threads: it is in a cycle if it comes back to itself. */
static uint32_t plain(const uint32_t *next, uint32_t n, uint32_t *to)
{
    bool shown[MOST] = {false};
    uint32_t len = 0;
    for (uint32_t from = 0; from < n; from++) {
        uint32_t i = next[from], steps = 0;
        while (i != NONE && i != from && steps++ < n) {
            i = next[i];
        }
        for (i = i == from && next[from] != from && !shown[from] ? from : NONE; i != NONE && !shown[i]; i = next[i]) {
            shown[i] = true;
            to[len++] = i;
        }
    }
    return len;
}

TEST(drawn_graphs)
{
    uint64_t x = 88172645463325252u;
    uint32_t cycles = 0;
    for (int round = 0; round < 100000; round++) {
        uint32_t next[MOST], want[MOST];
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        uint32_t n = 1 + (uint32_t)(x % 12);
        for (uint32_t i = 0; i < n; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            uint32_t to = (uint32_t)((x >> 20) % (n + 2));
            next[i] = to < n ? to : NONE;
        }
        uint32_t len = plain(next, n, want);
        expect(next, n, want, len);
        cycles += len > 0;
    }
    assert_in_range(cycles, 10000, 90000); /* both kinds are drawn */
}

TESTS(NULL, NULL)
