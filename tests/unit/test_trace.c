/* SPDX-License-Identifier: BSD-2-Clause */
/* test_trace.c: a walk that reads the heap itself (agent/heap/trace.h), with a VM that has objects in memory and tells of them as it is
 * asked to. References are narrow, class words too: both shifted by 3, from bases of their own. */
#include "cmocka_all.h"
#include "failing_memory.h"
#include "heap_reader.h"
#include "walk.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_attribute) && __has_attribute(no_sanitize_address)
#define ON_STACK __attribute__((noinline, no_sanitize_address)) /* AddressSanitizer may keep variables elsewhere */
#else
#define ON_STACK __attribute__((noinline))
#endif

/* Classes by number. Node { Node next; int n; byte b; static Object S }; Fiber: a virtual thread; Plain*: no fields. */
enum { NONE, CLASS, OBJECT, NODE, NODES, INTS, FIBER, PLAIN, CLASSES = PLAIN + 10 };
#define HEAP     (UINT64_C(1) << 20) /* bytes; classes lie behind it */
#define AREA     (2 * HEAP)
#define KLASS_AT 40
#define SIZE_AT  12
#define NEXT_AT  12
#define N_AT     16
#define B_AT     20
#define TAKER    7
#define MOST     12000
#define STACKS   1000
#define ID(at)   ((uint32_t)(at) << 2 | 2)

static struct {
    uint64_t at; /* the heap */
    uint64_t used;
    struct {
        uint64_t key;
        int klass;
        bool visited;
    } objects[MOST];
    uint32_t nobjects;
    uint32_t wide; /* of them, a long array */
    uint64_t mirrors[CLASSES], klasses[CLASSES];
    uint64_t roots[8];
    uint32_t nroots, visited, nodes_visited;
    bool torn;          /* what Node refers to is told in two parts */
    bool classes_last;  /* class objects are visited when nothing else is left */
    uint64_t statics;   /* what Node.S holds; 0: null */
    uint64_t of_object; /* what a static field of Object holds, which only a reference of the thread that takes the dump names; 0: not so */
    uint64_t helper, helper_ref; /* an array that a reference of that thread names */
    struct {
        uint64_t of, holds;
    } stacks[STACKS]; /* of virtual threads */
    uint32_t nstacks;
    uint64_t unheard; /* the VM does not visit this object */
    jlong plain;      /* bytes of the first plain object; 0: 16 */
    /* what differs from the memory */
    uint64_t silent;         /* a reference in this object is not told */
    int wrong_value, untold; /* a class object that is no root; 0: all are */
    struct hpx_heap_klass *classes[CLASSES];
    struct hpx_class_number numbers[CLASSES];
    uint64_t handles[CLASSES];
    jclass refs[CLASSES];
    struct hpx_layout layout;
    struct hpx_walk walk;
    int fd;
    const uint8_t *spool;
    size_t spool_len;
} vm;

static void put4(uint64_t at, uint32_t value)
{
    memcpy((void *)(uintptr_t)at, &value, sizeof value);
}

static uint32_t get4(uint64_t at)
{
    uint32_t value;
    memcpy(&value, (const void *)(uintptr_t)at, sizeof value);
    return value;
}

static uint32_t narrow(uint64_t key)
{
    return key != 0 ? (uint32_t)((key - vm.at + HEAP) >> 3) : 0;
}

static uint64_t wide(uint32_t word)
{
    return word != 0 ? vm.at - HEAP + ((uint64_t)word << 3) : 0;
}

static uint32_t class_word(int klass)
{
    return (uint32_t)((vm.klasses[klass] - vm.at + 64) >> 3);
}

static uint64_t make(int klass, uint32_t bytes, jint length)
{
    uint64_t key = vm.at + vm.used;
    vm.used += ((uint64_t)bytes + 7) / 8 * 8;
    assert_true(vm.used <= HEAP && vm.nobjects < MOST);
    put4(key + 8, class_word(klass));
    if (length >= 0) {
        put4(key + 12, (uint32_t)length);
    }
    vm.objects[vm.nobjects].key = key;
    vm.objects[vm.nobjects].visited = false;
    vm.objects[vm.nobjects++].klass = klass;
    return key;
}

static uint64_t node(uint64_t next, uint32_t n, uint8_t b)
{
    uint64_t key = make(NODE, 24, -1);
    put4(key + NEXT_AT, narrow(next));
    put4(key + N_AT, n);
    *(uint8_t *)(uintptr_t)(key + B_AT) = b;
    return key;
}

static void root(uint64_t key)
{
    vm.roots[vm.nroots++] = key;
}

