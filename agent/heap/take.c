/* SPDX-License-Identifier: BSD-2-Clause */
/* take.c: takes one image of the heap, by a walk in the JVM or in a copy of the process (take.h). */
#include "take.h"
#include "boot_class.h"
#include "clock.h"
#include "copying.h"
#include "life.h"
#include "log.h"
#include "reading.h"
#include "spawn.h"
#include "value_classes.h"
#include "vm_flags.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ATTEMPTS     4    /* a class may be loaded between the list of classes and the walk */
#define OBJECT_NS    200u /* per object of a walk in the JVM, until one was measured; TAGGED_NS: by tags */
#define TAGGED_NS    1500u
#define LAST_WAIT_NS UINT64_C(30000000000)
#define LAST_SAY_NS  UINT64_C(500000000)

/* FREE: nobody takes an image. BUSY: the thread that set it works on one, and only this thread uses `taking` and the reading. WALKS: a copy
 * of the process walks. OVER: that walk has ended. */
enum { FREE, BUSY, WALKS, OVER };
/* release: the thread that leaves BUSY or WALKS; acquire: acquire_from(), hpx_take_walks(), hpx_take_idle(). Covers `taking` and the
 * reading */
static HPX_OF_SESSION _Atomic int state;
static HPX_OF_SESSION struct {
    struct hpx_heap_take *take;
    struct hpx_copying copying;
    uint64_t begun; /* hpx_clock_mono() */
    int attempts;
    bool ending; /* VMDeath completes this image: no further attempt */
} taking;
static HPX_OF_SESSION const char *untraced; /* why nothing is traced any more; used as `taking` */
static HPX_OF_SESSION uint64_t walk_rate;   /* of the last walk in the JVM, ns per object; 0: none. Used as `taking` */

static struct hpx_heap_sizes sizes; /* constant once measured, by VMInit or an earlier dump; of the thread that takes an image */
static bool values;                 /* the VM has value classes; the same */

void hpx_take_init(void)
{
    hpx_copying_init();
}

static bool acquire_from(int from)
{
    /* partner: release() */
    return atomic_compare_exchange_strong_explicit(&state, &from, BUSY, memory_order_acquire, memory_order_relaxed);
}

static void release(int to)
{
    atomic_store_explicit(&state, to, memory_order_release); /* partner: acquire_from() */
}

bool hpx_take_walks(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == WALKS; /* partner: release() */
}

bool hpx_take_idle(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == FREE; /* partner: release() */
}

/* ---- images ---- */

static struct hpx_heap_take *new_take(bool last)
{
    struct hpx_heap_take *t = calloc(1, sizeof *t);
    if (t != NULL) {
        t->queued.last = last;
        t->image = (struct hpx_heap_image){.spool = -1, .once = !last, .id_size = hpx_session.opt->binary ? hpx_session.opt->idsize : 8};
    }
    return t;
}

static void discard(struct hpx_heap_take *t)
{
    if (t->image.spool >= 0) {
        close(t->image.spool);
    }
    t->image.spool = -1;
    hpx_layout_fini(&t->layout);
    memset(&t->layout, 0, sizeof t->layout);
}

static struct hpx_heap_take *take_of(struct hpx_image *i)
{
    return (struct hpx_heap_take *)(void *)i;
}

static void destroy(struct hpx_image *i)
{
    struct hpx_heap_take *t = take_of(i);
    discard(t);
    free(t->image.sites);
    free(t);
}

static struct hpx_images images = {.lock = PTHREAD_MUTEX_INITIALIZER, .destroy = destroy};

static void publish(struct hpx_heap_take *t)
{
    if (!t->failed && t->image.found.cut > 0) {
        hpx_warn("heap dump: %" PRIu64 " arrays of 4 GiB or more are cut: a record of the format cannot hold them", t->image.found.cut);
    }
    hpx_images_put(&images, &t->queued, false);
}

struct hpx_heap_take *hpx_take_get(void)
{
    return take_of(hpx_images_get(&images));
}

void hpx_take_drop(struct hpx_heap_take *t)
{
    hpx_images_drop(&images, &t->queued);
}

void hpx_take_fini(void)
{
    hpx_images_fini(&images);
    hpx_layout_forget();
}

