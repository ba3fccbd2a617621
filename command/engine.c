/* SPDX-License-Identifier: BSD-2-Clause */
/* engine.c: see engine.h. */
#include "engine.h"
#include "asked.h"
#include "verbs.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool hpx_engine_option(struct hpx_engine_how *how, int option, const char *value)
{
    const char **to = option == HPX_O_HEADERS ? &how->headers
                      : option == HPX_O_CA    ? &how->ca
                      : option == HPX_O_CERT  ? &how->cert
                      : option == HPX_O_KEY   ? &how->key
                                              : NULL;
    if (to != NULL) {
        *to = value;
    }
    return to != NULL;
}

bool hpx_engine_is(const char *word)
{
    static const char scheme[] = "clickhouse:";
    return strncmp(word, scheme, sizeof scheme - 1) == 0;
}

/* The child's standard output and error go into files of memory. -1: errno. */
static int start(const char *url, const struct hpx_engine_how *how, int out, int said, pid_t *pid)
{
    const char *const files[][2] = {{"--headers", how->headers}, {"--ca", how->ca}, {"--cert", how->cert}, {"--key", how->key}};
    const char *argv[16] = {"hprofx", "fetch", "--output", "-"};
    size_t n = 4;
    for (size_t i = 0; i < HPX_ARRAY_LEN(files); i++) {
        if (files[i][1] != NULL) {
            argv[n++] = files[i][0];
            argv[n++] = files[i][1];
        }
    }
    argv[n++] = "--";
    argv[n] = url;
    posix_spawn_file_actions_t actions;
    errno = posix_spawn_file_actions_init(&actions);
    if (errno != 0) {
        return -1;
    }
    int rc = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    rc = rc != 0 ? rc : posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
    /* Last: without a standard input of this program, `out` has its number. */
    rc = rc != 0 ? rc : posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    rc = rc != 0 ? rc : posix_spawn(pid, hpx_asked_ship(), &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    errno = rc;
    return rc == 0 ? 0 : -1;
}

/* What the child said, without "hprofx: " and what follows its first line. */
static void first_line(int said, struct hpx_err *err)
{
    static const char before[] = "hprofx: ";
    char text[sizeof err->msg];
    ssize_t n = pread(said, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    bool named = strncmp(text, before, sizeof before - 1) == 0;
    (void)hpx_err_set(err, HPX_E_SYS, "%s",
                      text[0] == '\0' ? "hprofx-ship ended without a message" : text + (named ? sizeof before - 1 : 0));
}

/* Waits for the child: the status of the command. */
static enum hpx_status end(pid_t pid, int said, struct hpx_err *err)
{
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
    }
    if (ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == HPX_OK) {
        return HPX_OK;
    }
    first_line(said, err);
    int code = ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : HPX_FAILED;
    return code == HPX_USAGE || code == HPX_PARTIAL ? (enum hpx_status)code : HPX_FAILED;
}

int hpx_engine_open(const char *url, const struct hpx_engine_how *how, enum hpx_status *s, struct hpx_err *err)
{
    int out = memfd_create("profile", MFD_CLOEXEC), said = memfd_create("said", MFD_CLOEXEC);
    pid_t pid;
    if (out < 0 || said < 0) {
        *s = hpx_fail(err, HPX_FAILED, "no file in memory: %s", strerror(errno));
    } else if (start(url, how, out, said, &pid) != 0) {
        *s = hpx_fail(err, HPX_FAILED, "cannot run %s: %s; install hprofx-ship, or build hprofx with libcurl and libmicrohttpd",
                      hpx_asked_ship(), strerror(errno));
    } else {
        *s = end(pid, said, err);
    }
    if (said >= 0) {
        (void)close(said);
    }
    bool usable = (*s == HPX_OK || *s == HPX_PARTIAL) && lseek(out, 0, SEEK_SET) == 0;
    if (!usable && out >= 0) {
        (void)close(out);
    }
    return usable ? out : -1;
}
