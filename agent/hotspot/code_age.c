/* SPDX-License-Identifier: BSD-2-Clause */
/* code_age.c: see code_age.h. */
#include "code_age.h"
#include "guard.h"
#include "internals.h"
#include "sigmask.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows, and of the guard's end */

static HPX_OF_SESSION struct {
    bool begun;
    int32_t last_before; /* the number of the last compilation before the session */
    struct hpx_code_age age;
} session;

static int sum_both(void *unused)
{
    (void)unused;
    hpx_guard_begin_read_sig();
    bool known = hpx_code_cache_sum(INT32_MAX, &session.age.all) && hpx_code_cache_sum(session.last_before, &session.age.old);
    hpx_guard_end_read_sig();
    return known;
}

static bool sum(void)
{
    sigset_t all, was;
    int known = false;
    if (hpx_internals_off() != NULL) {
        return false;
    }
    hpx_sigmask_ours(&all);
    pthread_sigmask(SIG_BLOCK, &all, &was);
    if (hpx_guard_run_sig(sum_both, NULL, &known) != HPX_GUARD_PASSED) {
        hpx_internals_leave_sig(HPX_INTERNALS_MISREAD);
        known = false;
    }
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return known;
}

void hpx_code_age_begin(void)
{
    pthread_mutex_lock(&lock);
    session.begun = sum();
    session.last_before = session.age.all.last;
    pthread_mutex_unlock(&lock);
}

void hpx_code_age_end(void)
{
    pthread_mutex_lock(&lock);
    session.begun = false;
    pthread_mutex_unlock(&lock);
}

bool hpx_code_age_now(struct hpx_code_age *age)
{
    pthread_mutex_lock(&lock);
    bool known = session.begun && sum() && session.age.old.methods > 0;
    *age = session.age;
    pthread_mutex_unlock(&lock);
    return known;
}
