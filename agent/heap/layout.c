/* SPDX-License-Identifier: BSD-2-Clause */
/* layout.c: see layout.h. */
#include "layout.h"
#include "boot_class.h"
#include "class_number.h"
#include "hidden_field.h"
#include "java_name.h"
#include "known_threads.h"
#include "patterns.h"
#include "probe_frames.h"
#include "session.h"
#include "thread_info.h"
#include "vm.h"
#include <stdlib.h>
#include <string.h>

#define ACC_STATIC  0x8
#define LINK_ROUNDS 4

/* A class, and what only the layout of its subclasses needs. */
struct known {
    struct hpx_heap_klass *klass;        /* NULL: not requested yet */
    struct hpx_class_number *interfaces; /* all its interfaces that declare fields, and of itself if it is one */
    uint32_t ninterfaces;
};

/* By class number. Layouts are kept: images and later dumps refer to them. The making thread's. */
static HPX_OF_SESSION struct hpx_vec all_known;
static HPX_OF_SESSION struct hpx_arena kept; /* of the layouts; the making thread's */

static struct known *known_at(struct hpx_class_number number)
{
    if (all_known.size == 0) {
        hpx_vec_init(&all_known, sizeof(struct known));
        hpx_arena_init(&kept);
    }
    while (all_known.len <= number.v) {
        if (hpx_vec_push(&all_known) == NULL) {
            return NULL;
        }
    }
    return hpx_vec_at(&all_known, number.v);
}

/* The newest layout of a class that is known. */
static const struct hpx_heap_klass *layout_of(struct hpx_class_number number)
{
    return ((const struct known *)hpx_vec_at(&all_known, number.v))->klass;
}

static void drop(jvmtiEnv *jvmti, void *p)
{
    if (p != NULL) {
        (*jvmti)->Deallocate(jvmti, p);
    }
}

/* ---- classes ---- */

static const struct hpx_text unnamed = {"?", 1};

static struct hpx_text copy_text(const char *s)
{
    size_t n = strlen(s);
    const char *to = hpx_arena_copy(&kept, s, n);
    return to != NULL ? (struct hpx_text){to, (uint32_t)n} : unnamed;
}

static struct hpx_text name_of(const char *signature)
{
    size_t n = strlen(signature);
    char *to = hpx_arena_alloc(&kept, HPX_JAVA_NAME_MAX(n), 1);
    return to != NULL ? (struct hpx_text){to, (uint32_t)hpx_java_name(to, signature, n)} : unnamed;
}

static struct known *ask(jvmtiEnv *jvmti, JNIEnv *env, jclass klass);

static bool has(const struct hpx_class_number *list, uint32_t n, struct hpx_class_number what)
{
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].v == what.v) {
            return true;
        }
    }
    return false;
}

/* Adds the interfaces of another class. false without memory. */
static bool add_interfaces(struct known *to, const struct known *from)
{
    if (from->ninterfaces == 0) {
        return true;
    }
    struct hpx_class_number *all =
        hpx_arena_alloc(&kept, (to->ninterfaces + from->ninterfaces) * sizeof *all, _Alignof(struct hpx_class_number));
    if (all == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < to->ninterfaces; i++) {
        all[i] = to->interfaces[i];
    }
    to->interfaces = all;
    for (uint32_t i = 0; i < from->ninterfaces; i++) {
        if (!has(all, to->ninterfaces, from->interfaces[i])) {
            all[to->ninterfaces++] = from->interfaces[i];
        }
    }
    return true;
}

