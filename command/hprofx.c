/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx.c: the command hprofx: profiles a JVM that runs, or one that it starts. hprofx(1), docs/attach.md. */
#include "attach.h"
#include "client.h"
#include "view.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ATTACH_SECONDS 30
#define SPARE_MS       10000 /* a session whose command is killed ends so much later by itself */

static const char usage[] = "usage: hprofx [OPTIONS] PID|NAME [AGENT-OPTIONS]    profile a JVM for 10 s, and show what it did\n"
                            "       hprofx start|stop|dump|status PID|NAME ...   begin a session and leave it, end it, look at it\n"
                            "       hprofx run [OPTIONS] -- java ...             profile a program from its start to its end\n"
                            "       hprofx list                                  JVMs that run here\n"
                            "  -d TIME   how long: 30s, 2m (10s)\n"
                            "  -e WHAT   cpu, times, alloc, live, lock, heap or all (cpu)\n"
                            "  -o FILE   keep the profile in FILE and print no table\n"
                            "  --agent FILE  another file of the library; --print-agent-path, --version, --help\n"
                            "AGENT-OPTIONS are those of hprofx(7), with commas between: interval=1,depth=64\n"
                            "Examples:\n"
                            "  hprofx 4711\n"
                            "  hprofx -d 30s -e alloc MyServer\n"
                            "  hprofx -e heap -o heap.hprof 4711\n"
                            "  hprofx run -- java -jar app.jar\n"
                            "Status: 0 ok, 1 failed, 2 usage, 3 no such JVM, 4 not permitted, 5 refused, 6 the profile is not whole.\n";

struct asked {
    double seconds;
    const char *what; /* -e */
    const char *out;  /* -o; NULL: a table */
    const char *more; /* options of the agent; "" */
};

static const struct {
    const char *name, *options;
} kinds[] = {
    {"cpu", "cpu=samples,depth=64"},
    {"times", "cpu=times,depth=16"},
    {"alloc", "heap=sites,sites=sampled,live=n,depth=16"},
    {"live", "heap=sites,sites=sampled,gc=y,depth=16"},
    {"lock", "monitor=y,waits=y,depth=16"},
    {"heap", "heap=dump,format=b"},
    {"all", "cpu=samples,heap=sites,sites=sampled,monitor=y,depth=64"},
};

static int complain(enum hpx_status s, const struct hpx_err *err)
{
    if (s != HPX_OK) {
        (void)fprintf(stderr, "hprofx: %s\n", err->msg);
    }
    return (int)s;
}

static int misuse(const char *why)
{
    (void)fprintf(stderr, "hprofx: %s; `hprofx --help` shows how\n", why);
    return HPX_USAGE;
}

static const char *options_of(const char *what)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i].name, what) == 0) {
            return kinds[i].options;
        }
    }
    return NULL;
}

/* 30s, 2m, 1h, 500ms; without a unit seconds. Negative: no time. */
static double seconds_of(const char *text)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"h", 3600}};
    char *unit;
    double n = strtod(text, &unit);
    for (size_t i = 0; unit != text && i < HPX_ARRAY_LEN(units); i++) {
        if (strcmp(unit, units[i].unit) == 0 && isfinite(n) && n > 0 && n * units[i].seconds < 1e7) {
            return n * units[i].seconds;
        }
    }
    return -1;
}

/* ---- the agent's library ---- */

/* An absolute name, perhaps in `room`: the JVM has another working directory. */
static const char *absolute(const char *file, char room[static 2 * PATH_MAX])
{
    char here[PATH_MAX];
    if (file[0] == '/' || getcwd(here, sizeof here) == NULL) {
        return file;
    }
    (void)snprintf(room, (size_t)2 * PATH_MAX, "%s/%s", here, file);
    return room;
}

/* Beside the program, as in the build; else where it is installed. */
static const char *given_agent; /* --agent; NULL: not given */

