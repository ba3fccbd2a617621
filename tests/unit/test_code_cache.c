/* SPDX-License-Identifier: BSD-2-Clause */
/* test_code_cache.c: what lies at a pc of a code cache in the layouts of JDK 8 to 25, and which heaps are not believed. */
#include "code_cache.h"
#include "code_heap.h"

#define ONE_HEAP "the VM's code heap has another shape"
#define LIST     "the VM's list of code heaps has another shape"
#define HEAPS    "the VM's code heaps have another shape"
#define LOG2     7
#define CODE     128 /* a blob's code begins there */
#define SIZE     900 /* of a blob in a block of 8 segments */

static struct method method;

static void begin(enum jdk jdk)
{
    describe(jdk);
    assert_null(hpx_code_cache_init());
}

/* One heap of 64 segments with a method in the segments 8 to 15. */
static struct blob *begin_with_method(enum jdk jdk)
{
    struct blob *blob = add_method(add_heap(0, 64, LOG2), 8, 8, CODE, SIZE, &method);
    begin(jdk);
    assert_null(hpx_code_cache_live());
    return blob;
}

static void assert_kind(uintptr_t pc, enum hpx_blob_kind kind)
{
    assert_int_equal(hpx_code_cache_frame_sig(pc).kind, kind);
}

static void assert_lives(const struct blob *blob, uintptr_t pc)
{
    struct hpx_code_frame f = hpx_code_cache_frame_sig(pc);
    assert_int_equal(f.kind, HPX_BLOB_METHOD);
    assert_int_equal(f.start, (uintptr_t)blob);
    assert_int_equal(hpx_code_cache_method_sig(f.start), blob->method);
}

static void states_up_to(enum jdk jdk, int most_alive)
{
    struct blob *blob = begin_with_method(jdk);
    for (int s = -1; s <= 4; s++) {
        blob->state = (uint8_t)s;
        assert_kind((uintptr_t)blob + CODE, s >= 0 && s <= most_alive ? HPX_BLOB_METHOD : HPX_BLOB_DEAD);
    }
}

/* JDK 9 has the states of 11 in the type of 8. */
TEST(a_method_of_jdk_9_that_is_not_entered_any_more_may_be_running)
{
    states_up_to(JDK_9, 2);
}

TEST(a_method_of_jdk_25_that_is_not_installed_is_dead)
{
    states_up_to(JDK_25, 2);
}

TEST(a_blob_that_is_being_made_is_none)
{
    struct blob *blob = begin_with_method(JDK_17);
    blob->name = NULL;
    assert_kind((uintptr_t)blob + CODE, HPX_BLOB_NONE);
    blob->name = "nmethod";
    blob->size = 0;
    assert_kind((uintptr_t)blob + CODE, HPX_BLOB_NONE);
    blob->size = -1;
    assert_kind((uintptr_t)blob + CODE, HPX_BLOB_NONE);
    blob->size = SIZE;
    blob->code_begin = (uintptr_t)blob;
    assert_kind((uintptr_t)blob + CODE, HPX_BLOB_DEAD);
    blob->code_begin = 0;
    assert_kind((uintptr_t)blob + CODE, HPX_BLOB_DEAD);
}

/* The map entries of the second block end with 0xfe twice and begin again. */
TEST(blocks_are_found_over_many_hops)
{
    enum { LONG = 700, SEGMENT = 1 << LOG2 };
    struct heap *heap = add_heap(0, 800, LOG2);
    struct blob *before = add_method(heap, 0, 3, CODE, 3 * SEGMENT - (int32_t)sizeof(struct block), &method);
    struct blob *blob = add_method(heap, 3, LONG, CODE, LONG * SEGMENT - (int32_t)sizeof(struct block), &method);
    struct blob *behind = add_method(heap, 3 + LONG, 2, CODE, 200, &method);
    assert_int_equal(map_of(heap)[3 + 254], 0xfe);
    assert_int_equal(map_of(heap)[3 + 255], 1);
    begin(JDK_17);
    assert_null(hpx_code_cache_live());
    assert_lives(before, segment(heap, 2));
    for (uint32_t i = 5; i < 3 + LONG; i++) {
        assert_lives(blob, segment(heap, i));
        assert_lives(blob, segment(heap, i + 1) - 1);
    }
    assert_lives(behind, segment(heap, 3 + LONG) + sizeof(struct block) + CODE);
    assert_kind(segment(heap, 3 + LONG + 2), HPX_BLOB_NONE);
    map_of(heap)[600] = FREE_SEGMENT; /* no hop of 255 */
    assert_kind(segment(heap, 600), HPX_BLOB_NONE);
}

