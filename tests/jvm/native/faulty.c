/* SPDX-License-Identifier: BSD-2-Clause */
/* faulty.c: to be preloaded: an AsyncGetCallTrace that is found before libjvm's, forwards to it, and goes wrong on every n-th call that
 * found a stack. HPX_FAULTY=KIND:N:FILE; how often it went wrong is written to FILE when the process ends.
 *
 * segv, bus, wild (an address that is none: the kernel tells no si_addr), jump (to an address without code): a fault of the walk.
 * first: a fault of the first call of all, the agent's test of itself.
 * safefetch: the method in the interrupted interpreter frame is an address without memory while libjvm is asked again: the VM looks at it
 * through SafeFetch, which faults by design. */
#include <dlfcn.h>
#include <fcntl.h>
#include <jni.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

struct frame {
    int line;
    uintptr_t method;
};
struct trace {
    void *env;
    int n;
    struct frame *frames;
};

typedef void (*walker)(struct trace *, int, void *);
static _Atomic(walker) real;
static const char *kind, *file;
static unsigned every;
static atomic_uint calls, wrong;
static volatile char *beyond_file, *no_memory;

__attribute__((constructor)) static void begin(void)
{
    static char spec[256];
    const char *env = getenv("HPX_FAULTY");
    char *n, *f;
    snprintf(spec, sizeof spec, "%s", env ? env : "none:1:/dev/null");
    n = strchr(spec, ':');
    f = n ? strchr(n + 1, ':') : NULL;
    if (f == NULL) {
        abort();
    }
    *n = *f = '\0';
    every = (unsigned)atoi(n + 1);
    file = f + 1;
    kind = spec;
    no_memory = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *empty = tmpfile();
    beyond_file = empty ? mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(empty), 0) : MAP_FAILED;
}

/* The program loads the library once more, by System.loadLibrary: libjvm is there then. */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    (void)vm, (void)reserved;
    void *jvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD), *sym = jvm ? dlsym(jvm, "AsyncGetCallTrace") : NULL;
    if (sym == NULL) {
        return JNI_ERR;
    }
    walker found;
    memcpy(&found, &sym, sizeof found);
    atomic_store(&real, found);
    return JNI_VERSION_1_6;
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    int fd = file ? open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd >= 0) {
        int n = snprintf(text, sizeof text, "%u\n", atomic_load(&wrong));
        ssize_t done = atomic_load(&calls) ? write(fd, text, (size_t)n) : 0;
        (void)done;
        close(fd);
    }
}

static int probe(struct trace *t, int depth, ucontext_t *u)
{
#if defined(__x86_64__)
    uintptr_t fp = (uintptr_t)u->uc_mcontext.gregs[REG_RBP], sp = (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
#else
    uintptr_t fp = (uintptr_t)u->uc_mcontext.regs[29], sp = (uintptr_t)u->uc_mcontext.sp;
#endif
    uintptr_t *method = (uintptr_t *)fp - 3;
    if (fp <= sp || fp - sp > 65536 || (fp & 7) || *method != *(uintptr_t *)t->frames[0].method) {
        return 0; /* not stopped in an interpreter frame */
    }
    struct frame none[4];
    struct trace again = {t->env, 0, none};
    uintptr_t was = *method;
    *method = (uintptr_t)no_memory + 4096;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_load (&real)(&again, depth < 4 ? depth : 4, u);
    *method = was;
    return 1;
}

static void go_wrong(struct trace *t, int depth, ucontext_t *u)
{
    if (strcmp(kind, "safefetch") == 0) {
        atomic_fetch_add(&wrong, (unsigned)probe(t, depth, u));
        return;
    }
    atomic_fetch_add(&wrong, 1);
    if (strcmp(kind, "segv") == 0) {
        *no_memory = 1;
    } else if (strcmp(kind, "bus") == 0) {
        (void)*beyond_file;
    } else if (strcmp(kind, "wild") == 0) {
        (void)*(volatile char *)0x1234567812345678;
    } else if (strcmp(kind, "jump") == 0) {
        void *to = (void *)(uintptr_t)no_memory;
        void (*nowhere)(void);
        memcpy(&nowhere, &to, sizeof nowhere);
        nowhere();
    }
}

__attribute__((visibility("default"))) void AsyncGetCallTrace(struct trace *t, int depth, void *context);
__attribute__((visibility("default"))) void AsyncGetCallTrace(struct trace *t, int depth, void *context)
{
    walker walk = atomic_load(&real);
    t->n = 0;
    if (strcmp(kind, "first") == 0 && atomic_fetch_add(&calls, 1) == 0) {
        atomic_fetch_add(&wrong, 1);
        *no_memory = 1;
    }
    if (walk == NULL) {
        return;
    }
    walk(t, depth, context);
    if (t->n > 0 && strcmp(kind, "none") != 0 && atomic_fetch_add(&calls, 1) % every == every - 1) {
        go_wrong(t, depth, context);
    }
}
