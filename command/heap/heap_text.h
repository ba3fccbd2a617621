/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_text.h: what is in a heap dump, in words. One thread. */
#ifndef HPX_HEAP_TEXT_H
#define HPX_HEAP_TEXT_H

#include "heap_reading.h"
#include <stdio.h>

#define HPX_HEAP_ROWS 30 /* classes, unless another number is asked for */

struct hpx_json;

struct hpx_heap_ask {
    size_t rows;           /* of the table of classes; 0: HPX_HEAP_ROWS, or all of them in JSON */
    uint32_t dump;         /* 0: the last that is complete */
    struct hpx_json *json; /* an open object, which gets a member "heap_dump" (heap_json.h); NULL: words */
};

/* Reads an open file, plain or gzip, several times from its beginning (lseek), and writes what is in its heap dump: sums, classes with what
 * they retain, what retains most and the paths to it, strings with the same text, collections without elements. What is wrong with the
 * file is in the text, too; then the result is HPX_HEAP_PARTIAL. HPX_HEAP_NONE: err has the reason, if the agent's report in the file does.
 * Without another budget of the caller, hpx_memory_for_file() is what it may allocate. */
enum hpx_heap_read hpx_heap_tell(FILE *to, int fd, const struct hpx_heap_ask *ask, struct hpx_err *err);

#endif
