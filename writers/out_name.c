/* SPDX-License-Identifier: BSD-2-Clause */
/* out_name.c: see out_name.h. */
#include "out_name.h"
#include "err.h"
#include "log.h"
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct to {
    char *buf;
    size_t room, used; /* room: without the 0 at the end */
    bool full;
};

static void put(struct to *to, char c)
{
    if (to->used < to->room) {
        to->buf[to->used++] = c;
    } else {
        to->full = true;
    }
}

/* Into a pattern, where a percent sign is two. */
static void put_text(struct to *to, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '%') {
            put(to, '%');
        }
        put(to, s[i]);
    }
}

static int finish(const struct to *to, size_t n)
{
    if (n == 0 || to->full) {
        return -HPX_E_RANGE;
    }
    to->buf[to->used] = '\0';
    return 0;
}

static void put_time(struct to *to, time_t start)
{
    struct tm t = {.tm_mday = 1, .tm_year = 70}; /* for a time whose year is no int */
    char text[64];
    (void)localtime_r(&start, &t);
    snprintf(text, sizeof text, "%04d%02d%02d-%02d%02d%02d", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
    put_text(to, text, strlen(text));
}

static void put_host(struct to *to)
{
    char host[HOST_NAME_MAX + 2] = "localhost"; /* if a filter of system calls refuses */
    (void)gethostname(host, sizeof host);
    host[sizeof host - 1] = '\0';
    for (char *c = strchr(host, '/'); c != NULL; c = strchr(c, '/')) {
        *c = '_'; /* a host name is no path */
    }
    put_text(to, host, strlen(host));
}

static bool belongs(char c)
{
    unsigned char u = (unsigned char)c;
    return u > 127 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("._+=@,~-", c) != NULL;
}

/* c: behind the brace. Returns the closing one; NULL: no name of a variable stands here, and nothing was written. */
static const char *put_variable(struct to *to, const char *pattern, const char *c)
{
    char name[256];
    size_t n = strcspn(c, "}=");
    if (n == 0 || n >= sizeof name || c[n] != '}') {
        return NULL;
    }
    memcpy(name, c, n);
    name[n] = '\0';
    const char *value = getenv(name);
    if (value == NULL) {
        hpx_warn("file=%.1500s: the environment variable %s is not set; the file name has nothing in its place", pattern, name);
        return c + n;
    }
    size_t len = strnlen(value, HPX_NAME_VARIABLE + 1);
    if (len > HPX_NAME_VARIABLE) {
        for (len = HPX_NAME_VARIABLE; len > 0 && ((unsigned char)value[len] & 0xC0) == 0x80; len--) { /* no half character */
        }
    }
    for (size_t i = 0; i < len; i++) {
        if (belongs(value[i]) && (i > 0 || value[i] != '.')) {
            put(to, value[i]);
        } else {
            put(to, '_');
        }
    }
    return c + n;
}

int hpx_name_expand(char *buf, size_t n, const char *name, time_t start)
{
    struct to to = {buf, n > 0 ? n - 1 : 0, 0, false};
    for (const char *c = name; *c != '\0'; c++) {
        const char *close = *c == '%' && c[1] == '{' ? put_variable(&to, name, c + 2) : NULL;
        char letter = '\0';
        if (*c == '%') {
            letter = c[1];
        }
        if (close != NULL) {
            c = close;
        } else if (letter == 'p') {
            char pid[32];
            snprintf(pid, sizeof pid, "%ld", (long)getpid());
            put_text(&to, pid, strlen(pid));
            c++;
        } else if (letter == 't') {
            put_time(&to, start);
            c++;
        } else if (letter == 'h') {
            put_host(&to);
            c++;
        } else if (letter == 'n' || letter == '%') { /* for the second step */
            put(&to, *c++);
            put(&to, *c);
        } else { /* also the percent sign of another program's placeholder */
            put_text(&to, c, 1);
        }
    }
    return finish(&to, n);
}

int hpx_name_number(char *buf, size_t n, const char *pattern, uint32_t number)
{
    struct to to = {buf, n > 0 ? n - 1 : 0, 0, false};
    for (const char *c = pattern; *c != '\0'; c++) {
        bool known = *c == '%' && (c[1] == 'n' || c[1] == '%');
        c += known;
        if (known && *c == 'n') {
            char digits[16];
            snprintf(digits, sizeof digits, "%" PRIu32, number);
            for (const char *d = digits; *d != '\0'; d++) {
                put(&to, *d);
            }
        } else {
            put(&to, *c);
        }
    }
    return finish(&to, n);
}

bool hpx_name_is_numbered(const char *pattern)
{
    for (const char *c = strchr(pattern, '%'); c != NULL && c[1] != '\0'; c = strchr(c + 2, '%')) {
        if (c[1] == 'n') {
            return true;
        }
    }
    return false;
}
