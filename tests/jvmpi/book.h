/* SPDX-License-Identifier: BSD-2-Clause */
/* book.h: what the agents of the tests keep of CLASS_LOAD: names by id. Writers exclude each other by a lock of the caller; readers need
 * none (an entry is published by one store and never leaves). Memory is never given back: a test ends soon. */
#ifndef HPX_TESTS_BOOK_H
#define HPX_TESTS_BOOK_H

#include <jvmpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct book_class {
    jobjectID id;
    char *name, *source; /* as Class.getName() has it; "" */
};

struct book_method {
    jmethodID id;
    const struct book_class *of;
    char *name;
    atomic_long entries, entries2, with_object, exits; /* for the agent */
};

/* CLASS_LOAD, also a requested one. A class that is there already stays. */
void book_add(const JVMPI_Event *class_load);
/* NULL: unknown. */
const struct book_class *book_class(jobjectID id);
struct book_method *book_method(jmethodID id);
/* All methods, in no order. */
void book_each_method(void (*each)(struct book_method *m));
/* As book_class(), and asks for CLASS_LOAD of a class that is unknown; the agent's NotifyEvent calls book_add() then. */
const struct book_class *book_ask(const JVMPI_Interface *jvmpi, jobjectID id);
/* What an object is by OBJECT_ALLOC: "int[][]", "java.lang.String[]", "java.lang.String"; at most n bytes with the zero. */
void book_name(const JVMPI_Interface *jvmpi, char *to, size_t n, jobjectID class_id, jint is_array);

/* Slots by a pointer's value; a power of two, far more than any test has. */
#define BOOK_SLOTS (1u << 18)
static inline uint32_t book_hash(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (BOOK_SLOTS - 1);
}

#endif
