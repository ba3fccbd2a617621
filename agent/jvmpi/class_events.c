/* SPDX-License-Identifier: BSD-2-Clause */
/* class_events.c: classes that are loaded and unloaded, and the hook.
 *
 * A class is told when it is prepared: before that the VM does not say what members it has, and none of its code can have run. Classes
 * that the VM prepares before it can answer are told at JVM_INIT_DONE, before any call or allocation. The set has the ids of the classes
 * that were told or are watched: so no class is told twice, and a freed id is known to be a class. */
#include "class_events.h"
#include "boot_class.h"
#include "class_load.h"
#include "frees.h"
#include "tracker_class.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define GIVEN 8 /* blocks of malloc_f that a handler may have beside each other; more are used but not freed */

/* ---- the set ---- */

#define FIRST_SIZE 1024u
#define MIX        UINT64_C(0x9e3779b97f4a7c15)

/* An entry is id << 2 and bits; 0: free; GONE: was there. */
#define TOLD     1u
#define FOLLOWED 2u /* frees.h tells when it is freed */
#define GONE     UINT64_MAX

static struct {
    pthread_mutex_t lock; /* held for memory alone, so the VM's thread may take it at a safepoint */
    uint64_t *at;
    size_t size, used; /* used: with those that are gone */
} classes = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t *find(uint64_t *at, size_t size, uint64_t id)
{
    size_t i = (size_t)(id * MIX >> 20) & (size - 1);
    while (at[i] != 0 && (at[i] == GONE || at[i] >> 2 != id)) {
        i = (i + 1) & (size - 1);
    }
    return &at[i];
}

static bool grow_locked(void)
{
    if (classes.used * 2 < classes.size) {
        return true;
    }
    size_t size = FIRST_SIZE, live = 0;
    for (size_t i = 0; i < classes.size; i++) {
        live += classes.at[i] != 0 && classes.at[i] != GONE;
    }
    while (size <= live * 4) { /* not by `used`: classes that come and go would have it grow for ever */
        size *= 2;
    }
    uint64_t *at = calloc(size, sizeof *at);
    if (at == NULL) {
        return false;
    }
    classes.used = 0;
    for (size_t i = 0; i < classes.size; i++) {
        if (classes.at[i] != 0 && classes.at[i] != GONE) {
            *find(at, size, classes.at[i] >> 2) = classes.at[i];
            classes.used++;
        }
    }
    free(classes.at);
    classes.at = at;
    classes.size = size;
    return true;
}

/* The class is watched from now on. told: and is told now; returns whether it was not told before. false: no memory. */
static bool watch(jobjectID id, bool told)
{
    const uint64_t n = (uint64_t)hpx_jvmpi_tag(id);
    bool first = false;
    (void)pthread_mutex_lock(&classes.lock);
    if (id != NULL && grow_locked()) {
        uint64_t *e = find(classes.at, classes.size, n);
        classes.used += *e == 0;
        first = (*e & TOLD) == 0;
        *e = n << 2 | (*e & (TOLD | FOLLOWED)) | (told ? TOLD : 0);
    }
    (void)pthread_mutex_unlock(&classes.lock);
    return first;
}

/* Of a class that is watched. true: it is followed from now on, by the caller. */
static bool begin_following(jobjectID id)
{
    bool begins = false;
    (void)pthread_mutex_lock(&classes.lock);
    uint64_t *e = classes.size > 0 ? find(classes.at, classes.size, (uint64_t)hpx_jvmpi_tag(id)) : NULL;
    if (e != NULL && *e != 0 && (*e & FOLLOWED) == 0) {
        *e |= FOLLOWED;
        begins = true;
    }
    (void)pthread_mutex_unlock(&classes.lock);
    return begins;
}

/* There was no memory for it. */
static void give_up_following(jobjectID id)
{
    (void)pthread_mutex_lock(&classes.lock);
    uint64_t *e = find(classes.at, classes.size, (uint64_t)hpx_jvmpi_tag(id));
    *e &= ~(uint64_t)(*e != 0 && *e != GONE ? FOLLOWED : 0);
    (void)pthread_mutex_unlock(&classes.lock);
}

static bool forget(jobjectID id)
{
    bool had = false;
    (void)pthread_mutex_lock(&classes.lock);
    if (classes.size > 0) {
        uint64_t *e = find(classes.at, classes.size, (uint64_t)hpx_jvmpi_tag(id));
        had = *e != 0;
        *e = had ? GONE : 0;
    }
    (void)pthread_mutex_unlock(&classes.lock);
    return had;
}

/* Sends an event of a class also where the thread works for us: the VM loads or links it then for the program as well, and only once. */
static unsigned suspend_own(void)
{
    unsigned n = 0;
    for (; hpx_jvmpi_own(); n++) {
        hpx_jvmpi_own_end();
    }
    return n;
}

static void resume_own(unsigned n)
{
    for (; n > 0; n--) {
        hpx_jvmpi_own_begin();
    }
}

