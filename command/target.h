/* SPDX-License-Identifier: BSD-2-Clause */
/* target.h: a JVM that runs, as /proc shows it: who it is, what it is, and where it sees files. */
#ifndef HPX_COMMAND_TARGET_H
#define HPX_COMMAND_TARGET_H

#include "status.h"
#include <limits.h>
#include <sys/types.h>

struct hpx_target {
    pid_t pid, own_pid; /* own_pid: as it sees itself, in its namespace */
    uid_t uid;          /* effective */
    gid_t gid;
    char root[32]; /* its files, as we see them: "" or /proc/PID/root */
    bool jvm, openj9, musl;
    bool catches_quit;      /* SIGQUIT has a handler: without one it would end the process */
    char library[PATH_MAX]; /* the agent that it has loaded, as it sees the file; "": none */
    char command[4096];     /* its command line, its words separated by blanks */
};

/* HPX_OK, HPX_NO_JVM: there is no such process; HPX_NOT_PERMITTED: its files cannot be read. */
enum hpx_status hpx_target_read(pid_t pid, struct hpx_target *t, struct hpx_err *err);
/* Whether it can be attached to. HPX_OK, HPX_NO_JVM, HPX_NOT_PERMITTED, HPX_REFUSED. */
enum hpx_status hpx_target_check(const struct hpx_target *t, struct hpx_err *err);
/* The main class, jar or module of a command line of java, into `to`. */
void hpx_target_name(const struct hpx_target *t, char *to, size_t size);

/* Calls fn for each JVM whose files we may read, ascending; ends where it returns false. */
void hpx_targets_each(bool (*fn)(void *ctx, const struct hpx_target *t), void *ctx);
/* The JVM of a number, or the only one whose main class, jar or command line has the word. HPX_USAGE: several, which were listed on
 * stderr. */
enum hpx_status hpx_target_find(const char *word, struct hpx_target *t, struct hpx_err *err);

#endif
