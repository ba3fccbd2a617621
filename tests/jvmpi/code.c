/* SPDX-License-Identifier: BSD-2-Clause */
/* code.c: an agent of JVMPI that tells, for tests/jvm/test_jvmpi_code.py, what the classes JvmpiCode* do: their calls in order with the
 * class of the object, and how often the other events came. Options: names of events; `java` and `throw`: the handler of a call or an
 * allocation misbehaves.
 */
#include "jvmpi.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS     (1u << 20) /* objects whose class is remembered, by id */
#define METHODS 256
#define WATCHED "JvmpiCode"

static JVMPI_Interface *jvmpi;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all that follows */
static char *classes[IDS];                               /* names of classes, by id */
static const char *kinds[IDS];                           /* class of an object, by id */
static struct {
    jmethodID id;
    char name[160];
} methods[METHODS];
static unsigned nmethods;
static long counts[JVMPI_MAX_EVENT_TYPE_VAL + 1], unloaded;
static bool calls_java, throws;

static uintptr_t slot(jobjectID id)
{
    return (uintptr_t)id % IDS;
}

static const char *name_of(jmethodID id)
{
    for (unsigned i = 0; i < nmethods; i++) {
        if (methods[i].id == id) {
            return methods[i].name;
        }
    }
    return NULL;
}

static void on_class(const JVMPI_Event *e)
{
    const char *name = e->u.class_load.class_name;
    classes[slot(e->u.class_load.class_id)] = strdup(name);
    if (strncmp(name, WATCHED, strlen(WATCHED)) != 0) {
        return;
    }
    for (jint i = 0; i < e->u.class_load.num_methods && nmethods < METHODS; i++) {
        const JVMPI_Method *m = &e->u.class_load.methods[i];
        methods[nmethods].id = m->method_id;
        (void)snprintf(methods[nmethods++].name, sizeof methods[0].name, "%s.%s%s", name, m->method_name, m->method_signature);
    }
}

static void on_unload(const JVMPI_Event *e)
{
    const char *name = classes[slot(e->u.class_unload.class_id)];
    unloaded += name != NULL && strncmp(name, WATCHED, strlen(WATCHED)) == 0;
}

static void on_alloc(const JVMPI_Event *e)
{
    const jint kind = e->u.obj_alloc.is_array;
    kinds[slot(e->u.obj_alloc.obj_id)] = kind == JVMPI_NORMAL_OBJECT ? classes[slot(e->u.obj_alloc.class_id)] : "array";
}

static void on_enter(jmethodID id, bool has, jobjectID object)
{
    const char *name = name_of(id), *kind = object != NULL ? kinds[slot(object)] : "none";
    if (name != NULL) {
        printf("in %s%s%s\n", name, has ? " " : "", !has ? "" : kind != NULL ? kind : "unknown");
    }
}

static void on_exit_of(jmethodID id)
{
    const char *name = name_of(id);
    if (name != NULL) {
        printf("out %s\n", name);
    }
}

static void on_end(void)
{
    for (int i = 1; i <= JVMPI_MAX_EVENT_TYPE_VAL; i++) {
        if (counts[i] > 0) {
            printf("event %d: %ld\n", i, counts[i]);
        }
    }
    printf("unloaded: %ld\n", unloaded);
    (void)fflush(stdout);
}

/* A handler must not do this; the program must not suffer. */
static void misbehave(JNIEnv *env)
{
    jclass klass = (*env)->FindClass(env, throws ? "java/lang/IllegalStateException" : "java/lang/Integer");
    jmethodID method = !throws && klass != NULL ? (*env)->GetStaticMethodID(env, klass, "toString", "(I)Ljava/lang/String;") : NULL;
    if (throws && klass != NULL) {
        (void)(*env)->ThrowNew(env, klass, "of a handler");
    } else if (method != NULL) {
        (void)(*env)->CallStaticObjectMethod(env, klass, method, 4711);
    }
}

