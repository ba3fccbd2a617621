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
struct hpx_class_number hpx_class_number(jvmtiEnv *jvmti, jclass klass);
/* Makes the message that announces a class to a table; NULL: no memory. */
typedef struct hpx_msg *hpx_class_message(jvmtiEnv *jvmti, jclass klass, struct hpx_class_number number, const char *signature);
/* The number of a class; a table that does not know it gets the message first. table: HPX_SITE_ANNOUNCED or HPX_BLOCK_ANNOUNCED. 0: as
 * above, or no memory. If two threads announce a class at once, or the VM fails, it may be announced again, which changes nothing. Any
 * attached thread, inside the gate; lock-free for a class that is known. */
struct hpx_class_number hpx_class_announce(jvmtiEnv *jvmti, jclass klass, uint64_t table, hpx_class_message *message);

#endif
