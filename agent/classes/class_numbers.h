/* SPDX-License-Identifier: BSD-2-Clause */
/* class_numbers.h: numbers of methods and places, which the rewriter puts into code.
 *
 * They live as long as the process, because code of an earlier session may run on. A class that is rewritten again, in a later session,
 * gets the numbers that it had: else every session would need as many new ones, and HotSpot would keep a constant in the class for each.
 * They are found by the tag of the class in an environment that exists from the first session on that begins in a running JVM; what a tag
 * points to, 32 bytes, stays when its class is unloaded. */
#ifndef HPX_CLASS_NUMBERS_H
#define HPX_CLASS_NUMBERS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* Of one class. Zero: none yet. */
struct hpx_class_numbers {
    uint32_t method, methods; /* the first, and how many */
    uint32_t place, places;
    uint32_t used;      /* of the places, by the rewriting that goes on */
    uint32_t session;   /* that rewrote it last */
    uint32_t constants; /* of its class file when it was first rewritten */
    bool scattered;     /* places of other classes lie between its own: it gets all anew in the next session */
    bool grown;         /* it has too many constants now, and is left alone */
};

/* A session begins in a running JVM: from now on numbers are remembered. The thread that begins it. */
void hpx_class_numbers_remember(void);
/* The numbers that a loaded class has; klass NULL: it is being loaded. Any thread. */
struct hpx_class_numbers hpx_class_numbers_of(jclass klass);
/* This file of a loaded class, n bytes, is about to be rewritten. false: it has too many constants. HotSpot merges those of the old and the
 * new version of a class by comparing their values, so it never finds a NaN again: classes with one (java.lang.Math) have more
 * after every rewriting, on JDK 25 four times as many after twelve, and JDK 17 loops for ever when the constants are near 65,535. */
bool hpx_class_numbers_fits(struct hpx_class_numbers *of, const unsigned char *file, jint n);
/* `n` methods, beginning with the result: those that the class has, if it has as many, or new ones, noted in *of. Once for a rewriting. Any
 * thread. */
uint32_t hpx_class_numbers_methods(struct hpx_class_numbers *of, uint32_t n);
/* `n` places for the next method, beginning with the result: the next that the class has, or new ones, noted in *of. Only new ones if this
 * session has rewritten it before: the program has redefined it, and what was counted stays with the code that it was counted for. Any
 * thread. */
uint32_t hpx_class_numbers_places(struct hpx_class_numbers *of, uint32_t n);
/* The highest place so far, of all sessions. Any thread. */
uint32_t hpx_class_numbers_places_given(void);
/* Remembers what a loaded class was given; no effect without memory: it is given others in the next session. Any thread. */
void hpx_class_numbers_keep(jclass klass, const struct hpx_class_numbers *n);

#endif
