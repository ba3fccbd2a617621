/* SPDX-License-Identifier: BSD-2-Clause */
/* looking.c: see looking.h. */
#include "looking.h"
#include "class_number.h"
#include "clock.h"
#include "copying.h"
#include "late_tags.h"
#include "life.h"
#include "log.h"
#include "session.h"
#include "spawn.h"
#include "vm_flags.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ns for every object of the heap, whether tagged or not: in the JVM; where the walk was aborted, as in the program when its copy goes on.
 * Collectors that mark for a walk also do so for one that was aborted. TAGGED_NS: for every tagged object in addition, until it was
 * measured; from JDK 20 on a hash in the object leads to its tag. */
#define OBJECT_NS    35u
#define ABORTED_NS   10u
#define MARKED_NS    100u
#define TAGGED_NS    200u
#define HASHED_NS    700u
#define HASHED_FROM  20
#define RATE_LEAST   1000u /* objects from which a rate is measured */
#define STALL_NS     UINT64_C(20000000000)
#define SPIN_NS      UINT64_C(120000000000)
#define LAST_WAIT_NS UINT64_C(30000000000)

/* FREE: nobody looks. BUSY: the thread that set it does, and only this thread uses `look`. WALKS: a copy of the process walks. OVER: that
 * walk has ended. */
enum { FREE, BUSY, WALKS, OVER };
/* release: the thread that leaves BUSY or WALKS; acquire: acquire_from(), and who asks. Covers `look` */
static HPX_OF_SESSION _Atomic int state;
static HPX_OF_SESSION struct {
    struct hpx_look_facts facts;
    struct hpx_site_look counts;
    struct hpx_late_tag *late; /* held until the counts are complete */
    struct hpx_copying copying;
    struct hpx_child child;
    struct hpx_child_report report;
    struct hpx_fork_watch watch;
    uint64_t begun;
    bool over, forks; /* the program has ended; the next callback copies the process */
    pid_t pid;
    uint64_t fork_ns, walk_ns, seen;
    _Atomic uint64_t *progress; /* in the copy */
} look;
static HPX_OF_SESSION atomic_bool cancelled;     /* relaxed */
static HPX_OF_SESSION atomic_bool ended;         /* relaxed, ordered by `state`: no look begins any more but the last */
static HPX_OF_SESSION atomic_bool waits;         /* release: the waiter, when it has left the session; acquire: hpx_looking_left() */
static HPX_OF_SESSION _Atomic uint64_t expected; /* relaxed: objects that were recorded */
static HPX_OF_SESSION uint64_t tagged_rate;      /* ns per object of the last walk in the JVM; 0: none. Used as `look` */
static HPX_OF_SESSION struct hpx_spawned waiter;
static HPX_OF_SESSION struct hpx_err err; /* used as `look` */

static bool acquire_from(int from)
{
    /* partner: release() */
    return atomic_compare_exchange_strong_explicit(&state, &from, BUSY, memory_order_acquire, memory_order_relaxed);
}

static void release(int to)
{
    atomic_store_explicit(&state, to, memory_order_release); /* partner: acquire_from(), now() */
}

static int now(void)
{
    return atomic_load_explicit(&state, memory_order_acquire); /* partner: release() */
}

bool hpx_looking_walks(void)
{
    return now() == WALKS;
}

bool hpx_looking_is_over(void)
{
    return now() == OVER;
}

bool hpx_looking_idle(void)
{
    return now() == FREE;
}

void hpx_looking_load(void)
{
    hpx_copying_init();
}

void hpx_looking_expect(uint64_t objects)
{
    atomic_store_explicit(&expected, objects, memory_order_relaxed);
}

/* Gives up the look; prints the reason and the remedy. */
static HPX_PRINTF(2, 3) void give_up(const char *remedy, const char *fmt, ...)
{
    char why[sizeof look.facts.why];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    memcpy(look.facts.why, why, sizeof why);
    hpx_warn("heap=sites: %s; this dump does not show what is live; %s", look.facts.why, remedy);
}

static const char again[] = "ask again, or use live=n";

/* ---- the walk ---- */

