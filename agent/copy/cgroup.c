/* SPDX-License-Identifier: BSD-2-Clause */
/* cgroup.c: see cgroup.h. */
#include "cgroup.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATHS 2048 /* bytes of a path; longer ones are not followed */
#define TEXT  8192 /* bytes of a file that are read */

/* ---- files ---- */

int hpx_proc_open(const char *root, const char *path)
{
    char whole[2 * PATHS];
    int n = snprintf(whole, sizeof whole, "%s/%s", root != NULL ? root : "", path);
    return n < 0 || (size_t)n >= sizeof whole ? -1 : open(whole, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

bool hpx_proc_read(const char *root, const char *path, char *text, size_t size)
{
    int fd = hpx_proc_open(root, path);
    size_t n = 0;
    ssize_t got = fd >= 0 ? 0 : -1;
    while (fd >= 0 && n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0) {
        n += (size_t)got;
    }
    text[n] = '\0';
    if (fd >= 0) {
        close(fd);
    }
    return got >= 0;
}

bool hpx_proc_number(const char *text, uint64_t *value)
{
    uint64_t n = 0;
    text += strspn(text, " \t");
    if (*text < '0' || *text > '9') {
        return false;
    }
    for (; *text >= '0' && *text <= '9'; text++) {
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(*text - '0'), &n)) {
            return false;
        }
    }
    *value = n;
    return true;
}

bool hpx_proc_field(const char *text, const char *key, uint64_t *value)
{
    size_t n = strlen(key);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0) {
            return hpx_proc_number(line + n, value);
        }
    }
    return false;
}

/* ---- groups ---- */

bool hpx_cgroup_number(const struct hpx_cgroup *group, const char *file, const char *key, uint64_t *value)
{
    char path[PATHS], text[TEXT];
    int n = snprintf(path, sizeof path, "sys/fs/cgroup%s%s/%s", group->v2 ? "" : "/memory", group->path, file);
    return n > 0 && (size_t)n < sizeof path && hpx_proc_read(group->root, path, text, sizeof text) &&
           (key != NULL ? hpx_proc_field(text, key, value) : hpx_proc_number(text, value));
}

/* "memory" among the comma-separated names. */
static bool memory_group(const char *names)
{
    for (const char *at = names; (at = strstr(at, "memory")) != NULL; at += 6) {
        if ((at == names || at[-1] == ',') && (at[6] == '\0' || at[6] == ',')) {
            return true;
        }
    }
    return false;
}

/* The group, and all above it. In a container the path may be that of the host: then only the last step up, the mount, exists. */
static bool look_above(const char *root, bool v2, char *path, bool (*look)(void *arg, const struct hpx_cgroup *group), void *arg)
{
    if (path[0] != '/' || strstr(path, "..") != NULL) {
        path[0] = '\0';
    }
    for (;;) {
        size_t n = strlen(path);
        while (n > 0 && path[n - 1] == '/') {
            path[--n] = '\0';
        }
        if (!look(arg, &(struct hpx_cgroup){root, path, v2})) {
            return false;
        }
        if (n == 0) {
            return true;
        }
        *strrchr(path, '/') = '\0';
    }
}

void hpx_cgroup_each(const char *root, bool (*look)(void *arg, const struct hpx_cgroup *group), void *arg)
{
    char text[TEXT], *rest = NULL;
    bool on = hpx_proc_read(root, "proc/self/cgroup", text, sizeof text);
    for (char *line = on ? strtok_r(text, "\n", &rest) : NULL; line != NULL && on; line = strtok_r(NULL, "\n", &rest)) {
        char *names = strchr(line, ':'), *path = names != NULL ? strchr(names + 1, ':') : NULL; /* NUMBER:NAMES:/PATH */
        if (path == NULL || strlen(path) >= PATHS / 2) {
            continue;
        }
        *path++ = '\0';
        names++;
        if (names[0] == '\0' || memory_group(names)) {
            on = look_above(root, names[0] == '\0', path, look, arg);
        }
    }
}

/* ---- room ---- */

static uint64_t reserve_of(uint64_t limit)
{
    uint64_t share = limit / 64;
    return share < HPX_ROOM_LEAST ? HPX_ROOM_LEAST : share > HPX_ROOM_MOST ? HPX_ROOM_MOST : share;
}

static uint64_t beyond_reserve(const struct hpx_room *room)
{
    return room->left > room->reserve ? room->left - room->reserve : 0;
}

static bool look_limits(void *arg, const struct hpx_cgroup *group)
{
    static const char *const files[2][2] = {{"memory.limit_in_bytes", NULL}, {"memory.max", "memory.high"}};
    struct hpx_room *shortest = arg;
    uint64_t usage = 0, cache = 0, limit;
    if (!hpx_cgroup_number(group, group->v2 ? "memory.current" : "memory.usage_in_bytes", NULL, &usage)) {
        return true; /* the root of all groups, or not visible from this container */
    }
    (void)hpx_cgroup_number(group, "memory.stat", group->v2 ? "inactive_file " : "total_inactive_file ", &cache);
    usage -= cache < usage ? cache : usage;
    for (size_t i = 0; i < 2 && files[group->v2][i] != NULL; i++) {
        const char *file = files[group->v2][i];
        if (hpx_cgroup_number(group, file, NULL, &limit)) { /* not "max" */
            struct hpx_room room = {file, limit > usage ? limit - usage : 0, reserve_of(limit)};
            uint64_t here = beyond_reserve(&room), there = beyond_reserve(shortest);
            if (here < there || (here == there && room.left < shortest->left)) {
                *shortest = room;
            }
        }
    }
    return true;
}

bool hpx_room_find(const char *root, struct hpx_room *room)
{
    char text[TEXT];
    uint64_t available, total;
    if (!hpx_proc_read(root, "proc/meminfo", text, sizeof text) || !hpx_proc_field(text, "MemAvailable:", &available) ||
        available > UINT64_MAX / 1024) {
        return false;
    }
    total = hpx_proc_field(text, "MemTotal:", &total) && total <= UINT64_MAX / 1024 ? total : available;
    *room = (struct hpx_room){NULL, available * 1024, reserve_of(total * 1024)};
    hpx_cgroup_each(root, look_limits, room);
    return true;
}
