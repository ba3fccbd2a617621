/* SPDX-License-Identifier: BSD-2-Clause */
/* usage.h: the CPU time that a JVM has used so far, and its parts, as /proc shows them. One thread. */
#ifndef HPX_COMMAND_USAGE_H
#define HPX_COMMAND_USAGE_H

#include <stdbool.h>
#include <sys/types.h>

/* Seconds. Of threads that have ended only `total` knows. */
struct hpx_usage {
    double at;           /* CLOCK_MONOTONIC */
    double total;        /* of all threads */
    double gc, compiler; /* of the threads that the VM has for it; gc: also those that the VM has for all else */
    double agent;        /* of our threads */
    bool parts;          /* the threads of the VM have names that tell what they do: not on JDK 8 */
    unsigned cpus;       /* that it may run on */
    unsigned threads;
    unsigned running; /* of them: on a CPU, or ready for one */
};

/* root: "", or the folder of a test. false: the process has ended, or cannot be looked at; *u is zero. */
bool hpx_usage_read(const char *root, pid_t pid, struct hpx_usage *u);
/* What was used from `begin` to `end`; `at` is the time between. */
struct hpx_usage hpx_usage_between(const struct hpx_usage *begin, const struct hpx_usage *end);

#endif
