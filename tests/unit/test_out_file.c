/* SPDX-License-Identifier: BSD-2-Clause */
/* test_out_file.c: files, FIFOs, devices and descriptors as they are opened, published, refused and left alone. */
#include "folder_fixture.h"
#include "out_file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER 65533u /* a user that is neither we nor root */

static struct hpx_out out;
static struct hpx_err err;

static void make(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static int try_open(const char *name, bool force, bool text)
{
    struct hpx_out_file_opts opts = {.name = name, .force = force, .text = text};
    err.msg[0] = '\0';
    return hpx_out_file_open(&out, &opts, &err);
}

static void open_ok(const char *name)
{
    assert_int_equal(try_open(name, true, true), 0);
    hpx_out_str(&out, "hello\n");
}

static bool there(const char *name)
{
    struct stat st;
    return lstat(name, &st) == 0;
}

static void refused(const char *name)
{
    char expect[PATH_MAX + 64];
    snprintf(expect, sizeof(expect), "can't create profile file: %s", name);
    assert_int_equal(try_open(name, true, true), -HPX_E_IO);
    assert_string_equal(err.msg, expect);
}

TEST(links_directories_and_odd_places_are_refused, setup, teardown)
{
    assert_int_equal(symlink("target", "link"), 0);
    assert_int_equal(mkdir("dir", 0700), 0);
    struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = "sock"};
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s, (struct sockaddr *)&sa, sizeof(sa)), 0);
    make("file", "old");
    refused("link");
    refused("dir");
    refused("dir/");
    refused("sock");
    refused("missing/x.txt");
    refused("missing/");
    refused("file/x");
    refused("file/");
    refused("");
    refused("/dev/fd");
    assert_false(there("target"));
    assert_false(there("link.part"));
    assert_false(there("dir.part"));
    assert_false(there("dir/.part"));
    assert_false(there(".part"));
    assert_string_equal(content("file"), "old");
    close(s);
}

TEST(names_near_the_limits_work_or_are_refused, setup, teardown)
{
    char name[PATH_MAX + 16];
    memset(name, 'n', sizeof(name));
    name[NAME_MAX] = '\0';
    open_ok(name);
    assert_int_equal(hpx_out_close(&out), 0);
    assert_string_equal(content(name), "hello\n");
    memset(name, 'n', NAME_MAX + 1);
    name[NAME_MAX + 1] = '\0';
    refused(name);
    for (size_t len = PATH_MAX - 8; len < PATH_MAX + 4; len++) {
        for (size_t i = 0; i < len; i++) {
            name[i] = i % 2 == 0 ? '.' : '/'; /* ./././x */
        }
        name[len - 1] = 'x';
        name[len] = '\0';
        if (len < PATH_MAX - 6 && name[len - 2] == '/') {
            open_ok(name);
            assert_int_equal(hpx_out_close(&out), 0);
            assert_int_equal(unlink("x"), 0);
        } else if (try_open(name, true, true) == 0) {
            assert_true(len < PATH_MAX - 5);
            assert_int_equal(hpx_out_close(&out), 0);
        } else {
            assert_memory_equal(err.msg, "can't create profile file: ", 27);
        }
    }
}

TEST(a_part_of_a_living_run_is_left_to_it, setup, teardown)
{
    open_ok("x.txt");
    assert_int_equal(hpx_out_section(&out, false), 0);
    struct hpx_out second;
    struct hpx_out_file_opts opts = {.name = "x.txt", .force = true, .text = true};
    assert_int_equal(hpx_out_file_open(&second, &opts, &err), 0);
    hpx_out_str(&second, "second\n");
    assert_int_equal(hpx_out_section(&second, false), 0);
    char part[64];
    char expect[256];
    snprintf(part, sizeof(part), "x.txt.%ld.part", (long)getpid());
    snprintf(
        expect, sizeof(expect),
        "hprofx: file=x.txt: another run writes its .part file, or it cannot be replaced; writing %s until the first dump is complete; "
        "put %%p into file=\n",
        part);
    assert_string_equal(content("said"), expect);
    assert_string_equal(content("x.txt.part"), "hello\n");
    assert_string_equal(content(part), "second\n");
    struct hpx_out third; /* the same process again: a number behind the pid */
    assert_int_equal(hpx_out_file_open(&third, &opts, &err), 0);
    assert_int_equal(hpx_out_close(&third), 0);
    assert_int_equal(hpx_out_close(&second), 0);
    assert_string_equal(content("x.txt"), "second\n");
    assert_int_equal(hpx_out_close(&out), 0);
    assert_string_equal(content("x.txt"), "hello\n");
    assert_false(there("x.txt.part") || there(part));
}

static int unnamed(const char *text)
{
    int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    return fd;
}

