/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_run.c: see hprofx_run.h. */
#include "hprofx_run.h"
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

/* In the child. tell: closed if the program could be run. */
static _Noreturn void exec(char **with, int tell)
{
    execvp(with[0], with);
    (void)!write(tell, &errno, sizeof errno);
    _exit(NOT_RUN);
}

/* true: the child runs the program. */
static bool hear_exec(const char *name, int from)
{
    int failed = 0;
    ssize_t n;
    while ((n = read(from, &failed, sizeof failed)) < 0 && errno == EINTR) {
    }
    if (n == (ssize_t)sizeof failed) {
        (void)fprintf(stderr, "hprofx: cannot run %s: %s\n", name, strerror(failed));
    }
    return n != (ssize_t)sizeof failed;
}

/* *ran: there was a program. */
static int run_with(char **with, struct hpx_usage *used, bool *ran)
{
    struct sigaction was[HPX_ARRAY_LEN(signals)];
    sigset_t mask;
    int ends[2];
    *ran = false;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        (void)fprintf(stderr, "hprofx: cannot make a process: %s\n", strerror(errno));
        return HPX_FAILED;
    }
    take_signals(was, &mask);
    void (*ends_of_children)(int) = signal(SIGCHLD, SIG_DFL); /* who has us start may ignore them: then there is no status */
    pid_t pid = fork();
    int failed = errno;
    if (pid == 0) {
        (void)signal(SIGPIPE, SIG_DFL);
        (void)signal(SIGCHLD, ends_of_children);
        give_signals_back(was);
        (void)sigprocmask(SIG_SETMASK, &mask, NULL);
        exec(with, ends[1]);
    }
    if (pid < 0) {
        give_signals_back(was); /* first: one that has come ends us */
    }
    child = pid > 0 ? pid : 0;
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    (void)close(ends[1]);
    if (pid < 0) {
        (void)fprintf(stderr, "hprofx: cannot make a process: %s\n", strerror(failed));
    } else {
        *ran = hear_exec(with[0], ends[0]);
    }
    (void)close(ends[0]);
    int status = pid > 0 ? wait_child(pid, used) : HPX_FAILED;
    child = 0; /* another process may get its number */
    give_signals_back(was);
    return status;
}

/* The program takes options of the JVM. */
static bool is_java(const char *program)
{
    const char *slash = strrchr(program, '/');
    return strcmp(slash != NULL ? slash + 1 : program, "java") == 0;
}

/* Every JVM reads these, whoever starts it. false: no memory. */
static bool pass_on(const char *load)
{
    static const char name[] = "JAVA_TOOL_OPTIONS";
    const char *own = getenv(name), *quote = strpbrk(load, " \t\n'") == NULL ? "" : strchr(load, '\'') == NULL ? "'" : "\"";
    char *all = NULL;
    bool passed = asprintf(&all, "%s%s%s%s%s", own != NULL ? own : "", own != NULL ? " " : "", quote, load, quote) >= 0;
    passed = passed && setenv(name, all, 1) == 0;
    free(all);
    return passed;
}

