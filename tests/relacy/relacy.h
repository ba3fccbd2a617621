/* SPDX-License-Identifier: BSD-2-Clause */
/* relacy.h: what a test of this folder is made of (docs/testing.md, "Weak memory").
 *
 * The C files of the product and of the test are compiled as they are, with -fsanitize=thread, but linked with relacy.cpp in the place of
 * ThreadSanitizer's library: every access that the compiler announces goes to Relacy, which simulates C11's memory model. An atomic load
 * may get an older value where the orders allow it; a plain access that another thread's is not ordered with is a data race. */
#ifndef RELACY_H
#define RELACY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RELACY_THREADS 3

/* Every run calls before(), then thread() in all threads at once, then after(). Variables must be as in the first run when before() ends.
 */
struct relacy_test {
    const char *name;
    unsigned runs;                        /* with --runs=F: F times as many */
    void (*before)(void), (*after)(void); /* NULL: nothing to do */
    void (*thread[RELACY_THREADS])(void); /* NULL: there are fewer */
    void (*handler)(void);                /* of the first thread: interrupts it, also before, between and behind its atomic accesses */
    unsigned handlers;                    /* how often at most in a run */
};
extern const struct relacy_test relacy_tests[]; /* the last one has no name */

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the run, and the test, if it does not hold. */
#define relacy_check(holds) relacy_check_at((holds), #holds, __FILE__, __LINE__)
void relacy_check_at(bool holds, const char *what, const char *file, int line);
/* A number below `limit`. */
unsigned relacy_rand(unsigned limit);
/* Others may go on here, as at each atomic access. */
void relacy_step(void);
/* The others go on; a loop that waits must call it. */
void relacy_pause(void);
/* membarrier(2): every thread executes a full barrier between its call and its return. */
void relacy_membarrier(void);
/* The number of the calling thread. */
unsigned relacy_self(void);

#ifdef __cplusplus
}
#endif

#endif
