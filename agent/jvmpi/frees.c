/* SPDX-License-Identifier: BSD-2-Clause */
/* frees.c: see frees.h. */
#include "frees.h"
#include "class_events.h"
#include "clock.h"
#include "later.h"
#include "log.h"
#include "sigmask.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#define QUIET_NS     UINT64_C(50000000)
#define QUIET_MOST   20u
#define SECOND       1000000000
#define LAST_WAIT_NS UINT64_C(2000000000)

struct followed {
    jweak ref;
    jobjectID id;
    bool is_class;
    struct followed *next;
};

/* A stack; taken only as a whole, so that it has no A-B-A. release: who pushes; acquire: who takes it */
static _Atomic(struct followed *) fresh;
static struct followed *known; /* of who looks */
static atomic_bool looks;      /* acquire, release: a thread looks */
static atomic_bool wanted;     /* relaxed: some event is on, or was */
static atomic_bool ended;      /* relaxed: the thread has no more to do */
static bool started;           /* the lock's of switches, or VMInit's */
static sem_t collected;

/* NULL: no memory. An exception that this makes is taken back; one of the program's stays. */
static jweak refer(JNIEnv *env, jobject object)
{
    hpx_jvmpi_own_begin(); /* this reference is none of the program's */
    bool was = (*env)->ExceptionCheck(env);
    jweak ref = (*env)->NewWeakGlobalRef(env, object);
    if (ref == NULL && !was) {
        (*env)->ExceptionClear(env);
    }
    hpx_jvmpi_own_end();
    return ref;
}

bool hpx_jvmpi_frees_follow(jobject object, jobjectID id, bool is_class)
{
    static atomic_bool told; /* relaxed: only one thread gets false */
    JNIEnv *env = hpx_jvmpi_env();
    if (env == NULL || id == NULL) {
        return false;
    }
    struct followed *f = malloc(sizeof *f);
    jweak ref = f != NULL ? refer(env, object) : NULL;
    if (ref == NULL) {
        free(f);
        if (!atomic_exchange_explicit(&told, true, memory_order_relaxed)) {
            hpx_warn("jvmpi: no memory to follow an object; OBJECT_FREE and CLASS_UNLOAD are missing for some; raise the memory limit of "
                     "the process");
        }
        return false;
    }
    *f = (struct followed){ref, id, is_class, atomic_load_explicit(&fresh, memory_order_relaxed)};
    while (!atomic_compare_exchange_weak_explicit(&fresh, &f->next, f, memory_order_release, memory_order_relaxed)) {
        /* partner: adopt() */
    }
    return true;
}

/* Moves what has come to the beginning of `known`: a class was followed after its object, and is told first. */
static void adopt(void)
{
    struct followed *come = atomic_exchange_explicit(&fresh, NULL, memory_order_acquire), /* partner: hpx_jvmpi_frees_follow() */
        **last = &come;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = known;
    known = come;
}

static bool is_dead(JNIEnv *env, const struct followed *f)
{
    hpx_jvmpi_own_begin();
    bool dead = (*env)->IsSameObject(env, f->ref, NULL);
    if (dead) {
        (*env)->DeleteWeakGlobalRef(env, f->ref);
    }
    hpx_jvmpi_own_end();
    return dead;
}

/* false: another thread looks. */
static bool look(JNIEnv *env)
{
    if (atomic_exchange_explicit(&looks, true, memory_order_acquire)) { /* partner: the end of this function */
        return false;
    }
    adopt();
    for (struct followed **at = &known; *at != NULL;) {
        struct followed *f = *at;
        if (!is_dead(env, f)) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        if (f->is_class) {
            hpx_jvmpi_class_events_freed(f->id);
        } else {
            hpx_jvmpi_objects_freed(f->id);
        }
        free(f);
    }
    atomic_store_explicit(&looks, false, memory_order_release); /* partner: the beginning */
    return true;
}

