/* SPDX-License-Identifier: BSD-2-Clause */
/* run_delay.c: see run_delay.h. */
#include "run_delay.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Time on a CPU, time in a queue of one, number of turns. */
uint64_t hpx_run_delay_of(const char *text)
{
    char *end;
    (void)strtoull(text, &end, 10);
    return end != text && *end == ' ' ? strtoull(end, NULL, 10) : 0;
}

/* false: there is no such file. */
static bool read_file(pid_t tid, const char *which, char *text, size_t room)
{
    char name[64];
    (void)snprintf(name, sizeof name, "/proc/self/task/%d/%s", (int)tid, which);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, room - 1) : -1;
    if (fd >= 0) {
        (void)close(fd);
    }
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

uint64_t hpx_run_delay(pid_t tid)
{
    char text[96];
    return read_file(tid, "schedstat", text, sizeof text) ? hpx_run_delay_of(text) : 0;
}

/* The state stands behind the name, which may contain any character. */
bool hpx_run_wants_cpu_of(const char *text)
{
    const char *name = strrchr(text, ')');
    return name != NULL && strncmp(name, ") R", 3) == 0;
}

bool hpx_run_wants_cpu(pid_t tid)
{
    char text[128];
    return read_file(tid, "stat", text, sizeof text) && hpx_run_wants_cpu_of(text);
}
