/* SPDX-License-Identifier: BSD-2-Clause */
/* test_leftover.c: files of a killed run are renamed, removed, or left alone. */
#include "folder_fixture.h"
#include "leftover.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT    "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\nwords\n--------\n\n"
#define THREAD  "THREAD START (obj=1, id = 200001, name=\"CPU \", group=\"g\")\n"
#define TABLE   "CPU SAMPLES BEGIN (total = 1) Thu Jan  1 00:00:00 1970\n"
#define BINARY  "JAVA PROFILE 1.0.2\0\0\0\0\010\0\0\0\0\0\0\0"
#define NAMED   "\001\0\0\0\0\0\0\0\010" /* UTF8 of 8 bytes */
#define SAMPLES "\015\0\0\0\0\0\0\0\010"
#define EIGHT   "CPU SAMP"

static const char *locked;    /* looked at while another one is read; then NULL */
static const char *meanwhile; /* another process makes it while one is read; then NULL */

ssize_t __real_pread(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at)
{
    if (locked != NULL) {
        int other = open(locked, O_RDONLY | O_CLOEXEC);
        locked = NULL;
        assert_true(other >= 0 && flock(other, LOCK_EX | LOCK_NB) != 0);
        close(other);
    }
    if (meanwhile != NULL) {
        int other = open(meanwhile, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        meanwhile = NULL;
        assert_true(other >= 0);
        close(other);
    }
    return __real_pread(fd, to, n, at);
}

static void make_bytes(const char *name, const char *bytes, size_t n)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

static void make(const char *name, const char *text)
{
    make_bytes(name, text, strlen(text));
}

static bool there(const char *name)
{
    struct stat st;
    return lstat(name, &st) == 0;
}

static void nothing_said(void)
{
    assert_string_equal(content("said"), "");
}

TEST(what_was_counted_goes_aside_with_one_line, setup, teardown)
{
    make("x.part", TEXT THREAD TABLE);
    make("x.journal.part", TEXT TABLE "later\n");
    make("x.journal.new.part", TEXT);
    hpx_leftover_keep("x");
    assert_string_equal(content("x.killed.part"), TEXT THREAD TABLE);
    assert_string_equal(content("x.killed.journal.part"), TEXT TABLE "later\n");
    assert_false(there("x.part") || there("x.journal.part") || there("x.journal.new.part") || there("x.killed.journal.new.part"));
    assert_string_equal(content("said"),
                        "hprofx: file=x: a killed run left an unfinished profile; recover it with hprofx recover x.killed before "
                        "another run is killed\n");
}

TEST(an_older_generation_is_replaced_whole, setup, teardown)
{
    make("x.killed.part", "old");
    make("x.killed.journal.part", "old");
    make("x.part", TEXT THREAD);
    make("x.journal.part", TEXT TABLE);
    hpx_leftover_keep("x");
    assert_false(there("x.part") || there("x.killed.part"));
    assert_string_equal(content("x.killed.journal.part"), TEXT TABLE);
}

TEST(what_counted_nothing_is_removed_and_replaces_nothing, setup, teardown)
{
    static const struct {
        const char *bytes;
        size_t n;
    } cases[] = {
        {"", 0},
        {TEXT, sizeof(TEXT) - 1},
        {TEXT THREAD, sizeof(TEXT THREAD) - 1},
        {TEXT THREAD "TRACE 300001:\n\ta.b(C.java:1)\nCPU SAMP", sizeof(TEXT THREAD "TRACE 300001:\n\ta.b(C.java:1)\nCPU SAMP") - 1},
        {"JAVA PROFILE 1.0.1, created", 27},
        {BINARY, sizeof(BINARY)},
        {BINARY "\0" NAMED EIGHT, sizeof(BINARY NAMED EIGHT)},
        {BINARY "\0" NAMED EIGHT SAMPLES "1234567", sizeof(BINARY NAMED EIGHT SAMPLES "1234567")}};
    make("x.killed.part", "old");
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        make_bytes("x.part", cases[i].bytes, cases[i].n);
        make_bytes("x.journal.part", cases[i].bytes, cases[i].n);
        hpx_leftover_keep("x");
        assert_false(there("x.part") || there("x.journal.part") || there("x.killed.journal.part"));
        assert_string_equal(content("x.killed.part"), "old");
        nothing_said();
    }
}

