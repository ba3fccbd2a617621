/* SPDX-License-Identifier: BSD-2-Clause */
/* test_raw_walk.c: stacks made by hand, as HotSpot lays out its frames: which of them are one stack, and which are none. */
#include "java_stack.h"

#include "chunk_heap.h"

#if HPX_FRAMES_KNOWN

/* Of what a call leaves on the stack, or of its instructions on x86-64. */
#if HPX_CALL_PUSHES
#define TEST_OF_PUSHED_CALLS(name) TEST(name)
#else
#define TEST_OF_PUSHED_CALLS(name) __attribute__((unused)) static void name(void)
#endif

static bool same(const struct hpx_raw_stack *a, const struct hpx_raw_stack *b)
{
    return a->lo == b->lo && a->hi == b->hi;
}

/* methods[0] at pc, called by methods[1], called by C. */
static struct hpx_raw_stack two_methods(uintptr_t pc, uintptr_t caller)
{
    struct hpx_raw_stack s;
    put_entry();
    put_compiled(8, at(methods[1], caller), 0);
    put_compiled(12, call_return, address(50));
    assert_true(walk(at(methods[0], pc), 8, 0, &s));
    assert_int_equal(s.methods, 2);
    return s;
}

/* Then places tell nothing of each other. */
static void a_list_that_is_longer_than_its_method_is_not_read(enum jdk jdk)
{
    begin(jdk);
    struct hpx_raw_stack a = two_methods(20, 100), b = two_methods(30, 100);
    assert_true(same(&a, &b));
    if (jdk == JDK_25) {
        methods[0]->immutable_size = methods[0]->behind_pcs - 1;
    } else {
        methods[0]->size = methods[0]->behind_pcs - 1;
    }
    a = two_methods(20, 100), b = two_methods(30, 100);
    assert_false(same(&a, &b));
}

TEST(a_list_ends_in_the_method_until_jdk_22)
{
    a_list_that_is_longer_than_its_method_is_not_read(JDK_17);
}

TEST(a_list_ends_in_the_immutable_data_on_jdk_25)
{
    a_list_that_is_longer_than_its_method_is_not_read(JDK_25);
}

TEST(code_that_reuses_a_place_is_another_stack)
{
    begin(JDK_17);
    struct hpx_raw_stack top = two_methods(20, 100), plain = two_methods(500, 100);
    methods[0]->compile_id++;
    struct hpx_raw_stack top_again = two_methods(20, 100), plain_again = two_methods(500, 100);
    assert_false(same(&top, &top_again));
    assert_false(same(&plain, &plain_again));
    methods[0]->compile_id--;
    methods[1]->compile_id++;
    struct hpx_raw_stack caller = two_methods(20, 100);
    assert_false(same(&top, &caller));
}

/* As if the VM had copied methods[1] to a place where other code was. */
TEST(code_that_moves_is_the_same_stack)
{
    begin(JDK_17);
    struct hpx_raw_stack before = two_methods(20, 100), after;
    struct blob *moved = add_method(&heaps[0], 48, 8, CODE, SIZE, &javas[SECOND]);
    moved->frame_size = 4;
    moved->compile_id = methods[1]->compile_id;
    moved->complete = 16;
    moved->stubs = STUBS;
    put_compiled(8, at(moved, 100), 0);
    assert_true(walk(at(methods[0], 20), 8, 0, &after));
    assert_true(same(&before, &after));
}

TEST(frames_without_a_place_end_the_walk)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    (void)two_methods(20, 100);
    put_compiled(8, (uintptr_t)methods[1] + STUBS + 4, 0); /* waits for its deoptimization */
    assert_false(walk(at(methods[0], 20), 8, 0, &s));
    put_compiled(8, (uintptr_t)stub + CODE, 0); /* a stub is no caller */
    assert_false(walk(at(methods[0], 20), 8, 0, &s));
    put_compiled(8, at(methods[1], 8), 0); /* no call returns to where the frame is not built */
    assert_false(walk(at(methods[0], 20), 8, 0, &s));
    put_compiled(8, at(methods[1], 100), 0);
    methods[1]->state = 3; /* dead */
    assert_false(walk(at(methods[0], 20), 8, 0, &s));
    methods[1]->state = 1;
    assert_true(walk(at(methods[0], 20), 8, 0, &s));
}

/* ---- frames of a virtual thread ---- */

/* Where the tables do not lead to it, the id of enterSpecial is the address of its Method*. */
static struct method enter;
static struct method *javas_of_enter = &enter;

static void begin_virtual(enum jdk jdk, const char *flags)
{
    const struct hpx_stack_chunk_layout layout = chunk_layout((uintptr_t)&javas_of_enter, ids[1 + FIRST]);
    describe_chunks();
    if (jdk != JDK_25) {
        vm_tables_field("Method", "_code", "CompiledMethod*", offsetof(struct method, code));
    }
    flags_on = flags;
    begin(jdk);
    entry_return = at(methods[1], 100);
    enter.code = (uintptr_t)methods[1];
    methods[1]->frame_size = 8;
    assert_null(hpx_stack_chunk_init(&layout));
}

/* The frame of Continuation.enterSpecial, methods[1], from `word` on, which C called. */
static void put_enter(uint32_t word)
{
    put_entry();
    stack[word + 1] = 0;
    stack[word + 2] = (uintptr_t)&continuation;
    stack[word + 4] = 1;
    stack[word + 6] = address(50);
    stack[word + 7] = call_return;
    thread.continuation = address(word);
}

/* From word 8 on the chunk has methods[0] at 60, called by a method of the interpreter, called by methods[0] at 40. */
static void put_frozen(struct chunk *c)
{
    uintptr_t *s = c->stack;
    c->sp = 8;
    c->bottom = 28;
    s[7] = at(methods[0], 60);
    s[10] = 22 - 10;
    s[11] = queue.buffer + 10;
    s[22] = 0; /* of a compiled method nobody needs it */
    s[23] = at(methods[0], 40);
    s[22 - 1] = 2;
    s[22 - 3] = (uintptr_t)&javas[INTERPRETED];
    s[22 + HPX_BYTECODE] = (uintptr_t)(&constants[INTERPRETED] + 1) + 5;
    s[27] = 12345; /* behind the last frame is nothing */
}

/* methods[0] at 20 called by these, all on the stack. */
static void put_mounted(void)
{
    put_compiled(4, at(methods[0], 60), 0);
    put_compiled(8, queue.buffer + 10, address(24));
    put_interpreted(24, at(methods[0], 40), 0, 26, 5, HPX_BYTECODE);
    put_compiled(26, at(methods[1], 100), 0);
    put_enter(30);
}

/* methods[0] at 20, called by what is in the heap: it returns to the barrier, a stub, above the entry at word 9 and more. */
static struct hpx_raw_thread thawed(uint32_t entry)
{
    put_compiled(4, (uintptr_t)stub + CODE, address(30));
    put_enter(entry);
    return thread_at(at(methods[0], 20), 4, 0);
}

static struct hpx_ev_frame virtual[DEPTH];
static enum hpx_raw_end virtual_end;

static void check_frames(const struct hpx_raw_thread *t)
{
    static const struct hpx_ev_frame want[4] = {
        {7, 0, 0x7f0000002000}, {9, 0, 0x7f0000002000}, {5, 0, 0x7f0000001000}, {7, 0, 0x7f0000002000}};
    struct hpx_raw_stack taken, named;
    assert_int_equal(hpx_raw_walk_frames_sig(t, virtual, &virtual_end, NULL, &named), 4);
    assert_int_equal(virtual_end, HPX_END_WHOLE);
    assert_memory_equal(virtual, want, sizeof want);
    assert_true(hpx_raw_walk_take_sig(t, &taken) && same(&taken, &named));
}

/* The first n frames, and a mark. */
static void check_truncated(const struct hpx_raw_thread *t, int n)
{
    assert_int_equal(hpx_raw_walk_frames_sig(t, virtual, &virtual_end, NULL, NULL), n + 1);
    assert_int_equal(virtual_end, HPX_END_HEAP);
    assert_true(virtual[n].method == HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED));
    for (int i = 0; i < n; i++) {
        assert_true(virtual[i].method != HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED));
    }
}

static void frames_in_the_heap_belong_to_the_stack(enum jdk jdk)
{
    struct hpx_raw_stack mounted, frozen;
    begin_virtual(jdk, "");
    put_mounted();
    struct hpx_raw_thread t = thread_at(at(methods[0], 20), 4, 0);
    assert_true(hpx_raw_walk_take_sig(&t, &mounted));
    assert_int_equal(mounted.methods, 4);
    check_frames(&t);
    memset(stack, 0, sizeof stack);
    put_frozen(&chunks[0]);
    t = thawed(8);
    assert_true(hpx_raw_walk_take_sig(&t, &frozen));
    assert_true(same(&mounted, &frozen));
    check_frames(&t);
    t = thawed(10); /* arguments between */
    assert_true(hpx_raw_walk_take_sig(&t, &frozen));
    assert_true(same(&mounted, &frozen));
}

