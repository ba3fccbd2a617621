/* SPDX-License-Identifier: BSD-2-Clause */
/* announcement.h: what the rewriter says about a class (methods, allocation sites), until it becomes messages to the aggregator.
 *
 * Owner: the thread that rewrites the class. */
#ifndef HPX_ANNOUNCEMENT_H
#define HPX_ANNOUNCEMENT_H

#include "class_numbers.h"
#include "hprofx_bci.h"

/* Zero but for `numbers`, which are those that the class has. */
struct hpx_announcement {
    struct hpx_announced_part {
        char *at;
        size_t len, cap;
    } text, numbered;                    /* layout of hpx_msg_methods */
    struct hpx_announced_part of, names; /* layout of hpx_msg_sites; names is its text */
    struct hpx_announced_part sites;     /* struct hprofx_bci_site */
    struct hpx_class_numbers numbers;
    uint32_t first, n, nsites;
    bool no_memory;
};

/* The rewriter reports to it. */
void hpx_announcement_hear(struct hpx_announcement *t, struct hprofx_bci_opts *opts);
/* Numbers that the class has mean what they meant; true also without memory, where nothing can be posted. */
bool hpx_announcement_keeps_numbers(struct hpx_announcement *t);
/* Before the VM gets the class: posts the names that this session lacks, and calls `site` for every place. false: no memory; the caller
 * keeps the old class. */
bool hpx_announcement_post(struct hpx_announcement *t, void (*site)(const struct hprofx_bci_site *site));
/* Frees what was reported; the numbers stay. */
void hpx_announcement_clear(struct hpx_announcement *t);

#endif
