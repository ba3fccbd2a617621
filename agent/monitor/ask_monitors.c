/* SPDX-License-Identifier: BSD-2-Clause */
/* ask_monitors.c: monitors that threads enter, wait for or own. */
#include "asker.h"
#include "clock.h"
#include "thread_info.h"
#include "virtuals.h"
#include <string.h>
#include <time.h>

#define COUNTS_MAX  256 /* owned monitors without waiters whose entry count is read: every question stops the program */
#define BIASED_MAX  16  /* the same, if that revokes their bias: VMs unbias all objects of a class after 20 */
#define OWNED_MAX   256 /* threads whose owned monitors are read, if that stops the program */
#define ATTEMPTS_NS UINT64_C(10000000)
#define COMPARE_MAX 256 /* monitors of one class that a monitor is compared with, in vain: they are not those of its owner */

bool hpx_ask_usage(struct hpx_asker *a, jobject object, jvmtiMonitorUsage *u)
{
    enum hpx_usage_answer answer;
    uint64_t begun = hpx_asker_begin(), until = begun + ATTEMPTS_NS;
    memset(u, 0, sizeof *u);
    bool patient = a->untold[HPX_USAGE_ATTACHING] == 0; /* a thread that did not finish once is not waited for again and again */
    while ((answer = hpx_attach_barrier_ask(a->jvmti, object, u)) == HPX_USAGE_ATTACHING && patient &&
           begun < until) { /* which takes microseconds */
        nanosleep(&(struct timespec){0, 50000}, NULL);
        begun = hpx_asker_begin();
    }
    bool good = answer == HPX_USAGE_TOLD;
    if (good || answer == HPX_USAGE_REFUSED) {
        hpx_asker_end(a, begun);
    }
    a->untold[answer] += !good;
    if (good && u->waiter_count + u->notify_waiter_count > 0) {
        (void)(*a->env)->EnsureLocalCapacity(a->env, 64);
        (*a->env)->ExceptionClear(a->env);
    }
    return good;
}

void hpx_asked_usage_free(const struct hpx_asker *a, jvmtiMonitorUsage *u)
{
    (*a->env)->DeleteLocalRef(a->env, u->owner);
    for (jint i = 0; u->waiters != NULL && i < u->waiter_count; i++) {
        (*a->env)->DeleteLocalRef(a->env, u->waiters[i]);
    }
    for (jint i = 0; u->notify_waiters != NULL && i < u->notify_waiter_count; i++) {
        (*a->env)->DeleteLocalRef(a->env, u->notify_waiters[i]);
    }
    hpx_asker_release(a, u->waiters);
    hpx_asker_release(a, u->notify_waiters);
}

jobject hpx_ask_contended(struct hpx_asker *a, jthread thread)
{
    jobject object = NULL;
    uint64_t begun = hpx_asker_begin();
    jvmtiError e = (*a->jvmti)->GetCurrentContendedMonitor(a->jvmti, thread, &object);
    hpx_asker_end(a, begun);
    return e == JVMTI_ERROR_NONE ? object : NULL;
}

/* The number of its class's signature; 0: the VM failed, or no memory. */
static uint32_t signature_of(struct hpx_asker *a, jobject object)
{
    char *text = NULL;
    uint32_t number = 0;
    jclass klass = (*a->env)->GetObjectClass(a->env, object);
    if ((*a->jvmti)->GetClassSignature(a->jvmti, klass, &text, NULL) == JVMTI_ERROR_NONE) {
        number = hpx_strings_intern(&a->take->signatures, text, strlen(text));
        hpx_asker_release(a, text);
    }
    while (number != 0 && a->latest.len <= number) {
        if (hpx_vec_push(&a->latest) == NULL) {
            number = 0;
        }
    }
    (*a->env)->DeleteLocalRef(a->env, klass);
    a->no_memory = a->no_memory || number == 0;
    return number;
}

