/* SPDX-License-Identifier: BSD-2-Clause */
/* raw_monitors.c: raw monitors of the agent, by pthreads: a thread that waits here is "in native" for the VM, so a collection does not wait
 * for it. One lock guards all monitors; it is held for moments.
 *
 * Collections. An agent of JVMPI enters its monitor in GC_START, and calls functions of the VM in handlers in which it has entered the same
 * one: in JVMPI no collection comes then. Here one may, and then the owner stands still in the VM while the thread of the collection wants
 * the monitor. So that thread borrows it from an owner that is inside one of our functions (hpx_jvmpi_vm_begin/end, or waiting here for
 * another monitor), and the owner does not leave the function before the loan is back. It also borrows from an owner that stands still in
 * the VM because the agent called JNI itself (thread_state.h): that one goes on with the world, behind the handler.
 * If the VM shows no states, a handler runs only if no owner is outside, and nobody enters meanwhile. */
#include "functions.h"
#include "log.h"
#include "thread_state.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAGIC   0x4d52584au
#define LOOK_NS 50000

/* What others see of a thread; in its thread-local storage. Under `lock` but for depth, which is the thread's own, and env
 * while it owns nothing. */
struct owner {
    JNIEnv *env;  /* when it entered its first monitor */
    int depth;    /* of vm_begin() */
    int owned;    /* monitors */
    int borrowed; /* of these */
    bool inside;  /* stands in one of our functions: its monitors may be borrowed */
};

struct waiter {
    struct waiter *next;
    JNIEnv *env;
};

