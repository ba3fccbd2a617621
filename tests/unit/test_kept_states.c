/* SPDX-License-Identifier: BSD-2-Clause */
/* test_kept_states.c: states of threads between two sessions: who gets which again, and what is freed. */
#include "cmocka_all.h"
#include "kept_states.h"
#include "vm_mode.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t ring_bytes(void)
{
    return 4096;
}

static const struct hpx_vm_mode vm = {.state_bytes = sizeof(struct hpx_mode_thread), .ring_bytes = ring_bytes};
static const struct hpx_mode one = {.vm = &vm}, other = {.vm = &vm};

static pid_t self(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* A state that was announced in a session. */
static struct hpx_mode_thread *new_state(struct hpx_mode_thread *kept, const struct hpx_mode *mode, pid_t tid)
{
    struct hpx_mode_thread *s = hpx_kept_states_make(mode, kept);
    assert_non_null(s);
    s->tid = tid;
    return s;
}

static void retire(struct hpx_mode_thread *s)
{
    atomic_store(&s->base.state, HPX_THREAD_RETIRED);
}

static int forget(void **unused)
{
    (void)unused;
    for (const struct hpx_mode *mode = &one; mode != NULL; mode = mode == &one ? &other : NULL) {
        for (struct hpx_mode_thread *s; (s = hpx_kept_states_take(mode, self())) != NULL;) {
            free(s);
        }
    }
    return hpx_kept_states_sweep() == 0 ? 0 : -1;
}

static void only(void *expected, const struct hpx_mode_thread *s)
{
    struct hpx_mode_thread **e = expected;
    assert_ptr_equal(s, *e);
    *e = NULL;
}

TEST(a_thread_that_lives_gets_its_state_again, NULL, forget)
{
    struct hpx_mode_thread *s = new_state(NULL, &one, self());
    assert_false(s->renewed);
    hpx_kept_states_give(s);
    assert_int_equal(hpx_kept_states_sweep(), 1);
    struct hpx_mode_thread *expected = s;
    hpx_kept_states_each(only, &expected);
    assert_null(expected);
    assert_null(hpx_kept_states_take(&other, self()));
    assert_null(hpx_kept_states_take(&one, self() + 1));
    assert_null(hpx_kept_states_take(&one, 0));
    assert_ptr_equal(hpx_kept_states_take(&one, self()), s);
    assert_null(hpx_kept_states_take(&one, self()));
    s->stack_low = 7;
    assert_ptr_equal(new_state(s, &one, self()), s);
    assert_int_equal(s->stack_low, 0);
    assert_true(s->renewed);
    hpx_kept_states_give(s);
}

/* The list of adopted states of ticks.c leads to it until the session ends: its thread may detach, and attach again. */
TEST(an_adopted_state_that_ended_is_nobodys_until_the_session_ends, NULL, forget)
{
    struct hpx_mode_thread *s = new_state(NULL, &one, self());
    s->adopted = true;
    retire(s);
    hpx_kept_states_give(s);
    assert_null(hpx_kept_states_take(&one, self()));
    assert_int_equal(hpx_kept_states_sweep(), 0);
}

TEST(a_state_that_ended_is_freed, NULL, forget)
{
    struct hpx_mode_thread *s = new_state(NULL, &one, self());
    retire(s);
    hpx_kept_states_give(s);
    assert_int_equal(hpx_kept_states_sweep(), 0);
}

static void *tell_id(void *to)
{
    *(pid_t *)to = self();
    return NULL;
}

TEST(states_of_threads_that_are_gone_or_unknown_are_swept, NULL, forget)
{
    pthread_t t;
    pid_t tid = 0;
    assert_int_equal(pthread_create(&t, NULL, tell_id, &tid), 0);
    pthread_join(t, NULL);
    while (syscall(SYS_tgkill, getpid(), tid, 0) == 0) {
        /* it is joined a moment before it is gone */
    }
    hpx_kept_states_give(new_state(NULL, &one, tid));
    hpx_kept_states_give(new_state(NULL, &one, 0));
    hpx_kept_states_give(new_state(NULL, &one, self()));
    assert_int_equal(hpx_kept_states_sweep(), 1);
}

TEST(a_state_that_is_replaced_goes_with_the_next_sweep, NULL, forget)
{
    hpx_kept_states_give(new_state(NULL, &one, self()));
    hpx_kept_states_give(new_state(NULL, &other, self()));
    hpx_kept_states_replaced(&one, self()); /* the thread has found one that was made while its kernel id was unknown */
    struct hpx_mode_thread *found = new_state(NULL, &one, self());
    hpx_kept_states_give(found);
    assert_int_equal(hpx_kept_states_sweep(), 2);
    assert_ptr_equal(hpx_kept_states_take(&one, self()), found);
    free(found);
}

/* Without memory for the ring: a pointer of the thread leads to a state of an earlier session. */
TEST(a_state_that_is_dropped_is_kept_if_its_thread_had_it_before, NULL, forget)
{
    struct hpx_mode_thread *s = new_state(NULL, &one, self());
    hpx_kept_states_give(s);
    s = hpx_kept_states_take(&one, self());
    struct hpx_mode_thread *again = hpx_kept_states_make(&one, s);
    assert_ptr_equal(again, s);
    hpx_kept_states_drop(again);
    assert_ptr_equal(hpx_kept_states_take(&one, self()), s);
    free(s);
    hpx_kept_states_drop(new_state(NULL, &one, self()));
    assert_int_equal(hpx_kept_states_sweep(), 0);
}

TESTS(NULL, NULL)
