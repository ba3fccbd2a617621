/* SPDX-License-Identifier: BSD-2-Clause */
/* test_lock_frames.c: the frames of a lock, by the classes of a made-up VM, which counts the references that it gave. */
#include "cmocka_all.h"
#include "lock_frames.h"
#include "vm.h"
#include <stdlib.h>
#include <string.h>

/* Methods are indexes. */
static const char *const classes[] = {NULL,
                                      "Ljdk/internal/misc/Unsafe;",
                                      "Ljava/util/concurrent/locks/LockSupport;",
                                      "Ljava/util/concurrent/ForkJoinPool;",
                                      "Ljava/util/concurrent/locks/ReentrantLock;",
                                      "LMine;",
                                      "LFails;"};
static int references, blocks, asked;

static jvmtiError JNICALL declaring(jvmtiEnv *jvmti, jmethodID method, jclass *to)
{
    (void)jvmti;
    asked++;
    if ((uintptr_t)method >= HPX_ARRAY_LEN(classes)) {
        return JVMTI_ERROR_INVALID_METHODID;
    }
    references++;
    *to = (jclass)(void *)method;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL signature(jvmtiEnv *jvmti, jclass k, char **to, char **generic)
{
    const char *text = classes[(uintptr_t)k];
    (void)jvmti, (void)generic;
    if (strcmp(text, "LFails;") == 0) {
        return JVMTI_ERROR_INVALID_CLASS;
    }
    blocks++;
    *to = strdup(text);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *jvmti, unsigned char *p)
{
    (void)jvmti;
    blocks -= p != NULL;
    free(p);
    return JVMTI_ERROR_NONE;
}

static void JNICALL delete_local(JNIEnv *env, jobject o)
{
    (void)env;
    references -= o != NULL;
}

static const struct JNINativeInterface_ jni = {.DeleteLocalRef = delete_local};
static const struct jvmtiInterface_1_ functions = {
    .GetMethodDeclaringClass = declaring, .GetClassSignature = signature, .Deallocate = deallocate};
static JNIEnv env = &jni;
static jvmtiEnv jvmti = &functions;

static jint JNICALL get_env(JavaVM *vm, void **to, jint version)
{
    (void)vm, (void)version;
    *to = &env;
    return JNI_OK;
}

static const struct JNIInvokeInterface_ vms = {.GetEnv = get_env};
static JavaVM java = &vms;

static uint32_t lock_frames(uint32_t n, const uint64_t *methods)
{
    struct hpx_ev_frame frames[8];
    memset(frames, 0, sizeof frames);
    for (uint32_t i = 0; i < n; i++) {
        frames[i].method = methods[i];
    }
    return hpx_lock_frames(&jvmti, frames, n);
}
#define FRAMES(...) lock_frames(sizeof((uint64_t[])__VA_ARGS__) / 8, (const uint64_t[])__VA_ARGS__)

TEST(only_the_frames_that_park_belong_to_the_lock)
{
    assert_int_equal(FRAMES({1, 2, 4, 5}), 2);
    assert_int_equal(FRAMES({1, 2, 3, 3, 4, 5}), 4);
    assert_int_equal(FRAMES({1, 5, 5, 5, 4}), 0);
    assert_int_equal(FRAMES({5, 5}), 0);
}

/* They would live until the thread is no longer parked. */
TEST(no_reference_outlives_a_question)
{
    assert_int_equal(FRAMES({1, 2, 6, 9, 4}), 4);
    assert_int_equal(references, 0);
    assert_int_equal(blocks, 0);
    int before = asked;
    assert_int_equal(FRAMES({1, 2, 6, 9, 4}), 4);
    assert_int_equal(asked, before);
}

int main(void)
{
    hpx_vm.java = &java;
    return run_the_tests(NULL, NULL);
}
