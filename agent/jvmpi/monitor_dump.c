/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor_dump.c: MONITOR_DUMP: all threads with trace and status, Java monitors that a thread owns, enters or waits on, raw monitors.
 *
 * Traces and status come from one moment, owner and waiters of each monitor from another: the VM answers for one monitor at a time, and
 * stops the program every time. Virtual threads are not listed, and a monitor that one owns has no owner. */
#include "attach_barrier.h"
#include "dump_bytes.h"
#include "dump_walk.h"
#include "log.h"
#include <stdlib.h>
#include <time.h>

#define ATTEMPTS 200 /* to ask while a thread attaches, every 50 us */

/* A Java monitor, as far as its threads tell it. */
struct monitor {
    jobject object; /* a reference of the local frame */
    jobjectID id;
    JNIEnv *owner;
};

struct dump {
    JNIEnv *env;
    struct hpx_jvmpi_stacks stacks;
    jobjectID *awaited;             /* by thread: the monitor that it enters or waits on */
    struct hpx_address_map numbers; /* id of a monitor's object -> 1 + its number */
    struct hpx_jvmpi_bytes monitors, out;
    bool failed; /* no memory */
};

static struct monitor *monitor_at(const struct dump *d, size_t number)
{
    return (struct monitor *)(void *)d->monitors.at + number;
}

/* ---- which monitors there are ---- */

/* Takes over the reference. owner: NULL: not known. The object's id. */
static jobjectID add(struct dump *d, jobject object, JNIEnv *owner)
{
    jobjectID id = hpx_jvmpi_id_of(object);
    struct hpx_address_entry *e = id != NULL ? hpx_address_map_put(&d->numbers, (uint64_t)hpx_jvmpi_tag(id)) : NULL;
    if (e == NULL) {
        d->failed = d->failed || object != NULL;
        return NULL;
    }
    if (e->value == 0) {
        const struct monitor one = {.object = object, .id = id, .owner = owner};
        hpx_jvmpi_bytes_add(&d->monitors, &one, sizeof one);
        e->value = d->monitors.len / sizeof one;
        d->failed = d->failed || d->monitors.failed;
        return id;
    }
    struct monitor *m = monitor_at(d, e->value - 1);
    m->owner = owner != NULL ? owner : m->owner;
    (*d->env)->DeleteLocalRef(d->env, object);
    return id;
}

static void ask_thread(struct dump *d, jint thread)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    jobject object = NULL, *owned = NULL;
    jint n = 0;
    if ((*jvmti)->GetCurrentContendedMonitor(jvmti, d->stacks.threads[thread], &object) == JVMTI_ERROR_NONE) {
        d->awaited[thread] = add(d, object, NULL);
    }
    if ((*jvmti)->GetOwnedMonitorInfo(jvmti, d->stacks.threads[thread], &n, &owned) != JVMTI_ERROR_NONE) {
        return;
    }
    (void)(*d->env)->EnsureLocalCapacity(d->env, n + 64);
    (*d->env)->ExceptionClear(d->env);
    for (jint i = 0; i < n; i++) {
        (void)add(d, owned[i], d->stacks.traces[thread].env_id);
    }
    hpx_jvmpi_give_back(owned);
}

/* ---- records ---- */

/* The number of a list's members comes before them: room for it is taken first. */
static size_t begin_list(struct dump *d)
{
    return hpx_jvmpi_bytes_zeros(&d->out, sizeof(uint32_t));
}

static bool listed(const struct dump *d, size_t list, const JNIEnv *env)
{
    for (size_t at = list + sizeof(uint32_t); at < d->out.len; at += sizeof env) {
        if (memcmp(d->out.at + at, &env, sizeof env) == 0) {
            return true;
        }
    }
    return false;
}

static void end_list(struct dump *d, size_t list)
{
    uint32_t n = (uint32_t)((d->out.len - list) / sizeof(JNIEnv *));
    hpx_jvmpi_bytes_set(&d->out, list, &n, sizeof n);
}

