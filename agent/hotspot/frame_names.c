/* SPDX-License-Identifier: BSD-2-Clause */
/* frame_names.c: the names of frame_names.h. */
#include "frame_names.h"
#include "debug_info.h"
#include "scopes.h"
#include "structures.h"

#define ACC_NATIVE  0x100
#define NATIVE      (-3)  /* in place of a bytecode */
#define MOST_INLINE 4096  /* scopes of one place */
#define FRAME_WORDS 1024u /* that an interpreted frame has besides the operands of its method */

/* Constant after init. */
static struct {
    uint64_t constant, flags, code_size, max_stack, header; /* of Method and ConstMethod; the size of ConstMethod */
} shape;

const char *hpx_frame_names_init(void)
{
    const struct hpx_vm_field all[] = {{"Method", "_constMethod", "ConstMethod*", &shape.constant},
                                       {"Method", "_access_flags", "AccessFlags", &shape.flags},
                                       {"ConstMethod", "_code_size", "u2", &shape.code_size},
                                       {"ConstMethod", "_max_stack", "u2", &shape.max_stack}};
    const char *why = hpx_structures_fields(all, HPX_ARRAY_LEN(all));
    shape.header = hpx_structures_size("ConstMethod");
    return why != NULL ? why : hpx_scopes_init();
}

static bool is_native(uintptr_t method)
{
    return (hpx_vm_half(method + shape.flags) & ACC_NATIVE) != 0;
}

static void put(struct hpx_frame_names *names, uintptr_t method, int32_t bci)
{
    if (names->n < names->most) {
        uint64_t id = names->addresses ? method : hpx_code_cache_id_sig(method);
        names->out[names->n++] = (struct hpx_ev_frame){is_native(method) ? NATIVE : bci, 0, id};
    }
}

/* The scope `at` and those it is inlined in; the outermost is the blob's method. */
static bool put_scopes(struct hpx_frame_names *names, uintptr_t blob, uint32_t at, uintptr_t method)
{
    struct hpx_scopes s;
    struct hpx_scope one = {.caller = at};
    const uint32_t before = names->n;
    bool sound = hpx_scopes_open_sig(blob, &s);
    for (int i = 0; sound && one.caller != 0; i++) {
        sound = i < MOST_INLINE && hpx_scopes_read_sig(&s, one.caller, &one) && (one.caller != 0 || one.method == method);
        if (sound) {
            put(names, one.method, one.bci);
        }
    }
    names->n = sound ? names->n : before;
    return sound;
}

static uint32_t scope_at(const struct hpx_code_frame *f, enum hpx_frame_place place)
{
    uint32_t at = place != HPX_FRAME_INTERRUPTED ? hpx_debug_info_scope_sig(f->start, f->code, true) : 0;
    if (at == 0 && place != HPX_FRAME_CALLER) {
        at = hpx_debug_info_scope_sig(f->start, f->code + 1, false);
    }
    return at == 0 && place == HPX_FRAME_INTERRUPTED ? hpx_debug_info_scope_sig(f->start, f->code, true) : at;
}

bool hpx_frame_names_compiled_sig(struct hpx_frame_names *names, const struct hpx_code_frame *f, enum hpx_frame_place place)
{
    uintptr_t method = hpx_code_cache_method_sig(f->start);
    if (!hpx_vm_is_address(method)) {
        return false;
    }
    if (place == HPX_FRAME_UNBUILT || is_native(method)) {
        put(names, method, -1);
        return true;
    }
    uint32_t at = scope_at(f, place);
    if (at != 0) {
        return put_scopes(names, f->start, at, method);
    }
    put(names, method, 0);
    return true;
}

bool hpx_frame_names_fits_sig(uintptr_t method, uintptr_t words)
{
    return words <= FRAME_WORDS ||
           (shape.max_stack != 0 && words - FRAME_WORDS <= hpx_vm_half(hpx_vm_word(method + shape.constant) + shape.max_stack));
}

uint32_t hpx_frame_names_place_sig(uintptr_t method, uintptr_t bytecode)
{
    uintptr_t constant = hpx_vm_word(method + shape.constant), bci = bytecode - constant - shape.header;
    return bci < UINT16_MAX && bci < hpx_vm_half(constant + shape.code_size) ? (uint32_t)bci + 1 : 0;
}

void hpx_frame_names_interpreted_sig(struct hpx_frame_names *names, uintptr_t method, uint32_t place)
{
    put(names, method, place != 0 ? (int32_t)place - 1 : 0);
}
