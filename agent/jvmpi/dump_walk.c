/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_walk.c: see dump_walk.h. */
#include "dump_walk.h"

/* A constant of a class's pool that refers to an object. */
struct constant {
    uint64_t next; /* number + 1 of the class's next one; 0: none */
    jobjectID id;
    uint32_t index;
};

/* ---- records ---- */

static void head(struct hpx_jvmpi_walk *w, uint8_t record, jlong tag)
{
    hpx_jvmpi_bytes_u1(&w->out, record);
    hpx_jvmpi_bytes_pointer(&w->out, hpx_jvmpi_id(tag));
}

static void put_primitives(struct hpx_jvmpi_walk *w, jlong tag, jint type, jint n, const void *elements)
{
    head(w, JVMPI_GC_PRIM_ARRAY_DUMP, tag);
    hpx_jvmpi_bytes_u4(&w->out, (uint32_t)n);
    hpx_jvmpi_bytes_u1(&w->out, (uint8_t)type);
    if (elements != NULL) {
        hpx_jvmpi_bytes_add(&w->out, elements, (size_t)n * hpx_jvmpi_type_size((uint8_t)type));
    }
}

static jint length_of(const struct hpx_jvmpi_walk *w, jlong tag)
{
    const struct hpx_address_entry *e = hpx_address_map_find(&w->lengths, (uint64_t)tag);
    return e != NULL ? (jint)e->value : 0;
}

static bool is_primitive(jint kind)
{
    return kind != JVMPI_NORMAL_OBJECT && kind != JVMPI_CLASS;
}

static void close_object(struct hpx_jvmpi_walk *w)
{
    if (w->current != 0 && w->klass != NULL && is_primitive(w->klass->kind)) { /* its elements were not told: they are not in this dump */
        put_primitives(w, w->current, w->klass->kind, w->level == JVMPI_DUMP_LEVEL_2 ? 0 : length_of(w, w->current), NULL);
    }
    w->current = 0;
    w->klass = NULL;
}

static void put_instance(struct hpx_jvmpi_walk *w, jlong tag, jlong class_tag, uint32_t values)
{
    head(w, JVMPI_GC_INSTANCE_DUMP, tag);
    hpx_jvmpi_bytes_pointer(&w->out, hpx_jvmpi_id(class_tag));
    hpx_jvmpi_bytes_u4(&w->out, values);
    w->values = hpx_jvmpi_bytes_zeros(&w->out, values);
}

static void put_objects(struct hpx_jvmpi_walk *w, jlong tag, const struct hpx_jvmpi_klass *c)
{
    uint32_t n = (uint32_t)length_of(w, tag);
    head(w, JVMPI_GC_OBJ_ARRAY_DUMP, tag);
    hpx_jvmpi_bytes_u4(&w->out, n);
    hpx_jvmpi_bytes_pointer(&w->out, c->element);
    w->values = hpx_jvmpi_bytes_zeros(&w->out, (size_t)n * sizeof(jobjectID));
}

/* The callbacks of another object begin. c: its class; NULL: not known. */
static void open_object(struct hpx_jvmpi_walk *w, jlong tag, jlong class_tag, struct hpx_jvmpi_klass *c)
{
    close_object(w);
    w->current = tag;
    w->klass = c;
    w->unknown += c == NULL;
    if (w->level == JVMPI_DUMP_LEVEL_0) {
        hpx_jvmpi_bytes_u1(&w->out, c != NULL ? (uint8_t)c->kind : JVMPI_NORMAL_OBJECT);
        hpx_jvmpi_bytes_pointer(&w->out, hpx_jvmpi_id(tag));
        w->klass = NULL;
    } else if (c == NULL || c->kind == JVMPI_NORMAL_OBJECT) {
        put_instance(w, tag, class_tag, c != NULL ? c->values : 0);
    } else if (c->kind == JVMPI_CLASS) {
        put_objects(w, tag, c);
    }
}

/* ---- values ---- */

