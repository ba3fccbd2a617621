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

#define LARGEST_JVM ((size_t)512 << 20) /* bytes of a library that is read: it is another user's, and may have no end */

/* ---- the release ---- */

/* The blocks overlap: the text may lie across two. */
static bool find_release(int fd, char *to, size_t size)
{
    static char block[(1 << 16) + HPX_FACTS_RELEASE];
    size_t kept = 0, all = 0;
    for (ssize_t n; all < LARGEST_JVM && (n = read(fd, block + kept, sizeof block - kept)) > 0;) {
        size_t len = kept + (size_t)n;
        all += (size_t)n;
        if (hpx_facts_release(block, len, to, size)) {
            return true;
        }
        kept = len < HPX_FACTS_RELEASE ? len : HPX_FACTS_RELEASE;
        memmove(block, block + len - kept, kept);
    }
    return false;
}

bool hpx_target_release(const struct hpx_target *t, char *to, size_t size)
{
    int fd = t->jvm_file[0] != 0 ? hpx_target_open_file(t, t->jvm_file) : -1;
    bool found = fd >= 0 && find_release(fd, to, size);
    if (fd >= 0) {
        (void)close(fd);
    }
    if (found) {
        (void)hpx_plain(to);
    }
    return found;
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

enum hpx_status hpx_target_lets_load(const struct hpx_target *t, struct hpx_err *err)
{
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
    enum hpx_status s = hpx_become(t, err);
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
