/* SPDX-License-Identifier: BSD-2-Clause */
/* native_word.c: see native_word.h. */
#include "native_word.h"
#include "code_cache.h"
#include "internals.h"
#include "structures.h"
#include "trial.h"
#include <sys/uio.h>
#include <unistd.h>

#define MOST_STACK   ((size_t)64 << 10) /* maximum size of the VM's frames between the caller's frame and this one */
#define MOST_METHODS 4096

/* Constant after find_fields() has succeeded. */
static struct {
    struct hpx_method_ids ids;
    uint64_t size;                  /* bytes of Method */
    uint64_t methods, length, data; /* of InstanceKlass, of an array */
} shape;

static bool find_fields(void)
{
    const struct hpx_vm_field all[] = {{"InstanceKlass", "_methods", "Array<Method*>*", &shape.methods},
                                       {"Array<int>", "_length", "int", &shape.length},
                                       {"Array<Method*>", "_data", NULL, &shape.data}};
    if (hpx_internals_closed() != NULL || hpx_method_ids_init(&shape.ids) != NULL ||
        hpx_structures_fields(all, HPX_ARRAY_LEN(all)) != NULL) {
        return false;
    }
    shape.size = hpx_structures_size("Method");
    return shape.size >= sizeof(uintptr_t) && shape.size <= 512 && shape.size % sizeof(uintptr_t) == 0;
}

static bool read_memory(uintptr_t at, void *to, size_t n)
{
    struct iovec ours = {to, n}, theirs = {(void *)at, n};
    return hpx_trial_passes(HPX_TRIAL_PROCESS_VM_READV) && process_vm_readv(getpid(), &ours, 1, &theirs, 1, 0) == (ssize_t)n;
}

/* 0: there is none. */
static uintptr_t word_at(uintptr_t at)
{
    uintptr_t word = 0;
    return hpx_vm_is_address(at) && read_memory(at, &word, sizeof word) ? word : 0;
}

/* As hpx_code_cache_id_sig(), of what need not be a Method; *class: its InstanceKlass. 0: it is none, or has no id. */
static uint64_t id_of(uintptr_t method, uintptr_t *class)
{
    uint16_t number = 0;
    uintptr_t constant = word_at(method + shape.ids.constant), pool = constant != 0 ? word_at(constant + shape.ids.pool) : 0;
    *class = pool != 0 ? word_at(pool + shape.ids.holder) : 0;
    uintptr_t ids = *class != 0 ? word_at(*class + shape.ids.ids) : 0, n = ids != 0 ? word_at(ids) : 0;
    return n > 0 && read_memory(constant + shape.ids.number, &number, sizeof number) && number < n
               ? word_at(ids + (number + (size_t)1) * sizeof(uintptr_t))
               : 0;
}

static uintptr_t method_of(uintptr_t class, uint64_t id)
{
    int32_t n = 0;
    uintptr_t array = word_at(class + shape.methods), unused;
    if (array == 0 || !read_memory(array + shape.length, &n, sizeof n) || n > MOST_METHODS) {
        return 0;
    }
    for (int32_t i = 0; i < n; i++) {
        uintptr_t method = word_at(array + shape.data + (size_t)i * sizeof(uintptr_t));
        if (method != 0 && id_of(method, &unused) == id) {
            return method;
        }
    }
    return 0;
}

uintptr_t hpx_native_word_find(uint64_t running, uint64_t wanted, uintptr_t up_to)
{
    uintptr_t from = (uintptr_t)__builtin_frame_address(0), class = 0, method = 0;
    if (running == 0 || wanted == 0 || up_to <= from || up_to - from > MOST_STACK || !find_fields()) {
        return 0;
    }
    for (uintptr_t at = from; at < up_to && method == 0; at += sizeof(uintptr_t)) {
        uintptr_t word = word_at(at); /* not read as a variable: AddressSanitizer reports reads between variables of a frame */
        if (hpx_vm_is_address(word) && (word < from || word >= up_to) && id_of(word, &class) == running) {
            method = method_of(class, wanted);
        }
    }
    return method != 0 ? method + shape.size : 0;
}

uintptr_t hpx_native_word_read(uintptr_t word)
{
    return word_at(word);
}
