/* SPDX-License-Identifier: BSD-2-Clause */
/* test_names.c: every request of the model has an answer on the control lane, whatever the VM and the memory lack. The VM is made up. */
#include "cmocka_all.h"
#include "failing_memory.h"
#include "names.h"
#include <stdlib.h>
#include <string.h>

#define METHOD 7u

static bool unloaded;
static int locals, blocks; /* local references and blocks of the VM that were not given back */

static jobject JNICALL new_local_ref(JNIEnv *env, jobject ref)
{
    (void)env;
    locals += !unloaded;
    return unloaded ? NULL : ref;
}

static void JNICALL delete_local_ref(JNIEnv *env, jobject ref)
{
    (void)env, (void)ref;
    locals--;
}

/* Of the VM's memory, which does not fail with ours. */
static char *block(const char *text)
{
    static char of_vm[8][16];
    static unsigned next;
    char *to = of_vm[next++ % 8];
    blocks++;
    return strcpy(to, text);
}

static jvmtiError JNICALL deallocate(jvmtiEnv *jvmti, unsigned char *p)
{
    (void)jvmti, (void)p;
    blocks--;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_signature(jvmtiEnv *jvmti, jclass klass, char **signature, char **generic)
{
    (void)jvmti, (void)klass, (void)generic;
    *signature = block("Lp/C;");
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL source_file(jvmtiEnv *jvmti, jclass klass, char **name)
{
    (void)jvmti, (void)klass;
    *name = block("C.java");
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL method_name(jvmtiEnv *jvmti, jmethodID id, char **name, char **signature, char **generic)
{
    (void)jvmti, (void)id, (void)signature, (void)generic;
    *name = block("run");
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL line_numbers(jvmtiEnv *jvmti, jmethodID id, jint *n, jvmtiLineNumberEntry **lines)
{
    static jvmtiLineNumberEntry falling[] = {{4, 40}, {0, 10}}; /* to be sorted, which needs memory */
    (void)jvmti, (void)id;
    *n = 2;
    *lines = falling;
    blocks++;
    return JVMTI_ERROR_NONE;
}

static const struct JNINativeInterface_ jni = {.NewLocalRef = new_local_ref, .DeleteLocalRef = delete_local_ref};
static const jvmtiInterface_1 vm = {.Deallocate = deallocate,
                                    .GetClassSignature = class_signature,
                                    .GetSourceFileName = source_file,
                                    .GetMethodName = method_name,
                                    .GetLineNumberTable = line_numbers};
static jvmtiEnv jvmti_env = &vm;
static JNIEnv jni_env = &jni;

static int setup(void **state)
{
    (void)state;
    unloaded = false;
    locals = blocks = 0;
    hpx_lane_init(&hpx_session.aggregator.control);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    memory_allow();
    hpx_lane_fini(&hpx_session.aggregator.control);
    return 0;
}

static struct hpx_msg_resolve *new_request(void)
{
    struct hpx_msg_resolve *r = hpx_msg_new(HPX_MSG_RESOLVE, sizeof *r);
    assert_non_null(r);
    r->method = METHOD;
    r->want_name = r->want_lines = true;
    r->ref = r->id = 8;
    return r;
}

/* The only message is an answer about METHOD, of this kind (0: any). Frees it. */
static void assert_answered(uint32_t kind)
{
    struct hpx_msg *m = hpx_lane_splice(&hpx_session.aggregator.control);
    assert_non_null(m);
    assert_null(m->next);
    assert_true(m->kind == HPX_MSG_RESOLVED || m->kind == HPX_MSG_RESOLVE);
    assert_int_equal(m->kind == HPX_MSG_RESOLVED ? ((struct hpx_msg_resolved *)m)->method : ((struct hpx_msg_resolve *)m)->method, METHOD);
    assert_true(kind == 0 || m->kind == kind);
    free(m);
    assert_int_equal(locals, 0);
    assert_int_equal(blocks, 0);
}

TEST(a_living_class_gives_names_and_sorted_lines, setup, teardown)
{
    hpx_names_resolve(&jvmti_env, &jni_env, new_request());
    struct hpx_msg_resolved *m = (struct hpx_msg_resolved *)hpx_lane_splice(&hpx_session.aggregator.control);
    assert_non_null(m);
    assert_int_equal(m->m.kind, HPX_MSG_RESOLVED);
    assert_true(m->named);
    assert_memory_equal(m->text, "Lp/C;\0C.java\0run\0", sizeof "Lp/C;\0C.java\0run\0");
    assert_int_equal(m->nlines, 2);
    assert_int_equal(m->lines[0].line, 10);
    free(m);
}

TEST(without_memory_the_request_is_its_own_answer, setup, teardown)
{
    struct hpx_msg_resolve *r = new_request();
    memory_refuse();
    hpx_names_resolve(&jvmti_env, &jni_env, r);
    assert_answered(HPX_MSG_RESOLVE);
}

TEST(the_request_for_an_unloaded_class_needs_no_memory, setup, teardown)
{
    struct hpx_msg_resolve *r = new_request();
    unloaded = true;
    memory_refuse();
    hpx_names_resolve(&jvmti_env, &jni_env, r);
    assert_answered(HPX_MSG_RESOLVE);
}

TEST(no_memory_at_each_step_leaves_one_answer, setup, teardown)
{
    for (uint64_t k = 1;; k++) {
        struct hpx_msg_resolve *r = new_request();
        memory_fail(k, k);
        hpx_names_resolve(&jvmti_env, &jni_env, r);
        uint64_t calls = memory_calls();
        memory_allow();
        assert_answered(0);
        if (calls < k) {
            break;
        }
    }
}

TESTS(NULL, NULL)