TEST(a_file_without_a_name_becomes_the_output, setup, teardown)
{
    struct stat st, part;
    char other[64], link[32], path[4096] = "";
    int fd = unnamed("......--....objects...");
    open_ok("x");
    assert_true(hpx_out_point(&out));
    hpx_out_str(&out, "and ");
    snprintf(other, sizeof other, "x.%ld.0.part", (long)getpid());
    make(other, "precious"); /* of a killed run, which had the same process id in a container */
    assert_true(hpx_out_adopt(&out, fd, 12, 19));
    assert_int_equal(out.written, 19);
    assert_true(fstat(fd, &st) == 0 && lstat("x.part", &part) == 0);
    assert_true(st.st_ino == part.st_ino && st.st_nlink == 1 && (st.st_mode & 07777) == 0600);
    close(fd);
    fd = open("x.part", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK);
    close(fd);
    hpx_out_str(&out, " and more\n");
    assert_int_equal(hpx_out_section(&out, true), 0);
    for (int k = 3; k < 16 && strstr(path, "/x") == NULL; k++) { /* who lists the open files of the program finds its name */
        snprintf(link, sizeof link, "/proc/self/fd/%d", k);
        ssize_t n = readlink(link, path, sizeof path - 1);
        path[n > 0 ? n : 0] = 0;
    }
    assert_string_equal(strrchr(path, '/'), "/x");
    assert_int_equal(hpx_out_close(&out), 0);
    assert_string_equal(content("x"), "hello\n--and objects and more\n");
    assert_false(there("x.part") || there(other));
    snprintf(other, sizeof other, "x.%ld.0.killed.part", (long)getpid());
    assert_string_equal(content(other), "precious");
}

/* With a new file every time: one that has had a name gets none again. */
static bool adopts(uint64_t head)
{
    int fd = unnamed("......objects...");
    bool adopted = hpx_out_adopt(&out, fd, head, 13);
    close(fd);
    return adopted;
}

/* Whatever is in the way: the output goes on in its own file. */
TEST(an_output_that_cannot_become_another_file_stays, setup, teardown)
{
    const struct hpx_out_file_opts compressed = {.name = "z", .force = true, .gzip = true};
    char other[64], gone[] = "gone.XXXXXX";
    snprintf(other, sizeof other, "x.%ld.0.part", (long)getpid());
    open_ok("x");
    assert_true(hpx_out_point(&out));
    assert_false(adopts(5)); /* longer than its place */
    assert_int_equal(symlink("elsewhere", other), 0);
    assert_false(adopts(6));
    assert_false(there("elsewhere"));
    assert_int_equal(unlink(other), 0);
    int removed = mkstemp(gone);
    assert_true(removed >= 0 && unlink(gone) == 0);
    assert_false(hpx_out_adopt(&out, removed, 6, 13)); /* of a file system without unnamed files */
    close(removed);
    assert_int_equal(rename("x.part", "away"), 0);
    assert_false(adopts(6)); /* nothing to replace */
    make("x.part", "precious");
    assert_false(adopts(6)); /* another run's */
    assert_string_equal(content("x.part"), "precious");
    assert_int_equal(unlink("x.part"), 0);
    assert_int_equal(symlink("away", "x.part"), 0);
    assert_false(adopts(6));
    assert_false(there(other));
    assert_int_equal(rename("away", "x.part"), 0);
    assert_int_equal(out.written, 6);
    assert_int_equal(hpx_out_close(&out), 0);
    assert_string_equal(content("x"), "hello\n");
    open_ok("y");
    assert_int_equal(hpx_out_section(&out, true), 0);
    assert_true(hpx_out_point(&out));
    assert_false(adopts(6)); /* it has its name */
    assert_int_equal(hpx_out_close(&out), 0);
    assert_string_equal(content("y"), "hello\n");
    assert_int_equal(hpx_out_file_open(&out, &compressed, &err), 0);
    assert_null(out.adopt);
    assert_int_equal(hpx_out_close(&out), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    open_ok("fifo");
    assert_false(adopts(6));
    assert_int_equal(hpx_out_close(&out), 0);
    close(reader);
}

/* Whatever has the part's name and is not a plain file of one link of ours stays as it is. */
TEST(a_part_that_is_something_else_is_left_alone, setup, teardown)
{
    make("mine", "precious");
    assert_int_equal(link("mine", "a.part"), 0);
    assert_int_equal(symlink("mine", "b.part"), 0);
    assert_int_equal(mkfifo("c.part", 0600), 0);
    assert_int_equal(mkdir("d.part", 0700), 0);
    static const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++) {
        open_ok(names[i]);
        assert_int_equal(hpx_out_close(&out), 0);
        assert_string_equal(content(names[i]), "hello\n");
    }
    assert_string_equal(content("mine"), "precious");
    assert_true(there("a.part") && there("b.part") && there("c.part") && there("d.part"));
}

