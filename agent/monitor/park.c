/* SPDX-License-Identifier: BSD-2-Clause */
/* park.c: see park.h. */
#include "park.h"
#include "archive.h"
#include "boot_class.h"
#include "clock.h"
#include "native_word.h"
#include "places.h"
#include "registrar.h"
#include "threads.h"
#include "tracker_class.h"
#include "virtuals.h"
#include <string.h>

typedef void(JNICALL *park_fn)(JNIEnv *env, jobject unsafe, jboolean absolute, jlong time);

static struct {
    _Atomic(park_fn) next;     /* what ours calls: the VM's, or another agent's. release: place(); acquire: park() */
    _Atomic(JNIEnv *) probing; /* relaxed: of the thread that looks whether its park comes to ours */
    atomic_bool live;          /* release: hpx_park_live(); acquire: park() */
    /* Of the thread that begins or ends a session: */
    park_fn vms;    /* the VM's */
    uintptr_t word; /* where the VM keeps what Unsafe.park calls (native_word.h); 0: not known */
    bool placed;    /* ours is there, by hpx_park_live() */
} parks;

/* What is parked, and where. */
struct parked {
    struct hpx_block_thread *t;
    uint32_t session;
    jthread self;
    bool virtual;
    struct hpx_place_of of;
    uint32_t id, pinned_id;
    uint64_t since;
};

static bool exact(void)
{
    return hpx_session.opt->stacks == HPX_STACKS_EXACT;
}

static uint32_t take(const struct parked *p, enum hpx_block_part part)
{
    struct hpx_place_of of = p->of;
    of.part = part;
    return exact() ? hpx_places_take(p->t, hpx_vm.jvmti, &of, true) : 0;
}

/* No exception is pending: Java code calls park(). false: not recorded. */
static bool begin(struct parked *p, JNIEnv *env)
{
    if (!atomic_load_explicit(&parks.live, memory_order_acquire) || !hpx_gate_enter(&hpx_session.gate)) { /* partner: hpx_park_live() */
        return false;
    }
    jvmtiEnv *jvmti = hpx_vm.jvmti; /* inside: it is of this session */
    *p = (struct parked){.t = hpx_block_find_self(env), .since = hpx_clock_mono()};
    p->session = p->t != NULL ? p->t->s.session : 0;
    if (p->t != NULL && (*jvmti)->GetCurrentThread(jvmti, &p->self) == JVMTI_ERROR_NONE && p->self != NULL) {
        p->virtual = hpx_vm_is_virtual(env, p->self);
        if (!p->virtual && !hpx_session.opt->locks) {
            (*env)->DeleteLocalRef(env, p->self);
            p->self = NULL;
            hpx_gate_leave(&hpx_session.gate);
            return false;
        }
        jobject blocker = (*env)->GetObjectField(env, p->self, hpx_vm_fields.blocker);
        p->of = (struct hpx_place_of){.thread = p->self, .klass = hpx_places_class(jvmti, env, blocker), .part = HPX_BLOCK_PARK};
        (*env)->DeleteLocalRef(env, blocker);
        if (p->virtual && hpx_session.opt->thread) {
            p->of.serial = hpx_virtuals_serial(jvmti, env, p->self);
        }
        p->id = hpx_session.opt->locks ? take(p, HPX_BLOCK_PARK) : 0;
        p->pinned_id = hpx_session.opt->pinned && p->virtual ? take(p, HPX_BLOCK_PINNED) : 0;
    }
    hpx_gate_leave(&hpx_session.gate); /* a thread may be parked for ever */
    return p->self != NULL;
}

static void end(struct parked *p, JNIEnv *env)
{
    uint64_t ns = hpx_clock_mono() - p->since;
    if (hpx_gate_enter(&hpx_session.gate)) {
        bool same = hpx_session_is(p->session); /* else it was parked in an earlier one */
        if (same && hpx_session.opt->locks) {
            hpx_places_blocked(p->t, hpx_vm.jvmti, &p->of, p->id, ns, true);
        }
        if (same && hpx_session.opt->pinned && p->virtual) {
            p->of.part = HPX_BLOCK_PINNED;
            hpx_places_blocked(p->t, hpx_vm.jvmti, &p->of, p->pinned_id, ns, true);
        }
        hpx_gate_leave(&hpx_session.gate);
    }
    (*env)->DeleteLocalRef(env, p->self);
}

static void JNICALL park(JNIEnv *env, jobject unsafe, jboolean absolute, jlong time)
{
    struct parked p;
    if (hpx_unlikely(atomic_load_explicit(&parks.probing, memory_order_relaxed) == env)) {
        atomic_store_explicit(&parks.probing, NULL, memory_order_relaxed);
        return; /* a park may end at any time */
    }
    bool recorded = begin(&p, env);
    atomic_load_explicit(&parks.next, memory_order_acquire)(env, unsafe, absolute, time); /* partner: place() */
    if (recorded) {
        end(&p, env);
    }
}

/* ---- what Unsafe.park calls ---- */

struct unsafe {
    jclass klass;
    jobject object;
    jmethodID park, registers; /* registers: the native by which the class has the VM register all of them */
};

static bool find_unsafe(JNIEnv *env, struct unsafe *u)
{
    bool old = hpx_vm_release() < 9;
    jfieldID field = NULL;
    *u = (struct unsafe){.klass = hpx_boot_class(env, old ? "sun/misc/Unsafe" : "jdk/internal/misc/Unsafe")};
    if (u->klass != NULL && (u->park = (*env)->GetMethodID(env, u->klass, "park", "(ZJ)V")) != NULL &&
        (u->registers = (*env)->GetStaticMethodID(env, u->klass, "registerNatives", "()V")) != NULL) {
        field = (*env)->GetStaticFieldID(env, u->klass, "theUnsafe", old ? "Lsun/misc/Unsafe;" : "Ljdk/internal/misc/Unsafe;");
    }
    u->object = field != NULL ? (*env)->GetStaticObjectField(env, u->klass, field) : NULL;
    (*env)->ExceptionClear(env);
    return u->object != NULL;
}

