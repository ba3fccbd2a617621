/* SPDX-License-Identifier: BSD-2-Clause */
/* bring.c: see bring.h. */
#include "bring.h"
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

bool hpx_bring_init(struct hpx_bring *b, struct hpx_watch *w)
{
    pthread_condattr_t monotonic;
    *b = (struct hpx_bring){.watch = w, .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)};
    if (b->wake < 0 || pthread_condattr_init(&monotonic) != 0) {
        if (b->wake >= 0) {
            (void)close(b->wake);
        }
        return false;
    }
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&b->turned, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    (void)pthread_mutex_init(&b->lock, NULL);
    return true;
}

void hpx_bring_fini(struct hpx_bring *b)
{
    (void)pthread_cond_destroy(&b->turned);
    (void)pthread_mutex_destroy(&b->lock);
    (void)close(b->wake);
}

static struct timespec after(unsigned ms)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)(ms / 1000);
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* The turn that is under way may have looked before the files came; the next one has not. */
static void wait_for_turns(struct hpx_bring *b, const struct timespec *until)
{
    (void)pthread_mutex_lock(&b->lock);
    (void)eventfd_write(b->wake, 2);
    for (uint64_t wanted = b->turns + 2; b->turns < wanted && !b->ended;) {
        if (pthread_cond_timedwait(&b->turned, &b->lock, until) == ETIMEDOUT) {
            break;
        }
    }
    (void)pthread_mutex_unlock(&b->lock);
}

/* One at a time. false: there is no time left, or it is the end. */
static bool begin_flush(struct hpx_bring *b, const struct timespec *until)
{
    int rc = 0;
    (void)pthread_mutex_lock(&b->lock);
    while (b->flushes && !b->ended && rc != ETIMEDOUT) {
        rc = pthread_cond_timedwait(&b->turned, &b->lock, until);
    }
    bool begins = !b->flushes && !b->ended;
    b->flushes = b->flushes || begins;
    (void)pthread_mutex_unlock(&b->lock);
    return begins;
}

static void end_flush(struct hpx_bring *b)
{
    (void)pthread_mutex_lock(&b->lock);
    b->flushes = false;
    (void)pthread_cond_broadcast(&b->turned);
    (void)pthread_mutex_unlock(&b->lock);
}

static void end_waits(struct hpx_bring *b)
{
    (void)pthread_mutex_lock(&b->lock);
    b->ended = true;
    (void)pthread_cond_broadcast(&b->turned);
    (void)pthread_mutex_unlock(&b->lock);
}

void hpx_bring_now(void *ctx, unsigned ms)
{
    struct hpx_bring *b = ctx;
    const struct timespec until = after(ms);
    if (ms == 0) {
        end_waits(b);
        return;
    }
    if (begin_flush(b, &until)) {
        struct timespec now = after(0);
        long left = (long)(until.tv_sec - now.tv_sec) * 1000 + (until.tv_nsec - now.tv_nsec) / 1000000;
        (void)hpx_watch_flush(b->watch, left > 0 ? (int)left : 0);
        end_flush(b);
        wait_for_turns(b, &until);
    }
}

void hpx_bring_turned(struct hpx_bring *b)
{
    (void)pthread_mutex_lock(&b->lock);
    b->turns++;
    (void)pthread_cond_broadcast(&b->turned);
    (void)pthread_mutex_unlock(&b->lock);
}

void hpx_bring_wait(struct hpx_bring *b, unsigned ms)
{
    struct pollfd wake = {.fd = b->wake, .events = POLLIN};
    eventfd_t one;
    if (poll(&wake, 1, (int)ms) > 0) {
        (void)eventfd_read(b->wake, &one);
    }
}