static const char *agent_path(void)
{
    static char name[2 * PATH_MAX];
    if (given_agent != NULL) {
        return absolute(given_agent, name);
    }
    ssize_t n = readlink("/proc/self/exe", name, sizeof name - sizeof "/libhprofx.so");
    char *slash = n > 0 ? (name[n] = 0, strrchr(name, '/')) : NULL;
    if (slash != NULL) {
        (void)strcpy(slash, "/libhprofx.so"); /* NOLINT: room was left for it */
        char *real = access(name, R_OK) == 0 ? realpath(name, NULL) : NULL;
        if (real != NULL) {
            (void)snprintf(name, sizeof name, "%s", real);
            free(real);
            return name;
        }
    }
    return HPX_AGENT_PATH;
}

/* ---- a session that the command waits for ---- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static void catch_interrupts(void)
{
    struct sigaction a = {.sa_handler = on_interrupt};
    sigemptyset(&a.sa_mask);
    (void)sigaction(SIGINT, &a, NULL);
    (void)sigaction(SIGTERM, &a, NULL);
    (void)sigaction(SIGHUP, &a, NULL);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* true: the JVM has ended. */
static bool wait_for(const struct hpx_client *c, double seconds)
{
    double until = now() + seconds, left;
    while (!interrupted && (left = until - now()) > 0) {
        if (hpx_client_wait(c, left > 1000 ? 1000000 : (int)ceil(left * 1000))) {
            return true;
        }
    }
    return false;
}

static void say_line(void *to, const char *text)
{
    (void)fprintf(to, "  %s\n", text);
}

/* The name of the profile in the target's /tmp. */
static const char *profile_name(const struct hpx_target *t)
{
    static char name[64];
    (void)snprintf(name, sizeof name, "hprofx-%d.profile", (int)t->own_pid);
    return name;
}

/* The file that the agent has made, which has gone from the folder then. -1: there is none. */
static int take_profile(const struct hpx_target *t, const struct hpx_client *c)
{
    struct stat s;
    int fd = openat(c->folder, profile_name(t), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || s.st_uid != t->uid)) {
        (void)close(fd);
        return -1;
    }
    (void)unlinkat(c->folder, profile_name(t), 0);
    return fd;
}

static enum hpx_status keep(int fd, const char *to, struct hpx_err *err)
{
    struct stat s;
    off_t at = 0;
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool copied = out >= 0 && fstat(fd, &s) == 0;
    while (copied && at < s.st_size) {
        copied = sendfile(out, fd, &at, (size_t)(s.st_size - at)) > 0;
    }
    int failed = errno;
    copied = out >= 0 && close(out) == 0 && copied;
    return copied ? HPX_OK : hpx_fail(err, HPX_FAILED, "cannot write %s: %s", to, strerror(failed));
}

static enum hpx_status show_profile(const struct asked *a, int fd, struct hpx_err *err)
{
    static const struct hpx_view as_it_is;
    enum hpx_status s = HPX_OK;
    if (a->out != NULL) {
        s = keep(fd, a->out, err);
        if (s == HPX_OK) {
            (void)printf("%s\n", a->out);
        }
    } else if (hpx_view(&as_it_is, "profile", fd) != HPX_VIEW_SOUND) {
        s = hpx_fail(err, HPX_PARTIAL, "the profile is not whole");
    }
    return s;
}

/* The JVM writes it while it ends. */
static int await_profile(const struct hpx_target *t, const struct hpx_client *c)
{
    int fd;
    double until = now() + 10;
    while ((fd = take_profile(t, c)) < 0 && now() < until && kill(t->pid, 0) == 0) {
        (void)usleep(20000);
    }
    return fd >= 0 ? fd : take_profile(t, c);
}

static enum hpx_status begin(struct hpx_client *c, const struct asked *a, double limit, const char *file, struct hpx_err *err)
{
    char request[8000];
    int n = snprintf(request, sizeof request, "start %.0f %s,verbose=n,file=%s%s%s", ceil(limit * 1000), options_of(a->what), file,
                     a->more[0] != 0 ? "," : "", a->more);
    if (n < 0 || (size_t)n >= sizeof request) {
        return hpx_fail(err, HPX_USAGE, "the options are too long");
    }
    return hpx_client_ask(c, request, say_line, stderr, err);
}

