/* SPDX-License-Identifier: BSD-2-Clause */
/* test_journal.c: the journal's names while two runs want them, and its end for the output's sake. */
#include "folder_fixture.h"
#include "journal.h"
#include "leftover.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *meanwhile; /* another run removes this file, which it finds without a lock */

int __real_flock(int fd, int how);
int __wrap_flock(int fd, int how);
int __wrap_flock(int fd, int how)
{
    if (meanwhile != NULL) {
        assert_int_equal(unlink(meanwhile), 0);
        meanwhile = NULL;
    }
    return __real_flock(fd, how);
}

static bool there(const char *name)
{
    struct stat st;
    return lstat(name, &st) == 0;
}

static const char *said(void)
{
    return content("said");
}

static struct hpx_stream *begin(void)
{
    return hpx_journal_begin((struct timespec){.tv_sec = 1}, 0);
}

static void table(void)
{
    struct hpx_parts parts = {.modes = 0};
    hpx_journal_table(&parts);
}

/* It has its name, and its lock, until the new one takes it. */
TEST(one_that_is_begun_anew_is_nobody_elses_in_between, setup, teardown)
{
    hpx_journal_init("x");
    assert_non_null(begin());
    table();
    assert_true(there("x.journal.part"));
    for (int i = 0; i < 2; i++) {
        assert_non_null(begin());
        hpx_leftover_keep("x"); /* another run looks whether it may have the name */
        assert_true(there("x.journal.part") && there("x.journal.new.part"));
        table();
        hpx_leftover_keep("x");
        assert_true(there("x.journal.part"));
        assert_false(there("x.journal.new.part") || there("x.killed.journal.part"));
    }
    hpx_journal_end(false);
    assert_false(there("x.journal.part"));
    assert_string_equal(said(), "");
}

TEST(what_gives_up_its_room_says_so, setup, teardown)
{
    struct stat st;
    hpx_journal_init("x");
    assert_non_null(begin());
    table();
    assert_true(hpx_journal_give_up());
    assert_false(hpx_journal_give_up() || hpx_journal_on());
    assert_int_equal(stat("x.journal.part", &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_string_equal(said(), "hprofx: file=x.journal.part: the disk is full, and the output takes its space; if the program is "
                                "killed, only completed dumps survive\n");
    hpx_journal_end(true);
    assert_false(there("x.journal.part"));
}

TEST(one_that_cannot_be_made_anew_keeps_what_it_has, setup, teardown)
{
    struct stat before, after;
    hpx_journal_init("x");
    assert_non_null(begin());
    table();
    assert_int_equal(stat("x.journal.part", &before), 0);
    assert_int_equal(mkdir("x.journal.new.part", 0700), 0);
    assert_null(begin());
    assert_false(hpx_journal_on());
    assert_string_equal(said(), "hprofx: file=x.journal.part: another run writes it, or it cannot be replaced; if the program is killed, "
                                "later counts are lost\n");
    assert_int_equal(stat("x.journal.part", &after), 0);
    assert_true(before.st_ino == after.st_ino && after.st_size > 0);
    hpx_journal_end(false);
    assert_false(there("x.journal.part"));
}

TEST(one_that_another_run_removed_as_a_dead_ones_is_not_written, setup, teardown)
{
    hpx_journal_init("x");
    meanwhile = "x.journal.new.part";
    assert_null(begin());
    assert_null(meanwhile);
    assert_false(hpx_journal_on());
    assert_non_null(strstr(said(), "hprofx: file=x.journal.part: another run writes it, or it cannot be replaced; if the program "));
    hpx_journal_end(false);
}

TESTS(NULL, NULL)