/* Gives up the image; prints the reason and the remedy. */
static HPX_PRINTF(3, 4) void give_up(struct hpx_heap_take *t, const char *remedy, const char *fmt, ...)
{
    char why[sizeof t->course.why];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    memcpy(t->course.why, why, sizeof why);
    t->failed = true;
    hpx_warn("heap dump: %s; this dump has no heap; %s", t->course.why, remedy);
}

static const char again[] = "free memory or disk space and ask again";

/* ---- what the VM tells of its heap ---- */

static jlong size_of_array(jvmtiEnv *jvmti, JNIEnv *env, jclass object, jsize n)
{
    jlong size = 0;
    jobject a = (*env)->NewObjectArray(env, n, object, NULL);
    if (a == NULL || (*jvmti)->GetObjectSize(jvmti, a, &size) != JVMTI_ERROR_NONE) {
        (*env)->ExceptionClear(env);
        size = 0;
    }
    (*env)->DeleteLocalRef(env, a);
    return size;
}

/* The VM rounds sizes up. The last array before the size grows has no padding, so its size tells where the elements begin. */
static void measure_arrays(jvmtiEnv *jvmti, JNIEnv *env, jclass object)
{
    enum { FROM = 64, MORE = 64 };
    jlong small = size_of_array(jvmti, env, object, FROM), large = size_of_array(jvmti, env, object, FROM + MORE), next = small;
    jsize n = FROM;
    while (n < FROM + MORE && next == small) {
        next = size_of_array(jvmti, env, object, ++n);
    }
    sizes.reference = (uint32_t)((large - small) / MORE);
    sizes.alignment = next > small ? (uint32_t)(next - small) : 8;
    sizes.array_base = (uint32_t)(small - (n - 1) * (jlong)sizes.reference);
}

/* Called by VMInit, or by a dump that begins before VMInit has measured. */
static void measure(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (sizes.reference != 0) {
        return;
    }
    jclass object = hpx_boot_class(env, "java/lang/Object");
    measure_arrays(jvmti, env, object);
    hpx_copying_measure(env);
    (*env)->ExceptionClear(env);
    values = hpx_value_classes(env);
    sizes.flattened = values && (hpx_vm_flag("UseArrayFlattening", true) || hpx_vm_flag("UseFieldFlattening", true));
    (*env)->DeleteLocalRef(env, object);
}

/* ---- one image ---- */

enum how { LEAVE_OUT, HERE, COPY };

/* ns: the predicted stop of the program. false: maxpause= forbids it, and the image is given up. */
static bool may_stop(struct hpx_heap_take *t, uint64_t ns, const char *what)
{
    uint64_t limit = hpx_session.opt->maxpause_ns;
    bool over = (t->queued.last || taking.ending) && !hpx_life_goes_on(); /* the program has ended, so a stop does not matter */
    if (over || t->of_error || ns <= limit) {
        return true;
    }
    char remedy[96];
    (void)snprintf(remedy, sizeof remedy, "maxpause=%" PRIu64 "ms would allow it", ns / 1000000 + ns / 5000000 + 1);
    give_up(t, remedy, "%s would stop the program for about %" PRIu64 " ms, and maxpause=%" PRIu64 "ms allows less", what, ns / 1000000,
            limit / 1000000);
    return false;
}

static enum how here(JNIEnv *env, struct hpx_heap_take *t)
{
    uint64_t used, committed;
    hpx_copying_heap(env, &used, &committed);
    uint64_t each = t->by_tags ? TAGGED_NS : walk_rate != 0 ? walk_rate : OBJECT_NS;
    return may_stop(t, used / HPX_COPYING_OBJECT * each, "to read the heap in the JVM") ? HERE : LEAVE_OUT;
}

/* Decides how this image is taken. LEAVE_OUT: it is given up. */
static enum how choose(JNIEnv *env, struct hpx_heap_take *t)
{
    enum hpx_heapdump option = hpx_session.opt->heapdump;
    if (option == HPX_HEAPDUMP_WALK || (option == HPX_HEAPDUMP_AUTO && t->queued.last && !hpx_life_goes_on())) {
        return here(env, t);
    }
    const struct hpx_fork_answer *fork = &taking.copying.fork;
    uint64_t used, committed;
    hpx_copying_heap(env, &used, &committed);
    hpx_copying_ask(&taking.copying, env, hpx_reading_needs(t, used));
    switch (fork->verdict) {
    case HPX_FORK_SOUND:
        return may_stop(t, fork->stop_ns, "to copy the process") ? COPY : LEAVE_OUT;
    case HPX_FORK_MEMORY:
        if (t->of_error) { /* a later dump would miss the objects that fill the heap */
            (void)snprintf(t->course.why, sizeof t->course.why, "%s", fork->text);
            hpx_copying_ask(&taking.copying, env, (struct hpx_copying_how){.here = true, .tagged = t->by_tags});
            if (fork->verdict == HPX_FORK_SOUND) {
                return HERE;
            }
        }
        give_up(t, "free memory, raise the limit, or use heapdump=walk, which stops the program", "%s", fork->text);
        return LEAVE_OUT;
    default:
        (void)snprintf(t->course.why, sizeof t->course.why, "%s", fork->text);
        if (option == HPX_HEAPDUMP_FORK) {
            hpx_warn("heapdump=fork: %s; the program stops while the heap is read", t->course.why);
        }
        return here(env, t);
    }
}

