/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_flags.h: reads flags of the VM from the tables that HotSpot exports for debuggers.
 *
 * Every symbol, field and flag is found by its name. A VM without these tables, or with tables of another shape, yields the caller's
 * default. Source: HotSpot's vmStructs.hpp. */
#ifndef HPX_VM_FLAGS_H
#define HPX_VM_FLAGS_H

#include <stdbool.h>

/* Value of a VM flag of type bool; `otherwise` if it cannot be read. From Agent_OnLoad on; any thread. */
bool hpx_vm_flag(const char *name, bool otherwise);

#endif