static enum hpx_status run_session(const struct hpx_target *t, struct hpx_client *c, const struct asked *a, struct hpx_err *err)
{
    char file[96];
    (void)snprintf(file, sizeof file, "/tmp/%s", profile_name(t));
    enum hpx_status s = begin(c, a, a->seconds + SPARE_MS / 1000.0, file, err);
    if (s != HPX_OK) {
        return s;
    }
    bool ended = wait_for(c, a->seconds);
    s = ended ? HPX_NO_JVM : hpx_client_ask(c, "stop", NULL, NULL, err);
    if (s != HPX_OK && s != HPX_NO_JVM) {
        return s;
    }
    int fd = s == HPX_OK ? take_profile(t, c) : await_profile(t, c);
    if (fd < 0) {
        return hpx_fail(err, s == HPX_OK ? HPX_FAILED : HPX_NO_JVM,
                        s == HPX_OK ? "the agent left no profile; its reason is on stderr of the JVM"
                                    : "the JVM has ended and left no profile");
    }
    s = show_profile(a, fd, err);
    (void)close(fd);
    return s;
}

/* Finds the JVM of the word and connects. */
static enum hpx_status reach(const char *word, struct hpx_target *t, struct hpx_client *c, struct hpx_err *err)
{
    enum hpx_status s = hpx_target_find(word, t, err);
    s = s != HPX_OK ? s : hpx_target_check(t, err);
    return s != HPX_OK ? s : hpx_client_open(t, agent_path(), ATTACH_SECONDS, c, err);
}

static struct hpx_target target;
static struct hpx_client client;
static struct hpx_err err;

static int profile(const struct asked *a, const char *word)
{
    catch_interrupts();
    enum hpx_status s = reach(word, &target, &client, &err);
    if (s == HPX_OK) {
        s = run_session(&target, &client, a, &err);
        hpx_client_close(&client);
    }
    return complain(s, &err);
}

/* ---- other commands ---- */

static int start(const struct asked *a, const char *word, bool bounded)
{
    char room[2 * PATH_MAX];
    if (a->out == NULL) {
        return misuse("start needs -o FILE, the file that the JVM writes");
    }
    enum hpx_status s = reach(word, &target, &client, &err);
    if (s == HPX_OK) {
        s = begin(&client, a, bounded ? a->seconds : 0, absolute(a->out, room), &err);
        hpx_client_close(&client);
    }
    return complain(s, &err);
}

static int ask_for(const char *request, const char *word)
{
    enum hpx_status s = reach(word, &target, &client, &err);
    if (s == HPX_OK) {
        s = hpx_client_ask(&client, request, say_line, stdout, &err);
        hpx_client_close(&client);
    }
    return complain(s, &err);
}

static bool list_one(void *ctx, const struct hpx_target *t)
{
    char name[256];
    (void)ctx;
    hpx_target_name(t, name, sizeof name);
    (void)printf("%7d  %-8u  %s%s\n", (int)t->pid, (unsigned)t->uid, name, t->library[0] != 0 ? "  (hprofx is loaded)" : "");
    return true;
}

static int list(void)
{
    hpx_targets_each(list_one, NULL);
    return HPX_OK;
}

static int wait_child(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The program gets the terminal's signals itself. Its own exit status is the command's, unless it is 0 and the profile is missing. */
static int run(const struct asked *a, char **argv)
{
    char room[2 * PATH_MAX], file[64] = "/tmp/hprofx-run-XXXXXX", load[PATH_MAX + 8192];
    int fd = a->out == NULL ? mkstemp(file) : -1;
    const char *out = a->out != NULL ? absolute(a->out, room) : file;
    int n = snprintf(load, sizeof load, "-agentpath:%s=%s,verbose=n,file=%s%s%s", agent_path(), options_of(a->what), out,
                     a->more[0] != 0 ? "," : "", a->more);
    if ((a->out == NULL && fd < 0) || n < 0 || (size_t)n >= sizeof load) {
        return misuse("no room for a profile in /tmp, or options that are too long");
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    size_t words = 0;
    while (argv[words] != NULL) {
        words++;
    }
    char **with = calloc(words + 2, sizeof *with);
    if (with == NULL) {
        return misuse("no memory");
    }
    with[0] = argv[0];
    with[1] = load;
    memcpy(with + 2, argv + 1, words * sizeof *with);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGINT, SIG_DFL);
        (void)signal(SIGQUIT, SIG_DFL);
        execvp(with[0], with);
        (void)fprintf(stderr, "hprofx: cannot run %s: %s\n", with[0], strerror(errno));
        _exit(127);
    }
    free(with);
    int status = child < 0 ? HPX_FAILED : wait_child(child);
    fd = a->out == NULL ? open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (a->out == NULL) {
        (void)unlink(file);
    }
    if (fd >= 0) {
        int shown = complain(show_profile(a, fd, &err), &err);
        status = status != 0 ? status : shown;
        (void)close(fd);
    }
    return status;
}

