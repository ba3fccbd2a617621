/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fleet_spool.c: the spool: order, bound, restart, what may stand in its folder, a full disk, no memory, what is being sent. Threads:
 * tests/stress/stress_spool.c. */
#include "failing_memory.h"
#include "fleet_fixture.h"
#include "spool.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/resource.h>

static struct hpx_err err;

/* What was told of batches that were dropped. */
static struct {
    unsigned times;
    uint64_t profiles;
    char causes[1024];
} lost;

static void dropped(void *ctx, const struct hpx_batch_head *head, const char *cause)
{
    assert_ptr_equal(ctx, &lost);
    lost.times++;
    lost.profiles += head->profiles;
    (void)snprintf(lost.causes + strlen(lost.causes), sizeof lost.causes - strlen(lost.causes), "%s;", cause);
}

static int begin(void **state)
{
    memset(&lost, 0, sizeof lost);
    return setup(state);
}

static struct hpx_spool *opened(uint64_t most)
{
    struct hpx_spool *s = hpx_spool_open(dir, "0", most, dropped, &lost, &err);
    if (s == NULL) {
        fail_msg("%s", err.msg);
    }
    return s;
}

static const struct hpx_batch_head *head_of(uint64_t profiles)
{
    static struct hpx_batch_head h;
    h = (struct hpx_batch_head){.profiles = profiles, .oldest_ms = 1000 * profiles, .nkinds = 1, .kinds = {{"cpu", 10 * profiles}}};
    return &h;
}

static bool try_add(struct hpx_spool *s, uint64_t profiles, const char *body)
{
    int fd = hpx_spool_begin(s);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, body, strlen(body)), strlen(body));
    return hpx_spool_add(s, fd, head_of(profiles));
}

static void add(struct hpx_spool *s, uint64_t profiles, const char *body)
{
    assert_true(try_add(s, profiles, body));
}

/* The oldest is this one; it is removed. */
static void sends(struct hpx_spool *s, uint64_t profiles, const char *body)
{
    struct hpx_spool_item item;
    assert_true(hpx_spool_take(s, &item, 0));
    assert_true(hpx_spool_read(s, &item));
    assert_true(hpx_spool_read(s, &item)); /* once */
    assert_int_equal(item.head.profiles, profiles);
    assert_int_equal(item.head.oldest_ms, 1000 * profiles);
    assert_int_equal(item.head.nkinds, 1);
    assert_int_equal(item.head.kinds[0].sum, 10 * profiles);
    assert_int_equal(item.n, strlen(body));
    assert_memory_equal(item.body, body, item.n);
    hpx_spool_done(s, &item);
}

static void is_empty(struct hpx_spool *s)
{
    struct hpx_spool_item item;
    struct hpx_spool_state st;
    assert_false(hpx_spool_take(s, &item, 0));
    hpx_spool_look(s, &st);
    assert_int_equal(st.batches, 0);
    assert_int_equal(st.bytes, 0);
    assert_int_equal(st.oldest_ms, 0);
}

static unsigned files(void)
{
    unsigned n = 0;
    DIR *d = opendir("0");
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        n += e->d_name[0] != '.';
    }
    (void)closedir(d);
    return n;
}

TEST(what_is_being_sent_is_not_dropped, begin, teardown)
{
    struct hpx_spool_item item;
    struct hpx_spool *s = opened(2 * (HPX_BATCH_LINE + 4));
    add(s, 1, "body");
    assert_true(hpx_spool_take(s, &item, 0));
    assert_false(hpx_spool_drop(s, "disk full")); /* there is no other */
    for (uint64_t i = 2; i <= 4; i++) {
        add(s, i, "body");
    }
    assert_int_equal(lost.profiles, 2 + 3);
    assert_true(hpx_spool_read(s, &item));
    assert_int_equal(item.head.profiles, 1);
    hpx_spool_later(s, &item);
    assert_true(hpx_spool_drop(s, "disk full")); /* now it may go */
    assert_int_equal(lost.profiles, 2 + 3 + 1);
    sends(s, 4, "body");
    assert_false(hpx_spool_drop(s, "disk full"));
    hpx_spool_close(s);
}

/* ---- what may stand in the folder ---- */

static void whole_file(const char *name, uint64_t profiles, const char *body)
{
    char bytes[HPX_BATCH_LINE + 100];
    hpx_batch_head_write(head_of(profiles), bytes);
    memcpy(bytes + HPX_BATCH_LINE, body, strlen(body));
    put(name, bytes, HPX_BATCH_LINE + strlen(body));
}