static void put_head(struct dump *d, jobjectID id, JNIEnv *owner, jint entries)
{
    hpx_jvmpi_bytes_u1(&d->out, JVMPI_MONITOR_JAVA);
    hpx_jvmpi_bytes_pointer(&d->out, id);
    hpx_jvmpi_bytes_pointer(&d->out, owner);
    hpx_jvmpi_bytes_u4(&d->out, (uint32_t)entries);
}

static bool among(const jthread *threads, jint n, JNIEnv *env)
{
    for (jint i = 0; i < n; i++) {
        if (hpx_jvmpi_env_of(threads[i]) == env) {
            return true;
        }
    }
    return false;
}

/* VMs before JDK 23 list those that wait to be notified also among those that enter, and name one that has just entered as owner, too. */
static void put_told(struct dump *d, jobjectID id, const jvmtiMonitorUsage *u)
{
    JNIEnv *owner = hpx_jvmpi_env_of(u->owner);
    put_head(d, id, owner, u->entry_count);
    size_t list = begin_list(d);
    for (jint i = 0; i < u->waiter_count; i++) {
        JNIEnv *env = hpx_jvmpi_env_of(u->waiters[i]);
        if (env != NULL && env != owner && !among(u->notify_waiters, u->notify_waiter_count, env) && !listed(d, list, env)) {
            hpx_jvmpi_bytes_pointer(&d->out, env);
        }
    }
    end_list(d, list);
    list = begin_list(d);
    for (jint i = 0; i < u->notify_waiter_count; i++) {
        JNIEnv *env = hpx_jvmpi_env_of(u->notify_waiters[i]);
        if (env != NULL && !listed(d, list, env)) {
            hpx_jvmpi_bytes_pointer(&d->out, env);
        }
    }
    end_list(d, list);
}

static void put_waiting(struct dump *d, jobjectID id, jint status)
{
    size_t list = begin_list(d);
    for (jint i = 0; i < d->stacks.n; i++) {
        if (d->awaited[i] == id && (d->stacks.status[i] & ~(JVMPI_THREAD_SUSPENDED | JVMPI_THREAD_INTERRUPTED)) == status) {
            hpx_jvmpi_bytes_pointer(&d->out, d->stacks.traces[i].env_id);
        }
    }
    end_list(d, list);
}

/* The VM is not asked, or does not answer: what the threads told. */
static void put_known(struct dump *d, const struct monitor *m)
{
    put_head(d, m->id, m->owner, m->owner != NULL);
    put_waiting(d, m->id, JVMPI_THREAD_MONITOR_WAIT);
    put_waiting(d, m->id, JVMPI_THREAD_CONDVAR_WAIT);
}

static void free_usage(const struct dump *d, const jvmtiMonitorUsage *u)
{
    (*d->env)->DeleteLocalRef(d->env, u->owner);
    for (jint i = 0; i < u->waiter_count; i++) {
        (*d->env)->DeleteLocalRef(d->env, u->waiters[i]);
    }
    for (jint i = 0; i < u->notify_waiter_count; i++) {
        (*d->env)->DeleteLocalRef(d->env, u->notify_waiters[i]);
    }
    hpx_jvmpi_give_back(u->waiters);
    hpx_jvmpi_give_back(u->notify_waiters);
}

static void put_java(struct dump *d, const struct monitor *m)
{
    jvmtiMonitorUsage u = {.owner = NULL};
    enum hpx_usage_answer answer = hpx_attach_barrier_ask(hpx_jvmpi.jvmti, m->object, &u);
    for (int i = 0; i < ATTEMPTS && answer == HPX_USAGE_ATTACHING; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
        answer = hpx_attach_barrier_ask(hpx_jvmpi.jvmti, m->object, &u);
    }
    if (answer != HPX_USAGE_TOLD) {
        put_known(d, m);
        return;
    }
    if (u.owner != NULL || u.waiter_count + u.notify_waiter_count > 0) { /* else it is free by now */
        put_told(d, m->id, &u);
    }
    free_usage(d, &u);
}

