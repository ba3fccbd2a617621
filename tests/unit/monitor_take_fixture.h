/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor_take_fixture.h: a made-up VM, whose threads and monitors the test sets, and whose every question takes as long as the test says:
 * the clock is the test's. */
#ifndef HPX_MONITOR_TAKE_FIXTURE_H
#define HPX_MONITOR_TAKE_FIXTURE_H

#include "attach_barrier.h"
#include "boot_class.h"
#include "clock.h"
#include "cmocka_all.h"
#include "known_threads.h"
#include "monitor_take.h"
#include "named_stacks.h"
#include "virtuals.h"
#include "waits.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define S       UINT64_C(1000000000)
#define THREADS 200

/* A thread, a monitor, or the class of one. References are addresses. */
struct object {
    const char *signature;
    jlong tid; /* of a thread */
    jint state;
    struct object *wants, *owns[2];
    struct object *owner; /* of a monitor, or of a lock */
    struct object *lock;  /* that a thread is parked for */
    unsigned waiters;
    enum hpx_usage_answer answer;
    bool unannounced; /* thread: only the VM lists it */
    bool virtual;     /* thread */
    uint32_t serial;  /* of a virtual thread, if it is announced */
};

static struct {
    struct object threads[THREADS], monitors[THREADS];
    jint nthreads;
    uint64_t now, cost; /* ns: the time; of a question */
    unsigned attaching; /* questions that are in vain, because a thread attaches */
    unsigned sleeps;
    void (*when_asked)(void);   /* at the next question for a contended monitor */
    struct hpx_census *counted; /* virtual threads; NULL: there are none */
} fx;

static char fields[3]; /* of Java: tid, parkBlocker, others */

bool hpx_waits_wanted;

/* ---- virtual threads ---- */

void hpx_census_live(JNIEnv *env)
{
    (void)env;
}

struct hpx_census *hpx_census_take(JNIEnv *env, uint32_t depth, hpx_census_late *late, const char **why)
{
    (void)env, (void)depth, (void)late;
    *why = NULL;
    return fx.counted;
}

bool hpx_census_any(JNIEnv *env)
{
    (void)env;
    return fx.counted != NULL;
}

void hpx_census_drop(struct hpx_census *c)
{
    (void)c;
}

/* ---- what the image needs of others ---- */

uint64_t __wrap_hpx_clock_mono(void);
int __wrap_nanosleep(const struct timespec *want, struct timespec *left);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
bool __wrap_hpx_vm_is_virtual(JNIEnv *env, jthread thread);
int __real_pthread_mutex_lock(pthread_mutex_t *m);

static sem_t exiting;
static __thread bool exits; /* the thread that ends the VM */

uint64_t __wrap_hpx_clock_mono(void)
{
    return fx.now;
}

int __wrap_nanosleep(const struct timespec *want, struct timespec *left)
{
    (void)left;
    fx.now += (uint64_t)want->tv_nsec;
    fx.sleeps++;
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    if (exits) {
        sem_post(&exiting);
    }
    return __real_pthread_mutex_lock(m);
}

void hpx_waits_fini(void)
{
}

uint32_t hpx_waits_list(JNIEnv *env, struct hpx_wait_ref **to)
{
    (void)env;
    *to = NULL;
    return 0;
}

uint32_t hpx_known_threads_list(JNIEnv *env, struct hpx_thread_ref **to, bool virtuals)
{
    (void)virtuals;
    (void)env;
    *to = calloc((size_t)fx.nthreads + 1, sizeof **to);
    assert_non_null(*to);
    uint32_t n = 0;
    for (jint i = 0; i < fx.nthreads; i++) {
        if (!fx.threads[i].unannounced) {
            (*to)[n++] = (struct hpx_thread_ref){.thread = (jthread)(void *)&fx.threads[i], .serial = 200001 + (uint32_t)i};
        }
    }
    return n;
}

int hpx_named_stacks_init(struct hpx_named_stacks *s, jvmtiEnv *jvmti, JNIEnv *env, struct hpx_arena *arena, bool numbers)
{
    (void)s, (void)jvmti, (void)env, (void)arena, (void)numbers;
    return 0;
}

void hpx_named_stacks_take(struct hpx_named_stacks *s, const jvmtiStackInfo *info, uint32_t most, struct hpx_named_stack *to,
                           uint64_t *methods)
{
    (void)s, (void)info, (void)most, (void)methods;
    to->n = 1;
}

void hpx_named_stacks_fini(struct hpx_named_stacks *s)
{
    (void)s;
}

/* ---- the VM ---- */

static struct object *object(jobject o)
{
    return (struct object *)(void *)o;
}

bool __wrap_hpx_vm_is_virtual(JNIEnv *env, jthread thread)
{
    (void)env;
    return object(thread)->virtual;
}

/* In the place of virtuals.c. */
uint32_t hpx_virtuals_serial(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti, (void)env;
    return object(thread)->serial;
}

static jobject reference(struct object *o)
{
    return (jobject)(void *)o;
}

jclass hpx_boot_class(JNIEnv *env, const char *name)
{
    static struct object classes[2];
    (void)env;
    return (jclass)reference(&classes[strcmp(name, "java/lang/Thread") == 0]);
}

static jfieldID JNICALL get_field(JNIEnv *env, jclass k, const char *name, const char *signature)
{
    (void)env, (void)k, (void)signature;
    if (strcmp(name, "threadStatus") == 0) { /* as in JDK 19 and later: JVMTI is asked */
        return NULL;
    }
    return (jfieldID)(void *)&fields[strcmp(name, "tid") == 0 ? 0 : strcmp(name, "parkBlocker") == 0 ? 1 : 2];
}

