/* SPDX-License-Identifier: BSD-2-Clause */
/* test_thread_table.c: threads that begin and end, and the slots that are removed for them, against a plain array. */
#include "cmocka_all.h"
#include "snapshot.h"
#include "thread_table.h"

#define KEYS 6000u

static uint32_t serials[KEYS]; /* of the live thread of each key, 0: none */

static uint32_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

/* Removes the thread and adds it again. false: the table knew another serial. */
static bool known(struct hpx_threads *t, uint32_t key)
{
    return hpx_threads_remove(t, key) == serials[key] && (serials[key] == 0 || hpx_threads_add(t, key, serials[key]) == serials[key]);
}

static uint32_t differences(struct hpx_threads *t)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < KEYS; k++) {
        n += !known(t, k);
    }
    return n;
}

/* Waves: the number of live threads rises and falls, so that removed slots meet growth, and tables of equal size follow each other. */
TEST(table_knows_the_live_threads_and_them_alone)
{
    struct hpx_threads t;
    uint64_t seed = 1;
    uint32_t begun = 0, replaced = 0, wrong = 0, most = 0, live = 0;
    assert_int_equal(hpx_threads_init(&t), 0);
    for (uint32_t step = 0; step < 400000; step++) {
        uint32_t key = next(&seed) % KEYS, rising = step / 5000 % 2;
        if (!serials[key] && next(&seed) % 4 < 1 + 2 * rising) {
            serials[key] = hpx_threads_add(&t, key, 0);
            wrong += serials[key] != HPX_SERIAL_THREAD + ++begun;
            live++;
            most = live > most ? live : most;
        } else if (serials[key] && next(&seed) % 4 >= 1 + 2 * rising) {
            wrong += hpx_threads_remove(&t, key) != serials[key];
            serials[key] = 0;
            live--;
        } else {
            wrong += !known(&t, key);
        }
        replaced += t.index.old != NULL;
        wrong += step % 1009 == 0 ? differences(&t) : 0;
        assert_true(t.index.len - t.index.removed == live);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(t.all.len, most); /* entries are used again */
    assert_true(replaced > 1000);
    assert_true(t.index.mask < 4 * KEYS);
    hpx_threads_fini(&t);
}

TESTS(NULL, NULL)
