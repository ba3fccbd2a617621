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

#define NOT_RUN 127 /* as a shell says it */

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

static volatile sig_atomic_t child; /* that gets the signals which would end us; 0: there is none */

static void on_end(int number)
{
    if (child > 0) {
        (void)kill(child, number);
    }
}

/* The terminal signals the program itself. */
static const struct {
    int number;
    void (*handler)(int);
} signals[] = {{SIGINT, SIG_IGN}, {SIGQUIT, SIG_IGN}, {SIGTERM, on_end}, {SIGHUP, on_end}};

/* What was ignored, as by nohup, stays so. They wait until *mask is set again. */
static void take_signals(struct sigaction was[static HPX_ARRAY_LEN(signals)], sigset_t *mask)
{
    sigset_t all;
    sigemptyset(&all);
    for (size_t i = 0; i < HPX_ARRAY_LEN(signals); i++) {
        sigaddset(&all, signals[i].number);
    }
    (void)sigprocmask(SIG_BLOCK, &all, mask);
    for (size_t i = 0; i < HPX_ARRAY_LEN(signals); i++) {
        const struct sigaction a = {.sa_handler = signals[i].handler};
        if (sigaction(signals[i].number, NULL, &was[i]) == 0 && was[i].sa_handler != SIG_IGN) {
            (void)sigaction(signals[i].number, &a, NULL);
        }
    }
}

static void give_signals_back(const struct sigaction was[static HPX_ARRAY_LEN(signals)])
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(signals); i++) {
        (void)sigaction(signals[i].number, &was[i], NULL);
    }
}

/* The program, with the agent as its first option. *ran: there was one. */
static int run_with(char **argv, char *load, struct hpx_usage *used, bool *ran)
{
    struct sigaction was[HPX_ARRAY_LEN(signals)];
    sigset_t mask;
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
    take_signals(was, &mask);
    pid_t pid = fork();
    if (pid == 0) {
        (void)signal(SIGPIPE, SIG_DFL);
        give_signals_back(was);
        (void)sigprocmask(SIG_SETMASK, &mask, NULL);
        execvp(with[0], with);
        (void)fprintf(stderr, "hprofx: cannot run %s: %s\n", with[0], strerror(errno));
        _exit(NOT_RUN);
    }
    free(with);
    child = pid > 0 ? pid : 0;
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    if (pid < 0) {
        (void)fprintf(stderr, "hprofx: cannot make a process: %s\n", strerror(errno));
    }
    int status = pid > 0 ? wait_child(pid, used) : HPX_FAILED;
    child = 0; /* another process may get its number */
    give_signals_back(was);
    *ran = pid > 0 && status != NOT_RUN;
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

/* What was written before the program was killed stays. true: there is something. */
static bool say_recoverable(const char *out)
{
    char name[2 * PATH_MAX + 32];
    (void)snprintf(name, sizeof name, "%s.journal.part", out);
    bool is = access(name, F_OK) == 0;
    if (is) {
        (void)fprintf(stderr, "hprofx: the program was killed; `hprofx recover %s` rebuilds its profile\n", out);
    }
    return is;
}

/* before: of `out`, or zeros. */
static bool is_new(const char *out, const struct stat *before)
{
    struct stat s;
    return lstat(out, &s) == 0 && (s.st_ino != before->st_ino || s.st_dev != before->st_dev || s.st_mtim.tv_sec != before->st_mtim.tv_sec ||
                                   s.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

static enum hpx_status show(const struct hpx_asked *a, const struct hpx_verdict *v, const char *out, struct hpx_err *err)
{
    if (a->out != NULL) {
        (void)printf("%s\n", a->out);
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

/* *keeps: files that are still of use lie beside `out`. */
static int run(const struct hpx_asked *a, char **argv, char *load, const char *out, bool *keeps)
{
    static struct hpx_err err;
    struct hpx_verdict v = {.name = "The program"};
    struct stat before = {0};
    bool ran = false;
    (void)lstat(out, &before);
    int status = run_with(argv, load, &v.usage, &ran);
    if (!ran) {
        return status;
    }
    enum hpx_status shown = HPX_OK;
    if (is_new(out, &before)) {
        shown = show(a, &v, out, &err);
    } else {
        *keeps = say_recoverable(out);
        shown = *keeps ? HPX_PARTIAL : hpx_fail(&err, HPX_FAILED, "the program has left no profile");
    }
    if (!*keeps) {
        (void)hpx_complain(shown, &err);
    }
    return status != 0 ? status : (int)shown;
}

int hpx_launch(const struct hpx_asked *a, char **argv)
{
    static char options[8192], load[sizeof options + (size_t)2 * PATH_MAX + 32];
    static struct hpx_err err;
    char room[2 * PATH_MAX], folder[64] = "/tmp/hprofx-run-XXXXXX", file[96];
    bool keeps = false;
    if (a->out == NULL && mkdtemp(folder) == NULL) {
        return hpx_complain(hpx_fail(&err, HPX_FAILED, "cannot make a folder in /tmp: %s", strerror(errno)), &err);
    }
    (void)snprintf(file, sizeof file, "%s/profile", folder);
    const char *out = a->out != NULL ? hpx_absolute(a->out, room) : file;
    int status = HPX_USAGE;
    if (!hpx_asked_options(a, out, options, sizeof options)) {
        (void)hpx_complain(hpx_asked_bad_options(&err), &err);
    } else {
        (void)snprintf(load, sizeof load, "-agentpath:%s=%s", hpx_asked_agent(a), options);
        status = run(a, argv, load, out, &keeps);
    }
    if (a->out == NULL && !keeps) {
        remove_folder(folder);
    }
    return status;
}