TEST(a_directory_that_appears_under_the_name_is_said, setup, teardown)
{
    open_ok("x.txt");
    assert_int_equal(mkdir("x.txt", 0700), 0);
    assert_int_equal(hpx_out_section(&out, true), 0);
    assert_non_null(strstr(content("said"), "file=x.txt.part: cannot rename the output to its final name: Is a directory"));
    assert_int_equal(hpx_out_close(&out), 0);
    assert_string_equal(content("x.txt.part"), "hello\n");
    assert_string_equal(hpx_out_file_name(&out), "x.txt.part");
}

TEST(force_n_takes_the_names_of_the_original, setup, teardown)
{
    static const struct {
        const char *name, *expect;
        bool text;
    } cases[] = {{"a.txt", "a.%ld.txt", true},     {"a.TXT", "a.%ld.TXT", true},     {"a.TxT", "a.%ld.TxT", true},
                 {"a.log", "a.log.%ld.txt", true}, {"atxt", "atxt.%ld.txt", true},   {".txt", ".%ld.txt", true},
                 {"a.txt", "a.txt.%ld", false},    {"a.hprof", "a.hprof.%ld", false}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        char expect[64];
        snprintf(expect, sizeof(expect), cases[i].expect, (long)getpid());
        unlink(cases[i].name);
        assert_int_equal(try_open(cases[i].name, false, cases[i].text), 0);
        assert_string_equal(hpx_out_file_name(&out), cases[i].name);
        assert_int_equal(hpx_out_close(&out), 0);
        make(cases[i].name, "old");
        assert_int_equal(try_open(cases[i].name, false, cases[i].text), 0);
        assert_string_equal(hpx_out_file_name(&out), expect);
        hpx_out_str(&out, "new");
        assert_int_equal(hpx_out_close(&out), 0);
        assert_string_equal(content(cases[i].name), "old");
        assert_string_equal(content(expect), "new");
    }
    char pid_name[64];
    snprintf(pid_name, sizeof(pid_name), "z.%ld.txt", (long)getpid());
    make("z.txt", "old");
    assert_int_equal(mkdir(pid_name, 0700), 0);
    assert_int_equal(try_open("z.txt", false, true), -HPX_E_IO);
    assert_string_equal(err.msg, "can't create profile file: z.txt");
}

TEST(one_that_is_abandoned_waits_for_no_reader, setup, teardown)
{
    assert_int_equal(mkfifo("fifo", 0600), 0);
    open_ok("fifo");
    hpx_out_abandon(&out);
    assert_null(out.buf);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    open_ok("fifo");
    hpx_out_abandon(&out);
    char text[16];
    assert_int_equal(read(reader, text, sizeof(text)), 0);
    close(reader);
}

/* Whoever made it waits for the profile. Its reader gets neither a byte nor an end of file: it is not opened. */
TEST(a_fifo_of_another_user_is_refused, setup, teardown)
{
    char expect[256];
    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(mkfifo("fifo", 0666), 0);
    assert_int_equal(chown("fifo", OTHER, (gid_t)-1), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(try_open("fifo", true, true), -HPX_E_IO);
    snprintf(
        expect, sizeof(expect),
        "can't create profile file: fifo: the FIFO or device belongs to user %u, who could read the profile; choose another file=, or one "
        "of your own or of root",
        OTHER);
    assert_string_equal(err.msg, expect);
    struct pollfd p = {.fd = reader, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 0), 0); /* POLLHUP, had it been opened and closed */
    close(reader);
}

