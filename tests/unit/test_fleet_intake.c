/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fleet_intake.c: profiles that appear in folders: what is read and what is left alone, once each, over restarts; files that are
 * replaced, grow, go or are broken; hostile names and times. Without memory: each once, or counted. */
#include "fleet_intake_fixture.h"
#include <sys/inotify.h>
#include <sys/wait.h>

/* ---- what is read ---- */

TEST(the_oldest_are_first_and_not_too_many_at_a_time, begin, end)
{
    static const char *const names[] = {"in/b.10", "in/b.9", "in2/c", "in/a"};
    static const int64_t ages[] = {20, 20, 10, 30};
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        put_text(names[i], i == 0 ? "a 10\n" : i == 1 ? "a 9\n" : "a 1\n");
        touch(names[i], ages[i]);
    }
    assert_int_equal(hpx_intake_scan(intake, 2, take, &asked), 2);
    assert_string_equal(handed, "c 1\nb 9\n");
    assert_int_equal(hpx_intake_scan(intake, 0, take, &asked), 0);
    scan_gives("b 10\na 1\n");
}

TEST(what_is_new_is_found_when_the_rest_is_gone, begin, end)
{
    put_text("in/a", "a 1\n");
    put_text("in/b", "a 2\n");
    touch("in/a", 1);
    assert_int_equal(hpx_intake_scan(intake, 1, take, &asked), 1);
    assert_int_equal(unlinkat(dir, "in/b", 0), 0);
    put_text("in/c", "a 3\n");
    scan_gives("c 3\n");
}

TEST(the_service_may_be_given, begin, end)
{
    put_text("in/-x", "a 1\n");
    scan_gives(" 1\n"); /* unknown */
    asked.service = "shop";
    restart();
    put_text("in/y", "a 1\n");
    scan_gives("shop 1\nshop 1\n");
}

TEST(a_folder_that_cannot_be_looked_at_is_not_empty, begin, end)
{
    struct rlimit was, few;
    put_text("in/x", "a 1\n");
    scan_gives("x 1\n");
    settle();
    put_text("in/y", "a 2\n"); /* what is settled later writes the list anew */
    scan_gives("y 2\n");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    few = (struct rlimit){0, was.rlim_max};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        size_t n = hpx_intake_scan(intake, 1000, take, &asked);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
        assert_int_equal(n, 0);
        settle();
    }
    scan_gives("");
    restart();
    scan_gives("");
}

/* ---- what changes meanwhile ---- */

static const char *kills; /* the file whose reading ends the process; NULL: none */
static unsigned appends;  /* to the next files that are read */
enum hpx_status __real_hpx_picture_read_fd(struct hpx_tree *t, int fd, const char *name, const struct hpx_verdict *v, struct hpx_err *e);
enum hpx_status __wrap_hpx_picture_read_fd(struct hpx_tree *t, int fd, const char *name, const struct hpx_verdict *v, struct hpx_err *e);
enum hpx_status __wrap_hpx_picture_read_fd(struct hpx_tree *t, int fd, const char *name, const struct hpx_verdict *v, struct hpx_err *e)
{
    enum hpx_status s = __real_hpx_picture_read_fd(t, fd, name, v, e);
    if (kills != NULL && strcmp(name, kills) == 0) {
        (void)raise(SIGKILL);
    }
    if (appends > 0) {
        char path[300];
        appends--;
        (void)snprintf(path, sizeof path, "in/%s", name);
        int to = openat(dir, path, O_WRONLY | O_APPEND | O_CLOEXEC);
        (void)(to >= 0 && write(to, "b 5\n", 4) == 4);
        (void)close(to);
    }
    return s;
}

TEST(a_file_that_grows_is_left_alone_until_it_does_not, begin, end)
{
    put_text("in/x", "a 1\n");
    put_text("in/y", "not yet");
    appends = 4;
    scan_says("", "");
    scan_says("", "");
    settle(); /* nothing is remembered of it */
    restart();
    scan_gives("x 11\ny 10\n"); /* what else stands in y is left out */
}

TEST(a_file_that_is_replaced_before_it_is_read_is_counted, begin, end)
{
    static const char *const others[] = {NULL, "../elsewhere", "/dev/zero", "a folder"};
    put_text("elsewhere", "a 9\n");
    for (size_t i = 0; i < HPX_ARRAY_LEN(others); i++) {
        uint64_t before = broken("gone");
        put_text("in/x", "a 1\n");
        put_text("in/y", "a 2\n");
        touch("in/x", 10 + (int64_t)i);
        touch("in/y", 20 + (int64_t)i);
        replaces = "in/y";
        by = others[i];
        scan_says("x 1\n", "hprofx: y is not sent: it was removed or replaced before it was read\n");
        assert_int_equal(broken("gone"), before + 1);
        settle();
        (void)unlinkat(dir, "in/y", i == 3 ? AT_REMOVEDIR : 0);
        (void)unlinkat(dir, "in/x", 0);
    }
}

/* ---- looks ---- */

