/* SPDX-License-Identifier: BSD-2-Clause */
/* test_control.c: requests of a command, as they are and as they should not be. */
#include "cmocka_all.h"
#include "control.h"
#include <string.h>

static struct hpx_control_request r;
static struct hpx_err err;

TEST(requests_are_taken_apart)
{
    assert_int_equal(hpx_control_parse("start 1500 cpu=samples,file=/tmp/a b", &r, &err), 0);
    assert_int_equal(r.verb, HPX_CONTROL_START);
    assert_int_equal(r.ms, 1500);
    assert_string_equal(r.options, "cpu=samples,file=/tmp/a b");
    assert_int_equal(hpx_control_parse("hold 7 a=b", &r, &err), 0);
    assert_true(r.verb == HPX_CONTROL_HOLD && r.ms == 7);
    assert_string_equal(r.options, "a=b");
    assert_int_equal(hpx_control_parse("dump 7", &r, &err), 0);
    assert_true(r.verb == HPX_CONTROL_DUMP && r.session == 7);
    assert_int_equal(hpx_control_parse("start 0 ", &r, &err), 0);
    assert_int_equal(r.ms, 0);
    assert_string_equal(r.options, "");
    assert_int_equal(hpx_control_parse("stop", &r, &err), 0);
    assert_int_equal(r.verb, HPX_CONTROL_STOP);
    assert_int_equal(r.session, 0);
    assert_int_equal(hpx_control_parse("stop 17", &r, &err), 0);
    assert_int_equal(r.verb, HPX_CONTROL_STOP);
    assert_int_equal(r.session, 17);
    assert_int_equal(hpx_control_parse("dump", &r, &err), 0);
    assert_int_equal(r.verb, HPX_CONTROL_DUMP);
    assert_int_equal(hpx_control_parse("status", &r, &err), 0);
    assert_int_equal(r.verb, HPX_CONTROL_STATUS);
}

TEST(others_are_refused)
{
    static const char *const lines[] = {"",
                                        " stop",
                                        "stop ",
                                        "stop 0",
                                        "stop x",
                                        "stop 1 2",
                                        "STOP",
                                        "start",
                                        "hold",
                                        "dump 0",
                                        "dump x",
                                        "dump 7 ",
                                        "hold 5",
                                        "hold x a",
                                        "start ",
                                        "start 5",
                                        "start x ",
                                        "start -1 a",
                                        "start +1 a",
                                        "begin",
                                        "status x",
                                        "dumps",
                                        "start 99999999999 a",
                                        "start 18446744073709551616 a",
                                        "start 1.5 a",
                                        "\xff\x01"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(lines); i++) {
        assert_int_equal(hpx_control_parse(lines[i], &r, &err), -HPX_E_OPT);
        assert_non_null(strstr(err.msg, "no such request"));
    }
}

TESTS(NULL, NULL)
