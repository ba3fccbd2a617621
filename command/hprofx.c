/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx.c: the command hprofx: profiles a JVM that runs, or one that it starts, and shows profiles. hprofx(1), docs/attach.md. */
#include "diff.h"
#include "hprofx_doctor.h"
#include "hprofx_info.h"
#include "hprofx_run.h"
#include "hprofx_start.h"
#include "hprofx_top.h"
#include "look.h"
#include "picture.h"
#include "subcommands.h"
#include "target.h"
#include "units.h"
#include "verbs.h"
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: hprofx [OPTIONS] PID|NAME [AGENT-OPTIONS]    profile a JVM for 10 s, and show what it did\n"
    "       hprofx start|stop|dump|status PID|NAME ...   begin, end, look at a session; stop shows it\n"
    "       hprofx run [OPTIONS] java ...|mvn ...|./x.sh profile a program from its start to its end\n"
    "       hprofx top [OPTIONS] PID|NAME [AGENT-OPTIONS] what it does now, every second\n"
    "       hprofx list                                  JVMs that run here\n"
    "       hprofx doctor [PID|NAME]                     what will work here, and the remedy for what will not\n"
    "       hprofx info|check [OPTIONS] FILE             what a profile holds, and whether it is sound\n"
    "       hprofx recover NAME                          rebuild the profile of a program that was killed\n"
    "       hprofx view [OPTIONS] FILE...                profiles as tables, call tree, callers and callees\n"
    "       hprofx ship|watch [OPTIONS] ... URL...       send profiles of many JVMs to engines such as ClickHouse\n"
    "       hprofx fetch [OPTIONS] URL                   profiles of a fleet that an engine keeps, as a file\n"
    "       hprofx convert|merge IN... OUT               profiles in another format, by the suffix of OUT\n"
    "       hprofx diff [OPTIONS] A B                    what changed between two profiles, beyond chance\n"
    "       hprofx jmh                                   what to give JMH for its option -prof hprofx\n"
    "  -d TIME   how long: 30s, 2m (10s)\n"
    "  -e WHAT   cpu; in brackets what it costs the program: cpu (low), wall (low), times (slow: every call),\n"
    "            alloc (low; slow with sites=exact), live (low; collects garbage), lock (low), all (low),\n"
    "            heap (pause: a heap dump at once, without -d)\n"
    "  -o FILE   keep the profile in FILE and print no table, in the format of its suffix, as hprofx convert:\n"
    "            .txt, .hprof, .html, .pb.gz ...; without one HPROF as the agent writes it; -: standard output\n"
    "  -t        each thread by itself (thread=y); in collapsed stacks and speedscope it is the root of its stacks\n"
    "  --agent FILE  another file of the library; --print-agent-path, --version, --help\n"
    "AGENT-OPTIONS are those of hprofx(7), with commas between: interval=1,depth=64\n"
    "Examples:\n"
    "  hprofx 4711\n"
    "  hprofx -d 30s -e alloc MyServer\n"
    "  hprofx -e heap -o heap.hprof 4711\n"
    "  hprofx run java -jar app.jar\n"
    "Status: 0 ok, 1 failed, 2 usage, 3 no such JVM, 4 not permitted, 5 refused, 6 the profile is not whole.\n";

static int misuse(const char *why)
{
    hpx_misuse("", why);
    return HPX_USAGE;
}

