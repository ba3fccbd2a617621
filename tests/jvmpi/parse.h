/* SPDX-License-Identifier: BSD-2-Clause */
/* parse.h: reads the buffer of HEAP_DUMP and OBJECT_DUMP as the manual describes it, to the last byte. */
#ifndef HPX_TESTS_PARSE_H
#define HPX_TESTS_PARSE_H

#include "book.h"

struct parse_object {
    int kind;               /* JVMPI_GC_...; level 0: the type instead */
    jobjectID id, class_id; /* class_id: of the elements of an array of objects; NULL at level 0 */
    jint type;              /* of the elements of a primitive array */
    uint32_t length;        /* bytes of the fields, or elements */
    const char *data;       /* fields or elements; NULL at level 0 and for primitive elements at level 1 */
};

/* Calls `each` for every object and class, not for roots. class_of: gives what CLASS_LOAD told of a class. NULL, or what is wrong. */
const char *parse_heap(const char *begin, const char *end, jint level, const struct book_class *(*class_of)(jobjectID id),
                       void (*each)(const struct parse_object *o));

#endif
