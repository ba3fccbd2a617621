/* SPDX-License-Identifier: BSD-2-Clause */
/* test_monitor_take.c: images for MONITOR DUMP of a made-up VM. */
#include "monitor_take_fixture.h"

static int begin(void **state)
{
    (void)state;
    memset(&fx, 0, sizeof fx);
    fx.now = 1000 * S;
    sem_init(&exiting, 0, 0);
    hpx_vm.jvmti = &jvmti;
    hpx_vm_live(&env);
    assert_true(hpx_monitor_take_capabilities(&jvmti));
    return 0;
}

static int end(void **state)
{
    (void)state;
    hpx_monitor_take_fini();
    return 0;
}

static struct object *add_thread(jint state)
{
    struct object *t = &fx.threads[fx.nthreads++];
    t->tid = fx.nthreads;
    t->signature = "Ljava/lang/Thread;";
    t->state = JVMTI_THREAD_STATE_ALIVE | state;
    return t;
}

/* Monitor n: a thread owns it, another one wants it. */
static struct object *add_monitor(unsigned n)
{
    struct object *m = &fx.monitors[n];
    m->signature = "LGate;";
    m->owner = add_thread(JVMTI_THREAD_STATE_RUNNABLE);
    m->owner->owns[0] = m;
    add_thread(JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER)->wants = m;
    return m;
}

static void add_deadlock(unsigned n)
{
    for (unsigned i = 0; i < 2; i++) {
        fx.monitors[n + i].signature = "LRing;";
        struct object *t = add_thread(JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER);
        fx.monitors[n + i].owner = t;
        t->owns[0] = &fx.monitors[n + i];
        t->wants = &fx.monitors[n + (i + 1) % 2];
    }
}

static struct hpx_monitor_take *take(bool last)
{
    hpx_monitor_take_now(&jvmti, &env, last);
    struct hpx_monitor_take *t = hpx_monitor_take_get();
    assert_non_null(t);
    assert_null(t->failed);
    return t;
}

static void assert_notes(const struct hpx_monitor_take *t, const char *const *want, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        assert_non_null(t->image.notes[i]);
        assert_string_equal(t->image.notes[i], want[i]);
    }
    assert_null(t->image.notes[n]);
}

TEST(each_cause_of_a_missing_monitor_has_its_note, begin, end)
{
    static const char *const want[] = {"questions about monitors without an answer, because the VM failed: 1",
                                       "questions about monitors without an answer, because threads attached meanwhile: 2",
                                       "questions about monitors without an answer, because another agent replaced functions of the VM: 3"};
    static const enum hpx_usage_answer answers[] = {HPX_USAGE_TOLD,     HPX_USAGE_REFUSED,  HPX_USAGE_ATTACHING, HPX_USAGE_ATTACHING,
                                                    HPX_USAGE_REPLACED, HPX_USAGE_REPLACED, HPX_USAGE_REPLACED};
    for (unsigned i = 0; i < HPX_ARRAY_LEN(answers); i++) {
        struct object *m = add_monitor(i);
        m->owner->owns[0] = NULL; /* it is requested once */
        m->answer = answers[i];
    }
    uint64_t begun = fx.now;
    struct hpx_monitor_take *t = take(false);
    assert_int_equal(t->image.nmonitors, 1);
    assert_int_equal(t->questions, 1 + 7 + 2 + 14);      /* stacks, wants, owners that the VM was asked for, owned */
    assert_in_range(fx.now - begun, 10000000, 10200000); /* only for threads that attach it waits, 10 ms, once */
    assert_notes(t, want, 3);
    hpx_monitor_take_drop(t);
}

/* One that stays in the middle of it, and many threads that wait for one monitor: it is waited for once. */
TEST(a_thread_that_never_ends_attaching_costs_one_wait, begin, end)
{
    static const char *const want[] = {"questions about monitors without an answer, because threads attached meanwhile: 51"};
    struct object *m = add_monitor(0);
    m->answer = HPX_USAGE_ATTACHING;
    for (unsigned i = 1; i < 50; i++) {
        add_thread(JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER)->wants = m;
    }
    uint64_t begun = fx.now;
    struct hpx_monitor_take *t = take(false);
    assert_int_equal(t->image.nmonitors, 0);
    assert_in_range(fx.now - begun, 10000000, 10050000);
    assert_notes(t, want, 1);
    hpx_monitor_take_drop(t);
}

TEST(questions_at_exit_end_after_10_s, begin, end)
{
    static const char *const want[] = {
        "at exit the questions end after 10 s; not asked for: 0 stacks, the monitors that 15 threads wait for "
        "and 40 own, 0 deadlocks"};
    fx.cost = S;
    for (unsigned i = 0; i < 20; i++) {
        add_monitor(i);
    }
    struct hpx_monitor_take *t = take(true);
    assert_int_equal(t->questions, 1 + 2 * 5);
    assert_int_equal(t->ns, 11 * S);
    assert_int_equal(t->image.nthreads, 40);
    assert_int_equal(t->image.nmonitors, 5);
    assert_notes(t, want, 1);
    hpx_monitor_take_drop(t);
}

