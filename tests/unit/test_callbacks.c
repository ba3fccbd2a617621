/* SPDX-License-Identifier: BSD-2-Clause */
/* test_callbacks.c: what the end of a session waits for, and whose CPU time its begin is. What it calls stands in. */
#include "callbacks.h"
#include "cmocka_all.h"
#include "life.h"
#include "session.h"
#include "vm.h"
#include "vm_mode.h"
#include <string.h>

/* What has left, or moves; what clocks show. */
static struct {
    bool output, service, net, modes;
    uint64_t thread_cpu, tid_cpu;
} fx;

#define STANDS_IN(type, name, args, body)                                                                                                  \
    type __wrap_##name args;                                                                                                               \
    type __wrap_##name args                                                                                                                \
    {                                                                                                                                      \
        body                                                                                                                               \
    }

STANDS_IN(void, hpx_vm_live, (void), )
STANDS_IN(int, hpx_output_start, (void), return 0;)
STANDS_IN(bool, hpx_output_wait, (void), return fx.output;)
STANDS_IN(void, hpx_output_end, (void), )
STANDS_IN(const char *, hpx_output_stands, (void), return "the output";)
STANDS_IN(int, hpx_service_start, (void), return 0;)
STANDS_IN(bool, hpx_service_stop, (void), return fx.service;)
STANDS_IN(void, hpx_service_quit, (void), )
STANDS_IN(int, hpx_aggregator_start, (void *a, struct hpx_err *err), (void)a; return hpx_err_set(err, HPX_E_SYS, "a test");)
STANDS_IN(void, hpx_net_end, (void), )
STANDS_IN(bool, hpx_net_wait, (void), return fx.net;)
STANDS_IN(void, hpx_thread_names_ask, (void), )
STANDS_IN(bool, hpx_dump_await_served, (void), return true;)
STANDS_IN(void, hpx_dump_request_final, (void), )
STANDS_IN(uint64_t, hpx_clock_thread_cpu, (void), return fx.thread_cpu;)
STANDS_IN(uint64_t, hpx_clock_tid_cpu, (void), return fx.tid_cpu;)

static bool left(uint64_t until_ns)
{
    (void)until_ns;
    return fx.modes;
}

static struct hpx_vm_mode vm_mode = {.left = left};
static const struct hpx_mode mode = {.name = "made up", .vm = &vm_mode};

/* ---- the VM ---- */

static union hpx_event_callbacks events;

static jvmtiError JNICALL set_event(jvmtiEnv *jvmti, jvmtiEventMode how, jvmtiEvent event, jthread thread, ...)
{
    (void)jvmti, (void)how, (void)event, (void)thread;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_callbacks(jvmtiEnv *jvmti, const jvmtiEventCallbacks *to, jint bytes)
{
    (void)jvmti;
    memcpy(&events, to, (size_t)bytes);
    return JVMTI_ERROR_NONE;
}

static const jvmtiInterface_1 functions = {.SetEventNotificationMode = set_event, .SetEventCallbacks = set_callbacks};
static jvmtiEnv jvmti = &functions;

static void tell(enum hpx_life_event e)
{
    enum hpx_life was;
    assert_true(hpx_life_tell(e, &was));
}

/* ---- what stands ---- */

TEST(a_session_that_could_not_begin_names_what_does_not_move)
{
    struct hpx_err err;
    tell(HPX_LIFE_PREPARE);
    tell(HPX_LIFE_PREPARED);
    assert_false(hpx_callbacks_go_live(NULL, &err)); /* the writer and the service run */
    assert_string_equal(err.msg, "a test");
    tell(HPX_LIFE_UNDO);
    assert_string_equal(hpx_callbacks_undo(), "the output");
    fx.output = true;
    assert_non_null(strstr(hpx_callbacks_undo(), "in the VM"));
    fx.service = true;
    assert_non_null(strstr(hpx_callbacks_undo(), "looked up"));
    fx.net = true;
    assert_non_null(strstr(hpx_callbacks_undo(), "in the profiler"));
    fx.modes = true;
    assert_null(hpx_callbacks_undo());
    fx.modes = false;
    tell(HPX_LIFE_UNDONE);
}

TEST(a_session_names_the_thread_that_it_waits_for)
{
    assert_non_null(strstr(hpx_callbacks_end(NULL, true), "in the profiler")); /* the others have left above */
}

/* ---- own CPU time ---- */

/* That of the thread that begins the session is the profiler's until it is over. */
TEST(an_end_of_the_vm_while_a_session_begins_leaves_its_clock_alone)
{
    struct hpx_err err;
    tell(HPX_LIFE_PREPARE);
    fx.thread_cpu = 100;
    hpx_callbacks_begin();
    fx.tid_cpu = 130;
    assert_int_equal(hpx_callbacks_cpu(), 30);
    assert_int_equal(hpx_callbacks_init(&err), 0);
    tell(HPX_LIFE_PREPARED);
    tell(HPX_LIFE_START);
    tell(HPX_LIFE_STARTED);
    fx.thread_cpu = 500; /* of the thread of VMDeath */
    events.known.VMDeath(&jvmti, NULL);
    fx.tid_cpu = 600;
    assert_int_equal(hpx_callbacks_cpu(), 500);
}

static int load(void **unused)
{
    (void)unused;
    hpx_vm.jvmti = &jvmti;
    hpx_vm.late = true;
    hpx_session.modes[0] = &mode;
    hpx_session.nmodes = 1;
    return 0;
}

TESTS(load, NULL)
