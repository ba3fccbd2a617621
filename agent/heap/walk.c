/* SPDX-License-Identifier: BSD-2-Clause */
/* walk.c: the callbacks of walk.h. */
#include "walk.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STEP 4096u /* objects between two reports of progress */

static void fail(struct hpx_walk *w, enum hpx_walk_end end)
{
    w->end = w->end == HPX_WALK_WHOLE ? end : w->end;
}

/* What the VM tells does not fit together. */
static void contradict(struct hpx_walk *w)
{
    fail(w, w->by_tags ? HPX_WALK_ORDER : HPX_WALK_DOUBT);
}

/* ---- lists ---- */

static bool make_room(struct hpx_walk *w, struct hpx_walk_list *l, size_t size)
{
    uint64_t room = l->room != 0 ? 2 * l->room : 8192;
    void *p = mmap(NULL, room * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        fail(w, HPX_WALK_NO_MEMORY);
        return false;
    }
    if (l->at != NULL) {
        memcpy(p, l->at, l->len * size);
        munmap(l->at, l->room * size);
    }
    l->at = p;
    l->room = room;
    return true;
}

static void *push(struct hpx_walk *w, struct hpx_walk_list *l, size_t size)
{
    return l->len < l->room || make_room(w, l, size) ? (char *)l->at + l->len++ * size : NULL;
}

static void list_fini(struct hpx_walk_list *l, size_t size)
{
    if (l->at != NULL) {
        munmap(l->at, l->room * size);
    }
    *l = (struct hpx_walk_list){.at = NULL};
}

static struct hpx_address_entry *put(struct hpx_walk *w, struct hpx_address_map *m, uint64_t key)
{
    struct hpx_address_entry *e = hpx_address_map_put(m, key);
    if (e == NULL) {
        fail(w, HPX_WALK_NO_MEMORY);
    }
    return e;
}

/* ---- objects and classes ---- */

/* NULL: not a class of the dump. */
static inline const struct hpx_heap_klass *klass_at(const struct hpx_walk *w, uint32_t number)
{
    return number < w->layout->nclasses ? w->layout->classes[number] : NULL;
}

static inline uint64_t class_id(uint32_t number)
{
    return HPX_CLASS_OBJECT_FIRST + (uint64_t)number;
}

static struct hpx_walk_class *add_class(struct hpx_walk *w, struct hpx_walk_class *c, uint32_t word)
{
    static struct hpx_walk_class none;
    if (w->nclasses >= w->classes_room / 4 * 3 || word == 0) {
        fail(w, word == 0 ? HPX_WALK_DOUBT : HPX_WALK_NO_MEMORY); /* more classes came than the table has room for */
        return &none;
    }
    w->nclasses++;
    c->word = word;
    c->klass = w->by_tags ? klass_at(w, word - 1) : NULL;
    if (word == (w->by_tags ? 1 + w->layout->class_class : w->oops.class_of_classes)) {
        w->class_of_classes = c;
        c->klass = klass_at(w, w->layout->class_class); /* class objects do not refer to their class */
    }
    c->special = c == w->class_of_classes || (c->klass != NULL && c->klass->thread);
    return c;
}

static inline struct hpx_walk_class *find_class(struct hpx_walk *w, uint32_t word)
{
    for (uint32_t i = word * 0x9e3779b1u >> 7;; i++) {
        struct hpx_walk_class *c = &w->classes[i & (w->classes_room - 1)];
        if (hpx_likely(c->word == word)) {
            return c;
        }
        if (c->word == 0) {
            return add_class(w, c, word);
        }
    }
}

/* The class of an object. */
static inline struct hpx_walk_class *class_of(struct hpx_walk *w, uint64_t key, jlong class_tag)
{
    uint32_t by_tag = 1 + hpx_site_class_of((uint64_t)class_tag); /* 1: a class without a number */
    return find_class(w, hpx_unlikely(w->by_tags) ? by_tag : hpx_oops_class_word(&w->oops, key));
}

/* By tags: the key of an object, which is its tag from now on. */
static uint64_t key_by_tag(struct hpx_walk *w, jlong *tag)
{
    if (*tag == 0) {
        if (push(w, &w->lengths, sizeof(uint32_t)) == NULL) {
            return 1;
        }
        *tag = (jlong)w->lengths.len;
    }
    return (uint64_t)*tag;
}

