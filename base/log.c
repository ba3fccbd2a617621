/* SPDX-License-Identifier: BSD-2-Clause */
/* log.c: one formatted line, one write(2). */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096u

static const char warn_prefix[] = "hprofx: ";
static atomic_int log_fd = 2; /* relaxed: set by tests before anybody else speaks */

/* UTF-8 needs two looks: U+0080 to U+009F are controls too and arrive as C2 80 to C2 9F. Returns the new length. */
static size_t replace_controls(char *s, size_t n)
{
    size_t to = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i], next = i + 1 < n ? (unsigned char)s[i + 1] : 0;
        if (c == 0xC2 && next >= 0x80 && next <= 0x9F) {
            s[to++] = '?';
            i++;
        } else {
            s[to] = s[i];
            if (c < 0x20 || c == 0x7F) {
                s[to] = '?';
            }
            to++;
        }
    }
    return to;
}

/* A cut line ends with a whole character. */
static size_t whole_characters(const char *s, size_t n)
{
    size_t start = n;
    while (start && n - start < 4) {
        unsigned char c = (unsigned char)s[--start];
        if ((c & 0xC0) != 0x80) {
            size_t want = 1;
            if (c >= 0xC0) {
                want = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
            }
            return n - start < want ? start : n;
        }
    }
    return n;
}

static void line(const char *prefix, size_t at, const char *fmt, va_list args)
{
    int saved = errno;
    char buf[LINE_MAX_BYTES];
    size_t room = sizeof(buf) - at;
    memcpy(buf, prefix, at);
    errno = saved; /* %m */
    int n = vsnprintf(buf + at, room, fmt, args);
    if (n > 0) {
        size_t len = (size_t)n;
        if (len >= room) {
            len = whole_characters(buf + at, room - 1);
        }
        at += replace_controls(buf + at, len);
    }
    buf[at++] = '\n';
    for (size_t done = 0; done < at;) {
        ssize_t k = write(atomic_load_explicit(&log_fd, memory_order_relaxed), buf + done, at - done);
        if (k == 0 || (k < 0 && errno != EINTR)) {
            break;
        }
        done += k > 0 ? (size_t)k : 0;
    }
    errno = saved;
}

void hpx_warn(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    line(warn_prefix, sizeof(warn_prefix) - 1, fmt, args);
    va_end(args);
}

void hpx_say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    line("", 0, fmt, args);
    va_end(args);
}

void hpx_log_set_fd(int fd)
{
    atomic_store_explicit(&log_fd, fd, memory_order_relaxed);
}
