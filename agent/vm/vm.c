/* SPDX-License-Identifier: BSD-2-Clause */
/* vm.c: facts of the JVM that several modules need. */
#include "vm.h"
#include "boot_class.h"
#include "releases.h"
#include <stdatomic.h>
#include <string.h>

#define IS_VIRTUAL_THREAD 234 /* of the table of JNI 21; headers of older JDKs lack it */

struct hpx_vm hpx_vm;
struct hpx_vm_fields hpx_vm_fields;

static const struct {
    jvmtiError code;
    const char *name;
} jvmti_errors[] = {
    {JVMTI_ERROR_NOT_AVAILABLE, "JVMTI_ERROR_NOT_AVAILABLE"},
    {JVMTI_ERROR_MUST_POSSESS_CAPABILITY, "JVMTI_ERROR_MUST_POSSESS_CAPABILITY"},
    {JVMTI_ERROR_OUT_OF_MEMORY, "JVMTI_ERROR_OUT_OF_MEMORY"},
    {JVMTI_ERROR_WRONG_PHASE, "JVMTI_ERROR_WRONG_PHASE"},
    {JVMTI_ERROR_INTERNAL, "JVMTI_ERROR_INTERNAL"},
    {JVMTI_ERROR_UNATTACHED_THREAD, "JVMTI_ERROR_UNATTACHED_THREAD"},
    {JVMTI_ERROR_INVALID_EVENT_TYPE, "JVMTI_ERROR_INVALID_EVENT_TYPE"},
};

const char *hpx_jvmti_error(jvmtiError e)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(jvmti_errors); i++) {
        if (jvmti_errors[i].code == e) {
            return jvmti_errors[i].name;
        }
    }
    return "another JVMTI error";
}

/* Asked once: modes still want it when the session's environment has been disposed of. */
jint hpx_vm_release(void)
{
    static _Atomic jint known; /* relaxed: it never changes */
    jint release = atomic_load_explicit(&known, memory_order_relaxed), version = 0;
    if (release == 0 && (*hpx_vm.jvmti)->GetVersionNumber(hpx_vm.jvmti, &version) == JVMTI_ERROR_NONE) {
        release = hpx_release_of(version);
        atomic_store_explicit(&known, release, memory_order_relaxed);
    }
    return release != 0 ? release : 8;
}

bool hpx_vm_is_virtual(JNIEnv *env, jthread thread)
{
    typedef jboolean(JNICALL * is)(JNIEnv *, jobject);
    is fn;
    if (hpx_vm_release() < HPX_RELEASE_VIRTUAL || thread == NULL) {
        return false;
    }
    memcpy(&fn, (const char *)*env + IS_VIRTUAL_THREAD * sizeof(void *), sizeof fn);
    return fn(env, thread);
}

JNIEnv *hpx_vm_env(void)
{
    void *env = NULL;
    return (*hpx_vm.java)->GetEnv(hpx_vm.java, &env, JNI_VERSION_1_6) == JNI_OK ? env : NULL;
}

/* Of an environment that is disposed of the VM keeps the address while it tells of an event: no other one can have it. */
bool hpx_vm_enter_for(struct hpx_gate *g, const jvmtiEnv *jvmti, jvmtiEnv *const *own)
{
    bool inside = hpx_gate_enter(g);
    if (inside && jvmti != *own) {
        hpx_gate_leave(g);
        inside = false;
    }
    return inside;
}

bool hpx_vm_enter(struct hpx_gate *g, jvmtiEnv *jvmti)
{
    return hpx_vm_enter_for(g, jvmti, &hpx_vm.jvmti);
}

jvmtiEnv *hpx_vm_environment(const jvmtiCapabilities *want)
{
    void *env = NULL;
    if ((*hpx_vm.java)->GetEnv(hpx_vm.java, &env, JVMTI_VERSION_1_2) != JNI_OK) {
        return NULL;
    }
    jvmtiEnv *jvmti = env;
    if ((*jvmti)->AddCapabilities(jvmti, want) != JVMTI_ERROR_NONE) {
        (void)(*jvmti)->DisposeEnvironment(jvmti);
        return NULL;
    }
    return jvmti;
}

static jvmtiEnv *kept; /* load's, then whose session is PREPARING (life.h); constant from the first session on */

jvmtiEnv *hpx_vm_kept(void)
{
    return kept;
}

bool hpx_vm_keep_environment(void)
{
    return kept != NULL || (*hpx_vm.java)->GetEnv(hpx_vm.java, (void **)&kept, JVMTI_VERSION_1_2) == JNI_OK;
}

jvmtiError hpx_vm_capability(jvmtiEnv *jvmti, unsigned bit)
{
    jvmtiCapabilities can;
    memset(&can, 0, sizeof can);
    ((unsigned char *)&can)[bit / 8] = (unsigned char)(1u << bit % 8);
    return (*jvmti)->AddCapabilities(jvmti, &can);
}

jvmtiError hpx_vm_events(jvmtiEventMode mode, const jvmtiEvent *events)
{
    jvmtiError first = JVMTI_ERROR_NONE;
    for (; *events != 0; events++) {
        jvmtiError e = (*hpx_vm.jvmti)->SetEventNotificationMode(hpx_vm.jvmti, mode, *events, NULL);
        first = first != JVMTI_ERROR_NONE ? first : e;
    }
    return first;
}

jfieldID hpx_vm_field(JNIEnv *env, jclass klass, const char *name, const char *signature)
{
    jfieldID id = klass != NULL ? (*env)->GetFieldID(env, klass, name, signature) : NULL;
    (*env)->ExceptionClear(env);
    return id;
}

static void find_holder(JNIEnv *env, jclass thread)
{
    struct hpx_vm_fields *f = &hpx_vm_fields;
    jclass holder = hpx_boot_class(env, "java/lang/Thread$FieldHolder"), group = hpx_boot_class(env, "java/lang/ThreadGroup");
    f->status = hpx_vm_field(env, holder, "threadStatus", "I");
    f->group = hpx_vm_field(env, holder, "group", "Ljava/lang/ThreadGroup;");
    f->group_name = hpx_vm_field(env, group, "name", "Ljava/lang/String;");
    f->group_parent = hpx_vm_field(env, group, "parent", "Ljava/lang/ThreadGroup;");
    bool all = f->name != NULL && f->status != NULL && f->group != NULL && f->group_name != NULL && f->group_parent != NULL;
    f->holder = all ? hpx_vm_field(env, thread, "holder", "Ljava/lang/Thread$FieldHolder;") : NULL;
    (*env)->DeleteLocalRef(env, group);
    (*env)->DeleteLocalRef(env, holder);
}

void hpx_vm_live(JNIEnv *env)
{
    /* a look-up that fails must not take them from natives of an earlier session (park.c) */
    if (hpx_vm_fields.tid != NULL && hpx_vm_fields.blocker != NULL) {
        return;
    }
    jclass thread = hpx_boot_class(env, "java/lang/Thread");
    hpx_vm_fields.tid = hpx_vm_field(env, thread, "tid", "J");
    hpx_vm_fields.blocker = hpx_vm_field(env, thread, "parkBlocker", "Ljava/lang/Object;");
    hpx_vm_fields.name = hpx_vm_field(env, thread, "name", "Ljava/lang/String;");
    hpx_vm_fields.own_status = hpx_vm_field(env, thread, "threadStatus", "I");
    if (hpx_vm_release() >= HPX_RELEASE_VIRTUAL) {
        find_holder(env, thread);
    }
    (*env)->DeleteLocalRef(env, thread);
}