TEST(a_free_segment_has_no_code)
{
    struct blob *blob = begin_with_method(JDK_17);
    assert_kind(segment(&heaps[0], 7), HPX_BLOB_NONE);
    assert_kind(segment(&heaps[0], 16), HPX_BLOB_NONE);
    map_of(&heaps[0])[9] = FREE_SEGMENT; /* on the way back, too */
    map_of(&heaps[0])[10] = 1;
    assert_kind(segment(&heaps[0], 10), HPX_BLOB_NONE);
    assert_lives(blob, segment(&heaps[0], 11));
}

TEST(a_map_that_leads_below_the_heap_has_no_code)
{
    struct heap *heap = add_heap(0, 64, LOG2);
    struct blob *blob = add_method(heap, 0, 8, CODE, SIZE, &method);
    begin(JDK_17);
    assert_null(hpx_code_cache_live());
    assert_lives(blob, segment(heap, 4));
    map_of(heap)[4] = 5;
    assert_kind(segment(heap, 4), HPX_BLOB_NONE);
    map_of(heap)[4] = 0xfe;
    assert_kind(segment(heap, 4), HPX_BLOB_NONE);
}

/* Every hop leads back by one at least, so it ends; a handler has no time for all of them. */
TEST(a_map_of_too_many_hops_has_no_code)
{
    enum { SMALL = 4, LONG = 4200, MOST_HOPS = 4096 };
    struct heap *heap = add_heap(0, LONG, SMALL);
    struct blob *blob = add_method(heap, 0, LONG, CODE, LONG << SMALL, &method);
    memset(map_of(heap) + 1, 1, LONG - 1);
    begin(JDK_17);
    assert_null(hpx_code_cache_live());
    assert_lives(blob, segment(heap, MOST_HOPS));
    assert_kind(segment(heap, MOST_HOPS + 1), HPX_BLOB_NONE);
}

TEST(a_segment_behind_the_map_has_no_code)
{
    struct blob *blob = begin_with_method(JDK_17);
    assert_lives(blob, segment(&heaps[0], 12));
    heaps[0].map.high = heaps[0].map.low + 12;
    assert_kind(segment(&heaps[0], 12), HPX_BLOB_NONE);
    assert_lives(blob, segment(&heaps[0], 11));
}

TEST(the_heap_of_jdk_8_stands_alone)
{
    struct blob *blob = begin_with_method(JDK_8);
    heap_array.length = 0;
    low_bound = high_bound = 0;
    assert_null(hpx_code_cache_live());
    assert_lives(blob, (uintptr_t)blob + CODE);
    assert_kind(heaps[0].memory.low - 1, HPX_BLOB_NONE);
    assert_kind(heaps[0].memory.high, HPX_BLOB_NONE);
    heap_list[0] = NULL;
    assert_string_equal(hpx_code_cache_live(), ONE_HEAP);
    assert_kind((uintptr_t)blob + CODE, HPX_BLOB_NONE);
}

static void three_heaps_are_searched(enum jdk jdk)
{
    enum { BYTES = 16 << LOG2 };
    char *memory = calloc(3, BYTES);
    assert_non_null(memory);
    /* the second of the list lies lowest */
    struct heap *a = add_heap_at(0, (uintptr_t)memory + BYTES, 16, LOG2), *b = add_heap_at(1, (uintptr_t)memory, 32, LOG2 - 1);
    struct heap *c = add_heap_at(2, (uintptr_t)memory + 2 * BYTES, 16, LOG2);
    struct blob *in_a = add_method(a, 8, 8, CODE, SIZE, &method), *in_b = add_method(b, 2, 16, CODE, SIZE, &method);
    struct blob *in_c = add_method(c, 0, 8, CODE, SIZE, &method);
    begin(jdk);
    assert_null(hpx_code_cache_live());
    assert_lives(in_a, (uintptr_t)in_a + CODE);
    assert_lives(in_b, (uintptr_t)in_b + SIZE - 1);
    assert_lives(in_c, (uintptr_t)in_c + CODE);
    assert_kind(segment(b, 1), HPX_BLOB_NONE);
    assert_kind(0, HPX_BLOB_NONE);
    assert_kind(UINTPTR_MAX, HPX_BLOB_NONE);
    free(memory);
}

