/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_frames.c: see lock_frames.h. */
#include "lock_frames.h"
#include "vm.h"
#include <stdatomic.h>
#include <string.h>

#define KNOWN 1024u /* methods; a power of two */
#define GAP   2u    /* frames of other classes between those of a lock: ForkJoinPool.managedBlock */

/* A method, shifted by one, and the answer in the lowest bit: a method is an address, from JDK 26 on a number. Entries are replaced as a
 * whole, so the answer belongs to the method. */
static HPX_OF_SESSION _Atomic uint64_t known[KNOWN]; /* relaxed: a missing entry costs a look-up */

static bool ask(jvmtiEnv *jvmti, uint64_t method)
{
    static const char *const prefixes[] = {"Ljava/util/concurrent/locks/", "Lsun/misc/Unsafe;", "Ljdk/internal/misc/Unsafe;"};
    jclass klass = NULL;
    char *signature = NULL;
    JNIEnv *env = hpx_vm_env();
    bool is = false;
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, (jmethodID)(uintptr_t)method, &klass) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) == JVMTI_ERROR_NONE) {
        for (size_t i = 0; i < HPX_ARRAY_LEN(prefixes); i++) {
            is = is || strncmp(signature, prefixes[i], strlen(prefixes[i])) == 0;
        }
        (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    }
    /* the caller is Unsafe.park, so the reference would live until the thread is no longer parked */
    if (klass != NULL && env != NULL) {
        (*env)->DeleteLocalRef(env, klass);
    }
    return is;
}

static bool is_lock(jvmtiEnv *jvmti, uint64_t method)
{
    _Atomic uint64_t *at = &known[(method ^ method >> 3) % KNOWN];
    uint64_t entry = atomic_load_explicit(at, memory_order_relaxed);
    if (entry >> 1 != method) {
        entry = method << 1 | ask(jvmti, method);
        atomic_store_explicit(at, entry, memory_order_relaxed);
    }
    return entry & 1;
}

uint32_t hpx_lock_frames(jvmtiEnv *jvmti, const struct hpx_ev_frame *frames, uint32_t n)
{
    uint32_t last = 0; /* of the lock's frames */
    for (uint32_t i = 0; i < n && i < HPX_LOCK_FRAMES && i <= last + GAP + 1; i++) {
        last = is_lock(jvmti, frames[i].method) ? i : last;
    }
    return last;
}
