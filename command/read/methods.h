/* SPDX-License-Identifier: BSD-2-Clause */
/* methods.h: of each method, the samples in itself and the samples with it anywhere on the stack, from a table of stacks. One thread. */
#ifndef HPX_READ_METHODS_H
#define HPX_READ_METHODS_H

#include "check.h"

#define HPX_METHODS_BY_SELF ((size_t)10)

struct hpx_method {
    uint32_t name;
    uint32_t row; /* the last that it was on */
    uint64_t self, total;
};

struct hpx_methods {
    struct hpx_list of;    /* struct hpx_method */
    struct hpx_list index; /* uint32_t: of each name, its place in `of` + 1 */
    uint32_t row;
};

void hpx_methods_init(struct hpx_methods *m);
void hpx_methods_fini(struct hpx_methods *m);
/* A new table begins: none. */
void hpx_methods_clear(struct hpx_methods *m);
/* A new row begins: a method is on it once, however often it recurs. */
void hpx_methods_row(struct hpx_methods *m);
/* A frame of the row, with the samples of the row. innermost: they are in the method itself. No effect without memory. */
void hpx_methods_add(struct hpx_methods *m, uint32_t name, uint64_t samples, bool innermost);
/* First the HPX_METHODS_BY_SELF with the most in themselves, then the others by total, descending. After the last row. */
void hpx_methods_sort(struct hpx_methods *m);

#endif
