/* SPDX-License-Identifier: BSD-2-Clause */
/* faults.c: preloaded into a JVM, makes calls of libc fail that the agent's own library makes; those of the program and of the JVM pass.
 * imports.py says which, and with what.
 *
 * HPX_FAULTS=KIND:K[+]:HOW,...  the K-th call (from 1) of that kind, with + each from it on; PLANS of them. HOW: an error as a number, or
 *                               `short` (half of the bytes are taken). `-`: nothing is counted until a test says so.
 * HPX_FAULTS_FILE=PATH          struct control, which a test reads and writes while the program runs. Shared: a child counts too.
 *
 * A caller is the agent if the return address lies in libhprofx.so. Any thread, signal handlers, the child of a heap dump: relaxed atomics
 * alone, and every function is looked up at load. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jvmti.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Beside functions: memory: malloc, calloc, realloc, posix_memalign and mmap together. tmpfile: open with O_TMPFILE, also counted as open.
 * write: to any descriptor but 2; say: to 2. vm: functions of JVMTI, and attaching, once the agent was loaded while the program runs. */
/* clang-format off */
#define SYSCALLS(X) \
    X(perf_event_open) X(clone) X(openat) X(write) X(close) X(getdents64) X(mremap) X(futex) X(membarrier) X(rt_tgsigqueueinfo)
#define KINDS(X) \
    X(malloc) X(calloc) X(realloc) X(posix_memalign) X(mmap) \
    X(memory) X(open) X(tmpfile) X(write) X(say) X(read) X(pread) X(pwrite) X(send) X(recv) \
    X(accept4) X(bind) X(fchmod) X(listen) X(close) X(fclose) X(shutdown) X(waitpid) X(pthread_attr_init) X(pthread_condattr_init) X(clock_gettime) \
    X(clock_getres) X(clock_nanosleep) X(connect) X(dlopen) X(dlsym) X(eventfd) X(fcntl) X(fgets) X(flock) X(fopen) X(fstat) \
    X(ftruncate) X(getaddrinfo) X(gethostname) X(getpeername) X(getrlimit) X(getrusage) X(getsockname) X(getsockopt) X(ioctl) X(linkat) X(lstat) \
    X(madvise) X(mkostemp) X(mprotect) X(munmap) X(nanosleep) X(opendir) X(pipe2) X(poll) X(prctl) X(process_vm_readv) \
    X(pthread_cond_init) X(pthread_cond_timedwait) X(pthread_create) X(pthread_getattr_np) X(pthread_mutex_init) X(pthread_mutex_trylock) \
    X(pthread_setname_np) X(readdir) X(readlinkat) X(register_atfork) X(rename) X(sched_getaffinity) X(sched_getcpu) \
    X(sched_setaffinity) X(sem_clockwait) X(setsockopt) X(sigaction) X(socket) X(strdup) X(sysconf) X(timer_create) X(timer_settime) \
    X(tsearch) X(unlink) X(vm)
/* clang-format on */

enum kind {
#define ENUM(name)         KIND_##name,
#define ENUM_SYSCALL(name) KIND_sys_##name,
    KINDS(ENUM) SYSCALLS(ENUM_SYSCALL) KIND_COUNT
};

enum { HOW_SHORT = -1000, RANGES = 4, PLANS = 3 };

struct plan {
    int32_t kind, how; /* kind -1: none */
    uint64_t k, onward;
};

static struct control {
    _Atomic uint32_t armed; /* nothing is counted or fails while it is 0; a test writes the rest only then */
    uint32_t kinds;
    struct plan plan[PLANS];
    struct {
        char name[32];
        _Atomic uint64_t calls, injected;
    } of[KIND_COUNT];
} nowhere, *control = &nowhere;

static struct {
    _Atomic uintptr_t low, high; /* of a library whose calls count; high is stored last (release: learn; acquire: counts) */
} ranges[RANGES];

static bool counts(const void *caller)
{
    uintptr_t a = (uintptr_t)caller;
    for (int i = 0; i < RANGES; i++) {
        if (a < atomic_load_explicit(&ranges[i].high, memory_order_acquire) &&
            a >= atomic_load_explicit(&ranges[i].low, memory_order_relaxed)) {
            return atomic_load_explicit(&control->armed, memory_order_acquire) != 0;
        }
    }
    return false;
}

