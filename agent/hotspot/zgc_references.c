/* SPDX-License-Identifier: BSD-2-Clause */
/* zgc_references.c: the words of zgc_references.h. */
#include "zgc_references.h"
#include "heap_objects.h"
#include "structures.h"
#include <stdatomic.h>

#define WORD       sizeof(uintptr_t)
#define GRANULE    21       /* a table has an element for each so many bytes of the heap, as a power of two */
#define REMEMBERED 0x30u    /* both bits: in an old object, and refers to one */
#define TRIES      4096     /* entries that are looked at */
#define ENTRIES    0x80000u /* of a forwarding, at most: 18 bits say which object, and half of the entries are free */
#define ALIGNMENT  31       /* bits of a shift that count */
#define WORD_BITS  63       /* the same of one of a word */
#define MOVED_BITS 45       /* of an entry, above the lowest one, which says that it is in use: where to; the rest: which object */

enum { YOUNG, OLD, GENERATIONS };

/* Constant after init. */
static struct {
    uint64_t masks, good, bad, shift, offsets; /* address of the structure, its fields */
    uint64_t begin, align, length, size;       /* of a forwarding */
    uint64_t granules[GENERATIONS];            /* elements of a table */
    uintptr_t tables[GENERATIONS];             /* their elements; 0: not found. Without generations the first one only */
    bool generations;
} z;

static uintptr_t mask_at(uint64_t field)
{
    return hpx_vm_word(hpx_vm_word(hpx_vm_word((uintptr_t)z.masks) + field));
}

static const char *find_masks(void)
{
    const struct hpx_vm_field coloured[] = {{"ZGlobalsForVMStructs", "_instance_p", "static ZGlobalsForVMStructs*", &z.masks},
                                            {"ZGlobalsForVMStructs", "_ZPointerLoadBadMask", "uintptr_t*", &z.bad},
                                            {"ZGlobalsForVMStructs", "_ZPointerLoadGoodMask", "uintptr_t*", &z.good},
                                            {"ZGlobalsForVMStructs", "_ZPointerLoadShift", "size_t*", &z.shift},
                                            {"ZGlobalsForVMStructs", "_ZAddressOffsetMask", "uintptr_t*", &z.offsets}};
    const struct hpx_vm_field views[] = {{"XGlobalsForVMStructs", "_instance_p", "static XGlobalsForVMStructs*", &z.masks},
                                         {"XGlobalsForVMStructs", "_XAddressBadMask", "uintptr_t*", &z.bad},
                                         {"XGlobalsForVMStructs", "_XAddressGoodMask", "uintptr_t*", &z.good},
                                         {"XGlobalsForVMStructs", "_XAddressOffsetMask", "uintptr_t*", &z.offsets}};
    return z.generations ? hpx_structures_fields(coloured, HPX_ARRAY_LEN(coloured)) : hpx_structures_fields(views, HPX_ARRAY_LEN(views));
}

/* A table is for a part of the addresses that the heap may have. */
static bool is_table(uintptr_t at, uint64_t granules)
{
    return hpx_vm_is_address(at) && granules > 0 && granules <= (mask_at(z.offsets) >> GRANULE) + 1;
}

/* Both generations begin with their number, where the heap's pages come from and are listed, and their table: how many elements it has, and
 * where they are. */
static void find_two_tables(uintptr_t heap, uint64_t size, uint64_t allocator, uint64_t pages)
{
    uint32_t found = 0;
    for (uint64_t at = WORD; at + 4 * WORD <= size; at += WORD) {
        if (hpx_vm_word(heap + at) == heap + allocator && hpx_vm_word(heap + at + WORD) == heap + pages) {
            const uint8_t number = hpx_vm_byte(heap + at - WORD);
            const uintptr_t table = hpx_vm_word(heap + at + 3 * WORD);
            const uint64_t granules = hpx_vm_word(heap + at + 2 * WORD);
            const bool good = number < GENERATIONS && z.tables[number] == 0 && is_table(table, granules);
            z.tables[good ? number : YOUNG] = table;
            z.granules[good ? number : YOUNG] = granules;
            found += good ? 1 : GENERATIONS + 1;
        }
    }
    z.tables[YOUNG] = found == GENERATIONS ? z.tables[YOUNG] : 0;
}

static uintptr_t find_heap(const char *type, const char *is)
{
    uint64_t collected = 0, within = 0;
    const struct hpx_vm_field all[] = {{"Universe", "_collectedHeap", "static CollectedHeap*", &collected}, {type, "_heap", is, &within}};
    const uintptr_t heap = hpx_structures_fields(all, HPX_ARRAY_LEN(all)) == NULL ? hpx_vm_word((uintptr_t)collected) : 0;
    return hpx_vm_is_address(heap) ? heap + within : 0;
}

