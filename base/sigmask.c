/* SPDX-License-Identifier: BSD-2-Clause */
/* sigmask.c: reads masks of sigmask.h. */
#include "sigmask.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hpx_sigmask_read(pid_t tid, const char *which, uint64_t *mask)
{
    char path[64], line[256];
    int why = EIO; /* there is no such line */
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
    FILE *f = fopen(path, "re");
    if (f == NULL) {
        return errno == ENOENT ? ESRCH : errno;
    }
    errno = 0;
    while (why != 0 && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, which, strlen(which)) == 0) {
            *mask = strtoull(line + strlen(which), NULL, 16);
            why = 0;
        }
    }
    if (why != 0 && ferror(f) && errno != 0) {
        why = errno;
    }
    (void)fclose(f);
    return why;
}
