/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_run.c: see hprofx_run.h. */
#include "hprofx_run.h"
#include "clock.h"
#include "cpus.h"
#include "formats.h"
#include "inputs.h"
#include "look.h"
#include "run_files.h"
#include "words.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_RUN 127 /* as a shell says it */

/* used: by the program, to its end. Processes that it has left behind become ours (some_run_on()): one that has ended is done with at once,
 * as by the system's first process, because a script may wait until its number is gone. */
static int wait_child(pid_t child, struct hpx_usage *used)
{
    int status = 0;
    uint64_t begin = hpx_clock_mono();
    struct rusage r = {0};
    pid_t ended;
    while ((ended = wait4(-1, &status, 0, &r)) != child && (ended > 0 || errno == EINTR)) {
    }
    *used = (struct hpx_usage){.at = (double)(hpx_clock_mono() - begin) / 1e9, .cpus = hpx_cpus_allowed(0)};
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

/* Processes of the program run on: they have become ours (PR_SET_CHILD_SUBREAPER). Those that have ended are done with. */
static bool some_run_on(void)
{
    int status;
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
    }
    return ended == 0;
}

/* *ran: there was a program. *left: it has left processes behind. */
static int run_with(char **with, struct hpx_usage *used, bool *ran, bool *left)
{
    struct sigaction was[HPX_ARRAY_LEN(signals)];
    sigset_t mask;
    int ends[2];
    *ran = false;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        (void)fprintf(stderr, "hprofx: cannot make a process: %s\n", strerror(errno));
        return HPX_FAILED;
    }
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
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
    *left = pid > 0 && some_run_on();
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

/* What was given on the command line, and the files of the run. */
struct place {
    const char *out;     /* as file= takes it: of the files that JVMs write */
    char folder[64];     /* of ours around them; "": the user has named them */
    int file;            /* of -o, open, which the command writes; -1: none */
    bool numbered, each; /* the command has put %p into the name; -o has it, and the command writes a file for every JVM */
    time_t began;
    struct hpx_list files;
};

static const char in_tmp[] = "/tmp/hprofx-run-XXXXXX", within[] = "/XXXXXX";

/* shared: root's, whose program may become another user: its JVMs make files in a folder whose name only they know, within one that nobody
 * else lists, so that other users put nothing there that root would read. false: errno; what it has made is in `to`. */
static bool make_folder(char to[static sizeof in_tmp + sizeof within], bool shared)
{
    char outer[sizeof in_tmp];
    memcpy(outer, in_tmp, sizeof in_tmp);
    bool made = mkdtemp(outer) != NULL;
    memcpy(to, made ? outer : "", made ? sizeof outer : 1);
    if (made && shared) {
        memcpy(to + sizeof in_tmp - 1, within, sizeof within);
        made = mkdtemp(to) != NULL && chmod(to, 01733) == 0 && chmod(outer, 0711) == 0;
    }
    return made;
}

static void remove_folder(const char *folder)
{
    char name[PATH_MAX];
    DIR *d = opendir(folder);
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        (void)snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
        (void)unlink(name);
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    (void)rmdir(folder);
    if (strlen(folder) >= sizeof in_tmp) { /* it is within another one */
        memcpy(name, folder, sizeof in_tmp - 1);
        name[sizeof in_tmp - 1] = 0;
        (void)rmdir(name);
    }
}

static const struct hpx_run_file *file_of(const struct place *at, size_t i)
{
    return (const struct hpx_run_file *)at->files.items + i;
}

/* Of a file in our folder. */
static pid_t process_of(const char *name)
{
    return (pid_t)strtol(strrchr(name, '/') + 1, NULL, 10);
}

/* ---- what it has written ---- */

/* As the user would write it: relative if -o is. */
static const char *name_for_user(const struct hpx_asked *a, const char *name)
{
    char here[PATH_MAX];
    size_t n = a->out[0] != '/' && getcwd(here, sizeof here) != NULL ? strlen(here) : 0;
    return n > 0 && strncmp(name, here, n) == 0 && name[n] == '/' ? name + n + 1 : name;
}

