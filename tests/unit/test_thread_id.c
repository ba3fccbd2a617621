/* SPDX-License-Identifier: BSD-2-Clause */
/* test_thread_id.c: kernel ids of threads of a made-up VM, whose structures are as those of JDK 25, or of the older ones. */
#include "boot_class.h"
#include "internals.h"
#include "session.h"
#include "thread_id.h"
#include "vm_tables.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS "the VM's threads have another shape"
#define FAULTED "a read of the VM's structures faulted"

static const char *off(void)
{
    return hpx_internals_without(HPX_INTERNALS_IDS);
}

struct os_thread {
    uint64_t before;
    int32_t id;
};

struct vm_thread {
    uint64_t before;
    struct os_thread *os;
    uintptr_t stack_base;
    size_t stack_size;
    JNIEnv env;
};

/* A jthread points to one. */
struct thread {
    uintptr_t eetop;
    unsigned looks_left; /* ends after this many looks at eetop; 0: lives on */
};

static struct os_thread os[2];
static struct vm_thread vm[2];
static struct thread threads[2];
static bool no_class, no_field;
static unsigned cleared;
static struct hpx_stack_bounds bounds;

jclass hpx_boot_class(JNIEnv *env, const char *name)
{
    (void)env;
    assert_string_equal(name, "java/lang/Thread");
    return no_class ? NULL : (jclass)(void *)threads;
}

static jfieldID JNICALL field_id(JNIEnv *env, jclass klass, const char *name, const char *type)
{
    (void)env, (void)klass;
    assert_string_equal(name, "eetop");
    assert_string_equal(type, "J");
    return no_field ? NULL : (jfieldID)(void *)threads;
}

static jlong JNICALL get_long(JNIEnv *env, jobject o, jfieldID field)
{
    struct thread *t = (struct thread *)(void *)o;
    (void)env;
    assert_ptr_equal(field, threads);
    jlong eetop = (jlong)t->eetop;
    if (t->looks_left > 0 && --t->looks_left == 0) {
        t->eetop = 0;
    }
    return eetop;
}

static void JNICALL clear(JNIEnv *env)
{
    (void)env;
    cleared++;
}

static void JNICALL delete_ref(JNIEnv *env, jobject o)
{
    (void)env, (void)o;
}

static const struct JNINativeInterface_ jni_table = {
    .GetFieldID = field_id, .GetLongField = get_long, .ExceptionClear = clear, .DeleteLocalRef = delete_ref};

/* The environment lies in the VM's thread, as HotSpot's. */
static JNIEnv *env(void)
{
    vm[0].env = &jni_table;
    return &vm[0].env;
}

static jthread of(struct thread *t)
{
    return (jthread)(void *)t;
}

/* ---- another thread that lives, until the case ends ---- */

static pid_t other_id;
static sem_t started, over;
static pthread_t other;

static void *live(void *unused)
{
    (void)unused;
    other_id = gettid();
    sem_post(&started);
    sem_wait(&over);
    return NULL;
}

/* A checker of leaks takes what a running thread has for lost. */
static void end_other(void)
{
    sem_post(&over);
    pthread_join(other, NULL);
}

static const struct hpx_options reads = {.vmstructs = true};

static void fill_threads(void)
{
    sem_init(&started, 0, 0);
    sem_init(&over, 0, 0);
    assert_int_equal(atexit(end_other), 0);
    assert_int_equal(pthread_create(&other, NULL, live, NULL), 0);
    sem_wait(&started);
    for (size_t i = 0; i < 2; i++) {
        os[i].id = i == 0 ? gettid() : other_id;
        vm[i].os = &os[i];
        threads[i].eetop = (uintptr_t)&vm[i];
    }
    hpx_session.opt = &reads;
}

static void fill_types(void)
{
    vm_tables_type("Thread", sizeof(struct vm_thread));
    vm_tables_type("JavaThread", sizeof(struct vm_thread));
    vm_tables_type("OSThread", sizeof(struct os_thread));
    vm_tables_constant("unused", 0);
    fill_threads();
}

static void fill(void)
{
    vm_tables_field("Thread", "_osthread", "OSThread*", offsetof(struct vm_thread, os));
    vm_tables_field("OSThread", "_thread_id", "pid_t", offsetof(struct os_thread, id));
    vm_tables_type("pid_t", 4);
    fill_types();
}

static void learn(void)
{
    fill();
    hpx_thread_id_init(env(), of(&threads[0]));
    assert_null(off());
}

/* As learn(), of a VM that tells of stacks of 64 KiB; the calling thread's has `here` in it, or not. */
static void learn_stacks(const char *type, bool right)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    vm_tables_field(type, "_stack_base", "address", offsetof(struct vm_thread, stack_base));
    vm_tables_field(type, "_stack_size", "size_t", offsetof(struct vm_thread, stack_size));
    for (size_t i = 0; i < 2; i++) {
        vm[i].stack_base = (right ? here + 32768 : here - 32768) + i * 65536;
        vm[i].stack_size = 65536;
    }
    learn();
}

