/* SPDX-License-Identifier: BSD-2-Clause */
/* test_target.c: what the command sees of a process with made-up libraries, which is this one. */
#include "folder_fixture.h"
#include "target.h"
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE 4096u

static struct hpx_target t;
static struct hpx_err err;
static char *next; /* below this program's own libraries, so that /proc/PID/maps has them first */

/* As a kernel before 5.3. */
static bool old_kernel;
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    long a[4];
    va_list list;
    va_start(list, number);
    for (size_t i = 0; i < HPX_ARRAY_LEN(a); i++) {
        a[i] = va_arg(list, long);
    }
    va_end(list);
    if (old_kernel) {
        errno = ENOSYS;
        return -1;
    }
    return __real_syscall(number, a[0], a[1], a[2], a[3]);
}

static int setup_maps(void **state)
{
    old_kernel = false;
    next = (char *)0x1000000;
    return setup(state);
}

static int teardown_maps(void **state)
{
    (void)munmap((char *)0x1000000, (size_t)(next - (char *)0x1000000));
    hpx_target_close(&t);
    return teardown(state);
}

/* A library whose bytes at `at` are `bytes`. */
static void map(const char *name, off_t at, const char *bytes, size_t n, int rights)
{
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0755);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, at + (off_t)n + 1), 0);
    assert_int_equal(pwrite(fd, bytes, n, at), n);
    assert_ptr_equal(mmap(next, PAGE, rights, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0), next);
    close(fd);
    next += PAGE;
}

static enum hpx_status look(void)
{
    enum hpx_status s = hpx_target_read(getpid(), &t, &err);
    s = s == HPX_OK ? hpx_target_open(&t, &err) : s;
    return s == HPX_OK ? hpx_target_lets_load(&t, &err) : s;
}

static const char of_2_12[] = "\0GLIBC_2.2.5\0GLIBC_2.12\0GLIBC_2.3", of_2_17[] = "\0GLIBC_2.2.5\0GLIBC_2.17";
#define CODE                         (PROT_READ | PROT_EXEC)
#define MAP(name, at, bytes, rights) map(name, at, bytes, sizeof(bytes), rights)

TEST(a_process_without_a_jvm_is_none, setup_maps, teardown_maps)
{
    assert_int_equal(look(), HPX_NO_JVM);
}

TEST(a_c_library_that_is_too_old_is_refused_before_anything_is_loaded, setup_maps, teardown_maps)
{
    char said[160];
    MAP("libjvm.so", 0, "x", CODE);
    MAP("libc-2.12.so", 100000, of_2_12, CODE);
    assert_int_equal(look(), HPX_REFUSED);
    (void)snprintf(said, sizeof said, "process %d runs with glibc 2.12, and hprofx needs 2.17 or later; run it on a newer system",
                   (int)getpid());
    assert_string_equal(err.msg, said);
    assert_string_equal(content("said"), ""); /* who asked says it */
}

TEST(the_oldest_that_will_do_is_taken, setup_maps, teardown_maps)
{
    MAP("libjvm.so", 0, "x", CODE);
    MAP("libc-2.17.so", 100000, of_2_17, CODE);
    assert_int_equal(look(), HPX_OK);
}

TEST(a_version_across_two_blocks_of_the_file_is_found, setup_maps, teardown_maps)
{
    MAP("libjvm.so", 0, "x", CODE);
    MAP("libc.so.6", (1 << 16) + 512 - 20, of_2_12, CODE);
    assert_int_equal(look(), HPX_REFUSED);
    assert_non_null(strstr(err.msg, "glibc 2.12,"));
}

TEST(what_is_not_known_to_be_too_old_is_taken, setup_maps, teardown_maps)
{
    MAP("libjvm.so", 0, "x", CODE);
    MAP("libc-2.11.so", 0, of_2_12, PROT_READ); /* a file that the program reads */
    MAP("libc.so.6", 0, "nothing of a C library", CODE);
    assert_int_equal(look(), HPX_OK);
}

TEST(a_c_library_whose_file_is_gone_is_unknown, setup_maps, teardown_maps)
{
    MAP("libjvm.so", 0, "x", CODE);
    MAP("libc-2.12.so", 0, of_2_12, CODE);
    assert_int_equal(unlink("libc-2.12.so"), 0);
    assert_int_equal(look(), HPX_OK);
    assert_null(strstr(t.libc_file, "2.12"));
}

TEST(an_old_kernel_shows_the_files_too, setup_maps, teardown_maps)
{
    old_kernel = true;
    MAP("libjvm.so", 0, "x", CODE);
    MAP("libc-2.12.so", 0, of_2_12, CODE);
    assert_int_equal(look(), HPX_REFUSED);
    assert_non_null(strstr(err.msg, "glibc 2.12,"));
}

TEST(there_links_are_not_followed, setup_maps, teardown_maps)
{
    char name[PATH_MAX], longest[NAME_MAX + 2];
    MAP("libjvm.so", 0, "x", CODE);
    file("a/b/file", "x");
    assert_int_equal(symlink("b", "a/link"), 0);
    assert_int_equal(symlink("file", "a/b/link"), 0);
    memset(longest, 'x', sizeof longest);
    longest[NAME_MAX] = 0;
    close(open(longest, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    longest[NAME_MAX] = 'x';
    longest[NAME_MAX + 1] = 0;
    const char *const yes[] = {"a/b/file", "a//b/file"}, *const no[] = {"a/link/file",   "a/b/link",  "a/b",
                                                                        "a/../a/b/file", "a/b/file/", longest};
    old_kernel = true;
    assert_int_equal(look(), HPX_OK);
    for (size_t i = 0; i < HPX_ARRAY_LEN(yes); i++) {
        (void)snprintf(name, sizeof name, "%s/%s", folder, yes[i]);
        int fd = hpx_target_open_file(&t, name);
        assert_true(fd >= 0);
        close(fd);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(no); i++) {
        (void)snprintf(name, sizeof name, "%s/%s", folder, no[i]);
        assert_int_equal(hpx_target_open_file(&t, name), -1);
    }
    assert_int_equal(hpx_target_open_file(&t, ""), -1);
}

TEST(into_a_jvm_of_musl_nothing_is_loaded, setup_maps, teardown_maps)
{
    MAP("libjvm.so", 0, "x", CODE);
    MAP("ld-musl-x86_64.so.1", 0, "x", CODE);
    assert_int_equal(look(), HPX_REFUSED);
    assert_non_null(strstr(err.msg, "runs on musl, with which no JVM was tried"));
    assert_true(t.tmp >= 0); /* open all the same: it may listen */
}

TEST(a_jvm_of_musl_that_has_loaded_the_agent_is_taken, setup_maps, teardown_maps)
{
    MAP("libjvm.so", 0, "x", CODE);
    MAP("ld-musl-x86_64.so.1", 0, "x", CODE);
    MAP("libhprofx.so", 0, "x", CODE);
    assert_int_equal(look(), HPX_OK);
}

TESTS(NULL, NULL)
