/* SPDX-License-Identifier: BSD-2-Clause */
/* helper.c: JNI helpers of the test programs: system calls that a signal can interrupt, fork, work in native code. */
#include <errno.h>
#include <fcntl.h>
#include <jni.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int slow_pipe[2] = {-1, -1};
static int empty_pipe[2] = {-1, -1};
static int epoll_fd = -1;
static sem_t sem;
static volatile unsigned long sink;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    (void)vm;
    (void)reserved;
    if (pipe(slow_pipe) != 0 || pipe(empty_pipe) != 0 || sem_init(&sem, 0, 0) != 0) {
        return JNI_ERR;
    }
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event ev = {.events = EPOLLIN};
    (void)epoll_ctl(epoll_fd, EPOLL_CTL_ADD, empty_pipe[0], &ev);
    return JNI_VERSION_1_8;
}

static long cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void burn(long ns)
{
    long end = cpu_ns() + ns;
    unsigned long s = 7;
    while (cpu_ns() < end) {
        for (int i = 0; i < 5000; i++) {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
        }
        sink += s;
    }
}

JNIEXPORT void JNICALL Java_Natives_burn(JNIEnv *env, jclass c, jlong ns)
{
    (void)env;
    (void)c;
    burn((long)ns);
}

JNIEXPORT void JNICALL Java_Stalled_block(JNIEnv *env, jclass c, jboolean on)
{
    (void)env;
    (void)c;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    pthread_sigmask(on ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* One system call that works for a second or so: it maps the page of zeros at 4 million addresses. false: the system has no such call. */
JNIEXPORT jboolean JNICALL Java_Stalled_call(JNIEnv *env, jclass c, jlong bytes)
{
    (void)env;
    (void)c;
    size_t n = (size_t)bytes;
    char *memory = mmap(NULL, n, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return 0;
    }
    int done = madvise(memory, n, MADV_NOHUGEPAGE) == 0 && madvise(memory, n, MADV_POPULATE_READ) == 0;
    munmap(memory, n);
    return (jboolean)done;
}

JNIEXPORT void JNICALL Java_Eintr_feed(JNIEnv *env, jclass c)
{
    (void)env;
    (void)c;
    struct timespec t = {0, 3000000};
    nanosleep(&t, NULL);
    (void)!write(slow_pipe[1], "x", 1);
}

JNIEXPORT jint JNICALL Java_Eintr_tid(JNIEnv *env, jclass c)
{
    (void)env;
    (void)c;
    return (jint)syscall(SYS_gettid);
}

JNIEXPORT void JNICALL Java_Eintr_prod(JNIEnv *env, jclass c, jint tid)
{
    (void)env;
    (void)c;
    struct timespec t = {0, 1000000};
    nanosleep(&t, NULL);
    (void)syscall(SYS_tgkill, getpid(), tid, SIGPROF);
}

JNIEXPORT jint JNICALL Java_Eintr_call(JNIEnv *env, jclass c, jint kind)
{
    (void)env;
    (void)c;
    struct timespec t = {0, 2000000};
    char buf[64];
    errno = 0;
    long r = 0;
    if (kind == 0) {
        r = nanosleep(&t, NULL) == 0 ? 0 : -1;
    } else if (kind == 1) {
        struct pollfd p = {.fd = empty_pipe[0], .events = POLLIN};
        r = poll(&p, 1, 2);
    } else if (kind == 2) {
        r = read(slow_pipe[0], buf, sizeof(buf));
    } else if (kind == 3) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(empty_pipe[0], &set);
        struct timeval tv = {0, 2000};
        r = select(empty_pipe[0] + 1, &set, NULL, NULL, &tv);
    } else if (kind == 4) {
        struct epoll_event ev;
        r = epoll_wait(epoll_fd, &ev, 1, 2);
    } else {
        struct timespec at;
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_nsec += 2000000;
        at.tv_sec += at.tv_nsec / 1000000000;
        at.tv_nsec %= 1000000000;
        r = sem_timedwait(&sem, &at);
    }
    return r < 0 && errno == EINTR ? 1 : 0;
}

JNIEXPORT void JNICALL Java_Forks_grow(JNIEnv *env, jclass c, jint megabytes)
{
    (void)env;
    (void)c;
    size_t n = (size_t)megabytes << 20;
    char *p = n > 0 ? mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (p != MAP_FAILED) {
        (void)madvise(p, n, MADV_NOHUGEPAGE);
        memset(p, 1, n);
    }
}

/* In the child: what this process holds open, one link a line. Async-signal-safe: another thread may have had a lock of malloc at the fork.
 */
static void report_open(const char *path)
{
    enum { MOST = 1024 }; /* a JVM of the tests holds some tens */
    static const char folder[] = "/proc/self/fd/";
    int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int fd = 0; out >= 0 && fd < MOST; fd++) {
        char name[sizeof(folder) + 4], link[4096], *to = name + sizeof(folder) - 1;
        memcpy(name, folder, sizeof(folder) - 1);
        for (int unit = 1000; unit > 0; unit /= 10) {
            if (fd >= unit || unit == 1) {
                *to++ = (char)('0' + fd / unit % 10);
            }
        }
        *to = 0;
        ssize_t n = readlink(name, link, sizeof(link) - 1);
        if (n > 0) {
            link[n++] = '\n';
            (void)!write(out, link, (size_t)n);
        }
    }
    _exit(out >= 0 ? 0 : 1);
}

JNIEXPORT jint JNICALL Java_Forks_fork(JNIEnv *env, jclass c, jstring report, jlong burn_ns)
{
    (void)c;
    const char *path = (*env)->GetStringUTFChars(env, report, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        burn((long)burn_ns);
        report_open(path);
    }
    (*env)->ReleaseStringUTFChars(env, report, path);
    int status = -1;
    if (pid < 0) {
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

static volatile int children_ended;

static void on_child(int signal)
{
    (void)signal;
    children_ended++;
}

JNIEXPORT void JNICALL Java_HeapFaults_count(JNIEnv *env, jclass c)
{
    struct sigaction action = {.sa_handler = on_child};
    (void)env;
    (void)c;
    sigaction(SIGCHLD, &action, NULL);
}

JNIEXPORT jint JNICALL Java_HeapFaults_children(JNIEnv *env, jclass c)
{
    int status;
    (void)env;
    (void)c;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    return children_ended + (pid >= 0 || errno != ECHILD ? 1000 : 0);
}
