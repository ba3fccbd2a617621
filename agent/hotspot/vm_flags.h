/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_flags.h: reads and sets flags of the VM (-XX:...) through its tables (structures.h).
 *
 * Touches the array of flags (Flag on JDK 8, JVMFlag since; the type of one is a text before 17, a number since) and the byte of one flag
 * that is set. On JDK 8 to 28.
 *
 * A VM without these tables, or with tables of another shape, yields the caller's default. From Agent_OnLoad on; any thread. */
#ifndef HPX_VM_FLAGS_H
#define HPX_VM_FLAGS_H

#include <stdbool.h>

/* Value of a VM flag of type bool; `otherwise` if it cannot be read. */
bool hpx_vm_flag(const char *name, bool otherwise);

/* Value of a VM flag that is a text: the VM's, which does not change once options are read. NULL: none, or it cannot be read. */
const char *hpx_vm_flag_text(const char *name);

enum hpx_flag_set {
    HPX_FLAG_UNREADABLE, /* nothing changed; *why has the reason, a constant */
    HPX_FLAG_SET,        /* was false by default, is true now */
    HPX_FLAG_WAS_TRUE,   /* nothing changed */
    HPX_FLAG_CHOSEN      /* false, and not by default: somebody wants it so. Nothing changed */
};

/* Sets a flag of type bool that is false by default. Its origin stays "default", as if the VM had decided; a debugger sees the value. The
 * VM reads its flags plainly: code that looks later sees the new value. */
enum hpx_flag_set hpx_vm_flag_set(const char *name, const char **why);
/* Takes back HPX_FLAG_SET. */
void hpx_vm_flag_reset(const char *name);

#endif