static struct hpx_heap_klass *klass_named(const char *name, int number, enum hpx_heap_kind kind, uint32_t size)
{
    struct hpx_heap_klass *k = calloc(1, sizeof *k + 4 * sizeof k->fields[0]);
    assert_non_null(k);
    k->number = (struct hpx_class_number){(uint32_t)number};
    k->name = (struct hpx_text){name, (uint32_t)strlen(name)};
    k->kind = kind;
    k->linked = true;
    k->instance_size = size;
    return k;
}

static void classes(void)
{
    static const uint64_t slots[] = {HPX_HEAP_SLOT(0, HPX_TYPE_OBJECT), HPX_HEAP_SLOT(8, HPX_TYPE_INT), HPX_HEAP_SLOT(12, HPX_TYPE_BYTE),
                                     0};
    static uint32_t ids[4];
    ids[0] = ID(NEXT_AT), ids[1] = ID(N_AT), ids[2] = ID(B_AT), ids[3] = 0;
    for (int i = CLASS; i < CLASSES; i++) {
        enum hpx_heap_kind kind = i == NODES ? HPX_HEAP_OBJECTS : i == INTS ? HPX_HEAP_PRIMITIVES : HPX_HEAP_INSTANCES;
        vm.classes[i] = klass_named("A", i, kind, i == NODE ? 13 : 0);
        vm.klasses[i] = vm.at + HEAP + 512 * (uint64_t)i;
        put4(vm.klasses[i] + SIZE_AT, i == NODE ? 24 : 16);
    }
    vm.classes[INTS]->type = HPX_TYPE_INT;
    vm.classes[NODE]->slots = slots;
    vm.classes[NODE]->ids = ids;
    vm.classes[NODE]->nslots = 4;
    vm.classes[NODE]->nfields = 4;
    vm.classes[NODE]->fields[3] = (struct hpx_heap_field){.type = HPX_TYPE_OBJECT, .is_static = true};
    vm.classes[FIBER]->thread = vm.classes[FIBER]->virtual_thread = true;
    for (int i = CLASS; i < CLASSES; i++) {
        vm.mirrors[i] = make(CLASS, 200, -1);
        memcpy((void *)(uintptr_t)(vm.mirrors[i] + KLASS_AT), &vm.klasses[i], sizeof vm.klasses[i]);
        vm.handles[i] = vm.mirrors[i];
        vm.refs[i - 1] = (jclass)(void *)&vm.handles[i];
        vm.numbers[i - 1] = (struct hpx_class_number){(uint32_t)i};
    }
    for (int i = PLAIN; i < CLASSES; i++) {
        make(i, 16, -1);
    }
}

static void begin(void)
{
    memset(&vm, 0, sizeof vm);
    void *p = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    vm.at = (uint64_t)(uintptr_t)p;
    vm.used = 64;
    classes();
    vm.layout = (struct hpx_layout){.classes = (const struct hpx_heap_klass **)(void *)vm.classes,
                                    .nclasses = CLASSES,
                                    .loaded = CLASSES - 1,
                                    .class_class = {CLASS},
                                    .object_class = {OBJECT},
                                    .largest = 100,
                                    .class_refs = vm.refs,
                                    .class_numbers = vm.numbers};
    vm.walk = (struct hpx_walk){
        .oops =
            {.length_at = 12, .class_at = 8, .class_of_classes = class_word(CLASS), .field_shift = 2, .low = vm.at, .high = vm.at + HEAP},
        .layout = &vm.layout,
        .array_base = 16,
        .reference_size = 4,
        .alignment = 8,
        .primitive_fields = true,
        .primitive_arrays = true,
        .wide = true,
        .traces = true,
        .classes_room = 64,
        .classes = calloc(64, sizeof(struct hpx_walk_class))};
    vm.fd = memfd_create("spool", 0);
    assert_int_equal(hpx_heap_spool_init(&vm.walk.spool, vm.fd, 8, 100), 0);
    /* One of each plain class in an array that is a root: what the VM tells of them teaches how a class is encoded. */
    uint64_t all = make(NODES, 16 + 4 * 10, 10);
    for (int i = 0; i < 10; i++) {
        put4(all + 16 + 4 * (uint64_t)i, narrow(vm.objects[CLASSES - 1 + i].key));
    }
    root(all);
}

static int end(void **state)
{
    (void)state;
    hpx_walk_fini(&vm.walk);
    for (int i = CLASS; i < CLASSES; i++) {
        free(vm.classes[i]);
    }
    munmap((void *)(uintptr_t)vm.at, AREA);
    close(vm.fd);
    return 0;
}

/* ---- the VM's walk ---- */

struct telling {
    const void *map, *table;
    uint64_t object;
    jlong size, tag, class_tag;
    uint64_t to_self;
    const void *referrer_table;
    uint64_t referrer;
    jlong referrer_tag;
};

