/* SPDX-License-Identifier: BSD-2-Clause */
/* test_child.c: children that go on with a walk of a made-up VM (fake_vm.h), while other threads hold its locks and those of the C library.
 */
#include "child.h"
#include "fake_vm.h"
#include "folder_fixture.h"
#include "sanitized.h"
#include <errno.h>
#include <glob.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* With the child's malloc() left to the C library, the first or second fork of one arena (main()) finds its lock held and hangs. */
#define FORKS 16
#define TAIL  42

static struct hpx_child_slots slots;

struct run {
    struct hpx_child child;
    int keep[2]; /* read: blocks the child until the parent writes; write: gets the tail */
    unsigned nkeep;
    bool hold; /* the child waits for a byte of keep[0] before it goes on */
    enum { NO_WORKER, WORKS, FAULTS, SLEEPS } worker;
    pid_t pid;
};

/* No lock, no malloc, no stdio. */
static int over(void *arg)
{
    struct run *r = arg;
    atomic_fetch_add(&r->child.shared->figure[0], 1);
    if (fake_vm_counter != NULL) {
        atomic_store(&r->child.shared->figure[1], (uint64_t)*fake_vm_counter);
    }
    return TAIL;
}

static _Atomic int running;
static int nice_of_worker;

static int work(void *arg)
{
    struct run *r = arg;
    hpx_child_worker_nice();
    nice_of_worker = 20 - (int)syscall(SYS_getpriority, PRIO_PROCESS, 0);
    if (r->worker == FAULTS) {
        static volatile uintptr_t nothing = 8;
        *(volatile int *)nothing = 1;
    }
    while (r->worker == SLEEPS) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return 0;
}

/* In the child. It ends, or is ended, with its worker, or goes on when that has ended. */
static void make_worker(struct run *r)
{
    enum { STACK = 256 << 10 };
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool made = stack != MAP_FAILED && hpx_child_worker(work, r, stack + STACK, &running);
    while (made && atomic_load(&running) != 0) {
        nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    atomic_store(&r->child.shared->figure[2], made ? 1 : 0);
    atomic_store(&r->child.shared->figure[3], (uint64_t)nice_of_worker);
}

static bool callback(void *arg)
{
    struct run *r = arg;
    r->pid = hpx_child_fork(&r->child, HPX_FRAME_END());
    if (r->pid != 0) {
        return false;
    }
    atomic_fetch_add(&r->child.shared->progress, 1);
    if (r->worker != NO_WORKER) {
        make_worker(r);
    }
    char byte;
    if (r->hold && read(r->keep[0], &byte, 1) != 1) {
        _exit(1);
    }
    return true;
}

static void begin(struct run *r)
{
    struct hpx_err err;
    assert_int_equal(hpx_child_prepare(&r->child, &slots, &err), 0);
    r->child.over = over;
    r->child.arg = r;
    r->child.keep = r->keep;
    r->child.nkeep = r->nkeep;
}

static struct hpx_child_report walk(struct run *r, enum fake_walk kind, const struct hpx_child_wait *how)
{
    begin(r);
    fake_vm_operation(kind, callback, r);
    assert_true(r->pid > 0);
    return hpx_child_await(&r->child, r->pid, how);
}

static void ends(enum fake_walk kind, const struct hpx_child_wait *how, enum hpx_child_end end, int value)
{
    struct run r = {.nkeep = 0};
    struct hpx_child_report report = walk(&r, kind, how);
    assert_int_equal(report.end, end);
    assert_int_equal(report.value, value);
    assert_int_equal(atomic_load(&r.child.shared->figure[0]), end == HPX_CHILD_ENDED);
    hpx_child_release(&r.child);
}

static const struct hpx_child_wait forever;
static _Atomic bool stop;

static void *allocate(void *unused)
{
    while (!atomic_load(&stop)) {
        assert_true(fake_vm_allocate());
    }
    return unused;
}

static void *hold_lock(void *held)
{
    fake_vm_lock();
    atomic_store((_Atomic bool *)held, true);
    while (!atomic_load(&stop)) {
        sched_yield();
    }
    fake_vm_unlock();
    return NULL;
}

TEST(every_child_ends_whatever_lock_is_held, setup, teardown)
{
    pthread_t threads[3];
    _Atomic bool held = false;
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&threads[0], NULL, hold_lock, &held), 0);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, allocate, NULL), 0);
    }
    while (!atomic_load(&held)) {
        sched_yield();
    }
    for (int i = 0; i < FORKS; i++) {
        ends(WALK_WHOLE, &forever, HPX_CHILD_ENDED, TAIL);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
}

