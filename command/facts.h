/* SPDX-License-Identifier: BSD-2-Clause */
/* facts.h: takes texts of /proc and of the JVM's library apart, for `hprofx doctor`. They are the system's or another user's: anything may
 * stand in them. No state; any thread. */
#ifndef HPX_COMMAND_FACTS_H
#define HPX_COMMAND_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of /proc/PID/status or /proc/PID/task/TID/status; what the text does not have is 0. Signal N is bit N - 1. */
struct hpx_facts {
    uint64_t threads;
    uint64_t queued, queue_limit; /* signals of the user that wait, and timers; at most */
    uint64_t caught, blocked;     /* signals with a handler; signals that wait until they are let through */
    uint64_t capabilities;        /* effective */
    bool filtered;                /* by seccomp */
};
void hpx_facts_status(const char *text, struct hpx_facts *f);
/* The soft limit of open files, of /proc/PID/limits; UINT64_MAX: unlimited; 0: not there. */
uint64_t hpx_facts_open_files(const char *limits);
/* /proc/mounts has a /proc that hides processes of other users. */
bool hpx_facts_hides(const char *mounts);
/* The release that HotSpot's library names in a block of its bytes, as "17.0.15+6"; false: not in these. HPX_FACTS_RELEASE bytes hold the
 * whole text around it. */
#define HPX_FACTS_RELEASE 512
bool hpx_facts_release(const char *bytes, size_t n, char *to, size_t size);
/* N of the newest of the names GLIBC_2.N in a block of the C library's bytes: it has its versions by name; 0: none in these. */
unsigned hpx_facts_glibc(const char *bytes, size_t n);
/* 8 of "1.8.0_504", 17 of "17.0.15"; 0: no number. */
unsigned hpx_facts_major(const char *release);

#endif