static uint32_t place_of(uint64_t key)
{
    uint32_t i = 0;
    while (i < vm.nobjects && vm.objects[i].key != key) {
        i++;
    }
    if (i == vm.nobjects) { /* an array in the helper */
        assert_true(key > vm.helper && key < vm.helper + 16 + UINT64_C(4) * HPX_TRACE_HELPER && i < MOST);
        assert_int_equal(get4(key + 8), class_word(NODES));
        vm.objects[vm.nobjects].key = key;
        vm.objects[vm.nobjects++].klass = NODES;
    }
    return i;
}

static bool stopped;
static uint32_t waiting[MOST], nwaiting; /* not visited yet; the last one is the next */

static ON_STACK void tell(const jvmtiHeapCallbacks *all, void *user, jvmtiHeapReferenceKind kind, jint index, uint64_t from, uint64_t to)
{
    struct telling t = {.object = to, .referrer = from};
    jvmtiHeapReferenceInfo info = {.field = {.index = index}};
    uint32_t at = place_of(to);
    if (kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL) {
        info.jni_local.thread_id = index;
    }
    int klass = vm.objects[at].klass;
    jint length = klass == NODES || klass == INTS ? (jint)get4(to + 12) : -1;
    jlong size = klass == CLASS ? 200 : klass == NODE ? 24 : klass == PLAIN && vm.plain != 0 ? vm.plain : 16;
    if (stopped) {
        return;
    }
    jint rc = all->heap_reference_callback(kind, &info, 0, 0, size, &t.tag, from != 0 ? &t.referrer_tag : NULL, length, user);
    stopped = (rc & JVMTI_VISIT_ABORT) != 0;
    if (rc == JVMTI_VISIT_OBJECTS && !vm.objects[at].visited && to != vm.unheard) {
        vm.objects[at].visited = true;
        waiting[nwaiting++] = at;
    }
}

static ON_STACK void tell_value(const jvmtiHeapCallbacks *all, void *user, uint64_t of, jint index, jvmtiPrimitiveType type, jvalue value)
{
    struct telling t = {.object = of};
    jvmtiHeapReferenceInfo info = {.field = {.index = index}};
    stopped =
        stopped || all->primitive_field_callback(JVMTI_HEAP_REFERENCE_FIELD, &info, 0, &t.tag, value, type, user) == JVMTI_VISIT_ABORT;
}

static ON_STACK void tell_ints(const jvmtiHeapCallbacks *all, void *user, uint64_t of)
{
    struct telling t = {.object = of};
    stopped = stopped || all->array_primitive_value_callback(0, 16, &t.tag, (jint)get4(of + 12), JVMTI_PRIMITIVE_TYPE_INT,
                                                             (const void *)(uintptr_t)(of + 16), user) == JVMTI_VISIT_ABORT;
}

static void visit(const jvmtiHeapCallbacks *all, void *user, uint64_t key, int klass)
{
    vm.visited++;
    vm.nodes_visited += klass == NODE;
    if (klass == CLASS) {
        if (key == vm.mirrors[NODE] && vm.statics != 0) {
            tell(all, user, JVMTI_HEAP_REFERENCE_STATIC_FIELD, 3, key, vm.statics);
        }
        if (key == vm.mirrors[NODE] && vm.torn) {
            tell(all, user, JVMTI_HEAP_REFERENCE_STATIC_FIELD, 0, vm.mirrors[OBJECT], vm.statics);
            tell(all, user, JVMTI_HEAP_REFERENCE_STATIC_FIELD, 3, key, vm.statics);
        }
        if (key == vm.mirrors[OBJECT] && vm.of_object != 0) {
            tell(all, user, JVMTI_HEAP_REFERENCE_STATIC_FIELD, 0, key, vm.of_object);
        }
        return;
    }
    for (uint32_t i = 0; klass == FIBER && i < vm.nstacks; i++) {
        if (vm.stacks[i].of == key) {
            tell(all, user, JVMTI_HEAP_REFERENCE_STACK_LOCAL, 0, 0, vm.stacks[i].holds);
        }
    }
    tell(all, user, JVMTI_HEAP_REFERENCE_CLASS, 0, key, vm.mirrors[klass]);
    if (klass == NODE && get4(key + NEXT_AT) != 0 && vm.silent != key) {
        tell(all, user, JVMTI_HEAP_REFERENCE_FIELD, 0, key, wide(get4(key + NEXT_AT)));
    }
    if (klass == NODE) {
        tell_value(all, user, key, 1, JVMTI_PRIMITIVE_TYPE_INT, (jvalue){.i = (jint)get4(key + N_AT) + vm.wrong_value});
        tell_value(all, user, key, 2, JVMTI_PRIMITIVE_TYPE_BYTE, (jvalue){.b = *(const jbyte *)(uintptr_t)(key + B_AT)});
    }
    for (jint i = 0; klass == NODES && i < (jint)get4(key + 12); i++) {
        uint64_t element = wide(get4(key + 16 + 4 * (uint64_t)i));
        if (element != 0) {
            tell(all, user, JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT, i, key, element);
        }
    }
    if (klass == INTS) {
        tell_ints(all, user, key);
    }
}