/* true: a copy of the process walks. false: *how tells what the caller does instead. */
static bool fork_walk(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_heap_take *t, enum how *how)
{
    bool memory;
    if (hpx_reading_fork(t, jvmti, env, taking.copying.most, &memory)) {
        hpx_copying_note(&taking.copying, t->fork_ns);
        return true;
    }
    if (memory) {
        give_up(t, again, "%s", t->course.why);
        return false;
    }
    *how = here(env, t);
    if (*how == HERE) {
        hpx_warn("heap dump: %s; the program stops while the heap is read", t->course.why);
    }
    return false;
}

/* By tags equal objects of value classes are one object: such a dump would lack records. An id of a flattened one is its place and more. */
static bool refuse_values(struct hpx_heap_take *t)
{
    const struct hpx_options *o = hpx_session.opt;
    if (values && t->by_tags) {
        give_up(t, "run without --enable-preview", "objects of value classes (--enable-preview) cannot be told apart by tags%s%s",
                t->course.doubt[0] != 0 ? "; not by addresses: " : "", t->course.doubt);
    } else if (sizes.flattened && o->binary && o->idsize == 4) {
        give_up(t, "run without idsize=4", "flattened objects of value classes (--enable-preview) have no ids of 4 bytes");
    }
    return t->failed;
}

/* Prepares a walk, then makes it here or begins it in a copy (true). Inside a JNI local frame. *how LEAVE_OUT: not decided yet. */
static bool begin_walk(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_heap_take *t, enum how *how)
{
    bool child = false;
    discard(t);
    if (!hpx_reading_prepare(t, jvmti, env, &sizes)) {
        give_up(t, again, "%s", t->course.why);
    } else if (!refuse_values(t)) {
        *how = *how == LEAVE_OUT ? choose(env, t) : *how;
        if (*how == HERE) {
            hpx_reading_here(t, jvmti);
        } else if (*how == COPY) {
            child = fork_walk(jvmti, env, t, how);
        }
    }
    hpx_layout_drop_refs(&t->layout, jvmti);
    return child;
}

/* One attempt. true: a copy of the process walks. */
static bool attempt(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_heap_take *t, enum how *how)
{
    taking.attempts++;
    if ((*env)->PushLocalFrame(env, 64) != 0) {
        (*env)->ExceptionClear(env);
        give_up(t, again, "no memory");
        return false;
    }
    bool forks = *how != HERE, child = begin_walk(jvmti, env, t, how);
    if (forks && *how == HERE && t->course.forked && !t->failed) { /* the fork failed */
        hpx_reading_abandon();
        (void)begin_walk(jvmti, env, t, how);
    }
    if (t->failed) {
        hpx_reading_abandon();
    }
    (*env)->PopLocalFrame(env, NULL);
    return child;
}

/* The copy did not end by itself: gives up, or sets *how for another attempt. */
static void copy_failed(JNIEnv *env, struct hpx_heap_take *t, enum hpx_child_end child, enum how *how)
{
    switch (child) {
    case HPX_CHILD_KILLED: /* most often for lack of memory, which a second attempt would meet again */
    case HPX_CHILD_MEMORY:
        give_up(t, "free memory, raise the limit, or use heapdump=walk, which stops the program", "%s", t->course.why);
        break;
    case HPX_CHILD_CRASHED: /* the same walk in the JVM might end the program */
        give_up(t, "ask again; vmstructs=n reads the heap in another way", "%s", t->course.why);
        break;
    case HPX_CHILD_STUCK: /* most often a disk that hangs: a walk in the JVM would hang too, at a safepoint */
        give_up(t, again, "%s", t->course.why);
        break;
    case HPX_CHILD_CANCELLED:
        give_up(t, "let the program run longer after a request",
                "the program ended, and waited %u s for the copy of the process that read the heap",
                (unsigned)(LAST_WAIT_NS / 1000000000u));
        break;
    default:
        if (taking.ending) {
            give_up(t, "ask earlier", "%s", t->course.why);
            break;
        }
        *how = here(env, t);
        if (*how == HERE) {
            hpx_warn("heap dump: %s; the heap is read again, and the program stops meanwhile", t->course.why);
        }
        break;
    }
}