static bool refuses, says_nothing; /* inotify */
int __real_inotify_init1(int flags);
int __wrap_inotify_init1(int flags);
int __wrap_inotify_init1(int flags)
{
    errno = EMFILE;
    return refuses ? -1 : __real_inotify_init1(flags);
}

int __real_inotify_add_watch(int fd, const char *path, uint32_t mask);
int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask);
int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    return __real_inotify_add_watch(fd, says_nothing ? "quiet" : path, mask);
}

static uint64_t looks(void)
{
    return hpx_metric_get(HPX_METRIC_FILES_LOOKED_AT, NULL, NULL);
}

enum { FILES = 50 };

static void put_many(void)
{
    for (int i = 0; i < FILES; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "in/x%d", i);
        put_text(name, "a 1\n");
    }
    touch("in", 1700000000); /* long ago */
    touch("in2", 1700000000);
    uint64_t before = looks();
    handed[0] = '\0';
    assert_int_equal(hpx_intake_scan(intake, 1000, take, &asked), FILES);
    settle();
    assert_int_equal(looks(), before + FILES);
}

TEST(in_any_case_everything_is_looked_at_from_time_to_time, begin, end)
{
    put_many();
    uint64_t before = looks();
    for (int i = 0; i < 600; i++) {
        handed[0] = '\0';
        (void)hpx_intake_scan(intake, 1000, take, &asked);
    }
    assert_int_equal(looks(), before + FILES);
}

TEST(files_that_are_gone_are_forgotten, begin, end)
{
    struct stat st;
    for (int round = 0; round < 10; round++) {
        put_many();
        for (int i = 0; i < FILES; i++) {
            char name[16];
            (void)snprintf(name, sizeof name, "in/x%d", i);
            assert_int_equal(unlinkat(dir, name, 0), 0);
        }
    }
    put_text("in/y", "a 1\n");
    scan_gives("y 1\n");
    settle();
    assert_int_equal(fstatat(dir, "seen", &st, 0), 0);
    assert_true(st.st_size < (off_t)4 * FILES * 60); /* ten times as many have been there */
}

/* No more watches for this user; or a network's folder, of which the kernel says nothing. */
TEST(without_inotify_the_folders_time_tells, begin, end)
{
    assert_int_equal(mkdirat(dir, "quiet", 0700), 0);
    for (int way = 0; way < 2; way++) {
        refuses = way == 0;
        says_nothing = way == 1;
        (void)unlinkat(dir, "seen", 0);
        restart();
        put_many();
        scan_gives(""); /* the time is that of touch() */
        uint64_t before = looks();
        for (int i = 0; i < 20; i++) {
            scan_gives("");
        }
        assert_int_equal(looks(), before);
        put_text("in/y", "a 2\n");
        scan_gives("y 2\n");
        before = looks();
        put_text("in/z", "a 3\n"); /* the time may be the same */
        scan_gives("z 3\n");
        assert_true(looks() > before);
        assert_true(unlinkat(dir, "in/y", 0) == 0 && unlinkat(dir, "in/z", 0) == 0);
    }
    refuses = says_nothing = false;
}

/* ---- files that kill ---- */

