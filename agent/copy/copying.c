/* SPDX-License-Identifier: BSD-2-Clause */
/* copying.c: see copying.h. */
#include "copying.h"
#include "boot_class.h"
#include "session.h"
#include "structures.h"
#include "vm.h"
#include "vm_flags.h"
#include <stdio.h>

static struct {
    bool looked; /* for the slots */
    struct hpx_child_slots slots;
    const char *never;
} vm; /* constant from the first load on */

/* Java's own figures of its heap. */
static struct {
    /* release: who has looked them up; acquire: who calls them */
    _Atomic int state;
    jclass klass;
    jmethodID get, total, unused, most, processors;
} runtime;
enum { UNKNOWN, LOOKS, KNOWN };

static HPX_OF_SESSION _Atomic uint64_t fork_rate; /* relaxed: of the last fork, ns per GiB; 0: none */

void hpx_copying_init(void)
{
    static struct hpx_err err;
    if (!vm.looked) {
        const void *inside = (const void *)(uintptr_t)(*hpx_vm.jvmti)->FollowReferences;
        vm.never = hpx_structures_absent();
        if (vm.never == NULL && hpx_child_find(&vm.slots, inside, &err) != 0) {
            vm.never = err.msg;
        }
        vm.looked = true;
    }
}

const char *hpx_copying_never(void)
{
    return vm.never;
}

const struct hpx_child_slots *hpx_copying_slots(void)
{
    return &vm.slots;
}

void hpx_copying_measure(JNIEnv *env)
{
    int unknown = UNKNOWN;
    if (!atomic_compare_exchange_strong_explicit(&runtime.state, &unknown, LOOKS, memory_order_relaxed, memory_order_relaxed)) {
        return;
    }
    jclass klass = hpx_boot_class(env, "java/lang/Runtime");
    runtime.klass = klass != NULL ? (*env)->NewGlobalRef(env, klass) : NULL;
    runtime.get = klass != NULL ? (*env)->GetStaticMethodID(env, klass, "getRuntime", "()Ljava/lang/Runtime;") : NULL;
    runtime.total = runtime.get != NULL ? (*env)->GetMethodID(env, klass, "totalMemory", "()J") : NULL;
    runtime.unused = runtime.total != NULL ? (*env)->GetMethodID(env, klass, "freeMemory", "()J") : NULL;
    runtime.processors = runtime.unused != NULL ? (*env)->GetMethodID(env, klass, "availableProcessors", "()I") : NULL;
    runtime.most = runtime.unused != NULL ? (*env)->GetMethodID(env, klass, "maxMemory", "()J") : NULL;
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, klass);
    bool found = runtime.klass != NULL && runtime.most != NULL;
    atomic_store_explicit(&runtime.state, found ? KNOWN : UNKNOWN, memory_order_release); /* partner: hpx_copying_heap() */
}

static uint64_t call(JNIEnv *env, jobject of, jmethodID method)
{
    jlong n = (*env)->CallLongMethod(env, of, method);
    (*env)->ExceptionClear(env);
    return n > 0 ? (uint64_t)n : 0;
}

void hpx_copying_heap(JNIEnv *env, uint64_t *used, uint64_t *committed)
{
    *used = *committed = 0;
    if (atomic_load_explicit(&runtime.state, memory_order_acquire) != KNOWN) { /* partner: hpx_copying_measure() */
        return;
    }
    jobject of = (*env)->CallStaticObjectMethod(env, runtime.klass, runtime.get);
    (*env)->ExceptionClear(env);
    if (of != NULL) {
        *committed = call(env, of, runtime.total);
        uint64_t unused = call(env, of, runtime.unused);
        *used = *committed > unused ? *committed - unused : 0;
    }
    (*env)->DeleteLocalRef(env, of);
}

/* Java counts cpusets, and quotas of cgroups. */
uint32_t hpx_copying_workers(JNIEnv *env)
{
    jobject of = NULL;
    if (atomic_load_explicit(&runtime.state, memory_order_acquire) == KNOWN) { /* partner: hpx_copying_measure() */
        of = (*env)->CallStaticObjectMethod(env, runtime.klass, runtime.get);
        (*env)->ExceptionClear(env);
    }
    jint n = of != NULL && runtime.processors != NULL ? (*env)->CallIntMethod(env, of, runtime.processors) : 1;
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, of);
    return n < 2 ? 1 : n == 2 ? 2 : (uint32_t)n - 1;
}

uint64_t hpx_copying_room(JNIEnv *env)
{
    uint64_t used, committed;
    hpx_copying_heap(env, &used, &committed);
    jobject of = committed > 0 ? (*env)->CallStaticObjectMethod(env, runtime.klass, runtime.get) : NULL;
    (*env)->ExceptionClear(env);
    uint64_t most = of != NULL ? call(env, of, runtime.most) : 0;
    (*env)->DeleteLocalRef(env, of);
    return most > used ? most - used : 0;
}

void hpx_copying_ask(struct hpx_copying *c, JNIEnv *env, struct hpx_copying_how how)
{
    uint64_t used, committed;
    hpx_copying_heap(env, &used, &committed);
    struct hpx_fork_query q = {.zgc = hpx_vm_flag("UseZGC", false),
                               .careful = hpx_session.opt->heapdump == HPX_HEAPDUMP_AUTO,
                               .objects = used / HPX_COPYING_OBJECT,
                               .heap_committed = committed,
                               .heap_marked = how.light ? 0 : used,
                               .here = how.here,
                               .tagged = how.tagged,
                               .files = how.files,
                               .addresses = &how.object,
                               .naddresses = how.object != 0,
                               .rate_ns_per_gib = atomic_load_explicit(&fork_rate, memory_order_relaxed)};
    hpx_fork_check(&q, &c->fork);
    if (hpx_copying_never() != NULL && !how.here) {
        c->fork.verdict = HPX_FORK_UNSOUND;
        (void)snprintf(c->fork.text, sizeof c->fork.text, "%s", hpx_copying_never());
    }
    /* What the program writes outside of its heap is copied, too: all that it has. Beyond that and the need the prediction was wrong. */
    uint64_t all = c->fork.small + c->fork.huge;
    c->most = c->fork.need + (all > committed ? all : committed);
}

void hpx_copying_note(const struct hpx_copying *c, uint64_t fork_ns)
{
    uint64_t rate = hpx_copying_within(hpx_fork_rate(&c->fork, fork_ns), HPX_FORK_SMALL_NS);
    atomic_store_explicit(&fork_rate, rate, memory_order_relaxed);
}

uint64_t hpx_copying_within(uint64_t rate, uint64_t usual)
{
    return rate == 0 ? 0 : rate < usual / 4 ? usual / 4 : rate > usual * 3 ? usual * 3 : rate;
}
