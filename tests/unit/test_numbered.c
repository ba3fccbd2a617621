/* SPDX-License-Identifier: BSD-2-Clause */
/* test_numbered.c: an array grows to a number, keeps what it had, and stands when there is no memory. */
#include "cmocka_all.h"
#include "failing_memory.h"
#include "numbered.h"
#include <stdlib.h>

TEST(elements_are_clear_and_keep_what_they_had)
{
    static const uint32_t numbers[] = {3, 0, 255, 256, 257, 5000, 100000, 7};
    struct hpx_numbered a = {.elements = NULL};
    (void)state;
    assert_null(hpx_numbered_at(&a, 0, sizeof(uint64_t)));
    for (uint32_t i = 0; i < HPX_ARRAY_LEN(numbers); i++) {
        uint64_t *e = hpx_numbered_reach(&a, numbers[i], sizeof(*e));
        assert_int_equal(*e, 0);
        *e = i + 1;
        for (uint32_t k = 0; k <= i; k++) {
            assert_int_equal(*(uint64_t *)hpx_numbered_at(&a, numbers[k], sizeof(*e)), k + 1);
        }
    }
    assert_int_equal(*(uint64_t *)hpx_numbered_at(&a, 99999, sizeof(uint64_t)), 0);
    assert_null(hpx_numbered_at(&a, a.len, sizeof(uint64_t)));
    hpx_numbered_fini(&a);
    assert_null(hpx_numbered_at(&a, 3, sizeof(uint64_t)));
}

TEST(without_memory_nothing_changes)
{
    struct hpx_numbered a = {.elements = NULL};
    (void)state;
    memory_refuse();
    assert_null(hpx_numbered_reach(&a, 0, 1));
    memory_allow();
    *(char *)hpx_numbered_reach(&a, 1, 1) = 'x';
    memory_refuse();
    assert_null(hpx_numbered_reach(&a, 100000, 1));
    assert_null(hpx_numbered_reach(&a, UINT32_MAX, 1));
    assert_int_equal(*(char *)hpx_numbered_reach(&a, 1, 1), 'x');
    memory_allow();
    hpx_numbered_fini(&a);
}

TESTS(NULL, NULL)