/* The hook of the program's class: its text gets another word of the same length. */
static void on_hook(JVMPI_Event *e)
{
    static const char other[8] = {'r', 'e', 'p', 'l', 'a', 'c', 'e', 'd'};
    const jint n = e->u.class_load_hook.class_data_len;
    unsigned char *copy, *at;
    if (memmem(e->u.class_load_hook.class_data, (size_t)n, "original", 8) == NULL) {
        return;
    }
    copy = e->u.class_load_hook.malloc_f((unsigned)n);
    memcpy(copy, e->u.class_load_hook.class_data, (size_t)n);
    while ((at = memmem(copy, (size_t)n, "original", 8)) != NULL) {
        memcpy(at, other, sizeof other);
    }
    e->u.class_load_hook.new_class_data = copy;
    e->u.class_load_hook.new_class_data_len = n;
}

static void tell(JVMPI_Event *e, jint type)
{
    switch (type) {
    case JVMPI_EVENT_CLASS_LOAD:
        on_class(e);
        break;
    case JVMPI_EVENT_CLASS_UNLOAD:
        on_unload(e);
        break;
    case JVMPI_EVENT_CLASS_LOAD_HOOK:
        on_hook(e);
        break;
    case JVMPI_EVENT_OBJECT_ALLOC:
        on_alloc(e);
        break;
    case JVMPI_EVENT_METHOD_ENTRY:
        on_enter(e->u.method.method_id, false, NULL);
        break;
    case JVMPI_EVENT_METHOD_ENTRY2:
        on_enter(e->u.method_entry2.method_id, true, e->u.method_entry2.obj_id);
        break;
    case JVMPI_EVENT_METHOD_EXIT:
        on_exit_of(e->u.method.method_id);
        break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
        on_end();
        break;
    default:
        break;
    }
}

static void notify(JVMPI_Event *e)
{
    const jint type = e->event_type & ~JVMPI_REQUESTED_EVENT;
    (void)pthread_mutex_lock(&lock);
    counts[type]++;
    tell(e, type);
    (void)pthread_mutex_unlock(&lock);
    if ((calls_java || throws) &&
        (type == JVMPI_EVENT_METHOD_ENTRY || type == JVMPI_EVENT_METHOD_EXIT || type == JVMPI_EVENT_OBJECT_ALLOC)) {
        misbehave(e->env_id);
    }
}

/* The program's own native. */
JNIEXPORT void JNICALL Java_JvmpiCode_references(JNIEnv *env, jclass klass, jobject object, jint n);
JNIEXPORT void JNICALL Java_JvmpiCode_references(JNIEnv *env, jclass klass, jobject object, jint n)
{
    (void)klass;
    for (jint i = 0; i < n; i++) {
        jobject strong = (*env)->NewGlobalRef(env, object);
        jweak weak = (*env)->NewWeakGlobalRef(env, object);
        if (i % 3 == 0) {
            (*env)->DeleteGlobalRef(env, strong);
        }
        if (i % 5 == 0) {
            (*env)->DeleteWeakGlobalRef(env, weak);
        }
    }
}

static void take_option(const char *word)
{
    static const struct {
        const char *name;
        jint event;
    } known[] = {{"entry", JVMPI_EVENT_METHOD_ENTRY},
                 {"entry2", JVMPI_EVENT_METHOD_ENTRY2},
                 {"exit", JVMPI_EVENT_METHOD_EXIT},
                 {"alloc", JVMPI_EVENT_OBJECT_ALLOC},
                 {"unload", JVMPI_EVENT_CLASS_UNLOAD},
                 {"hook", JVMPI_EVENT_CLASS_LOAD_HOOK},
                 {"strong", JVMPI_EVENT_JNI_GLOBALREF_ALLOC},
                 {"strong", JVMPI_EVENT_JNI_GLOBALREF_FREE},
                 {"weak", JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC},
                 {"weak", JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE}};
    calls_java = calls_java || strcmp(word, "java") == 0;
    throws = throws || strcmp(word, "throw") == 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, word) == 0 && jvmpi->EnableEvent(known[i].event, NULL) != JVMPI_SUCCESS) {
            printf("BAD %s\n", word);
        }
    }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    char *rest = NULL;
    (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&jvmpi, JVMPI_VERSION_1) < 0) {
        return JNI_ERR;
    }
    jvmpi->NotifyEvent = notify;
    (void)jvmpi->EnableEvent(JVMPI_EVENT_CLASS_LOAD, NULL);
    (void)jvmpi->EnableEvent(JVMPI_EVENT_JVM_SHUT_DOWN, NULL);
    for (char *word = strtok_r(options, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        take_option(word);
    }
    return JNI_OK;
}
