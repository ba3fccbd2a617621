/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor_take.c: see monitor_take.h. */
#include "monitor_take.h"
#include "asker.h"
#include "clock.h"
#include "life.h"
#include "log.h"
#include "releases.h"
#include "vm.h"
#include "waits.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LAST_NS UINT64_C(10000000000) /* for the questions at exit */
#define UNTRACKED                                                                                                                          \
    "virtual threads that no executor or scope has started are not listed: with jdk.trackAllThreads=false the JDK does not know them"
#define LATE                                                                                                                               \
    "at exit the questions end after 10 s; not asked for: %u stacks, the monitors that %u threads wait for and %u own, %u deadlocks"

static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER; /* held while the JVM is asked: only threads that take images want it */

bool hpx_monitor_take_capabilities(jvmtiEnv *jvmti)
{
    hpx_waits_wanted = hpx_vm_release() >= HPX_RELEASE_WAITS_UNTOLD;
    return hpx_askable_load(jvmti);
}

/* The list of notes ends with NULL. */
__attribute__((format(printf, 2, 3))) static void note(struct hpx_monitor_take *t, const char *text, ...)
{
    va_list args;
    uint32_t n = 0;
    while (t->image.notes[n] != NULL) {
        n++;
    }
    if (n < HPX_ARRAY_LEN(t->notes)) {
        va_start(args, text);
        (void)vsnprintf(t->notes[n], sizeof t->notes[n], text, args);
        va_end(args);
        t->image.notes[n] = t->notes[n];
    }
}

static void add_notes(const struct hpx_asker *a)
{
    static const char *const causes[HPX_USAGE_ANSWERS] = {[HPX_USAGE_REFUSED] = "the VM failed",
                                                          [HPX_USAGE_ATTACHING] = "threads attached meanwhile",
                                                          [HPX_USAGE_ENDING] = "threads end",
                                                          [HPX_USAGE_REPLACED] = "another agent replaced functions of the VM"};
    struct hpx_monitor_take *t = a->take;
    if (!hpx_askable.usage) {
        note(t, "threads that wait for monitors are not listed: the VM does not tell them");
    } else if (!hpx_askable.contended) {
        note(t, "monitors that nobody owns are not listed: the VM does not tell them");
    }
    if (hpx_askable.owned_slows) {
        note(t, "monitors without waiters are not listed: before JDK 16 the VM would compile slower code");
    } else if (!hpx_askable.owned) {
        note(t, "monitors without waiters are not listed: the VM does not tell them");
    }
    if (a->uncounted != NULL) {
        note(t, "virtual threads are not listed: %.250s", a->uncounted);
    }
    if (t->census != NULL && t->census->asked != NULL) {
        note(t, "virtual threads were asked one after the other, not copied at one moment: %.200s", t->census->asked);
    }
    if (t->census != NULL && t->census->unasked > 0) {
        note(t, "virtual threads that were not asked, because the time was over: %llu", (unsigned long long)t->census->unasked);
    }
    if (t->census != NULL && t->census->closed > 0) {
        note(t, "executors and scopes whose virtual threads were not asked, because the time was over: %llu",
             (unsigned long long)t->census->closed);
    }
    if (t->census != NULL && t->census->untold > 0) {
        note(t, "sets of virtual threads that are missing, because the JDK threw an exception instead of listing them: %llu",
             (unsigned long long)t->census->untold);
    }
    if (t->census != NULL && t->census->untracked) {
        note(t, UNTRACKED);
    }
    if (t->census != NULL && t->census->unread > 0) {
        note(t, "virtual threads whose stack could not be read: %llu", (unsigned long long)t->census->unread);
    }
    if (a->unknown_waits > 0) {
        note(t, "threads in Object.wait whose monitor the VM does not tell: %u", a->unknown_waits);
    }
    for (uint32_t i = 0; i < HPX_USAGE_ANSWERS; i++) {
        if (a->untold[i] > 0) {
            note(t, "questions about monitors without an answer, because %s: %u", causes[i], a->untold[i]);
        }
    }
    if (a->hidden_owners > 0 && hpx_askable.virtual_threads) {
        note(t, "unowned monitors that threads wait to enter, which virtual threads may own: %u", a->hidden_owners);
    }
    if (a->unknown_owners > 0) {
        note(t, "monitors whose owner is shown as <unknown thread>: %u", a->unknown_owners);
    }
    if (a->owned_unasked > 0) {
        note(t, "threads not asked for monitors without waiters, as each question stops the program: %u", a->owned_unasked);
    }
    if (t->unasked > 0 && hpx_askable.usage) {
        note(t, "monitors shown with entry count 1 because each question for it stops the program: %u", t->unasked);
    }
    if (a->late.stacks + a->late.waits + a->late.owns + a->late.deadlocks > 0) {
        note(t, LATE, a->late.stacks, a->late.waits, a->late.owns, a->late.deadlocks);
    }
}