TEST(a_child_has_blocks_of_every_size, setup, teardown)
{
    ends(WALK_MUCH, &forever, HPX_CHILD_ENDED, TAIL);
}

/* As ulimit -v sets it. */
TEST(a_child_has_blocks_where_addresses_are_few, setup, teardown)
{
    struct rlimit was, few;
    if (SANITIZED) {
        return;
    }
    assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
    few = (struct rlimit){(rlim_t)4 << 30, was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &few), 0);
    ends(WALK_MUCH, &forever, HPX_CHILD_ENDED, TAIL);
    assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
}

TEST(a_crash_is_reported_and_leaves_no_file, setup, teardown)
{
    ends(WALK_CRASH, &forever, HPX_CHILD_CRASHED, SIGSEGV);
    ends(WALK_OVERFLOW, &forever, HPX_CHILD_CRASHED, SIGSEGV);
    ends(WALK_ABORT, &forever, HPX_CHILD_CRASHED, 0);
    glob_t found;
    assert_int_equal(glob("*core*", 0, NULL, &found), GLOB_NOMATCH);
    assert_string_equal(content("said"), "");
}

TEST(a_wait_within_the_walk_is_not_its_end, setup, teardown)
{
    ends(WALK_WAIT, &forever, HPX_CHILD_WAITED, 0);
}

TEST(a_stuck_child_is_killed, setup, teardown)
{
    ends(WALK_SLEEP, &(struct hpx_child_wait){.stall_ns = 200000000}, HPX_CHILD_STUCK, 0);
    ends(WALK_SPIN, &(struct hpx_child_wait){.spin_ns = 50000000}, HPX_CHILD_STUCK, 0);
}

static bool never(void *calls, uint64_t progress)
{
    (void)progress;
    return ++*(int *)calls < 3;
}

TEST(the_caller_can_cancel, setup, teardown)
{
    static const _Atomic bool yes = true;
    int calls = 0;
    ends(WALK_SLEEP, &(struct hpx_child_wait){.cancel = &yes}, HPX_CHILD_CANCELLED, 0);
    ends(WALK_SLEEP, &(struct hpx_child_wait){.go_on = never, .arg = &calls}, HPX_CHILD_CANCELLED, 0);
    assert_int_equal(calls, 3);
}

/* Of the pipe that tells the end. */
static bool hung_up(const struct run *r)
{
    struct pollfd p = {.fd = r->child.alive[0]};
    return poll(&p, 1, 0) == 1 && p.revents == POLLHUP;
}

/* ---- workers ---- */

TEST(a_worker_runs_in_the_child_and_is_nicer, setup, teardown)
{
    struct run r = {.worker = WORKS};
    struct hpx_child_report report = walk(&r, WALK_WHOLE, &forever);
    assert_int_equal(report.end, HPX_CHILD_ENDED);
    if (atomic_load(&r.child.shared->figure[2]) == 0) {
        hpx_child_release(&r.child);
        skip(); /* musl has no such threads */
    }
    const int own = 20 - (int)syscall(SYS_getpriority, PRIO_PROCESS, 0), want = own + 10;
    assert_int_equal((int)atomic_load(&r.child.shared->figure[3]), want < 19 ? want : 19);
    hpx_child_release(&r.child);
}

