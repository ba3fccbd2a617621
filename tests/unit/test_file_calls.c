/* SPDX-License-Identifier: BSD-2-Clause */
/* test_file_calls.c: files are opened while each system call fails in its turn, or tells of another file than the one before. A profile
 * that is said to be complete is complete; what a killed run counted is somewhere; no descriptor stays open. */
#include "folder_fixture.h"
#include "leftover.h"
#include "out_file.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>

#define KILLED  "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n--------\n\nCPU SAMPLES BEGIN (total = 1)\n"
#define JOURNAL "JAVA PROFILE 1.0.2\0\0\0\0\010\0\0\0\0\0\0\0\0\015\0\0\0\0\0\0\0\010CPU SAMP"
#define OTHER   65533u /* a user that is neither we nor root */
#define EVERY   UINT_MAX

enum call { OPEN, FSTAT, LSTAT, FLOCK, FCNTL, POLL, PREAD, RENAME, CALLS };

static struct {
    enum call call;
    unsigned seen, at; /* the one that fails, EVERY, or 0 */
    int error;         /* 0: it succeeds, but */
    void (*changes)(struct stat *st);
} plan;

/* errno is set. */
static bool fails(enum call call)
{
    if (call != plan.call || (++plan.seen != plan.at && plan.at != EVERY) || plan.error == 0) {
        return false;
    }
    errno = plan.error;
    return true;
}

static int changed(enum call call, struct stat *st, int rc)
{
    if (rc == 0 && call == plan.call && plan.error == 0 && (plan.seen == plan.at || plan.at == EVERY)) {
        plan.changes(st);
    }
    return rc;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list v;
    va_start(v, flags);
    mode_t mode = flags & O_CREAT ? va_arg(v, mode_t) : 0;
    va_end(v);
    return fails(OPEN) ? -1 : __real_open(path, flags, mode);
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    return fails(FSTAT) ? -1 : changed(FSTAT, st, __real_fstat(fd, st));
}

int __real_lstat(const char *path, struct stat *st);
int __wrap_lstat(const char *path, struct stat *st);
int __wrap_lstat(const char *path, struct stat *st)
{
    return fails(LSTAT) ? -1 : changed(LSTAT, st, __real_lstat(path, st));
}

int __real_flock(int fd, int how);
int __wrap_flock(int fd, int how);
int __wrap_flock(int fd, int how)
{
    return fails(FLOCK) ? -1 : __real_flock(fd, how);
}

int __real_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...)
{
    va_list v;
    va_start(v, what);
    int n = what == F_GETFL ? 0 : va_arg(v, int);
    va_end(v);
    return fails(FCNTL) ? -1 : __real_fcntl(fd, what, n);
}

int __real_poll(struct pollfd *of, nfds_t n, int ms);
int __wrap_poll(struct pollfd *of, nfds_t n, int ms);
static int emptied = -1; /* what is in this pipe is read when its writer waits */

int __wrap_poll(struct pollfd *of, nfds_t n, int ms)
{
    static char bytes[1 << 16];
    while (emptied >= 0 && read(emptied, bytes, sizeof bytes) > 0) {
    }
    return fails(POLL) ? -1 : __real_poll(of, n, ms);
}

ssize_t __real_pread(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at)
{
    return fails(PREAD) ? -1 : __real_pread(fd, to, n, at);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    return fails(RENAME) ? -1 : __real_rename(from, to);
}

/* ---- what stat tells of another file ---- */

static void device(struct stat *st)
{
    st->st_dev++;
}

static void inode(struct stat *st)
{
    st->st_ino++;
}

static void owner(struct stat *st)
{
    st->st_uid = OTHER;
}

static void links(struct stat *st)
{
    st->st_nlink++;
}

static void block_device(struct stat *st)
{
    st->st_mode = (st->st_mode & ~(mode_t)S_IFMT) | S_IFBLK;
}

static void regular(struct stat *st)
{
    st->st_mode = (st->st_mode & ~(mode_t)S_IFMT) | S_IFREG;
}

static void (*const changes[])(struct stat *st) = {device, inode, owner, links, block_device, regular};
static const int errors[] = {EIO, EINTR, ENXIO, EWOULDBLOCK};

/* ---- each call in its turn ---- */

static void put_bytes(const char *name, const char *bytes, size_t n)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

static void put(const char *name, const char *bytes)
{
    put_bytes(name, bytes, strlen(bytes));
}

static unsigned descriptors(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d) != NULL) {
        n++;
    }
    closedir(d);
    return n;
}

