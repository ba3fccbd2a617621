/* SPDX-License-Identifier: BSD-2-Clause */
/* test_census.c: the census of a made-up heap: sets of threads as the JDK keeps them, and as no JDK would. Stacks are told by the test. */
#include "cmocka_all.h"

#include "census_read.h"
#include "internals.h"
#include "raw_walk.h"
#include "vm_flags.h"
#include "vm_tables.h"
#include <string.h>

#define FIELD_AT(f) (16u + 8u * (uint32_t)(f))
#define ROOM        ((size_t)1 << 20)

/* ---- the VM ---- */

struct symbol {
    uint16_t length;
    char body[62];
};
struct klass {
    struct symbol *name;
    struct klass *super;
};
struct pool {
    struct klass *holder;
    struct symbol *names[2]; /* behind its fields */
};
struct constant {
    struct pool *pool;
    uint16_t name, signature;
};
struct method {
    struct constant *constant;
};
/* A JavaThread, whose JNIEnv is in it. */
struct vm_thread {
    uintptr_t env, stack_base, stack_size, entering, waiting;
};

static struct made {
    struct symbol symbols[3];
    struct klass klass;
    struct pool pool;
    struct constant constant;
    struct method method;
} made[32];
static size_t nmade;

static struct made *make_class(const char *name)
{
    struct made *m = &made[nmade++];
    m->symbols[0].length = (uint16_t)strlen(name);
    memcpy(m->symbols[0].body, name, strlen(name));
    m->klass.name = &m->symbols[0];
    return m;
}

static uint64_t make_method(const char *class_name, const char *name)
{
    struct made *m = make_class(class_name);
    m->symbols[1].length = (uint16_t)strlen(name);
    memcpy(m->symbols[1].body, name, strlen(name));
    m->symbols[2] = (struct symbol){3, "()V"};
    m->pool = (struct pool){&m->klass, {&m->symbols[1], &m->symbols[2]}};
    m->constant = (struct constant){&m->pool, 0, 1};
    m->method.constant = &m->constant;
    return (uint64_t)(uintptr_t)&m->method;
}

bool hpx_vm_flag(const char *name, bool otherwise)
{
    (void)name, (void)otherwise;
    return false; /* references and class words of 8 bytes */
}

const char *hpx_internals_why(enum hpx_internals_part part)
{
    (void)part;
    return NULL;
}

static void describe_vm(void)
{
    static char heap[64];
    static void *heap_at = heap;
    vm_tables_type("Klass", sizeof(struct klass));
    vm_tables_type("Symbol", sizeof(struct symbol));
    vm_tables_type("CollectedHeap", sizeof heap);
    vm_tables_type("oopDesc", 16);
    vm_tables_type("Method", sizeof(struct method));
    vm_tables_type("ConstMethod", sizeof(struct constant));
    vm_tables_type("ConstantPool", offsetof(struct pool, names));
    vm_tables_type("Thread", sizeof(struct vm_thread));
    vm_tables_type("JavaThread", sizeof(struct vm_thread));
    vm_tables_type("ObjectMonitor", 8);
    vm_tables_field("Klass", "_name", "Symbol*", offsetof(struct klass, name));
    vm_tables_field("Klass", "_super", "Klass*", offsetof(struct klass, super));
    vm_tables_field("Symbol", "_length", "u2", offsetof(struct symbol, length));
    vm_tables_field("Symbol", "_body", NULL, offsetof(struct symbol, body));
    vm_tables_static("Universe", "_collectedHeap", "CollectedHeap*", &heap_at);
    vm_tables_field("CollectedHeap", "_total_collections", "unsigned int", 0);
    vm_tables_field("CollectedHeap", "_is_stw_gc_active", "bool", 8);
    vm_tables_field("oopDesc", "_metadata._klass", "Klass*", 8);
    vm_tables_field("Method", "_constMethod", "ConstMethod*", 0);
    vm_tables_field("ConstMethod", "_constants", "ConstantPool*", 0);
    vm_tables_field("ConstMethod", "_name_index", "u2", offsetof(struct constant, name));
    vm_tables_field("ConstMethod", "_signature_index", "u2", offsetof(struct constant, signature));
    vm_tables_field("ConstantPool", "_pool_holder", "InstanceKlass*", 0);
    vm_tables_field("Thread", "_stack_base", "address", offsetof(struct vm_thread, stack_base));
    vm_tables_field("Thread", "_stack_size", "size_t", offsetof(struct vm_thread, stack_size));
    vm_tables_field("JavaThread", "_current_pending_monitor", "ObjectMonitor*", offsetof(struct vm_thread, entering));
    vm_tables_field("JavaThread", "_current_waiting_monitor", "ObjectMonitor*", offsetof(struct vm_thread, waiting));
    vm_tables_field("ObjectMonitor", "_object", NULL, 0);
    vm_tables_constant("any", 1);
}

