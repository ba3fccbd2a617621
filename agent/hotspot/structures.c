/* SPDX-License-Identifier: BSD-2-Clause */
/* structures.c: reads the tables of structures.h. */
#include "structures.h"
#include "libjvm.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MOST_ENTRIES 20000u /* a table ends with a NULL name; those of the VM have fewer than 1,000 entries */
#define LEAST_STRIDE 16u
#define MOST_STRIDE  256u
#define STATIC       "static "
#define MOST_TEXTS   64 /* maximum of different missing fields that a reason names */

enum { TYPE_NAME, FIELD_NAME, TYPE_STRING, IS_STATIC, OFFSET, ADDRESS, FIELD_MEMBERS };
enum { T_NAME, T_SIZE };
enum { C_NAME, C_VALUE };

struct table {
    const char *symbol, *stride_symbol;
    const char *members[FIELD_MEMBERS]; /* symbols of their offsets */
    uintptr_t first;
    uint64_t stride, at[FIELD_MEMBERS];
    uint32_t n;
};

static struct {
    pthread_once_t once;
    const char *why;
    struct table fields, types, constants;
} structures = {
    .once = PTHREAD_ONCE_INIT,
    .fields = {.symbol = "gHotSpotVMStructs",
               .stride_symbol = "gHotSpotVMStructEntryArrayStride",
               .members = {"gHotSpotVMStructEntryTypeNameOffset", "gHotSpotVMStructEntryFieldNameOffset",
                           "gHotSpotVMStructEntryTypeStringOffset", "gHotSpotVMStructEntryIsStaticOffset",
                           "gHotSpotVMStructEntryOffsetOffset", "gHotSpotVMStructEntryAddressOffset"}},
    .types = {.symbol = "gHotSpotVMTypes",
              .stride_symbol = "gHotSpotVMTypeEntryArrayStride",
              .members = {"gHotSpotVMTypeEntryTypeNameOffset", "gHotSpotVMTypeEntrySizeOffset"}},
    .constants = {.symbol = "gHotSpotVMIntConstants",
                  .stride_symbol = "gHotSpotVMIntConstantEntryArrayStride",
                  .members = {"gHotSpotVMIntConstantEntryNameOffset", "gHotSpotVMIntConstantEntryValueOffset"}},
};

const char *hpx_structures_absent(void)
{
    return NULL;
}

static const char *text_at(uintptr_t at)
{
    return (const char *)hpx_vm_word(at);
}

static uintptr_t entry(const struct table *t, uint32_t i)
{
    return t->first + i * t->stride;
}

/* The first member of every table is its name. */
static const char *open_table(struct table *t)
{
    const uint64_t *first = hpx_libjvm_symbol(t->symbol), *stride = hpx_libjvm_symbol(t->stride_symbol);
    if (first == NULL || stride == NULL || *first == 0) {
        return "the VM exports no tables";
    }
    t->first = (uintptr_t)*first;
    t->stride = *stride;
    if (t->stride < LEAST_STRIDE || t->stride > MOST_STRIDE) {
        return "the VM's tables have another shape";
    }
    for (int i = 0; i < FIELD_MEMBERS && t->members[i] != NULL; i++) {
        const uint64_t *at = hpx_libjvm_symbol(t->members[i]);
        if (at == NULL || *at > t->stride - sizeof(uintptr_t)) {
            return "the VM's tables have another shape";
        }
        t->at[i] = *at;
    }
    while (t->n < MOST_ENTRIES && text_at(entry(t, t->n) + t->at[0]) != NULL) {
        t->n++;
    }
    return t->n == 0 || t->n == MOST_ENTRIES ? "the VM's tables have no end" : NULL;
}

static void open_tables(void)
{
    structures.why = open_table(&structures.fields);
    structures.why = structures.why != NULL ? structures.why : open_table(&structures.types);
    structures.why = structures.why != NULL ? structures.why : open_table(&structures.constants);
}

/* NULL, or why they are not read. */
static const char *find_tables(void)
{
    pthread_once(&structures.once, open_tables);
    return structures.why;
}

/* The one entry of this name in a table of types or constants; 0: none, or two. */
static uintptr_t find_entry(const struct table *t, const char *name)
{
    uintptr_t found = 0;
    for (uint32_t i = 0; find_tables() == NULL && i < t->n; i++) {
        if (!strcmp(text_at(entry(t, i) + t->at[0]), name)) {
            if (found != 0) {
                return 0;
            }
            found = entry(t, i);
        }
    }
    return found;
}

uint64_t hpx_structures_size(const char *type)
{
    uintptr_t e = find_entry(&structures.types, type);
    return e != 0 ? hpx_vm_word(e + structures.types.at[T_SIZE]) : 0;
}

bool hpx_structures_constant(const char *name, int *to)
{
    uintptr_t e = find_entry(&structures.constants, name);
    if (e != 0) {
        *to = hpx_vm_int(e + structures.constants.at[C_VALUE]);
    }
    return e != 0;
}

/* The offset or address of the one entry that has these names; false: none, two, one of another type, or one beyond its type. */
static bool look_up(const struct hpx_vm_field *f, uint64_t *to)
{
    const struct table *t = &structures.fields;
    uintptr_t found = 0;
    for (uint32_t i = 0; find_tables() == NULL && i < t->n; i++) {
        uintptr_t e = entry(t, i);
        const char *name = text_at(e + t->at[FIELD_NAME]);
        if (name == NULL || strcmp(name, f->name) != 0 || strcmp(text_at(e + t->at[TYPE_NAME]), f->type) != 0) {
            continue;
        }
        if (found != 0) {
            return false;
        }
        found = e;
    }
    const char *is = found != 0 ? text_at(found + t->at[TYPE_STRING]) : NULL, *want = f->is;
    bool is_static = want != NULL && !strncmp(want, STATIC, strlen(STATIC));
    want = is_static ? want + strlen(STATIC) : want;
    if (found == 0 || (is == NULL) != (want == NULL) || (is != NULL && strcmp(is, want) != 0) ||
        (hpx_vm_int(found + t->at[IS_STATIC]) != 0) != is_static) {
        return false;
    }
    *to = hpx_vm_word(found + t->at[is_static ? ADDRESS : OFFSET]);
    return is_static ? *to != 0 : *to < hpx_structures_size(f->type);
}

bool hpx_structures_field(const struct hpx_vm_field *field)
{
    uint64_t value;
    if (!look_up(field, &value)) {
        return false;
    }
    *field->to = value;
    return true;
}

/* The reason, which names the field. Reasons are kept until the library is unloaded, so the text is static. */
static const char *missing(const struct hpx_vm_field *field)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char texts[MOST_TEXTS][96];
    char text[sizeof texts[0]];
    snprintf(text, sizeof text, "the VM's tables have no %s.%s as expected", field->type, field->name);
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < MOST_TEXTS && texts[i][0] != 0 && strcmp(texts[i], text) != 0) {
        i++;
    }
    if (i < MOST_TEXTS && texts[i][0] == 0) {
        memcpy(texts[i], text, sizeof text);
    }
    pthread_mutex_unlock(&lock);
    return i < MOST_TEXTS ? texts[i] : "the VM's tables lack many fields";
}

const char *hpx_structures_fields(const struct hpx_vm_field *fields, size_t n)
{
    bool found = false;
    for (size_t i = 0; find_tables() == NULL && i < n; i++) {
        found = found || hpx_structures_field(&fields[i]);
        if (i + 1 == n || fields[i + 1].to != fields[i].to) {
            if (!found) {
                return missing(&fields[i]);
            }
            found = false;
        }
    }
    return find_tables();
}
