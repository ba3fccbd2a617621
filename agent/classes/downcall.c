/* SPDX-License-Identifier: BSD-2-Clause */
/* downcall.c: defines the class and makes the entry point of downcall.h, by JNI, which ignores access rules. */
#include "downcall.h"
#include "boot_class.h"
#include "compiler.h"
#include "probe_frames.h"
#include "processor.h"
#include "vm.h"
#include <stdatomic.h>

/* HotSpot has the members looked up below since JDK 22. In a JDK later than the last one tested, the same names may mean something else. */
#define JDK_FIRST 22
#define JDK_LAST  28

#define ABI     "jdk/internal/foreign/abi/"
#define STORAGE "L" ABI "VMStorage;"
#define TYPE    "java/lang/invoke/MethodType"
#define CLASS   "java/lang/Class"
#define ENTRY   ABI "NativeEntryPoint"

#define LOCALS 64 /* local references, at most */

static _Atomic(jclass) class_ref;         /* release: define; acquire: hpx_downcall_class() */
static _Atomic(const char *) reason = ""; /* release: define, link; acquire: hpx_downcall_reason() */

static int32_t answer(int64_t x)
{
    return (int32_t)(3u * (uint32_t)x + 1);
}

static bool refuse(JNIEnv *env, const char *why)
{
    (*env)->ExceptionClear(env);
    atomic_store_explicit(&reason, why, memory_order_release); /* partner: hpx_downcall_reason() */
    return false;
}

static bool failed(JNIEnv *env)
{
    return (*env)->ExceptionCheck(env);
}

/* Why downcalls cannot work on this JDK; NULL: no reason is known before the classes are looked up. */
static const char *obstacle(void)
{
    jint jdk = hpx_vm_release();
    if (!HPX_PROCESSOR_KNOWN) {
        return "not tried on this processor";
    }
    if (jdk < JDK_FIRST) {
        return "this JDK has none";
    }
    if (jdk > JDK_LAST) {
        return "not tried on this JDK";
    }
    return NULL;
}

/* Calls every probe that has a target once, while none counts: it must reach its native. */
static bool reaches_natives(JNIEnv *env, jclass down, const struct hpx_tracker_targets *targets)
{
    const struct {
        const char *name, *type;
        uint64_t target;
    } probes[] = {{"enter", "(I)V", targets->enter},
                  {"exit", "(I)V", targets->exit},
                  {"thrown", "(I)V", targets->thrown},
                  {"alloc", "(I)V", targets->alloc},
                  {"array", "(II)V", targets->array}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(probes); i++) {
        jmethodID m = probes[i].target != 0 ? (*env)->GetStaticMethodID(env, down, probes[i].name, probes[i].type) : NULL;
        if (m != NULL) {
            (*env)->CallStaticVoidMethod(env, down, m, (jint)1, (jint)1);
        }
        if (failed(env)) {
            return false;
        }
    }
    return true;
}

bool hpx_downcall_define(jvmtiEnv *jvmti, JNIEnv *env, const struct hpx_tracker_targets *targets)
{
    uint8_t bytes[HPX_TRACKER_CLASS_MAX];
    struct hpx_tracker_targets all = *targets;
    const char *no = obstacle();
    if (no != NULL) {
        return refuse(env, no);
    }
    all.test = (uint64_t)(uintptr_t)answer;
    size_t n = hpx_tracker_class_downcalls(bytes, &all);
    if ((*env)->PushLocalFrame(env, LOCALS) != 0) {
        return refuse(env, "no memory");
    }
    jclass down = (*env)->DefineClass(env, HPX_TRACKER_DOWN, NULL, (const jbyte *)bytes, (jsize)n);
    jclass kept = down != NULL && reaches_natives(env, down, targets) ? (*env)->NewGlobalRef(env, down) : NULL;
    (*env)->PopLocalFrame(env, NULL);
    if (kept == NULL) {
        return refuse(env, "the VM refused the class " HPX_TRACKER_DOWN);
    }
    if (!hpx_probe_frames_add(jvmti, kept)) {
        (*env)->DeleteGlobalRef(env, kept);
        return refuse(env, "no memory");
    }
    atomic_store_explicit(&class_ref, kept, memory_order_release); /* partner: hpx_downcall_class() */
    return true;
}

