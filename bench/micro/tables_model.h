/* SPDX-License-Identifier: BSD-2-Clause */
/* tables_model.h: the model's part of bench_tables: the price of an event, and bytes for the names of a large program. */
#ifndef HPX_TABLES_MODEL_H
#define HPX_TABLES_MODEL_H

#include "compiler.h"
#include <stdio.h>

struct hpx_bench_model {
    double sample, define, snapshot;  /* ns: a sample of 16 bytes, a definition that is known, a row of a snapshot */
    double method, longest_class;     /* ns a method announced; longest class message, us, each taken as in its best round */
    size_t empty, announced, sampled; /* bytes held: at the start, with all classes, with some sampled */
};

bool hpx_bench_model_run(struct hpx_bench_model *b, unsigned rounds);
void hpx_bench_model_print(const struct hpx_bench_model *b);
void hpx_bench_model_json(FILE *f, const struct hpx_bench_model *b);

#endif
