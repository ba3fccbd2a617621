/* SPDX-License-Identifier: BSD-2-Clause */
/* walk_fixture.c: see walk_fixture.h. */
#include "walk_fixture.h"
#include "records.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OBJECT_WORDS 4u
#define WANT_MOST    ((size_t)4 << 20)

struct fx fx;
static uint64_t memory[FX_OBJECTS * OBJECT_WORDS];
static uint64_t handles[FX_OBJECTS]; /* what local references point to */
static uint64_t *forbidden;

/* ---- classes ---- */

static const struct hpx_heap_klass *classes[FX_CLASSES];

static struct hpx_heap_klass *new_class(uint32_t number, int above, uint32_t nfields)
{
    struct hpx_heap_klass *c = calloc(1, sizeof *c + nfields * sizeof c->fields[0]);
    assert_non_null(c);
    c->number.v = number;
    c->linked = true;
    c->above = above != FX_NONE ? classes[above] : NULL;
    c->nfields = nfields;
    c->inherited = c->above != NULL ? c->above->inherited + c->above->nfields : 0;
    classes[number] = c;
    return c;
}

/* A class and its fields: types of instance fields; a static one has the type above 100. */
static struct hpx_heap_klass *instances(uint32_t number, int above, uint32_t first, uint32_t nfields, const uint8_t *types)
{
    struct hpx_heap_klass *c = new_class(number, above, nfields);
    c->first = first;
    for (uint32_t i = 0; i < nfields; i++) {
        c->fields[i].is_static = types[i] > 100;
        c->fields[i].type = types[i] % 100;
        if (types[i] < 100) {
            c->fields[i].offset = c->instance_size;
            c->instance_size += hpx_type_size(types[i], fx.ids);
        }
    }
    uint32_t own = c->instance_size;
    c->instance_size += c->above != NULL ? c->above->instance_size : 0;
    c->nslots = c->inherited + nfields;
    uint64_t *slots = calloc(c->nslots + 1, sizeof *slots);
    assert_non_null(slots);
    for (uint32_t i = 0; i < c->inherited; i++) { /* the fields of a class come before those of its superclasses */
        uint64_t slot = c->above->slots[i];
        slots[i] = slot != 0 ? slot + HPX_HEAP_SLOT((uint64_t)own, 0) : 0;
    }
    for (uint32_t i = 0; i < nfields; i++) {
        slots[c->inherited + i] = types[i] > 100 ? 0 : HPX_HEAP_SLOT((uint64_t)c->fields[i].offset, types[i]);
    }
    c->slots = slots;
    return c;
}

static void make_classes(void)
{
    static const uint8_t klass[] = {HPX_TYPE_OBJECT}, string[] = {HPX_TYPE_OBJECT, HPX_TYPE_INT},
                         thread[] = {HPX_TYPE_LONG, HPX_TYPE_OBJECT},
                         base[] = {HPX_TYPE_OBJECT, HPX_TYPE_INT, 100 + HPX_TYPE_LONG, 100 + HPX_TYPE_OBJECT},
                         derived[] = {HPX_TYPE_BOOLEAN, 100 + HPX_TYPE_INT},
                         kinds[] = {HPX_TYPE_BOOLEAN, HPX_TYPE_CHAR,  HPX_TYPE_FLOAT, HPX_TYPE_DOUBLE,
                                    HPX_TYPE_BYTE,    HPX_TYPE_SHORT, HPX_TYPE_INT,   HPX_TYPE_LONG};
    instances(FX_OBJECT, FX_NONE, 0, 0, NULL);
    instances(FX_CLASS, FX_OBJECT, 0, 1, klass);
    instances(FX_STRING, FX_OBJECT, 0, 2, string);
    instances(FX_THREAD, FX_OBJECT, 0, 2, thread)->thread = true;
    instances(FX_WORKER, FX_THREAD, 0, 0, NULL)->thread = true;
    instances(FX_BASE, FX_OBJECT, 2, 4, base);
    instances(FX_DERIVED, FX_BASE, 2, 2, derived);
    new_class(FX_BASES, FX_OBJECT, 0)->kind = HPX_HEAP_OBJECTS;
    for (uint32_t i = FX_BYTES; i <= FX_CHARS; i++) {
        struct hpx_heap_klass *c = new_class(i, FX_OBJECT, 0);
        c->kind = HPX_HEAP_PRIMITIVES;
        c->type = i == FX_BYTES ? HPX_TYPE_BYTE : i == FX_INTS ? HPX_TYPE_INT : HPX_TYPE_CHAR;
    }
    instances(FX_KINDS, FX_OBJECT, 0, 8, kinds);
    new_class(FX_UNLINKED, FX_OBJECT, 0)->linked = false;
}

