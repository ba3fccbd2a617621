/* SPDX-License-Identifier: BSD-2-Clause */
/* allocation.c: from an allocation to a record, a site and a tag. Contract: allocation.h. */
#include "allocation.h"
#include "boot_class.h"
#include "class_number.h"
#include "gate.h"
#include "hash.h"
#include "new_class.h"
#include "probe_frames.h"
#include "releases.h"
#include "site_table.h"
#include "site_thread.h"
#include "survivors.h"
#include "threads.h"
#include <string.h>

__thread struct hpx_site_thread *hpx_site_self;
static __thread struct hpx_new_class last_object; /* that the thread has made */
struct hpx_site_thread hpx_site_nobody;

#define MOST_DIMENSIONS 255u
/* What a thread allocates to use up a TLAB that is larger in large heaps: a collection costs less than more. Small steps: one that a heap
 * has no room for may be what ends the program (ExitOnOutOfMemoryError). */
#define REACH_STEP (32u << 10)
#define REACH_MOST (8u << 20)

#define RELEASE_HASHED_TAGS 20 /* from then on the identity hash of an object leads to its tag */

/* From JDK 28 on objects may be of value classes: JNI's HasIdentity() by its place in the table, because older headers lack it. */
#define RELEASE_VALUES 28
#define HAS_IDENTITY   236

/* relaxed: part of every site key. A clear increments it: sites get new ids, and frees of older objects are ignored */
static HPX_OF_SESSION _Atomic uint32_t epoch;
static HPX_OF_SESSION bool tag_objects, follow_objects; /* recorded objects get tags, weak references; constant from load on */
HPX_OF_SESSION atomic_bool hpx_allocation_off;
/* Probes of classes that the session has just rewritten run before the program's threads have states: nothing counts until all have. */
static HPX_OF_SESSION atomic_bool opened;

static bool by_reference;     /* see self_reference(); constant from VMInit on */
static bool may_be_values;    /* the VM may have value classes; constant from VMInit on */
static jmethodID object_init; /* java.lang.Object.<init>, which calls the probe of objects; constant from VMInit on */
/* java.lang.Object.clone(), whose objects would lose their tags (late_tags.h); NULL: before JDK 20 they keep them */
static jmethodID object_clone;
static jclass arrays; /* Object[]; constant from VMInit on */

