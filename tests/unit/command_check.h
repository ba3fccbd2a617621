/* SPDX-License-Identifier: BSD-2-Clause */
/* command_check.h: a second opinion on a command stream: the whole of it in memory, no state. For the unit tests and the fuzz target. */
#ifndef HPX_COMMAND_CHECK_H
#define HPX_COMMAND_CHECK_H

#include "hprof_commands.h"
#include <string.h>

static inline uint64_t command_number(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    while (n-- > 0) {
        v = v * 256 + *p++;
    }
    return v;
}

/* Does the command at `at` agree with c? *next: where the one behind it begins. false: no whole command, or none that fits c. */
static inline bool command_agrees(const uint8_t *at, size_t n, const struct hpx_command *c, unsigned id_size, size_t *next)
{
    if (n > 0 && at[0] == 0xFF) {
        *next = n;
        return c->tag == 0xFF && c->fault == HPX_COMMAND_GOOD;
    }
    if (n < 9 || command_number(at + 5, 4) > 65536 || n - 9 < command_number(at + 5, 4)) {
        return false;
    }
    uint64_t length = command_number(at + 5, 4);
    const uint8_t *body = at + 9;
    *next = 9 + length;
    if (c->tag != at[0] || c->serial != command_number(at + 1, 4) || c->length != length) {
        return false;
    }
    bool with_cutoff = at[0] == 3 || at[0] == 7, control = at[0] == 8;
    if (at[0] == 0 || at[0] > 8) {
        return c->fault == HPX_COMMAND_UNKNOWN_TAG;
    }
    if (with_cutoff && length >= 6) {
        uint32_t bits;
        memcpy(&bits, &c->cutoff, 4);
        return c->fault == HPX_COMMAND_GOOD && c->flags == command_number(body, 2) && bits == command_number(body + 2, 4);
    }
    if (!control || length < 2) {
        return c->fault == (with_cutoff || control ? HPX_COMMAND_SHORT : HPX_COMMAND_GOOD);
    }
    uint64_t sub = command_number(body, 2), depth = length >= 4 ? command_number(body + 2, 2) : 0;
    if (sub == 0 || sub > 7) {
        return c->fault == HPX_COMMAND_UNKNOWN_SUB && c->control == HPX_CONTROL_NONE;
    }
    uint64_t least = sub == 3 || sub == 4 ? 6 : sub == 7 || (sub == 6 && length == 3) ? 4 : 2;
    if (length < least) {
        return c->fault == HPX_COMMAND_SHORT && c->control == HPX_CONTROL_NONE;
    }
    static const enum hpx_control what[] = {
        [1] = HPX_CONTROL_ALLOC_ON,  [2] = HPX_CONTROL_ALLOC_OFF, [3] = HPX_CONTROL_CPU_ON, [4] = HPX_CONTROL_CPU_OFF,
        [5] = HPX_CONTROL_CLEAR_CPU, [6] = HPX_CONTROL_DEPTH,     [7] = HPX_CONTROL_DEPTH};
    enum hpx_control wanted = sub == 6 && length == 2 ? HPX_CONTROL_CLEAR_SITES : what[sub];
    uint64_t thread = least != 6 ? 0 : command_number(body + 2, id_size == 8 && length >= 10 ? 8 : 4);
    uint64_t shown = wanted != HPX_CONTROL_DEPTH ? 0 : depth > 2048 ? 2048 : depth;
    return c->fault == HPX_COMMAND_GOOD && c->control == wanted && c->thread == thread && c->depth == shown &&
           c->depth_cut == (wanted == HPX_CONTROL_DEPTH && depth > 2048);
}

#endif