static void free_classes(void)
{
    for (int i = 0; i < FX_CLASSES; i++) {
        free(classes[i] != NULL ? (void *)(uintptr_t)classes[i]->slots : NULL);
        free((void *)(uintptr_t)classes[i]);
        classes[i] = NULL;
    }
}

/* ---- objects ---- */

static uint32_t class_word(int klass)
{
    return 0x10000 + 0x48 * (uint32_t)klass;
}

uint64_t fx_address(int object)
{
    return (uint64_t)(uintptr_t)fx.objects[object].at;
}

void fx_set_class_word(int object, uint32_t word)
{
    memcpy((char *)fx.objects[object].at + 8, &word, sizeof word);
}

void fx_set_length(int object, uint32_t length)
{
    memcpy((char *)fx.objects[object].at + 12, &length, sizeof length);
}

uint64_t fx_forbidden(void)
{
    return (uint64_t)(uintptr_t)forbidden;
}

static void make_object(int object, int klass, jlong size, jint length)
{
    struct fx_object *o = &fx.objects[object];
    uint32_t place = (uint32_t)(object * 7 % FX_OBJECTS); /* in another order than their numbers */
    *o = (struct fx_object){.at = &memory[place * OBJECT_WORDS], .klass = klass, .size = size, .length = length};
    handles[object] = fx_address(object);
    fx_set_class_word(object, class_word(klass));
    if (length >= 0) {
        fx_set_length(object, (uint32_t)length);
    }
}

/* Tags of the environment: of the walk by tags, or of the allocation sites. */
static void tag_objects(void)
{
    for (int i = 0; i < FX_OBJECTS; i++) {
        struct fx_object *o = &fx.objects[i];
        bool known = i != FX_INT && i < FX_CLASSES;
        if (fx.mode == FX_BY_TAGS) {
            o->tag = known ? (jlong)hpx_site_class_tag((struct hpx_class_number){(uint32_t)i}) : 0;
        } else if (known || i == FX_INT || i == FX_LATES) {
            o->tag = (jlong)(hpx_site_class_tag((struct hpx_class_number){40 + (uint32_t)i}) | HPX_SITE_ANNOUNCED | HPX_BLOCK_ANNOUNCED);
        } else if (i % 3 != 0) {
            o->site = 1000 + (uint32_t)i;
            o->tag = (jlong)hpx_site_tag(o->site, (uint64_t)o->size);
        }
    }
    if (fx.mode == FX_BY_TAGS) {
        fx.objects[FX_MAIN].tag = (jlong)hpx_layout_thread_tag(0);
        fx.objects[FX_OTHER].tag = (jlong)hpx_layout_thread_tag(1);
    }
}

static void make_objects(void)
{
    for (int i = 0; i < FX_MIRRORS; i++) {
        make_object(i, FX_CLASS, 112, -1);
    }
    make_object(FX_MAIN, FX_THREAD, 40, -1);
    make_object(FX_OTHER, FX_WORKER, 48, -1);
    make_object(FX_UNSTARTED, FX_THREAD, 40, -1);
    make_object(FX_BARE, FX_OBJECT, 16, -1);
    make_object(FX_A, FX_BASE, 24, -1);
    make_object(FX_B, FX_DERIVED, 32, -1);
    make_object(FX_ARRAY, FX_BASES, 32, 3);
    make_object(FX_TEXT, FX_STRING, 24, -1);
    make_object(FX_TEXT_BYTES, FX_BYTES, 24, 5);
    make_object(FX_SOME_BYTES, FX_BYTES, 24, 2);
    make_object(FX_SOME_INTS, FX_INTS, 24, 2);
    make_object(FX_SOME_CHARS, FX_CHARS, 24, 3);
    make_object(FX_KIND, FX_KINDS, 48, -1);
    make_object(FX_LATE_ONE, FX_LATE, 72, -1);
    make_object(FX_LATE_ARRAY, FX_LATES, 24, 2);
    make_object(FX_LATE_PRIMITIVES, FX_LATE_LONGS, 32, 2);
    make_object(FX_NOT_LINKED, FX_UNLINKED, 56, -1);
    tag_objects();
}

