/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_table.c: see thread_table.h. */
#include "thread_table.h"

int hpx_threads_init(struct hpx_threads *t)
{
    hpx_vec_init(&t->all, sizeof(struct hpx_thread_entry));
    return hpx_id_map_init(&t->keys);
}

void hpx_threads_fini(struct hpx_threads *t)
{
    hpx_id_map_fini(&t->keys);
    hpx_vec_fini(&t->all);
}

struct hpx_thread_entry *hpx_threads_living(const struct hpx_threads *t, uint64_t key)
{
    uint32_t number = hpx_id_map_find(&t->keys, key);
    struct hpx_thread_entry *e = number != HPX_INTERN_NONE ? hpx_vec_at(&t->all, number) : NULL;
    return e && !e->ended ? e : NULL;
}

struct hpx_thread_entry *hpx_threads_add(struct hpx_threads *t, uint64_t key, const struct hpx_thread_rec *rec)
{
    uint32_t number = hpx_id_map_len(&t->keys);
    if ((t->all.len == number && !hpx_vec_push(&t->all)) || hpx_id_map_bind(&t->keys, key) != number) {
        return NULL;
    }
    struct hpx_thread_entry *e = hpx_vec_at(&t->all, number);
    *e = (struct hpx_thread_entry){.rec = *rec};
    e->rec.serial = HPX_SERIAL_THREAD + 1 + number;
    e->rec.object = HPX_OBJECT_FIRST + number;
    return e;
}
