/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_by_name.c: see thread_by_name.h. */
#include "thread_by_name.h"
#include "compiler.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* HotSpot gives a thread's name to the kernel in 15 bytes: cut behind, or (JDK 22 on) in the middle with two dots. */
static bool same_name(const char *comm, const char *name)
{
    size_t n = strlen(name);
    char cut[16];
    if (n < sizeof cut) {
        return strcmp(comm, name) == 0;
    }
    snprintf(cut, sizeof cut, "%.7s..%s", name, name + n - 6);
    return strncmp(comm, name, sizeof cut - 1) == 0 || strcmp(comm, cut) == 0;
}

/* The kernel id of the thread of that name other than `but`; 0 if there is none, -1 if there is more than one. */
static pid_t look_for_name(const char *name, pid_t but)
{
    DIR *dir = opendir("/proc/self/task");
    pid_t found = 0;
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        char path[64], comm[32] = "";
        long tid = strtol(e->d_name, NULL, 10);
        if (tid <= 0 || tid == but) {
            continue;
        }
        snprintf(path, sizeof path, "/proc/self/task/%ld/comm", tid);
        FILE *f = fopen(path, "re");
        if (f != NULL && fgets(comm, sizeof comm, f) != NULL) {
            comm[strcspn(comm, "\n")] = 0;
            if (same_name(comm, name)) {
                found = found ? -1 : (pid_t)tid;
            }
        }
        if (f != NULL) {
            fclose(f);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return found;
}

/* The thread of the method main has no name of its own in the kernel: it keeps that of the process. The launcher java runs it beside the
 * process's first thread. Any other program may run main in any thread, so there it is unknown. Others have the name until they have
 * their own: 0, so that the caller waits. */
static pid_t look_for(const char *name)
{
    pid_t tid = look_for_name(name, 0);
    pid_t launched = tid == 0 && strcmp(name, "main") == 0 ? look_for_name("java", getpid()) : 0;
    return launched > 0 ? launched : tid;
}

#define PATIENCE_MS 10

/* 0: unknown. A thread sets its name a moment after its start, later on a busy machine. */
pid_t hpx_thread_by_name(const char *name)
{
    static HPX_OF_SESSION int waited; /* ms, of VMInit's thread alone */
    pid_t tid = look_for(name);
    for (; tid == 0 && waited < PATIENCE_MS; waited++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        tid = look_for(name);
    }
    return tid > 0 ? tid : 0;
}

bool hpx_thread_named(const char *name)
{
    return look_for_name(name, 0) != 0;
}
