/* SPDX-License-Identifier: BSD-2-Clause */
/* target.h: a JVM that runs, as /proc shows it: who it is, what it is, and where it sees files. */
#ifndef HPX_COMMAND_TARGET_H
#define HPX_COMMAND_TARGET_H

#include "flags.h"
#include "status.h"
#include <limits.h>
#include <sys/types.h>

#define HPX_TARGET_STARTS UINT64_C(60000000000) /* ns: a JVM may take so long until it handles SIGQUIT */

struct hpx_target {
    pid_t pid, own_pid; /* own_pid: as it sees itself, in its namespace */
    uint64_t started;   /* in ticks since boot: tells it from another that gets its number */
    uid_t uid;          /* effective */
    gid_t gid;
    bool same_files; /* it sees the files that we see */
    bool hidden;     /* the kernel shows us neither its memory nor its root; then same_files, and `library` is not known */
    bool jvm, openj9, musl;
    bool catches_quit;        /* SIGQUIT has a handler: without one it would end the process */
    char library[PATH_MAX];   /* the agent that it has loaded, or the first of several, as it sees the file; "": none */
    char jvm_file[PATH_MAX];  /* libjvm.so, likewise; "": none, or the file has been removed */
    char libc_file[PATH_MAX]; /* the C library, likewise */
    size_t command_len;
    char command[1 << 17]; /* its command line, each word with its 0; in place of @FILE, what java reads there */
    int pidfd, cwd, tmp;   /* hpx_target_open(): itself, its working directory, its /tmp; -1: not opened, or not possible */
};

/* HPX_OK, HPX_NO_JVM: there is no such process; HPX_NOT_PERMITTED: it cannot be looked at. */
enum hpx_status hpx_target_read(pid_t pid, struct hpx_target *t, struct hpx_err *err);
/* Of several agents that it has loaded t->library becomes the next one: the one that was loaded first answers. false: there is none. */
bool hpx_target_next_library(struct hpx_target *t);
/* Holds on to it and to its folders, as the caller; then says whether it can be attached to. HPX_OK, HPX_NO_JVM, HPX_NOT_PERMITTED,
 * HPX_REFUSED. hpx_target_close() in any case. */
enum hpx_status hpx_target_open(struct hpx_target *t, struct hpx_err *err);
void hpx_target_close(struct hpx_target *t);
/* The words of its command line one after the other; NULL: the first, and after the last. */
const char *hpx_target_word(const struct hpx_target *t, const char *word);
/* One of them is `wanted`. */
bool hpx_target_has_word(const struct hpx_target *t, const char *wanted);
/* Takes them over from /proc, and those of the files that they name. The rest of *t is known. */
void hpx_target_read_words(struct hpx_target *t);
/* A file as /proc names it gets the name that the target sees: it may have another root in our namespace. */
void hpx_target_rename_file(const struct hpx_target *t, char *file);
/* The word that names the program; the options are those before it. NULL: none. */
const char *hpx_target_main_word(const struct hpx_target *t);
/* Reads a regular file that the target sees under that name and its user may read. -1: there is none. The caller closes it. */
int hpx_target_open_file(const struct hpx_target *t, const char *name);
/* A flag of its command line and of the environment that it was started with; not of files that these name. */
enum hpx_flag hpx_target_flag(const struct hpx_target *t, const char *name);
/* Its command line names a file with more options. */
bool hpx_target_names_options(const struct hpx_target *t);
/* The release of its JVM, as its library names it, without controls; false: unknown. The target is open. */
bool hpx_target_release(const struct hpx_target *t, char *to, size_t size);
/* Its C library is not too old nor, without an agent yet, musl, none of its options forbids to load a library now, and it can listen in its
 * /tmp. The target is open. HPX_OK, HPX_REFUSED; HPX_NOT_PERMITTED: we cannot become its user; HPX_FAILED: the /tmp cannot be written to.
 */
enum hpx_status hpx_target_lets_load(const struct hpx_target *t, struct hpx_err *err);
/* A library can be loaded from its /tmp. The target is open. HPX_OK, HPX_REFUSED. */
enum hpx_status hpx_target_lets_copy(const struct hpx_target *t, struct hpx_err *err);
/* It is still the same process, and has a handler for SIGQUIT. HPX_OK, HPX_NO_JVM, HPX_REFUSED; HPX_NOT_LIVE: it is young, and may get one.
 */
enum hpx_status hpx_target_takes_quit(const struct hpx_target *t, struct hpx_err *err);
/* Its user has a socket of that name in its /tmp. The target is open. */
bool hpx_target_has_socket(const struct hpx_target *t, const char *name);
/* Sends SIGQUIT, if it is still the same process and has a handler. As hpx_target_takes_quit(); HPX_NOT_PERMITTED. */
enum hpx_status hpx_target_quit(const struct hpx_target *t, struct hpx_err *err);
/* When a process began, in ticks since boot; 0: there is none, or it cannot be looked at. */
uint64_t hpx_target_started(pid_t pid);
/* In nanoseconds. */
uint64_t hpx_target_age(const struct hpx_target *t);
/* It has ended, or its files and folders can no longer be reached. */
bool hpx_target_is_exiting(const struct hpx_target *t);
/* A signal or a debugger has stopped it. */
bool hpx_target_is_stopped(const struct hpx_target *t);
/* It has ended. */
bool hpx_target_ended(const struct hpx_target *t);
/* The same for one whose socket was closed: a process that ends closes its sockets before it has ended, so this waits 3 s at most, or until
 * a signal. */
bool hpx_target_ends(const struct hpx_target *t);
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
