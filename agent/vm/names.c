/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c: class and method names and line tables, as messages. */
#include "names.h"
#include "class_number.h"
#include "log.h"
#include <stdlib.h>
#include <string.h>

static void drop(jvmtiEnv *jvmti, void *p)
{
    if (p != NULL) {
        (*jvmti)->Deallocate(jvmti, p);
    }
}

static uint32_t length(const char *s)
{
    return s != NULL ? (uint32_t)strlen(s) : 0;
}

static char *put(char *to, const char *s)
{
    uint32_t n = length(s);
    if (s != NULL) {
        memcpy(to, s, n);
    }
    to[n] = 0;
    return to + n + 1;
}

struct class_text {
    char *signature, *source;
    char **names, **signatures; /* one a method; NULL for one that has none */
    jint n;
    uint32_t bytes;
};

static void class_text_fini(jvmtiEnv *jvmti, struct class_text *t)
{
    for (jint i = 0; t->names != NULL && i < t->n; i++) {
        drop(jvmti, t->names[i]);
        if (t->signatures != NULL) {
            drop(jvmti, t->signatures[i]);
        }
    }
    free(t->names);
    free(t->signatures);
    drop(jvmti, t->signature);
    drop(jvmti, t->source);
}

/* false: nothing is held. */
static bool class_text_init(jvmtiEnv *jvmti, jclass klass, const jmethodID *ids, jint n, struct class_text *t)
{
    *t = (struct class_text){.n = 0};
    if ((*jvmti)->GetClassSignature(jvmti, klass, &t->signature, NULL) != JVMTI_ERROR_NONE) {
        return false;
    }
    if ((*jvmti)->GetSourceFileName(jvmti, klass, &t->source) != JVMTI_ERROR_NONE) {
        t->source = NULL; /* compiled without */
    }
    bool signatures = hpx_session.opt->binary;
    t->names = calloc((size_t)n + 1, sizeof *t->names);
    t->signatures = signatures ? calloc((size_t)n + 1, sizeof *t->signatures) : NULL;
    if (t->names == NULL || (signatures && t->signatures == NULL)) {
        class_text_fini(jvmti, t);
        return false;
    }
    t->n = n;
    t->bytes = length(t->signature) + 1 + length(t->source) + 1;
    for (jint i = 0; i < n; i++) {
        if ((*jvmti)->GetMethodName(jvmti, ids[i], &t->names[i], signatures ? &t->signatures[i] : NULL, NULL) != JVMTI_ERROR_NONE) {
            t->names[i] = NULL;
        }
        t->bytes += length(t->names[i]) + 1 + (signatures ? length(t->signatures[i]) : 0) + 1;
    }
    return true;
}

static void class_text_put(const struct class_text *t, char *to)
{
    to = put(to, t->signature);
    to = put(to, t->source);
    for (jint i = 0; i < t->n; i++) {
        to = put(to, t->names[i]);
        to = put(to, t->signatures != NULL ? t->signatures[i] : NULL);
    }
}

static __thread bool ignored;

void hpx_names_ignore(bool on)
{
    ignored = on;
}

bool hpx_names_ignored(void)
{
    return ignored;
}

void hpx_names_methods(jvmtiEnv *jvmti, JNIEnv *env, jclass klass, const jmethodID *ids, jint n, enum hpx_names_said said, bool looked_for)
{
    struct class_text text = {.n = 0};
    bool have_text = said != HPX_NAMES_NONE && class_text_init(jvmti, klass, ids, said == HPX_NAMES_ALL ? n : 0, &text);
    struct hpx_msg_class *m = hpx_msg_class_new((uint32_t)n, have_text ? text.bytes : 0);
    if (m == NULL) {
        hpx_count(&hpx_session.counters, HPX_C_CLASSES_UNNAMED, 1);
    } else {
        for (jint i = 0; i < n; i++) {
            m->ids[i] = (uint64_t)(uintptr_t)ids[i];
        }
        m->named = have_text;
        m->looked_for = looked_for;
        if (have_text) {
            class_text_put(&text, m->text);
        }
        m->number = hpx_session.opt->heap_dump && hpx_session.opt->binary ? hpx_class_number(jvmti, klass) : (struct hpx_class_number){0};
        m->ref = (uint64_t)(uintptr_t)(*env)->NewWeakGlobalRef(env, klass);
        if (m->ref == 0) {
            (*env)->ExceptionClear(env); /* no memory: the program's thread must not find our exception */
        }
        hpx_lane_post(&hpx_session.aggregator.control, &m->m, false);
    }
    if (have_text) {
        class_text_fini(jvmti, &text);
    }
}

void hpx_names_class(jvmtiEnv *jvmti, JNIEnv *env, jclass klass, enum hpx_names_said said)
{
    jint n = 0;
    jmethodID *ids = NULL;
    jvmtiError e = (*jvmti)->GetClassMethods(jvmti, klass, &n, &ids);
    if (e == JVMTI_ERROR_CLASS_NOT_PREPARED) {
        return; /* an array or primitive class, or one whose ClassPrepare is still to come */
    }
    if (e != JVMTI_ERROR_NONE) {
        hpx_count(&hpx_session.counters, HPX_C_CLASSES_UNNAMED, 1);
    } else if (n > 0 || hpx_session.opt->binary) { /* else nothing in it can be sampled */
        hpx_names_methods(jvmti, env, klass, ids, n, said, false);
    }
    drop(jvmti, ids);
}