static void set_field(struct hpx_jvmpi_walk *w, jlong tag, jint index, const void *value)
{
    if (tag != w->current) {
        w->failed = true;
        return;
    }
    const struct hpx_jvmpi_klass *c = w->klass;
    uint32_t at = c != NULL ? (uint32_t)index - c->skip : 0;
    if (c != NULL && c->slots != NULL && at < c->nabove + c->nfields) {
        hpx_jvmpi_bytes_set(&w->out, w->values + c->slots[at].at, value, hpx_jvmpi_type_size(c->slots[at].type));
    }
}

static void set_element(struct hpx_jvmpi_walk *w, jlong tag, jint index, jobjectID id)
{
    if (tag != w->current) {
        w->failed = true;
    } else if (w->klass != NULL && w->klass->kind == JVMPI_CLASS) {
        hpx_jvmpi_bytes_set(&w->out, w->values + (size_t)index * sizeof(void *), &id, sizeof(void *));
    }
}

static void set_static(struct hpx_jvmpi_klass *c, jint index, uint64_t value)
{
    uint32_t at = (uint32_t)index - c->skip - c->nabove;
    if (at < c->nfields) {
        c->statics[at] = value;
    }
}

static void add_constant(struct hpx_jvmpi_walk *w, struct hpx_jvmpi_klass *c, jint index, jobjectID id)
{
    const struct constant one = {.id = id, .index = (uint32_t)index};
    uint64_t number = w->constants.len / sizeof one + 1;
    hpx_jvmpi_bytes_add(&w->constants, &one, sizeof one);
    if (c->latest != 0) {
        size_t place = (c->latest - 1) * sizeof one + offsetof(struct constant, next);
        hpx_jvmpi_bytes_set(&w->constants, place, &number, sizeof number);
    } else {
        c->first = number;
    }
    c->latest = number;
    c->nconstants++;
}

/* A class object refers to an object. */
static void note_of_class(struct hpx_jvmpi_walk *w, struct hpx_jvmpi_klass *c, jvmtiHeapReferenceKind kind,
                          const jvmtiHeapReferenceInfo *info, jobjectID id)
{
    switch (kind) {
    case JVMTI_HEAP_REFERENCE_STATIC_FIELD:
        set_static(c, info->field.index, (uint64_t)hpx_jvmpi_tag(id));
        break;
    case JVMTI_HEAP_REFERENCE_CONSTANT_POOL:
        add_constant(w, c, info->constant_pool.index, id);
        break;
    case JVMTI_HEAP_REFERENCE_CLASS_LOADER:
        c->loader = id;
        break;
    case JVMTI_HEAP_REFERENCE_SIGNERS:
        c->signers = id;
        break;
    case JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN:
        c->domain = id;
        break;
    default:
        break; /* super class and interfaces: the layout knows them */
    }
}

/* ---- roots ---- */

/* The place of a thread in the stacks; w->stacks->n: none, such as a virtual thread. */
static jint place_of(const struct hpx_jvmpi_walk *w, jlong tag)
{
    const struct hpx_address_entry *e = tag != 0 ? hpx_address_map_find(&w->threads, (uint64_t)tag) : NULL;
    return e != NULL ? (jint)e->value - 1 : w->stacks->n;
}

static JNIEnv *env_at(const struct hpx_jvmpi_walk *w, jint place)
{
    return place < w->stacks->n ? w->stacks->traces[place].env_id : NULL;
}

/* The number of the frame in the thread's trace, which is a little older than the walk; -1: it is not there. */
static uint32_t frame_of(const struct hpx_jvmpi_walk *w, jint place, jmethodID method, jint depth)
{
    if (place >= w->stacks->n || method == NULL) {
        return (uint32_t)-1;
    }
    const JVMPI_CallTrace *t = &w->stacks->traces[place];
    jint frame = depth - w->stacks->probe_frames[place];
    if (frame < 0 || frame >= t->num_frames || t->frames[frame].method_id != method) {
        return (uint32_t)-1;
    }
    w->rooted[place] = true;
    return (uint32_t)frame;
}