TEST(broken_files_are_dropped_and_told, begin, teardown)
{
    assert_int_equal(mkdirat(dir, "0", 0700), 0);
    put_text("0/0000000000000001", "");
    put_text("0/0000000000000002", "no line");
    char line[HPX_BATCH_LINE];
    memset(line, 0, sizeof line);
    put("0/0000000000000003", line, sizeof line);
    whole_file("0/0000000000000004", 4, "four");
    put_text("elsewhere", "x");
    assert_int_equal(symlinkat("../elsewhere", dir, "0/0000000000000005"), 0);
    assert_int_equal(mkfifoat(dir, "0/0000000000000006", 0600), 0);
    assert_int_equal(mkdirat(dir, "0/0000000000000007", 0700), 0);
    struct hpx_spool *s = opened(1 << 20);
    assert_int_equal(lost.times, 6);
    assert_string_equal(lost.causes, "broken;broken;broken;broken;broken;broken;");
    assert_true(there("elsewhere") && !there("0/0000000000000005") && !there("0/0000000000000006") && there("0/0000000000000007"));
    add(s, 8, "eight"); /* not in the place of the folder */
    assert_true(there("0/0000000000000008"));
    sends(s, 4, "four");
    sends(s, 8, "eight");
    is_empty(s);
    hpx_spool_close(s);
}

TEST(names_that_are_no_numbers_of_ours_are_left_alone, begin, teardown)
{
    static const char *const names[] = {
        "1",    "000000000000000A", "00000000000000001", "-000000000000001", "0x00000000000001", " 000000000000001", "0000000000000001x",
        "seen", "000000000000001 "};
    assert_int_equal(mkdirat(dir, "0", 0700), 0);
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "0/%s", names[i]);
        whole_file(path, 9, "x");
    }
    struct hpx_spool *s = opened(1 << 20);
    is_empty(s);
    add(s, 1, "one");
    sends(s, 1, "one");
    hpx_spool_close(s);
    assert_int_equal(files(), HPX_ARRAY_LEN(names));
    assert_int_equal(lost.times, 0);
}

/* Behind the largest number there would be 0, and files of this number would be replaced. */
TEST(numbers_do_not_wrap, begin, teardown)
{
    assert_int_equal(mkdirat(dir, "0", 0700), 0);
    whole_file("0/ffffffffffffffff", 5, "x");
    whole_file("0/7fffffffffffffff", 6, "x");
    whole_file("0/7ffffffffffffffd", 7, "seven");
    struct hpx_spool *s = opened(1 << 20);
    assert_int_equal(lost.times, 2);
    assert_int_equal(lost.profiles, 11);
    add(s, 8, "eight");
    hpx_spool_close(s);
    s = opened(1 << 20);
    sends(s, 7, "seven");
    sends(s, 8, "eight");
    is_empty(s);
    hpx_spool_close(s);
}

TEST(a_body_that_is_broken_while_it_waits_is_not_sent, begin, teardown)
{
    static const char *const how[] = {"gone", "a link", "short", "no line", "a folder"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(how); i++) {
        struct hpx_spool_item item;
        struct hpx_spool *s = opened(1 << 20);
        add(s, 1, "one");
        add(s, 2, "two");
        char name[32];
        assert_true(hpx_spool_take(s, &item, 0));
        (void)snprintf(name, sizeof name, "0/%016" PRIx64, item.number);
        (void)(i == 2 ? truncate(name, HPX_BATCH_LINE - 1) : i == 3 ? truncate(name, 0) : unlink(name));
        (void)(i == 1 ? symlink("/etc/passwd", name) : i == 4 ? mkdir(name, 0700) : 0);
        errno = 0;
        assert_false(hpx_spool_read(s, &item));
        assert_int_equal(errno, EINVAL);
        assert_null(item.body);
        hpx_spool_done(s, &item);
        sends(s, 2, "two");
        is_empty(s);
        hpx_spool_close(s);
        (void)rmdir(name);
    }
}

TEST(the_folder_is_no_link, begin, teardown)
{
    assert_int_equal(mkdirat(dir, "elsewhere", 0700), 0);
    assert_int_equal(symlinkat("elsewhere", dir, "0"), 0);
    assert_null(hpx_spool_open(dir, "0", 1, dropped, &lost, &err));
    assert_string_equal(err.msg, "the folder 0 of the spool cannot be read: Not a directory");
    assert_int_equal(unlinkat(dir, "0", 0), 0);
    put_text("0", "");
    assert_null(hpx_spool_open(dir, "0", 1, dropped, &lost, &err));
    assert_null(hpx_spool_open(dir, "0/x", 1, dropped, &lost, &err));
    assert_string_equal(err.msg, "the folder 0/x of the spool cannot be made: Not a directory");
    assert_int_equal(unlinkat(dir, "0", 0), 0);
    struct hpx_spool *s = opened(1 << 20);
    put_text("target", "x");
    assert_int_equal(symlink("../target", "0/body.part"), 0); /* it is not written through one */
    add(s, 1, "one");
    sends(s, 1, "one");
    size_t n;
    char *text = content("target", &n);
    assert_string_equal(text, "x");
    free(text);
    hpx_spool_close(s);
}

/* ---- a full disk ---- */

static unsigned full_writes; /* of the next lines */
static int full_error;
ssize_t __real_pwrite(int fd, const void *bytes, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    if (full_writes > 0) {
        full_writes--;
        errno = full_error != 0 ? full_error : errno;
        return full_error != 0 ? -1 : __real_pwrite(fd, bytes, n / 2, at); /* or a part of it */
    }
    return __real_pwrite(fd, bytes, n, at);
}

