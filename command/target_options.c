/* SPDX-License-Identifier: BSD-2-Clause */
/* target_options.c: how a target was started, and whether that lets a library be loaded now. Contract: target.h. */
#include "facts.h"
#include "plain.h"
#include "target.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LARGEST      ((size_t)512 << 20) /* bytes of a library that is read: it is another user's, and may have no end */
#define OLDEST_GLIBC 17u                 /* 2.17: libc/README.md */

/* ---- what its libraries are ---- */

/* In blocks, until `found` is true. They overlap: what is looked for may lie across two. */
static bool search(const struct hpx_target *t, const char *file, bool (*found)(void *ctx, const char *bytes, size_t n), void *ctx)
{
    static char block[(1 << 16) + HPX_FACTS_RELEASE];
    size_t kept = 0, all = 0;
    bool is = false;
    int fd = file[0] != 0 ? hpx_target_open_file(t, file) : -1;
    for (ssize_t n; fd >= 0 && !is && all < LARGEST && (n = read(fd, block + kept, sizeof block - kept)) > 0;) {
        size_t len = kept + (size_t)n;
        all += (size_t)n;
        is = found(ctx, block, len);
        kept = len < HPX_FACTS_RELEASE ? len : HPX_FACTS_RELEASE;
        memmove(block, block + len - kept, kept);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return is;
}

struct text {
    char *to;
    size_t size;
};

static bool finds_release(void *text, const char *bytes, size_t n)
{
    const struct text *release = text;
    return hpx_facts_release(bytes, n, release->to, release->size);
}

bool hpx_target_release(const struct hpx_target *t, char *to, size_t size)
{
    struct text release = {to, size};
    bool found = search(t, t->jvm_file, finds_release, &release);
    if (found) {
        (void)hpx_plain(to);
    }
    return found;
}

static bool finds_glibc(void *newest, const char *bytes, size_t n)
{
    unsigned *so_far = newest, here = hpx_facts_glibc(bytes, n);
    *so_far = here > *so_far ? here : *so_far;
    return *so_far >= OLDEST_GLIBC;
}

/* An unknown C library may be one that is new enough. */
static enum hpx_status judge_glibc(const struct hpx_target *t, struct hpx_err *err)
{
    unsigned newest = 0;
    return search(t, t->libc_file, finds_glibc, &newest) || newest == 0
               ? HPX_OK
               : hpx_fail(err, HPX_REFUSED, "process %d runs with glibc 2.%u, and hprofx needs 2.%u or later; run it on a newer system",
                          (int)t->pid, newest, OLDEST_GLIBC);
}

/* ---- options ---- */

static enum hpx_flag flag_of_command(const struct hpx_target *t, const char *name)
{
    enum hpx_flag is = HPX_FLAG_ABSENT;
    const char *end = hpx_target_main_word(t);
    for (const char *word = hpx_target_word(t, NULL); word != NULL && word != end; word = hpx_target_word(t, word)) {
        enum hpx_flag said = hpx_flag_of_word(word, name);
        is = said != HPX_FLAG_ABSENT ? said : is;
    }
    return is;
}

bool hpx_target_names_options(const struct hpx_target *t)
{
    static const char *const begins[] = {"@", "-XX:Flags=", "-XX:VMOptionsFile="};
    const char *end = hpx_target_main_word(t);
    for (const char *word = hpx_target_word(t, NULL); word != NULL && word != end; word = hpx_target_word(t, word)) {
        for (size_t i = 0; i < HPX_ARRAY_LEN(begins); i++) {
            if (strncmp(word, begins[i], strlen(begins[i])) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Of a variable of the environment that it was started with. */
static enum hpx_flag flag_of_variable(const struct hpx_target *t, const char *variable, const char *name)
{
    enum hpx_flag is = HPX_FLAG_ABSENT;
    char file[64], *entry = NULL;
    size_t room = 0, n = strlen(variable);
    (void)snprintf(file, sizeof file, "/proc/%d/environ", (int)t->pid);
    FILE *f = fopen(file, "re");
    while (f != NULL && getdelim(&entry, &room, 0, f) > 0) {
        if (strncmp(entry, variable, n) == 0 && entry[n] == '=') {
            is = hpx_flag_of_text(entry + n + 1, name);
            break;
        }
    }
    free(entry);
    if (f != NULL) {
        (void)fclose(f);
    }
    return is;
}

/* JDK 8 knows no EnableDynamicAgentLoading and no JDK_JAVA_OPTIONS. */
static bool is_9_or_later(const struct hpx_target *t)
{
    char release[HPX_FACTS_RELEASE];
    return hpx_target_release(t, release, sizeof release) && hpx_facts_major(release) >= 9;
}

/* Of the programs of the JDK java alone reads JDK_JAVA_OPTIONS. */
static bool reads_jdk_options(const struct hpx_target *t)
{
    const char *slash = strrchr(t->command, '/');
    return strcmp(slash != NULL ? slash + 1 : t->command, "java") == 0 && is_9_or_later(t);
}

/* In the order of the JVM: what comes first is asked last. */
enum hpx_flag hpx_target_flag(const struct hpx_target *t, const char *name)
{
    enum hpx_flag is = flag_of_variable(t, "_JAVA_OPTIONS", name);
    is = is != HPX_FLAG_ABSENT ? is : flag_of_command(t, name);
    if (is == HPX_FLAG_ABSENT) {
        is = flag_of_variable(t, "JDK_JAVA_OPTIONS", name);
        is = is != HPX_FLAG_ABSENT && reads_jdk_options(t) ? is : HPX_FLAG_ABSENT;
    }
    return is != HPX_FLAG_ABSENT ? is : flag_of_variable(t, "JAVA_TOOL_OPTIONS", name);
}

/* ---- loading ---- */

/* An agent that it has loaded answers. */
static enum hpx_status judge_musl(const struct hpx_target *t, struct hpx_err *err)
{
    return t->musl && t->library[0] == 0
               ? hpx_fail(err, HPX_REFUSED,
                          "process %d runs on musl, with which no JVM was tried; to try it start it with -agentpath:libhprofx.so=start=n",
                          (int)t->pid)
               : HPX_OK;
}

enum hpx_status hpx_target_lets_load(const struct hpx_target *t, struct hpx_err *err)
{
    enum hpx_status s = judge_musl(t, err);
    s = s == HPX_OK ? judge_glibc(t, err) : s;
    if (s != HPX_OK) {
        return s;
    }
    if (hpx_target_flag(t, "DisableAttachMechanism") == HPX_FLAG_ON) {
        return hpx_fail(
            err, HPX_REFUSED,
            "process %d was started with -XX:+DisableAttachMechanism; start it without, or with -agentpath:libhprofx.so=start=n",
            (int)t->pid);
    }
    if (hpx_target_flag(t, "EnableDynamicAgentLoading") == HPX_FLAG_OFF && is_9_or_later(t)) {
        return hpx_fail(
            err, HPX_REFUSED,
            "process %d was started with -XX:-EnableDynamicAgentLoading; start it without, or with -agentpath:libhprofx.so=start=n",
            (int)t->pid);
    }
    s = hpx_become(t, err);
    if (s != HPX_OK) {
        return s;
    }
    int why = faccessat(t->tmp, ".", W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
    hpx_become_self();
    return why == 0 ? HPX_OK
                    : hpx_fail(err, HPX_FAILED,
                               "process %d cannot write to its /tmp, where it must listen for commands: %s; mount one that it can write to",
                               (int)t->pid, strerror(why));
}

enum hpx_status hpx_target_lets_copy(const struct hpx_target *t, struct hpx_err *err)
{
    struct statvfs s;
    return fstatvfs(t->tmp, &s) == 0 && (s.f_flag & ST_NOEXEC) != 0
               ? hpx_fail(err, HPX_REFUSED,
                          "process %d sees no library of hprofx, and its /tmp is mounted noexec; mount it without, or let the process see "
                          "the library",
                          (int)t->pid)
               : HPX_OK;
}