/* The interfaces of a class and of its superclasses, and how many fields they declare. false: the VM failed or no memory. */
static bool ask_interfaces(jvmtiEnv *jvmti, JNIEnv *env, jclass klass, struct known *k, const struct known *super)
{
    jint n = 0;
    jclass *direct = NULL;
    bool good =
        (super == NULL || add_interfaces(k, super)) && (*jvmti)->GetImplementedInterfaces(jvmti, klass, &n, &direct) == JVMTI_ERROR_NONE;
    for (jint i = 0; i < n; i++) {
        const struct known *one = good ? ask(jvmti, env, direct[i]) : NULL;
        good = one != NULL && add_interfaces(k, one);
        (*env)->DeleteLocalRef(env, direct[i]);
    }
    drop(jvmti, direct);
    k->klass->first = 0;
    for (uint32_t i = 0; i < k->ninterfaces; i++) {
        k->klass->first += layout_of(k->interfaces[i])->nfields;
    }
    return good;
}

/* false: the VM hides it in the walk. */
static bool ask_field(jvmtiEnv *jvmti, jclass klass, const char *class_signature, jfieldID id, struct hpx_heap_field *to)
{
    char *name = NULL, *signature = NULL;
    jint modifiers = 0;
    bool hidden = false;
    to->type = HPX_TYPE_OBJECT;
    to->name = unnamed;
    if ((*jvmti)->GetFieldName(jvmti, klass, id, &name, &signature, NULL) == JVMTI_ERROR_NONE) {
        to->name = copy_text(name);
        to->type = hpx_type_of(signature[0]);
        hidden = hpx_hidden_field(class_signature, name);
        drop(jvmti, name);
        drop(jvmti, signature);
    }
    to->is_static = (*jvmti)->GetFieldModifiers(jvmti, klass, id, &modifiers) == JVMTI_ERROR_NONE && (modifiers & ACC_STATIC) != 0;
    return !hidden;
}

/* Where the fields of an instance lie in its record. false without memory. */
static bool place_fields(struct hpx_heap_klass *c)
{
    uint32_t n = c->inherited + c->nfields;
    uint64_t *slots = n > 0 ? hpx_arena_alloc(&kept, n * sizeof *slots, _Alignof(uint64_t)) : NULL;
    uint32_t *ids = slots != NULL ? hpx_arena_alloc(&kept, n * sizeof *ids, _Alignof(uint32_t)) : NULL;
    for (const struct hpx_heap_klass *of = c; ids != NULL && of != NULL; of = of->above) {
        uint32_t from = c->instance_size - of->instance_size; /* the fields of a class come before those of its superclasses */
        for (uint32_t i = 0; i < of->nfields; i++) {
            const struct hpx_heap_field *f = &of->fields[i];
            slots[of->inherited + i] = f->is_static ? 0 : HPX_HEAP_SLOT(from + f->offset, f->type);
            ids[of->inherited + i] = f->id;
        }
    }
    c->slots = slots;
    c->ids = ids;
    c->nslots = ids != NULL ? n : 0;
    return ids != NULL || n == 0;
}