/* The words of the program, with `load` as its first option, if it is java; the caller frees them. NULL: no memory. */
static char **words_with(char **argv, char *load)
{
    size_t words = 1; /* the caller has seen the first */
    while (argv[words] != NULL) {
        words++;
    }
    char **with = calloc(words + 2, sizeof *with);
    if (with == NULL) {
        return NULL;
    }
    bool java = is_java(argv[0]);
    if (!java && !pass_on(load)) {
        free(with);
        return NULL;
    }
    with[0] = argv[0];
    with[1] = load;
    memcpy(with + 1 + java, argv + 1, words * sizeof *with);
    return with;
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

/* What the agent has written: the profile, and what stays of one that is not finished. */
struct written {
    struct stat profile, journal; /* zeros: there is none */
};

static void look_at(const char *out, struct written *w)
{
    char journal[2 * PATH_MAX + 32];
    *w = (struct written){0};
    (void)snprintf(journal, sizeof journal, "%s.journal.part", out);
    (void)lstat(out, &w->profile);
    (void)lstat(journal, &w->journal);
}

/* There is one, and since `before`. A device or a pipe is written in place. */
static bool is_new(const struct stat *now, const struct stat *before)
{
    return now->st_mode != 0 && (!S_ISREG(now->st_mode) || now->st_ino != before->st_ino || now->st_dev != before->st_dev ||
                                 now->st_mtim.tv_sec != before->st_mtim.tv_sec || now->st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

struct place {
    const char *out; /* the file of the profile */
    char folder[64]; /* of ours around it; "": the user has named the file that the JVM writes */
    int file;        /* of -o, open, which the command writes; -1: none */
};

/* Without a file the folder goes first: who ends the command while it shows the profile shall leave nothing. *keeps: it stays, because the
 * profile cannot be written to the file. */
static enum hpx_status show(const struct hpx_asked *a, const struct hpx_verdict *v, const struct place *at, bool *keeps,
                            struct hpx_err *err)
{
    if (at->folder[0] == 0) {
        (void)printf("%s\n", a->out);
        return HPX_OK;
    }
    int fd = open(at->out, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (a->out == NULL) {
        remove_folder(at->folder);
    }
    if (fd < 0) {
        return hpx_fail(err, HPX_FAILED, "cannot read the profile: %s", strerror(errno));
    }
    enum hpx_status shown = hpx_asked_show(a, v, fd, at->file, err);
    (void)close(fd);
    *keeps = a->out != NULL && shown == HPX_FAILED;
    if (*keeps) {
        (void)fprintf(stderr, "hprofx: the profile stays at %s\n", at->out);
    }
    return shown;
}

static int run(const struct hpx_asked *a, char **with, const struct place *at)
{
    static struct hpx_err err;
    struct hpx_verdict v = {.name = "The program"};
    struct written before, now;
    enum hpx_status shown = HPX_OK;
    bool ran, keeps = false;
    look_at(at->out, &before);
    int status = run_with(with, &v.usage, &ran);
    look_at(at->out, &now);
    if (ran && is_new(&now.profile, &before.profile)) {
        shown = show(a, &v, at, &keeps, &err);
    } else if (ran && is_new(&now.journal, &before.journal)) {
        keeps = true;
        shown = hpx_fail(&err, HPX_PARTIAL, "the profile is not finished; `hprofx recover %s` rebuilds it", at->out);
    } else if (ran) {
        shown = hpx_fail(&err, HPX_FAILED, "the program has written no profile to %s", at->out);
    }
    if (at->folder[0] != 0 && !keeps) {
        remove_folder(at->folder);
    }
    if (at->file >= 0 && (!ran || (shown != HPX_OK && shown != HPX_PARTIAL))) {
        hpx_asked_drop(a);
    }
    (void)hpx_complain(shown, &err);
    return status != 0 ? status : (int)shown;
}

/* Everything that may fail before the program runs. */
static enum hpx_status prepare(const struct hpx_asked *a, struct place *at, char room[static 2 * PATH_MAX], char file[static 96],
                               struct hpx_err *err)
{
    if (a->out != NULL && !hpx_asked_picture(a) && !hpx_asked_is_stdout(a)) {
        at->out = hpx_absolute(a->out, room); /* the JVM opens it before it runs the program */
        at->folder[0] = 0;
        return HPX_OK;
    }
    at->file = hpx_asked_open(a, err);
    if (a->out != NULL && at->file < 0) {
        at->folder[0] = 0;
        return HPX_FAILED;
    }
    if (mkdtemp(at->folder) == NULL) {
        at->folder[0] = 0;
        return hpx_fail(err, HPX_FAILED, "cannot make a folder in /tmp: %s", strerror(errno));
    }
    (void)snprintf(file, 96, "%s/profile", at->folder);
    at->out = file;
    return HPX_OK;
}

/* Nothing was run. */
static int leave(const struct hpx_asked *a, const struct place *at, enum hpx_status s, struct hpx_err *err)
{
    if (at->folder[0] != 0) {
        remove_folder(at->folder);
    }
    if (at->file >= 0) {
        hpx_asked_drop(a);
        (void)close(at->file);
    }
    return hpx_complain(s, err);
}

int hpx_launch(const struct hpx_asked *a, char **argv)
{
    static char options[8192], load[sizeof options + (size_t)2 * PATH_MAX + 32];
    static struct hpx_err err;
    char room[2 * PATH_MAX], file[96];
    struct place at = {.folder = "/tmp/hprofx-run-XXXXXX", .file = -1};
    enum hpx_status s = prepare(a, &at, room, file, &err);
    if (s == HPX_OK && !hpx_asked_options(a, at.out, options, sizeof options)) {
        s = hpx_asked_bad_options(&err);
    }
    if (s != HPX_OK) {
        return leave(a, &at, s, &err);
    }
    (void)snprintf(load, sizeof load, "-agentpath:%s=%s", hpx_asked_agent(a), options);
    char **with = words_with(argv, load);
    if (with == NULL) {
        return leave(a, &at, hpx_fail(&err, HPX_FAILED, "no memory"), &err);
    }
    int status = run(a, with, &at);
    if (at.file >= 0) {
        (void)close(at.file);
    }
    free(with);
    return status;
}
