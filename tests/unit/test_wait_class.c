/* SPDX-License-Identifier: BSD-2-Clause */
/* test_wait_class.c: which class a thread waits for, how often the VM is asked, and what an answer is worth to others. */
#include "cmocka_all.h"
#include "session.h"
#include "wait_class.h"
#include "waited_monitor.h"
#include "wall_table.h"
#include <stdlib.h>
#include <string.h>

/* ---- the VM and the aggregator ---- */

struct hpx_vm hpx_vm;
struct hpx_vm_fields hpx_vm_fields;
struct hpx_session hpx_session;

static struct {
    jint release;
    const char *monitor, *blocker, *read; /* signatures; NULL: none */
    const char *unread, *off;
    bool refuses, no_memory;
    uint32_t questions, posted, refs;
} vm;

static char told[16][32]; /* signatures by number of the class */

jint hpx_vm_release(void)
{
    return vm.release;
}

const char *hpx_waited_monitor_init(JNIEnv *env, jthread self)
{
    (void)env, (void)self;
    return vm.unread;
}

const char *hpx_waited_monitor_off(void)
{
    return vm.off;
}

uint64_t hpx_waited_monitor_thread(JNIEnv *env, jthread thread)
{
    (void)env;
    return (uintptr_t)thread;
}

bool hpx_watched_monitor(const struct hpx_watch_job *j, uint64_t thread, char *to)
{
    assert_int_equal(thread, (uintptr_t)j->ref);
    if (vm.read != NULL) {
        strcpy(to, vm.read);
    }
    return vm.read != NULL;
}

bool hpx_gate_enter(struct hpx_gate *g)
{
    (void)g;
    return true;
}

void hpx_gate_leave(struct hpx_gate *g)
{
    (void)g;
}

struct hpx_msg_row_class *hpx_msg_row_class_new(uint32_t kind, uint32_t number, const char *signature)
{
    static struct hpx_msg_row_class message;
    assert_int_equal(kind, HPX_MSG_WALL_CLASS);
    if (vm.no_memory) {
        return NULL;
    }
    strcpy(told[number], signature);
    return &message;
}

void hpx_lane_post(struct hpx_lane *l, struct hpx_msg *m, bool now)
{
    (void)l, (void)m, (void)now;
    vm.posted++;
}

