/* SPDX-License-Identifier: BSD-2-Clause */
/* counted.c: reports the blocks that the library holds (tests/balance) after a round of all option strings and after the next round: what
 * the second report has more is lost.
 *
 * States that are kept come and go with the threads of the program and are in neither report: a state that is in one is nobody's. They are
 * held against the threads instead: each is of a thread that lives, and a thread has one in each mode (kept_states.h). */
#include "balance.h"
#include "callbacks.h"
#include "kept_states.h"
#include "run.h"
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BEFORE 11 /* sessions; test_sessions.py has eleven option strings */
#define AFTER  22
#define MOST   4096

__typeof__(hpx_callbacks_init) __real_hpx_callbacks_init, __wrap_hpx_callbacks_init;
__typeof__(hpx_run_end) __real_hpx_run_end, __wrap_hpx_run_end;

static int ended;

struct states {
    const struct hpx_mode_thread *of[MOST];
    unsigned n, beyond; /* there was no room for those */
};

int __wrap_hpx_callbacks_init(struct hpx_err *err)
{
    if (ended == 0) {
        hpx_balance_open();
    }
    hpx_balance_jvmti(); /* each session has an environment of its own */
    return __real_hpx_callbacks_init(err);
}

static void add(void *to, const struct hpx_mode_thread *s)
{
    struct states *all = to;
    if (all->n < MOST) {
        all->of[all->n++] = s;
    } else {
        all->beyond++;
    }
}

/* Leaves those whose thread is gone. */
static void keep_gone(struct states *all)
{
    unsigned n = 0;
    for (unsigned i = 0; i < all->n; i++) {
        if (syscall(SYS_tgkill, getpid(), all->of[i]->tid, 0) != 0 && errno == ESRCH) {
            all->of[n++] = all->of[i];
        }
    }
    all->n = n;
}

static void note_wrong(const char *stage, const struct states *all)
{
    unsigned retired = 0, twice = 0;
    for (unsigned i = 0; i < all->n; i++) {
        const struct hpx_mode_thread *s = all->of[i];
        retired += atomic_load(&s->base.state) == HPX_THREAD_RETIRED;
        for (unsigned k = 0; k < i; k++) {
            twice += s->tid == all->of[k]->tid && s->base.mode == all->of[k]->base.mode;
        }
    }
    hpx_balance_note(stage, "retired", retired);
    hpx_balance_note(stage, "twice", twice);
    hpx_balance_note(stage, "beyond", all->beyond);
}

/* Behind the end of a session: nobody makes a state. A thread may end at any time, and its states go with the next sweep. */
static void report(const char *stage)
{
    static struct states gone, are;
    unsigned stay = 0;
    gone.n = are.n = 0;
    hpx_kept_states_each(add, &gone);
    note_wrong(stage, &gone);
    keep_gone(&gone);
    (void)hpx_kept_states_sweep();
    hpx_kept_states_each(add, &are);
    for (unsigned i = 0; i < are.n; i++) {
        hpx_balance_spare(are.of[i]);
        for (unsigned k = 0; k < gone.n; k++) {
            stay += are.of[i] == gone.of[k];
        }
    }
    hpx_balance_note(stage, "gone", stay);
    hpx_balance_report(stage);
}

int __wrap_hpx_run_end(JNIEnv *env, struct hpx_err *err)
{
    int rc = __real_hpx_run_end(env, err);
    ended += rc == 0;
    if (rc == 0 && ended == BEFORE) {
        report("before");
    } else if (rc == 0 && ended == AFTER) {
        report("after");
        hpx_balance_close();
    }
    return rc;
}
