/* SPDX-License-Identifier: BSD-2-Clause */
/* test_adopt.c: VMInit adopts a thread that is older than it. The VM is made up, and within every call of it, and after every lock, the
 * thread may start, have an event, or end. Whatever it does, it is announced once and ends once, and nobody sees a state that is not
 * complete. */
#include "adopt_fixture.h"
#include "kept_states.h"

/* ---- a mode ---- */

static struct state *state(struct hpx_mode_thread *s)
{
    return (struct state *)(void *)s;
}

static uint32_t ring_bytes(void)
{
    return 4096;
}

static void made(struct hpx_mode_thread *s)
{
    assert_false(s->renewed);
    fx.states++;
}

static void unmake(struct hpx_mode_thread *s)
{
    (void)s;
    fx.states--;
}

static void begin(struct hpx_mode_thread *s, JNIEnv *env, jthread t)
{
    (void)env, (void)t;
    state(s)->complete = true;
}

static void adopt(struct hpx_mode_thread *s)
{
    fx.incomplete += !s->adopted;
    state(s)->complete = true;
}

static void adopted(struct hpx_mode_thread *s)
{
    fx.incomplete += !state(s)->complete;
}

static void arm(struct hpx_mode_thread *s)
{
    fx.incomplete += !state(s)->complete;
    state(s)->armed = true;
}

static void disarm(struct hpx_mode_thread *s)
{
    fx.incomplete += !state(s)->complete;
    state(s)->armed = false;
}

static void end(struct hpx_mode_thread *s, JNIEnv *env)
{
    (void)env;
    state(s)->over = true;
}

static void ended(void)
{
    fx.forgot++;
}

static bool abandon(struct hpx_mode_thread *s)
{
    disarm(s);
    end(s, NULL);
    fx.abandoned = true;
    return !fx.in_handler;
}

static struct hpx_vm_mode vm_mode = {
    .state_bytes = sizeof(struct state),
    .ring_bytes = ring_bytes,
    .made = made,
    .unmake = unmake,
    .begin = begin,
    .adopt = adopt,
    .adopted = adopted,
    .arm = arm,
    .disarm = disarm,
    .ended = ended,
    .end = end,
    .abandon = abandon,
};
static const struct hpx_mode mode = {.name = "made up", .vm = &vm_mode};

/* ---- a run ---- */

static void start_older(void)
{
    memset(&fx, 0, sizeof fx);
    atomic_fetch_add(&hpx_session_number, 1);
    self = &fx.init;
    fx.init.number = 1;
    fx.older.number = 2;
    hpx_vm_fields.tid = (jfieldID)(void *)&fx;
    sem_init(&fx.todo, 0, 0);
    sem_init(&fx.done, 0, 0);
    hpx_vm.jvmti = jvmti();
    hpx_session.modes[0] = &mode;
    hpx_session.nmodes = 1;
    hpx_lane_init(&hpx_session.aggregator.control);
    hpx_registry_init(&hpx_session.aggregator.registry);
    hpx_known_threads_keep(true);
    memset(&hpx_session.counters, 0, sizeof hpx_session.counters);
    hpx_gate_open(&hpx_session.gate);
}

/* Its pthread, when the rest of fx is set. */
static void run(unsigned meddle_at)
{
    vm_mode.finds_itself = fx.finds_itself;
    assert_int_equal(pthread_create(&fx.pthread, NULL, run_older, NULL), 0);
    sem_wait(&fx.done);
    hpx_threads_expect_others(); /* the events of threads come from here on */
    fx.calls = 0;
    fx.meddle_at = meddle_at;
    hpx_threads_adopt_others(jvmti(), jni());
}

static void look_at(void *n, struct hpx_thread *t)
{
    struct state *s = HPX_CONTAINER_OF(t, struct state, s.base);
    ++*(unsigned *)n;
    assert_int_equal(atomic_load_explicit(&t->state, memory_order_acquire),
                     fx.in_handler && fx.abandoned ? HPX_THREAD_ATTACHED : HPX_THREAD_RETIRED);
    assert_true(s->over);
    assert_false(s->armed);
    hpx_kept_states_drop(&s->s);
}

static void destroy_state(void *unused, struct hpx_thread *t)
{
    (void)unused;
    hpx_kept_states_drop(HPX_CONTAINER_OF(t, struct hpx_mode_thread, base));
}

