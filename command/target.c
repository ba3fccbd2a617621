/* SPDX-License-Identifier: BSD-2-Clause */
/* target.c: processes of target.h. */
#include "target.h"
#include "plain.h"
#include "proc.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define GROUPS_MAX 65536
#define END_MS     3000
#define SECOND     UINT64_C(1000000000)

/* Fields of stat (proc(5)), and a bit of the flags (linux/sched.h). */
enum { FLAGS = 9, START = 22, IS_EXITING = 4 };

static FILE *open_of(pid_t pid, const char *file)
{
    char name[64];
    (void)snprintf(name, sizeof name, "/proc/%d/%s", (int)pid, file);
    return fopen(name, "re");
}

/* The last number of a line: the innermost namespace. */
static int last_number(const char *line)
{
    const char *at = strrchr(line, '\t');
    return at != NULL ? atoi(at + 1) : 0;
}

/* false: there is no such process; the number of a thread is none. */
static bool read_status(struct hpx_target *t)
{
    char line[512];
    unsigned long uid, gid;
    bool leads = true;
    FILE *f = open_of(t->pid, "status");
    if (f == NULL) {
        return false;
    }
    t->own_pid = t->pid;
    while (fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "Tgid:", 5) == 0) {
            leads = last_number(line) == t->pid;
        } else if (strncmp(line, "NSpid:", 6) == 0) {
            t->own_pid = last_number(line);
        } else if (sscanf(line, "Uid: %*u %lu", &uid) == 1) {
            t->uid = (uid_t)uid;
        } else if (sscanf(line, "Gid: %*u %lu", &gid) == 1) {
            t->gid = (gid_t)gid;
        } else if (strncmp(line, "SigCgt:", 7) == 0) {
            t->catches_quit = (strtoull(line + 7, NULL, 16) >> (SIGQUIT - 1) & 1) != 0;
        }
    }
    (void)fclose(f);
    return leads;
}

/* A number in stat; the name before it may have blanks and brackets. */
static uint64_t stat_field(pid_t pid, int which)
{
    char text[1024];
    FILE *f = open_of(pid, "stat");
    size_t n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f != NULL) {
        (void)fclose(f);
    }
    text[n] = 0;
    const char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < which; field++) {
        at = strchr(at + 1, ' ');
    }
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}

uint64_t hpx_target_started(pid_t pid)
{
    return stat_field(pid, START);
}