/* ---- one image ---- */

static enum hpx_thread_status status_of(jint state)
{
    return state & JVMTI_THREAD_STATE_SLEEPING                   ? HPX_STATUS_SLEEPING
           : state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER ? HPX_STATUS_ENTERING
           : state & JVMTI_THREAD_STATE_WAITING                  ? HPX_STATUS_WAITING
           : state & JVMTI_THREAD_STATE_RUNNABLE                 ? HPX_STATUS_RUNNABLE
           : state & JVMTI_THREAD_STATE_TERMINATED               ? HPX_STATUS_ENDED
           : state & JVMTI_THREAD_STATE_ALIVE                    ? HPX_STATUS_UNKNOWN
                                                                 : HPX_STATUS_NOT_STARTED;
}

static unsigned flags_of(jint state)
{
    return (state & JVMTI_THREAD_STATE_SUSPENDED ? HPX_STATUS_SUSPENDED : 0u) |
           (state & JVMTI_THREAD_STATE_INTERRUPTED ? HPX_STATUS_INTERRUPTED : 0u) |
           (state & JVMTI_THREAD_STATE_IN_NATIVE ? HPX_STATUS_NATIVE : 0u);
}

/* Copies what was asked into the image. */
static void fill(struct hpx_asker *a)
{
    struct hpx_monitor_take *t = a->take;
    struct hpx_monitor_image *i = &t->image;
    i->threads = calloc((size_t)a->announced + 1, sizeof *i->threads);
    t->stacks = calloc((size_t)a->announced + 1, sizeof *t->stacks);
    i->monitors = calloc((size_t)a->monitors.len + 1, sizeof *i->monitors);
    i->serials = calloc((size_t)a->serials.len + 1, sizeof *i->serials);
    if (i->threads == NULL || t->stacks == NULL || i->monitors == NULL || i->serials == NULL) {
        a->no_memory = true;
        return;
    }
    for (; i->nthreads < a->announced; i->nthreads++) {
        const struct hpx_asked_thread *from = hpx_asked_thread(a, i->nthreads);
        i->threads[i->nthreads] =
            (struct hpx_monitor_thread){.serial = from->serial, .status = status_of(from->state), .flags = flags_of(from->state)};
        t->stacks[i->nthreads] = from->stack;
    }
    for (uint32_t n = 0; n < a->monitors.len; n++) {
        const struct hpx_monitor *m = &hpx_asked_monitor(a, n)->shown;
        if (m->owned || m->enter.n + m->notify.n > 0) { /* else its waiters are in the list of another one by now */
            i->monitors[i->nmonitors++] = *m;
        }
    }
    for (; i->nserials < a->serials.len; i->nserials++) {
        i->serials[i->nserials] = *(const uint32_t *)hpx_vec_at(&a->serials, i->nserials);
    }
}

static void ask(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_monitor_take *t)
{
    struct hpx_asker a = {.jvmti = jvmti, .env = env, .take = t};
    hpx_vec_init(&a.threads, sizeof(struct hpx_asked_thread));
    hpx_vec_init(&a.monitors, sizeof(struct hpx_asked_monitor));
    hpx_vec_init(&a.latest, sizeof(uint32_t));
    hpx_vec_init(&a.serials, sizeof(uint32_t));
    a.no_memory = hpx_id_map_init(&a.by_tid) != 0 || hpx_id_map_init(&a.by_virtual) != 0 || hpx_strings_init(&t->signatures) != 0;
    if (!a.no_memory) {
        if (!t->queued.last || hpx_life_goes_on()) {
            hpx_ask_virtuals(&a);
        } else if (hpx_census_any(env)) {
            a.uncounted = "the JVM ends";
        }
        hpx_ask_threads(&a);
    }
    if (!a.no_memory && t->failed == NULL) {
        hpx_ask_waited(&a);
    }
    if (!a.no_memory && t->failed == NULL) {
        hpx_ask_deadlocks(&a); /* they matter more than what may take seconds */
    }
    if (!a.no_memory && t->failed == NULL) {
        hpx_ask_owned(&a);
    }
    if (!a.no_memory && t->failed == NULL) {
        fill(&a);
        hpx_name_virtuals(&a);
        add_notes(&a);
    }
    t->failed = t->failed == NULL && a.no_memory ? "no memory" : t->failed;
    hpx_id_map_fini(&a.by_tid);
    hpx_id_map_fini(&a.by_virtual);
    hpx_vec_fini(&a.threads);
    hpx_vec_fini(&a.monitors);
    hpx_vec_fini(&a.latest);
    hpx_vec_fini(&a.serials);
}

