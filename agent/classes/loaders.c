/* SPDX-License-Identifier: BSD-2-Clause */
/* loaders.c: see loaders.h. */
#include "loaders.h"
#include "boot_class.h"

#define FINDS(c)   ((jlong)1 << (2 * (c)->number))
#define REFUSES(c) ((jlong)2 << (2 * (c)->number))
#define LISTED     ((jlong)1 << 32)
#define LOCALS     16

/* Constant from hpx_loaders_init() on. */
static struct {
    jvmtiEnv *tags;
    jclass any;                /* java.lang.Class */
    jmethodID for_name;        /* its method */
    jclass vm_error, to_death; /* VirtualMachineError, and ThreadDeath; NULL: this JDK has it no more */
} vm;

/* The loaders that the calling thread is asking, the innermost first: a loader may load classes of its own to answer. */
struct asking {
    jobject loader;
    struct asking *outer;
};
/* Not initial-exec: the library of JVMPI, which shares this, has more of such variables than fit into the static block. */
static __thread struct asking *asking;

bool hpx_probe_class_init(struct hpx_probe_class *c, JNIEnv *env, jclass klass, const char *name, unsigned number)
{
    char dotted[64];
    size_t n = 0;
    for (; name[n] != 0 && n + 1 < sizeof dotted; n++) {
        dotted[n] = (char)(name[n] == '/' ? '.' : name[n]);
    }
    dotted[n] = 0;
    jstring text = (*env)->NewStringUTF(env, dotted);
    jobject kept = text != NULL ? (*env)->NewGlobalRef(env, text) : NULL;
    jobject of = kept != NULL ? (*env)->NewGlobalRef(env, klass) : NULL;
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, text);
    *c = (struct hpx_probe_class){of, kept, number};
    return of != NULL;
}

static jclass global_class(JNIEnv *env, const char *name)
{
    jclass c = hpx_boot_class(env, name), global = c != NULL ? (*env)->NewGlobalRef(env, c) : NULL;
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, c);
    return global;
}

bool hpx_loaders_init(jvmtiEnv *tags, JNIEnv *env)
{
    vm.tags = tags;
    vm.any = global_class(env, "java/lang/Class");
    vm.for_name = vm.any != NULL
                      ? (*env)->GetStaticMethodID(env, vm.any, "forName", "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;")
                      : NULL;
    (*env)->ExceptionClear(env);
    vm.vm_error = global_class(env, "java/lang/VirtualMachineError");
    vm.to_death = global_class(env, "java/lang/ThreadDeath");
    return vm.for_name != NULL && vm.vm_error != NULL;
}

static jlong tag_of(jobject loader)
{
    jlong tag = 0;
    return vm.tags != NULL && (*vm.tags)->GetTag(vm.tags, loader, &tag) == JVMTI_ERROR_NONE ? tag : 0;
}

/* Two threads that ask at once may lose a bit of each other: then the loader is asked once more. */
static void add_tag(jobject loader, jlong bit)
{
    if (vm.tags != NULL) {
        (void)(*vm.tags)->SetTag(vm.tags, loader, tag_of(loader) | bit);
    }
}

enum hpx_loader hpx_loaders_look(const struct hpx_probe_class *c, jobject loader)
{
    jlong tag = loader != NULL ? tag_of(loader) : FINDS(c);
    return tag & FINDS(c) ? HPX_LOADER_FINDS : tag & REFUSES(c) ? HPX_LOADER_REFUSES : HPX_LOADER_UNKNOWN;
}

bool hpx_loaders_list(jobject loader, bool listed)
{
    jlong tag = tag_of(loader);
    if (vm.tags != NULL) {
        (void)(*vm.tags)->SetTag(vm.tags, loader, listed ? tag | LISTED : tag & ~LISTED);
    }
    return (tag & LISTED) != 0;
}

static bool is_asking(JNIEnv *env, jobject loader)
{
    for (const struct asking *a = asking; a != NULL; a = a->outer) {
        if ((*env)->IsSameObject(env, a->loader, loader)) {
            return true;
        }
    }
    return false;
}

static enum hpx_loader ask(const struct hpx_probe_class *c, JNIEnv *env, jobject loader, jthrowable *leaves)
{
    jobject found = (*env)->CallStaticObjectMethod(env, vm.any, vm.for_name, c->name, JNI_FALSE, loader);
    jthrowable thrown = (*env)->ExceptionOccurred(env);
    (*env)->ExceptionClear(env);
    if (thrown != NULL) {
        bool dies = vm.to_death != NULL && (*env)->IsInstanceOf(env, thrown, vm.to_death);
        *leaves = dies ? thrown : NULL;
        return dies || (*env)->IsInstanceOf(env, thrown, vm.vm_error) ? HPX_LOADER_UNKNOWN : HPX_LOADER_REFUSES;
    }
    return (*env)->IsSameObject(env, found, c->klass) ? HPX_LOADER_FINDS : HPX_LOADER_REFUSES;
}

enum hpx_loader hpx_loaders_ask(const struct hpx_probe_class *c, JNIEnv *env, jobject loader)
{
    jthrowable pending = (*env)->ExceptionOccurred(env), leaves = NULL;
    struct asking self = {loader, asking};
    enum hpx_loader answer = HPX_LOADER_UNKNOWN;
    (*env)->ExceptionClear(env);
    if (!is_asking(env, loader) && (*env)->PushLocalFrame(env, LOCALS) == 0) {
        asking = &self;
        answer = ask(c, env, loader, &leaves);
        asking = self.outer;
        leaves = (*env)->PopLocalFrame(env, leaves);
    }
    (*env)->ExceptionClear(env);
    if (answer != HPX_LOADER_UNKNOWN) {
        add_tag(loader, answer == HPX_LOADER_FINDS ? FINDS(c) : REFUSES(c));
    }
    if (pending != NULL || leaves != NULL) {
        (void)(*env)->Throw(env, pending != NULL ? pending : leaves);
    }
    (*env)->DeleteLocalRef(env, pending);
    (*env)->DeleteLocalRef(env, leaves);
    return answer;
}