static inline uint64_t checked(struct hpx_walk *w, uint64_t key)
{
    if (hpx_unlikely(key == 0 || key % 8 != 0)) {
        fail(w, HPX_WALK_DOUBT);
    }
    return key;
}

static inline uint64_t key_of(struct hpx_walk *w, jlong *tag)
{
    return hpx_unlikely(w->by_tags) ? key_by_tag(w, tag) : checked(w, hpx_oops_object(&w->oops, tag));
}

static inline uint64_t referrer_key(struct hpx_walk *w, jlong *tag, jlong *referrer_tag)
{
    return hpx_unlikely(w->by_tags) ? key_by_tag(w, referrer_tag) : checked(w, hpx_oops_referrer(&w->oops, tag, referrer_tag));
}

/* What a thread or a class object of the dump is known as: 1 + the place of the thread in the layout, or the tag of the class. 0: neither.
 */
static uint64_t known_as(const struct hpx_walk *w, uint64_t key)
{
    if (w->by_tags) {
        return key & HPX_SITE_CLASS_TAG ? key : key & HPX_LAYOUT_THREAD_TAG ? 1 + (uint64_t)(uint32_t)key : 0;
    }
    const struct hpx_address_entry *e = hpx_address_map_find(&w->known, key);
    return e != NULL ? e->value : 0;
}

/* The number of a class of the dump whose class object this is; 0: none. */
static uint32_t number_of(const struct hpx_walk *w, uint64_t key, const struct hpx_walk_class *c)
{
    uint32_t number = c->special ? hpx_site_class_of(known_as(w, key)) : 0;
    return klass_at(w, number) != NULL ? number : 0;
}

/* The id of an object that is neither class nor thread. */
static inline uint64_t plain_id(struct hpx_walk *w, uint64_t key)
{
    uint64_t id = HPX_HEAP_OBJECT_FIRST + ((key - w->base) >> w->shift);
    if (hpx_unlikely(w->spool.id_size == 4 && id > UINT32_MAX)) {
        fail(w, HPX_WALK_TOO_MANY);
    }
    return id;
}

static inline uint64_t id_of(struct hpx_walk *w, uint64_t key, const struct hpx_walk_class *c)
{
    uint64_t as = hpx_unlikely(c->special) ? known_as(w, key) : 0;
    uint32_t number = hpx_site_class_of(as);
    if (klass_at(w, number) != NULL) {
        return class_id(number);
    }
    return as != 0 && number == 0 ? w->layout->threads[as - 1].object : plain_id(w, key);
}

static inline uint32_t site_of(const struct hpx_walk *w, uint64_t tag)
{
    return w->by_tags || (tag & HPX_SITE_CLASS_TAG) ? HPX_SITE_NONE : (uint32_t)(tag >> HPX_SITE_UNITS_BITS);
}

/* Its class was loaded during the dump: it is shown as an instance of java.lang.Object. */
static bool is_unknown(const struct hpx_heap_klass *klass)
{
    return klass == NULL || (klass->kind == HPX_HEAP_INSTANCES && !klass->linked);
}

static uint32_t array_length(const struct hpx_walk *w, uint64_t key)
{
    return w->by_tags ? ((const uint32_t *)w->lengths.at)[key - 1] : hpx_oops_length(&w->oops, key);
}

static inline void meet_array(struct hpx_walk *w, uint64_t key, jint length)
{
    if (hpx_unlikely(w->by_tags)) {
        ((uint32_t *)w->lengths.at)[key - 1] = (uint32_t)length;
    } else if (hpx_unlikely(hpx_oops_length(&w->oops, key) != (uint32_t)length)) {
        fail(w, HPX_WALK_DOUBT);
    }
}

/* A class object has its record at the end unless it is a class of the dump. */
static void meet_mirror(struct hpx_walk *w, uint64_t key, uint64_t tag, const struct hpx_walk_class *c)
{
    if (c == w->class_of_classes && number_of(w, key, c) == 0) {
        struct hpx_address_entry *e = put(w, &w->mirrors, key);
        if (e != NULL) {
            e->value = site_of(w, tag);
        }
    }
}

