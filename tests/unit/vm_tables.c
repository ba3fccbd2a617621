/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_tables.c: the tables of vm_tables.h, and a process for every case. */
#include "vm_tables.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 96u

/* One more than are filled: the last one ends the table. */
static struct vm_tables_field fields[MOST + 1];
static struct vm_tables_type types[MOST + 1];
static struct vm_tables_constant constants[MOST + 1];
static size_t nfields, ntypes, nconstants;

struct vm_tables_field *gHotSpotVMStructs = fields;
struct vm_tables_type *gHotSpotVMTypes = types;
struct vm_tables_constant *gHotSpotVMIntConstants = constants;
uint64_t gHotSpotVMStructEntryArrayStride = sizeof(struct vm_tables_field);
uint64_t gHotSpotVMStructEntryTypeNameOffset = offsetof(struct vm_tables_field, type);
uint64_t gHotSpotVMStructEntryFieldNameOffset = offsetof(struct vm_tables_field, name);
uint64_t gHotSpotVMStructEntryTypeStringOffset = offsetof(struct vm_tables_field, is);
uint64_t gHotSpotVMStructEntryIsStaticOffset = offsetof(struct vm_tables_field, is_static);
uint64_t gHotSpotVMStructEntryOffsetOffset = offsetof(struct vm_tables_field, offset);
uint64_t gHotSpotVMStructEntryAddressOffset = offsetof(struct vm_tables_field, address);
uint64_t gHotSpotVMTypeEntryArrayStride = sizeof(struct vm_tables_type);
uint64_t gHotSpotVMTypeEntryTypeNameOffset = offsetof(struct vm_tables_type, name);
uint64_t gHotSpotVMTypeEntrySizeOffset = offsetof(struct vm_tables_type, size);
uint64_t gHotSpotVMIntConstantEntryArrayStride = sizeof(struct vm_tables_constant);
uint64_t gHotSpotVMIntConstantEntryNameOffset = offsetof(struct vm_tables_constant, name);
uint64_t gHotSpotVMIntConstantEntryValueOffset = offsetof(struct vm_tables_constant, value);

void vm_tables_field(const char *type, const char *name, const char *is, uint64_t offset)
{
    assert_true(nfields < MOST);
    fields[nfields++] = (struct vm_tables_field){.type = type, .name = name, .is = is, .offset = offset};
}

void vm_tables_static(const char *type, const char *name, const char *is, void *address)
{
    assert_true(nfields < MOST);
    fields[nfields++] = (struct vm_tables_field){.type = type, .name = name, .is = is, .is_static = 1, .address = address};
}

void vm_tables_type(const char *name, uint64_t size)
{
    assert_true(ntypes < MOST);
    types[ntypes++] = (struct vm_tables_type){.name = name, .size = size};
}

void vm_tables_constant(const char *name, int32_t value)
{
    assert_true(nconstants < MOST);
    constants[nconstants++] = (struct vm_tables_constant){.name = name, .value = value};
}

struct vm_tables_field *vm_tables_field_of(const char *type, const char *name)
{
    for (size_t i = 0; i < nfields; i++) {
        if (!strcmp(fields[i].type, type) && !strcmp(fields[i].name, name)) {
            return &fields[i];
        }
    }
    fail_msg("no %s.%s in the table", type, name);
    abort();
}

struct vm_tables_type *vm_tables_type_of(const char *name)
{
    for (size_t i = 0; i < ntypes; i++) {
        if (!strcmp(types[i].name, name)) {
            return &types[i];
        }
    }
    fail_msg("no type %s in the table", name);
    abort();
}

int vm_tables_run(const struct CMUnitTest *tests, size_t n)
{
    int failed = 0;
    for (size_t i = 0; i < n; i++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            const struct CMUnitTest one[] = {tests[i]};
            exit(cmocka_run_group_tests_name(tests[i].name, one, NULL, NULL));
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "%s: failed, wait status 0x%x\n", tests[i].name, (unsigned)status);
            failed++;
        }
    }
    return failed;
}
