/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor_take.h: takes images of threads and monitors for MONITOR DUMP, and keeps them in order for the dumps that show them. */
#ifndef HPX_MONITOR_TAKE_H
#define HPX_MONITOR_TAKE_H

#include "taken.h"

/* At load, after the required capabilities: adds what VMs may refuse. The image then has a note on what is missing.
 * false: owners and waiters of a monitor cannot be asked for. */
bool hpx_monitor_take_capabilities(jvmtiEnv *jvmti);
/* VMInit: looks for fields of java.lang.Thread and of the locks of java.util.concurrent. */
void hpx_monitor_take_live(JNIEnv *env);
/* Takes an image now; one that no dump has taken, because the dump did not wait for it, is dropped. last: at exit, which
 * ends an image that another thread takes, and its own after 10 s: a note counts what was not asked. Any attached thread inside the gate,
 * or VMDeath's; waits for another thread that takes one. Needs hpx_known_threads_keep(true), can_get_source_file_name,
 * can_get_line_numbers.
 */
void hpx_monitor_take_now(jvmtiEnv *jvmti, JNIEnv *env, bool last);
/* How many images wait for a dump. Any thread. */
uint32_t hpx_monitor_take_waiting(void);
/* The oldest image; NULL: none. Another dump may get the last one too. The caller drops it. Any thread. */
struct hpx_monitor_take *hpx_monitor_take_get(void);
/* Sets the traces of its threads, once. The aggregator, before the writer has it. */
void hpx_monitor_take_name(struct hpx_monitor_take *t, struct hpx_symbols *symbols);
void hpx_monitor_take_drop(struct hpx_monitor_take *t);
/* At the end of a session: frees the images. */
void hpx_monitor_take_fini(void);

#endif