/* The id of an object that a root or reference names. */
static inline uint64_t meet(struct hpx_walk *w, uint64_t key, uint64_t tag, struct hpx_walk_class *c, jlong size, jint length)
{
    if (length >= 0) {
        meet_array(w, key, length);
    } else if (hpx_unlikely(c->vm_size == 0)) {
        c->vm_size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    }
    if (hpx_unlikely(c->special)) {
        meet_mirror(w, key, tag, c);
    }
    return id_of(w, key, c);
}

/* An object refers to its class: what the word in the object means. */
static inline void learn_class(struct hpx_walk *w, struct hpx_walk_class *c, uint64_t mirror)
{
    if (hpx_unlikely(c->mirror == 0)) {
        c->mirror = mirror;
        c->klass = w->by_tags ? c->klass : klass_at(w, hpx_site_class_of(known_as(w, mirror)));
        c->special = c->special || (c->klass != NULL && c->klass->thread);
    } else if (hpx_unlikely(c->mirror != mirror)) {
        contradict(w);
    }
}

/* ---- records ---- */

static inline void close_object(struct hpx_walk *w)
{
    if (w->current != 0 && w->klass != NULL) {
        if (w->klass->kind == HPX_HEAP_OBJECTS) {
            hpx_heap_spool_objects_end(&w->spool);
        } else if (w->klass->kind == HPX_HEAP_PRIMITIVES) { /* the VM told no contents */
            (void)hpx_heap_spool_primitives(&w->spool, plain_id(w, w->current), w->site, w->klass->type, 0, NULL);
        }
    }
    w->current = 0;
    w->klass = NULL;
    w->values = NULL;
}

static inline void count_object(struct hpx_walk *w)
{
    w->objects++;
    if (w->progress != NULL && w->objects % STEP == 0) {
        atomic_store_explicit(w->progress, w->objects, memory_order_relaxed);
    }
}

/* As the VM computes it. */
static uint64_t array_bytes(const struct hpx_walk *w, uint32_t length)
{
    uint64_t bytes = w->array_base + (uint64_t)length * w->reference_size;
    return (bytes + w->alignment - 1) / w->alignment * w->alignment;
}

/* Instances of one class have one size but for class objects, which hold the static fields, and stacks of virtual threads; files have one.
 */
static inline void open_instance(struct hpx_walk *w, uint64_t id, uint32_t site, const struct hpx_walk_class *c)
{
    w->bytes += c->vm_size;
    w->values = hpx_heap_spool_instance(&w->spool, id, site, class_id(c->klass->number), c->klass->instance_size);
}

/* The callbacks of another object begin. */
static inline void open_object(struct hpx_walk *w, uint64_t key, uint64_t tag, const struct hpx_walk_class *c)
{
    const struct hpx_heap_klass *klass = c->klass;
    uint64_t id = id_of(w, key, c);
    uint32_t site = site_of(w, tag);
    close_object(w);
    count_object(w);
    w->current = key;
    if (!w->by_tags) {
        struct hpx_address_entry *root = hpx_address_map_find(&w->rooted, key);
        if (root != NULL) {
            root->value = 1;
        }
    }
    if (is_unknown(klass)) {
        w->unknown++;
        (void)hpx_heap_spool_instance(&w->spool, id, site, class_id(w->layout->object_class), 0);
        return;
    }
    w->klass = klass;
    if (klass->kind == HPX_HEAP_INSTANCES) {
        open_instance(w, id, site, c);
    } else if (klass->kind == HPX_HEAP_OBJECTS) {
        uint32_t length = array_length(w, key);
        w->bytes += array_bytes(w, length);
        w->cut += hpx_heap_spool_objects(&w->spool, id, site, class_id(klass->number), length) < length;
    } else {
        w->site = site; /* its contents come next */
    }
}

/* A value of the open instance. */
static inline void set_field(struct hpx_walk *w, uint64_t key, jint index, uint64_t value)
{
    if (hpx_unlikely(key != w->current)) {
        contradict(w);
        return;
    }
    if (w->values == NULL) {
        return; /* an object of an unknown class */
    }
    uint32_t at = (uint32_t)index - w->klass->first;
    uint64_t slot = at < w->klass->nslots ? w->klass->slots[at] : 0;
    if (hpx_unlikely(slot == 0)) {
        fail(w, HPX_WALK_ORDER); /* the VM told of a field that its class does not have */
        return;
    }
    hpx_heap_spool_value(&w->spool, w->values + HPX_HEAP_SLOT_OFFSET(slot), HPX_HEAP_SLOT_TYPE(slot), value);
}