/* A table counts its elements before it tells where they are. */
static void find_tables_of_generations(void)
{
    uint64_t allocator, pages, map;
    const struct hpx_vm_field all[] = {{"ZHeap", "_page_allocator", "ZPageAllocator", &allocator},
                                       {"ZHeap", "_page_table", "ZPageTable", &pages},
                                       {"ZGranuleMapForPageTable", "_map", "ZPage** const", &map},
                                       {"ZForwarding", "_virtual", "const ZVirtualMemory", &z.begin},
                                       {"ZForwarding", "_object_alignment_shift", "const size_t", &z.align},
                                       {"ZForwarding", "_entries", "const ZAttachedArrayForForwarding", &z.length}};
    const uintptr_t heap = find_heap("ZCollectedHeap", "ZHeap");
    z.size = hpx_structures_size("ZForwarding");
    if (heap != 0 && z.size != 0 && hpx_structures_fields(all, HPX_ARRAY_LEN(all)) == NULL && map == WORD) {
        find_two_tables(heap, hpx_structures_size("ZHeap"), allocator, pages);
    }
}

static void find_table(void)
{
    uint64_t table, map;
    const struct hpx_vm_field all[] = {{"XHeap", "_forwarding_table", "XForwardingTable", &table},
                                       {"XGranuleMapForForwarding", "_map", "XForwarding** const", &map},
                                       {"XForwarding", "_virtual", "const XVirtualMemory", &z.begin},
                                       {"XForwarding", "_object_alignment_shift", "const size_t", &z.align},
                                       {"XForwarding", "_entries", "const XAttachedArrayForForwarding", &z.length}};
    const uintptr_t heap = find_heap("XCollectedHeap", "XHeap");
    z.size = hpx_structures_size("XForwarding");
    if (heap != 0 && z.size != 0 && hpx_structures_fields(all, HPX_ARRAY_LEN(all)) == NULL && map == WORD) {
        z.granules[YOUNG] = hpx_vm_word(heap + table);
        const uintptr_t elements = hpx_vm_word(heap + table + WORD);
        z.tables[YOUNG] = is_table(elements, z.granules[YOUNG]) ? elements : 0;
    }
}

const char *hpx_zgc_references_init(bool generations)
{
    z.generations = generations;
    const char *why = find_masks();
    if (why == NULL && generations) {
        find_tables_of_generations();
    } else if (why == NULL) {
        find_table();
    }
    return why;
}

const char *hpx_zgc_references_unfollowed(void)
{
    return z.masks != 0 && z.tables[YOUNG] == 0 ? "references of ZGC that nobody has followed are not followed" : NULL;
}

static uint32_t hash_of(uint32_t key)
{
    key = ~key + (key << 15);
    key ^= key >> 12;
    key += key << 2;
    key ^= key >> 4;
    key *= 2057;
    return key ^ key >> 16;
}

/* What is moved out of the part of the heap with this address; 0: nothing. */
static uintptr_t forwarding_of(int generation, uintptr_t address)
{
    const uintptr_t granule = (address & mask_at(z.offsets)) >> GRANULE;
    return granule < z.granules[generation] ? hpx_vm_word(z.tables[generation] + granule * WORD) : HPX_OBJECT_UNKNOWN;
}

/* The VM takes a forwarding out of the table before it uses its memory for another one. */
static bool is_there(int generation, uintptr_t address, uintptr_t forwarding)
{
    atomic_thread_fence(memory_order_acquire); /* it was read before; no partner: the VM writes */
    return forwarding_of(generation, address) == forwarding;
}

/* Where the object with this offset is, or, if it waits to be moved, `address`, where it is still. */
static uintptr_t look_up(uintptr_t f, uint64_t n, uint64_t object, uintptr_t offset, uintptr_t address)
{
    uint64_t at = hash_of((uint32_t)object);
    for (uint32_t i = 0; i < TRIES; i++, at++) {
        const uint64_t entry = hpx_vm_word(f + z.size + (at & (n - 1)) * WORD);
        if ((entry & 1) == 0) {
            return address;
        }
        if (entry >> (MOVED_BITS + 1) == object) {
            return address - offset + (entry >> 1 & ((UINT64_C(1) << MOVED_BITS) - 1));
        }
    }
    return HPX_OBJECT_UNKNOWN;
}