static void put_frame_root(struct hpx_jvmpi_walk *w, uint8_t record, jlong tag, jlong thread, jmethodID method, jint depth)
{
    jint place = place_of(w, thread);
    head(w, record, tag);
    hpx_jvmpi_bytes_pointer(&w->out, env_at(w, place));
    hpx_jvmpi_bytes_u4(&w->out, frame_of(w, place, method, depth));
}

static void put_root(struct hpx_jvmpi_walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong tag)
{
    switch (kind) {
    case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
        head(w, JVMPI_GC_ROOT_JNI_GLOBAL, tag);
        hpx_jvmpi_bytes_pointer(&w->out, NULL); /* JVMTI does not tell the reference */
        break;
    case JVMTI_HEAP_REFERENCE_SYSTEM_CLASS:
        head(w, JVMPI_GC_ROOT_STICKY_CLASS, tag);
        break;
    case JVMTI_HEAP_REFERENCE_MONITOR:
        head(w, JVMPI_GC_ROOT_MONITOR_USED, tag);
        break;
    case JVMTI_HEAP_REFERENCE_THREAD:
        head(w, JVMPI_GC_ROOT_THREAD_BLOCK, tag);
        hpx_jvmpi_bytes_pointer(&w->out, env_at(w, place_of(w, tag)));
        break;
    case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
        put_frame_root(w, JVMPI_GC_ROOT_JAVA_FRAME, tag, info->stack_local.thread_tag, info->stack_local.method, info->stack_local.depth);
        break;
    case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
        put_frame_root(w, JVMPI_GC_ROOT_JNI_LOCAL, tag, info->jni_local.thread_tag, info->jni_local.method, info->jni_local.depth);
        break;
    case JVMTI_HEAP_REFERENCE_OTHER:
        head(w, JVMPI_GC_ROOT_UNKNOWN, tag);
        break;
    default:
        break;
    }
}

/* The layout's references to classes, and those of the stacks to threads, are not of the program. */
static bool is_ours(const struct hpx_jvmpi_walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong tag)
{
    return kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL && info->jni_local.thread_tag == w->self &&
           (hpx_jvmpi_layout_find(w->layout, tag) != NULL || place_of(w, tag) < w->stacks->n);
}

/* ---- the callbacks ---- */

static jlong tag_at(jlong *tag)
{
    if (*tag == 0) {
        *tag = hpx_jvmpi_id_mint();
    }
    return *tag;
}

/* A class object that is no class of the VM's list gets its record at the end. */
static void meet_mirror(struct hpx_jvmpi_walk *w, jlong tag)
{
    if (hpx_jvmpi_layout_find(w->layout, tag) != NULL) {
        return;
    }
    struct hpx_address_entry *e = hpx_address_map_put(&w->mirrored, (uint64_t)tag);
    if (e == NULL) {
        w->failed = true;
    } else if (e->value++ == 0) {
        hpx_jvmpi_bytes_add(&w->mirrors, &tag, sizeof tag);
    }
}

static void meet_array(struct hpx_jvmpi_walk *w, jlong tag, jint length)
{
    struct hpx_address_entry *e = hpx_address_map_put(&w->lengths, (uint64_t)tag);
    if (e != NULL) {
        e->value = (uint64_t)length;
    } else {
        w->failed = true;
    }
}

/* A root or a reference names an object. */
static void meet(struct hpx_jvmpi_walk *w, jlong tag, jlong class_tag, jlong size, jint length)
{
    struct hpx_jvmpi_klass *c = hpx_jvmpi_layout_find(w->layout, class_tag);
    if (c == NULL || w->stacks == NULL) {
        return; /* open_object() counts it */
    }
    if (c == w->layout->class_class) {
        meet_mirror(w, tag);
    }
    if (length < 0) {
        c->vm_size = c->vm_size == 0 && size < UINT32_MAX ? (uint32_t)size : c->vm_size;
    } else if (c->kind == JVMPI_CLASS || w->level == JVMPI_DUMP_LEVEL_1) {
        meet_array(w, tag, length);
    }
}

