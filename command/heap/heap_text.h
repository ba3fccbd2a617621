/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_text.h: what is in a heap dump, in words. One thread. */
#ifndef HPX_HEAP_TEXT_H
#define HPX_HEAP_TEXT_H

#include "heap_graph.h"
#include <stdio.h>

#define HPX_HEAP_ROWS 30 /* classes, unless another number is asked for */

/* Reads an open file, plain or gzip, several times from its beginning (lseek), and writes what is in its heap dump: sums, classes with what
 * they retain, what retains most and the paths to it, strings with the same text, collections without elements. rows: of the table of
 * classes; 0: HPX_HEAP_ROWS. What is wrong with the file is in the text, and *whole tells it. HPX_HEAP_NONE: err has the reason, if the
 * agent's report in the file does. Without another budget of the caller, hpx_memory_for_file() is what it may allocate. */
enum hpx_heap_read hpx_heap_tell(FILE *to, int fd, size_t rows, bool *whole, struct hpx_err *err);

#endif
