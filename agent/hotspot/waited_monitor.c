/* SPDX-License-Identifier: BSD-2-Clause */
/* waited_monitor.c: the words of waited_monitor.h. */
#include "waited_monitor.h"
#include "guard.h"
#include "internals.h"
#include "oops.h"
#include "structures.h"
#include "thread_id.h"
#include "vm_flags.h"
#include <stdatomic.h>
#include <string.h>

#define MOST_FAULTS 8u
#define TRIES       4 /* a collection may run between two looks */

/* Constant after init. */
static struct {
    uint64_t entering, waiting, object; /* of JavaThread, of ObjectMonitor */
    uint64_t klass, base, shift, name;  /* class word, how it becomes an address, of Klass */
    uint64_t length, body;              /* of Symbol */
    uint64_t heap, collections, active; /* the heap's address, its fields */
    bool narrow, compact;
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

static const char *find_class_word(void)
{
    words.compact = hpx_vm_flag("UseCompactObjectHeaders", false);
    words.narrow = words.compact || hpx_vm_flag("UseCompressedClassPointers", true);
    const struct hpx_vm_field narrow[] = {{"CompressedKlassPointers", "_base", "static address", &words.base},
                                          {"CompressedKlassPointers", "_narrow_klass._base", "static address", &words.base},
                                          {"CompressedKlassPointers", "_shift", "static int", &words.shift},
                                          {"CompressedKlassPointers", "_narrow_klass._shift", "static int", &words.shift},
                                          {"oopDesc", "_metadata._compressed_klass", "narrowKlass", &words.klass}};
    const struct hpx_vm_field wide = {"oopDesc", "_metadata._klass", "Klass*", &words.klass};
    return words.narrow ? hpx_structures_fields(narrow, HPX_ARRAY_LEN(narrow) - words.compact) : hpx_structures_fields(&wide, 1);
}

static const char *find_fields(void)
{
    const struct hpx_vm_field all[] = {{"JavaThread", "_current_pending_monitor", "ObjectMonitor*", &words.entering},
                                       {"JavaThread", "_current_waiting_monitor", "ObjectMonitor*", &words.waiting},
                                       {"ObjectMonitor", "_object", NULL, &words.object},
                                       {"Klass", "_name", "Symbol*", &words.name},
                                       {"Symbol", "_length", "u2", &words.length},
                                       {"Symbol", "_body", NULL, &words.body},
                                       {"Universe", "_collectedHeap", "static CollectedHeap*", &words.heap},
                                       {"CollectedHeap", "_total_collections", "unsigned int", &words.collections},
                                       {"CollectedHeap", "_is_stw_gc_active", "bool", &words.active},
                                       {"CollectedHeap", "_is_gc_active", "bool", &words.active}};
    const char *why = hpx_structures_fields(all, HPX_ARRAY_LEN(all));
    return why != NULL ? why : find_class_word();
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

static uintptr_t class_of(uintptr_t oop)
{
    if (!words.narrow) {
        return hpx_vm_word(oop + words.klass);
    }
    uint64_t word = words.compact ? hpx_vm_word(oop) >> HPX_OOPS_COMPACT : (uint32_t)hpx_vm_int(oop + words.klass);
    return hpx_vm_word((uintptr_t)words.base) + (word << hpx_vm_int((uintptr_t)words.shift));
}

/* The VM names a hidden class "p/C+0x1f", and JVMTI "Lp/C.0x1f;". */
static void put_dot(char *signature)
{
    char *plus = strrchr(signature, '+');
    if (plus != NULL && plus[1] == '0' && plus[2] == 'x') {
        size_t digits = strspn(plus + 3, "0123456789abcdef");
        *plus = digits > 0 && !strcmp(plus + 3 + digits, ";") ? '.' : '+';
    }
}

/* A name "p/C" becomes "Lp/C;", one of an array is its signature. */
static bool put_name(uintptr_t symbol, char *to)
{
    uint32_t n = hpx_vm_half(symbol + words.length), at = 0;
    bool array = n > 0 && hpx_vm_byte(symbol + words.body) == '[';
    if (n == 0 || n + 3 > HPX_WAITED_MONITOR_ROOM) {
        return false;
    }
    if (!array) {
        to[at++] = 'L';
    }
    for (uint32_t i = 0; i < n; i++) {
        to[at++] = (char)hpx_vm_byte(symbol + words.body + i);
    }
    if (!array) {
        to[at++] = ';';
    }
    to[at] = '\0';
    put_dot(to);
    return memchr(to, '\0', at) == NULL;
}

/* The collections so far; false: one runs, and moves objects. */
static bool still(uintptr_t heap, uint32_t *collections)
{
    *collections = (uint32_t)hpx_vm_int(heap + words.collections);
    return hpx_vm_byte(heap + words.active) == 0;
}

static int read_class(void *arg)
{
    const struct question *q = arg;
    uint32_t before = 0, after = 0;
    uintptr_t heap = hpx_vm_word((uintptr_t)words.heap);
    bool told = hpx_vm_is_address(heap) && still(heap, &before);
    /* the reads of the object lie between the two looks at the heap; no partner: the VM writes */
    atomic_thread_fence(memory_order_acquire);
    uintptr_t oop = !told ? 0 : q->thread != 0 ? object_of(q->thread) : hpx_oops_handle(q->known);
    uintptr_t klass = hpx_vm_is_address(oop) ? class_of(oop) : 0, symbol = hpx_vm_is_address(klass) ? hpx_vm_word(klass + words.name) : 0;
    told = hpx_vm_is_address(symbol) && put_name(symbol, q->to);
    atomic_thread_fence(memory_order_acquire); /* as above */
    told = told && still(heap, &after) && before == after;
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
    why = why == NULL && (hpx_vm_flag("UseZGC", true) || hpx_vm_flag("UseShenandoahGC", false))
              ? "the collector moves objects while the program runs"
              : why;
    why = why != NULL ? why : find_fields();
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