/* Where an object is that was at this address when its reference was followed last. */
static uintptr_t moved(int generation, uintptr_t address)
{
    const uintptr_t offset = address & mask_at(z.offsets), f = forwarding_of(generation, address);
    if (f == 0) {
        return address;
    }
    if (!hpx_vm_is_address(f)) {
        return HPX_OBJECT_UNKNOWN;
    }
    const uint64_t n = hpx_vm_word(f + z.length);
    const uint64_t object = (offset - hpx_vm_word(f + z.begin)) >> (hpx_vm_word(f + z.align) & ALIGNMENT);
    if (n == 0 || n > ENTRIES || (n & (n - 1)) != 0 || !is_there(generation, address, f)) {
        return HPX_OBJECT_UNKNOWN;
    }
    const uintptr_t to = look_up(f, n, object, offset, address);
    return is_there(generation, address, f) ? to : HPX_OBJECT_UNKNOWN;
}

/* A colour is the one bit that is not as the three beside it. The lower bit of its number changes when young objects begin to move, the
 * higher one when old ones do. 4: that is no colour. */
static uint32_t colour_of(uintptr_t bits, uintptr_t all)
{
    const uintptr_t one = (bits & (bits - 1)) == 0 ? bits : bits ^ all;
    uint32_t n = 0;
    while (n < 4 && one != (all & (0 - all)) << n) {
        n++;
    }
    return n;
}

/* The table of the generation that the object was in when this reference was followed last. A field that both may have moved from under
 * belongs to an old object, if its object was old, too: its bits say so; else it is young if young ones are moved from there. */
static int generation_of(uintptr_t word, uintptr_t address, uint32_t differs)
{
    const bool young = differs == 1 || (differs == 3 && (word & REMEMBERED) != REMEMBERED && forwarding_of(YOUNG, address) != 0);
    return young ? YOUNG : OLD;
}

/* The VM sets them one after another: `good` and `bad` then have a bit that both have. Where the good colour has one bit, as on x86-64, it
 * is that above which `shift` lets the address begin. */
static bool are_of_one_moment(uintptr_t good, uintptr_t bad, uintptr_t shift)
{
    return (good & bad) == 0 && (!z.generations || (good & (good - 1)) != 0 || good << 1 >> (shift & WORD_BITS) == 1);
}

/* On x86-64 the address begins right above the bit of the colour: its lowest bits are zero. On 64-bit Arm three bits are set, and it does
 * not. No object has a colour, too. */
static uintptr_t uncoloured(uintptr_t word, uintptr_t good, uintptr_t bad, uintptr_t shift)
{
    const uintptr_t all = good | bad, bits = word & all;
    const uint32_t is = colour_of(bits, all), now = colour_of(good, all);
    if ((word & bad) == 0) {
        return word >> shift;
    }
    if (is > 3 || now > 3 || z.tables[YOUNG] == 0) {
        return HPX_OBJECT_UNKNOWN;
    }
    const uintptr_t address = word >> ((bits & (bits - 1)) == 0 ? shift + is - now : shift);
    return address == 0 ? 0 : moved(generation_of(word, address, is ^ now), address);
}

uintptr_t hpx_zgc_followed_sig(uintptr_t word)
{
    const uintptr_t good = mask_at(z.good), bad = mask_at(z.bad), shift = z.generations ? mask_at(z.shift) : 0;
    if (word == 0) {
        return 0;
    }
    if (!are_of_one_moment(good, bad, shift)) {
        return HPX_OBJECT_UNKNOWN;
    }
    if (z.generations) {
        return uncoloured(word, good, bad, shift);
    }
    if ((word & bad) == 0) {
        return word;
    }
    return z.tables[YOUNG] != 0 ? moved(YOUNG, (word & mask_at(z.offsets)) | good) : HPX_OBJECT_UNKNOWN;
}

/* An address without a colour may be old where objects are moved from; what was made there since may be at it, too. */
uintptr_t hpx_zgc_on_stack_sig(uintptr_t word, bool runs)
{
    if (!z.generations) {
        return hpx_zgc_followed_sig(word);
    }
    const bool told = runs || (z.tables[YOUNG] != 0 && forwarding_of(YOUNG, word) == 0 && forwarding_of(OLD, word) == 0);
    return told ? word : HPX_OBJECT_UNKNOWN;
}

uint32_t hpx_zgc_colour_sig(void)
{
    const uintptr_t good = mask_at(z.good);
    return (uint32_t)(good ^ good >> 32);
}