TEST(frames_in_the_heap_belong_to_the_stack_on_25)
{
    frames_in_the_heap_belong_to_the_stack(JDK_25);
}

/* Where the tables do not say which word of a thread is the entry: a whole stack has told. */
TEST(frames_in_the_heap_belong_to_the_stack_on_21)
{
    frames_in_the_heap_belong_to_the_stack(JDK_17);
}

TEST(the_entry_is_found_at_the_barrier_if_the_frame_there_is_that_of_a_virtual_thread)
{
    struct hpx_raw_stack s;
    begin_virtual(JDK_17, "");
    put_frozen(&chunks[0]);
    struct hpx_raw_thread t = thawed(9);
    assert_false(hpx_raw_walk_take_sig(&t, &s)); /* C has called it */
    stack[9 + 7] = at(methods[0], 400);
    stack[9 + 4] = 2;
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    stack[9 + 4] = 1;
    continuation.tail = 0;
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    continuation.tail = (uintptr_t)&chunks[0];
    chunks[0].klass = &other_klass;
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    chunks[0].klass = &chunk_klass;
    thread.thrown = address(9); /* two may be it */
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    thread.thrown = 0;
    check_frames(&t);
}

/* Any stub may be above a word that one of the thread's leads to. */
TEST(what_is_no_entry_is_not_learned)
{
    begin_virtual(JDK_17, "");
    put_frozen(&chunks[0]);
    struct hpx_raw_thread t = thawed(8);
    struct hpx_raw_stack s;
    thread.continuation = 0;
    thread.thrown = address(8);
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    memset(stack, 0, sizeof stack);
    put_mounted();
    thread.thrown = address(30); /* two may be it */
    t = thread_at(at(methods[0], 20), 4, 0);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    memset(stack, 0, sizeof stack);
    t = thawed(8);
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    thread.thrown = 0;
    memset(stack, 0, sizeof stack);
    put_mounted();
    t = thread_at(at(methods[0], 20), 4, 0);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    memset(stack, 0, sizeof stack);
    t = thawed(8);
    check_frames(&t);
}

TEST(frames_go_on_in_the_chunk_behind)
{
    begin_virtual(JDK_25, "");
    put_frozen(&chunks[0]);
    memmove(&chunks[2].stack[30], &chunks[0].stack[10], 18 * sizeof(uintptr_t)); /* the callers of its first frame */
    chunks[2].sp = 32;
    chunks[2].bottom = 48;
    chunks[2].stack[30] = 22 - 10;
    chunks[0].bottom = 12;
    chunks[0].parent = (uintptr_t)&chunks[1]; /* empty */
    chunks[1].parent = (uintptr_t)&chunks[2];
    struct hpx_raw_thread t = thawed(8);
    check_frames(&t);
    chunks[2].klass = &other_klass;
    check_truncated(&t, 2);
    t.whole = true;
    struct hpx_raw_stack s;
    assert_false(hpx_raw_walk_take_sig(&t, &s));
}

TEST(frames_that_cannot_be_read_have_a_mark_in_their_place)
{
    begin_virtual(JDK_25, "");
    put_frozen(&chunks[0]);
    struct hpx_raw_thread t = thawed(8);
    struct hpx_raw_stack s;
    check_frames(&t);
    chunks[0].klass = &other_klass;
    check_truncated(&t, 1);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    t.whole = true;
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    chunks[0].klass = &chunk_klass;
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    chunks[0].stack[7] = 12345;
    assert_int_equal(hpx_raw_walk_frames_sig(&t, virtual, &virtual_end, NULL, NULL), 1);
    assert_int_equal(virtual_end, HPX_END_NO_CODE);
}

/* A thread in native code does not keep a collection from moving its chunks; when it comes back it is in the VM, and waits there. */
static struct hpx_raw_thread outside_java(int state)
{
    struct hpx_raw_thread t = thawed(8);
    thread.state = state;
    thread.anchor = (struct anchor){address(4), at(methods[0], 60), 0};
    return t;
}

TEST(during_a_collection_frames_in_the_heap_are_not_read)
{
    const int states[] = {IN_NATIVE, IN_VM, BLOCKED};
    begin_virtual(JDK_25, "");
    put_frozen(&chunks[0]);
    for (size_t i = 0; i < HPX_ARRAY_LEN(states); i++) {
        struct hpx_raw_thread t = outside_java(states[i]);
        java_heap.active = 0;
        assert_int_equal(hpx_raw_walk_frames_sig(&t, virtual, &virtual_end, NULL, NULL), 4);
        assert_int_equal(virtual_end, HPX_END_WHOLE);
        java_heap.active = 1;
        check_truncated(&t, 1);
    }
    thread.state = IN_JAVA; /* it has not begun to move objects */
    struct hpx_raw_thread t = thawed(8);
    check_frames(&t);
}

TEST(where_objects_move_while_the_program_runs_the_chunks_are_read_where_they_are)
{
    const int states[] = {IN_NATIVE, IN_VM, BLOCKED};
    begin_virtual(JDK_25, " UseShenandoahGC ");
    put_frozen(&chunks[0]);
    for (size_t i = 0; i < HPX_ARRAY_LEN(states); i++) {
        struct hpx_raw_thread t = outside_java(states[i]);
        assert_int_equal(hpx_raw_walk_frames_sig(&t, virtual, &virtual_end, NULL, NULL), 4);
        assert_int_equal(virtual_end, HPX_END_WHOLE);
        java_heap.active = 1;
        check_truncated(&t, 1);
        java_heap.active = 0;
    }
    thread.state = IN_JAVA;
    struct hpx_raw_thread t = thawed(8);
    check_frames(&t);
}

/* A fault there tells nothing of the walk. */
static void frames_may_be_freed_while_they_are_read(const char *flags, bool may)
{
    struct hpx_raw_stack s;
    begin_virtual(JDK_25, flags);
    put_mounted();
    struct hpx_raw_thread t = thread_at(at(methods[0], 20), 4, 0);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_false(hpx_stack_chunk_reading_sig(false));
    memset(stack, 0, sizeof stack);
    put_frozen(&chunks[0]);
    t = thawed(8);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_int_equal(hpx_stack_chunk_reading_sig(false), may);
    t = outside_java(IN_NATIVE); /* a pause may begin */
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_true(hpx_stack_chunk_reading_sig(false));
    thread.state = IN_JAVA;
    assert_false(hpx_stack_chunk_reading_sig(true));
}

TEST(where_objects_move_frames_in_the_heap_may_be_freed_while_they_are_read)
{
    frames_may_be_freed_while_they_are_read(" UseShenandoahGC ", true);
}

TEST(where_they_stay_these_are_as_those_on_the_stack)
{
    frames_may_be_freed_while_they_are_read("", false);
}

/* Between the walk for the hash and that for names a collection may end, or begin. */
TEST(the_frames_of_a_stack_come_with_the_hash_of_what_was_seen)
{
    struct hpx_raw_stack during, behind, named;
    begin_virtual(JDK_25, "");
    put_frozen(&chunks[0]);
    struct hpx_raw_thread t = outside_java(IN_NATIVE);
    java_heap.active = 1;
    assert_true(hpx_raw_walk_take_sig(&t, &during));
    assert_int_equal(hpx_raw_walk_frames_sig(&t, virtual, &virtual_end, NULL, &named), 2);
    assert_int_equal(virtual_end, HPX_END_HEAP);
    assert_true(same(&during, &named));
    java_heap.active = 0;
    assert_true(hpx_raw_walk_take_sig(&t, &behind));
    assert_int_equal(hpx_raw_walk_frames_sig(&t, virtual, &virtual_end, NULL, &named), 4);
    assert_true(same(&behind, &named) && !same(&during, &named));
    chunks[0].stack[11] = 12345;
    assert_int_equal(hpx_raw_walk_frames_sig(&t, virtual, &virtual_end, NULL, &named), 2);
    assert_int_equal(named.methods, 0);
}

/* One compiled frame has two names. */
TEST(behind_the_last_name_the_hash_goes_on)
{
    struct hpx_raw_stack taken, named;
    begin_virtual(JDK_25, "");
    int32_t outer = put_scope(0, 0, FIRST, 7), inner = put_scope(0, outer, INLINED, 1);
    put_places(0, 40, inner, 60, inner, 400, inner);
    put_frozen(&chunks[0]);
    struct hpx_raw_thread t = thawed(8);
    for (t.depth = 1; t.depth <= 8; t.depth++) {
        const int names = t.depth < 7 ? (int)t.depth : 7;
        assert_true(hpx_raw_walk_take_sig(&t, &taken));
        assert_int_equal(taken.methods, t.depth < 4 ? t.depth : 4);
        assert_int_equal(hpx_raw_walk_frames_sig(&t, virtual, &virtual_end, NULL, &named), names);
        assert_int_equal(virtual_end, HPX_END_WHOLE);
        assert_true(same(&taken, &named) && taken.methods == named.methods);
    }
    t.depth = 3;
    chunks[0].stack[11] = 12345; /* the names are there, but not the hash */
    assert_int_equal(hpx_raw_walk_frames_sig(&t, virtual, &virtual_end, NULL, &named), 3);
    assert_int_equal(virtual_end, HPX_END_WHOLE);
    assert_int_equal(named.methods, 0);
}