/* The names; that of the only one has no number, unless force=n keeps the file that has this name. */
static enum hpx_status name_files(const struct hpx_asked *a, const struct place *at, size_t finished)
{
    char plain[2 * PATH_MAX];
    unsigned keeps = hpx_asked_keeps(a) ? RENAME_NOREPLACE : 0;
    bool only = at->numbered && hpx_run_files_is_over(&at->files) &&
                hpx_run_files_plain(plain, sizeof plain, file_of(at, 0)->name, at->out) &&
                renameat2(AT_FDCWD, file_of(at, 0)->name, AT_FDCWD, plain, keeps) == 0;
    for (size_t i = 0; i < finished; i++) {
        const struct hpx_run_file *f = file_of(at, i);
        (void)printf("%s\n", !S_ISREG(f->at.st_mode) ? a->out : name_for_user(a, only ? plain : f->name));
    }
    return HPX_OK;
}

static enum hpx_status show_one(const struct hpx_asked *a, const struct hpx_verdict *v, const struct place *at, size_t i, int out,
                                struct hpx_err *err)
{
    int fd = open(file_of(at, i)->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return hpx_fail(err, HPX_FAILED, "cannot read the profile: %s", strerror(errno));
    }
    enum hpx_status shown = hpx_asked_show(a, v, fd, out, err);
    (void)close(fd);
    return shown;
}

/* For -o with %p: a file for every JVM. */
static enum hpx_status show_each(const struct hpx_asked *a, const struct place *at, size_t finished, struct hpx_err *err)
{
    enum hpx_status all = HPX_OK;
    for (size_t i = 0; i < finished; i++) {
        char room[2 * PATH_MAX], name[64];
        struct hpx_asked own = *a;
        (void)snprintf(name, sizeof name, "Process %d", (int)process_of(file_of(at, i)->name));
        own.out = a->out == NULL ? NULL : hpx_asked_expanded(a->out, process_of(file_of(at, i)->name), at->began, room);
        int out = own.out != NULL ? hpx_asked_open(&own, err) : -1;
        enum hpx_status s = HPX_FAILED;
        if (out >= 0 || own.out == NULL) {
            s = show_one(&own, &(struct hpx_verdict){.name = name}, at, i, out, err);
        }
        if (out >= 0) {
            (void)close(out);
        }
        if (out >= 0 && s != HPX_OK && s != HPX_PARTIAL) {
            hpx_asked_drop(&own);
        }
        all = s == HPX_OK || all == HPX_FAILED ? all : s;
    }
    return all;
}

/* Of every JVM a line, while the sum is made. */
struct lines {
    FILE *to;
    unsigned long views; /* what each has of them, as far as they have one in common */
    bool apart;          /* two have none in common */
};

static void tell_one(void *ctx, const char *file, const struct hpx_tree *t)
{
    struct lines *l = ctx;
    struct hpx_tree_column c;
    unsigned long views = 0;
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        views |= t->views[k].samples.len > 0 ? 1UL << k : 0;
    }
    l->apart |= views != 0 && l->views != 0 && (views & l->views) == 0;
    l->views = views == 0 ? l->views : l->views == 0 ? views : l->views & views;
    (void)fprintf(l->to, "Process %d", (int)process_of(file));
    if (t->origin.service != 0) {
        (void)fputs(", ", l->to);
        hpx_words_name(l->to, hpx_tree_text(t, t->origin.service), HPX_NAME_COLUMNS, false);
    }
    (void)fputs(": ", l->to);
    if (hpx_tree_column(t, NULL, &c)) {
        const struct hpx_tree_view *v = &t->views[c.view];
        (void)fprintf(l->to, "%s, %s\n", v->title, hpx_tree_amount(&v->measures[c.measure], v->totals[c.measure]));
    } else {
        (void)fputs("nothing\n", l->to);
    }
}

/* HPROF of the agent for one JVM, as the sum of several. */
static const struct hpx_format *format_of_sum(const struct hpx_asked *a)
{
    return hpx_format_of(hpx_asked_picture(a) ? a->out : "x.txt");
}

static enum hpx_status add_up(const struct hpx_asked *a, const struct place *at, struct hpx_tree *t, struct lines *l, struct hpx_err *err)
{
    struct hpx_inputs in = {.told = tell_one,
                            .told_to = l}; /* of the folder: one that is broken does not keep the others from being shown */
    enum hpx_status s = hpx_tree_init(t) ? HPX_OK : hpx_fail(err, HPX_FAILED, "no memory");
    t->timed = format_of_sum(a)->times;
    s = s == HPX_OK ? hpx_inputs_add(&in, at->folder, err) : s;
    s = s == HPX_OK ? hpx_inputs_read(&in, t, err) : s;
    hpx_inputs_fini(&in);
    return s;
}

