/* SPDX-License-Identifier: BSD-2-Clause */
/* cmocka_all.h: cmocka with the headers that it wants before itself, and tests that register themselves.
 *
 *     TEST(a_ring_begins_empty)
 *     {
 *         assert_...
 *     }
 *
 *     TESTS(NULL, NULL)
 *
 * The tests run in the order of the file. */
#ifndef HPX_CMOCKA_ALL_H
#define HPX_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct CMUnitTest the_tests[96] __attribute__((unused));
static size_t number_of_tests __attribute__((unused));

/* TEST(name[, setup[, teardown[, initial state]]]): begins a test, whose body follows; the state is `state`. */
#define TEST(...) TEST_WITH(__VA_ARGS__, NULL, NULL, NULL, )
#define TEST_WITH(name, setup, teardown, initial, ...)                                                                                     \
    static void name(void **state);                                                                                                        \
    __attribute__((constructor)) static void add_##name(void)                                                                              \
    {                                                                                                                                      \
        if (number_of_tests == sizeof the_tests / sizeof *the_tests) {                                                                     \
            abort();                                                                                                                       \
        }                                                                                                                                  \
        the_tests[number_of_tests++] = (struct CMUnitTest){#name, name, setup, teardown, initial};                                         \
    }                                                                                                                                      \
    static void name(void **state __attribute__((unused)))

/* Runs them between setup and teardown of the group. How many failed. */
#define run_the_tests(setup, teardown) _cmocka_run_group_tests("tests", the_tests, number_of_tests, setup, teardown)
#define TESTS(setup, teardown)                                                                                                             \
    int main(void)                                                                                                                         \
    {                                                                                                                                      \
        return run_the_tests(setup, teardown);                                                                                             \
    }

#endif
