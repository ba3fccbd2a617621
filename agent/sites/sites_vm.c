/* SPDX-License-Identifier: BSD-2-Clause */
/* sites_vm.c: heap=sites in the JVM: the source of allocations, its events, the states of threads.
 *
 * SampledObjectAlloc is the source on JDK 11 and later. Probes in the program's classes and VMObjectAlloc replace it on older JDKs, if
 * another agent holds its capability, and for sites=exact where the event misses allocations. With sites=counts, probes count by place, and
 * SampledObjectAlloc only estimates live objects. */
#include "allocation.h"
#include "class_number.h"
#include "classes.h"
#include "counting.h"
#include "life.h"
#include "log.h"
#include "looking.h"
#include "new_class.h"
#include "probe_frames.h"
#include "quiet_stack.h"
#include "site_thread.h"
#include "sites.h"
#include "survivors.h"
#include "threads.h"
#include "vm_flags.h"
#include "vm_mode.h"
#include <string.h>

#define RING_LEAST (64u << 10) /* bytes */
/* Before JDK 16 the VM posts ObjectFree within the collection. From then on it posts later, and waits for that in a way that may hang the
 * program (looking.h). */
#define RELEASE_POSTS_LATER 16

/* From JVMTI 11, by number: headers of older JDKs do not have the names. */
#define EVENT_SAMPLED_OBJECT_ALLOC     86
#define CAPABILITY_SAMPLED             43  /* bit of can_generate_sampled_object_alloc_events */
#define CAPABILITY_VALUES              45  /* bit of can_support_value_objects */
#define FUNCTION_SET_SAMPLING_INTERVAL 156 /* SetHeapSamplingInterval */

static HPX_OF_SESSION struct {
    bool sampled_event, probes, counts; /* the source: the event; probes that report objects; probes that count. Constant from load on */
    bool frees, looks, follows; /* what lives is known by ObjectFree, by looks, or by weak references of samples. Constant from load on */
    bool loses_fields;          /* every object has an event, and the VM has the bug of new_class.h. Constant from load on */
    jint release;               /* of the JDK: 8, 11, ...; constant from load on */
    _Atomic uint32_t threads;   /* relaxed: numbers given out */
    _Atomic uint32_t before;    /* relaxed: of them, to threads of the program that ran before a late session */
} vm;

static struct hpx_site_thread *state(struct hpx_mode_thread *s)
{
    return (struct hpx_site_thread *)(void *)s;
}

/* ---- events ---- */

static void callbacks(union hpx_event_callbacks *all)
{
    all->known.ObjectFree = hpx_allocation_freed;
    all->known.VMObjectAlloc = hpx_allocation_vm_event;
    all->of[EVENT_SAMPLED_OBJECT_ALLOC - JVMTI_MIN_EVENT_TYPE_VAL] = (hpx_virtual_event)(void (*)(void))hpx_allocation_event;
    if (vm.probes || vm.counts) {
        hpx_classes_callbacks(all);
    }
    if (vm.loses_fields) {
        all->known.GarbageCollectionFinish = hpx_new_class_paused;
    }
    hpx_quiet_stack_callbacks(&all->known);
}

static void capabilities(jvmtiCapabilities *want)
{
    want->can_tag_objects = 1;
}

/* Probes report objects of the program's code; VMObjectAlloc reports objects that the VM allocates. */
static jvmtiError add_probes(jvmtiEnv *jvmti)
{
    jvmtiCapabilities can;
    memset(&can, 0, sizeof can);
    hpx_classes_capabilities(&can);
    can.can_generate_vm_object_alloc_events = 1;
    return (*jvmti)->AddCapabilities(jvmti, &can);
}

/* sites=counts: probes count allocations; sampled objects estimate what is live. */
static void add_counting(jvmtiEnv *jvmti)
{
    jvmtiCapabilities can;
    memset(&can, 0, sizeof can);
    hpx_classes_capabilities(&can);
    jvmtiError e = (*jvmti)->AddCapabilities(jvmti, &can);
    vm.counts = e == JVMTI_ERROR_NONE;
    if (!vm.counts) {
        hpx_warn("sites=counts: the VM refused probes (%s); sites=exact is used instead, at a higher cost; load hprofx alone",
                 hpx_jvmti_error(e));
        hpx_session.in_effect.sites = HPX_SITES_EXACT;
    }
}

