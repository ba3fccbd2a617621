/* SPDX-License-Identifier: BSD-2-Clause */
/* wake.c: ck_ec32 over futex. */
#include "wake.h"

#include <ck_ec.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static_assert(sizeof(struct hpx_wake) == sizeof(struct ck_ec32) && _Alignof(struct hpx_wake) >= _Alignof(struct ck_ec32),
              "struct hpx_wake holds a ck_ec32");

static int op_gettime(const struct ck_ec_ops *ops, struct timespec *out)
{
    (void)ops;
    return clock_gettime(CLOCK_MONOTONIC, out);
}

static void op_wait(const struct ck_ec_wait_state *state, const uint32_t *address, uint32_t expected, const struct timespec *deadline)
{
    (void)state;
    int saved = errno;
    /* WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC. Every early return is allowed: ck_ec looks again. */
    syscall(SYS_futex, address, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline, NULL, FUTEX_BITSET_MATCH_ANY);
    errno = saved;
}

static void op_wake(const struct ck_ec_ops *ops, const uint32_t *address)
{
    (void)ops;
    int saved = errno; /* a waker may be a signal handler */
    syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    errno = saved;
}

/* No busy loop: the waiter came to sleep. First slice of 1 s: with several wakers no wake can be missed, so slices would only cost. */
static const struct ck_ec_ops ops = {
    .gettime = op_gettime, .wait32 = op_wait, .wake32 = op_wake, .busy_loop_iter = 1, .initial_wait_ns = 1000000000u};
static const struct ck_ec_mode mode = {.ops = &ops, .single_producer = false};

static struct ck_ec32 *ec_of(struct hpx_wake *w)
{
    return (struct ck_ec32 *)(void *)w;
}

void hpx_wake_init(struct hpx_wake *w)
{
    ck_ec32_init(ec_of(w), 0);
}

uint32_t hpx_wake_value(struct hpx_wake *w)
{
    uint32_t value = ck_ec32_value(ec_of(w));
    hpx_tsan_acquire(w);
    return value;
}

/* ck_ec sleeps a whole slice, even past the caller's deadline (0.7.1): the slice is cut here. */
static int cut_slice(const struct ck_ec_wait_state *state, struct timespec *slice_end)
{
    const struct timespec *end = state->data;
    if (slice_end->tv_sec > end->tv_sec || (slice_end->tv_sec == end->tv_sec && slice_end->tv_nsec > end->tv_nsec)) {
        *slice_end = *end;
    }
    return 0;
}

bool hpx_wake_wait(struct hpx_wake *w, uint32_t seen, uint64_t ns)
{
    struct timespec timeout = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)}, deadline;
    if (ck_ec_deadline(&deadline, &mode, &timeout) != 0) {
        return true;
    }
    HPX_TESTPOINT(wake_before_wait);
    bool timed_out = ck_ec32_wait_pred(ec_of(w), &mode, seen, cut_slice, &deadline, &deadline) != 0;
    hpx_tsan_acquire(w);
    return timed_out;
}

void hpx_wake_post(struct hpx_wake *w)
{
    hpx_tsan_release(w);
    ck_ec32_inc(ec_of(w), &mode);
}
