/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor_take.h: takes images of threads and monitors for MONITOR DUMP, and keeps them in order for the dumps that show them. */
#ifndef HPX_MONITOR_TAKE_H
#define HPX_MONITOR_TAKE_H

#include "monitor_image.h"
#include "named_stacks.h"
#include "string_table.h"

struct hpx_monitor_take {
    struct hpx_monitor_image image;          /* its traces are NULL until hpx_monitor_take_name() */
    struct hpx_named_stack *stacks;          /* of image.threads */
    struct hpx_named_stack *deadlock_stacks; /* of image.deadlocks */
    struct hpx_arena arena;                  /* stacks, names */
    struct hpx_strings signatures;
    uint32_t users;        /* dumps that show it */
    bool last;             /* the one at exit */
    bool named;            /* hpx_monitor_take_name() */
    const char *failed;    /* why there is no image; NULL: there is one; static text */
    uint32_t questions;    /* for which the VM stops the program, or (newer VMs, some of them) the thread in question */
    uint64_t asked_ns;     /* the time of these; the program stands still for less */
    uint64_t longest_ns;   /* of one of them */
    uint64_t ns;           /* in all */
    uint32_t counts_asked; /* owned monitors without waiters: the VM was asked for their entry counts */
    uint32_t unasked;      /* too many to ask: their entry count is shown as 1 */
    char notes[HPX_MONITOR_NOTES][192];
};

/* At load, after the required capabilities: adds what VMs may refuse. The image then has a note on what is missing.
 * false: owners and waiters of a monitor cannot be asked for. */
bool hpx_monitor_take_capabilities(jvmtiEnv *jvmti);
/* VMInit: looks for fields of java.lang.Thread and of the locks of java.util.concurrent. */
void hpx_monitor_take_live(JNIEnv *env);
/* Takes an image now; one that no dump has taken, because the dump did not wait for it, is dropped. last: at exit, which
 * ends an image that another thread takes, and its own after 10 s: a note counts what was not asked. Any attached thread inside the gate,
 * or VMDeath's; waits for another thread that takes one. Needs hpx_thread_refs_use(true), can_get_source_file_name, can_get_line_numbers.
 */
void hpx_monitor_take_now(jvmtiEnv *jvmti, JNIEnv *env, bool last);
/* The oldest image; NULL: none. Another dump may get the last one too. The caller drops it. Any thread. */
struct hpx_monitor_take *hpx_monitor_take_get(void);
/* Sets the traces of its threads, once. The aggregator, before the writer has it. */
void hpx_monitor_take_name(struct hpx_monitor_take *t, struct hpx_model *model);
void hpx_monitor_take_drop(struct hpx_monitor_take *t);
/* At the end of a session: frees the images. */
void hpx_monitor_take_fini(void);

#endif