/* The first word names no JVM, because a word follows that is no option of the agent. */
static int misuse_verb(const char *word)
{
    char why[160];
    const char *nearest = hpx_verb_nearest(word);
    (void)snprintf(why, sizeof why, "unknown command: %.40s%s%s%s", word, nearest != NULL ? "; did you mean " : "",
                   nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
    return misuse(why);
}

/* A word alone may be the name of a JVM. */
static int hint_verb(const char *word, int status)
{
    const char *nearest = hpx_verb_nearest(word);
    if (status == HPX_NO_JVM && nearest != NULL) {
        (void)fprintf(stderr, "hprofx: did you mean the command %s?\n", nearest);
    }
    return status;
}

/* ---- hprofx-ship, which stands beside this program ---- */

static bool for_fleet(const char *verb)
{
    static const char *const verbs[] = {"ship", "watch", "fetch"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(verbs); i++) {
        if (strcmp(verbs[i], verb) == 0) {
            return true;
        }
    }
    return false;
}

static int fleet(char **argv)
{
    (void)execv(hpx_asked_ship(), argv);
    (void)fprintf(stderr, "hprofx: %s cannot be run: %s; it is built where libcurl and libmicrohttpd are found\n", hpx_asked_ship(),
                  strerror(errno));
    return HPX_FAILED;
}

/* ---- the command line ---- */

/* Subcommands that have nothing to do with a JVM, and options of their own; NULL: it is none. */
static int (*for_files(const char *verb))(int argc, char **argv)
{
    static const struct {
        const char *verb;
        int (*run)(int argc, char **argv);
    } all[] = {{"convert", hpx_convert}, {"merge", hpx_convert}, {"diff", hpx_diff}, {"view", hpx_look}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        if (strcmp(all[i].verb, verb) == 0) {
            return all[i].run;
        }
    }
    return NULL;
}

struct words {
    const char *of[3];
    int n;
};

static int command(struct hpx_asked *a, const struct words *w, char **behind)
{
    static const char *const plain[] = {"stop", "dump", "status"};
    static struct hpx_err err;
    enum hpx_status checked;
    const char *verb = w->of[0];
    bool starts = strcmp(verb, "start") == 0, tops = strcmp(verb, "top") == 0, asks = false;
    for (size_t i = 0; i < HPX_ARRAY_LEN(plain); i++) {
        asks = asks || strcmp(verb, plain[i]) == 0;
    }
    if (tops && (a->out != NULL || (a->what != NULL && strcmp(a->what, "cpu") != 0 && strcmp(a->what, "wall") != 0 &&
                                    strcmp(a->what, "times") != 0 && strcmp(a->what, "lock") != 0))) {
        return misuse("top writes no file, and -e is cpu, wall, times or lock for it");
    }
    if (tops && w->n > 2 && hpx_asked_names(w->of[2], "heap")) {
        return misuse("top cannot show the heap; use -e alloc, live or heap without top");
    }
    a->what = a->what == NULL && !tops ? "cpu" : a->what;
    if (strcmp(verb, "run") == 0) {
        a->more = w->n > 1 ? w->of[1] : "";
        if (a->bounded) {
            return misuse("run takes no -d: the program ends by itself");
        }
        if (w->n > 2 || behind[0] == NULL) {
            return misuse("run needs a command: hprofx run [AGENT-OPTIONS] java ...");
        }
        checked = hpx_asked_check(a, &err);
        return checked != HPX_OK ? hpx_complain(checked, &err) : hpx_launch(a, behind);
    }
    if (behind[0] != NULL) {
        return misuse("too many words");
    }
    if (hpx_examine_is(verb) || for_files(verb) != NULL) {
        return misuse("subcommands for files come first and have options of their own");
    }
    if (strcmp(verb, "list") == 0) {
        return w->n > 1 ? misuse("list takes no words") : hpx_list();
    }
    if (strcmp(verb, "doctor") == 0) {
        return w->n > 2 ? misuse("too many words") : hpx_doctor(a, w->n > 1 ? w->of[1] : NULL);
    }
    if (strcmp(verb, "jmh") == 0) {
        return w->n > 1 ? misuse("jmh takes no words") : hpx_jmh(a);
    }
    int at = starts || asks || tops ? 1 : 0; /* of the word that names the JVM */
    bool number = verb[0] >= '0' && verb[0] <= '9';
    if (at == 0 && w->n > 1 && !number && !hpx_asked_is_option(verb) && !hpx_asked_is_option(w->of[1])) {
        return misuse_verb(verb);
    }
    if (w->n <= at) {
        return misuse("which JVM? give its number or its name");
    }
    if (w->n > at + 1 && hpx_asked_is_option(w->of[at]) && !hpx_asked_is_option(w->of[at + 1])) {
        return misuse("options of the agent stand behind the JVM: ... PID|NAME OPTION=VALUE,...");
    }
    if (w->n > at + (asks ? 1 : 2)) {
        return misuse("too many words; options of the agent have commas between");
    }
    a->more = w->n > at + 1 ? w->of[at + 1] : "";
    if (starts && hpx_asked_is_stdout(a)) {
        return misuse("start lets the JVM write the file, which is not standard output");
    }
    if (starts && hpx_asked_picture(a)) {
        return misuse("start lets the JVM write the file, which is HPROF; name it so, and use hprofx convert after the session");
    }
    if (!asks && (checked = hpx_asked_check(a, &err)) != HPX_OK) {
        return hpx_complain(checked, &err);
    }
    if (!asks && !starts && !tops && a->bounded && hpx_asked_at_once(a)) {
        return misuse("-e heap dumps the heap at once, so that -d has nothing to limit; leave it out");
    }
    return asks     ? hpx_live_ask(a, verb, w->of[1])
           : starts ? hpx_live_start(a, w->of[1])
           : tops   ? hpx_top(a, w->of[1])
                    : hint_verb(verb, hpx_live_profile(a, verb));
}

enum { OPT_PRINT = 256, OPT_AGENT };

/* The status with which the command ends at once, or -1. */
static int take_option(int opt, struct hpx_asked *a, struct words *w)
{
    switch (opt) {
    case 'd':
        a->bounded = true;
        a->seconds = hpx_seconds_of(optarg);
        return a->seconds > 0 ? -1 : misuse("-d wants a time: 30s, 2m, 500ms");
    case 'e':
        a->what = optarg;
        return hpx_asked_kind(a->what) != NULL ? -1 : misuse("-e wants cpu, wall, times, alloc, live, lock, heap or all");
    case 'o':
        a->out = optarg;
        return -1;
    case 't':
        a->threads = true;
        return -1;
    case OPT_AGENT:
        a->agent = optarg;
        return -1;
    case 1:
        if (w->n == (int)HPX_ARRAY_LEN(w->of)) {
            return misuse("too many words; options of the agent have commas between");
        }
        w->of[w->n++] = optarg;
        return -1;
    case 'h':
        (void)fputs(usage, stdout);
        return HPX_OK;
    case 'v':
        (void)puts("hprofx " HPX_VERSION);
        return HPX_OK;
    case OPT_PRINT:
        (void)puts(hpx_asked_agent(a));
        return HPX_OK;
    default:
        return HPX_USAGE;
    }
}

/* diff ends with 1 for what it finds. */
static int flushed(int status, bool diffs)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && !hpx_out_nobody_reads()) {
        (void)fputs("hprofx: standard output cannot be written\n", stderr);
        status = status == HPX_OK ? (diffs ? HPX_USAGE : HPX_FAILED) : status;
    }
    return status;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'v'},
                                            {"duration", required_argument, NULL, 'd'},
                                            {"event", required_argument, NULL, 'e'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"threads", no_argument, NULL, 't'},
                                            {"print-agent-path", no_argument, NULL, OPT_PRINT},
                                            {"agent", required_argument, NULL, OPT_AGENT},
                                            {NULL, 0, NULL, 0}};
    (void)signal(SIGPIPE, SIG_IGN); /* what was begun in a JVM ends in good order */
    struct hpx_asked a = {.seconds = 10, .more = ""};
    struct words w = {.n = 0};
    int status = -1;
    if (argc > 1 && hpx_examine_is(argv[1])) {
        return hpx_examine(argc - 1, argv + 1);
    }
    if (argc > 1 && for_fleet(argv[1])) {
        return fleet(argv);
    }
    if (argc > 1 && for_files(argv[1]) != NULL) {
        bool diffs = strcmp(argv[1], "diff") == 0; /* before the words get another order, or other texts */
        int done = for_files(argv[1])(argc - 1, argv + 1);
        return flushed(done, diffs);
    }
    bool runs = false; /* the words of a program follow */
    for (int opt; status < 0 && !runs && (opt = getopt_long(argc, argv, "-d:e:o:th", options, NULL)) != -1;) { /* "-": in any order */
        runs = opt == 1 && w.n > 0 && strcmp(w.of[0], "run") == 0 && !hpx_asked_is_option(optarg);
        optind -= runs;
        status = runs ? status : take_option(opt, &a, &w);
    }
    if (status < 0 && w.n == 0) {
        (void)fputs(usage, stderr);
        status = HPX_USAGE;
    }
    return flushed(status < 0 ? command(&a, &w, argv + optind) : status, false);
}
