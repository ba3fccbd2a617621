/* SPDX-License-Identifier: BSD-2-Clause */
/* unwind_table.h: how the caller of a C frame is found, for every address of a library: made of its .eh_frame, whose programs are too slow
 * and too large for a signal handler.
 *
 * A table is an array of rows, ascending by address, and a smaller one of the rules that they name: six bytes a row. It never changes after
 * it was made, and refers to no memory of the library. Only what finding return addresses needs is kept: where the frame ends (the CFA),
 * and where the return address and the registers are from which the end may be found: the frame pointer, and the base register, rbx, which
 * the loader uses where it binds a symbol. */
#ifndef HPX_UNWIND_TABLE_H
#define HPX_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hpx_unwind_how {
    HPX_UNWIND_NONE,    /* no table says anything here */
    HPX_UNWIND_UNKNOWN, /* it says what a rule cannot express */
    HPX_UNWIND_END,     /* there is no caller */
    HPX_UNWIND_SIGNAL,  /* the code that a signal handler returns to: the stack has all registers */
    HPX_UNWIND_SP,      /* the frame ends at the stack pointer + cfa */
    HPX_UNWIND_FP,      /* at the frame pointer + cfa */
    HPX_UNWIND_BASE,    /* at the base register + cfa */
    HPX_UNWIND_AT_SP,   /* where the word at the stack pointer + cfa says */
    HPX_UNWIND_AT_FP,   /* where the word at the frame pointer + cfa says */
    HPX_UNWIND_PLT,     /* of a jump to another library: at the stack pointer + 8, and 8 more from byte `cfa` of 16 on */
};

#define HPX_UNWIND_KEPT         0         /* in its register */
#define HPX_UNWIND_AT_FP_ITSELF INT16_MIN /* of fp: at the address that it has */

struct hpx_unwind_rule {
    enum hpx_unwind_how how;
    int32_t cfa;          /* bytes */
    int16_t ra, fp, base; /* where they are: words from the end of the frame, which are below it; or HPX_UNWIND_KEPT */
};

/* The bytes of a library from which a table is made: a part of it that has .eh_frame_hdr and .eh_frame. They may be anything. */
struct hpx_unwind_bytes {
    const uint8_t *bytes;
    size_t size;
    uint64_t at;     /* address of the first one */
    uint64_t header; /* address of .eh_frame_hdr */
    uint64_t base;   /* of the library: rows are distances from it, below 4 GiB */
    bool link;       /* the processor has a link register (64-bit Arm); else x86-64 */
};

struct hpx_unwind_table;

/* false: no memory. NULL: there is nothing that can be understood. Not in handlers. */
bool hpx_unwind_table_make(const struct hpx_unwind_bytes *from, struct hpx_unwind_table **to);
void hpx_unwind_table_free(struct hpx_unwind_table *t);
size_t hpx_unwind_table_bytes(const struct hpx_unwind_table *t);

/* The rule at this distance from the base. *function: where the function begins that has it, or the part of one that lies elsewhere; as it
 * was if the rule is HPX_UNWIND_NONE. Async-signal-safe. */
struct hpx_unwind_rule hpx_unwind_table_find_sig(const struct hpx_unwind_table *t, uint32_t offset, uint32_t *function);

#endif
