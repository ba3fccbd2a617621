/* SPDX-License-Identifier: BSD-2-Clause */
/* launch.c: see launch.h. */
#include "launch.h"
#include "clock.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* used: by the program, to its end. */
static int wait_child(pid_t child, struct hpx_usage *used)
{
    int status = 0;
    uint64_t begin = hpx_clock_mono();
    struct rusage r = {0};
    while (wait4(child, &status, 0, &r) < 0 && errno == EINTR) {
    }
    *used = (struct hpx_usage){.at = (double)(hpx_clock_mono() - begin) / 1e9, .cpus = hpx_usage_cpus(0)};
    used->total = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static volatile sig_atomic_t child, ending; /* ending: the signal that shall end the program, until it is there */

static void on_end(int number)
{
    ending = number;
    if (child > 0) {
        (void)kill(child, number);
    }
}

/* The program, with the agent as its first option. It gets the terminal's signals itself, and those that end us. */
static int run_with(char **argv, char *load, struct hpx_usage *used)
{
    static const struct {
        int number;
        void (*handler)(int);
    } signals[] = {{SIGINT, SIG_IGN}, {SIGQUIT, SIG_IGN}, {SIGPIPE, SIG_DFL}, {SIGTERM, on_end}, {SIGHUP, on_end}};
    struct sigaction was[HPX_ARRAY_LEN(signals)];
    size_t words = 1; /* the caller has seen the first */
    while (argv[words] != NULL) {
        words++;
    }
    char **with = calloc(words + 2, sizeof *with);
    if (with == NULL) {
        (void)fputs("hprofx: no memory\n", stderr);
        return HPX_FAILED;
    }
    with[0] = argv[0];
    with[1] = load;
    memcpy(with + 2, argv + 1, words * sizeof *with);
    for (size_t i = 0; i < HPX_ARRAY_LEN(signals); i++) {
        const struct sigaction a = {.sa_handler = signals[i].handler};
        if (sigaction(signals[i].number, NULL, &was[i]) == 0 && (was[i].sa_handler != SIG_IGN || signals[i].number == SIGPIPE)) {
            (void)sigaction(signals[i].number, &a, NULL);
        }
    }
    pid_t pid = fork();
    if (pid == 0) {
        for (size_t i = 0; i < HPX_ARRAY_LEN(signals); i++) {
            if (signals[i].number != SIGPIPE) {
                (void)sigaction(signals[i].number, &was[i], NULL);
            }
        }
        execvp(with[0], with);
        (void)fprintf(stderr, "hprofx: cannot run %s: %s\n", with[0], strerror(errno));
        _exit(127);
    }
    free(with);
    if (pid < 0) {
        (void)fprintf(stderr, "hprofx: cannot make a process: %s\n", strerror(errno));
        return HPX_FAILED;
    }
    child = pid;
    if (ending != 0) {
        (void)kill(pid, ending);
    }
    int status = wait_child(pid, used);
    child = 0; /* another process may get its number */
    return status;
}

static void remove_folder(const char *folder)
{
    static const char *const files[] = {"profile", "profile.part", "profile.journal.part"};
    char name[128];
    for (size_t i = 0; i < HPX_ARRAY_LEN(files); i++) {
        (void)snprintf(name, sizeof name, "%s/%s", folder, files[i]);
        (void)unlink(name);
    }
    (void)rmdir(folder);
}

/* out: what the agent has written. */
static enum hpx_status show(const struct hpx_asked *a, const struct hpx_verdict *v, const char *out, struct hpx_err *err)
{
    struct stat s;
    if (lstat(out, &s) != 0) {
        return hpx_fail(err, HPX_FAILED, "the program has left no profile");
    }
    if (a->out != NULL) {
        return HPX_OK;
    }
    int fd = open(out, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    enum hpx_status shown =
        fd < 0 ? hpx_fail(err, HPX_FAILED, "cannot read the profile: %s", strerror(errno)) : hpx_asked_show(a, v, fd, -1, err);
    if (fd >= 0) {
        (void)close(fd);
    }
    return shown;
}

int hpx_launch(const struct hpx_asked *a, char **argv)
{
    static char options[8192], load[sizeof options + (size_t)2 * PATH_MAX + 32];
    static struct hpx_err err;
    char room[2 * PATH_MAX], folder[64] = "/tmp/hprofx-run-XXXXXX", file[96];
    if (a->out == NULL && mkdtemp(folder) == NULL) {
        return hpx_complain(hpx_fail(&err, HPX_FAILED, "cannot make a folder in /tmp: %s", strerror(errno)), &err);
    }
    (void)snprintf(file, sizeof file, "%s/profile", folder);
    const char *out = a->out != NULL ? hpx_absolute(a->out, room) : file;
    int status = HPX_USAGE;
    struct hpx_verdict v = {.name = "The program"};
    if (!hpx_asked_options(a, out, options, sizeof options)) {
        (void)hpx_complain(hpx_asked_bad_options(&err), &err);
    } else {
        (void)snprintf(load, sizeof load, "-agentpath:%s=%s", hpx_asked_agent(a), options);
        status = run_with(argv, load, &v.usage);
        int shown = hpx_complain(show(a, &v, out, &err), &err);
        status = status != 0 ? status : shown;
    }
    if (a->out == NULL) {
        remove_folder(folder);
    }
    return status;
}