TEST(a_full_disk_costs_the_oldest, begin, teardown)
{
    static const int errors[] = {ENOSPC, EDQUOT, 0};
    for (size_t i = 0; i < HPX_ARRAY_LEN(errors); i++) {
        struct hpx_spool *s = opened(1 << 20);
        memset(&lost, 0, sizeof lost);
        add(s, 1, "one");
        add(s, 2, "two");
        add(s, 3, "three");
        full_writes = 2;
        full_error = errors[i];
        add(s, 4, "four");
        assert_string_equal(lost.causes, "disk full;disk full;");
        assert_int_equal(lost.profiles, 1 + 2);
        full_writes = 3; /* two can go, and that is not enough */
        assert_false(try_add(s, 5, "five"));
        assert_int_equal(lost.profiles, 1 + 2 + 3 + 4 + 5);
        hpx_spool_close(s);
        assert_int_equal(files(), 0);
    }
}

TEST(another_failure_costs_the_new_one, begin, teardown)
{
    struct hpx_spool *s = opened(1 << 20);
    add(s, 1, "one");
    full_writes = 1;
    full_error = EIO;
    assert_false(try_add(s, 2, "two"));
    assert_string_equal(lost.causes, "spool cannot be written;");
    assert_int_equal(lost.profiles, 2);
    assert_false(there("0/body.part"));
    sends(s, 1, "one");
    assert_int_equal(chmod("0", 0500), 0);
    if (geteuid() != 0) { /* who may write everywhere */
        assert_int_equal(hpx_spool_begin(s), -1);
        assert_int_equal(errno, EACCES);
    }
    assert_int_equal(chmod("0", 0700), 0);
    hpx_spool_close(s);
    assert_string_equal(hpx_spool_cause(ENOMEM), "no memory");
    assert_string_equal(hpx_spool_cause(EDQUOT), "disk full");
}

/* ---- no memory, no descriptors ---- */

TEST(without_memory_a_body_is_told_or_waits, begin, teardown)
{
    uint64_t step = memory_fault_step();
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        bool reached = true;
        for (uint64_t first = memory_first_fault(); reached; first += step) {
            uint64_t sent = 0;
            struct hpx_spool_item item;
            memset(&lost, 0, sizeof lost);
            memory_fail(first, for_ever ? UINT64_MAX : first);
            struct hpx_spool *s = hpx_spool_open(dir, "0", 1 << 20, dropped, &lost, &err);
            for (uint64_t i = 0; s != NULL && i < 40; i++) {
                (void)try_add(s, 1, "body");
            }
            while (s != NULL && hpx_spool_take(s, &item, 0)) {
                bool whole = hpx_spool_read(s, &item);
                if (!whole) {
                    assert_int_equal(errno, ENOMEM);
                    hpx_spool_later(s, &item);
                    reached = true;
                    memory_allow();
                    continue;
                }
                sent += item.head.profiles;
                hpx_spool_done(s, &item);
            }
            reached = memory_calls() >= first;
            memory_allow();
            assert_true(s != NULL || reached);
            assert_int_equal(sent + lost.profiles, s != NULL ? 40 : 0);
            assert_true(reached || lost.times == 0);
            assert_true(s == NULL || files() == 0);
            if (s != NULL) {
                hpx_spool_close(s);
            }
        }
    }
}

TEST(what_was_left_is_not_lost_without_memory, begin, teardown)
{
    uint64_t step = memory_fault_step();
    struct hpx_spool *s = opened(1 << 20);
    for (uint64_t i = 1; i <= 40; i++) {
        add(s, i, "body");
    }
    hpx_spool_close(s);
    bool reached = true;
    for (uint64_t first = memory_first_fault(); reached; first += step) {
        struct hpx_spool_state st;
        memory_fail(first, first);
        s = hpx_spool_open(dir, "0", 1 << 20, dropped, &lost, &err);
        reached = memory_calls() >= first;
        memory_allow();
        assert_true(s != NULL || reached);
        if (s != NULL) {
            hpx_spool_look(s, &st);
            assert_int_equal(st.batches, 40);
            hpx_spool_close(s);
        }
        assert_int_equal(files(), 40);
        assert_int_equal(lost.times, 0);
    }
}

TEST(without_descriptors_a_body_waits, begin, teardown)
{
    struct rlimit was, few;
    struct hpx_spool_item item;
    struct hpx_spool *s = opened(1 << 20);
    add(s, 1, "one");
    assert_true(hpx_spool_take(s, &item, 0));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    few = (struct rlimit){0, was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    bool whole = hpx_spool_read(s, &item);
    int error = errno;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    assert_false(whole);
    assert_int_equal(error, EMFILE);
    hpx_spool_later(s, &item);
    sends(s, 1, "one");
    hpx_spool_close(s);
}

TESTS(NULL, NULL)