static jint carry_on(const struct hpx_jvmpi_walk *w)
{
    bool good = !w->failed && !w->out.failed && !w->constants.failed && !w->mirrors.failed;
    return !good ? JVMTI_VISIT_ABORT : w->stacks != NULL ? JVMTI_VISIT_OBJECTS : 0;
}

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong referrer_class_tag,
                                 jlong size, jlong *tag, jlong *referrer_tag, jint length, void *user)
{
    struct hpx_jvmpi_walk *w = user;
    if (referrer_tag == NULL && (w->stacks == NULL || is_ours(w, kind, info, *tag))) { /* one virtual thread has roots, in its frames */
        return 0;
    }
    jlong referrer = referrer_tag != NULL ? tag_at(referrer_tag) : 0;
    jobjectID id = hpx_jvmpi_id(tag_at(tag));
    meet(w, *tag, class_tag, size, length);
    if (kind == JVMTI_HEAP_REFERENCE_CLASS && referrer != 0) {
        open_object(w, referrer, referrer_class_tag, hpx_jvmpi_layout_find(w->layout, referrer_class_tag));
    } else if (w->level == JVMPI_DUMP_LEVEL_0) {
        return carry_on(w);
    } else if (referrer == 0) {
        put_root(w, kind, info, *tag);
    } else if (kind == JVMTI_HEAP_REFERENCE_FIELD) {
        set_field(w, referrer, info->field.index, &id);
    } else if (kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT) {
        set_element(w, referrer, info->array.index, id);
    } else {
        struct hpx_jvmpi_klass *c = hpx_jvmpi_layout_find(w->layout, referrer);
        if (c != NULL) {
            note_of_class(w, c, kind, info, id);
        }
    }
    return carry_on(w);
}

/* Every member of a jvalue begins where the jvalue does, so its first bytes are the value. */
static jint JNICALL on_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong *tag, jvalue value,
                             jvmtiPrimitiveType type, void *user)
{
    struct hpx_jvmpi_walk *w = user;
    (void)class_tag, (void)type;
    if (kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD) {
        struct hpx_jvmpi_klass *c = hpx_jvmpi_layout_find(w->layout, *tag);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        if (c != NULL) {
            set_static(c, info->field.index, bits);
        }
    } else {
        set_field(w, tag_at(tag), info->field.index, &value);
    }
    return carry_on(w);
}

static jint JNICALL on_array(jlong class_tag, jlong size, jlong *tag, jint n, jvmtiPrimitiveType type, const void *elements, void *user)
{
    struct hpx_jvmpi_walk *w = user;
    (void)class_tag, (void)size, (void)type;
    if (tag_at(tag) != w->current) {
        w->failed = true;
    } else if (w->klass != NULL && is_primitive(w->klass->kind)) {
        put_primitives(w, *tag, w->klass->kind, n, elements);
        w->klass = NULL;
    }
    return carry_on(w);
}

static_assert(sizeof(jvalue) == sizeof(uint64_t), "a value is copied whole");

jvmtiError hpx_jvmpi_walk_follow(struct hpx_jvmpi_walk *w, jobject object)
{
    jvmtiHeapCallbacks all;
    memset(&all, 0, sizeof all);
    all.heap_reference_callback = on_reference;
    if (w->level == JVMPI_DUMP_LEVEL_2) {
        all.primitive_field_callback = on_field;
        all.array_primitive_value_callback = on_array;
    }
    hpx_jvmpi_ids_lock();
    jvmtiError e = (*hpx_jvmpi.jvmti)->FollowReferences(hpx_jvmpi.jvmti, 0, NULL, object, &all, w);
    hpx_jvmpi_ids_unlock();
    close_object(w);
    return e;
}

/* ---- classes ---- */

static void put_constants(struct hpx_jvmpi_walk *w, const struct hpx_jvmpi_klass *c)
{
    hpx_jvmpi_bytes_u2(&w->out, (uint16_t)c->nconstants);
    for (uint64_t number = c->first; number != 0 && !w->constants.failed;) {
        const struct constant *one = (const struct constant *)(const void *)w->constants.at + number - 1;
        hpx_jvmpi_bytes_u2(&w->out, (uint16_t)one->index);
        hpx_jvmpi_bytes_u1(&w->out, JVMPI_CLASS);
        hpx_jvmpi_bytes_pointer(&w->out, one->id);
        number = one->next;
    }
}

