/* SPDX-License-Identifier: BSD-2-Clause */
/* class_numbers.h: numbers of methods and places, which the rewriter puts into code.
 *
 * They live as long as the process, because code of an earlier session, or of an earlier version of the class, may run on. A class that is
 * rewritten again, because another agent retransforms it or in a later session, gets the numbers that it had: else each rewriting would
 * need as many new ones, HotSpot would keep a constant in the class for each, and to merge constants takes it time that grows with their
 * square. Only a class whose methods or places have changed gets new numbers, so a number never changes its meaning.
 * They are found by the tag of the class in an environment of ours. A class that is being loaded has no tag: it gets numbers once more when
 * it is first rewritten again, and keeps those. What a tag points to, 80 bytes, stays when its class is unloaded. */
#ifndef HPX_CLASS_NUMBERS_H
#define HPX_CLASS_NUMBERS_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What the numbers of a class mean: the names that belong to them. */
struct hpx_class_meaning {
    uint64_t hash;
    uint32_t session; /* in which the aggregator has the names */
};

/* Of one class. Zero: none yet. */
struct hpx_class_numbers {
    struct hpx_class_meaning of_methods, of_places;
    uint32_t method, methods; /* the first, and how many */
    uint32_t place, places;
    uint32_t used;                /* of the places, by the rewriting that goes on */
    uint32_t constants;           /* of its class file when it was first rewritten */
    bool old_methods, old_places; /* the rewriting that goes on has used some that the class had */
    bool scattered;               /* places of other classes lie between its own: it gets all anew the next time */
    bool grown;                   /* it has too many constants now, and is left alone */
};

/* Of a loaded class, besides. It lives as long as the process. */
struct hpx_class_state {
    _Atomic unsigned waits;   /* enum hpx_class_waits; waiting.h */
    _Atomic uint32_t without; /* session that has listed the class and not rewritten it: its end leaves it alone */
};
/* WAITS, MAY_HAVE: it is to get probes when it is linked; it may have them from when it was loaded. ASKED: it gets them now. */
enum hpx_class_waits { HPX_CLASS_KNOWN, HPX_CLASS_WAITS, HPX_CLASS_MAY_HAVE, HPX_CLASS_ASKED };

/* Makes the environment, if there is none. When a class is first rewritten again: the begin of a JVM makes none. Any thread of the JVM, the
 * class hook too. */
void hpx_class_numbers_remember(void);
/* NULL: there is none. Any thread. */
jvmtiEnv *hpx_class_numbers_environment(void);
/* NULL: nothing is known of the class; with `make`: no memory. Any thread. */
struct hpx_class_state *hpx_class_numbers_state(jclass klass, bool make);
/* The numbers that a loaded class has; klass NULL: it is being loaded. Any thread. */
struct hpx_class_numbers hpx_class_numbers_of(jclass klass);
/* This file of a loaded class, n bytes, is about to be rewritten. false: it has too many constants. HotSpot merges those of the old and the
 * new version of a class by comparing their values, so it never finds a NaN again: classes with one (java.lang.Math) have more
 * after every rewriting, on JDK 25 four times as many after twelve, and JDK 17 loops for ever when the constants are near 65,535. */
bool hpx_class_numbers_fits(struct hpx_class_numbers *of, const unsigned char *file, jint n);
/* `n` methods, beginning with the result: those that the class has, if it has as many, or new ones, noted in *of. Once for a rewriting. Any
 * thread. */
uint32_t hpx_class_numbers_methods(struct hpx_class_numbers *of, uint32_t n);
/* `n` places for the next method, beginning with the result: the next that the class has, or new ones, noted in *of. Any thread. */
uint32_t hpx_class_numbers_places(struct hpx_class_numbers *of, uint32_t n);
/* Behind a rewriting: hashes of its numbers with the names that they have now; 0: it has used none. true: those that the class had mean
 * what they meant. false: the class is to be rewritten once more; the numbers that would change their meaning are gone from *of, so the
 * next call returns true. Any thread. */
bool hpx_class_numbers_mean(struct hpx_class_numbers *of, uint64_t method_hash, uint64_t place_hash);
/* The highest place so far, of all sessions. Any thread. */
uint32_t hpx_class_numbers_places_given(void);
/* Remembers what a loaded class was given; no effect without memory: it is given others in the next session. Any thread. */
void hpx_class_numbers_keep(jclass klass, const struct hpx_class_numbers *n);

#endif
