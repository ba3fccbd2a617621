/* SPDX-License-Identifier: BSD-2-Clause */
/* test_out.c: the buffer, errors at every place, sections, publishing; against a system made of memory. */
#include "cmocka_all.h"
#include "out.h"
#include "said.h"
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake {
    char data[1 << 20];
    size_t len;
    unsigned calls;
    unsigned short_every; /* each n-th write takes one byte */
    unsigned eintr_every;
    unsigned fail_at; /* this write and all later ones fail */
    int error;
    bool truncate_fails, publish_fails, close_fails, zero;
    unsigned truncated, published, closed;
};

static struct hpx_out out;

static ssize_t fake_write(void *ctx, const void *p, size_t n)
{
    struct fake *f = ctx;
    f->calls++;
    if (f->eintr_every && f->calls % f->eintr_every == 0) {
        errno = EINTR;
        return -1;
    }
    if (f->fail_at && f->calls >= f->fail_at) {
        errno = f->error;
        return f->zero ? 0 : -1;
    }
    if (f->short_every && f->calls % f->short_every == 0) {
        n = 1;
    }
    assert_true(f->len + n <= sizeof(f->data));
    memcpy(f->data + f->len, p, n);
    f->len += n;
    return (ssize_t)n;
}

static int fake_truncate(void *ctx, off_t length)
{
    struct fake *f = ctx;
    if (f->truncate_fails) {
        errno = EIO;
        return -1;
    }
    f->truncated++;
    f->len = (size_t)length;
    return 0;
}

static int fake_publish(void *ctx)
{
    struct fake *f = ctx;
    if (f->publish_fails) {
        errno = EISDIR;
        return -1;
    }
    f->published++;
    return 0;
}

static int fake_close(void *ctx)
{
    struct fake *f = ctx;
    assert_null(out.ctx); /* the child of a fork looks into what it names */
    f->closed++;
    errno = EDQUOT;
    return f->close_fails ? -1 : 0;
}

static const struct hpx_out_ops fake_ops = {fake_write, fake_truncate, fake_publish, fake_close};
static const struct hpx_out_ops plain_ops = {fake_write, NULL, NULL, fake_close};

static struct fake fake;

static int setup(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    said_begin();
    return hpx_out_init(&out, &fake_ops, &fake, "x.txt.part");
}

static int teardown(void **state)
{
    (void)state;
    said_end();
    return 0;
}

/* 300 lines of one section: more than one buffer at 1000 bytes each. */
static void put_section(unsigned lines, char letter)
{
    char line[1000];
    memset(line, letter, sizeof(line));
    line[999] = '\n';
    for (unsigned i = 0; i < lines; i++) {
        hpx_out_bytes(&out, line, sizeof(line));
    }
}

TEST(short_writes_and_eintr_are_repeated, setup, teardown)
{
    fake.short_every = 2;
    fake.eintr_every = 3;
    put_section(300, 'a');
    assert_int_equal(hpx_out_section(&out, false), 0);
    assert_int_equal(fake.len, 300000);
    assert_int_equal(out.progress, 300000);
    assert_int_equal(fake.published, 0);
    for (size_t i = 0; i < fake.len; i++) {
        assert_int_equal(fake.data[i], i % 1000 == 999 ? '\n' : 'a');
    }
    assert_int_equal(hpx_out_close(&out), 0);
    assert_int_equal(fake.published, 1);
}

TEST(an_error_at_any_write_leaves_the_last_complete_section, setup, teardown)
{
    for (unsigned k = 1; k <= 20; k++) {
        assert_int_equal(hpx_out_close(&out), 0);
        teardown(state);
        setup(state);
        fake.fail_at = k;
        fake.error = ENOSPC;
        bool failed = false;
        size_t complete = 0;
        uint64_t given = 0;
        for (int section = 0; section < 4; section++) {
            put_section(150, (char)('a' + section));
            given += 150000;
            int rc = hpx_out_section(&out, true);
            assert_true(!failed || rc != 0);
            failed = rc != 0;
            complete += failed ? 0 : 150000;
        }
        assert_int_equal(failed, k <= 12); /* 3 writes a section */
        assert_int_equal(fake.len, complete);
        assert_int_equal(out.lost, given - complete);
        assert_int_equal(fake.calls, k <= 12 ? k : 12); /* nothing is tried after the error */
        assert_int_equal(fake.published, complete > 0);
        if (failed) {
            assert_int_equal(out.error, ENOSPC);
            char expect[256];
            snprintf(expect, sizeof(expect),
                     "hprofx: file=x.txt.part: No space left on device: %s; free some space or choose another file=\n",
                     complete > 0 ? "the output ends after its last complete section" : "no section of the output is complete");
            assert_string_equal(said(), expect);
            fake.fail_at = 0;
            assert_int_equal(hpx_out_close(&out), -HPX_E_IO);
            assert_int_equal(fake.published, complete > 0);
            assert_string_equal(said(), expect);
            teardown(state);
            assert_int_equal(setup(state), 0);
        }
    }
    assert_int_equal(hpx_out_close(&out), 0);
}

