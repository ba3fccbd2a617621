/* SPDX-License-Identifier: BSD-2-Clause */
/* folder_fixture.h: each test in a new folder, with what is said on stderr in the file "said" there. */
#ifndef HPX_FOLDER_FIXTURE_H
#define HPX_FOLDER_FIXTURE_H

#include "cmocka_all.h"
#include "log.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/hpx_unit_XXXXXX";
static int said_fd = -1;

static int setup(void **state)
{
    (void)state;
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        return -1;
    }
    said_fd = open("said", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    hpx_log_set_fd(said_fd);
    return said_fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    hpx_log_set_fd(2);
    close(said_fd);
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return chdir("/") != 0 || system(command) != 0;
}

/* Made with its folders. */
static inline void file(const char *path, const char *text)
{
    char command[256];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname ./%s)\"", path);
    assert_int_equal(system(command), 0);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* NULL: not there. */
static const char *content(const char *name)
{
    static char text[4][131072];
    static unsigned which;
    char *t = text[which++ % 4];
    int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    ssize_t n = read(fd, t, sizeof(text[0]) - 1);
    t[n < 0 ? 0 : n] = '\0';
    close(fd);
    return t;
}

#endif
