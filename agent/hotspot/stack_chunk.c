/* SPDX-License-Identifier: BSD-2-Clause */
/* stack_chunk.c: the words of stack_chunk.h. */
#include "stack_chunk.h"
#include "code_cache.h"
#include "heap_objects.h"
#include "structures.h"
#include <stdatomic.h>

#define WORD         sizeof(uintptr_t)
#define MOST_WORDS   (1 << 24) /* of the stack of a chunk */
#define MOST_EMPTY   16        /* chunks without frames before one with some: the VM keeps one */
#define LEAST_FIELDS 16        /* bytes of the fields of a chunk */
#define MOST_FIELDS  256
#define CONTINUATION (2 * WORD) /* in ContinuationEntry; the tables have none of its fields but, on 28, the parent before it */
#define IS_VIRTUAL   (4 * WORD)

/* Constant after init. */
static struct {
    atomic_bool known; /* release: init; acquire: hpx_stack_chunk_known_sig() */
    struct hpx_stack_chunk_layout at;
    uint64_t fields;         /* of Klass: offset of the size of an instance */
    uint64_t entry_return;   /* address of the static field; 0: not in the tables */
    uint64_t code;           /* of Method: offset of its nmethod */
    uintptr_t stack;         /* where the stack begins in a chunk */
    _Atomic uintptr_t entry; /* relaxed: blob of enterSpecial; 0: not made yet */
} chunks;

static __thread atomic_bool reading; /* relaxed: the thread and its handlers alone */

static bool is_named(uintptr_t klass, const char *name)
{
    uint32_t n, i = 0;
    uintptr_t at = hpx_object_class_name_sig(klass, &n);
    while (at != 0 && i < n && name[i] != 0 && (char)hpx_vm_byte(at + i) == name[i]) {
        i++;
    }
    return at != 0 && i == n && name[i] == 0;
}

static const char *find_entry(void)
{
    const struct hpx_vm_field code[] = {{"Method", "_code", "CompiledMethod*", &chunks.code},
                                        {"Method", "_code", "nmethod*", &chunks.code}};
    uint64_t parent = CONTINUATION - WORD;
    (void)hpx_structures_field(&(struct hpx_vm_field){"ContinuationEntry", "_return_pc", "static address", &chunks.entry_return});
    (void)hpx_structures_field(&(struct hpx_vm_field){"ContinuationEntry", "_parent", "ContinuationEntry*", &parent});
    if (parent != CONTINUATION - WORD) {
        return "the VM's entries of continuations have another shape";
    }
    return chunks.entry_return != 0 ? NULL : hpx_structures_fields(code, HPX_ARRAY_LEN(code));
}

const char *hpx_stack_chunk_init(const struct hpx_stack_chunk_layout *layout)
{
    const struct hpx_vm_field fields = {"Klass", "_layout_helper", "jint", &chunks.fields};
    const char *why = hpx_heap_objects_init();
    why = why != NULL ? why : hpx_heap_no_references();
    why = why != NULL ? why : hpx_structures_fields(&fields, 1);
    why = why != NULL ? why : find_entry();
    if (why != NULL || hpx_stack_chunk_known_sig()) {
        return why;
    }
    chunks.at = *layout;
    if (!is_named(layout->chunk, "jdk/internal/vm/StackChunk")) {
        return "the VM's chunks of stacks are not found";
    }
    chunks.stack = (uintptr_t)hpx_vm_int(layout->chunk + chunks.fields) & ~(WORD - 1); /* the lowest bit: such objects have no fixed size */
    const uint32_t all[] = {layout->size, layout->sp, layout->bottom, layout->parent};
    bool inside =
        chunks.stack >= LEAST_FIELDS && chunks.stack <= MOST_FIELDS && layout->tail != 0 && layout->enters != 0 && layout->yields != 0;
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        inside = inside && all[i] >= WORD && all[i] < chunks.stack;
    }
    if (!inside) {
        return "the VM's chunks of stacks have another shape";
    }
    atomic_store_explicit(&chunks.known, true, memory_order_release); /* partner: hpx_stack_chunk_known_sig() */
    return NULL;
}