TEST(stacks_at_exit_end_after_10_s, begin, end)
{
    static const char *const want[] = {
        "at exit the questions end after 10 s; not asked for: 2 stacks, the monitors that 1 threads wait for "
        "and 2 own, 0 deadlocks"};
    fx.cost = 20 * S;
    add_monitor(0);
    struct hpx_monitor_take *t = take(true);
    assert_int_equal(t->questions, 1);
    assert_int_equal(t->image.nthreads, 2);
    assert_notes(t, want, 1);
    hpx_monitor_take_drop(t);
}

TEST(deadlocks_are_found_before_time_goes_into_what_threads_own, begin, end)
{
    static const char *const want[] = {
        "at exit the questions end after 10 s; not asked for: 0 stacks, the monitors that 0 threads wait for "
        "and 91 own, 0 deadlocks"};
    fx.cost = S / 2;
    for (unsigned i = 0; i < 100; i++) {
        add_thread(JVMTI_THREAD_STATE_RUNNABLE);
    }
    add_deadlock(0);
    struct hpx_monitor_take *t = take(true);
    assert_int_equal(t->image.ndeadlocks, 2);
    assert_int_equal(t->questions, 1 + 4 + 4 + 11);
    assert_notes(t, want, 1);
    hpx_monitor_take_drop(t);
}

/* A census of one virtual thread, which waited for a lock of the thread `owner`. */
static struct hpx_census *count_one(const struct object *waits, const struct object *owner)
{
    static struct hpx_census_stack stack;
    static struct hpx_census_group group;
    static struct hpx_census_edge edge;
    static struct hpx_census census;
    group = (struct hpx_census_group){.count = 1, .status = HPX_STATUS_WAITING, .waits_for = "LLock;"};
    edge = (struct hpx_census_edge){.who = {(uint64_t)waits->tid, "", true}, .owner = (uint64_t)owner->tid};
    census = (struct hpx_census){.stacks = &stack, .groups = &group, .edges = &edge, .nstacks = 1, .ngroups = 1, .nedges = 1, .threads = 1};
    return &census;
}

TEST(a_ring_with_a_virtual_thread_is_one_if_that_still_waits, begin, end)
{
    struct object left = {.signature = "LLock;"}, right = {.signature = "LLock;"}, virtual = {.tid = 1000, .lock = &left};
    struct object *t = add_thread(JVMTI_THREAD_STATE_PARKED | JVMTI_THREAD_STATE_WAITING);
    t->lock = &right;
    left.owner = t;
    right.owner = &virtual;
    fx.counted = count_one(&virtual, t);
    struct hpx_monitor_take *taken = take(false);
    assert_int_equal(taken->image.ndeadlocks, 2);
    hpx_monitor_take_drop(taken);
    /* since the census the thread has given its lock to the virtual one, and then has come to wait for that */
    left.owner = &virtual;
    virtual.lock = NULL;
    taken = take(false);
    assert_int_equal(taken->image.ndeadlocks, 0);
    hpx_monitor_take_drop(taken);
}

TEST(a_deadlock_that_could_not_be_confirmed_is_counted, begin, end)
{
    static const char *const want[] = {
        "at exit the questions end after 10 s; not asked for: 0 stacks, the monitors that 0 threads wait for "
        "and 2 own, 1 deadlocks"};
    fx.cost = 2 * S;
    add_deadlock(0);
    struct hpx_monitor_take *t = take(true);
    assert_int_equal(t->image.ndeadlocks, 0);
    assert_int_equal(t->image.nmonitors, 2);
    assert_notes(t, want, 1);
    hpx_monitor_take_drop(t);
}

static void *end_vm(void *unused)
{
    exits = true;
    hpx_monitor_take_now(&jvmti, &env, true);
    return unused;
}

static pthread_t ender;

static void begin_to_end_vm(void)
{
    assert_int_equal(pthread_create(&ender, NULL, end_vm, NULL), 0);
    sem_wait(&exiting); /* now it waits, or is about to */
}

TEST(the_exit_does_not_wait_for_all_questions_of_a_request, begin, end)
{
    fx.cost = S / 100;
    for (unsigned i = 0; i < 20; i++) {
        add_monitor(i);
    }
    fx.when_asked = begin_to_end_vm; /* the second question */
    uint64_t begun = fx.now;
    hpx_monitor_take_now(&jvmti, &env, false);
    assert_int_equal(pthread_join(ender, NULL), 0);
    assert_int_equal(fx.now - begun, (3 + 1 + 2 * 20 + 40) * fx.cost);
    struct hpx_monitor_take *t = hpx_monitor_take_get();
    assert_true(t->queued.last);
    assert_int_equal(t->image.nmonitors, 20);
    assert_notes(t, NULL, 0);
    hpx_monitor_take_drop(t);
}

TESTS(NULL, NULL)
