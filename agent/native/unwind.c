/* SPDX-License-Identifier: BSD-2-Clause */
/* unwind.c: the walk of unwind.h. */
#include "unwind.h"
#include "compiler.h"
#include "libraries.h"
#include <signal.h>
#include <stdatomic.h>

#define WORD    sizeof(uintptr_t)
#define MAPPED  48                     /* bits of an address that a process has unless it asks for more */
#define FOREIGN ((uintptr_t)256 << 10) /* bytes of a stack whose bounds nobody knows */

#define PUSHED_MOST    16   /* words that code without a table pushes */
#define FUNCTION_BYTES 4096 /* maximum length of such a function */

#if defined(__aarch64__)
#define LINKS      1
#define CALL_BYTES 4
/* Pointer authentication signs return addresses, in the bits between those of an address and bit 55. */
#define RETURN_ADDRESS(word) ((word) & ~(UINT64_C(0x7f) << 48))
#else
#define LINKS                0
#define CALL_BYTES           7
#define RETURN_ADDRESS(word) (word)
#endif

struct walk {
    struct hpx_unwind_walk *w;
    uintptr_t high; /* of the stack that the walk is on */
};

HPX_NO_ASAN static uintptr_t word(uintptr_t at)
{
    return *(const volatile uintptr_t *)at; /* NOLINT(performance-no-int-to-ptr,clang-analyzer-core.NullDereference) */
}

