/* SPDX-License-Identifier: BSD-2-Clause */
/* async_stack.c: AsyncGetCallTrace first, then the remedy for its answer. */
#include "async_stack.h"
#include "code_age.h"
#include "code_owner.h"
#include "internals.h"
#include "registers.h"
#include "remedies.h"
#include <limits.h>
#include <string.h>

#define TESTED  16 /* frames of the self-test */
#define FAULTED INT_MIN

static HPX_OF_SESSION struct {
    bool zero;    /* faults of its SafeFetch cannot be recognised; constant after init */
    bool guarded; /* the guard is installed */
    struct hpx_ev_frame frames[TESTED + 1];
} test;

int hpx_async_stack_init(jvmtiEnv *jvmti, bool (*astray)(const struct hpx_ev_frame *frames, int n), struct hpx_err *err)
{
    char *name = NULL;
    if ((*jvmti)->GetSystemProperty(jvmti, "java.vm.name", &name) != JVMTI_ERROR_NONE) {
        name = NULL;
    }
    bool known = name != NULL && (strstr(name, "OpenJDK") != NULL || strstr(name, "HotSpot") != NULL);
    test.zero = name != NULL && strstr(name, "Zero") != NULL;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    const char *unguarded = hpx_guard_forbidden();
    if (known && unguarded != NULL) {
        return hpx_err_set(err, HPX_E_VM, "AsyncGetCallTrace may fault, and %s", unguarded);
    }
    return known ? hpx_asgct_init(astray, err) : hpx_err_set(err, HPX_E_VM, "AsyncGetCallTrace is not known to work on this VM");
}

bool hpx_async_stack_begin(void)
{
    test.guarded = !test.zero;
    return test.guarded && hpx_guard_install();
}

void hpx_async_stack_end(void)
{
    hpx_code_age_end();
    if (test.guarded) {
        test.guarded = false;
        hpx_guard_remove();
    }
}

struct raw {
    struct hpx_raw_thread t;
    struct hpx_raw_stack *to;
};

static int walk_raw(void *arg)
{
    const struct raw *k = arg;
    hpx_guard_begin_read_sig();
    bool whole = hpx_raw_walk_take_sig(&k->t, k->to);
    hpx_guard_end_read_sig();
    return whole;
}

bool hpx_async_stack_raw_sig(const struct hpx_asgct *w, const void *context, struct hpx_raw_stack *to, bool *faulted)
{
    struct raw k = {{w->env, w->stack_low, w->stack_end, w->depth, true, hpx_registers_load(context)}, to};
    int whole = 0;
    *faulted = hpx_internals_raw_sig() && hpx_guard_run_sig(walk_raw, &k, &whole) != HPX_GUARD_PASSED;
    return whole != 0 && !*faulted;
}

struct named {
    struct hpx_raw_thread t;
    struct hpx_ev_frame *frames;
    uint32_t *broken;
};

static int walk_names(void *arg)
{
    const struct named *k = arg;
    hpx_guard_begin_read_sig();
    int n = k->broken != NULL ? hpx_raw_walk_frames_behind_sig(&k->t, k->frames, k->broken) : hpx_raw_walk_frames_sig(&k->t, k->frames);
    hpx_guard_end_read_sig();
    return n;
}

int hpx_async_stack_names_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, const void *context, uint32_t *broken, bool *faulted)
{
    struct named k = {{w->env, w->stack_low, w->stack_end, w->depth, true, hpx_registers_load(context)}, frames, broken};
    int n = 0;
    *faulted = hpx_internals_names_sig() && hpx_guard_run_sig(walk_names, &k, &n) != HPX_GUARD_PASSED;
    return *faulted || hpx_asgct_astray_sig(frames, n) ? 0 : n;
}

struct question {
    void *env, *context;
};

static int ask_sig(void *arg)
{
    const struct question *q = arg;
    return hpx_asgct_ask_sig(&(struct hpx_asgct){.env = q->env, .depth = TESTED}, test.frames, q->context);
}

bool hpx_async_stack_test_sig(void *env, void *context, enum hpx_guard *end)
{
    struct question q = {env, context};
    int code = FAULTED;
    if (end != NULL) {
        *end = hpx_guard_run_sig(ask_sig, &q, &code);
    } else {
        code = ask_sig(&q);
    }
    return code != -(int)HPX_UNKNOWN_NO_CLASS_LOAD && code >= -(int)HPX_UNKNOWN_SAFEPOINT && code <= TESTED;
}

static int cause(int code)
{
    return code > -(int)HPX_UNKNOWN_THREAD_ENDED && code <= 0 ? code : -(int)HPX_UNKNOWN_OTHER;
}

struct walk {
    const struct hpx_asgct *w;
    struct hpx_ev_frame *frames;
    void *context;
    bool retried;
};

static int walk(void *arg)
{
    struct walk *k = arg;
    int n = hpx_asgct_ask_sig(k->w, k->frames, k->context);
    hpx_code_owner_confirm_sig(hpx_registers_pc(k->context), k->frames, n, n < (int)k->w->depth);
    if (n == -(int)HPX_UNKNOWN_JAVA || n == -(int)HPX_UNKNOWN_NOT_WALKABLE_JAVA) {
        n = hpx_remedies_ask_sig(k->w, k->frames, k->context, n);
        k->retried = n > 0;
    }
    return n > 0 ? n : cause(n);
}

int hpx_async_stack_take_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, void *context, struct hpx_async_stack *how)
{
    struct walk k = {.w = w, .frames = frames, .context = context};
    struct hpx_registers was = hpx_registers_load(context);
    int n = -(int)HPX_UNKNOWN_FAULT;
    how->end = hpx_guard_run_sig(walk, &k, &n);
    how->retried = k.retried;
    if (how->end != HPX_GUARD_PASSED) {
        hpx_registers_store(context, &was); /* a remedy had changed them */
    }
    if (how->end == HPX_GUARD_MISREAD) {
        hpx_internals_leave_sig(HPX_INTERNALS_MISREAD);
    }
    for (int i = 0; i < n; i++) {
        frames[i].pad = 0;
    }
    return n;
}
