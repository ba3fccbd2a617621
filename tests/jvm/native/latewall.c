/* SPDX-License-Identifier: BSD-2-Clause */
/* latewall.c: preloaded into a JVM, stops the thread hprofx-wall for good at its first round after the program wrote "end" to its stdout,
 * so that its last round never comes. The thread stops where it asks for its own CPU time, outside every lock of hprofx. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_clock)(clockid_t, struct timespec *);
static atomic_bool late; /* release: write; acquire: clock_gettime */

__attribute__((constructor)) static void prepare(void)
{
    if (real_write == NULL) {
        real_clock = (__typeof__(real_clock))dlsym(RTLD_NEXT, "clock_gettime");
        real_write = (__typeof__(real_write))dlsym(RTLD_NEXT, "write");
    }
}

ssize_t write(int fd, const void *data, size_t n)
{
    prepare();
    if (fd == STDOUT_FILENO && n >= 3 && memcmp(data, "end", 3) == 0) {
        atomic_store_explicit(&late, true, memory_order_release);
    }
    return real_write(fd, data, n);
}

static bool is_wall(void)
{
    char name[16] = "";
    return prctl(PR_GET_NAME, name, 0, 0, 0) == 0 && strcmp(name, "hprofx-wall") == 0;
}

int clock_gettime(clockid_t clock, struct timespec *to)
{
    prepare();
    while (clock == CLOCK_THREAD_CPUTIME_ID && atomic_load_explicit(&late, memory_order_acquire) && is_wall()) {
        pause();
    }
    return real_clock(clock, to);
}
