/* SPDX-License-Identifier: BSD-2-Clause */
/* test_quiet_stack.c: when stacks outside Java are walked, when they are left, what is compared. */
#include "checks.h"
#include "cmocka_all.h"
#include "frame_anchor.h"
#include "guard.h"
#include "internals.h"
#include "quiet_stack.h"
#include "session_life.h"
#include "stack_chunk.h"
#include "zgc_references.h"
#include <stdlib.h>
#include <string.h>

/* ---- what quiet_stack.c asks ---- */

static struct {
    const char *closed, *names, *off, *without[HPX_INTERNALS_PARTS];
    bool live, on, compared, raw, named, fault;
    enum hpx_vm_state state;
    enum hpx_raw_end end;
    uint32_t installs, removes, events, generated, anchors;
    int32_t bci;
    uint64_t method;
    jint version;
    bool whole, platform; /* asked for */
    bool chunks;          /* frames of virtual threads are known */
    const char *unfollowed;
    bool moves, reading; /* the walk comes to objects that move; it reads them */
} vm;

const char *hpx_internals_closed(void)
{
    return vm.closed;
}

bool hpx_internals_on_sig(enum hpx_internals_part part)
{
    return part == HPX_INTERNALS_CODE ? vm.on : part == HPX_INTERNALS_NAMES ? vm.named : vm.raw;
}

const char *hpx_internals_without(enum hpx_internals_part part)
{
    return part == HPX_INTERNALS_CODE ? vm.off : vm.without[part];
}

const char *hpx_internals_why(enum hpx_internals_part part)
{
    return vm.without[part] != NULL ? vm.without[part] : vm.off;
}

void hpx_internals_leave_sig(enum hpx_internals_part part, const char *why)
{
    vm.without[part] = vm.without[part] != NULL ? vm.without[part] : why;
}

bool hpx_stack_chunk_known_sig(void)
{
    return vm.chunks;
}

const char *hpx_zgc_references_unfollowed(void)
{
    return vm.unfollowed;
}

bool hpx_stack_chunk_reading_sig(bool now)
{
    const bool before = vm.reading;
    vm.reading = now;
    return before;
}

const char *hpx_checks_names(void)
{
    return vm.names;
}

void hpx_checks_announce(const char *name, const void *code, size_t size)
{
    (void)name, (void)code, (void)size;
}

bool hpx_checks_live(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_counters *counters, bool guard)
{
    (void)jvmti, (void)env, (void)counters;
    vm.on = vm.live && guard;
    return vm.on;
}

void hpx_checks_thread(JNIEnv *env, jthread thread, struct hpx_counters *counters)
{
    (void)env, (void)thread, (void)counters;
}

bool hpx_checks_compared(void)
{
    return vm.compared;
}

void hpx_checks_anchor(JNIEnv *env, uintptr_t stack_low, uintptr_t stack_end, struct hpx_counters *counters)
{
    (void)env, (void)stack_low, (void)stack_end, (void)counters;
    vm.anchors++;
    vm.compared = true;
}

enum hpx_vm_state hpx_frame_anchor_state_sig(const void *env)
{
    (void)env;
    return vm.state;
}

bool hpx_raw_walk_take_sig(const struct hpx_raw_thread *t, struct hpx_raw_stack *to)
{
    vm.whole = t->whole;
    vm.reading = vm.moves;
    vm.platform = t->platform;
    *to = (struct hpx_raw_stack){.lo = t->depth, .hi = 2, .methods = 3};
    return true;
}

int hpx_raw_walk_frames_sig(const struct hpx_raw_thread *t, struct hpx_ev_frame *out, enum hpx_raw_end *end, uint32_t *broken,
                            struct hpx_raw_stack *hash)
{
    (void)t, (void)broken, (void)hash;
    vm.reading = vm.moves;
    *end = vm.end;
    out[0] = (struct hpx_ev_frame){.bci = vm.bci, .method = vm.method};
    return 1;
}

bool hpx_guard_install(void)
{
    vm.installs++;
    return true;
}

void hpx_guard_remove(void)
{
    vm.removes++;
}

bool hpx_guard_read_sig(int (*body)(void *arg), void *arg, int *answer)
{
    *answer = body(arg);
    return !vm.fault;
}

