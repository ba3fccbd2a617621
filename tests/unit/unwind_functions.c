/* SPDX-License-Identifier: BSD-2-Clause */
/* unwind_functions.c: functions of many shapes for test_unwind.c, compiled twice: with frame pointers and without. NAME: what begins their
 * names. They call each other down to `bottom`. */
#include "unwind_functions.h"
#include <stdlib.h>
#include <string.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define F(name)      PASTE(NAME, name)

#define NOINLINE __attribute__((noinline))

static volatile int sink;

static NOINLINE int F(leaf)(int n)
{
    return n * 3 + sink;
}

static NOINLINE int F(recursive)(int n)
{
    volatile char room[40];
    room[n % 40] = (char)n;
    return n > 0 ? F(recursive)(n - 1) + room[n % 40] : F(leaf)(n);
}

/* Its frame has no constant size. */
static NOINLINE int F(growing)(int n)
{
    volatile char *room = __builtin_alloca((size_t)n * 16 + 16);
    room[n] = (char)n;
    return F(recursive)(n % 3) + room[n];
}

/* Its stack is aligned, so that the frame ends where a register says. */
static NOINLINE int F(aligned)(int n)
{
    volatile int room[16] __attribute__((aligned(64)));
    room[n % 16] = n;
    return F(growing)(n) + room[n % 16];
}

static NOINLINE int F(arguments)(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
    volatile int sum = a + b + c + d + e + f + g + h + i;
    return F(aligned)(sum % 7) + sum;
}

static int F(compare)(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

/* It is left at several places, with different frames. */
static NOINLINE int F(branches)(int n)
{
    if (n < 2) {
        return F(leaf)(n);
    }
    int all[20];
    for (int i = 0; i < 20; i++) {
        all[i] = (n * 7919 + i * 104729) % 101;
    }
    qsort(all, 20, sizeof *all, F(compare));
    if (all[0] == 12345) {
        return 0;
    }
    return F(arguments)(all[0], all[1], all[2], all[3], all[4], all[5], n, n, n);
}

int F(all)(int n)
{
    char text[64];
    snprintf(text, sizeof text, "%d %s %x", n, "of several", (unsigned)n);
    sink = F(branches)(n) + F(branches)(1) + (int)strlen(text);
    free(malloc((size_t)n * 1000));
    return sink;
}
