/* SPDX-License-Identifier: BSD-2-Clause */
/* test_client.c: what the command says to an agent while a session begins. The agent's answers are there before its questions. */
#include "client.h"
#include "cmocka_all.h"
#include "control.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool always(void)
{
    return true;
}

static void take_number(void *number, const char *text)
{
    (void)sscanf(text, "session: %u", (unsigned *)number);
}

/* Begins with the agent's `answers`, and is interrupted at once; `said`: what the agent gets. */
static enum hpx_status begin(const char *answers, const char *said, struct hpx_client *c, struct hpx_err *err)
{
    int fds[2];
    char got[256] = "";
    unsigned number = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(write(fds[1], answers, strlen(answers)), strlen(answers));
    *c = (struct hpx_client){.fd = fds[0]};
    enum hpx_status s = hpx_client_begin(c, "start 0 cpu=samples", take_number, &number, always, err);
    hpx_client_close(c);
    assert_true(read(fds[1], got, sizeof got - 1) > 0);
    (void)close(fds[1]);
    assert_string_equal(got, said);
    return s;
}

static_assert(HPX_E_BUSY == 7, "the errors below");

TEST(an_interrupted_begin_that_is_refused_ends_nothing)
{
    struct hpx_client c;
    struct hpx_err err;
    assert_int_equal(begin("begun by: process 1 of user 2\nerror 7 a session is running\nsession: running\nok\n",
                           "start 0 cpu=samples\nstatus\n", &c, &err),
                     HPX_REFUSED);
    assert_false(c.undone);
    assert_string_equal(err.msg, "interrupted; a session is running");
}

TEST(one_that_is_undone_is_told_so)
{
    struct hpx_client c;
    struct hpx_err err;
    assert_int_equal(begin("error 7 " HPX_CONTROL_UNDONE "\nsession: none\nok\n", "start 0 cpu=samples\nstatus\n", &c, &err), HPX_FAILED);
    assert_true(c.undone);
    assert_string_equal(err.msg, "interrupted; " HPX_CONTROL_UNDONE);
}

TEST(one_that_has_begun_ends_by_its_number)
{
    struct hpx_client c;
    struct hpx_err err;
    assert_int_equal(begin("session: 7\nok\nsession: running\nok\nok\n", "start 0 cpu=samples\nstatus\nstop 7\n", &c, &err), HPX_FAILED);
    assert_true(c.undone);
}

TESTS(NULL, NULL)
