/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx.c: the command hprofx: profiles a JVM that runs, or one that it starts, and shows profiles. hprofx(1), docs/attach.md. */
#include "arguments.h"
#include "filters.h"
#include "hprofx_doctor.h"
#include "hprofx_run.h"
#include "hprofx_top.h"
#include "own.h"
#include "subcommands.h"
#include "units.h"
#include "view.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a subcommand for JVMs is called with. */
struct call {
    struct hpx_arguments arguments;
    struct hpx_asked asked;
    bool given[HPX_O_COUNT]; /* options */
    const char *words[2];    /* the JVM, and options of the agent; for run the options alone */
    size_t n;
    char **program; /* of run; NULL: none */
};

#define MISUSE(c, ...) hpx_arguments_misuse(&(c)->arguments, __VA_ARGS__)

/* ---- subcommands for JVMs ---- */

/* The first word names no JVM, because a word follows that is no option of the agent. */
static int misuse_verb(struct call *c)
{
    const char *nearest = access(c->words[0], F_OK) == 0 ? "view" : hpx_verb_nearest(c->words[0]);
    return MISUSE(c, "unknown command: %.40s%s%s%s", c->words[0], nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
                  nearest != NULL ? "?" : "");
}

/* A word alone may be the name of a JVM. */
static int hint_verb(const char *word, int status)
{
    const char *nearest = hpx_verb_nearest(word);
    if (status == HPX_NO_JVM && access(word, F_OK) == 0) {
        (void)fprintf(stderr, "hprofx: did you mean `hprofx view %s`?\n", word);
    } else if (status == HPX_NO_JVM && nearest != NULL) {
        (void)fprintf(stderr, "hprofx: did you mean the command %s?\n", nearest);
    }
    return status;
}

/* The words are a JVM, and perhaps options of the agent. The status with which the command ends at once, or -1. */
static int take_words(struct call *c, size_t most)
{
    if (c->n == 0) {
        return MISUSE(c, "which JVM? give its number or its name");
    }
    if (c->n > 1 && hpx_asked_is_option(c->words[0]) && !hpx_asked_is_option(c->words[1])) {
        return MISUSE(c, "options of the agent stand behind the JVM: ... PID|NAME OPTION=VALUE,...");
    }
    if (c->n > most) {
        return MISUSE(c, "too many words");
    }
    c->asked.more = c->n > 1 ? c->words[1] : "";
    return -1;
}

static int check(struct call *c)
{
    static struct hpx_err err;
    enum hpx_status s = hpx_asked_check(&c->asked, &err);
    return s != HPX_OK ? hpx_complain(s, &err) : -1;
}

/* A heap dump that can be told in words. */
static bool is_binary_dump(const struct hpx_asked *a)
{
    return !hpx_asked_names(a->more, "format") || strstr(a->more, "format=b") != NULL;
}

static int profile(struct call *c)
{
    bool number = c->n > 0 && c->words[0][0] >= '0' && c->words[0][0] <= '9';
    if (c->n > 1 && !number && !hpx_asked_is_option(c->words[0]) && !hpx_asked_is_option(c->words[1])) {
        return misuse_verb(c);
    }
    int status = take_words(c, 2);
    status = status < 0 ? check(c) : status;
    if (status < 0 && c->asked.bounded && hpx_asked_at_once(&c->asked)) {
        return MISUSE(c, "-e heap dumps the heap at once, so that -d has nothing to limit; leave it out");
    }
    c->asked.words = c->asked.out == NULL && hpx_asked_at_once(&c->asked) && is_binary_dump(&c->asked); /* as hprofx heap */
    return status < 0 ? hint_verb(c->words[0], hpx_live_profile(&c->asked, c->words[0])) : status;
}

