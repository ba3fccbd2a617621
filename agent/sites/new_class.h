/* SPDX-License-Identifier: BSD-2-Clause */
/* new_class.h: prevents a crash of generational ZGC (JDK 21 to 28) that the event of allocations provokes.
 *
 * The bug is in the VM: it posts SampledObjectAlloc of a java.lang.Class before it stores how many static fields the object has. A
 * collection that marks and promotes the object during the callback sees no static field and leaves raw nulls there. In the old generation
 * such a field looks up to date: stores into it enter no remembered set, and a later collection follows a stale pointer.
 *
 * The next object that the VM allocates on the thread is the lock of the class. By then the number is stored, and all static fields are
 * still null. A collection at that point visits them and repairs the nulls. So the thread collects there if a collection paused the program
 * in between. If not every object has an event, the lock has none; then few classes have one, too, and nothing is done. */
#ifndef HPX_NEW_CLASS_H
#define HPX_NEW_CLASS_H

#include "class_number.h"
#include "compiler.h"
#include <stdatomic.h>

/* Of a thread, whatever session it is; the owner's. Zero at first. */
struct hpx_new_class {
    bool is;         /* its last object was a class with static fields */
    uint32_t pauses; /* when the callback for it began */
};

/* The VM has the bug, and hpx_new_class_look() has found what it needs. Constant from VMInit on. */
extern HPX_OF_SESSION bool hpx_new_class_matters;
/* Pauses of collections so far. relaxed: a pause and the callbacks that it interrupts are ordered by the VM. */
extern HPX_OF_SESSION _Atomic uint32_t hpx_new_class_pauses;
/* Classes for which a thread collected. relaxed. */
extern HPX_OF_SESSION _Atomic uint32_t hpx_new_class_repairs;

/* GarbageCollectionFinish. In a pause. */
void JNICALL hpx_new_class_paused(jvmtiEnv *jvmti);
/* VMInit, before the first allocation is recorded, if the VM has the bug. */
void hpx_new_class_look(jvmtiEnv *jvmti, JNIEnv *env);
/* An object of this class was allocated: does it have static fields? */
bool hpx_new_class_has_fields(struct hpx_class_number klass, uint64_t size);

/* First in the callback. */
static inline uint32_t hpx_new_class_now(void)
{
    return atomic_load_explicit(&hpx_new_class_pauses, memory_order_relaxed);
}

/* The callback of the thread's next object. now: hpx_new_class_now(). true: the thread has to collect before it returns to the VM. */
static inline bool hpx_new_class_is_due(struct hpx_new_class *c, uint32_t now)
{
    bool due = c->is && c->pauses != now;
    c->is = false;
    c->pauses = now;
    return due;
}

#endif
