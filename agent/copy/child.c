/* SPDX-License-Identifier: BSD-2-Clause */
/* child.c: forks the child of a heap walk, isolates it from the program, waits for its end. */
#include "child.h"
#include "clock.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIGSET       8       /* bytes of the kernel's signal set */
#define STEP_MS      20      /* of waiting */
#define STEP_SLEEP   2000000 /* ns, without a pipe */
#define STEP_GONE    200000  /* ns; a process closes its descriptors just before it can be reaped */
#define DESCRIPTORS  65536
#define SIGNAL_STACK ((size_t)64 << 10)
#define RESTORER     0x04000000 /* SA_RESTORER of the kernel, which x86 demands and 64-bit Arm takes */

static struct hpx_child_shared *shared; /* for the handler of faults; written in the child only */

/* ---- before the fork ---- */

static void add_counters(struct hpx_child *child, const char *line)
{
    unsigned long from, to;
    char mode[5];
    if (strstr(line, "hsperfdata") == NULL || child->ncounters == HPX_CHILD_COUNTERS ||
        sscanf(line, "%lx-%lx %4s", &from, &to, mode) != 3 || mode[1] != 'w' || mode[3] != 's' || to <= from) {
        return;
    }
    child->counters[child->ncounters].at = (void *)from;
    child->counters[child->ncounters++].size = to - from;
}

int hpx_child_prepare(struct hpx_child *child, const struct hpx_child_slots *slots, struct hpx_err *err)
{
    memset(child, 0, sizeof *child);
    child->slots = slots;
    child->alive[0] = child->alive[1] = -1;
    void *page = mmap(NULL, sizeof *child->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return hpx_err_set(err, HPX_E_NOMEM, "no memory to share with a child process: %s", strerror(errno));
    }
    child->shared = page;
    if (pipe2(child->alive, O_CLOEXEC) != 0) { /* only the end is seen later */
        child->alive[0] = child->alive[1] = -1;
    }
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 128];
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        add_counters(child, line);
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    return 0;
}

void hpx_child_release(struct hpx_child *child)
{
    if (child->shared != NULL) {
        munmap(child->shared, sizeof *child->shared);
        child->shared = NULL;
    }
    for (int i = 0; i < 2; i++) {
        if (child->alive[i] >= 0) {
            close(child->alive[i]);
        }
        child->alive[i] = -1;
    }
}

/* ---- in the child: system calls only ---- */

static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    atomic_store_explicit(&shared->fault_signal, signal, memory_order_relaxed);
    atomic_store_explicit(&shared->fault_address, (uint64_t)(uintptr_t)info->si_addr, memory_order_relaxed);
    hpx_child_leave(HPX_CHILD_EXIT_FAULT);
}

/* Not sigaction(): libjsig stands in for it and locks, and so does a new glibc. */
static void take_faults(void)
{
    static char stack[SIGNAL_STACK]; /* the fault may be the end of the thread's stack */
    struct {
        void (*handler)(int, siginfo_t *, void *);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } action = {on_fault, SA_SIGINFO | SA_ONSTACK | RESTORER, (void (*)(void))(uintptr_t)hpx_child_leave, /* never reached */
                ~UINT64_C(0)};
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    syscall(SYS_sigaltstack, &alternate, NULL);
    uint64_t open = 0;
    for (size_t i = 0; i < HPX_ARRAY_LEN(faults); i++) {
        syscall(SYS_rt_sigaction, faults[i], &action, NULL, SIGSET);
        open |= UINT64_C(1) << (faults[i] - 1);
    }
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &open, NULL, SIGSET);
}

/* In vain without /proc. */
static void tell_kernel(const char *file, const char *text, size_t n)
{
    long fd = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CLOEXEC, 0);
    if (fd >= 0) {
        syscall(SYS_write, fd, text, n);
        syscall(SYS_close, fd);
    }
}

/* A limit of 0 forbids a core file, but not one that goes through a pipe; 1 forbids both. The kernel refuses 1
 * if the hard limit is 0: then a core through a pipe has no memory in it. Not PR_SET_DUMPABLE: the parent could not read the child's
 * smaps_rollup then. */
