/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.c: see memory.h. */
#include "memory.h"
#include "words.h"
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#define GIB   (UINT64_C(1) << 30)
#define TIMES 32 /* bytes for one of the file */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A number in a file; "max" and what cannot be read are no limit. */
static uint64_t limit_in(const char *file)
{
    uint64_t n = UINT64_MAX;
    FILE *f = fopen(file, "re");
    if (f != NULL) {
        n = fscanf(f, "%" SCNu64, &n) == 1 && n > 0 ? n : UINT64_MAX;
        (void)fclose(f);
    }
    return n;
}

uint64_t hpx_memory_of_group(const char *root, const char *path, const char *name)
{
    char at[PATH_MAX], file[PATH_MAX];
    uint64_t most = UINT64_MAX;
    (void)snprintf(at, sizeof at, "%s", path);
    for (char *slash = at; slash != NULL;) {
        int n = snprintf(file, sizeof file, "%s%s/%s", root, at, name);
        most = n > 0 && (size_t)n < sizeof file ? least(most, limit_in(file)) : most;
        slash = strrchr(at, '/');
        if (slash != NULL) {
            *slash = '\0';
        }
    }
    return most;
}

/* A line is NUMBER:NAMES:PATH; without names it is of the second version. In a container the path may be that of another mount, and then
 * only the topmost file is there. */
static uint64_t of_groups(void)
{
    char line[PATH_MAX + 64];
    uint64_t most = UINT64_MAX;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        char *names = strchr(line, ':'), *path = names != NULL ? strchr(names + 1, ':') : NULL;
        if (path == NULL) {
            continue;
        }
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        if (strcmp(line, "0:") == 0) {
            most = least(most, hpx_memory_of_group("/sys/fs/cgroup", path, "memory.max"));
        } else if (strstr(names, "memory") != NULL) {
            most = least(most, hpx_memory_of_group("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
        }
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return most;
}

static uint64_t of_resource(__rlimit_resource_t what)
{
    struct rlimit r;
    return getrlimit(what, &r) == 0 && r.rlim_cur != RLIM_INFINITY ? (uint64_t)r.rlim_cur : UINT64_MAX;
}

uint64_t hpx_memory_limit(void)
{
    struct sysinfo s;
    uint64_t machine = sysinfo(&s) == 0 ? (uint64_t)s.totalram * s.mem_unit : UINT64_MAX;
    return least(least(machine, of_groups()), least(of_resource(RLIMIT_AS), of_resource(RLIMIT_DATA)));
}

/* What is no size counts for nothing, and is said once. */
static void say_no_size(const char *text)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (text != NULL && text[0] != '\0' && !atomic_flag_test_and_set_explicit(&said, memory_order_relaxed)) {
        (void)fprintf(stderr, "hprofx: HPROFX_MEMORY is not a size such as 64m or 4g, and does not count: %s\n", hpx_words_cut(text, 40));
    }
}

/* 0: the environment says nothing that is a size. */
static uint64_t asked_for(void)
{
    static const char units[] = "kmgt";
    const char *text = getenv("HPROFX_MEMORY");
    char *end = NULL;
    uint64_t n = text != NULL && text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    const char *unit = n > 0 && *end != '\0' ? strchr(units, *end | 0x20) : NULL;
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    bool whole = n > 0 && end[unit != NULL ? 1 : 0] == '\0';
    n = whole && n <= UINT64_MAX >> shift ? n << shift : 0;
    if (n == 0) {
        say_no_size(text);
    }
    return n;
}

uint64_t hpx_memory_for_file(int fd)
{
    struct stat st;
    uint64_t asked = asked_for();
    uint64_t size = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < INT64_MAX / TIMES ? (uint64_t)st.st_size * TIMES : 0;
    return asked > 0 ? asked : least(hpx_memory_limit() / 2, size > GIB ? size : GIB);
}

uint64_t hpx_memory_of_sum(void)
{
    uint64_t asked = asked_for();
    return asked > 0 ? asked : hpx_memory_limit() / 2;
}

uint64_t hpx_memory_of_server(void)
{
    uint64_t asked = asked_for();
    return asked > 0 ? asked : least(hpx_memory_limit() / 4, GIB);
}