/* ---- the command line ---- */

enum { OPT_PRINT = 256, OPT_AGENT };

static int command(const struct asked *a, bool bounded, const char *verb, char **rest)
{
    static const char *const plain[] = {"stop", "dump", "status"};
    struct asked with = *a;
    if (strcmp(verb, "list") == 0) {
        return list();
    }
    if (strcmp(verb, "run") == 0) {
        return rest[0] != NULL ? run(a, rest) : misuse("run needs a command: hprofx run -- java ...");
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(plain); i++) {
        if (strcmp(verb, plain[i]) == 0) {
            return rest[0] != NULL ? ask_for(plain[i], rest[0]) : misuse("which JVM? give its number or its name");
        }
    }
    bool starts = strcmp(verb, "start") == 0;
    const char *word = starts ? rest[0] : verb;
    if (word == NULL) {
        return misuse("which JVM? give its number or its name");
    }
    with.more = starts ? (rest[1] != NULL ? rest[1] : "") : (rest[0] != NULL ? rest[0] : "");
    return starts ? start(&with, word, bounded) : profile(&with, word);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'v'},
                                            {"duration", required_argument, NULL, 'd'},
                                            {"event", required_argument, NULL, 'e'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"print-agent-path", no_argument, NULL, OPT_PRINT},
                                            {"agent", required_argument, NULL, OPT_AGENT},
                                            {NULL, 0, NULL, 0}};
    struct asked a = {.seconds = 10, .what = "cpu", .more = ""};
    const char *words[3] = {NULL, NULL, NULL};
    int n = 0;
    bool bounded = false;
    for (int opt; (opt = getopt_long(argc, argv, "-d:e:o:h", options, NULL)) != -1;) { /* "-": in any order */
        switch (opt) {
        case 'd':
            bounded = true;
            a.seconds = seconds_of(optarg);
            break;
        case 'e':
            a.what = optarg;
            break;
        case 'o':
            a.out = optarg;
            break;
        case 1:
            if (n == 3) {
                return misuse("too many words");
            }
            words[n++] = optarg;
            break;
        case 'h':
        case 'v':
            (void)fputs(opt == 'h' ? usage : "hprofx " HPX_VERSION "\n", stdout);
            return fflush(stdout) == 0 ? HPX_OK : HPX_FAILED;
        case OPT_AGENT:
            given_agent = optarg;
            break;
        case OPT_PRINT:
            (void)puts(agent_path());
            return fflush(stdout) == 0 ? HPX_OK : HPX_FAILED;
        default:
            return HPX_USAGE;
        }
    }
    if (a.seconds <= 0) {
        return misuse("-d wants a time: 30s, 2m, 500ms");
    }
    if (options_of(a.what) == NULL) {
        return misuse("-e wants cpu, times, alloc, live, lock, heap or all");
    }
    char *rest[4] = {NULL};
    if (n == 0) {
        (void)fputs(usage, stderr);
        return HPX_USAGE;
    }
    if (strcmp(words[0], "run") == 0) {
        return command(&a, bounded, words[0], argv + optind);
    }
    for (int i = 1; i < n; i++) {
        rest[i - 1] = (char *)(uintptr_t)words[i];
    }
    return command(&a, bounded, words[0], rest);
}
