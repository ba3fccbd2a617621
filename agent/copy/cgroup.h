/* SPDX-License-Identifier: BSD-2-Clause */
/* cgroup.h: how much memory is left to the program: the machine's, and that of its memory cgroup and all groups above; versions 1 and 2.
 *
 * Every function reads small files of the kernel into bounded buffers, allocates nothing and may be called on any thread that may read
 * files. `root` is a prefix of all paths, for tests; NULL: /. What a file says is not trusted: what cannot be read or understood counts as
 * not there. They need 32 KiB of stack. */
#ifndef HPX_CGROUP_H
#define HPX_CGROUP_H

#include "compiler.h"
#include <stddef.h>

/* Opens root/path for reading, close-on-exec; the caller closes it. -1: it cannot be opened. */
int hpx_proc_open(const char *root, const char *path);
/* Reads the first size - 1 bytes of root/path and terminates them. false: it cannot be read; text is then what was read before. */
bool hpx_proc_read(const char *root, const char *path, char *text, size_t size);
/* The decimal number at the beginning of the text; blanks may precede it. false: there is none, or it has more than 64 bits. */
bool hpx_proc_number(const char *text, uint64_t *value);
/* The decimal number behind `key` at the beginning of a line. false: as above. */
bool hpx_proc_field(const char *text, const char *key, uint64_t *value);

/* A memory cgroup of this process. Valid during the call that gets it. */
struct hpx_cgroup {
    const char *root, *path; /* path: below the mount of its hierarchy; "": the mount, which in a container is the container's group */
    bool v2;
};

/* Calls `look` for the process's own memory cgroup, then for every group above it, until `look` returns false. Groups that are not visible
 * from here are passed like any other; their files cannot be read. */
void hpx_cgroup_each(const char *root, bool (*look)(void *arg, const struct hpx_cgroup *group), void *arg);
/* The number in a file of the group; with key != NULL that behind `key`, as hpx_proc_field(). false: no such file, no number (such as
 * "max").
 */
bool hpx_cgroup_number(const struct hpx_cgroup *group, const char *file, const char *key, uint64_t *value);

/* What stays free of a limit, at least and at most; else a 64th of the limit. */
#define HPX_ROOM_LEAST (UINT64_C(32) << 20)
#define HPX_ROOM_MOST  (UINT64_C(1) << 30)

/* Where memory is shortest: the machine, or a limit of a group; the one where `left` less `reserve` is least. */
struct hpx_room {
    const char *limit; /* the file of a group's limit, such as "memory.max"; NULL: the machine. A constant */
    uint64_t left;     /* bytes until the limit; files that the kernel can drop at need count as free */
    uint64_t reserve;  /* bytes of these that must stay free, for what else the program does */
};

/* false: /proc/meminfo does not say how much memory is available; groups are then not looked at. */
bool hpx_room_find(const char *root, struct hpx_room *room);

#endif
