/* SPDX-License-Identifier: BSD-2-Clause */
/* refuses.c: a preload. REFUSES=missing: no AsyncGetCallTrace; failing: one that never answers; timers: timer_create
 * fails; vm: JVMTI says that java.vm.name is that of another VM, while the agent loads; hook: it refuses the class hook. */
#include <dlfcn.h>
#include <errno.h>
#include <jvmti.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct call_trace {
    void *env;
    int num_frames;
    void *frames;
};

static int refuses(const char *what)
{
    const char *s = getenv("REFUSES");
    return s != NULL && strcmp(s, what) == 0;
}

static void no_answer(struct call_trace *t, int depth, void *context)
{
    (void)depth, (void)context;
    t->num_frames = -1;
}

static struct {
    jint(JNICALL *on_load)(JavaVM *, char *, void *);
    const struct JNIInvokeInterface_ *vm;
    const struct jvmtiInterface_1_ *jvmti;
} real;

static jvmtiError JNICALL other_name(jvmtiEnv *jvmti, const char *key, char **to)
{
    static const char name[] = "Another VM";
    if (strcmp(key, "java.vm.name") != 0) {
        return real.jvmti->GetSystemProperty(jvmti, key, to);
    }
    jvmtiError error = real.jvmti->Allocate(jvmti, sizeof name, (unsigned char **)to);
    if (error == JVMTI_ERROR_NONE) {
        memcpy(*to, name, sizeof name);
    }
    return error;
}

static jvmtiError JNICALL no_hook(jvmtiEnv *jvmti, const jvmtiCapabilities *want)
{
    return want->can_generate_all_class_hook_events ? JVMTI_ERROR_NOT_AVAILABLE : real.jvmti->AddCapabilities(jvmti, want);
}

static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
    static struct jvmtiInterface_1_ ours;
    jint rc = real.vm->GetEnv(vm, env, version);
    if (rc == JNI_OK && (version & JVMTI_VERSION_MASK_INTERFACE_TYPE) == JVMTI_VERSION_INTERFACE_JVMTI) {
        jvmtiEnv *jvmti = *env;
        real.jvmti = *jvmti;
        ours = *real.jvmti;
        ours.GetSystemProperty = refuses("vm") ? other_name : real.jvmti->GetSystemProperty;
        ours.AddCapabilities = refuses("hook") ? no_hook : real.jvmti->AddCapabilities;
        *jvmti = &ours;
    }
    return rc;
}

static jint JNICALL on_load(JavaVM *vm, char *options, void *reserved)
{
    struct JNIInvokeInterface_ ours = **vm;
    real.vm = *vm;
    ours.GetEnv = get_env;
    *vm = &ours;
    jint rc = real.on_load(vm, options, reserved);
    *vm = real.vm;
    return rc;
}

void *dlsym(void *restrict handle, const char *restrict name)
{
    static void *(*next)(void *, const char *);
    if (next == NULL) {
        void *sym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        memcpy(&next, &sym, sizeof sym);
    }
    if (strcmp(name, "AsyncGetCallTrace") == 0) {
        void (*fake)(struct call_trace *, int, void *) = no_answer;
        void *sym = NULL;
        memcpy(&sym, &fake, sizeof sym);
        return refuses("missing") ? NULL : refuses("failing") ? sym : next(handle, name);
    }
    void *sym = next(handle, name);
    if (sym != NULL && strcmp(name, "Agent_OnLoad") == 0 && (refuses("vm") || refuses("hook"))) {
        jint(JNICALL * ours)(JavaVM *, char *, void *) = on_load;
        memcpy(&real.on_load, &sym, sizeof sym);
        memcpy(&sym, &ours, sizeof sym);
    }
    return sym;
}

int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer)
{
    static int (*next)(clockid_t, struct sigevent *, timer_t *);
    if (refuses("timers")) {
        errno = EAGAIN;
        return -1;
    }
    if (next == NULL) {
        void *sym = dlvsym(RTLD_NEXT, "timer_create", "GLIBC_2.3.3");
        memcpy(&next, &sym, sizeof sym);
    }
    return next(clock, event, timer);
}
