/* SPDX-License-Identifier: BSD-2-Clause */
/* ask_virtuals.c: virtual threads, by a census; lines and files of their methods, by the JVM. */
#include "asker.h"
#include "session.h"
#include <stdlib.h>
#include <string.h>

void hpx_ask_virtuals(struct hpx_asker *a)
{
    uint32_t depth = atomic_load_explicit(&hpx_session.depth, memory_order_relaxed);
    a->take->census = hpx_census_take(a->env, depth < HPX_TRACE_FRAMES ? depth : HPX_TRACE_FRAMES, hpx_asker_late, &a->uncounted);
    if (a->take->census != NULL && a->take->census->asked == NULL) {
        hpx_asker_count(a, a->take->census->checked_ns);
        hpx_asker_count(a, a->take->census->stop_ns);
    }
}

/* ---- names ---- */

/* A class of which the stacks have methods. */
struct of_class {
    const char *signature;
    jclass ref; /* a local reference; NULL: it was not found, or has ended */
    const char *source;
    jmethodID *methods; /* JVMTI's */
    jint nmethods;
};

struct of_method {
    struct hpx_named_frame names;
    jvmtiLineNumberEntry *lines; /* JVMTI's */
    jint nlines;
};

static int by_signature(const void *a, const void *b)
{
    return strcmp(((const struct of_class *)a)->signature, ((const struct of_class *)b)->signature);
}

static uint32_t add_classes(const struct hpx_census *c, struct of_class *classes)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->nmethods; i++) {
        classes[i] = (struct of_class){.signature = c->methods[i].class_signature};
    }
    qsort(classes, c->nmethods, sizeof *classes, by_signature);
    for (uint32_t i = 0; i < c->nmethods; i++) {
        if (n == 0 || strcmp(classes[n - 1].signature, classes[i].signature) != 0) {
            classes[n++] = classes[i];
        }
    }
    return n;
}

/* Of several classes of one name, from several loaders, the first one counts. */
static void find_classes(struct hpx_asker *a, struct of_class *classes, uint32_t n)
{
    jvmtiEnv *jvmti = a->jvmti;
    jclass *all = NULL;
    jint nall = 0;
    if ((*jvmti)->GetLoadedClasses(jvmti, &nall, &all) != JVMTI_ERROR_NONE) {
        return;
    }
    (void)(*a->env)->EnsureLocalCapacity(a->env, nall + 64);
    (*a->env)->ExceptionClear(a->env);
    for (jint i = 0; i < nall; i++) {
        struct of_class key = {.signature = NULL}, *c = NULL;
        char *signature = NULL, *source = NULL;
        if ((*jvmti)->GetClassSignature(jvmti, all[i], &signature, NULL) == JVMTI_ERROR_NONE) {
            key.signature = signature;
            c = bsearch(&key, classes, n, sizeof *classes, by_signature);
        }
        if (c != NULL && c->ref == NULL) {
            c->ref = all[i];
            if ((*jvmti)->GetSourceFileName(jvmti, all[i], &source) == JVMTI_ERROR_NONE) {
                c->source = hpx_arena_copy(&a->take->arena, source, strlen(source));
                hpx_asker_release(a, source);
            }
            if (a->take->census->asked != NULL || /* then lines are known, and signatures are not */
                (*jvmti)->GetClassMethods(jvmti, all[i], &c->nmethods, &c->methods) != JVMTI_ERROR_NONE) {
                c->methods = NULL;
                c->nmethods = 0;
            }
        } else {
            (*a->env)->DeleteLocalRef(a->env, all[i]);
        }
        hpx_asker_release(a, signature);
    }
    hpx_asker_release(a, all);
}

/* Not JNI's GetMethodID: it would run the initializer of the class, or wait for the thread that does, which may wait for ever. */
static jmethodID id_of(const struct hpx_asker *a, const struct hpx_census_method *m, const struct of_class *c)
{
    jmethodID id = NULL;
    for (jint i = 0; i < c->nmethods && id == NULL; i++) {
        char *name = NULL, *signature = NULL;
        if ((*a->jvmti)->GetMethodName(a->jvmti, c->methods[i], &name, &signature, NULL) == JVMTI_ERROR_NONE) {
            id = strcmp(name, m->name) == 0 && strcmp(signature, m->signature) == 0 ? c->methods[i] : NULL;
            hpx_asker_release(a, name);
            hpx_asker_release(a, signature);
        }
    }
    return id;
}

static void name_method(const struct hpx_asker *a, const struct hpx_census_method *m, const struct of_class *c, struct of_method *to)
{
    to->names = (struct hpx_named_frame){.class_signature = m->class_signature,
                                         .name = m->name,
                                         .signature = m->signature[0] != '\0' ? m->signature : NULL,
                                         .source = c->source,
                                         .line = HPX_LINE_UNKNOWN};
    jmethodID id = id_of(a, m, c);
    if (id == NULL || (*a->jvmti)->GetLineNumberTable(a->jvmti, id, &to->nlines, &to->lines) != JVMTI_ERROR_NONE) {
        to->lines = NULL;
        to->nlines = 0;
    }
}