static jvmtiError JNICALL follow(jvmtiEnv *env, jint filter, jclass klass, jobject first, const jvmtiHeapCallbacks *all, const void *user)
{
    void *w = (void *)(uintptr_t)user;
    (void)env, (void)filter, (void)klass, (void)first;
    stopped = false;
    nwaiting = 0;
    if (vm.helper != 0) {
        tell(all, w, JVMTI_HEAP_REFERENCE_STACK_LOCAL, 0, 0, vm.roots[0]);
        tell(all, w, JVMTI_HEAP_REFERENCE_JNI_LOCAL, TAKER, 0, vm.helper);
    }
    for (int i = CLASS; i < CLASSES; i++) {
        if (i == OBJECT && vm.of_object != 0) {
            tell(all, w, JVMTI_HEAP_REFERENCE_JNI_LOCAL, TAKER, 0, vm.mirrors[i]);
        } else if (i != vm.untold) {
            tell(all, w, JVMTI_HEAP_REFERENCE_SYSTEM_CLASS, 0, 0, vm.mirrors[i]);
        }
    }
    for (uint32_t i = vm.helper != 0; i < vm.nroots; i++) {
        tell(all, w, JVMTI_HEAP_REFERENCE_JNI_GLOBAL, 0, 0, vm.roots[i]);
    }
    while (nwaiting > 0 && !stopped) {
        uint32_t i = nwaiting - 1;
        while (vm.classes_last && i > 0 && vm.objects[waiting[i]].klass == CLASS) {
            i--;
        }
        uint32_t at = waiting[i];
        waiting[i] = waiting[--nwaiting];
        visit(all, w, vm.objects[at].key, vm.objects[at].klass);
    }
    return JVMTI_ERROR_NONE;
}

static enum hpx_walk_end walked(void)
{
    static const struct jvmtiInterface_1_ tool = {.FollowReferences = follow};
    jvmtiEnv jvmti = &tool;
    hpx_walk_follow(&jvmti, &vm.walk);
    hpx_walk_finish(&vm.walk);
    vm.spool_len = (size_t)lseek(vm.fd, 0, SEEK_END);
    return vm.walk.end;
}

/* ---- whole walks ---- */

#define ALL_OBJECTS 11 /* begin() has ten in an array */

static uint64_t id_of(uint64_t key)
{
    return HPX_HEAP_OBJECT_FIRST + key;
}

/* The values of an instance in the spool. */
static void values_of(uint64_t key, uint8_t *to, size_t n)
{
    uint8_t *all = malloc(vm.spool_len), id[8];
    assert_int_equal(pread(vm.fd, all, vm.spool_len, 0), vm.spool_len);
    for (int i = 0; i < 8; i++) {
        id[i] = (uint8_t)(id_of(key) >> (56 - 8 * i));
    }
    size_t at = 0;
    while (all[at] != HPX_SUB_INSTANCE || memcmp(all + at + 1, id, 8) != 0) {
        assert_true(++at + 25 + n < vm.spool_len);
    }
    memcpy(to, all + at + 25, n);
    free(all);
}

TEST(everything_that_roots_reach_is_read_though_the_vm_tells_of_one_of_each, NULL, end)
{
    begin();
    uint64_t last = node(0, 5, 6), chain = last;
    for (uint32_t i = 0; i < 200; i++) {
        chain = node(chain, 0x01020300 + i, 0x7f);
    }
    root(chain);
    (void)node(0, 1, 1); /* nothing refers to it */
    uint64_t ints = make(INTS, 16 + 4 * 3, 3);
    vm.statics = ints;
    assert_int_equal(walked(), HPX_WALK_WHOLE);
    assert_int_equal(vm.walk.found.objects, ALL_OBJECTS + 201 + 1);
    assert_int_equal(vm.nodes_visited, 1);
    assert_int_equal(vm.walk.found.bytes, 10 * 16 + 56 + 201 * 24 + 32);
    uint8_t values[13];
    values_of(last, values, sizeof values);
    static const uint8_t want[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 6};
    assert_memory_equal(values, want, sizeof want);
}

