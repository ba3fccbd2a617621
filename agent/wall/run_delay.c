/* SPDX-License-Identifier: BSD-2-Clause */
/* run_delay.c: see run_delay.h. */
#include "run_delay.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Time on a CPU, time in a queue of one, number of turns. */
uint64_t hpx_run_delay_of(const char *text)
{
    char *end;
    (void)strtoull(text, &end, 10);
    return end != text && *end == ' ' ? strtoull(end, NULL, 10) : 0;
}

uint64_t hpx_run_delay(pid_t tid)
{
    char name[64], text[96];
    (void)snprintf(name, sizeof name, "/proc/self/task/%d/schedstat", (int)tid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    ssize_t n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    text[n > 0 ? n : 0] = 0;
    return hpx_run_delay_of(text);
}