/* ---- the entry point: every function returns its result, or NULL, 0 or false; then an exception may be pending. ---- */

/* NULL if an exception is pending, so that the caller makes no further JNI call. */
static jobject unless_failed(JNIEnv *env, jobject o)
{
    return failed(env) ? NULL : o;
}

static bool offered(JNIEnv *env)
{
    jclass support = hpx_boot_class(env, "jdk/internal/vm/ForeignLinkerSupport");
    jmethodID is = support != NULL ? (*env)->GetStaticMethodID(env, support, "isSupported", "()Z") : NULL;
    return is != NULL && (*env)->CallStaticBooleanMethod(env, support, is) && !failed(env);
}

/* The type (JJ)I: address of the function, argument. */
static jobject method_type(JNIEnv *env)
{
    jclass type = hpx_boot_class(env, TYPE), whole = type != NULL ? hpx_boot_class(env, "java/lang/Integer") : NULL;
    jclass longer = whole != NULL ? hpx_boot_class(env, "java/lang/Long") : NULL, any = longer != NULL ? hpx_boot_class(env, CLASS) : NULL;
    jfieldID i = any != NULL ? (*env)->GetStaticFieldID(env, whole, "TYPE", "L" CLASS ";") : NULL;
    jfieldID l = i != NULL ? (*env)->GetStaticFieldID(env, longer, "TYPE", "L" CLASS ";") : NULL;
    jmethodID of = l != NULL ? (*env)->GetStaticMethodID(env, type, "methodType", "(L" CLASS ";L" CLASS ";[L" CLASS ";)L" TYPE ";") : NULL;
    if (of == NULL) {
        return NULL;
    }
    jobject int_type = (*env)->GetStaticObjectField(env, whole, i), long_type = (*env)->GetStaticObjectField(env, longer, l);
    jobjectArray more = unless_failed(env, (*env)->NewObjectArray(env, 1, any, long_type));
    return more != NULL ? unless_failed(env, (*env)->CallStaticObjectMethod(env, type, of, int_type, long_type, more)) : NULL;
}

/* The C calling convention, as jdk.internal.foreign.abi.CallArranger has it; using that class would load 400 more classes. */
struct registers {
    JNIEnv *env;
    jclass storage, rows, named;
};

static bool find_registers(JNIEnv *env, struct registers *r)
{
    r->env = env;
    r->storage = hpx_boot_class(env, ABI "VMStorage");
    r->rows = r->storage != NULL ? hpx_boot_class(env, "[" STORAGE) : NULL;
    r->named = r->rows != NULL ? hpx_boot_class(env, ABI HPX_ABI "$Regs") : NULL;
    return r->named != NULL;
}

static jobject register_of(const struct registers *r, const char *name)
{
    JNIEnv *env = r->env;
    jfieldID f = failed(env) ? NULL : (*env)->GetStaticFieldID(env, r->named, name, STORAGE);
    return f != NULL ? (*env)->GetStaticObjectField(env, r->named, f) : NULL;
}

/* names: ends with NULL. */
static jobjectArray row(const struct registers *r, const char *const *names)
{
    JNIEnv *env = r->env;
    jsize n = 0;
    while (names[n] != NULL) {
        n++;
    }
    jobjectArray a = failed(env) ? NULL : unless_failed(env, (*env)->NewObjectArray(env, n, r->storage, NULL));
    for (jsize i = 0; a != NULL && i < n; i++) {
        jobject one = register_of(r, names[i]);
        (*env)->SetObjectArrayElement(env, a, i, one);
        a = unless_failed(env, a);
        (*env)->DeleteLocalRef(env, one);
    }
    return a;
}