TEST(an_array_of_any_length_is_read_to_its_end, NULL, end)
{
    begin();
    uint64_t array = make(NODES, 16 + 4 * 300, 300);
    for (uint32_t i = 0; i < 300; i += 2) {
        put4(array + 16 + 4 * (uint64_t)i, narrow(node(0, i, 0)));
    }
    root(array);
    assert_int_equal(walked(), HPX_WALK_WHOLE);
    assert_int_equal(vm.walk.found.objects, ALL_OBJECTS + 1 + 150);
}

TEST(the_vm_visits_no_long_array, NULL, end)
{
    begin();
    uint64_t array = make(NODES, 16 + 4 * 65537, 65537);
    put4(array + 16, narrow(node(0, 1, 0)));
    put4(array + 16 + UINT64_C(4) * 65536, narrow(node(0, 2, 0)));
    root(vm.roots[0]);
    vm.roots[0] = array; /* the VM tells of it before any other array */
    assert_int_equal(walked(), HPX_WALK_WHOLE);
    assert_int_equal(vm.walk.found.objects, ALL_OBJECTS + 1 + 2);
    assert_false(vm.objects[place_of(array)].visited);
}

TEST(the_vm_may_visit_all_for_comparison, NULL, end)
{
    begin();
    uint64_t chain = 0;
    for (uint32_t i = 0; i < 20; i++) {
        chain = node(chain, i, 0);
    }
    root(chain);
    vm.walk.verifies = true;
    assert_int_equal(walked(), HPX_WALK_WHOLE);
    assert_int_equal(vm.nodes_visited, 20);
}

/* ---- contradictions ---- */

static uint64_t two_nodes(void)
{
    begin();
    uint64_t second = node(0, 2, 2);
    root(node(second, 1, 1));
    return second;
}

TEST(a_field_elsewhere_is_noticed, NULL, end)
{
    two_nodes();
    ((uint32_t *)(uintptr_t)vm.classes[NODE]->ids)[0] = ID(N_AT);
    assert_int_equal(walked(), HPX_WALK_STRANGE);
    end(NULL);
    two_nodes();
    ((uint32_t *)(uintptr_t)vm.classes[NODE]->ids)[1] = ID(NEXT_AT);
    assert_int_equal(walked(), HPX_WALK_STRANGE);
}

TEST(a_value_that_differs_is_noticed, NULL, end)
{
    two_nodes();
    vm.wrong_value = 1;
    assert_int_equal(walked(), HPX_WALK_STRANGE);
}

TEST(a_reference_that_the_vm_does_not_tell_is_noticed, NULL, end)
{
    two_nodes();
    vm.silent = vm.roots[1];
    assert_int_equal(walked(), HPX_WALK_STRANGE);
}

TEST(a_class_that_is_told_in_two_parts_is_noticed, NULL, end)
{
    uint64_t second = two_nodes();
    vm.statics = second;
    vm.torn = true;
    assert_int_equal(walked(), HPX_WALK_STRANGE);
}

/* It has not been visited yet: the VM visits in another order. */
TEST(a_class_that_does_not_tell_of_its_superclass_is_noticed, NULL, end)
{
    for (int tells = 1; tells >= 0; tells--) {
        uint64_t second = two_nodes();
        vm.classes[PLAIN]->above = vm.classes[OBJECT];
        vm.classes[NODE]->above = vm.classes[PLAIN];
        vm.statics = tells != 0 ? second : 0; /* anything */
        assert_int_equal(walked(), tells != 0 ? HPX_WALK_WHOLE : HPX_WALK_STRANGE);
        if (tells != 0) {
            end(NULL);
        }
    }
}

TEST(a_reference_out_of_the_heap_is_not_followed, NULL, end)
{
    uint64_t second = two_nodes();
    put4(second + NEXT_AT, narrow(vm.at + HEAP + 4096)); /* the VM is not asked about this node */
    assert_int_equal(walked(), HPX_WALK_STRANGE);
}

TEST(an_object_of_an_unknown_class_is_not_read, NULL, end)
{
    uint64_t second = two_nodes(), third = node(0, 3, 3);
    put4(second + NEXT_AT, narrow(third));
    put4(third + 8, class_word(CLASSES - 1) + 512);
    assert_int_equal(walked(), HPX_WALK_LATE);
}