/* Of each JVM are several, as split=y has it. */
static bool some_are_of_one(const struct place *at, size_t finished)
{
    bool some = false;
    for (size_t i = 1; i < finished && !some; i++) { /* they are in order */
        some = process_of(file_of(at, i)->name) == process_of(file_of(at, i - 1)->name);
    }
    return some;
}

/* The sum of several, below a line for each. Profiles that have nothing in common are shown one by one. */
static enum hpx_status show_sum(const struct hpx_asked *a, const struct place *at, size_t finished, struct hpx_err *err)
{
    struct hpx_tree t;
    char *text = NULL;
    size_t n = 0;
    struct lines l = {.to = open_memstream(&text, &n)};
    if (l.to == NULL) {
        return hpx_fail(err, HPX_FAILED, "no memory");
    }
    enum hpx_status s = add_up(a, at, &t, &l, err);
    bool apart = l.apart && a->out == NULL;
    (void)fprintf(l.to, apart ? "The %zu %s have nothing in common that could be added.\n" : "The sum of the %zu %s:\n", finished,
                  some_are_of_one(at, finished) ? "profiles" : "JVMs");
    if (fclose(l.to) != 0) {
        s = hpx_fail(err, HPX_FAILED, "no memory");
    }
    if (s == HPX_OK || s == HPX_PARTIAL) {
        (void)fputs(text, a->out == NULL ? stdout : stderr); /* -o prints the name alone */
        s = apart ? show_each(a, at, finished, err) : hpx_asked_put(a, &t, format_of_sum(a), s, at->file, err);
    }
    hpx_tree_fini(&t);
    free(text);
    return s;
}

/* *keeps: our folder stays, because a profile cannot be shown. */
static enum hpx_status show(const struct hpx_asked *a, const struct hpx_verdict *v, const struct place *at, size_t finished, bool *keeps,
                            struct hpx_err *err)
{
    if (at->folder[0] == 0) {
        return name_files(a, at, finished);
    }
    enum hpx_status shown = at->each        ? show_each(a, at, finished, err)
                            : finished == 1 ? show_one(a, v, at, 0, at->file, err)
                                            : show_sum(a, at, finished, err);
    *keeps = shown == HPX_FAILED;
    for (size_t i = 0; i < finished && *keeps; i++) {
        (void)fprintf(stderr, "hprofx: the profile stays at %s\n", file_of(at, i)->name);
    }
    return shown;
}

/* java itself would have said why it is none. */
static enum hpx_status nothing(bool java, const struct place *at, struct hpx_err *err)
{
    if (java) {
        return hpx_fail(err, HPX_FAILED, "the program has written no profile to %s", at->out);
    }
    (void)fputs(
        "hprofx: no JVM has written a profile. The agent reaches JVMs by JAVA_TOOL_OPTIONS: where a program clears it, or leaves the "
        "work to a JVM that runs elsewhere (a daemon, a container), use `hprofx PID`, or `hprofx run java ...`\n",
        stderr);
    return HPX_OK;
}

/* With split=y the agent puts a number behind the name, too, unless the name has one. false: no memory. */
static bool find_files(const struct hpx_asked *a, const struct place *at, struct hpx_list *to)
{
    char numbered[2 * PATH_MAX + 4];
    (void)snprintf(numbered, sizeof numbered, "%s.%%n", at->out);
    return hpx_run_files_find(to, at->out) && (!hpx_asked_splits(a) || hpx_run_files_find(to, numbered));
}