static void assert_bounds(size_t of_thread, size_t bytes)
{
    uintptr_t end = bytes != 0 ? vm[of_thread].stack_base : 0;
    assert_true(hpx_thread_id_of(env(), of(&threads[of_thread]), &bounds) >= 0);
    assert_true(bounds.end == end && bounds.low == end - bytes);
}

TEST(bounds_of_stacks_are_told)
{
    learn_stacks("JavaThread", true);
    assert_bounds(0, 65536);
    assert_bounds(1, 65536);
    vm[1].stack_size = 0;
    assert_bounds(1, 0);
    vm[1].stack_size = vm[1].stack_base + 1;
    assert_bounds(1, 0);
    vm[1].stack_size = 65536;
    threads[1].looks_left = 1; /* it ends meanwhile */
    assert_bounds(1, 0);
}

TEST(bounds_that_do_not_hold_the_caller_are_not_believed)
{
    learn_stacks("JavaThread", false);
    assert_bounds(0, 0);
    assert_bounds(1, 0);
    assert_null(off());
}

static void assert_refused(const char *why)
{
    hpx_thread_id_init(env(), of(&threads[0]));
    assert_string_equal(off(), why);
    assert_int_equal(hpx_thread_id_of(env(), of(&threads[1]), &bounds), -1);
}

TEST(every_thread_has_its_id)
{
    learn();
    assert_int_equal(hpx_thread_id_of(env(), of(&threads[0]), &bounds), gettid());
    assert_int_equal(hpx_thread_id_of(env(), of(&threads[1]), &bounds), other_id);
    assert_null(off());
}

TEST(the_names_of_older_vms_serve_as_well)
{
    vm_tables_field("JavaThread", "_osthread", "OSThread*", offsetof(struct vm_thread, os));
    vm_tables_field("OSThread", "_thread_id", "OSThread::thread_id_t", offsetof(struct os_thread, id));
    vm_tables_type("OSThread::thread_id_t", 4);
    fill_types();
    hpx_thread_id_init(env(), of(&threads[0]));
    assert_null(off());
    assert_int_equal(hpx_thread_id_of(env(), of(&threads[1]), &bounds), other_id);
}

TEST(a_thread_without_a_vm_thread_has_no_id)
{
    learn();
    threads[1].eetop = 0;
    assert_int_equal(hpx_thread_id_of(env(), of(&threads[1]), &bounds), 0);
    assert_null(off());
}

TEST(a_thread_that_ends_meanwhile_has_no_id_whatever_was_read)
{
    learn();
    void *gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct os_thread *const at[] = {&os[1], NULL, gone, &os[0]};
    for (size_t i = 0; i < HPX_ARRAY_LEN(at); i++) {
        vm[1].os = at[i];
        threads[1] = (struct thread){(uintptr_t)&vm[1], 1};
        assert_int_equal(hpx_thread_id_of(env(), of(&threads[1]), &bounds), 0);
    }
    threads[1] = (struct thread){(uintptr_t)gone, 1};
    assert_int_equal(hpx_thread_id_of(env(), of(&threads[1]), &bounds), 0);
    assert_null(off());
}

TEST(a_fault_ends_the_answers)
{
    learn();
    vm[1].os = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(hpx_thread_id_of(env(), of(&threads[1]), &bounds), -1);
    assert_string_equal(off(), FAULTED);
    assert_int_equal(hpx_thread_id_of(env(), of(&threads[0]), &bounds), -1);
}

TEST(an_id_of_another_process_ends_the_answers)
{
    learn();
    os[1].id = getppid();
    assert_int_equal(hpx_thread_id_of(env(), of(&threads[1]), &bounds), -1);
    assert_string_equal(off(), THREADS);
}

TEST(an_id_below_one_ends_the_answers)
{
    learn();
    os[1].id = -gettid();
    assert_int_equal(hpx_thread_id_of(env(), of(&threads[1]), &bounds), -1);
    assert_string_equal(off(), THREADS);
}

TEST(the_calling_thread_must_know_itself)
{
    fill();
    os[0].id = other_id;
    assert_refused(THREADS);
}

TEST(a_calling_thread_that_faults_is_refused)
{
    fill();
    vm[0].os = NULL;
    assert_refused(FAULTED);
}

TEST(the_environment_must_lie_in_the_thread)
{
    fill();
    threads[0].eetop = (uintptr_t)&vm[1];
    os[1].id = gettid();
    assert_refused(THREADS);
}

TEST(a_thread_without_eetop_is_refused)
{
    fill();
    threads[0].eetop = 0;
    assert_refused(THREADS);
}

TEST(a_class_without_the_field_is_refused)
{
    fill();
    no_field = true;
    assert_refused("Thread has no field eetop");
    assert_int_equal(cleared, 1);
}

TEST(an_id_of_another_size_is_refused)
{
    fill();
    vm_tables_type_of("pid_t")->size = 8;
    assert_refused(THREADS);
}

int main(void)
{
    return vm_tables_run(the_tests, number_of_tests);
}
