/* SPDX-License-Identifier: BSD-2-Clause */
/* test_undone.c: a session of cpu=samples that was loaded and cannot start leaves nothing of what the VM's events told. */
#include "cmocka_all.h"
#include "codemap.h"
#include "inlines.h"
#include "session.h"
#include "vm.h"
#include "vm_mode.h"
#include <string.h>

extern const struct hpx_vm_mode hpx_samples_vm;

static jvmtiError JNICALL set_event(jvmtiEnv *jvmti, jvmtiEventMode mode, jvmtiEvent event, jthread thread, ...)
{
    (void)jvmti, (void)mode, (void)event, (void)thread;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL version(jvmtiEnv *jvmti, jint *v)
{
    (void)jvmti;
    *v = 17 << JVMTI_VERSION_SHIFT_MAJOR;
    return JVMTI_ERROR_NONE;
}

static const jvmtiInterface_1 functions = {.SetEventNotificationMode = set_event, .GetVersionNumber = version};
static jvmtiEnv jvmti = &functions;

static void load_walk(union hpx_event_callbacks *events)
{
    static const struct hpx_options options = {.sampler = HPX_ENGINE_WALK, .depth = 4};
    struct hpx_err err;
    memset(events, 0, sizeof *events);
    hpx_vm.jvmti = &jvmti;
    hpx_session.opt = &options;
    hpx_samples_vm.callbacks(events);
    assert_int_equal(hpx_samples_vm.load(&err), 0);
}

TEST(compiled_code_is_forgotten)
{
    static char method;
    static char code[256] __attribute__((aligned(64)));
    union hpx_event_callbacks events;
    load_walk(&events);
    events.known.CompiledMethodLoad(&jvmti, (jmethodID)(void *)&method, 128, code, 0, NULL, NULL);
    events.known.DynamicCodeGenerated(&jvmti, "a stub", code + 128, 128);
    assert_int_not_equal(hpx_inlines_bytes(), 0);
    assert_true(hpx_codemap_known((uintptr_t)code) && hpx_codemap_known((uintptr_t)code + 128));
    hpx_samples_vm.disable();
    assert_int_equal(hpx_inlines_bytes(), 0);
    assert_false(hpx_inlines_enabled());
    assert_false(hpx_codemap_known((uintptr_t)code) || hpx_codemap_known((uintptr_t)code + 128));
}

TESTS(NULL, NULL)
