/* SPDX-License-Identifier: BSD-2-Clause */
/* missing.c: functions of the C library that glibc 2.17 does not have under these names. Linked into what is shipped, and hidden there:
 * callers call them as ever. Each costs what the library's costs, since that one makes the same system call.
 * Signal safety: as the functions themselves, so all of these are safe in handlers. */
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { STAT_VERSION = 1 }; /* struct stat as the kernel has it */
#else
enum { STAT_VERSION = 0 };
#endif

int __fxstat(int version, int fd, struct stat *st);
int __lxstat(int version, const char *path, struct stat *st);

int fstat(int fd, struct stat *st)
{
    return __fxstat(STAT_VERSION, fd, st);
}

int lstat(const char *path, struct stat *st)
{
    return __lxstat(STAT_VERSION, path, st);
}

pid_t gettid(void)
{
    return (pid_t)syscall(SYS_gettid);
}
