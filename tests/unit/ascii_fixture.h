/* SPDX-License-Identifier: BSD-2-Clause */
/* ascii_fixture.h: a text writer that writes into memory, in a zone that is known. */
#ifndef HPX_ASCII_FIXTURE_H
#define HPX_ASCII_FIXTURE_H

#include "cmocka_all.h"
#include "hprof_ascii.h"
#include "hprof_format.h"
#include "sink.h"
#include <stdlib.h>
#include <string.h>

#define NOW      1795250000 /* Sat Nov 21 08:33:20 2026 UTC */
#define NOW_TEXT "Sat Nov 21 08:33:20 2026"

static struct sink sink;
static struct hpx_out out;
static struct hpx_ascii w;

static int setup(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    sink.len = 0;
    hpx_ascii_init(&w, &out);
    return sink_open(&out, &sink);
}

static int teardown(void **state)
{
    (void)state;
    hpx_ascii_fini(&w);
    int error = hpx_out_close(&out);
    free(sink.bytes);
    sink = (struct sink){0};
    return error;
}

/* What was written since the last call. */
static inline char *written_whole(void)
{
    assert_int_equal(hpx_out_flush(&out), 0);
    sink.bytes[sink.len] = 0; /* of what was written before, if nothing came */
    sink.len = 0;
    return (char *)sink.bytes;
}

/* The same without the exact times behind tables: what HPROF has, too. */
static inline const char *written(void)
{
    char *text = written_whole();
    for (char *at; (at = strstr(text, HPX_TEXT_EXACT_TOTAL)) != NULL || (at = strstr(text, HPX_TEXT_EXACT_ROWS)) != NULL;) {
        const char *next = strchr(at, '\n') + 1;
        memmove(at, next, strlen(next) + 1);
    }
    return text;
}

#endif
