/* SPDX-License-Identifier: BSD-2-Clause */
/* test_known_threads.c: the register of threads, with a made-up VM that notices a reference that is used after it was deleted. */
#include "cmocka_all.h"
#include "failing_memory.h"
#include "known_threads.h"
#include "session.h"
#include <pthread.h>
#include <stdlib.h>

#define THREADS 500u /* beyond the least number of ended ones that starts a pruning */
#define ROUNDS  2000u

/* A weak reference to objects[thread]. They are never freed, so that a use after the end shows. */
struct weak {
    uint32_t thread;
    atomic_bool deleted;
};

static char objects[THREADS + 1];
static atomic_bool collected[THREADS + 1];
static struct weak weaks[16 * THREADS + ROUNDS];
static atomic_uint made, deleted, wrong, exceptions, asked; /* asked: whether one is collected */
static bool no_refs;                                        /* NewWeakGlobalRef has no memory */
static struct hpx_known_thread *end;                        /* it ends while a list reads its reference */

static jweak JNICALL new_weak(JNIEnv *e, jobject o)
{
    (void)e;
    if (no_refs) {
        return NULL;
    }
    struct weak *w = &weaks[atomic_fetch_add(&made, 1)];
    w->thread = (uint32_t)((char *)o - objects);
    return (jweak)(void *)w;
}

static void JNICALL delete_weak(JNIEnv *e, jweak ref)
{
    (void)e;
    struct weak *w = (struct weak *)(void *)ref;
    wrong += atomic_exchange(&w->deleted, true);
    deleted++;
}

static jobject object_of(jweak ref)
{
    struct weak *w = (struct weak *)(void *)ref;
    wrong += w->deleted;
    return collected[w->thread] ? NULL : (jobject)(void *)&objects[w->thread];
}

static jboolean JNICALL same(JNIEnv *e, jobject a, jobject b)
{
    (void)e;
    asked++;
    return object_of(a) == b;
}

static jobject JNICALL new_local(JNIEnv *e, jobject ref)
{
    if (end != NULL) {
        struct hpx_known_thread *k = end;
        end = NULL;
        hpx_known_threads_end(k, e);
    }
    return object_of(ref);
}

static jint JNICALL ensure(JNIEnv *e, jint n)
{
    (void)e, (void)n;
    return 0;
}

static void JNICALL clear(JNIEnv *e)
{
    (void)e;
    exceptions++;
}

static const struct JNINativeInterface_ table = {.NewWeakGlobalRef = new_weak,
                                                 .DeleteWeakGlobalRef = delete_weak,
                                                 .IsSameObject = same,
                                                 .NewLocalRef = new_local,
                                                 .EnsureLocalCapacity = ensure,
                                                 .ExceptionClear = clear};
static JNIEnv env = &table;

static int set_up(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < made; i++) {
        weaks[i].deleted = false;
    }
    for (uint32_t i = 0; i <= THREADS; i++) {
        collected[i] = false;
    }
    made = deleted = wrong = exceptions = asked = 0;
    no_refs = false;
    return 0;
}

/* The session ends; nothing is left of it. */
static int tear_down(void **unused)
{
    struct hpx_thread_ref *refs;
    (void)unused;
    memory_allow();
    hpx_known_threads_forget(&env);
    hpx_known_threads_fini();
    assert_int_equal(deleted, made);
    assert_int_equal(wrong, 0);
    assert_int_equal(hpx_known_threads_list(&env, &refs, true), 0);
    free(refs);
    return 0;
}

static struct hpx_known_thread *enter(uint32_t thread, enum hpx_known_stage stage)
{
    bool mine = false;
    struct hpx_known_thread *k = hpx_known_threads_enter(thread, stage, 0, &mine);
    assert_non_null(k);
    assert_true(mine);
    return k;
}

static struct hpx_known_thread *announce(uint32_t thread)
{
    struct hpx_known_thread *k = enter(thread, HPX_KNOWN_BEGUN);
    hpx_known_threads_announced(k, &env, (jthread)(void *)&objects[thread], thread, thread, false);
    return k;
}

