/* SPDX-License-Identifier: BSD-2-Clause */
/* tables_subjects.h: the tables that bench_tables compares, behind one interface. One thread. */
#ifndef HPX_TABLES_SUBJECTS_H
#define HPX_TABLES_SUBJECTS_H

#include "hash.h"

#define HPX_BENCH_MAX_FRAMES 56

struct hpx_bench_frame {
    uint32_t method;
    int32_t bci;
};

struct hpx_bench_key {
    struct hpx_hash128 hash;
    const struct hpx_bench_frame *frames;
    uint32_t n;
};

struct hpx_bench_table {
    const char *name;
    bool (*make)(void);
    /* Copies the key and stores id; false without memory. */
    bool (*insert)(const struct hpx_bench_key *k, uint32_t id);
    uint32_t (*find)(const struct hpx_bench_key *k); /* HPX_INTERN_NONE: not there */
    size_t (*bytes)(void);                           /* without the copies of the keys; 0: not known */
    void (*drop)(void);
};

#define HPX_BENCH_TABLES 3
extern const struct hpx_bench_table *const hpx_bench_tables[HPX_BENCH_TABLES];

/* Once, before the first make. */
void hpx_bench_start(void);

#endif
