/* SPDX-License-Identifier: BSD-2-Clause */
/* taken.h: one image of threads and monitors, and what it cost: filled by the askers, kept by monitor_take.c. */
#ifndef HPX_TAKEN_H
#define HPX_TAKEN_H

#include "census.h"
#include "images.h"
#include "monitor_image.h"
#include "named_stacks.h"
#include "string_table.h"

struct hpx_monitor_take {
    struct hpx_image queued;                 /* first */
    struct hpx_monitor_image image;          /* its traces are NULL until hpx_monitor_take_name() */
    struct hpx_named_stack *stacks;          /* of image.threads */
    struct hpx_named_stack *deadlock_stacks; /* of image.deadlocks */
    uint32_t *deadlock_virtuals;             /* the same of virtual threads: 1 + index of virtual_stacks; 0: it is none */
    struct hpx_census *census;               /* names of virtual threads; NULL: none was taken */
    struct hpx_named_stack *virtual_stacks;  /* of image.virtual_traces */
    struct hpx_arena arena;                  /* stacks, names */
    struct hpx_strings signatures;
    bool named;            /* hpx_monitor_take_name() */
    const char *failed;    /* why there is no image; NULL: there is one; static text */
    uint32_t questions;    /* for which the VM stops the program, or (newer VMs, some of them) the thread in question */
    uint64_t asked_ns;     /* the time of these; the program stands still for less */
    uint64_t longest_ns;   /* of one of them */
    uint64_t ns;           /* in all */
    uint32_t counts_asked; /* owned monitors without waiters: the VM was asked for their entry counts */
    uint32_t unasked;      /* too many to ask: their entry count is shown as 1 */
    char notes[HPX_MONITOR_NOTES][320];
};

#endif