/* of: by number; what a list has of them. Returns how many. */
static uint32_t list(bool virtuals, struct hpx_thread_ref *of)
{
    struct hpx_thread_ref *refs;
    uint32_t n = hpx_known_threads_list(&env, &refs, virtuals);
    memset(of, 0, (THREADS + 1) * sizeof *of);
    for (uint32_t i = 0; i < n; i++) {
        assert_ptr_equal(refs[i].thread, &objects[refs[i].number]);
        assert_null(of[refs[i].number].thread);
        of[refs[i].number] = refs[i];
    }
    free(refs);
    return n;
}

static struct hpx_thread_ref seen[THREADS + 1];

static void who_comes_second_gets_the_entry_of_the_first(void **unused)
{
    (void)unused;
    bool mine = true;
    struct hpx_known_thread *k = enter(1, HPX_KNOWN_BEGUN);
    assert_ptr_equal(hpx_known_threads_enter(1, HPX_KNOWN_ADOPTING, 0, &mine), k);
    assert_false(mine);
    assert_int_equal(k->stage, HPX_KNOWN_BEGUN);
}

static void an_adopted_thread_is_found_by_its_kernel_id_once_it_is_complete(void **unused)
{
    (void)unused;
    bool mine;
    struct hpx_known_thread *k[3];
    for (uint32_t i = 0; i < 3; i++) { /* the same list */
        k[i] = hpx_known_threads_enter(1 + i, HPX_KNOWN_ADOPTING, (pid_t)(7 + 1024 * i), &mine);
    }
    assert_null(hpx_known_threads_of_tid(7 + 1024));
    k[1]->stage = HPX_KNOWN_ADOPTED;
    assert_ptr_equal(hpx_known_threads_of_tid(7 + 1024), k[1]);
    assert_null(hpx_known_threads_of_tid(7));
    hpx_known_threads_end(k[1], &env);
    k[1]->stage = HPX_KNOWN_ENDED;
    assert_null(hpx_known_threads_of_tid(7 + 1024));
    struct hpx_known_thread *unknown = enter(9, HPX_KNOWN_ADOPTING);
    assert_null(hpx_known_threads_without_tid(9));
    unknown->stage = HPX_KNOWN_ADOPTED;
    assert_ptr_equal(hpx_known_threads_without_tid(9), unknown);
    assert_ptr_equal(hpx_known_threads_of_tid(0), unknown);
    assert_null(hpx_known_threads_without_tid(1));
}

static void without_a_wish_no_reference_is_kept(void **unused)
{
    (void)unused;
    assert_false(hpx_known_threads_kept());
    hpx_known_threads_end(announce(1), &env);
    (void)announce(2);
    assert_int_equal(made, 0);
    assert_int_equal(list(true, seen), 0);
    (void)enter(1, HPX_KNOWN_BEGUN); /* it has left nothing */
}

static void a_thread_that_ends_is_forgotten_unless_ended_ones_are_kept(void **unused)
{
    (void)unused;
    hpx_known_threads_keep(false);
    hpx_known_threads_end(announce(1), &env);
    (void)announce(2);
    assert_int_equal(list(true, seen), 1);
    assert_int_equal(seen[2].serial, 2);
    assert_int_equal(deleted, 1);
    hpx_known_threads_keep(true);
    hpx_known_threads_keep(false); /* the larger wish stays */
    hpx_known_threads_end(announce(3), &env);
    assert_int_equal(list(true, seen), 2);
    assert_true(seen[3].ended && !seen[2].ended);
    collected[3] = true;
    assert_int_equal(list(true, seen), 1);
    assert_int_equal(deleted, 2);
}