/* A reference is the signature of its class. */
static jobject reference(const char *signature)
{
    vm.refs += signature != NULL;
    return (jobject)(uintptr_t)signature;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *jvmti, const jvmtiCapabilities *want)
{
    (void)jvmti;
    assert_int_equal(want->can_get_current_contended_monitor, 1);
    return vm.refuses ? JVMTI_ERROR_NOT_AVAILABLE : JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_current_thread(jvmtiEnv *jvmti, jthread *to)
{
    (void)jvmti;
    *to = reference("Ljava/lang/Thread;");
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_current_contended_monitor(jvmtiEnv *jvmti, jthread thread, jobject *to)
{
    (void)jvmti, (void)thread;
    vm.questions++;
    *to = reference(vm.monitor);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_signature(jvmtiEnv *jvmti, jclass klass, char **to, char **generic)
{
    (void)jvmti, (void)generic;
    *to = strdup((const char *)klass);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *jvmti, unsigned char *p)
{
    (void)jvmti;
    free(p);
    return JVMTI_ERROR_NONE;
}

static jobject JNICALL get_object_field(JNIEnv *env, jobject object, jfieldID field)
{
    (void)env, (void)object, (void)field;
    return reference(vm.blocker);
}

static jclass JNICALL get_object_class(JNIEnv *env, jobject object)
{
    (void)env;
    return reference((const char *)object);
}

static void JNICALL delete_local_ref(JNIEnv *env, jobject object)
{
    (void)env;
    vm.refs -= object != NULL;
}

static const struct jvmtiInterface_1_ of_jvmti = {.AddCapabilities = add_capabilities,
                                                  .GetCurrentThread = get_current_thread,
                                                  .GetCurrentContendedMonitor = get_current_contended_monitor,
                                                  .GetClassSignature = get_class_signature,
                                                  .Deallocate = deallocate};
static const struct JNINativeInterface_ of_jni = {
    .GetObjectField = get_object_field, .GetObjectClass = get_object_class, .DeleteLocalRef = delete_local_ref};
static jvmtiEnv jvmti = &of_jvmti;
static JNIEnv env = &of_jni;

/* ---- a session ---- */

static uint64_t asking_ns;

static void begin(jint release, bool refuses)
{
    vm.release = release;
    vm.refuses = refuses;
    hpx_wait_class_load(&jvmti);
    hpx_wait_class_begin(&env, release >= 16);
}

static int setup(void **state)
{
    (void)state;
    memset(&vm, 0, sizeof vm);
    hpx_vm.jvmti = &jvmti;
    hpx_vm_fields.blocker = (jfieldID)&vm;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    hpx_wait_class_fini();
    return vm.refs == 0 ? 0 : -1; /* local references of a thread that never returns to Java */
}

/* The signature of the answer for a thread in this state with this stack; stands: its clock. */
static const char *ask(uint32_t state, uint64_t stack, bool stands)
{
    const struct hpx_watch_job j = {.ref = (jthread)&vm};
    uint32_t n = hpx_wait_class(&env, &j, state, (struct hpx_hash128){stack, stack}, &asking_ns);
    hpx_wait_class_delivered(stands);
    return n != 0 ? told[n] : "";
}

/* ---- tests ---- */

TEST(object_wait_is_read_from_jdk_22_on, setup, teardown)
{
    begin(25, false);
    vm.monitor = "Lp/Account;";
    vm.read = "Lp/Read;";
    assert_string_equal(ask(HPX_WALL_WAITING, 1, true), "Lp/Read;");
    assert_string_equal(ask(HPX_WALL_BLOCKED, 1, true), "Lp/Account;");
    vm.read = NULL;
    assert_string_equal(ask(HPX_WALL_WAITING, 1, true), "");
    assert_null(hpx_wait_class_unread());
    vm.off = "too many reads faulted";
    assert_string_equal(hpx_wait_class_unread(), vm.off);
}

TEST(where_all_threads_stop_one_answer_serves_a_stack, setup, teardown)
{
    begin(11, false);
    vm.monitor = "Lp/Account;";
    assert_string_equal(ask(HPX_WALL_BLOCKED, 1, true), "Lp/Account;");
    assert_string_equal(ask(HPX_WALL_BLOCKED, 1, true), "Lp/Account;");
    assert_int_equal(vm.questions, 1);
    vm.monitor = "Lp/Ledger;";
    assert_string_equal(ask(HPX_WALL_WAITING, 1, true), "Lp/Ledger;");
    assert_string_equal(ask(HPX_WALL_BLOCKED, 2, true), "Lp/Ledger;");
    assert_int_equal(vm.questions, 3);
}

/* Two monitors of different classes in one line of the program: who waits for the second must not get the class of the first. */
TEST(an_answer_serves_one_round, setup, teardown)
{
    begin(8, false);
    vm.monitor = "Lp/Account;";
    assert_string_equal(ask(HPX_WALL_BLOCKED, 1, true), "Lp/Account;");
    vm.monitor = "Lp/Ledger;";
    assert_string_equal(ask(HPX_WALL_BLOCKED, 1, true), "Lp/Account;");
    hpx_wait_class_round();
    assert_string_equal(ask(HPX_WALL_BLOCKED, 1, true), "Lp/Ledger;");
    assert_int_equal(vm.questions, 2);
}

/* Where it was when it was asked for is not where its stack says. */
TEST(the_answer_of_a_thread_that_ran_is_not_kept, setup, teardown)
{
    begin(11, false);
    (void)ask(HPX_WALL_BLOCKED, 11, false);
    vm.monitor = "Lp/Account;";
    assert_string_equal(ask(HPX_WALL_BLOCKED, 11, true), "Lp/Account;");
    assert_int_equal(vm.questions, 2);
    assert_string_equal(ask(HPX_WALL_BLOCKED, 11, false), "Lp/Account;"); /* not asked: the kept one stays */
    assert_string_equal(ask(HPX_WALL_BLOCKED, 11, true), "Lp/Account;");
    assert_int_equal(vm.questions, 2);
}

TEST(a_vm_that_refuses_and_cannot_be_read_tells_no_monitor, setup, teardown)
{
    static const char *const whys[] = {"the VM grants can_get_current_contended_monitor only at its start", "vmstructs=n"};
    for (int i = 0; i < 2; i++) {
        vm.unread = i > 0 ? whys[i] : NULL;
        vm.read = "Lp/Read;";
        begin(i > 0 ? 21 : 11, true);
        assert_string_equal(hpx_wait_class_unread(), whys[i]);
        assert_string_equal(ask(HPX_WALL_BLOCKED, 1, true), "");
        assert_string_equal(ask(HPX_WALL_WAITING, 1, true), "");
        assert_int_equal(vm.questions, 0);
        hpx_wait_class_fini();
    }
}

TEST(a_class_without_memory_for_its_name_is_counted_and_told_later, setup, teardown)
{
    uint64_t before = hpx_counter_get(&hpx_session.counters, HPX_C_CLASSES_UNNAMED);
    begin(17, false);
    vm.blocker = "Lp/Blocker;";
    vm.no_memory = true;
    assert_string_equal(ask(HPX_WALL_PARKED, 1, true), "");
    assert_int_equal(hpx_counter_get(&hpx_session.counters, HPX_C_CLASSES_UNNAMED), before + 1);
    vm.no_memory = false;
    assert_string_equal(ask(HPX_WALL_PARKED, 1, true), "Lp/Blocker;");
}

TESTS(NULL, NULL)
