/* SPDX-License-Identifier: BSD-2-Clause */
/* test_zgc_references.c: references of ZGC, by the tables of a made-up heap: which object they refer to, and when none is told. */
#include "cmocka_all.h"

#include "heap_objects.h"
#include "structures.h"
#include "vm_tables.h"
#include "zgc_references.h"
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BASE    (UINT64_C(1) << 42)
#define GRANULE (UINT64_C(1) << 21)
#define TABLE   8 /* granules */

/* A generation begins like this. */
struct generation {
    uint64_t number;
    void *allocator, *pages;
    uint64_t granules;
    void **table;
};

static struct {
    uint64_t before[4];
    struct {
        uint64_t allocator;
        struct {
            uint64_t granules;
            void **map;
        } pages;
        struct generation old, young;
        uint64_t behind;
    } heap;
} collected;
static void *collected_at = &collected;

static struct forwarding {
    uint64_t begin, end, align, entries, other;
    uint64_t entry[4];
} from_young, from_old;

static void *young_table[TABLE], *old_table[TABLE];
static uintptr_t good, bad, shift, offsets = BASE - 1;
static struct {
    uintptr_t *bad, *good, *shift, *offsets;
} masks = {&bad, &good, &shift, &offsets};
static void *masks_at = &masks;

static uint32_t hash(uint32_t key)
{
    key = ~key + (key << 15);
    key = key ^ (key >> 12);
    key = key + (key << 2);
    key = key ^ (key >> 4);
    key = key * 2057;
    return key ^ (key >> 16);
}

static void move(struct forwarding *f, uint64_t offset, uint64_t to)
{
    const uint64_t object = (offset - f->begin) >> 3;
    uint32_t at = hash((uint32_t)object) & 3;
    while (f->entry[at] != 0) {
        at = (at + 1) & 3;
    }
    f->entry[at] = object << 46 | to << 1 | 1;
}

static void set_colour(unsigned number)
{
    good = UINT64_C(0x1000) << number;
    bad = good ^ 0xf000;
    shift = 13 + number;
}

/* As on x86-64. */
static uintptr_t coloured(uint64_t offset, unsigned number, unsigned others)
{
    return (BASE + offset) << (13 + number) | UINT64_C(0x1000) << number | others;
}

static void describe(void)
{
    vm_tables_type("ZGlobalsForVMStructs", sizeof masks);
    vm_tables_static("ZGlobalsForVMStructs", "_instance_p", "ZGlobalsForVMStructs*", &masks_at);
    vm_tables_field("ZGlobalsForVMStructs", "_ZPointerLoadBadMask", "uintptr_t*", 0);
    vm_tables_field("ZGlobalsForVMStructs", "_ZPointerLoadGoodMask", "uintptr_t*", 8);
    vm_tables_field("ZGlobalsForVMStructs", "_ZPointerLoadShift", "size_t*", 16);
    vm_tables_field("ZGlobalsForVMStructs", "_ZAddressOffsetMask", "uintptr_t*", 24);
    vm_tables_static("Universe", "_collectedHeap", "CollectedHeap*", &collected_at);
    vm_tables_type("ZCollectedHeap", sizeof collected);
    vm_tables_field("ZCollectedHeap", "_heap", "ZHeap", sizeof collected.before);
    vm_tables_type("ZHeap", sizeof collected.heap);
    vm_tables_field("ZHeap", "_page_allocator", "ZPageAllocator", 0);
    vm_tables_field("ZHeap", "_page_table", "ZPageTable", 8);
    vm_tables_type("ZGranuleMapForPageTable", 16);
    vm_tables_field("ZGranuleMapForPageTable", "_map", "ZPage** const", 8);
    vm_tables_type("ZForwarding", offsetof(struct forwarding, entry));
    vm_tables_field("ZForwarding", "_virtual", "const ZVirtualMemory", 0);
    vm_tables_field("ZForwarding", "_object_alignment_shift", "const size_t", offsetof(struct forwarding, align));
    vm_tables_field("ZForwarding", "_entries", "const ZAttachedArrayForForwarding", offsetof(struct forwarding, entries));
    vm_tables_constant("any", 1);
    collected.heap.pages.granules = TABLE;
    collected.heap.old = (struct generation){1, &collected.heap.allocator, &collected.heap.pages, TABLE, old_table};
    collected.heap.young = (struct generation){0, &collected.heap.allocator, &collected.heap.pages, TABLE, young_table};
    from_young = (struct forwarding){.begin = 2 * GRANULE, .end = 3 * GRANULE, .align = 3, .entries = 4};
    from_old = (struct forwarding){.begin = 4 * GRANULE, .end = 5 * GRANULE, .align = 3, .entries = 4};
    young_table[2] = &from_young;
    old_table[4] = &from_old;
    set_colour(0);
}

