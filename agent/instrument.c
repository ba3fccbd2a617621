/* SPDX-License-Identifier: BSD-2-Clause */
/* instrument.c: the class hook of instrument.h. */
#include "instrument.h"
#include "hprofx_bci.h"
#include "log.h"
#include "patterns.h"
#include "tracker.h"
#include <stdlib.h>
#include <string.h>

#define BATCH 64 /* classes that are retransformed in one operation of the VM */

static struct {
    _Atomic uint32_t next; /* relaxed: numbers are unique, no more */
    _Atomic uint64_t classes, refused, methods, bare, untold;
    _Atomic uint64_t left[HPX_INSTRUMENT_REASONS];
} done = {.next = 1};

static_assert(HPROFX_BCI_LEFT_COUNT <= HPX_INSTRUMENT_REASONS, "the figures have room for the reasons");

static void add(_Atomic uint64_t *to, uint64_t n)
{
    if (n > 0) {
        atomic_fetch_add_explicit(to, n, memory_order_relaxed);
    }
}

/* What the rewriter says of a class, until it is a message. */
struct telling {
    struct part {
        char *at;
        size_t len, cap;
    } text, lines; /* as in hpx_msg_methods */
    uint32_t first, n;
    bool no_memory;
};

static void put(struct telling *t, struct part *p, const void *bytes, size_t n)
{
    if (p->len + n > p->cap && !t->no_memory) {
        size_t cap = (p->cap + n) * 2;
        char *more = realloc(p->at, cap);
        t->no_memory = more == NULL;
        p->at = more != NULL ? more : p->at;
        p->cap = more != NULL ? cap : p->cap;
    }
    if (!t->no_memory && n > 0) {
        memcpy(p->at + p->len, bytes, n);
        p->len += n;
    }
}

static void put_name(struct telling *t, struct hprofx_bci_name name, const char *end)
{
    put(t, &t->text, name.at, name.len);
    put(t, &t->text, end, strlen(end) + 1);
}

static uint32_t number(void *ctx, uint32_t methods)
{
    (void)ctx;
    return atomic_fetch_add_explicit(&done.next, methods, memory_order_relaxed);
}

static void told(void *ctx, const struct hprofx_bci_method *m)
{
    struct telling *t = ctx;
    if (t->n++ == 0) {
        t->first = m->number;
        put(t, &t->text, "L", 1);
        put_name(t, m->class_name, ";");
        put_name(t, m->source, "");
    }
    put_name(t, m->name, "");
    put_name(t, m->desc, "");
    put(t, &t->lines, &m->first_line, sizeof m->first_line);
}

/* Names go before the class. false: it is not to be used. */
static bool tell(struct telling *t)
{
    struct hpx_msg_methods *m = t->no_memory || t->text.len > UINT32_MAX ? NULL : hpx_msg_methods_new(t->n, (uint32_t)t->text.len);
    if (m == NULL) {
        add(&done.untold, 1);
        return false;
    }
    m->first = t->first;
    memcpy(m->text, t->text.at, t->text.len);
    memcpy(m->lines, t->lines.at, t->lines.len);
    hpx_lane_post(&hpx_agent.aggregator.control, &m->m, false);
    return true;
}

static void count(const struct hprofx_bci_result *r)
{
    add(&done.classes, 1);
    add(&done.methods, r->rewritten);
    for (int i = 0; i < HPROFX_BCI_BARE_COUNT; i++) {
        add(&done.bare, r->bare[i]);
    }
}

/* The class stays as it is where the VM has no memory for the new one. */
static bool hand_over(jvmtiEnv *jvmti, const uint8_t *out, size_t m, jint *new_n, unsigned char **new_data)
{
    unsigned char *copy = NULL;
    if (m > INT32_MAX || (*jvmti)->Allocate(jvmti, (jlong)m, &copy) != JVMTI_ERROR_NONE) {
        return false;
    }
    memcpy(copy, out, m);
    *new_data = copy;
    *new_n = (jint)m;
    return true;
}

/* Calls of these begin on one call stack and end on another: they mount and unmount virtual threads (virtual.h). */
static bool moves_stacks(const char *name)
{
    static const char *const all[] = {"java/lang/VirtualThread", "jdk/internal/vm/Continuation"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        size_t n = strlen(all[i]);
        if (!strncmp(name, all[i], n) && (name[n] == 0 || name[n] == '$')) {
            return true;
        }
    }
    return false;
}

static bool wanted(const char *name, size_t n)
{
    return !hpx_tracker_is(name) && !moves_stacks(name) && hpx_patterns_want(hpx_agent.opt.include, hpx_agent.opt.exclude, name, n);
}

