/* SPDX-License-Identifier: BSD-2-Clause */
/* test_waited_monitor.c: the class of a monitor, read from words of a VM made by hand: what it is called, and what ends the answers. */
#include "guard.h"
#include "internals.h"
#include "session.h"
#include "thread_id.h"
#include "vm_flags.h"
#include "vm_tables.h"
#include "waited_monitor.h"
#include <string.h>

/* ---- the VM ---- */

struct symbol {
    HPX_ALIGNED(8) uint16_t length;
    char body[64];
};

struct klass {
    struct symbol *name;
};

struct object {
    uintptr_t mark;
    struct klass *klass;
};

struct monitor {
    struct object **object;
};

struct java_thread {
    struct monitor *entering, *waiting;
};

struct heap {
    uint32_t collections;
    uint8_t active;
};

static struct symbol names[4];
static struct klass klasses[4];
static struct object thread_object, class_object, waited;
static struct object *slot = &waited;
static struct monitor monitor = {&slot};
static struct java_thread thread = {.waiting = &monitor};
static struct heap heap;
static struct heap *heap_at = &heap;
static bool collects; /* a collection begins before the next read */
static const char *faults;

static void name(int i, const char *text)
{
    names[i].length = (uint16_t)strlen(text);
    memcpy(names[i].body, text, strlen(text));
    klasses[i].name = &names[i];
}

static void describe(void)
{
    vm_tables_constant("any", 1);
    vm_tables_type("JavaThread", sizeof(struct java_thread));
    vm_tables_type("ObjectMonitor", sizeof(struct monitor));
    vm_tables_type("Klass", sizeof(struct klass));
    vm_tables_type("Symbol", sizeof(struct symbol));
    vm_tables_type("CollectedHeap", sizeof(struct heap));
    vm_tables_type("oopDesc", sizeof(struct object));
    vm_tables_field("JavaThread", "_current_pending_monitor", "ObjectMonitor*", offsetof(struct java_thread, entering));
    vm_tables_field("JavaThread", "_current_waiting_monitor", "ObjectMonitor*", offsetof(struct java_thread, waiting));
    vm_tables_field("ObjectMonitor", "_object", NULL, offsetof(struct monitor, object));
    vm_tables_field("Klass", "_name", "Symbol*", offsetof(struct klass, name));
    vm_tables_field("Symbol", "_length", "u2", offsetof(struct symbol, length));
    vm_tables_field("Symbol", "_body", NULL, offsetof(struct symbol, body));
    vm_tables_static("Universe", "_collectedHeap", "CollectedHeap*", &heap_at);
    vm_tables_field("CollectedHeap", "_total_collections", "unsigned int", offsetof(struct heap, collections));
    vm_tables_field("CollectedHeap", "_is_stw_gc_active", "bool", offsetof(struct heap, active));
    vm_tables_field("oopDesc", "_metadata._klass", "Klass*", offsetof(struct object, klass));
    name(0, "java/lang/Thread");
    name(1, "java/lang/Class");
    thread_object.klass = &klasses[0];
    class_object.klass = &klasses[1];
    waited.klass = &klasses[2];
}

/* ---- what waited_monitor.c asks ---- */

bool hpx_vm_flag(const char *flag, bool otherwise)
{
    (void)flag, (void)otherwise;
    return false;
}

uintptr_t hpx_thread_id_word(JNIEnv *env, jthread of)
{
    (void)env, (void)of;
    return (uintptr_t)&thread;
}

bool hpx_guard_read_sig(int (*body)(void *arg), void *arg, int *answer)
{
    heap.active = heap.active || collects;
    collects = false;
    if (faults != NULL) {
        return false;
    }
    *answer = body(arg);
    return true;
}

static struct object *thread_at = &thread_object, *class_at = &class_object;

/* A call into the VM returns when no collection runs. */
static jclass JNICALL get_object_class(JNIEnv *env, jobject object)
{
    (void)env, (void)object;
    heap.active = 0;
    return (jclass)&class_at;
}

static void JNICALL delete_local_ref(JNIEnv *env, jobject object)
{
    (void)env, (void)object;
}

static const struct JNINativeInterface_ functions = {.GetObjectClass = get_object_class, .DeleteLocalRef = delete_local_ref};
static JNIEnv env = &functions;

