/* SPDX-License-Identifier: BSD-2-Clause */
/* target.c: processes of target.h. */
#include "target.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool read_status(struct hpx_target *t)
{
    char line[512];
    unsigned long uid, gid;
    FILE *f = open_of(t->pid, "status");
    if (f == NULL) {
        return false;
    }
    t->own_pid = t->pid;
    while (fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "NSpid:", 6) == 0) {
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
    return true;
}

static void read_command(struct hpx_target *t)
{
    FILE *f = open_of(t->pid, "cmdline");
    size_t n = f != NULL ? fread(t->command, 1, sizeof t->command - 1, f) : 0;
    while (n > 0 && t->command[n - 1] == 0) {
        n--;
    }
    t->command[n] = 0;
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)t->command[i] < ' ' || t->command[i] == 127) {
            t->command[i] = ' ';
        }
    }
    if (f != NULL) {
        (void)fclose(f);
    }
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* The agent under its own name, under HPROF's, or as a copy of ours. */
static bool is_agent(const char *file)
{
    const char *base = strrchr(file, '/');
    return base != NULL && (strncmp(base, "/libhprofx", 10) == 0 || strcmp(base, "/libhprof.so") == 0);
}

static enum hpx_status read_maps(struct hpx_target *t, struct hpx_err *err)
{
    char line[PATH_MAX + 128];
    FILE *f = open_of(t->pid, "maps");
    if (f == NULL) {
        return errno == EACCES || errno == EPERM
                   ? hpx_fail(err, HPX_NOT_PERMITTED, "process %d belongs to another user; become user %u, or root", (int)t->pid,
                              (unsigned)t->uid)
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
        t->jvm = t->jvm || ends_with(file, "/libjvm.so");
        t->openj9 = t->openj9 || strstr(file, "/libj9vm") != NULL;
        t->musl = t->musl || strstr(file, "/ld-musl-") != NULL;
        if (is_agent(file) && strlen(file) < sizeof t->library) {
            (void)snprintf(t->library, sizeof t->library, "%s", file);
        }
    }
    (void)fclose(f);
    return HPX_OK;
}

/* Whether it sees the files that we see. */
static bool same_files(pid_t pid)
{
    char name[64];
    struct stat own, its, own_root, its_root;
    (void)snprintf(name, sizeof name, "/proc/%d/ns/mnt", (int)pid);
    bool same = stat("/proc/self/ns/mnt", &own) == 0 && stat(name, &its) == 0 && own.st_ino == its.st_ino;
    (void)snprintf(name, sizeof name, "/proc/%d/root", (int)pid);
    return same && stat("/", &own_root) == 0 && stat(name, &its_root) == 0 && own_root.st_ino == its_root.st_ino &&
           own_root.st_dev == its_root.st_dev;
}

/* /proc names files as we see them; it may have another root in the same namespace. */
static void rename_library(struct hpx_target *t)
{
    char link[64], root[PATH_MAX];
    (void)snprintf(link, sizeof link, "/proc/%d/root", (int)t->pid);
    ssize_t n = readlink(link, root, sizeof root);
    if (n > 1 && strncmp(t->library, root, (size_t)n) == 0 && t->library[n] == '/') {
        memmove(t->library, t->library + n, strlen(t->library + n) + 1);
    }
}

enum hpx_status hpx_target_read(pid_t pid, struct hpx_target *t, struct hpx_err *err)
{
    memset(t, 0, sizeof *t);
    t->pid = pid;
    if (!read_status(t)) {
        return hpx_fail(err, HPX_NO_JVM, "there is no process %d", (int)pid);
    }
    read_command(t);
    if (!same_files(pid)) {
        (void)snprintf(t->root, sizeof t->root, "/proc/%d/root", (int)pid);
    }
    enum hpx_status s = read_maps(t, err);
    rename_library(t);
    return s;
}

enum hpx_status hpx_target_check(const struct hpx_target *t, struct hpx_err *err)
{
    const int pid = (int)t->pid;
    if (t->openj9) {
        return hpx_fail(err, HPX_REFUSED,
                        "process %d runs OpenJ9, to which hprofx cannot attach; load it at the start: -agentpath:libhprofx.so", pid);
    }
    if (!t->jvm) {
        return hpx_fail(err, HPX_NO_JVM, "process %d is no JVM; `hprofx list` shows those that run", pid);
    }
    if (t->musl) {
        return hpx_fail(err, HPX_REFUSED, "process %d runs on musl, and this hprofx is built for glibc", pid);
    }
    if (geteuid() != 0 && geteuid() != t->uid) {
        return hpx_fail(err, HPX_NOT_PERMITTED, "process %d belongs to another user; become user %u, or root", pid, (unsigned)t->uid);
    }
    if (strstr(t->command, "-XX:+DisableAttachMechanism") != NULL) {
        return hpx_fail(err, HPX_REFUSED,
                        "process %d was started with -XX:+DisableAttachMechanism; start it without, or load hprofx at its start", pid);
    }
    if (!t->catches_quit) {
        return hpx_fail(err, HPX_REFUSED,
                        "process %d takes no SIGQUIT: it was started with -Xrs, or is about to start; try again, or start it without -Xrs",
                        pid);
    }
    return HPX_OK;
}

/* Options of java whose value is the next word. */
static bool takes_word(const char *option)
{
    static const char *const known[] = {"-cp",
                                        "-classpath",
                                        "--class-path",
                                        "-p",
                                        "--module-path",
                                        "--upgrade-module-path",
                                        "--add-modules",
                                        "--add-exports",
                                        "--add-opens",
                                        "--add-reads",
                                        "--limit-modules",
                                        "--patch-module",
                                        "--enable-native-access",
                                        "-d"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(known); i++) {
        if (strcmp(option, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

void hpx_target_name(const struct hpx_target *t, char *to, size_t size)
{
    char copy[sizeof t->command], *rest = copy;
    memcpy(copy, t->command, sizeof copy);
    (void)strtok_r(copy, " ", &rest); /* java itself */
    for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;) {
        if (takes_word(word)) {
            (void)strtok_r(NULL, " ", &rest);
        } else if (word[0] != '-' && word[0] != '@') {
            const char *base = ends_with(word, ".jar") && strrchr(word, '/') != NULL ? strrchr(word, '/') + 1 : word;
            (void)snprintf(to, size, "%s", base);
            return;
        }
    }
    (void)snprintf(to, size, "?");
}

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
    char name[256];
    hpx_target_name(t, name, sizeof name);
    (void)fprintf(stderr, "%7d  %s\n", (int)t->pid, name);
}

static bool match(void *ctx, const struct hpx_target *t)
{
    struct search *s = ctx;
    char name[256];
    hpx_target_name(t, name, sizeof name);
    if (strstr(name, s->word) == NULL && strstr(t->command, s->word) == NULL) {
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
