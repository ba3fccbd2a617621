/* SPDX-License-Identifier: BSD-2-Clause */
/* libjvm.h: what libjvm exports. Any thread, not in handlers. */
#ifndef HPX_LIBJVM_H
#define HPX_LIBJVM_H

/* A function or variable; NULL: there is none. A launcher may have loaded libjvm without making its names global. */
void *hpx_libjvm_symbol(const char *name);

#endif