/* In a VM operation: in the program, or in a copy of it. */
static jint JNICALL on_object(jlong class_tag, jlong size, jlong *tag, jint length, void *unused)
{
    (void)class_tag, (void)size, (void)length, (void)unused;
    if (look.forks) {
        uint64_t begun = hpx_clock_mono();
        look.forks = false;
        look.pid = hpx_child_fork(&look.child, HPX_FRAME_END());
        look.fork_ns = hpx_clock_mono() - begun;
        if (look.pid != 0) {
            return JVMTI_VISIT_ABORT;
        }
        look.progress = &look.child.shared->progress;
    }
    hpx_site_look_add(&look.counts, &hpx_ids, (uint64_t)*tag);
    if (look.progress != NULL) {
        atomic_store_explicit(look.progress, ++look.seen, memory_order_relaxed);
    }
    return JVMTI_VISIT_OBJECTS;
}

static int copy_over(void *unused)
{
    (void)unused;
    return 0;
}

static jvmtiError walk(jvmtiEnv *jvmti)
{
    jvmtiHeapCallbacks all;
    uint64_t begun = hpx_clock_mono();
    memset(&all, 0, sizeof all);
    all.heap_iteration_callback = on_object;
    jvmtiError e = (*jvmti)->IterateThroughHeap(jvmti, JVMTI_HEAP_FILTER_UNTAGGED, NULL, &all, NULL);
    look.walk_ns = hpx_clock_mono() - begun;
    look.facts.stopped_ns += look.walk_ns;
    return e;
}

/* ---- how ---- */

enum how { LEAVE_OUT, HERE, COPY };

static bool marks(void)
{
    return hpx_vm_flag("UseZGC", false) || hpx_vm_flag("UseShenandoahGC", false);
}

static uint64_t heap_objects(JNIEnv *env)
{
    uint64_t used, committed;
    hpx_copying_heap(env, &used, &committed);
    return used / HPX_COPYING_OBJECT;
}

static uint64_t usual_rate(void)
{
    return hpx_vm_release() >= HASHED_FROM ? HASHED_NS : TAGGED_NS;
}

/* How long a walk in the JVM stops the program. */
static uint64_t stop_here(JNIEnv *env)
{
    uint64_t objects = heap_objects(env), tagged = atomic_load_explicit(&expected, memory_order_relaxed);
    tagged = tagged != 0 && tagged < objects ? tagged : objects;
    return objects * (marks() ? MARKED_NS : OBJECT_NS) + tagged * (tagged_rate != 0 ? tagged_rate : usual_rate());
}

/* ns: the predicted stop of the program. false: maxpause= forbids it, and the look is given up. */
static bool may_stop(uint64_t ns, const char *what)
{
    uint64_t limit = hpx_session.opt->maxpause_ns;
    if (ns <= limit) {
        return true;
    }
    char remedy[96];
    (void)snprintf(remedy, sizeof remedy, "maxpause=%" PRIu64 "ms would allow it", ns / 1000000 + ns / 5000000 + 1);
    give_up(remedy, "%s would stop the program for about %" PRIu64 " ms, and maxpause=%" PRIu64 "ms allows less", what, ns / 1000000,
            limit / 1000000);
    return false;
}

static enum how here(JNIEnv *env)
{
    return may_stop(stop_here(env), "to count live objects in the JVM") ? HERE : LEAVE_OUT;
}

/* By a copy if that stops the program for a shorter time; if memory is short, in the JVM, which needs none. */
static enum how choose(JNIEnv *env)
{
    enum hpx_heapdump option = hpx_session.opt->heapdump;
    if (option == HPX_HEAPDUMP_WALK) {
        return here(env);
    }
    uint64_t in_vm = stop_here(env);
    if (in_vm < HPX_FORK_STOP_NS && option != HPX_HEAPDUMP_FORK) {
        return here(env);
    }
    hpx_copying_ask(&look.copying, env, (struct hpx_copying_how){.light = true});
    if (look.copying.fork.verdict != HPX_FORK_SOUND) {
        (void)snprintf(look.facts.why, sizeof look.facts.why, "%.190s", look.copying.fork.text);
        return here(env);
    }
    uint64_t by_copy = look.copying.fork.stop_ns + heap_objects(env) * (marks() ? MARKED_NS : ABORTED_NS);
    if (in_vm < by_copy && option != HPX_HEAPDUMP_FORK) {
        return here(env);
    }
    return may_stop(by_copy, "to count live objects in a copy of the process") ? COPY : LEAVE_OUT;
}