static void virtual_threads_are_listed_on_demand(void **unused)
{
    (void)unused;
    hpx_known_threads_keep(false);
    (void)announce(1);
    hpx_known_threads_announced(enter(2, HPX_KNOWN_BEGUN), &env, (jthread)(void *)&objects[2], 2, 2, true);
    assert_int_equal(list(false, seen), 1);
    assert_int_equal(list(true, seen), 2);
    assert_true(seen[2].is_virtual && !seen[1].is_virtual);
}

/* References stay below twice those of ended threads that are not collected, and a constant. */
static void threads_that_were_collected_go_without_a_list(void **unused)
{
    (void)unused;
    hpx_known_threads_keep(true);
    for (uint32_t i = 1; i <= THREADS; i++) {
        hpx_known_threads_end(announce(i), &env);
        collected[i] = i % 10 != 0;
        assert_in_range(made - deleted, i / 10, 2 * (i / 10) + 65);
    }
    assert_true(deleted > 0);
    assert_int_equal(list(true, seen), THREADS / 10);
    assert_int_equal(made - deleted, THREADS / 10);
}

static void threads_that_are_not_collected_are_not_asked_for_at_each_start(void **unused)
{
    (void)unused;
    hpx_known_threads_keep(true);
    for (uint32_t i = 1; i <= THREADS; i++) {
        hpx_known_threads_end(announce(i), &env);
    }
    assert_in_range(asked, 1, 2 * THREADS);
}

static void a_reference_that_a_list_reads_is_deleted_behind_it(void **unused)
{
    (void)unused;
    struct hpx_known_thread *k[4];
    hpx_known_threads_keep(false);
    for (uint32_t i = 1; i < 4; i++) {
        k[i] = announce(i);
    }
    end = k[2];
    assert_int_equal(list(true, seen), 3);
    assert_int_equal(deleted, 1);
    assert_int_equal(list(true, seen), 2);
    assert_null(seen[2].thread);
}

/* VMInit may have listed it before, and must find that somebody has dealt with it. */
static void who_ends_while_others_are_adopted_stays_known(void **unused)
{
    (void)unused;
    bool mine;
    hpx_known_threads_adopting(true);
    hpx_known_threads_end(announce(1), &env);
    assert_non_null(hpx_known_threads_enter(1, HPX_KNOWN_ADOPTING, 0, &mine));
    assert_false(mine);
    hpx_known_threads_adopting(false);
    hpx_known_threads_end(announce(2), &env);
    (void)enter(2, HPX_KNOWN_BEGUN);
}

static void the_newest_name_is_news_once(void **unused)
{
    (void)unused;
    hpx_known_threads_keep(true);
    struct hpx_known_thread *k = announce(1);
    struct hpx_thread_ref t = {.number = 1, .serial = 1}, self = {.number = 1}, none = {.number = 2};
    assert_false(hpx_known_threads_rename(&t, 1));
    assert_true(hpx_known_threads_rename(&t, 8));
    assert_false(hpx_known_threads_rename(&self, 8));
    assert_int_equal(self.serial, 1);
    assert_false(hpx_known_threads_rename(&none, 8));
    hpx_known_threads_end(k, &env);
    assert_false(hpx_known_threads_rename(&t, 9)); /* asked before, told later: its own last name is newer */
}

static void a_second_session_starts_empty(void **unused)
{
    hpx_known_threads_keep(true);
    hpx_known_threads_end(announce(1), &env);
    (void)announce(2);
    uint32_t serial = hpx_known_threads_serial();
    (void)tear_down(unused);
    assert_false(hpx_known_threads_kept());
    assert_int_equal(hpx_known_threads_serial(), serial + 1); /* that is hpx_session_end()'s */
    (void)set_up(unused);
    hpx_known_threads_keep(false);
    (void)announce(2);
    hpx_known_threads_end(announce(1), &env); /* the wish of the last one is gone, too */
    assert_int_equal(list(true, seen), 1);
    assert_int_equal(seen[2].serial, 2);
}

