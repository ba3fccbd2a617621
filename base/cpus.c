/* SPDX-License-Identifier: BSD-2-Clause */
/* cpus.c: see cpus.h. */
#include "cpus.h"
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned hpx_cpus_allowed(pid_t pid)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    long n = sched_getaffinity(pid, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

static bool read_line(const char *file, char *to, size_t size)
{
    FILE *f = fopen(file, "re");
    bool is = f != NULL && fgets(to, (int)size, f) != NULL;
    if (f != NULL) {
        (void)fclose(f);
    }
    return is;
}

/* Microseconds of CPU time in a period; without a limit version 2 says "max", version 1 a negative number. */
static double quota_of_group(const char *root, bool v2, const char *path)
{
    char file[PATH_MAX], text[128];
    long quota = 0, period = 0;
    (void)snprintf(file, sizeof file, "%s/sys/fs/cgroup%s%s/%s", root, v2 ? "" : "/cpu", path, v2 ? "cpu.max" : "cpu.cfs_quota_us");
    if (!read_line(file, text, sizeof text)) {
        return 0;
    }
    int n = sscanf(text, "%ld %ld", &quota, &period);
    if (!v2 && n == 1) {
        (void)snprintf(file, sizeof file, "%s/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", root, path);
        period = read_line(file, text, sizeof text) ? strtol(text, NULL, 10) : 0;
    }
    return n >= 1 && quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

/* The group and all above it. In a container the path may be that of the host: then only the last step, the mount, exists. A group outside
 * of our namespace, "/../", cannot be seen. */
static double least_of(const char *root, bool v2, char *path)
{
    double least = 0;
    if (path[0] != '/' || strncmp(path, "/..", 3) == 0) {
        return 0;
    }
    for (;;) {
        size_t n = strlen(path);
        while (n > 0 && path[n - 1] == '/') {
            path[--n] = 0;
        }
        double here = quota_of_group(root, v2, path);
        least = here > 0 && (least == 0 || here < least) ? here : least;
        if (n == 0) {
            return least;
        }
        *strrchr(path, '/') = 0;
    }
}

/* "cpu" among the comma-separated names. */
static bool has_cpu(const char *names)
{
    for (const char *at = names; at != NULL; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL) {
        if (strcspn(at, ",") == 3 && strncmp(at, "cpu", 3) == 0) {
            return true;
        }
    }
    return false;
}

double hpx_cpus_quota(const char *root, pid_t pid)
{
    char file[PATH_MAX], line[PATH_MAX];
    double least = 0;
    (void)snprintf(file, sizeof file, "%s/proc/%d/cgroup", root, (int)pid);
    FILE *f = fopen(file, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) { /* NUMBER:NAMES:/PATH */
        char *names = strchr(line, ':'), *path = names != NULL ? strchr(names + 1, ':') : NULL;
        if (path == NULL) {
            continue;
        }
        *path++ = 0;
        path[strcspn(path, "\n")] = 0;
        names++;
        if (names[0] == 0 || has_cpu(names)) {
            double here = least_of(root, names[0] == 0, path);
            least = here > 0 && (least == 0 || here < least) ? here : least;
        }
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return least;
}

unsigned hpx_cpus_spare_of(unsigned allowed, double quota)
{
    unsigned spare = allowed - 1;
    if (quota <= 0 || quota - 2 >= spare) {
        return spare;
    }
    return quota > 2 ? (unsigned)(quota - 2) : 0;
}

unsigned hpx_cpus_spare(void)
{
    return hpx_cpus_spare_of(hpx_cpus_allowed(0), hpx_cpus_quota("", getpid()));
}