static struct hpx_msg *class_message(jvmtiEnv *jvmti, jclass klass, struct hpx_class_number number, const char *signature)
{
    jmethodID *methods = NULL;
    jint n = 0;
    struct hpx_msg_site_class *m = hpx_msg_site_class_new((uint32_t)strlen(signature));
    if (m == NULL) {
        return NULL;
    }
    m->number = number;
    if (signature[0] == 'L' && hpx_session.opt->binary && (*jvmti)->GetClassMethods(jvmti, klass, &n, &methods) == JVMTI_ERROR_NONE) {
        m->method = n > 0 ? (uint64_t)(uintptr_t)methods[0] : 0;
        (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    }
    memcpy(m->signature, signature, (size_t)m->len + 1);
    return &m->m;
}

struct hpx_class_number hpx_allocation_class(jvmtiEnv *jvmti, jclass klass)
{
    return hpx_class_announce(jvmti, klass, HPX_SITE_ANNOUNCED, class_message);
}

/* ---- an allocation ---- */

/* Frames that may stand above those of the program: a probe's, and the constructor of java.lang.Object. */
static uint32_t extra_frames(void)
{
    return 1 + hpx_probe_frames_most();
}

/* The place of an allocation, below the frames of a maker: newArray, newInstance, copyOf. */
#define MAKER_FRAMES 4

static uint32_t depth_of(const struct hpx_site_thread *t)
{
    uint32_t most = (uint32_t)(((t->s.base.ring.mask + 1) / 4 - HPX_EV_SITE_BYTES(extra_frames())) / sizeof(struct hpx_ev_frame));
    uint32_t depth = atomic_load_explicit(&hpx_session.depth, memory_order_relaxed);
    if (hpx_session.in_effect.sites == HPX_SITES_COUNTS) {
        depth = MAKER_FRAMES; /* probes know only the place, so deeper frames could not be matched */
    }
    return depth < most ? depth : most;
}

/* Commits the record at ev for the site of `key`. Returns the site's id. */
static uint32_t commit(struct hpx_site_thread *t, struct hpx_ev_head *ev, uint64_t key, size_t whole)
{
    struct hpx_site_known *known = &t->cache[key % HPX_SITE_CACHE];
    bool fresh = false;
    if (known->key != key) {
        known->id = hpx_site_ids_get(&hpx_ids, key, &fresh);
        known->key = known->id != HPX_SITE_NONE ? key : 0;
    }
    if (hpx_unlikely(known->id == HPX_SITE_NONE)) {
        hpx_count(&t->s.base.counters, HPX_C_SITES_FULL, 1);
        return HPX_SITE_NONE;
    }
    ev->id = known->id;
    ev->kind = fresh ? HPX_EV_SITE_DEF : HPX_EV_ALLOC;
    hpx_ring_commit(&t->s.base.ring, ev, fresh ? whole : sizeof *ev);
    return known->id;
}

/* What is known of an allocation before its stack. */
struct found {
    jthread self; /* the calling thread, as GetStackTrace takes it */
    uint32_t depth;
    struct hpx_class_number klass;
    uint64_t size, bytes; /* bytes: the part of the key; 0: every size has the same */
    uint64_t parts[2];    /* parts_of() when its stack was looked for */
    bool probe;           /* the caller is a probe; so is the constructor of java.lang.Object if it called that */
    struct hpx_event_look look;
};

/* Takes at most `depth` frames of the calling thread and returns their number. A probe's frames are left out. `frames` has room for depth +
 * extra_frames() frames. */
static uint32_t take_frames(struct hpx_site_thread *t, jvmtiEnv *jvmti, struct found *f, struct hpx_ev_frame *frames)
{
    uint32_t n = f->depth > 0 ? hpx_event_stacks_take(&t->stacks, &t->s, jvmti, f->self, &f->look, frames, f->depth + extra_frames()) : 0;
    uint32_t inner = hpx_probe_frames(frames, (int)n);
    inner += f->probe && inner < n && frames[inner].method == (uint64_t)(uintptr_t)object_init;
    if (inner > 0) {
        n -= inner;
        memmove(frames, frames + inner, n * sizeof *frames);
    }
    return n < f->depth ? n : f->depth;
}

static struct hpx_ev_head *reserve(struct hpx_site_thread *t, size_t room)
{
    if (hpx_allocation_interval() == 0) {
        return hpx_reserve_or_wait(&hpx_session.aggregator, &hpx_session.gate, &t->s.base, room);
    }
    hpx_session_time(&t->s.base);
    return hpx_reserve_or_drop(&hpx_session.aggregator, &t->s.base, room, 1);
}

/* What tells sites of one stack apart. */
static void parts_of(const struct hpx_site_thread *t, const struct found *f, uint64_t parts[2])
{
    parts[0] = (uint64_t)f->klass.v << 32 | (hpx_session.opt->thread ? t->number : 0);
    parts[1] = f->bytes ^ (uint64_t)atomic_load_explicit(&epoch, memory_order_relaxed) << 40;
}

#define CLONED (UINT32_C(1) << 31) /* of a site's id in the caches of stacks: its objects are those of Object.clone() */
static_assert(HPX_SITE_IDS_MOST < CLONED, "an id has room for the mark");

/* frames: of the stack; n 0: with depth=0 there are none, and one is looked at. */
static bool is_clone(jvmtiEnv *jvmti, const struct found *f, const struct hpx_ev_frame *frames, uint32_t n)
{
    jvmtiFrameInfo top = {.method = NULL};
    jint got = 0;
    if (object_clone == NULL || n > 0) {
        return n > 0 && object_clone != NULL && frames[0].method == (uint64_t)(uintptr_t)object_clone;
    }
    return tag_objects && f->depth == 0 && (*jvmti)->GetStackTrace(jvmti, f->self, 0, 1, &top, &got) == JVMTI_ERROR_NONE && got == 1 &&
           top.method == object_clone;
}

/* The site's id, perhaps with CLONED; HPX_SITE_NONE: it has none, or there was no space. */
static uint32_t record_stack(struct hpx_site_thread *t, jvmtiEnv *jvmti, struct found *f)
{
    struct hpx_ev_head *ev = reserve(t, HPX_EV_SITE_BYTES(f->depth + extra_frames()));
    if (ev == NULL) {
        return HPX_SITE_NONE;
    }
    struct hpx_ev_hash *hash = (struct hpx_ev_hash *)(ev + 1);
    struct hpx_ev_site *site = (struct hpx_ev_site *)(hash + 1);
    struct hpx_ev_frame *frames = (struct hpx_ev_frame *)(site + 1);
    uint32_t n = take_frames(t, jvmti, f, frames);
    struct hpx_hash128 h = hpx_hash128(frames, n * sizeof *frames);
    ev->stamp = f->size;
    *hash = (struct hpx_ev_hash){h.lo, h.hi};
    *site = (struct hpx_ev_site){.klass = f->klass, .bytes = f->bytes};
    uint64_t what[4] = {h.lo, h.hi};
    parts_of(t, f, what + 2);
    f->look.whole = f->look.whole && what[3] == f->parts[1]; /* a clear in between gives the stack another id */
    uint64_t key = hpx_hash128(what, sizeof what).lo;
    bool cloned = is_clone(jvmti, f, frames, n);
    uint32_t id = commit(t, ev, key != 0 ? key : 1, HPX_EV_SITE_BYTES(n));
    if (hpx_unlikely(cloned && id != HPX_SITE_NONE)) {
        id |= CLONED;
    }
    hpx_event_stacks_learn(&t->stacks, &f->look, id);
    return id;
}

/* The same at a site that the thread knows. */
static uint32_t record_known(struct hpx_site_thread *t, const struct found *f, uint32_t id)
{
    struct hpx_ev_head *ev = reserve(t, sizeof *ev);
    if (ev == NULL) {
        return HPX_SITE_NONE;
    }
    *ev = (struct hpx_ev_head){.kind = HPX_EV_ALLOC, .id = id & ~CLONED, .stamp = f->size};
    hpx_ring_commit(&t->s.base.ring, ev, sizeof *ev);
    return id;
}

/* After the commit: a snapshot may see a free before the allocation, but the next one sees both. */
static void follow(struct hpx_site_thread *t, jvmtiEnv *jvmti, JNIEnv *env, jobject object, uint32_t id, uint64_t size)
{
    uint64_t tag = hpx_site_tag(id & ~CLONED, size);
    bool done = true;
    if (tag_objects && object != NULL) {
        done = (id & CLONED) != 0 ? hpx_late_tag_put(&t->late, jvmti, env, object, tag)
                                  : (*jvmti)->SetTag(jvmti, object, (jlong)tag) == JVMTI_ERROR_NONE;
    }
    if (follow_objects) {
        done = hpx_survivors_add(env, object, tag) && done;
    }
    if (hpx_unlikely(!done)) {
        hpx_count(&t->s.base.counters, HPX_C_UNTAGGED, 1);
    }
}

/* self: the calling thread, as GetStackTrace takes it. object: NULL for an object of a value class, which has no identity: equal ones have
 * one tag, so none gets one. */
static void record_allocation(struct hpx_site_thread *t, JNIEnv *env, jthread self, jobject object, jclass klass, uint64_t size, bool probe)
{
    jvmtiEnv *jvmti = hpx_vm.jvmti;
    hpx_late_tag_set(t->late, jvmti, env);
    struct found f = {.self = self, .depth = depth_of(t), .klass = hpx_allocation_class(jvmti, klass), .size = size, .probe = probe};
    f.bytes = hpx_allocation_interval() > 0 ? size : 0;
    parts_of(t, &f, f.parts);
    const uint64_t what[] = {f.parts[0], f.parts[1] ^ (uint64_t)probe << 63}; /* which decides what is left out */
    uint32_t id = f.depth > 0 ? hpx_event_stacks_find(&t->stacks, &t->s, f.depth + extra_frames(), what, &f.look) : 0;
    id = id != 0 ? record_known(t, &f, id) : record_stack(t, jvmti, &f);
    if (id != HPX_SITE_NONE) {
        follow(t, jvmti, env, object, id, size);
        if (hpx_unlikely(object == NULL)) {
            hpx_count(&t->s.base.counters, HPX_C_VALUES, 1);
        }
    }
    last_object.is = hpx_unlikely(hpx_new_class_matters) && hpx_new_class_has_fields(f.klass, size);
}

static struct hpx_site_thread *self_of(JNIEnv *env)
{
    const struct hpx_site_thread *t = hpx_site_self;
    bool known = t == &hpx_site_nobody ? hpx_threads_left() : t != NULL && hpx_session_is(t->s.session);
    if (hpx_likely(known)) {
        return hpx_site_self;
    }
    (void)hpx_threads_find_self_inside(env);
    t = hpx_site_self;
    return t != NULL && hpx_session_is(t->s.session) ? hpx_site_self : hpx_threads_left() ? &hpx_site_nobody : NULL;
}

/* State of the calling thread if its allocations are recorded now, else NULL. Inside the session's gate. */
static struct hpx_site_thread *enter(JNIEnv *env)
{
    if (!atomic_load_explicit(&opened, memory_order_acquire)) { /* partner: hpx_allocation_open(); first, or the state comes in between */
        return NULL;
    }
    struct hpx_site_thread *t = self_of(env);
    if (hpx_allocation_is_off()) {
        return NULL;
    }
    if (t == NULL) {
        hpx_count(&hpx_session.counters, HPX_C_ALLOCATIONS_UNCOUNTED, 1);
        return NULL;
    }
    if (t == &hpx_site_nobody) {
        return NULL;
    }
    if (t->inside) {
        t->seen = true;
        return NULL;
    }
    t->inside = true;
    return t;
}

void JNICALL hpx_allocation_event(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jclass klass, jlong size)
{
    bool collect = hpx_new_class_is_due(&last_object, hpx_new_class_now());
    if (hpx_vm_enter(&hpx_session.gate, jvmti)) {
        struct hpx_site_thread *t = enter(env);
        if (hpx_unlikely(collect)) {
            atomic_fetch_add_explicit(&hpx_new_class_repairs, 1, memory_order_relaxed);
        }
        if (t != NULL) {
            record_allocation(t, env, thread, object, klass, (uint64_t)size, false);
            t->inside = false;
        }
        hpx_gate_leave(&hpx_session.gate);
    }
    /* Outside the gate: if the program ends meanwhile it may never return; perhaps behind the session's end. What hprofx does inside the
     * gate makes no class on a thread that records. */
    if (hpx_unlikely(collect)) {
        (void)(*hpx_vm_kept())->ForceGarbageCollection(hpx_vm_kept());
    }
}

/* Two sources may report one object: the event and the probe in its constructor, or the event and the probe of a copy. */
static bool is_tagged(jvmtiEnv *jvmti, jobject object)
{
    jlong tag = 0;
    return (*jvmti)->GetTag(jvmti, object, &tag) != JVMTI_ERROR_NONE || tag != 0;
}

void JNICALL hpx_allocation_vm_event(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jclass klass, jlong size)
{
    if (!is_tagged(jvmti, object)) {
        hpx_allocation_event(jvmti, env, thread, object, klass, size);
    }
}

/* The calling thread, as GetStackTrace takes it; the caller deletes the local reference. With NULL the VM (21 on) waits until no carrier
 * mounts or unmounts a virtual thread; by its reference only a virtual thread's own carrier matters. Older VMs take NULL, which is
 * cheaper. */
static jthread self_reference(jvmtiEnv *jvmti)
{
    jthread self = NULL;
    if (by_reference) {
        (void)(*jvmti)->GetCurrentThread(jvmti, &self);
    }
    return self;
}

static bool is_value(JNIEnv *env, jobject object)
{
    jboolean(JNICALL * fn)(JNIEnv *, jobject);
    if (hpx_likely(!may_be_values)) {
        return false;
    }
    memcpy(&fn, (const char *)*env + HAS_IDENTITY * sizeof(void *), sizeof fn);
    return !fn(env, object);
}

static void record_probed(struct hpx_site_thread *t, JNIEnv *env, jthread self, jobject object)
{
    jvmtiEnv *jvmti = hpx_vm.jvmti;
    jlong size = 0;
    hpx_late_tag_set(t->late, jvmti, env); /* it may be this object's */
    bool value = is_value(env, object);
    if ((value || !is_tagged(jvmti, object)) && (*jvmti)->GetObjectSize(jvmti, object, &size) == JVMTI_ERROR_NONE) {
        jclass klass = (*env)->GetObjectClass(env, object);
        record_allocation(t, env, self, value ? NULL : object, klass, (uint64_t)size, true);
        (*env)->DeleteLocalRef(env, klass);
    }
}

/* Records the array and the arrays in it. level: nesting depth of the array, from 1. A new array of arrays holds new arrays or none, so the
 * first NULL ends the loop. */
static void record_arrays(struct hpx_site_thread *t, JNIEnv *env, jthread self, jobject array, unsigned level)
{
    record_probed(t, env, self, array);
    if (level == MOST_DIMENSIONS || arrays == NULL || !(*env)->IsInstanceOf(env, array, arrays)) {
        return;
    }
    jsize n = (*env)->GetArrayLength(env, array);
    for (jsize i = 0; i < n; i++) {
        jobject one = (*env)->GetObjectArrayElement(env, array, i);
        if (one == NULL) {
            return;
        }
        record_arrays(t, env, self, one, level + 1);
        (*env)->DeleteLocalRef(env, one);
    }
}

/* An exception may be pending: this code ignores it and uses only JNI functions that permit one. */
void JNICALL hpx_allocation_probe(JNIEnv *env, jclass tracker, jobject object)
{
    (void)tracker;
    if (object == NULL || !hpx_gate_enter(&hpx_session.gate)) {
        return;
    }
    struct hpx_site_thread *t = enter(env);
    if (t != NULL) {
        jthread self = self_reference(hpx_vm.jvmti);
        record_probed(t, env, self, object);
        (*env)->DeleteLocalRef(env, self);
        t->inside = false;
    }
    hpx_gate_leave(&hpx_session.gate);
}

void JNICALL hpx_allocation_multi_probe(JNIEnv *env, jclass tracker, jobject array, jint site)
{
    (void)tracker, (void)site;
    if (!hpx_gate_enter(&hpx_session.gate)) {
        return;
    }
    struct hpx_site_thread *t = enter(env);
    if (t != NULL) {
        jthread self = self_reference(hpx_vm.jvmti);
        record_arrays(t, env, self, array, 1);
        (*env)->DeleteLocalRef(env, self);
        t->inside = false;
    }
    hpx_gate_leave(&hpx_session.gate);
}

void hpx_allocation_use(bool tag, bool follows)
{
    tag_objects = tag;
    follow_objects = follows;
}

void hpx_allocation_open(void)
{
    atomic_store_explicit(&opened, true, memory_order_release); /* partner: enter() */
}

static bool reports(struct hpx_site_thread *t, JNIEnv *env, jsize bytes)
{
    t->seen = false;
    jbyteArray array = (*env)->NewByteArray(env, bytes);
    (*env)->ExceptionClear(env); /* no memory */
    (*env)->DeleteLocalRef(env, array);
    return t->seen;
}

bool hpx_allocation_reach(JNIEnv *env, bool once)
{
    struct hpx_site_thread *t = hpx_site_self;
    bool reached = false;
    if (t == NULL || !hpx_session_is(t->s.session) || t->inside) {
        return false;
    }
    t->inside = true;
    for (uint32_t bytes = 0; !reached && bytes < (once ? 1 : REACH_MOST); bytes += REACH_STEP) {
        reached = (once || reports(t, env, REACH_STEP)) && reports(t, env, 0); /* the step may be outside of the TLAB, the next is not */
    }
    t->inside = false;
    return reached;
}

void hpx_allocation_switch(bool on)
{
    atomic_store_explicit(&hpx_allocation_off, !on, memory_order_relaxed);
}

void hpx_allocation_clear(void)
{
    atomic_fetch_add_explicit(&epoch, 1, memory_order_relaxed);
}

void hpx_allocation_live(JNIEnv *env, jint release)
{
    by_reference = release >= HPX_RELEASE_VIRTUAL;
    may_be_values = release >= RELEASE_VALUES;
    jclass object = hpx_boot_class(env, "java/lang/Object");
    object_init = object != NULL ? (*env)->GetMethodID(env, object, "<init>", "()V") : NULL;
    object_clone =
        object_init != NULL && release >= RELEASE_HASHED_TAGS ? (*env)->GetMethodID(env, object, "clone", "()Ljava/lang/Object;") : NULL;
    jclass array = object != NULL && arrays == NULL ? hpx_boot_class(env, "[Ljava/lang/Object;") : NULL;
    arrays = array != NULL ? (*env)->NewGlobalRef(env, array) : arrays;
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, array);
    (*env)->DeleteLocalRef(env, object);
}

void JNICALL hpx_allocation_freed(jvmtiEnv *jvmti, jlong tag)
{
    (void)jvmti;
    hpx_site_ids_freed(&hpx_ids, (uint64_t)tag);
}