/* Rows: integer registers, then others, which no function of hprofx uses. */
static jobjectArray kinds(const struct registers *r, jsize n, const char *const *integers)
{
    static const char *const none[] = {NULL};
    JNIEnv *env = r->env;
    jobjectArray a = failed(env) ? NULL : unless_failed(env, (*env)->NewObjectArray(env, n, r->rows, NULL));
    for (jsize i = 0; a != NULL && i < n; i++) {
        jobject one = row(r, i == 0 ? integers : none);
        if (one == NULL) {
            return NULL;
        }
        (*env)->SetObjectArrayElement(env, a, i, one);
        a = unless_failed(env, a);
        (*env)->DeleteLocalRef(env, one);
    }
    return a;
}

/* The storage from which the stub reads the address of the function. */
static jobject target_storage(JNIEnv *env)
{
    jclass types = hpx_boot_class(env, ABI HPX_ABI "$StorageType");
    jfieldID place = types != NULL ? (*env)->GetStaticFieldID(env, types, "PLACEHOLDER", "B") : NULL;
    jclass stub = place != NULL ? hpx_boot_class(env, ABI "StubLocations") : NULL;
    jfieldID target = stub != NULL ? (*env)->GetStaticFieldID(env, stub, "TARGET_ADDRESS", "L" ABI "StubLocations;") : NULL;
    jmethodID storage = target != NULL ? (*env)->GetMethodID(env, stub, "storage", "(B)" STORAGE) : NULL;
    jobject at = storage != NULL ? (*env)->GetStaticObjectField(env, stub, target) : NULL;
    return at != NULL ? unless_failed(env, (*env)->CallObjectMethod(env, at, storage, (*env)->GetStaticByteField(env, types, place)))
                      : NULL;
}

static jobject make_abi(const struct registers *r, jobject target)
{
    static const char *const in[] = {HPX_ABI_IN, NULL}, *const out[] = {HPX_ABI_OUT, NULL}, *const scratch[] = {HPX_ABI_SCRATCH, NULL};
    enum { STACK_ALIGNMENT = 16, SHADOW_SPACE = 0 };
    JNIEnv *env = r->env;
    jclass abi = hpx_boot_class(env, ABI "ABIDescriptor");
    jmethodID init = abi != NULL ? (*env)->GetMethodID(env, abi, "<init>",
                                                       "(L" ABI "Architecture;[[" STORAGE "[[" STORAGE "[[" STORAGE
                                                       "II" STORAGE STORAGE STORAGE STORAGE STORAGE ")V")
                                 : NULL;
    jobjectArray ins = init != NULL ? kinds(r, 2, in) : NULL, outs = ins != NULL ? kinds(r, HPX_ABI_OUT_KINDS, out) : NULL;
    jobjectArray volatiles = outs != NULL ? kinds(r, 2, scratch) : NULL;
    jobject scratch1 = volatiles != NULL ? register_of(r, scratch[0]) : NULL,
            scratch2 = scratch1 != NULL ? register_of(r, scratch[1]) : NULL;
    if (scratch2 == NULL) {
        return NULL;
    }
    /* The VM reads none of the NULL arguments: the architecture, and where a return buffer and captured state would be. */
    return unless_failed(env, (*env)->NewObject(env, abi, init, NULL, ins, outs, volatiles, (jint)STACK_ALIGNMENT, (jint)SHADOW_SPACE,
                                                scratch1, scratch2, target, NULL, NULL));
}

/* Returns the address of the stub. NativeEntryPoint.make() is no option: its lambdas would start a part of java.lang.invoke that the
 * program may not use, and its cleaner would free the stub. */