/* ---- the layout ---- */

static jclass class_refs[FX_CLASSES + 2];
static struct hpx_class_number class_numbers[FX_CLASSES + 2];
static struct hpx_heap_thread threads[2];
static jthread thread_refs[2];

static jobject local(int object)
{
    return (jobject)(void *)&handles[object];
}

/* The classes, one that has no number, and one that was unloaded meanwhile. */
static void list_classes(void)
{
    static uint64_t nothing;
    for (uint32_t i = 0; i < FX_CLASSES; i++) {
        class_refs[i] = (jclass)local((int)i);
        class_numbers[i].v = i;
    }
    class_refs[FX_CLASSES] = (jclass)(void *)&nothing;
    class_numbers[FX_CLASSES].v = FX_KINDS;
    class_refs[FX_CLASSES + 1] = NULL;
    class_numbers[FX_CLASSES + 1].v = FX_KINDS;
}

static void put_tid(jlong tid, uint64_t place)
{
    struct hpx_address_entry *e = hpx_address_map_put(&fx.layout.tids, (uint64_t)tid);
    assert_non_null(e);
    e->value = place;
}

static void make_layout(void)
{
    list_classes();
    threads[0] = (struct hpx_heap_thread){.object = FX_MAIN_ID, .serial = 200007, .known = true};
    threads[1] = (struct hpx_heap_thread){.object = FX_OTHER_ID, .serial = 200009, .known = true};
    thread_refs[0] = (jthread)local(FX_MAIN);
    thread_refs[1] = (jthread)local(FX_OTHER);
    fx.layout = (struct hpx_layout){.classes = classes,
                                    .nclasses = FX_CLASSES,
                                    .loaded = HPX_ARRAY_LEN(class_refs),
                                    .class_class = {FX_CLASS},
                                    .object_class = {FX_OBJECT},
                                    .string_class = {FX_STRING},
                                    .largest = 30,
                                    .class_refs = class_refs,
                                    .class_numbers = class_numbers,
                                    .threads = threads,
                                    .refs = thread_refs,
                                    .nthreads = 2};
    put_tid(FX_MAIN_TID, 0);
    put_tid(FX_OTHER_TID, 1);
}

void fx_no_threads(void)
{
    fx.layout.nthreads = 0;
}

void fx_begin(enum fx_mode mode, uint32_t ids)
{
    fx = (struct fx){.mode = mode, .ids = ids};
    forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(forbidden != MAP_FAILED);
    fx.events = calloc(FX_EVENTS, sizeof *fx.events);
    fx.want = malloc(WANT_MOST);
    assert_true(fx.events != NULL && fx.want != NULL);
    make_classes();
    make_objects();
    make_layout();
    fx.walk = (struct hpx_walk){.by_tags = mode == FX_BY_TAGS,
                                .oops = {.indirect = mode == FX_INDIRECT,
                                         .length_at = 12,
                                         .class_at = 8,
                                         .class_of_classes = class_word(FX_CLASS),
                                         .low = (uint64_t)(uintptr_t)memory & ~UINT64_C(0xfff)},
                                .layout = &fx.layout,
                                .array_base = 16,
                                .reference_size = 4,
                                .alignment = 8,
                                .primitive_fields = true,
                                .primitive_arrays = true,
                                .wide = ids == 8,
                                .classes_room = 1024,
                                .classes = calloc(1024, sizeof *fx.walk.classes)};
    fx.fd = memfd_create("spool", 0);
    assert_true(fx.fd >= 0 && fx.walk.classes != NULL);
    assert_int_equal(hpx_heap_spool_init(&fx.walk.spool, fx.fd, ids, fx.layout.largest), 0);
}

void fx_begin_small(enum fx_mode mode, uint32_t ids)
{
    fx_begin(mode, ids);
    fx_no_threads();
    fx_root(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, FX_A);
    fx_root(JVMTI_HEAP_REFERENCE_SYSTEM_CLASS, FX_BASE);
    fx_class_of(FX_A);
    fx_field(FX_A, FX_BARE, 2);
    fx_value(FX_A, 3, JVMTI_PRIMITIVE_TYPE_INT, 7);
    fx_static(FX_BASE, 4, JVMTI_PRIMITIVE_TYPE_LONG, 8);
    fx_class_of(FX_BARE);
}