/* Before JDK 17 the VM occasionally misses an allocation when a collection retires a TLAB. Before JDK 21, code without TLABs under Serial
 * and Parallel allocates in eden itself and the VM raises no event. A thread that allocated before the session began reports nothing until
 * it has used up its interval of then. */
static bool event_misses(jint release)
{
    bool eden = !hpx_vm_flag("UseTLAB", true) && (hpx_vm_flag("UseSerialGC", false) || hpx_vm_flag("UseParallelGC", false));
    return release < 17 || (release < 21 && eden) || hpx_vm.late;
}

/* How live objects are known. */
static void choose_live(jvmtiEnv *jvmti)
{
    const jvmtiCapabilities frees = {.can_generate_object_free_events = 1};
    bool exact = hpx_session.in_effect.live && hpx_allocation_interval() == 0;
    vm.looks = exact && vm.release >= RELEASE_POSTS_LATER;
    vm.follows = hpx_session.in_effect.live && !exact;
    vm.frees = exact && !vm.looks;
    jvmtiError e = vm.frees ? (*jvmti)->AddCapabilities(jvmti, &frees) : JVMTI_ERROR_NONE;
    if (e != JVMTI_ERROR_NONE) {
        hpx_warn("heap=sites: the VM refused the event of freed objects (%s); live objects are not counted; load hprofx alone",
                 hpx_jvmti_error(e));
        vm.frees = hpx_session.in_effect.live = false;
    }
}

static void choose_source(jvmtiEnv *jvmti)
{
    if (hpx_session.in_effect.sites == HPX_SITES_COUNTS) {
        add_counting(jvmti);
    }
    bool every = hpx_allocation_interval() == 0; /* also if sites=exact replaces sites=counts */
    jvmtiError e = hpx_vm_capability(jvmti, CAPABILITY_SAMPLED);
    vm.sampled_event = e == JVMTI_ERROR_NONE;
    if (vm.counts && (!vm.sampled_event || hpx_options_follow_calls(hpx_session.opt))) {
        /* live objects are unknown without samples; with exact calls no trace of a sample matches that of a call */
        hpx_session.in_effect.live = false;
    }
    if (vm.counts || !every || (vm.sampled_event && !event_misses(vm.release))) {
        return;
    }
    if (vm.release >= 11 && !vm.sampled_event) {
        hpx_warn("heap=sites: the VM refused the allocation event (%s), usually because another agent has it; probes record "
                 "allocations, at a higher cost; load hprofx alone",
                 hpx_jvmti_error(e));
    }
    if (!hpx_session.in_effect.rewrites) {
        hpx_warn("heap=sites: without changed classes a few allocations are not counted; leave out the option that records the archive");
        return;
    }
    e = add_probes(jvmti);
    vm.probes = e == JVMTI_ERROR_NONE;
    if (!vm.probes) {
        hpx_warn("heap=sites: the VM refused probes (%s); %s; load hprofx alone", hpx_jvmti_error(e),
                 vm.sampled_event ? "a few allocations are not counted" : "no allocation is counted");
    }
}

/* Only the generational one; JDK 21 to 23 have both. */
static void choose_new_class(jvmtiEnv *jvmti)
{
    const jvmtiCapabilities pauses = {.can_generate_garbage_collection_events = 1};
    vm.loses_fields = vm.sampled_event && hpx_allocation_interval() == 0 && hpx_vm_flag("UseZGC", false) &&
                      hpx_vm_flag("ZGenerational", vm.release >= 24) && (*jvmti)->AddCapabilities(jvmti, &pauses) == JVMTI_ERROR_NONE;
}

static void optional(jvmtiEnv *jvmti)
{
    vm.release = hpx_vm_release();
    choose_source(jvmti);
    choose_live(jvmti);
    choose_new_class(jvmti);
}

bool hpx_sites_looks(void)
{
    return vm.looks;
}

bool hpx_sites_follows(void)
{
    return vm.follows;
}

uint32_t hpx_sites_threads_before(void)
{
    return vm.sampled_event ? atomic_load_explicit(&vm.before, memory_order_relaxed) : 0;
}

bool hpx_sites_counts(void)
{
    return vm.counts;
}

bool hpx_sites_has_probes(void)
{
    return vm.probes;
}

bool hpx_sites_lacks_event(void)
{
    return vm.probes && !vm.sampled_event;
}

