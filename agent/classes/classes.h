/* SPDX-License-Identifier: BSD-2-Clause */
/* classes.h: the rewriting pass that all modes with probes share: the class file load hook and the classes that probes call.
 *
 * A mode registers with hpx_classes_use(): which classes get its kinds of probe, and which functions those probes call. The rewriting
 * numbers methods and sites. Their names reach the aggregator before the JVM gets the class, so before any event that uses a number.
 * Classes of the program are never looked up by name.
 *
 * Methods call natives of java.lang.HprofxTracker, in the boot loader (tracker_class.h); classes whose loader does not find it are left
 * alone (loaders.h). If critical downcalls are available (downcall.h), methods call java.lang.invoke.HprofxTracker instead. From VMInit on
 * that class calls C by downcalls; before VMInit, and for work that a downcall must not do, it calls the natives. */
#ifndef HPX_CLASSES_H
#define HPX_CLASSES_H

#include "hprofx_bci.h"
#include "report.h"
#include "tracker_class.h"
#include "vm_mode.h"

/* Methods with CALLS call HprofxTracker.count with their number at their entry, and nothing else. */
struct hpx_class_counts {
    uint32_t most;               /* methods with higher numbers pass this one */
    uint64_t (*table)(void);     /* where the probe finds the counters of its thread (tracker_class.h); 0: no memory */
    bool (*reach)(uint32_t end); /* before a class with numbers below `end` runs; false: no memory. Any thread */
};

/* What a mode asks of the pass. The mode's; constant and valid from hpx_classes_use() on. */
struct hpx_class_user {
    unsigned probes; /* kinds of probe, HPROFX_BCI_*; no other user has them */
    /* Whether a class gets these probes. name: internal form (p/C), n bytes, not terminated by 0. Any thread. NULL: every class. */
    bool (*wants)(const char *name, size_t n);
    /* Called for every place that got a probe of SITES, before its class runs. Any thread. NULL: not called. */
    void (*site)(const struct hprofx_bci_site *site);
    const JNINativeMethod *natives; /* of java.lang.HprofxTracker */
    jint nnatives;
    const struct hpx_class_counts *counts;     /* NULL: methods with CALLS call enter, exit and thrown */
    const struct hpx_tracker_targets *targets; /* functions for downcalls; NULL: probes always call the natives */
};

/* Registers a mode; at most HPX_MODES_MAX. At load, by one thread. */
void hpx_classes_use(const struct hpx_class_user *user);
/* Events of the pass: a registered mode enables them itself, from load on. */
#define HPX_CLASSES_EVENTS JVMTI_EVENT_VM_START, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK
/* Sets the callbacks of these events. At load. */
void hpx_classes_callbacks(union hpx_event_callbacks *all);
/* Adds the capabilities of these events and of retransforming. At load. */
void hpx_classes_capabilities(jvmtiCapabilities *want);
/* Retransforms the classes loaded so far, in batches (batches.h), and then has the probes use downcalls if they are available. If the VM
 * refuses a batch, its halves are tried, and classes that it refuses are counted. In a JVM that runs also those that have loaded
 * meanwhile, and those that are not linked yet wait until they are (waiting.h). VMInit (hpx_vm_mode.classes); only the first call has an
 * effect. */
void hpx_classes_loaded(jvmtiEnv *jvmti, JNIEnv *env);
/* Stops the rewriting; a thread inside the hook continues. Any thread; async-signal-safe. */
void hpx_classes_close(void);
/* Stops the rewriting and waits until no thread is inside the hook: at most as long as the rewriting of a class. The aggregator. */
void hpx_classes_close_and_wait(void);
/* After hpx_classes_close(): waits until no thread is inside the hook, at most until `until_ns`. false: one is, perhaps suspended. */
bool hpx_classes_left(uint64_t until_ns);

/* A session ends while the program runs on: the classes that got probes have their old code afterwards, but for calls that run. Rewriting
 * has stopped. Only the first call has an effect. */
void hpx_classes_restore(jvmtiEnv *jvmti, JNIEnv *env);

/* yes: a begin is to go no further: no class is rewritten any more, from now on or, while it still ends a session before, at all. Who has
 * it cancelled ends the session, which gives those that were rewritten their old code back, and takes it back behind the begin, whose it
 * is, not a session's. Any thread. */
void hpx_classes_cancel(bool yes);
bool hpx_classes_cancelled(void);

/* How many of the loaded classes that get or lose probes have been retransformed, while a session begins or ends; of 0: none are. Any
 * thread. */
struct hpx_classes_progress {
    uint32_t done, of;
    uint32_t jdk; /* of them are in packages of the JDK */
};
struct hpx_classes_progress hpx_classes_progress(void);
/* How many got their old code back at the end of a session, since the last question. Any thread. */
uint32_t hpx_classes_restored(void);

/* Counts an allocation under the open call of the calling thread (cpu=times). kind: HPX_EV_PLACE to HPX_EV_PLACE_MADE; stamp: as in
 * event.h. On the allocating thread; may wait for space. false: lost, and counted as a loss. */
typedef bool (*hpx_classes_note)(JNIEnv *env, uint16_t kind, uint32_t place, uint64_t stamp);
/* Set by cpu=times at load, before probes count; read from VMInit on. NULL: cpu=times is not active. */
void hpx_classes_set_note(hpx_classes_note note);
hpx_classes_note hpx_classes_get_note(void);

/* The class that methods call: a global reference. When classes can be rewritten; on the thread that begins the session. */
jclass hpx_classes_tracker(void);
/* Where methods are counted: NULL: the probe finds its counters by itself; else why it calls a native. Any thread. */
const char *hpx_classes_not_linked(void);
/* NULL: probes use downcalls. Else why not. Any thread. */
const char *hpx_classes_no_downcalls(void);

#define HPX_CLASSES_REASONS 20

/* Figures for the report, since the start. */
struct hpx_classes_figures {
    uint64_t classes, refused;          /* rewritten; refused by the VM, or malformed */
    uint64_t methods;                   /* methods with probes of CALLS */
    uint64_t sites, objects;            /* probes of SITES; probes of OBJECTS */
    uint64_t left[HPX_CLASSES_REASONS]; /* methods with code but no probe, by enum hprofx_bci_left */
    uint64_t bare;                      /* methods with CALLS but no handler: an exit by exception shows only at the caller's next event */
    uint64_t unannounced;               /* classes not rewritten because hprofx or the VM had no memory */
    uint64_t unfound;                   /* classes not rewritten because their loader does not find the class of the probes (loaders.h) */
    uint64_t grown;                     /* classes not rewritten by hpx_class_numbers_fits() */
};
/* Copies the figures. Any thread; relaxed reads, so figures of a class being rewritten may be incomplete. */
void hpx_classes_figures(struct hpx_classes_figures *f);

/* Adds the report lines of methods and classes that got no probe: one line for all reasons. The writer's thread. */
void hpx_classes_left_lines(struct hpx_lines *to, const struct hpx_classes_figures *f);

#endif