/* ---- one look ---- */

static void add_late(uint64_t tag)
{
    hpx_site_look_add(&look.counts, &hpx_ids, tag);
}

static void leave_late(uint64_t tag)
{
    (void)tag;
}

static void note_rate(JNIEnv *env, uint64_t tagged)
{
    if (!look.facts.forked && !look.over && tagged > RATE_LEAST) {
        uint64_t others = heap_objects(env) * OBJECT_NS;
        tagged_rate = hpx_copying_within((look.walk_ns > others ? look.walk_ns - others : 0) / tagged + 1, usual_rate());
    }
}

/* The look has ended, whatever became of it. The state is BUSY. */
static void finish(jvmtiEnv *jvmti, JNIEnv *env)
{
    hpx_late_tags_give(look.late, jvmti, env, look.facts.looked ? add_late : leave_late);
    look.late = NULL;
    if (look.facts.looked) {
        note_rate(env, hpx_site_look_take(&look.counts, &hpx_ids));
    }
    hpx_site_look_fini(&look.counts);
    look.facts.ns = hpx_clock_mono() - look.begun;
    release(FREE);
}

static void look_here(jvmtiEnv *jvmti)
{
    look.facts.forked = false;
    jvmtiError e = walk(jvmti);
    look.facts.looked = e == JVMTI_ERROR_NONE;
    if (!look.facts.looked) {
        give_up(again, "the VM cannot list the live objects (%s)", hpx_jvmti_error(e));
    }
}

/* Says what the copy could not do, then walks in the JVM. */
static void look_here_instead(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (here(env) == HERE) {
        hpx_warn("heap=sites: %s; live objects are counted in the JVM, and the program stops meanwhile", look.facts.why);
        look_here(jvmti);
    }
}

/* true: a copy of the process walks. */
static bool begin_copy(jvmtiEnv *jvmti, JNIEnv *env)
{
    look.facts.forked = true;
    if (hpx_child_prepare(&look.child, hpx_copying_slots(), &err) != 0) {
        (void)snprintf(look.facts.why, sizeof look.facts.why, "%.190s", err.msg);
        look_here_instead(jvmti, env);
        return false;
    }
    look.child.over = copy_over;
    look.pid = 0;
    look.forks = true;
    hpx_fork_watch_begin(&look.watch, 0, look.copying.most, NULL);
    jvmtiError e = walk(jvmti);
    look.watch.pid = look.pid;
    if (look.pid > 0) {
        hpx_copying_note(&look.copying, look.fork_ns);
        return true;
    }
    bool none = look.forks && e == JVMTI_ERROR_NONE; /* no callback came: nothing is tagged */
    look.forks = false;
    hpx_child_release(&look.child);
    look.facts.looked = none;
    if (!none) {
        (void)snprintf(look.facts.why, sizeof look.facts.why, "the copy of the process failed: %s",
                       look.pid < 0 ? strerror(-look.pid) : hpx_jvmti_error(e));
        look_here_instead(jvmti, env);
    }
    return false;
}

static void await_copy(void)
{
    const struct hpx_child_wait how = {.stall_ns = STALL_NS, .spin_ns = SPIN_NS, .cancel = &cancelled, .watch = &look.watch};
    look.report = hpx_child_await(&look.child, look.pid, &how);
}

static void *wait_for_copy(void *unused)
{
    (void)unused;
    hpx_spawn_enter("hprofx-child", &waiter);
    await_copy();
    hpx_spawn_leave(&waiter); /* before the next one may enter */
    release(OVER);
    hpx_aggregator_wake(&hpx_session.aggregator);
    atomic_store_explicit(&waits, false, memory_order_release); /* partner: hpx_looking_left() */
    return NULL;
}

