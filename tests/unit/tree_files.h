/* SPDX-License-Identifier: BSD-2-Clause */
/* tree_files.h: profiles as bytes that a tree is read from and written to; for tests, each of which has a tree of its own. */
#ifndef HPX_TESTS_TREE_FILES_H
#define HPX_TESTS_TREE_FILES_H

#include "cmocka_all.h"
#include "formats.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct hpx_tree tree;
static struct hpx_err err;

static int setup(void **state)
{
    (void)state;
    return hpx_tree_init(&tree) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    hpx_tree_fini(&tree);
    return 0;
}

static int file_of(const void *bytes, size_t n)
{
    int fd = memfd_create("profile", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static enum hpx_tree_read read_bytes(struct hpx_tree *t, const void *bytes, size_t n)
{
    int fd = file_of(bytes, n);
    err.msg[0] = '\0';
    enum hpx_tree_read done = hpx_tree_read(t, fd, NULL, NULL, &err);
    assert_int_equal(done == HPX_TREE_WHOLE, err.msg[0] == '\0');
    (void)close(fd);
    return done;
}

static inline enum hpx_tree_read read_text(const char *text)
{
    return read_bytes(&tree, text, strlen(text));
}

/* The finished tree as the writer with that suffix has it; the caller frees it. */
static char *written(const struct hpx_tree *t, const char *suffix, const char *column, size_t *n)
{
    char *text = NULL;
    struct hpx_tree_column c;
    FILE *to = open_memstream(&text, n);
    assert_non_null(to);
    assert_true(hpx_tree_column(t, column, &c));
    assert_true(hpx_format_of(suffix)->write(t, c, to));
    assert_int_equal(fclose(to), 0);
    return text;
}

static inline uint32_t name_of(const char *text)
{
    return hpx_tree_name(&tree, text, strlen(text));
}

static inline void assert_folded(const char *column, const char *wanted)
{
    size_t n;
    hpx_tree_finish(&tree);
    char *text = written(&tree, "x.folded", column, &n);
    assert_string_equal(text, wanted);
    free(text);
}

#endif
