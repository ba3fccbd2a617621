// SPDX-License-Identifier: BSD-2-Clause
/* shares.c: native functions that use CPU time 60 : 30 : 10, one of them with a frame of no constant size, called from Java directly and
 * through C that calls Java back; and a deep recursion, one that calls Java back, code that switches to a stack of its own, also to the end
 * of one, code that is made while it runs, and a library that comes and goes. */
#include <dlfcn.h>
#include <jni.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))

static uint64_t spent[3];
static volatile uint64_t sink;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#define SPIN(n)                                                                                                                            \
    uint64_t x = 7;                                                                                                                        \
    for (uint64_t i = 0; i < (n); i++) {                                                                                                   \
        x ^= x << 13;                                                                                                                      \
        x ^= x >> 7;                                                                                                                       \
        x ^= x << 17;                                                                                                                      \
    }                                                                                                                                      \
    sink += x

NOINLINE void shares_sixty(uint64_t n)
{
    SPIN(6 * n);
}

NOINLINE void shares_thirty(uint64_t n)
{
    volatile char *room = __builtin_alloca(n % 64 + 16);
    room[n % 64] = 1;
    SPIN(3 * n);
}

NOINLINE void shares_ten(uint64_t n)
{
    SPIN(n);
}

JNIEXPORT void JNICALL Java_NativeShares_work(JNIEnv *env, jclass klass, jint n)
{
    (void)env, (void)klass;
    uint64_t t0 = now();
    shares_sixty((uint64_t)n);
    uint64_t t1 = now();
    shares_thirty((uint64_t)n);
    uint64_t t2 = now();
    shares_ten((uint64_t)n);
    uint64_t t3 = now();
    spent[0] += t1 - t0;
    spent[1] += t2 - t1;
    spent[2] += t3 - t2;
}

NOINLINE void shares_up(JNIEnv *env, jclass klass, jmethodID back, jint n)
{
    (*env)->CallStaticVoidMethod(env, klass, back, n);
    sink++;
}

JNIEXPORT void JNICALL Java_NativeShares_through(JNIEnv *env, jclass klass, jint n)
{
    shares_up(env, klass, (*env)->GetStaticMethodID(env, klass, "back", "(I)V"), n);
    sink++;
}

JNIEXPORT jlong JNICALL Java_NativeShares_spent(JNIEnv *env, jclass klass, jint i)
{
    (void)env, (void)klass;
    return (jlong)spent[i];
}

NOINLINE int shares_deep(int depth, uint64_t n)
{
    volatile int local = depth;
    if (depth > 0) {
        return shares_deep(depth - 1, n) + local;
    }
    SPIN(n);
    return local;
}

JNIEXPORT void JNICALL Java_NativeShares_deep(JNIEnv *env, jclass klass, jint depth, jint n)
{
    (void)env, (void)klass;
    sink += (uint64_t)shares_deep(depth, (uint64_t)n);
}

struct back {
    JNIEnv *env;
    jclass klass;
    jmethodID method;
    jint n;
};

NOINLINE int shares_deeper(int depth, const struct back *to)
{
    volatile int local = depth;
    if (depth > 0) {
        return shares_deeper(depth - 1, to) + local;
    }
    (*to->env)->CallStaticVoidMethod(to->env, to->klass, to->method, to->n);
    return local;
}

JNIEXPORT void JNICALL Java_NativeShares_deeper(JNIEnv *env, jclass klass, jint depth, jint n)
{
    const struct back to = {env, klass, (*env)->GetStaticMethodID(env, klass, "back", "(I)V"), n};
    sink += (uint64_t)shares_deeper(depth, &to);
}

static ucontext_t here, there;
static uint64_t there_n;

NOINLINE void shares_there(void)
{
    SPIN(there_n);
    swapcontext(&there, &here);
}

/* A coroutine: the stack pointer is outside of the thread's stack. */
JNIEXPORT void JNICALL Java_NativeShares_elsewhere(JNIEnv *env, jclass klass, jint n)
{
    (void)env, (void)klass;
    enum { STACK = 65536 };
    char *stack = malloc(STACK);
    memset(stack, 0x5a, STACK);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = STACK;
    there.uc_link = &here;
    there_n = (uint64_t)n;
    makecontext(&there, shares_there, 0);
    swapcontext(&here, &there);
    free(stack);
}

/* Code of no library, without a table: counts down. */
static void (*made_code(void))(uint64_t n)
{
#if defined(__x86_64__)
    static const uint8_t code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3}; /* dec %rdi; jnz; ret */
#else
    static const uint32_t code[] = {0xf1000400, 0x54ffffe1, 0xd65f03c0}; /* subs x0, x0, #1; b.ne; ret */
#endif
    static void (*volatile made)(uint64_t n);
    if (made == NULL) {
        void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(p, code, sizeof code);
        mprotect(p, 4096, PROT_READ | PROT_EXEC);
        __builtin___clear_cache((char *)p, (char *)p + sizeof code);
        *(void **)&made = p;
    }
    return made;
}

JNIEXPORT void JNICALL Java_NativeShares_nowhere(JNIEnv *env, jclass klass, jint n)
{
    (void)env, (void)klass;
    made_code()((uint64_t)n);
    sink++;
}

/* The same at the end of a stack of its own, behind which nothing can be read: where the tables look for this function's caller. */
JNIEXPORT void JNICALL Java_NativeShares_edge(JNIEnv *env, jclass klass, jint n)
{
    (void)env, (void)klass;
    enum { STACK = 262144, GUARD = 65536 };
    char *low = mmap(NULL, STACK + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(low + STACK, GUARD, PROT_NONE);
    void (*code)(uint64_t) = made_code();
#if defined(__x86_64__)
    register uint64_t count __asm__("rdi") = (uint64_t)n;
    __asm__ volatile("mov %%rsp, %%rbx\n\tmov %[end], %%rsp\n\tcall *%[code]\n\tmov %%rbx, %%rsp"
                     : "+r"(count)
                     : [end] "r"(low + STACK), [code] "r"(code)
                     : "rbx", "memory", "cc");
#else
    register uint64_t count __asm__("x0") = (uint64_t)n;
    __asm__ volatile("mov x19, sp\n\tmov sp, %[end]\n\tblr %[code]\n\tmov sp, x19"
                     : "+r"(count)
                     : [end] "r"(low + STACK), [code] "r"(code)
                     : "x19", "x30", "memory", "cc");
#endif
    munmap(low, STACK + GUARD);
    sink++;
}

/* Loads the library, calls it, and lets it go. */
JNIEXPORT void JNICALL Java_NativeShares_passing(JNIEnv *env, jclass klass, jstring path, jint n)
{
    (void)klass;
    const char *file = (*env)->GetStringUTFChars(env, path, NULL);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    uint64_t (*run)(uint64_t);
    *(void **)&run = library != NULL ? dlsym(library, "passing_run") : NULL;
    if (run != NULL) {
        sink += run((uint64_t)n);
        dlclose(library);
    }
    (*env)->ReleaseStringUTFChars(env, path, file);
}