/* Four bytes of code, read here, because a fault must be in code of hprofx. */
HPX_NO_ASAN static uint32_t instruction(uintptr_t at)
{
    const volatile uint8_t *p = (const volatile uint8_t *)at; /* NOLINT(performance-no-int-to-ptr) */
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void to_stack_of(struct walk *k, uintptr_t sp)
{
    const struct hpx_unwind_walk *w = k->w;
    bool own = w->stack_end != 0 && sp >= w->stack_low && sp < w->stack_end;
    k->high = own ? w->stack_end : sp < UINTPTR_MAX - FOREIGN ? sp + FOREIGN : sp;
}

static bool is_stack(const struct walk *k, uintptr_t at, uintptr_t words)
{
    return at % WORD == 0 && at >= k->w->at.sp && at < k->high && words <= (k->high - at) / WORD;
}

static bool stop(struct walk *k, enum hpx_unwind_end why)
{
    k->w->end = why;
    return false;
}

static bool is_known(const struct walk *k, uintptr_t back)
{
    struct hpx_library_place p;
    return (k->w->is_code_sig != NULL && k->w->is_code_sig(back)) || hpx_libraries_find_sig(back - 1, &p);
}

/* Whether a call returns to `back`, of a library; *to: what it calls, 0: it does not say. */
static bool is_behind_call(uintptr_t back, uintptr_t *to)
{
    struct hpx_library_place p;
    *to = 0;
    if (!hpx_libraries_find_sig(back - CALL_BYTES, &p) || !hpx_libraries_find_sig(back - 1, &p)) {
        return false;
    }
#if LINKS
    const uint32_t is = instruction(back - 4);
    const bool direct = is >> 26 == 0x25;                     /* bl */
    const uint32_t distance = (is & 0x03ffffff) ^ 0x02000000; /* signed */
    *to = direct ? back - 4 + 4 * ((uintptr_t)distance - 0x02000000) : 0;
    return back % 4 == 0 && (direct || (is & 0xfffffc1f) == 0xd63f0000); /* blr */
#else
    const bool direct = (uint8_t)instruction(back - 5) == 0xe8;
    bool by_register = false;
    *to = direct ? back + (uintptr_t)(intptr_t)(int32_t)instruction(back - 4) : 0;
    for (uintptr_t n = 2; n <= CALL_BYTES; n++) {
        const uint32_t is = instruction(back - n); /* of two bytes or more: behind them comes code of the library */
        by_register |= (uint8_t)is == 0xff && (is >> 11 & 7) == 2;
    }
    return direct || by_register;
#endif
}

/* No table: code that is written by hand. Its return address is where the call has put it, or it has pushed some words more: then the call
 * must lead to it. A function that has called something keeps the frame pointer. */
static bool step_without(struct walk *k)
{
    struct hpx_unwind_at *a = &k->w->at;
    uintptr_t to;
    for (int i = 0; i < PUSHED_MOST && k->w->interrupted && is_stack(k, a->sp + (uintptr_t)i * WORD, 1); i++) {
        const uintptr_t back = LINKS && i == 0 ? a->link : word(a->sp + (uintptr_t)i * WORD);
        if ((i == 0 && k->w->is_code_sig != NULL && k->w->is_code_sig(back)) ||
            (is_behind_call(back, &to) && ((i == 0 && to == 0) || a->pc - to < FUNCTION_BYTES))) {
            a->pc = back;
            a->sp += LINKS ? 0 : (uintptr_t)(i + 1) * WORD;
            return true;
        }
        if (LINKS) {
            break;
        }
    }
    if (!is_stack(k, a->fp, 2) || !is_known(k, RETURN_ADDRESS(word(a->fp + WORD)))) {
        return false;
    }
    *a = (struct hpx_unwind_at){.pc = RETURN_ADDRESS(word(a->fp + WORD)), .sp = a->fp + 2 * WORD, .fp = word(a->fp), .base = a->base};
    return true;
}

HPX_NO_ASAN struct hpx_unwind_at hpx_unwind_load_sig(const ucontext_t *u)
{
#if defined(__aarch64__)
    const unsigned long long *r = u->uc_mcontext.regs;
    return (struct hpx_unwind_at){
        .pc = u->uc_mcontext.pc, .sp = u->uc_mcontext.sp, .fp = (uintptr_t)r[29], .link = RETURN_ADDRESS((uintptr_t)r[30])};
#elif defined(__x86_64__)
    const greg_t *r = u->uc_mcontext.gregs;
    return (struct hpx_unwind_at){
        .pc = (uintptr_t)r[REG_RIP], .sp = (uintptr_t)r[REG_RSP], .fp = (uintptr_t)r[REG_RBP], .base = (uintptr_t)r[REG_RBX]};
#else
    (void)u;
    return (struct hpx_unwind_at){0};
#endif
}

static bool step_signal(struct walk *k)
{
    const uintptr_t at = k->w->at.sp + (LINKS ? sizeof(siginfo_t) : 0);
    if (!is_stack(k, at, (offsetof(ucontext_t, uc_mcontext) + sizeof(mcontext_t)) / WORD)) {
        return stop(k, HPX_UNWIND_END_STACK);
    }
    k->w->at = hpx_unwind_load_sig((const ucontext_t *)at); /* NOLINT(performance-no-int-to-ptr) */
    to_stack_of(k, k->w->at.sp);
    return true;
}

static bool end_of_frame(const struct walk *k, const struct hpx_unwind_rule *r, uintptr_t *end)
{
    const struct hpx_unwind_at *a = &k->w->at;
    const uintptr_t cfa = (uintptr_t)(intptr_t)r->cfa;
    switch (r->how) {
    case HPX_UNWIND_SP:
        *end = a->sp + cfa;
        return true;
    case HPX_UNWIND_FP:
        *end = a->fp + cfa;
        return true;
    case HPX_UNWIND_BASE:
        *end = a->base + cfa;
        return true;
    case HPX_UNWIND_PLT:
        *end = a->sp + WORD + (a->pc % 16 >= cfa ? WORD : 0);
        return true;
    case HPX_UNWIND_AT_SP:
    case HPX_UNWIND_AT_FP: {
        const uintptr_t at = (r->how == HPX_UNWIND_AT_SP ? a->sp : a->fp) + cfa;
        const bool readable = is_stack(k, at, 1);
        *end = readable ? word(at) : 0;
        return readable;
    }
    default:
        return false;
    }
}

/* What the caller has in a register. Below the stack pointer is one that the function has given back already, behind its last call. */
static bool restore(const struct walk *k, uintptr_t end, int16_t where, uintptr_t itself, uintptr_t *reg)
{
    const uintptr_t at = where == HPX_UNWIND_AT_FP_ITSELF ? itself : end + (uintptr_t)(intptr_t)where * WORD;
    if (where == HPX_UNWIND_KEPT || (at < k->w->at.sp && k->w->interrupted)) {
        return true;
    }
    const bool readable = is_stack(k, at, 1);
    *reg = readable ? word(at) : 0;
    return readable;
}

static bool step_by(struct walk *k, const struct hpx_unwind_rule *r)
{
    const struct hpx_unwind_at *a = &k->w->at;
    struct hpx_unwind_at caller = {.fp = a->fp, .base = a->base};
    /* only the innermost frame may be of no bytes, where a call pushes nothing */
    if (!end_of_frame(k, r, &caller.sp) || caller.sp % WORD != 0 || caller.sp > k->high ||
        caller.sp < a->sp + (LINKS && k->w->interrupted ? 0 : WORD)) {
        return stop(k, HPX_UNWIND_END_STACK);
    }
    const uintptr_t ra = caller.sp + (uintptr_t)(intptr_t)r->ra * WORD;
    if (r->ra == HPX_UNWIND_KEPT ? !k->w->interrupted : !is_stack(k, ra, 1)) {
        return stop(k, HPX_UNWIND_END_STACK);
    }
    caller.pc = r->ra == HPX_UNWIND_KEPT ? a->link : RETURN_ADDRESS(word(ra));
    if (k->w->interrupted && caller.pc != 0 && !is_known(k, caller.pc)) {
        return stop(k, HPX_UNWIND_END_NO_LIBRARY);
    }
    if (!restore(k, caller.sp, r->fp, a->fp, &caller.fp) || !restore(k, caller.sp, r->base, 0, &caller.base)) {
        return stop(k, HPX_UNWIND_END_STACK);
    }
    k->w->at = caller;
    return true;
}

/* To the caller; adds the place of the function. */
static bool step(struct walk *k, struct hpx_unwind_place *place)
{
    struct hpx_library_place p = {.library = NULL};
    struct hpx_unwind_rule r = {.how = HPX_UNWIND_NONE};
    const uintptr_t pc = k->w->at.pc - (k->w->interrupted ? 0 : 1); /* in the call */
    *place = (struct hpx_unwind_place){0, pc};
    const bool found = hpx_libraries_find_sig(pc, &p);
    if (found) {
        uint32_t function = p.offset;
        if (p.library->table != NULL) {
            r = hpx_unwind_table_find_sig(p.library->table, p.offset, &function);
        }
        *place = (struct hpx_unwind_place){p.library->number, function};
    }
    k->w->n++;
    atomic_signal_fence(memory_order_release); /* what follows may fault */
    switch (r.how) {
    case HPX_UNWIND_END:
        return stop(k, HPX_UNWIND_END_OUTERMOST);
    case HPX_UNWIND_SIGNAL:
        k->w->interrupted = step_signal(k);
        return k->w->interrupted;
    case HPX_UNWIND_NONE:
    case HPX_UNWIND_UNKNOWN:
        if (!step_without(k)) {
            return stop(k, found ? HPX_UNWIND_END_NO_TABLE : HPX_UNWIND_END_NO_LIBRARY);
        }
        break;
    default:
        /* of some code that is written by hand the table says nothing of what it pushes */
        if (!step_by(k, &r) && !(k->w->interrupted && step_without(k))) {
            return false;
        }
    }
    k->w->interrupted = false;
    return true;
}

void hpx_unwind_walk_sig(struct hpx_unwind_walk *w, struct hpx_unwind_place *places, int most)
{
    struct walk k = {.w = w};
    w->n = 0;
    to_stack_of(&k, w->at.sp);
    for (;;) {
        if (w->is_code_sig != NULL && w->is_code_sig(w->at.pc)) {
            w->end = HPX_UNWIND_END_CODE;
            break;
        }
        if (w->at.pc == 0 && w->n > 0) {
            w->end = HPX_UNWIND_END_OUTERMOST;
            break;
        }
        if (w->at.pc >> MAPPED != 0) {
            w->end = HPX_UNWIND_END_STACK;
            break;
        }
        if (w->n == most) {
            w->end = HPX_UNWIND_END_MOST;
            break;
        }
        if (!step(&k, &places[w->n])) {
            break;
        }
    }
}
