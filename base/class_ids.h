/* SPDX-License-Identifier: BSD-2-Clause */
/* class_ids.h: the three numbers of a class. They have different types, so the compiler refuses one in the place of another. */
#ifndef HPX_CLASS_IDS_H
#define HPX_CLASS_IDS_H

#include "compiler.h"

/* The agent gives it and keeps it in the tag of the class (site_ids.h); events and heap dumps have it. The table of sites numbers classes
 * that the agent has not seen (HPX_SITE_OWN_CLASSES). 0: none. */
struct hpx_class_number {
    uint32_t v;
};

/* A place in the model's table of classes (struct hpx_methods). 0: none. */
struct hpx_class_index {
    uint32_t v;
};

/* The output prints it. 0: none, because the output announces no classes or the agent could not number the class. */
struct hpx_class_serial {
    uint32_t v;
};

#define HPX_SERIAL_CLASS 100000u /* serial of the class hprofx.unknown */

/* The serial of the class with this number, which the agent gave; only if the agent numbers all classes (cfg.class_numbers). */
static inline struct hpx_class_serial hpx_serial_of_class(struct hpx_class_number number)
{
    return (struct hpx_class_serial){HPX_SERIAL_CLASS + number.v};
}

#endif