/* ---- the heap ---- */

static HPX_ALIGNED(8) char heap[ROOM];
static size_t taken;
static uint64_t handles[64];
static size_t nhandles;
static struct hpx_census_plan plan;
static struct made *object_class, *node_class, *array_class, *virtual_class, *lock_class;

static uint64_t make(const struct made *of, size_t bytes)
{
    bytes = (bytes + 7) & ~(size_t)7;
    assert_true(bytes <= ROOM - taken);
    char *p = memset(heap + taken, 0, bytes);
    const uintptr_t klass = (uintptr_t)&of->klass;
    taken += bytes;
    memcpy(p + 8, &klass, sizeof klass);
    return (uint64_t)(uintptr_t)p;
}

static uint64_t object(const struct made *of)
{
    return make(of, FIELD_AT(HPX_CENSUS_FIELDS));
}

static void set(uint64_t of, enum hpx_census_field f, uint64_t value)
{
    *(uint64_t *)(uintptr_t)(of + plan.at[f]) = value;
}

/* `gap`: bytes between the length and the elements. */
static uint64_t array(uint32_t n, size_t each, size_t gap)
{
    const uint64_t a = make(array_class, 20 + gap + n * each);
    *(uint32_t *)(uintptr_t)(a + 16) = n;
    return a;
}

static void put(uint64_t table, uint32_t i, uint64_t value)
{
    *(uint64_t *)(uintptr_t)(table + 24 + 8 * (uint64_t)i) = value;
}

static jobject local(uint64_t of)
{
    handles[nhandles] = of;
    return (jobject)(void *)&handles[nhandles++];
}

static uint64_t node(int32_t hash, uint64_t key, uint64_t next)
{
    const uint64_t n = object(node_class);
    set(n, HPX_CENSUS_HASH, (uint32_t)hash);
    set(n, HPX_CENSUS_KEY, key);
    set(n, HPX_CENSUS_NEXT, next);
    return n;
}

/* A set of a map with this table, which grows into the next one. */
static uint64_t set_of(uint64_t table, uint64_t next)
{
    const uint64_t s = object(object_class), map = object(object_class);
    set(s, HPX_CENSUS_MAP_OF_SET, map);
    set(map, HPX_CENSUS_TABLE, table);
    set(map, HPX_CENSUS_NEXT_TABLE, next);
    return s;
}

enum { PARKED = 5, PARKING = 2, RUNNING = 3 };

static uint64_t virtual(uint64_t tid, const char *name)
{
    const uint64_t t = object(virtual_class), cont = object(object_class), string = object(object_class);
    const uint32_t n = (uint32_t)strlen(name);
    const uint64_t bytes = array(n, 1, plan.oops.length_at == 16 ? 4 : 0);
    memcpy((char *)(uintptr_t)bytes + 24, name, n);
    set(string, HPX_CENSUS_VALUE, bytes);
    set(cont, HPX_CENSUS_TAIL, object(object_class));
    set(t, HPX_CENSUS_TID, tid);
    set(t, HPX_CENSUS_STATE, PARKED);
    set(t, HPX_CENSUS_NAME, n > 0 ? string : 0);
    set(t, HPX_CENSUS_CONT, cont);
    return t;
}

/* ---- stacks ---- */

static uint64_t yields, parks, runs;
static bool on_carrier, unreadable; /* of unmounted threads: the innermost frames are not in the heap; nothing can be read */

int __wrap_hpx_raw_walk_chunk_sig(uintptr_t chunk, uint32_t depth, struct hpx_ev_frame *out, enum hpx_raw_end *end);
int __wrap_hpx_raw_walk_chunk_sig(uintptr_t chunk, uint32_t depth, struct hpx_ev_frame *out, enum hpx_raw_end *end)
{
    const uint64_t all[] = {yields, parks, runs};
    int n = 0;
    assert_true(chunk >= (uintptr_t)heap && depth >= 3);
    *end = unreadable ? HPX_END_DEAD_CODE : HPX_END_WHOLE;
    for (int i = on_carrier ? 1 : 0; i < 3 && !unreadable; i++) {
        out[n++] = (struct hpx_ev_frame){.method = all[i], .bci = i};
    }
    return n;
}