TEST(a_fifo_of_root_is_written_by_others, setup, teardown)
{
    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(chmod(".", 0755), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(chmod("fifo", 0666), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(seteuid(OTHER), 0);
    int rc = try_open("fifo", true, true);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(rc, 0);
    assert_int_equal(hpx_out_close(&out), 0);
    close(reader);
}

/* Its first write would open what another user has put in its place. */
TEST(a_fifo_that_was_given_away_meanwhile_is_not_written, setup, teardown)
{
    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(mkfifo("fifo", 0600), 0);
    open_ok("fifo");
    assert_int_equal(chown("fifo", OTHER, (gid_t)-1), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(hpx_out_section(&out, true), -HPX_E_IO);
    assert_int_equal(hpx_out_close(&out), -HPX_E_IO);
    close(reader);
}

static void *read_fifo(void *arg)
{
    char *text = arg;
    int fd = open("fifo", O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;
    size_t used = 0;
    while ((n = read(fd, text + used, 200000 - used)) > 0) {
        used += (size_t)n;
    }
    close(fd);
    return (void *)used;
}

TEST(a_fifo_without_a_reader_is_opened_by_the_first_write, setup, teardown)
{
    static char text[200000];
    assert_int_equal(mkfifo("fifo", 0600), 0);
    open_ok("fifo"); /* does not wait */
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, read_fifo, text), 0);
    for (int i = 0; i < 19999; i++) {
        hpx_out_str(&out, "hello\n");
    }
    assert_int_equal(hpx_out_section(&out, true), 0);
    assert_int_equal(hpx_out_close(&out), 0);
    void *n = NULL;
    assert_int_equal(pthread_join(t, &n), 0);
    assert_int_equal((size_t)n, 120000);
}

TEST(a_fifo_that_was_replaced_meanwhile_is_not_written, setup, teardown)
{
    assert_int_equal(mkfifo("fifo", 0600), 0);
    open_ok("fifo");
    assert_int_equal(rename("fifo", "moved"), 0); /* keeps the inode: a new file cannot have its number */
    make("fifo", "precious");
    assert_int_equal(hpx_out_section(&out, true), -HPX_E_IO);
    assert_int_equal(hpx_out_close(&out), -HPX_E_IO);
    assert_string_equal(content("fifo"), "precious");
}

static void *drain(void *arg)
{
    int fd = *(int *)arg;
    static char buf[65536];
    ssize_t n = 0;
    size_t used = 0;
    while ((n = read(fd, buf, sizeof(buf))) > 0) {
        used += (size_t)n;
    }
    return (void *)used;
}

TEST(standard_output_is_duplicated_and_may_be_non_blocking, setup, teardown)
{
    int pipes[2];
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    int saved = dup(1);
    fflush(stdout);
    assert_int_equal(fcntl(pipes[1], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(dup2(pipes[1], 1), 1);
    int rc = try_open("/dev/stdout", true, true);
    dup2(saved, 1); /* closes the program's copy: ours goes on */
    close(saved);
    close(pipes[1]);
    assert_int_equal(rc, 0);
    assert_string_equal(hpx_out_file_name(&out), "/dev/stdout");
    for (int i = 0; i < 10000; i++) { /* fill the pipe so that the next write finds it full */
        hpx_out_str(&out, "hello\n");
    }
    assert_int_equal(hpx_out_flush(&out), 0);
    pthread_t t;
    for (int i = 0; i < 50000; i++) {
        hpx_out_str(&out, "hello\n");
        if (i == 1000) {
            assert_int_equal(pthread_create(&t, NULL, drain, &pipes[0]), 0);
        }
    }
    assert_int_equal(hpx_out_close(&out), 0);
    void *n = NULL;
    assert_int_equal(pthread_join(t, &n), 0);
    assert_int_equal((size_t)n, 360000);
    close(pipes[0]);
}

TEST(a_forked_child_forgets_and_the_parent_keeps_its_lock, setup, teardown)
{
    open_ok("x.txt");
    pid_t child = fork();
    if (child == 0) {
        hpx_out_file_forget(&out);
        hpx_out_file_forget(&out);
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    int fd = open("x.txt.part", O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
    close(fd);
    assert_int_equal(hpx_out_close(&out), 0);
    assert_string_equal(content("x.txt"), "hello\n");
}

TEST(every_descriptor_closes_on_exec, setup, teardown)
{
    static const char *const names[] = {"x.txt", "/dev/null", "/dev/stderr"};
    for (size_t i = 0; i < 3; i++) {
        int next = open("/dev/null", O_RDONLY | O_CLOEXEC); /* the lowest free number, or the first from 3 for a duplicate */
        close(next);
        open_ok(names[i]);
        assert_int_equal(fcntl(next, F_GETFD), FD_CLOEXEC);
        if (i == 2) {
            hpx_log_set_fd(2);
            hpx_out_file_forget(&out);
            out.used = 0;
            hpx_out_close(&out);
            hpx_log_set_fd(said_fd);
            break;
        }
        assert_int_equal(hpx_out_close(&out), 0);
    }
}

static bool fstat_fails;

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    if (fstat_fails) {
        errno = EIO;
        return -1;
    }
    return __real_fstat(fd, st);
}

TEST(a_new_file_that_cannot_be_asked_about_is_removed, setup, teardown)
{
    fstat_fails = true;
    refused("f");
    fstat_fails = false;
    assert_false(there("f.part"));
    DIR *d = opendir(".");
    assert_non_null(d);
    for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        assert_int_not_equal(e->d_name[0], 'f');
    }
    closedir(d);
    open_ok("f");
    assert_int_equal(hpx_out_close(&out), 0);
    assert_string_equal(content("f"), "hello\n");
}

TESTS(NULL, NULL)