static jlong make_stub(JNIEnv *env, jclass entry, jobject type)
{
    static const char *const all_in[] = {HPX_ABI_IN, NULL}, *const all_out[] = {HPX_ABI_OUT, NULL};
    /* the first is replaced with the target's storage */
    const char *const in[] = {all_in[0], all_in[0], NULL}, *const out[] = {all_out[0], NULL};
    struct registers r;
    jobject target = find_registers(env, &r) ? target_storage(env) : NULL, abi = target != NULL ? make_abi(&r, target) : NULL;
    jobjectArray ins = abi != NULL ? row(&r, in) : NULL, outs = ins != NULL ? row(&r, out) : NULL;
    if (outs == NULL) {
        return 0;
    }
    (*env)->SetObjectArrayElement(env, ins, 0, target);
    jmethodID make = failed(env) ? NULL
                                 : (*env)->GetStaticMethodID(env, entry, "makeDowncallStub",
                                                             "(L" TYPE ";L" ABI "ABIDescriptor;[" STORAGE "[" STORAGE "ZIZ)J");
    jboolean return_buffer = JNI_FALSE, transition = JNI_FALSE;
    jint captured = 0;
    return make != NULL ? (*env)->CallStaticLongMethod(env, entry, make, type, abi, ins, outs, return_buffer, captured, transition) : 0;
}

static jobject make_entry(JNIEnv *env)
{
    jclass entry = hpx_boot_class(env, ENTRY);
    jmethodID init = entry != NULL ? (*env)->GetMethodID(env, entry, "<init>", "(L" TYPE ";J)V") : NULL;
    jobject type = init != NULL ? method_type(env) : NULL;
    jlong stub = type != NULL ? make_stub(env, entry, type) : 0;
    return !failed(env) && stub != 0 ? unless_failed(env, (*env)->NewObject(env, entry, init, type, stub)) : NULL;
}

/* Tests the entry point. The calls also resolve what the probes use, so that later probes need nothing from the VM. */
static bool answers(JNIEnv *env, jclass down, jobject entry)
{
    static const jint asked[] = {0, 1, -1, 0x12345678, INT32_MIN, INT32_MAX};
    jmethodID test = (*env)->GetStaticMethodID(env, down, HPX_TRACKER_TEST, "(ILjava/lang/Object;)I");
    for (size_t i = 0; test != NULL && i < HPX_ARRAY_LEN(asked); i++) {
        jint got = (*env)->CallStaticIntMethod(env, down, test, asked[i], entry);
        if (failed(env) || got != answer(asked[i])) {
            return false;
        }
    }
    return test != NULL;
}

/* The property that selects another linker of the JDK; hprofx knows only the default one. */
static bool chosen(jvmtiEnv *jvmti)
{
    char *value = NULL;
    bool is = (*jvmti)->GetSystemProperty(jvmti, "jdk.internal.foreign.CABI", &value) == JVMTI_ERROR_NONE && value != NULL;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)value);
    return is;
}

bool hpx_downcall_link(jvmtiEnv *jvmti, JNIEnv *env)
{
    jclass down = hpx_downcall_class();
    const char *no = NULL;
    if (down == NULL) {
        return false;
    }
    if (chosen(jvmti)) {
        return refuse(env, "jdk.internal.foreign.CABI is set");
    }
    if ((*env)->PushLocalFrame(env, LOCALS) != 0) {
        return refuse(env, "no memory");
    }
    jobject entry = offered(env) ? make_entry(env) : NULL;
    jfieldID f = entry != NULL ? (*env)->GetStaticFieldID(env, down, HPX_TRACKER_ENTRY, "Ljava/lang/Object;") : NULL;
    if (f == NULL) {
        no = "the VM does not offer them";
    } else if (!answers(env, down, entry)) {
        no = "their test failed";
    } else {
        /* Who sees the entry, by a plain load, sees its contents: their address depends on it. */
        atomic_thread_fence(memory_order_release);
        (*env)->SetStaticObjectField(env, down, f, entry);
    }
    (*env)->ExceptionClear(env);
    (*env)->PopLocalFrame(env, NULL);
    atomic_store_explicit(&reason, no, memory_order_release); /* partner: hpx_downcall_reason() */
    return no == NULL;
}

jclass hpx_downcall_class(void)
{
    return atomic_load_explicit(&class_ref, memory_order_acquire); /* partner: hpx_downcall_define() */
}

const char *hpx_downcall_reason(void)
{
    return atomic_load_explicit(&reason, memory_order_acquire); /* partner: refuse(), hpx_downcall_link() */
}