static inline void set_element(struct hpx_walk *w, uint64_t key, jint index, uint64_t value)
{
    if (hpx_unlikely(key != w->current)) {
        contradict(w);
    } else if (w->klass != NULL && (w->klass->kind != HPX_HEAP_OBJECTS || !hpx_heap_spool_element(&w->spool, (uint32_t)index, value))) {
        fail(w, HPX_WALK_ORDER);
    }
}

/* number 0: of a class that was loaded during the dump, which is shown as an object. */
static void add_fact(struct hpx_walk *w, uint32_t number, uint8_t kind, uint32_t index, uint8_t type, uint64_t value)
{
    struct hpx_heap_fact *f = number != 0 ? push(w, &w->facts, sizeof *f) : NULL;
    if (f != NULL) {
        *f = (struct hpx_heap_fact){.value = value, .klass = number, .index = index, .kind = kind, .type = type};
    }
}

static void add_static(struct hpx_walk *w, uint32_t number, jint index, uint64_t value)
{
    const struct hpx_heap_klass *c = klass_at(w, number);
    uint32_t at = c != NULL ? (uint32_t)index - c->first - c->inherited : 0;
    if (c != NULL && at < c->nfields) {
        add_fact(w, number, HPX_HEAP_STATIC, at, c->fields[at].type, value);
    }
}

/* ---- roots ---- */

/* An object that a root names. A class object has no record of its own in the walk. */
static void note_root(struct hpx_walk *w, uint64_t key, const struct hpx_walk_class *c)
{
    bool first = w->objects == 0; /* stacks of virtual threads come among the objects */
    if (!w->by_tags && first && c != w->class_of_classes) {
        (void)put(w, &w->rooted, key);
    }
}

/* Roots of a thread come behind its own. */
static void begin_thread(struct hpx_walk *w, uint64_t key)
{
    uint64_t place = known_as(w, key);
    w->root_thread = place != 0 ? &w->layout->threads[place - 1] : NULL;
    w->matched += place != 0;
}

/* The object id of the thread that has this frame; 0: none of the layout, such as a virtual thread that this thread carries. */
static uint64_t thread_of(struct hpx_walk *w, jlong id)
{
    const struct hpx_heap_thread *t = w->root_thread;
    if (w->layout->tids.room == 0) {
        return t != NULL ? t->object : 0;
    }
    const struct hpx_address_entry *e = id != 0 ? hpx_address_map_find(&w->layout->tids, (uint64_t)id) : NULL;
    if (e == NULL) {
        return 0;
    }
    if (t != &w->layout->threads[e->value]) {
        contradict(w); /* the root of that thread was of another object */
    }
    return w->layout->threads[e->value].object;
}

static void add_root(struct hpx_walk *w, uint32_t kind, uint64_t object, uint64_t thread, jmethodID method, jint depth)
{
    struct hpx_heap_root_fact *r = push(w, &w->roots, sizeof *r);
    if (r != NULL) {
        *r = (struct hpx_heap_root_fact){
            .object = object, .thread = thread, .method = (uint64_t)(uintptr_t)method, .depth = depth, .kind = kind};
    }
}

static void meet_root(struct hpx_walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, uint64_t key, uint64_t id)
{
    switch (kind) {
    case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
        add_root(w, HPX_ROOT_JNI_GLOBAL, id, 0, NULL, -1);
        break;
    case JVMTI_HEAP_REFERENCE_SYSTEM_CLASS:
        add_root(w, HPX_ROOT_STICKY_CLASS, id, 0, NULL, -1);
        break;
    case JVMTI_HEAP_REFERENCE_MONITOR:
        add_root(w, HPX_ROOT_MONITOR_USED, id, 0, NULL, -1);
        break;
    case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
        add_root(w, HPX_ROOT_JAVA_FRAME, id, thread_of(w, info->stack_local.thread_id), info->stack_local.method, info->stack_local.depth);
        break;
    case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
        add_root(w, HPX_ROOT_JNI_LOCAL, id, thread_of(w, info->jni_local.thread_id), info->jni_local.method, info->jni_local.depth);
        break;
    case JVMTI_HEAP_REFERENCE_THREAD:
        begin_thread(w, key);
        add_root(w, HPX_ROOT_THREAD_OBJECT, id, 0, NULL, -1);
        break;
    case JVMTI_HEAP_REFERENCE_OTHER:
        add_root(w, HPX_ROOT_UNKNOWN, id, 0, NULL, -1);
        break;
    default:
        break; /* superclass and interface: known */
    }
}

