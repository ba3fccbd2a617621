/* SPDX-License-Identifier: BSD-2-Clause */
/* waited_monitor.c: the words of waited_monitor.h. */
#include "waited_monitor.h"
#include "guard.h"
#include "heap_objects.h"
#include "internals.h"
#include "oops.h"
#include "structures.h"
#include "thread_id.h"
#include <stdatomic.h>
#include <string.h>

#define MOST_FAULTS 8u
#define TRIES       4 /* a collection may run between two looks */

/* Constant after init. */
static struct {
    uint64_t entering, waiting, object; /* of JavaThread, of ObjectMonitor */
} words;

static HPX_OF_SESSION struct {
    atomic_bool asked; /* release: init, when `words` is complete; acquire: hpx_waited_monitor_off() */
    uint32_t faults;
} waited;

const char *hpx_waited_monitor_off(void)
{
    bool asked = atomic_load_explicit(&waited.asked, memory_order_acquire); /* partner: hpx_waited_monitor_init() */
    return asked ? hpx_internals_why(HPX_INTERNALS_MONITORS) : NULL;
}

static const char *find_fields(void)
{
    const struct hpx_vm_field all[] = {{"JavaThread", "_current_pending_monitor", "ObjectMonitor*", &words.entering},
                                       {"JavaThread", "_current_waiting_monitor", "ObjectMonitor*", &words.waiting},
                                       {"ObjectMonitor", "_object", NULL, &words.object}};
    const char *why = hpx_structures_fields(all, HPX_ARRAY_LEN(all));
    return why != NULL ? why : hpx_heap_objects_init();
}

/* ---- in the guard ---- */

struct question {
    uintptr_t thread; /* 0: of the object `known` */
    jobject known;
    char *to;
};

static uintptr_t object_of(uintptr_t thread)
{
    uintptr_t entering = hpx_vm_word(thread + words.entering); /* read first: a notified thread enters while it still waits */
    uintptr_t monitor = entering != 0 ? entering : hpx_vm_word(thread + words.waiting);
    uintptr_t slot = hpx_vm_is_address(monitor) ? hpx_vm_word(monitor + words.object) : 0;
    return hpx_vm_is_address(slot) ? hpx_vm_word(slot) : 0;
}

static int read_class(void *arg)
{
    const struct question *q = arg;
    uint32_t before = 0, after = 0;
    bool told = hpx_heap_still_sig(&before);
    /* the reads of the object lie between the two looks at the heap; no partner: the VM writes */
    atomic_thread_fence(memory_order_acquire);
    uintptr_t oop = !told ? 0 : q->thread != 0 ? object_of(q->thread) : hpx_oops_handle(q->known);
    told = hpx_vm_is_address(oop) && hpx_object_class_signature_sig(hpx_object_class_sig(oop), q->to, HPX_WAITED_MONITOR_ROOM);
    atomic_thread_fence(memory_order_acquire); /* as above */
    told = told && hpx_heap_still_sig(&after) && before == after;
    return told;
}

/* ---- callers ---- */

static bool ask(struct question *q)
{
    int told = 0;
    if (hpx_guard_read_sig(read_class, q, &told)) {
        return told != 0;
    }
    if (++waited.faults >= MOST_FAULTS) {
        hpx_internals_leave_sig(HPX_INTERNALS_MONITORS, "too many reads faulted");
    }
    return false;
}

static bool knows(JNIEnv *env, jobject local, const char *signature)
{
    char name[HPX_WAITED_MONITOR_ROOM];
    bool told = false;
    for (int i = 0; i < TRIES && !told; i++) {
        struct question q = {0, local, name};
        (*env)->DeleteLocalRef(env, (*env)->GetObjectClass(env, local)); /* blocks while a collection runs */
        told = ask(&q);
    }
    return told && !strcmp(name, signature);
}

const char *hpx_waited_monitor_init(JNIEnv *env, jthread self)
{
    const char *why = hpx_internals_closed();
    why = why != NULL ? why : hpx_internals_why(HPX_INTERNALS_MONITORS);
    why = why == NULL && !hpx_internals_on_sig(HPX_INTERNALS_ANCHORS) ? "the VM's structures are not checked" : why;
    why = why != NULL ? why : find_fields();
    why = why == NULL && hpx_heap_moves_while_running() ? "the collector moves objects while the program runs" : why;
    jclass known = why == NULL ? (*env)->GetObjectClass(env, self) : NULL;
    if (why == NULL && (!knows(env, self, "Ljava/lang/Thread;") || !knows(env, known, "Ljava/lang/Class;"))) {
        why = "the VM's objects have another shape";
    }
    (*env)->DeleteLocalRef(env, known);
    if (why == NULL) {
        hpx_internals_turn_on(HPX_INTERNALS_MONITORS);
    }
    hpx_internals_leave_sig(HPX_INTERNALS_MONITORS, why);
    atomic_store_explicit(&waited.asked, true, memory_order_release); /* partner: hpx_waited_monitor_off() */
    return hpx_waited_monitor_off();
}

uint64_t hpx_waited_monitor_thread(JNIEnv *env, jthread thread)
{
    return hpx_internals_on_sig(HPX_INTERNALS_MONITORS) ? hpx_thread_id_word(env, thread) : 0;
}

bool hpx_waited_monitor_class(uint64_t thread, char to[HPX_WAITED_MONITOR_ROOM])
{
    struct question q = {(uintptr_t)thread, NULL, to};
    return thread != 0 && hpx_internals_on_sig(HPX_INTERNALS_MONITORS) && ask(&q);
}