/* A dump, and at once what is in it. */
static int heap(struct call *c)
{
    int status = take_words(c, 2);
    if (status < 0 && hpx_asked_names_mode(c->asked.more)) {
        return MISUSE(c, "heap takes a heap dump alone: options that go with it, such as maxpause=off");
    }
    c->asked.what = "heap";
    c->asked.words = true;
    if (status < 0 && !hpx_asked_at_once(&c->asked)) {
        return MISUSE(c, "heap takes a heap dump alone; allocation sites take time: hprofx -d 10 -e heap -o heap.hprof PID %.80s",
                      c->asked.more);
    }
    if (status < 0 && !is_binary_dump(&c->asked)) {
        return MISUSE(c, "heap reads the dump in binary: leave out format=");
    }
    status = status < 0 ? check(c) : status;
    return status < 0 ? hpx_live_profile(&c->asked, c->words[0]) : status;
}

/* The threads of one moment: MONITOR DUMP of a session that ends at once. */
static int threads(struct call *c)
{
    static char more[4096];
    int status = take_words(c, 2);
    if (status < 0 && (hpx_asked_names_mode(c->asked.more) || hpx_asked_names(c->asked.more, "format"))) {
        return MISUSE(c, "threads takes no other mode or format: options that go with it, such as maxpause=off");
    }
    const char *depth = hpx_asked_names(c->asked.more, "depth") ? "" : ",depth=64", *comma = c->asked.more[0] != 0 ? "," : "";
    if (status < 0 && snprintf(more, sizeof more, "monitor=y%s%s%s", depth, comma, c->asked.more) >= (int)sizeof more) {
        return MISUSE(c, "the options are too long");
    }
    c->asked.more = more;
    c->asked.census = true;
    status = status < 0 ? check(c) : status;
    return status < 0 ? hpx_live_profile(&c->asked, c->words[0]) : status;
}

static int start(struct call *c)
{
    int status = take_words(c, 2);
    if (status < 0 && hpx_asked_is_stdout(&c->asked)) {
        return MISUSE(c, "start lets the JVM write the file, which is not standard output");
    }
    if (status < 0 && hpx_asked_picture(&c->asked)) {
        return MISUSE(c, "start lets the JVM write HPROF; leave out -o, and end with `hprofx stop -o %.80s %.80s`", c->asked.out,
                      c->words[0]);
    }
    status = status < 0 ? check(c) : status;
    return status < 0 ? hpx_live_start(&c->asked, c->words[0]) : status;
}

/* stop, dump, status */
static int ask(struct call *c)
{
    int status = take_words(c, 1);
    return status < 0 ? hpx_live_ask(&c->asked, c->arguments.verb->name, c->words[0]) : status;
}

static int top(struct call *c)
{
    static const char *const shown[] = {"cpu", "wall", "times", "lock"};
    bool shows = !c->given[HPX_O_EVENT];
    for (size_t i = 0; i < HPX_ARRAY_LEN(shown); i++) {
        shows = shows || strcmp(c->asked.what, shown[i]) == 0;
    }
    if (!shows) {
        return MISUSE(c, "-e is cpu, wall, times or lock for top");
    }
    if (c->n > 1 && hpx_asked_names(c->words[1], "heap")) {
        return MISUSE(c, "top cannot show the heap; use -e alloc, live or heap without top");
    }
    c->asked.what = c->given[HPX_O_EVENT] ? c->asked.what : NULL;
    int status = take_words(c, 2);
    status = status < 0 ? check(c) : status;
    return status < 0 ? hpx_top(&c->asked, c->words[0]) : status;
}

static int run(struct call *c)
{
    if (c->program == NULL || c->n > 1) {
        return MISUSE(c,
                      c->n > 1 ? "options of the agent have commas between" : "run needs a program: hprofx run [AGENT-OPTIONS] java ...");
    }
    c->asked.more = c->n > 0 ? c->words[0] : "";
    int status = check(c);
    return status < 0 ? hpx_launch(&c->asked, c->program) : status;
}

static int list(struct call *c)
{
    return c->n > 0 ? MISUSE(c, "list takes no words") : hpx_list();
}

static int doctor(struct call *c)
{
    return c->n > 1 ? MISUSE(c, "too many words") : hpx_doctor(&c->asked, c->words[0]);
}

static int jmh(struct call *c)
{
    return c->n > 0 ? MISUSE(c, "jmh takes no words") : hpx_jmh(&c->asked);
}

/* ---- their command line ---- */

