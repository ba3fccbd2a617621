/* SPDX-License-Identifier: BSD-2-Clause */
/* walk.c: AsyncGetCallTrace and its remedies.
 *
 * AsyncGetCallTrace gives up where it cannot parse the top frame: the pc at the entry or return of compiled code, in a stub that pushed a
 * register, in an interpreter frame being built, in the VM below a call whose anchor is not complete. Each remedy pretends that the
 * innermost frame has returned (return address at sp, at sp + 8, or behind the frame pointer, followed while it leads through native
 * frames) and asks again; only an address in generated code is accepted. */
#include "walk.h"
#include "codemap.h"
#include <dlfcn.h>
#include <jvmti.h>
#include <string.h>
#include <ucontext.h>

/* Layout of HotSpot's forte.cpp, the caller's side; AsyncGetCallTrace has no header. */
struct call_trace {
    void *env;
    jint num_frames;
    struct hpx_ev_frame *frames;
};

static void (*async_get_call_trace)(struct call_trace *, jint, void *);

int hpx_walk_init(struct hpx_err *err)
{
    void *sym = dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
    if (sym == NULL) {
        void *jvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
        sym = jvm ? dlsym(jvm, "AsyncGetCallTrace") : NULL;
    }
    if (sym == NULL) {
        return hpx_err_set(err, HPX_E_VM, "cpu=samples: this JVM has no AsyncGetCallTrace");
    }
    memcpy(&async_get_call_trace, &sym, sizeof sym); /* ISO C has no cast from object to function pointer */
    return 0;
}

static int ask(const struct hpx_walk *w, struct hpx_ev_frame *frames, uint32_t depth, void *context)
{
    struct call_trace t = {w->env, 0, frames};
    async_get_call_trace(&t, (jint)depth, context);
    return t.num_frames;
}

static int cause(int code)
{
    return code > -(int)HPX_UNKNOWN_OTHER && code <= 0 ? code : -(int)HPX_UNKNOWN_OTHER;
}

#if defined(__x86_64__)

#define HOPS 48 /* native frames that the frame pointer is followed through */

struct registers {
    uintptr_t pc, sp, fp;
};

static void load(const ucontext_t *u, struct registers *r)
{
    r->pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
    r->sp = (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
    r->fp = (uintptr_t)u->uc_mcontext.gregs[REG_RBP];
}

static void store(ucontext_t *u, const struct registers *r)
{
    u->uc_mcontext.gregs[REG_RIP] = (greg_t)r->pc;
    u->uc_mcontext.gregs[REG_RSP] = (greg_t)r->sp;
    u->uc_mcontext.gregs[REG_RBP] = (greg_t)r->fp;
}

static uintptr_t word(uintptr_t at)
{
    return *(const uintptr_t *)at;
}

/* The return address lies `up` words above sp. */
static bool pop(const struct hpx_walk *w, const struct registers *now, unsigned up, struct registers *r)
{
    uintptr_t at = now->sp + up * sizeof(uintptr_t);
    if ((now->sp & 7) || (w->stack_end && at + 8 > w->stack_end)) {
        return false;
    }
    *r = (struct registers){word(at), at + 8, up == 0 ? now->fp : word(now->sp)};
    return hpx_codemap_covers(r->pc);
}

/* Follows the chain of frame pointers to the first return address in generated code. */
static bool follow(const struct hpx_walk *w, const struct registers *now, struct registers *r)
{
    uintptr_t fp = now->fp, below = now->sp;
    for (int hop = 0; hop < HOPS; hop++) {
        if ((fp & 7) || fp < below || w->stack_end < 16 || fp > w->stack_end - 16) {
            return false;
        }
        *r = (struct registers){word(fp + 8), fp + 16, word(fp)};
        if (hpx_codemap_covers(r->pc)) {
            return true;
        }
        below = fp + 16;
        fp = r->fp;
    }
    return false;
}

static int retry(const struct hpx_walk *w, struct hpx_ev_frame *frames, ucontext_t *u, int first)
{
    struct registers was, r;
    load(u, &was);
    int n = first;
    for (unsigned k = 0; k < 3 && n <= 0; k++) {
        bool found = k < 2 ? hpx_codemap_covers(was.pc) && pop(w, &was, k, &r) : follow(w, &was, &r);
        if (found) {
            store(u, &r);
            n = ask(w, frames + 1, w->depth, u);
        }
    }
    store(u, &was);
    if (n <= 0) {
        return first;
    }
    uint64_t owner = hpx_codemap_owner(was.pc);
    if (owner == 0) {
        memmove(frames, frames + 1, (size_t)n * sizeof *frames);
        return n;
    }
    frames[0] = (struct hpx_ev_frame){-1, 0, owner};
    return n < (int)w->depth ? n + 1 : (int)w->depth;
}

#else

/* No remedies where none was measured: the cause is counted and shown. */
static int retry(const struct hpx_walk *w, struct hpx_ev_frame *frames, ucontext_t *u, int first)
{
    (void)w, (void)frames, (void)u;
    return first;
}

#endif

int hpx_walk_sig(const struct hpx_walk *w, struct hpx_ev_frame *frames, void *context, bool *retried)
{
    int n = ask(w, frames, w->depth, context);
    *retried = false;
    if (n < 0 && (n == -(int)HPX_UNKNOWN_NOT_JAVA || n == -(int)HPX_UNKNOWN_NOT_WALKABLE_NOT_JAVA || n == -(int)HPX_UNKNOWN_JAVA ||
                  n == -(int)HPX_UNKNOWN_NOT_WALKABLE_JAVA)) {
        int again = retry(w, frames, context, n);
        *retried = again > 0;
        n = again;
    }
    if (n <= 0) {
        return cause(n);
    }
    for (int i = 0; i < n; i++) {
        frames[i].pad = 0;
    }
    return n;
}
