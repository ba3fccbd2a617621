/* SPDX-License-Identifier: BSD-2-Clause */
/* test_virtual_waits.c: which waits are a virtual thread's own, and for what, in a made-up VM that has java.lang.VirtualThread and tells of
 * monitors. A method is the address of the signature of its class. */
#include "archive.h"
#include "boot_class.h"
#include "carrier.h"
#include "classfile.h"
#include "cmocka_all.h"
#include "event_stacks.h"
#include "probe_frames.h"
#include "registrar.h"
#include "service.h"
#include "session.h"
#include "tracker_class.h"
#include "virtual_waits.h"
#include "wait_class.h"
#include "watched.h"
#include <stdlib.h>
#include <string.h>

#define MS      UINT64_C(1000000)
#define MONITOR ((jobject)(void *)&monitor)
#define KLASS   7u /* number of its class */
#define FRAMES  5

struct thread {
    bool virtual;
    void *storage;
};

static struct {
    jvmtiEventCallbacks callbacks;
    JNINativeMethod natives[2];
    bool events[JVMTI_MAX_EVENT_TYPE_VAL + 1]; /* that are enabled */
    struct thread *self;
    const char *field; /* to which runContinuation() stores */
    uint64_t now;
    unsigned records;
    uint64_t ns; /* of the last record */
    uint32_t state, klass;
    const char *stack[FRAMES]; /* of the class of each method; NULL: "LProgram;" */
    unsigned looked_up;        /* signatures */
    bool no_memory;            /* for signatures */
} fx;

static char monitor, klass;

/* ---- in the place of other files ---- */

static struct {
    struct hpx_ev_head head;
    struct hpx_ev_hash hash;
    struct hpx_ev_wall wall;
    struct hpx_ev_frame frames[64];
} record;

struct hpx_ev_head *hpx_carrier_reserve(uint32_t most, uint64_t ns)
{
    (void)ns;
    assert_true(most <= 64);
    return &record.head;
}

void hpx_carrier_commit(struct hpx_ev_head *ev, uint32_t frames)
{
    assert_int_equal(frames, FRAMES);
    fx.records++;
    fx.ns = ev->stamp;
    fx.state = record.wall.state;
    fx.klass = record.wall.klass;
}

enum hpx_archive hpx_archive(const char **option)
{
    (void)option;
    return HPX_ARCHIVE_NONE;
}

uint32_t hpx_event_stacks_ask(jvmtiEnv *jvmti, jthread thread, struct hpx_ev_frame *frames, uint32_t most)
{
    (void)jvmti, (void)most;
    assert_ptr_equal(thread, fx.self);
    for (int i = 0; i < FRAMES; i++) {
        frames[i] = (struct hpx_ev_frame){.method = (uint64_t)(uintptr_t)(fx.stack[i] != NULL ? fx.stack[i] : "LProgram;")};
    }
    return FRAMES;
}

bool hpx_probe_frames_add(jvmtiEnv *jvmti, jclass tracker)
{
    (void)jvmti, (void)tracker;
    return true;
}

uint32_t hpx_probe_frames_most(void)
{
    return 0;
}

uint32_t hpx_probe_frames(const struct hpx_ev_frame *frames, int n)
{
    (void)frames, (void)n;
    return 0;
}

uint32_t hpx_wait_class_of(JNIEnv *env, jobject object)
{
    (void)env;
    assert_ptr_equal(object, MONITOR);
    return KLASS;
}

uint32_t hpx_wait_class_parked(JNIEnv *env, jthread thread)
{
    (void)env, (void)thread;
    return 0;
}

struct hpx_watched_figures hpx_watched_figures(void)
{
    return (struct hpx_watched_figures){.carriers = 1};
}

bool hpx_registrar_natives(JNIEnv *env, const char *name, jclass of, const JNINativeMethod *natives, jint n)
{
    (void)env, (void)name, (void)of;
    assert_int_equal(n, 2);
    memcpy(fx.natives, natives, sizeof fx.natives);
    return true;
}

/* ---- the VM ---- */