static void meet_of_class(struct hpx_walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, uint64_t referrer,
                          uint64_t id)
{
    switch (kind) {
    case JVMTI_HEAP_REFERENCE_STATIC_FIELD:
        add_static(w, referrer, info->field.index, id);
        break;
    case JVMTI_HEAP_REFERENCE_CONSTANT_POOL:
        add_fact(w, referrer, HPX_HEAP_CONSTANT, (uint32_t)info->constant_pool.index, HPX_HEAP_OBJECT, id);
        break;
    case JVMTI_HEAP_REFERENCE_CLASS_LOADER:
        add_fact(w, referrer, HPX_HEAP_LOADER, 0, 0, id);
        break;
    case JVMTI_HEAP_REFERENCE_SIGNERS:
        add_fact(w, referrer, HPX_HEAP_SIGNERS, 0, 0, id);
        break;
    case JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN:
        add_fact(w, referrer, HPX_HEAP_DOMAIN, 0, 0, id);
        break;
    default:
        break;
    }
}

/* ---- redact=, keep= ---- */

static bool is_kept(const struct hpx_walk *w, uint64_t key)
{
    return w->keeps && hpx_address_map_find(&w->kept, key) != NULL;
}

/* Whether contents that the referrer holds stay readable. */
static void pass_on_keep(struct hpx_walk *w, uint64_t key, const struct hpx_heap_klass *what, uint64_t referrer,
                         const struct hpx_walk_class *c)
{
    const struct hpx_heap_klass *of = klass_at(w, number_of(w, referrer, c));
    bool contents = what != NULL && (what->kind == HPX_HEAP_PRIMITIVES || what->number == w->layout->string_class);
    if (contents && ((of != NULL && of->keeps) || (c->klass != NULL && c->klass->keeps) || is_kept(w, referrer))) {
        (void)put(w, &w->kept, key);
    }
}

/* ---- the callbacks ---- */

static inline jint carry_on(const struct hpx_walk *w)
{
    return hpx_likely(w->end == HPX_WALK_WHOLE) ? JVMTI_VISIT_OBJECTS : JVMTI_VISIT_ABORT;
}

/* An object whose address its reference tells. */
static void know(struct hpx_walk *w, jobject local, uint64_t as)
{
    uint64_t key = hpx_oops_handle(local);
    struct hpx_address_entry *e = key != 0 ? put(w, &w->known, key) : NULL;
    if (e != NULL) {
        e->value = as;
    }
}

/* The classes of the contents that keep= may keep: they must be known before one is met. */
static void know_contents(struct hpx_walk *w)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(w->layout->contents); i++) {
        uint64_t key = hpx_oops_handle(w->layout->contents[i]);
        if (key != 0) {
            find_class(w, hpx_oops_class_word(&w->oops, key))->klass = klass_at(w, w->layout->contents_numbers[i]);
        }
    }
}