const char *hpx_sites_engine(void)
{
    return vm.counts                       ? "probes that count"
           : vm.sampled_event && vm.probes ? "SampledObjectAlloc, and probes for what it misses"
           : vm.sampled_event              ? "SampledObjectAlloc"
           : vm.probes                     ? "probes and VMObjectAlloc"
                                           : "none";
}

static jvmtiError set_interval(jvmtiEnv *jvmti, uint64_t bytes)
{
    typedef jvmtiError(JNICALL * set)(jvmtiEnv *, jint);
    set fn;
    memcpy(&fn, (const char *)*jvmti + (FUNCTION_SET_SAMPLING_INTERVAL - 1) * sizeof(void *), sizeof fn);
    return fn(jvmti, (jint)bytes);
}

static void enable(jvmtiEnv *jvmti, bool on)
{
    jvmtiEventMode mode = on ? JVMTI_ENABLE : JVMTI_DISABLE;
    jvmtiError e = JVMTI_ERROR_NONE;
    if (vm.loses_fields) {
        e = (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, NULL);
    }
    if (vm.frees) {
        e = (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_OBJECT_FREE, NULL);
    }
    if (vm.sampled_event && (hpx_session.in_effect.live || !vm.counts)) {
        jvmtiError e2 = (*jvmti)->SetEventNotificationMode(jvmti, mode, (jvmtiEvent)EVENT_SAMPLED_OBJECT_ALLOC, NULL);
        e = e != JVMTI_ERROR_NONE ? e : e2;
    }
    if (vm.probes && !vm.sampled_event) {
        jvmtiError e2 = (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_VM_OBJECT_ALLOC, NULL);
        e = e != JVMTI_ERROR_NONE ? e : e2;
    }
    if (on && e != JVMTI_ERROR_NONE) {
        hpx_warn("heap=sites: the VM refused an event (%s); the profile is incomplete; load hprofx alone", hpx_jvmti_error(e));
    }
}

/* ---- life ---- */

static const jvmtiEvent class_events[] = {HPX_CLASSES_EVENTS, 0}; /* of the rewriting; only probes need them */

/* Without this capability (JDK 28) the event leaves out objects of value classes; with it their object is NULL. Probes that report objects
 * report these, too. */
static void add_values(jvmtiEnv *jvmti)
{
    if (vm.release >= 28 && vm.sampled_event && !vm.probes) {
        (void)hpx_vm_capability(jvmti, CAPABILITY_VALUES);
    }
}

static int load(struct hpx_err *err)
{
    if (!vm.sampled_event && !vm.counts && hpx_allocation_interval() > 0) {
        return hpx_err_set(
            err, HPX_E_OPT,
            "sites=sampled is not possible on this VM: it needs JDK 11 or later, and no other agent that samples allocations");
    }
    /* a tag shows a probe that the object is recorded already */
    hpx_allocation_use(vm.frees || vm.looks || vm.probes || hpx_session.opt->heap_dump, vm.follows);
    if (vm.looks) {
        hpx_looking_load();
    }
    if (vm.probes) {
        static const JNINativeMethod natives[] = {
            {(char *)(uintptr_t) "object", (char *)(uintptr_t) "(Ljava/lang/Object;)V", (void *)(uintptr_t)hpx_allocation_probe},
            {(char *)(uintptr_t) "multi", (char *)(uintptr_t) "(Ljava/lang/Object;I)V", (void *)(uintptr_t)hpx_allocation_multi_probe}};
        static const struct hpx_class_user user = {.probes = HPROFX_BCI_OBJECTS, .natives = natives, .nnatives = 2};
        hpx_classes_use(&user);
    }
    if (vm.counts) {
        hpx_counting_use();
    }
    hpx_quiet_stack_load(&hpx_sites_mode);
    add_values(hpx_vm.jvmti);
    if (vm.sampled_event) { /* before the first TLAB: the VM does not shorten a TLAB that a thread already has */
        (void)set_interval(hpx_vm.jvmti, hpx_allocation_interval());
    }
    if (vm.probes || vm.counts) {
        return hpx_vm_events(JVMTI_ENABLE, class_events) == JVMTI_ERROR_NONE
                   ? 0
                   : hpx_err_set(err, HPX_E_VM, "the VM refused the class events that probes need; load hprofx alone");
    }
    return 0;
}

static bool has_state(void)
{
    return hpx_site_self != NULL && hpx_site_self != &hpx_site_nobody;
}

static void ran_before(void)
{
    atomic_fetch_add_explicit(&vm.before, hpx_vm.late, memory_order_relaxed);
}