static jvmtiError JNICALL get_version(jvmtiEnv *jvmti, jint *version)
{
    (void)jvmti;
    *version = vm.version;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_event(jvmtiEnv *jvmti, jvmtiEventMode mode, jvmtiEvent event, jthread thread, ...)
{
    (void)jvmti, (void)thread;
    assert_int_equal(event, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
    vm.events += mode == JVMTI_ENABLE ? 1 : -1u;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL generate(jvmtiEnv *jvmti, jvmtiEvent event)
{
    (void)jvmti;
    assert_true(event == JVMTI_EVENT_DYNAMIC_CODE_GENERATED && vm.events == 1);
    vm.generated++;
    return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = {
    .GetVersionNumber = get_version, .SetEventNotificationMode = set_event, .GenerateEvents = generate};
static jvmtiEnv env = &functions;

static const struct JNINativeInterface_ natives;
static JNIEnv jni_env = &natives;

/* ---- a session ---- */

static const int mode, other_mode;
static struct hpx_counters counters;
static const struct hpx_quiet_thread self = {.env = &vm, .stack_low = 1, .stack_end = 2, .depth = 8, .counters = &counters};
static struct hpx_raw_stack raw;

static int end(void **state)
{
    (void)state;
    hpx_session_end();
    unsetenv("HPROFX_VERIFY");
    return 0;
}

static int begin(void **state)
{
    (void)end(state);
    memset(&vm, 0, sizeof vm);
    memset(&counters, 0, sizeof counters);
    vm.live = vm.raw = vm.named = true;
    vm.state = HPX_VM_STATE_IN_NATIVE;
    vm.version = 0x30110000; /* 17 */
    return 0;
}

static void ready(void)
{
    hpx_quiet_stack_load(&mode);
    hpx_quiet_stack_load(&other_mode);
    hpx_quiet_stack_ready(&env, &jni_env, &counters);
    hpx_quiet_stack_ready(&env, &jni_env, &counters);
}

static const char *report(const void *of)
{
    static char text[HPX_REPORT_TEXT];
    struct hpx_lines lines = {text, 0};
    text[0] = 0;
    hpx_quiet_stack_lines(of, &lines, &counters);
    return text;
}

/* ---- tests ---- */

TEST(two_modes_have_it_once, begin, end)
{
    ready();
    assert_true(vm.installs == 1 && vm.generated == 1 && vm.events == 0);
    assert_true(hpx_quiet_stack_hash(&self, &raw));
    hpx_quiet_stack_over();
    hpx_quiet_stack_over();
    assert_int_equal(vm.removes, 1);
    assert_false(hpx_quiet_stack_hash(&self, &raw)); /* the guard is gone */
    hpx_count(&counters, HPX_C_EVENTS_KNOWN, 3);
    assert_string_equal(report(&mode), "hprofx: stacks of events: 3 known, 0 named, 0 by the VM\n");
    assert_string_equal(report(&other_mode), "");
}

/* The first anchor that is looked at is the caller's: another thread's may change meanwhile. */
TEST(the_first_anchor_is_compared_on_its_own_thread, begin, end)
{
    struct hpx_quiet_thread other = self;
    other.other = true;
    ready();
    assert_true(hpx_quiet_stack_hash(&other, &raw));
    assert_int_equal(vm.anchors, 0);
    assert_true(hpx_quiet_stack_hash(&self, &raw));
    assert_true(hpx_quiet_stack_hash(&self, &raw) && vm.anchors == 1);
    assert_true(hpx_quiet_stack_hash(&other, &raw));
}

TEST(only_a_thread_outside_java_is_walked, begin, end)
{
    struct hpx_quiet_thread other = self, unknown = self;
    other.other = true;
    unknown.stack_end = 0;
    ready();
    assert_true(hpx_quiet_stack_hash(&self, &raw));
    assert_false(hpx_quiet_stack_hash(&unknown, &raw));
    for (int s = 0; s < HPX_VM_STATES; s++) {
        vm.state = (enum hpx_vm_state)s;
        assert_int_equal(hpx_quiet_stack_hash(&self, &raw), s == HPX_VM_STATE_IN_NATIVE);
        assert_int_equal(hpx_quiet_stack_hash(&other, &raw), s == HPX_VM_STATE_IN_NATIVE || s == HPX_VM_STATE_BLOCKED);
    }
}

TEST(where_a_carrier_may_have_its_frames_below_no_stack_is_named, begin, end)
{
    struct hpx_ev_frame frames[8];
    vm.version = 0x30150000; /* 21 */
    vm.compared = vm.chunks = true;
    vm.method = 9;
    ready();
    assert_int_equal(hpx_quiet_stack_frames(&self, frames), 1);
    vm.chunks = false;
    assert_int_equal(hpx_quiet_stack_frames(&self, frames), 0);
    assert_true(hpx_quiet_stack_hash(&self, &raw));
}

/* GetStackTrace shows a carrier without the virtual thread on it. */
TEST(only_a_whole_stack_is_asked_for_and_of_another_thread_no_virtual_one, begin, end)
{
    struct hpx_quiet_thread other = self;
    other.other = true;
    ready();
    assert_true(hpx_quiet_stack_hash(&self, &raw));
    assert_true(vm.whole && !vm.platform);
    assert_true(hpx_quiet_stack_hash(&other, &raw));
    assert_true(vm.whole && vm.platform);
}

/* GetStackTrace has the rest, and names what has no jmethodID yet. */
TEST(a_part_of_a_stack_is_none, begin, end)
{
    struct hpx_ev_frame frames[8];
    ready();
    vm.method = 9;
    assert_int_equal(hpx_quiet_stack_frames(&self, frames), 1);
    vm.end = HPX_END_STUB;
    assert_int_equal(hpx_quiet_stack_frames(&self, frames), 0);
    vm.end = HPX_END_WHOLE;
    vm.method = 0;
    assert_int_equal(hpx_quiet_stack_frames(&self, frames), 0);
}

TEST(the_report_says_that_references_of_objects_that_moved_are_not_followed, begin, end)
{
    ready();
    vm.unfollowed = "no tables";
    assert_string_equal(report(&mode), "");
    vm.chunks = true;
    assert_string_equal(report(&mode), "hprofx: frames in the heap: no tables\n");
}

TEST(some_are_compared_and_few_differences_end_it, begin, end)
{
    ready();
    for (int i = 0; i < 64; i++) {
        assert_true(hpx_quiet_stack_compares(7));
        hpx_quiet_stack_compared(i % 8 != 0 ? HPX_JUDGED_SAME : HPX_JUDGED_DIFFERENT);
    }
    hpx_quiet_stack_compared(HPX_JUDGED_ALONE);
    assert_true(!hpx_quiet_stack_compares(7) && hpx_quiet_stack_compares(1024));
    assert_true(hpx_quiet_stack_hash(&self, &raw) && hpx_internals_without(HPX_INTERNALS_EVENTS) == NULL);
    hpx_quiet_stack_compared(HPX_JUDGED_DIFFERENT);
    assert_false(hpx_quiet_stack_hash(&self, &raw));
    assert_string_equal(hpx_internals_without(HPX_INTERNALS_EVENTS), "stacks that were walked are not those of GetStackTrace");
    assert_string_equal(report(&mode), "hprofx: stacks of events not walked: stacks that were walked are not those of GetStackTrace\n"
                                       "hprofx: stacks of events compared: 65, 9 different, 1 (1.52 %) not comparable\n");
}

TEST(reads_that_fault_end_it, begin, end)
{
    ready();
    vm.fault = true;
    for (int i = 0; i < 3; i++) {
        assert_null(hpx_internals_without(HPX_INTERNALS_EVENTS));
        assert_false(hpx_quiet_stack_hash(&self, &raw));
    }
    vm.fault = false;
    assert_false(hpx_quiet_stack_hash(&self, &raw));
    assert_string_equal(report(&mode),
                        "hprofx: stacks of events not walked: three reads of the stack faulted\nhprofx: stacks of events faulted: 3\n");
}

TEST(one_fault_in_thousands_of_walks_does_not, begin, end)
{
    ready();
    for (int i = 0; i < 64000; i++) {
        vm.fault = i % 6400 == 0;
        assert_int_equal(hpx_quiet_stack_hash(&self, &raw), !vm.fault);
    }
    assert_string_equal(report(&mode), "hprofx: stacks of events faulted: 10\n");
}

/* They may be freed while they are read. */
TEST(nor_do_reads_of_objects_that_move, begin, end)
{
    struct hpx_ev_frame frames[8];
    vm.method = 9;
    ready();
    vm.fault = vm.moves = true;
    for (int i = 0; i < 10; i++) {
        assert_false(hpx_quiet_stack_hash(&self, &raw));
        assert_int_equal(hpx_quiet_stack_frames(&self, frames), 0);
        assert_false(vm.reading);
    }
    assert_string_equal(report(&mode), "hprofx: reads of moved objects faulted: 20\n");
    vm.reading = true; /* a walk that this one interrupts */
    vm.moves = vm.fault = false;
    assert_true(hpx_quiet_stack_hash(&self, &raw) && vm.reading);
    vm.fault = true;
    assert_false(hpx_quiet_stack_hash(&self, &raw));
    assert_string_equal(report(&mode), "hprofx: stacks of events faulted: 1\nhprofx: reads of moved objects faulted: 20\n");
}

TESTS(NULL, NULL)