/* One local reference per class, for which -Xcheck:jni wants room. */
jvmtiError hpx_names_list(jvmtiEnv *jvmti, JNIEnv *env, jint *n, jclass **all)
{
    jvmtiError e = (*jvmti)->GetLoadedClasses(jvmti, n, all);
    if (e == JVMTI_ERROR_NONE && (*env)->EnsureLocalCapacity(env, *n + 64) != 0) {
        (*env)->ExceptionClear(env);
    }
    return e;
}

void hpx_names_loaded(jvmtiEnv *jvmti, JNIEnv *env)
{
    jint n = 0;
    jclass *all = NULL;
    if (hpx_names_list(jvmti, env, &n, &all) != JVMTI_ERROR_NONE) {
        hpx_warn("%s: cannot list the classes loaded so far; their methods will have no names", hpx_session_modes());
        return;
    }
    for (jint i = 0; i < n && hpx_gate_is_open(&hpx_session.gate); i++) { /* VMDeath closes it, and waits for this thread */
        hpx_names_class(jvmti, env, all[i], hpx_session.opt->binary ? HPX_NAMES_CLASS : HPX_NAMES_NONE);
        (*env)->DeleteLocalRef(env, all[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
}

static struct hpx_msg_resolved *answer(jvmtiEnv *jvmti, jclass klass, const struct hpx_msg_resolve *r)
{
    jmethodID id = (jmethodID)(uintptr_t)r->id;
    struct class_text t = {.n = 0};
    jvmtiLineNumberEntry *lines = NULL;
    jint nlines = 0;
    bool named = r->want_name && class_text_init(jvmti, klass, &id, 1, &t);
    jvmtiError e = r->want_lines ? (*jvmti)->GetLineNumberTable(jvmti, id, &nlines, &lines) : JVMTI_ERROR_NONE;
    if (e != JVMTI_ERROR_NONE) {
        nlines = 0; /* native, abstract, or compiled without */
    }
    struct hpx_msg_resolved *m = hpx_msg_resolved_new((uint32_t)nlines, named ? t.bytes : 0);
    if (m != NULL) {
        m->named = named;
        m->native = e == JVMTI_ERROR_NATIVE_METHOD;
        for (jint i = 0; i < nlines; i++) {
            m->lines[i] = (struct hpx_line){(uint16_t)lines[i].start_location, (uint16_t)lines[i].line_number};
        }
        if (named) {
            class_text_put(&t, m->text);
        }
        if (!hpx_msg_resolved_sort(m)) { /* JVMTI promises no order */
            free(m);
            m = NULL;
        }
    }
    if (named) {
        class_text_fini(jvmti, &t);
    }
    drop(jvmti, lines);
    return m;
}

/* Needs no memory: a request without any answer would let every later dump wait. */
void hpx_names_refuse(struct hpx_msg_resolve *r)
{
    hpx_lane_post(&hpx_session.aggregator.control, &r->m, true);
}

void hpx_names_resolve(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_msg_resolve *r)
{
    jclass klass = (*env)->NewLocalRef(env, (jobject)(uintptr_t)r->ref);
    if (klass == NULL) {
        hpx_names_refuse(r);
        return;
    }
    struct hpx_msg_resolved *m = answer(jvmti, klass, r);
    (*env)->DeleteLocalRef(env, klass);
    if (m == NULL) {
        hpx_names_refuse(r);
        return;
    }
    m->method = r->method;
    hpx_lane_post(&hpx_session.aggregator.control, &m->m, true);
    free(r);
}

/* Compared, not resolved: a local reference would keep the class alive for the collection that runs. */
void hpx_names_sweep(JNIEnv *env, struct hpx_msg_sweep *s)
{
    for (uint32_t i = 0; env != NULL && i < s->n; i++) {
        s->of[i].gone = (*env)->IsSameObject(env, (jobject)(uintptr_t)s->of[i].ref, NULL);
    }
    s->m.kind = HPX_MSG_SWEPT;
    hpx_lane_post(&hpx_session.aggregator.control, &s->m, true);
}

static void forget_ref(void *env, uint64_t ref)
{
    JNIEnv *e = env;
    (*e)->DeleteWeakGlobalRef(e, (jweak)(uintptr_t)ref);
}

void hpx_names_forget(JNIEnv *env)
{
    hpx_symbols_forget_refs(hpx_model_symbols(hpx_session.model), forget_ref, env);
}

void hpx_names_drop(JNIEnv *env, struct hpx_msg_sweep *s)
{
    for (uint32_t i = 0; env != NULL && i < s->n; i++) {
        (*env)->DeleteWeakGlobalRef(env, (jweak)(uintptr_t)s->of[i].ref);
    }
    free(s);
}
