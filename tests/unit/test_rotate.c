/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rotate.c: keep-files=, keep-bytes=, numbered names and a full disk, in sessions without a JVM: which files are left, what is
 * counted, and that nothing of others is removed. */
#include "session_fixture.h"
#include <dirent.h>
#include <sys/stat.h>

/* ---- a disk ---- */

static _Atomic uint64_t disk;     /* bytes that the folder may have; 0: no limit */
static _Atomic uint32_t no_inode; /* this many of the next new files cannot be created */

static uint64_t in_use(void)
{
    uint64_t sum = 0;
    struct stat st;
    DIR *d = opendir(".");
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        sum += lstat(e->d_name, &st) == 0 && S_ISREG(st.st_mode) && strcmp(e->d_name, "said") != 0 ? (uint64_t)st.st_size : 0;
    }
    closedir(d);
    return sum;
}

ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n)
{
    if (fd != said_fd && disk > 0 && in_use() + n > disk) {
        errno = ENOSPC;
        return -1;
    }
    return __real_write(fd, p, n);
}

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...)
{
    if ((flags & O_CREAT) != 0 && no_inode > 0) {
        no_inode--;
        errno = ENOSPC;
        return -1;
    }
    return __real_open(name, flags, 0600);
}

static atomic_bool no_unlink;

int __real_unlink(const char *name);
int __wrap_unlink(const char *name);
int __wrap_unlink(const char *name)
{
    if (no_unlink) {
        errno = EROFS;
        return -1;
    }
    return __real_unlink(name);
}

/* ---- what is left ---- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Names of the files in their order, each with a blank behind it. */
static const char *files(void)
{
    static char names[4096];
    struct dirent **of;
    int n = scandir(".", &of, NULL, by_name);
    names[0] = '\0';
    for (int i = 0; i < n; i++) {
        if (of[i]->d_name[0] != '.' && strcmp(of[i]->d_name, "said") != 0) {
            strcat(strcat(names, of[i]->d_name), " ");
        }
        free(of[i]);
    }
    free(of);
    return names;
}

/* A dump on request, until it has been written. */
static void dump(unsigned count)
{
    unsigned before = __atomic_load_n(&done, __ATOMIC_SEQ_CST);
    first.n = count;
    assert_true(hpx_dump_request(&reset_request));
    while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) == before) {
        pass();
    }
}

static void dumps(unsigned from, unsigned to)
{
    for (unsigned i = from; i <= to; i++) {
        dump(i);
    }
}

static bool says(const char *name, const char *line)
{
    const char *text = content(name);
    return text != NULL && strstr(text, line) != NULL;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "we");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

#define BEGIN "cpu=samples,verbose=n,split=y,file="

TEST(without_the_options_all_stay, setup, teardown)
{
    assert_true(begin(BEGIN "x"));
    dumps(1, 3);
    wait_and_end();
    assert_string_equal(files(), "x x.1 x.2 x.3 ");
    assert_false(says("x", "profiles removed"));
    assert_true(begin("cpu=samples,verbose=n,file=y,keep-files=1"));
    dumps(1, 3);
    wait_and_end();
    assert_string_equal(files(), "x x.1 x.2 x.3 y ");
    assert_false(says("y", "profiles removed"));
}

TEST(files_together_have_no_more_bytes, setup, teardown)
{
    struct stat st;
    char options[128];
    assert_true(begin(BEGIN "x"));
    dump(1);
    wait_and_end();
    assert_int_equal(stat("x.1", &st), 0);
    assert_int_equal(unlink("x.1") + unlink("x"), 0);
    snprintf(options, sizeof options, BEGIN "x,keep-bytes=%llu", (unsigned long long)st.st_size * 2 + 300); /* their reports are longer */
    assert_true(begin(options));
    dumps(1, 4);
    assert_string_equal(files(), "x.3 x.4 x.part ");
    wait_and_end();
    assert_string_equal(files(), "x x.4 ");
}

TEST(the_newest_stays_however_large_it_is, setup, teardown)
{
    assert_true(begin(BEGIN "x,keep-bytes=1"));
    dumps(1, 2);
    assert_string_equal(files(), "x.2 x.part ");
    wait_and_end();
    assert_string_equal(files(), "x ");
}

TEST(what_others_made_or_changed_stays, setup, teardown)
{
    put("x.0", "another run's");
    put("y.1", "another run's");
    assert_true(begin(BEGIN "x,keep-files=4"));
    dumps(1, 4);
    assert_int_equal(unlink("x.1"), 0);
    put("x.1", "a user's");
    assert_int_equal(rename("x.2", "kept"), 0);
    assert_int_equal(symlink("kept", "x.2"), 0);
    FILE *f = fopen("x.3", "ae");
    assert_non_null(f);
    assert_true(fputs("a note\n", f) >= 0);
    assert_int_equal(fclose(f), 0);
    dumps(5, 7);
    assert_string_equal(files(), "kept x.0 x.1 x.2 x.3 x.4 x.5 x.6 x.7 x.part y.1 ");
    dumps(8, 9);
    wait_and_end();
    assert_string_equal(files(), "kept x x.0 x.1 x.2 x.3 x.7 x.8 x.9 y.1 ");
    assert_string_equal(content("x.1"), "a user's");
    assert_string_equal(tables("kept"), "FIRST 2 SECOND 0 ");
    assert_true(says("x.9", "profiles removed: 1 "));
}

