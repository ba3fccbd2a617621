/* SPDX-License-Identifier: BSD-2-Clause */
/* replaced.h: methods of the JDK for which HotSpot can run its own code (intrinsics), in compiled code and some in the interpreter too.
 * Such a call runs no probe, so a count of calls is a lower bound. */
#ifndef HPX_REPLACED_H
#define HPX_REPLACED_H

#include "hprofx_bci.h"

/* Whether the VM of this release of the JDK can replace the method. From 9 on its annotation tells; JDK 8 has a table. Any thread. */
bool hpx_replaced_is(const struct hprofx_bci_method *m, int release);
/* Whether the class with this name (p/C, n bytes) is in a package of the JDK. Any thread. */
bool hpx_is_of_jdk(const char *name, size_t n);

#endif