/* ---- a census ---- */

static struct hpx_census *census;
static _Atomic uint64_t progress;

static void begin(void)
{
    static HPX_ALIGNED(16) char room[ROOM];
    describe_vm();
    assert_null(hpx_census_read_init());
    object_class = make_class("java/lang/Object");
    node_class = make_class("Node");
    array_class = make_class("[I");
    virtual_class = make_class("java/lang/VirtualThread");
    lock_class = make_class("Lock");
    lock_class->klass.super = &make_class("java/util/concurrent/locks/AbstractOwnableSynchronizer")->klass;
    yields = make_method("jdk/internal/vm/Continuation", "yield");
    parks = make_method("Program", "parks");
    runs = make_method("java/lang/VirtualThread", "run");
    plan = (struct hpx_census_plan){
        .oops = {.length_at = 16, .class_at = 8, .low = (uint64_t)(uintptr_t)heap, .high = (uint64_t)(uintptr_t)heap + ROOM},
        .depth = 8,
        .states = {{PARKED, HPX_STATUS_WAITING, false}, {PARKING, HPX_STATUS_RUNNABLE, true}, {RUNNING, HPX_STATUS_RUNNABLE, true}},
        .nstates = 3};
    for (uint32_t f = 0; f < HPX_CENSUS_FIELDS; f++) {
        plan.at[f] = FIELD_AT(f);
    }
    const uint64_t holder = array(HPX_CENSUS_KNOWN, 8, 4), text = array(sizeof HPX_CENSUS_TEXT, 1, 4);
    for (uint32_t i = 0; i < HPX_CENSUS_KNOWN; i++) {
        const uint64_t one = object(object_class);
        put(holder, i, one);
        plan.known[i] = local(one);
    }
    memcpy((char *)(uintptr_t)text + 24, HPX_CENSUS_TEXT, sizeof HPX_CENSUS_TEXT);
    plan.holder = local(holder);
    plan.text = local(text);
    const char *const others[HPX_CENSUS_CLASSES] = {NULL, "Executor", "Shared", "Scope"};
    for (int i = 0; i < HPX_CENSUS_CLASSES; i++) {
        plan.instances[i] = local(object(others[i] != NULL ? make_class(others[i]) : virtual_class));
    }
    plan.containers = local(set_of(array(4, 8, 4), 0));
    census = (struct hpx_census *)(void *)room;
    *census = (struct hpx_census){.size = sizeof room};
}

static enum hpx_census_end read_set(uint64_t set)
{
    plan.roots = local(set);
    return hpx_census_read(&plan, census, &progress);
}

/* Of threads in one bin. */
static enum hpx_census_end read_threads(const uint64_t *threads, uint32_t n)
{
    const uint64_t table = array(4, 8, 4);
    uint64_t first = 0;
    for (uint32_t i = n; i > 0; i--) {
        first = node(7, threads[i - 1], first);
    }
    put(table, 3, first);
    return read_set(set_of(table, 0));
}

TEST(threads_of_one_stack_and_state_are_one_group)
{
    begin();
    const uint64_t all[] = {virtual(31, ""), virtual(32, "named")};
    assert_int_equal(read_threads(all, 2), HPX_CENSUS_WHOLE);
    assert_int_equal(census->threads, 2);
    assert_int_equal(census->unread, 0);
    assert_int_equal(census->ngroups, 1);
    assert_int_equal(census->groups[0].status, HPX_STATUS_WAITING);
    const struct hpx_census_stack *s = &census->stacks[census->groups[0].stack];
    assert_int_equal(s->n, 2);
    assert_string_equal(census->methods[s->frames[0].method].name, "parks");
    assert_string_equal(census->methods[s->frames[0].method].class_signature, "LProgram;");
}

TEST(a_named_thread_takes_the_place_of_an_unnamed_one_only_if_there_is_no_room)
{
    begin();
    const uint64_t all[] = {virtual(31, ""), virtual(32, "a"), virtual(33, "b"), virtual(34, "c")};
    assert_int_equal(read_threads(all, 2), HPX_CENSUS_WHOLE);
    assert_int_equal(census->groups[0].who[0].tid, 32);
    assert_int_equal(census->groups[0].who[1].tid, 31);
    *census = (struct hpx_census){.size = census->size};
    assert_int_equal(read_threads(all, 4), HPX_CENSUS_WHOLE);
    for (uint32_t i = 0; i < HPX_CENSUS_NAMES; i++) {
        assert_int_equal(census->groups[0].who[i].tid, 32 + i);
    }
    assert_string_equal(census->groups[0].who[2].name, "c");
}