TEST(what_a_shipper_has_taken_makes_room, setup, teardown)
{
    assert_true(begin(BEGIN "x,keep-files=2"));
    dumps(1, 2);
    assert_int_equal(unlink("x.2"), 0);
    dump(3);
    assert_string_equal(files(), "x.1 x.3 x.part ");
    wait_and_end();
    assert_string_equal(files(), "x x.3 ");
}

TEST(profiles_are_numbered_by_their_names, setup, teardown)
{
    assert_true(begin(BEGIN "a-%n.txt,keep-files=2"));
    assert_string_equal(files(), "a-0.txt.part ");
    dumps(1, 3);
    assert_string_equal(files(), "a-0.txt.part a-2.txt a-3.txt ");
    wait_and_end();
    assert_string_equal(files(), "a-3.txt a-4.txt ");
    assert_true(says("a-3.txt", "hprofx: profile: 3, "));
    assert_true(says("a-4.txt", "hprofx: profile: 4, "));
    assert_true(begin("cpu=samples,verbose=n,file=b-%n.txt"));
    dump(1);
    wait_and_end();
    assert_string_equal(files(), "a-3.txt a-4.txt b-1.txt ");
    assert_string_equal(content("said"), "");
}

TEST(force_n_keeps_the_name_that_a_numbered_profile_would_take, setup, teardown)
{
    char expect[128];
    put("a-2", "old");
    assert_true(begin(BEGIN "a-%n,force=n"));
    dump(1);
    wait_and_end();
    snprintf(expect, sizeof expect, "a-1 a-2 a-2.%ld.txt ", (long)getpid());
    assert_string_equal(files(), expect);
    assert_string_equal(content("a-2"), "old");
}

TEST(without_a_profile_at_exit_none_is_removed_for_it, setup, teardown)
{
    assert_true(begin(BEGIN "x-%n,doe=n,keep-files=2"));
    dumps(1, 3);
    wait_and_end();
    assert_string_equal(files(), "x-2 x-3 x-4 ");
    assert_string_equal(tables("x-4"), "");
}

TEST(a_disk_without_room_for_a_new_file_costs_the_oldest, setup, teardown)
{
    assert_true(begin(BEGIN "x,keep-files=100"));
    dumps(1, 2);
    no_inode = 1;
    dump(3);
    assert_string_equal(files(), "x.2 x.3 x.part ");
    no_inode = 100; /* more than there are files: the dump goes to the file of the exit */
    dump(4);
    no_inode = 0;
    assert_string_equal(files(), "x ");
    dump(5);
    wait_and_end();
    assert_string_equal(files(), "x x.5 ");
    assert_string_equal(tables("x"), "FIRST 4 SECOND 0 FIRST 0 SECOND 0 ");
}

TEST(without_the_options_a_full_disk_removes_nothing, setup, teardown)
{
    assert_true(begin(BEGIN "x"));
    dumps(1, 2);
    disk = in_use() + 500; /* less than a profile */
    dump(3);
    disk = 0;
    wait_and_end();
    assert_string_equal(tables("x.1"), "FIRST 1 SECOND 0 ");
    assert_string_equal(tables("x.2"), "FIRST 2 SECOND 0 ");
}

TEST(files_that_cannot_be_removed_stay_and_are_said_once, setup, teardown)
{
    assert_true(begin(BEGIN "x,keep-files=1"));
    dump(1);
    no_unlink = true;
    dumps(2, 3);
    no_unlink = false;
    dump(4);
    wait_and_end();
    assert_string_equal(files(), "x x.1 x.2 ");
    assert_string_equal(content("said"), "hprofx: file=x.1: cannot be removed (error 30); it stays, and others that cannot be removed\n");
}

TEST(no_memory_for_the_list_removes_nothing, setup, teardown)
{
    for (uint64_t k = 1, calls = 1; k <= calls; k++) {
        assert_true(begin(BEGIN "x,keep-files=1"));
        dump(1);
        memory_fail(k, k);
        first.n = 2;
        unsigned before = __atomic_load_n(&done, __ATOMIC_SEQ_CST);
        bool asked = hpx_dump_request(&reset_request);
        while (asked && __atomic_load_n(&done, __ATOMIC_SEQ_CST) == before) {
            pass();
        }
        calls = memory_calls();
        memory_allow();
        wait_and_end();
        assert_true(calls < 1000);
        assert_non_null(content("x")); /* the last stays in any case */
        (void)unlink("x"), (void)unlink("x.1"), (void)unlink("x.2");
    }
}

TESTS(NULL, NULL)