static int count(enum kind kind)
{
    uint64_t n = atomic_fetch_add_explicit(&control->of[kind].calls, 1, memory_order_relaxed) + 1;
    for (int i = 0; i < PLANS; i++) {
        const struct plan *p = &control->plan[i];
        if (p->kind == (int)kind && (p->onward != 0 ? n >= p->k : n == p->k)) {
            atomic_fetch_add_explicit(&control->of[kind].injected, 1, memory_order_relaxed);
            return p->how;
        }
    }
    return 0;
}

/* 0: the call passes. */
static int fault(enum kind kind, const void *caller)
{
    if (!counts(caller)) {
        return 0;
    }
    int how = count(kind);
    return how == 0 && kind < KIND_memory ? count(KIND_memory) : how;
}

/* true: fails, errno is set. */
static bool fails(enum kind kind, const void *caller)
{
    int how = fault(kind, caller);
    if (how != 0) {
        errno = how;
    }
    return how != 0;
}

/* ---- the functions that are replaced ---- */

struct real {
    const char *name;
    void *_Atomic f;
};

/* Not dlsym(), which is replaced below. */
static void *find(const char *name)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    /* of conditions, timers and sched_*affinity on x86-64: until glibc 2.36 dlsym() finds the function of before that version */
    static const char *const replaced[] = {"GLIBC_2.3.4", "GLIBC_2.3.3", "GLIBC_2.3.2"};
    static void *(*_Atomic real_dlsym)(void *, const char *);
    void *(*look)(void *, const char *) = atomic_load_explicit(&real_dlsym, memory_order_relaxed);
    for (unsigned i = 0; look == NULL && i < sizeof versions / sizeof versions[0]; i++) {
        look = (__typeof__(look))dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        atomic_store_explicit(&real_dlsym, look, memory_order_relaxed);
    }
    if (look == NULL || strcmp(name, "dlsym") == 0) {
        return (void *)look;
    }
    void *f = NULL;
    for (unsigned i = 0; f == NULL && i < sizeof replaced / sizeof replaced[0]; i++) {
        f = dlvsym(RTLD_NEXT, name, replaced[i]);
    }
    return f != NULL ? f : look(RTLD_NEXT, name);
}

static void *real(struct real *r)
{
    void *f = atomic_load_explicit(&r->f, memory_order_relaxed);
    if (f == NULL) {
        f = find(r->name);
        atomic_store_explicit(&r->f, f, memory_order_relaxed);
    }
    return f;
}

#define CALLER     __builtin_return_address(0)
#define REAL(name) ((__typeof__(&wrap_##name))real(&real_##name))
/* The assembler's name: the headers' declaration does not matter, and a variadic function may have the arguments that it takes at most. */
#define WRAP(type, name, params)                                                                                                           \
    static struct real real_##name __attribute__((section("reals"), used)) = {#name, NULL};                                                \
    __attribute__((visibility("default"))) type wrap_##name params __asm__(#name);                                                         \
    type wrap_##name params