TEST(a_map_that_grows_has_threads_in_both_tables)
{
    begin();
    const uint64_t both = virtual(31, ""), moved = virtual(32, ""), table = array(2, 8, 4), next = array(4, 8, 4);
    put(table, 0, node(2, both, 0));
    put(table, 1, node(-1, 0, 0));
    put(next, 2, node(2, both, 0));
    put(next, 3, node(3, moved, 0));
    assert_int_equal(read_set(set_of(table, next)), HPX_CENSUS_WHOLE);
    assert_int_equal(census->threads, 2);
}

TEST(the_next_table_is_found_when_only_nodes_lead_to_it)
{
    begin();
    const uint64_t table = array(2, 8, 4), next = array(4, 8, 4);
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t forwards = node(-1, 0, 0);
        set(forwards, HPX_CENSUS_FORWARDED, next);
        put(table, i, forwards);
    }
    put(next, 1, node(1, virtual(31, ""), 0));
    assert_int_equal(read_set(set_of(table, 0)), HPX_CENSUS_WHOLE);
    assert_int_equal(census->threads, 1);
}

TEST(a_tree_is_read_by_its_list_and_other_nodes_have_nothing)
{
    begin();
    const uint64_t table = array(2, 8, 4), tree = node(-2, 0, 0);
    set(tree, HPX_CENSUS_FIRST, node(1, virtual(31, ""), node(1, virtual(32, ""), 0)));
    put(table, 0, tree);
    const uint64_t reserved = node(-3, virtual(33, ""), 0);
    set(reserved, HPX_CENSUS_FIRST, node(1, virtual(34, ""), 0));
    put(table, 1, reserved);
    assert_int_equal(read_set(set_of(table, 0)), HPX_CENSUS_WHOLE);
    assert_int_equal(census->threads, 2);
}

TEST(a_circle_of_nodes_ends)
{
    begin();
    const uint64_t table = array(1, 8, 4), first = node(1, virtual(31, ""), 0), second = node(1, virtual(32, ""), first);
    set(first, HPX_CENSUS_NEXT, second);
    put(table, 0, first);
    assert_int_equal(read_set(set_of(table, 0)), HPX_CENSUS_STRANGE);
}

TEST(a_circle_of_scopes_ends)
{
    begin();
    const uint64_t first = object(object_class), second = object(object_class), thread = virtual(31, "");
    set(first, HPX_CENSUS_PREVIOUS, second);
    set(second, HPX_CENSUS_PREVIOUS, first);
    set(thread, HPX_CENSUS_SCOPES, first);
    assert_int_equal(read_threads(&thread, 1), HPX_CENSUS_WHOLE);
    assert_int_equal(census->threads, 1);
}

TEST(what_is_outside_of_the_heap_ends_the_census)
{
    begin();
    const uint64_t thread = virtual(31, "");
    set(thread, HPX_CENSUS_BLOCKER, (uint64_t)(uintptr_t)heap + ROOM);
    assert_int_equal(read_threads(&thread, 1), HPX_CENSUS_STRANGE);
}

TEST(known_arrays_must_have_their_elements)
{
    begin();
    const uint64_t thread = virtual(31, "");
    plan.known[1] = plan.known[0];
    assert_int_equal(read_threads(&thread, 1), HPX_CENSUS_STRANGE);
}

/* Between the moment in which a thread says that it has no carrier, and the one in which its frames are in the heap. */
TEST(frames_that_may_be_on_a_carrier_are_not_told)
{
    begin();
    const uint64_t thread = virtual(31, "");
    on_carrier = true;
    assert_int_equal(read_threads(&thread, 1), HPX_CENSUS_WHOLE);
    assert_int_equal(census->unread, 0); /* parked: no yield is needed to believe it */
    set(thread, HPX_CENSUS_STATE, PARKING);
    *census = (struct hpx_census){.size = census->size};
    assert_int_equal(read_threads(&thread, 1), HPX_CENSUS_WHOLE);
    assert_int_equal(census->unread, 1);
    assert_int_equal(census->stacks[census->groups[0].stack].n, 0);
    on_carrier = false;
    *census = (struct hpx_census){.size = census->size};
    assert_int_equal(read_threads(&thread, 1), HPX_CENSUS_WHOLE);
    assert_int_equal(census->unread, 0);
    assert_int_equal(census->stacks[census->groups[0].stack].n, 2);
}

