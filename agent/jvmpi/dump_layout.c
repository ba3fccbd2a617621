/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_layout.c: see dump_layout.h. */
#include "dump_layout.h"
#include "boot_class.h"
#include "class_events.h"
#include "hidden_field.h"
#include <string.h>

#define ACC_STATIC 0x8

static void *take(struct hpx_jvmpi_layout *l, size_t n, size_t size)
{
    void *p = hpx_arena_alloc(&l->arena, n * size, 8);
    if (p == NULL) {
        l->failed = true;
        return NULL;
    }
    memset(p, 0, n * size);
    return p;
}

/* ---- fields ---- */

/* of: the class's signature. false: the VM hides it in the walk. */
static bool ask_field(const struct hpx_jvmpi_layout *l, jclass klass, const char *of, jfieldID id, struct hpx_jvmpi_field *f)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    char *name = NULL, *signature = NULL;
    jint modifiers = 0;
    if ((*jvmti)->GetFieldName(jvmti, klass, id, &name, &signature, NULL) != JVMTI_ERROR_NONE) {
        return true;
    }
    bool hidden = of != NULL && hpx_hidden_field(of, name);
    jint type = hpx_jvmpi_type_of(signature[0]);
    f->type = type == JVMPI_CLASS || l->primitives ? (uint8_t)type : 0;
    f->is_static = (*jvmti)->GetFieldModifiers(jvmti, klass, id, &modifiers) == JVMTI_ERROR_NONE && (modifiers & ACC_STATIC) != 0;
    hpx_jvmpi_give_back(name);
    hpx_jvmpi_give_back(signature);
    return !hidden;
}

/* Where the fields of an instance lie in its record: those of a class before those of its super classes. */
static void place_fields(struct hpx_jvmpi_layout *l, struct hpx_jvmpi_klass *c)
{
    c->slots = take(l, c->nabove + c->nfields, sizeof *c->slots);
    for (const struct hpx_jvmpi_klass *of = c; c->slots != NULL && of != NULL; of = of->above) {
        for (uint32_t i = 0; i < of->nfields; i++) {
            struct hpx_jvmpi_field *slot = &c->slots[of->nabove + i];
            *slot = of->fields[i];
            slot->at += c->values - of->values;
            slot->type = slot->is_static ? 0 : slot->type;
        }
    }
}

static void ask_fields(struct hpx_jvmpi_layout *l, jclass klass, struct hpx_jvmpi_klass *c)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    jfieldID *ids = NULL;
    char *of = NULL;
    jint n = 0;
    if ((*jvmti)->GetClassFields(jvmti, klass, &n, &ids) != JVMTI_ERROR_NONE) {
        return; /* not linked */
    }
    c->fields = take(l, (size_t)n, sizeof *c->fields);
    c->statics = take(l, (size_t)n, sizeof *c->statics);
    (void)(*jvmti)->GetClassSignature(jvmti, klass, &of, NULL);
    for (jint i = 0; i < n && !l->failed; i++) {
        struct hpx_jvmpi_field *f = &c->fields[c->nfields];
        if (ask_field(l, klass, of, ids[i], f)) {
            c->nfields++;
            f->at = c->values;
            c->values += f->is_static ? 0 : hpx_jvmpi_type_size(f->type);
        }
    }
    hpx_jvmpi_give_back(of);
    if (c->above != NULL) {
        c->values += c->above->values;
        c->nabove = c->above->nabove + c->above->nfields;
    }
    place_fields(l, c);
    hpx_jvmpi_give_back(ids);
}

/* ---- interfaces ---- */

static bool has(const struct hpx_jvmpi_klass *c, const struct hpx_jvmpi_klass *declarer)
{
    for (uint32_t i = 0; i < c->ndeclarers; i++) {
        if (c->declarers[i] == declarer) {
            return true;
        }
    }
    return false;
}

static void add_declarers(struct hpx_jvmpi_layout *l, struct hpx_jvmpi_klass *c, struct hpx_jvmpi_klass *const *more, uint32_t n)
{
    struct hpx_jvmpi_klass **all = n > 0 ? take(l, c->ndeclarers + n, sizeof(void *)) : NULL;
    if (all == NULL) {
        return;
    }
    for (uint32_t i = 0; i < c->ndeclarers; i++) {
        all[i] = c->declarers[i];
    }
    c->declarers = all;
    for (uint32_t i = 0; i < n; i++) {
        if (!has(c, more[i])) {
            all[c->ndeclarers++] = more[i];
        }
    }
}

