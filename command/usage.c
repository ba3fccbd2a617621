/* SPDX-License-Identifier: BSD-2-Clause */
/* usage.c: see usage.h. */
#include "usage.h"
#include "clock.h"
#include "compiler.h"
#include "cpus.h"
#include "proc.h"
#include "vm_threads.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* User and system time of a stat file: its fields 14 and 15. A name in it may hold anything. */
static double ticks(const char *stat)
{
    unsigned long long user, system;
    const char *behind = strrchr(stat, ')');
    if (behind == NULL || sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2) {
        return 0;
    }
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* schedstat is exact, but not every kernel has it. */
static double thread_time(const char *root, pid_t pid, pid_t task)
{
    char text[512];
    char *end;
    if (hpx_proc_read(root, pid, task, "schedstat", text, sizeof text)) {
        unsigned long long ns = strtoull(text, &end, 10);
        if (end != text) {
            return (double)ns / 1e9;
        }
    }
    return hpx_proc_read(root, pid, task, "stat", text, sizeof text) ? ticks(text) : 0;
}

static void add_thread(const char *root, pid_t pid, pid_t task, struct hpx_usage *u)
{
    char name[64], stat[512];
    if (!hpx_proc_read(root, pid, task, "comm", name, sizeof name)) {
        return;
    }
    const enum hpx_vm_thread of = hpx_vm_thread_of(name);
    double *to = strncmp(name, "hprofx-", strlen("hprofx-")) == 0   ? &u->agent
                 : of == HPX_VM_THREAD_NONE                         ? NULL
                 : of == HPX_VM_THREAD_C1 || of == HPX_VM_THREAD_C2 ? &u->compiler
                                                                    : &u->gc;
    u->parts = u->parts || of == HPX_VM_THREAD_VM;
    u->threads++;
    u->running += hpx_proc_read(root, pid, task, "stat", stat, sizeof stat) && strstr(stat, ") R ") != NULL;
    if (to != NULL) {
        *to += thread_time(root, pid, task);
    }
}

bool hpx_usage_read(const char *root, pid_t pid, struct hpx_usage *u)
{
    char text[1024], name[PATH_MAX];
    *u = (struct hpx_usage){0};
    (void)snprintf(name, sizeof name, "%s/proc/%d/task", root, (int)pid);
    DIR *tasks = opendir(name);
    if (tasks == NULL || !hpx_proc_read(root, pid, 0, "stat", text, sizeof text)) {
        if (tasks != NULL) {
            (void)closedir(tasks);
        }
        return false;
    }
    u->at = (double)hpx_clock_mono() / 1e9;
    u->total = ticks(text);
    u->cpus = hpx_cpus_allowed(pid);
    for (struct dirent *d; (d = readdir(tasks)) != NULL;) {
        if (atoi(d->d_name) > 0) {
            add_thread(root, pid, atoi(d->d_name), u);
        }
    }
    (void)closedir(tasks);
    return true;
}

/* A thread of the VM that ended meanwhile took its time along. */
static double more(double begin, double end)
{
    return end > begin ? end - begin : 0;
}

struct hpx_usage hpx_usage_between(const struct hpx_usage *begin, const struct hpx_usage *end)
{
    return (struct hpx_usage){.at = more(begin->at, end->at),
                              .total = more(begin->total, end->total),
                              .gc = more(begin->gc, end->gc),
                              .compiler = more(begin->compiler, end->compiler),
                              .agent = more(begin->agent, end->agent),
                              .parts = begin->parts && end->parts,
                              .cpus = end->cpus,
                              .threads = end->threads,
                              .running = end->running};
}