TEST(the_walk_ends_at_the_entry_of_a_virtual_thread)
{
    struct hpx_raw_stack s;
    begin_virtual(JDK_25, "");
    put_mounted();
    struct hpx_raw_thread t = thread_at(at(methods[0], 20), 4, 0);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_int_equal(s.methods, 4);
    t.platform = true;
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    stack[30 + 4] = 0; /* another continuation */
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_int_equal(s.methods, 5);
}

/* AsyncGetCallTrace has the carrier's frames behind those that are mounted. */
TEST(how_many_frames_another_walker_has_before_the_carrier_is_told)
{
    uint32_t broken;
    begin_virtual(JDK_25, "");
    put_mounted();
    struct hpx_raw_thread t = thread_at(at(methods[0], 20), 4, 0);
    assert_int_equal(hpx_raw_walk_frames_sig(&t, virtual, &virtual_end, &broken, NULL), 4);
    assert_int_equal(broken, 4 | HPX_FRAME_OF_CARRIER);
    put_frozen(&chunks[0]);
    t = thawed(8);
    assert_int_equal(hpx_raw_walk_frames_sig(&t, virtual, &virtual_end, &broken, NULL), 4);
    assert_int_equal(broken, 1 | HPX_FRAME_OF_CARRIER);
}

/* methods[0] at 20 yields, called by methods[0] at 60, which returns to the barrier. */
TEST(frames_that_are_in_both_places_count_once)
{
    struct hpx_raw_stack before, after;
    begin_virtual(JDK_25, "");
    put_frozen(&chunks[0]);
    chunks[0].sp = 12; /* it has been fetched */
    put_compiled(4, at(methods[0], 60), 0);
    put_compiled(8, (uintptr_t)stub + CODE, 0);
    put_enter(12);
    struct hpx_raw_thread t = thread_at(at(methods[0], 20), 4, 0);
    assert_true(hpx_raw_walk_take_sig(&t, &before));
    check_frames(&t);
    chunks[0].sp = 8; /* and put back */
    assert_true(hpx_raw_walk_take_sig(&t, &after));
    assert_true(same(&before, &after));
    check_frames(&t);
}

TEST(frames_that_are_about_to_be_copied_are_not_read)
{
    struct hpx_raw_stack s;
    begin_virtual(JDK_25, "");
    put_frozen(&chunks[0]);
    put_compiled(4, at(methods[0], 60), 0);
    put_compiled(8, at(methods[0], 400), 0);
    put_compiled(12, (uintptr_t)stub + CODE, 0);
    put_enter(16);
    struct hpx_raw_thread t = thread_at(at(methods[0], 20), 4, 0);
    check_truncated(&t, 3);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    t.whole = true;
    assert_false(hpx_raw_walk_take_sig(&t, &s));
}

/* C called the method, which returns to a stub above its own frames and those of C. */
TEST(where_an_upcall_returns_is_no_barrier)
{
    begin_virtual(JDK_25, "");
    put_frozen(&chunks[0]);
    struct hpx_raw_stack s;
    struct hpx_raw_thread t = thawed(24);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    t = thawed(26);
    assert_false(hpx_raw_walk_take_sig(&t, &s));
}

TEST(without_an_entry_below_there_is_no_barrier)
{
    begin_virtual(JDK_25, "");
    put_frozen(&chunks[0]);
    struct hpx_raw_stack s;
    struct hpx_raw_thread t = thawed(8);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    const uintptr_t wrong[] = {address(7), address(8) + 4, address(WORDS), 0};
    for (size_t i = 0; i < HPX_ARRAY_LEN(wrong); i++) {
        thread.continuation = wrong[i];
        assert_false(hpx_raw_walk_take_sig(&t, &s));
    }
}

/* The interpreter's method is the last one on the stack. */
TEST(a_method_of_the_interpreter_may_return_to_the_barrier)
{
    begin_virtual(JDK_25, "");
    put_frozen(&chunks[0]);
    struct hpx_raw_stack s;
    put_compiled(4, queue.buffer + 10, address(20));
    put_interpreted(20, (uintptr_t)stub + CODE, 0, 22, 5, HPX_BYTECODE);
    put_enter(24);
    struct hpx_raw_thread t = thread_at(at(methods[0], 20), 4, 0);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_int_equal(s.methods, 5);
}

/* The VM lets the anchor lead to the entry before it puts frames in the heap. */
TEST(a_thread_that_is_between_its_frames_has_a_mark_before_those_in_the_heap)
{
    begin_virtual(JDK_25, "");
    put_frozen(&chunks[0]);
    put_enter(30);
    struct hpx_raw_thread t = thread_at(4096, 2, 0);
    thread.state = IN_NATIVE;
    thread.anchor = (struct anchor){address(30), at(methods[1], 100), 0};
    assert_int_equal(hpx_raw_walk_frames_sig(&t, virtual, &virtual_end, NULL, NULL), 4);
    assert_int_equal(virtual_end, HPX_END_HEAP);
    assert_true(virtual[0].method == HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED) && virtual[1].bci == 9 && virtual[3].bci == 7);
    chunks[0].sp = chunks[0].bottom;
    assert_int_equal(hpx_raw_walk_frames_sig(&t, virtual, &virtual_end, NULL, NULL), 1);
    assert_int_equal(virtual_end, HPX_END_HEAP);
}

TEST(the_frames_of_a_chunk_have_names)
{
    begin_virtual(JDK_25, "");
    put_frozen(&chunks[0]);
    assert_int_equal(hpx_raw_walk_chunk_sig((uintptr_t)&chunks[0], DEPTH, virtual, &virtual_end), 3);
    assert_int_equal(virtual_end, HPX_END_WHOLE);
    assert_true(virtual[0].bci == 9 && virtual[1].method == (uintptr_t)&javas[INTERPRETED] && virtual[2].bci == 7);
    assert_int_equal(hpx_raw_walk_chunk_sig((uintptr_t)&chunks[0], 2, virtual, &virtual_end), 2);
    assert_int_equal(virtual_end, HPX_END_WHOLE);
    chunks[0].sp = 2; /* a stub on top, which has blocked */
    chunks[0].stack[1] = (uintptr_t)stub + CODE;
    assert_int_equal(hpx_raw_walk_chunk_sig((uintptr_t)&chunks[0], DEPTH, virtual, &virtual_end), 3);
    chunks[0].sp = 8;
    chunks[0].parent = HPX_OBJECT_UNKNOWN;
    assert_int_equal(hpx_raw_walk_chunk_sig((uintptr_t)&chunks[0], DEPTH, virtual, &virtual_end), 4);
    assert_true(virtual_end == HPX_END_HEAP && virtual[3].method == HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED));
    chunks[0].parent = 0;
    assert_int_equal(hpx_raw_walk_chunk_sig((uintptr_t)&chunks[1], DEPTH, virtual, &virtual_end), 0);
    assert_int_equal(virtual_end, HPX_END_NO_JAVA);
    chunks[0].sp = 8;
    chunks[0].stack[11] = 12345;
    assert_int_equal(hpx_raw_walk_chunk_sig((uintptr_t)&chunks[0], DEPTH, virtual, &virtual_end), 1);
    assert_int_equal(virtual_end, HPX_END_NO_CODE);
}

/* methods[1] calls the C function there, by r10 or directly, and has the return address at 100; it was called by C. */
static void put_leaf_call(uintptr_t callee, bool direct)
{
    unsigned char *code = (unsigned char *)at(methods[1], 100);
    memset(code - 13, 0x90, 13);
    if (direct) {
        int32_t relative = (int32_t)(callee - at(methods[1], 100));
        code[-5] = 0xe8;
        memcpy(code - 4, &relative, sizeof relative);
    } else {
        memcpy(code - 13, "\x49\xba", 2);
        memcpy(code - 11, &callee, sizeof callee);
        memcpy(code - 3, "\x41\xff\xd2", 3);
    }
    put_entry();
}

/* The method's frame begins at word 20. */
static bool leaf(uintptr_t pc, uint32_t sp, uintptr_t fp, struct hpx_raw_stack *to)
{
    put_compiled(20, call_return, address(50));
    stack[19] = at(methods[1], 100);
    return walk(pc, sp, fp, to) && to->methods == 1;
}

TEST_OF_PUSHED_CALLS(c_that_a_method_calls_as_java_has_its_caller_behind_its_frame)
{
    begin(JDK_25);
    const uintptr_t outside[] = {at(methods[0], 0) - (1 << 20), 4096};
    struct hpx_raw_stack s, again;
    for (int direct = 0; direct < 2; direct++) {
        uintptr_t callee = outside[!direct];
        put_leaf_call(callee, direct);
        assert_true(leaf(callee, 19, 0, &s)); /* it begins */
        stack[18] = 0;
        assert_true(leaf(callee + 1, 18, 0, &again)); /* has pushed the frame pointer */
        assert_true(same(&s, &again));
        assert_true(leaf(callee + 40, 12, address(18), &again)); /* has its frame */
        assert_true(same(&s, &again));
        stack[14] = address(18);
        stack[15] = callee + 60;
        assert_true(leaf(48, 10, address(14), &again)); /* has called another one */
        assert_true(same(&s, &again));
    }
}

