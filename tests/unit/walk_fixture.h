/* SPDX-License-Identifier: BSD-2-Clause */
/* walk_fixture.h: a VM without Java for a heap walk (agent/heap/walk.h). A test writes down what the VM tells, root by root and reference
 * by reference; FollowReferences tells it, with tags in structures as HotSpot has them. The objects lie in memory of the fixture: a mark, a
 * class word at 8, the length of an array at 12. Then the test writes down the records that it wants. */
#ifndef HPX_WALK_FIXTURE_H
#define HPX_WALK_FIXTURE_H

#include "cmocka_all.h"
#include "walk.h"

/* Classes, by number. Base: implements an interface with two fields; Base next; int n; static long S; static Base R. Derived: boolean z;
 * static int Q. Kinds: a field of each primitive type. Worker: a thread. Unlinked: its fields are not known. Those from FX_CLASSES on were
 * loaded meanwhile; the mirror of `int` stands in place 0. */
enum {
    FX_NONE,
    FX_OBJECT,
    FX_CLASS,
    FX_STRING,
    FX_THREAD,
    FX_WORKER,
    FX_BASE,
    FX_DERIVED,
    FX_BASES,
    FX_BYTES,
    FX_INTS,
    FX_CHARS,
    FX_KINDS,
    FX_UNLINKED,
    FX_CLASSES,
    FX_LATE = FX_CLASSES,
    FX_LATES,
    FX_LATE_LONGS,
    FX_MIRRORS
};

/* Objects: first the class objects, by class number; FX_INT is that of `int`. */
enum {
    FX_INT = FX_NONE,
    FX_MAIN = FX_MIRRORS, /* the threads of the layout, in this order */
    FX_OTHER,
    FX_UNSTARTED, /* a thread that is not in the layout */
    FX_BARE,
    FX_A, /* Base */
    FX_B, /* Derived */
    FX_ARRAY,
    FX_TEXT, /* String */
    FX_TEXT_BYTES,
    FX_SOME_BYTES,
    FX_SOME_INTS,
    FX_SOME_CHARS,
    FX_KIND,
    FX_LATE_ONE,
    FX_LATE_ARRAY,
    FX_LATE_PRIMITIVES,
    FX_NOT_LINKED,
    FX_OBJECTS
};

enum fx_mode { FX_DIRECT, FX_INDIRECT, FX_BY_TAGS, FX_MODES };

#define FX_MAIN_ID   0x50000007u
#define FX_OTHER_ID  0x50000009u
#define FX_MAIN_TID  11
#define FX_OTHER_TID 12

struct fx_object {
    uint64_t *at;
    int klass;
    uint32_t site;
    jlong tag, size;
    jint length;      /* -1: not an array */
    uint64_t ordinal; /* in the order in which the VM told of those without a tag */
};

/* What the VM tells. A test may change it. */
struct fx_event {
    enum { FX_REFERENCE, FX_VALUE, FX_ELEMENTS } what;
    jvmtiHeapReferenceKind kind;
    jvmtiHeapReferenceInfo info;
    int from, to; /* objects; from -1: a root */
    jvmtiPrimitiveType type;
    jvalue value;
    const void *elements;
    jint length;                         /* told */
    uint64_t to_address, from_address;   /* beside the tags; with FX_INDIRECT in the variables */
    uint64_t to_variable, from_variable; /* FX_INDIRECT: addresses of the variables; 0: near the callback */
};

#define FX_EVENTS 40000
struct fx {
    enum fx_mode mode;
    uint32_t ids;
    struct fx_object objects[FX_OBJECTS];
    struct fx_event *events;
    uint32_t nevents, told; /* told: callbacks so far */
    uint32_t aborted;       /* callbacks that wanted no more */
    void (*watch)(uint32_t told);
    jvmtiError rc; /* of FollowReferences */
    struct hpx_layout layout;
    struct hpx_walk walk;
    int fd;
    const uint8_t *spool; /* after the walk */
    size_t spool_len;
    uint8_t *want; /* records that are wanted */
    size_t want_len;
};
extern struct fx fx;

/* A new VM with its objects, and a walk that hides nothing. ids: 8 or 4 bytes. fx_end() is a teardown. */
void fx_begin(enum fx_mode mode, uint32_t ids);
int fx_end(void **state);
/* The same with two objects, A and BARE, and without threads: A refers to BARE, S has a value. */
void fx_begin_small(enum fx_mode mode, uint32_t ids);
/* The layout has no threads. */
void fx_no_threads(void);
/* The address of an object, its class word, and its length, in memory. */
uint64_t fx_address(int object);
void fx_set_class_word(int object, uint32_t word);
void fx_set_length(int object, uint32_t length);
/* Memory that nobody may read. */
uint64_t fx_forbidden(void);

/* ---- what the VM tells ---- */

struct fx_event *fx_root(jvmtiHeapReferenceKind kind, int to);
struct fx_event *fx_frame(jvmtiHeapReferenceKind kind, int to, jlong tid, uint64_t method, jint depth);
struct fx_event *fx_class_of(int object);
struct fx_event *fx_ref(jvmtiHeapReferenceKind kind, int from, int to, jint index);
struct fx_event *fx_field(int from, int to, jint index);
struct fx_event *fx_element(int from, int to, jint index);
struct fx_event *fx_value(int of, jint index, jvmtiPrimitiveType type, uint64_t bits);
struct fx_event *fx_static(int of, jint index, jvmtiPrimitiveType type, uint64_t bits);
struct fx_event *fx_elements(int of, jvmtiPrimitiveType type, const void *elements);

/* The walk: FollowReferences, finish; reads the spool. */
enum hpx_walk_end fx_walk(void);
/* The whole walk again, from these events. */
void fx_follow(void);

/* ---- what is wanted ---- */

uint64_t fx_id(int object);
void want(uint32_t bytes, uint64_t value);
void want_instance(int object, int klass, uint32_t bytes);
/* The records are these; the last `unordered` of them, of `each` bytes, in any order. */
void fx_check_records(uint32_t unordered, uint32_t each);
/* Facts and roots of the spool. */
const struct hpx_heap_fact *fx_facts(void);
const struct hpx_heap_root_fact *fx_roots(void);

#endif