#define PASS(kind, type, name, params, args, bad)                                                                                          \
    WRAP(type, name, params)                                                                                                               \
    {                                                                                                                                      \
        return fails(KIND_##kind, CALLER) ? (bad) : REAL(name) args;                                                                       \
    }
#define MINUS(name, params, args)     PASS(name, int, name, params, args, -1)      /* -1 and errno */
#define ERROR(name, params, args)     PASS(name, int, name, params, args, errno)   /* the error itself */
#define NOTHING(name, params, args)   PASS(name, void *, name, params, args, NULL) /* NULL and errno */
#define MINUS64(name, params, args)   MINUS(name, params, args) PASS(name, int, name##64, params, args, -1)
#define NOTHING64(name, params, args) NOTHING(name, params, args) PASS(name, void *, name##64, params, args, NULL)

/* Done all the same: a descriptor is gone whatever close() says, an attribute is set. */
#define AFTER(name, params, args, bad)                                                                                                     \
    WRAP(int, name, params)                                                                                                                \
    {                                                                                                                                      \
        int rc = REAL(name) args;                                                                                                          \
        return fails(KIND_##name, CALLER) ? (bad) : rc;                                                                                    \
    }

WRAP(void *, dlsym, (void *lib, const char *name))
{
    return fails(KIND_dlsym, CALLER) ? REAL(dlsym)(RTLD_DEFAULT, "injected by faults.c")
                                     : REAL(dlsym)(lib, name); /* a jump: it asks for the caller */
}

/* ---- the VM: the agent's environments get a table of functions that fail ---- */

/* But for what frees, and what only reads a word. */
/* clang-format off */
#define VM_FUNCTIONS(X) \
    X(SetEventNotificationMode) X(GetClassSignature) X(AddCapabilities) X(GetCurrentThread) X(GetStackTrace) X(GetLoadedClasses) \
    X(GetClassStatus) X(GetClassMethods) X(SetTag) X(ForceGarbageCollection) X(SetEventCallbacks) X(RetransformClasses) \
    X(GetThreadState) X(GetSystemProperty) X(GetObjectSize) X(GetMethodName) X(GetLineNumberTable) X(GetThreadGroupInfo) \
    X(GetMethodDeclaringClass) X(GetAllStackTraces) X(FollowReferences) X(Allocate) X(SetThreadLocalStorage) X(GetThreadInfo) \
    X(GetSourceFileName) X(GetImplementedInterfaces) X(GetFieldName) X(GetFieldModifiers) X(GetCurrentContendedMonitor) \
    X(GetClassLoader) X(GetClassFields) X(GenerateEvents) X(SuspendThread) X(SetExtensionEventCallback) X(IsModifiableClass) \
    X(GetThreadListStackTraces) X(GetOwnedMonitorInfo) X(GetObjectHashCode) X(GetJNIFunctionTable) X(GetFrameCount) X(GetAllThreads) \
    X(SetJNIFunctionTable) X(IterateThroughHeap) X(GetTopThreadGroups) X(GetThreadCpuTime) X(GetPotentialCapabilities) \
    X(GetObjectsWithTags) X(GetObjectMonitorUsage) X(GetLocalInstance) X(GetFrameLocation) X(GetExtensionEvents) X(GetClassModifiers) \
    X(CreateRawMonitor)
/* clang-format on */

static struct {
    const struct JNIInvokeInterface_ *real_vm;
    const struct jvmtiInterface_1_ *real_jvmti;
    struct JNIInvokeInterface_ vm;
    struct jvmtiInterface_1_ jvmti;
} tables;

/* None takes more than six words, or one that is no integer. */
typedef long(JNICALL *vm_function)(void *, long, long, long, long, long);
#define VM_FUNCTION(name)                                                                                                                  \
    static long JNICALL vm_##name(void *env, long a, long b, long c, long d, long e)                                                       \
    {                                                                                                                                      \
        int how = fault(KIND_vm, CALLER);                                                                                                  \
        return how != 0 ? how : ((vm_function)(void *)tables.real_jvmti->name)(env, a, b, c, d, e);                                        \
    }
VM_FUNCTIONS(VM_FUNCTION)

static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
    bool jvmti = (version & JVMTI_VERSION_MASK_INTERFACE_TYPE) == JVMTI_VERSION_INTERFACE_JVMTI;
    bool ours = counts(CALLER);
    if (jvmti && fault(KIND_vm, CALLER) != 0) {
        return JNI_EVERSION;
    }
    jint rc = tables.real_vm->GetEnv(vm, env, version);
    if (rc == JNI_OK && jvmti && ours) {
        *(jvmtiEnv *)*env = &tables.jvmti;
    }
    return rc;
}

static jint JNICALL attach(JavaVM *vm, void **env, void *args)
{
    return fault(KIND_vm, CALLER) != 0 ? JNI_ERR : tables.real_vm->AttachCurrentThreadAsDaemon(vm, env, args);
}

static void hook_vm(void)
{
    JavaVM *vm = NULL;
    jvmtiEnv *jvmti = NULL;
    jsize n = 0;
    jint (*created)(JavaVM **, jsize, jsize *) = (jint(*)(JavaVM **, jsize, jsize *))REAL(dlsym)(RTLD_DEFAULT, "JNI_GetCreatedJavaVMs");
    if (tables.real_vm != NULL || created == NULL || created(&vm, 1, &n) != JNI_OK || n != 1 ||
        (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK) {
        return;
    }
    tables.real_jvmti = *jvmti;
    tables.jvmti = **jvmti;
#define REPLACE(name) tables.jvmti.name = (void *)vm_##name;
    VM_FUNCTIONS(REPLACE)
    (*jvmti)->DisposeEnvironment(jvmti);
    tables.real_vm = *vm;
    tables.vm = **vm;
    tables.vm.GetEnv = get_env;
    tables.vm.AttachCurrentThreadAsDaemon = attach;
    *vm = &tables.vm;
}

/* ---- which library is the agent ---- */

static int learn_one(struct dl_phdr_info *info, size_t size, void *at)
{
    (void)size;
    int *used = at;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (strcmp(slash ? slash + 1 : info->dlpi_name, "libhprofx.so") != 0 || *used == RANGES) {
        return 0;
    }
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
            uintptr_t begin = info->dlpi_addr + p->p_vaddr;
            low = begin < low ? begin : low;
            high = begin + p->p_memsz > high ? begin + p->p_memsz : high;
        }
    }
    atomic_store_explicit(&ranges[*used].low, low, memory_order_relaxed);
    atomic_store_explicit(&ranges[*used].high, high, memory_order_release); /* partner: counts */
    ++*used;
    return 0;
}