TEST_OF_PUSHED_CALLS(a_word_is_a_return_address_only_if_the_call_leads_to_this_function)
{
    begin(JDK_25);
    uintptr_t callee = 4096;
    struct hpx_raw_stack s;
    put_leaf_call(callee, false);
    assert_true(leaf(callee + 8, 19, 0, &s));
    assert_false(leaf(callee + 4096, 19, 0, &s));
    assert_false(leaf(callee - 1, 19, 0, &s));
    put_leaf_call(at(methods[0], 0), false); /* Java */
    assert_false(leaf(at(methods[0], 0) - (1 << 20), 19, 0, &s));
    assert_false(leaf(8, 12, address(18), &s));
    memset((void *)(at(methods[1], 100) - 13), 0x90, 13); /* no call */
    assert_false(leaf(callee, 19, 0, &s));
}

/* Where a function begins, the frame pointer is that of a frame further out, which may have been called by a native method. */
TEST_OF_PUSHED_CALLS(the_caller_at_the_stack_pointer_comes_before_the_chain_of_frame_pointers)
{
    begin(JDK_25);
    struct hpx_raw_stack s, again;
    put_leaf_call(4096, false);
    assert_true(leaf(4096 + 1, 19, 0, &s));
    unsigned char *code = (unsigned char *)at(methods[0], 100);
    memcpy(code - 13, (unsigned char *)at(methods[1], 100) - 13, 13);
    stack[40] = 0;
    stack[41] = at(methods[0], 100);
    uintptr_t other = 1 << 20;
    memcpy(code - 11, &other, sizeof other);
    assert_true(leaf(4096 + 1, 19, address(40), &again));
    assert_true(same(&s, &again));
}

TEST(a_stub_that_calls_c_above_the_entry_is_no_barrier)
{
    begin_virtual(JDK_25, "");
    put_frozen(&chunks[0]);
    struct hpx_raw_stack s;
    put_enter(12);
    stack[6] = 0;
    stack[7] = (uintptr_t)stub + CODE;
    struct hpx_raw_thread t = thread_at(4096, 2, address(6));
    assert_false(hpx_raw_walk_take_sig(&t, &s));
}

/* Where the frames will be are dead ones: what a method that yielded left. */
TEST_OF_PUSHED_CALLS(c_that_fetches_frames_has_a_mark_before_those_in_the_heap)
{
    begin_virtual(JDK_25, "");
    put_frozen(&chunks[0]);
    struct hpx_raw_stack s;
    struct hpx_raw_thread t = thawed(8);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    memcpy((char *)stub + CODE - 2, "\xff\xd0", 2); /* a call by a register */
    stack[6] = 0;
    stack[7] = (uintptr_t)stub + CODE;
    stack[8] = address(12);
    stack[9] = at(methods[0], 100);
    put_compiled(10, (uintptr_t)stub + CODE, 0);
    put_enter(40);
    for (int in_c = 0; in_c < 2; in_c++) {
        t = in_c ? thread_at(4096, 2, address(6)) : thread_at((uintptr_t)stub + CODE, 8, 0);
        assert_true(hpx_raw_walk_take_sig(&t, &s));
        assert_int_equal(s.methods, 3);
        assert_int_equal(hpx_raw_walk_frames_sig(&t, virtual, &virtual_end, NULL, NULL), 4);
        assert_true(virtual_end == HPX_END_HEAP && virtual[0].method == HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED));
    }
    thread.continuation = 0;
    assert_false(hpx_raw_walk_take_sig(&t, &s));
}

TEST_OF_PUSHED_CALLS(a_frame_that_is_not_built_has_its_caller_at_the_stack_pointer)
{
    begin(JDK_17);
    struct hpx_raw_stack entered, pushed, built = two_methods(20, 100);
    assert_true(walk(at(methods[0], 2), 11, 0, &entered));
    assert_true(walk(at(methods[0], 4), 10, 0, &pushed));
    assert_int_equal(entered.methods, 2);
    assert_false(same(&entered, &built));
    assert_false(same(&entered, &pushed));
}

/* methods[0] called by an interpreted method, called by methods[1] through an adapter, called by C. */
static bool mixed(uint32_t bci, int bytecode, struct hpx_raw_stack *to)
{
    put_entry();
    put_compiled(8, queue.buffer + 10, address(30));
    put_interpreted(30, at(methods[1], 100), 0, 34, bci, bytecode);
    put_compiled(34, call_return, address(50));
    return walk(at(methods[0], 20), 8, 0, to);
}

TEST(interpreted_frames_are_told_by_id_and_bytecode)
{
    begin(JDK_17);
    struct hpx_raw_stack a, b, c, d;
    assert_true(mixed(5, HPX_BYTECODE, &a));
    assert_int_equal(a.methods, 3);
    assert_true(mixed(6, HPX_BYTECODE, &b));
    assert_false(same(&a, &b));
    struct method again = {.constant = &constants[INTERPRETED]}; /* the Method* may be another's, its id may not */
    stack[30 - 3] = (uintptr_t)&again;
    assert_true(walk(at(methods[0], 20), 8, 0, &c));
    assert_true(same(&b, &c));
    ids[1] += 8; /* a class that was loaded where another one was */
    assert_true(walk(at(methods[0], 20), 8, 0, &d));
    assert_false(same(&b, &d));
    ids[1] = 0; /* an old version of a method has none, but runs its own bytecode */
    assert_true(walk(at(methods[0], 20), 8, 0, &d));
    assert_true(d.methods == 3 && !same(&b, &d));
    assert_false(mixed(70000, HPX_BYTECODE, &d)); /* no method, or no bytecode of it */
}

/* Where the VM makes frames, it fills them later. */
TEST(a_method_is_followed_only_in_a_frame)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    assert_true(mixed(5, HPX_BYTECODE, &s));
    stack[30 - 3] = 0x10; /* would fault */
    stack[30 + 1] = 12345;
    assert_false(walk(at(methods[0], 20), 8, 0, &s));
    assert_true(mixed(5, HPX_BYTECODE, &s));
    stack[30 - 3] = 8;
    assert_false(walk(at(methods[0], 20), 8, 0, &s));
    stack[30 - 3] = 0x10;
    stack[30 - 1] = address(20);
    assert_false(walk(at(methods[0], 20), 8, 0, &s));
}

/* methods[0] was called by C, which a stub had called, to which methods[1] had come from C. */
static struct hpx_raw_thread behind_a_stub(uintptr_t stub_returns)
{
    put_entry();
    put_compiled(8, call_return, address(20));
    stack[20 - 6] = address(22);
    stack[23] = address(28); /* the anchor of the way into Java */
    stack[24] = (uintptr_t)stub + CODE;
    stack[25] = 0;
    stack[33] = stub_returns;
    put_compiled(34, call_return, address(50));
    return thread_at(at(methods[0], 20), 8, 0);
}

TEST_OF_PUSHED_CALLS(a_stub_that_called_c_that_called_java_is_left)
{
    begin(JDK_17);
    struct hpx_raw_stack s, other;
    struct hpx_ev_frame frames[DEPTH];
    enum hpx_raw_end ended;
    uint32_t broken;
    struct hpx_raw_thread t = behind_a_stub(at(methods[1], 100));
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_int_equal(s.methods, 2);
    assert_int_equal(hpx_raw_walk_frames_sig(&t, frames, &ended, &broken, NULL), 2);
    assert_int_equal(broken, 1); /* AsyncGetCallTrace has no more */
    assert_true(frames[0].method == ids[1 + FIRST] && frames[1].method == ids[1 + SECOND] && frames[1].bci == 3);
    stack[24] = at(methods[1], 100); /* no stub */
    stack[23] = address(34);
    assert_true(hpx_raw_walk_take_sig(&t, &other));
    assert_false(same(&s, &other));
    t = behind_a_stub(call_return); /* a stub that C has called */
    stack[32] = address(50);
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    t = behind_a_stub(at(methods[1], 100));
    stub->frame_size = 0;
    assert_false(hpx_raw_walk_take_sig(&t, &s));
}

/* The interpreter has been called by methods[1], whose frame begins at word 34, which was called by C. */
static bool interpreter_at(uint32_t sp, uintptr_t fp, struct hpx_raw_stack *to)
{
    put_entry();
    put_compiled(34, call_return, address(50));
    return walk(queue.buffer + 10, sp, fp, to) && to->methods == 1;
}

