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
};
/* A setting that was read, of any name: bytes of a file, with a 0. */
void hpx_jfr_take_fact(struct hpx_tree *t, struct hpx_jfr_told *told, const char *name, const char *value);

#endif
