/* SPDX-License-Identifier: BSD-2-Clause */
/* class_numbers.h: numbers of methods and places, which the rewriter puts into code.
 *
 * They live as long as the process, because code of an earlier session may run on. A class that is rewritten again, in a later session,
 * gets the numbers of methods that it had: else every session would need as many new ones. They are found by the tag of the class in an
 * environment that exists from the first session on that begins in a running JVM.
 *
 * Places always get new numbers, as a class may have others when it is rewritten again. A session subtracts the number before its first, so
 * that its tables begin with 1, and code of an earlier session has places that it does not know. */
#ifndef HPX_CLASS_NUMBERS_H
#define HPX_CLASS_NUMBERS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* Of one class. Zero: none yet. */
struct hpx_class_numbers {
    uint32_t method, methods; /* the first, and how many */
    uint32_t constants;       /* of its class file when it was first rewritten */
    bool grown;               /* it has too many now, and is left alone */
};

/* A session begins in a running JVM: from now on numbers are remembered. The thread that begins it. */
void hpx_class_numbers_remember(void);
/* The numbers that a loaded class has; klass NULL: it is being loaded. Any thread. */
struct hpx_class_numbers hpx_class_numbers_of(jclass klass);
/* This file of a loaded class, n bytes, is about to be rewritten. false: it has too many constants. HotSpot merges those of the old and the
 * new version of a class; of some classes (java.lang.Math) it finds none again and doubles them each time, and JDK 17 loops for ever when
 * they are near 65,535. */
bool hpx_class_numbers_fits(struct hpx_class_numbers *of, const unsigned char *file, jint n);
/* `n` methods, beginning with the result: those that the class has, if it has as many, or new ones, noted in *of. Once for a class. Any
 * thread. */
uint32_t hpx_class_numbers_methods(struct hpx_class_numbers *of, uint32_t n);
/* The session begins: the next place is its first. At load, before a class is rewritten. */
void hpx_class_numbers_begin(void);
/* `n` new places, beginning with the result. Any thread. */
uint32_t hpx_class_numbers_places(uint32_t n);
/* The last place before this session; constant in a session. Any thread. */
uint32_t hpx_class_numbers_places_before(void);
/* Remembers what a loaded class was given; no effect without memory: it is given others in the next session. Any thread. */
void hpx_class_numbers_keep(jclass klass, const struct hpx_class_numbers *n);

#endif
