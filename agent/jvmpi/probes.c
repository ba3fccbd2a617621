/* SPDX-License-Identifier: BSD-2-Clause */
/* probes.c: the hook that rewrites classes, the tracker class, and the numbers of methods. Contract: probes.h. */
#include "probes.h"
#include "archive.h"
#include "hprofx_bci.h"
#include "loaders.h"
#include "log.h"
#include "registrar.h"
#include "tracker_class.h"
#include <stdlib.h>
#include <string.h>

#define BATCH      64    /* classes per call of RetransformClasses */
#define PIECE      4096u /* methods */
#define PIECES     8192u /* 33 million methods */
#define ACC_STATIC 0x0008u

/* Kinds of probe, beside HPROFX_BCI_*: the entries pass the object. */
enum { SELF = 64 };

static struct {
    jvmtiEnv *jvmti;                /* constant from load on */
    jvmtiEnv *tags;                 /* of loaders (loaders.h); constant from load on */
    struct hpx_probe_class tracker; /* written by hpx_jvmpi_probes_update() alone, before kinds is not 0 */
    _Atomic unsigned
        kinds; /* what the hook adds; a class that loads beside a change is retransformed. release: _update(); acquire: the hook */
    _Atomic uint32_t numbers;                          /* relaxed: given out */
    _Atomic(struct hpx_jvmpi_method *) pieces[PIECES]; /* release: reserve(); acquire: hpx_jvmpi_probes_method() */
} probes;

jvmtiEnv *hpx_jvmpi_probes_env(void)
{
    return probes.jvmti;
}

/* ---- frames ---- */

static struct {
    _Atomic(jint) n; /* release: remember(); acquire: hpx_jvmpi_probes_is_probe() */
    jmethodID *of;   /* of the VM, never freed */
} frames;

bool hpx_jvmpi_probes_is_probe(jmethodID method)
{
    const jint n = atomic_load_explicit(&frames.n, memory_order_acquire); /* partner: remember() */
    for (jint i = 0; i < n; i++) {
        if (frames.of[i] == method) {
            return true;
        }
    }
    return false;
}

static bool remember(jclass tracker)
{
    jint n = 0;
    if ((*probes.jvmti)->GetClassMethods(probes.jvmti, tracker, &n, &frames.of) != JVMTI_ERROR_NONE) {
        return false;
    }
    atomic_store_explicit(&frames.n, n, memory_order_release); /* partner: hpx_jvmpi_probes_is_probe() */
    return true;
}

/* ---- numbers ---- */

struct hpx_jvmpi_method *hpx_jvmpi_probes_method(jint number)
{
    const uint32_t n = (uint32_t)number, piece = n / PIECE;
    struct hpx_jvmpi_method *of =
        piece < PIECES ? atomic_load_explicit(&probes.pieces[piece], memory_order_acquire) : NULL; /* partner: reserve() */
    return of != NULL ? &of[n % PIECE] : NULL;
}

static bool reserve_piece(uint32_t piece)
{
    struct hpx_jvmpi_method *none = NULL, *fresh;
    if (atomic_load_explicit(&probes.pieces[piece], memory_order_acquire) != NULL) {
        return true;
    }
    fresh = calloc(PIECE, sizeof *fresh);
    if (fresh == NULL) {
        return false;
    }
    if (!atomic_compare_exchange_strong_explicit(&probes.pieces[piece], &none, fresh, memory_order_release, /* partner: _method() */
                                                 memory_order_relaxed)) {
        free(fresh);
    }
    return true;
}

/* hprofx_bci_opts.number. UINT32_MAX, which the rewriter refuses: no number is left, or no memory. */
static uint32_t reserve(void *ctx, uint32_t methods)
{
    (void)ctx;
    uint32_t first = atomic_fetch_add_explicit(&probes.numbers, methods, memory_order_relaxed);
    if (first >= PIECE * PIECES - methods) {
        atomic_fetch_sub_explicit(&probes.numbers, methods, memory_order_relaxed);
        return UINT32_MAX;
    }
    for (uint32_t piece = first / PIECE; piece <= (first + methods) / PIECE; piece++) {
        if (!reserve_piece(piece)) {
            return UINT32_MAX;
        }
    }
    return first;
}

