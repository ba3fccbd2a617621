/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_flags.c: the table of flags. Contract: vm_flags.h. */
#include "vm_flags.h"
#include "structures.h"
#include <ctype.h>
#include <pthread.h>
#include <string.h>

#define MOST_FLAGS   10000u /* a VM has about 1,300 */
#define LONGEST_NAME 100u
#define ORIGIN_MASK  15 /* of the lowest bits, since JDK 8; a constant of the VM since 17 */
#define BOOL         0  /* the type's number, since 17 */
#define TEXT         8  /* the same of ccstr */

static struct {
    pthread_once_t once;
    const char *why;
    uint64_t first, count, size;       /* addresses of the array and of its length */
    uint64_t name, value, flags, type; /* offsets */
    bool typed_by_name;                /* before JDK 17 the type is a text */
} table = {.once = PTHREAD_ONCE_INIT};

static const char *open_table(void)
{
    table.size = hpx_structures_size("JVMFlag");
    bool old = table.size == 0; /* JDK 8 has this type under another name */
    table.size = old ? hpx_structures_size("Flag") : table.size;
    const char *t = old ? "Flag" : "JVMFlag";
    const struct hpx_vm_field fields[] = {{t, "flags", old ? "static Flag*" : "static JVMFlag*", &table.first},
                                          {t, "numFlags", "static size_t", &table.count},
                                          {t, "_name", "const char*", &table.name},
                                          {t, "_addr", NULL, &table.value},
                                          {t, "_flags", old ? "Flag::Flags" : "JVMFlag::Flags", &table.flags}};
    const char *why = hpx_structures_fields(fields, HPX_ARRAY_LEN(fields));
    table.typed_by_name = hpx_structures_field(&(struct hpx_vm_field){t, "_type", "const char*", &table.type});
    if (why == NULL && !table.typed_by_name) {
        why = hpx_structures_fields(&(struct hpx_vm_field){t, "_type", "int", &table.type}, 1);
    }
    return why;
}

static uintptr_t flag_at(uint64_t i)
{
    return hpx_vm_word((uintptr_t)table.first) + i * table.size;
}

static const char *name_of(uintptr_t flag)
{
    return (const char *)hpx_vm_word(flag + table.name);
}

static bool is_name(const char *s)
{
    size_t n = 0;
    while (n < LONGEST_NAME && (isalnum((unsigned char)s[n]) || s[n] == '_')) {
        n++;
    }
    return n > 0 && s[n] == 0;
}

/* What lies where the names are expected are names; the last element is empty. */
static const char *check(void)
{
    uint64_t n = hpx_vm_word((uintptr_t)table.count);
    if (n < 2 || n > MOST_FLAGS || hpx_vm_word((uintptr_t)table.first) == 0) {
        return "the VM's table of flags has another shape";
    }
    for (uint64_t i = 0; i + 1 < n; i++) {
        const char *name = name_of(flag_at(i));
        if (name == NULL || !is_name(name)) {
            return "the VM's table of flags has another shape";
        }
    }
    return NULL;
}

static void prepare(void)
{
    table.why = open_table();
    table.why = table.why != NULL ? table.why : check();
}

static uintptr_t find(const char *name)
{
    pthread_once(&table.once, prepare);
    for (uint64_t i = 0; table.why == NULL && i + 1 < hpx_vm_word((uintptr_t)table.count); i++) {
        if (!strcmp(name_of(flag_at(i)), name)) {
            return flag_at(i);
        }
    }
    return 0;
}

static bool has_type(uintptr_t flag, const char *name, int number)
{
    const char *type = table.typed_by_name ? (const char *)hpx_vm_word(flag + table.type) : NULL;
    return table.typed_by_name ? type != NULL && !strcmp(type, name) : hpx_vm_int(flag + table.type) == number;
}

/* Address of the value of a flag of type bool; 0: none. */
static uintptr_t value_of(uintptr_t flag)
{
    uintptr_t at = flag != 0 && has_type(flag, "bool", BOOL) ? hpx_vm_word(flag + table.value) : 0;
    return at != 0 && hpx_vm_byte(at) <= 1 ? at : 0;
}

bool hpx_vm_flag(const char *name, bool otherwise)
{
    uintptr_t at = value_of(find(name));
    return at != 0 ? hpx_vm_byte(at) != 0 : otherwise;
}

const char *hpx_vm_flag_text(const char *name)
{
    uintptr_t flag = find(name);
    uintptr_t at = flag != 0 && has_type(flag, "ccstr", TEXT) ? hpx_vm_word(flag + table.value) : 0;
    return at != 0 ? (const char *)hpx_vm_word(at) : NULL;
}

/* A known answer: of these flags at least one is true, unless somebody turned all of them off. JDK 8 chooses no collector by a flag on
 * small machines. */
static bool has_usual_flags(void)
{
    static const char *const usual[] = {"UseTLAB", "UsePerfData", "ClassUnloading"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(usual); i++) {
        if (hpx_vm_flag(usual[i], false)) {
            return true;
        }
    }
    return false;
}

enum hpx_flag_set hpx_vm_flag_set(const char *name, const char **why)
{
    uintptr_t flag = find(name), at = value_of(flag);
    if (at == 0 || !has_usual_flags()) {
        *why = table.why != NULL ? table.why : "the VM's table of flags has another shape";
        return HPX_FLAG_UNREADABLE;
    }
    if (hpx_vm_byte(at) != 0) {
        return HPX_FLAG_WAS_TRUE;
    }
    if ((hpx_vm_int(flag + table.flags) & ORIGIN_MASK) != 0) {
        return HPX_FLAG_CHOSEN;
    }
    __atomic_store_n((uint8_t *)at, 1, __ATOMIC_RELAXED);
    return HPX_FLAG_SET;
}

void hpx_vm_flag_reset(const char *name)
{
    uintptr_t at = value_of(find(name));
    if (at != 0) {
        __atomic_store_n((uint8_t *)at, 0, __ATOMIC_RELAXED);
    }
}
