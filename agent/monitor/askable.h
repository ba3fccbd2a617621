/* SPDX-License-Identifier: BSD-2-Clause */
/* askable.h: what this VM tells about threads and monitors. */
#ifndef HPX_ASKABLE_H
#define HPX_ASKABLE_H

#include "vm.h"

/* Constant from load, the last two from VMInit on. */
struct hpx_askable {
    bool owned, contended, usage; /* capabilities */
    bool owned_slows;             /* it was not asked for: the VM would compile slower code */
    bool owned_stops;             /* the question for the monitors that a thread owns stops the program, not only that thread */
    bool biased;                  /* the question for the usage of a monitor revokes its bias */
    bool virtual_threads;         /* JDK 21 and later */
    jfieldID owner;               /* AbstractOwnableSynchronizer.exclusiveOwnerThread; NULL: not there */
    jclass synchronizer;          /* global */
};
extern struct hpx_askable hpx_askable;

/* At load, after the required capabilities: adds what VMs may refuse. false: owners and waiters of a monitor cannot be asked for. */
bool hpx_askable_load(jvmtiEnv *jvmti);
/* Looks for the class, once. At VMInit, or before an image that is due earlier; one thread at a time. */
void hpx_askable_live(JNIEnv *env);

#endif
