/* SPDX-License-Identifier: BSD-2-Clause */
/* tasks.h: the threads of this process, by the kernel's list: one that was joined, or that ends by itself, stands there for a moment more.
 */
#ifndef HPX_TASKS_H
#define HPX_TASKS_H

#include "cmocka_all.h"
#include <dirent.h>
#include <time.h>

static inline unsigned tasks(void)
{
    DIR *d = opendir("/proc/self/task");
    unsigned n = 0;
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

/* Waits until there are no more than `before`: how many there are. */
static inline unsigned tasks_left(unsigned before)
{
    for (int i = 0; i < 10000 && tasks() > before; i++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return tasks();
}

#endif
