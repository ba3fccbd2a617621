/* SPDX-License-Identifier: BSD-2-Clause */
/* debug_info.h: which pcs of a compiled method have the same debug information.
 *
 * Touches nmethod's list of PcDesc; reads only. On JDK 8 to 28: behind nmethod._immutable_data since 23, before in the nmethod. A PcDesc
 * holds for all pcs from the one before it on; it names a scope, which is a chain of methods and bytecodes. Equal scopes are stored once.
 * A search reads only inside the nmethod, or inside its immutable data if the tables have that size, even if the list is damaged.
 * Source: HotSpot's pcDesc.hpp, nmethod.cpp. */
#ifndef HPX_DEBUG_INFO_H
#define HPX_DEBUG_INFO_H

#include "compiler.h"

/* At load. NULL, or the constant text why it is not read. */
const char *hpx_debug_info_init(void);

/* *outside: methods keep it behind nmethod._immutable_data (JDK 23 and later), else in the blob. NULL, or the constant text why it is not
 * known where it ends. After init. */
const char *hpx_debug_info_bounds(bool *outside);
/* Where the living compiled method `blob` keeps it: `size` bytes from `base` (INT32_MAX: not known); the list of pcs from `pcs` to
 * `behind`. Beside it are the scopes (scopes.h): outside from `behind` to the end, in a blob up to `pcs`. As below. */
struct hpx_debug_data {
    uintptr_t base;
    int32_t size, pcs, behind;
};
struct hpx_debug_data hpx_debug_info_data_sig(uintptr_t blob);

/* Of the living compiled method `blob`: pcs with the same answer stand for the same methods and bytecodes. pc: bytes from the begin of its
 * code, where a thread runs. 0: there is no information. In the handler, under its guard as a read of structures; async-signal-safe. */
uint64_t hpx_debug_info_place_sig(uintptr_t blob, uint32_t pc);

/* The scope (scopes.h) that holds at pc of such a method: the next place that is described, or with `exact` only that of this pc. 0: none.
 */
uint32_t hpx_debug_info_scope_sig(uintptr_t blob, uint32_t pc, bool exact);

#endif