/* Those of a plan; true: it has come to pass. */
static bool planned(void (*test)(void), enum call call, unsigned at, int error, void (*change)(struct stat *st))
{
    unsigned before = descriptors();
    plan.call = call;
    plan.error = error;
    plan.changes = change;
    plan.seen = 0;
    plan.at = at;
    test();
    assert_int_equal(plan.at, 0); /* the test has ended it */
    assert_int_equal(descriptors(), before);
    return plan.seen >= at;
}

static void each(void (*test)(void), unsigned leave_out)
{
    for (enum call call = 0; call < CALLS; call++) {
        if (leave_out >> call & 1) {
            continue;
        }
        for (size_t i = 0; i < HPX_ARRAY_LEN(errors); i++) {
            for (unsigned at = 1; planned(test, call, at, errors[i], NULL); at++) {
            }
            if (call != POLL || errors[i] != EINTR) { /* nobody is interrupted for ever */
                (void)planned(test, call, call == OPEN && errors[i] == EINTR ? 0 : EVERY, errors[i], NULL);
            }
        }
        for (size_t i = 0; (call == FSTAT || call == LSTAT) && i < HPX_ARRAY_LEN(changes); i++) {
            for (unsigned at = 1; planned(test, call, at, 0, changes[i]); at++) {
            }
            (void)planned(test, call, EVERY, 0, changes[i]);
        }
    }
}

static struct hpx_out out;

/* Opens and writes; true: all that was written is said to be there. */
static bool written(const char *name, bool force, void (*opened)(void))
{
    struct hpx_err err = {0};
    const struct hpx_out_file_opts opts = {.name = name, .force = force, .text = true};
    int rc = hpx_out_file_open(&out, &opts, &err);
    if (rc != 0) {
        plan.at = 0;
        assert_int_equal(rc, -HPX_E_IO);
        assert_non_null(strstr(err.msg, "can't create profile file: "));
        return false;
    }
    if (opened != NULL) {
        opened();
    }
    hpx_out_str(&out, "hello\n");
    rc = hpx_out_section(&out, true);
    int closed = hpx_out_close(&out);
    plan.at = 0;
    assert_true(rc == 0 || closed != 0);
    return closed == 0;
}

static bool holds(const char *name, const char *bytes)
{
    const char *there = content(name);
    return there != NULL && strcmp(there, bytes) == 0;
}

static void clean(void)
{
    static const char remove[] = "rm -rf x.txt*";
    assert_int_equal(system(remove), 0);
    assert_int_equal(ftruncate(said_fd, 0), 0);
}

static void behind_a_killed_run(void)
{
    unsigned at = plan.at;
    plan.at = 0;
    put("x.txt.part", KILLED);
    put("x.txt.killed.part", "older");
    put_bytes("x.txt.journal.part", JOURNAL, sizeof JOURNAL - 1);
    plan.at = at;
    plan.seen = 0;
    bool whole = written("x.txt", true, NULL);
    assert_true(holds("x.txt.part", KILLED) || holds("x.txt.killed.part", KILLED));
    assert_true(holds("x.txt.journal.part", "JAVA PROFILE 1.0.2") || holds("x.txt.killed.journal.part", "JAVA PROFILE 1.0.2"));
    assert_true(!whole || holds("x.txt", "hello\n") || holds(out.name, "hello\n"));
    clean();
}

TEST(a_profile_is_whole_or_refused_and_that_of_a_killed_run_stays, setup, teardown)
{
    each(behind_a_killed_run, 0);
}

static void beside_an_older_one(void)
{
    unsigned at = plan.at;
    plan.at = 0;
    put("x.txt", "older");
    plan.at = at;
    plan.seen = 0;
    bool whole = written("x.txt", false, NULL);
    assert_true(!whole || holds(out.name, "hello\n"));
    assert_true(holds("x.txt", "older") || plan.call == LSTAT); /* which did not tell of it */
    clean();
}

TEST(a_profile_of_another_run_stays_with_force_n, setup, teardown)
{
    each(beside_an_older_one, 0);
}

static int reader = -1;

