/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_id.c: from eetop to the kernel id. Contract: thread_id.h. */
#include "thread_id.h"
#include "boot_class.h"
#include "clock.h"
#include "internals.h"
#include "structures.h"
#include "trial.h"
#include <errno.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
    uint64_t osthread, id, thread_size; /* constant after init */
    uint64_t stack_base, stack_size;    /* constant after init */
    bool has_stack;                     /* constant after init */
    jfieldID eetop;                     /* constant once found */
} ids;

static const char another_shape[] = "the VM's threads have another shape";

/* Not needed for ids: without them older threads have no stack where the VM's function fails. */
static bool find_stack(void)
{
    const struct hpx_vm_field all[] = {{"JavaThread", "_stack_base", "address", &ids.stack_base},
                                       {"Thread", "_stack_base", "address", &ids.stack_base},
                                       {"JavaThread", "_stack_size", "size_t", &ids.stack_size},
                                       {"Thread", "_stack_size", "size_t", &ids.stack_size}};
    return hpx_structures_fields(all, HPX_ARRAY_LEN(all)) == NULL;
}

/* JDK 25 moved one field and renamed the type of the other. */
static const char *find_fields(void)
{
    static const char id_type[] = "OSThread::thread_id_t";
    const struct hpx_vm_field all[] = {{"JavaThread", "_osthread", "OSThread*", &ids.osthread},
                                       {"Thread", "_osthread", "OSThread*", &ids.osthread},
                                       {"OSThread", "_thread_id", id_type, &ids.id},
                                       {"OSThread", "_thread_id", "pid_t", &ids.id}};
    const char *why = hpx_structures_fields(all, HPX_ARRAY_LEN(all));
    uint64_t size = hpx_structures_size(id_type);
    size = size != 0 ? size : hpx_structures_size("pid_t");
    ids.thread_size = hpx_structures_size("JavaThread");
    return why != NULL || size == sizeof(pid_t) ? why : another_shape;
}

const char *hpx_thread_id_find_word(JNIEnv *env)
{
    if (ids.eetop == NULL) {
        jclass klass = hpx_boot_class(env, "java/lang/Thread");
        ids.eetop = klass != NULL ? (*env)->GetFieldID(env, klass, "eetop", "J") : NULL;
        (*env)->ExceptionClear(env);
        (*env)->DeleteLocalRef(env, klass);
    }
    return ids.eetop != NULL ? NULL : "Thread has no field eetop";
}

uintptr_t hpx_thread_id_word(JNIEnv *env, jthread thread)
{
    return ids.eetop != NULL ? (uintptr_t)(*env)->GetLongField(env, thread, ids.eetop) : 0;
}

/* *got: the bytes that could be read. 0 if they are at least `needed`, or errno. */
static int read_memory(const struct iovec *to, const struct iovec *from, unsigned n, size_t needed, size_t *got)
{
    ssize_t rc = !hpx_trial_passes(HPX_TRIAL_PROCESS_VM_READV) ? -1 : process_vm_readv(getpid(), to, n, from, n, 0);
    *got = rc < 0 ? 0 : (size_t)rc;
    return rc < 0 ? errno : *got >= needed ? 0 : EFAULT;
}

/* 0, or errno; then *tid is 0. Without its stack a thread still has an id. */
static int read_thread(uintptr_t vm_thread, pid_t *tid, struct hpx_stack_bounds *stack)
{
    uintptr_t osthread = 0, base = 0;
    size_t size = 0, got = 0;
    struct iovec to[] = {{&osthread, sizeof osthread}, {&base, sizeof base}, {&size, sizeof size}}, to_id = {tid, sizeof *tid};
    struct iovec from[] = {{(void *)(vm_thread + ids.osthread), sizeof osthread},
                           {(void *)(vm_thread + ids.stack_base), sizeof base},
                           {(void *)(vm_thread + ids.stack_size), sizeof size}};
    int rc = read_memory(to, from, ids.has_stack ? 3 : 1, sizeof osthread, &got);
    if (got == sizeof osthread + sizeof base + sizeof size && size > 0 && size < base) {
        *stack = (struct hpx_stack_bounds){base - size, base};
    }
    rc = rc != 0 ? rc : read_memory(&to_id, &(struct iovec){(void *)(osthread + ids.id), sizeof *tid}, 1, sizeof *tid, &got);
    *tid = rc == 0 ? *tid : 0;
    return rc;
}

/* *tid: 0 if the thread has ended. NULL, or what contradicts. */
static const char *ask(JNIEnv *env, jthread thread, pid_t *tid, struct hpx_stack_bounds *stack)
{
    uintptr_t vm_thread = hpx_thread_id_word(env, thread);
    *tid = 0;
    *stack = (struct hpx_stack_bounds){0, 0};
    if (vm_thread == 0) {
        return NULL;
    }
    int error = read_thread(vm_thread, tid, stack);
    bool known = error == 0 && *tid > 0 && hpx_clock_tid_cpu(*tid) > 0; /* the kernel refuses clocks of other processes */
    atomic_thread_fence(memory_order_acquire); /* eetop is read again, after the reads above; no partner: the VM clears it */
    if (hpx_thread_id_word(env, thread) != vm_thread) {
        *tid = 0;
        *stack = (struct hpx_stack_bounds){0, 0};
        return NULL;
    }
    return error == EFAULT ? HPX_INTERNALS_MISREAD : error != 0 ? "the system refuses process_vm_readv" : known ? NULL : another_shape;
}

/* The VM's thread contains the JNIEnv. */
static const char *check_self(JNIEnv *env, jthread self)
{
    pid_t tid = 0;
    struct hpx_stack_bounds stack = {0, 0};
    uintptr_t offset = (uintptr_t)env - hpx_thread_id_word(env, self),
              here = (uintptr_t)__builtin_frame_address(0); /* not the address of a variable: AddressSanitizer keeps variables elsewhere */
    const char *why = offset > 0 && offset < ids.thread_size ? ask(env, self, &tid, &stack) : another_shape;
    ids.has_stack = ids.has_stack && stack.low < here && here < stack.end;
    return why != NULL || tid == gettid() ? why : another_shape;
}

void hpx_thread_id_init(JNIEnv *env, jthread self)
{
    const char *why = hpx_internals_closed();
    why = why != NULL ? why : find_fields();
    ids.has_stack = why == NULL && find_stack();
    why = why != NULL ? why : hpx_thread_id_find_word(env);
    hpx_internals_leave_sig(HPX_INTERNALS_IDS, why != NULL ? why : check_self(env, self));
}

pid_t hpx_thread_id_of(JNIEnv *env, jthread thread, struct hpx_stack_bounds *stack)
{
    pid_t tid = -1;
    *stack = (struct hpx_stack_bounds){0, 0};
    if (hpx_internals_without(HPX_INTERNALS_IDS) == NULL) {
        const char *why = ask(env, thread, &tid, stack);
        if (why != NULL) {
            hpx_internals_leave_sig(HPX_INTERNALS_IDS, why);
            tid = -1;
            *stack = (struct hpx_stack_bounds){0, 0};
        }
    }
    return tid;
}