/* A trace has ended, and was not whole. true: another attempt, by *how: a walk by the VM, but once for what passes. What passes
 * (classes, memory) is no reason for later dumps. */
static bool leave_to_vm(JNIEnv *env, struct hpx_heap_take *t, const char *why, bool once, enum how *how)
{
    if (!once || taking.ending) {
        t->course.untraced = why;
    }
    *how = taking.ending ? here(env, t) : LEAVE_OUT; /* nobody waits for a copy any more; else decide again: a walk needs more memory */
    return !t->failed;
}

/* A walk has ended. true: the caller makes another attempt, by *how. */
static bool goes_on(JNIEnv *env, struct hpx_heap_take *t, enum how *how)
{
    enum hpx_child_end child;
    enum hpx_walk_end end = hpx_reading_end(t, &child);
    *how = t->course.forked ? COPY : HERE;
    /* Shenandoah copies an object that the VM visits, and may wait for threads that the copy of the process does not have. It may be a
     * disk that hangs, too, so it is tried again once */
    const bool waits = child == HPX_CHILD_STUCK && t->moving && taking.attempts == 1 && !t->queued.last;
    if ((child == HPX_CHILD_CRASHED || waits) && t->course.traced && !taking.ending) {
        static const char crashed[] = "the copy of the process crashed as it traced";
        const char *why = child == HPX_CHILD_CRASHED ? crashed : "the copy of the process made no progress as it traced";
        untraced = t->moving ? untraced : why;
        t->course.why[0] = '\0';
        return leave_to_vm(env, t, why, t->moving && taking.attempts == 1, how);
    }
    if (child != HPX_CHILD_ENDED) {
        copy_failed(env, t, child, how);
        return !t->failed;
    }
    if (end == HPX_WALK_DOUBT && !t->by_tags && !taking.ending && !(t->course.traced && t->moving)) {
        t->by_tags = true;
        t->course.why[0] = '\0';
        *how = LEAVE_OUT; /* a walk by tags takes longer and needs more memory, so decide again */
        snprintf(t->course.doubt, sizeof t->course.doubt, "%s", hpx_reading_text(end));
        return true;
    }
    /* a thread of the collector may have moved an object while the process was copied: the next copy has it as a whole */
    const bool passes = end == HPX_WALK_LATE || end == HPX_WALK_MOVED || (t->moving && (end == HPX_WALK_STRANGE || end == HPX_WALK_DOUBT));
    if (t->course.traced && (end == HPX_WALK_STRANGE || passes || end == HPX_WALK_NO_MEMORY)) {
        untraced = end == HPX_WALK_STRANGE && !t->moving ? hpx_reading_text(end) : untraced;
        return leave_to_vm(env, t, hpx_reading_text(end), passes && taking.attempts == 1, how);
    }
    if (end != HPX_WALK_WHOLE) {
        give_up(t, again, "%s", hpx_reading_text(end));
        return false;
    }
    if (!t->course.forked && t->image.found.objects > 0) {
        walk_rate = t->by_tags ? walk_rate : hpx_copying_within(t->walk_ns / t->image.found.objects + 1, OBJECT_NS);
    }
    return t->image.found.unknown > 0 && taking.attempts < ATTEMPTS && !taking.ending && !t->of_error;
}

static HPX_OF_SESSION struct hpx_spawned waiter;

static void *wait_for_child(void *unused)
{
    (void)unused;
    hpx_spawn_enter("hprofx-child", &waiter);
    hpx_reading_await();
    hpx_spawn_leave(&waiter); /* before the next one may enter */
    release(OVER);
    hpx_aggregator_wake(&hpx_session.aggregator);
    return NULL;
}

uint64_t hpx_take_cpu(void)
{
    return hpx_spawn_cpu(&waiter);
}

