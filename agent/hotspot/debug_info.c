/* SPDX-License-Identifier: BSD-2-Clause */
/* debug_info.c: the search of debug_info.h. */
#include "debug_info.h"
#include "structures.h"

#define MOST (1u << 20) /* places of a method */

/* Constant after init. */
static struct {
    uint64_t size, pc, scope; /* of PcDesc */
    uint64_t begin, end;      /* offsets of the list, as nmethod has them */
    uint64_t outside;         /* nmethod's pointer to what they count from */
    uint64_t room;            /* offset of the size of that, or of the blob */
    bool is_outside;
    const char *unbounded; /* NULL: the tables have that size */
} info;

const char *hpx_debug_info_init(void)
{
    const struct hpx_vm_field all[] = {{"PcDesc", "_pc_offset", "int", &info.pc},
                                       {"PcDesc", "_scope_decode_offset", "int", &info.scope},
                                       {"nmethod", "_scopes_pcs_offset", "int", &info.begin}};
    info.is_outside = hpx_structures_field(&(struct hpx_vm_field){"nmethod", "_immutable_data", "address", &info.outside});
    const char *why = hpx_structures_fields(all, HPX_ARRAY_LEN(all));
    const char *behind = info.is_outside ? "_scopes_data_offset" : "_dependencies_offset";
    info.size = hpx_structures_size("PcDesc");
    why = why != NULL ? why : hpx_structures_fields(&(struct hpx_vm_field){"nmethod", behind, "int", &info.end}, 1);
    const struct hpx_vm_field of_outside = {"nmethod", "_immutable_data_size", "int", &info.room},
                              of_blob = {"CodeBlob", "_size", "int", &info.room};
    info.unbounded = hpx_structures_fields(info.is_outside ? &of_outside : &of_blob, 1);
    return why != NULL || info.size >= 8 ? why : "the VM's tables have no PcDesc as expected";
}

const char *hpx_debug_info_bounds(bool *outside)
{
    *outside = info.is_outside;
    return info.unbounded;
}

struct hpx_debug_data hpx_debug_info_data_sig(uintptr_t blob)
{
    return (struct hpx_debug_data){info.is_outside ? hpx_vm_word(blob + info.outside) : blob,
                                   info.unbounded == NULL ? hpx_vm_int(blob + info.room) : INT32_MAX, hpx_vm_int(blob + info.begin),
                                   hpx_vm_int(blob + info.end)};
}

static uint64_t scope_of(uintptr_t desc, int32_t pc)
{
    return hpx_vm_int(desc + info.pc) >= pc ? (uint32_t)hpx_vm_int(desc + info.scope) : 0;
}

/* The list of a method, and its first place that is not before pc. */
struct places {
    uintptr_t first;
    uint32_t n, at;
};

static bool find_places(uintptr_t blob, uint32_t pc, struct places *p)
{
    struct hpx_debug_data d = hpx_debug_info_data_sig(blob);
    bool inside = d.pcs >= 0 && d.behind > d.pcs && d.behind <= d.size;
    uint32_t n = inside ? (uint32_t)(d.behind - d.pcs) / (uint32_t)info.size : 0, from = 0, to = n;
    uintptr_t first = d.base + (uintptr_t)d.pcs;
    if (d.base == 0 || first % sizeof(int32_t) != 0 || n < 2 || n > MOST) {
        return false;
    }
    while (from < to) { /* the list ascends */
        uint32_t middle = from + (to - from) / 2;
        if (hpx_vm_int(first + middle * info.size + info.pc) < (int32_t)pc) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    *p = (struct places){first, n, from};
    return from < n;
}

/* AsyncGetCallTrace asks for the pc or for the one behind it, depending on the frame: the answer has both. */
uint64_t hpx_debug_info_place_sig(uintptr_t blob, uint32_t pc)
{
    struct places p;
    if (!find_places(blob, pc, &p)) {
        return 0;
    }
    uintptr_t at = p.first + p.at * info.size;
    bool exact = hpx_vm_int(at + info.pc) == (int32_t)pc && p.at + 1 < p.n;
    uint64_t here = scope_of(at, (int32_t)pc), behind = exact ? scope_of(at + info.size, (int32_t)pc + 1) : here;
    return here != 0 && behind != 0 ? here << 32 | behind : 0;
}

uint32_t hpx_debug_info_scope_sig(uintptr_t blob, uint32_t pc, bool exact)
{
    struct places p;
    if (!find_places(blob, pc, &p)) {
        return 0;
    }
    uintptr_t at = p.first + p.at * info.size;
    return !exact || hpx_vm_int(at + info.pc) == (int32_t)pc ? (uint32_t)hpx_vm_int(at + info.scope) : 0;
}
