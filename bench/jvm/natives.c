/* SPDX-License-Identifier: BSD-2-Clause */
/* natives.c: the natives of Probes.java and the functions of Downcalls.java: the least that a probe can cost, and with one read of a clock.
 */
#include <jni.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static volatile unsigned long long last;

static inline void read_clock(void)
{
#if defined(__x86_64__)
    last = __rdtsc();
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    last = (unsigned long long)t.tv_nsec;
#endif
}

JNIEXPORT void JNICALL Java_Probes_clock(JNIEnv *env, jclass c, jint method)
{
    (void)env, (void)c, (void)method;
    read_clock();
}

JNIEXPORT void bench_clock(int method)
{
    (void)method;
    read_clock();
}
