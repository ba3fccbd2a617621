/* SPDX-License-Identifier: BSD-2-Clause */
/* test_gate.c: who gets in, and whom close waits for. */
#include "cmocka_all.h"
#include "gate.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* Between the two looks of enter: where a close may fall. */
static struct hpx_gate *shut_in_lock;

void __real_urcu_bp_read_lock(void);
void __wrap_urcu_bp_read_lock(void);

void __wrap_urcu_bp_read_lock(void)
{
    if (shut_in_lock) {
        hpx_gate_shut(shut_in_lock);
    }
    __real_urcu_bp_read_lock();
}

static void gate_shut_between_the_two_looks_of_enter_refuses(void **state)
{
    (void)state;
    struct hpx_gate g = {0};
    hpx_gate_open(&g);
    shut_in_lock = &g;
    bool in = hpx_gate_enter(&g);
    shut_in_lock = NULL;
    assert_false(in);
    hpx_gate_synchronize(); /* hangs if a section were left open */
}

static void gate_is_closed_before_it_is_opened(void **state)
{
    (void)state;
    struct hpx_gate g = {0};
    assert_false(hpx_gate_is_open(&g));
    assert_false(hpx_gate_enter(&g));
    hpx_gate_open(&g);
    assert_true(hpx_gate_is_open(&g));
    assert_true(hpx_gate_enter(&g));
    hpx_gate_leave(&g);
}

static void gate_sections_nest(void **state)
{
    (void)state;
    struct hpx_gate g = {0};
    hpx_gate_open(&g);
    assert_true(hpx_gate_enter(&g));
    assert_true(hpx_gate_enter(&g));
    hpx_gate_leave(&g);
    hpx_gate_shut(&g);
    assert_false(hpx_gate_enter(&g));
    hpx_gate_leave(&g);
    hpx_gate_close(&g); /* hangs if a section were left open */
}

static void gate_refused_entry_leaves_no_section_behind(void **state)
{
    (void)state;
    struct hpx_gate g = {0};
    assert_false(hpx_gate_enter(&g));
    hpx_gate_synchronize();
    hpx_gate_open(&g);
    hpx_gate_shut(&g);
    assert_false(hpx_gate_enter(&g));
    hpx_gate_synchronize();
}

static struct hpx_gate shared;
static atomic_bool closed; /* seq_cst; both sides */

static void *closer(void *arg)
{
    (void)arg;
    hpx_gate_close(&shared);
    atomic_store(&closed, true);
    return NULL;
}

static void gate_close_waits_for_those_inside(void **state)
{
    (void)state;
    pthread_t thread;
    hpx_gate_open(&shared);
    assert_true(hpx_gate_enter(&shared));
    assert_int_equal(pthread_create(&thread, NULL, closer, NULL), 0);
    while (hpx_gate_is_open(&shared)) {
        sched_yield();
    }
    bool early = false;
    for (int i = 0; i < 10000; i++) {
        early |= atomic_load(&closed);
        sched_yield();
    }
    hpx_gate_leave(&shared);
    pthread_join(thread, NULL);
    assert_false(early);
    assert_true(atomic_load(&closed));
}

static void gate_in_the_child_of_a_fork_can_be_shut_and_synchronized(void **state)
{
    (void)state;
    struct hpx_gate g = {0};
    hpx_gate_open(&g);
    hpx_gate_before_fork();
    pid_t pid = fork();
    if (pid == 0) {
        hpx_gate_after_fork_child();
        hpx_gate_shut(&g);
        bool in = hpx_gate_enter(&g);
        hpx_gate_synchronize();
        _exit(in ? 1 : 42);
    }
    hpx_gate_after_fork_parent();
    hpx_gate_synchronize(); /* hangs if liburcu's locks were still held */
    assert_true(pid > 0);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
    assert_true(hpx_gate_enter(&g));
    hpx_gate_leave(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gate_is_closed_before_it_is_opened),
        cmocka_unit_test(gate_shut_between_the_two_looks_of_enter_refuses),
        cmocka_unit_test(gate_sections_nest),
        cmocka_unit_test(gate_refused_entry_leaves_no_section_behind),
        cmocka_unit_test(gate_close_waits_for_those_inside),
        cmocka_unit_test(gate_in_the_child_of_a_fork_can_be_shut_and_synchronized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