/* true: a collection came. ns: how long it waits, 0: until one comes. */
static bool await_one(uint64_t ns)
{
    struct timespec until;
    int rc;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)ns;
    until.tv_sec += until.tv_nsec / SECOND;
    until.tv_nsec %= SECOND;
    while ((rc = ns > 0 ? hpx_sem_wait_until(&collected, &until) : sem_wait(&collected)) != 0 && errno == EINTR) {
    }
    return rc == 0;
}

/* Until a collection is over, and no other has come for a moment: collectors that work beside the program have several events, and under
 * -Xcheck:jni whoever looks at a reference keeps its object alive while they mark. */
static void await_collection(void)
{
    (void)await_one(0);
    for (unsigned i = 0; i < QUIET_MOST && !atomic_load_explicit(&ended, memory_order_relaxed) && await_one(QUIET_NS); i++) {
    }
}

static void *run(void *unused)
{
    void *env = NULL;
    char name[] = "hprofx frees";
    JavaVMAttachArgs args = {.version = JNI_VERSION_1_6, .name = name};
    (void)unused;
    hpx_jvmpi_own_begin(); /* the agent is not told of this thread */
    jint rc = (*hpx_jvmpi.vm)->AttachCurrentThreadAsDaemon(hpx_jvmpi.vm, &env, &args);
    hpx_jvmpi_own_end();
    if (rc != JNI_OK) {
        hpx_warn("jvmpi: the VM does not attach the thread that looks for freed objects; OBJECT_FREE and CLASS_UNLOAD are sent at the end "
                 "only; raise the memory limit of the process");
        return NULL;
    }
    while (!atomic_load_explicit(&ended, memory_order_relaxed)) {
        (void)look(env);
        await_collection();
    }
    hpx_jvmpi_own_begin();
    (void)(*hpx_jvmpi.vm)->DetachCurrentThread(hpx_jvmpi.vm);
    hpx_jvmpi_own_end();
    return NULL;
}

static bool start(void)
{
    sigset_t ours, old;
    pthread_t thread;
    if (started) {
        return true;
    }
    hpx_sigmask_ours(&ours);
    (void)pthread_sigmask(SIG_BLOCK, &ours, &old);
    started = pthread_create(&thread, NULL, run, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (started) {
        (void)pthread_detach(thread);
    }
    return started;
}

bool hpx_jvmpi_frees_need_collections(void)
{
    return atomic_load_explicit(&wanted, memory_order_relaxed);
}

bool hpx_jvmpi_frees_begin(void)
{
    if (!hpx_jvmpi_frees_by_looks()) {
        return hpx_jvmpi_listen(JVMTI_EVENT_OBJECT_FREE, true);
    }
    if (!hpx_jvmpi_frees_need_collections()) {
        (void)sem_init(&collected, 0, 0);
    }
    atomic_store_explicit(&wanted, true, memory_order_relaxed); /* a callback comes only once the VM was asked for it, below */
    bool live = atomic_load_explicit(&hpx_jvmpi.phase, memory_order_relaxed) == HPX_JVMPI_LIVE;
    return (!live || start()) && hpx_jvmpi_listen(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, true);
}

void hpx_jvmpi_frees_live(void)
{
    if (hpx_jvmpi_frees_need_collections() && !start()) {
        hpx_warn("jvmpi: the thread that looks for freed objects cannot be started; OBJECT_FREE and CLASS_UNLOAD are sent at the end only; "
                 "raise the limit of threads");
    }
}

void hpx_jvmpi_frees_collected(void)
{
    if (hpx_jvmpi_frees_need_collections()) {
        (void)sem_post(&collected);
    }
}

void hpx_jvmpi_frees_last(JNIEnv *env)
{
    uint64_t until = hpx_clock_mono() + LAST_WAIT_NS;
    if (!hpx_jvmpi_frees_need_collections()) {
        return;
    }
    while (!look(env) && hpx_clock_mono() < until) {
        (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    atomic_store_explicit(&ended, true, memory_order_relaxed);
    (void)sem_post(&collected);
}
