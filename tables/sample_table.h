/* SPDX-License-Identifier: BSD-2-Clause */
/* sample_table.h: a table of the model: samples of CPU time by stack (cpu=samples). Owner: the aggregator. */
#ifndef HPX_SAMPLE_TABLE_H
#define HPX_SAMPLE_TABLE_H

#include "model.h"

struct hpx_samples;
/* Adds itself to the model, which owns it. NULL without memory. */
struct hpx_samples *hpx_samples_create(struct hpx_model *m);

/* Rows in no order. NULL without memory: nothing was reset. */
struct hpx_snapshot *hpx_samples_snapshot(struct hpx_samples *s, enum hpx_take take);
/* Sets the counts to 0, as a resetting snapshot does. */
void hpx_samples_clear(struct hpx_samples *s);
/* Sets whether later samples of t count, if t has this serial (0: any). false: t has another serial, or there is no memory. */
bool hpx_samples_choose(struct hpx_samples *s, struct hpx_thread *t, uint32_t serial, bool on);
/* The same for threads that have no sample yet and were not chosen. */
void hpx_samples_choose_new(struct hpx_samples *s, bool on);
/* fn is called for every sample of a thread that counts, also if there was no memory for it (raw may then be HPX_INTERN_NONE); serial: of
 * its thread. One listener. */
void hpx_samples_listen(struct hpx_samples *s, void (*fn)(void *self, uint32_t raw, uint64_t weight, uint32_t serial), void *self);

/* Samples so far by weight: all, and those without a stack by cause. Since the start, not reset by snapshots. */
uint64_t hpx_samples_count(const struct hpx_samples *s);
uint64_t hpx_samples_unknown(const struct hpx_samples *s, enum hpx_unknown why);
/* Stalls since the start: signals that stood for more than a sample may weigh. Intervals: those beyond that weight, which are rows of
 * hprofx.stalled and in hpx_samples_count(). */
struct hpx_stalls {
    uint64_t count, intervals;
    uint64_t longest; /* intervals of one of them */
};
const struct hpx_stalls *hpx_samples_stalls(const struct hpx_samples *s);

#endif