/* The class with its declared fields; `super` NULL: none. NULL without memory. */
static struct hpx_heap_klass *make_class(jvmtiEnv *jvmti, jclass klass, const char *signature, const struct hpx_heap_klass *super)
{
    jint n = 0;
    jfieldID *ids = NULL;
    bool array = signature[0] == '[', stack = strcmp(signature, "Ljdk/internal/vm/StackChunk;") == 0;
    bool linked = !array && (*jvmti)->GetClassFields(jvmti, klass, &n, &ids) == JVMTI_ERROR_NONE;
    n = linked ? n : 0;
    size_t size = sizeof(struct hpx_heap_klass) + (size_t)n * sizeof(struct hpx_heap_field);
    struct hpx_heap_klass *c = hpx_arena_alloc(&kept, size, _Alignof(struct hpx_heap_klass));
    if (c == NULL) {
        drop(jvmti, ids);
        return NULL;
    }
    memset(c, 0, size);
    c->name = name_of(signature);
    c->linked = linked || array;
    c->above = super;
    c->keeps = hpx_session.opt->keep != NULL && signature[0] == 'L' &&
               hpx_patterns_match(hpx_session.opt->keep, signature + 1, strlen(signature) - 2);
    for (jint i = 0; i < n; i++) {
        struct hpx_heap_field *f = &c->fields[c->nfields];
        if (!ask_field(jvmti, klass, signature, ids[i], f)) {
            continue;
        }
        c->nfields++;
        if (!f->is_static) {
            f->id = (uint32_t)(uintptr_t)ids[i];
            f->offset = c->instance_size;
            c->words = stack && f->name.len == 4 && memcmp(f->name.bytes, "size", 4) == 0 ? f->id : c->words;
            c->instance_size += hpx_type_size(f->type, hpx_session.opt->binary ? hpx_session.opt->idsize : 8);
        }
    }
    drop(jvmti, ids);
    if (array) {
        bool primitive = hpx_type_of(signature[1]) != HPX_TYPE_OBJECT;
        c->kind = primitive ? HPX_HEAP_PRIMITIVES : HPX_HEAP_OBJECTS;
        c->type = hpx_type_of(signature[1]);
    } else if (super != NULL) {
        c->instance_size += super->instance_size;
        c->inherited = super->inherited + super->nfields;
    }
    c->thread = strcmp(signature, "Ljava/lang/Thread;") == 0 || (super != NULL && super->thread);
    c->virtual_thread = strcmp(signature, "Ljava/lang/BaseVirtualThread;") == 0 || (super != NULL && super->virtual_thread);
    c->referents = strcmp(signature, "Ljava/lang/ref/Reference;") == 0 || (super != NULL && super->referents);
    return place_fields(c) ? c : NULL;
}

/* What is known of a class, asked for at its first dump, and again until it is linked. NULL: the VM failed or no memory. */
static struct known *ask(jvmtiEnv *jvmti, JNIEnv *env, jclass klass)
{
    struct hpx_class_number number = hpx_class_number(jvmti, klass);
    struct known *k = number.v != 0 ? known_at(number) : NULL;
    char *signature = NULL;
    jint status = 0;
    if (k == NULL || (k->klass != NULL && k->klass->linked)) {
        return k;
    }
    if ((*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) != JVMTI_ERROR_NONE) {
        return NULL;
    }
    jclass above = (*env)->GetSuperclass(env, klass);
    const struct known *super = above != NULL ? ask(jvmti, env, above) : NULL;
    (*env)->DeleteLocalRef(env, above);
    bool good = (above == NULL) == (super == NULL);
    struct hpx_heap_klass *c = good ? make_class(jvmti, klass, signature, super != NULL ? super->klass : NULL) : NULL;
    k = known_at(number);
    if (c != NULL) {
        c->number = number;
        k->klass = c; /* one that was not linked is not freed: an image may have it */
        k->ninterfaces = 0;
    }
    if (c != NULL && c->linked && c->kind == HPX_HEAP_INSTANCES) {
        good = ask_interfaces(jvmti, env, klass, k, super);
        bool interface = (*jvmti)->GetClassStatus(jvmti, klass, &status) == JVMTI_ERROR_NONE && above == NULL && c->nfields > 0;
        const struct known self = {c, &number, 1};
        if (interface) {
            good = add_interfaces(k, &self) && good;
        }
        c->linked = good;
    }
    drop(jvmti, signature);
    return c != NULL ? k : NULL;
}

/* An archive of the JDK (CDS) has objects of classes that are not linked, and JVMTI tells no fields of those. Asking Java for the
 * constructors links such a class, and neither initializes nor changes it otherwise. Only classes of the JDK. true: it is linked now. */
static bool link_class(jvmtiEnv *jvmti, JNIEnv *env, jclass klass, jmethodID constructors)
{
    const jint done = JVMTI_CLASS_STATUS_PREPARED | JVMTI_CLASS_STATUS_ERROR | JVMTI_CLASS_STATUS_ARRAY | JVMTI_CLASS_STATUS_PRIMITIVE;
    jobject loader = NULL;
    jint status = 0;
    if ((*jvmti)->GetClassStatus(jvmti, klass, &status) != JVMTI_ERROR_NONE || (status & done) ||
        (*jvmti)->GetClassLoader(jvmti, klass, &loader) != JVMTI_ERROR_NONE || loader != NULL) {
        (*env)->DeleteLocalRef(env, loader);
        return false;
    }
    jobject all = (*env)->CallObjectMethod(env, klass, constructors);
    bool linked = !(*env)->ExceptionCheck(env);
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, all);
    return linked;
}

