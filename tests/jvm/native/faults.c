/* SPDX-License-Identifier: BSD-2-Clause */
/* faults.c: preloaded into a JVM, makes calls of libc fail that the agent's own library makes; those of the program and of the JVM pass.
 *
 * HPX_FAULTS=KIND:K[+]:HOW   the K-th call (from 1) of that kind, with + each from it on. HOW: an errno as a number, or `short` (write:
 *                            half of the bytes are taken).
 * HPX_FAULTS_FILE=PATH       two 64-bit numbers a kind, in the order of KINDS: calls, faults. A shared mapping: it survives every end.
 *
 * A caller is the agent if the return address lies in libhprofx.so. Any thread, signal handlers too: relaxed atomics alone. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* memory: each of malloc, calloc, realloc, memalign and mmap beside its own kind. write: to any descriptor but 2; say: to 2. */
/* clang-format off */
#define KINDS(X) \
    X(malloc) X(calloc) X(realloc) X(memalign) X(mmap) \
    X(open) X(write) X(say) X(fsync) X(pthread_create) \
    X(timer_create) X(timer_settime) X(perf_event_open) X(fopen) X(opendir) \
    X(strdup) X(rename) X(ftruncate) X(close) X(fcntl) \
    X(newlocale) X(sigaction) X(getattr) X(stat) X(flock) \
    X(atfork) X(memory)
/* clang-format on */

enum kind {
#define ENUM(name) KIND_##name,
    KINDS(ENUM)
#undef ENUM
        KIND_COUNT
};

enum { HOW_SHORT = -1, RANGES = 4 };

static const char *const names[] = {
#define NAME(name) #name,
    KINDS(NAME)
#undef NAME
};

static struct {
    _Atomic uintptr_t low[RANGES],
        high[RANGES]; /* of the libraries whose calls count; high is stored last (release: learn; acquire: counts) */
    int kind, how;
    uint64_t k;
    bool all_from_k;
} plan = {.kind = -1};

static struct tally {
    struct {
        _Atomic uint64_t calls, injected;
    } of[KIND_COUNT];
} nowhere, *tally = &nowhere;