static bool is_named(struct hprofx_bci_name name, const char *s)
{
    return name.len == strlen(s) && memcmp(name.at, s, name.len) == 0;
}

static void note_method(void *ctx, const struct hprofx_bci_method *m)
{
    (void)ctx;
    struct hpx_jvmpi_method *to = hpx_jvmpi_probes_method((jint)m->number);
    if (to != NULL) {
        to->object = !(m->access & ACC_STATIC);
        to->direct = m->direct;
        to->root = is_named(m->name, "<init>") && is_named(m->class_name, "java/lang/Object");
    }
}

/* ---- the hook ---- */

/* Their calls end on another stack than they begin on. A class without a name (JDK 8) is one of the VM's own. */
static bool is_wanted(const char *name)
{
    static const char *const left[] = {
        "java/lang/VirtualThread", "jdk/internal/vm/Continuation", HPX_TRACKER_JVMPI,          HPROFX_BCI_TRACKER,
        HPX_TRACKER_DOWN,          HPX_TRACKER_REGISTRAR,          HPX_TRACKER_REGISTRAR_JVMPI};
    for (size_t i = 0; name != NULL && i < HPX_ARRAY_LEN(left); i++) {
        size_t n = strlen(left[i]);
        if (strncmp(name, left[i], n) == 0 && (name[n] == '\0' || name[n] == '$')) {
            return false;
        }
    }
    return name != NULL;
}

/* The loader is asked where the class is defined, or retransformed. */
static bool finds(JNIEnv *env, jobject loader)
{
    enum hpx_loader answer = hpx_loaders_look(&probes.tracker, loader);
    answer = answer == HPX_LOADER_UNKNOWN ? hpx_loaders_ask(&probes.tracker, env, loader) : answer;
    return answer == HPX_LOADER_FINDS;
}

static void JNICALL on_class_file_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
                                       jobject protection_domain, jint n, const unsigned char *data, jint *new_n, unsigned char **new_data)
{
    (void)redefined, (void)protection_domain;
    const unsigned kinds = atomic_load_explicit(&probes.kinds, memory_order_acquire); /* partner: hpx_jvmpi_probes_update() */
    if (kinds == 0 || !is_wanted(name) || !finds(env, loader)) {
        return;
    }
    struct hprofx_bci_opts opts = {.tracker = HPX_TRACKER_JVMPI,
                                   .thrown = {.name = "exit"},
                                   .self = kinds & SELF ? HPX_TRACKER_SELF : NULL,
                                   .probes = kinds & (HPROFX_BCI_CALLS | HPROFX_BCI_OBJECTS),
                                   .number = reserve,
                                   .method = note_method};
    uint8_t *out;
    size_t m;
    const char *why;
    unsigned char *copy = NULL;
    if (hprofx_bci_rewrite(&opts, data, (size_t)n, &out, &m, &why) == 0 && m <= INT32_MAX &&
        (*jvmti)->Allocate(jvmti, (jlong)m, &copy) == JVMTI_ERROR_NONE) {
        memcpy(copy, out, m);
        *new_data = copy;
        *new_n = (jint)m;
    }
    free(out);
}

/* ---- classes that are loaded ---- */

/* JDK 8 to 14 name an anonymous class by its class file, "/" and a number, and JDK 8 crashes where it writes such a file anew. */
static bool is_anonymous(const char *signature)
{
    const char *slash = strrchr(signature, '/');
    size_t digits = slash != NULL ? strspn(slash + 1, "0123456789") : 0;
    return digits > 0 && slash[1 + digits] == ';';
}