static const char *begin(void)
{
    describe();
    return hpx_zgc_references_init(true);
}

TEST(a_followed_reference_is_an_address)
{
    assert_null(begin());
    move(&from_young, 2 * GRANULE + 64, GRANULE);
    for (unsigned colour = 0; colour < 4; colour++) {
        set_colour(colour);
        assert_int_equal(hpx_zgc_followed_sig(coloured(2 * GRANULE + 64, colour, 0x510)), BASE + 2 * GRANULE + 64);
    }
    assert_int_equal(hpx_zgc_followed_sig(0), 0);
}

TEST(one_that_is_old_leads_to_where_its_generation_moved_the_object)
{
    assert_null(begin());
    move(&from_young, 2 * GRANULE + 64, GRANULE + 8);
    move(&from_young, 2 * GRANULE + 640, GRANULE + 32);
    move(&from_old, 4 * GRANULE, 3 * GRANULE);
    for (unsigned now = 0; now < 4; now++) {
        set_colour(now);
        assert_int_equal(hpx_zgc_followed_sig(coloured(2 * GRANULE + 64, now ^ 1, 0)), BASE + GRANULE + 8);
        assert_int_equal(hpx_zgc_followed_sig(coloured(2 * GRANULE + 640, now ^ 1, 0)), BASE + GRANULE + 32);
        assert_int_equal(hpx_zgc_followed_sig(coloured(4 * GRANULE, now ^ 2, 0)), BASE + 3 * GRANULE);
        /* of the other generation none is asked */
        assert_int_equal(hpx_zgc_followed_sig(coloured(2 * GRANULE + 64, now ^ 2, 0)), BASE + 2 * GRANULE + 64);
        assert_int_equal(hpx_zgc_followed_sig(coloured(4 * GRANULE, now ^ 1, 0)), BASE + 4 * GRANULE);
        /* both have moved objects since */
        assert_int_equal(hpx_zgc_followed_sig(coloured(2 * GRANULE + 64, now ^ 3, 0x10)), BASE + GRANULE + 8);
        assert_int_equal(hpx_zgc_followed_sig(coloured(2 * GRANULE + 64, now ^ 3, 0x30)), BASE + 2 * GRANULE + 64);
        assert_int_equal(hpx_zgc_followed_sig(coloured(4 * GRANULE, now ^ 3, 0x10)), BASE + 3 * GRANULE);
    }
}

TEST(one_that_waits_to_be_moved_is_there_still)
{
    assert_null(begin());
    assert_null(hpx_zgc_references_unfollowed());
    move(&from_young, 2 * GRANULE + 64, GRANULE + 8);
    assert_int_equal(hpx_zgc_followed_sig(coloured(2 * GRANULE + 72, 1, 0)), BASE + 2 * GRANULE + 72);
}

TEST(no_object_has_a_colour_too)
{
    assert_null(begin());
    young_table[0] = &from_young;
    from_young.begin = 0;
    move(&from_young, 0, GRANULE);
    assert_int_equal(hpx_zgc_followed_sig(0x1510), 0);
    assert_int_equal(hpx_zgc_followed_sig(0x2510), 0);
}

/* As on 64-bit Arm. */
TEST(three_bits_of_a_colour_leave_the_address_in_its_place)
{
    assert_null(begin());
    move(&from_young, 2 * GRANULE + 64, GRANULE + 8);
    bad = 0x1000;
    good = 0xe000;
    shift = 16;
    assert_int_equal(hpx_zgc_followed_sig((BASE + 2 * GRANULE + 64) << 16 | 0xe000), BASE + 2 * GRANULE + 64);
    assert_int_equal(hpx_zgc_followed_sig((BASE + 2 * GRANULE + 64) << 16 | 0xd000), BASE + GRANULE + 8);
}

