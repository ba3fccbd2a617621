/* SPDX-License-Identifier: BSD-2-Clause */
/* owner.h: whether something that existed before may receive a profile. */
#ifndef HPX_OWNER_H
#define HPX_OWNER_H

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* makedev(1, 3) and makedev(1, 7) of the kernel. Nobody reads what is written there, and inside a user namespace root of the host, who owns
 * them, has no number. */
#define HPX_DEVICE_NULL 0x103u
#define HPX_DEVICE_FULL 0x107u

/* true if `st` belongs to the effective user or to root, or is /dev/null or /dev/full. Whoever owns a FIFO, a device or a file can read
 * what is written into it. */
static inline bool hpx_owner_may_read(const struct stat *st)
{
    return st->st_uid == geteuid() || st->st_uid == 0 ||
           (S_ISCHR(st->st_mode) && (st->st_rdev == HPX_DEVICE_NULL || st->st_rdev == HPX_DEVICE_FULL));
}

#endif