static bool is_worth(jclass klass)
{
    jvmtiEnv *jvmti = probes.jvmti;
    jboolean modifiable = JNI_FALSE;
    char *signature = NULL;
    if ((*jvmti)->IsModifiableClass(jvmti, klass, &modifiable) != JVMTI_ERROR_NONE || !modifiable ||
        (*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) != JVMTI_ERROR_NONE) {
        return false;
    }
    bool worth = signature[0] == 'L' && !is_anonymous(signature);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return worth;
}

/* The VM refuses a batch as a whole; then its classes are tried one by one, and the refused ones stay as they are. */
static void retransform(const jclass *batch, jint n)
{
    jvmtiEnv *jvmti = probes.jvmti;
    if (n > 0 && (*jvmti)->RetransformClasses(jvmti, n, batch) != JVMTI_ERROR_NONE) {
        for (jint i = 0; i < n; i++) {
            (void)(*jvmti)->RetransformClasses(jvmti, 1, batch + i);
        }
    }
}

/* The classes worth it, as global references: -Xcheck:jni would take as many local ones for a leak of the callbacks that come meanwhile.
 * -1: the VM does not list them. */
static jint list_classes(JNIEnv *env, jclass **list)
{
    jvmtiEnv *jvmti = probes.jvmti;
    jint n = 0, used = 0;
    if ((*env)->PushLocalFrame(env, 64) != 0) {
        (*env)->ExceptionClear(env);
        return -1;
    }
    const bool listed = (*jvmti)->GetLoadedClasses(jvmti, &n, list) == JVMTI_ERROR_NONE;
    if ((*env)->EnsureLocalCapacity(env, n + 64) != 0) {
        (*env)->ExceptionClear(env);
    }
    hpx_jvmpi_own_begin();
    for (jint i = 0; listed && i < n; i++) {
        jclass kept = is_worth((*list)[i]) ? (*env)->NewGlobalRef(env, (*list)[i]) : NULL;
        if (kept != NULL) {
            (*list)[used++] = kept;
        }
    }
    hpx_jvmpi_own_end();
    (*env)->PopLocalFrame(env, NULL);
    return listed ? used : -1;
}

/* The VM links classes meanwhile: CLASS_LOAD is sent for them. */
static bool retransform_loaded(JNIEnv *env)
{
    jclass *all = NULL;
    const jint n = list_classes(env, &all);
    for (jint i = 0; i < n; i += BATCH) {
        retransform(all + i, n - i < BATCH ? n - i : BATCH);
    }
    hpx_jvmpi_own_begin();
    for (jint i = 0; i < n; i++) {
        (*env)->DeleteGlobalRef(env, all[i]);
    }
    hpx_jvmpi_own_end();
    (void)(*probes.jvmti)->Deallocate(probes.jvmti, (unsigned char *)all);
    return n >= 0;
}

/* ---- the tracker class ---- */

/* A name of a native is not const in JNI, but is not written. */
#define NATIVE(name, type, function)                                                                                                       \
    {                                                                                                                                      \
        (char *)(uintptr_t)(name), (char *)(uintptr_t)(type), (void *)(uintptr_t)(function)                                                \
    }

static bool define(JNIEnv *env)
{
    static const JNINativeMethod natives[] = {NATIVE("enter", "(I)V", hpx_jvmpi_on_enter), NATIVE("exit", "(I)V", hpx_jvmpi_on_exit),
                                              NATIVE(HPX_TRACKER_SELF, "(Ljava/lang/Object;I)V", hpx_jvmpi_on_self),
                                              NATIVE("object", "(Ljava/lang/Object;)V", hpx_jvmpi_on_object),
                                              NATIVE("multi", "(Ljava/lang/Object;I)V", hpx_jvmpi_on_multi)};
    uint8_t bytes[HPX_TRACKER_CLASS_MAX];
    if (probes.tracker.klass != NULL) {
        return true;
    }
    hpx_jvmpi_own_begin();
    size_t n = hpx_tracker_class_jvmpi(bytes);
    jclass klass = (*env)->DefineClass(env, HPX_TRACKER_JVMPI, NULL, (const jbyte *)bytes, (jsize)n);
    /* the look-up of a method links the class */
    bool ready = klass != NULL && hpx_registrar_natives(env, HPX_TRACKER_REGISTRAR_JVMPI, klass, natives, HPX_ARRAY_LEN(natives)) &&
                 (*env)->GetStaticMethodID(env, klass, HPX_TRACKER_CALIBRATE, "(I)V") != NULL && remember(klass) &&
                 hpx_loaders_init(probes.tags, env);
    if (ready) {
        (void)hpx_probe_class_init(&probes.tracker, env, klass, HPX_TRACKER_JVMPI, 0);
    }
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, klass);
    hpx_jvmpi_own_end();
    return probes.tracker.klass != NULL;
}

