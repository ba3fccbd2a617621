/* SPDX-License-Identifier: BSD-2-Clause */
/* number_table.c: see number_table.h. */
#include "number_table.h"
#include <stdlib.h>

void hpx_numbers_init(struct hpx_numbers *t)
{
    *t = (struct hpx_numbers){0};
    hpx_vec_init(&t->of, sizeof(struct hpx_number));
    hpx_vec_init(&t->said, sizeof(struct hpx_msg_methods *));
}

void hpx_numbers_fini(struct hpx_numbers *t)
{
    for (uint32_t i = 0; i < t->said.len; i++) {
        free(*(struct hpx_msg_methods **)hpx_vec_at(&t->said, i));
    }
    hpx_vec_fini(&t->of);
    hpx_vec_fini(&t->said);
}

/* Classes are rewritten by several threads at once: their messages may come in another order than their numbers. */
struct hpx_number *hpx_numbers_at(struct hpx_numbers *t, uint32_t number)
{
    while (t->of.len <= number) {
        if (number >= HPX_NUMBER_MAX || !hpx_vec_push(&t->of)) {
            return NULL;
        }
    }
    return hpx_vec_at(&t->of, number);
}

bool hpx_numbers_announce(struct hpx_numbers *t, struct hpx_msg_methods *msg)
{
    uint64_t end = (uint64_t)msg->first + msg->n;
    struct hpx_msg_methods **place = msg->n > 0 && end <= HPX_NUMBER_MAX ? hpx_vec_push(&t->said) : NULL;
    if (!place) {
        bool complete = msg->n == 0;
        free(msg);
        return complete;
    }
    *place = msg;
    t->said_bytes += msg->m.size;
    for (uint32_t number = msg->first; number < end; number++) {
        struct hpx_number *n = hpx_numbers_at(t, number);
        if (!n) {
            return false;
        }
        *n = (struct hpx_number){.said = t->said.len};
    }
    return true;
}
