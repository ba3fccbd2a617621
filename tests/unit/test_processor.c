/* SPDX-License-Identifier: BSD-2-Clause */
/* test_processor.c: instructions of 64-bit Arm as HotSpot's macro assembler writes them: frames that are made and left, calls, signed
 * return addresses. Elsewhere skipped. */
#include "cmocka_all.h"
#include "processor.h"

#if defined(__aarch64__)

#define NOP          UINT32_C(0xd503201f)
#define SUB_SP       UINT32_C(0xd10103ff) /* sub sp, sp, #64 */
#define STORE        UINT32_C(0xa9037bfd) /* stp x29, x30, [sp, #48] */
#define PUSH         UINT32_C(0xa9bf7bfd) /* stp x29, x30, [sp, #-16]! */
#define MOVE         UINT32_C(0xd2820008) /* mov x8, #4096 */
#define SUB_SP_BY    UINT32_C(0xcb2863ff) /* sub sp, sp, x8 */
#define LOAD         UINT32_C(0xa9437bfd) /* ldp x29, x30, [sp, #48] */
#define ADD_SP       UINT32_C(0x910103ff) /* add sp, sp, #64 */
#define POP          UINT32_C(0xa8c17bfd) /* ldp x29, x30, [sp], #16 */
#define POLL         UINT32_C(0xf9402788) /* ldr x8, [x28, #72] */
#define COMPARE      UINT32_C(0xeb2863ff) /* cmp sp, x8 */
#define BRANCH_ABOVE UINT32_C(0x54000048) /* b.hi */
#define RETURN       UINT32_C(0xd65f03c0)
#define JUMP         UINT32_C(0x14000010)
#define CALL_X8      UINT32_C(0xd63f0100) /* blr x8 */

static enum hpx_stage stage(const uint32_t *code, int at, bool complete)
{
    return hpx_stage_at((const uint8_t *)(code + at), complete);
}

static void a_frame_is_made_in_stages(void **state)
{
    (void)state;
    static const uint32_t small[64] = {NOP, SUB_SP, STORE, NOP, JUMP};
    static const uint32_t large[64] = {NOP, PUSH, MOVE, SUB_SP_BY, NOP, JUMP};
    static const enum hpx_stage of_small[] = {HPX_STAGE_NONE, HPX_STAGE_NONE, HPX_STAGE_MOVED, HPX_STAGE_WHOLE};
    static const enum hpx_stage of_large[] = {HPX_STAGE_NONE, HPX_STAGE_NONE, HPX_STAGE_PAIR, HPX_STAGE_PAIR, HPX_STAGE_WHOLE};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(stage(small, i, false), of_small[i]);
    }
    for (int i = 0; i < 5; i++) {
        assert_int_equal(stage(large, i, false), of_large[i]);
    }
}

static void a_frame_is_left_before_the_method_returns(void **state)
{
    (void)state;
    static const uint32_t small[64] = {NOP, LOAD, ADD_SP, POLL, COMPARE, BRANCH_ABOVE, RETURN};
    static const uint32_t large[64] = {NOP, ADD_SP, POP, POLL, COMPARE, BRANCH_ABOVE, RETURN};
    static const uint32_t body[64] = {NOP, JUMP, RETURN};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(stage(small, i, true), i < 3 ? HPX_STAGE_WHOLE : HPX_STAGE_NONE);
        assert_int_equal(stage(large, i, true), i < 2 ? HPX_STAGE_WHOLE : i == 2 ? HPX_STAGE_PAIR : HPX_STAGE_NONE);
    }
    assert_int_equal(stage(body, 0, true), HPX_STAGE_WHOLE);
}

static void a_direct_call_goes_where_its_words_say(void **state)
{
    (void)state;
    static const uint32_t code[] = {0x94000003u, 0x97fffffeu, CALL_X8, NOP}; /* bl 3 words on; 2 words back; a register */
    const uint8_t *at = (const uint8_t *)code;
    assert_int_equal(hpx_called_before(at + 4, 4), (uintptr_t)at + 12);
    assert_int_equal(hpx_called_before(at + 8, 8), (uintptr_t)at - 4);
    assert_int_equal(hpx_called_before(at + 8, 0), 0);
    assert_int_equal(hpx_called_before(at + 12, 12), 0);
    assert_true(hpx_calls_by_register(at + 12, 12));
    assert_false(hpx_calls_by_register(at + 16, 16) || hpx_calls_by_register(at + 12, 0));
    const uint32_t pushes[] = {0xa9bf27ff, 0xd63f0100, 0x910043ff, 0x910043ff};
    assert_int_equal(hpx_pushed_for_call((const uint8_t *)&pushes[2]), 16);
    assert_int_equal(hpx_pushed_for_call((const uint8_t *)&pushes[3]), 0); /* the method's end */
}

static void a_signed_return_address_is_the_address(void **state)
{
    (void)state;
    const uintptr_t address = 0x00007f1234567890, key = 0x005a;
    assert_int_equal(hpx_return_address(address | key << 48), address);
    assert_int_equal(hpx_return_address(address), address);
    assert_int_not_equal(hpx_return_address(address | (uintptr_t)1 << 55), address); /* no address of a process */
    ucontext_t u = {0};
    u.uc_mcontext.regs[30] = address | key << 48;
    assert_int_equal(hpx_registers_entering(&u).back, address);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_is_made_in_stages),
        cmocka_unit_test(a_frame_is_left_before_the_method_returns),
        cmocka_unit_test(a_direct_call_goes_where_its_words_say),
        cmocka_unit_test(a_signed_return_address_is_the_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 77;
}

#endif