/* One that fails sets dlerror(). */
WRAP(void *, dlopen, (const char *name, int flags))
{
    if (fails(KIND_dlopen, CALLER)) {
        return REAL(dlopen)("/nonexistent/injected", RTLD_NOW);
    }
    void *lib = REAL(dlopen)(name, flags);
    if (lib != NULL && name != NULL && strstr(name, "libhprofx") != NULL) {
        int used = 0;
        dl_iterate_phdr(learn_one, &used);
        hook_vm();
    }
    return lib;
}

/* ---- memory: before anything was looked up ---- */

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

WRAP(void *, malloc, (size_t n))
{
    return fails(KIND_malloc, CALLER) ? NULL : __libc_malloc(n);
}

WRAP(void *, calloc, (size_t n, size_t size))
{
    return fails(KIND_calloc, CALLER) ? NULL : __libc_calloc(n, size);
}

WRAP(void *, realloc, (void *p, size_t n))
{
    return fails(KIND_realloc, CALLER) ? NULL : __libc_realloc(p, n);
}

WRAP(int, posix_memalign, (void **p, size_t align, size_t n))
{
    int how = fault(KIND_posix_memalign, CALLER);
    void *got = how == 0 ? __libc_memalign(align, n) : NULL;
    *p = got != NULL ? got : *p;
    return got != NULL ? 0 : how != 0 ? how : ENOMEM;
}

#define MMAP_PARAMS (void *at, size_t n, int prot, int flags, int fd, off_t offset)
PASS(mmap, void *, mmap, MMAP_PARAMS, (at, n, prot, flags, fd, offset), MAP_FAILED)
PASS(mmap, void *, mmap64, MMAP_PARAMS, (at, n, prot, flags, fd, offset), MAP_FAILED)
MINUS(madvise, (void *at, size_t n, int how), (at, n, how))
MINUS(mprotect, (void *at, size_t n, int prot), (at, n, prot))
MINUS(munmap, (void *at, size_t n), (at, n))
NOTHING(strdup, (const char *s), (s))
NOTHING(tsearch, (const void *key, void **root, int (*compare)(const void *, const void *)), (key, root, compare))

/* ---- files ---- */

static bool open_fails(int flags, const void *caller)
{
    return fails(KIND_open, caller) || ((flags & O_TMPFILE) == O_TMPFILE && fails(KIND_tmpfile, caller));
}

WRAP(int, open, (const char *path, int flags, int mode))
{
    return open_fails(flags, CALLER) ? -1 : REAL(open)(path, flags, mode);
}

