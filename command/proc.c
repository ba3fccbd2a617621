/* SPDX-License-Identifier: BSD-2-Clause */
/* proc.c: see proc.h. */
#include "proc.h"
#include <limits.h>
#include <stdio.h>

bool hpx_proc_read(const char *root, pid_t pid, pid_t tid, const char *file, char *to, size_t size)
{
    char name[PATH_MAX];
    if (tid != 0) {
        (void)snprintf(name, sizeof name, "%s/proc/%d/task/%d/%s", root, (int)pid, (int)tid, file);
    } else {
        (void)snprintf(name, sizeof name, "%s/proc/%d/%s", root, (int)pid, file);
    }
    FILE *f = fopen(name, "re");
    size_t n = f != NULL ? fread(to, 1, size - 1, f) : 0;
    to[n] = 0;
    if (f != NULL) {
        (void)fclose(f);
    }
    return n > 0;
}