TEST(the_heaps_of_jdk_17_are_in_an_array)
{
    three_heaps_are_searched(JDK_17);
}

TEST(a_list_of_heaps_has_one_to_eight)
{
    for (uint32_t h = 0; h < MOST_HEAPS; h++) {
        add_heap(h, 16, LOG2);
    }
    begin(JDK_17);
    assert_string_equal(hpx_code_cache_live(), LIST);
    heap_array.length = 8;
    assert_null(hpx_code_cache_live());
    heap_array.length = 0;
    assert_string_equal(hpx_code_cache_live(), LIST);
    heap_array.length = -1;
    assert_string_equal(hpx_code_cache_live(), LIST);
    heap_array.length = 1;
    heap_array.data = NULL;
    assert_string_equal(hpx_code_cache_live(), LIST);
    heaps_field = NULL;
    assert_string_equal(hpx_code_cache_live(), LIST);
}

/* Refused as it is, and then no heap is searched. */
static void assert_refused(const struct blob *blob)
{
    assert_string_equal(hpx_code_cache_live(), HEAPS);
    assert_kind((uintptr_t)blob + CODE, HPX_BLOB_NONE);
}

TEST(heaps_that_overlap_are_refused)
{
    struct blob *blob = begin_with_method(JDK_17);
    uintptr_t low = heaps[0].memory.low;
    add_heap_at(1, segment(&heaps[0], 63), 16, LOG2);
    assert_refused(blob);
    add_heap_at(1, low - (15u << LOG2), 16, LOG2);
    assert_refused(blob);
    add_heap_at(1, low, 64, LOG2);
    assert_refused(blob);
    add_heap_at(1, segment(&heaps[0], 8), 8, LOG2);
    assert_refused(blob);
    add_heap_at(1, heaps[0].memory.high, 16, LOG2);
    assert_null(hpx_code_cache_live());
    add_heap_at(1, low - (16u << LOG2), 16, LOG2);
    assert_null(hpx_code_cache_live());
}

TEST(heaps_outside_the_bounds_are_refused)
{
    struct blob *blob = begin_with_method(JDK_17);
    low_bound++;
    assert_refused(blob);
    low_bound--;
    high_bound--;
    assert_refused(blob);
    high_bound++;
    assert_null(hpx_code_cache_live());
    assert_lives(blob, (uintptr_t)blob + CODE);
}

TEST(heaps_of_another_shape_are_refused)
{
    struct blob *blob = begin_with_method(JDK_17);
    const struct heap good = heaps[0];
    static const int32_t sizes[] = {3, 13, 0, -1};
    for (size_t i = 0; i < HPX_ARRAY_LEN(sizes); i++) {
        heaps[0].log2 = sizes[i];
        assert_refused(blob);
    }
    heaps[0] = good;
    heaps[0].memory.high = heaps[0].memory.low;
    assert_refused(blob);
    heaps[0] = good;
    heaps[0].map.high--;
    assert_refused(blob);
    heaps[0] = good;
    heaps[0].memory = (struct space){0, 0, 64 << LOG2};
    low_bound = 0;
    assert_refused(blob);
    heaps[0] = good;
    static char askew[sizeof(struct heap) + 8] __attribute__((aligned(8)));
    memcpy(askew + 4, &good, sizeof good);
    heap_list[0] = (struct heap *)(void *)(askew + 4);
    assert_refused(blob);
    heap_list[0] = NULL;
    assert_refused(blob);
    heap_list[0] = &heaps[0];
    assert_null(hpx_code_cache_live());
    assert_lives(blob, (uintptr_t)blob + CODE);
}