/* What others call it. */
static const char *hint_event(const char *given)
{
    static const char *const cpu[] = {"itimer", "ctimer", "cycles", "cpu-clock", "method"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cpu); i++) {
        if (strcmp(given, cpu[i]) == 0) {
            return i + 1 < HPX_ARRAY_LEN(cpu) ? "; samples of CPU time are -e cpu" : "; calls of methods are -e times";
        }
    }
    return "";
}

/* The status with which the command ends at once, or -1. */
static int take_option(struct call *c, enum hpx_option_id option)
{
    struct hpx_asked *a = &c->asked;
    const char *value = c->arguments.value, *wrong;
    c->given[option] = true;
    if (hpx_filters_option(&a->filter, (int)option, value, &wrong)) {
        return wrong == NULL ? -1 : MISUSE(c, "%s", wrong);
    }
    switch (option) {
    case HPX_O_DURATION:
        a->bounded = true;
        a->seconds = hpx_seconds_of(value);
        return a->seconds > 0 ? -1 : MISUSE(c, "-d wants a time: 30s, 2m, 500ms");
    case HPX_O_EVENT:
        a->what = value;
        return hpx_asked_kind(value) != NULL
                   ? -1
                   : MISUSE(c, "-e wants cpu, wall, times, calls, alloc, live, lock, heap or all%s", hint_event(value));
    case HPX_O_OUTPUT:
        a->out = value;
        return -1;
    case HPX_O_THREADS:
        a->threads = true;
        hpx_look_by_thread();
        return -1;
    case HPX_O_MINE:
        return hpx_own_mine(value) ? -1 : MISUSE(c, "--mine wants prefixes of classes: com.acme,org.shop");
    case HPX_O_BY:
        return value[0] == '\0'            ? MISUSE(c, "--by wants a method, class or package")
               : hpx_look_by_method(value) ? -1
                                           : MISUSE(c, "no memory");
    case HPX_O_IDLE:
        hpx_look_idle();
        return -1;
    case HPX_O_ROWS:
        return hpx_rows_of(value, &a->rows) ? -1 : MISUSE(c, "-n wants a number of rows");
    case HPX_O_JSON:
        a->json = true;
        return -1;
    case HPX_O_AGENT:
        a->agent = value;
        return -1;
    case HPX_O_VERSION:
        (void)puts("hprofx " HPX_VERSION);
        return HPX_OK;
    default: /* HPX_O_PRINT_AGENT_PATH: the last one that a verb for JVMs has */
        (void)puts(hpx_asked_agent(a));
        return HPX_OK;
    }
}

/* Options stood before the verb. */
static int take_verb(struct call *c, const struct hpx_verb *v)
{
    if (!v->session) {
        return MISUSE(c, "%s comes first and has its own options", v->name);
    }
    c->arguments.verb = v;
    for (int i = 0; i < HPX_O_COUNT; i++) {
        if (c->given[i] && hpx_verb_option(v, (enum hpx_option_id)i) == NULL) {
            return MISUSE(c, "%s has no option --%s", v->name, hpx_options_all[i].name);
        }
    }
    return -1;
}

static int take_word(struct call *c)
{
    const char *word = c->arguments.value;
    const struct hpx_verb *v = c->arguments.verb->name[0] == '\0' && c->n == 0 && !c->arguments.plain ? hpx_verb_of(word) : NULL;
    if (v != NULL && v->name[0] != '\0') {
        return take_verb(c, v);
    }
    if (c->arguments.verb->words == HPX_WORDS_PROGRAM && (c->arguments.plain || !hpx_asked_is_option(word))) {
        c->program = c->arguments.rest - 1;
        return -1;
    }
    if (c->n == HPX_ARRAY_LEN(c->words)) {
        return MISUSE(c, "too many words; options of the agent have commas between");
    }
    c->words[c->n++] = word;
    return -1;
}

