/* SPDX-License-Identifier: BSD-2-Clause */
/* binary_fixture.h: a binary writer that writes into memory, and what it wrote as hexadecimal digits. */
#ifndef HPX_BINARY_FIXTURE_H
#define HPX_BINARY_FIXTURE_H

#include "cmocka_all.h"
#include "hprof_binary.h"
#include "records.h"
#include "sink.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sink sink;
static struct hpx_out out;
static struct hpx_binary w;

static void begin(uint32_t id_size)
{
    sink.len = 0;
    assert_int_equal(sink_open(&out, &sink), 0);
    hpx_binary_init(&w, &out, id_size);
}

static void end(void)
{
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
    for (size_t i = 0; i < n && i < sink.len; i++) {
        if (want[i] != sink.bytes[i]) {
            fail_msg("byte %zu is %02x, not %02x", i, sink.bytes[i], want[i]);
        }
    }
    assert_int_equal(sink.len, n);
    sink.len = 0;
}

#endif