TEST(an_id_is_in_its_class_by_number)
{
    uintptr_t ids[] = {3, 0x111, 0x222, 0x333, 0x444};
    struct holder holder = {.ids = ids};
    struct pool pool = {.holder = &holder};
    struct const_method constant = {.constants = &pool, .before_number = 99, .behind_number = 99};
    struct method m = {.constant = &constant};
    begin(JDK_17);
    assert_int_equal(hpx_code_cache_id_sig((uintptr_t)&m), 0x111);
    constant.number = 2;
    assert_int_equal(hpx_code_cache_id_sig((uintptr_t)&m), 0x333);
    constant.number = 3;
    assert_int_equal(hpx_code_cache_id_sig((uintptr_t)&m), 0);
    constant.number = UINT16_MAX;
    assert_int_equal(hpx_code_cache_id_sig((uintptr_t)&m), 0);
    constant.number = 1;
    ids[2] = 0;
    assert_int_equal(hpx_code_cache_id_sig((uintptr_t)&m), 0);
}

TEST(a_class_without_ids_has_none)
{
    struct holder holder = {.ids = NULL};
    struct pool pool = {.holder = &holder};
    struct const_method constant = {.constants = &pool};
    struct method m = {.constant = &constant};
    begin(JDK_17);
    assert_int_equal(hpx_code_cache_id_sig((uintptr_t)&m), 0);
    holder.ids = (uintptr_t *)(uintptr_t)9;
    assert_int_equal(hpx_code_cache_id_sig((uintptr_t)&m), 0);
    pool.holder = NULL;
    assert_int_equal(hpx_code_cache_id_sig((uintptr_t)&m), 0);
    constant.constants = NULL;
    assert_int_equal(hpx_code_cache_id_sig((uintptr_t)&m), 0);
    m.constant = NULL;
    assert_int_equal(hpx_code_cache_id_sig((uintptr_t)&m), 0);
}

TEST(fields_that_are_missing_are_named)
{
    static const struct {
        const char *type, *name, *asked_last; /* the type of an older version */
    } fields[] = {{"CodeHeap", "_segmap", "CodeHeap"},
                  {"CodeCache", "_low_bound", "CodeCache"},
                  {"GrowableArrayBase", "_len", "GenericGrowableArray"},
                  {"CodeBlob", "_size", "CodeBlob"},
                  {"CodeBlob", "_code_offset", "CodeBlob"},
                  {"nmethod", "_method", "nmethod"},
                  {"nmethod", "_state", "nmethod"},
                  {"nmethod", "_compile_id", "nmethod"},
                  {"nmethod", "_stub_offset", "nmethod"},
                  {"CodeBlob", "_frame_complete_offset", "CodeBlob"},
                  {"Method", "_constMethod", "Method"},
                  {"InstanceKlass", "_methods_jmethod_ids", "InstanceKlass"}};
    describe(JDK_25);
    assert_null(hpx_code_cache_init());
    for (size_t i = 0; i < HPX_ARRAY_LEN(fields); i++) {
        struct vm_tables_field *f = vm_tables_field_of(fields[i].type, fields[i].name);
        f->name = "_gone";
        char text[96];
        snprintf(text, sizeof text, "the VM's tables have no %s.%s as expected", fields[i].asked_last, fields[i].name);
        const char *why = hpx_code_cache_init();
        assert_non_null(why);
        assert_string_equal(why, text);
        f->name = fields[i].name;
    }
    assert_null(hpx_code_cache_init());
}

TEST(a_block_needs_a_header_of_8_to_64_bytes)
{
    describe(JDK_17);
    static const uint64_t sizes[] = {0, 4, 65};
    uint64_t *size = &vm_tables_type_of("HeapBlock")->size;
    for (size_t i = 0; i < HPX_ARRAY_LEN(sizes); i++) {
        *size = sizes[i];
        assert_string_equal(hpx_code_cache_init(), "the VM's tables have no HeapBlock as expected");
    }
    *size = 64;
    assert_null(hpx_code_cache_init());
}

int main(void)
{
    return vm_tables_run(the_tests, number_of_tests);
}