static void leave_unsafe(JNIEnv *env, const struct unsafe *u)
{
    (*env)->DeleteLocalRef(env, u->object);
    (*env)->DeleteLocalRef(env, u->klass);
}

/* Of the thread that asks, for what it finds. */
static struct {
    struct unsafe of;
    uintptr_t up_to;
    park_fn vms;
    uintptr_t word;
} question;

/* In place of RegisterNatives, for the thread that asks: nothing is registered. */
static jint JNICALL look_on(JNIEnv *env, jclass klass, const JNINativeMethod *natives, jint n)
{
    (void)env, (void)klass;
    for (jint i = 0; i < n; i++) {
        if (strcmp(natives[i].name, "park") == 0 && strcmp(natives[i].signature, "(ZJ)V") == 0) {
            memcpy(&question.vms, &natives[i].fnPtr, sizeof question.vms);
        }
    }
    if (question.word == 0) {
        question.word =
            hpx_native_word_find((uint64_t)(uintptr_t)question.of.registers, (uint64_t)(uintptr_t)question.of.park, question.up_to);
    }
    return JNI_OK;
}

/* Functions of the VM's JNI, which may be more than those of the header: another agent may call them meanwhile, in an event. */
static size_t jni_functions(void)
{
    jint release = hpx_vm_release();
    return release < 9 ? 233 : release < 21 ? 234 : release < 24 ? 235 : release < 28 ? 236 : 237;
}

/* The VM registers its natives of the class again, in a JNI of this thread alone whose RegisterNatives looks on. */
static void ask_vm(JNIEnv *env, const struct unsafe *u)
{
    static union {
        struct JNINativeInterface_ known;
        void *all[256];
    } ours;
    const struct JNINativeInterface_ *vms = *env;
    question.of = *u;
    question.up_to = (uintptr_t)__builtin_frame_address(0);
    question.vms = NULL;
    question.word = 0;
    memcpy(ours.all, vms, jni_functions() * sizeof(void *));
    ours.known.RegisterNatives = look_on;
    *env = &ours.known;
    vms->CallStaticVoidMethod(env, u->klass, u->registers);
    *env = vms;
    vms->ExceptionClear(env);
    parks.vms = question.vms;
    parks.word = question.word;
}

/* The VM knows it if the word says so; without the word nobody does. */
static bool is_now(park_fn fn)
{
    return parks.word != 0 && hpx_native_word_read(parks.word) == (uintptr_t)fn;
}

static bool put(JNIEnv *env, const struct unsafe *u, park_fn fn)
{
    const JNINativeMethod native = {(char *)(uintptr_t) "park", (char *)(uintptr_t) "(ZJ)V", (void *)(uintptr_t)fn};
    return hpx_registrar_natives(env, HPX_TRACKER_REGISTRAR, u->klass, &native, 1);
}

/* A park of this thread comes to ours: perhaps by another agent's, which has put itself before it. */
static bool is_reached(JNIEnv *env, const struct unsafe *u)
{
    atomic_store_explicit(&parks.probing, env, memory_order_relaxed);
    (*env)->CallVoidMethod(env, u->object, u->park, (jboolean)JNI_FALSE, (jlong)1);
    (*env)->ExceptionClear(env);
    return atomic_exchange_explicit(&parks.probing, NULL, memory_order_relaxed) == NULL;
}

/* Another agent that hears of it may put its own before ours, which then must not call that one: so ours calls the VM's until the word
 * says that nobody has. */
static bool place(JNIEnv *env, const struct unsafe *u)
{
    ask_vm(env, u);
    if (parks.vms == NULL) {
        return false;
    }
    uintptr_t word = hpx_native_word_read(parks.word);
    park_fn before = parks.vms;
    if (word != 0) {
        memcpy(&before, &word, sizeof before);
    }
    atomic_store_explicit(&parks.next, parks.vms, memory_order_release); /* partner: park() */
    parks.placed = put(env, u, park);
    if (parks.placed && is_now(park)) {
        atomic_store_explicit(&parks.next, before, memory_order_release); /* partner: park() */
    }
    return parks.placed && is_reached(env, u);
}

static const char *why_not(JNIEnv *env)
{
    struct unsafe u;
    const char *option;
    if (hpx_archive(&option) != HPX_ARCHIVE_NONE) {
        return "the VM records classes for an archive";
    }
    bool found = find_unsafe(env, &u);
    bool sees = found && hpx_vm_fields.blocker != NULL && (is_reached(env, &u) || place(env, &u));
    leave_unsafe(env, &u);
    return sees ? NULL : "the VM does not let hprofx see Unsafe.park";
}

const char *hpx_park_live(JNIEnv *env)
{
    const char *why = why_not(env);
    atomic_store_explicit(&parks.live, why == NULL, memory_order_release); /* partner: park() */
    return why;
}

void hpx_park_close(JNIEnv *env)
{
    struct unsafe u;
    atomic_store_explicit(&parks.live, false, memory_order_relaxed);
    if (!parks.placed) {
        return;
    }
    parks.placed = false;
    if (find_unsafe(env, &u)) {
        ask_vm(env, &u);    /* the class may have been rewritten meanwhile, and has other words then */
        if (is_now(park)) { /* else another agent's is before it, and calls it, or nobody knows: ours calls the VM's */
            (void)put(env, &u, atomic_load_explicit(&parks.next, memory_order_relaxed));
        }
    }
    leave_unsafe(env, &u);
}