/* The older thread has ended. Returns how often it was announced. */
static unsigned assert_ended(void)
{
    unsigned starts = 0, ends = 0, states = 0;
    uint64_t key = 0;
    struct hpx_thread_ref *refs = NULL;
    assert_int_equal(fx.incomplete, 0);
    assert_int_equal(fx.locked_calls, 0);
    assert_int_equal(fx.stays, 0);
    for (struct hpx_msg *m = hpx_lane_splice(&hpx_session.aggregator.control), *next; m != NULL; m = next) {
        next = m->next;
        if (m->kind == HPX_MSG_THREAD_START) {
            starts++;
            key = ((struct hpx_msg_thread_start *)m)->key;
            assert_string_equal(((struct hpx_msg_thread_start *)m)->text, NAME);
            assert_int_equal(key, 2);
        } else {
            assert_int_equal(m->kind, HPX_MSG_THREAD_END);
            ends++;
            assert_int_equal(((struct hpx_msg_thread_end *)m)->key, key);
        }
        free(m);
    }
    assert_int_equal(ends, starts);
    assert_in_range(starts, 0, 1);
    uint32_t n = hpx_known_threads_list(jni(), &refs, false);
    assert_int_equal(n, starts);
    assert_true(n == 0 || refs[0].ended);
    free(refs);
    hpx_registry_collect(&hpx_session.aggregator.registry, look_at, &states);
    assert_int_equal(fx.states, 0);
    assert_true(states == 0 || starts == 1);
    assert_int_equal(fx.refs, n); /* that of the ended thread */
    return starts;
}

static void stop_older(void)
{
    if (!fx.left) {
        order(NOTHING);
        pthread_join(fx.pthread, NULL);
    }
    hpx_known_threads_fini();
    hpx_lane_fini(&hpx_session.aggregator.control);
    sem_destroy(&fx.todo);
    sem_destroy(&fx.done);
}

/* One run for every place where it does it. starts: how often it is announced, at least. */
static void meddle(enum what what, unsigned starts)
{
    for (unsigned ways = 0; ways < 8; ways++) {
        for (unsigned at = 1, calls = at; at <= calls; at++) {
            start_older();
            fx.mapped = ways & 1;
            fx.finds_itself = ways & 2;
            fx.lingers = ways & 4;
            fx.meddle = what;
            run(at);
            calls = fx.calls;
            fx.meddle_at = 0;
            order(FINDS);
            order(ENDS);
            assert_in_range(assert_ended(), starts, 1);
            stop_older();
        }
    }
}

TEST(an_adopted_thread_ends)
{
    for (unsigned ways = 0; ways < 8; ways++) {
        start_older();
        fx.mapped = ways & 1;
        fx.finds_itself = ways & 2;
        run(0);
        if (ways & 4) {
            order(FINDS);
        }
        order(ENDS);
        assert_int_equal(assert_ended(), 1);
        stop_older();
    }
}

TEST(a_thread_that_finds_itself_meanwhile_finds_a_complete_state)
{
    meddle(FINDS, 1);
}

TEST(a_thread_that_ends_meanwhile_is_announced_with_its_end_or_not_at_all)
{
    meddle(ENDS, 0);
}

TEST(a_thread_that_begins_meanwhile_is_announced_once)
{
    meddle(BEGINS, 1);
}

TEST(a_thread_that_begins_and_ends_meanwhile_is_announced_once)
{
    meddle(BEGINS_AND_ENDS, 1);
}

/* That of a thread that ends meanwhile may be asked for of a VM that has freed it (thread_info.h). */
TEST(where_a_state_is_a_field_the_vm_is_not_asked_for_it)
{
    for (int gone = 0; gone < 2; gone++) {
        start_older();
        hpx_vm_fields.own_status = (jfieldID)(void *)&fx;
        fx.mapped = true;
        fx.older.gone = gone;
        run(0);
        hpx_vm_fields.own_status = NULL;
        assert_int_equal(fx.states_asked, 0);
        order(FINDS);
        order(ENDS);
        assert_int_equal(assert_ended(), !gone);
        stop_older();
    }
}