TEST(a_crash_of_a_worker_is_one_of_the_child, setup, teardown)
{
    struct run r = {.worker = FAULTS};
    struct hpx_child_report report = walk(&r, WALK_WHOLE, &forever);
    if (report.end == HPX_CHILD_ENDED && atomic_load(&r.child.shared->figure[2]) == 0) {
        hpx_child_release(&r.child);
        skip();
    }
    assert_int_equal(report.end, HPX_CHILD_CRASHED);
    assert_int_equal(report.value, SIGSEGV);
    hpx_child_release(&r.child);
}

/* Else it would be left to the first process of a container, which may be the JVM. */
TEST(a_worker_ends_with_a_child_that_is_killed, setup, teardown)
{
    static _Atomic bool cancel = true;
    const struct hpx_child_wait how = {.cancel = &cancel};
    struct run r = {.worker = SLEEPS};
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    begin(&r);
    fake_vm_operation(WALK_WHOLE, callback, &r);
    while (atomic_load(&r.child.shared->progress) == 0) {
        sched_yield();
    }
    struct hpx_child_report report = hpx_child_await(&r.child, r.pid, &how);
    assert_true(report.end == HPX_CHILD_CANCELLED || report.end == HPX_CHILD_ENDED); /* ended: there was no worker */
    assert_true(waitpid(-1, NULL, __WALL | WNOHANG) < 0 && errno == ECHILD);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
    hpx_child_release(&r.child);
}

TEST(the_pipe_hangs_up_with_the_end_of_the_child, setup, teardown)
{
    int hold[2];
    struct run r = {.nkeep = 1, .hold = true};
    assert_int_equal(pipe(hold), 0);
    r.keep[0] = hold[0];
    begin(&r);
    fake_vm_operation(WALK_WHOLE, callback, &r);
    assert_int_equal(r.child.alive[1], -1);
    while (atomic_load(&r.child.shared->progress) == 0) {
        sched_yield();
    }
    assert_false(hung_up(&r));
    assert_int_equal(write(hold[1], "x", 1), 1);
    assert_int_equal(hpx_child_await(&r.child, r.pid, &forever).value, TAIL);
    assert_true(hung_up(&r));
    close(hold[0]);
    close(hold[1]);
    hpx_child_release(&r.child);
    assert_int_equal(r.child.alive[0], -1);
}

static void walk_with_descriptors(rlim_t n, bool *pipe_made)
{
    struct rlimit was, few;
    int hold[2];
    char path[64];
    struct run r = {.nkeep = 1, .hold = true};
    assert_int_equal(pipe(hold), 0);
    r.keep[0] = hold[0];
    getrlimit(RLIMIT_NOFILE, &was);
    few = was;
    few.rlim_cur = n;
    setrlimit(RLIMIT_NOFILE, &few);
    begin(&r);
    *pipe_made = r.child.alive[0] >= 0;
    fake_vm_operation(WALK_WHOLE, callback, &r);
    setrlimit(RLIMIT_NOFILE, &was);
    while (atomic_load(&r.child.shared->progress) == 0) {
        sched_yield();
    }
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", r.pid);
    const char *score = content(path);
    assert_string_equal(score != NULL ? score : "", "1000\n");
    assert_int_equal(write(hold[1], "x", 1), 1);
    assert_int_equal(hpx_child_await(&r.child, r.pid, &forever).end, HPX_CHILD_ENDED);
    hpx_child_release(&r.child);
    close(hold[0]);
    close(hold[1]);
}

/* With none left, then with one, then with those of the pipe and no other. */
TEST(a_full_table_of_descriptors_is_endured, setup, teardown)
{
    bool pipe_made = false;
    for (rlim_t n = 3; !pipe_made; n++) {
        walk_with_descriptors(n, &pipe_made);
        assert_true(pipe_made || n < 1000);
    }
}

#define FIELD ((size_t)64 << 20)