/* The VM sets three words, in no certain order. */
TEST(while_the_colour_changes_none_is_told)
{
    assert_null(begin());
    for (unsigned was = 0; was < 4; was++) {
        for (unsigned now = 0; now < 4; now++) {
            const uintptr_t goods[] = {UINT64_C(0x1000) << was, UINT64_C(0x1000) << now}, shifts[] = {13 + was, 13 + now};
            for (unsigned set = 1; set < 7 && was != now; set++) {
                good = goods[set & 1];
                bad = goods[set >> 1 & 1] ^ 0xf000;
                shift = shifts[set >> 2];
                assert_int_equal(hpx_zgc_followed_sig(coloured(3 * GRANULE, now, 0)), HPX_OBJECT_UNKNOWN);
                assert_int_equal(hpx_zgc_followed_sig(coloured(3 * GRANULE, was, 0)), HPX_OBJECT_UNKNOWN);
                assert_int_equal(hpx_zgc_followed_sig(0), 0);
            }
            set_colour(now);
            assert_int_equal(hpx_zgc_followed_sig(coloured(3 * GRANULE, now, 0)), BASE + 3 * GRANULE);
        }
    }
}

TEST(what_makes_no_sense_is_unknown)
{
    assert_null(begin());
    assert_int_equal(hpx_zgc_followed_sig(coloured(TABLE * GRANULE, 1, 0)), HPX_OBJECT_UNKNOWN);
    assert_int_equal(hpx_zgc_followed_sig(coloured(2 * GRANULE, 0, 0) & ~UINT64_C(0xf000)), BASE + 2 * GRANULE); /* no colour: no bad one */
    from_young.entries = 3;
    assert_int_equal(hpx_zgc_followed_sig(coloured(2 * GRANULE, 1, 0)), HPX_OBJECT_UNKNOWN);
    from_young.entries = UINT64_C(1) << 20; /* more than there are numbers of objects */
    assert_int_equal(hpx_zgc_followed_sig(coloured(2 * GRANULE, 1, 0)), HPX_OBJECT_UNKNOWN);
    from_young.entries = 4;
    for (uint32_t i = 0; i < 4; i++) {
        move(&from_young, 2 * GRANULE + UINT64_C(8) * (i + 1), GRANULE);
    }
    assert_int_equal(hpx_zgc_followed_sig(coloured(2 * GRANULE, 1, 0)), HPX_OBJECT_UNKNOWN); /* a table that never ends */
}

/* A read of this page takes the forwarding out of the table, and goes on. */
static void *meanwhile;

static void on_read(int sig)
{
    (void)sig;
    young_table[2] = NULL;
    (void)mprotect(meanwhile, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE);
}

/* Its memory may be another one's. read: the field, or an entry, at which that happens. */
static void what_is_freed_while_it_is_read_is_unknown(size_t read)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_null(begin());
    assert_ptr_not_equal(pages, MAP_FAILED);
    struct forwarding *f = (void *)(pages + page - read);
    *f = from_young;
    move(f, 2 * GRANULE + 64, GRANULE + 8);
    young_table[2] = f;
    assert_int_equal(hpx_zgc_followed_sig(coloured(2 * GRANULE + 64, 1, 0)), BASE + GRANULE + 8);
    meanwhile = pages + page;
    (void)signal(SIGSEGV, on_read);
    assert_int_equal(mprotect(meanwhile, page, PROT_NONE), 0);
    assert_int_equal(hpx_zgc_followed_sig(coloured(2 * GRANULE + 64, 1, 0)), HPX_OBJECT_UNKNOWN);
    assert_null(young_table[2]);
    (void)signal(SIGSEGV, SIG_DFL);
    (void)munmap(pages, 2 * page);
}

TEST(a_forwarding_whose_fields_are_freed_while_they_are_read_is_unknown)
{
    what_is_freed_while_it_is_read_is_unknown(offsetof(struct forwarding, align));
}

TEST(a_forwarding_whose_entries_are_freed_while_they_are_read_is_unknown)
{
    what_is_freed_while_it_is_read_is_unknown(offsetof(struct forwarding, entry));
}

TEST(a_word_on_a_stack_is_old_perhaps_where_objects_are_moved_from)
{
    assert_null(begin());
    assert_int_equal(hpx_zgc_on_stack_sig(BASE + 3 * GRANULE, false), BASE + 3 * GRANULE);
    assert_int_equal(hpx_zgc_on_stack_sig(BASE + 2 * GRANULE, false), HPX_OBJECT_UNKNOWN);
    assert_int_equal(hpx_zgc_on_stack_sig(BASE + 4 * GRANULE, false), HPX_OBJECT_UNKNOWN);
    assert_int_equal(hpx_zgc_on_stack_sig(BASE + 4 * GRANULE, true), BASE + 4 * GRANULE);
}

