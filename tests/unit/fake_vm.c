/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_vm.c: the library of fake_vm.h. */
#include "fake_vm.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t next = PTHREAD_COND_INITIALIZER;
volatile char *fake_vm_counter;
static int *volatile nowhere = (int *)24; /* volatile: the compiler must not see the fault */

void fake_vm_lock(void)
{
    pthread_mutex_lock(&lock);
}

void fake_vm_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static bool holds(const unsigned char *p, size_t n, unsigned char c)
{
    return n == 0 || (p[0] == c && p[n / 2] == c && p[n - 1] == c);
}

bool fake_vm_allocate(void)
{
    enum { BLOCKS = 64 };
    unsigned char *p[BLOCKS];
    size_t size[BLOCKS];
    bool good = true;
    for (unsigned i = 0; i < BLOCKS; i++) {
        size[i] = (size_t)i * i * 7;
        p[i] = malloc(size[i]);
        memset(p[i], (int)i, size[i]);
    }
    for (unsigned i = 0; i < BLOCKS; i += 2) {
        free(p[i]);
        p[i] = calloc(1, size[i]);
        good &= holds(p[i], size[i], 0);
        memset(p[i], (int)i, size[i]);
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        p[i] = realloc(p[i], size[i] * 3 + 1);
        good &= holds(p[i], size[i], (unsigned char)i);
        free(p[i]);
    }
    void *aligned = NULL;
    good &= posix_memalign(&aligned, 4096, 100) == 0 && (uintptr_t)aligned % 4096 == 0;
    free(aligned);
    return good;
}

static __attribute__((noinline)) int overflow(volatile int n)
{
    volatile char frame[4096];
    frame[0] = (char)n;
    return n == 0 ? frame[0] : overflow(n - 1) + frame[0];
}

/* More than a chunk has room for (17 MiB), which grows, and many pages beside. */
static bool allocate_much(void)
{
    const size_t huge = (size_t)17 << 20, middle = (size_t)3 << 20;
    unsigned char *large = malloc(huge), *pages = malloc(middle);
    memset(pages, 'm', middle);
    large[0] = large[huge - 1] = 'l';
    large = realloc(large, 2 * huge);
    bool good = large[0] == 'l' && large[huge - 1] == 'l' && holds(pages, middle, 'm');
    free(large);
    free(pages);
    return good;
}

static void walk_on(enum fake_walk walk, unsigned char *old)
{
    fake_vm_lock(); /* another thread may hold it */
    printf("a log line that must not appear\n");
    fflush(stdout);
    old = realloc(old, 1 << 16); /* allocated before the fork */
    if (!fake_vm_allocate() || !holds(old, 1000, 'o')) {
        *nowhere = 0;
    }
    free(old);
    static sem_t line; /* as the log of a VM, which is at the same depth or deeper than the walk */
    sem_init(&line, 0, 1);
    sem_wait(&line);
    sem_post(&line);
    switch (walk) {
    case WALK_CRASH:
        *nowhere = 0;
        break;
    case WALK_OVERFLOW:
        overflow(1 << 30);
        break;
    case WALK_SPIN:
        for (volatile bool on = true; on;) {
        }
        break;
    case WALK_SLEEP:
        for (;;) {
            pause();
        }
    case WALK_WAIT:
        pthread_cond_wait(&next, &lock);
        break;
    case WALK_ABORT:
        abort();
    case WALK_COUNT:
        *fake_vm_counter = 1;
        break;
    case WALK_MUCH:
        if (!allocate_much()) {
            *nowhere = 0;
        }
        break;
    case WALK_WHOLE:
        break;
    }
    fake_vm_unlock();
}

static __attribute__((noinline)) bool operate(enum fake_walk walk, bool (*callback)(void *), void *arg)
{
    volatile char frame[1024]; /* a walk is deeper than the wait after it */
    frame[0] = 0;
    unsigned char *old = malloc(1000);
    memset(old, 'o', 1000);
    bool on = callback(arg);
    if (on) {
        walk_on(walk, old);
    } else {
        free(old);
    }
    return on || frame[0];
}

void fake_vm_operation(enum fake_walk walk, bool (*callback)(void *), void *arg)
{
    if (operate(walk, callback, arg)) {
        struct timespec never = {0, 0};
        pthread_cond_timedwait(&next, &lock, &never);
        pthread_cond_wait(&next, &lock);
    }
}
