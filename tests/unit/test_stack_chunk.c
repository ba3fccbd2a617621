/* SPDX-License-Identifier: BSD-2-Clause */
/* test_stack_chunk.c: chunks of a made-up heap: which of them has the frames, and when none is told. */
#include "cmocka_all.h"

#include "chunk_heap.h"

static const char *begin_with(const char *flags)
{
    const struct hpx_stack_chunk_layout layout = chunk_layout(1, 2);
    static uintptr_t return_pc;
    describe_chunks();
    vm_tables_type("ContinuationEntry", 64);
    vm_tables_static("ContinuationEntry", "_return_pc", "address", &return_pc);
    vm_tables_constant("any", 1);
    flags_on = flags;
    return hpx_stack_chunk_init(&layout);
}

TEST(the_first_chunk_with_frames_is_opened)
{
    struct hpx_stack_chunk c;
    assert_null(begin_with(""));
    assert_true(hpx_stack_chunk_known_sig());
    chunks[0].parent = (uintptr_t)&chunks[1];
    assert_int_equal(hpx_stack_chunk_of_sig((uintptr_t)&continuation), &chunks[0]);
    assert_int_equal(hpx_stack_chunk_open_sig((uintptr_t)&chunks[0], &c), HPX_CHUNK_EMPTY);
    chunks[1].sp = 10;
    chunks[1].bottom = 60;
    chunks[1].parent = (uintptr_t)&chunks[2];
    assert_int_equal(hpx_stack_chunk_open_sig((uintptr_t)&chunks[0], &c), HPX_CHUNK_FRAMES);
    assert_int_equal(c.low, chunks[1].stack);
    assert_int_equal(c.sp, &chunks[1].stack[10]);
    assert_int_equal(c.end, &chunks[1].stack[60]);
    assert_int_equal(c.parent, &chunks[2]);
    chunks[1].sp = 62; /* new: there are arguments above its bottom */
    assert_int_equal(hpx_stack_chunk_open_sig((uintptr_t)&chunks[0], &c), HPX_CHUNK_EMPTY);
    continuation.tail = 0;
    assert_int_equal(hpx_stack_chunk_of_sig((uintptr_t)&continuation), 0);
    assert_int_equal(hpx_stack_chunk_of_sig(8), 0);
}

TEST(what_makes_no_sense_is_no_chunk)
{
    struct hpx_stack_chunk c;
    const struct chunk good = {.klass = &chunk_klass, .size = CHUNK_WORDS, .sp = 10, .bottom = CHUNK_WORDS};
    struct chunk bad[8];
    assert_null(begin_with(""));
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        bad[i] = good;
    }
    bad[0].klass = &other_klass;
    bad[1].sp = -1;
    bad[2].sp = CHUNK_WORDS + 1;
    bad[3].bottom = CHUNK_WORDS + 1;
    bad[4].size = INT32_MAX;
    bad[5].sp = 1; /* its pc and frame pointer would be before the stack */
    bad[6].bottom = -1;
    bad[7].sp = bad[7].bottom;
    bad[7].parent = (uintptr_t)&bad[7]; /* for ever */
    chunks[0] = good;
    assert_int_equal(hpx_stack_chunk_open_sig((uintptr_t)&chunks[0], &c), HPX_CHUNK_FRAMES);
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        assert_int_equal(hpx_stack_chunk_open_sig((uintptr_t)&bad[i], &c), HPX_CHUNK_UNKNOWN);
    }
    assert_int_equal(hpx_stack_chunk_open_sig((uintptr_t)&chunks[0] + 4, &c), HPX_CHUNK_UNKNOWN);
    assert_int_equal(hpx_stack_chunk_open_sig(0, &c), HPX_CHUNK_EMPTY);
}

TEST(references_of_4_bytes_have_a_base_and_a_shift)
{
    assert_null(begin_with(" UseCompressedOops "));
    oop_base = (uintptr_t)&chunks[0] - 0x800;
    oop_shift = 3;
    continuation.tail = UINT64_C(0xffffffff) << 32 | 0x100;
    assert_int_equal(hpx_stack_chunk_of_sig((uintptr_t)&continuation), &chunks[0]);
    continuation.tail = UINT64_C(0xffffffff) << 32;
    assert_int_equal(hpx_stack_chunk_of_sig((uintptr_t)&continuation), 0);
}

TEST(zgc_tells_only_what_it_has_followed)
{
    struct hpx_stack_chunk c;
    assert_null(begin_with(" UseZGC ZGenerational "));
    good_mask = 0x1000;
    bad_mask = 0xe000;
    pointer_shift = 13;
    continuation.tail = (uintptr_t)&chunks[0] << 13 | 0x1000;
    assert_int_equal(hpx_stack_chunk_of_sig((uintptr_t)&continuation), &chunks[0]);
    continuation.tail = (uintptr_t)&chunks[0] << 14 | 0x2000;
    assert_int_equal(hpx_stack_chunk_of_sig((uintptr_t)&continuation), HPX_OBJECT_UNKNOWN);
    assert_int_equal(hpx_stack_chunk_open_sig(HPX_OBJECT_UNKNOWN, &c), HPX_CHUNK_UNKNOWN);
    chunks[0].parent = continuation.tail;
    assert_int_equal(hpx_stack_chunk_open_sig((uintptr_t)&chunks[0], &c), HPX_CHUNK_UNKNOWN); /* not: there is none behind it */
    chunks[0].sp = 10;
    assert_int_equal(hpx_stack_chunk_open_sig((uintptr_t)&chunks[0], &c), HPX_CHUNK_FRAMES);
    assert_int_equal(c.parent, HPX_OBJECT_UNKNOWN);
}

