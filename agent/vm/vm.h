/* SPDX-License-Identifier: BSD-2-Clause */
/* vm.h: the JVM that the agent is loaded into.
 *
 * Set by who begins a session; constant from then on, except `finished`, which its end sets. */
#ifndef HPX_VM_H
#define HPX_VM_H

#include "session.h"
#include <jvmti.h>

struct hpx_vm {
    JavaVM *java;
    jvmtiEnv *jvmti;      /* the session's; it is disposed of with the session */
    bool late;            /* the session begins in a JVM that runs */
    atomic_bool prepared; /* begun without an error. Orders nothing: who asks from outside gets an answer of that moment */
    bool finished;        /* VMDeath is over and everything is written */
};

extern struct hpx_vm hpx_vm;

/* The release of the JDK: 8, 11, ... From load on; any attached thread. */
jint hpx_vm_release(void);
/* The name of a JVMTI error for a message; constant. */
const char *hpx_jvmti_error(jvmtiError e);

#endif