static int32_t line_of(const struct of_method *m, jlocation at)
{
    int32_t line = HPX_LINE_UNKNOWN;
    jlocation best = -1;
    for (jint i = 0; i < m->nlines; i++) { /* JVMTI promises no order */
        if (m->lines[i].start_location <= at && m->lines[i].start_location > best) {
            best = m->lines[i].start_location;
            line = m->lines[i].line_number;
        }
    }
    return line;
}

static void name_stacks(struct hpx_asker *a, const struct of_method *methods)
{
    struct hpx_monitor_take *t = a->take;
    const struct hpx_census *c = t->census;
    for (uint32_t i = 0; i < c->nstacks; i++) {
        const struct hpx_census_stack *from = &c->stacks[i];
        struct hpx_named_stack *to = &t->virtual_stacks[i];
        to->frames = hpx_arena_alloc(&t->arena, (from->n + 1) * sizeof *to->frames, 16);
        for (uint32_t k = 0; to->frames != NULL && k < from->n; k++) {
            const struct of_method *m = &methods[from->frames[k].method];
            to->frames[to->n] = m->names;
            to->frames[to->n++].line = c->asked != NULL ? from->frames[k].bci : line_of(m, from->frames[k].bci);
        }
    }
}

static void name_all(struct hpx_asker *a)
{
    const struct hpx_census *c = a->take->census;
    struct of_class *classes = calloc((size_t)c->nmethods + 1, sizeof *classes);
    struct of_method *methods = calloc((size_t)c->nmethods + 1, sizeof *methods);
    if (classes == NULL || methods == NULL) {
        a->no_memory = true;
    } else {
        uint32_t n = add_classes(c, classes);
        find_classes(a, classes, n);
        for (uint32_t i = 0; i < c->nmethods; i++) {
            const struct of_class key = {.signature = c->methods[i].class_signature};
            name_method(a, &c->methods[i], bsearch(&key, classes, n, sizeof *classes, by_signature), &methods[i]);
        }
        name_stacks(a, methods);
        for (uint32_t i = 0; i < c->nmethods; i++) {
            hpx_asker_release(a, methods[i].lines);
        }
        for (uint32_t i = 0; i < n; i++) {
            hpx_asker_release(a, classes[i].methods);
            (*a->env)->DeleteLocalRef(a->env, classes[i].ref);
        }
    }
    free(classes);
    free(methods);
}

/* ---- groups ---- */

static struct hpx_text text_of(const char *s)
{
    return (struct hpx_text){s, (uint32_t)strlen(s)};
}

static struct hpx_monitor_who who_of(const struct hpx_asker *a, const struct hpx_census_who *w)
{
    struct hpx_monitor_who to = {.serial = HPX_SERIAL_THREAD, .name = {"", 0}};
    uint32_t known = HPX_INTERN_NONE;
    if (w->is_virtual) {
        to.virtual_tid = w->tid;
        to.name = text_of(w->name);
    } else if ((known = hpx_id_map_find(&a->by_tid, w->tid)) != HPX_INTERN_NONE) {
        to.serial = hpx_asked_thread(a, known)->serial;
    }
    return to;
}

static void add_group(struct hpx_asker *a, const struct hpx_census_group *from)
{
    struct hpx_virtual_group *to = &a->take->image.virtuals[a->take->image.nvirtuals++];
    *to = (struct hpx_virtual_group){
        .count = from->count, .stack = from->stack, .status = from->status, .waits_for = {"", 0}, .container = {"", 0}};
    to->container = from->container != NULL ? text_of(from->container) : to->container;
    to->waits_for = from->waits_for != NULL ? text_of(from->waits_for) : to->waits_for;
    to->owned = from->owner.tid != 0;
    to->owner = who_of(a, &from->owner);
    to->mounted = from->carrier.tid != 0;
    to->carrier = who_of(a, &from->carrier);
    for (uint32_t i = 0; i < HPX_CENSUS_NAMES; i++) {
        if (from->who[i].tid != 0) {
            to->who[to->nwho++] = who_of(a, &from->who[i]);
        }
    }
}

void hpx_name_virtuals(struct hpx_asker *a)
{
    struct hpx_monitor_take *t = a->take;
    const struct hpx_census *c = t->census;
    if (c == NULL) {
        return;
    }
    t->image.virtuals = calloc((size_t)c->ngroups + 1, sizeof *t->image.virtuals);
    t->image.virtual_traces = calloc((size_t)c->nstacks + 1, sizeof(void *));
    t->virtual_stacks = calloc((size_t)c->nstacks + 1, sizeof *t->virtual_stacks);
    if (t->image.virtuals == NULL || t->image.virtual_traces == NULL || t->virtual_stacks == NULL) {
        a->no_memory = true;
        return;
    }
    t->image.nvirtual_traces = c->nstacks;
    name_all(a);
    for (uint32_t i = 0; i < c->ngroups; i++) {
        add_group(a, &c->groups[i]);
    }
}
