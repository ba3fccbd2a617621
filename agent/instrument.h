/* SPDX-License-Identifier: BSD-2-Clause */
/* instrument.h: which classes get probes, and when: at their loading, and at VMInit those that were there before.
 *
 * Methods have numbers, given out at the rewriting; their names go to the aggregator before the JVM has the class, so before any event that
 * uses them. No class is ever looked up by name. */
#ifndef HPX_INSTRUMENT_H
#define HPX_INSTRUMENT_H

#include "agent.h"

/* ClassFileLoadHook from VMStart on, any thread, inside the gate. *new_data is the VM's (Allocate), untouched if the class stays as it is.
 */
void hpx_instrument_class(jvmtiEnv *jvmti, const char *name, jint n, const unsigned char *data, jint *new_n, unsigned char **new_data);
/* Retransforms what has been loaded so far, in batches; a class that the VM refuses is counted and costs its batch nothing. VMInit. */
void hpx_instrument_loaded(jvmtiEnv *jvmti, JNIEnv *env);

#define HPX_INSTRUMENT_REASONS 16

/* Figures for the report. */
struct hpx_instrument_figures {
    uint64_t classes, refused;             /* rewritten; left as they were by the VM or as malformed */
    uint64_t methods;                      /* with probes */
    uint64_t left[HPX_INSTRUMENT_REASONS]; /* methods with code and without probes, by enum hprofx_bci_left */
    uint64_t bare;                         /* methods whose exits by exception are seen at the next frame only */
    uint64_t untold;                       /* classes left alone for want of memory for their names */
};
void hpx_instrument_figures(struct hpx_instrument_figures *f);

#endif
