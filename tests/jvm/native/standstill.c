/* SPDX-License-Identifier: BSD-2-Clause */
/* standstill.c: preloaded into a JVM, stops the agent's monotonic clock when the program writes "end" to its stdout. No bound of a wait
 * runs out from then on: an agent that ends by the bound, and not by what it waits for, never ends. */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Atomic uintptr_t low, high; /* of the agent; high is stored last (release: learn; acquire: clock_gettime) */
static struct timespec end;
static atomic_bool stands; /* release: write; acquire: clock_gettime. Covers end. */
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_clock)(clockid_t, struct timespec *);
static void *(*real_dlopen)(const char *, int);

__attribute__((constructor)) static void prepare(void)
{
    if (real_write == NULL) {
        real_clock = (__typeof__(real_clock))dlsym(RTLD_NEXT, "clock_gettime");
        real_dlopen = (__typeof__(real_dlopen))dlsym(RTLD_NEXT, "dlopen");
        real_write = (__typeof__(real_write))dlsym(RTLD_NEXT, "write");
    }
}

ssize_t write(int fd, const void *data, size_t n)
{
    prepare();
    if (fd == STDOUT_FILENO && n >= 3 && memcmp(data, "end", 3) == 0 && !atomic_load(&stands)) {
        real_clock(CLOCK_MONOTONIC, &end);
        atomic_store_explicit(&stands, true, memory_order_release);
    }
    return real_write(fd, data, n);
}

static int learn(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    if (strstr(info->dlpi_name, "libhprofx") == NULL) {
        return 0;
    }
    uintptr_t first = UINTPTR_MAX, last = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD) {
            uintptr_t at = info->dlpi_addr + p->p_vaddr;
            first = at < first ? at : first;
            last = at + p->p_memsz > last ? at + p->p_memsz : last;
        }
    }
    atomic_store(&low, first);
    atomic_store_explicit(&high, last, memory_order_release);
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
    if (clock == CLOCK_MONOTONIC && caller < atomic_load_explicit(&high, memory_order_acquire) && caller >= low &&
        atomic_load_explicit(&stands, memory_order_acquire)) {
        *to = end;
        return 0;
    }
    return real_clock(clock, to);
}