static jvmtiError JNICALL version(jvmtiEnv *jvmti, jint *v)
{
    (void)jvmti;
    *v = 25 << JVMTI_VERSION_SHIFT_MAJOR;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *jvmti, const jvmtiCapabilities *want)
{
    (void)jvmti;
    assert_true(want->can_generate_monitor_events);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL dispose(jvmtiEnv *jvmti)
{
    (void)jvmti;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_callbacks(jvmtiEnv *jvmti, const jvmtiEventCallbacks *to, jint n)
{
    (void)jvmti, (void)n;
    fx.callbacks = *to;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_event(jvmtiEnv *jvmti, jvmtiEventMode mode, jvmtiEvent event, jthread thread, ...)
{
    (void)jvmti, (void)thread;
    fx.events[event] = mode == JVMTI_ENABLE;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL allocate(jvmtiEnv *jvmti, jlong n, unsigned char **to)
{
    (void)jvmti;
    *to = malloc((size_t)n);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *jvmti, unsigned char *p)
{
    (void)jvmti;
    free(p);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL declaring_class(jvmtiEnv *jvmti, jmethodID method, jclass *to)
{
    (void)jvmti;
    *to = (jclass)(void *)method;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_signature(jvmtiEnv *jvmti, jclass of, char **to, char **generic)
{
    (void)jvmti, (void)generic;
    fx.looked_up++;
    *to = fx.no_memory ? NULL : strdup((const char *)(void *)of);
    return fx.no_memory ? JVMTI_ERROR_OUT_OF_MEMORY : JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL current_thread(jvmtiEnv *jvmti, jthread *to)
{
    (void)jvmti;
    *to = (jthread)(void *)fx.self;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_storage(jvmtiEnv *jvmti, jthread thread, const void *data)
{
    (void)jvmti;
    ((struct thread *)(void *)thread)->storage = (void *)(uintptr_t)data;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_storage(jvmtiEnv *jvmti, jthread thread, void **to)
{
    (void)jvmti;
    *to = ((struct thread *)(void *)thread)->storage;
    return JVMTI_ERROR_NONE;
}

static jboolean JNICALL is_virtual(JNIEnv *env, jobject thread)
{
    (void)env;
    return ((struct thread *)(void *)thread)->virtual;
}

static void JNICALL clear_exception(JNIEnv *env)
{
    (void)env;
}

jclass hpx_boot_class(JNIEnv *env, const char *name)
{
    (void)env, (void)name;
    return (jclass)(void *)&klass;
}

static jmethodID JNICALL find_method(JNIEnv *env, jclass of, const char *name, const char *signature)
{
    (void)env, (void)of, (void)name, (void)signature;
    return NULL;
}

static jfieldID JNICALL find_field(JNIEnv *env, jclass of, const char *name, const char *signature)
{
    (void)env, (void)of, (void)name, (void)signature;
    return (jfieldID)(void *)&klass;
}

static jclass JNICALL define_class(JNIEnv *env, const char *name, jobject loader, const jbyte *bytes, jsize n)
{
    (void)env, (void)name, (void)loader, (void)bytes, (void)n;
    return (jclass)(void *)&klass;
}

static jobject JNICALL new_ref(JNIEnv *env, jobject object)
{
    (void)env;
    return object;
}

static void JNICALL delete_ref(JNIEnv *env, jobject ref)
{
    (void)env, (void)ref;
}

static void JNICALL set_tick(JNIEnv *env, jclass of, jfieldID field, jlong to)
{
    (void)env, (void)of, (void)field;
    fx.now = (uint64_t)to;
}

static jvmtiError JNICALL retransform(jvmtiEnv *jvmti, jint n, const jclass *which);

static const jvmtiInterface_1 functions = {.GetVersionNumber = version,
                                           .AddCapabilities = add_capabilities,
                                           .DisposeEnvironment = dispose,
                                           .SetEventCallbacks = set_callbacks,
                                           .SetEventNotificationMode = set_event,
                                           .Allocate = allocate,
                                           .Deallocate = deallocate,
                                           .GetMethodDeclaringClass = declaring_class,
                                           .GetClassSignature = class_signature,
                                           .GetCurrentThread = current_thread,
                                           .SetThreadLocalStorage = set_storage,
                                           .GetThreadLocalStorage = get_storage,
                                           .RetransformClasses = retransform};
static const struct {
    struct JNINativeInterface_ old;
    jboolean(JNICALL *is_virtual)(JNIEnv *, jobject); /* of JDK 21 */
} natives = {{.ExceptionClear = clear_exception,
              .GetMethodID = find_method,
              .GetStaticFieldID = find_field,
              .DefineClass = define_class,
              .NewGlobalRef = new_ref,
              .DeleteLocalRef = delete_ref,
              .SetStaticLongField = set_tick},
             is_virtual};
static jvmtiEnv jvmti = &functions;
static JNIEnv env = &natives.old;

/* VirtualThread, as far as it matters. */
static jvmtiError JNICALL retransform(jvmtiEnv *of, jint n, const jclass *which)
{
    struct cf_class c;
    struct cf_code yield = {.max_stack = 1, .max_locals = 1}, run = {.max_stack = 2, .max_locals = 1};
    unsigned char *out = NULL;
    jint m = 0;
    (void)n;
    cf_init(&c, 69);
    cf_ops(&yield, "04 ac");
    cf_method(&c, 2, "yieldContinuation", "()Z", &yield);
    cf_ops(&run, "2a 03");
    cf_op2(&run, 0xb5, cf_pair(&c, 9, c.this_class, cf_pair(&c, 12, cf_utf8(&c, fx.field), cf_utf8(&c, "Z"))));
    cf_ops(&run, "b1");
    cf_method(&c, 2, "runContinuation", "()V", &run);
    struct cf_bytes b = cf_finish(&c);
    fx.callbacks.ClassFileLoadHook(of, &env, which[0], NULL, "java/lang/VirtualThread", NULL, (jint)b.n, b.p, &m, &out);
    cf_fini(&c);
    cf_free(&b);
    free(out);
    return JVMTI_ERROR_NONE;
}

bool hpx_service_ask(const struct hpx_service_task *task, void (*done)(uint64_t arg), uint64_t arg)
{
    assert_int_equal(task->fn(&jvmti, &env), JVMTI_ERROR_NONE);
    done(arg);
    return true;
}

static jint JNICALL get_env(JavaVM *java, void **to, jint wanted)
{
    (void)java;
    *to = (wanted & JVMTI_VERSION_MASK_INTERFACE_TYPE) == JVMTI_VERSION_INTERFACE_JVMTI ? (void *)&jvmti : (void *)&env;
    return JNI_OK;
}

/* ---- the tests ---- */

static void begin_with(const char *field)
{
    extern char __start_hpx_session_variables[], __stop_hpx_session_variables[];
    static const struct hpx_options options = {.wall_ns = 20 * MS};
    static const struct JNIInvokeInterface_ java_functions = {.GetEnv = get_env};
    static JavaVM java = &java_functions;
    memset(__start_hpx_session_variables, 0, (size_t)(__stop_hpx_session_variables - __start_hpx_session_variables));
    memset(&fx, 0, sizeof fx);
    fx.field = field;
    hpx_vm.java = &java;
    hpx_vm.jvmti = &jvmti;
    hpx_session.opt = &options;
    atomic_store(&hpx_session.depth, 16);
    hpx_gate_open(&hpx_session.gate);
    hpx_virtual_waits_load();
    hpx_virtual_waits_live(&env);
    assert_null(hpx_virtual_waits_figures().why_not);
}

static void begin(void)
{
    begin_with("blockPermit");
    assert_null(hpx_virtual_waits_figures().no_monitors);
}

static void pass(uint64_t ns)
{
    hpx_virtual_waits_tick(&env, fx.now + ns);
}

/* The carrier goes through runContinuation() with a thread that had unmounted for a monitor. */
static void goes_on(void)
{
    assert_string_equal(fx.natives[1].name, HPX_TRACKER_STORED);
    void(JNICALL * stored)(JNIEnv *, jclass);
    memcpy(&stored, &fx.natives[1].fnPtr, sizeof stored);
    stored(&env, NULL);
}

static jthread of(struct thread *t)
{
    fx.self = t;
    return (jthread)(void *)t;
}

static void enter(struct thread *t)
{
    fx.callbacks.MonitorContendedEnter(&jvmti, &env, of(t), MONITOR);
}

static void entered(struct thread *t)
{
    fx.callbacks.MonitorContendedEntered(&jvmti, &env, of(t), MONITOR);
}

TEST(a_wait_in_which_a_virtual_thread_unmounted_is_recorded)
{
    struct thread a = {.virtual = true};
    begin();
    enter(&a);
    pass(100 * MS);
    goes_on();
    entered(&a);
    assert_int_equal(fx.records, 1);
    assert_int_equal(fx.ns, 100 * MS);
    assert_int_equal(fx.state, HPX_WALL_BLOCKED);
    assert_int_equal(fx.klass, KLASS);
}

TEST(a_wait_that_pins_is_the_carriers)
{
    struct thread a = {.virtual = true}, b = {.virtual = true};
    begin();
    enter(&a);
    pass(100 * MS);
    entered(&a);
    assert_int_equal(fx.records, 0);
    goes_on(); /* some thread did, which unmounts anew without an event */
    enter(&b);
    pass(100 * MS);
    entered(&b);
    assert_int_equal(fx.records, 0);
}

TEST(a_wait_for_the_monitor_follows_one_in_object_wait_or_not)
{
    struct thread a = {.virtual = true};
    begin();
    for (int blocked = 0; blocked < 2; blocked++) {
        fx.records = 0;
        fx.callbacks.MonitorWait(&jvmti, &env, of(&a), MONITOR, 0);
        pass(100 * MS);
        goes_on();
        fx.callbacks.MonitorWaited(&jvmti, &env, of(&a), MONITOR, JNI_FALSE);
        assert_int_equal(fx.records, 1);
        assert_int_equal(fx.ns, 100 * MS);
        assert_int_equal(fx.state, HPX_WALL_WAITING);
        pass(40 * MS);
        if (blocked) {
            goes_on();
        }
        entered(&a);
        assert_int_equal(fx.records, 1 + blocked);
        assert_int_equal(fx.ns, blocked ? 40 * MS : 100 * MS);
        assert_int_equal(fx.state, blocked ? HPX_WALL_BLOCKED : HPX_WALL_WAITING);
    }
}

TEST(a_wait_that_began_before_the_session_is_not_recorded)
{
    struct thread a = {.virtual = true};
    begin();
    goes_on();
    pass(100 * MS);
    entered(&a);
    assert_int_equal(fx.records, 0);
}

/* Between two threads, or when it makes them ready. */
TEST(a_wait_of_a_carrier_itself_is_not_that_of_a_virtual_thread)
{
    struct thread carrier = {.virtual = false};
    begin();
    for (int i = 0; i < 3; i++) {
        goes_on(); /* a thread that unmounts anew without an event */
        enter(&carrier);
        pass(100 * MS);
        entered(&carrier);
        pass(60000 * MS);
    }
    assert_int_equal(fx.records, 0);
}

TEST(without_the_store_the_events_stay_off_and_the_report_says_why)
{
    begin_with("another");
    assert_non_null(hpx_virtual_waits_figures().no_monitors);
    assert_false(fx.events[JVMTI_EVENT_MONITOR_CONTENDED_ENTER]);
    assert_false(fx.events[JVMTI_EVENT_MONITOR_WAITED]);
    begin();
    assert_true(fx.events[JVMTI_EVENT_MONITOR_CONTENDED_ENTER]);
    assert_true(fx.events[JVMTI_EVENT_MONITOR_WAITED]);
}

/* It was parked for 100 ms, by what the stack says. */
static uint32_t parked(struct thread *t)
{
    void(JNICALL * waited)(JNIEnv *, jclass, jlong, jlong);
    memcpy(&waited, &fx.natives[0].fnPtr, sizeof waited);
    uint64_t from = fx.now;
    (void)of(t);
    pass(100 * MS);
    waited(&env, NULL, (jlong)from, (jlong)fx.now);
    return fx.state;
}

#define VIRTUAL "Ljava/lang/VirtualThread;"
#define SUPPORT "Ljava/util/concurrent/locks/LockSupport;"

TEST(who_called_the_methods_that_park_tells_the_state)
{
    struct thread a = {.virtual = true};
    static const char *const of_sockets[FRAMES] = {VIRTUAL, SUPPORT, SUPPORT, "Lsun/nio/ch/Poller;"},
                             *const of_a_lock[FRAMES] = {VIRTUAL, "LSystem;", SUPPORT, "LLock;", "Lsun/nio/ch/Poller;"},
                             *const deeper[FRAMES] = {VIRTUAL, "LSystem;", "LSystem;", SUPPORT};
    begin();
    memcpy(fx.stack, of_sockets, sizeof fx.stack);
    assert_int_equal(parked(&a), HPX_WALL_IO);
    memcpy(fx.stack, of_a_lock, sizeof fx.stack);
    assert_int_equal(parked(&a), HPX_WALL_PARKED);
    memcpy(fx.stack, deeper, sizeof fx.stack);
    assert_int_equal(parked(&a), HPX_WALL_PARKED);
    assert_int_equal(fx.records, 3);
}

TEST(names_of_a_method_are_looked_up_until_the_vm_has_told_them)
{
    struct thread a = {.virtual = true};
    static const char *const stack[FRAMES] = {VIRTUAL, SUPPORT, "Lsun/nio/ch/Poller;"};
    begin();
    memcpy(fx.stack, stack, sizeof stack);
    fx.no_memory = true;
    assert_int_equal(parked(&a), HPX_WALL_PARKED);
    fx.no_memory = false;
    fx.looked_up = 0;
    assert_int_equal(parked(&a), HPX_WALL_IO);
    assert_int_equal(parked(&a), HPX_WALL_IO);
    assert_int_equal(fx.looked_up, 2);
}

TESTS(NULL, NULL)
