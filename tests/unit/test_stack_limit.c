/* SPDX-License-Identifier: BSD-2-Clause */
/* test_stack_limit.c: a thread near the end of its stack, whose innermost exits are lost: the open calls that the table has are those of
 * the stack. */
#include "call_fixture.h"
#include "stack_limit.h"

#include <stdlib.h>
#include <string.h>

#define LOW  ((uintptr_t)0x10000000)
#define SIZE ((size_t)1 << 20)
#define MOST 40000

static struct hpx_aggregator a;
static struct hpx_gate gate;
static HPX_ALIGNED(HPX_CACHE_LINE) struct hpx_thread thread;
static struct hpx_calls c;
static struct hpx_stack_limit d;
static struct { /* the program's stack */
    uintptr_t at[MOST];
    uint32_t method[MOST], n;
    uint32_t counted, plain; /* counts of frames asked for; frames of methods that are not instrumented */
    uint64_t walked;         /* frames in those counts */
} program;
static uint64_t now, lost;

static int32_t count(void *ctx)
{
    (void)ctx;
    program.counted++;
    program.walked += program.n + program.plain;
    return (int32_t)(program.n + program.plain);
}

static void setup_all(void)
{
    memset(&program, 0, sizeof(program));
    memset((void *)&d, 0, sizeof(d));
    memset((void *)&thread, 0, sizeof(thread));
    assert_int_equal(hpx_ring_init(&thread.ring, 1 << 20), 0);
    hpx_calls_init(&c, &a, &gate, &thread);
    hpx_stack_limit_init(&d, LOW, SIZE);
    begin(4);
    now = lost = 0;
}

static void apply_all(void)
{
    drain_ring(&thread.ring, hpx_ring_peek(&thread.ring));
}

/* Open calls by the table, with the one pending. */
static uint32_t open_now(void)
{
    hpx_calls_flush(&c, now);
    apply_all();
    return th->own.depth;
}

static void finish(void)
{
    end();
    hpx_ring_fini(&thread.ring);
}

static void say(enum hpx_ev_kind kind, uint32_t method, uintptr_t at)
{
    now++;
    if (at < d.limit) {
        hpx_stack_limit_event(&d, &c, kind, method, now, at, count, NULL);
    } else if (kind == HPX_EV_ENTER) {
        hpx_calls_enter(&c, method, now);
    } else {
        kind == HPX_EV_EXIT ? hpx_calls_exit(&c, method, now) : hpx_calls_thrown(&c, method, now);
    }
    if (hpx_ring_peek(&thread.ring) - hpx_ring_position(&thread.ring) > (1 << 18)) {
        apply_all();
    }
}

static uintptr_t sp(void)
{
    return program.n > 0 ? program.at[program.n - 1] : LOW + SIZE;
}

static void call(uint32_t method, uint32_t bytes)
{
    program.at[program.n] = sp() - bytes;
    program.method[program.n++] = method;
    say(HPX_EV_ENTER, method, sp());
}

/* The innermost call ends, by a frame that is `shift` bytes lower than at its entry. */
static void ret(enum hpx_ev_kind kind, uint32_t shift)
{
    say(kind, program.method[program.n - 1], sp() - shift);
    program.n--;
}

static void lose(uint32_t n)
{
    program.n -= n;
    lost += n;
}

static void descend(uintptr_t to, uint32_t methods, uint32_t bytes)
{
    while (sp() - bytes > to) {
        call(1 + program.n % methods, bytes);
    }
}

TEST(lost_exits_are_closed_before_the_next_call)
{
    static const uint32_t shifts[] = {0, 48, 200, 900};
    for (size_t i = 0; i < HPX_ARRAY_LEN(shifts); i++) {
        for (uint32_t methods = 1; methods <= 3; methods++) {
            setup_all();
            descend(LOW + HPX_STACK_LIMIT_RESERVED + 64, methods, 64);
            lose(7);
            ret(HPX_EV_THROWN, shifts[i]); /* one thrown is said; the call below it catches and calls */
            call(9, 64);
            assert_int_equal(open_now(), program.n);
            while (program.n > 20) {
                ret(program.n % 2 ? HPX_EV_THROWN : HPX_EV_EXIT, shifts[i]);
            }
            assert_int_equal(open_now(), 20);
            assert_int_equal(tab.resynced, 7);
            assert_int_equal(tab.stray, 0);
            finish();
        }
    }
}