static int for_jvm(const struct hpx_verb *verb, char **argv)
{
    static const struct {
        const char *verb;
        int (*run)(struct call *c);
    } all[] = {{"", profile},        {"start", start}, {"stop", ask}, {"dump", ask},  {"status", ask},    {"heap", heap},
               {"threads", threads}, {"run", run},     {"top", top},  {"list", list}, {"doctor", doctor}, {"jmh", jmh}};
    struct call c = {.arguments = hpx_arguments_of(verb, argv), .asked = {.seconds = 10, .what = "cpu", .more = ""}};
    int status = -1;
    c.asked.times = verb->name[0] == '\0' || strcmp(verb->name, "start") == 0 || strcmp(verb->name, "run") == 0;
    if (argv[0] == NULL || (argv[1] == NULL && verb->name[0] == '\0')) {
        hpx_verb_help(verb, stderr);
        return HPX_USAGE;
    }
    while (status < 0 && c.program == NULL) {
        int next = hpx_arguments_next(&c.arguments);
        if (next == HPX_ARGUMENTS_LAST) {
            break;
        }
        status = next == HPX_ARGUMENTS_ENDS   ? c.arguments.status
                 : next == HPX_ARGUMENTS_WORD ? take_word(&c)
                                              : take_option(&c, (enum hpx_option_id)next);
    }
    for (size_t i = 0; status < 0 && i < HPX_ARRAY_LEN(all); i++) {
        if (strcmp(all[i].verb, c.arguments.verb->name) == 0) {
            status = all[i].run(&c);
        }
    }
    hpx_filter_fini(&c.asked.filter);
    return status;
}

/* ---- all subcommands ---- */

/* hprofx-ship, which stands beside this program. */
static int fleet(char **argv)
{
    (void)execv(hpx_asked_ship(), argv);
    (void)fprintf(stderr, "hprofx: %s cannot be run: %s; it is built where libcurl and libmicrohttpd are found\n", hpx_asked_ship(),
                  strerror(errno));
    return HPX_FAILED;
}

/* Of files. */
static int for_file(const struct hpx_verb *verb, char **argv)
{
    static const struct {
        const char *verb;
        int (*run)(struct hpx_arguments *a);
    } all[] = {{"info", hpx_info}, {"check", hpx_check_file}, {"recover", hpx_recover_file},
               {"view", hpx_look}, {"convert", hpx_convert},  {"merge", hpx_convert},
               {"diff", hpx_diff}};
    struct hpx_arguments a = hpx_arguments_of(verb, argv);
    size_t i = 0;
    while (i + 1 < HPX_ARRAY_LEN(all) && strcmp(all[i].verb, verb->name) != 0) {
        i++;
    }
    return all[i].run(&a);
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

/* "hprofx help VERB" is "hprofx VERB --help", and "hprofx version" --version, as other commands have it. -1: it is neither. */
static int help_or_version(int argc, char **argv)
{
    const struct hpx_verb *of = argc == 3 ? hpx_verb_of(argv[2]) : hpx_verb_of("");
    if ((argc == 2 || argc == 3) && strcmp(argv[1], "help") == 0 && of != NULL) {
        hpx_verb_help(of, stdout);
        return HPX_OK;
    }
    if (argc == 2 && strcmp(argv[1], "version") == 0) {
        (void)puts("hprofx " HPX_VERSION);
        return HPX_OK;
    }
    return -1;
}

int main(int argc, char **argv)
{
    (void)signal(SIGPIPE, SIG_IGN); /* what was begun in a JVM ends in good order */
    const struct hpx_verb *verb = argc > 1 ? hpx_verb_of(argv[1]) : NULL;
    bool named = verb != NULL && verb->name[0] != '\0';
    if (argc == 2 && strcmp(argv[1], "--print-table") == 0) { /* for completions.py, and tests */
        hpx_verbs_print(stdout);
        return flushed(HPX_OK, false);
    }
    int told = help_or_version(argc, argv);
    if (told >= 0) {
        return flushed(told, false);
    }
    if (!named) {
        return flushed(for_jvm(hpx_verb_of(""), argv), false);
    }
    if (verb->fleet) {
        return fleet(argv);
    }
    return verb->session ? flushed(for_jvm(verb, argv + 1), false) : flushed(for_file(verb, argv + 1), strcmp(verb->name, "diff") == 0);
}
