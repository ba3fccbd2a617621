/* SPDX-License-Identifier: BSD-2-Clause */
/* midclass.c: an agent that collects garbage while the VM makes a class: when another agent asks for the tag of java.lang.Class, as a
 * callback of the allocation does, on a thread of SitesNew. It replaces a function of the VM's table, which all agents share. */
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static JavaVM *jvm;
static jvmtiError(JNICALL *real)(jvmtiEnv *, jobject, jlong *);
static __thread bool armed;
static __thread int collections;

static jvmtiError JNICALL get_tag(jvmtiEnv *jvmti, jobject object, jlong *tag)
{
    JNIEnv *env;
    if (armed && (*jvm)->GetEnv(jvm, (void **)&env, JNI_VERSION_1_6) == JNI_OK) {
        jclass klass = (*env)->GetObjectClass(env, object);
        if ((*env)->IsSameObject(env, object, klass)) { /* java.lang.Class is its own class */
            armed = false;
            collections++;
            (void)(*jvmti)->ForceGarbageCollection(jvmti);
        }
        (*env)->DeleteLocalRef(env, klass);
    }
    return real(jvmti, object, tag);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiEnv *jvmti;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)options, (void)reserved;
    jvm = vm;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_1) != JNI_OK) {
        return JNI_ERR;
    }
    uintptr_t at = (uintptr_t) & (*jvmti)->GetTag;
    if (mprotect((void *)(at & ~(page - 1)), page, PROT_READ | PROT_WRITE) != 0) {
        return JNI_ERR;
    }
    real = (*jvmti)->GetTag;
    *(jvmtiError(JNICALL **)(jvmtiEnv *, jobject, jlong *))at = get_tag;
    return JNI_OK;
}

/* The next class of this thread. Returns how often it has collected on this thread. */
JNIEXPORT jint JNICALL Java_SitesNew_arm(JNIEnv *env, jclass klass)
{
    (void)env, (void)klass;
    armed = true;
    return collections;
}
