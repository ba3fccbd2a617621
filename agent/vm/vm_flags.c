/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_flags.c: searches the VM's tables. Contract: vm_flags.h. */
#include "vm_flags.h"
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#define MOST_ENTRIES 100000u /* limit of a walk over a table, which ends with a NULL name and has some thousand entries */

static bool number(const char *symbol, uint64_t *to)
{
    const uint64_t *at = dlsym(RTLD_DEFAULT, symbol);
    *to = at != NULL ? *at : 0;
    return at != NULL;
}

static const void *pointer_at(const char *entry, uint64_t offset)
{
    const void *p;
    memcpy(&p, entry + offset, sizeof p);
    return p;
}

static uint64_t number_at(const char *entry, uint64_t offset)
{
    uint64_t n;
    memcpy(&n, entry + offset, sizeof n);
    return n;
}

static bool is_flag_type(const char *name)
{
    return !strcmp(name, "JVMFlag") || !strcmp(name, "Flag"); /* "Flag" before JDK 9 */
}

struct layout {
    const char *flags; /* the array */
    uint64_t n, size, name, value;
    unsigned found; /* one bit per item found: flags, numFlags, _name, _addr, size */
};

static void read_fields(struct layout *l)
{
    uint64_t table, stride, type, field, offset, address;
    if (!number("gHotSpotVMStructs", &table) || !number("gHotSpotVMStructEntryArrayStride", &stride) ||
        !number("gHotSpotVMStructEntryTypeNameOffset", &type) || !number("gHotSpotVMStructEntryFieldNameOffset", &field) ||
        !number("gHotSpotVMStructEntryOffsetOffset", &offset) || !number("gHotSpotVMStructEntryAddressOffset", &address) || table == 0) {
        return;
    }
    const char *e = (const char *)(uintptr_t)table;
    for (unsigned i = 0; i < MOST_ENTRIES && pointer_at(e, type) != NULL; i++, e += stride) {
        const char *name = pointer_at(e, field);
        if (!is_flag_type(pointer_at(e, type)) || name == NULL) {
            continue;
        }
        if (!strcmp(name, "flags")) {
            l->flags = pointer_at(pointer_at(e, address), 0);
            l->found |= 1;
        } else if (!strcmp(name, "numFlags")) {
            l->n = number_at(pointer_at(e, address), 0);
            l->found |= 2;
        } else if (!strcmp(name, "_name")) {
            l->name = number_at(e, offset);
            l->found |= 4;
        } else if (!strcmp(name, "_addr")) {
            l->value = number_at(e, offset);
            l->found |= 8;
        }
    }
}

static void read_size(struct layout *l)
{
    uint64_t table, stride, type, size;
    if (!number("gHotSpotVMTypes", &table) || !number("gHotSpotVMTypeEntryArrayStride", &stride) ||
        !number("gHotSpotVMTypeEntryTypeNameOffset", &type) || !number("gHotSpotVMTypeEntrySizeOffset", &size) || table == 0) {
        return;
    }
    const char *e = (const char *)(uintptr_t)table;
    for (unsigned i = 0; i < MOST_ENTRIES && pointer_at(e, type) != NULL; i++, e += stride) {
        if (is_flag_type(pointer_at(e, type))) {
            l->size = number_at(e, size);
            l->found |= 16;
        }
    }
}

bool hpx_vm_flag(const char *name, bool otherwise)
{
    struct layout l = {.found = 0};
    read_fields(&l);
    read_size(&l);
    if (l.found != 31 || l.n > MOST_ENTRIES || l.flags == NULL) {
        return otherwise;
    }
    for (uint64_t i = 0; i + 1 < l.n; i++) { /* the last element is empty */
        const char *flag = l.flags + i * l.size, *is = pointer_at(flag, l.name);
        if (is != NULL && !strcmp(is, name)) {
            return *(const bool *)pointer_at(flag, l.value);
        }
    }
    return otherwise;
}
