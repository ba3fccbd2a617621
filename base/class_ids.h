/* SPDX-License-Identifier: BSD-2-Clause */
/* class_ids.h: the three numbers of a class, each a type of its own, so that none is taken for another. */
#ifndef HPX_CLASS_IDS_H
#define HPX_CLASS_IDS_H

#include "compiler.h"

/* Given by the agent, and kept in the tag of the class (site_ids.h); events and heap dumps have it. 0: none. */
struct hpx_class_number {
    uint32_t v;
};

/* A place in the model's table of classes. 0: none. */
struct hpx_class_index {
    uint32_t v;
};

/* Printed. 0: the output announces no classes. */
struct hpx_class_serial {
    uint32_t v;
};

#define HPX_SERIAL_CLASS 100000u /* serial of the class hprofx.unknown */

/* The serial of the class with this number, where the agent numbers all classes. */
static inline struct hpx_class_serial hpx_serial_of_class(struct hpx_class_number number)
{
    return (struct hpx_class_serial){HPX_SERIAL_CLASS + number.v};
}

#endif
