/* SPDX-License-Identifier: BSD-2-Clause */
/* loaders.h: which class loaders of the program find the class that probes call.
 *
 * Where a class first calls a probe, the VM looks the probe's class up by its name: it has the loader of the calling class load it, which
 * is code of the program, under whatever locks the program holds then. If that fails there, in a static initializer, the class is broken
 * for good. But the VM remembers a loader that has found a class once, and asks it never again. So a loader is asked before its first class
 * with probes comes to be: on the thread that defines that class, as the VM itself asks the loader there for the superclass. Classes of a
 * loader that does not find the class get no probes.
 *
 * Each loader has the answer as its tag in an environment that has no other tags. */
#ifndef HPX_LOADERS_H
#define HPX_LOADERS_H

#include <jvmti.h>
#include <stdbool.h>

#define HPX_LOADERS_CLASSES 2u

/* A class that probes call. Global references, never deleted. */
struct hpx_probe_class {
    jclass klass;
    jstring name;    /* "java.lang.HprofxTracker" */
    unsigned number; /* below HPX_LOADERS_CLASSES: tells the classes of a process apart */
};
/* name: internal. false: no memory; no exception stays pending. An attached thread. */
bool hpx_probe_class_init(struct hpx_probe_class *c, JNIEnv *env, jclass klass, const char *name, unsigned number);

/* Once, before the other functions. tags: with can_tag_objects, for this alone; NULL: nothing is remembered, and loaders are asked for
 * every class. false: the VM lacks what is looked up. No exception stays pending. */
bool hpx_loaders_init(jvmtiEnv *tags, JNIEnv *env);

enum hpx_loader { HPX_LOADER_UNKNOWN, HPX_LOADER_FINDS, HPX_LOADER_REFUSES };

/* What is known of a loader (NULL: the boot loader). Calls no Java. Any attached thread. */
enum hpx_loader hpx_loaders_look(const struct hpx_probe_class *c, jobject loader);
/* Asks the loader: runs its code. UNKNOWN: the calling thread is asking it already, or has no stack or memory for it. A pending exception
 * stays pending; of those of the loader, ThreadDeath does. An attached thread that holds no lock of ours. */
enum hpx_loader hpx_loaders_ask(const struct hpx_probe_class *c, JNIEnv *env, jobject loader);
/* Notes that a loader is listed, to be asked later, or is so no more. Returns whether it was listed. */
bool hpx_loaders_list(jobject loader, bool listed);

#endif