bool hpx_stack_chunk_known_sig(void)
{
    return atomic_load_explicit(&chunks.known, memory_order_acquire); /* partner: hpx_stack_chunk_init() */
}

enum hpx_stack_chunk_state hpx_stack_chunk_open_sig(uintptr_t oop, struct hpx_stack_chunk *to)
{
    for (int i = 0; i < MOST_EMPTY && oop != 0; i++) {
        if (!hpx_vm_is_address(oop) || hpx_object_class_sig(oop) != chunks.at.chunk) {
            return HPX_CHUNK_UNKNOWN;
        }
        const int32_t size = hpx_vm_int(oop + chunks.at.size), sp = hpx_vm_int(oop + chunks.at.sp),
                      bottom = hpx_vm_int(oop + chunks.at.bottom);
        if (sp < 0 || sp > size || bottom < 0 || bottom > size || size > MOST_WORDS) {
            return HPX_CHUNK_UNKNOWN;
        }
        to->low = oop + chunks.stack;
        to->end = to->low + (uintptr_t)bottom * WORD;
        to->sp = to->low + (uintptr_t)sp * WORD;
        to->parent = hpx_object_at_sig(oop + chunks.at.parent);
        if (sp < bottom) {
            return sp >= 2 ? HPX_CHUNK_FRAMES : HPX_CHUNK_UNKNOWN;
        }
        oop = to->parent;
    }
    return oop == 0 ? HPX_CHUNK_EMPTY : HPX_CHUNK_UNKNOWN;
}

uintptr_t hpx_stack_chunk_of_sig(uintptr_t continuation)
{
    return hpx_vm_is_address(continuation)      ? hpx_object_at_sig(continuation + chunks.at.tail)
           : continuation == HPX_OBJECT_UNKNOWN ? HPX_OBJECT_UNKNOWN
                                                : 0;
}

/* On 21 and 22, where the tables do not have it, an id is the address of a Method*. */
uintptr_t hpx_stack_chunk_entry_code_sig(void)
{
    uintptr_t blob = atomic_load_explicit(&chunks.entry, memory_order_relaxed), at = 0;
    if (blob != 0 || !hpx_stack_chunk_known_sig()) {
        return blob;
    }
    if (chunks.entry_return != 0) {
        at = hpx_vm_word((uintptr_t)chunks.entry_return);
    } else {
        uintptr_t method = hpx_vm_word((uintptr_t)chunks.at.enters);
        at = hpx_vm_is_address(method) ? hpx_vm_word(method + chunks.code) : 0;
    }
    blob = at != 0 ? hpx_code_cache_frame_sig(at).start : 0;
    if (blob != 0) { /* every handler reads this line: it is written once */
        atomic_store_explicit(&chunks.entry, blob, memory_order_relaxed);
    }
    return blob;
}

bool hpx_stack_chunk_is_virtual_sig(uintptr_t entry)
{
    return hpx_vm_int(entry + IS_VIRTUAL) == 1;
}

uintptr_t hpx_stack_chunk_continuation_sig(uintptr_t entry, bool runs)
{
    return hpx_object_on_stack_sig(hpx_vm_word(entry + CONTINUATION), runs);
}

bool hpx_stack_chunk_is_yield_sig(uintptr_t blob)
{
    uintptr_t method = hpx_code_cache_method_sig(blob);
    return hpx_vm_is_address(method) && hpx_code_cache_id_sig(method) == chunks.at.yields;
}

bool hpx_stack_chunk_reading_sig(bool now)
{
    const bool before = atomic_load_explicit(&reading, memory_order_relaxed);
    atomic_store_explicit(&reading, now, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* before a read that faults */
    return before;
}

bool hpx_stack_chunk_moment_sig(bool runs, uint32_t *collections)
{
    *collections = 0;
    return runs || hpx_heap_still_sig(collections);
}