static void discard(struct hpx_monitor_take *t)
{
    free(t->image.threads);
    free(t->image.monitors);
    free(t->image.serials);
    free(t->image.deadlocks);
    free(t->stacks);
    free(t->deadlock_stacks);
    free(t->image.virtuals);
    free(t->image.virtual_traces);
    free(t->virtual_stacks);
    free(t->deadlock_virtuals);
    if (t->census != NULL) {
        hpx_census_drop(t->census);
    }
    t->census = NULL;
    t->virtual_stacks = NULL;
    t->deadlock_virtuals = NULL;
    hpx_strings_fini(&t->signatures);
    hpx_arena_fini(&t->arena);
    t->signatures = (struct hpx_strings){.arena = {.chunks = NULL}};
    t->image = (struct hpx_monitor_image){.threads = NULL};
    t->stacks = t->deadlock_stacks = NULL;
}

static struct hpx_monitor_take *take_of(struct hpx_image *i)
{
    return (struct hpx_monitor_take *)(void *)i;
}

static void destroy(struct hpx_image *i)
{
    discard(take_of(i));
    free(i);
}

static struct hpx_images images = {.lock = PTHREAD_MUTEX_INITIALIZER, .destroy = destroy};

static void publish(struct hpx_monitor_take *t)
{
    if (t->failed != NULL) {
        discard(t);
        hpx_warn("monitor dump: %s; this dump has no MONITOR DUMP; ask again", t->failed);
    }
    hpx_images_put(&images, &t->queued, true); /* the one before is of a dump that did not wait for it */
}

void hpx_monitor_take_live(JNIEnv *env)
{
    if (pthread_mutex_trylock(&taking) == 0) { /* else an image is taken, and has learnt it */
        hpx_askable_live(env);
        hpx_census_live(env);
        pthread_mutex_unlock(&taking);
    }
}

void hpx_monitor_take_now(jvmtiEnv *jvmti, JNIEnv *env, bool last)
{
    if (last) {             /* who takes one does not go on */
        hpx_asker_until(1); /* long ago */
    }
    pthread_mutex_lock(&taking);
    if (last) {
        hpx_asker_until(hpx_clock_mono() + LAST_NS);
    }
    hpx_askable_live(env);
    hpx_census_live(env);
    struct hpx_monitor_take *t = calloc(1, sizeof *t);
    if (t != NULL) {
        uint64_t begun = hpx_clock_mono();
        t->queued.last = last;
        hpx_arena_init(&t->arena);
        if (hpx_vm_fields.tid == NULL) {
            t->failed = "threads of this VM have no number";
        } else if ((*env)->PushLocalFrame(env, 64) != 0) {
            (*env)->ExceptionClear(env);
            t->failed = "no memory";
        } else {
            ask(jvmti, env, t);
            (*env)->PopLocalFrame(env, NULL);
        }
        t->ns = hpx_clock_mono() - begun;
        publish(t);
    }
    pthread_mutex_unlock(&taking);
}

/* ---- its dumps ---- */

uint32_t hpx_monitor_take_waiting(void)
{
    return hpx_images_waiting(&images);
}

struct hpx_monitor_take *hpx_monitor_take_get(void)
{
    return take_of(hpx_images_get(&images));
}

void hpx_monitor_take_name(struct hpx_monitor_take *t, struct hpx_symbols *symbols)
{
    struct hpx_monitor_image *i = &t->image;
    for (uint32_t n = 0; !t->named && n < i->nthreads; n++) {
        i->threads[n].trace = t->stacks[n].n > 0 ? hpx_symbols_named_trace(symbols, t->stacks[n].frames, t->stacks[n].n) : NULL;
    }
    for (uint32_t n = 0; !t->named && n < i->ndeadlocks; n++) {
        const uint32_t at = t->deadlock_virtuals[n];
        const struct hpx_named_stack *s = at != 0 ? &t->virtual_stacks[at - 1] : &t->deadlock_stacks[n];
        i->deadlocks[n].trace = s->n > 0 ? hpx_symbols_named_trace(symbols, s->frames, s->n) : NULL;
    }
    for (uint32_t n = 0; !t->named && n < i->nvirtual_traces; n++) {
        const struct hpx_named_stack *s = &t->virtual_stacks[n];
        i->virtual_traces[n] = s->n > 0 ? hpx_symbols_named_trace(symbols, s->frames, s->n) : NULL;
    }
    t->named = true;
}

void hpx_monitor_take_drop(struct hpx_monitor_take *t)
{
    hpx_images_drop(&images, &t->queued);
}

void hpx_monitor_take_fini(void)
{
    hpx_images_fini(&images);
    hpx_asker_until(0);
    hpx_waits_fini();
}