static void have_no_core(void)
{
    static const struct rlimit none = {1, 1}, zero = {0, 0};
    if (syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL) != 0) {
        syscall(SYS_prlimit64, 0, RLIMIT_CORE, &zero, NULL);
    }
    tell_kernel("/proc/self/coredump_filter", "0", 1);
}

static bool kept(const struct hpx_child *child, long fd)
{
    bool is = fd == child->alive[1];
    for (unsigned i = 0; i < child->nkeep; i++) {
        is |= child->keep[i] == fd;
    }
    return is;
}

struct entry { /* of getdents64() */
    uint64_t inode, next;
    unsigned short size;
    unsigned char type;
    char name[];
};

/* Not close_range(): filters of seccomp that are older than it may end the process. The kernel lists by number, so closing on the way skips
 * nothing. */
static void close_others(const struct hpx_child *child)
{
    union {
        char bytes[2048];
        uint64_t aligned;
    } buf;
    if (child->alive[0] >= 0) { /* first: the folder needs a descriptor, and the table may be full */
        syscall(SYS_close, child->alive[0]);
    }
    long dir = syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), n;
    if (dir < 0) { /* there is no /proc */
        for (int fd = 0; fd < DESCRIPTORS; fd++) {
            if (!kept(child, fd)) {
                syscall(SYS_close, fd);
            }
        }
        return;
    }
    while ((n = syscall(SYS_getdents64, dir, buf.bytes, sizeof buf.bytes)) > 0) {
        for (long at = 0; at < n;) {
            const struct entry *e = (const struct entry *)(const void *)(buf.bytes + at);
            long fd = 0;
            for (const char *c = e->name; *c >= '0' && *c <= '9'; c++) {
                fd = fd * 10 + (*c - '0');
            }
            if (e->name[0] != '.' && fd != dir && !kept(child, fd)) {
                syscall(SYS_close, fd);
            }
            at += e->size;
        }
    }
    syscall(SYS_close, dir);
}

/* false: the child would write the parent's counters. */
static bool own_counters(const struct hpx_child *child)
{
    for (unsigned i = 0; i < child->ncounters; i++) {
        size_t size = child->counters[i].size;
        void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (copy == MAP_FAILED) {
            return false;
        }
        memcpy(copy, child->counters[i].at, size);
        if (syscall(SYS_mremap, copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, child->counters[i].at) == -1) {
            return false;
        }
    }
    return true;
}

static void become_child(const struct hpx_child *child, pid_t parent, uintptr_t frame)
{
    shared = child->shared;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    pid_t now = (pid_t)syscall(SYS_getppid);
    if (now != parent && now != 0) { /* the parent died before the line above; 0: it is outside of our pid namespace */
        hpx_child_leave(HPX_CHILD_EXIT_ORPHAN);
    }
    close_others(child); /* first: files can be opened only if the table of descriptors has room */
    have_no_core();
    take_faults();
    prctl(PR_SET_NAME, "hprofx-child", 0, 0, 0);
    tell_kernel("/proc/self/oom_score_adj", "1000", 4);
    if (!own_counters(child) || !hpx_child_redirect(child->slots, child->over, child->arg, frame)) {
        hpx_child_leave(HPX_CHILD_EXIT_UNREADY);
    }
}

/* ---- the fork ---- */

pid_t hpx_child_fork(struct hpx_child *child, const void *frame)
{
    uint64_t all = ~UINT64_C(0), was = 0;
    pid_t parent = (pid_t)syscall(SYS_getpid);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &was, SIGSET); /* no handler of the program runs in the child */
    /* Not fork(): it runs the handlers of pthread_atfork() and takes locks. No signal at the end: the program's wait() ignores the child.
     */
    long pid = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        become_child(child, parent, (uintptr_t)frame);
        return 0;
    }
    int e = errno;
    if (child->alive[1] >= 0) {
        syscall(SYS_close, child->alive[1]);
        child->alive[1] = -1;
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &was, NULL, SIGSET);
    return pid > 0 ? (pid_t)pid : -e;
}

/* ---- workers ---- */