void hpx_jvmpi_walk_class(struct hpx_jvmpi_walk *w, const struct hpx_jvmpi_klass *c)
{
    head(w, JVMPI_GC_CLASS_DUMP, hpx_jvmpi_tag(c->id));
    hpx_jvmpi_bytes_pointer(&w->out, c->above != NULL ? c->above->id : NULL);
    hpx_jvmpi_bytes_pointer(&w->out, c->loader);
    hpx_jvmpi_bytes_pointer(&w->out, c->signers);
    hpx_jvmpi_bytes_pointer(&w->out, c->domain);
    hpx_jvmpi_bytes_pointer(&w->out, c->name);
    hpx_jvmpi_bytes_pointer(&w->out, NULL); /* reserved */
    hpx_jvmpi_bytes_u4(&w->out, c->vm_size);
    for (uint32_t i = 0; i < c->ninterfaces; i++) {
        hpx_jvmpi_bytes_pointer(&w->out, c->interfaces[i]);
    }
    put_constants(w, c);
    for (uint32_t i = 0; i < c->nfields; i++) {
        if (c->fields[i].is_static) {
            hpx_jvmpi_bytes_add(&w->out, &c->statics[i], hpx_jvmpi_type_size(c->fields[i].type));
        }
    }
}

void hpx_jvmpi_walk_mirror(struct hpx_jvmpi_walk *w, jobjectID id)
{
    open_object(w, hpx_jvmpi_tag(id), hpx_jvmpi_tag(w->layout->class_class->id), w->layout->class_class);
    close_object(w);
}

void hpx_jvmpi_walk_classes(struct hpx_jvmpi_walk *w)
{
    for (size_t i = 0; i < w->mirrors.len / sizeof(jlong); i++) {
        hpx_jvmpi_walk_mirror(w, hpx_jvmpi_id(((const jlong *)(const void *)w->mirrors.at)[i]));
    }
    for (const struct hpx_jvmpi_klass *c = w->layout->first; c != NULL; c = c->next) {
        if (w->level == JVMPI_DUMP_LEVEL_0) {
            hpx_jvmpi_bytes_u1(&w->out, JVMPI_NORMAL_OBJECT);
            hpx_jvmpi_bytes_pointer(&w->out, c->id);
        } else {
            hpx_jvmpi_walk_class(w, c);
        }
    }
}

void hpx_jvmpi_walk_fini(struct hpx_jvmpi_walk *w)
{
    hpx_address_map_fini(&w->threads);
    hpx_address_map_fini(&w->lengths);
    hpx_address_map_fini(&w->mirrored);
    hpx_jvmpi_bytes_fini(&w->out);
    hpx_jvmpi_bytes_fini(&w->constants);
    hpx_jvmpi_bytes_fini(&w->mirrors);
}

/* ---- around a request ---- */

bool hpx_jvmpi_dump_begin(JNIEnv *env, jthrowable *pending)
{
    hpx_jvmpi_ids_walk();
    *pending = (*env)->ExceptionOccurred(env);
    (*env)->ExceptionClear(env);
    hpx_jvmpi_own_begin();
    if ((*env)->PushLocalFrame(env, 64) != 0) {
        (*env)->ExceptionClear(env);
        hpx_jvmpi_own_end();
        if (*pending != NULL) {
            (void)(*env)->Throw(env, *pending);
        }
        return false;
    }
    return true;
}

void hpx_jvmpi_dump_end(JNIEnv *env, jthrowable pending)
{
    (*env)->ExceptionClear(env);
    (void)(*env)->PopLocalFrame(env, NULL);
    hpx_jvmpi_own_end();
    if (pending != NULL) {
        (void)(*env)->Throw(env, pending);
        (*env)->DeleteLocalRef(env, pending);
    }
}
