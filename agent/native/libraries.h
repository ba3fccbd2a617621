/* SPDX-License-Identifier: BSD-2-Clause */
/* libraries.h: the libraries that the process has mapped, by address, each with a number of its own and its unwind table.
 *
 * One thread of hprofx looks now and then, and makes the tables of what is new. It reads the memory of a library through the kernel, which
 * refuses an address where the processor would fault, because the program may unmap it meanwhile. Handlers find a library without a lock.
 *
 * A library that is unmapped and mapped again, wherever, has the number and the table that it had; numbers and tables live until the end
 * of the session, so a number that a handler has written always means the same library. */
#ifndef HPX_LIBRARIES_H
#define HPX_LIBRARIES_H

#include "unwind_table.h"

#define HPX_LIBRARIES_VDSO "[vdso]"
#define HPX_LIBRARIES_MOST 4096u /* of a session; further ones are not known */

/* A library. All is constant. */
struct hpx_library {
    uint32_t number;                      /* from 1 on */
    const struct hpx_unwind_table *table; /* NULL: none could be made */
    const char *path;                     /* where it was mapped from when it was first seen; HPX_LIBRARIES_VDSO */
    uint8_t build_id[32];
    uint32_t build_id_bytes; /* 0: it has none */
    uintptr_t memory;        /* of the vDSO, which has no file and never moves: where it is; else 0 */
    size_t memory_bytes;
};

struct hpx_library_place {
    const struct hpx_library *library;
    uint32_t offset; /* from the library's base, which is the address that its file calls 0 */
};

/* ---- one thread at a time ---- */

/* Before the first look of a session. NULL, or why no library is known: a constant. */
const char *hpx_libraries_begin(void);
/* If libraries were mapped or unmapped since the last look: makes tables, and shows handlers what is there. */
void hpx_libraries_look(void);
/* When no handler will begin any more. inside: one is stopped in the middle and may go on, so nothing is freed. */
void hpx_libraries_end(bool inside);
/* NULL: no library has this number. */
const struct hpx_library *hpx_libraries_at(uint32_t number);
/* Bytes of the process from `at` on; fewer: the rest cannot be read. */
size_t hpx_libraries_read(void *to, uintptr_t at, size_t n);
/* So far: libraries, those of them with a table, bytes of all tables. */
struct hpx_libraries_figures {
    uint32_t libraries, tables;
    size_t bytes;
};
struct hpx_libraries_figures hpx_libraries_figures(void);

/* ---- any thread; async-signal-safe ---- */

/* false: no library is known there. */
bool hpx_libraries_find_sig(uintptr_t pc, struct hpx_library_place *to);

#endif
