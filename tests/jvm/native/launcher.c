/* SPDX-License-Identifier: BSD-2-Clause */
/* launcher.c: a C program that has a JVM: launcher LIBJVM main|thread VM_OPTION... -- CLASS ARGUMENT...: the JVM is created on the main
 * thread or another one, CLASS.main is run, the JVM destroyed; then C code runs on, with signals of its own timer. Exit code 7. */
#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static int argc_all;
static char **argv_all;

static void fail(const char *what)
{
    fprintf(stderr, "launcher: %s\n", what);
    exit(3);
}

static void run_main(JNIEnv *env, char **av, int ac)
{
    jclass c = (*env)->FindClass(env, av[0]);
    jmethodID m = c ? (*env)->GetStaticMethodID(env, c, "main", "([Ljava/lang/String;)V") : NULL;
    jclass string = (*env)->FindClass(env, "java/lang/String");
    if (m == NULL || string == NULL) {
        fail("no main");
    }
    jobjectArray a = (*env)->NewObjectArray(env, ac - 1, string, NULL);
    for (int i = 1; i < ac; i++) {
        (*env)->SetObjectArrayElement(env, a, i - 1, (*env)->NewStringUTF(env, av[i]));
    }
    (*env)->CallStaticVoidMethod(env, c, m, a);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionDescribe(env);
        fail("an exception");
    }
}

static void *life(void *unused)
{
    (void)unused;
    JavaVMOption options[32];
    int n = 0, i = 3;
    memset(options, 0, sizeof options);
    for (; i < argc_all && strcmp(argv_all[i], "--") != 0; i++) {
        options[n++].optionString = argv_all[i];
    }
    JavaVMInitArgs args = {JNI_VERSION_1_8, n, options, JNI_FALSE};
    void *lib = dlopen(argv_all[1], RTLD_NOW | RTLD_GLOBAL);
    jint (*create)(JavaVM **, void **, void *) = NULL;
    if (lib == NULL || (*(void **)&create = dlsym(lib, "JNI_CreateJavaVM")) == NULL) {
        fail("no JNI_CreateJavaVM");
    }
    JavaVM *vm;
    JNIEnv *env;
    if (create(&vm, (void **)&env, &args) != JNI_OK) {
        fail("no JVM");
    }
    run_main(env, argv_all + i + 1, argc_all - i - 1);
    if ((*vm)->DestroyJavaVM(vm) != JNI_OK) {
        fail("not destroyed");
    }
    return NULL;
}

static void burn(long ns)
{
    struct timespec t;
    long end = 0, now;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now = t.tv_sec * 1000000000L + t.tv_nsec;
        end = end ? end : now + ns;
    } while (now < end);
}

int main(int argc, char **argv)
{
    argc_all = argc;
    argv_all = argv;
    if (strcmp(argv[2], "thread") == 0) {
        pthread_t t;
        if (pthread_create(&t, NULL, life, NULL) != 0) {
            fail("no thread");
        }
        pthread_join(t, NULL);
    } else {
        life(NULL);
    }
    if (getenv("LAUNCHER_SIGNALS") != NULL) { /* without a handler of anybody they would end the process */
        struct itimerval often = {{0, 1000}, {0, 1000}};
        setitimer(ITIMER_PROF, &often, NULL);
        raise(SIGPROF);
    }
    burn(300000000L);
    printf("C goes on\n");
    return 7;
}