/* ---- life ---- */

void hpx_jvmpi_probes_load(void)
{
    jvmtiEventCallbacks callbacks;
    jvmtiCapabilities wanted;
    if (probes.jvmti != NULL || (*hpx_jvmpi.vm)->GetEnv(hpx_jvmpi.vm, (void **)&probes.jvmti, JVMTI_VERSION_1_2) != JNI_OK) {
        return;
    }
    memset(&callbacks, 0, sizeof callbacks);
    memset(&wanted, 0, sizeof wanted);
    callbacks.ClassFileLoadHook = on_class_file_load;
    wanted.can_generate_all_class_hook_events = 1; /* with classes of the boot loader */
    wanted.can_retransform_classes = 1;
    wanted.can_tag_objects = 1;
    const jvmtiCapabilities to_tag = {.can_tag_objects = 1};
    if ((*hpx_jvmpi.vm)->GetEnv(hpx_jvmpi.vm, (void **)&probes.tags, JVMTI_VERSION_1_2) != JNI_OK ||
        (*probes.tags)->AddCapabilities(probes.tags, &to_tag) != JVMTI_ERROR_NONE) {
        probes.tags = NULL;
    }
    if ((*probes.jvmti)->AddCapabilities(probes.jvmti, &wanted) != JVMTI_ERROR_NONE ||
        (*probes.jvmti)->SetEventCallbacks(probes.jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE) {
        (void)(*probes.jvmti)->DisposeEnvironment(probes.jvmti);
        probes.jvmti = NULL;
    }
}

static unsigned wanted_kinds(void)
{
    const bool self = hpx_jvmpi_on(JVMPI_EVENT_METHOD_ENTRY2),
               calls = self || hpx_jvmpi_on(JVMPI_EVENT_METHOD_ENTRY) || hpx_jvmpi_on(JVMPI_EVENT_METHOD_EXIT);
    return (calls ? (unsigned)HPROFX_BCI_CALLS : 0) | (self ? (unsigned)SELF : 0) |
           (hpx_jvmpi_objects_by_probes() ? (unsigned)HPROFX_BCI_OBJECTS : 0);
}

bool hpx_jvmpi_probes_update(JNIEnv *env)
{
    jvmtiEnv *jvmti = probes.jvmti;
    const unsigned had = atomic_load_explicit(&probes.kinds, memory_order_relaxed), kinds = wanted_kinds();
    const char *option;
    if ((had | kinds) == had) {
        return true;
    }
    if (hpx_archive(&option) != HPX_ARCHIVE_NONE) {
        hpx_warn(
            "jvmpi: the VM records classes for an archive (%s), which changed ones would spoil; the events of methods and allocations lack "
            "them; use a run without that option",
            option);
        return false;
    }
    bool done = jvmti != NULL && define(env) &&
                (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL) == JVMTI_ERROR_NONE;
    if (done) {
        atomic_store_explicit(&probes.kinds, had | kinds, memory_order_release); /* partner: the hook */
        done = retransform_loaded(env);
    }
    if (!done) {
        hpx_warn("jvmpi: the VM refuses to change classes; the events of methods and allocations lack them; load the agent alone");
    }
    return done;
}