/* As a user without privileges: what it may read of its child is what counts. */
static void write_beside_the_child(void)
{
    struct run r = {.nkeep = 1, .hold = true};
    struct hpx_fork_watch watch;
    char text[300];
    int hold[2];
    if ((getuid() == 0 && setresuid(65534, 65534, 65534) != 0) || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0 || pipe(hold) != 0) {
        _exit(10);
    }
    char *field = mmap(NULL, FIELD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (field == MAP_FAILED) {
        _exit(11);
    }
    memset(field, 1, FIELD);
    r.keep[0] = hold[0];
    begin(&r);
    hpx_fork_watch_begin(&watch, 0, FIELD / 2, NULL);
    fake_vm_operation(WALK_WHOLE, callback, &r);
    watch.pid = r.pid;
    memset(field, 2, FIELD); /* the kernel copies it */
    struct hpx_child_report report = hpx_child_await(&r.child, r.pid, &(struct hpx_child_wait){.watch = &watch});
    if (report.end != HPX_CHILD_MEMORY) {
        _exit(12);
    }
    (void)hpx_child_text(&r.child, report, text, sizeof text);
    _exit(strstr(text, "the child was killed to spare memory (the copy of the process grew to ") == text ? 0 : 13);
}

TEST(a_child_that_costs_too_much_is_killed, setup, teardown)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        write_beside_the_child();
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static volatile sig_atomic_t sigchld;

static void on_sigchld(int unused)
{
    (void)unused;
    sigchld++;
}

TEST(the_program_does_not_notice_the_child, setup, teardown)
{
    int other[2], hold[2];
    char byte;
    struct sigaction act = {.sa_handler = on_sigchld}, was;
    struct run r = {.nkeep = 1, .hold = true};
    assert_int_equal(pipe(other), 0);
    assert_int_equal(pipe(hold), 0);
    r.keep[0] = hold[0];
    sigaction(SIGCHLD, &act, &was);
    begin(&r);
    fake_vm_operation(WALK_WHOLE, callback, &r);
    while (atomic_load(&r.child.shared->progress) == 0) {
        sched_yield(); /* then it has closed its descriptors */
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    close(other[1]);
    assert_int_equal(read(other[0], &byte, 1), 0); /* the child has no copy */
    assert_int_equal(hpx_child_poll(&r.child, r.pid).end, HPX_CHILD_RUNS);
    assert_int_equal(write(hold[1], "x", 1), 1);
    assert_int_equal(hpx_child_await(&r.child, r.pid, &forever).value, TAIL);
    assert_int_equal(sigchld, 0);
    assert_int_equal(hpx_child_poll(&r.child, r.pid).end, HPX_CHILD_LOST);
    sigaction(SIGCHLD, &was, NULL);
    close(other[0]);
    close(hold[0]);
    close(hold[1]);
    hpx_child_release(&r.child);
}

TEST(the_child_writes_its_own_counters, setup, teardown)
{
    struct run r = {.nkeep = 0};
    int fd = open("hsperfdata_1", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(fd, 32768), 0);
    fake_vm_counter = mmap(NULL, 32768, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(fake_vm_counter != MAP_FAILED);
    struct hpx_child_report report = walk(&r, WALK_COUNT, &forever);
    assert_int_equal(report.end, HPX_CHILD_ENDED);
    assert_int_equal(r.child.ncounters, 1);
    assert_int_equal(atomic_load(&r.child.shared->figure[1]), 1); /* in the child */
    assert_int_equal(*fake_vm_counter, 0);
    munmap((void *)(uintptr_t)fake_vm_counter, 32768);
    fake_vm_counter = NULL;
    close(fd);
    hpx_child_release(&r.child);
}

TEST(a_library_without_the_calls_is_refused)
{
    struct hpx_child_slots none;
    struct hpx_err err;
    assert_int_equal(hpx_child_find(&none, NULL, &err), -HPX_E_SYS);
    assert_string_equal(err.msg, "the calls of libjvm cannot be redirected (no symbols)");
}

int main(void)
{
    struct hpx_err err;
    mallopt(M_ARENA_MAX, 1); /* else every thread has its own, whose lock no child wants */
    if (hpx_child_find(&slots, (const void *)(uintptr_t)fake_vm_allocate, &err) != 0) {
        printf("%s\n", err.msg);
        return 1;
    }
    return run_the_tests(NULL, NULL);
}