static void put_envs(struct dump *d, JNIEnv *const *envs, jint n)
{
    hpx_jvmpi_bytes_u4(&d->out, (uint32_t)n);
    hpx_jvmpi_bytes_add(&d->out, envs, (size_t)n * sizeof(*envs));
}

static void put_raw(void *ctx, const struct hpx_jvmpi_raw *raw)
{
    struct dump *d = ctx;
    hpx_jvmpi_bytes_u1(&d->out, JVMPI_MONITOR_RAW);
    hpx_jvmpi_bytes_pointer(&d->out, raw->name);
    hpx_jvmpi_bytes_pointer(&d->out, raw->id);
    hpx_jvmpi_bytes_pointer(&d->out, raw->owner);
    hpx_jvmpi_bytes_u4(&d->out, (uint32_t)raw->entries);
    put_envs(d, raw->entering, raw->enterers);
    put_envs(d, raw->waiting, raw->waiters);
}

/* ---- the request ---- */

static bool make(struct dump *d)
{
    d->awaited = hpx_jvmpi_stacks_take(&d->stacks, d->env) ? calloc((size_t)d->stacks.n + 1, sizeof(void *)) : NULL;
    for (jint i = 0; d->awaited != NULL && !d->failed && i < d->stacks.n; i++) {
        ask_thread(d, i);
    }
    for (size_t i = 0; !d->failed && i < d->monitors.len / sizeof(struct monitor); i++) {
        put_java(d, monitor_at(d, i));
    }
    hpx_jvmpi_raw_each(put_raw, d);
    return d->awaited != NULL && !d->failed && !d->out.failed;
}

static void send(struct dump *d)
{
    static char nothing;
    char *begin = d->out.at != NULL ? d->out.at : &nothing;
    hpx_jvmpi_own_end();
    hpx_jvmpi_notify(&(JVMPI_Event){.event_type = JVMPI_EVENT_MONITOR_DUMP | JVMPI_REQUESTED_EVENT,
                                    .env_id = d->env,
                                    .u.monitor_dump = {.begin = begin,
                                                       .end = begin + d->out.len,
                                                       .num_traces = d->stacks.n,
                                                       .traces = d->stacks.traces,
                                                       .threads_status = d->stacks.status}});
    hpx_jvmpi_own_begin();
}

static jint requested(jint event, void *arg)
{
    (void)event, (void)arg;
    struct dump d = {.env = hpx_jvmpi_env()};
    jthrowable pending;
    if (!hpx_jvmpi_dump_begin(d.env, &pending)) {
        return JVMPI_FAIL;
    }
    bool good = make(&d);
    if (good) {
        send(&d);
    } else {
        hpx_warn("jvmpi: there is no monitor dump: the VM refuses, or memory is short");
    }
    free(d.awaited);
    hpx_jvmpi_stacks_fini(&d.stacks);
    hpx_address_map_fini(&d.numbers);
    hpx_jvmpi_bytes_fini(&d.monitors);
    hpx_jvmpi_bytes_fini(&d.out);
    hpx_jvmpi_dump_end(d.env, pending);
    return good ? JVMPI_SUCCESS : JVMPI_FAIL;
}

/* JDK 9 to 15 compile without escape analysis from then on, and give this capability at load alone: there monitors that nobody waits for
 * are missing. */
static void capabilities(jvmtiCapabilities *wanted)
{
    wanted->can_get_owned_monitor_info = hpx_jvmpi.jdk < 9 || hpx_jvmpi.jdk > 15;
}

static void live(JNIEnv *env, jthread thread)
{
    (void)env, (void)thread;
    hpx_attach_barrier_load(hpx_jvmpi.vm, hpx_jvmpi.jdk);
}

const struct hpx_jvmpi_source hpx_jvmpi_monitor_dump = {
    .events = (const jint[]){JVMPI_EVENT_MONITOR_DUMP, 0},
    .requested = requested,
    .capabilities = capabilities,
    .live = live,
};