TEST_OF_PUSHED_CALLS(the_interpreter_has_its_caller_also_where_its_frame_is_not_built)
{
    begin(JDK_17);
    struct hpx_raw_stack entered, pushed, framed, adapted;
    stack[33] = at(methods[1], 100);
    assert_true(interpreter_at(33, 0, &entered));
    assert_true(interpreter_at(32, 0, &pushed));
    stack[31] = address(34);
    assert_true(interpreter_at(31, address(32), &framed));
    assert_false(same(&entered, &pushed) || same(&pushed, &framed));
    stack[33] = 12345;
    assert_false(interpreter_at(33, 0, &entered) || interpreter_at(32, 0, &pushed) || interpreter_at(31, address(32), &framed));
    stack[27] = at(methods[1], 100); /* an adapter has moved arguments */
    stack[25] = address(34);
    assert_true(interpreter_at(24, address(26), &adapted));
    stack[25] = address(64);
    assert_false(interpreter_at(24, address(26), &adapted));
}

/* Its method would be left out. */
TEST(a_whole_frame_of_the_interpreter_without_an_id_is_not_skipped)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    put_entry();
    put_interpreted(30, at(methods[1], 100), 0, 34, 5, HPX_BYTECODE);
    put_compiled(34, call_return, address(50));
    assert_true(walk(queue.buffer + 10, 20, address(30), &s));
    assert_int_equal(s.methods, 2);
    ids[1 + INTERPRETED] = 0;
    assert_true(walk(queue.buffer + 10, 20, address(30), &s));
    assert_int_equal(s.methods, 2);
    stack[30 + HPX_BYTECODE] = 8; /* no bytecode of it */
    assert_false(walk(queue.buffer + 10, 20, address(30), &s));
    ids[1 + INTERPRETED] = 0x7f0000001000;
}

/* A call by r10, behind which pc is. */
static void put_call(uintptr_t pc, uintptr_t callee)
{
    memcpy((void *)(pc - 13), "\x49\xba", 2);
    memcpy((void *)(pc - 11), &callee, sizeof callee);
    memcpy((void *)(pc - 3), "\x41\xff\xd2", 3);
}

/* C has been called by what returns to pc, whose stack pointer was at word 8. */
static bool c_called_by(uintptr_t pc, uintptr_t fp, struct hpx_raw_stack *to)
{
    put_call(pc, 4096);
    stack[6] = fp;
    stack[7] = pc;
    return walk(4096 + 8, 2, address(6), to);
}

TEST_OF_PUSHED_CALLS(c_that_the_interpreter_or_a_stub_calls_has_its_caller_behind_its_frame)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    struct hpx_ev_frame frames[DEPTH];
    put_entry();
    put_interpreted(30, at(methods[1], 100), 0, 34, 5, HPX_BYTECODE);
    put_compiled(34, call_return, address(50));
    assert_true(c_called_by(queue.buffer + 20, address(30), &s));
    assert_true(s.methods == 2);
    struct hpx_raw_thread t = thread_at(4096 + 8, 2, address(6));
    enum hpx_raw_end ended;
    assert_int_equal(hpx_raw_walk_frames_sig(&t, frames, &ended, NULL, NULL), 2);
    assert_int_equal(ended, HPX_END_WHOLE);
    assert_true(frames[0].method == ids[1 + INTERPRETED] && frames[0].bci == 5);
    stack[13] = at(methods[1], 100); /* a stub's frame of 6 words */
    put_compiled(14, call_return, address(50));
    assert_true(c_called_by((uintptr_t)stub + CODE + 20, 0, &s));
    assert_true(s.methods == 1);
    stack[13] = call_return;
    stack[12] = address(50);
    assert_false(c_called_by((uintptr_t)stub + CODE + 20, 0, &s));
}

/* C begins: the frame pointer is that of the interpreted method that called it, behind which is its caller. */
TEST_OF_PUSHED_CALLS(c_that_begins_has_the_interpreted_method_that_called_it)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    uintptr_t interpreter = queue.buffer + 20;
    put_entry();
    put_interpreted(30, queue.buffer + 40, address(44), 34, 5, HPX_BYTECODE);
    put_interpreted(44, call_return, address(50), 46, 6, HPX_BYTECODE);
    stack[10] = interpreter;
    put_call(interpreter, 4096);
    assert_true(walk(4096, 10, address(30), &s));
    assert_int_equal(s.methods, 2);
    stack[9] = address(30); /* has pushed it */
    assert_true(walk(4096 + 1, 9, address(30), &s));
    assert_int_equal(s.methods, 2);
    put_call(interpreter, 1 << 20); /* the word is none of its callers: then nothing is told */
    assert_false(walk(4096 + 1, 9, address(30), &s));
}

/* In a stub of no fixed size, whose frame pointer is at word 20; methods[1] has called it, or something else. */
TEST_OF_PUSHED_CALLS(behind_the_frame_pointer_of_a_stub_is_only_who_calls_it)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    stub->frame_size = 0;
    put_leaf_call((uintptr_t)stub + CODE, true);
    stack[21] = at(methods[1], 100);
    put_compiled(22, call_return, address(50));
    assert_true(walk((uintptr_t)stub + CODE + 8, 10, address(20), &s));
    assert_true(s.methods == 1);
    put_leaf_call(queue.buffer, true); /* another one */
    assert_false(walk((uintptr_t)stub + CODE + 8, 10, address(20), &s));
    put_leaf_call(4096, false); /* C */
    assert_false(walk((uintptr_t)stub + CODE + 8, 10, address(20), &s));
}

/* The stub of nmethod entry barriers, which methods[1] has called, has pushed a word of ones before its frame pointer. */
TEST_OF_PUSHED_CALLS(a_stub_that_lets_a_method_begin_has_its_caller_behind_a_word_of_ones)
{
    begin(JDK_25);
    struct hpx_raw_stack s;
    stub->frame_size = 0;
    put_leaf_call((uintptr_t)stub + CODE, true);
    stack[21] = UINTPTR_MAX;
    stack[22] = at(methods[1], 100);
    put_compiled(23, call_return, address(50));
    assert_true(walk((uintptr_t)stub + CODE + 8, 10, address(20), &s));
    assert_int_equal(s.methods, 1);
    stack[21] = UINTPTR_MAX - 1;
    assert_false(walk((uintptr_t)stub + CODE + 8, 10, address(20), &s));
}

static enum hpx_raw_end ended;
static struct hpx_ev_frame part[DEPTH];

/* Frames of methods[0] at pc, whose caller is `up`, called by C. */
static int part_of(uintptr_t pc, uintptr_t up)
{
    put_entry();
    put_compiled(8, up, 0);
    put_compiled(12, call_return, address(50));
    struct hpx_raw_thread t = thread_at(at(methods[0], pc), 8, 0);
    return hpx_raw_walk_frames_sig(&t, part, &ended, NULL, NULL);
}

TEST(what_is_below_the_end_of_a_walk_counts)
{
    begin(JDK_17);
    const struct {
        uintptr_t pc, up;
        enum hpx_raw_end end;
        int frames;
    } cases[] = {{20, at(methods[1], 100), HPX_END_WHOLE, 2},     {20, 12345, HPX_END_NO_CODE, 1},
                 {20, (uintptr_t)stub + CODE, HPX_END_STUB, 1},   {20, at(methods[1], 8), HPX_END_UNBUILT, 1},
                 {20, queue.buffer + 10, HPX_END_INTERPRETED, 1}, {4, 12345, HPX_END_UNBUILT, 1}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        assert_int_equal(part_of(cases[i].pc, cases[i].up), cases[i].frames);
        assert_int_equal(ended, cases[i].end);
        assert_int_equal(part[0].method, ids[1 + FIRST]);
    }
    methods[1]->state = 3;
    assert_int_equal(part_of(20, at(methods[1], 100)), 1);
    assert_int_equal(ended, HPX_END_DEAD_CODE);
    struct hpx_raw_thread t = thread_at((uintptr_t)stub + CODE, 8, 0); /* who calls the stub is no method */
    assert_int_equal(hpx_raw_walk_frames_sig(&t, part, &ended, NULL, NULL), 0);
    assert_int_equal(ended, HPX_END_STUB);
    t.at.pc = 4096;
    assert_int_equal(hpx_raw_walk_frames_sig(&t, part, &ended, NULL, NULL), 0);
    assert_int_equal(ended, HPX_END_NATIVE);
    methods[1]->state = 1;
    (void)part_of(20, at(methods[1], 100));
    t.at.pc = (uintptr_t)methods[0] + STUBS + 4; /* its callers alone would be what they are not: on top */
    assert_int_equal(hpx_raw_walk_frames_sig(&t, part, &ended, NULL, NULL), 0);
    assert_int_equal(ended, HPX_END_DEAD_CODE);
}

static uint32_t found_between = 1;

static uint32_t between(const struct hpx_raw_thread *t, const struct hpx_registers *caller, uint64_t *of, uint32_t most)
{
    (void)t;
    assert_int_equal(caller->pc, 4711);
    assert_int_equal(caller->sp, address(52));
    assert_int_equal(caller->fp, address(62));
    assert_true(most > 1 && most <= HPX_EV_C_MOST);
    for (uint32_t i = 0; i < found_between; i++) {
        of[i] = HPX_EV_METHOD_OF_C(3 + i);
    }
    return found_between;
}