static void ready(JNIEnv *env)
{
    hpx_quiet_stack_ready(hpx_vm.jvmti, env, has_state() ? &hpx_site_self->s.base.counters : NULL);
}

static void classes(jvmtiEnv *jvmti, JNIEnv *env)
{
    hpx_allocation_live(env, vm.release);
    if (vm.loses_fields) {
        hpx_new_class_look(jvmti, env);
    }
    if (vm.counts) {
        hpx_counting_measure(jvmti, env);
    }
    if (vm.probes || vm.counts) {
        hpx_classes_loaded(jvmti, env);
    }
}

static void open(jvmtiEnv *jvmti)
{
    if (has_state()) { /* a thread of the program begins the session, not one of the profiler */
        ran_before();
    }
    hpx_allocation_open();
    enable(jvmti, true);
    if (vm.counts) {
        hpx_counting_open();
    }
}

/* The VM reports no allocation in a TLAB that a thread already has, which of the main thread is some MiB. At load only that thread has one,
 * and those of the VM, which run no code of the program before a collection. A sampled thread begins with a sample of the profiler's. */
static bool reach_event(jvmtiEnv *jvmti)
{
    JNIEnv *env = hpx_vm_env();
    if (env == NULL || hpx_vm.late || !hpx_gate_enter(&hpx_session.gate)) {
        return false;
    }
    uint64_t interval = hpx_allocation_interval();
    (void)set_interval(jvmti, 0);
    bool reached = hpx_allocation_reach(env, false);
    if (interval > 0) {
        (void)set_interval(jvmti, interval);
        (void)hpx_allocation_reach(env, true);
    }
    hpx_gate_leave(&hpx_session.gate);
    return reached;
}

/* Else a collection retires the TLABs of all threads. A session that begins late does not collect unless it was asked to: if it is exact it
 * has probes, too, else estimates lack what was left. */
static void begun(jvmtiEnv *jvmti)
{
    bool events = vm.sampled_event && (hpx_session.in_effect.live || !vm.counts); /* as enable() has it */
    if (events && (!hpx_vm.late || hpx_session.opt->gc) && !reach_event(jvmti)) {
        (void)(*jvmti)->ForceGarbageCollection(jvmti);
    }
}

static void report_sizes(jvmtiEnv *jvmti)
{
    JNIEnv *env = hpx_vm_env();
    if (vm.counts && env != NULL) {
        hpx_counting_sizes(jvmti, env);
    }
}

/* Epsilon collects nothing, also not at ForceGarbageCollection. */
static bool collects(void)
{
    return !hpx_vm_flag("UseEpsilonGC", false);
}

/* What lives is found out, as of now. Inside the gate, or after it was closed. */
static void find_live(jvmtiEnv *jvmti, JNIEnv *env, bool last)
{
    if (vm.looks && last) {
        hpx_looking_last(jvmti, env);
    } else if (vm.looks) {
        hpx_looking_step(jvmti, env);
    }
    if (vm.follows) {
        hpx_survivors_look(env);
    }
}

jvmtiError hpx_sites_flush(jvmtiEnv *jvmti, JNIEnv *env)
{
    jvmtiError e = JVMTI_ERROR_NONE;
    if (!hpx_gate_enter(&hpx_session.gate)) {
        return e; /* VMDeath has begun and flushes */
    }
    if (vm.looks && hpx_looking_is_over()) { /* this request has collected before the look */
        hpx_looking_step(jvmti, env);
        hpx_gate_leave(&hpx_session.gate);
        return e;
    }
    report_sizes(jvmti);
    if (hpx_session.opt->gc) { /* outside the gate: if the program ends meanwhile it may never return, as above collector_has_stopped() */
        hpx_gate_leave(&hpx_session.gate);
        e = (*jvmti)->ForceGarbageCollection(jvmti);
        if (!hpx_gate_enter(&hpx_session.gate)) {
            return e;
        }
    }
    find_live(jvmti, env, false);
    hpx_gate_leave(&hpx_session.gate);
    return e;
}

jvmtiError hpx_sites_look_at_survivors(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti;
    if (hpx_gate_enter(&hpx_session.gate)) {
        hpx_survivors_look(env);
        hpx_gate_leave(&hpx_session.gate);
    }
    return JVMTI_ERROR_NONE;
}

/* ZGC and Shenandoah stop their threads before VMDeath; a collection that is forced then never ends (ZGC to JDK 25, Shenandoah to 21), or
 * is none. Where the collector is not known it may be one of these. */