static void read_fifo(void)
{
    reader = __real_open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static void through_a_fifo(bool first)
{
    char bytes[16] = "";
    if (first) {
        read_fifo();
    }
    bool whole = written("fifo", true, first ? NULL : read_fifo);
    if (reader >= 0) {
        ssize_t n = read(reader, bytes, sizeof bytes);
        assert_true(!whole || (n == 6 && memcmp(bytes, "hello\n", 6) == 0));
        close(reader);
        reader = -1;
    }
    assert_int_equal(ftruncate(said_fd, 0), 0);
}

static void to_a_reader(void)
{
    through_a_fifo(true);
}

static void before_its_reader(void)
{
    through_a_fifo(false);
}

TEST(a_fifo_has_all_or_the_run_says_so, setup, teardown)
{
    assert_int_equal(mkfifo("fifo", 0600), 0);
    /* a FIFO that lstat() tells nothing of, or calls a file, is replaced by one */
    each(to_a_reader, 1u << LSTAT);
    each(before_its_reader, 1u << LSTAT);
}

static int full[2];

static void fill(void)
{
    static const char bytes[4096];
    while (write(full[1], bytes, sizeof bytes) > 0) {
    }
}

static void to_a_full_pipe(void)
{
    fill();
    int saved = dup(1);
    fflush(stdout);
    assert_int_equal(dup2(full[1], 1), 1);
    emptied = full[0];
    bool whole = written("/dev/stdout", true, NULL);
    emptied = -1;
    assert_int_equal(dup2(saved, 1), 1);
    close(saved);
    char bytes[16];
    assert_true(!whole || read(full[0], bytes, sizeof bytes) == 6);
    assert_int_equal(ftruncate(said_fd, 0), 0);
}

static void to_null(void)
{
    (void)written("/dev/null", true, NULL);
    assert_int_equal(ftruncate(said_fd, 0), 0);
}

static void to_stderr(void)
{
    (void)written("/dev/stderr", true, NULL);
    assert_int_equal(ftruncate(said_fd, 0), 0);
}

TEST(devices_take_what_is_written_or_are_refused, setup, teardown)
{
    int saved = dup(2), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_int_equal(dup2(null, 2), 2);
    close(null);
    each(to_null, 1u << LSTAT);
    each(to_stderr, 1u << LSTAT);
    assert_int_equal(dup2(saved, 2), 2);
    close(saved);
}

TEST(standard_output_has_all_or_the_run_says_so, setup, teardown)
{
    assert_int_equal(pipe2(full, O_CLOEXEC | O_NONBLOCK), 0);
    each(to_a_full_pipe, 0);
    close(full[0]);
    close(full[1]);
}

/* ---- one call ---- */

TEST(a_name_that_a_pid_makes_too_long_is_refused, setup, teardown)
{
    static char name[PATH_MAX + 1];
    for (size_t i = 0; i < PATH_MAX - 3; i++) {
        name[i] = i % 2 == 0 ? '.' : '/'; /* ./././x */
    }
    name[PATH_MAX - 4] = 'x';
    put(name, "older");
    assert_false(written(name, false, NULL));
    assert_string_equal(content("x"), "older");
    struct hpx_err err;
    const struct hpx_out_file_opts at_first = {.name = "y", .force = true}, later = {.name = name}, none = {.name = "", .force = true};
    assert_int_equal(hpx_out_file_open(&out, &at_first, &err), 0);
    hpx_out_file_rename(&out, &later);
    hpx_out_file_rename(&out, &none);
    memset(name, 'n', sizeof name - 1);
    hpx_out_file_rename(&out, &(struct hpx_out_file_opts){.name = name, .force = true});
    assert_string_equal(hpx_out_file_name(&out), "y");
    hpx_out_file_rename(&out, &(struct hpx_out_file_opts){.name = "z"});
    assert_int_equal(hpx_out_close(&out), 0);
    assert_non_null(content("z"));
    hpx_out_file_rename(&out, &at_first);
    hpx_out_file_forget(&out);
    assert_string_equal(hpx_out_file_name(&out), "z");
}

/* What a child of a fork does; its parent's lock and file stay. */
TEST(a_device_keeps_its_name, setup, teardown)
{
    struct hpx_err err;
    const struct hpx_out_file_opts opts = {.name = "/dev/null", .force = true}, other = {.name = "x"};
    assert_int_equal(hpx_out_file_open(&out, &opts, &err), 0);
    hpx_out_file_rename(&out, &other);
    assert_string_equal(hpx_out_file_name(&out), "/dev/null");
    assert_int_equal(hpx_out_close(&out), 0);
}

TEST(an_output_can_be_forgotten_twice, setup, teardown)
{
    struct hpx_err err;
    const struct hpx_out_file_opts opts = {.name = "x", .force = true};
    assert_int_equal(hpx_out_file_open(&out, &opts, &err), 0);
    hpx_out_file_forget(&out);
    hpx_out_file_forget(&out);
    assert_int_equal(hpx_out_close(&out), 0);
}

TESTS(NULL, NULL)