static int run(const struct hpx_asked *a, char **with, struct place *at)
{
    static struct hpx_err err;
    struct hpx_verdict v = {.name = "The program"};
    struct hpx_list before = {0};
    enum hpx_status shown = HPX_OK;
    bool ran, left = false, keeps = false, whole = find_files(a, at, &before);
    int status = run_with(with, &v.usage, &ran, &left);
    whole = find_files(a, at, &at->files) && whole;
    hpx_run_files_since(&at->files, &before);
    size_t finished = hpx_run_files_finished(&at->files);
    if (ran && !whole) {
        shown = hpx_fail(&err, HPX_FAILED, "no memory");
        keeps = true;
    } else if (ran && at->files.len == 0) {
        shown = nothing(is_java(with[0]), at, &err);
    } else if (ran && finished > 0) {
        shown = show(a, &v, at, finished, &keeps, &err);
    }
    if (shown != HPX_OK) {
        (void)hpx_complain(shown, &err);
    }
    if (ran && hpx_run_files_tell_unfinished(&at->files)) {
        keeps = true;
        shown = shown == HPX_OK ? HPX_PARTIAL : shown;
    }
    if (at->folder[0] != 0 && left && !keeps) { /* a JVM among them that has no folder does not start */
        (void)fprintf(stderr, "hprofx: processes of the program still run; the profiles of JVMs among them will be in %s\n", at->folder);
    }
    if (at->folder[0] != 0 && !keeps && !left) {
        remove_folder(at->folder);
    }
    if (at->file >= 0 && (finished == 0 || (shown != HPX_OK && shown != HPX_PARTIAL))) {
        hpx_asked_drop(a);
    }
    hpx_run_files_fini(&before);
    return status != 0 ? status : (int)shown;
}

/* %p, and no %%p. */
static bool has_number(const char *name)
{
    for (const char *c = strchr(name, '%'); c != NULL && c[1] != '\0'; c = strchr(c + 2, '%')) {
        if (c[1] == 'p') {
            return true;
        }
    }
    return false;
}

/* A name of -o that the JVMs write. Only java itself is one JVM, which chooses another name if force=n keeps what has this one; a device
 * takes what all write. */
static enum hpx_status name_output(const struct hpx_asked *a, bool java, struct place *at, char room[static 2 * PATH_MAX],
                                   struct hpx_err *err)
{
    static char pattern[2 * PATH_MAX];
    struct stat st;
    at->out = hpx_asked_pattern(a->out, pattern);
    at->numbered = (!java || hpx_asked_keeps(a)) && !has_number(a->out) && (stat(a->out, &st) != 0 || S_ISREG(st.st_mode));
    if (at->numbered && !hpx_run_files_number(room, (size_t)2 * PATH_MAX, at->out)) {
        return hpx_asked_bad_options(err);
    }
    at->out = at->numbered ? room : at->out;
    return HPX_OK;
}

/* Everything that may fail before the program runs. */
static enum hpx_status prepare(struct hpx_asked *a, bool java, struct place *at, char room[static 2 * PATH_MAX], struct hpx_err *err)
{
    static char expanded[2 * PATH_MAX];
    if (a->out != NULL && !hpx_asked_picture(a) && !hpx_asked_is_stdout(a)) {
        return name_output(a, java, at, room, err);
    }
    at->each = a->out != NULL && has_number(a->out);
    if (!at->each && a->out != NULL) {
        a->out = hpx_asked_expanded(a->out, 0, at->began, expanded);
    }
    at->file = at->each ? -1 : hpx_asked_open(a, err);
    if (a->out != NULL && !at->each && at->file < 0) {
        return HPX_FAILED;
    }
    if (!make_folder(at->folder, geteuid() == 0 && !java)) {
        return hpx_fail(err, HPX_FAILED, "cannot make a folder in /tmp: %s", strerror(errno));
    }
    (void)snprintf(room, (size_t)2 * PATH_MAX, "%s/%%p", at->folder);
    at->out = room;
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

int hpx_launch(const struct hpx_asked *asked, char **argv)
{
    static char options[8192], load[sizeof options + (size_t)2 * PATH_MAX + 32];
    static struct hpx_err err;
    char room[2 * PATH_MAX];
    struct hpx_asked a = *asked;
    struct place at = {.file = -1, .began = time(NULL)};
    enum hpx_status s = prepare(&a, is_java(argv[0]), &at, room, &err);
    if (s == HPX_OK && !hpx_asked_options(&a, at.out, options, sizeof options)) {
        s = hpx_asked_bad_options(&err);
    }
    if (s != HPX_OK) {
        return leave(&a, &at, s, &err);
    }
    (void)snprintf(load, sizeof load, "-agentpath:%s=%s", hpx_asked_agent(&a), options);
    char **with = words_with(argv, load);
    if (with == NULL) {
        return leave(&a, &at, hpx_fail(&err, HPX_FAILED, "no memory"), &err);
    }
    int status = run(&a, with, &at);
    if (at.file >= 0) {
        (void)close(at.file);
    }
    hpx_run_files_fini(&at.files);
    free(with);
    return status;
}
