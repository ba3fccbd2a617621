/* SPDX-License-Identifier: BSD-2-Clause */
/* starting.c: see starting.h. */
#include "starting.h"
#include "clock.h"
#include "proc.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND    UINT64_C(1000000000)
#define STEP_NS   20000000
#define LIFE_WAIT (HPX_STARTING_SECONDS * SECOND)

bool hpx_starting_wait(struct hpx_starting *w, const struct hpx_target *t)
{
    const struct timespec step = {0, STEP_NS};
    uint64_t now = hpx_clock_mono();
    w->until = w->until != 0 ? w->until : now + LIFE_WAIT;
    return now < w->until && !hpx_target_ended(t) && nanosleep(&step, NULL) == 0;
}

bool hpx_starting_may_be(const struct hpx_target *t)
{
    return !t->jvm && !t->openj9 && hpx_target_age(t) < LIFE_WAIT && !hpx_target_is_exiting(t);
}

bool hpx_starting_is_early(const struct hpx_target *t)
{
    char name[64], comm[32];
    bool signals = false, serves = false;
    if (hpx_target_age(t) > LIFE_WAIT) {
        return false;
    }
    (void)snprintf(name, sizeof name, "/proc/%d/task", (int)t->pid);
    DIR *tasks = opendir(name);
    for (struct dirent *d; tasks != NULL && (d = readdir(tasks)) != NULL;) {
        pid_t tid = atoi(d->d_name);
        if (tid > 0 && hpx_proc_read("", t->pid, tid, "comm", comm, sizeof comm)) {
            signals = signals || strncmp(comm, "Signal Dispatch", 15) == 0;
            serves = serves || strncmp(comm, "Service Thread", 14) == 0;
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
    return signals && !serves;
}
