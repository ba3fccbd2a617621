/* SPDX-License-Identifier: BSD-2-Clause */
/* options_fixture.h: lines of options that the parser takes or refuses, in a folder for option files. */
#ifndef HPX_OPTIONS_FIXTURE_H
#define HPX_OPTIONS_FIXTURE_H

#include "cmocka_all.h"
#include "options.h"
#include "options_table.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hpx_options o;
static struct hpx_err err;
static char dir[] = "/tmp/hpx-options-XXXXXX";

static inline int setup(void **state)
{
    (void)state;
    return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static inline int teardown(void **state)
{
    (void)state;
    return chdir("/") == 0 ? rmdir(dir) : -1;
}

static inline void takes3(const char *java, const char *own, const char *line)
{
    err.msg[0] = 0;
    if (hpx_options_parse(&o, java, own, line, &err) != 0) {
        fail_msg("%s: %s", line ? line : "", err.msg);
    }
}

static inline void takes(const char *line)
{
    takes3(NULL, NULL, line);
}

/* Taken, and then the condition holds of o. */
#define TAKES(line, condition) (takes(line), assert_true(condition), hpx_options_fini(&o))

/* Refused with exactly this message, and nothing is held (the leak checker of the sanitizer build looks too). */
static inline void refuses(const char *line, const char *message)
{
    struct hpx_options empty = {0};
    assert_int_equal(hpx_options_parse(&o, NULL, NULL, line, &err), -HPX_E_OPT);
    assert_string_equal(err.msg, message);
    assert_null(o.file);
    assert_null(o.net);
    assert_null(o.given);
    assert_int_equal(o.depth, empty.depth);
}

/* Refuses these values of an option alike. */
static inline void refuses_values(const char *option, const char *must_be, const char *const *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char line[64], message[256];
        (void)snprintf(line, sizeof(line), "%s=%s", option, values[i]);
        (void)snprintf(message, sizeof(message), "hprof option error: %s option value must be %s (%s)", option, must_be, line);
        refuses(line, message);
    }
}

#define REFUSES(option, must_be, ...)                                                                                                      \
    refuses_values(option, must_be, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static inline void write_file(const char *name, const void *text, size_t n)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), n);
    assert_int_equal(close(fd), 0);
}

static inline void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

#endif