/* C that Java has called has called Java. */
static struct hpx_raw_thread put_between(void)
{
    begin(JDK_17);
    put_entry();
    put_compiled(8, at(methods[1], 100), 0);
    put_compiled(12, call_return, address(50));
    stack[50] = address(62);
    stack[51] = 4711;
    wrapper->anchor = (struct anchor){address(52), at(methods[1], 100), 0};
    put_compiled(52, at(methods[0], 60), 0);
    struct hpx_raw_thread t = thread_at(at(methods[0], 20), 8, 0);
    t.depth = 3;
    return t;
}

TEST(frames_of_c_are_part_of_a_stack)
{
    const uint64_t above[] = {HPX_EV_METHOD_OF_C(1), HPX_EV_METHOD_OF_C(2)}, others[] = {HPX_EV_METHOD_OF_C(1), HPX_EV_METHOD_OF_C(9)};
    struct hpx_ev_frame frames[8];
    struct hpx_raw_stack hash, named, other, without;
    struct hpx_raw_thread t = put_between();
    assert_true(hpx_raw_walk_take_sig(&t, &without));
    t.c = (struct hpx_raw_c){above, 2, true, 5, between};
    assert_true(hpx_raw_walk_take_sig(&t, &hash));
    assert_int_equal(hash.methods, 3);
    assert_int_equal(hpx_raw_walk_frames_sig(&t, frames, &ended, NULL, &named), 6);
    assert_true(same(&hash, &named) && !same(&hash, &without));
    const uint64_t wanted[] = {above[0], above[1], ids[1 + FIRST], ids[2 + FIRST], HPX_EV_METHOD_OF_C(3), ids[2 + FIRST]};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(frames[i].method, wanted[i]);
    }
    t.c.above = others;
    assert_true(hpx_raw_walk_take_sig(&t, &other));
    assert_false(same(&hash, &other));
    t.c.above = above;
    found_between = 2;
    assert_true(hpx_raw_walk_take_sig(&t, &other));
    found_between = 1;
    assert_false(same(&hash, &other));
    t.c.room = 1; /* the last ones have no place */
    assert_int_equal(hpx_raw_walk_frames_sig(&t, frames, &ended, NULL, NULL), 4);
    wrapper->anchor = (struct anchor){0, 0, 0};
}

/* A frame of C and the mark behind it have room, or there is neither. */
TEST(frames_of_c_between_others_are_left_out_where_there_is_no_room)
{
    uint64_t above[HPX_EV_C_MOST];
    struct hpx_ev_frame frames[HPX_EV_C_MOST + 8];
    struct hpx_raw_thread t = put_between();
    for (uint32_t i = 0; i < HPX_EV_C_MOST; i++) {
        above[i] = HPX_EV_METHOD_OF_C(i);
    }
    t.c = (struct hpx_raw_c){above, HPX_EV_C_MOST - 2, true, HPX_EV_C_MOST + 1, between};
    assert_int_equal(hpx_raw_walk_frames_sig(&t, frames, &ended, NULL, NULL), HPX_EV_C_MOST - 2 + 3 + 1);
    for (t.c.nabove = HPX_EV_C_MOST - 1; t.c.nabove <= HPX_EV_C_MOST; t.c.nabove++) {
        assert_int_equal(hpx_raw_walk_frames_sig(&t, frames, &ended, NULL, NULL), t.c.nabove + 3);
        assert_int_equal(ended, HPX_END_WHOLE);
    }
    wrapper->anchor = (struct anchor){0, 0, 0};
}

TEST(any_address_is_of_c)
{
    const uintptr_t words[] = {0, 1, 0x7fffffffffff, 0x3ff0000000000000, 0xffffffffff600000, UINTPTR_MAX - 1, UINTPTR_MAX};
    for (unsigned i = 0; i < HPX_ARRAY_LEN(words); i++) {
        const uint64_t method = HPX_EV_METHOD_OF_ADDRESS(words[i]);
        assert_true(hpx_ev_is_c(method) && hpx_ev_is_c_address(method));
    }
    assert_int_equal(HPX_EV_C_PLACE(HPX_EV_METHOD_OF_ADDRESS(0x7fffffffffff)), 0x7fffffffffff);
    assert_true(hpx_ev_is_c(HPX_EV_METHOD_OF_C(5)) && !hpx_ev_is_c_address(HPX_EV_METHOD_OF_C(5)));
    assert_false(hpx_ev_is_c(HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED)));
}

TEST(a_stack_may_be_of_c_alone)
{
    begin(JDK_17);
    const uint64_t above[] = {HPX_EV_METHOD_OF_C(1), HPX_EV_METHOD_OF_C(2)};
    struct hpx_ev_frame frames[4];
    struct hpx_raw_stack hash, named;
    struct hpx_raw_thread t = thread_at(4096, 8, 0);
    thread.anchor.sp = 0;
    thread.state = IN_NATIVE;
    assert_false(hpx_raw_walk_take_sig(&t, &hash));
    t.depth = 2;
    t.c = (struct hpx_raw_c){above, 2, true, 2, NULL}; /* of Java that the VM's anchor does not tell yet, or no more */
    assert_false(hpx_raw_walk_take_sig(&t, &hash));
    assert_int_equal(hpx_raw_walk_frames_sig(&t, frames, &ended, NULL, &named), 2);
    assert_int_equal(ended, HPX_END_NO_JAVA);
    t.c.called = false;
    assert_true(hpx_raw_walk_take_sig(&t, &hash));
    assert_int_equal(hpx_raw_walk_frames_sig(&t, frames, &ended, NULL, &named), 2);
    assert_int_equal(ended, HPX_END_WHOLE);
    assert_true(same(&hash, &named));
    assert_int_equal(frames[1].method, above[1]);
}

/* As MethodHandle.linkToStatic in the interpreter calls: its last argument is gone, but the caller's stack pointer is as before. */
TEST(a_method_that_a_method_handle_calls_in_the_interpreter_has_its_caller_a_word_higher)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    put_entry();
    put_interpreted(30, queue.buffer + 40, address(44), 31, 5, HPX_BYTECODE);
    put_interpreted(44, call_return, address(50), 46, 6, HPX_BYTECODE);
    assert_true(walk(queue.buffer + 10, 20, address(30), &s));
    assert_int_equal(s.methods, 2);
    stack[31] = at(methods[1], 100); /* no compiled method calls so */
    assert_false(walk(queue.buffer + 10, 20, address(30), &s));
}

/* Where a method of the interpreter begins, the frame pointer is that of an interpreted one further out, which waits for a compiled one. */
TEST_OF_PUSHED_CALLS(a_frame_that_waits_is_not_on_top)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    put_entry();
    put_interpreted(44, call_return, address(50), 46, 6, HPX_BYTECODE);
    stack[44 - 2] = address(30);
    stack[20] = at(methods[1], 100);
    put_compiled(21, queue.buffer + 40, address(44));
    assert_true(walk(queue.buffer + 10, 20, address(44), &s));
    assert_int_equal(s.methods, 2);
    stack[20] = 12345; /* whom it has called is not known */
    assert_false(walk(queue.buffer + 10, 20, address(44), &s));
    struct hpx_raw_thread t = thread_at(queue.buffer + 10, 20, address(44));
    assert_int_equal(hpx_raw_walk_frames_sig(&t, part, &ended, NULL, NULL), 2);
    assert_int_equal(ended, HPX_END_WAITING);
    assert_true(part[0].method == HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED) && part[1].method == ids[1 + INTERPRETED]);
    stack[44 - 2] = 0;
    assert_true(walk(queue.buffer + 10, 20, address(44), &s));
    assert_int_equal(s.methods, 1);
}

/* A stub with 6 words of frame, which methods[1] has called, calls C by a register. */
static bool downcall(uint32_t sp, uintptr_t fp, const char *call, struct hpx_raw_stack *to)
{
    unsigned char *code = (unsigned char *)at(stub, 100);
    memcpy(code - strlen(call), call, strlen(call));
    put_entry();
    stack[12] = (uintptr_t)code;
    stack[17] = address(40); /* the stub's frame pointer leads here, and behind it is its return address */
    stack[18] = at(methods[1], 100);
    put_compiled(19, call_return, address(50));
    return walk(4096, sp, fp, to) && to->methods == 1;
}

TEST_OF_PUSHED_CALLS(c_that_a_stub_calls_by_a_register_has_its_caller_behind_the_stub)
{
    begin(JDK_25);
    struct hpx_raw_stack s;
    stack[11] = address(17);
    assert_true(downcall(8, address(11), "\xff\xd0", &s)); /* it has its frame */
    assert_true(downcall(8, address(11), "\x41\xff\xd2", &s));
    assert_true(downcall(12, address(17), "\xff\xd0", &s));  /* it begins */
    assert_true(downcall(11, address(17), "\xff\xd0", &s));  /* has pushed the frame pointer */
    assert_false(downcall(12, address(16), "\xff\xd0", &s)); /* the word is of another frame */
    assert_false(downcall(8, address(11), "\x90\x90\x90", &s));
}

