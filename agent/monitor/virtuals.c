/* SPDX-License-Identifier: BSD-2-Clause */
/* virtuals.c: see virtuals.h. */
#include "virtuals.h"
#include "releases.h"
#include "site_ids.h"
#include "snapshot.h"
#include "threads.h"
#include "vm.h"
#include <stdatomic.h>

/* The word of a blocked virtual thread: id, then time in units of 2^10 ns. */
#define ID_BITS   24
#define TIME_BITS (64 - ID_BITS)
#define TIME_UNIT 10
#define TIME_MASK ((UINT64_C(1) << TIME_BITS) - 1)

#define ANNOUNCED_MOST 4096u /* announced virtual threads: each stays in the output and in the tables */
#define ANNOUNCED      (2 * ANNOUNCED_MOST)

HPX_OF_SESSION jvmtiEnv *hpx_monitor_env;

static HPX_OF_SESSION struct {
    _Atomic uint64_t ids[ANNOUNCED];     /* Java's thread ids; 0: free. seq_cst: insert-only, and rare */
    _Atomic uint32_t serials[ANNOUNCED]; /* 0: being announced. release: who announces; acquire: who looks for it later */
    _Atomic uint32_t n;                  /* relaxed */
} virtuals;

void hpx_virtuals_load(void)
{
    const jvmtiCapabilities none = {0};
    hpx_monitor_env = hpx_vm_environment(&none);
}

bool hpx_virtuals_pinned_by_monitors(void)
{
    return hpx_vm_release() < HPX_RELEASE_UNMOUNTS;
}

void hpx_virtuals_keep(jthread self, struct hpx_pending p)
{
    static_assert(HPX_SITE_IDS_MOST <= 1u << ID_BITS, "an id fits");
    uint64_t word = (uint64_t)p.id << TIME_BITS | (p.since >> TIME_UNIT & TIME_MASK);
    if (hpx_monitor_env != NULL) {
        (void)(*hpx_monitor_env)->SetThreadLocalStorage(hpx_monitor_env, self, (void *)(uintptr_t)word);
    }
}

struct hpx_pending hpx_virtuals_take(jthread self, uint64_t now)
{
    void *at = NULL;
    if (hpx_monitor_env == NULL || (*hpx_monitor_env)->GetThreadLocalStorage(hpx_monitor_env, self, &at) != JVMTI_ERROR_NONE ||
        at == NULL) {
        return (struct hpx_pending){0, 0, 0};
    }
    (void)(*hpx_monitor_env)->SetThreadLocalStorage(hpx_monitor_env, self, NULL);
    uint64_t word = (uint64_t)(uintptr_t)at, passed = ((now >> TIME_UNIT) - word) & TIME_MASK;
    return (struct hpx_pending){(uint32_t)(word >> TIME_BITS), 0, now - (passed << TIME_UNIT)};
}

static uint32_t announce(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    return atomic_fetch_add_explicit(&virtuals.n, 1, memory_order_relaxed) < ANNOUNCED_MOST
               ? hpx_threads_announce_virtual(jvmti, env, thread)
               : HPX_SERIAL_THREAD;
}

/* Who has put the id into the table announces, so that a thread has one serial. */
uint32_t hpx_virtuals_serial(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    uint64_t id = hpx_vm_fields.tid != NULL ? (uint64_t)(*env)->GetLongField(env, thread, hpx_vm_fields.tid) : 0;
    if (id == 0) {
        return HPX_SERIAL_THREAD;
    }
    for (uint32_t i = 0, at = (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 40); i < ANNOUNCED; i++, at++) {
        _Atomic uint64_t *entry = &virtuals.ids[at % ANNOUNCED];
        uint64_t seen = atomic_load(entry);
        if (seen == 0 && atomic_load_explicit(&virtuals.n, memory_order_relaxed) < ANNOUNCED_MOST &&
            atomic_compare_exchange_strong(entry, &seen, id)) {
            uint32_t serial = announce(jvmti, env, thread);
            atomic_store_explicit(&virtuals.serials[at % ANNOUNCED], serial, memory_order_release);
            return serial;
        }
        if (seen == id) { /* also if another thread has just put it there */
            uint32_t serial = atomic_load_explicit(&virtuals.serials[at % ANNOUNCED], memory_order_acquire);
            return serial != 0 ? serial : HPX_SERIAL_THREAD;
        }
        if (seen == 0) {
            break;
        }
    }
    return HPX_SERIAL_THREAD;
}
