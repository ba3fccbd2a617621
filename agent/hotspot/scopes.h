/* SPDX-License-Identifier: BSD-2-Clause */
/* scopes.h: which methods are inlined at a place of compiled code: the stream of scopes that the VM keeps with every nmethod.
 *
 * Touches nmethod's scopes data and its table of metadata; reads only. On JDK 8 to 22 both are in the nmethod; on 25 and later the scopes
 * are behind _immutable_data and the metadata behind _mutable_data; 23 and 24 have other names, and are refused. A scope begins with
 * three numbers: where the caller's scope is (0: there is none), which method, which bytecode; callers come before what they inline.
 * Numbers are in UNSIGNED5, which leaves the byte 0 out since JDK 20. Source: HotSpot's scopeDesc.cpp, debugInfo.hpp, unsigned5.hpp. */
#ifndef HPX_SCOPES_H
#define HPX_SCOPES_H

#include "compiler.h"

/* At load, after hpx_debug_info_init() has found its names. NULL, or the constant text why scopes are not read. */
const char *hpx_scopes_init(void);
/* VMInit, under the guard: the encoding, by the VM's release. NULL, or what contradicts. */
const char *hpx_scopes_live(void);

/* The stream and the metadata of one nmethod. */
struct hpx_scopes {
    const uint8_t *bytes;
    uint32_t size;
    uint8_t least;      /* the smallest byte of a number: 0, since JDK 20 1 */
    uint32_t n;         /* words of metadata */
    uintptr_t metadata; /* the first of them: number 1 */
};

struct hpx_scope {
    uint32_t caller; /* offset of the caller's scope, less than that of this one; 0: none */
    int32_t bci;
    uintptr_t method; /* Method*, not followed */
};

/* ---- in the handler, under its guard as a read of structures; async-signal-safe ---- */

/* Of the living compiled method `blob`. false: its ranges make no sense. */
bool hpx_scopes_open_sig(uintptr_t blob, struct hpx_scopes *s);
/* The scope at offset `at`. Reads only inside both ranges, even if the bytes are damaged. false: they are no scope. */
bool hpx_scopes_read_sig(const struct hpx_scopes *s, uint32_t at, struct hpx_scope *to);

#endif
