/* SPDX-License-Identifier: BSD-2-Clause */
/* scopes.c: the decoder of scopes.h. */
#include "scopes.h"
#include "debug_info.h"
#include "structures.h"

#define MOST_BYTES (1 << 28) /* of the data of one nmethod */
#define WORD       sizeof(uintptr_t)

/* Constant after live. */
static struct {
    enum { BY_OFFSET, BY_POINTER, OUTSIDE } kind; /* JDK 8; 9 to 22; 25 and later */
    uint64_t version;                             /* address of the VM's release */
    uint64_t begin;                               /* of the scopes in a blob */
    uint64_t metadata, metadata_skip, metadata_size;
    uint8_t least;
} layout;

static const char *find_outside(void)
{
    const struct hpx_vm_field all[] = {{"CodeBlob", "_mutable_data", "address", &layout.metadata},
                                       {"CodeBlob", "_relocation_size", "int", &layout.metadata_skip},
                                       {"CodeBlob", "_mutable_data_size", "int", &layout.metadata_size}};
    layout.kind = OUTSIDE;
    return hpx_structures_fields(all, HPX_ARRAY_LEN(all));
}

static const char *find_inside(void)
{
    const struct hpx_vm_field all[] = {{"nmethod", "_metadata_offset", "int", &layout.metadata}};
    const struct hpx_vm_field pointer = {"CompiledMethod", "_scopes_data_begin", "address", &layout.begin};
    layout.kind = hpx_structures_field(&pointer) ? BY_POINTER : BY_OFFSET;
    const char *why = hpx_structures_fields(all, HPX_ARRAY_LEN(all));
    return why != NULL || layout.kind == BY_POINTER
               ? why
               : hpx_structures_fields(&(struct hpx_vm_field){"nmethod", "_scopes_data_offset", "int", &layout.begin}, 1);
}

const char *hpx_scopes_init(void)
{
    const struct hpx_vm_field version = {"Abstract_VM_Version", "_vm_major_version", "static int", &layout.version};
    bool outside;
    const char *why = hpx_structures_fields(&version, 1), *unbounded = hpx_debug_info_bounds(&outside);
    why = why != NULL ? why : unbounded;
    return why != NULL ? why : outside ? find_outside() : find_inside();
}

/* JDK 8 counts the releases of HotSpot, and is at 25. */
const char *hpx_scopes_live(void)
{
    int32_t version = hpx_vm_int((uintptr_t)layout.version);
    layout.least = layout.kind != BY_OFFSET && version >= 20;
    return version > 0 && version < 1000 ? NULL : "the VM's release is not known";
}

/* From `begin` to `end` bytes behind `base`, which has `size`. */
static bool put_range(struct hpx_scopes *s, uintptr_t base, int64_t begin, int64_t end, int32_t size)
{
    if (base == 0 || size <= 0 || size > MOST_BYTES || begin < 0 || end <= begin || end > size) {
        return false;
    }
    s->bytes = (const uint8_t *)base + begin;
    s->size = (uint32_t)(end - begin);
    return true;
}

static bool put_metadata(struct hpx_scopes *s, uintptr_t base, int64_t begin, int64_t end, int32_t size)
{
    if (base == 0 || size > MOST_BYTES || begin < 0 || end < begin || end > size || (base + (uintptr_t)begin) % WORD != 0) {
        return false;
    }
    s->metadata = base + (uintptr_t)begin;
    s->n = (uint32_t)((uint64_t)(end - begin) / WORD);
    return true;
}

bool hpx_scopes_open_sig(uintptr_t blob, struct hpx_scopes *s)
{
    struct hpx_debug_data d = hpx_debug_info_data_sig(blob);
    s->least = layout.least;
    if (layout.kind == OUTSIDE) {
        int32_t all = hpx_vm_int(blob + layout.metadata_size);
        return put_range(s, d.base, d.behind, d.size, d.size) &&
               put_metadata(s, hpx_vm_word(blob + layout.metadata), hpx_vm_int(blob + layout.metadata_skip), all, all);
    }
    int64_t begin = layout.kind == BY_POINTER ? (int64_t)(hpx_vm_word(blob + layout.begin) - blob) : hpx_vm_int(blob + layout.begin);
    return put_range(s, blob, begin, d.pcs, d.size) && put_metadata(s, blob, hpx_vm_int(blob + layout.metadata), begin, d.size);
}

/* UNSIGNED5: up to five digits of base 64, the lowest first; a byte below 192 (since JDK 20, of which 0 is taken away: 191) is the last. */
static bool read_number(const struct hpx_scopes *s, uint32_t *at, uint32_t *to)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 5; i++) {
        uint8_t byte = *at < s->size ? hpx_vm_byte((uintptr_t)s->bytes + *at) : 0;
        if (*at >= s->size || byte < s->least) {
            return false;
        }
        ++*at;
        sum += (uint32_t)(byte - s->least) << 6 * i;
        if (byte < 192 || i == 4) {
            break;
        }
    }
    *to = sum;
    return true;
}

bool hpx_scopes_read_sig(const struct hpx_scopes *s, uint32_t at, struct hpx_scope *to)
{
    uint32_t method, bci, from = at;
    if (at == 0 || !read_number(s, &from, &to->caller) || !read_number(s, &from, &method) || !read_number(s, &from, &bci)) {
        return false;
    }
    to->bci = (int32_t)(bci - 1); /* they begin at the entry of a method, which is -1 */
    to->method = method > 0 && method <= s->n ? hpx_vm_word(s->metadata + (method - 1) * WORD) : 0;
    return to->caller < at && to->bci >= -1 && to->bci < 65536 && hpx_vm_is_address(to->method);
}
