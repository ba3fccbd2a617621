/* SPDX-License-Identifier: BSD-2-Clause */
/* method_kinds.c: see method_kinds.h. */
#include "method_kinds.h"
#include "vm.h"
#include <stdatomic.h>
#include <string.h>

#define PLACES    8u /* words that a method may be in */
#define KIND_BITS 2
#define KIND_MASK ((1u << KIND_BITS) - 1)

/* Less than 0: the VM does not tell, because memory is short. */
static int ask(const char *const *texts, uint64_t method)
{
    jvmtiEnv *jvmti = hpx_vm.jvmti;
    JNIEnv *env = hpx_vm_env();
    jclass klass = NULL;
    char *signature = NULL;
    int kind = -1;
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, (jmethodID)(uintptr_t)method, &klass) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) == JVMTI_ERROR_NONE) {
        for (kind = 0; texts[kind] != NULL && strncmp(signature, texts[kind], strlen(texts[kind])) != 0; kind++) {
        }
        kind = texts[kind] != NULL ? kind + 1 : 0;
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    /* the caller may be Unsafe.park, and the reference would live until the thread is no longer parked */
    (*env)->DeleteLocalRef(env, klass);
    return kind;
}

/* A word is a method and its kind, replaced as a whole: a method is an address, from JDK 26 on a number. Where its places have other
 * methods, a new one takes the first. */
uint32_t hpx_method_kind(_Atomic uint64_t known[static HPX_METHOD_KINDS], const char *const *texts, uint64_t method)
{
    const uint64_t hash = method * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    _Atomic uint64_t *place = &known[hash % HPX_METHOD_KINDS];
    for (uint32_t i = 0; i < PLACES; i++) {
        _Atomic uint64_t *at = &known[(hash + i) % HPX_METHOD_KINDS];
        uint64_t word = atomic_load_explicit(at, memory_order_relaxed);
        if (word >> KIND_BITS == method) {
            return (uint32_t)word & KIND_MASK;
        }
        if (word == 0) {
            place = at;
            break;
        }
    }
    const int kind = ask(texts, method);
    if (kind >= 0) {
        atomic_store_explicit(place, method << KIND_BITS | (uint32_t)kind, memory_order_relaxed);
    }
    return kind > 0 ? (uint32_t)kind : 0;
}
