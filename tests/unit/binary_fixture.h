/* SPDX-License-Identifier: BSD-2-Clause */
/* binary_fixture.h: a binary writer that writes into memory, and what it wrote as hexadecimal digits. */
#ifndef HPX_BINARY_FIXTURE_H
#define HPX_BINARY_FIXTURE_H

#include "cmocka_all.h"
#include "hprof_binary.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *sink;
static size_t sunk, sink_cap;
static struct hpx_out out;
static struct hpx_binary w;
static bool no_memory;

void *__real_realloc(void *p, size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n)
{
    return no_memory ? NULL : __real_realloc(p, n);
}
void *__wrap_calloc(size_t n, size_t size)
{
    return no_memory ? NULL : __real_calloc(n, size);
}

static ssize_t to_sink(void *ctx, const void *p, size_t n)
{
    (void)ctx;
    if (sunk + n > sink_cap) {
        sink_cap = (sunk + n) * 2;
        sink = __real_realloc(sink, sink_cap);
        assert_non_null(sink);
    }
    memcpy(sink + sunk, p, n);
    sunk += n;
    return (ssize_t)n;
}

static int no_close(void *ctx)
{
    (void)ctx;
    return 0;
}

static void begin(uint32_t id_size)
{
    static const struct hpx_out_ops ops = {to_sink, NULL, NULL, no_close};
    sunk = 0;
    assert_int_equal(hpx_out_init(&out, &ops, NULL, "memory"), 0);
    hpx_binary_init(&w, &out, id_size);
}

static void end(void)
{
    no_memory = false;
    hpx_binary_fini(&w);
    assert_int_equal(hpx_out_close(&out), 0);
}

/* What was written since the last call is `hex`: digits, where blanks do not count and "..." in quotes are the bytes themselves. */
static inline void assert_written(const char *hex)
{
    uint8_t want[1024];
    size_t n = 0;
    assert_int_equal(hpx_out_flush(&out), 0);
    while (*hex) {
        unsigned v;
        assert_true(n + 64 < sizeof(want));
        if (*hex == ' ') {
            hex++;
        } else if (*hex == '"') {
            for (hex++; *hex != '"'; hex++) {
                want[n++] = (uint8_t)*hex;
            }
            hex++;
        } else {
            assert_int_equal(sscanf(hex, "%2x", &v), 1);
            want[n++] = (uint8_t)v;
            hex += 2;
        }
    }
    for (size_t i = 0; i < n && i < sunk; i++) {
        if (want[i] != sink[i]) {
            fail_msg("byte %zu is %02x, not %02x", i, sink[i], want[i]);
        }
    }
    assert_int_equal(sunk, n);
    sunk = 0;
}

static inline struct hpx_text text(const char *s)
{
    return (struct hpx_text){s, (uint32_t)strlen(s)};
}

#endif
