/* SPDX-License-Identifier: BSD-2-Clause */
/* structures.h: the tables in which HotSpot describes its own data to debuggers (gHotSpotVMStructs and its companions), read by name.
 *
 * Touches these tables, which libjvm exports; reads only. On JDK 8 to 28; a third of the entries went between 21 and 25.
 *
 * Nothing is assumed of them: a table of another shape, a name that is missing or stands twice, another type, an offset beyond its type
 * are a reason to leave the feature that asks. docs/hotspot.md tells what hprofx reads and how it is checked. Source: HotSpot's
 * vmStructs.hpp.
 *
 * Agent_OnLoad or later, any thread, not in handlers. The results are constant. */
#ifndef HPX_STRUCTURES_H
#define HPX_STRUCTURES_H

#include "compiler.h"
#include "processor.h"

/* NULL; with -Dhotspot=false the constant text that this build reads nothing of the VM's internals. */
const char *hpx_structures_absent(void);

/* A field that is wanted. `is`: its type as the table writes it, behind "static " if it is one; NULL: the table has none. */
struct hpx_vm_field {
    const char *type, *name, *is;
    uint64_t *to; /* receives the offset; of a static field the address */
};

/* Fills all n. Finds the tables, once. Neighbours that fill the same are names of different releases: the first one that this VM has
 * counts. NULL, or the constant text why the tables are not read, or that names the first one that is missing, of neighbours the last. */
const char *hpx_structures_fields(const struct hpx_vm_field *fields, size_t n);
/* The same for one that this VM may lack: false, and *to stays. */
bool hpx_structures_field(const struct hpx_vm_field *field);
/* Bytes of a type; 0: not in the table, or twice. */
uint64_t hpx_structures_size(const char *type);
/* false: no integer constant has this name, or two. */
bool hpx_structures_constant(const char *name, int *to);

/* ---- memory of the VM; the address must be readable ---- */

/* It may be the address of a structure. */
static inline bool hpx_vm_is_address(uintptr_t word)
{
    return word >= 4096 && word % sizeof(uintptr_t) == 0 && word >> HPX_ADDRESS_BITS == 0;
}

HPX_NO_ASAN static inline uintptr_t hpx_vm_word(uintptr_t at)
{
    return __atomic_load_n((const uintptr_t *)at, __ATOMIC_RELAXED);
}

static inline int32_t hpx_vm_int(uintptr_t at)
{
    return __atomic_load_n((const int32_t *)at, __ATOMIC_RELAXED);
}

static inline uint16_t hpx_vm_half(uintptr_t at)
{
    return __atomic_load_n((const uint16_t *)at, __ATOMIC_RELAXED);
}

static inline uint8_t hpx_vm_byte(uintptr_t at)
{
    return __atomic_load_n((const uint8_t *)at, __ATOMIC_RELAXED);
}

#endif