static void without_memory_for_its_reference_a_thread_is_announced_but_not_listed(void **unused)
{
    (void)unused;
    hpx_known_threads_keep(true);
    no_refs = true;
    struct hpx_known_thread *k = announce(1);
    assert_int_equal(exceptions, 1);
    assert_int_equal(k->serial, 1);
    assert_int_equal(list(true, seen), 0);
    hpx_known_threads_end(k, &env);
    (void)enter(1, HPX_KNOWN_BEGUN);
}

/* Each allocation of a life fails once: whoever gets an entry can end it, and what is listed is right. */
static void each_allocation_may_fail(void **unused)
{
    uint64_t calls = UINT64_MAX;
    for (uint64_t at = memory_first_fault(); at <= calls; at += memory_fault_step()) {
        struct hpx_known_thread *k[THREADS / 5];
        struct hpx_thread_ref *refs;
        (void)set_up(unused);
        hpx_known_threads_keep(true);
        memory_fail(at, at);
        for (uint32_t i = 1; i < THREADS / 5; i++) {
            bool mine = false;
            k[i] = hpx_known_threads_enter(i, HPX_KNOWN_BEGUN, 0, &mine);
            assert_true(mine == (k[i] != NULL));
            if (mine) {
                hpx_known_threads_announced(k[i], &env, (jthread)(void *)&objects[i], i, i, false);
                collected[i] = i % 2 != 0;
                hpx_known_threads_end(k[i], &env);
            }
        }
        uint32_t n = hpx_known_threads_list(&env, &refs, true);
        assert_true(n <= THREADS / 10);
        free(refs);
        calls = memory_calls();
        (void)tear_down(unused);
    }
}

static void *begin_and_end(void *arg)
{
    uint32_t from = *(uint32_t *)arg;
    for (uint32_t i = 0; i < ROUNDS / 2; i++) {
        bool mine;
        uint32_t thread = from + i % 100;
        struct hpx_known_thread *k = hpx_known_threads_enter(1000 * (uint64_t)from + i, HPX_KNOWN_BEGUN, 0, &mine);
        hpx_known_threads_announced(k, &env, (jthread)(void *)&objects[thread], i, i, false);
        hpx_known_threads_end(k, &env);
    }
    return NULL;
}

/* Under valgrind, ASan and TSan: two threads begin and end others all the time, and one lists them. */
static void lists_while_others_end(void **unused)
{
    (void)unused;
    static uint32_t from[] = {1, 200};
    pthread_t id[2];
    hpx_known_threads_keep(false);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&id[i], NULL, begin_and_end, &from[i]), 0);
    }
    while (made < ROUNDS) {
        struct hpx_thread_ref *refs;
        assert_in_range(hpx_known_threads_list(&env, &refs, true), 0, 2);
        free(refs);
    }
    for (uint32_t i = 0; i < 2; i++) {
        pthread_join(id[i], NULL);
    }
    assert_int_equal(list(true, seen), 0);
    assert_int_equal(deleted, ROUNDS);
}

int main(void)
{
#define IN_SESSION(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        IN_SESSION(who_comes_second_gets_the_entry_of_the_first),
        IN_SESSION(an_adopted_thread_is_found_by_its_kernel_id_once_it_is_complete),
        IN_SESSION(without_a_wish_no_reference_is_kept),
        IN_SESSION(a_thread_that_ends_is_forgotten_unless_ended_ones_are_kept),
        IN_SESSION(virtual_threads_are_listed_on_demand),
        IN_SESSION(threads_that_were_collected_go_without_a_list),
        IN_SESSION(threads_that_are_not_collected_are_not_asked_for_at_each_start),
        IN_SESSION(a_reference_that_a_list_reads_is_deleted_behind_it),
        IN_SESSION(who_ends_while_others_are_adopted_stays_known),
        IN_SESSION(the_newest_name_is_news_once),
        IN_SESSION(a_second_session_starts_empty),
        IN_SESSION(without_memory_for_its_reference_a_thread_is_announced_but_not_listed),
        IN_SESSION(each_allocation_may_fail),
        IN_SESSION(lists_while_others_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
