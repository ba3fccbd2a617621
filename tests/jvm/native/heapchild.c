/* SPDX-License-Identifier: BSD-2-Clause */
/* heapchild.c: preloaded into a JVM, holds or refuses what a heap dump writes, as files in the folder HPX_HEAP say.
 *
 * hold.spool, hold.output   a write to that file waits while this is there; it makes held.PID first
 * full.spool, full.output   a write to that file fails with ENOSPC, behind as many as this has bytes
 * later                     the agent's monotonic clock is 25 s ahead
 * root/...                  opened in the place of /...
 *
 * Spool: opened with O_TMPFILE; output: a *.part but of the journal. Also runs in the child of a fork: no lock, no malloc. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 1024, PATH = 4096 };
static const char *const kinds[] = {"", "spool", "output"};
static atomic_uchar kind_of[FILES];
static _Atomic uintptr_t low, high; /* of the agent; high is stored last (release: learn; acquire: clock_gettime) */
static int (*real_open)(const char *, int, ...);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_clock)(clockid_t, struct timespec *);
static void *(*real_dlopen)(const char *, int);
static char folder[PATH / 2];

__attribute__((constructor)) static void prepare(void)
{
    const char *f = getenv("HPX_HEAP");
    if (real_open == NULL) {
        real_open = (__typeof__(real_open))dlsym(RTLD_NEXT, "open");
        real_write = (__typeof__(real_write))dlsym(RTLD_NEXT, "write");
        real_pwrite = (__typeof__(real_pwrite))dlsym(RTLD_NEXT, "pwrite64");
        real_clock = (__typeof__(real_clock))dlsym(RTLD_NEXT, "clock_gettime");
        real_dlopen = (__typeof__(real_dlopen))dlsym(RTLD_NEXT, "dlopen");
        snprintf(folder, sizeof folder, "%s", f != NULL ? f : "/nonexistent");
    }
}

static bool asked(const char *what, const char *kind)
{
    char path[PATH];
    int before = errno;
    snprintf(path, sizeof path, "%s/%s%s", folder, what, kind);
    bool is = access(path, F_OK) == 0;
    errno = before;
    return is;
}

int open(const char *path, int flags, ...)
{
    char other[PATH];
    va_list ap;
    va_start(ap, flags);
    mode_t mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    prepare();
    if (strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0) {
        snprintf(other, sizeof other, "%s/root%s", folder, path);
        path = access(other, F_OK) == 0 ? other : path;
    }
    int fd = real_open(path, flags, mode);
    if (fd >= 0 && fd < FILES) {
        size_t n = strlen(path);
        bool part = n > 5 && strcmp(path + n - 5, ".part") == 0 && strstr(path, ".journal.") == NULL;
        kind_of[fd] = (flags & O_TMPFILE) == O_TMPFILE ? 1 : part ? 2 : 0;
    }
    return fd;
}

static void hold(const char *kind)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/held.%ld", folder, (long)getpid());
    int fd = real_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    close(fd);
    while (asked("hold.", kind)) {
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
}

static bool full(int kind)
{
    static atomic_int passed;
    char path[PATH];
    struct stat status;
    snprintf(path, sizeof path, "%s/full.%s", folder, kinds[kind]);
    bool is = stat(path, &status) == 0;
    passed = is ? passed + 1 : 0;
    return is && passed > status.st_size;
}

static bool may_write(int fd)
{
    int kind = fd >= 0 && fd < FILES ? kind_of[fd] : 0;
    prepare();
    if (kind != 0 && asked("hold.", kinds[kind])) {
        hold(kinds[kind]);
    }
    if (kind != 0 && full(kind)) {
        errno = ENOSPC;
        return false;
    }
    return true;
}

ssize_t write(int fd, const void *p, size_t n)
{
    return may_write(fd) ? real_write(fd, p, n) : -1;
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    return may_write(fd) ? real_pwrite(fd, p, n, at) : -1;
}

ssize_t pwrite64(int fd, const void *p, size_t n, off_t at)
{
    return may_write(fd) ? real_pwrite(fd, p, n, at) : -1;
}

static int learn(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    if (strstr(info->dlpi_name, "libhprofx.so") == NULL) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
            low = info->dlpi_addr + p->p_vaddr;
            high = low + p->p_memsz;
        }
    }
    return 1;
}

void *dlopen(const char *name, int flags)
{
    prepare();
    void *lib = real_dlopen(name, flags);
    if (lib != NULL && name != NULL && strstr(name, "libhprofx") != NULL) {
        dl_iterate_phdr(learn, NULL);
    }
    return lib;
}

int clock_gettime(clockid_t clock, struct timespec *to)
{
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    prepare();
    int rc = real_clock(clock, to);
    if (rc == 0 && clock == CLOCK_MONOTONIC && caller < high && caller >= low && asked("later", "")) {
        to->tv_sec += 25;
    }
    return rc;
}
