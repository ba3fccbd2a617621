/* SPDX-License-Identifier: BSD-2-Clause */
/* number_table.h: names of the methods that the rewriter numbered. Owner: the aggregator.
 *
 * A class arrives as one message, which is stored as it is, plus 8 bytes per method; names are interned when a method is symbolized.
 * Numbers are never reused, so entries are never removed. */
#ifndef HPX_NUMBER_TABLE_H
#define HPX_NUMBER_TABLE_H

#include "model_msg.h"
#include "vec.h"

#define HPX_NUMBER_MAX (1u << 26) /* higher numbers are errors and have no name */

struct hpx_number {
    uint32_t said;       /* place of its message + 1; 0: not announced */
    uint32_t symbolized; /* its symbolized method + 1; 0: not symbolized yet */
};

struct hpx_numbers {
    struct hpx_vec of;   /* struct hpx_number */
    struct hpx_vec said; /* struct hpx_msg_methods * */
    size_t said_bytes;
};

void hpx_numbers_init(struct hpx_numbers *t);
void hpx_numbers_fini(struct hpx_numbers *t);
/* Takes over msg. false: some methods have no name (no memory, or numbers above the limit); if none has, msg is freed. */
bool hpx_numbers_announce(struct hpx_numbers *t, struct hpx_msg_methods *msg);
/* The entry of a number, created if missing; NULL: no memory, or above the limit. */
struct hpx_number *hpx_numbers_at(struct hpx_numbers *t, uint32_t number);
static inline const struct hpx_msg_methods *hpx_numbers_said(const struct hpx_numbers *t, const struct hpx_number *n)
{
    return n->said ? *(struct hpx_msg_methods *const *)hpx_vec_at(&t->said, n->said - 1) : NULL;
}
static inline size_t hpx_numbers_bytes(const struct hpx_numbers *t)
{
    return t->of.bytes + t->said.bytes + t->said_bytes;
}

#endif
