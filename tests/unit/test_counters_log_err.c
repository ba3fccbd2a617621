/* SPDX-License-Identifier: BSD-2-Clause */
/* test_counters_log_err.c: what hprofx says to people. */
#include "cmocka_all.h"
#include "counters.h"
#include "err.h"
#include "log.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

TEST(counters_have_distinct_keys_and_a_text)
{
    for (int i = 0; i < HPX_C_COUNT; i++) {
        assert_non_null(hpx_counter_infos[i].key);
        assert_non_null(hpx_counter_infos[i].text);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(hpx_counter_infos[i].key, hpx_counter_infos[j].key);
        }
    }
    assert_int_equal(hpx_counter_infos[HPX_C_SIGNALS].kind, HPX_COUNTER_INFO);
    assert_int_equal(hpx_counter_infos[HPX_C_LOST_RING_FULL].kind, HPX_COUNTER_LOSS);
}

/* Datagrams keep writes apart: one recv is one write(2). */
static int lines[2];

static int open_lines(void **state)
{
    (void)state;
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, lines) != 0) {
        return -1;
    }
    hpx_log_set_fd(lines[0]);
    return 0;
}

static int close_lines(void **state)
{
    (void)state;
    hpx_log_set_fd(2);
    close(lines[0]);
    close(lines[1]);
    return 0;
}

static const char *line(void)
{
    static char buf[8192];
    ssize_t n = recv(lines[1], buf, sizeof(buf) - 1, 0);
    buf[n > 0 ? n : 0] = 0;
    return buf;
}

TEST(log_warn_is_one_write_of_one_line, open_lines, close_lines)
{
    hpx_warn("no %s in %d", "space", 3);
    assert_string_equal(line(), "hprofx: no space in 3\n");
    assert_string_equal(line(), "");
}

TEST(log_replaces_controls_and_keeps_other_characters, open_lines, close_lines)
{
    hpx_warn("%s", "a\nb\tc\033[1m\177 \303\251 \302\205 \302\240 end");
    assert_string_equal(line(), "hprofx: a?b?c?[1m? \303\251 ? \302\240 end\n");
}

TEST(log_cuts_a_long_line_after_a_whole_character, open_lines, close_lines)
{
    static char text[5000];
    for (size_t start = 0; start < 4; start++) {
        size_t n = 0;
        memset(text, 'x', start);
        for (n = start; n + 4 < sizeof(text); n += 3) {
            memcpy(text + n, "\342\202\254", 3);
        }
        text[n] = 0;
        hpx_warn("%s", text);
        const char *got = line();
        size_t len = strlen(got), body = len - 8 - 1 - start;
        assert_true(len <= 4096 && len > 4096 - 4);
        assert_int_equal(got[len - 1], '\n');
        assert_int_equal(body % 3, 0);
        assert_memory_equal(got + 8, text, start + body);
    }
}

TEST(log_keeps_errno_and_survives_a_bad_descriptor, open_lines, close_lines)
{
    hpx_log_set_fd(-1);
    errno = ENOTTY;
    hpx_warn("%s", "x");
    assert_int_equal(errno, ENOTTY);
    hpx_log_set_fd(lines[0]);
    assert_string_equal(line(), "");
}

TEST(log_warn_once_speaks_once, open_lines, close_lines)
{
    static atomic_bool said;
    for (int i = 0; i < 3; i++) {
        hpx_warn_once(&said, "time %d", i);
    }
    assert_string_equal(line(), "hprofx: time 0\n");
    assert_string_equal(line(), "");
}

TESTS(NULL, NULL)
