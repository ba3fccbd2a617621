/* SPDX-License-Identifier: BSD-2-Clause */
/* mislead.c: an agent that stands between the VM and whoever walks over the heap, as a VM that visits in another order: the first class
 * with a superclass but Object, of which HotSpot tells first, tells of nothing. All environments of JVMTI have one table of functions, so
 * it replaces FollowReferences there. Its callback also runs in the child of a fork: no lock, no malloc. Test code. */
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

typedef jvmtiError(JNICALL *follow_references)(jvmtiEnv *, jint, jclass, jobject, const jvmtiHeapCallbacks *, const void *);

static follow_references really;
static jvmtiHeapReferenceCallback asked; /* of the walk; there is one at a time */
static enum { BEFORE, WITHIN, BEHIND } state;

static bool of_class(jvmtiHeapReferenceKind kind)
{
    return kind == JVMTI_HEAP_REFERENCE_CLASS_LOADER || kind == JVMTI_HEAP_REFERENCE_SIGNERS ||
           kind == JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN || kind == JVMTI_HEAP_REFERENCE_INTERFACE ||
           kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD || kind == JVMTI_HEAP_REFERENCE_CONSTANT_POOL;
}

static jint JNICALL reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong referrer_class_tag,
                              jlong size, jlong *tag, jlong *referrer_tag, jint length, void *user)
{
    if (state == BEFORE && kind == JVMTI_HEAP_REFERENCE_SUPERCLASS) {
        state = WITHIN;
    } else if (state == WITHIN && !of_class(kind)) {
        state = BEHIND;
    }
    return state == WITHIN ? JVMTI_VISIT_OBJECTS : asked(kind, info, class_tag, referrer_class_tag, size, tag, referrer_tag, length, user);
}

static jvmtiError JNICALL follow(jvmtiEnv *jvmti, jint filter, jclass klass, jobject from, const jvmtiHeapCallbacks *callbacks,
                                 const void *user)
{
    jvmtiHeapCallbacks ours = *callbacks;
    state = BEFORE;
    asked = callbacks->heap_reference_callback;
    ours.heap_reference_callback = asked != NULL ? reference : NULL;
    return really(jvmti, filter, klass, from, &ours, user);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiEnv *jvmti;
    (void)options, (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_1) != JNI_OK) {
        return JNI_ERR;
    }
    struct jvmtiInterface_1_ *table = (struct jvmtiInterface_1_ *)(uintptr_t)*jvmti;
    const uintptr_t page = (uintptr_t)&table->FollowReferences & ~(uintptr_t)4095;
    if (mprotect((void *)page, 8192, PROT_READ | PROT_WRITE) != 0) {
        perror("mislead: mprotect");
        return JNI_ERR;
    }
    really = table->FollowReferences;
    table->FollowReferences = follow;
    return JNI_OK;
}