/* The stub of deoptimization has made two frames of the interpreter, and filled the outer one, which methods[1] has called. */
static int deoptimized(uintptr_t last_sp_inner, uintptr_t last_sp_outer)
{
    put_entry();
    thread.state = 6;
    thread.anchor = (struct anchor){address(4), (uintptr_t)stub + CODE, 0};
    stack[8] = address(22);
    stack[9] = queue.buffer + 40;
    put_interpreted(22, queue.buffer + 40, address(34), 24, 5, HPX_BYTECODE);
    stack[22 - 2] = last_sp_inner;
    put_interpreted(34, at(methods[1], 100), 0, 38, 6, HPX_BYTECODE);
    stack[34 - 2] = last_sp_outer;
    put_compiled(38, call_return, address(50));
    struct hpx_raw_thread t = thread_at(4096, 2, 0);
    return hpx_raw_walk_frames_sig(&t, part, &ended, NULL, NULL);
}

static void unpack(int32_t n, int inner, int outer)
{
    unpacked.n = n;
    unpacked.elements[0] = (struct element){(uintptr_t)&javas[inner], 7};
    unpacked.elements[1] = (struct element){(uintptr_t)&javas[outer], 9};
    thread.unpacked = (uintptr_t)&unpacked;
}

TEST(frames_that_deoptimization_has_not_filled_are_those_that_it_will_fill)
{
    begin(JDK_17);
    unpack(2, INLINED, INTERPRETED);
    assert_int_equal(deoptimized(0, address(24)), 3);
    assert_int_equal(ended, HPX_END_WHOLE);
    assert_true(part[0].method == ids[1 + INLINED] && part[0].bci == 7);
    assert_true(part[1].method == ids[1 + INTERPRETED] && part[1].bci == 9 && part[2].method == ids[1 + SECOND]); /* it has none yet */
    assert_int_equal(deoptimized(0, 0), 3);
    assert_int_equal(ended, HPX_END_WHOLE);
    assert_true(part[1].method == ids[1 + INTERPRETED] && part[1].bci == 9);
    unpack(2, INLINED, FIRST); /* the outer frame is that of another method */
    assert_int_equal(deoptimized(0, address(24)), 3);
    assert_int_equal(ended, HPX_END_DEOPTIMIZATION);
    assert_true(part[0].method == HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED));
    unpack(1, INLINED, INTERPRETED); /* and there are too few */
    (void)deoptimized(0, 0);
    assert_int_equal(ended, HPX_END_DEOPTIMIZATION);
}

/* Its anchor is cleared, and the stack was aligned by a word. */
TEST_OF_PUSHED_CALLS(c_that_deoptimization_calls_without_an_anchor_has_its_frames)
{
    begin(JDK_17);
    for (uint32_t aligned = 0; aligned <= 2; aligned++) {
        struct hpx_raw_stack s;
        unpack(1, INLINED, FIRST);
        thread.anchor.sp = 0;
        put_entry();
        stack[12 + aligned] = address(34);
        stack[13 + aligned] = queue.buffer + 40;
        put_interpreted(34, at(methods[1], 100), 0, 38, 6, HPX_BYTECODE);
        stack[34 - 2] = 0;
        put_compiled(38, call_return, address(50));
        assert_int_equal(c_called_by((uintptr_t)stub + CODE + 20, address(12 + aligned), &s), aligned < 2);
        assert_int_equal(s.methods, aligned < 2 ? 2 : 0);
        assert_int_equal(walk((uintptr_t)stub + CODE + 20, 8, address(12 + aligned), &s), aligned < 2); /* or the stub itself runs */
    }
}

/* As the stub that forwards an exception, whose caller is on the stack. */
TEST_OF_PUSHED_CALLS(c_that_a_stub_without_a_frame_calls_has_its_caller_below_a_word_that_aligns)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    put_entry();
    stub->frame_size = 0;
    for (uint32_t pad = 0; pad <= 2; pad++) {
        memset(stack + 8, 0, 10 * sizeof *stack);
        stack[8 + pad] = queue.buffer + 40;
        put_interpreted(30, at(methods[1], 100), 0, 34, 5, HPX_BYTECODE);
        put_compiled(34, call_return, address(50));
        assert_int_equal(c_called_by((uintptr_t)stub + CODE + 20, address(30), &s), pad < 2);
    }
    stub->frame_size = 6;
}

/* That of deoptimization: its frame has 16 words, and is there, or begins, or has the frame pointer. */
TEST_OF_PUSHED_CALLS(a_stub_without_a_return_address_was_called_where_an_exception_was_thrown)
{
    static const struct {
        uint32_t sp, fp, caller;
    } ways[] = {{8, 0, 24}, {23, 0, 24}, {22, 0, 24}, {20, 22, 24}};
    begin(JDK_17);
    for (size_t i = 0; i < HPX_ARRAY_LEN(ways); i++) {
        struct hpx_raw_stack s;
        thread.thrown = 0;
        stub->frame_size = 16;
        stub->name = "DeoptimizationBlob";
        memset(stack, 0, sizeof stack);
        put_entry();
        put_compiled(ways[i].caller, call_return, address(50));
        assert_false(walk((uintptr_t)stub + CODE + 8, ways[i].sp, address(ways[i].fp), &s));
        thread.thrown = at(methods[1], 100);
        assert_true(walk((uintptr_t)stub + CODE + 8, ways[i].sp, address(ways[i].fp), &s));
        assert_int_equal(s.methods, 1);
        stub->name = "stub"; /* which may have been thrown long ago */
        assert_false(walk((uintptr_t)stub + CODE + 8, ways[i].sp, address(ways[i].fp), &s));
    }
    stub->frame_size = 6;
}

TEST(a_stub_that_begins_to_handle_an_exception_has_its_caller_by_a_register)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    put_entry();
    put_compiled(8, at(methods[1], 100), 0);
    put_compiled(12, call_return, address(50));
    struct hpx_raw_thread t = thread_at((uintptr_t)stub + CODE, 8, 0);
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    t.entering.thrown = at(methods[0], 100);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_int_equal(s.methods, 2);
    t.entering.thrown = (uintptr_t)stub + CODE;
    assert_false(hpx_raw_walk_take_sig(&t, &s));
}

/* At pc, with the stack pointer at `sp`: back, or what is on the stack, is where to return to, and `sender` the caller's stack pointer. */
static bool entering(uintptr_t pc, uint32_t sp, uintptr_t fp, uintptr_t back, uint32_t sender)
{
    struct hpx_raw_stack s;
    struct hpx_raw_thread t = thread_at(pc, sp, fp);
    t.entering = (struct hpx_entering){back, address(sender), 0};
    return hpx_raw_walk_take_sig(&t, &s) && s.methods == 1;
}

TEST_OF_PUSHED_CALLS(a_method_of_the_interpreter_that_is_entered_has_its_caller_by_the_registers)
{
    begin(JDK_17);
    put_entry();
    put_compiled(34, call_return, address(50));
    const uintptr_t pcs[] = {queue.buffer + 10, (uintptr_t)stub + CODE + 8}, back = at(methods[1], 100);
    stub->frame_size = 0; /* an adapter */
    for (size_t i = 0; i < HPX_ARRAY_LEN(pcs); i++) {
        stack[20] = stack[33] = 0;
        assert_false(entering(pcs[i], 20, 0, 0, 34) || entering(pcs[i], 20, 0, back, 33));
        assert_true(entering(pcs[i], 20, 0, back, 34));
        stack[20] = back;
        assert_true(entering(pcs[i], 20, 0, 0, 34));
        stack[20] = 0;
        stack[33] = back;
        assert_true(entering(pcs[i], 20, 0, 0, 34));
    }
    put_interpreted(44, call_return, address(50), 46, 6, HPX_BYTECODE);
    const uintptr_t waits[] = {address(30), (uintptr_t)-14};
    for (size_t i = 0; i < HPX_ARRAY_LEN(waits); i++) {
        stack[44 - 2] = waits[i]; /* an address, or relative */
        assert_true(entering(pcs[i], 20, address(44), queue.buffer + 40, 30));
        assert_false(entering(pcs[i], 20, address(44), queue.buffer + 40, 29)); /* there are frames between */
    }
    stub->frame_size = 6;
}

TEST_OF_PUSHED_CALLS(a_frame_whose_callee_has_returned_is_on_top)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    put_entry();
    put_interpreted(44, call_return, address(50), 46, 6, HPX_BYTECODE);
    stack[44 - 2] = address(30);
    stack[27] = 0;
    assert_true(walk(queue.buffer + 10, 30, address(44), &s));
    assert_false(walk(queue.buffer + 10, 28, address(44), &s));
    stack[27] = queue.buffer + 10; /* it has returned to here just now */
    assert_true(walk(queue.buffer + 10, 28, address(44), &s));
    assert_int_equal(s.methods, 1);
}

