/* SPDX-License-Identifier: BSD-2-Clause */
/* archive.h: whether the VM records the classes of the program for an archive (class data sharing, AOT cache), by its flags.
 *
 * Then no class may be changed: HotSpot 25 and 28 crash at the end where a class was rewritten, and others leave it out of the archive. */
#ifndef HPX_ARCHIVE_H
#define HPX_ARCHIVE_H

enum hpx_archive {
    HPX_ARCHIVE_NONE,
    HPX_ARCHIVE_RECORDED, /* the program runs, and an archive is made then or at its end */
    HPX_ARCHIVE_WRITTEN   /* no program runs: JDK 25 starts such a JVM at the end of the one that has recorded, with its environment */
};

/* *option: the one that says so, as given to java; constant. From Agent_OnLoad on; any thread. NONE if the flags cannot be read. */
enum hpx_archive hpx_archive(const char **option);

#endif