TEST(what_counted_anything_is_kept, setup, teardown)
{
    static const struct {
        const char *bytes;
        size_t n;
    } cases[] = {{TEXT TABLE, sizeof(TEXT TABLE) - 1},
                 {TEXT "count callee\n", sizeof(TEXT "count callee\n") - 1},
                 {"somebody else's", 15},
                 {BINARY "\0" SAMPLES EIGHT, sizeof(BINARY SAMPLES EIGHT)},
                 {BINARY "\0\100\0\0\0\0\0\0\0\010" EIGHT, sizeof(BINARY SAMPLES EIGHT)}, /* a tag that nobody has */
                 {BINARY "\0" NAMED EIGHT SAMPLES EIGHT NAMED, sizeof(BINARY NAMED EIGHT SAMPLES EIGHT NAMED)}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        make_bytes("x.part", cases[i].bytes, cases[i].n);
        hpx_leftover_keep("x");
        assert_true(there("x.killed.part") && !there("x.part"));
        assert_int_equal(unlink("x.killed.part"), 0);
    }
}

/* 16 MiB of what may stand before counts: nothing is removed for want of patience. */
TEST(files_too_long_to_look_through_are_kept, setup, teardown)
{
    static const char head[] = BINARY "\0\001\0\0\0\0\001\0\0\0"; /* a string of 16 MiB */
    make("x.part", TEXT);
    make_bytes("x.journal.part", head, sizeof head - 1);
    assert_int_equal(truncate("x.part", (17 << 20)), 0);
    assert_int_equal(truncate("x.journal.part", (17 << 20)), 0);
    hpx_leftover_keep("x");
    assert_true(there("x.killed.part") && there("x.killed.journal.part"));
}

/* Of two processes that find the same files one has all of them. */
TEST(all_are_locked_before_one_is_read, setup, teardown)
{
    make("x.part", TEXT TABLE);
    make("x.journal.part", TEXT TABLE);
    locked = "x.journal.part";
    hpx_leftover_keep("x");
    assert_null(locked);
    assert_true(there("x.killed.part") && there("x.killed.journal.part"));
}

/* Of one run one process has got NAME.part, and this one the journal. */
TEST(what_another_process_keeps_meanwhile_stays, setup, teardown)
{
    make("x.journal.part", TEXT TABLE);
    meanwhile = "x.killed.part";
    hpx_leftover_keep("x");
    assert_null(meanwhile);
    assert_true(there("x.killed.part") && there("x.killed.journal.part"));
    make("x.part", TEXT TABLE);
    assert_int_equal(unlink("x.killed.part"), 0);
    meanwhile = "x.killed.part";
    hpx_leftover_keep("x");
    assert_true(there("x.killed.part") && there("x.part"));
}

TEST(links_and_other_kinds_are_left_alone, setup, teardown)
{
    make("mine", TEXT TABLE);
    assert_int_equal(link("mine", "a.part"), 0);
    assert_int_equal(symlink("mine", "b.part"), 0);
    assert_int_equal(symlink("mine", "c.journal.part"), 0);
    assert_int_equal(mkdir("d.part", 0700), 0);
    assert_int_equal(mkfifo("e.part", 0600), 0);
    static const char *const bases[] = {"a", "b", "c", "d", "e", "none", ""};
    for (size_t i = 0; i < HPX_ARRAY_LEN(bases); i++) {
        hpx_leftover_keep(bases[i]);
    }
    assert_true(there("a.part") && there("b.part") && there("c.journal.part") && there("d.part") && there("e.part"));
    assert_string_equal(content("mine"), TEXT TABLE);
    nothing_said();
}

/* Nothing is moved when the kept generation's place is not ours, or is being read. */
TEST(what_cannot_be_kept_stays_with_a_line, setup, teardown)
{
    make("mine", "precious");
    assert_int_equal(symlink("mine", "a.killed.part"), 0);
    assert_int_equal(mkdir("b.killed.journal.part", 0700), 0);
    make("c.killed.part", "read now");
    int fd = open("c.killed.part", O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    static const char *const files[] = {"a.part", "b.part", "c.part"};
    for (size_t i = 0; i < 3; i++) {
        make(files[i], TEXT TABLE);
        hpx_leftover_keep((const char[2]){files[i][0], '\0'});
        assert_string_equal(content(files[i]), TEXT TABLE);
    }
    assert_string_equal(content("mine"), "precious");
    assert_string_equal(content("c.killed.part"), "read now");
    assert_non_null(strstr(content("said"), "hprofx: file=b: a killed run left an unfinished profile; renaming it to b.killed.part failed; "
                                            "recover it with hprofx recover b\n"));
    close(fd);
}

TESTS(NULL, NULL)
