/* SPDX-License-Identifier: BSD-2-Clause */
/* said.c: what the code under test says on stderr, in a file that has no name. */
#include "said.h"
#include "log.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int said_fd;

void said_begin(void)
{
    said_fd = memfd_create("said", MFD_CLOEXEC);
    hpx_log_set_fd(said_fd);
}

void said_end(void)
{
    hpx_log_set_fd(2);
    close(said_fd);
}

const char *said(void)
{
    static char text[16384];
    ssize_t n = pread(said_fd, text, sizeof(text) - 1, 0);
    text[n < 0 ? 0 : n] = '\0';
    return text;
}

unsigned said_times(const char *what)
{
    unsigned n = 0;
    for (const char *at = strstr(said(), what); at != NULL; at = strstr(at + 1, what)) {
        n++;
    }
    return n;
}