/* The loaded classes, JVMTI's list of local references. */
static jint loaded_classes(jvmtiEnv *jvmti, JNIEnv *env, jclass **all)
{
    jint n = 0;
    if ((*jvmti)->GetLoadedClasses(jvmti, &n, all) != JVMTI_ERROR_NONE) {
        *all = NULL;
        return 0;
    }
    (void)(*env)->EnsureLocalCapacity(env, n + 64);
    (*env)->ExceptionClear(env);
    return n;
}

/* Links what is not linked. That may load classes, which the list of classes then has. */
static void link_classes(jvmtiEnv *jvmti, JNIEnv *env)
{
    jclass *all = NULL, klass = hpx_boot_class(env, "java/lang/Class");
    jmethodID constructors =
        klass != NULL ? (*env)->GetMethodID(env, klass, "getDeclaredConstructors", "()[Ljava/lang/reflect/Constructor;") : NULL;
    (*env)->ExceptionClear(env);
    for (jint round = 0, linked = 1; constructors != NULL && linked > 0 && round < LINK_ROUNDS; round++) {
        jint n = loaded_classes(jvmti, env, &all);
        linked = 0;
        for (jint i = 0; i < n; i++) {
            linked += link_class(jvmti, env, all[i], constructors);
            (*env)->DeleteLocalRef(env, all[i]);
        }
        drop(jvmti, all);
    }
    (*env)->DeleteLocalRef(env, klass);
}

static struct hpx_class_number find(JNIEnv *env, jvmtiEnv *jvmti, const char *name)
{
    jclass c = hpx_boot_class(env, name);
    const struct hpx_class_number number = c != NULL ? hpx_class_number(jvmti, c) : (struct hpx_class_number){0};
    (*env)->DeleteLocalRef(env, c);
    return number;
}

static void find_classes(struct hpx_layout *l, jvmtiEnv *jvmti, JNIEnv *env)
{
    l->class_class = find(env, jvmti, "java/lang/Class");
    l->object_class = find(env, jvmti, "java/lang/Object");
    l->string_class = find(env, jvmti, "java/lang/String");
}

/* Adds a class and its superclasses. The VM's list lacks a superclass that was loaded while the VM made the list. */
static void add_class(struct hpx_layout *l, const struct hpx_heap_klass *c)
{
    for (; c != NULL && l->classes[c->number.v] == NULL; c = c->above) {
        const struct hpx_heap_klass *newest = layout_of(c->number);
        l->classes[c->number.v] = newest;
        l->largest = newest->instance_size > l->largest ? newest->instance_size : l->largest;
    }
}

static int list_classes(struct hpx_layout *l, jvmtiEnv *jvmti, JNIEnv *env)
{
    jclass *all = NULL;
    jint n = loaded_classes(jvmti, env, &all);
    if (all == NULL) {
        return -HPX_E_VM;
    }
    struct hpx_class_number *numbers = calloc((size_t)n + 1, sizeof *numbers);
    uint32_t most = 0;
    for (jint i = 0; i < n; i++) {
        const struct known *k = numbers != NULL ? ask(jvmti, env, all[i]) : NULL;
        if (k != NULL) {
            numbers[i] = k->klass->number;
        }
        for (const struct hpx_heap_klass *c = k != NULL ? k->klass : NULL; c != NULL; c = c->above) {
            most = c->number.v > most ? c->number.v : most;
        }
    }
    l->class_refs = all;
    l->class_numbers = numbers;
    l->loaded = (uint32_t)n;
    l->classes = numbers != NULL ? calloc((size_t)most + 1, sizeof(const struct hpx_heap_klass *)) : NULL;
    l->nclasses = l->classes != NULL ? most + 1 : 0;
    for (jint i = 0; l->classes != NULL && i < n; i++) {
        add_class(l, numbers[i].v != 0 ? layout_of(numbers[i]) : NULL);
    }
    return l->classes != NULL ? 0 : -HPX_E_NOMEM;
}

