/* SPDX-License-Identifier: BSD-2-Clause */
/* diagnosis.c: see diagnosis.h. */
#include "diagnosis.h"
#include "clock.h"
#include "cpus.h"
#include "plain.h"
#include "proc.h"
#include "usage.h"
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PERF_SHARE       4 /* of the open files: PERF_FDS and perf_most of agent/ticks/clocks.c */
#define PERF_MOST        65536u
#define PARANOID_ALLOWED 2 /* kernel.perf_event_paranoid up to which a user may count its own threads */

void hpx_diagnosis_line(const char *mark, const char *format, ...)
{
    char text[2 * BUFSIZ];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    (void)printf("%-4s %s\n", mark, hpx_plain(text));
}

void hpx_diagnosis_timers(const struct hpx_facts *f, uint64_t threads)
{
    uint64_t left = f->queue_limit > f->queued ? f->queue_limit - f->queued : 0;
    if (threads > left) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_NOTE,
                           "timers: cpu=samples needs one for each of %" PRIu64 " threads, and the user may have %" PRIu64
                           " more; the other threads are sampled at safepoints; raise the limit of pending signals of the JVM (ulimit -i)",
                           threads, left);
    } else if (threads > 0) {
        hpx_diagnosis_line(HPX_DIAGNOSIS_OK, "timers: %" PRIu64 " threads; the limit of pending signals leaves %" PRIu64, threads, left);
    } else {
        hpx_diagnosis_line(left > 0 ? HPX_DIAGNOSIS_OK : HPX_DIAGNOSIS_NOTE,
                           "timers: a JVM that is started here can have %" PRIu64
                           ", one for each thread; that is the limit of pending signals (ulimit -i)",
                           left);
    }
}

/* The event of agent/ticks/clocks.c, on the calling thread. 0, or errno. */
static int try_perf(void)
{
    struct perf_event_attr a = {.size = sizeof a,
                                .type = PERF_TYPE_SOFTWARE,
                                .config = PERF_COUNT_SW_CPU_CLOCK,
                                .sample_period = 1000000,
                                .disabled = 1,
                                .wakeup_events = 1,
                                .exclude_hv = 1,
                                .exclude_kernel = 1};
    int fd = (int)syscall(SYS_perf_event_open, &a, gettid(), -1, -1, PERF_FLAG_FD_CLOEXEC);
    int why = fd < 0 ? errno : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return why;
}

static void say_no_perf(int why)
{
    static const char file[] = "/proc/sys/kernel/perf_event_paranoid";
    char remedy[200];
    int paranoid = 0;
    FILE *f = fopen(file, "re");
    (void)snprintf(remedy, sizeof remedy, "%slet the filter of system calls (seccomp) of the container pass perf_event_open",
                   why == EPERM || why == EACCES ? "" : "the kernel has none, or ");
    if (f != NULL && fscanf(f, "%9d", &paranoid) == 1 && paranoid > PARANOID_ALLOWED) {
        (void)snprintf(remedy, sizeof remedy,
                       "kernel.perf_event_paranoid is %d: sysctl kernel.perf_event_paranoid=%d; a container's filter of "
                       "system calls (seccomp) must pass perf_event_open, too",
                       paranoid, PARANOID_ALLOWED);
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    hpx_diagnosis_line(HPX_DIAGNOSIS_NOTE, "perf events: %s; an interval= below %.0f ms (one tick) is rounded to ticks; %s", strerror(why),
                       (double)hpx_clock_tick() / 1e6, remedy);
}

void hpx_diagnosis_perf(pid_t pid, bool filtered)
{
    char limits[4096];
    int why = try_perf();
    if (why != 0) {
        say_no_perf(why);
        return;
    }
    (void)hpx_proc_read("", pid, 0, "limits", limits, sizeof limits);
    uint64_t most = hpx_facts_open_files(limits) / PERF_SHARE;
    most = most < PERF_MOST ? most : PERF_MOST;
    hpx_diagnosis_line(filtered ? HPX_DIAGNOSIS_NOTE : HPX_DIAGNOSIS_OK,
                       "perf events: permitted%s, for an interval= below %.0f ms, a tick, in threads that start during a session; %" PRIu64
                       " at most, a quarter of the open files (ulimit -n)",
                       filtered ? " here, but a filter of system calls (seccomp) of the JVM may refuse them" : "",
                       (double)hpx_clock_tick() / 1e6, most);
}

void hpx_diagnosis_quota(pid_t pid)
{
    struct hpx_usage use;
    double quota = hpx_cpus_quota("", pid);
    if (quota > 0 && hpx_usage_read("", pid, &use) && quota < use.cpus) {
        hpx_diagnosis_line(
            HPX_DIAGNOSIS_NOTE,
            "CPU quota: the cgroup grants %.2f CPUs; the profile assumes %u; a thread that is throttled spends wall time, but no "
            "CPU time; raise cpu.max if it is too little",
            quota, use.cpus);
    }
}
