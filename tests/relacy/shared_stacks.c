/* SPDX-License-Identifier: BSD-2-Clause */
/* shared_stacks.c: a set of two places, three threads that put and look for three stacks: what is found is the stack that was asked for. */
#include "shared_stacks.h"
#include "relacy.h"

#define DEPTH  2u
#define STACKS 3u
#define ROUNDS 4

static void begin(void)
{
    hpx_shared_stacks_begin(330, DEPTH); /* one set, of two places */
}

static void end(void)
{
    hpx_shared_stacks_end(false);
}

static struct hpx_raw_stack key_of(uint64_t i)
{
    return (struct hpx_raw_stack){.lo = i % 2, .hi = i}; /* two of them differ only in what the row has */
}

static void put(uint64_t i)
{
    struct hpx_raw_stack key = key_of(i);
    struct hpx_ev_frame frames[DEPTH];
    for (unsigned f = 0; f < DEPTH; f++) {
        frames[f] = (struct hpx_ev_frame){(int32_t)(10 * i + f), 0, 100 * i + f};
    }
    hpx_shared_stacks_put_sig(&key, frames, (int)(1 + i % DEPTH), (uint16_t)i);
}

static void find(uint64_t i)
{
    struct hpx_raw_stack key = key_of(i);
    struct hpx_ev_frame frames[DEPTH];
    uint16_t flags = 0;
    int n = hpx_shared_stacks_find_sig(&key, frames, DEPTH, &flags);
    if (n > 0) {
        relacy_check(n == (int)(1 + i % DEPTH));
        relacy_check(flags == (uint16_t)i);
        for (int f = 0; f < n; f++) {
            relacy_check(frames[f].bci == (int32_t)(10 * i) + f);
            relacy_check(frames[f].method == 100 * i + (uint64_t)f);
        }
    }
}

static void use(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t stack = 1 + relacy_rand(STACKS);
        if (relacy_rand(2) == 0) {
            put(stack);
        } else {
            find(stack);
        }
    }
}

/* The table itself is made while handlers look for it. */
static void make(void)
{
    begin();
    use();
}

static void nothing_there(void)
{
    hpx_shared_stacks_end(true);
}

const struct relacy_test relacy_tests[] = {
    {.name = "shared_stacks", .runs = 8000, .before = begin, .thread = {use, use, use}, .after = end},
    {.name = "shared_stacks_begin", .runs = 5000, .before = nothing_there, .thread = {make, use}, .after = end},
    {.name = NULL},
};