static void ask_interfaces(struct hpx_jvmpi_layout *l, jclass klass, struct hpx_jvmpi_klass *c)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    jclass *all = NULL;
    jint n = 0;
    if (c->above != NULL) {
        add_declarers(l, c, c->above->declarers, c->above->ndeclarers);
    }
    if ((*jvmti)->GetImplementedInterfaces(jvmti, klass, &n, &all) == JVMTI_ERROR_NONE) {
        c->interfaces = take(l, (size_t)n, sizeof(void *));
        c->ninterfaces = c->interfaces != NULL ? (uint32_t)n : 0;
    }
    for (jint i = 0; i < n; i++) {
        const struct hpx_jvmpi_klass *one = l->failed ? NULL : hpx_jvmpi_layout_ask(l, all[i]);
        if (one != NULL) {
            c->interfaces[i] = one->id;
            add_declarers(l, c, one->declarers, one->ndeclarers);
        }
        (*l->env)->DeleteLocalRef(l->env, all[i]);
    }
    hpx_jvmpi_give_back(all);
    for (uint32_t i = 0; i < c->ndeclarers; i++) {
        c->skip += c->declarers[i]->nfields;
    }
    if (c->above == NULL && c->nfields > 0) { /* java.lang.Object has no fields */
        add_declarers(l, c, (struct hpx_jvmpi_klass *const[]){c}, 1);
    }
}

/* ---- classes ---- */

static void fill(struct hpx_jvmpi_layout *l, jclass klass, struct hpx_jvmpi_klass *c)
{
    JNIEnv *env = l->env;
    jclass above = (*env)->GetSuperclass(env, klass);
    c->above = above != NULL ? hpx_jvmpi_layout_ask(l, above) : NULL;
    (*env)->DeleteLocalRef(env, above);
    if (l->name != NULL) {
        jobject name = (*env)->GetObjectField(env, klass, l->name);
        c->name = hpx_jvmpi_id_of(name);
        (*env)->DeleteLocalRef(env, name);
    }
    if (c->kind == JVMPI_CLASS) {
        c->element = hpx_jvmpi_element_id(env, klass);
    }
    if (c->kind == JVMPI_NORMAL_OBJECT) {
        ask_fields(l, klass, c);
    }
    ask_interfaces(l, klass, c);
}

static void append(struct hpx_jvmpi_layout *l, struct hpx_jvmpi_klass *c)
{
    struct hpx_address_entry *e = hpx_address_map_put(&l->by_tag, (uint64_t)hpx_jvmpi_tag(c->id));
    if (e == NULL) {
        l->failed = true;
        return;
    }
    e->value = (uint64_t)(uintptr_t)c;
    *(l->last != NULL ? &l->last->next : &l->first) = c;
    l->last = c;
}

struct hpx_jvmpi_klass *hpx_jvmpi_layout_ask(struct hpx_jvmpi_layout *l, jclass klass)
{
    jobjectID id = hpx_jvmpi_id_of(klass);
    struct hpx_jvmpi_klass *c = hpx_jvmpi_layout_find(l, hpx_jvmpi_tag(id));
    char *signature = NULL;
    if (c != NULL || id == NULL || (*hpx_jvmpi.jvmti)->GetClassSignature(hpx_jvmpi.jvmti, klass, &signature, NULL) != JVMTI_ERROR_NONE) {
        return c;
    }
    c = take(l, 1, sizeof *c);
    if (c != NULL) {
        c->id = id;
        c->kind = signature[0] == '[' ? hpx_jvmpi_type_of(signature[1]) : JVMPI_NORMAL_OBJECT;
        if (l->fields) {
            fill(l, klass, c);
        }
        append(l, c);
    }
    hpx_jvmpi_give_back(signature);
    return l->failed ? NULL : c;
}

bool hpx_jvmpi_layout_init(struct hpx_jvmpi_layout *l, JNIEnv *env, jint level)
{
    *l = (struct hpx_jvmpi_layout){.fields = level > JVMPI_DUMP_LEVEL_0, .primitives = level == JVMPI_DUMP_LEVEL_2, .env = env};
    hpx_arena_init(&l->arena);
    jclass klass = hpx_boot_class(env, "java/lang/Class");
    if (klass == NULL) {
        return false;
    }
    l->name = (*env)->GetFieldID(env, klass, "name", "Ljava/lang/String;");
    (*env)->ExceptionClear(env);
    l->class_class = hpx_jvmpi_layout_ask(l, klass);
    (*env)->DeleteLocalRef(env, klass);
    return l->class_class != NULL;
}

bool hpx_jvmpi_layout_all(struct hpx_jvmpi_layout *l)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    jclass *all = NULL;
    jint n = 0;
    if ((*jvmti)->GetLoadedClasses(jvmti, &n, &all) != JVMTI_ERROR_NONE) {
        return false;
    }
    (void)(*l->env)->EnsureLocalCapacity(l->env, n + 64);
    (*l->env)->ExceptionClear(l->env);
    for (jint i = 0; !l->failed && i < n; i++) {
        (void)hpx_jvmpi_layout_ask(l, all[i]);
    }
    hpx_jvmpi_give_back(all);
    return !l->failed;
}

void hpx_jvmpi_layout_fini(struct hpx_jvmpi_layout *l)
{
    hpx_address_map_fini(&l->by_tag);
    hpx_arena_fini(&l->arena);
}