/* Its ring is not given away. */
TEST(the_state_of_a_thread_that_ends_in_its_handler_does_not_retire)
{
    unsigned abandoned = 0;
    for (unsigned at = 1, calls = at; at <= calls; at++) {
        start_older();
        fx.mapped = fx.in_handler = true;
        fx.meddle = ENDS;
        run(at);
        calls = fx.calls;
        fx.meddle_at = 0;
        order(ENDS);
        (void)assert_ended();
        abandoned += fx.abandoned;
        stop_older();
    }
    assert_int_not_equal(abandoned, 0);
}

static void assert_next(enum hpx_model_msg kind, uint64_t key)
{
    struct hpx_msg *m = hpx_lane_splice(&hpx_session.aggregator.control);
    assert_non_null(m);
    assert_null(m->next);
    assert_int_equal(m->kind, kind);
    assert_int_equal(kind == HPX_MSG_THREAD_START ? ((struct hpx_msg_thread_start *)m)->key : ((struct hpx_msg_thread_end *)m)->key, key);
    free(m);
}

/* The native thread has the same kernel id, of course. */
TEST(a_thread_that_ends_and_begins_as_another_one_lives)
{
    for (unsigned at = 1, calls = at; at <= calls; at++) {
        start_older();
        fx.mapped = true;
        fx.meddle = ENDS;
        run(at);
        calls = fx.calls;
        fx.meddle_at = 0;
        order(ENDS);
        (void)assert_ended();
        fx.older = (struct thread){.number = 3};
        order(BEGINS);
        assert_int_equal(fx.stays, 0);
        assert_next(HPX_MSG_THREAD_START, 3);
        order(ENDS);
        assert_next(HPX_MSG_THREAD_END, 3);
        hpx_registry_collect(&hpx_session.aggregator.registry, destroy_state, NULL);
        stop_older();
    }
}

/* One that VMInit has entered needs none. */
TEST(a_thread_that_ends_without_memory_ends_or_is_counted)
{
    unsigned entered = 0;
    for (unsigned at = 1, calls = at; at <= calls; at++) {
        start_older();
        fx.mapped = true;
        fx.meddle = ENDS;
        fx.poor = true;
        run(at);
        calls = fx.calls;
        fx.meddle_at = 0;
        order(ENDS);
        unsigned starts = assert_ended();
        entered += starts == 1 && hpx_counter_get(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED) == 0;
        stop_older();
    }
    assert_int_not_equal(entered, 0);
}

TEST(a_thread_that_is_not_adopted_for_lack_of_memory_is_counted)
{
    start_older();
    fx.mapped = fx.no_memory = true;
    run(0);
    fx.no_memory = false;
    order(FINDS);
    order(ENDS);
    assert_int_equal(assert_ended(), 0);
    assert_int_equal(hpx_counter_get(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED), 1);
    assert_int_equal(hpx_counter_get(&hpx_session.counters, HPX_C_THREADS_UNSAMPLED), 1);
    stop_older();
}

/* The gate is closed behind it; who enters now finds none. */
TEST(a_thread_that_is_inside_the_gate_finds_itself)
{
    start_older();
    fx.mapped = true;
    run(0);
    hpx_gate_close(&hpx_session.gate);
    order(FINDS);
    assert_false(fx.found);
    order(FINDS_INSIDE);
    assert_true(fx.found);
    order(ENDS);
    assert_int_equal(assert_ended(), 1);
    stop_older();
}

TEST(a_thread_of_which_the_vm_does_not_tell_is_announced_or_counted)
{
    unsigned counted = 0;
    for (unsigned at = 1, asked = at; at <= asked; at++) {
        start_older();
        fx.mapped = true;
        fx.untold_at = at;
        run(0);
        asked = fx.asked + 1; /* with that answer VMInit asks on */
        order(FINDS);
        order(ENDS);
        uint64_t lost = hpx_counter_get(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED);
        assert_int_equal(assert_ended() + lost, 1);
        assert_false(fx.abandoned); /* while it lives */
        counted += lost > 0;
        stop_older();
    }
    assert_int_equal(counted, 2); /* its state, then what it is */
}

/* Its end was told before the session listened. */
TEST(a_thread_of_which_the_vm_does_not_tell_that_it_has_ended_ends)
{
    start_older();
    fx.mapped = true;
    fx.untold_at = 3; /* when it is published */
    fx.leaves = true;
    run(0);
    assert_true(fx.left);
    assert_int_equal(assert_ended(), 1);
    assert_true(fx.abandoned);
    stop_older();
}

TESTS(NULL, NULL)