/* ---- loaded and unloaded ---- */

static bool is_ours(jclass klass)
{
    char *signature = NULL;
    bool ours = true;
    if ((*hpx_jvmpi.jvmti)->GetClassSignature(hpx_jvmpi.jvmti, klass, &signature, NULL) == JVMTI_ERROR_NONE) {
        ours = strcmp(signature, "L" HPX_TRACKER_JVMPI ";") == 0 || strcmp(signature, "L" HPX_TRACKER_REGISTRAR_JVMPI ";") == 0;
        hpx_jvmpi_give_back(signature);
    }
    return ours;
}

/* now: CLASS_LOAD is on. */
static void tell(jclass klass, bool now)
{
    if (is_ours(klass)) {
        return;
    }
    jobjectID id = hpx_jvmpi_id_of(klass);
    const bool first = watch(id, now);
    if (hpx_jvmpi_on(JVMPI_EVENT_CLASS_UNLOAD) && hpx_jvmpi_frees_by_looks() && begin_following(id) &&
        !hpx_jvmpi_frees_follow(klass, id, true)) {
        give_up_following(id);
    }
    if (first && now) {
        (void)hpx_jvmpi_class_load_send(klass, id, JVMPI_EVENT_CLASS_LOAD);
    }
}

static void JNICALL on_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass klass)
{
    (void)jvmti, (void)env, (void)thread;
    unsigned own = suspend_own();
    tell(klass, hpx_jvmpi_on(JVMPI_EVENT_CLASS_LOAD));
    resume_own(own);
}

/* All prepared classes, but not arrays and primitives. */
static bool tell_all(JNIEnv *env, bool now)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    jclass *all = NULL;
    jint n = 0, status = 0;
    if ((*env)->PushLocalFrame(env, 64) != 0) {
        (*env)->ExceptionClear(env);
        return false;
    }
    const bool listed = (*jvmti)->GetLoadedClasses(jvmti, &n, &all) == JVMTI_ERROR_NONE;
    if ((*env)->EnsureLocalCapacity(env, n + 64) != 0) {
        (*env)->ExceptionClear(env);
    }
    for (jint i = 0; listed && i < n; i++) {
        if ((*jvmti)->GetClassStatus(jvmti, all[i], &status) == JVMTI_ERROR_NONE && (status & JVMTI_CLASS_STATUS_PREPARED)) {
            tell(all[i], now);
        }
    }
    (*env)->PopLocalFrame(env, NULL);
    hpx_jvmpi_give_back(all);
    return listed;
}

void hpx_jvmpi_class_events_freed(jobjectID id)
{
    if (forget(id) && hpx_jvmpi_on(JVMPI_EVENT_CLASS_UNLOAD)) {
        JVMPI_Event event = {.event_type = JVMPI_EVENT_CLASS_UNLOAD, .env_id = hpx_jvmpi_env(), .u.class_unload.class_id = id};
        hpx_jvmpi_notify(&event);
    }
}

/* ---- the hook ---- */

/* Blocks that the handler on this thread got from malloc_f, while it runs. */
struct blocks {
    void *at[GIVEN];
    unsigned n;
};
static __thread struct blocks given;

/* The VM's own allocator would let an agent that hands over other memory end the program, so the class is copied (hand_over()). */
static void *malloc_f(unsigned int n)
{
    void *p = malloc(n > 0 ? n : 1);
    if (p != NULL && given.n < GIVEN) {
        given.at[given.n++] = p;
    }
    return p;
}

static void hand_over(jvmtiEnv *jvmti, const JVMPI_Event *event, jint *new_n, unsigned char **new_data)
{
    unsigned char *from = event->u.class_load_hook.new_class_data, *copy = NULL;
    const jint n = event->u.class_load_hook.new_class_data_len;
    if (from == NULL || n <= 0 || from == event->u.class_load_hook.class_data || (*jvmti)->Allocate(jvmti, n, &copy) != JVMTI_ERROR_NONE) {
        return;
    }
    memcpy(copy, from, (size_t)n);
    *new_data = copy;
    *new_n = n;
}

/* The VM would free the new class alone; other blocks of malloc_f are the agent's. */
static void free_given(const void *block)
{
    for (unsigned i = 0; i < given.n; i++) {
        if (given.at[i] == block) {
            free(given.at[i]);
        }
    }
}

