/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_tables.h: the tables that HotSpot exports (gHotSpotVMStructs and its companions), filled by a test.
 *
 * The sources under test read the tables once for the life of a process, so vm_tables_run() gives every case a process. A case fills the
 * tables, spoils what it wants, and then calls the source. The program must export its symbols: the sources ask dlsym() for them. */
#ifndef VM_TABLES_H
#define VM_TABLES_H

#include "cmocka_all.h"

/* Entries as in HotSpot's vmStructs.hpp. */
struct vm_tables_field {
    const char *type, *name, *is;
    int32_t is_static;
    uint64_t offset;
    void *address;
};

struct vm_tables_type {
    const char *name, *super;
    int32_t is_oop, is_integer, is_unsigned;
    uint64_t size;
};

struct vm_tables_constant {
    const char *name;
    int32_t value;
};

extern struct vm_tables_field *gHotSpotVMStructs;
extern struct vm_tables_type *gHotSpotVMTypes;
extern struct vm_tables_constant *gHotSpotVMIntConstants;
extern uint64_t gHotSpotVMStructEntryArrayStride, gHotSpotVMStructEntryTypeNameOffset, gHotSpotVMStructEntryFieldNameOffset,
    gHotSpotVMStructEntryTypeStringOffset, gHotSpotVMStructEntryIsStaticOffset, gHotSpotVMStructEntryOffsetOffset,
    gHotSpotVMStructEntryAddressOffset;
extern uint64_t gHotSpotVMTypeEntryArrayStride, gHotSpotVMTypeEntryTypeNameOffset, gHotSpotVMTypeEntrySizeOffset;
extern uint64_t gHotSpotVMIntConstantEntryArrayStride, gHotSpotVMIntConstantEntryNameOffset, gHotSpotVMIntConstantEntryValueOffset;

/* Add an entry. The texts stay the caller's. */
void vm_tables_field(const char *type, const char *name, const char *is, uint64_t offset);
void vm_tables_static(const char *type, const char *name, const char *is, void *address);
void vm_tables_type(const char *name, uint64_t size);
void vm_tables_constant(const char *name, int32_t value);

/* The entry of that name, to be spoiled; the case fails if there is none. */
struct vm_tables_field *vm_tables_field_of(const char *type, const char *name);
struct vm_tables_type *vm_tables_type_of(const char *name);

/* Runs every case in a child process; the number of those that failed, for main() to return. */
int vm_tables_run(const struct CMUnitTest *tests, size_t n);

#endif
