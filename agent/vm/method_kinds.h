/* SPDX-License-Identifier: BSD-2-Clause */
/* method_kinds.h: which methods are of classes that matter. The names of a method's class are looked up once. Any attached thread; no lock.
 */
#ifndef HPX_METHOD_KINDS_H
#define HPX_METHOD_KINDS_H

#include "compiler.h"

#define HPX_METHOD_KINDS 1024u /* methods that are remembered */

/* The number, from 1 on, of the first text that the signature of the method's class begins with; 0: none, or the VM does not tell now.
 * texts: at most three, always the same ones for `known`; ends with NULL. */
uint32_t hpx_method_kind(_Atomic uint64_t known[static HPX_METHOD_KINDS], const char *const *texts, uint64_t method);

#endif
