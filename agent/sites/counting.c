/* SPDX-License-Identifier: BSD-2-Clause */
/* counting.c: the probes of sites=counts, and the sizes of arrays and objects. Contract: counting.h. */
#include "counting.h"
#include "allocation.h"
#include "boot_class.h"
#include "class_numbers.h"
#include "classes.h"
#include "downcall.h"
#include "site_thread.h"
#include "threads.h"
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Element types as in PRIMITIVE ARRAY DUMP; 2: references. From TYPES on: places of makers, where the probe asks the object: any;
 * Object.clone() where an override may have run instead; one that makes arrays in arrays. */
enum { REFERENCES = 2, BYTES = 8, TYPES = 12, MADE = TYPES, MADE_CLONED, MADE_ARRAYS };
enum { OP_INVOKESTATIC = 184, OP_NEW = 187, OP_NEWARRAY = 188, OP_MULTIANEWARRAY = 197 };

#define TYPED_PLACES (16u << 20) /* places with a byte of types; the kernel provides the pages that are used */

static HPX_OF_SESSION struct hpx_gate_own counting;
/* Constant from VMInit on. */
static struct {
    jclass object_arrays;                      /* Object[] */
    hpx_classes_note note;                     /* cpu=times: counts under the open call; NULL: cpu=times is not active */
    uint32_t align, base[TYPES], scale[TYPES]; /* bytes: an array of n elements has base + n * scale, rounded up to align */
} vm;
/* By place: innermost element type of the arrays that it makes, or which maker it calls. Mapped to the end of the process: probes read it
 * without a gate; a session ends with zeros. NULL: no memory, or sites=counts was never used. Constant from then on. */
static uint8_t *types;