static void JNICALL on_class_file_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
                                       jobject protection_domain, jint n, const unsigned char *data, jint *new_n, unsigned char **new_data)
{
    (void)loader, (void)protection_domain;
    if (redefined != NULL || !hpx_jvmpi_on(JVMPI_EVENT_CLASS_LOAD_HOOK) ||
        (name != NULL && (strcmp(name, HPX_TRACKER_JVMPI) == 0 || strcmp(name, HPX_TRACKER_REGISTRAR_JVMPI) == 0))) {
        return;
    }
    unsigned char *of = (unsigned char *)(uintptr_t)data; /* the manual's type is not const */
    JVMPI_Event event = {
        .event_type = JVMPI_EVENT_CLASS_LOAD_HOOK,
        .env_id = env,
        .u.class_load_hook = {.class_data = of, .class_data_len = n, .new_class_data = of, .new_class_data_len = n, .malloc_f = malloc_f}};
    const struct blocks outer = given; /* the handler of another class may have loaded this one */
    given.n = 0;
    unsigned own = suspend_own();
    hpx_jvmpi_notify(&event);
    resume_own(own);
    hand_over(jvmti, &event, new_n, new_data);
    free_given(event.u.class_load_hook.new_class_data);
    given = outer;
}

/* ---- the module ---- */

static void callbacks(jvmtiEventCallbacks *set)
{
    set->ClassFileLoadHook = on_class_file_load;
    set->ClassPrepare = on_prepare;
}

static void capabilities(jvmtiCapabilities *wanted)
{
    wanted->can_generate_all_class_hook_events = 1; /* with classes of the boot loader */
    wanted->can_generate_object_free_events = !hpx_jvmpi_frees_by_looks();
}

/* From JDK 9 on the first classes reach the hook by a capability that costs the archive of classes, so only at load, and if asked. */
#define CAPABILITY_EARLY 42 /* bit of can_generate_early_class_hook_events, which headers of JDK 8 do not have */

static void need_early(void)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    ((unsigned char *)&wanted)[CAPABILITY_EARLY / 8] = (unsigned char)(1u << CAPABILITY_EARLY % 8);
    (void)hpx_jvmpi_need(&wanted);
}

/* Both need every class in the set; see live() for those that were loaded before JVM_INIT_DONE. */
static jint switch_classes(jint event, bool on, bool is_live)
{
    const bool wanted = on || hpx_jvmpi_on(JVMPI_EVENT_CLASS_LOAD) || hpx_jvmpi_on(JVMPI_EVENT_CLASS_UNLOAD);
    JNIEnv *env = hpx_jvmpi_env();
    if (!hpx_jvmpi_listen(JVMTI_EVENT_CLASS_PREPARE, wanted) || (on && event == JVMPI_EVENT_CLASS_UNLOAD && !hpx_jvmpi_frees_begin())) {
        return JVMPI_FAIL;
    }
    return !on || event != JVMPI_EVENT_CLASS_UNLOAD || !is_live || (env != NULL && tell_all(env, false)) ? JVMPI_SUCCESS : JVMPI_FAIL;
}

static jint switched(jint event, bool on, void *arg)
{
    (void)arg;
    const bool is_live = atomic_load_explicit(&hpx_jvmpi.phase, memory_order_relaxed) == HPX_JVMPI_LIVE;
    if (event != JVMPI_EVENT_CLASS_LOAD_HOOK) {
        return switch_classes(event, on, is_live);
    }
    if (on && !is_live && hpx_jvmpi.jdk >= 9) {
        need_early();
    }
    return hpx_jvmpi_listen(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, on) ? JVMPI_SUCCESS : JVMPI_FAIL;
}

static bool is_class(JNIEnv *env, jobject object)
{
    jclass of = hpx_boot_class(env, "java/lang/Class");
    bool is = of != NULL && (*env)->IsInstanceOf(env, object, of);
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, of);
    return is;
}

static jint requested(jint event, void *arg)
{
    JNIEnv *env = hpx_jvmpi_env();
    if (event != JVMPI_EVENT_CLASS_LOAD) {
        return JVMPI_NOT_AVAILABLE;
    }
    jobject klass = env != NULL && arg != NULL ? hpx_jvmpi_object_of(arg) : NULL;
    bool sent = klass != NULL && is_class(env, klass);
    if (sent) {
        (void)watch(arg, true);
        sent = hpx_jvmpi_class_load_send(klass, arg, JVMPI_EVENT_CLASS_LOAD | JVMPI_REQUESTED_EVENT);
    }
    if (env != NULL) {
        (*env)->DeleteLocalRef(env, klass);
    }
    return sent ? JVMPI_SUCCESS : JVMPI_FAIL;
}

static void live(JNIEnv *env, jthread thread)
{
    (void)thread;
    const bool now = hpx_jvmpi_on(JVMPI_EVENT_CLASS_LOAD);
    if (now || hpx_jvmpi_on(JVMPI_EVENT_CLASS_UNLOAD)) {
        (void)tell_all(env, now);
    }
}

const struct hpx_jvmpi_source hpx_jvmpi_class_events = {
    .events = (const jint[]){JVMPI_EVENT_CLASS_LOAD, JVMPI_EVENT_CLASS_UNLOAD, JVMPI_EVENT_CLASS_LOAD_HOOK, 0},
    .switched = switched,
    .requested = requested,
    .callbacks = callbacks,
    .capabilities = capabilities,
    .live = live,
};