TEST(an_output_that_cannot_be_cut_back_says_so, setup, teardown)
{
    fake.fail_at = 2;
    fake.error = EPIPE;
    fake.truncate_fails = true;
    put_section(100, 'a');
    assert_int_equal(hpx_out_section(&out, true), -HPX_E_IO);
    assert_int_equal(fake.len, 65536);
    assert_int_equal(out.lost, 100000 - 65536);
    assert_string_equal(
        said(), "hprofx: file=x.txt.part: Broken pipe: the output ends inside a section; keep a reader attached until the program ends\n");
    assert_int_equal(hpx_out_close(&out), -HPX_E_IO);
    assert_int_equal(fake.published, 0);
}

TEST(a_write_that_takes_nothing_is_an_error_and_no_endless_loop, setup, teardown)
{
    fake.fail_at = 1;
    fake.zero = true;
    hpx_out_str(&out, "x");
    assert_int_equal(hpx_out_flush(&out), -HPX_E_IO);
    assert_int_equal(out.error, EIO);
    assert_int_equal(hpx_out_flush(&out), -HPX_E_IO);
    assert_int_equal(fake.calls, 1);
    assert_int_equal(hpx_out_close(&out), -HPX_E_IO);
}

TEST(a_failed_publish_is_said_once_and_tried_again, setup, teardown)
{
    fake.publish_fails = true;
    hpx_out_str(&out, "dump 1\n");
    assert_int_equal(hpx_out_section(&out, true), 0);
    hpx_out_str(&out, "dump 2\n");
    assert_int_equal(hpx_out_section(&out, true), 0);
    assert_string_equal(said(),
                        "hprofx: file=x.txt.part: cannot rename the output to its final name: Is a directory; it keeps this name\n");
    assert_int_equal(out.lost, 0);
    fake.publish_fails = false;
    assert_int_equal(hpx_out_close(&out), 0);
    assert_int_equal(fake.published, 1);
    assert_int_equal(fake.len, 14);
}

TEST(what_long_bytes_lose_is_counted, setup, teardown)
{
    static char text[5 * HPX_OUT_BUFFER];
    for (unsigned call = 1; call <= 3; call++) {
        hpx_out_close(&out);
        fake = (struct fake){.fail_at = call, .error = ENOSPC, .short_every = 2};
        assert_int_equal(hpx_out_init(&out, &fake_ops, &fake, "a.txt.part"), 0);
        hpx_out_bytes(&out, text, 9);
        hpx_out_bytes(&out, text, sizeof(text));
        assert_int_equal(hpx_out_flush(&out), -HPX_E_IO);
        assert_int_equal(out.lost, 9 + sizeof(text));
        assert_int_equal(out.written, 0);
    }
    hpx_out_close(&out);
}

static unsigned asked_for_room;
static bool room_was_made;

static bool make_room(void)
{
    asked_for_room++;
    fake.fail_at = room_was_made ? 0 : fake.fail_at;
    return room_was_made && asked_for_room == 1;
}

TEST(a_full_disk_is_asked_for_room_first, setup, teardown)
{
    static const struct {
        int error;
        bool made;
        unsigned asked;
        size_t len;
    } cases[] = {{ENOSPC, true, 1, 2}, {EDQUOT, true, 1, 2}, {ENOSPC, false, 1, 0}, {EFBIG, true, 0, 0}, {EIO, true, 0, 0}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        (void)hpx_out_close(&out);
        memset(&fake, 0, sizeof(fake));
        assert_int_equal(hpx_out_init(&out, &fake_ops, &fake, "x.txt.part"), 0);
        out.make_room = make_room;
        asked_for_room = 0;
        room_was_made = cases[i].made;
        fake.fail_at = 1;
        fake.error = cases[i].error;
        hpx_out_str(&out, "x\n");
        assert_int_equal(hpx_out_section(&out, true), cases[i].len > 0 ? 0 : -HPX_E_IO);
        assert_int_equal(asked_for_room, cases[i].asked);
        assert_int_equal(fake.len, cases[i].len);
        assert_int_equal(out.lost, 2 - cases[i].len);
    }
    assert_int_equal(said_times("raise the limit of the file size (ulimit -f)"), 1);
    (void)hpx_out_close(&out);
}

