/* SPDX-License-Identifier: BSD-2-Clause */
/* test_walk_limits.c: walks of many objects, ids that do not fit, a VM that refuses, no memory, no space. */
#include "failing_memory.h"
#include "walk_fixture.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MANY     9000u /* more than the first room of lists (8192) and maps (2048) */
#define ID_FIRST UINT64_C(0x60000000)

/* ---- many ---- */

/* MANY pseudo objects beside those of the fixture: one object of the fixture, told of with other addresses. By tags they have no tag. */
static uint64_t crowd[2 * MANY];

static void tell_crowd(enum fx_mode mode, int like, uint32_t from, uint32_t to, bool as_roots)
{
    for (uint32_t i = from; i < to; i++) {
        memcpy(&crowd[(size_t)2 * i], fx.objects[like].at, 16);
        struct fx_event *e = as_roots ? fx_root(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, like) : fx_class_of(like);
        uint64_t address = (uint64_t)(uintptr_t)&crowd[(size_t)2 * i];
        if (mode == FX_BY_TAGS) {
            continue;
        }
        if (as_roots) {
            e->to_address = address;
        } else {
            e->from_address = address;
        }
    }
}

/* By tags: every object is told of without a tag. */
static void forget_tag(uint32_t told)
{
    (void)told;
    fx.objects[FX_BARE].tag = 0;
}

/* Roots, facts, maps and lengths grow. */
static void begin_many(enum fx_mode mode)
{
    fx_begin(mode, 8);
    fx_no_threads();
    tell_crowd(mode, FX_BARE, 0, MANY, true);
    fx_root(JVMTI_HEAP_REFERENCE_SYSTEM_CLASS, FX_BASE);
    for (jint i = 0; i < (jint)MANY; i++) {
        fx_ref(JVMTI_HEAP_REFERENCE_CONSTANT_POOL, FX_BASE, FX_OBJECT, i);
    }
    tell_crowd(mode, FX_BARE, 0, MANY, false);
    fx.watch = mode == FX_BY_TAGS ? forget_tag : NULL;
}

TEST(a_walk_of_many_objects_is_whole)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        begin_many(mode);
        assert_int_equal(fx_walk(), HPX_WALK_WHOLE);
        assert_int_equal(fx.walk.found.objects, MANY);
        assert_int_equal(fx.walk.found.bytes, 16 * MANY);
        assert_int_equal(fx.walk.roots.len, MANY + 1);
        assert_int_equal(fx.walk.facts.len, MANY + 2); /* sizes of Object and Class */
        const struct hpx_heap_root_fact *r = fx_roots();
        const struct hpx_heap_fact *f = fx_facts();
        for (uint32_t i = 0; i < MANY; i++) {
            uint64_t key = mode == FX_BY_TAGS ? i + 1 : (uint64_t)(uintptr_t)&crowd[(size_t)2 * i];
            assert_int_equal(r[i].object, ID_FIRST + key);
            assert_int_equal(f[i].index, i);
            assert_int_equal(f[i].value, fx_id(FX_OBJECT));
        }
        fx_end(state);
    }
}

TEST(one_root_of_many_without_a_record_is_missed)
{
    for (uint32_t missing = 0; missing < MANY; missing += MANY / 7) {
        begin_many(FX_DIRECT);
        fx.events[MANY + 1 + MANY + missing].from_address = (uint64_t)(uintptr_t)&crowd[missing == 0 ? 2 : 0]; /* another one twice */
        assert_int_equal(fx_walk(), HPX_WALK_DOUBT);
        fx_end(state);
    }
}

/* ---- progress ---- */

static _Atomic uint64_t progress;
static uint32_t steps;

static void watch_progress(uint32_t told)
{
    uint64_t done = told > 2 * MANY + 1 ? told - (2 * MANY + 1) : 0;
    uint64_t seen = atomic_load_explicit(&progress, memory_order_relaxed);
    assert_in_range(seen, 0, done);
    assert_true(done - seen <= 8192);
    steps += seen != 0 && done == seen;
}