TEST(looks_cost_credit_and_without_it_there_is_no_floor)
{
    setup_all();
    descend(d.top + 64, 1, 64);
    uint32_t n = program.n;
    d.credit = 1000 * n;
    for (int i = 0; i < 20000; i++) { /* back and forth over the floor's place */
        descend(d.top - 200, 1, 64);
        while (program.n > n) {
            ret(HPX_EV_EXIT, 0);
        }
    }
    assert_true(program.counted >= 990);
    assert_true(program.walked <=
                UINT64_C(1000) * n + UINT64_C(20000) * 16 + 2 * n); /* eight calls or fewer, and an event pays for a frame */
    assert_int_equal(open_now(), n);
    finish();
}

TEST(a_stack_that_is_left_takes_its_floor_along)
{
    setup_all();
    descend(LOW + HPX_STACK_LIMIT_RESERVED + 64, 1, 64);
    lose(5);
    program.n = 10; /* what caught is far above, and the thread goes on with another stack */
    hpx_stack_limit_leave(&d, &c, program.at[9]);
    hpx_calls_switch(&c, 77, 0, ++now);
    assert_int_equal(d.limit, d.top);
    apply_all();
    /* Only what was begun above the floor is known to be gone. */
    assert_true(th->own.depth < (SIZE - HPX_STACK_LIMIT_RESERVED - HPX_STACK_LIMIT_ZONE) / 64 + 4);
    finish();
}

TEST(small_stacks_have_a_small_zone_and_unknown_ones_none)
{
    struct hpx_stack_limit e = {.limit = 0};
    hpx_stack_limit_init(&e, 0, 0);
    assert_int_equal(e.limit, 0);
    hpx_stack_limit_init(&e, LOW, HPX_STACK_LIMIT_RESERVED + 4096);
    assert_int_equal(e.limit, LOW + HPX_STACK_LIMIT_RESERVED + 1024);
    hpx_stack_limit_init(&e, LOW, 64 << 20);
    assert_int_equal(e.limit, LOW + HPX_STACK_LIMIT_RESERVED + HPX_STACK_LIMIT_ZONE);
}

static uint64_t seed = 88172645463325252u;
static uint32_t dice(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % n;
}

/* Random stacks: overflow when an entry finds no room; then some exits are lost, the others come by frames of another size. */
TEST(random_overflows_leave_no_call_behind)
{
    setup_all();
    uint64_t overflows = 0;
    for (int round = 0; round < 300; round++) {
        d.credit = HPX_STACK_LIMIT_CREDIT;
        uint32_t bytes = 48 + 16 * dice(12), methods = 1 + dice(3);
        descend(LOW + HPX_STACK_LIMIT_RESERVED + bytes, methods, bytes);
        for (int k = 0; k < 5; k++) {
            overflows++;
            lose(dice(12));
            uint32_t shift = dice(300), up = 1 + dice(200);
            for (uint32_t i = 0; i < up; i++) {
                ret(dice(4) ? HPX_EV_THROWN : HPX_EV_EXIT, shift);
            }
            call(9, bytes);
            if (program.n != open_now()) {
                fail_msg("round %d: %u open, not %u", round, th->own.depth, program.n);
            }
            ret(HPX_EV_EXIT, 0);
            descend(LOW + HPX_STACK_LIMIT_RESERVED + bytes, methods, bytes);
        }
        lose(dice(12));
        while (program.n > 3) {
            ret(HPX_EV_THROWN, 64);
        }
        if (open_now() != 3) {
            fail_msg("round %d: %u open, not 3", round, th->own.depth);
        }
    }
    assert_int_equal(tab.resynced, lost);
    assert_int_equal(tab.stray, 0);
    assert_true(overflows > 1000);
    finish();
}

/* A virtual thread that unmounts low in the carrier's stack: its calls are still open. */
TEST(a_switch_below_the_floor_closes_no_call)
{
    setup_all();
    hpx_stack_limit_leave(&d, &c, sp());
    descend(d.top - 65, 1, 64);
    assert_int_equal(d.state, HPX_STACK_LIMIT_NEAR);
    hpx_stack_limit_leave(&d, &c, sp());
    assert_int_equal(d.state, HPX_STACK_LIMIT_OUT);
    descend(d.top - 1024, 1, 64);
    assert_int_equal(d.state, HPX_STACK_LIMIT_IN);
    hpx_stack_limit_leave(&d, &c, sp() - 64);
    assert_int_equal(d.state, HPX_STACK_LIMIT_OUT);
    assert_int_equal(open_now(), program.n);
    finish();
}

TESTS(NULL, NULL)