static bool counts(const void *caller)
{
    uintptr_t a = (uintptr_t)caller;
    for (int i = 0; i < RANGES; i++) {
        if (a < atomic_load_explicit(&plan.high[i], memory_order_acquire) &&
            a >= atomic_load_explicit(&plan.low[i], memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

static int count(enum kind kind)
{
    uint64_t n = atomic_fetch_add_explicit(&tally->of[kind].calls, 1, memory_order_relaxed) + 1;
    if ((int)kind != plan.kind || (plan.all_from_k ? n < plan.k : n != plan.k)) {
        return 0;
    }
    atomic_fetch_add_explicit(&tally->of[kind].injected, 1, memory_order_relaxed);
    return plan.how;
}

/* 0: the call passes. */
static int fault(enum kind kind, const void *caller)
{
    if (!counts(caller)) {
        return 0;
    }
    int how = count(kind);
    return how == 0 && kind <= KIND_mmap ? count(KIND_memory) : how;
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

#define CALLER     __builtin_return_address(0)
#define REAL(name) ((__typeof__(&name))real(#name, &real_##name))
#define FIND(name) static void *_Atomic real_##name
#define EXPORT     __attribute__((visibility("default")))

static void *real(const char *name, void *_Atomic *to)
{
    void *f = atomic_load_explicit(to, memory_order_relaxed);
    if (f == NULL) {
        f = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(to, f, memory_order_relaxed);
    }
    return f;
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
    atomic_store_explicit(&plan.low[*used], low, memory_order_relaxed);
    atomic_store_explicit(&plan.high[*used], high, memory_order_release); /* partner: counts */
    ++*used;
    return 0;
}

FIND(dlopen);
EXPORT void *dlopen(const char *name, int flags)
{
    void *lib = REAL(dlopen)(name, flags);
    if (lib != NULL && name != NULL && strstr(name, "libhprofx") != NULL) {
        int used = 0;
        dl_iterate_phdr(learn_one, &used);
    }
    return lib;
}

/* ---- the calls ---- */

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

EXPORT void *malloc(size_t n)
{
    return fails(KIND_malloc, CALLER) ? NULL : __libc_malloc(n);
}

EXPORT void *calloc(size_t n, size_t size)
{
    return fails(KIND_calloc, CALLER) ? NULL : __libc_calloc(n, size);
}

EXPORT void *realloc(void *p, size_t n)
{
    return fails(KIND_realloc, CALLER) ? NULL : __libc_realloc(p, n);
}

EXPORT int posix_memalign(void **p, size_t align, size_t n)
{
    int how = fault(KIND_memalign, CALLER);
    if (how != 0) {
        return how;
    }
    void *got = __libc_memalign(align, n);
    if (got != NULL) {
        *p = got;
    }
    return got != NULL ? 0 : ENOMEM;
}

EXPORT void *aligned_alloc(size_t align, size_t n)
{
    return fails(KIND_memalign, CALLER) ? NULL : __libc_memalign(align, n);
}

FIND(mmap);
EXPORT void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    return fails(KIND_mmap, CALLER) ? MAP_FAILED : REAL(mmap)(at, n, prot, flags, fd, offset);
}

FIND(mmap64);
EXPORT void *mmap64(void *at, size_t n, int prot, int flags, int fd, off64_t offset)
{
    return fails(KIND_mmap, CALLER) ? MAP_FAILED : REAL(mmap64)(at, n, prot, flags, fd, offset);
}

static mode_t mode_of(int flags, va_list ap)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;
}

#define OPEN(name)                                                                                                                         \
    FIND(name);                                                                                                                            \
    EXPORT int name(const char *path, int flags, ...)                                                                                      \
    {                                                                                                                                      \
        va_list ap;                                                                                                                        \
        va_start(ap, flags);                                                                                                               \
        mode_t mode = mode_of(flags, ap);                                                                                                  \
        va_end(ap);                                                                                                                        \
        return fails(KIND_open, CALLER) ? -1 : REAL(name)(path, flags, mode);                                                              \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                                                       \
    FIND(name);                                                                                                                            \
    EXPORT int name(int dir, const char *path, int flags, ...)                                                                             \
    {                                                                                                                                      \
        va_list ap;                                                                                                                        \
        va_start(ap, flags);                                                                                                               \
        mode_t mode = mode_of(flags, ap);                                                                                                  \
        va_end(ap);                                                                                                                        \
        return fails(KIND_open, CALLER) ? -1 : REAL(name)(dir, path, flags, mode);                                                         \
    }
OPENAT(openat)
OPENAT(openat64)

/* -1: fails; else how many bytes the real call may take. */
static ssize_t taken(int fd, size_t n, const void *caller)
{
    int how = fault(fd == 2 ? KIND_say : KIND_write, caller);
    if (how == HOW_SHORT) {
        return n > 1 ? (ssize_t)(n / 2) : (ssize_t)n;
    }
    errno = how != 0 ? how : errno;
    return how != 0 ? -1 : (ssize_t)n;
}

FIND(write);
EXPORT ssize_t write(int fd, const void *p, size_t n)
{
    ssize_t k = taken(fd, n, CALLER);
    return k < 0 ? -1 : REAL(write)(fd, p, (size_t)k);
}

FIND(pwrite);
EXPORT ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    ssize_t k = taken(fd, n, CALLER);
    return k < 0 ? -1 : REAL(pwrite)(fd, p, (size_t)k, at);
}

FIND(pwrite64);
EXPORT ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
    ssize_t k = taken(fd, n, CALLER);
    return k < 0 ? -1 : REAL(pwrite64)(fd, p, (size_t)k, at);
}

/* Short: the first of the pieces. */
FIND(writev);
EXPORT ssize_t writev(int fd, const struct iovec *v, int n)
{
    ssize_t k = taken(fd, (size_t)n, CALLER);
    return k < 0 ? -1 : REAL(writev)(fd, v, (int)k);
}

FIND(fsync);
EXPORT int fsync(int fd)
{
    return fails(KIND_fsync, CALLER) ? -1 : REAL(fsync)(fd);
}

FIND(fdatasync);
EXPORT int fdatasync(int fd)
{
    return fails(KIND_fsync, CALLER) ? -1 : REAL(fdatasync)(fd);
}

FIND(pthread_create);
EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    int how = fault(KIND_pthread_create, CALLER);
    return how != 0 ? how : REAL(pthread_create)(id, attr, run, arg);
}

FIND(pthread_getattr_np);
EXPORT int pthread_getattr_np(pthread_t id, pthread_attr_t *attr)
{
    int how = fault(KIND_getattr, CALLER);
    return how != 0 ? how : REAL(pthread_getattr_np)(id, attr);
}

FIND(timer_create);
EXPORT int timer_create(clockid_t clock, struct sigevent *ev, timer_t *timer)
{
    return fails(KIND_timer_create, CALLER) ? -1 : REAL(timer_create)(clock, ev, timer);
}

FIND(timer_settime);
EXPORT int timer_settime(timer_t timer, int flags, const struct itimerspec *to, struct itimerspec *was)
{
    return fails(KIND_timer_settime, CALLER) ? -1 : REAL(timer_settime)(timer, flags, to, was);
}

FIND(syscall);
EXPORT long syscall(long number, ...)
{
    va_list ap;
    long a[6];
    va_start(ap, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(ap, long);
    }
    va_end(ap);
    if (number == SYS_perf_event_open && fails(KIND_perf_event_open, CALLER)) {
        return -1;
    }
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

FIND(fopen);
EXPORT FILE *fopen(const char *path, const char *mode)
{
    return fails(KIND_fopen, CALLER) ? NULL : REAL(fopen)(path, mode);
}

FIND(fopen64);
EXPORT FILE *fopen64(const char *path, const char *mode)
{
    return fails(KIND_fopen, CALLER) ? NULL : REAL(fopen64)(path, mode);
}

FIND(opendir);
EXPORT DIR *opendir(const char *path)
{
    return fails(KIND_opendir, CALLER) ? NULL : REAL(opendir)(path);
}

FIND(strdup);
EXPORT char *(strdup)(const char *s)
{
    return fails(KIND_strdup, CALLER) ? NULL : REAL(strdup)(s);
}

FIND(rename);
EXPORT int rename(const char *from, const char *to)
{
    return fails(KIND_rename, CALLER) ? -1 : REAL(rename)(from, to);
}

FIND(ftruncate);
EXPORT int ftruncate(int fd, off_t n)
{
    return fails(KIND_ftruncate, CALLER) ? -1 : REAL(ftruncate)(fd, n);
}

FIND(ftruncate64);
EXPORT int ftruncate64(int fd, off64_t n)
{
    return fails(KIND_ftruncate, CALLER) ? -1 : REAL(ftruncate64)(fd, n);
}

/* As Linux: the descriptor is gone, whatever close says. */
FIND(close);
EXPORT int close(int fd)
{
    int rc = REAL(close)(fd);
    return fails(KIND_close, CALLER) ? -1 : rc;
}

#define FCNTL(name)                                                                                                                        \
    FIND(name);                                                                                                                            \
    EXPORT int name(int fd, int cmd, ...)                                                                                                  \
    {                                                                                                                                      \
        va_list ap;                                                                                                                        \
        va_start(ap, cmd);                                                                                                                 \
        void *arg = va_arg(ap, void *);                                                                                                    \
        va_end(ap);                                                                                                                        \
        return fails(KIND_fcntl, CALLER) ? -1 : REAL(name)(fd, cmd, arg);                                                                  \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

FIND(newlocale);
EXPORT locale_t newlocale(int mask, const char *name, locale_t base)
{
    return fails(KIND_newlocale, CALLER) ? (locale_t)0 : REAL(newlocale)(mask, name, base);
}

FIND(sigaction);
EXPORT int sigaction(int sig, const struct sigaction *to, struct sigaction *was)
{
    return fails(KIND_sigaction, CALLER) ? -1 : REAL(sigaction)(sig, to, was);
}

FIND(fstat64);
EXPORT int fstat64(int fd, struct stat64 *st)
{
    return fails(KIND_stat, CALLER) ? -1 : REAL(fstat64)(fd, st);
}

FIND(lstat64);
EXPORT int lstat64(const char *path, struct stat64 *st)
{
    return fails(KIND_stat, CALLER) ? -1 : REAL(lstat64)(path, st);
}

int flock(int fd, int operation);
FIND(flock);
EXPORT int flock(int fd, int operation)
{
    return fails(KIND_flock, CALLER) ? -1 : REAL(flock)(fd, operation);
}

int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);
FIND(__register_atfork);
EXPORT int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso)
{
    int how = fault(KIND_atfork, CALLER);
    return how != 0 ? how : REAL(__register_atfork)(prepare, parent, child, dso);
}

/* ---- the plan ---- */

static void open_tally(const char *path)
{
    int fd = REAL(open)(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || REAL(ftruncate)(fd, sizeof nowhere) != 0) {
        abort(); /* a test that cannot count proves nothing */
    }
    void *p = REAL(mmap)(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        abort();
    }
    tally = p;
    REAL(close)(fd);
}

__attribute__((constructor)) static void read_plan(void)
{
    const char *text = getenv("HPX_FAULTS"), *file = getenv("HPX_FAULTS_FILE");
    (void)REAL(syscall); /* found before a signal handler needs it */
    if (file != NULL) {
        open_tally(file);
    }
    if (text == NULL) {
        return;
    }
    char *rest;
    size_t n = strcspn(text, ":");
    for (int i = 0; i < KIND_COUNT; i++) {
        if (strlen(names[i]) == n && strncmp(names[i], text, n) == 0) {
            plan.kind = i;
        }
    }
    plan.k = text[n] != 0 ? strtoull(text + n + 1, &rest, 10) : 0;
    if (plan.kind < 0 || plan.k == 0) {
        abort();
    }
    plan.all_from_k = *rest == '+';
    rest += plan.all_from_k;
    plan.how = strcmp(rest, ":short") == 0 ? HOW_SHORT : atoi(rest + (*rest == ':'));
    if (plan.how == 0) {
        abort();
    }
}