int fx_end(void **state)
{
    (void)state;
    const struct hpx_walk *w = &fx.walk;
    hpx_walk_fini(&fx.walk);
    assert_true(w->facts.at == NULL && w->roots.at == NULL && w->lengths.at == NULL && w->classes == NULL && w->spool.buffer == NULL);
    assert_true(w->known.at == NULL && w->rooted.at == NULL && w->mirrors.at == NULL && w->kept.at == NULL);
    hpx_address_map_fini(&fx.layout.tids);
    if (fx.spool != NULL) {
        munmap((void *)(uintptr_t)fx.spool, fx.spool_len);
    }
    munmap(forbidden, 4096);
    close(fx.fd);
    free(fx.events);
    free(fx.want);
    free_classes();
    return 0;
}

/* ---- what is wanted ---- */

uint64_t fx_id(int object)
{
    if (object != FX_INT && object < FX_CLASSES) {
        return 0x10000000 + (uint64_t)object;
    }
    if (object == FX_MAIN || object == FX_OTHER) {
        return object == FX_MAIN && fx.layout.nthreads > 0 ? FX_MAIN_ID : FX_OTHER_ID;
    }
    if (fx.mode == FX_BY_TAGS) {
        return 0x60000000 + fx.objects[object].ordinal;
    }
    return 0x60000000 + (fx.walk.wide ? fx_address(object) : (fx_address(object) - fx.walk.oops.low) / 8);
}

void want(uint32_t bytes, uint64_t value)
{
    assert_true(fx.want_len + bytes < WANT_MOST);
    for (uint32_t i = bytes; i > 0; i--) {
        fx.want[fx.want_len++] = (uint8_t)(value >> (8 * (i - 1)));
    }
}

static void want_head(uint8_t sub, int object)
{
    want(1, sub);
    want(fx.ids, fx_id(object));
    uint32_t site = fx.mode == FX_BY_TAGS ? 0 : fx.objects[object].site;
    want(4, site != 0 ? HPX_HEAP_SITE | site : HPX_SERIAL_TRACE);
}

void want_instance(int object, int klass, uint32_t bytes)
{
    want_head(0x21, object);
    want(fx.ids, fx_id(klass));
    want(4, bytes);
}

static size_t each_bytes;
static int compare(const void *a, const void *b)
{
    return memcmp(a, b, each_bytes);
}

/* The sub-records of all segments; their bytes. */
static size_t without_heads(uint8_t *to)
{
    size_t n = 0;
    assert_true(fx.walk.found.objects_end <= fx.spool_len);
    for (size_t at = 0, length; at < fx.walk.found.objects_end; at += HPX_RECORD_HEAD + length) {
        const uint8_t *head = fx.spool + at;
        assert_int_equal(head[0], HPX_TAG_SEGMENT);
        length = (size_t)head[5] << 24 | (size_t)head[6] << 16 | (size_t)head[7] << 8 | head[8];
        assert_true(at + HPX_RECORD_HEAD + length <= fx.walk.found.objects_end);
        memcpy(to + n, head + HPX_RECORD_HEAD, length);
        n += length;
    }
    return n;
}

void fx_check_records(uint32_t unordered, uint32_t each)
{
    uint8_t *got = malloc(fx.walk.found.objects_end + 1);
    assert_non_null(got);
    size_t n = without_heads(got), tail = (size_t)unordered * each;
    if (n == fx.want_len && tail > 0) {
        each_bytes = each;
        qsort(got + n - tail, unordered, each, compare);
        qsort(fx.want + n - tail, unordered, each, compare);
    }
    for (size_t i = 0; i < n && i < fx.want_len; i++) {
        if (got[i] != fx.want[i]) {
            free(got);
            fail_msg("byte %zu", i);
        }
    }
    free(got);
    assert_int_equal(n, fx.want_len);
}

/* Structures at an offset of the spool may not be aligned. */
static const void *copied(void *to, uint64_t at, size_t bytes, size_t room)
{
    assert_true(bytes <= room && at + bytes <= fx.spool_len);
    return memcpy(to, fx.spool + at, bytes);
}

const struct hpx_heap_fact *fx_facts(void)
{
    static struct hpx_heap_fact facts[FX_EVENTS];
    return copied(facts, fx.walk.found.facts_at, fx.walk.facts.len * sizeof *facts, sizeof facts);
}

const struct hpx_heap_root_fact *fx_roots(void)
{
    static struct hpx_heap_root_fact roots[FX_EVENTS];
    return copied(roots, fx.walk.found.roots_at, fx.walk.roots.len * sizeof *roots, sizeof roots);
}
