/* SPDX-License-Identifier: BSD-2-Clause */
/* test_errand.c: the wait for an errand does not follow the wall clock. The JVM is a stub. */
#include "cmocka_all.h"
#include "errand.h"
#include "threads.h"
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static unsigned told; /* seconds that the wait has reported */
static sem_t may_end;

int __wrap_clock_gettime(clockid_t clock, struct timespec *to);
int __wrap_clock_gettime(clockid_t clock, struct timespec *to)
{
    long rc = syscall(SYS_clock_gettime, clock, to);
    to->tv_sec -= clock == CLOCK_REALTIME ? 3600 : 0; /* somebody sets the wall clock forward right after it was read */
    return (int)rc;
}

static void each_second(int number, unsigned seconds)
{
    (void)number;
    told = seconds;
    if (seconds == 1) {
        sem_post(&may_end);
    }
}

static int work(JNIEnv *env, const char *options, struct hpx_err *err)
{
    (void)env, (void)options, (void)err;
    while (sem_wait(&may_end) != 0) {
    }
    return 0;
}

void hpx_threads_begins(void)
{
}

JNIEnv *hpx_threads_attach(const char *name)
{
    static JNIEnv env;
    (void)name;
    return &env;
}

static jint JNICALL detach(JavaVM *vm)
{
    (void)vm;
    return JNI_OK;
}

static uint64_t seconds_now(void)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec;
}

TEST(the_wait_counts_its_own_seconds_when_the_wall_clock_jumps)
{
    static const struct hpx_errand what = {NULL, work, each_second, 1};
    struct JNIInvokeInterface_ functions = {.DetachCurrentThread = detach};
    JavaVM vm = &functions;
    struct hpx_err err = {0};
    sem_init(&may_end, 0, 0);
    uint64_t began = seconds_now();
    assert_int_equal(hpx_errand_do(&vm, &what, &err), 0);
    assert_in_range(told, 1, seconds_now() - began + 1);
    sem_destroy(&may_end);
}

TESTS(NULL, NULL)