TEST(a_class_object_that_the_vm_did_not_visit_may_hold_more_than_is_known, NULL, end)
{
    static const enum hpx_walk_end want[] = {HPX_WALK_WHOLE, HPX_WALK_STRANGE, HPX_WALK_WHOLE, HPX_WALK_LATE};
    for (int i = 0; i < 4; i++) { /* visited; not visited; that of `int`, which has no class; of a class that was loaded meanwhile */
        uint64_t second = two_nodes(), mirror = i < 2 ? vm.mirrors[OBJECT] : make(CLASS, 200, -1);
        vm.untold = i == 1 ? OBJECT : 0;
        put4(second + NEXT_AT, narrow(mirror)); /* the VM does not visit this node */
        if (i == 3) {
            memcpy((void *)(uintptr_t)(mirror + KLASS_AT), &vm.klasses[OBJECT], sizeof vm.klasses[OBJECT]);
        }
        assert_int_equal(walked(), want[i]);
        if (i < 3) {
            end(NULL);
        }
    }
}

TEST(an_object_of_an_unknown_class_among_what_the_vm_tells_is_tried_again, NULL, end)
{
    two_nodes();
    vm.classes[NODE]->linked = false;
    assert_int_equal(walked(), HPX_WALK_LATE);
}

static uint32_t statics_told(void)
{
    const struct hpx_heap_fact *f = vm.walk.facts.at;
    uint32_t n = 0;
    for (uint64_t i = 0; i < vm.walk.facts.len; i++) {
        n += f[i].kind == HPX_HEAP_STATIC;
    }
    return n;
}

TEST(what_a_class_holds_that_nothing_reaches_is_not_in_the_dump, NULL, end)
{
    for (int reached = 0; reached < 2; reached++) {
        uint64_t second = two_nodes();
        vm.layout.taker = TAKER;
        vm.classes[OBJECT]->nfields = 1;
        vm.classes[OBJECT]->fields[0] = (struct hpx_heap_field){.type = HPX_TYPE_OBJECT, .is_static = true};
        vm.of_object = node(0, 9, 9);
        put4(second + NEXT_AT, reached != 0 ? narrow(vm.mirrors[OBJECT]) : 0);
        assert_int_equal(walked(), HPX_WALK_WHOLE);
        assert_int_equal(vm.walk.found.objects, ALL_OBJECTS + 2 + (uint64_t)reached);
        assert_int_equal(statics_told(), reached);
        if (reached == 0) {
            end(NULL);
        }
    }
}

TEST(class_objects_without_the_address_of_their_class_are_noticed, NULL, end)
{
    two_nodes();
    memset((void *)(uintptr_t)(vm.mirrors[PLAIN] + KLASS_AT), 0, 8);
    assert_int_equal(walked(), HPX_WALK_STRANGE);
}

TEST(sizes_that_no_class_has_are_noticed, NULL, end)
{
    two_nodes();
    put4(vm.klasses[PLAIN] + SIZE_AT, 40);
    assert_int_equal(walked(), HPX_WALK_STRANGE);
}

TEST(a_virtual_thread_that_the_vm_did_not_visit_is_left_to_it, NULL, end)
{
    uint64_t second = two_nodes();
    uint64_t fiber = make(FIBER, 16, -1);
    put4(second + NEXT_AT, narrow(fiber));
    assert_int_equal(walked(), HPX_WALK_NO_MEMORY);
    end(NULL);
    two_nodes();
    root(make(FIBER, 16, -1)); /* this one the VM visits, with its stack */
    assert_int_equal(walked(), HPX_WALK_WHOLE);
}

/* ---- what the VM visits later ---- */

/* As two_nodes(). */
static uint64_t with_helper(void)
{
    uint64_t second = two_nodes();
    root(node(node(0, 0, 0), 0, 0)); /* two references tell how they are encoded */
    vm.helper = vm.helper_ref = make(NODES, 16 + 4 * HPX_TRACE_HELPER, HPX_TRACE_HELPER);
    vm.walk.trace.helper = (jobject)(void *)&vm.helper_ref;
    vm.layout.taker = TAKER;
    return second;
}

/* A virtual thread whose stack holds this object. */
static uint64_t fiber_with(uint64_t holds)
{
    uint64_t key = make(FIBER, 16, -1);
    assert_true(vm.nstacks < STACKS);
    vm.stacks[vm.nstacks].of = key;
    vm.stacks[vm.nstacks++].holds = holds;
    return key;
}

/* Each is held by the stack of the one before. */
static uint64_t nested_fibers(uint32_t n)
{
    uint64_t last = node(0, 9, 9);
    for (uint32_t i = 0; i < n; i++) {
        last = fiber_with(i == 0 ? last : node(last, i, 1));
    }
    return last;
}

TEST(the_array_that_helps_is_no_object_of_the_program, NULL, end)
{
    (void)with_helper();
    assert_int_equal(walked(), HPX_WALK_WHOLE);
    assert_int_equal(vm.walk.found.objects, ALL_OBJECTS + 4);
    assert_int_equal(vm.walk.roots.len, CLASSES - 1 + 3);
}