bool hpx_child_worker(int (*run)(void *arg), void *arg, void *stack_end, _Atomic int *running)
{
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_CHILD_CLEARTID;
    atomic_store_explicit(running, 1, memory_order_relaxed);
    return clone(run, stack_end, flags, arg, NULL, NULL, running) > 0;
}

void hpx_child_worker_nice(void)
{
    enum { LEAST = 19, MORE = 10, OF_CALL = 20 };                              /* the system call returns 20 less the value */
    int now = OF_CALL - (int)syscall(SYS_getpriority, PRIO_PROCESS, 0) + MORE; /* of this thread alone */
    syscall(SYS_setpriority, PRIO_PROCESS, 0, now < LEAST ? now : LEAST);
}

/* ---- the end ---- */

static struct hpx_child_report decode(const struct hpx_child *child, int status)
{
    if (WIFSIGNALED(status)) {
        return (struct hpx_child_report){HPX_CHILD_KILLED, WTERMSIG(status), NULL};
    }
    int code = WEXITSTATUS(status);
    switch (code) {
    case HPX_CHILD_EXIT_FAULT:
        return (struct hpx_child_report){HPX_CHILD_CRASHED, atomic_load_explicit(&child->shared->fault_signal, memory_order_relaxed), NULL};
    case HPX_CHILD_EXIT_GAVE_UP:
        return (struct hpx_child_report){HPX_CHILD_CRASHED, 0, NULL};
    case HPX_CHILD_EXIT_WAITED:
        return (struct hpx_child_report){HPX_CHILD_WAITED, 0, NULL};
    case HPX_CHILD_EXIT_UNREADY:
    case HPX_CHILD_EXIT_ORPHAN:
        return (struct hpx_child_report){HPX_CHILD_UNREADY, 0, NULL};
    default:
        return (struct hpx_child_report){HPX_CHILD_ENDED, code, NULL};
    }
}

static struct hpx_child_report reap(const struct hpx_child *child, pid_t pid, int flags)
{
    int status;
    pid_t got;
    while ((got = waitpid(pid, &status, (int)__WCLONE | flags)) < 0 && errno == EINTR) {
    }
    return got == 0  ? (struct hpx_child_report){HPX_CHILD_RUNS, 0, NULL}
           : got < 0 ? (struct hpx_child_report){HPX_CHILD_LOST, 0, NULL}
                     : decode(child, status);
}

struct hpx_child_report hpx_child_poll(const struct hpx_child *child, pid_t pid)
{
    return reap(child, pid, WNOHANG);
}

struct hpx_child_report hpx_child_kill(const struct hpx_child *child, pid_t pid, enum hpx_child_end why)
{
    struct hpx_child_report r = hpx_child_poll(child, pid);
    if (r.end != HPX_CHILD_RUNS) {
        return r;
    }
    (void)kill(pid, SIGKILL); /* the pid is ours until we reap it */
    r = reap(child, pid, 0);
    return r.end == HPX_CHILD_KILLED ? (struct hpx_child_report){why, 0, NULL} : r;
}

/* CPU time of a process so far, in ns; 0 if it is gone. */
static uint64_t cpu_of(pid_t pid)
{
    struct timespec ts;
    clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2); /* as clock_getcpuclockid(), which first asks whether the pid exists */
    return clock_gettime(clock, &ts) == 0 ? (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec : 0;
}

struct watch {
    uint64_t progress, cpu_then; /* the last progress seen, and the child's CPU time at that moment */
    uint64_t cpu, moved;         /* the child's CPU time when that or the progress last moved, and that moment */
};

/* Has the child been stuck for too long? */
static bool stuck(struct watch *w, uint64_t progress, pid_t pid, const struct hpx_child_wait *how)
{
    uint64_t cpu = cpu_of(pid), now = hpx_clock_mono();
    if (progress != w->progress) {
        w->progress = progress;
        w->cpu_then = w->cpu = cpu;
        w->moved = now;
    }
    if (cpu - w->cpu > (now - w->moved) / 16) { /* workers that look for work in vain use less */
        w->cpu = cpu;
        w->moved = now;
    }
    return (how->stall_ns > 0 && now - w->moved >= how->stall_ns) ||
           (how->spin_ns > 0 && cpu > w->cpu_then && cpu - w->cpu_then >= how->spin_ns);
}

