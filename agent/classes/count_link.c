/* SPDX-License-Identifier: BSD-2-Clause */
/* count_link.c: see count_link.h. */
#include "count_link.h"
#include "boot_class.h"
#include "probe_frames.h"
#include "tracker_class.h"
#include "vm.h"
#include <stdatomic.h>

#define LOCALS 16

static struct {
    const char *_Atomic reason; /* release: link; acquire: hpx_count_reason() */
    uint64_t behind;            /* bytes from a thread of the VM to its JNIEnv. Constant once linked */
    bool is;
} linked = {.reason = "the JVM has not begun"};

const char *hpx_count_unsafe(void)
{
    return hpx_vm_release() >= 9 ? "jdk/internal/misc/Unsafe" : "sun/misc/Unsafe";
}

static bool failed(JNIEnv *env)
{
    return (*env)->ExceptionCheck(env);
}

/* What the program's own code would have to ask for by reflection. */
struct found {
    jobject unsafe;
    jlong eetop;  /* offset */
    jlong thread; /* the calling one, of the VM */
};

static const char *find_unsafe(JNIEnv *env, jclass of, struct found *f)
{
    char type[HPX_TRACKER_NAME + 2];
    (void)hpx_tracker_class_type(type, hpx_count_unsafe());
    jfieldID only = (*env)->GetStaticFieldID(env, of, "theUnsafe", type);
    f->unsafe = only != NULL ? (*env)->GetStaticObjectField(env, of, only) : NULL;
    return f->unsafe != NULL ? NULL : "Unsafe has another shape";
}

static const char *find_eetop(jvmtiEnv *jvmti, JNIEnv *env, jclass of, struct found *f)
{
    jclass thread = hpx_boot_class(env, "java/lang/Thread");
    jfieldID eetop = thread != NULL ? (*env)->GetFieldID(env, thread, "eetop", "J") : NULL;
    jmethodID offset = eetop != NULL ? (*env)->GetMethodID(env, of, "objectFieldOffset", "(Ljava/lang/reflect/Field;)J") : NULL;
    jobject field = offset != NULL ? (*env)->ToReflectedField(env, thread, eetop, JNI_FALSE) : NULL;
    jthread self = NULL;
    if (field == NULL || failed(env)) {
        return "a thread of Java has another shape";
    }
    f->eetop = (*env)->CallLongMethod(env, f->unsafe, offset, field);
    if (failed(env) || (*jvmti)->GetCurrentThread(jvmti, &self) != JVMTI_ERROR_NONE || self == NULL) {
        return "the VM does not tell its threads";
    }
    f->thread = (*env)->GetLongField(env, self, eetop);
    return f->thread != 0 ? NULL : "the VM does not tell its threads";
}

static const char *define(jvmtiEnv *jvmti, JNIEnv *env, const struct found *f, uint64_t table)
{
    uint8_t bytes[HPX_TRACKER_CLASS_MAX];
    const struct hpx_tracker_counts c = {
        .unsafe = hpx_count_unsafe(), .carriers = hpx_vm_release() >= 19, .eetop = (uint64_t)f->eetop, .table = table};
    size_t n = hpx_tracker_class_counts(bytes, &c);
    jclass klass = (*env)->DefineClass(env, HPX_TRACKER_COUNTS, NULL, (const jbyte *)bytes, (jsize)n);
    char type[HPX_TRACKER_NAME + 8];
    hpx_tracker_class_counts_type(type, c.unsafe);
    /* the look-up of a method links the class */
    bool is = klass != NULL && (*env)->GetStaticMethodID(env, klass, HPX_TRACKER_COUNT, type) != NULL;
    return is && hpx_probe_frames_add(jvmti, klass) ? NULL : "the VM refused the class " HPX_TRACKER_COUNTS;
}

static const char *set_unsafe(JNIEnv *env, jclass tracker, const struct found *f)
{
    char type[HPX_TRACKER_NAME + 2];
    (void)hpx_tracker_class_type(type, hpx_count_unsafe());
    jfieldID field = (*env)->GetStaticFieldID(env, tracker, HPX_TRACKER_UNSAFE, type);
    if (field == NULL) {
        return "the VM refused the class " HPX_TRACKER_COUNTS;
    }
    /* Who sees it, by a plain load, passes it on to a class that is defined. */
    atomic_thread_fence(memory_order_release);
    (*env)->SetStaticObjectField(env, tracker, field, f->unsafe);
    return NULL;
}

static const char *link_now(jvmtiEnv *jvmti, JNIEnv *env, jclass tracker, uint64_t table)
{
    struct found f = {.unsafe = NULL};
    jclass of = hpx_boot_class(env, hpx_count_unsafe());
    const char *no = of == NULL ? "the VM has no Unsafe" : find_unsafe(env, of, &f);
    no = no != NULL ? no : find_eetop(jvmti, env, of, &f);
    no = no != NULL ? no : define(jvmti, env, &f, table);
    if (no == NULL) {
        linked.behind = (uint64_t)(uintptr_t)env - (uint64_t)f.thread;
        no = set_unsafe(env, tracker, &f);
    }
    return no;
}

const char *hpx_count_link(jvmtiEnv *jvmti, JNIEnv *env, jclass tracker, uint64_t table)
{
    const char *no = "no memory";
    if (linked.is) {
        return NULL;
    }
    if (table != 0 && (*env)->PushLocalFrame(env, LOCALS) == 0) {
        no = link_now(jvmti, env, tracker, table);
        (*env)->ExceptionClear(env);
        (*env)->PopLocalFrame(env, NULL);
    }
    (*env)->ExceptionClear(env);
    linked.is = no == NULL;
    atomic_store_explicit(&linked.reason, no, memory_order_release); /* partner: hpx_count_reason() */
    return no;
}

const char *hpx_count_reason(void)
{
    return atomic_load_explicit(&linked.reason, memory_order_acquire); /* partner: hpx_count_link() */
}

uint64_t hpx_count_thread(JNIEnv *env, uint64_t passed)
{
    return passed != 0 && passed + linked.behind == (uint64_t)(uintptr_t)env ? passed : 0;
}