/* At the first callback of the process that walks. */
static bool begin(struct hpx_walk *w, const void *frame)
{
    const struct hpx_layout *l = w->layout;
    w->begun = true;
    if (w->first != NULL && w->first(w, frame) == JVMTI_VISIT_ABORT) {
        return false;
    }
    for (uint32_t i = 0; i < l->nthreads && !w->by_tags; i++) {
        know(w, l->refs[i], 1 + (uint64_t)i);
        uint64_t key = hpx_oops_handle(l->refs[i]);
        if (key != 0) {
            find_class(w, hpx_oops_class_word(&w->oops, key))->special = true;
        }
    }
    for (uint32_t i = 0; i < l->loaded && !w->by_tags; i++) {
        if (l->class_numbers[i] != 0) {
            know(w, l->class_refs[i], hpx_site_class_tag(l->class_numbers[i]));
        }
    }
    if (!w->by_tags) {
        know_contents(w);
    }
    return w->end == HPX_WALK_WHOLE;
}

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong referrer_class_tag,
                                 jlong size, jlong *tag, jlong *referrer_tag, jint length, void *user)
{
    struct hpx_walk *w = user;
    struct hpx_walk_class *of = NULL;
    if (hpx_unlikely(!w->begun) && !begin(w, __builtin_frame_address(0))) {
        return JVMTI_VISIT_ABORT;
    }
    uint64_t referrer = referrer_tag != NULL ? referrer_key(w, tag, referrer_tag) : 0, key = key_of(w, tag);
    if (hpx_unlikely(w->end != HPX_WALK_WHOLE)) {
        return JVMTI_VISIT_ABORT; /* no such address may be read */
    }
    struct hpx_walk_class *c = class_of(w, key, class_tag);
    uint64_t id = meet(w, key, (uint64_t)*tag, c, size, length);
    if (hpx_likely(kind == JVMTI_HEAP_REFERENCE_FIELD)) {
        set_field(w, referrer, info->field.index, id);
    } else if (kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT) {
        set_element(w, referrer, info->array.index, id);
    } else if (kind == JVMTI_HEAP_REFERENCE_CLASS) {
        of = class_of(w, referrer, referrer_class_tag);
        learn_class(w, of, key);
        open_object(w, referrer, (uint64_t)*referrer_tag, of);
    } else if (referrer_tag == NULL) {
        note_root(w, key, c);
        meet_root(w, kind, info, key, id);
    } else {
        of = class_of(w, referrer, referrer_class_tag);
        meet_of_class(w, kind, info, number_of(w, referrer, of), id);
    }
    if (hpx_unlikely(w->keeps) && referrer_tag != NULL) {
        pass_on_keep(w, key, c->klass, referrer, of != NULL ? of : class_of(w, referrer, referrer_class_tag));
    }
    return carry_on(w);
}

static uint64_t bits_of(jvalue value, jvmtiPrimitiveType type)
{
    uint32_t word;
    uint64_t wide;
    switch (type) {
    case JVMTI_PRIMITIVE_TYPE_BOOLEAN:
        return value.z;
    case JVMTI_PRIMITIVE_TYPE_BYTE:
        return (uint64_t)value.b;
    case JVMTI_PRIMITIVE_TYPE_CHAR:
        return value.c;
    case JVMTI_PRIMITIVE_TYPE_SHORT:
        return (uint64_t)value.s;
    case JVMTI_PRIMITIVE_TYPE_INT:
        return (uint64_t)value.i;
    case JVMTI_PRIMITIVE_TYPE_FLOAT:
        memcpy(&word, &value.f, sizeof word);
        return word;
    case JVMTI_PRIMITIVE_TYPE_LONG:
        return (uint64_t)value.j;
    default:
        memcpy(&wide, &value.d, sizeof wide);
        return wide;
    }
}

static jint JNICALL on_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong *tag, jvalue value,
                             jvmtiPrimitiveType type, void *user)
{
    struct hpx_walk *w = user;
    uint64_t key = key_of(w, tag);
    if (hpx_unlikely(w->end != HPX_WALK_WHOLE)) {
        return JVMTI_VISIT_ABORT;
    }
    bool is_static = kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD;
    uint32_t number = is_static ? number_of(w, key, class_of(w, key, class_tag)) : 0;
    if (w->fields) {
        const struct hpx_heap_klass *c = is_static ? klass_at(w, number) : class_of(w, key, class_tag)->klass;
        if ((c == NULL || !c->keeps) && !is_kept(w, key)) {
            return carry_on(w); /* 0 */
        }
    }
    if (is_static) {
        add_static(w, number, info->field.index, bits_of(value, type));
    } else {
        set_field(w, key, info->field.index, bits_of(value, type));
    }
    return carry_on(w);
}

static jint JNICALL on_array(jlong class_tag, jlong size, jlong *tag, jint n, jvmtiPrimitiveType type, const void *elements, void *user)
{
    struct hpx_walk *w = user;
    uint64_t key = key_of(w, tag);
    (void)class_tag;
    if (key != w->current) {
        contradict(w);
        return JVMTI_VISIT_ABORT;
    }
    const struct hpx_heap_klass *c = w->klass;
    if (c == NULL || c->kind != HPX_HEAP_PRIMITIVES) {
        return carry_on(w); /* of an unknown class */
    }
    bool text = type == JVMTI_PRIMITIVE_TYPE_BYTE || type == JVMTI_PRIMITIVE_TYPE_CHAR;
    bool hidden = (w->arrays || (w->strings && text)) && !is_kept(w, key);
    uint32_t length = w->primitive_arrays ? (uint32_t)n : 0;
    w->cut += hpx_heap_spool_primitives(&w->spool, plain_id(w, key), w->site, c->type, length, hidden ? NULL : elements) < length;
    w->bytes += (uint64_t)size;
    w->heads += (uint64_t)size - (w->primitive_arrays ? (uint64_t)n * hpx_heap_size_of(c->type, 8) : 0);
    w->current = 0;
    w->klass = NULL;
    return carry_on(w);
}