static const char *nowhere(void)
{
    return NULL;
}

static const char *elsewhere(void)
{
    return "it is elsewhere";
}

TEST(a_remedy_stands_in_the_place_of_advice, setup, teardown)
{
    for (int i = 0; i < 2; i++) {
        (void)hpx_out_close(&out);
        memset(&fake, 0, sizeof(fake));
        assert_int_equal(hpx_out_init(&out, &fake_ops, &fake, "x.txt.part"), 0);
        out.remedy = i == 0 ? nowhere : elsewhere;
        fake.fail_at = 1;
        fake.error = EIO;
        hpx_out_str(&out, "x\n");
        assert_int_equal(hpx_out_section(&out, true), -HPX_E_IO);
        assert_non_null(
            strstr(said(), i == 0 ? "no section of the output is complete; choose another file=" : "complete; it is elsewhere\n"));
    }
    (void)hpx_out_close(&out);
}

TEST(an_error_of_close_is_said, setup, teardown)
{
    char wanted[160];
    fake.close_fails = true;
    hpx_out_str(&out, "x");
    assert_int_equal(hpx_out_close(&out), -HPX_E_IO);
    (void)snprintf(wanted, sizeof wanted, "file=x.txt.part: %s: the end of the output may be missing; free some space", strerror(EDQUOT));
    assert_non_null(strstr(said(), wanted));
}

TEST(a_long_name_leaves_room_for_the_reason, setup, teardown)
{
    assert_int_equal(hpx_out_close(&out), 0);
    char name[4096];
    memset(name, 'n', sizeof(name));
    name[4095] = '\0';
    memset(&fake, 0, sizeof(fake));
    assert_int_equal(hpx_out_init(&out, &plain_ops, &fake, name), 0);
    fake.fail_at = 1;
    fake.error = ENOSPC;
    hpx_out_str(&out, "y");
    assert_int_equal(hpx_out_close(&out), -HPX_E_IO);
    assert_non_null(strstr(said(), "choose another file=\n"));
}

/* Skipped where no locale has a comma (LOCPATH may name a folder with one). */
TEST(figures_have_a_point_in_every_locale, setup, teardown)
{
    const char *comma = setlocale(LC_NUMERIC, "de_DE.UTF-8");
    char probe[16];
    snprintf(probe, sizeof(probe), "%.2f", 1.5);
    hpx_out_printf(&out, "%5.2f", 1.5);
    assert_int_equal(hpx_out_close(&out), 0);
    assert_memory_equal(fake.data, " 1.50", 5);
    if (comma == NULL || strcmp(probe, "1,50") != 0) {
        skip();
    }
    snprintf(probe, sizeof(probe), "%.2f", 1.5); /* the thread's locale is as it was */
    assert_string_equal(probe, "1,50");
    setlocale(LC_NUMERIC, "C");
}

TEST(what_is_taken_back_is_not_in_the_output, setup, teardown)
{
    assert_false(hpx_out_point(&out)); /* an output that is not plain has none */
    out.plain = true;
    for (int flushed = 0; flushed < 3; flushed++) { /* at the place, and behind what is taken back */
        fake.len = 0;
        hpx_out_str(&out, "a");
        if (flushed > 0) {
            assert_int_equal(hpx_out_flush(&out), 0);
        }
        assert_true(hpx_out_point(&out));
        uint64_t at = out.written + out.used;
        hpx_out_str(&out, "b");
        if (flushed > 1) {
            assert_int_equal(hpx_out_flush(&out), 0);
        }
        hpx_out_take_back(&out);
        assert_int_equal(out.written + out.used, at);
        hpx_out_str(&out, "c");
        assert_int_equal(hpx_out_section(&out, false), 0);
        assert_int_equal(fake.len, 2);
        assert_memory_equal(fake.data, "ac", 2);
        out.written = out.mark = 0;
    }
    assert_true(hpx_out_point(&out));
    hpx_out_str(&out, "d");
    assert_int_equal(hpx_out_flush(&out), 0);
    fake.truncate_fails = true;
    hpx_out_take_back(&out);
    assert_int_equal(out.error, EIO); /* nothing may follow what stays */
    assert_false(hpx_out_point(&out));
    assert_int_equal(said_times("the output ends inside a section"), 1);
    assert_int_equal(hpx_out_close(&out), -HPX_E_IO);
}

TESTS(NULL, NULL)