static void map_types(void)
{
    void *p =
        types == NULL ? mmap(NULL, TYPED_PLACES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
    if (p != MAP_FAILED) {
        (void)madvise(p, TYPED_PLACES, MADV_NOHUGEPAGE);
        types = p;
    }
}

static void set_type(uint32_t place, uint8_t type)
{
    if (types != NULL && place < TYPED_PLACES) { /* else arrays have 0 bytes, or are counted as lost where the probe gets the object */
        types[place] = type;                     /* no reader yet: the class cannot run before the rewriting ends */
    }
}

static uint8_t type_of(uint32_t place)
{
    return hpx_likely(types != NULL && place < TYPED_PLACES) ? types[place] : 0;
}

static uint64_t array_bytes(uint8_t type, uint32_t length)
{
    uint64_t bytes = vm.base[type] + (uint64_t)length * vm.scale[type];
    return (bytes + vm.align - 1) & ~(uint64_t)(vm.align - 1);
}

/* ---- probes ----
 *
 * They run on threads of the program. They take no lock, except for the first object of a class that a maker made. They enter the VM for
 * the first allocation of a thread, for arrays of arrays, for what makers made, and while they wait for space. */

/* false: no space; nothing is written. */
static inline bool put(struct hpx_site_thread *t, uint32_t id, uint64_t bytes)
{
    struct hpx_ring *r = &t->s.base.ring;
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    struct hpx_ev_head *ev = hpx_ring_room(r, tail, sizeof *ev);
    if (hpx_unlikely(ev == NULL)) {
        return false;
    }
    *ev = (struct hpx_ev_head){.kind = HPX_EV_COUNT, .units = 1, .id = id, .stamp = bytes};
    hpx_ring_publish(r, tail + sizeof *ev);
    return true;
}

/* false: the place has no counter. */
static inline bool add(struct hpx_site_thread *t, uint32_t id, uint64_t bytes)
{
    if (hpx_unlikely(t->counts == NULL || id >= HPX_SITE_PLACES)) {
        return false;
    }
    struct hpx_place_count *c = &t->counts[id];
    atomic_store_explicit(&c->objects, atomic_load_explicit(&c->objects, memory_order_relaxed) + 1, memory_order_relaxed);
    atomic_store_explicit(&c->bytes, atomic_load_explicit(&c->bytes, memory_order_relaxed) + bytes, memory_order_relaxed);
    return true;
}

/* true: done, or not to be counted. Calls no function, so that the probe is a leaf. */
static inline __attribute__((always_inline)) bool try_count(uint32_t id, uint64_t bytes)
{
    struct hpx_site_thread *t = hpx_site_self;
    bool done = false;
    if (hpx_unlikely(t == NULL || vm.note != NULL)) {
        return false;
    }
    if (hpx_likely(hpx_gate_own_enter(&counting, &t->in_probe) && !t->inside)) {
        done = hpx_allocation_is_off() || add(t, id, bytes) || put(t, id, bytes);
    }
    hpx_gate_own_leave(&t->in_probe);
    return done;
}

/* true: the allocation is to be counted now. Sets *self. The caller calls leave(*self) in both cases. */
static bool enter_slowly(JNIEnv *env, struct hpx_site_thread **self)
{
    struct hpx_site_thread *t = hpx_site_self;
    *self = NULL;
    bool known = t == &hpx_site_nobody ? hpx_threads_left() : t != NULL && hpx_session_is(t->s.session);
    if (!known) {
        t = hpx_gate_own_is_open(&counting) && hpx_threads_find_self(env) ? hpx_site_self : NULL;
        t = t != NULL && hpx_session_is(t->s.session) ? t : NULL;
    }
    if (t == NULL || t == &hpx_site_nobody || t->inside) {
        return false;
    }
    *self = t;
    return hpx_gate_own_enter(&counting, &t->in_probe) && !hpx_allocation_is_off();
}

static void leave(struct hpx_site_thread *t)
{
    if (t != NULL) {
        hpx_gate_own_leave(&t->in_probe);
    }
}

/* Ways to count; as records under the open call, or else on their own. */
static const struct way {
    uint16_t in_call, alone;
} one = {HPX_EV_PLACE, HPX_EV_COUNT}, multi = {HPX_EV_PLACE_MULTI, HPX_EV_COUNT_MULTI}, made = {HPX_EV_PLACE_MADE, HPX_EV_COUNT_MADE};

static void put_slowly(JNIEnv *env, struct hpx_site_thread *t, const struct way *way, uint32_t id, uint64_t stamp)
{
    if (vm.note != NULL) {
        (void)vm.note(env, way->in_call, id, stamp);
        return;
    }
    if (way == &one && add(t, id, stamp)) { /* the thread's first allocation */
        return;
    }
    struct hpx_ev_head *ev = hpx_reserve_or_wait(&hpx_session.aggregator, &hpx_session.gate, &t->s.base, sizeof *ev);
    if (ev != NULL) {
        *ev = (struct hpx_ev_head){.kind = way->alone, .units = 1, .id = id, .stamp = stamp};
        hpx_ring_commit(&t->s.base.ring, ev, sizeof *ev);
    }
}

/* without: the thread should have a state and has none, or else nothing is lost. */
static void count_lost(bool without, uint64_t n)
{
    if (without && hpx_gate_own_is_open(&counting) && !hpx_allocation_is_off()) {
        hpx_count(&hpx_session.counters, HPX_C_ALLOCATIONS_UNCOUNTED, n);
    }
}

static __attribute__((noinline)) void count_slowly(JNIEnv *env, const struct way *way, uint32_t id, uint64_t stamp)
{
    struct hpx_site_thread *t;
    if (enter_slowly(env, &t)) {
        put_slowly(env, t, way, id, stamp);
    } else {
        count_lost(hpx_threads_stateless(), way == &multi ? HPX_EV_MULTI_N(stamp) : 1);
    }
    leave(t);
}

static void JNICALL probe_alloc(JNIEnv *env, jclass tracker, jint id)
{
    (void)tracker;
    if (!try_count((uint32_t)id, 0)) {
        count_slowly(env, &one, (uint32_t)id, 0);
    }
}

static void JNICALL probe_array(JNIEnv *env, jclass tracker, jint length, jint id)
{
    uint32_t place = (uint32_t)id;
    uint64_t bytes = array_bytes(type_of(place), (uint32_t)length);
    (void)tracker;
    if (!try_count(place, bytes)) {
        count_slowly(env, &one, place, bytes);
    }
}

/* Critical downcalls, in the thread state Java: they must not wait, so they never take the slow path. 0: done; 1: Java calls the native. */
static int32_t down_alloc(int64_t id)
{
    hpx_downcall_frame();
    return !try_count((uint32_t)id, 0) && hpx_gate_own_is_open(&counting);
}

static int32_t down_array(int64_t length_and_id)
{
    uint32_t place = (uint32_t)length_and_id;
    hpx_downcall_frame();
    return !try_count(place, array_bytes(type_of(place), (uint32_t)(length_and_id >> 32))) && hpx_gate_own_is_open(&counting);
}

static bool declares_clone(jvmtiEnv *jvmti, jclass klass)
{
    jint n = 0;
    jmethodID *methods = NULL;
    bool declares = false;
    (void)(*jvmti)->GetClassMethods(jvmti, klass, &n, &methods);
    for (jint i = 0; i < n && !declares; i++) {
        char *name = NULL, *signature = NULL;
        declares = (*jvmti)->GetMethodName(jvmti, methods[i], &name, &signature, NULL) == JVMTI_ERROR_NONE && strcmp(name, "clone") == 0 &&
                   strcmp(signature, "()Ljava/lang/Object;") == 0;
        (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    return declares;
}

/* Whether objects of the class have another clone() than Object's, whose own code has probes. JNI could tell, but would initialize the
 * class. */
static bool overrides_clone(jvmtiEnv *jvmti, JNIEnv *env, jclass klass)
{
    bool overrides = false;
    jclass above;
    for (jclass of = (*env)->NewLocalRef(env, klass); of != NULL; of = above) {
        above = overrides ? NULL : (*env)->GetSuperclass(env, of);
        overrides = overrides || (above != NULL && declares_clone(jvmti, of)); /* Object has no class above it */
        (*env)->DeleteLocalRef(env, of);
    }
    return overrides;
}

/* The same, remembered by the thread for classes with a number. */
static bool has_own_clone(struct hpx_site_thread *t, JNIEnv *env, jclass klass, struct hpx_class_number number)
{
    struct hpx_site_clones *c = &t->clones[number.v % HPX_SITE_CLONES];
    if (number.v == 0 || c->klass.v != number.v) {
        *c = (struct hpx_site_clones){number, overrides_clone(hpx_vm.jvmti, env, klass)};
    }
    return c->own;
}

/* n objects like this one. Inside the probe's gate. */
static void put_made(JNIEnv *env, struct hpx_site_thread *t, jobject object, uint32_t place, uint64_t n)
{
    jvmtiEnv *jvmti = hpx_vm.jvmti;
    jlong bytes = 0;
    if (!hpx_gate_enter(&hpx_session.gate)) { /* the session ends: the object is made after it, and not lost */
        return;
    }
    t->inside = true;
    jclass klass = (*env)->GetObjectClass(env, object);
    struct hpx_class_number number = hpx_allocation_class(jvmti, klass);
    n = type_of(place) == MADE_CLONED && has_own_clone(t, env, klass, number) ? 0 : n;
    (void)(*jvmti)->GetObjectSize(jvmti, object, &bytes);
    (*env)->DeleteLocalRef(env, klass);
    t->inside = false;
    hpx_gate_leave(&hpx_session.gate);
    while (n > 0) {
        uint64_t some = n < HPX_EV_MADE_MOST_N ? n : HPX_EV_MADE_MOST_N;
        put_slowly(env, t, &made, place, HPX_EV_MADE_STAMP(number, some, (uint64_t)bytes));
        n -= some;
    }
}

static void count_made(JNIEnv *env, jobject object, uint32_t place, uint64_t n)
{
    struct hpx_site_thread *t;
    if (enter_slowly(env, &t)) {
        put_made(env, t, object, place, n);
    } else {
        count_lost(hpx_threads_stateless(), n);
    }
    leave(t);
}

/* All arrays of one dimension have the same length, so the first array of every dimension stands for all. */
static void count_arrays(JNIEnv *env, jobject array, uint32_t place, uint8_t type)
{
    uint64_t arrays = 1;
    for (uint32_t level = 0; array != NULL; level++) {
        jsize n = (*env)->GetArrayLength(env, array);
        bool references = vm.object_arrays != NULL && (*env)->IsInstanceOf(env, array, vm.object_arrays);
        if (type == MADE_ARRAYS) {
            count_made(env, array, place, arrays);
        } else {
            count_slowly(env, &multi, place, HPX_EV_MULTI_STAMP(level, arrays, array_bytes(references ? REFERENCES : type, (uint32_t)n)));
        }
        jobject inner = n > 0 && references ? (*env)->GetObjectArrayElement(env, array, 0) : NULL;
        if (level > 0) {
            (*env)->DeleteLocalRef(env, array);
        }
        array = inner;
        arrays *= (uint64_t)n;
    }
}

static void JNICALL probe_multi(JNIEnv *env, jclass tracker, jobject object, jint id)
{
    uint8_t type = type_of((uint32_t)id);
    (void)tracker;
    if (object == NULL) {
        return; /* of an override of clone() */
    }
    if (type == 0) { /* no memory for its type: it may be no array */
        count_lost(true, 1);
    } else if (type == MADE || type == MADE_CLONED) {
        count_made(env, object, (uint32_t)id, 1);
    } else {
        count_arrays(env, object, (uint32_t)id, type);
    }
}

void hpx_counting_make(struct hpx_site_thread *t)
{
    if (!hpx_options_follow_calls(hpx_session.opt)) {
        void *p =
            mmap(NULL, HPX_SITE_PLACES * sizeof *t->counts, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        t->counts = p != MAP_FAILED ? p : NULL;
        if (t->counts != NULL) {
            (void)madvise(p, HPX_SITE_PLACES * sizeof *t->counts, MADV_NOHUGEPAGE); /* a thread uses few of the pages */
        }
    }
}

void hpx_counting_destroy(struct hpx_site_thread *t)
{
    if (t->counts != NULL) {
        (void)munmap(t->counts, HPX_SITE_PLACES * sizeof *t->counts);
        t->counts = NULL;
    }
}

void hpx_counting_add_up(struct hpx_sites *s, const struct hpx_site_thread *t, bool gone)
{
    uint32_t places = hpx_class_numbers_places_given() + 1;
    for (uint32_t id = 0; t->counts != NULL && id < places && id < HPX_SITE_PLACES; id++) {
        uint64_t objects = atomic_load_explicit(&t->counts[id].objects, memory_order_relaxed);
        if (objects > 0) {
            hpx_sites_add_counter(s, id, objects, atomic_load_explicit(&t->counts[id].bytes, memory_order_relaxed), gone);
        }
    }
}

void hpx_counting_open(void)
{
    vm.note = hpx_classes_get_note();
    hpx_gate_own_open(&counting);
}

void hpx_counting_close(void)
{
    hpx_gate_own_close_fenced(&counting);
}

void hpx_counting_forget(void)
{
    hpx_gate_own_close(&counting);
}

void hpx_counting_prepare(void)
{
    hpx_gate_own_prepare();
}

void hpx_counting_quiesce(struct hpx_site_thread *t, uint64_t until_ns)
{
    (void)hpx_gate_own_wait(&t->in_probe, until_ns);
}

/* ---- sizes of arrays ---- */

static uint64_t size_of(jvmtiEnv *jvmti, JNIEnv *env, jobject o)
{
    jlong size = 0;
    if (o != NULL) {
        (void)(*jvmti)->GetObjectSize(jvmti, o, &size);
        (*env)->DeleteLocalRef(env, o);
    }
    (*env)->ExceptionClear(env);
    return (uint64_t)size;
}

static jobject new_array(JNIEnv *env, unsigned type, jsize n, jclass object)
{
    switch (type) {
    case 4:
        return (*env)->NewBooleanArray(env, n);
    case 5:
        return (*env)->NewCharArray(env, n);
    case 6:
        return (*env)->NewFloatArray(env, n);
    case 7:
        return (*env)->NewDoubleArray(env, n);
    case 8:
        return (*env)->NewByteArray(env, n);
    case 9:
        return (*env)->NewShortArray(env, n);
    case 10:
        return (*env)->NewIntArray(env, n);
    case 11:
        return (*env)->NewLongArray(env, n);
    default:
        return (*env)->NewObjectArray(env, n, object, NULL);
    }
}

#define LONG_ARRAY 1000

/* Sizes grow in steps of `align`. The first length that needs another step shows how much of a step the header leaves for elements. */
static void measure(jvmtiEnv *jvmti, JNIEnv *env, unsigned type, jclass object)
{
    uint64_t none = size_of(jvmti, env, new_array(env, type, 0, object));
    uint64_t many = size_of(jvmti, env, new_array(env, type, LONG_ARRAY, object));
    vm.scale[type] = (uint32_t)((many - none + LONG_ARRAY / 2) / LONG_ARRAY);
    jsize fit = 0; /* elements that fit after the header of the smallest array */
    while (vm.scale[type] < vm.align && fit < LONG_ARRAY && size_of(jvmti, env, new_array(env, type, fit + 1, object)) == none) {
        fit++;
    }
    vm.base[type] = (uint32_t)(none - (uint64_t)fit * vm.scale[type]);
}

void hpx_counting_measure(jvmtiEnv *jvmti, JNIEnv *env)
{
    jclass object = hpx_boot_class(env, "java/lang/Object"), array = hpx_boot_class(env, "[Ljava/lang/Object;");
    uint64_t empty = size_of(jvmti, env, new_array(env, BYTES, 0, object)), grown = empty;
    vm.object_arrays = vm.object_arrays == NULL && array != NULL ? (*env)->NewGlobalRef(env, array) : vm.object_arrays;
    for (jsize n = 1; n < LONG_ARRAY && grown == empty; n++) {
        grown = size_of(jvmti, env, new_array(env, BYTES, n, object));
    }
    vm.align = grown > empty ? (uint32_t)(grown - empty) : 8;
    for (unsigned type = REFERENCES; type < TYPES; type++) {
        measure(jvmti, env, type == 3 ? REFERENCES : type, object);
    }
    (*env)->DeleteLocalRef(env, array);
    (*env)->DeleteLocalRef(env, object);
}

/* ---- sizes of objects ---- */

struct name {
    bool sized;
    char at[]; /* "Lp/C;" */
};

static struct {
    pthread_mutex_t lock; /* taken by the class hook and by requests for sizes; never by a probe */
    void *names;          /* tree of tsearch(): struct name, ordered by text */
    uint32_t unsized;
} wanted = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->at, ((const struct name *)b)->at);
}

/* Innermost element type of the arrays that the place makes. */
static uint8_t elements_of(const struct hprofx_bci_site *s)
{
    static const char letters[] = "ZCFDBSIJ";
    const char *last = s->operand.len > 0 ? s->operand.at + s->operand.len - 1 : "";
    const char *at = s->operand.len > 0 && (s->opcode == OP_NEWARRAY || s->opcode == OP_MULTIANEWARRAY) ? strchr(letters, *last) : NULL;
    return at != NULL && *at != 0 ? (uint8_t)(4 + (at - letters)) : REFERENCES;
}

static void note_site(const struct hprofx_bci_site *s)
{
    if (s->opcode != OP_NEW) {
        set_type(s->id, s->opcode > OP_INVOKESTATIC ? elements_of(s) : s->arrays ? MADE_ARRAYS : s->cloned ? MADE_CLONED : MADE);
        return;
    }
    if (s->operand.len == 0 || s->operand.at == NULL) {
        return;
    }
    struct name *n = malloc(sizeof *n + s->operand.len + 3);
    if (n == NULL) {
        return; /* the report counts its objects as objects of unknown size */
    }
    n->sized = false;
    n->at[0] = 'L';
    memcpy(n->at + 1, s->operand.at, s->operand.len);
    memcpy(n->at + 1 + s->operand.len, ";", 2);
    pthread_mutex_lock(&wanted.lock);
    struct name **at = tsearch(n, &wanted.names, by_text);
    bool taken = at != NULL && *at == n;
    wanted.unsized += taken;
    pthread_mutex_unlock(&wanted.lock);
    if (!taken) {
        free(n);
    }
}

/* The entry of a class whose size is wanted and unknown; else NULL. */
static struct name *find(const char *signature)
{
    size_t len = strlen(signature);
    struct name *key = malloc(sizeof *key + len + 1), **at;
    if (key == NULL) {
        return NULL;
    }
    memcpy(key->at, signature, len + 1);
    pthread_mutex_lock(&wanted.lock);
    at = tfind(key, &wanted.names, by_text);
    struct name *n = at != NULL && !(*at)->sized ? *at : NULL;
    pthread_mutex_unlock(&wanted.lock);
    free(key);
    return n;
}

#define ABSTRACT 0x0600 /* ACC_INTERFACE | ACC_ABSTRACT */

/* Allocates without a constructor, and only if the class is initialized: no code of the program runs. */
static void size_class(jvmtiEnv *jvmti, JNIEnv *env, jclass klass, struct name *n)
{
    jint status = 0, modifiers = ABSTRACT;
    if ((*jvmti)->GetClassStatus(jvmti, klass, &status) != JVMTI_ERROR_NONE || !(status & JVMTI_CLASS_STATUS_INITIALIZED) ||
        (*jvmti)->GetClassModifiers(jvmti, klass, &modifiers) != JVMTI_ERROR_NONE || (modifiers & ABSTRACT)) {
        return;
    }
    uint64_t bytes = size_of(jvmti, env, (*env)->AllocObject(env, klass));
    char *name = strdup(n->at + 1); /* p/C; */
    if (name == NULL || bytes == 0) {
        free(name);
        return;
    }
    name[strlen(name) - 1] = 0;
    struct hpx_msg_site_size *m = hpx_msg_site_size_new(name, bytes);
    free(name);
    if (m != NULL) {
        hpx_lane_post(&hpx_session.aggregator.control, &m->m, false);
        pthread_mutex_lock(&wanted.lock);
        n->sized = true;
        wanted.unsized--;
        pthread_mutex_unlock(&wanted.lock);
    }
}

/* JDK 8 names an anonymous class by its class file, "/" and a number. */
static void drop_number(char *signature)
{
    char *slash = strrchr(signature, '/');
    size_t digits = slash != NULL ? strspn(slash + 1, "0123456789") : 0;
    if (digits > 0 && strcmp(slash + 1 + digits, ";") == 0) {
        memcpy(slash, ";", 2);
    }
}

static void size_classes(jvmtiEnv *jvmti, JNIEnv *env)
{
    jint n = 0;
    jclass *all = NULL;
    if (wanted.unsized == 0 || (*jvmti)->GetLoadedClasses(jvmti, &n, &all) != JVMTI_ERROR_NONE) {
        return;
    }
    if ((*env)->EnsureLocalCapacity(env, n + 64) != 0) {
        (*env)->ExceptionClear(env);
    }
    for (jint i = 0; i < n; i++) {
        char *signature = NULL;
        if ((*jvmti)->GetClassSignature(jvmti, all[i], &signature, NULL) == JVMTI_ERROR_NONE) {
            drop_number(signature);
            struct name *name = signature[0] == 'L' ? find(signature) : NULL;
            if (name != NULL) {
                size_class(jvmti, env, all[i], name);
            }
            (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
        }
        (*env)->DeleteLocalRef(env, all[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
}

static pthread_mutex_t sizing = PTHREAD_MUTEX_INITIALIZER; /* the service thread, VMDeath and the end */

void hpx_counting_sizes(jvmtiEnv *jvmti, JNIEnv *env)
{
    pthread_mutex_lock(&sizing);
    size_classes(jvmti, env);
    pthread_mutex_unlock(&sizing);
}

void hpx_counting_fini(void)
{
    if (types != NULL) {
        (void)madvise(types, TYPED_PLACES, MADV_DONTNEED);
    }
    if (pthread_mutex_trylock(&sizing) != 0) {
        return; /* the service thread missed its deadline and still reads the names */
    }
    pthread_mutex_lock(&wanted.lock);
    tdestroy(wanted.names, free);
    wanted.names = NULL;
    wanted.unsized = 0;
    pthread_mutex_unlock(&wanted.lock);
    pthread_mutex_unlock(&sizing);
}

void hpx_counting_use(void)
{
    static const JNINativeMethod natives[] = {
        {(char *)(uintptr_t) "alloc", (char *)(uintptr_t) "(I)V", (void *)(uintptr_t)probe_alloc},
        {(char *)(uintptr_t) "array", (char *)(uintptr_t) "(II)V", (void *)(uintptr_t)probe_array},
        {(char *)(uintptr_t) "multi", (char *)(uintptr_t) "(Ljava/lang/Object;I)V", (void *)(uintptr_t)probe_multi}};
    static HPX_OF_SESSION struct hpx_tracker_targets targets;
    static const struct hpx_class_user user = {
        .probes = HPROFX_BCI_SITES, .site = note_site, .natives = natives, .nnatives = 3, .targets = &targets};
    map_types();
    targets.alloc = (uint64_t)(uintptr_t)down_alloc;
    targets.array = (uint64_t)(uintptr_t)down_array;
    hpx_classes_use(&user);
}
