/* SPDX-License-Identifier: BSD-2-Clause */
/* test_layout.c: which classes a heap dump has, with a made-up VM: a class is the address of its entry in `all`. */
#include "class_number.h"
#include "cmocka_all.h"
#include "known_threads.h"
#include "layout.h"
#include "thread_info.h"
#include "vm.h"
#include <string.h>

struct hpx_vm hpx_vm;
struct hpx_vm_fields hpx_vm_fields;
struct hpx_session hpx_session;

enum { OBJECT, TOP, MIDDLE, DERIVED, CLASSES };

static struct made_up {
    const char *signature;
    struct made_up *above;
    uint32_t number; /* 0: not asked for */
} all[CLASSES] = {
    {"Ljava/lang/Object;", NULL, 0}, {"Lp/Top;", &all[OBJECT], 0}, {"Lp/Middle;", &all[TOP], 0}, {"Lp/Derived;", &all[MIDDLE], 0}};

static struct {
    uint32_t numbers;
    int listed[CLASSES], nlisted;
} vm;

/* ---- the agent ---- */

struct hpx_class_number hpx_class_number(jvmtiEnv *jvmti, jclass klass)
{
    struct made_up *c = (struct made_up *)(void *)klass;
    (void)jvmti;
    c->number = c->number != 0 ? c->number : ++vm.numbers;
    return (struct hpx_class_number){c->number};
}

uint32_t hpx_known_threads_list(JNIEnv *env, struct hpx_thread_ref **to, bool virtuals)
{
    (void)virtuals;
    (void)env;
    *to = NULL;
    return 0;
}

uint32_t hpx_known_threads_serial(void)
{
    return 0;
}

char *hpx_thread_info_name(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti, (void)env, (void)thread;
    return NULL;
}

int hpx_named_stacks_init(struct hpx_named_stacks *s, jvmtiEnv *jvmti, JNIEnv *env, struct hpx_arena *arena, bool numbers)
{
    (void)s, (void)jvmti, (void)env, (void)arena, (void)numbers;
    return 0;
}

void hpx_named_stacks_take(struct hpx_named_stacks *s, const jvmtiStackInfo *info, uint32_t most, struct hpx_named_stack *to,
                           uint64_t *methods)
{
    (void)s, (void)info, (void)most, (void)to, (void)methods;
}

void hpx_named_stacks_fini(struct hpx_named_stacks *s)
{
    (void)s;
}

jvmtiEnv *hpx_vm_environment(const jvmtiCapabilities *want)
{
    (void)want;
    return NULL;
}

/* ---- JVMTI and JNI ---- */