uint64_t hpx_target_age(const struct hpx_target *t)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    uint64_t at = (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
    uint64_t born = t->started * (SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
    return at > born ? at - born : 0;
}

bool hpx_target_is_stopped(const struct hpx_target *t)
{
    char text[1024];
    const char *at = hpx_proc_read("", t->pid, 0, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    return at != NULL && (strncmp(at, ") T", 3) == 0 || strncmp(at, ") t", 3) == 0);
}

bool hpx_target_is_exiting(const struct hpx_target *t)
{
    return hpx_target_started(t->pid) != t->started || (stat_field(t->pid, FLAGS) & IS_EXITING) != 0;
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* The agent, or a copy of ours; not the library for agents of JVMPI. */
static bool is_agent(const char *file)
{
    const char *base = strrchr(file, '/');
    return base != NULL && strncmp(base, "/libhprofx", 10) == 0 && strncmp(base + 10, "-jvmpi", 6) != 0;
}

/* "" if /etc/group lacks it. Not getgrgid(): in a static program that loads libraries of the C library that is installed. */
static void name_group(gid_t gid, char *name, size_t room)
{
    FILE *groups = fopen("/etc/group", "re");
    const struct group *g = NULL;
    do {
        g = groups != NULL ? fgetgrent(groups) : NULL;
    } while (g != NULL && g->gr_gid != gid);
    (void)snprintf(name, room, "%.60s", g != NULL ? g->gr_name : "");
    (void)hpx_plain(name);
    if (groups != NULL) {
        (void)fclose(groups);
    }
}

static enum hpx_status other_group(const struct hpx_target *t, struct hpx_err *err)
{
    char name[64];
    name_group(t->gid, name, sizeof name);
    return hpx_fail(err, HPX_NOT_PERMITTED,
                    "process %d runs in group %u%s%s%s and this command in group %u, so the kernel and the JVM refuse it; run it in that "
                    "group: sg %u -c 'hprofx ...', or become root",
                    (int)t->pid, (unsigned)t->gid, name[0] != 0 ? " (" : "", name, name[0] != 0 ? ")" : "", (unsigned)getegid(),
                    (unsigned)t->gid);
}

static enum hpx_status not_permitted(const struct hpx_target *t, struct hpx_err *err)
{
    if (geteuid() == 0 && t->uid != 0) { /* as in a container */
        return hpx_fail(err, HPX_NOT_PERMITTED,
                        "root lacks the capability SYS_PTRACE here, to look at process %d; become user %u, or add it", (int)t->pid,
                        (unsigned)t->uid);
    }
    if (geteuid() != t->uid) {
        return hpx_fail(err, HPX_NOT_PERMITTED, "process %d belongs to another user; become user %u, or root", (int)t->pid,
                        (unsigned)t->uid);
    }
    if (getegid() != t->gid && geteuid() != 0) {
        return other_group(t, err);
    }
    return hpx_fail(err, HPX_NOT_PERMITTED,
                    "process %d has rights that its user lacks, and its own files; become root, or run the command where it runs",
                    (int)t->pid);
}

/* Without a look at its memory: as the VM's threads are called, which on JDK 8 have no names, and its command line. */
static bool seems_jvm(pid_t pid)
{
    char name[64], text[64];
    bool is = hpx_proc_read("", pid, 0, "comm", text, sizeof text) && strcmp(text, "java\n") == 0;
    (void)snprintf(name, sizeof name, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(name);
    for (struct dirent *d; !is && tasks != NULL && (d = readdir(tasks)) != NULL;) {
        pid_t tid = atoi(d->d_name);
        is = tid > 0 && hpx_proc_read("", pid, tid, "comm", text, sizeof text) && strcmp(text, "VM Thread\n") == 0;
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
    return is;
}

/* The mounts that it sees are ours, by their numbers, which no two namespaces or roots share; everybody may read them. */
static bool has_our_mounts(pid_t pid)
{
    char own[1024], its[1024];
    FILE *a = open_of(getpid(), "mountinfo"), *b = open_of(pid, "mountinfo");
    bool same = a != NULL && b != NULL, any = false, more = true;
    while (same && more) {
        more = fgets(own, sizeof own, a) != NULL;
        same = (fgets(its, sizeof its, b) != NULL) == more && (!more || strcmp(own, its) == 0);
        any = any || more;
    }
    if (a != NULL) {
        (void)fclose(a);
    }
    if (b != NULL) {
        (void)fclose(b);
    }
    return same && any;
}

/* The kernel shows no memory, root and namespaces of a process with capabilities that we lack. HotSpot lets its user attach all the same,
 * which needs its files alone: those are known if they are ours. */
static enum hpx_status look_from_outside(struct hpx_target *t, struct hpx_err *err)
{
    if ((geteuid() == t->uid || geteuid() == 0) && !seems_jvm(t->pid)) {
        return HPX_OK; /* judge() says so */
    }
    t->hidden = t->jvm = geteuid() == t->uid && getegid() == t->gid && has_our_mounts(t->pid);
    t->same_files = t->hidden;
    return t->hidden ? HPX_OK : not_permitted(t, err);
}

void hpx_target_rename_file(const struct hpx_target *t, char *file)
{
    char link[64], root[PATH_MAX];
    (void)snprintf(link, sizeof link, "/proc/%d/root", (int)t->pid);
    ssize_t n = readlink(link, root, sizeof root);
    if (n > 1 && strncmp(file, root, (size_t)n) == 0 && file[n] == '/') {
        memmove(file, file + n, strlen(file + n) + 1);
    }
}

/* Before 2.34 the name of glibc's file has its release. Programs also map files that they read: the C library is executed. */
static bool is_libc(const char *line, const char *file)
{
    const char *base = strrchr(file, '/') + 1, *rights = strchr(line, ' ');
    return rights != NULL && strncmp(rights, " r-x", 4) == 0 &&
           (strcmp(base, "libc.so.6") == 0 || (strncmp(base, "libc-2.", 7) == 0 && ends_with(base, ".so")));
}

/* Of several agents that the target has mapped: the first one behind `after` in the order of their names. */
static void take_library(struct hpx_target *t, char *file, const char *after)
{
    if (!is_agent(file)) {
        return;
    }
    hpx_target_rename_file(t, file);
    if (strlen(file) < sizeof t->library && strcmp(file, after) > 0 && (t->library[0] == 0 || strcmp(file, t->library) < 0)) {
        (void)snprintf(t->library, sizeof t->library, "%s", file);
    }
}

static enum hpx_status read_maps(struct hpx_target *t, const char *after, struct hpx_err *err)
{
    char line[PATH_MAX + 128];
    FILE *f = open_of(t->pid, "maps");
    if (f == NULL) {
        return errno == EACCES || errno == EPERM ? look_from_outside(t, err)
                                                 : hpx_fail(err, HPX_NO_JVM, "there is no process %d", (int)t->pid);
    }
    while (fgets(line, sizeof line, f) != NULL) {
        char *file = strchr(line, '/'), *gone;
        if (file == NULL) {
            continue;
        }
        file[strcspn(file, "\n")] = 0;
        gone = strstr(file, " (deleted)");
        if (gone != NULL) {
            *gone = 0;
        }
        if (ends_with(file, "/libjvm.so")) {
            t->jvm = true;
            if (gone == NULL && strlen(file) < sizeof t->jvm_file) {
                (void)snprintf(t->jvm_file, sizeof t->jvm_file, "%s", file);
            }
        }
        if (gone == NULL && t->libc_file[0] == 0 && strlen(file) < sizeof t->libc_file && is_libc(line, file)) {
            (void)snprintf(t->libc_file, sizeof t->libc_file, "%s", file);
        }
        t->openj9 = t->openj9 || strstr(file, "/libj9vm") != NULL;
        t->musl = t->musl || strstr(file, "/ld-musl-") != NULL;
        take_library(t, file, after);
    }
    (void)fclose(f);
    hpx_target_rename_file(t, t->jvm_file);
    hpx_target_rename_file(t, t->libc_file);
    return HPX_OK;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

static void compare_files(struct hpx_target *t)
{
    char namespace[64], root[64];
    (void)snprintf(namespace, sizeof namespace, "/proc/%d/ns/mnt", (int)t->pid);
    (void)snprintf(root, sizeof root, "/proc/%d/root", (int)t->pid);
    t->same_files = same_file("/proc/self/ns/mnt", namespace) && same_file("/", root);
}

bool hpx_target_next_library(struct hpx_target *t)
{
    char after[sizeof t->library];
    memcpy(after, t->library, sizeof after);
    t->library[0] = 0;
    bool there = read_maps(t, after, NULL) == HPX_OK && t->library[0] != 0;
    if (!there) {
        memcpy(t->library, after, sizeof after);
    }
    return there;
}

enum hpx_status hpx_target_read(pid_t pid, struct hpx_target *t, struct hpx_err *err)
{
    memset(t, 0, offsetof(struct hpx_target, command));
    t->pid = pid;
    t->pidfd = t->cwd = t->tmp = -1;
    if (!read_status(t)) {
        return hpx_fail(err, HPX_NO_JVM, "there is no process %d", (int)pid);
    }
    t->started = hpx_target_started(pid);
    compare_files(t);
    enum hpx_status s = read_maps(t, "", err);
    hpx_target_read_words(t);
    return s;
}

/* ---- a hold on it ---- */

static int open_folder(pid_t pid, const char *name)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Follows no link. */
static int walk_from_root(int root, const char *file, int flags)
{
    char name[NAME_MAX + 1];
    for (int at = root;;) {
        file += strspn(file, "/");
        size_t n = strcspn(file, "/");
        bool last = file[n] == 0;
        int fd = -1;
        (void)snprintf(name, sizeof name, "%.*s", (int)(n < NAME_MAX ? n : NAME_MAX), file);
        errno = ELOOP;
        if (n <= NAME_MAX && strcmp(name, "..") != 0) {
            fd = openat(at, name, O_NOFOLLOW | (last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC));
        }
        int failed = errno;
        if (at != root) {
            (void)close(at);
        }
        errno = failed;
        if (fd < 0 || last) {
            return fd;
        }
        at = fd;
        file += n;
    }
}

/* Links lead to where they would lead the target, not to a file of ours. The names in /proc/PID/maps have none. */
static int open_in_root(int root, const char *file, int flags)
{
    struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT};
    int fd = root >= 0 ? (int)syscall(SYS_openat2, root, file, &how, sizeof how) : -1;
    if (fd < 0 && root >= 0 && (errno == ENOSYS || errno == EPERM)) { /* older kernels; filters of system calls */
        fd = walk_from_root(root, file, flags);
    }
    return fd;
}

static int open_root(const struct hpx_target *t)
{
    return t->hidden ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : open_folder(t->pid, "root");
}

static int open_tmp(const struct hpx_target *t)
{
    int root = open_root(t);
    int fd = open_in_root(root, "tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int failed = errno;
    if (root >= 0) {
        (void)close(root);
    }
    errno = failed;
    return fd;
}

static enum hpx_status judge(const struct hpx_target *t, struct hpx_err *err)
{
    const int pid = (int)t->pid;
    if (t->openj9) {
        return hpx_fail(err, HPX_REFUSED,
                        "process %d runs OpenJ9, to which hprofx cannot attach; load it at the start: -agentpath:libhprofx.so", pid);
    }
    if (!t->jvm && hpx_target_is_exiting(t)) {
        return hpx_fail(err, HPX_NO_JVM, "process %d has ended", pid);
    }
    if (!t->jvm) {
        return hpx_fail(err, HPX_NO_JVM, "process %d is no JVM; `hprofx list` shows those that run", pid);
    }
    if (geteuid() != 0 && geteuid() != t->uid) {
        return not_permitted(t, err);
    }
    return HPX_OK;
}

/* As the user of the target, who could name any file. */
int hpx_target_open_file(const struct hpx_target *t, const char *name)
{
    struct stat s;
    int root = open_root(t), fd = -1;
    if (hpx_become(t, NULL) == HPX_OK) {
        fd = open_in_root(root, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        hpx_become_self();
    }
    if (root >= 0) {
        (void)close(root);
    }
    if (fd >= 0 && (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode))) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

bool hpx_target_has_socket(const struct hpx_target *t, const char *name)
{
    struct stat s;
    return fstatat(t->tmp, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(s.st_mode) && s.st_uid == t->uid;
}

enum hpx_status hpx_target_open(struct hpx_target *t, struct hpx_err *err)
{
    enum hpx_status s = judge(t, err);
    if (s != HPX_OK) {
        return s;
    }
    t->pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
    t->cwd = open_folder(t->pid, "cwd");
    t->tmp = open_tmp(t);
    int failed = errno;
    if (hpx_target_started(t->pid) != t->started || (t->tmp < 0 && hpx_target_is_exiting(t))) {
        return hpx_fail(err, HPX_NO_JVM, "process %d has ended", (int)t->pid);
    }
    return t->tmp >= 0 ? HPX_OK
                       : hpx_fail(err, failed == ENOENT ? HPX_REFUSED : HPX_NOT_PERMITTED, "cannot reach /tmp of process %d: %s",
                                  (int)t->pid, strerror(failed));
}

void hpx_target_close(struct hpx_target *t)
{
    int *const all[] = {&t->pidfd, &t->cwd, &t->tmp};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        if (*all[i] >= 0) {
            (void)close(*all[i]);
            *all[i] = -1;
        }
    }
}

enum hpx_status hpx_target_takes_quit(const struct hpx_target *t, struct hpx_err *err)
{
    static struct hpx_target now;
    now.pid = t->pid;
    if (!read_status(&now) || hpx_target_started(t->pid) != t->started) {
        return hpx_fail(err, HPX_NO_JVM, "process %d has ended", (int)t->pid);
    }
    if (!now.catches_quit) {
        return hpx_fail(err, hpx_target_age(t) < HPX_TARGET_STARTS && !hpx_target_has_word(t, "-Xrs") ? HPX_NOT_LIVE : HPX_REFUSED,
                        "process %d takes no SIGQUIT: it was started with -Xrs, or is starting; start it without -Xrs, or try again",
                        (int)t->pid);
    }
    return HPX_OK;
}

enum hpx_status hpx_target_quit(const struct hpx_target *t, struct hpx_err *err)
{
    enum hpx_status s = hpx_target_takes_quit(t, err);
    if (s != HPX_OK) {
        return s;
    }
    long rc = t->pidfd >= 0 ? syscall(SYS_pidfd_send_signal, t->pidfd, SIGQUIT, NULL, 0) : kill(t->pid, SIGQUIT);
    return rc == 0 ? HPX_OK
                   : hpx_fail(err, errno == ESRCH ? HPX_NO_JVM : HPX_NOT_PERMITTED, "cannot signal process %d: %s", (int)t->pid,
                              strerror(errno));
}

bool hpx_target_ended(const struct hpx_target *t)
{
    struct pollfd p = {.fd = t->pidfd, .events = POLLIN};
    return t->pidfd >= 0 ? poll(&p, 1, 0) > 0 : hpx_target_started(t->pid) != t->started;
}

bool hpx_target_ends(const struct hpx_target *t)
{
    struct pollfd p = {.fd = t->pidfd, .events = POLLIN};
    return t->pidfd >= 0 ? poll(&p, 1, END_MS) > 0 : hpx_target_ended(t);
}

bool hpx_target_is_peer(const struct hpx_target *t, int fd)
{
    struct ucred who;
    socklen_t size = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.pid == t->pid && who.uid == t->uid;
}

static struct {
    int n;
    gid_t *of;
} groups; /* of root, while it is somebody else */

enum hpx_status hpx_become(const struct hpx_target *t, struct hpx_err *err)
{
    if (geteuid() != 0 || t->uid == 0) {
        return HPX_OK;
    }
    if (groups.of == NULL && (groups.of = calloc(GROUPS_MAX, sizeof *groups.of)) != NULL) {
        groups.n = getgroups(GROUPS_MAX, groups.of);
    }
    if (groups.of == NULL || groups.n < 0 || setgroups(1, &t->gid) != 0 || setegid(t->gid) != 0 || seteuid(t->uid) != 0) {
        int failed = errno;
        hpx_become_self();
        return hpx_fail(err, HPX_NOT_PERMITTED, "cannot become user %u: %s; be that user, or root with the capabilities SETUID and SETGID",
                        (unsigned)t->uid, strerror(failed));
    }
    return HPX_OK;
}

void hpx_become_self(void)
{
    if (getuid() != 0) {
        return;
    }
    (void)!seteuid(0);
    (void)!setegid(getgid());
    if (groups.of != NULL && groups.n >= 0) {
        (void)!setgroups((size_t)groups.n, groups.of);
    }
}

/* ---- all of them ---- */

static int by_number(const struct dirent **a, const struct dirent **b)
{
    int x = atoi((*a)->d_name), y = atoi((*b)->d_name);
    return (x > y) - (x < y);
}

static int is_number(const struct dirent *e)
{
    return e->d_name[0] >= '1' && e->d_name[0] <= '9';
}

void hpx_targets_each(bool (*fn)(void *ctx, const struct hpx_target *t), void *ctx)
{
    static struct hpx_target t;
    struct dirent **all;
    bool more = true;
    int n = scandir("/proc", &all, is_number, by_number);
    for (int i = 0; i < n; i++) {
        pid_t pid = atoi(all[i]->d_name);
        if (more && pid != getpid() && hpx_target_read(pid, &t, NULL) == HPX_OK && (t.jvm || t.openj9)) {
            more = fn(ctx, &t);
        }
        free(all[i]);
    }
    if (n >= 0) {
        free(all);
    }
}

struct search {
    const char *word;
    struct hpx_target *found;
    unsigned n;
};

static void list_on_stderr(const struct hpx_target *t)
{
    char line[256] = "";
    size_t n = 0;
    for (const char *word = hpx_target_word(t, NULL); word != NULL && n < sizeof line; word = hpx_target_word(t, word)) {
        int k = snprintf(line + n, sizeof line - n, "%s%s", n > 0 ? " " : "", word);
        n += k > 0 ? (size_t)k : 0;
    }
    (void)fprintf(stderr, "%7d  %s\n", (int)t->pid, hpx_plain(line));
}

static bool match(void *ctx, const struct hpx_target *t)
{
    struct search *s = ctx;
    const char *word = hpx_target_word(t, NULL);
    while (word != NULL && strstr(word, s->word) == NULL) {
        word = hpx_target_word(t, word);
    }
    if (word == NULL) {
        return true;
    }
    s->n++;
    if (s->n == 1) {
        *s->found = *t;
    } else {
        if (s->n == 2) {
            list_on_stderr(s->found);
        }
        list_on_stderr(t);
    }
    return true;
}

enum hpx_status hpx_target_find(const char *word, struct hpx_target *t, struct hpx_err *err)
{
    char *end;
    long pid = strtol(word, &end, 10);
    if (*word != 0 && *end == 0) {
        return pid > 0 && pid <= INT_MAX ? hpx_target_read((pid_t)pid, t, err) : hpx_fail(err, HPX_NO_JVM, "there is no process %s", word);
    }
    struct search s = {.word = word, .found = t};
    hpx_targets_each(match, &s);
    if (s.n > 1) {
        return hpx_fail(err, HPX_USAGE, "%u JVMs match \"%s\"; give a number, or more of the name", s.n, word);
    }
    return s.n == 1 ? HPX_OK : hpx_fail(err, HPX_NO_JVM, "no JVM matches \"%s\"; `hprofx list` shows those that run", word);
}