static bool collector_has_stopped(void)
{
    bool known = hpx_vm_flag("UseSerialGC", true) == hpx_vm_flag("UseSerialGC", false);
    return known ? hpx_vm_flag("UseZGC", false) || hpx_vm_flag("UseShenandoahGC", false) : vm.release >= 11;
}

static void collect_at_end(jvmtiEnv *jvmti)
{
    if (hpx_session.opt->gc && (hpx_life_goes_on() || !collector_has_stopped())) {
        (void)(*jvmti)->ForceGarbageCollection(jvmti);
    } else if (hpx_session.opt->gc && collects()) {
        hpx_warn("gc=y: no garbage was collected before the last dump: the collector of this VM stops before the program's end; "
                 "ask for a dump while the program runs");
    }
}

/* Before the session's gate is closed: what makers return would not be counted any more, but what instructions make would. */
static void leave(void)
{
    if (vm.counts) {
        hpx_counting_forget();
    }
}

static void close_events(jvmtiEnv *jvmti)
{
    report_sizes(jvmti);
    collect_at_end(jvmti);
    enable(jvmti, false);
    JNIEnv *env = hpx_vm_env();
    if (env != NULL) {
        find_live(jvmti, env, true);
    }
    if (vm.probes || vm.counts) {
        hpx_classes_close();
        (void)hpx_vm_events(JVMTI_DISABLE, class_events);
    }
}

static bool left(uint64_t until_ns)
{
    return hpx_classes_left(until_ns) && hpx_looking_left(until_ns);
}

static void restore(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (vm.probes || vm.counts) {
        hpx_classes_restore(jvmti, env);
    }
}

/* Nothing drains what the hook would post. */
static void disable(void)
{
    hpx_classes_close();
    if (vm.probes || vm.counts) {
        (void)hpx_vm_events(JVMTI_DISABLE, class_events);
    }
}

static void forget(void)
{
    hpx_classes_close();
    hpx_counting_forget();
}

/* ---- threads ---- */

static uint32_t ring_bytes(void)
{
    return hpx_ring_bytes(RING_LEAST,
                          4 * HPX_EV_SITE_BYTES(1 + HPX_PROBE_FRAMES + atomic_load_explicit(&hpx_session.depth, memory_order_relaxed)));
}

static void made(struct hpx_mode_thread *s)
{
    state(s)->inside = true; /* until the thread begins: probes take their slow way */
    state(s)->number = 1 + atomic_fetch_add_explicit(&vm.threads, 1, memory_order_relaxed);
    if (vm.counts) {
        hpx_counting_make(state(s));
    }
}

static void unmake(struct hpx_mode_thread *s)
{
    hpx_counting_destroy(state(s));
}

static void begin(struct hpx_mode_thread *s, JNIEnv *env, jthread self)
{
    state(s)->inside = false;
    hpx_site_self = state(s);
    hpx_quiet_stack_thread(env, self, &s->base.counters);
}

static void adopt(struct hpx_mode_thread *s)
{
    (void)s;
    ran_before();
}

static void adopted(struct hpx_mode_thread *s)
{
    state(s)->inside = false;
    hpx_site_self = state(s);
}

static void end(struct hpx_mode_thread *s, JNIEnv *env)
{
    hpx_late_tag_leave(&state(s)->late, hpx_vm.jvmti, env);
}

static void unload(JNIEnv *env)
{
    hpx_survivors_forget(env);
    hpx_late_tags_fini(env);
}

/* The thread's state may be freed after this; later allocations of the VM on this thread are not recorded. */
static void ended(void)
{
    hpx_site_self = &hpx_site_nobody;
}

const struct hpx_vm_mode hpx_sites_vm = {
    .names = true,
    .finds_itself = true,
    .capabilities = capabilities,
    .optional = optional,
    .callbacks = callbacks,
    .load = load,
    .disable = disable,
    .ready = ready,
    .classes = classes,
    .open = open,
    .begun = begun,
    .leave = leave,
    .close = close_events,
    .over = hpx_quiet_stack_over,
    .left = left,
    .restore = restore,
    .unload = unload,
    .forget = forget,
    .state_bytes = sizeof(struct hpx_site_thread),
    .ring_bytes = ring_bytes,
    .made = made,
    .unmake = unmake,
    .begin = begin,
    .adopt = adopt,
    .adopted = adopted,
    .ended = ended,
    .end = end,
};
