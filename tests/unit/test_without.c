/* SPDX-License-Identifier: BSD-2-Clause */
/* test_without.c: what a build with -Dhotspot=false answers in the place of the VM's internals. */
#include "asgct.h"
#include "async_stack.h"
#include "cmocka_all.h"
#include "internals.h"
#include "oops.h"
#include "quiet_stack.h"
#include "structures.h"
#include "thread_id.h"
#include "vm_flags.h"

#define NONE "this build reads nothing of the VM's internals"

TEST(every_mechanism_is_absent_for_the_same_reason)
{
    struct hpx_oops oops;
    const char *flag = NULL;
    assert_int_equal(hpx_vm_flag_set("DebugNonSafepoints", &flag), HPX_FLAG_UNREADABLE);
    hpx_thread_id_init(NULL, NULL);
    const char *whys[] = {flag,
                          hpx_structures_absent(),
                          hpx_internals_closed(),
                          hpx_internals_without(HPX_INTERNALS_IDS),
                          hpx_asgct_init(NULL),
                          hpx_guard_forbidden(),
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
    enum hpx_raw_end end = HPX_END_WHOLE;
    uint32_t broken = 0;
    assert_true(hpx_vm_flag("UseTLAB", true));
    assert_false(hpx_vm_flag("UseTLAB", false));
    assert_int_equal(hpx_thread_id_of(NULL, NULL, &stack), -1);
    assert_true(stack.low == 0 && stack.end == 0);
    assert_int_equal(hpx_async_stack_names_sig(NULL, frames, &end, &broken, NULL), 0);
    assert_int_equal(end, HPX_END_NATIVE);
    assert_false(hpx_internals_on_sig(HPX_INTERNALS_RAW));
}

TESTS(NULL, NULL)
