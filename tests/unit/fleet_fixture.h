/* SPDX-License-Identifier: BSD-2-Clause */
/* fleet_fixture.h: each test in a new folder, which is open as `dir`; what is said on stderr meanwhile; and trees with a few stacks. */
#ifndef HPX_FLEET_FIXTURE_H
#define HPX_FLEET_FIXTURE_H

#include "cmocka_all.h"
#include "tree.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/hpx_fleet_XXXXXX";
static int dir = -1, said_fd = -1, true_stderr = -1;

static inline int setup(void **state)
{
    (void)state;
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        return -1;
    }
    dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    said_fd = memfd_create("said", MFD_CLOEXEC);
    true_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    return dir < 0 || said_fd < 0 || true_stderr < 0 ? -1 : 0;
}

static inline int teardown(void **state)
{
    char command[128];
    (void)state;
    (void)close(dir);
    (void)close(said_fd);
    (void)close(true_stderr);
    (void)snprintf(command, sizeof command, "chmod -R u+rwx '%s'; rm -rf '%s'", folder, folder);
    return chdir("/") != 0 || system(command) != 0; /* NOLINT(cert-env33-c): the folder's name is ours */
}

/* From here on stderr is kept for said(). A test that fails in between says so on standard output, as cmocka does it, too. */
static inline void hush(void)
{
    (void)fflush(stderr);
    (void)dup2(said_fd, STDERR_FILENO);
}

static inline const char *said(void)
{
    static char text[65536];
    (void)fflush(stderr);
    (void)dup2(true_stderr, STDERR_FILENO);
    ssize_t n = pread(said_fd, text, sizeof text - 1, 0);
    text[n < 0 ? 0 : n] = '\0';
    (void)ftruncate(said_fd, 0);
    (void)lseek(said_fd, 0, SEEK_SET);
    return text;
}

/* Makes a file of the folder, or replaces its content. */
static inline void put(const char *name, const char *bytes, size_t n)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    assert_int_equal(close(fd), 0);
}

static inline void put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

/* NULL: there is no such file. The caller frees it. */
static inline char *content(const char *name, size_t *n)
{
    struct stat st;
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    assert_int_equal(fstat(fd, &st), 0);
    char *bytes = malloc((size_t)st.st_size + 1);
    assert_non_null(bytes);
    assert_int_equal(pread(fd, bytes, (size_t)st.st_size, 0), st.st_size);
    bytes[st.st_size] = '\0';
    *n = (size_t)st.st_size;
    (void)close(fd);
    return bytes;
}

static inline bool there(const char *name)
{
    struct stat st;
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- trees ---- */

static inline uint32_t name_in(struct hpx_tree *t, const char *text)
{
    return hpx_tree_name(t, text, strlen(text));
}

/* The node of a stack like "main;p.C.m"; "": the root. */
static inline uint32_t stack_in(struct hpx_tree *t, const char *frames)
{
    uint32_t node = 0;
    for (const char *at = frames; *at != '\0'; at += *at == ';') {
        size_t n = strcspn(at, ";");
        node = hpx_tree_node(t, node, hpx_tree_frame(t, hpx_tree_name(t, at, n), 0, 0, HPX_FRAME_METHOD));
        at += n;
    }
    return node;
}

static inline void origin_in(struct hpx_tree *t, const char *host, uint64_t pid, const char *service, uint64_t number)
{
    t->origin = (struct hpx_tree_origin){
        .host = name_in(t, host), .service = name_in(t, service), .pid = pid, .began_ms = 1700000000000, .number = number};
    t->start_ms = 1700000000000 + number * 60000;
    t->duration_ms = 60000;
}

#endif
