/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fleet_seen.c: which files were handed on: over a restart, with hostile names and lines, without memory or disk. */
#include "failing_memory.h"
#include "fleet_fixture.h"
#include "seen.h"
#include <errno.h>
#include <sys/resource.h>

static struct hpx_err err;

static struct hpx_seen *opened(void)
{
    struct hpx_seen *s = hpx_seen_open(dir, &err);
    assert_non_null(s);
    return s;
}

static struct hpx_seen_file file(ino_t ino, const char *name, uint64_t run)
{
    return (struct hpx_seen_file){.dev = 5, .ino = ino, .born_ns = 7, .name = name, .run = run};
}

static bool has(struct hpx_seen *s, ino_t ino, const char *name)
{
    const struct hpx_seen_file f = file(ino, name, 0);
    return hpx_seen_has(s, &f);
}

static void add(struct hpx_seen *s, ino_t ino, const char *name, uint64_t run)
{
    const struct hpx_seen_file f = file(ino, name, run);
    assert_true(hpx_seen_add(s, &f));
}

TEST(a_file_is_known_by_device_inode_birth_and_name, setup, teardown)
{
    struct hpx_seen *s = opened();
    struct hpx_seen_file f = file(1, "a", 0);
    assert_false(hpx_seen_has(s, &f));
    assert_true(hpx_seen_add(s, &f));
    assert_true(hpx_seen_has(s, &f));
    assert_false(has(s, 2, "a"));
    assert_false(has(s, 1, "b"));
    f.dev = 6;
    assert_false(hpx_seen_has(s, &f));
    f = file(1, "a", 0);
    f.born_ns = 8;
    assert_false(hpx_seen_has(s, &f)); /* a new file with the inode of an old one */
    hpx_seen_close(s);
    hpx_seen_close(NULL);
}

TEST(a_dropped_file_is_new_again, setup, teardown)
{
    struct hpx_seen *s = opened();
    const struct hpx_seen_file a = file(1, "a", 0);
    hpx_seen_drop(s, &a); /* never added */
    add(s, 1, "a", 0);
    add(s, 2, "b", 0);
    hpx_seen_drop(s, &a);
    assert_false(has(s, 1, "a"));
    hpx_seen_keep(s);
    assert_true(hpx_seen_save(s));
    assert_false(has(s, 1, "a"));
    add(s, 1, "a", 0);
    assert_true(has(s, 1, "a"));
    hpx_seen_close(s);
}

TEST(lines_that_are_none_are_left_out, setup, teardown)
{
    static const char *const bad[] = {"",
                                      "\n",
                                      "1 2 3 4\n",
                                      "1 2 3 4 \n",
                                      "x 2 3 4 a\n",
                                      "1 2 3 4 a b\n",
                                      "1 2 3 4 a",
                                      "1 2 3 4 %\n",
                                      "1 2 3 4 x%4\n",
                                      "1 2 3 4 x%4x\n",
                                      "1 2 3 4 %00\n",
                                      "1 2 3 4 %-1\n",
                                      "1 2 3 4 %2f\n",
                                      "1 2 3 4 ../x\n",
                                      "1 2 3 4 %4A\n",
                                      "1 2 3 4\n5 a\n",
                                      "11112222333344445 2 3 4 a\n"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        size_t n = 0;
        put_text("seen", bad[i]);
        struct hpx_seen *s = opened();
        assert_true(hpx_seen_save(s));
        hpx_seen_close(s);
        char *text = content("seen", &n);
        if (n != 0) {
            fail_msg("%zu: %s", i, text);
        }
        free(text);
    }
    char line[2000] = "1 2 3 4 ";
    memset(line + 8, 'a', sizeof line - 8); /* a name that is too long by far, and one that ends in the middle of an escape */
    for (size_t n = 250; n < 1100; n++) {
        char cut[2000];
        (void)snprintf(cut, sizeof cut, "%.*s%%a\n5 6 7 8 b\n", (int)n, line);
        put_text("seen", cut);
        struct hpx_seen *s = opened();
        const struct hpx_seen_file b = {.dev = 5, .ino = 6, .born_ns = 7, .name = "b"};
        assert_true(hpx_seen_has(s, &b));
        hpx_seen_close(s);
    }
}

