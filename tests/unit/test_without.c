/* SPDX-License-Identifier: BSD-2-Clause */
/* test_without.c: what a build with -Dhotspot=false answers in the place of the VM's internals. */
#include "async_stack.h"
#include "checks.h"
#include "cmocka_all.h"
#include "internals.h"
#include "oops.h"
#include "structures.h"
#include "thread_id.h"
#include "vm_flags.h"

#define NONE "this build reads nothing of the VM's internals"

static bool astray(const struct hpx_ev_frame *frames, int n)
{
    (void)frames, (void)n;
    fail();
    return false;
}

TEST(every_mechanism_is_absent_for_the_same_reason)
{
    struct hpx_err async = {0};
    struct hpx_oops oops;
    const char *flag = NULL;
    assert_int_equal(hpx_async_stack_init(NULL, astray, &async), -HPX_E_VM);
    assert_string_equal(async.msg, NONE);
    assert_int_equal(hpx_vm_flag_set("DebugNonSafepoints", &flag), HPX_FLAG_UNREADABLE);
    hpx_thread_id_init(NULL, NULL);
    const char *whys[] = {flag,
                          hpx_structures_absent(),
                          hpx_internals_closed(),
                          hpx_checks_names(),
                          hpx_internals_without(HPX_INTERNALS_IDS),
                          hpx_oops_check(&oops, NULL, NULL),
                          hpx_oops_check_roots(&oops, NULL, NULL)};
    for (size_t i = 0; i < HPX_ARRAY_LEN(whys); i++) {
        assert_non_null(whys[i]);
        assert_string_equal(whys[i], NONE);
    }
}

TEST(no_answer_is_invented)
{
    struct hpx_ev_frame frames[2];
    struct hpx_stack_bounds stack = {1, 1};
    assert_true(hpx_vm_flag("UseTLAB", true));
    assert_false(hpx_vm_flag("UseTLAB", false));
    assert_false(hpx_vm_flag_refused("DebugNonSafepoints"));
    assert_int_equal(hpx_thread_id_of(NULL, NULL, &stack), -1);
    assert_true(stack.low == 0 && stack.end == 0);
    assert_false(hpx_async_stack_begin());
    assert_false(hpx_async_stack_test_sig(NULL, NULL, NULL));
    assert_int_equal(hpx_async_stack_take_sig(NULL, frames, NULL, NULL), -(int)HPX_UNKNOWN_OTHER);
    assert_false(hpx_internals_raw_sig());
    assert_false(hpx_checks_live(NULL, NULL, NULL, true));
    assert_false(hpx_internals_event_wanted());
}

TESTS(NULL, NULL)
