/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_vm.h: a library that plays libjvm for test_child.c: it calls malloc, locks and waits through its own table of addresses. */
#ifndef HPX_FAKE_VM_H
#define HPX_FAKE_VM_H

#include <stdbool.h>
#include <stddef.h>

#define FAKE_VM __attribute__((visibility("default")))

enum fake_walk { WALK_WHOLE, WALK_MUCH, WALK_CRASH, WALK_OVERFLOW, WALK_SPIN, WALK_SLEEP, WALK_WAIT, WALK_ABORT, WALK_COUNT };

/* One VM operation: callback() forks; if it returns true, the walk goes on, and at its end the thread waits for the next operation. */
FAKE_VM void fake_vm_operation(enum fake_walk walk, bool (*callback)(void *), void *arg);
/* The VM's lock, which the walk takes too. */
FAKE_VM void fake_vm_lock(void);
FAKE_VM void fake_vm_unlock(void);
/* A round of the VM's allocations on any thread. false: a block lost its content. */
FAKE_VM bool fake_vm_allocate(void);
/* WALK_COUNT: the counter that the walk sets to 1. */
FAKE_VM extern volatile char *fake_vm_counter;

#endif