static const char *begin(void)
{
    static const struct hpx_options opt = {.vmstructs = true};
    hpx_session.opt = &opt;
    hpx_internals_turn_on(HPX_INTERNALS_CODE);
    hpx_internals_turn_on(HPX_INTERNALS_ANCHORS);
    describe();
    return hpx_waited_monitor_init(&env, (jthread)&thread_at);
}

static bool ask(char *to)
{
    return hpx_waited_monitor_class(hpx_waited_monitor_thread(&env, (jthread)&thread_at), to);
}

/* ---- tests ---- */

static void check_name(const char *of_vm, const char *signature)
{
    char to[HPX_WAITED_MONITOR_ROOM];
    name(2, of_vm);
    assert_true(ask(to));
    assert_string_equal(to, signature);
}

TEST(names_are_those_of_jvmti)
{
    assert_null(begin());
    check_name("p/Account", "Lp/Account;");
    check_name("[I", "[I");
    check_name("[Lp/C;", "[Lp/C;");
    check_name("p/C$$Lambda+0x00007f12a0c03000", "Lp/C$$Lambda.0x00007f12a0c03000;");
    check_name("[Lp/C$$Lambda+0x1f;", "[Lp/C$$Lambda.0x1f;");
    check_name("p/a+b", "Lp/a+b;");
    check_name("p/a+0x", "Lp/a+0x;");
    check_name("p/a+0x1g", "Lp/a+0x1g;");
}

TEST(a_monitor_that_is_entered_comes_before_that_of_the_wait)
{
    static struct object entered = {.klass = &klasses[3]};
    static struct object *entered_at = &entered;
    static struct monitor other = {&entered_at};
    char to[HPX_WAITED_MONITOR_ROOM];
    assert_null(begin());
    name(2, "p/Account");
    name(3, "p/Ledger");
    thread.entering = &other;
    assert_true(ask(to));
    assert_string_equal(to, "Lp/Ledger;");
    thread.waiting = NULL;
    assert_true(ask(to));
    assert_string_equal(to, "Lp/Ledger;");
}

TEST(a_collection_leaves_no_answer)
{
    char to[HPX_WAITED_MONITOR_ROOM];
    assert_null(begin());
    name(2, "C");
    heap.active = 1;
    assert_false(ask(to));
    heap.active = 0;
    assert_true(ask(to));
}

TEST(a_collection_during_init_does_not_end_the_answers)
{
    collects = true;
    assert_null(begin());
    assert_false(collects);
}

TEST(objects_of_another_shape_are_refused)
{
    thread_at = &class_object;
    assert_string_equal(begin(), "the VM's objects have another shape");
    assert_string_equal(hpx_waited_monitor_off(), "the VM's objects have another shape");
}

/* They tell whether eetop is the JavaThread. */
TEST(anchors_that_are_left_end_the_answers)
{
    char to[HPX_WAITED_MONITOR_ROOM];
    assert_null(begin());
    name(2, "C");
    assert_true(ask(to));
    hpx_internals_leave_sig(HPX_INTERNALS_ANCHORS, "the VM's threads have another shape");
    assert_false(ask(to));
    assert_string_equal(hpx_waited_monitor_off(), "the VM's threads have another shape");
    assert_string_equal(hpx_waited_monitor_init(&env, (jthread)&thread_at), "the VM's threads have another shape");
}

TEST(structures_that_are_left_later_end_the_answers_and_say_why)
{
    char to[HPX_WAITED_MONITOR_ROOM];
    assert_null(begin());
    assert_null(hpx_waited_monitor_off());
    hpx_internals_leave_sig(HPX_INTERNALS_CODE, HPX_INTERNALS_MISREAD);
    assert_false(ask(to));
    assert_string_equal(hpx_waited_monitor_off(), HPX_INTERNALS_MISREAD);
}

TEST(eight_faults_end_the_answers_and_are_told)
{
    char to[HPX_WAITED_MONITOR_ROOM];
    assert_null(begin());
    name(2, "C");
    faults = "";
    for (int i = 0; i < 8; i++) {
        assert_null(hpx_waited_monitor_off());
        assert_false(ask(to));
    }
    faults = NULL;
    assert_false(ask(to));
    assert_string_equal(hpx_waited_monitor_off(), "too many reads faulted");
}

int main(void)
{
    return vm_tables_run(the_tests, number_of_tests);
}