/* The VM of JDK 8 does not say the names of anonymous classes. */
static bool want_nameless(void *ctx, const struct hprofx_bci_method *m)
{
    (void)ctx;
    return hpx_patterns_want(hpx_agent.opt.include, hpx_agent.opt.exclude, m->class_name.at, m->class_name.len);
}

void hpx_instrument_class(jvmtiEnv *jvmti, const char *name, jint n, const unsigned char *data, jint *new_n, unsigned char **new_data)
{
    const struct hpx_options *o = &hpx_agent.opt;
    if (name != NULL && !wanted(name, strlen(name))) {
        return;
    }
    struct telling t = {.n = 0};
    struct hprofx_bci_result r;
    struct hprofx_bci_opts opts = {.tracker = hpx_tracker_name(), .min = o->min, .number = number, .method = told, .ctx = &t, .result = &r};
    opts.want = name == NULL ? want_nameless : NULL;
    uint8_t *out;
    size_t m;
    const char *why;
    int rc = hprofx_bci_rewrite(&opts, data, (size_t)n, &out, &m, &why);
    for (int i = 0; i < HPROFX_BCI_LEFT_COUNT; i++) {
        add(&done.left[i], r.left[i]);
    }
    if (rc == 2) {
        add(&done.refused, 1);
    } else if (rc == 0 && tell(&t)) {
        if (hand_over(jvmti, out, m, new_n, new_data)) {
            count(&r);
        } else {
            add(&done.untold, 1);
        }
    }
    free(out);
    free(t.text.at);
    free(t.lines.at);
}

/* The VM makes a new version of each class that it retransforms, whatever the hook does: 0.3 ms each. */
static bool worth_it(jvmtiEnv *jvmti, jclass klass)
{
    jboolean modifiable = JNI_FALSE;
    char *signature = NULL; /* Lp/C; */
    if ((*jvmti)->IsModifiableClass(jvmti, klass, &modifiable) != JVMTI_ERROR_NONE || !modifiable ||
        (*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) != JVMTI_ERROR_NONE) {
        return false;
    }
    size_t n = strlen(signature);
    bool yes = n < 2 || signature[0] != 'L';
    if (!yes) {
        signature[n - 1] = 0;
        yes = wanted(signature + 1, n - 2);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return yes;
}

/* The batch, or its classes one by one if the VM refuses it. */
static void retransform(jvmtiEnv *jvmti, const jclass *batch, jint n)
{
    if (n == 0 || (*jvmti)->RetransformClasses(jvmti, n, batch) == JVMTI_ERROR_NONE) {
        return;
    }
    for (jint i = 0; i < n; i++) {
        if ((*jvmti)->RetransformClasses(jvmti, 1, batch + i) != JVMTI_ERROR_NONE) {
            add(&done.refused, 1);
        }
    }
}

void hpx_instrument_loaded(jvmtiEnv *jvmti, JNIEnv *env)
{
    jint n = 0, in_batch = 0;
    jclass *all = NULL, batch[BATCH];
    if ((*jvmti)->GetLoadedClasses(jvmti, &n, &all) != JVMTI_ERROR_NONE) {
        hpx_warn("cpu=times: the classes loaded so far cannot be listed: their methods are not counted");
        return;
    }
    if ((*env)->EnsureLocalCapacity(env, n + 64) != 0) {
        (*env)->ExceptionClear(env);
    }
    for (jint i = 0; i < n; i++) {
        if (worth_it(jvmti, all[i])) {
            batch[in_batch++] = all[i];
        }
        if (in_batch == BATCH || i == n - 1) {
            retransform(jvmti, batch, in_batch);
            in_batch = 0;
        }
    }
    for (jint i = 0; i < n; i++) {
        (*env)->DeleteLocalRef(env, all[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
}

void hpx_instrument_figures(struct hpx_instrument_figures *f)
{
    f->classes = atomic_load_explicit(&done.classes, memory_order_relaxed);
    f->refused = atomic_load_explicit(&done.refused, memory_order_relaxed);
    f->methods = atomic_load_explicit(&done.methods, memory_order_relaxed);
    f->bare = atomic_load_explicit(&done.bare, memory_order_relaxed);
    f->untold = atomic_load_explicit(&done.untold, memory_order_relaxed);
    for (int i = 0; i < HPX_INSTRUMENT_REASONS; i++) {
        f->left[i] = atomic_load_explicit(&done.left[i], memory_order_relaxed);
    }
}