struct _JVMPI_RawMonitor { /* never freed, so that a stale handle is recognised */
    uint32_t magic;        /* MAGIC: exists */
    char *name;
    struct owner *owner, *borrower;
    int entries, loans;
    struct waiter *entering, *waiting;
    unsigned notified; /* counts RawMonitorNotifyAll() */
    pthread_cond_t free, notify;
    JVMPI_RawMonitor next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool stopped_blind;                                 /* a handler runs while the world is stopped, and states are unknown */
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER; /* for owners */
static JVMPI_RawMonitor all, spare;
static _Thread_local struct owner self;
static _Thread_local bool in_event; /* monitors entered in handlers of these events cause none */

static bool is_valid(JVMPI_RawMonitor m)
{
    if (m != NULL && m->magic == MAGIC) {
        return true;
    }
    hpx_jvmpi_rule("a function got a raw monitor that does not exist");
    return false;
}

static jint count(const struct waiter *w)
{
    jint n = 0;
    for (; w != NULL; w = w->next) {
        n++;
    }
    return n;
}

static void add(struct waiter **list, struct waiter *w)
{
    w->env = hpx_jvmpi_env();
    w->next = *list;
    *list = w;
}

static void take_out(struct waiter **list, struct waiter *w)
{
    while (*list != w) {
        list = &(*list)->next;
    }
    *list = w->next;
}

/* ---- loans ---- */

/* From here on this thread touches nothing of the agent. */
static void go_inside_locked(void)
{
    if (self.owned > 0 && !self.inside) {
        self.inside = true;
    }
}

static void come_out_locked(void)
{
    while (self.borrowed > 0) {
        (void)pthread_cond_wait(&returned, &lock);
    }
    self.inside = false;
}

static void go_inside(void)
{
    if (self.owned > 0) {
        (void)pthread_mutex_lock(&lock);
        go_inside_locked();
        (void)pthread_mutex_unlock(&lock);
    }
}

static void come_out(void)
{
    if (self.inside) {
        (void)pthread_mutex_lock(&lock);
        come_out_locked();
        (void)pthread_mutex_unlock(&lock);
    }
}

void hpx_jvmpi_vm_begin(void)
{
    if (self.depth++ == 0) {
        go_inside();
    }
}

void hpx_jvmpi_vm_end(void)
{
    if (--self.depth == 0) {
        come_out();
    }
}

int hpx_jvmpi_vm_pause(void)
{
    int depth = self.depth;
    self.depth = 0;
    come_out();
    return depth;
}

void hpx_jvmpi_vm_resume(int depth)
{
    self.depth = depth;
    if (depth > 0) {
        go_inside();
    }
}

/* ---- owners ---- */

static void release_locked(JVMPI_RawMonitor m)
{
    m->owner = NULL;
    m->entries = 0;
    (void)pthread_cond_signal(&m->free);
}

/* A thread that ends as an owner would be one for ever. */
static void thread_ends(void *arg)
{
    struct owner *o = arg;
    (void)pthread_mutex_lock(&lock);
    for (JVMPI_RawMonitor m = all; m != NULL; m = m->next) {
        if (m->owner == o) {
            hpx_jvmpi_rule("a thread ended that had not exited a raw monitor");
            release_locked(m);
        }
    }
    o->owned = 0;
    (void)pthread_mutex_unlock(&lock);
}

static pthread_key_t ending;
static pthread_once_t ending_made = PTHREAD_ONCE_INIT;

static void make_ending(void)
{
    (void)pthread_key_create(&ending, thread_ends);
}

static void own_locked(JVMPI_RawMonitor m, int entries)
{
    m->owner = &self;
    m->entries = entries;
    self.owned++;
}

static bool is_stopped(void)
{
    return hpx_jvmpi_mode() == HPX_JVMPI_STOP && self.env == NULL;
}

static bool can_lend(const struct owner *o)
{
    return o->inside || (o->env != NULL && hpx_jvmpi_world_is_stopped() && hpx_jvmpi_stands_still(o->env));
}

/* Takes or borrows it, if that can be. */
static bool try_locked(JVMPI_RawMonitor m, int entries, bool stopped)
{
    if (m->borrower != NULL || (stopped_blind && !hpx_jvmpi_world_is_stopped())) {
        return false;
    }
    if (m->owner == NULL) {
        own_locked(m, entries);
        return true;
    }
    if (stopped && can_lend(m->owner)) {
        m->borrower = &self;
        m->loans = 1;
        m->owner->borrowed++;
        return true;
    }
    return false;
}

/* Nobody says that an owner stands still, so a thread of collections looks again. */
static void wait_a_moment_locked(JVMPI_RawMonitor m, bool stopped)
{
    if (!stopped) {
        (void)pthread_cond_wait(&m->free, &lock);
        return;
    }
    (void)pthread_mutex_unlock(&lock);
    (void)nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    (void)pthread_mutex_lock(&lock);
}

/* w: is in m->entering. */
static void wait_until_mine_locked(JVMPI_RawMonitor m, int entries, struct waiter *w)
{
    bool stopped = is_stopped();
    go_inside_locked();
    while (!try_locked(m, entries, stopped)) {
        wait_a_moment_locked(m, stopped);
    }
    take_out(&m->entering, w);
    come_out_locked();
    if (self.depth > 0) {
        go_inside_locked();
    }
}

/* name: m->name, or a copy if the calling thread has nothing that keeps others from destroying m. */
static void send(jint event, JVMPI_RawMonitor m, char *name)
{
    if (!hpx_jvmpi_on(event) || name[0] == '_' || in_event || is_stopped()) {
        return;
    }
    in_event = true;
    hpx_jvmpi_notify(&(JVMPI_Event){.event_type = event, .env_id = hpx_jvmpi_env(), .u.raw_monitor = {.name = name, .id = m}});
    in_event = false;
}

/* ---- the functions ---- */

static JVMPI_RawMonitor room_locked(void)
{
    JVMPI_RawMonitor m = spare;
    if (m != NULL) {
        spare = m->next;
        return m;
    }
    m = calloc(1, sizeof(*m));
    if (m != NULL) {
        pthread_condattr_t monotonic;
        (void)pthread_condattr_init(&monotonic);
        (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        (void)pthread_cond_init(&m->free, NULL);
        (void)pthread_cond_init(&m->notify, &monotonic);
        (void)pthread_condattr_destroy(&monotonic);
    }
    return m;
}

JVMPI_RawMonitor hpx_jvmpi_raw_create(char *name)
{
    hpx_jvmpi_called(HPX_JVMPI_F_RawMonitorCreate);
    char *copy = strdup(name == NULL ? "" : name);
    if (copy == NULL) {
        return NULL;
    }
    (void)pthread_mutex_lock(&lock);
    JVMPI_RawMonitor m = room_locked();
    if (m != NULL) {
        m->magic = MAGIC;
        m->name = copy;
        m->next = all;
        all = m;
    } else {
        free(copy);
    }
    (void)pthread_mutex_unlock(&lock);
    return m;
}

/* false: others have it, and w is in the list of those who enter. */
static bool enter_locked(JVMPI_RawMonitor m, struct waiter *w)
{
    if (m->borrower == &self) {
        m->loans++;
    } else if (m->owner == &self) {
        m->entries++;
    } else if (!try_locked(m, 1, is_stopped())) {
        add(&m->entering, w);
        return false;
    }
    return true;
}

static void enter_contended(JVMPI_RawMonitor m, struct waiter *w)
{
    send(JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER, m, m->name);
    (void)pthread_mutex_lock(&lock);
    wait_until_mine_locked(m, 1, w);
    (void)pthread_mutex_unlock(&lock);
    send(JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED, m, m->name);
}

void hpx_jvmpi_raw_enter(JVMPI_RawMonitor m)
{
    struct waiter w;
    hpx_jvmpi_called(HPX_JVMPI_F_RawMonitorEnter);
    if (self.owned == 0) {
        self.env = hpx_jvmpi_env();
        (void)pthread_once(&ending_made, make_ending);
        (void)pthread_setspecific(ending, &self); /* even if the monitor does not exist: nothing is released then */
    }
    (void)pthread_mutex_lock(&lock);
    bool done = !is_valid(m) || enter_locked(m, &w);
    (void)pthread_mutex_unlock(&lock);
    if (!done) {
        enter_contended(m, &w);
    }
}

static void give_back_locked(JVMPI_RawMonitor m)
{
    if (--m->loans == 0) {
        m->borrower = NULL;
        m->owner->borrowed--;
        (void)pthread_cond_broadcast(&returned);
    }
}

/* An owner that stood still may come here before the handler that borrowed the monitor has exited it. */
static void await_return_locked(JVMPI_RawMonitor m)
{
    while (m->borrower != NULL) {
        (void)pthread_cond_wait(&returned, &lock);
    }
}

void hpx_jvmpi_raw_exit(JVMPI_RawMonitor m)
{
    hpx_jvmpi_called(HPX_JVMPI_F_RawMonitorExit);
    char *name = NULL;
    (void)pthread_mutex_lock(&lock);
    if (!is_valid(m)) {
    } else if (m->borrower == &self) {
        give_back_locked(m);
    } else if (m->owner != &self) {
        hpx_jvmpi_rule("RawMonitorExit was called by a thread that had not entered the monitor");
    } else if (m->entries > 1) {
        m->entries--;
    } else {
        await_return_locked(m);
        name = m->entering != NULL && hpx_jvmpi_on(JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT) ? strdup(m->name) : NULL;
        self.owned--;
        release_locked(m);
    }
    (void)pthread_mutex_unlock(&lock);
    if (name != NULL) {
        send(JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT, m, name);
        free(name);
    }
}

static struct timespec in(jlong ms)
{
    struct timespec t;
    const jlong most = (jlong)1000 * 3600 * 24 * 365 * 100;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    ms = ms < most ? ms : most;
    t.tv_sec += (time_t)(ms / 1000);
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static void wait_locked(JVMPI_RawMonitor m, jlong ms)
{
    struct timespec until = in(ms);
    struct waiter w;
    int entries = m->entries, rc = 0;
    unsigned before = m->notified;
    add(&m->waiting, &w);
    self.owned--;
    release_locked(m);
    go_inside_locked();
    while (m->notified == before && rc == 0) {
        rc = ms == 0 ? pthread_cond_wait(&m->notify, &lock) : pthread_cond_timedwait(&m->notify, &lock, &until);
    }
    take_out(&m->waiting, &w);
    add(&m->entering, &w);
    wait_until_mine_locked(m, entries, &w);
}

void hpx_jvmpi_raw_wait(JVMPI_RawMonitor m, jlong ms)
{
    hpx_jvmpi_called(HPX_JVMPI_F_RawMonitorWait);
    (void)pthread_mutex_lock(&lock);
    if (!is_valid(m)) {
    } else if (m->owner != &self || m->borrower != NULL) {
        hpx_jvmpi_rule("RawMonitorWait was called by a thread that had not entered the monitor");
    } else if (ms >= 0) {
        wait_locked(m, ms);
    }
    (void)pthread_mutex_unlock(&lock);
}

void hpx_jvmpi_raw_notify_all(JVMPI_RawMonitor m)
{
    hpx_jvmpi_called(HPX_JVMPI_F_RawMonitorNotifyAll);
    (void)pthread_mutex_lock(&lock);
    if (is_valid(m)) {
        if (m->owner != &self && m->borrower != &self) {
            hpx_jvmpi_rule("RawMonitorNotifyAll was called by a thread that had not entered the monitor");
        }
        m->notified++;
        (void)pthread_cond_broadcast(&m->notify);
    }
    (void)pthread_mutex_unlock(&lock);
}

static void destroy_locked(JVMPI_RawMonitor m)
{
    JVMPI_RawMonitor *p = &all;
    while (*p != m) {
        p = &(*p)->next;
    }
    *p = m->next;
    if (m->owner == &self) {
        self.owned--;
    }
    m->magic = 0;
    m->owner = NULL;
    m->entries = 0;
    free(m->name);
    m->name = NULL;
    m->next = spare;
    spare = m;
}

void hpx_jvmpi_raw_destroy(JVMPI_RawMonitor m)
{
    hpx_jvmpi_called(HPX_JVMPI_F_RawMonitorDestroy);
    (void)pthread_mutex_lock(&lock);
    if (!is_valid(m)) {
    } else if ((m->owner != NULL && m->owner != &self) || m->borrower != NULL || m->entering != NULL || m->waiting != NULL) {
        hpx_jvmpi_rule("RawMonitorDestroy was called for a monitor that other threads use; it stays");
    } else {
        destroy_locked(m);
    }
    (void)pthread_mutex_unlock(&lock);
}

/* ---- while the world is stopped ---- */

bool hpx_jvmpi_raw_stop(void)
{
    if (hpx_jvmpi_state_known()) {
        return true;
    }
    (void)pthread_mutex_lock(&lock);
    bool may = true;
    for (JVMPI_RawMonitor m = all; m != NULL; m = m->next) {
        may = may && (m->owner == NULL || m->owner == &self || m->owner->inside);
    }
    stopped_blind = may;
    (void)pthread_mutex_unlock(&lock);
    return may;
}

void hpx_jvmpi_raw_go_on(void)
{
    if (!hpx_jvmpi_state_known()) {
        (void)pthread_mutex_lock(&lock);
        stopped_blind = false;
        for (JVMPI_RawMonitor m = all; m != NULL; m = m->next) {
            (void)pthread_cond_signal(&m->free);
        }
        (void)pthread_mutex_unlock(&lock);
    }
}

void hpx_jvmpi_raw_detach(void)
{
    (void)pthread_mutex_lock(&lock);
    self.env = NULL;
    (void)pthread_mutex_unlock(&lock);
}

/* ---- for the monitor dump ---- */

static void list(const struct waiter *w, JNIEnv **to)
{
    for (; w != NULL; w = w->next) {
        *to++ = w->env;
    }
}

void hpx_jvmpi_raw_each(void (*each)(void *ctx, const struct hpx_jvmpi_raw *raw), void *ctx)
{
    (void)pthread_mutex_lock(&lock);
    for (JVMPI_RawMonitor m = all; m != NULL; m = m->next) {
        jint entering = count(m->entering), waiting = count(m->waiting);
        JNIEnv **envs = calloc((size_t)(entering + waiting) + 1, sizeof(*envs));
        if (envs == NULL) {
            continue;
        }
        list(m->entering, envs);
        list(m->waiting, envs + entering);
        each(ctx, &(struct hpx_jvmpi_raw){.id = m,
                                          .name = m->name,
                                          .owner = m->owner == NULL ? NULL : m->owner->env,
                                          .entries = m->entries,
                                          .enterers = entering,
                                          .waiters = waiting,
                                          .entering = envs,
                                          .waiting = envs + entering});
        free(envs);
    }
    (void)pthread_mutex_unlock(&lock);
}

const struct hpx_jvmpi_source hpx_jvmpi_raw_monitors = {
    .events = (const jint[]){JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER, JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED,
                             JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT, 0},
};
