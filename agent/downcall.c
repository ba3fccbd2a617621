/* SPDX-License-Identifier: BSD-2-Clause */
/* downcall.c: the class and the entry point of downcall.h, by JNI, which asks for no access. */
#include "downcall.h"
#include "compiler.h"
#include <stdatomic.h>

/* HotSpot has had what is looked up below since 22; what comes after the last one tried may mean something else by the same names. */
#define JDK_FIRST 22
#define JDK_LAST  28

#define ABI     "jdk/internal/foreign/abi/"
#define STORAGE "L" ABI "VMStorage;"
#define TYPE    "java/lang/invoke/MethodType"
#define ENTRY   ABI "NativeEntryPoint"

#define LOCALS 32

static _Atomic(jclass) class_ref;         /* release: define; acquire: hpx_downcall_class() */
static _Atomic(const char *) reason = ""; /* release: define, link; acquire: hpx_downcall_reason() */

static int32_t answer(int32_t x)
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

/* What keeps this JDK from it, NULL: nothing that is known before the classes are looked at. */
static const char *obstacle(jvmtiEnv *jvmti)
{
    jint version = 0;
#if !(defined(__x86_64__) && defined(__LP64__) && defined(__linux__))
    return "not tried on this processor";
#endif
    if ((*jvmti)->GetVersionNumber(jvmti, &version) != JVMTI_ERROR_NONE) {
        return "the VM does not say its version";
    }
    jint jdk = (version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR;
    if (jdk < JDK_FIRST) {
        return "this JDK has none";
    }
    if (jdk > JDK_LAST) {
        return "not tried on this JDK";
    }
    return NULL;
}

/* java.base may call hprofx/Tracker, of the unnamed module of the boot loader: what the VM itself does for the module of a class that an
 * agent changes, but here before any is. */
static bool read_unnamed(JNIEnv *env, jclass down)
{
    jclass modules = (*env)->FindClass(env, "jdk/internal/module/Modules");
    jclass of_class = modules != NULL ? (*env)->FindClass(env, "java/lang/Class") : NULL;
    jmethodID module = of_class != NULL ? (*env)->GetMethodID(env, of_class, "getModule", "()Ljava/lang/Module;") : NULL;
    jmethodID add = module != NULL ? (*env)->GetStaticMethodID(env, modules, "transformedByAgent", "(Ljava/lang/Module;)V") : NULL;
    jobject base = add != NULL ? (*env)->CallObjectMethod(env, down, module) : NULL;
    if (failed(env) || base == NULL) {
        return false;
    }
    (*env)->CallStaticVoidMethod(env, modules, add, base);
    return !failed(env);
}

/* Each probe once, while none counts: it gets to its native. */
static bool reaches_natives(JNIEnv *env, jclass down)
{
    static const char *const names[] = {"enter", "exit", "thrown"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        jmethodID m = (*env)->GetStaticMethodID(env, down, names[i], "(I)V");
        if (m != NULL) {
            (*env)->CallStaticVoidMethod(env, down, m, (jint)1);
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
    const char *no = obstacle(jvmti);
    if (no != NULL) {
        return refuse(env, no);
    }
    all.test = (uint64_t)(uintptr_t)answer;
    size_t n = hpx_tracker_class_downcalls(bytes, &all);
    if ((*env)->PushLocalFrame(env, LOCALS) != 0) {
        return refuse(env, "no memory");
    }
    jclass down = (*env)->DefineClass(env, HPX_TRACKER_DOWN, NULL, (const jbyte *)bytes, (jsize)n);
    jclass kept = down != NULL && read_unnamed(env, down) && reaches_natives(env, down) ? (*env)->NewGlobalRef(env, down) : NULL;
    (*env)->PopLocalFrame(env, NULL);
    if (kept == NULL) {
        return refuse(env, "the VM does not take the class " HPX_TRACKER_DOWN);
    }
    atomic_store_explicit(&class_ref, kept, memory_order_release); /* partner: hpx_downcall_class() */
    return true;
}

/* --- the entry point. Each returns NULL, 0 or false with an exception pending, or what was asked for. */

/* For what is asked next: an exception may be pending. */
static jobject unless_failed(JNIEnv *env, jobject o)
{
    return failed(env) ? NULL : o;
}

static jobject element(JNIEnv *env, jobjectArray from, jsize i)
{
    return from != NULL ? unless_failed(env, (*env)->GetObjectArrayElement(env, from, i)) : NULL;
}

static bool offered(JNIEnv *env)
{
    jclass support = (*env)->FindClass(env, "jdk/internal/vm/ForeignLinkerSupport");
    jmethodID is = support != NULL ? (*env)->GetStaticMethodID(env, support, "isSupported", "()Z") : NULL;
    return is != NULL && (*env)->CallStaticBooleanMethod(env, support, is) && !failed(env);
}

static jobject field(JNIEnv *env, jobject of, const char *name, const char *type)
{
    jfieldID f = (*env)->GetFieldID(env, (*env)->GetObjectClass(env, of), name, type);
    return f != NULL ? (*env)->GetObjectField(env, of, f) : NULL;
}

/* The first register of the integers among an ABI's inputs or outputs. */
static jobject first_integer(JNIEnv *env, jobject abi, const char *name)
{
    jobjectArray kinds = field(env, abi, name, "[[" STORAGE);
    return element(env, element(env, kinds, 0), 0);
}

static jobjectArray array(JNIEnv *env, jobject first, jobject second)
{
    jclass storage = first != NULL ? (*env)->GetObjectClass(env, first) : NULL;
    jobjectArray a = storage != NULL ? (*env)->NewObjectArray(env, second != NULL ? 2 : 1, storage, first) : NULL;
    if (a != NULL && second != NULL) {
        (*env)->SetObjectArrayElement(env, a, 1, second);
    }
    return unless_failed(env, a);
}

/* (JI)I: the address of the function, its argument. */
static jobject method_type(JNIEnv *env)
{
    jclass type = (*env)->FindClass(env, TYPE);
    jmethodID of = type != NULL ? (*env)->GetStaticMethodID(env, type, "fromMethodDescriptorString",
                                                            "(Ljava/lang/String;Ljava/lang/ClassLoader;)L" TYPE ";")
                                : NULL;
    jstring text = of != NULL ? (*env)->NewStringUTF(env, "(JI)I") : NULL;
    return text != NULL ? unless_failed(env, (*env)->CallStaticObjectMethod(env, type, of, text, NULL)) : NULL;
}

/* The stub's address; not NativeEntryPoint.make(), whose lambdas would start a part of java.lang.invoke in a program that has no use for
 * it, and whose cleaner would free the stub. */
static jlong make_stub(JNIEnv *env, jclass entry, jobject type)
{
    jclass arranger = (*env)->FindClass(env, ABI "x64/sysv/CallArranger");
    jfieldID f = arranger != NULL ? (*env)->GetStaticFieldID(env, arranger, "CSysV", "L" ABI "ABIDescriptor;") : NULL;
    jobject abi = f != NULL ? (*env)->GetStaticObjectField(env, arranger, f) : NULL;
    if (abi == NULL) {
        return 0;
    }
    jobject target = field(env, abi, "targetAddrStorage", STORAGE), in = target != NULL ? first_integer(env, abi, "inputStorage") : NULL;
    jobject out = in != NULL ? first_integer(env, abi, "outputStorage") : NULL;
    jobjectArray ins = out != NULL ? array(env, target, in) : NULL, outs = ins != NULL ? array(env, out, NULL) : NULL;
    jmethodID make = outs != NULL ? (*env)->GetStaticMethodID(env, entry, "makeDowncallStub",
                                                              "(L" TYPE ";L" ABI "ABIDescriptor;[" STORAGE "[" STORAGE "ZIZ)J")
                                  : NULL;
    jboolean return_buffer = JNI_FALSE, transition = JNI_FALSE;
    jint captured = 0;
    return make != NULL ? (*env)->CallStaticLongMethod(env, entry, make, type, abi, ins, outs, return_buffer, captured, transition) : 0;
}

static jobject make_entry(JNIEnv *env)
{
    jclass entry = (*env)->FindClass(env, ENTRY);
    jmethodID init = entry != NULL ? (*env)->GetMethodID(env, entry, "<init>", "(L" TYPE ";J)V") : NULL;
    jobject type = init != NULL ? method_type(env) : NULL;
    jlong stub = type != NULL ? make_stub(env, entry, type) : 0;
    return !failed(env) && stub != 0 ? unless_failed(env, (*env)->NewObject(env, entry, init, type, stub)) : NULL;
}

/* Also resolves what the probes use: from here on they need nothing of the VM. */
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

/* The property that chooses the linker of the JDK chooses no other for us. */
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
        (*env)->SetStaticObjectField(env, down, f, entry); /* what it refers to is visible to whoever sees it: x86 alone comes here */
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