/* A method of the interpreter has called methods[0] by an adapter, and that one a stub. Both have left the registers as they were. */
TEST_OF_PUSHED_CALLS(registers_that_nobody_has_used_since_leave_no_method_out)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    put_entry();
    stub->frame_size = 0;
    stack[20] = at(methods[0], 100);
    put_compiled(21, queue.buffer + 40, address(44));
    stack[29] = queue.buffer + 40;
    put_interpreted(44, call_return, address(50), 46, 6, HPX_BYTECODE);
    stack[44 - 2] = address(30);
    struct hpx_raw_thread t = thread_at((uintptr_t)stub + CODE + 8, 20, address(44));
    t.entering = (struct hpx_entering){0, address(30), 0};
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_int_equal(s.methods, 2);
    stub->frame_size = 6;
}

/* The wrapper of the call stub's frame has the anchor of methods[1]. */
TEST_OF_PUSHED_CALLS(the_stub_that_c_calls_java_by_is_a_frame)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    put_entry();
    wrapper->anchor = (struct anchor){address(52), at(methods[1], 100), 0};
    stack[51] = 4096;
    struct hpx_raw_thread t = thread_at(call_return - 20, 40, address(50));
    t.depth = 1;
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_int_equal(s.methods, 1);
    t.at.pc = call_return - 44; /* another stub */
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    t.at.pc = call_return - 20;
    stack[51] = at(methods[1], 100); /* it is not called by Java */
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    stack[51] = 4096;
    t.at.sp = address(46); /* there is no room for its frame */
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    t.at = (struct hpx_registers){call_return + 4, address(38), address(50)};
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    t.at.sp = address(37); /* something is between */
    assert_false(hpx_raw_walk_take_sig(&t, &s));
    wrapper->anchor = (struct anchor){0, 0, 0};
}

TEST(frames_that_deoptimization_has_not_filled_are_one_that_stands_for_them)
{
    begin(JDK_17);
    assert_int_equal(deoptimized(0, address(24)), 3);
    assert_int_equal(ended, HPX_END_DEOPTIMIZATION);
    assert_true(part[0].method == HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED) && part[1].method == ids[1 + INTERPRETED] && part[1].bci == 6);
    assert_int_equal(deoptimized(0, 0), 2);
    assert_int_equal(part[1].method, ids[1 + SECOND]);
    assert_int_equal(deoptimized(address(12), address(24)), 3); /* all are filled */
    assert_int_equal(ended, HPX_END_WHOLE);
    assert_true(part[0].method == ids[1 + INTERPRETED] && part[2].method == ids[1 + SECOND]);
    assert_int_equal(deoptimized(0, address(24)), 3);
    struct hpx_raw_stack s;
    struct hpx_raw_thread t = thread_at(4096, 2, 0);
    assert_false(hpx_raw_walk_take_sig(&t, &s));
}

TEST_OF_PUSHED_CALLS(of_a_frame_that_may_have_been_left_only_the_method_counts)
{
    begin(JDK_17);
    put_entry();
    put_compiled(8, at(methods[1], 100), 0);
    put_compiled(12, 12345, 0);
    struct hpx_raw_thread t = thread_at(at(methods[0], 20), 8, 0);
    stack[8] = stack[9] = 0;
    assert_int_equal(hpx_raw_walk_frames_sig(&t, part, &ended, NULL, NULL), 2);
    stack[8] = at(methods[1], 100);
    assert_int_equal(hpx_raw_walk_frames_sig(&t, part, &ended, NULL, NULL), 1);
    assert_int_equal(ended, HPX_END_UNBUILT);
}

/* methods[0], whose frame begins at word `frame`, called by methods[1], called by C. */
static uint32_t methods_with(uintptr_t pc, uint32_t frame)
{
    struct hpx_raw_stack s;
    memset(stack, 0, 40 * sizeof *stack);
    put_entry();
    put_compiled(frame, at(methods[1], 100), 0);
    put_compiled(frame + 4, call_return, address(50));
    return walk(at(methods[0], pc), 8, 0, &s) ? s.methods : 0;
}

TEST(a_frame_below_pushed_words_or_before_its_mark_is_whole)
{
    begin(JDK_17);
    assert_int_equal(methods_with(20, 8), 2);
    assert_int_equal(methods_with(20, 9), 2);
    assert_int_equal(methods_with(20, 10), 2);
    assert_int_equal(methods_with(20, 11), 0);
    assert_int_equal(methods_with(8, 8), 2);
}

TEST(a_deep_stack_ends_at_the_depth)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    for (uint32_t word = 0; word + 4 <= WORDS; word += 4) {
        put_compiled(word, at(methods[1], 100), 0);
    }
    assert_false(walk(at(methods[0], 20), 4, 0, &s)); /* runs out of the stack */
    struct hpx_raw_thread t = thread_at(at(methods[0], 20), 4, 0);
    t.depth = 3;
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_int_equal(s.methods, 3);
    t.stack_end = 0;
    assert_false(hpx_raw_walk_take_sig(&t, &s));
}

TEST(an_interpreter_outside_of_the_code_is_refused)
{
    begin(JDK_17);
    queue.limit = 1 << 20;
    assert_non_null(hpx_frames_live());
    queue.limit = 256;
    call_return = 8;
    assert_non_null(hpx_frames_live());
}

/* ---- where a call leaves its return address in the link register ---- */

#if defined(__aarch64__)

#define SUB_SP UINT32_C(0xd10083ff) /* sub sp, sp, #32 */
#define STORE  UINT32_C(0xa9017bfd) /* stp x29, x30, [sp, #16] */
#define LOAD   UINT32_C(0xa9417bfd) /* ldp x29, x30, [sp, #16] */
#define ADD_SP UINT32_C(0x910083ff) /* add sp, sp, #32 */
#define RETURN UINT32_C(0xd65f03c0)

/* methods[0] makes its frame, and leaves it at 200; methods[1], whose frame is at word 12, has called it. */
static struct hpx_raw_thread at_instruction(uintptr_t pc, uint32_t sp, uintptr_t link)
{
    static const uint32_t makes[] = {SUB_SP, STORE}, leaves[] = {LOAD, ADD_SP, RETURN};
    memcpy((void *)at(methods[0], 0), makes, sizeof makes);
    memcpy((void *)at(methods[0], 200), leaves, sizeof leaves);
    memset(stack + 8, 0, 4 * sizeof *stack);
    put_entry();
    put_compiled(12, call_return, address(50));
    struct hpx_raw_thread t = thread_at(at(methods[0], pc), sp, 0);
    t.entering.back = link;
    return t;
}

TEST(a_method_without_its_frame_returns_to_the_link_register)
{
    begin(JDK_17);
    static const struct {
        uintptr_t pc;
        uint32_t sp;
    } without[] = {{0, 12}, {4, 8}, {208, 12}};
    struct hpx_raw_stack s;
    for (size_t i = 0; i < HPX_ARRAY_LEN(without); i++) {
        struct hpx_raw_thread t = at_instruction(without[i].pc, without[i].sp, at(methods[1], 100));
        assert_true(hpx_raw_walk_take_sig(&t, &s));
        assert_int_equal(s.methods, 2);
        t.entering.back = 12345;
        assert_false(hpx_raw_walk_take_sig(&t, &s));
    }
}

TEST(a_whole_frame_has_stored_what_the_link_register_has)
{
    begin(JDK_17);
    struct hpx_raw_stack s;
    struct hpx_raw_thread t = at_instruction(20, 8, at(methods[1], 100));
    put_compiled(8, at(methods[1], 100), 0);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_int_equal(s.methods, 2);
    put_compiled(8, at(methods[1], 500), 0); /* a dead frame: it is that of methods[1] which is at the stack pointer */
    t.at.sp = address(12);
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_int_equal(s.methods, 2);
    t.at.sp = address(8);
    put_compiled(8, at(methods[1], 500), 0);
    t.entering.back = at(methods[0], 24); /* it has called since */
    assert_true(hpx_raw_walk_take_sig(&t, &s));
    assert_int_equal(s.methods, 2);
}

TEST(a_signed_return_address_is_the_same_stack)
{
    begin(JDK_17);
    struct hpx_raw_stack plain = two_methods(20, 100), s;
    put_compiled(8, at(methods[1], 100) | (uintptr_t)0x5a << 48, 0);
    assert_true(walk(at(methods[0], 20), 8, 0, &s));
    assert_true(same(&plain, &s));
}

TEST(of_a_frame_that_is_left_no_other_answer_is_known)
{
    begin(JDK_17);
    static const struct {
        uintptr_t pc;
        uint32_t sp, broken;
    } cases[] = {{20, 8, UINT32_MAX}, {200, 8, UINT32_MAX}, {204, 8, UINT32_MAX}, {208, 12, HPX_FRAME_IS_LEFT}, {0, 12, UINT32_MAX}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        uint32_t broken = 0;
        struct hpx_raw_thread t = at_instruction(cases[i].pc, cases[i].sp, at(methods[1], 100));
        if (cases[i].sp == 8) {
            put_compiled(8, at(methods[1], 100), 0);
        }
        assert_int_equal(hpx_raw_walk_frames_sig(&t, part, &ended, &broken, NULL), 2);
        assert_int_equal(broken, cases[i].broken);
    }
}

#endif

int main(void)
{
    return vm_tables_run(the_tests, number_of_tests);
}

#else

int main(void)
{
    return 77;
}

#endif