/* The number of a monitor that may be listed; HPX_ASKED_NONE: it is not. owner: HPX_ASKED_NONE: not known. */
static uint32_t find(const struct hpx_asker *a, jobject object, uint32_t signature, uint32_t owner)
{
    uint32_t compared = 0;
    for (uint32_t at = *(const uint32_t *)hpx_vec_at(&a->latest, signature); at != 0;) {
        const struct hpx_asked_monitor *m = hpx_asked_monitor(a, at - 1);
        bool of_owner = owner != HPX_ASKED_NONE && m->owner == owner;
        if ((of_owner || compared++ < COMPARE_MAX) && (*a->env)->IsSameObject(a->env, object, m->ref)) {
            return at - 1;
        }
        at = m->before;
    }
    return HPX_ASKED_NONE;
}

/* NULL without memory. keep: it is found again, and takes over the reference. */
static struct hpx_asked_monitor *add(struct hpx_asker *a, jobject object, uint32_t signature, bool keep)
{
    const struct hpx_string *text = hpx_strings_at(&a->take->signatures, signature);
    struct hpx_asked_monitor *m = hpx_vec_push(&a->monitors);
    if (m == NULL) {
        a->no_memory = true;
        return NULL;
    }
    m->shown.signature = (struct hpx_text){text->bytes, text->len};
    m->owner = HPX_ASKED_NONE;
    if (keep) {
        uint32_t *latest = hpx_vec_at(&a->latest, signature);
        m->ref = object;
        m->before = *latest;
        *latest = a->monitors.len;
    }
    return m;
}

static bool has(const struct hpx_asker *a, const jthread *threads, jint n, jthread thread)
{
    for (jint i = 0; i < n; i++) {
        if ((*a->env)->IsSameObject(a->env, threads[i], thread)) {
            return true;
        }
    }
    return false;
}

enum { ENTER, NOTIFY };

/* Notes waiters of the last monitor. JVMs before JDK 23 count those that wait to be notified among those that wait to enter, too, and name
 * one of them again, or NULL, for each that was notified and enters. */
static void note_waiter(struct hpx_asker *a, const jvmtiMonitorUsage *u, jint i, bool notify)
{
    jthread waiter = notify ? u->notify_waiters[i] : u->waiters[i];
    uint32_t number = a->monitors.len - 1, thread = hpx_asker_thread(a, waiter);
    if (waiter != NULL && (*a->env)->IsSameObject(a->env, waiter, u->owner)) {
        return; /* it has just entered: VMs name it in both places for a moment */
    }
    if (thread != HPX_ASKED_NONE && !hpx_asked_waits(hpx_asked_thread(a, thread))) {
        *(notify ? &hpx_asked_thread(a, thread)->notified : &hpx_asked_thread(a, thread)->monitor) = number;
    } else if (thread == HPX_ASKED_NONE && waiter != NULL && !has(a, u->notify_waiters, notify ? i : u->notify_waiter_count, waiter)) {
        hpx_asked_monitor(a, number)->strangers[notify ? NOTIFY : ENTER]++;
    }
}

static void note_waiters(struct hpx_asker *a, const jvmtiMonitorUsage *u)
{
    for (jint i = 0; i < u->notify_waiter_count; i++) {
        note_waiter(a, u, i, true);
    }
    for (jint i = 0; i < u->waiter_count; i++) {
        note_waiter(a, u, i, false);
    }
}

/* A virtual thread is no thread of the dump: JDK 21 tells those that own monitors, later VMs do not. */
static uint32_t serial_of(struct hpx_asker *a, jthread owner)
{
    return hpx_vm_is_virtual(a->env, owner) ? hpx_virtuals_serial(a->jvmti, a->env, owner) : HPX_SERIAL_THREAD;
}

/* Adds a monitor as the VM described it. */
static void add_used(struct hpx_asker *a, jobject object, uint32_t signature, const jvmtiMonitorUsage *u, bool keep)
{
    struct hpx_asked_monitor *m = add(a, object, signature, keep);
    if (m == NULL) {
        return;
    }
    m->owner = hpx_asker_thread(a, u->owner);
    m->shown.owned = u->owner != NULL;
    if (m->owner != HPX_ASKED_NONE) {
        m->shown.owner = hpx_asked_thread(a, m->owner)->serial;
    } else if (m->shown.owned) {
        m->shown.owner = serial_of(a, u->owner);
    }
    a->unknown_owners += m->shown.owned && m->shown.owner == HPX_SERIAL_THREAD;
    /* JDK 28 tells 0 of what its own frames have entered: locks of class initialisers */
    m->shown.entry_count = m->shown.owned && u->entry_count == 0 ? 1 : (uint32_t)u->entry_count;
    note_waiters(a, u);
}

