/* SPDX-License-Identifier: BSD-2-Clause */
/* test_class_number.c: a class gets one number, however many threads ask, and no lock is held over a call of the VM, which is made up: a
 * debugger may suspend the thread there. Another thread asks within such a call. */
#include "class_number.h"
#include "cmocka_all.h"
#include "failing_memory.h"
#include <pthread.h>
#include <string.h>

#define CLASSES 2

static struct {
    jlong tags[CLASSES]; /* a class is the address of its tag */
    int held;            /* locks */
    unsigned locked_calls, refs;
    bool no_refs, fail_set;
    unsigned calls, meddle_at; /* of JVMTI so far; the one at which another thread asks; 0: none */
    jclass asks_for;
    uint32_t other; /* the number that it got */
} vm;

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    vm.held++;
    return __real_pthread_mutex_lock(m);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    vm.held--;
    return __real_pthread_mutex_unlock(m);
}

static jvmtiEnv *jvmti(void);

/* Any call of the VM. What another thread does there needs no thread: nothing is thread-local. */
static void called(bool of_jvmti)
{
    vm.locked_calls += vm.held != 0;
    if (vm.held == 0 && of_jvmti && ++vm.calls == vm.meddle_at) {
        vm.other = hpx_class_number(jvmti(), vm.asks_for).v;
    }
}

static jclass class(int i)
{
    return (jclass)(void *)&vm.tags[i];
}

static jvmtiError JNICALL get_tag(jvmtiEnv *env, jobject o, jlong *tag)
{
    (void)env;
    *tag = *(jlong *)(void *)o;
    called(true);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_tag(jvmtiEnv *env, jobject o, jlong tag)
{
    (void)env;
    called(true);
    if (vm.fail_set) {
        return JVMTI_ERROR_OUT_OF_MEMORY;
    }
    *(jlong *)(void *)o = tag;
    return JVMTI_ERROR_NONE;
}

static jweak JNICALL new_weak(JNIEnv *env, jobject o)
{
    (void)env;
    called(false);
    vm.refs += !vm.no_refs;
    return vm.no_refs ? NULL : o;
}

static void JNICALL delete_weak(JNIEnv *env, jweak o)
{
    (void)env, (void)o;
    called(false);
    vm.refs--;
}

static jboolean JNICALL same(JNIEnv *env, jobject a, jobject b)
{
    (void)env;
    called(false);
    return a == b;
}

static void JNICALL clear(JNIEnv *env)
{
    (void)env;
    called(false);
}

static const struct JNINativeInterface_ jni_table = {
    .NewWeakGlobalRef = new_weak, .DeleteWeakGlobalRef = delete_weak, .IsSameObject = same, .ExceptionClear = clear};
static JNIEnv jni = &jni_table;

static jint JNICALL get_env(JavaVM *java, void **env, jint version)
{
    (void)java, (void)version;
    *env = &jni;
    return JNI_OK;
}

static const struct JNIInvokeInterface_ java_table = {.GetEnv = get_env};
static JavaVM java = &java_table;
static const jvmtiInterface_1 jvmti_table = {.GetTag = get_tag, .SetTag = set_tag};

static jvmtiEnv *jvmti(void)
{
    static jvmtiEnv env = &jvmti_table;
    return &env;
}

static int setup(void **state)
{
    (void)state;
    memset(&vm, 0, sizeof vm);
    hpx_vm.java = &java;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    memory_allow();
    hpx_site_ids_fini(&hpx_ids);
    return 0;
}

static void assert_left(void)
{
    assert_int_equal(vm.locked_calls, 0);
    assert_int_equal(vm.refs, 0);
}

TEST(a_class_keeps_its_number, setup, teardown)
{
    uint32_t first = hpx_class_number(jvmti(), class(0)).v, other = hpx_class_number(jvmti(), class(1)).v;
    assert_int_not_equal(first, 0);
    assert_int_not_equal(other, 0);
    assert_int_not_equal(first, other);
    assert_int_equal(hpx_class_number(jvmti(), class(0)).v, first);
    assert_int_equal(hpx_site_class_of((uint64_t)vm.tags[0]).v, first);
    assert_left();
}

/* At every call of JVMTI that the first thread makes. */
TEST(two_threads_get_the_same_number_of_a_class, setup, teardown)
{
    for (unsigned at = 1;; at++) {
        setup(NULL);
        vm.meddle_at = at;
        vm.asks_for = class(0);
        uint32_t mine = hpx_class_number(jvmti(), class(0)).v;
        assert_left();
        if (vm.calls < at) {
            assert_true(at > 2);
            return;
        }
        assert_int_not_equal(mine, 0);
        assert_int_equal(vm.other, mine);
        assert_int_equal(hpx_class_number(jvmti(), class(0)).v, mine);
    }
}

TEST(two_threads_get_the_numbers_of_two_classes, setup, teardown)
{
    for (unsigned at = 1; at < 4; at++) {
        setup(NULL);
        vm.meddle_at = at;
        vm.asks_for = class(1);
        uint32_t mine = hpx_class_number(jvmti(), class(0)).v;
        assert_left();
        assert_int_not_equal(mine, 0);
        assert_int_not_equal(vm.other, 0);
        assert_int_not_equal(vm.other, mine);
        assert_int_equal(hpx_site_class_of((uint64_t)vm.tags[1]).v, vm.other);
    }
}

/* It is suspended before it tags the class, and the other one comes and goes. */
TEST(a_suspended_thread_and_one_that_came_later_agree, setup, teardown)
{
    vm.meddle_at = 3; /* its SetTag */
    vm.asks_for = class(0);
    vm.tags[0] = (jlong)hpx_site_tag(7, 64);
    uint32_t mine = hpx_class_number(jvmti(), class(0)).v;
    assert_left();
    assert_int_equal(vm.other, mine);
    hpx_site_ids_freed(&hpx_ids, (uint64_t)vm.tags[0]);
    assert_int_equal(hpx_site_ids_objects_of(&hpx_ids, 7)->objects, 1); /* the tag of its mirror is kept */
}

TEST(without_memory_a_class_has_no_number, setup, teardown)
{
    vm.no_refs = true;
    assert_int_equal(hpx_class_number(jvmti(), class(0)).v, 0);
    vm.no_refs = false;
    memory_refuse();
    assert_int_equal(hpx_class_number(jvmti(), class(0)).v, 0);
    memory_allow();
    vm.fail_set = true;
    assert_int_equal(hpx_class_number(jvmti(), class(0)).v, 0);
    vm.fail_set = false;
    assert_int_not_equal(hpx_class_number(jvmti(), class(0)).v, 0);
    assert_left();
}

TESTS(NULL, NULL)