/* ---- threads ---- */

static void take_stack(struct hpx_layout *l, struct hpx_named_stacks *named, const jvmtiStackInfo *info, uint32_t at)
{
    struct hpx_heap_thread *t = &l->threads[at];
    t->methods = malloc(((size_t)info->frame_count + 1) * sizeof *t->methods);
    if (t->methods != NULL) {
        hpx_named_stacks_take(named, info, HPX_TRACE_FRAMES, &l->stacks[at], t->methods);
    }
    t->nframes = l->stacks[at].n;
    t->above = l->stacks[at].above;
}

/* Thread.getId() of a thread, as callbacks of a walk tell it; 0: not known. */
static uint64_t tid_of(JNIEnv *env, jthread thread)
{
    jfieldID field = hpx_vm_fields.tid;
    return field != NULL ? (uint64_t)(*env)->GetLongField(env, thread, field) : 0;
}

/* The place of a thread that was listed before; l->nthreads: none. */
static uint32_t find_thread(const struct hpx_layout *l, JNIEnv *env, jthread thread, uint64_t tid)
{
    const struct hpx_address_entry *e = tid != 0 ? hpx_address_map_find(&l->tids, tid) : NULL;
    uint32_t at = e != NULL ? (uint32_t)e->value : tid != 0 ? l->nthreads : 0;
    while (tid == 0 && at < l->nthreads && !(*env)->IsSameObject(env, l->refs[at], thread)) {
        at++;
    }
    return at;
}

/* serial 0: it was never announced. Returns its place; l->nthreads: no memory. */
static uint32_t add_thread(struct hpx_layout *l, jvmtiEnv *jvmti, JNIEnv *env, jthread thread, uint32_t serial)
{
    bool known = serial != 0;
    uint64_t tid = tid_of(env, thread);
    uint32_t at = find_thread(l, env, thread, tid);
    struct hpx_address_entry *e = at == l->nthreads && tid != 0 ? hpx_address_map_put(&l->tids, tid) : NULL;
    if (at < l->nthreads || (tid != 0 && e == NULL)) {
        return at;
    }
    if (e != NULL) {
        e->value = at;
    }
    serial = known ? serial : hpx_known_threads_serial();
    struct hpx_heap_thread *t = &l->threads[at];
    *t =
        (struct hpx_heap_thread){.object = HPX_OBJECT_FIRST - 1 + (uint64_t)(serial - HPX_SERIAL_THREAD), .serial = serial, .known = known};
    char *name = hpx_thread_info_name(jvmti, env, thread);
    if (name != NULL) {
        t->name.len = (uint32_t)strlen(name);
        t->name.bytes = hpx_arena_copy(&l->arena, name, t->name.len);
        t->name.len = t->name.bytes != NULL ? t->name.len : 0;
        drop(jvmti, name);
    }
    l->refs[l->nthreads++] = thread;
    return at;
}

static bool room_for_threads(struct hpx_layout *l, size_t n)
{
    l->threads = calloc(n + 1, sizeof *l->threads);
    l->stacks = calloc(n + 1, sizeof *l->stacks);
    l->refs = calloc(n + 1, sizeof(jthread));
    return l->threads != NULL && l->stacks != NULL && l->refs != NULL;
}