/* Until the child may have ended, at most 20 ms. */
static void step(const struct hpx_child *child)
{
    struct pollfd p = {.fd = child->alive[0], .events = 0}; /* POLLHUP comes unasked */
    int n = child->alive[0] >= 0 ? poll(&p, 1, STEP_MS) : -1;
    if (n != 0) {
        nanosleep(&(struct timespec){0, n > 0 ? STEP_GONE : STEP_SLEEP}, NULL);
    }
}

/* Why the child must be killed; HPX_CHILD_RUNS: it need not. */
static struct hpx_child_report must_end(struct watch *w, uint64_t progress, pid_t pid, const struct hpx_child_wait *how)
{
    if ((how->go_on != NULL && !how->go_on(how->arg, progress)) ||
        (how->cancel != NULL && atomic_load_explicit(how->cancel, memory_order_relaxed))) {
        return (struct hpx_child_report){HPX_CHILD_CANCELLED, 0, NULL};
    }
    const char *why = how->watch != NULL ? hpx_fork_watch_look(how->watch, hpx_clock_mono()) : NULL;
    if (why != NULL) {
        return (struct hpx_child_report){HPX_CHILD_MEMORY, 0, why};
    }
    return (struct hpx_child_report){stuck(w, progress, pid, how) ? HPX_CHILD_STUCK : HPX_CHILD_RUNS, 0, NULL};
}

struct hpx_child_report hpx_child_await(const struct hpx_child *child, pid_t pid, const struct hpx_child_wait *how)
{
    struct watch w = {.cpu = cpu_of(pid), .moved = hpx_clock_mono()};
    w.progress = atomic_load_explicit(&child->shared->progress, memory_order_relaxed);
    w.cpu_then = w.cpu;
    struct hpx_child_report r;
    while ((r = hpx_child_poll(child, pid)).end == HPX_CHILD_RUNS) {
        uint64_t progress = atomic_load_explicit(&child->shared->progress, memory_order_relaxed);
        struct hpx_child_report end = must_end(&w, progress, pid, how);
        if (end.end != HPX_CHILD_RUNS) {
            r = hpx_child_kill(child, pid, end.end);
            r.why = r.end == HPX_CHILD_MEMORY ? end.why : NULL;
            break;
        }
        step(child);
    }
    return r;
}

const char *hpx_child_text(const struct hpx_child *child, struct hpx_child_report report, char *buf, size_t size)
{
    unsigned long long at = atomic_load_explicit(&child->shared->fault_address, memory_order_relaxed);
    static const char *const texts[] = {[HPX_CHILD_RUNS] = "the child is running",
                                        [HPX_CHILD_WAITED] = "the VM waited for another thread in the child",
                                        [HPX_CHILD_UNREADY] = "the child could not be isolated from the program",
                                        [HPX_CHILD_STUCK] = "the child made no progress and was killed",
                                        [HPX_CHILD_CANCELLED] = "the child was killed on request",
                                        [HPX_CHILD_LOST] = "the program reaped the child; its end is unknown"};
    switch (report.end) {
    case HPX_CHILD_ENDED:
        (void)snprintf(buf, size, "the child ended with status %d", report.value);
        break;
    case HPX_CHILD_CRASHED:
        if (report.value != 0) {
            (void)snprintf(buf, size, "the child crashed (signal %d at address 0x%llx)", report.value, at);
        } else {
            (void)snprintf(buf, size, "the VM gave up in the child, most often because memory ran out");
        }
        break;
    case HPX_CHILD_KILLED:
        (void)snprintf(buf, size, "the child was killed by signal %d%s", report.value,
                       report.value == SIGKILL ? ", most often because memory ran out" : "");
        break;
    case HPX_CHILD_MEMORY:
        (void)snprintf(buf, size, "the child was killed to spare memory (%s)", report.why != NULL ? report.why : "on request");
        break;
    default:
        (void)snprintf(buf, size, "%s", texts[report.end]);
        break;
    }
    return buf;
}