WRAP(int, open64, (const char *path, int flags, int mode))
{
    return open_fails(flags, CALLER) ? -1 : REAL(open64)(path, flags, mode);
}

/* -1: fails; else how many bytes the real call may take. */
static ssize_t taken(enum kind kind, size_t n, const void *caller)
{
    int how = fault(kind, caller);
    if (how == HOW_SHORT) {
        return n > 1 ? (ssize_t)(n / 2) : (ssize_t)n;
    }
    errno = how != 0 ? how : errno;
    return how != 0 ? -1 : (ssize_t)n;
}

#define BYTES(kind, name, params, args)                                                                                                    \
    WRAP(ssize_t, name, params)                                                                                                            \
    {                                                                                                                                      \
        ssize_t k = fd == atomic_load_explicit(&event_fd, memory_order_relaxed) ? (ssize_t)n : taken(kind, n, CALLER);                     \
        return k < 0 ? -1 : REAL(name) args;                                                                                               \
    }
/* An eventfd takes every write: its descriptor is no file. */
static _Atomic int event_fd = -1;

WRAP(int, eventfd, (unsigned n, int flags))
{
    bool ours = counts(CALLER);
    int fd = fails(KIND_eventfd, CALLER) ? -1 : REAL(eventfd)(n, flags);
    if (ours) {
        atomic_store_explicit(&event_fd, fd, memory_order_relaxed);
    }
    return fd;
}

BYTES(fd == 2 ? KIND_say : KIND_write, write, (int fd, const void *p, size_t n), (fd, p, (size_t)k))
BYTES(KIND_read, read, (int fd, void *p, size_t n), (fd, p, (size_t)k))
BYTES(KIND_pread, pread, (int fd, void *p, size_t n, off_t at), (fd, p, (size_t)k, at))
BYTES(KIND_pread, pread64, (int fd, void *p, size_t n, off_t at), (fd, p, (size_t)k, at))
BYTES(KIND_pwrite, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, (size_t)k, at))
BYTES(KIND_pwrite, pwrite64, (int fd, const void *p, size_t n, off_t at), (fd, p, (size_t)k, at))
BYTES(KIND_send, send, (int fd, const void *p, size_t n, int flags), (fd, p, (size_t)k, flags))
BYTES(KIND_recv, recv, (int fd, void *p, size_t n, int flags), (fd, p, (size_t)k, flags))