TEST(generations_that_look_otherwise_are_not_read)
{
    describe();
    collected.heap.young.number = 2;
    assert_null(hpx_zgc_references_init(true));
    assert_non_null(hpx_zgc_references_unfollowed());
    assert_int_equal(hpx_zgc_followed_sig(coloured(3 * GRANULE, 1, 0)), HPX_OBJECT_UNKNOWN);
    assert_int_equal(hpx_zgc_on_stack_sig(BASE + 3 * GRANULE, false), HPX_OBJECT_UNKNOWN);
    assert_int_equal(hpx_zgc_followed_sig(coloured(3 * GRANULE, 0, 0)), BASE + 3 * GRANULE);
}

TEST(a_table_for_more_addresses_than_there_are_is_none)
{
    describe();
    collected.heap.young.granules = BASE / GRANULE + 1;
    assert_null(hpx_zgc_references_init(true));
    assert_int_equal(hpx_zgc_followed_sig(coloured(3 * GRANULE, 1, 0)), HPX_OBJECT_UNKNOWN);
}

TEST(the_colour_changes_when_objects_begin_to_move)
{
    assert_null(begin());
    const uint32_t before = hpx_zgc_colour_sig();
    set_colour(1);
    assert_true(hpx_zgc_colour_sig() != before);
}

/* Without generations the colour is a part of the address. */
TEST(views_of_one_heap_lead_to_the_good_one)
{
    static struct {
        uint64_t before[4];
        uint64_t granules;
        void **table;
    } heap = {.granules = TABLE, .table = young_table};
    static void *heap_at = &heap;
    vm_tables_type("XGlobalsForVMStructs", sizeof masks);
    vm_tables_static("XGlobalsForVMStructs", "_instance_p", "XGlobalsForVMStructs*", &masks_at);
    vm_tables_field("XGlobalsForVMStructs", "_XAddressBadMask", "uintptr_t*", 0);
    vm_tables_field("XGlobalsForVMStructs", "_XAddressGoodMask", "uintptr_t*", 8);
    vm_tables_field("XGlobalsForVMStructs", "_XAddressOffsetMask", "uintptr_t*", 24);
    vm_tables_static("Universe", "_collectedHeap", "CollectedHeap*", &heap_at);
    vm_tables_type("XCollectedHeap", sizeof heap);
    vm_tables_field("XCollectedHeap", "_heap", "XHeap", 8);
    vm_tables_type("XHeap", sizeof heap - 8);
    vm_tables_field("XHeap", "_forwarding_table", "XForwardingTable", sizeof heap.before - 8);
    vm_tables_type("XGranuleMapForForwarding", 16);
    vm_tables_field("XGranuleMapForForwarding", "_map", "XForwarding** const", 8);
    vm_tables_type("XForwarding", offsetof(struct forwarding, entry));
    vm_tables_field("XForwarding", "_virtual", "const XVirtualMemory", 0);
    vm_tables_field("XForwarding", "_object_alignment_shift", "const size_t", offsetof(struct forwarding, align));
    vm_tables_field("XForwarding", "_entries", "const XAttachedArrayForForwarding", offsetof(struct forwarding, entries));
    vm_tables_constant("any", 1);
    from_young = (struct forwarding){.begin = 2 * GRANULE, .end = 3 * GRANULE, .align = 3, .entries = 4};
    young_table[2] = &from_young;
    assert_null(hpx_zgc_references_init(false));
    good = BASE;
    bad = BASE << 1 | BASE << 2;
    move(&from_young, 2 * GRANULE + 64, GRANULE + 8);
    assert_int_equal(hpx_zgc_followed_sig(BASE | 2 * GRANULE), BASE | 2 * GRANULE);
    assert_int_equal(hpx_zgc_followed_sig(BASE << 1 | (2 * GRANULE + 64)), BASE | (GRANULE + 8));
    good = BASE << 1; /* the other word is set later */
    assert_int_equal(hpx_zgc_followed_sig(BASE << 1 | (2 * GRANULE + 64)), HPX_OBJECT_UNKNOWN);
    good = BASE;
    assert_int_equal(hpx_zgc_on_stack_sig(BASE << 2 | 3 * GRANULE, false), BASE | 3 * GRANULE);
    assert_int_equal(hpx_zgc_followed_sig(0), 0);
}

int main(void)
{
    return vm_tables_run(the_tests, number_of_tests);
}
