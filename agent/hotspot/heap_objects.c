/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_objects.c: the words of heap_objects.h. */
#include "heap_objects.h"
#include "structures.h"
#include "vm_flags.h"
#include "zgc_references.h"
#include <pthread.h>
#include <string.h>

#define FORWARDED 3u /* the lowest bits of the first word of an object that Shenandoah has copied: the others lead to the copy */

/* Constant after init. */
static struct {
    const char *why, *no_references;
    uint64_t klass, base, shift, name;            /* class word, how it becomes an address, of Klass */
    uint64_t length, body;                        /* of Symbol */
    uint64_t mirrored;                            /* address of the offset in java.lang.Class; 0: not known */
    uint64_t oop_base, oop_shift;                 /* of references of 4 bytes */
    uint64_t heap, collections, active;           /* the heap's address, its fields */
    bool narrow, compact, small, shenandoah, zgc; /* small: references of 4 bytes */
} words;

static const char *find_class_word(void)
{
    words.compact = hpx_vm_flag("UseCompactObjectHeaders", false);
    words.narrow = words.compact || hpx_vm_flag("UseCompressedClassPointers", true);
    const struct hpx_vm_field narrow[] = {{"CompressedKlassPointers", "_base", "static address", &words.base},
                                          {"CompressedKlassPointers", "_narrow_klass._base", "static address", &words.base},
                                          {"CompressedKlassPointers", "_shift", "static int", &words.shift},
                                          {"CompressedKlassPointers", "_narrow_klass._shift", "static int", &words.shift},
                                          {"oopDesc", "_metadata._compressed_klass", "narrowKlass", &words.klass}};
    const struct hpx_vm_field wide = {"oopDesc", "_metadata._klass", "Klass*", &words.klass};
    return words.narrow ? hpx_structures_fields(narrow, HPX_ARRAY_LEN(narrow) - words.compact) : hpx_structures_fields(&wide, 1);
}

static const char *find_references(void)
{
    const struct hpx_vm_field small[] = {{"CompressedOops", "_base", "static address", &words.oop_base},
                                         {"CompressedOops", "_narrow_oop._base", "static address", &words.oop_base},
                                         {"CompressedOops", "_shift", "static int", &words.oop_shift},
                                         {"CompressedOops", "_narrow_oop._shift", "static int", &words.oop_shift}};
    if (words.zgc) {
        return hpx_zgc_references_init(hpx_vm_flag("ZGenerational", true)); /* JDK 24 and later have no other */
    }
    return words.small ? hpx_structures_fields(small, HPX_ARRAY_LEN(small)) : NULL;
}

static void init(void)
{
    const struct hpx_vm_field all[] = {{"Klass", "_name", "Symbol*", &words.name},
                                       {"Symbol", "_length", "u2", &words.length},
                                       {"Symbol", "_body", NULL, &words.body},
                                       {"Universe", "_collectedHeap", "static CollectedHeap*", &words.heap},
                                       {"CollectedHeap", "_total_collections", "unsigned int", &words.collections},
                                       {"CollectedHeap", "_is_stw_gc_active", "bool", &words.active},
                                       {"CollectedHeap", "_is_gc_active", "bool", &words.active}};
    words.zgc = hpx_vm_flag("UseZGC", true);
    words.shenandoah = hpx_vm_flag("UseShenandoahGC", false);
    words.small = hpx_vm_flag("UseCompressedOops", !words.zgc);
    words.why = hpx_structures_fields(all, HPX_ARRAY_LEN(all));
    words.why = words.why != NULL ? words.why : find_class_word();
    words.no_references = find_references();
    (void)hpx_structures_field(&(struct hpx_vm_field){"java_lang_Class", "_klass_offset", "static int", &words.mirrored});
}

const char *hpx_heap_objects_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init);
    return words.why;
}

const char *hpx_heap_no_references(void)
{
    return words.no_references;
}

bool hpx_heap_moves_while_running(void)
{
    return words.zgc || words.shenandoah;
}

