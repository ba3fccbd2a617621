/* SPDX-License-Identifier: BSD-2-Clause */
/* starts.c: holds a JVM in its start, or at its end. It opens the FIFO named by STARTS_FIFO and reads to its end, once.
 *
 * STARTS_AT=program: before the JVM is in the process (preloaded); signals: before it handles SIGQUIT (preloaded); live: while it listens
 * already and is not in its live phase (agent; from JDK 9 on, whose service thread has a name); end: behind VMDeath (agent). */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <jvmti.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_at(const char *place)
{
    const char *at = getenv("STARTS_AT");
    return at != NULL && strcmp(at, place) == 0;
}

static void hold(void)
{
    const char *fifo = getenv("STARTS_FIFO");
    int fd = fifo != NULL ? open(fifo, O_RDONLY | O_CLOEXEC) : -1;
    char byte;
    if (fd >= 0) {
        (void)!read(fd, &byte, 1);
        (void)close(fd);
        (void)unlink(fifo);
    }
}

__attribute__((constructor)) static void begin(void)
{
    if (is_at("program")) {
        hold();
    }
}

/* Not a shell that runs the JVM. */
static bool is_vm(void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) != 0 && strstr(info.dli_fname, "/libjvm.so") != NULL;
}

int sigaction(int number, const struct sigaction *to, struct sigaction *was)
{
    static int (*real)(int, const struct sigaction *, struct sigaction *);
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "sigaction");
    }
    if (number == SIGQUIT && to != NULL && is_at("signals") && is_vm(__builtin_return_address(0))) {
        hold();
    }
    return real(number, to, was);
}

static bool has_thread(const char *name)
{
    bool has = false;
    char file[300], comm[32];
    DIR *all = opendir("/proc/self/task");
    for (struct dirent *d; all != NULL && (d = readdir(all)) != NULL;) {
        (void)snprintf(file, sizeof file, "/proc/self/task/%s/comm", d->d_name);
        FILE *f = fopen(file, "re");
        has = has || (f != NULL && fgets(comm, sizeof comm, f) != NULL && strncmp(comm, name, strlen(name)) == 0);
        if (f != NULL) {
            (void)fclose(f);
        }
    }
    if (all != NULL) {
        (void)closedir(all);
    }
    return has;
}

static void JNICALL on_class(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass klass)
{
    (void)env, (void)thread, (void)klass;
    jvmtiPhase phase;
    if ((*jvmti)->GetPhase(jvmti, &phase) == JVMTI_ERROR_NONE && phase == JVMTI_PHASE_START && has_thread("Service Thread")) {
        hold();
    }
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)options, (void)reserved;
    jvmtiEnv *jvmti;
    const jvmtiEventCallbacks cb = {.ClassPrepare = on_class};
    if (!is_at("live")) {
        return JNI_OK;
    }
    return (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) == JNI_OK &&
                   (*jvmti)->SetEventCallbacks(jvmti, &cb, sizeof cb) == JVMTI_ERROR_NONE &&
                   (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, NULL) == JVMTI_ERROR_NONE
               ? JNI_OK
               : JNI_ERR;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
    (void)vm;
    if (is_at("end")) {
        hold();
    }
}