/* Then the trace has met class objects before it is told what they refer to. */
TEST(a_vm_that_does_not_visit_the_array_last_is_noticed, NULL, end)
{
    for (int last = 0; last < 2; last++) {
        vm.statics = with_helper();
        vm.classes_last = last != 0;
        assert_int_equal(walked(), last != 0 ? HPX_WALK_STRANGE : HPX_WALK_WHOLE);
        if (last == 0) {
            end(NULL);
        }
    }
}

TEST(the_stacks_of_virtual_threads_that_only_the_trace_meets_are_told, NULL, end)
{
    for (int verifies = 0; verifies < 2; verifies++) {
        uint64_t second = with_helper();
        put4(second + NEXT_AT, narrow(nested_fibers(3)));
        vm.walk.verifies = verifies != 0;
        assert_int_equal(walked(), HPX_WALK_WHOLE);
        assert_int_equal(vm.walk.found.objects, ALL_OBJECTS + 4 + 6);
        assert_int_equal(vm.walk.roots.len, CLASSES - 1 + 3 + 3);
        if (verifies == 0) {
            end(NULL);
        }
    }
}

TEST(any_number_of_virtual_threads_is_told, NULL, end)
{
    enum { MANY = HPX_TRACE_HELPER + 100 };
    uint64_t second = with_helper(), all = make(NODES, 16 + 4 * MANY, MANY);
    put4(second + NEXT_AT, narrow(all));
    for (uint64_t i = 0; i < MANY; i++) {
        put4(all + 16 + 4 * i, narrow(i % 100 == 0 ? fiber_with(node(0, 1, 1)) : make(FIBER, 16, -1)));
    }
    assert_int_equal(walked(), HPX_WALK_WHOLE);
    assert_int_equal(vm.walk.found.objects, ALL_OBJECTS + 4 + 1 + MANY + (MANY + 99) / 100);
}

TEST(virtual_threads_that_the_array_has_no_room_for_are_left_to_the_vm, NULL, end)
{
    uint64_t second = with_helper();
    put4(second + NEXT_AT, narrow(nested_fibers(400)));
    assert_int_equal(walked(), HPX_WALK_WHOLE);
    assert_int_equal(vm.walk.found.objects, ALL_OBJECTS + 4 + 800);
    end(NULL);
    second = with_helper();
    put4(second + NEXT_AT, narrow(nested_fibers(600)));
    assert_int_equal(walked(), HPX_WALK_STRANGE);
}

TEST(a_vm_that_does_not_visit_what_it_is_asked_for_is_noticed, NULL, end)
{
    uint64_t second = with_helper(), fiber = nested_fibers(1);
    put4(second + NEXT_AT, narrow(fiber));
    vm.unheard = fiber;
    assert_int_equal(walked(), HPX_WALK_STRANGE);
    end(NULL);
    (void)with_helper();
    vm.unheard = vm.helper;
    assert_int_equal(walked(), HPX_WALK_STRANGE);
}

TEST(a_stack_counts_with_its_words_and_a_bit_for_each_half_of_them, NULL, end)
{
    for (jlong told = 48; told <= 56; told += 8) {
        two_nodes();
        vm.plain = told;
        vm.classes[PLAIN]->words = ID(12);
        put4(vm.klasses[PLAIN] + SIZE_AT, 16 | 1);
        put4(vm.objects[CLASSES - 1].key + 12, 3);
        assert_int_equal(walked(), told == 48 ? HPX_WALK_WHOLE : HPX_WALK_STRANGE);
        if (told == 48) {
            assert_int_equal(vm.walk.found.bytes, 10 * 16 + 56 + 2 * 24 + 32);
            end(NULL);
        }
    }
}

/* ---- several workers ---- */

/* A long array of nodes, each with one below it; and a list. Half of the array holds what the other half does. */
static uint64_t wide_heap(uint32_t n)
{
    uint64_t second = two_nodes(), all = make(NODES, 16 + 4 * n, (jint)n), list = 0;
    vm.wide = vm.nobjects - 1;
    for (uint32_t i = 0; i < n; i++) {
        put4(all + 16 + 4 * (uint64_t)i, i < n / 2 ? narrow(node(node(0, i, 1), i, 2)) : get4(all + 16 + 4 * (uint64_t)(i - n / 2)));
        list = node(list, i, 3);
    }
    put4(second + NEXT_AT, narrow(all));
    root(list);
    return n + n + 1;
}