TEST(shenandoah_leads_to_the_copy)
{
    assert_null(begin_with(" UseShenandoahGC "));
    assert_int_equal(hpx_stack_chunk_of_sig((uintptr_t)&continuation), &chunks[0]);
    chunks[0].mark = (uintptr_t)&chunks[1] | 3;
    assert_int_equal(hpx_stack_chunk_of_sig((uintptr_t)&continuation), &chunks[1]);
}

TEST(an_answer_counts_if_no_collection_moved_objects)
{
    uint32_t before, after;
    assert_null(begin_with(""));
    java_heap.collections = 5;
    assert_true(hpx_stack_chunk_moment_sig(false, &before));
    java_heap.collections++;
    assert_true(hpx_stack_chunk_moment_sig(false, &after));
    assert_true(before != after);
    assert_true(hpx_stack_chunk_moment_sig(true, &before) && hpx_stack_chunk_moment_sig(true, &after));
    assert_true(before == after);
    java_heap.active = 1;
    assert_false(hpx_stack_chunk_moment_sig(false, &after));
    assert_true(hpx_stack_chunk_moment_sig(true, &after));
}

/* It counts collections where it begins to look for garbage, and moves objects later. */
TEST(with_zgc_a_new_colour_is_another_moment)
{
    uint32_t before, after;
    assert_null(begin_with(" UseZGC ZGenerational "));
    good_mask = 0x1000;
    assert_true(hpx_stack_chunk_moment_sig(false, &before));
    good_mask = 0x2000;
    assert_true(hpx_stack_chunk_moment_sig(false, &after));
    assert_true(before != after);
}

TEST(the_continuation_of_a_thread_may_have_moved)
{
    uintptr_t entry[5] = {0, 0, (uintptr_t)&continuation, 0, 1};
    assert_null(begin_with(" UseShenandoahGC "));
    assert_int_equal(hpx_stack_chunk_continuation_sig((uintptr_t)entry, false), &continuation);
    continuation.mark = (uintptr_t)&chunks[1] | 3;
    assert_int_equal(hpx_stack_chunk_continuation_sig((uintptr_t)entry, false), &chunks[1]);
    assert_int_equal(hpx_stack_chunk_of_sig(HPX_OBJECT_UNKNOWN), HPX_OBJECT_UNKNOWN);
}

TEST(a_class_of_another_name_is_refused)
{
    struct hpx_stack_chunk_layout layout = chunk_layout(1, 2);
    describe_chunks();
    vm_tables_constant("any", 1);
    vm_tables_field("Method", "_code", "CompiledMethod*", 8);
    vm_tables_type("Method", 16);
    chunk_name.length--;
    assert_string_equal(hpx_stack_chunk_init(&layout), "the VM's chunks of stacks are not found");
    chunk_name.length++;
    layout.parent = offsetof(struct chunk, stack);
    assert_string_equal(hpx_stack_chunk_init(&layout), "the VM's chunks of stacks have another shape");
    layout.parent = 0;
    assert_string_equal(hpx_stack_chunk_init(&layout), "the VM's chunks of stacks have another shape");
    layout = chunk_layout(0, 2); /* JNI does not know a method */
    assert_string_equal(hpx_stack_chunk_init(&layout), "the VM's chunks of stacks have another shape");
    layout = chunk_layout(1, 0);
    assert_string_equal(hpx_stack_chunk_init(&layout), "the VM's chunks of stacks have another shape");
    assert_false(hpx_stack_chunk_known_sig());
    layout = chunk_layout(1, 2);
    assert_null(hpx_stack_chunk_init(&layout));
}

/* As on 17, where nobody needs them; the class of an object is told. */
TEST(references_that_cannot_be_followed_leave_frames_in_the_heap)
{
    assert_non_null(begin_with(" UseZGC "));
    assert_null(hpx_heap_objects_init());
    assert_non_null(hpx_heap_no_references());
    assert_false(hpx_stack_chunk_known_sig());
}

TEST(an_entry_of_another_shape_is_refused)
{
    const struct hpx_stack_chunk_layout layout = chunk_layout(1, 2);
    describe_chunks();
    vm_tables_constant("any", 1);
    vm_tables_type("ContinuationEntry", 64);
    vm_tables_field("ContinuationEntry", "_parent", "ContinuationEntry*", 0);
    assert_string_equal(hpx_stack_chunk_init(&layout), "the VM's entries of continuations have another shape");
}

int main(void)
{
    return vm_tables_run(the_tests, number_of_tests);
}