static jvmtiError JNICALL get_loaded_classes(jvmtiEnv *env, jint *n, jclass **to)
{
    static jclass list[CLASSES];
    (void)env;
    for (int i = 0; i < vm.nlisted; i++) {
        list[i] = (jclass)(void *)&all[vm.listed[i]];
    }
    *n = vm.nlisted;
    *to = list;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_signature(jvmtiEnv *env, jclass klass, char **signature, char **generic)
{
    (void)env, (void)generic;
    *signature = (char *)(uintptr_t)((struct made_up *)(void *)klass)->signature;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_fields(jvmtiEnv *env, jclass klass, jint *n, jfieldID **ids)
{
    (void)env, (void)klass;
    *n = 0;
    *ids = NULL;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_interfaces(jvmtiEnv *env, jclass klass, jint *n, jclass **to)
{
    (void)env, (void)klass;
    *n = 0;
    *to = NULL;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_status(jvmtiEnv *env, jclass klass, jint *status)
{
    (void)env, (void)klass;
    *status = JVMTI_CLASS_STATUS_PREPARED;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL no_stacks(jvmtiEnv *env, jint most, jvmtiStackInfo **to, jint *n)
{
    (void)env, (void)most, (void)to, (void)n;
    return JVMTI_ERROR_OUT_OF_MEMORY;
}

static jvmtiError JNICALL no_thread(jvmtiEnv *env, jthread *thread)
{
    (void)env, (void)thread;
    return JVMTI_ERROR_WRONG_PHASE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *p)
{
    (void)env, (void)p;
    return JVMTI_ERROR_NONE;
}

static jclass JNICALL get_superclass(JNIEnv *env, jclass klass)
{
    (void)env;
    return (jclass)(void *)((struct made_up *)(void *)klass)->above;
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    (void)env, (void)name;
    return NULL;
}

static jint JNICALL ensure(JNIEnv *env, jint n)
{
    (void)env, (void)n;
    return 0;
}

static void JNICALL drop_ref(JNIEnv *env, jobject o)
{
    (void)env, (void)o;
}

static void JNICALL clear(JNIEnv *env)
{
    (void)env;
}

static const jvmtiInterface_1 jvmti_table = {.GetLoadedClasses = get_loaded_classes,
                                             .GetClassSignature = get_class_signature,
                                             .GetClassFields = get_class_fields,
                                             .GetImplementedInterfaces = get_interfaces,
                                             .GetClassStatus = get_class_status,
                                             .GetAllStackTraces = no_stacks,
                                             .GetCurrentThread = no_thread,
                                             .Deallocate = deallocate};
static const struct JNINativeInterface_ jni_table = {.GetSuperclass = get_superclass,
                                                     .FindClass = find_class,
                                                     .EnsureLocalCapacity = ensure,
                                                     .DeleteLocalRef = drop_ref,
                                                     .ExceptionClear = clear};

/* A layout of these classes. */
static void make(struct hpx_layout *l, const int *classes, int n)
{
    static const struct hpx_options options = {.binary = true, .idsize = 8};
    static jvmtiEnv jvmti = &jvmti_table;
    static JNIEnv jni = &jni_table;
    hpx_session.opt = &options;
    vm.nlisted = n;
    memcpy(vm.listed, classes, (size_t)n * sizeof *classes);
    assert_int_equal(hpx_layout_make(l, &jvmti, &jni, false), 0);
}

static int teardown(void **state)
{
    (void)state;
    hpx_layout_forget();
    memset(&vm, 0, sizeof vm);
    for (int i = 0; i < CLASSES; i++) {
        all[i].number = 0;
    }
    return 0;
}

/* ---- tests ---- */

static void assert_whole(const struct hpx_layout *l)
{
    for (uint32_t i = 0; i < l->nclasses; i++) {
        for (const struct hpx_heap_klass *c = l->classes[i]; c != NULL; c = c->above) {
            assert_in_range(c->number.v, 1, l->nclasses - 1);
            assert_ptr_equal(l->classes[c->number.v], c);
        }
    }
}

TEST(layout_has_the_classes_that_the_vm_lists, NULL, teardown)
{
    static const int classes[] = {OBJECT, MIDDLE, TOP};
    struct hpx_layout l;
    make(&l, classes, 3);
    assert_int_equal(l.loaded, 3);
    assert_int_equal(l.nclasses, 4);
    assert_whole(&l);
    for (int i = 0; i < 3; i++) {
        const struct hpx_heap_klass *c = l.classes[all[classes[i]].number];
        assert_int_equal(l.class_numbers[i].v, all[classes[i]].number);
        assert_non_null(c);
        assert_ptr_equal(c->above, all[classes[i]].above != NULL ? l.classes[all[classes[i]].above->number] : NULL);
    }
    hpx_layout_fini(&l);
}

/* They were loaded while the VM listed classes. */
TEST(layout_has_superclasses_that_the_vm_does_not_list, NULL, teardown)
{
    static const int classes[] = {OBJECT, DERIVED};
    struct hpx_layout l;
    make(&l, classes, 2);
    assert_int_equal(l.loaded, 2);
    assert_int_equal(l.nclasses, 5);
    assert_whole(&l);
    assert_int_equal(l.classes[all[MIDDLE].number]->name.len, strlen("p.Middle"));
    assert_int_equal(l.classes[all[TOP].number]->name.len, strlen("p.Top"));
    hpx_layout_fini(&l);
}

TESTS(NULL, NULL)
