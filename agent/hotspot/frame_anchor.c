/* SPDX-License-Identifier: BSD-2-Clause */
/* frame_anchor.c: reads and checks the fields of frame_anchor.h. */
#include "frame_anchor.h"
#include "structures.h"
#include <stdatomic.h>

static struct {
    uint64_t anchor, state, sp, pc, fp, thread_size;
    uint64_t thrown, unpacked;     /* UINT64_MAX: not in the tables */
    _Atomic uint64_t continuation; /* UINT64_MAX: not known; relaxed */
    int states[HPX_VM_STATE_OTHER];
    uintptr_t env_offset; /* distance of the JNIEnv from the start of its JavaThread; 0: not learned yet */
} anchors;

const char *hpx_frame_anchor_init(void)
{
    static const char *const names[HPX_VM_STATE_OTHER] = {"_thread_in_native", "_thread_in_vm", "_thread_in_Java", "_thread_blocked"};
    const struct hpx_vm_field all[] = {{"JavaThread", "_anchor", "JavaFrameAnchor", &anchors.anchor},
                                       {"JavaThread", "_thread_state", "JavaThreadState", &anchors.state},
                                       {"JavaFrameAnchor", "_last_Java_sp", "intptr_t*", &anchors.sp},
                                       {"JavaFrameAnchor", "_last_Java_pc", "address", &anchors.pc},
                                       {"JavaFrameAnchor", "_last_Java_fp", "intptr_t*", &anchors.fp}};
    const char *why = hpx_structures_fields(all, HPX_ARRAY_LEN(all));
    uint64_t continuation;
    const struct hpx_vm_field some[] = {{"JavaThread", "_cont_entry", "ContinuationEntry*", &continuation},
                                        {"JavaThread", "_exception_pc", "address", &anchors.thrown},
                                        {"JavaThread", "_vframe_array_head", "vframeArray*", &anchors.unpacked}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(some); i++) {
        if (why != NULL || !hpx_structures_field(&some[i])) {
            *some[i].to = UINT64_MAX;
        }
    }
    atomic_store_explicit(&anchors.continuation, continuation, memory_order_relaxed);
    for (int i = 0; why == NULL && i < HPX_VM_STATE_OTHER; i++) {
        why = hpx_structures_constant(names[i], &anchors.states[i]) ? NULL : "the VM's tables have no states of threads";
    }
    anchors.thread_size = hpx_structures_size("JavaThread");
    return why;
}

static uintptr_t thread_of(const void *env)
{
    return (uintptr_t)env - anchors.env_offset;
}

static const char another_shape[] = "the VM's frame anchors have another shape";

const char *hpx_frame_anchor_check(const void *env, uint64_t thread)
{
    uintptr_t offset = (uintptr_t)env - (uintptr_t)thread;
    if (thread == 0 || offset == 0 || offset >= anchors.thread_size || (anchors.env_offset != 0 && offset != anchors.env_offset)) {
        return "the VM's threads have another shape";
    }
    anchors.env_offset = offset;
    return hpx_frame_anchor_state_sig(env) == HPX_VM_STATE_IN_NATIVE ? NULL : another_shape;
}

static bool in_stack(uintptr_t at, uintptr_t low, uintptr_t end)
{
    return at % sizeof(uintptr_t) == 0 && (end == 0 || (at >= low && at < end));
}

/* A frame pointer of 0 is valid: the VM clears it in an anchor whose stub does not store it. */
const char *hpx_frame_anchor_check_frames(const struct hpx_frame_anchor *a, uintptr_t stack_low, uintptr_t stack_end)
{
    bool fits = in_stack(a->sp, stack_low, stack_end) && a->pc != 0 && (a->fp == 0 || in_stack(a->fp, a->sp, stack_end));
    return a->sp == 0 || fits ? NULL : another_shape;
}

enum hpx_vm_state hpx_frame_anchor_state_sig(const void *env)
{
    int state = hpx_vm_int(thread_of(env) + anchors.state);
    for (int i = 0; i < HPX_VM_STATE_OTHER; i++) {
        if (state == anchors.states[i]) {
            return (enum hpx_vm_state)i;
        }
    }
    return HPX_VM_STATE_OTHER;
}

struct hpx_frame_anchor hpx_frame_anchor_at_sig(uintptr_t at)
{
    return (struct hpx_frame_anchor){hpx_vm_word(at + anchors.sp), hpx_vm_word(at + anchors.pc), hpx_vm_word(at + anchors.fp)};
}

struct hpx_frame_anchor hpx_frame_anchor_read_sig(const void *env)
{
    return hpx_frame_anchor_at_sig(thread_of(env) + anchors.anchor);
}

static uintptr_t word_of(const void *env, uint64_t field)
{
    return field != UINT64_MAX ? hpx_vm_word(thread_of(env) + field) : 0;
}

uintptr_t hpx_frame_anchor_continuation_sig(const void *env)
{
    return word_of(env, atomic_load_explicit(&anchors.continuation, memory_order_relaxed));
}

bool hpx_frame_anchor_lacks_continuation_sig(void)
{
    return atomic_load_explicit(&anchors.continuation, memory_order_relaxed) == UINT64_MAX;
}

void hpx_frame_anchor_learn_continuation_sig(const void *env, uintptr_t entry)
{
    uint64_t found = 0;
    int times = 0;
    if (!hpx_frame_anchor_lacks_continuation_sig()) {
        return;
    }
    for (uint64_t at = 0; at < anchors.thread_size; at += sizeof(uintptr_t)) {
        bool is = hpx_vm_word(thread_of(env) + at) == entry;
        found = is ? at : found;
        times += is;
    }
    if (times == 1) {
        atomic_store_explicit(&anchors.continuation, found, memory_order_relaxed);
    }
}

uintptr_t hpx_frame_anchor_thrown_sig(const void *env)
{
    return word_of(env, anchors.thrown);
}

uintptr_t hpx_frame_anchor_unpacked_sig(const void *env)
{
    return word_of(env, anchors.unpacked);
}