TEST(objects_are_counted_while_the_walk_goes_on)
{
    begin_many(FX_DIRECT);
    atomic_init(&progress, 0);
    steps = 0;
    fx.walk.progress = &progress;
    fx.watch = watch_progress;
    assert_int_equal(fx_walk(), HPX_WALK_WHOLE);
    assert_true(steps >= 1);
    assert_int_equal(atomic_load_explicit(&progress, memory_order_relaxed), MANY);
    fx_end(state);
}

/* ---- ids ---- */

TEST(ids_of_four_bytes_end_at_their_largest)
{
    for (enum fx_mode mode = 0; mode < FX_BY_TAGS; mode++) {
        for (uint64_t beyond = 0; beyond < 2; beyond++) {
            fx_begin_small(mode, 4);
            uint64_t a = fx_address(FX_A), bare = fx_address(FX_BARE), last = a > bare ? a : bare;
            fx.walk.oops.low = last - 8 * (UINT32_MAX - ID_FIRST + beyond);
            assert_int_equal(fx_walk(), beyond != 0 ? HPX_WALK_TOO_MANY : HPX_WALK_WHOLE);
            assert_int_equal(fx.aborted, beyond);
            fx_end(state);
        }
    }
}

TEST(ids_of_eight_bytes_have_no_such_end)
{
    fx_begin_small(FX_DIRECT, 8);
    fx.walk.wide = false;
    fx.walk.oops.low = fx_address(FX_A) - 8 * (UINT32_MAX - ID_FIRST + 1);
    assert_int_equal(fx_walk(), HPX_WALK_WHOLE);
    assert_int_equal(fx_roots()[0].object, UINT64_C(1) << 32);
    fx_end(state);
}

TEST(an_object_below_the_heap_has_no_id_of_four_bytes)
{
    fx_begin_small(FX_DIRECT, 4);
    fx.walk.oops.low = fx_address(FX_A) + 8;
    assert_int_equal(fx_walk(), HPX_WALK_TOO_MANY);
    fx_end(state);
}

/* ---- the VM ---- */

static void refuse_behind(uint32_t told)
{
    fx.rc = told == 3 ? JVMTI_ERROR_OUT_OF_MEMORY : JVMTI_ERROR_NONE;
}

TEST(a_vm_that_refuses_or_stops_is_told_of)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        fx_begin_small(mode, 8);
        fx.rc = JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
        assert_int_equal(fx_walk(), HPX_WALK_REFUSED);
        assert_int_equal(fx.told, 0);
        assert_false(fx.walk.begun);
        fx_end(state);
        fx_begin_small(mode, 8);
        fx.watch = refuse_behind;
        assert_int_equal(fx_walk(), HPX_WALK_REFUSED);
        assert_int_equal(fx.told, 3);
        fx_end(state);
    }
}

TEST(the_first_failure_is_the_one_that_is_told)
{
    fx_begin_small(FX_DIRECT, 8);
    fx.events[2].to_address = 0;
    fx.watch = refuse_behind;
    assert_int_equal(fx_walk(), HPX_WALK_DOUBT);
    fx_end(state);
}

/* More classes come than the table has room for. */
TEST(classes_beyond_the_table_end_the_walk)
{
    uint32_t full = 1024 / 4 * 3;
    fx_begin(FX_DIRECT, 8);
    fx_no_threads();
    for (uint32_t i = 0; i < full + 10; i++) {
        uint32_t word = 0x50000 + 0x40 * i;
        crowd[(size_t)2 * i + 1] = word;
        fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_BARE)->to_address = (uint64_t)(uintptr_t)&crowd[(size_t)2 * i];
    }
    assert_int_equal(fx_walk(), HPX_WALK_NO_MEMORY);
    assert_int_equal(fx.told, full + 1);
    fx_end(state);
}

/* ---- memory, space ---- */

