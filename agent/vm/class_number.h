/* SPDX-License-Identifier: BSD-2-Clause */
/* class_number.h: numbers of classes, kept in their tags (pipeline/site_ids.h), and the ids of sites. Shared by the modes, because
 * an object has one tag only. */
#ifndef HPX_CLASS_NUMBER_H
#define HPX_CLASS_NUMBER_H

#include "site_ids.h"
#include "vm.h"

extern struct hpx_site_ids hpx_ids;

/* The number of a class, given at the first call. 0: the VM failed, no memory, or no number left. Any attached thread, inside the gate. A
 * class without a number is claimed (claims.h), so a thread that is suspended in here hangs no other. */
uint32_t hpx_class_number(jvmtiEnv *jvmti, jclass klass);
/* The number of a class that a table knows; 0: not yet. table: HPX_SITE_ANNOUNCED or HPX_BLOCK_ANNOUNCED. Lock-free. */
uint32_t hpx_class_announced(jvmtiEnv *jvmti, jclass klass, uint64_t table);
/* Notes that the table knows the number. If two threads note at once, one note may be lost; the class is then announced again. false: the
 * VM failed. */
bool hpx_class_set_announced(jvmtiEnv *jvmti, jclass klass, uint32_t number, uint64_t table);

#endif