TEST(a_stack_that_cannot_be_read_is_counted)
{
    begin();
    const uint64_t thread = virtual(31, "");
    unreadable = true;
    assert_int_equal(read_threads(&thread, 1), HPX_CENSUS_WHOLE);
    assert_int_equal(census->threads, 1);
    assert_int_equal(census->unread, 1);
}

TEST(a_thread_without_a_chunk_has_not_run)
{
    begin();
    const uint64_t thread = virtual(31, "");
    set(thread, HPX_CENSUS_CONT, 0);
    assert_int_equal(read_threads(&thread, 1), HPX_CENSUS_WHOLE);
    assert_int_equal(census->unread, 0);
    assert_int_equal(census->stacks[census->groups[0].stack].n, 0);
}

static uint64_t container(enum hpx_census_class of, enum hpx_census_field threads, enum hpx_census_field name, const char *is,
                          uint64_t thread)
{
    const uint64_t table = array(1, 8, 4), names = virtual(1, is), reference = object(object_class);
    uint64_t c = *(uint64_t *)(void *)plan.instances[of], holds = c;
    put(table, 0, node(1, thread, 0));
    if (of == HPX_CENSUS_OF_SCOPE) {
        holds = object(object_class);
        set(c, HPX_CENSUS_FLOCK, holds);
    }
    set(holds, threads, set_of(table, 0));
    set(holds, name, *(uint64_t *)(uintptr_t)(names + plan.at[HPX_CENSUS_NAME]));
    set(reference, HPX_CENSUS_REFERENT, c);
    return reference;
}

TEST(groups_have_the_names_of_their_containers)
{
    begin();
    const uint64_t table = array(4, 8, 4), alone = virtual(30, "");
    put(table, 0, node(1, container(HPX_CENSUS_EXECUTOR, HPX_CENSUS_OF_EXECUTOR, HPX_CENSUS_NAME_OF_SHARED, "", virtual(31, "")), 0));
    put(table, 1, node(1, container(HPX_CENSUS_SHARED, HPX_CENSUS_OF_SHARED, HPX_CENSUS_NAME_OF_SHARED, "p.Pool@1f", virtual(32, "")), 0));
    put(table, 2, node(1, container(HPX_CENSUS_OF_SCOPE, HPX_CENSUS_OF_FLOCK, HPX_CENSUS_NAME_OF_FLOCK, "orders", virtual(33, "")), 0));
    plan.containers = local(set_of(table, 0));
    assert_int_equal(read_threads(&alone, 1), HPX_CENSUS_WHOLE);
    static const char *const names[] = {NULL, "java.util.concurrent.ThreadPerTaskExecutor", "p.Pool", "orders"};
    assert_int_equal(census->ngroups, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct hpx_census_group *g = &census->groups[i];
        assert_in_range(g->who[0].tid, 30, 33);
        const char *want = names[g->who[0].tid - 30];
        assert_true(want == NULL ? g->container == NULL : g->container != NULL && strcmp(g->container, want) == 0);
    }
}

TEST(whom_a_lock_has_as_its_owner_is_an_edge)
{
    begin();
    const uint64_t lock = object(lock_class), owner = virtual(31, "owner"), waits = virtual(32, ""), all[] = {owner, waits};
    set(lock, HPX_CENSUS_EXCLUSIVE, owner);
    set(waits, HPX_CENSUS_BLOCKER, lock);
    assert_int_equal(read_threads(all, 2), HPX_CENSUS_WHOLE);
    assert_int_equal(census->nedges, 1);
    assert_int_equal(census->edges[0].who.tid, 32);
    assert_int_equal(census->edges[0].owner, 31);
    const struct hpx_census_group *g = &census->groups[census->edges[0].group];
    assert_string_equal(g->waits_for, "LLock;");
    assert_string_equal(g->owner.name, "owner");
}

TEST(a_census_that_has_no_room_says_so)
{
    begin();
    const uint64_t thread = virtual(31, "");
    census->size = sizeof *census + 16;
    assert_int_equal(read_threads(&thread, 1), HPX_CENSUS_NO_MEMORY);
}

int main(void)
{
    return vm_tables_run(the_tests, number_of_tests);
}
