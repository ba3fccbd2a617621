/* SPDX-License-Identifier: BSD-2-Clause */
/* test_recover.c: a run of the same name that starts while hprofx recover writes. What is recovered, from outside: tests/read/test_read.py.
 */
#include "folder_fixture.h"
#include "leftover.h"
#include "recover.h"

#define TABLE                                                                                                                              \
    "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\nwords\n--------\n\n"                                                          \
    "CPU SAMPLES BEGIN (total = 0) Thu Jan  1 00:00:00 1970\nCPU SAMPLES END\n"

static enum { NOTHING, LOOKS, REPLACES } start; /* what a run does that starts now */
static unsigned synced;

static void make(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

/* All bytes of the new file are written, and it has no other name yet. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    (void)fd;
    synced++;
    if (start == LOOKS) {
        hpx_leftover_keep("out");
    } else if (start == REPLACES) {
        assert_int_equal(rename("out.part", "aside"), 0); /* where there are no locks */
        make("out.part", "of a run");
    }
    return 0;
}

TEST(a_run_that_starts_leaves_the_new_file_alone, setup, teardown)
{
    struct hpx_err said;
    make("out", TABLE "TRACE");
    start = LOOKS;
    synced = 0;
    assert_int_equal(hpx_recover("out", &said), 0);
    assert_int_equal(synced, 1);
    assert_string_equal(content("out"), TABLE);
    assert_null(content("out.part"));
    assert_null(content("out.killed.part"));
    assert_string_equal(content("said"), "");
}

TEST(what_takes_the_name_is_on_the_disk, setup, teardown)
{
    struct hpx_err said;
    make("out.part", TABLE "TRACE");
    start = NOTHING;
    synced = 0;
    assert_int_equal(hpx_recover("out", &said), 0);
    assert_string_equal(content("out"), TABLE);
    assert_int_equal(synced, 1);
}

TEST(a_file_of_a_run_that_has_started_does_not_get_the_name, setup, teardown)
{
    struct hpx_err said;
    make("out", TABLE "TRACE");
    start = REPLACES;
    assert_int_equal(hpx_recover("out", &said), -HPX_E_IO);
    assert_string_equal(said.msg, "out.part: changed while it was written");
    assert_string_equal(content("out"), TABLE "TRACE");
    assert_string_equal(content("out.part"), "of a run");
}

TESTS(NULL, NULL)
