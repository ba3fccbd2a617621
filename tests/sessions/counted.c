/* SPDX-License-Identifier: BSD-2-Clause */
/* counted.c: reports the blocks that the library holds (tests/balance) after a round of all option strings and after the next round: what
 * the second report has more is lost. */
#include "balance.h"
#include "callbacks.h"
#include "session_life.h"

#define BEFORE 11 /* sessions; test_sessions.py has eleven option strings */
#define AFTER  22

__typeof__(hpx_callbacks_init) __real_hpx_callbacks_init, __wrap_hpx_callbacks_init;
__typeof__(hpx_session_end) __real_hpx_session_end, __wrap_hpx_session_end;

static int ended;

int __wrap_hpx_callbacks_init(struct hpx_err *err)
{
    if (ended == 0) {
        hpx_balance_open();
    }
    hpx_balance_jvmti(); /* each session has an environment of its own */
    return __real_hpx_callbacks_init(err);
}

void __wrap_hpx_session_end(void)
{
    __real_hpx_session_end();
    ended++;
    if (ended == BEFORE) {
        hpx_balance_report("before");
    } else if (ended == AFTER) {
        hpx_balance_report("after");
        hpx_balance_close();
    }
}