AFTER(close, (int fd), (fd), -1)
AFTER(fclose, (void *f), (f), EOF)
MINUS64(fcntl, (int fd, int command, long arg), (fd, command, arg))
MINUS(flock, (int fd, int operation), (fd, operation))
/* Functions from glibc 2.33 on, and under other names before, by which the library calls them: no libc has all, the kernel has. */
#define STAT(kind, name, params, ...)                                                                                                      \
    __attribute__((visibility("default"))) int wrap_##name params __asm__(#name);                                                          \
    int wrap_##name params                                                                                                                 \
    {                                                                                                                                      \
        return fails(KIND_##kind, CALLER) ? -1 : (int)syscall(__VA_ARGS__);                                                                \
    }
#define FSTAT(name, ...) STAT(fstat, name, (__VA_ARGS__ int fd, void *st), SYS_fstat, fd, st)
#define LSTAT(name, ...)                                                                                                                   \
    STAT(lstat, name, (__VA_ARGS__ const char *path, void *st), SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW)
#define VERSION int version __attribute__((unused)),
FSTAT(fstat)
FSTAT(fstat64)
FSTAT(__fxstat, VERSION)
LSTAT(lstat)
LSTAT(lstat64)
LSTAT(__lxstat, VERSION)
MINUS64(ftruncate, (int fd, off_t n), (fd, n))
MINUS(ioctl, (int fd, unsigned long request, long arg), (fd, request, arg))
MINUS64(mkostemp, (char *name, int flags), (name, flags))
MINUS(linkat, (int from, const char *path, int to, const char *name, int flags), (from, path, to, name, flags))
MINUS(rename, (const char *from, const char *to), (from, to))
MINUS(unlink, (const char *path), (path))
MINUS(pipe2, (int *fds, int flags), (fds, flags))
MINUS(poll, (void *fds, unsigned long n, int ms), (fds, n, ms))
NOTHING64(fopen, (const char *path, const char *mode), (path, mode))
NOTHING(fgets, (char *to, int n, void *f), (to, n, f))
PASS(process_vm_readv, ssize_t, process_vm_readv,
     (int pid, const void *to, unsigned long n, const void *from, unsigned long m, unsigned long flags), (pid, to, n, from, m, flags), -1)
PASS(readlinkat, ssize_t, readlinkat, (int dir, const char *path, char *to, size_t n), (dir, path, to, n), -1)
NOTHING(opendir, (const char *path), (path))
NOTHING64(readdir, (void *dir), (dir))

/* ---- sockets ---- */

MINUS(socket, (int family, int type, int protocol), (family, type, protocol))
MINUS(accept4, (int fd, void *from, void *n, int flags), (fd, from, n, flags))
MINUS(bind, (int fd, const void *to, unsigned n), (fd, to, n))
MINUS(listen, (int fd, int backlog), (fd, backlog))
MINUS(fchmod, (int fd, unsigned mode), (fd, mode))
MINUS(connect, (int fd, const void *to, unsigned n), (fd, to, n))
MINUS(getpeername, (int fd, void *to, void *n), (fd, to, n))
MINUS(getsockname, (int fd, void *to, void *n), (fd, to, n))
MINUS(getsockopt, (int fd, int level, int name, void *to, void *n), (fd, level, name, to, n))
MINUS(setsockopt, (int fd, int level, int name, const void *value, unsigned n), (fd, level, name, value, n))
AFTER(shutdown, (int fd, int how), (fd, how), -1)
ERROR(getaddrinfo, (const char *host, const char *port, const void *hints, void *to), (host, port, hints, to))
MINUS(gethostname, (char *to, size_t n), (to, n))

/* ---- threads and processes ---- */

AFTER(pthread_attr_init, (void *attr), (attr), errno)
AFTER(pthread_condattr_init, (void *attr), (attr), errno)
ERROR(pthread_cond_init, (void *c, const void *attr), (c, attr))
ERROR(pthread_cond_timedwait, (void *c, void *m, const void *until), (c, m, until))
ERROR(pthread_create, (void *id, const void *attr, void *(*run)(void *), void *arg), (id, attr, run, arg))
ERROR(pthread_getattr_np, (unsigned long id, void *attr), (id, attr))
ERROR(pthread_mutex_init, (void *m, const void *attr), (m, attr))
ERROR(pthread_mutex_trylock, (void *m), (m))
ERROR(pthread_setname_np, (unsigned long id, const char *name), (id, name))
PASS(register_atfork, int, __register_atfork, (void (*a)(void), void (*b)(void), void (*c)(void), void *dso), (a, b, c, dso), errno)
MINUS(getrusage, (int who, void *to), (who, to))
MINUS64(getrlimit, (int what, void *to), (what, to))
MINUS(prctl, (int what, long a, long b, long c, long d), (what, a, b, c, d))
MINUS(sched_getaffinity, (int pid, size_t n, void *set), (pid, n, set))
MINUS(sched_setaffinity, (int pid, size_t n, const void *set), (pid, n, set))
MINUS(sched_getcpu, (void), ())
MINUS(sem_clockwait, (void *s, int clock, const void *until), (s, clock, until))
MINUS(sigaction, (int sig, const void *to, void *was), (sig, to, was))
PASS(sysconf, long, sysconf, (int name), (name), -1)
PASS(sysconf, long, __sysconf, (int name), (name), -1)

/* ECHILD: somebody else has reaped it. */
WRAP(int, waitpid, (int pid, int *status, int options))
{
    int how = fault(KIND_waitpid, CALLER);
    int got = how == EINTR ? -1 : REAL(waitpid)(pid, status, options);
    errno = how != 0 && got != 0 ? how : errno;
    return how != 0 && got != 0 ? -1 : got;
}

/* ---- time ---- */

/* Only clocks of other threads and processes, which end. */
WRAP(int, clock_gettime, (int clock, void *to))
{
    return clock < 0 && fails(KIND_clock_gettime, CALLER) ? -1 : REAL(clock_gettime)(clock, to);
}
MINUS(clock_getres, (int clock, void *to), (clock, to))
ERROR(clock_nanosleep, (int clock, int flags, const void *time, void *left), (clock, flags, time, left))
MINUS(nanosleep, (const void *time, void *left), (time, left))
MINUS(timer_create, (int clock, void *event, void *timer), (clock, event, timer))
MINUS(timer_settime, (void *timer, int flags, const void *to, void *was), (timer, flags, to, was))

/* ---- system calls ---- */

static const struct {
    long number;
    enum kind kind;
} syscalls[] = {
#define NUMBER(name) {SYS_##name, KIND_sys_##name},
    SYSCALLS(NUMBER)};

WRAP(long, syscall, (long number, long a, long b, long c, long d, long e, long f))
{
    long done = number == SYS_close ? REAL(syscall)(number, a, b, c, d, e, f) : 0;
    bool wakes = number == SYS_futex && (b & FUTEX_CMD_MASK) != FUTEX_WAIT && (b & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET;
    for (unsigned i = 0; i < sizeof syscalls / sizeof syscalls[0]; i++) {
        if (syscalls[i].number == number && !wakes && fails(syscalls[i].kind, CALLER)) {
            return -1;
        }
    }
    return number == SYS_close ? done : REAL(syscall)(number, a, b, c, d, e, f);
}

/* ---- the plan ---- */

static const char *const names[] = {
#define NAME(name)         #name,
#define NAME_SYSCALL(name) "sys_" #name,
    KINDS(NAME) SYSCALLS(NAME_SYSCALL)};

static void read_plan(struct plan *p, const char *text)
{
    size_t n = strcspn(text, ":");
    char *rest;
    p->kind = -1;
    for (int i = 0; i < KIND_COUNT; i++) {
        if (strlen(names[i]) == n && strncmp(names[i], text, n) == 0) {
            p->kind = i;
        }
    }
    p->k = text[n] != 0 ? strtoull(text + n + 1, &rest, 10) : 0;
    if (p->kind < 0 || p->k == 0) {
        fprintf(stderr, "faults.c: no such fault: %s\n", text);
        abort();
    }
    p->onward = *rest == '+';
    rest += p->onward;
    p->how = strncmp(rest, ":short", 6) == 0 ? HOW_SHORT : atoi(rest + (*rest == ':'));
    if (p->how == 0) {
        abort();
    }
}

/* false: a process that the program began has the file already. */
static bool open_control(const char *path)
{
    int fd = REAL(open)(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0 || (st.st_size == 0 && REAL(ftruncate)(fd, sizeof nowhere) != 0)) {
        abort(); /* a test that cannot count proves nothing */
    }
    void *p = REAL(mmap)(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        abort();
    }
    REAL(close)(fd);
    control = p;
    return st.st_size == 0;
}

extern struct real __start_reals[] __attribute__((visibility("hidden"))), __stop_reals[] __attribute__((visibility("hidden")));

__attribute__((constructor)) static void prepare(void)
{
    const char *text = getenv("HPX_FAULTS"), *file = getenv("HPX_FAULTS_FILE");
    for (struct real *r = __start_reals; r < __stop_reals; r++) {
        if (real(r) == NULL) {
            fprintf(stderr, "faults.c: no %s here\n", r->name);
            abort();
        }
    }
    if (file == NULL || !open_control(file)) {
        return;
    }
    for (int i = 0; i < KIND_COUNT; i++) {
        (void)snprintf(control->of[i].name, sizeof control->of[i].name, "%s", names[i]);
    }
    for (int i = 0; i < PLANS; i++) {
        control->plan[i].kind = -1;
    }
    control->kinds = KIND_COUNT;
    bool armed = text == NULL || strcmp(text, "-") != 0;
    for (int i = 0; armed && text != NULL && *text != 0 && i < PLANS; i++) {
        read_plan(&control->plan[i], text);
        text += strcspn(text, ",");
        text += *text == ',';
    }
    atomic_store_explicit(&control->armed, armed, memory_order_release); /* partner: counts */
}