static jlong JNICALL get_long(JNIEnv *env, jobject o, jfieldID f)
{
    (void)env, (void)f;
    return object(o)->tid;
}

static jobject JNICALL get_object(JNIEnv *env, jobject o, jfieldID f)
{
    (void)env;
    return reference((void *)f == &fields[1] ? object(o)->lock : object(o)->owner);
}

static jboolean JNICALL is_instance(JNIEnv *env, jobject o, jclass k)
{
    (void)env, (void)o, (void)k;
    return JNI_TRUE;
}

static jobject JNICALL same(JNIEnv *env, jobject o)
{
    (void)env;
    return o;
}

static void JNICALL nothing(JNIEnv *env, jobject o)
{
    (void)env, (void)o;
}

static void JNICALL clear(JNIEnv *env)
{
    (void)env;
}

static jint JNICALL room(JNIEnv *env, jint n)
{
    (void)env, (void)n;
    return JNI_OK;
}

static jboolean JNICALL is_same(JNIEnv *env, jobject a, jobject b)
{
    (void)env;
    return a == b;
}

static void question(void)
{
    fx.now += fx.cost;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *jvmti, const jvmtiCapabilities *c)
{
    (void)jvmti, (void)c;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *jvmti, unsigned char *p)
{
    (void)jvmti;
    free(p);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL all_stacks(jvmtiEnv *jvmti, jint depth, jvmtiStackInfo **to, jint *n)
{
    (void)jvmti, (void)depth;
    question();
    *to = calloc((size_t)fx.nthreads + 1, sizeof **to);
    assert_non_null(*to);
    for (jint i = 0; i < fx.nthreads; i++) {
        (*to)[i] = (jvmtiStackInfo){.thread = reference(&fx.threads[i]), .state = fx.threads[i].state};
    }
    *n = fx.nthreads;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_state(jvmtiEnv *jvmti, jthread t, jint *state)
{
    (void)jvmti;
    *state = object(t)->state;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_info(jvmtiEnv *jvmti, jthread t, jvmtiThreadInfo *info)
{
    (void)jvmti, (void)t, (void)info;
    return JVMTI_ERROR_THREAD_NOT_ALIVE;
}

static jvmtiError JNICALL contended(jvmtiEnv *jvmti, jthread t, jobject *to)
{
    void (*then)(void) = fx.when_asked;
    (void)jvmti;
    fx.when_asked = NULL;
    question();
    if (then) {
        then();
    }
    *to = reference(object(t)->wants);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL owned(jvmtiEnv *jvmti, jthread t, jint *n, jobject **to)
{
    (void)jvmti;
    question();
    *to = calloc(2, sizeof **to);
    assert_non_null(*to);
    for (*n = 0; *n < 2 && object(t)->owns[*n]; ++*n) {
        (*to)[*n] = reference(object(t)->owns[*n]);
    }
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL signature(jvmtiEnv *jvmti, jclass k, char **text, char **generic)
{
    (void)jvmti, (void)generic;
    *text = strdup(object(k)->signature);
    return JVMTI_ERROR_NONE;
}

/* In the place of attach_barrier.c. */
enum hpx_usage_answer hpx_attach_barrier_ask(jvmtiEnv *jvmti, jobject o, jvmtiMonitorUsage *u)
{
    const struct object *m = object(o);
    (void)jvmti;
    if (fx.attaching > 0) {
        fx.attaching--;
        return HPX_USAGE_ATTACHING;
    }
    if (m->answer == HPX_USAGE_TOLD || m->answer == HPX_USAGE_REFUSED) {
        question();
    }
    if (m->answer != HPX_USAGE_TOLD) {
        return m->answer;
    }
    u->owner = reference(m->owner);
    u->entry_count = m->owner ? 1 : 0;
    u->waiters = calloc(THREADS, sizeof *u->waiters);
    assert_non_null(u->waiters);
    for (jint i = 0; i < fx.nthreads; i++) {
        if (fx.threads[i].wants == m) {
            u->waiters[u->waiter_count++] = reference(&fx.threads[i]);
        }
    }
    return HPX_USAGE_TOLD;
}

static jvmtiError JNICALL no_classes(jvmtiEnv *jvmti, jint *n, jclass **to)
{
    (void)jvmti, (void)n, (void)to;
    return JVMTI_ERROR_OUT_OF_MEMORY;
}

static jvmtiError JNICALL version(jvmtiEnv *jvmti, jint *to)
{
    (void)jvmti;
    *to = 25 << JVMTI_VERSION_SHIFT_MAJOR;
    return JVMTI_ERROR_NONE;
}

static const struct JNINativeInterface_ jni = {
    .GetFieldID = get_field,
    .GetLongField = get_long,
    .GetObjectField = get_object,
    .NewGlobalRef = same,
    .GetObjectClass = same,
    .DeleteLocalRef = nothing,
    .ExceptionClear = clear,
    .EnsureLocalCapacity = room,
    .PushLocalFrame = room,
    .PopLocalFrame = same,
    .IsSameObject = is_same,
    .IsInstanceOf = is_instance,
};
static const struct jvmtiInterface_1_ functions = {
    .AddCapabilities = add_capabilities,
    .GetVersionNumber = version,
    .Deallocate = deallocate,
    .GetAllStackTraces = all_stacks,
    .GetThreadState = get_state,
    .GetThreadInfo = get_info,
    .GetCurrentContendedMonitor = contended,
    .GetOwnedMonitorInfo = owned,
    .GetClassSignature = signature,
    .GetLoadedClasses = no_classes,
};
static JNIEnv env = &jni;
static jvmtiEnv jvmti = &functions;

#endif