TEST(the_file_is_no_link_and_no_folder, setup, teardown)
{
    size_t n;
    put_text("elsewhere", "1 2 3 4 a\n");
    assert_int_equal(symlinkat("elsewhere", dir, "seen"), 0);
    assert_null(hpx_seen_open(dir, &err));
    assert_string_equal(err.msg, "the file `seen` of the spool cannot be read: Too many levels of symbolic links");
    assert_int_equal(unlinkat(dir, "seen", 0), 0);
    assert_int_equal(symlinkat("elsewhere", dir, "seen.part"), 0); /* it is not written through one, either */
    struct hpx_seen *s = opened();
    add(s, 1, "a", 0);
    assert_true(hpx_seen_save(s));
    hpx_seen_close(s);
    char *text = content("elsewhere", &n);
    assert_string_equal(text, "1 2 3 4 a\n");
    free(text);
    assert_int_equal(unlinkat(dir, "seen", 0), 0);
    assert_int_equal(mkdirat(dir, "seen", 0700), 0);
    assert_null(hpx_seen_open(dir, &err));
    assert_string_equal(err.msg, "the file `seen` of the spool cannot be read: Is a directory");
}

TEST(a_failed_save_leaves_the_file_and_what_is_known, setup, teardown)
{
    struct rlimit was, little;
    struct hpx_seen *s = opened();
    add(s, 1, "a", 0);
    assert_true(hpx_seen_save(s));
    add(s, 2, "b", 0);
    assert_true(has(s, 1, "a"));
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    little = (struct rlimit){4, was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    bool saved = hpx_seen_save(s);
    int error = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_false(saved);
    assert_int_equal(error, EFBIG);
    assert_true(has(s, 1, "a") && has(s, 2, "b"));
    struct hpx_seen *again = opened();
    assert_true(has(again, 1, "a") && !has(again, 2, "b"));
    hpx_seen_close(again);
    assert_true(hpx_seen_save(s));
    hpx_seen_close(s);
    again = opened();
    assert_true(has(again, 1, "a") && has(again, 2, "b"));
    hpx_seen_close(again);
}

/* A file for which there was no memory once is added later; what is said to be remembered is. */
TEST(without_memory_nothing_is_taken_for_known, setup, teardown)
{
    uint64_t step = memory_fault_step();
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        bool reached = true;
        for (uint64_t first = memory_first_fault(); reached; first += step) {
            bool added[200], saved = false;
            (void)unlinkat(dir, "seen", 0);
            memory_fail(first, for_ever ? UINT64_MAX : first);
            struct hpx_seen *s = hpx_seen_open(dir, &err);
            for (ino_t i = 0; s != NULL && i < 200; i++) {
                const struct hpx_seen_file f = file(i + 1, "name", i + 1);
                added[i] = hpx_seen_add(s, &f);
            }
            saved = s != NULL && hpx_seen_save(s);
            reached = memory_calls() >= first;
            memory_allow();
            for (ino_t i = 0; s != NULL && i < 200; i++) {
                assert_int_equal(has(s, i + 1, "name"), added[i]);
                add(s, i + 1, "name", i + 1);
                assert_true(has(s, i + 1, "name"));
            }
            assert_true(reached || saved);
            hpx_seen_close(s);
            s = saved ? opened() : NULL;
            for (ino_t i = 0; s != NULL && i < 200; i++) {
                assert_int_equal(has(s, i + 1, "name"), added[i]);
            }
            hpx_seen_close(s);
        }
    }
}

TEST(without_memory_to_read_it_the_file_is_not_taken_for_empty, setup, teardown)
{
    struct hpx_seen *s = opened();
    for (ino_t i = 0; i < 100; i++) {
        add(s, i + 1, "name", 0);
    }
    assert_true(hpx_seen_save(s));
    hpx_seen_close(s);
    bool reached = true;
    uint64_t step = memory_fault_step();
    for (uint64_t first = memory_first_fault(); reached; first += step) {
        memory_fail(first, first);
        s = hpx_seen_open(dir, &err);
        reached = memory_calls() >= first;
        memory_allow();
        assert_true(s != NULL || reached);
        for (ino_t i = 0; s != NULL && i < 100; i++) {
            assert_true(has(s, i + 1, "name"));
        }
        hpx_seen_close(s);
    }
}

TESTS(NULL, NULL)
