/* SPDX-License-Identifier: BSD-2-Clause */
/* class_number.h: numbers of classes, kept in their tags (pipeline/site_ids.h), and the ids of sites. Shared by heap=sites and heap=dump,
 * because an object has one tag only. */
#ifndef HPX_CLASS_NUMBER_H
#define HPX_CLASS_NUMBER_H

#include "site_ids.h"
#include "vm.h"

extern struct hpx_site_ids hpx_ids;

/* The number of a class, given at the first call. 0: the VM failed, no memory, or no number left. Any attached thread, inside the gate;
 * takes a lock for a class without a number. */
uint32_t hpx_class_number(jvmtiEnv *jvmti, jclass klass);
/* The tag of a class whose number the table of sites knows; 0: not yet. Lock-free. */
uint32_t hpx_class_announced(jvmtiEnv *jvmti, jclass klass);
/* Notes that the table of sites knows the number. false: the VM failed. */
bool hpx_class_set_announced(jvmtiEnv *jvmti, jclass klass, uint32_t number);

#endif