uint64_t hpx_looking_cpu(void)
{
    return hpx_spawn_cpu(&waiter);
}

/* The copy has ended. */
static void copy_ended(jvmtiEnv *jvmti, JNIEnv *env)
{
    look.facts.looked = look.report.end == HPX_CHILD_ENDED;
    if (!look.facts.looked) {
        (void)hpx_child_text(&look.child, look.report, look.facts.why, sizeof look.facts.why);
    }
    hpx_child_release(&look.child);
    switch (look.report.end) {
    case HPX_CHILD_ENDED:
    case HPX_CHILD_CANCELLED: /* the end looks once more */
        break;
    case HPX_CHILD_CRASHED: /* the same walk in the JVM might end the program */
    case HPX_CHILD_STUCK:
        give_up(again, "%s", look.facts.why);
        break;
    default:
        hpx_site_look_fini(&look.counts); /* it may have counted a part */
        if (hpx_site_look_begin(&look.counts, &hpx_ids)) {
            look_here_instead(jvmti, env);
        } else {
            give_up(again, "no memory to count live objects");
        }
        break;
    }
}

/* The state is BUSY. Leaves it. */
static void start(jvmtiEnv *jvmti, JNIEnv *env, bool last)
{
    hpx_site_ids_forget_look(&hpx_ids);
    look.facts = (struct hpx_look_facts){.why = ""};
    look.begun = hpx_clock_mono();
    look.over = last && !hpx_life_goes_on();
    look.forks = false;
    look.progress = NULL;
    if (!hpx_site_look_begin(&look.counts, &hpx_ids)) {
        give_up(again, "no memory to count live objects");
        release(FREE);
        return;
    }
    if (!look.over) {
        hpx_copying_measure(env);
    }
    enum how how = look.over ? HERE : choose(env);
    look.late = how != LEAVE_OUT ? hpx_late_tags_take() : NULL;
    if (how == HERE) {
        look_here(jvmti);
    } else if (how == COPY && begin_copy(jvmti, env)) {
        release(WALKS);
        atomic_store_explicit(&waits, !last, memory_order_relaxed);
        if (!last && hpx_spawn(wait_for_copy, "hprofx-child", &err) == 0) {
            return;
        }
        atomic_store_explicit(&waits, false, memory_order_relaxed);
        (void)acquire_from(WALKS);
        await_copy();
        copy_ended(jvmti, env);
    }
    finish(jvmti, env);
}

void hpx_looking_step(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (acquire_from(OVER)) {
        copy_ended(jvmti, env);
        finish(jvmti, env);
    } else if (acquire_from(FREE)) {
        if (atomic_load_explicit(&ended, memory_order_relaxed)) {
            release(FREE);
        } else {
            start(jvmti, env, false);
        }
    }
}

struct hpx_look_facts hpx_looking_facts(void)
{
    return look.facts;
}

/* ---- the end ---- */

void hpx_looking_last(jvmtiEnv *jvmti, JNIEnv *env)
{
    uint64_t until = hpx_clock_mono() + LAST_WAIT_NS;
    bool free;
    atomic_store_explicit(&ended, true, memory_order_relaxed);
    atomic_store_explicit(&cancelled, true, memory_order_relaxed);
    while (!(free = acquire_from(FREE)) && hpx_clock_mono() < until) {
        if (acquire_from(OVER)) {
            copy_ended(jvmti, env);
            finish(jvmti, env);
        } else {
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        }
    }
    if (free) {
        atomic_store_explicit(&cancelled, false, memory_order_relaxed); /* the last look may be by a copy, too */
        start(jvmti, env, true);
    } else {
        hpx_warn("heap=sites: another thread still counts live objects at the end of the program; the last dump does not show what is "
                 "live; ask earlier");
    }
}

/* Who waits for a copy uses the session, as does who looks. */
bool hpx_looking_left(uint64_t until_ns)
{
    for (;;) {
        int is = now();
        if (is != BUSY && is != WALKS && !atomic_load_explicit(&waits, memory_order_acquire)) { /* partner: wait_for_copy() */
            return true;
        }
        if (hpx_clock_mono() >= until_ns) {
            return false;
        }
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}
