/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr_facts.h: what is known of a run, as settings (jdk.ActiveSetting) of the recordings that hprofx writes. The report has
 * the same names. */
#ifndef HPX_TREE_JFR_FACTS_H
#define HPX_TREE_JFR_FACTS_H

#include "jfr_out.h"

/* A setting of a type of events, or of the recording: HPX_JFR_T_SETTING. */
void hpx_jfr_put_setting(struct hpx_jfr_out *j, enum hpx_jfr_t of, const char *name, const char *value);
/* All facts of j->tree. */
void hpx_jfr_put_facts(struct hpx_jfr_out *j);

/* Numbers that several recordings in one file tell are added up in the tree. */
struct hpx_jfr_told {
    bool effective, sampled; /* that of samples, of sampled allocations */
    bool all_lines;          /* the tree's verdict takes no more */
    size_t verdict;          /* bytes of it, which was none before */
    /* Measures that the recording, which a setting `hprofx` begins, was filtered by; what all recordings have of such ones. */
    bool filtered[HPX_VIEWS][HPX_TREE_VALUES];
    uint64_t left[HPX_VIEWS][HPX_TREE_VALUES];
};
/* A setting that was read, of any name: bytes of a file, with a 0. */
void hpx_jfr_take_fact(struct hpx_tree *t, struct hpx_jfr_told *told, const char *name, const char *value);
/* Values of the recording that were added to a view. */
void hpx_jfr_take_values(struct hpx_jfr_told *told, const struct hpx_tree *t, const struct hpx_tree_view *v, const uint64_t *values);
/* After the last event: what recordings have that were not filtered stays beside what others had before that, as in join.c. */
void hpx_jfr_take_unfiltered(struct hpx_tree *t, const struct hpx_jfr_told *told);

#endif