/* The records of the spool; each is of another object. */
static uint64_t records_once(void)
{
    static bool met[HEAP / 8];
    uint8_t *all = malloc(vm.spool_len);
    uint64_t n = 0;
    memset(met, 0, sizeof met);
    assert_int_equal(pread(vm.fd, all, vm.spool_len, 0), vm.spool_len);
    for (size_t at = 0; at < vm.walk.found.objects_end;) {
        size_t end_of = at + HPX_RECORD_HEAD + hpx_get_be4(all + at + 5);
        assert_true(end_of <= vm.walk.found.objects_end);
        for (at += HPX_RECORD_HEAD; at < end_of; n++) {
            uint64_t length = hpx_heap_sub_length(8, all + at, end_of - at), word = (hpx_get_be8(all + at + 1) - id_of(vm.at)) / 8;
            assert_true(length > 0 && word < HEAP / 8 && !met[word]);
            met[word] = true;
            at += length;
        }
    }
    free(all);
    return n;
}

TEST(several_workers_read_each_object_once, NULL, end)
{
    uint64_t bytes = 0, heads = 0, facts = 0;
    for (uint32_t workers = 1; workers <= 5; workers++) {
        uint64_t more = wide_heap(4000);
        vm.walk.workers = workers;
        vm.walk.alone = 100;
        assert_int_equal(walked(), HPX_WALK_WHOLE);
        assert_int_equal(vm.walk.found.objects, ALL_OBJECTS + 2 + more);
        if (workers == 2 && vm.walk.found.team <= 1) {
            skip(); /* no such threads: musl, an emulator */
        }
        assert_int_equal(vm.walk.found.team, workers == 1 ? 0 : workers < 4 ? workers : 4);
        assert_int_equal(records_once(), vm.walk.found.objects);
        assert_true(workers == 1 || (vm.walk.found.bytes == bytes && vm.walk.found.heads == heads && vm.walk.facts.len == facts));
        bytes = vm.walk.found.bytes, heads = vm.walk.found.heads, facts = vm.walk.facts.len;
        if (workers < 5) {
            end(NULL);
        }
    }
}

/* The first worker goes through the list, which comes first; half of the array is another one's. */
TEST(a_contradiction_that_another_worker_meets_fails_the_walk, NULL, end)
{
    (void)wide_heap(4000);
    vm.walk.workers = 4;
    vm.walk.alone = 100;
    for (uint32_t i = 0; i < 4; i++) { /* wherever the array is cut */
        const uint64_t below = wide(get4(vm.objects[vm.wide].key + 16 + 4 * (uint64_t)(200 + 500 * i)));
        put4(below + NEXT_AT, (uint32_t)((2 * HEAP) >> 3) + 12345 * 8);
    }
    assert_int_equal(walked(), HPX_WALK_STRANGE);
}

TEST(without_memory_for_workers_the_trace_goes_on_alone, NULL, end)
{
    for (uint64_t k = 1; k < 60; k++) { /* each mapping in its turn, and all that follow */
        uint64_t more = wide_heap(1000);
        vm.walk.workers = 4;
        vm.walk.alone = 100;
        memory_fail(k, UINT64_MAX);
        enum hpx_walk_end as = walked();
        memory_allow();
        assert_true(as == HPX_WALK_NO_MEMORY || as == HPX_WALK_WHOLE);
        assert_true(as != HPX_WALK_WHOLE || vm.walk.found.objects == ALL_OBJECTS + 2 + more);
        end(NULL);
    }
    (void)two_nodes();
}

TEST(a_range_of_elements_keeps_both_ends)
{
    static const uint32_t ends[] = {0, 1, UINT32_C(1) << 30, INT32_MAX - 1, INT32_MAX};
    for (size_t i = 0; i < HPX_ARRAY_LEN(ends); i++) {
        for (size_t k = 0; k < HPX_ARRAY_LEN(ends); k++) {
            const uint64_t range = HPX_TRACE_RANGE(ends[i], ends[k]);
            assert_true(HPX_TRACE_IS_RANGE(range));
            assert_int_equal(HPX_TRACE_RANGE_FROM(range), ends[i]);
            assert_int_equal(HPX_TRACE_RANGE_TO(range), ends[k]);
        }
    }
}

/* ---- memory ---- */

TEST(without_memory_for_a_trace_the_vm_walks, NULL, end)
{
    uint64_t maps = 1;
    for (uint64_t k = 1; k <= maps; k++) { /* each mapping in its turn, and all that follow */
        uint64_t second = with_helper();
        put4(second + NEXT_AT, narrow(nested_fibers(3)));
        memory_fail(k, UINT64_MAX);
        enum hpx_walk_end as = walked();
        maps = memory_calls();
        memory_allow();
        assert_int_equal(as, maps < k ? HPX_WALK_WHOLE : HPX_WALK_NO_MEMORY);
        if (maps >= k) {
            end(NULL);
            maps = k + 1;
        }
    }
    assert_true(maps > 10);
}

TESTS(NULL, NULL)