void hpx_walk_follow(jvmtiEnv *jvmti, struct hpx_walk *w)
{
    jvmtiHeapCallbacks all;
    memset(&all, 0, sizeof all);
    all.heap_reference_callback = on_reference;
    all.primitive_field_callback = w->primitive_fields && (!w->fields || w->keeps) ? on_field : NULL;
    all.array_primitive_value_callback = on_array;
    w->base = w->by_tags || w->wide ? 0 : w->oops.low;
    w->shift = w->by_tags || w->wide ? 0 : 3;
    if ((*jvmti)->FollowReferences(jvmti, 0, NULL, NULL, &all, w) != JVMTI_ERROR_NONE) {
        fail(w, HPX_WALK_REFUSED);
    }
}

/* ---- the end ---- */

/* Of classes that are not in the dump: VMs never visit the mirrors of primitive types and of archived classes. */
static void put_mirrors(struct hpx_walk *w)
{
    const struct hpx_walk_class *c = w->class_of_classes;
    for (uint64_t i = 0; c != NULL && c->klass != NULL && i < w->mirrors.room; i++) {
        const struct hpx_address_entry *e = &w->mirrors.at[i];
        if (e->key != 0) {
            open_instance(w, plain_id(w, e->key), (uint32_t)e->value, c);
            count_object(w);
        }
    }
}

/* Every object that a root names was met as an object; and the roots of the threads that are known were where they should be. */
static void check_roots(struct hpx_walk *w)
{
    bool whole = w->matched > 0 || w->layout->nthreads == 0;
    for (uint64_t i = 0; i < w->rooted.room; i++) {
        whole = whole && (w->rooted.at[i].key == 0 || w->rooted.at[i].value != 0);
    }
    if (!whole) {
        fail(w, HPX_WALK_DOUBT);
    }
}

/* The size of an instance of each class; those of unknown classes are shown as java.lang.Object. */
static void put_sizes(struct hpx_walk *w)
{
    for (uint32_t i = 0; i < w->classes_room; i++) {
        const struct hpx_walk_class *c = &w->classes[i];
        if (c->klass != NULL && c->klass->kind == HPX_HEAP_INSTANCES && c->vm_size != 0) {
            add_fact(w, c->klass->number, HPX_HEAP_VM_SIZE, 0, 0, c->vm_size);
            w->bytes += c->klass->number == w->layout->object_class ? w->unknown * c->vm_size : 0;
        }
    }
}

void hpx_walk_finish(struct hpx_walk *w)
{
    close_object(w);
    put_mirrors(w);
    if (w->end == HPX_WALK_WHOLE && !w->by_tags) {
        check_roots(w);
    }
    put_sizes(w);
    w->objects_end = w->facts_at = hpx_heap_spool_at(&w->spool);
    hpx_heap_spool_bytes(&w->spool, w->facts.at, w->facts.len * sizeof(struct hpx_heap_fact));
    w->roots_at = hpx_heap_spool_at(&w->spool);
    hpx_heap_spool_bytes(&w->spool, w->roots.at, w->roots.len * sizeof(struct hpx_heap_root_fact));
    if (hpx_heap_spool_flush(&w->spool) != 0) {
        fail(w, HPX_WALK_NO_SPACE);
    }
    if (w->progress != NULL) {
        atomic_store_explicit(w->progress, w->objects, memory_order_relaxed);
    }
}

void hpx_walk_fini(struct hpx_walk *w)
{
    list_fini(&w->facts, sizeof(struct hpx_heap_fact));
    list_fini(&w->roots, sizeof(struct hpx_heap_root_fact));
    list_fini(&w->lengths, sizeof(uint32_t));
    hpx_address_map_fini(&w->known);
    hpx_address_map_fini(&w->rooted);
    hpx_address_map_fini(&w->mirrors);
    hpx_address_map_fini(&w->kept);
    hpx_heap_spool_fini(&w->spool);
    free(w->classes);
    w->classes = NULL;
}