/* true: the thread hprofx-child waits for the copy and owns the reading. At the end of the program the calling thread waits itself. */
static bool hand_to_waiter(bool last)
{
    static struct hpx_err err;
    release(WALKS);
    if (!last && hpx_spawn(wait_for_child, "hprofx-child", &err) == 0) {
        return true;
    }
    (void)acquire_from(WALKS);
    hpx_reading_await();
    return false;
}

/* Makes attempts until the image is complete or given up, or until a copy walks. Begins in state BUSY and leaves it. */
static void work(jvmtiEnv *jvmti, JNIEnv *env, bool over)
{
    struct hpx_heap_take *t = taking.take;
    enum how how = LEAVE_OUT;
    bool more = over ? goes_on(env, t, &how) : true;
    while (more && !t->failed) {
        if (attempt(jvmti, env, t, &how) && hand_to_waiter(t->queued.last)) {
            return;
        }
        more = !t->failed && goes_on(env, t, &how);
    }
    if (t->failed) {
        discard(t);
    }
    t->course.ns = hpx_clock_mono() - taking.begun;
    taking.take = NULL;
    publish(t);
    release(FREE);
}

/* The state is BUSY. */
static void start(jvmtiEnv *jvmti, JNIEnv *env, bool last, bool of_error)
{
    taking.attempts = 0;
    taking.take = new_take(last);
    if (taking.take == NULL) {
        hpx_warn("heap dump: no memory; this dump has no heap; %s", again);
        release(FREE);
        return;
    }
    taking.take->of_error = of_error;
    measure(jvmti, env);
    taking.take->course.untraced = hpx_reading_sited() ? "only a walk by the VM tells allocation sites"
                                   : sizes.flattened   ? "this VM flattens objects of value classes (--enable-preview)"
                                                       : untraced;
    taking.begun = hpx_clock_mono();
    work(jvmti, env, false);
}

void hpx_take_step(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (acquire_from(OVER)) {
        work(jvmti, env, true);
    } else if (hpx_images_waiting(&images) == 0 && acquire_from(FREE)) {
        start(jvmti, env, false, false);
    }
}

void hpx_take_at_error(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (acquire_from(FREE)) {
        start(jvmti, env, false, true);
    }
}

/* ---- the end ---- */

/* false: another thread takes an image still. */
static bool await_others(void)
{
    uint64_t begun = hpx_clock_mono();
    bool said = false, cancelled = false;
    for (int now = BUSY; now == BUSY || now == WALKS; nanosleep(&(struct timespec){0, 1000000}, NULL)) {
        uint64_t waited = hpx_clock_mono() - begun;
        now = atomic_load_explicit(&state, memory_order_acquire); /* partner: release() */
        if (now != FREE && now != OVER && waited > LAST_SAY_NS && !said) {
            said = true;
            hpx_say("hprofx: the %s ends after the heap dump that was asked for ...", hpx_life_goes_on() ? "session" : "program");
        }
        if (waited > LAST_WAIT_NS && !cancelled) {
            cancelled = true;
            hpx_reading_cancel();
        }
        if (waited > LAST_WAIT_NS + LAST_SAY_NS) {
            return false;
        }
    }
    return true;
}

void hpx_take_last(jvmtiEnv *jvmti, JNIEnv *env, uint32_t dumps)
{
    if (!await_others()) {
        hpx_warn("heap dump: another thread still takes a dump at the end of the program; the last dumps have no heap; ask earlier");
        return;
    }
    if (acquire_from(OVER)) {
        taking.ending = true;
        work(jvmti, env, true);
        taking.ending = false;
    }
    if (hpx_images_waiting(&images) >= dumps) {
        return;
    }
    if (acquire_from(FREE)) {
        start(jvmti, env, true, false);
    } else {
        hpx_take_last(jvmti, env, dumps); /* a thread that was inside the gate was faster, once */
    }
}

/* ---- VMInit ---- */

void hpx_take_measure(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (acquire_from(FREE)) { /* else a dump is taken, and has measured */
        measure(jvmti, env);
        hpx_reading_learn(jvmti, env);
        release(FREE);
    }
}

void hpx_take_learn(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (!acquire_from(FREE)) {
        return;
    }
    if ((*env)->PushLocalFrame(env, 64) == 0) {
        hpx_layout_learn(jvmti, env);
        (*env)->PopLocalFrame(env, NULL);
    }
    (*env)->ExceptionClear(env);
    release(FREE);
}