bool hpx_heap_still_sig(uint32_t *collections)
{
    uintptr_t heap = hpx_vm_word((uintptr_t)words.heap);
    bool is = hpx_vm_is_address(heap);
    *collections = is ? (uint32_t)hpx_vm_int(heap + words.collections) : 0;
    if (words.zgc && words.no_references == NULL) { /* it counts them where it begins to look for garbage, not where it moves objects */
        *collections = *collections * 31 + hpx_zgc_colour_sig();
    }
    return is && hpx_vm_byte(heap + words.active) == 0;
}

uintptr_t hpx_object_class_sig(uintptr_t oop)
{
    if (!words.narrow) {
        return hpx_vm_word(oop + words.klass);
    }
    uint64_t word = words.compact ? hpx_vm_word(oop) >> HPX_OOPS_COMPACT : (uint32_t)hpx_vm_int(oop + words.klass);
    return hpx_vm_word((uintptr_t)words.base) + (word << hpx_vm_int((uintptr_t)words.shift));
}

uintptr_t hpx_object_mirrored_sig(uintptr_t oop)
{
    return words.mirrored != 0 ? hpx_vm_word(oop + (uintptr_t)hpx_vm_int((uintptr_t)words.mirrored)) : 0;
}

uintptr_t hpx_object_class_name_sig(uintptr_t klass, uint32_t *n)
{
    uintptr_t symbol = hpx_vm_is_address(klass) ? hpx_vm_word(klass + words.name) : 0;
    *n = hpx_vm_is_address(symbol) ? hpx_vm_half(symbol + words.length) : 0;
    return *n != 0 ? symbol + words.body : 0;
}

bool hpx_object_symbol_sig(uintptr_t symbol, char *to, size_t size)
{
    size_t n = hpx_vm_is_address(symbol) ? hpx_vm_half(symbol + words.length) : 0;
    if (n == 0 || n >= size) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        to[i] = (char)hpx_vm_byte(symbol + words.body + i);
    }
    to[n] = '\0';
    return memchr(to, '\0', n) == NULL;
}

/* The VM names a hidden class "p/C+0x1f", and JVMTI "Lp/C.0x1f;". */
static void put_dot(char *signature)
{
    char *plus = strrchr(signature, '+');
    if (plus != NULL && plus[1] == '0' && plus[2] == 'x') {
        size_t digits = strspn(plus + 3, "0123456789abcdef");
        *plus = digits > 0 && !strcmp(plus + 3 + digits, ";") ? '.' : '+';
    }
}

/* A name "p/C" becomes "Lp/C;", one of an array is its signature. */
bool hpx_object_class_signature_sig(uintptr_t klass, char *to, size_t size)
{
    uintptr_t symbol = hpx_vm_is_address(klass) ? hpx_vm_word(klass + words.name) : 0;
    if (size < 4 || !hpx_object_symbol_sig(symbol, to + 1, size - 2)) {
        return false;
    }
    size_t n = strlen(to + 1);
    if (to[1] == '[') {
        memmove(to, to + 1, n + 1);
    } else {
        to[0] = 'L';
        to[n + 1] = ';';
        to[n + 2] = '\0';
    }
    put_dot(to);
    return true;
}

static uintptr_t forwarded(uintptr_t oop)
{
    uintptr_t mark = hpx_vm_is_address(oop) ? hpx_vm_word(oop) : 0;
    return (mark & FORWARDED) == FORWARDED ? mark & ~(uintptr_t)FORWARDED : oop;
}

uintptr_t hpx_heap_moved_sig(uintptr_t oop)
{
    return words.shenandoah ? forwarded(oop) : oop;
}

uintptr_t hpx_object_at_sig(uintptr_t at)
{
    uintptr_t word = words.small ? (uint32_t)hpx_vm_int(at) : hpx_vm_word(at);
    if (word != 0 && words.small) {
        word = hpx_vm_word((uintptr_t)words.oop_base) + (word << hpx_vm_int((uintptr_t)words.oop_shift));
    }
    return words.zgc ? hpx_zgc_followed_sig(word) : hpx_heap_moved_sig(word);
}

uintptr_t hpx_object_on_stack_sig(uintptr_t oop, bool runs)
{
    return words.zgc ? hpx_zgc_on_stack_sig(oop, runs) : hpx_heap_moved_sig(oop);
}
