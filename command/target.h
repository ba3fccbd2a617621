/* SPDX-License-Identifier: BSD-2-Clause */
/* target.h: a JVM that runs, as /proc shows it: who it is, what it is, and where it sees files. */
#ifndef HPX_COMMAND_TARGET_H
#define HPX_COMMAND_TARGET_H

#include "status.h"
#include <limits.h>
#include <sys/types.h>

struct hpx_target {
    pid_t pid, own_pid; /* own_pid: as it sees itself, in its namespace */
    uint64_t started;   /* in ticks since boot: tells it from another that gets its number */
    uid_t uid;          /* effective */
    gid_t gid;
    bool same_files; /* it sees the files that we see */
    bool jvm, openj9, musl;
    bool catches_quit;      /* SIGQUIT has a handler: without one it would end the process */
    char library[PATH_MAX]; /* the agent that it has loaded, as it sees the file; "": none */
    size_t command_len;
    char command[1 << 17]; /* its command line, each word with its 0 */
    int pidfd, cwd, tmp;   /* hpx_target_open(): itself, its working directory, its /tmp; -1: not opened, or not possible */
};

/* HPX_OK, HPX_NO_JVM: there is no such process; HPX_NOT_PERMITTED: it cannot be looked at. */
enum hpx_status hpx_target_read(pid_t pid, struct hpx_target *t, struct hpx_err *err);
/* Holds on to it and to its folders, as the caller; then says whether it can be attached to. HPX_OK, HPX_NO_JVM, HPX_NOT_PERMITTED,
 * HPX_REFUSED. hpx_target_close() in any case. */
enum hpx_status hpx_target_open(struct hpx_target *t, struct hpx_err *err);
void hpx_target_close(struct hpx_target *t);
/* No option of its command line forbids to load a library now. HPX_OK, HPX_REFUSED. */
enum hpx_status hpx_target_lets_load(const struct hpx_target *t, struct hpx_err *err);
/* Sends SIGQUIT, if it is still the same process and has a handler. HPX_OK, HPX_NO_JVM, HPX_NOT_PERMITTED, HPX_REFUSED. */
enum hpx_status hpx_target_quit(const struct hpx_target *t, struct hpx_err *err);
/* It has ended. */
bool hpx_target_ended(const struct hpx_target *t);
/* The process at the other end of a connected socket is it. */
bool hpx_target_is_peer(const struct hpx_target *t, int fd);
/* The rest of the process has the target's user and groups, if it is root's: what it makes belongs to the target. Ended by the second. */
enum hpx_status hpx_become(const struct hpx_target *t, struct hpx_err *err);
void hpx_become_self(void);

/* The main class, jar or module, without controls. */
void hpx_target_name(const struct hpx_target *t, char *to, size_t size);
/* Calls fn for each JVM that we may look at, ascending; ends where it returns false. */
void hpx_targets_each(bool (*fn)(void *ctx, const struct hpx_target *t), void *ctx);
/* The JVM of a number, or the only one whose command line has the word. HPX_USAGE: several, which were listed on stderr. */
enum hpx_status hpx_target_find(const char *word, struct hpx_target *t, struct hpx_err *err);

#endif