static void begin_kept(enum fx_mode mode)
{
    fx_begin_small(mode, 8);
    fx.walk.keeps = fx.walk.fields = true;
    ((struct hpx_heap_klass *)(uintptr_t)fx.layout.classes[FX_BASE])->keeps = true;
    fx.layout.nthreads = 2;
    fx_root(JVMTI_HEAP_REFERENCE_THREAD, FX_OTHER);
    fx_class_of(FX_OTHER);
    fx_ref(JVMTI_HEAP_REFERENCE_CONSTANT_POOL, FX_BASE, FX_TEXT, 1);
    fx_ref(JVMTI_HEAP_REFERENCE_CONSTANT_POOL, FX_BASE, FX_INT, 2);
}

/* Each mapping fails in its turn, alone or with all that follow. Returns how many there are. */
static uint64_t fail_each(enum fx_mode mode, void (*begin)(enum fx_mode), bool all, uint64_t first_fault)
{
    uint64_t calls = 0;
    for (uint64_t k = first_fault;; k++) {
        begin(mode);
        memory_fail(k, all ? UINT64_MAX : k);
        fx_follow();
        hpx_walk_finish(&fx.walk);
        calls = memory_calls();
        memory_allow();
        enum hpx_walk_end end = fx.walk.end;
        bool aborted = fx.aborted != 0, at_end = fx.told == fx.nevents;
        fx_end(NULL);
        if (calls < k) {
            assert_int_equal(end, HPX_WALK_WHOLE);
            assert_false(aborted);
            return calls;
        }
        assert_int_equal(end, HPX_WALK_NO_MEMORY);
        assert_true(aborted || at_end); /* or the last fact */
    }
}

TEST(without_memory_a_walk_ends_wherever_it_is)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        for (int all = 0; all < 2; all++) {
            uint64_t maps = fail_each(mode, begin_kept, all != 0, 1);
            /* facts, roots, mirrors, kept; lengths, or known and rooted */
            assert_int_equal(maps, mode == FX_BY_TAGS ? 5 : 6);
        }
    }
}

TEST(without_memory_to_grow_a_walk_ends)
{
    for (enum fx_mode mode = FX_DIRECT; mode < FX_MODES; mode++) {
        /* roots and facts twice, lengths three times; known classes once, rooted objects four times */
        uint64_t maps = fail_each(mode, begin_many, false, 1);
        assert_int_equal(maps, mode == FX_BY_TAGS ? 2 + 2 + 3 : 2 + 2 + 1 + 4);
    }
}

static void to_full(void)
{
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full < 0) {
        skip();
    }
    assert_true(dup2(full, fx.fd) >= 0);
    close(full);
}

TEST(a_spool_that_cannot_be_written_fails_the_walk)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        fx_begin_small(mode, 8);
        to_full();
        assert_int_equal(fx_walk(), HPX_WALK_NO_SPACE);
        fx_end(state);
    }
}

TEST(a_failure_before_the_full_disk_is_told)
{
    fx_begin_small(FX_DIRECT, 8);
    to_full();
    fx.events[3].to_address = 4;
    assert_int_equal(fx_walk(), HPX_WALK_DOUBT);
    fx_end(state);
}

/* ---- long arrays ---- */

TEST(an_array_that_no_record_can_hold_is_cut_and_counted)
{
    const uint32_t n = 600000000;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_true(null >= 0);
    fx_begin(FX_DIRECT, 8);
    fx_no_threads();
    assert_true(dup2(null, fx.fd) >= 0);
    fx_set_length(FX_ARRAY, n);
    fx.objects[FX_ARRAY].length = (jint)n;
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_ARRAY);
    fx_class_of(FX_ARRAY);
    fx_element(FX_ARRAY, FX_ARRAY, (jint)n - 1); /* behind the cut */
    assert_int_equal(fx_walk(), HPX_WALK_WHOLE);
    assert_int_equal(fx.walk.found.cut, 1);
    assert_int_equal(fx.walk.found.bytes, 16 + 4 * (uint64_t)n);
    assert_in_range(fx.walk.found.objects_end, UINT32_MAX - 100, (uint64_t)UINT32_MAX + 9);
    close(null);
    fx_end(state);
}

TESTS(NULL, NULL)