static bool waits_still(const struct hpx_asker *a, jthread thread)
{
    jint state = 0;
    return hpx_thread_info_bits(a->jvmti, a->env, thread, &state) && (state & JVMTI_THREAD_STATE_IN_OBJECT_WAIT);
}

/* The thread was blocked by this monitor, but is not in its list: it came later, or was notified and enters again (JVMs before JDK 23). */
static void note_entering(const struct hpx_asker *a, struct hpx_asked_thread *t, uint32_t monitor)
{
    uint32_t owner = hpx_asked_monitor(a, monitor)->owner;
    bool owns = owner != HPX_ASKED_NONE && hpx_asked_thread(a, owner) == t;
    if ((t->state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) && !owns && !hpx_asked_waits(t)) {
        t->monitor = monitor;
    }
}

/* The monitor of a thread that enters or waits. */
static void ask_waiting(struct hpx_asker *a, struct hpx_asked_thread *t)
{
    jvmtiMonitorUsage u;
    jobject object = hpx_ask_contended(a, t->ref);
    if (object == NULL && (t->state & JVMTI_THREAD_STATE_IN_OBJECT_WAIT)) {
        object = t->waited;
        t->waited = NULL;
    }
    a->unknown_waits += object == NULL && waits_still(a, t->ref);
    uint32_t signature = object != NULL ? signature_of(a, object) : 0;
    uint32_t known = signature != 0 ? find(a, object, signature, HPX_ASKED_NONE) : HPX_ASKED_NONE;
    if (known != HPX_ASKED_NONE) {
        note_entering(a, t, known);
    }
    if (signature == 0 || known != HPX_ASKED_NONE) {
        (*a->env)->DeleteLocalRef(a->env, object);
        return;
    }
    bool good = hpx_ask_usage(a, object, &u);
    if (good && u.owner == NULL && u.waiter_count > u.notify_waiter_count) { /* between two owners: the next one has not run yet */
        hpx_asked_usage_free(a, &u);
        good = hpx_ask_usage(a, object, &u);
    }
    if (good && (u.owner != NULL || u.waiter_count + u.notify_waiter_count > 0)) {
        add_used(a, object, signature, &u, true);
        if (!a->no_memory) {
            note_entering(a, t, a->monitors.len - 1);
        }
    } else {
        (*a->env)->DeleteLocalRef(a->env, object);
    }
    hpx_asked_usage_free(a, &u);
}

/* A monitor of the list of what a thread owns. Takes over the reference. */
static void add_owned(struct hpx_asker *a, jobject object, uint32_t thread)
{
    struct hpx_monitor_take *t = a->take;
    uint32_t signature = signature_of(a, object);
    jvmtiMonitorUsage u;
    if (signature == 0 || find(a, object, signature, thread) != HPX_ASKED_NONE) {
        (*a->env)->DeleteLocalRef(a->env, object);
        return;
    }
    if (!hpx_askable.usage || t->counts_asked >= (hpx_askable.biased ? BIASED_MAX : COUNTS_MAX)) {
        struct hpx_asked_monitor *m = add(a, NULL, signature, false);
        if (m != NULL) {
            m->owner = thread;
            m->shown.owned = true;
            m->shown.owner = hpx_asked_thread(a, thread)->serial;
            a->unknown_owners += m->shown.owner == HPX_SERIAL_THREAD;
            m->shown.entry_count = 1;
        }
        t->unasked++;
        (*a->env)->DeleteLocalRef(a->env, object);
        return;
    }
    t->counts_asked++;
    bool used = hpx_ask_usage(a, object, &u) && (u.owner != NULL || u.waiter_count + u.notify_waiter_count > 0);
    /* one that changed its owner since may be in that one's list, too */
    bool keep = used && (u.waiter_count + u.notify_waiter_count > 0 || hpx_asker_thread(a, u.owner) != thread);
    if (used) {
        add_used(a, object, signature, &u, keep);
    }
    if (!keep) {
        (*a->env)->DeleteLocalRef(a->env, object);
    }
    hpx_asked_usage_free(a, &u);
}