static void die_while_reading(const char *name)
{
    hpx_intake_close(intake);
    intake = NULL;
    pid_t child = fork();
    if (child == 0) {
        kills = name;
        intake = hpx_intake_open(&asked, &err);
        (void)(intake != NULL && hpx_intake_scan(intake, 1000, take, &asked));
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(a_file_that_was_read_when_something_else_killed_the_shipper_is_sent, begin, end)
{
    put_text("in/early", "a 1\n");
    put_text("in/late", "a 3\n");
    touch("in/early", 1);
    touch("in/late", 3);
    die_while_reading("early");
    die_while_reading("late");
    hush();
    open_intake();
    assert_string_equal(said(), "");
    scan_gives("early 1\nlate 3\n");
}

TEST(two_files_that_kill_are_both_set_aside, begin, end)
{
    put_text("in/bad", "a 2\n");
    put_text("in/worse", "a 2\n");
    put_text("in/late", "a 3\n");
    touch("in/bad", 1);
    touch("in/worse", 2);
    touch("in/late", 3);
    hush();
    die_while_reading("bad");
    die_while_reading("bad");
    die_while_reading("worse");
    die_while_reading("worse");
    open_intake();
    assert_non_null(strstr(said(), "worse is set aside"));
    scan_gives("late 3\n");
}

/* ---- what is removed ---- */

TEST(what_was_settled_may_be_removed, begin, end)
{
    asked.removes = true;
    restart();
    put_text("in/x", "a 1\n");
    put_text("in/grows", "a 2\n");
    put_text("in/replaced", "a 3\n");
    put_text("in/broken", "?");
    put_text("elsewhere", "a 4\n");
    handed[0] = '\0';
    hush();
    assert_int_equal(hpx_intake_scan(intake, 1000, take, &asked), 3);
    (void)said();
    assert_true(there("in/x")); /* not before it is in the spools */
    put_text("in/grows", "a 2\nb 5\n");
    assert_int_equal(unlinkat(dir, "in/replaced", 0), 0);
    assert_int_equal(symlinkat("../elsewhere", dir, "in/replaced"), 0);
    settle();
    assert_false(there("in/x"));
    assert_true(there("in/grows") && there("in/replaced") && there("in/broken") && there("elsewhere"));
    scan_says("", "");
}

TEST(of_folders_of_our_own_everything_that_was_taken_is_removed, begin, end)
{
    asked.removes = asked.owns = true;
    restart();
    assert_false(hpx_intake_unsettled(intake));
    put_text("in/broken", "?");
    put_text("in/x.part", "?");
    scan_gives("");
    assert_true(hpx_intake_unsettled(intake)); /* although nothing was handed on */
    settle();
    assert_false(hpx_intake_unsettled(intake));
    assert_true(!there("in/broken") && there("in/x.part"));
}

TEST(a_list_that_cannot_be_written_is_told_once, begin, end)
{
    assert_int_equal(mkdirat(dir, "seen.part", 0700), 0); /* in the way */
    for (int i = 0; i < 3; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "in/x%d", i);
        put_text(name, "a 1\n");
        (void)hpx_intake_scan(intake, 1000, take, &asked);
        hush();
        bool kept = hpx_intake_settle(intake);
        assert_string_equal(said(), i > 0 ? ""
                                          : "hprofx: what was sent cannot be remembered (File exists): after a restart it may be sent "
                                            "again\n");
        assert_false(kept);
    }
    assert_int_equal(unlinkat(dir, "seen.part", AT_REMOVEDIR), 0);
    put_text("in/y", "a 1\n");
    scan_gives("y 1\n");
    settle();
    restart();
    scan_gives(""); /* nothing that came before is forgotten */
}

/* ---- what is broken ---- */

TEST(what_may_not_be_read_is_told, begin, end)
{
    uint64_t before = broken("unreadable");
    uid_t user = geteuid();
    put_text("in/x", "a 1\n");
    assert_int_equal(fchmodat(dir, "in/x", 0, 0), 0);
    assert_int_equal(fchmodat(dir, "in", 0755, 0), 0);
    assert_int_equal(fchmodat(dir, "in2", 0755, 0), 0);
    assert_int_equal(fchmodat(dir, ".", 0755, 0), 0);
    handed[0] = '\0';
    assert_int_equal(user == 0 ? seteuid(65534) : 0, 0); /* root may read everything */
    hush();
    size_t n = hpx_intake_scan(intake, 1000, take, &asked);
    const char *text = said();
    assert_int_equal(seteuid(user), 0);
    assert_string_equal(text, "hprofx: x is not sent: Permission denied\n");
    assert_int_equal(n, 0);
    assert_int_equal(broken("unreadable"), before + 1);
}

/* ---- begin and end; memory ---- */

TEST(a_folder_that_is_not_there_is_told, begin, end)
{
    const char *const missing[] = {"in", "missing"};
    const struct hpx_intake_asked a = {.folders = missing, .nfolders = 2, .state = dir};
    assert_null(hpx_intake_open(&a, &err));
    assert_string_equal(err.msg, "missing: No such file or directory");
    assert_int_equal(symlinkat("x", dir, "seen"), 0);
    assert_null(hpx_intake_open(&asked, &err));
    assert_string_equal(err.msg, "the file `seen` of the spool cannot be read: Too many levels of symbolic links");
    hpx_intake_close(NULL);
    assert_int_equal(unlinkat(dir, "seen", 0), 0);
}

TEST(without_memory_a_profile_is_handed_on_once_or_counted, begin, end)
{
    uint64_t step = memory_fault_step();
    bool reached = true;
    put_text("in/x", "main;a 1\n");
    put_text("in/y", "main;a 1\n");
    put_text("in/z", "main;b 1\n");
    hush();
    for (uint64_t first = memory_first_fault(); reached; first += step) {
        uint64_t lost = broken("no memory") + broken("not a profile") + broken("unreadable");
        hpx_intake_close(intake);
        (void)unlinkat(dir, "seen", 0);
        handed[0] = '\0';
        memory_fail(first, first);
        intake = hpx_intake_open(&asked, &err);
        size_t n = intake != NULL ? hpx_intake_scan(intake, 1000, take, &asked) : 0;
        (void)(intake != NULL && hpx_intake_settle(intake));
        reached = memory_calls() >= first;
        memory_allow();
        if (intake == NULL) {
            assert_true(reached);
            open_intake();
        }
        n += hpx_intake_scan(intake, 1000, take, &asked); /* what was not looked at comes now */
        n += hpx_intake_scan(intake, 1000, take, &asked);
        lost = broken("no memory") + broken("not a profile") + broken("unreadable") - lost;
        settle();
        restart();
        n += hpx_intake_scan(intake, 1000, take, &asked);
        if (n + lost != 3) {
            (void)said();
            fail_msg("fault %llu: %zu handed on, %llu counted", (unsigned long long)first, n, (unsigned long long)lost);
        }
    }
    (void)said();
}

TESTS(NULL, NULL)