static int list_threads(struct hpx_layout *l, jvmtiEnv *jvmti, JNIEnv *env)
{
    jvmtiStackInfo *stacks = NULL;
    jint n = 0;
    struct hpx_thread_ref *refs = NULL;
    struct hpx_named_stacks named;
    uint32_t known = hpx_known_threads_list(env, &refs, false);
    if ((*jvmti)->GetAllStackTraces(jvmti, HPX_TRACE_FRAMES + HPX_PROBE_FRAMES, &stacks, &n) != JVMTI_ERROR_NONE) {
        n = 0;
    }
    bool good = hpx_named_stacks_init(&named, jvmti, env, &l->arena, true) == 0 && room_for_threads(l, (size_t)known + (size_t)n);
    for (uint32_t i = 0; good && i < known; i++) {
        if (!refs[i].ended) {
            (void)add_thread(l, jvmti, env, refs[i].thread, refs[i].serial);
        }
    }
    for (jint i = 0; good && i < n; i++) {
        uint32_t at = add_thread(l, jvmti, env, stacks[i].thread, 0);
        if (at < l->nthreads) {
            take_stack(l, &named, &stacks[i], at);
        }
    }
    hpx_named_stacks_fini(&named);
    drop(jvmti, stacks);
    free(refs);
    return good ? 0 : -HPX_E_NOMEM;
}

int hpx_layout_make(struct hpx_layout *l, jvmtiEnv *jvmti, JNIEnv *env, bool full)
{
    *l = (struct hpx_layout){.classes = NULL};
    hpx_arena_init(&l->arena);
    int rc = list_threads(l, jvmti, env);
    jthread self = NULL;
    l->taker = (*jvmti)->GetCurrentThread(jvmti, &self) == JVMTI_ERROR_NONE && self != NULL ? tid_of(env, self) : 0;
    find_classes(l, jvmti, env);
    if (!full) { /* Java would have no room for it, and collect garbage for every class */
        link_classes(jvmti, env);
    }
    return rc != 0 ? rc : list_classes(l, jvmti, env); /* last: the fewer classes are loaded between this and the walk */
}

jvmtiEnv *hpx_layout_environment(const struct hpx_layout *l, bool tagged)
{
    const jvmtiCapabilities tags = {.can_tag_objects = 1};
    jvmtiEnv *to = hpx_vm_environment(&tags);
    bool good = to != NULL;
    for (uint32_t i = 0; good && tagged && i < l->loaded; i++) {
        struct hpx_class_number number = l->class_numbers[i];
        good = number.v == 0 || (*to)->SetTag(to, l->class_refs[i], (jlong)hpx_site_class_tag(number)) == JVMTI_ERROR_NONE;
    }
    for (uint32_t i = 0; good && tagged && i < l->nthreads; i++) {
        good = (*to)->SetTag(to, l->refs[i], (jlong)hpx_layout_thread_tag(i)) == JVMTI_ERROR_NONE;
    }
    if (!good && to != NULL) {
        (void)(*to)->DisposeEnvironment(to);
    }
    return good ? to : NULL;
}

void hpx_layout_learn(jvmtiEnv *jvmti, JNIEnv *env)
{
    struct hpx_layout l = {.classes = NULL};
    link_classes(jvmti, env);
    find_classes(&l, jvmti, env);
    (void)list_classes(&l, jvmti, env);
    drop(jvmti, l.class_refs);
    hpx_layout_fini(&l);
}

void hpx_layout_drop_refs(struct hpx_layout *l, jvmtiEnv *jvmti)
{
    drop(jvmti, l->class_refs);
    l->class_refs = NULL;
}

void hpx_layout_fini(struct hpx_layout *l)
{
    free(l->class_numbers);
    free(l->classes);
    for (uint32_t i = 0; l->threads != NULL && l->threads[i].object != 0; i++) {
        free(l->threads[i].methods);
    }
    free(l->threads);
    free(l->stacks);
    free(l->refs);
    hpx_address_map_fini(&l->tids);
    hpx_arena_fini(&l->arena);
}

void hpx_layout_forget(void)
{
    if (all_known.size != 0) {
        hpx_vec_fini(&all_known);
        hpx_arena_fini(&kept);
        all_known.size = 0;
    }
}