static void ask_thread(struct hpx_asker *a, uint32_t thread)
{
    jobject *owned = NULL;
    jint n = 0;
    uint64_t begun = hpx_asker_begin();
    jvmtiError e = (*a->jvmti)->GetOwnedMonitorInfo(a->jvmti, hpx_asked_thread(a, thread)->ref, &n, &owned);
    hpx_asker_end(a, begun);
    if (e != JVMTI_ERROR_NONE) {
        return;
    }
    if (n > 0) {
        (void)(*a->env)->EnsureLocalCapacity(a->env, 64);
        (*a->env)->ExceptionClear(a->env);
    }
    for (jint i = 0; i < n; i++) {
        add_owned(a, owned[i], thread);
    }
    hpx_asker_release(a, owned);
}

static struct hpx_serials *list_of(const struct hpx_asker *a, uint32_t monitor, unsigned which)
{
    struct hpx_monitor *m = &hpx_asked_monitor(a, monitor)->shown;
    return which == ENTER ? &m->enter : &m->notify;
}

/* The list that the thread is in; NULL: none. */
static struct hpx_serials *list_with(const struct hpx_asker *a, uint32_t thread)
{
    const struct hpx_asked_thread *t = hpx_asked_thread(a, thread);
    return t->monitor != HPX_ASKED_NONE    ? list_of(a, t->monitor, ENTER)
           : t->notified != HPX_ASKED_NONE ? list_of(a, t->notified, NOTIFY)
                                           : NULL;
}

/* Gives every list its place among the serials, then fills the lists: strangers first. */
static void make_lists(struct hpx_asker *a)
{
    for (uint32_t i = 0; i < a->threads.len; i++) {
        struct hpx_serials *l = list_with(a, i);
        if (l != NULL) {
            l->n++;
        }
    }
    for (uint32_t i = 0; i < 2 * a->monitors.len; i++) {
        struct hpx_serials *l = list_of(a, i / 2, i % 2);
        uint32_t strangers = hpx_asked_monitor(a, i / 2)->strangers[i % 2], n = l->n + strangers;
        *l = (struct hpx_serials){a->serials.len, strangers};
        for (uint32_t k = 0; k < n; k++) {
            uint32_t *serial = hpx_vec_push(&a->serials);
            if (serial == NULL) {
                a->no_memory = true;
                return;
            }
            *serial = HPX_SERIAL_THREAD;
        }
    }
    for (uint32_t i = 0; i < a->threads.len; i++) {
        struct hpx_serials *l = list_with(a, i);
        if (l != NULL) {
            *(uint32_t *)hpx_vec_at(&a->serials, l->first + l->n++) = hpx_asked_thread(a, i)->serial;
        }
    }
    for (uint32_t i = 0; i < a->monitors.len; i++) {
        const struct hpx_monitor *m = &hpx_asked_monitor(a, i)->shown;
        a->hidden_owners += !m->owned && m->enter.n > 0;
    }
}

void hpx_ask_waited(struct hpx_asker *a)
{
    const jint waiting = JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER | JVMTI_THREAD_STATE_IN_OBJECT_WAIT;
    for (uint32_t i = 0; hpx_askable.contended && hpx_askable.usage && !a->no_memory && i < a->threads.len; i++) {
        struct hpx_asked_thread *t = hpx_asked_thread(a, i);
        if (!t->alive || hpx_asked_waits(t) || !(t->state & waiting)) {
            continue;
        }
        if (hpx_asker_late()) {
            a->late.waits++;
        } else {
            ask_waiting(a, t);
        }
    }
}

void hpx_ask_owned(struct hpx_asker *a)
{
    for (uint32_t i = 0; hpx_askable.owned && !a->no_memory && i < a->threads.len; i++) {
        if (!hpx_asked_thread(a, i)->alive) {
            continue;
        }
        if (hpx_askable.owned_stops && a->owned_asked >= OWNED_MAX) {
            a->owned_unasked++;
        } else if (hpx_asker_late()) {
            a->late.owns++;
        } else {
            a->owned_asked++;
            ask_thread(a, i);
        }
    }
    if (!a->no_memory) {
        make_lists(a);
    }
}
