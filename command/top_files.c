/* SPDX-License-Identifier: BSD-2-Clause */
/* top_files.c: see top_files.h. Once a second it looks which files are new; it reads them only if there are others than before. */
#include "top_files.h"
#include "clock.h"
#include "formats.h"
#include "inputs.h"
#include "look.h"
#include "outfile.h"
#include "plain.h"
#include "screen.h"
#include "units.h"
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECOND UINT64_C(1000000000)
#define KEYS   (SECOND / 5) /* between two looks for keys */
#define LAST   60           /* seconds: what agents with dump=60s write */

static const char usage[] = "usage: hprofx top [--last TIME] [-d TIME] [--view VIEW] FOLDER|'PATTERN'|FILE...\n"
                            "Shows the sum of the newest profiles, again when a file comes, changes or goes. Ends with q or Ctrl-C.\n"
                            "  --last TIME  the profiles written within TIME before the newest one (60s)\n"
                            "  -d TIME      end after TIME\n"
                            "  --view VIEW  only this view (hprofx view --help)\n"
                            "Status: 0 ok, 1 failed, 2 usage.\n";

struct asked {
    const char *view;
    double last, seconds; /* 0: no end */
    char **words;
    int nwords;
    char *shown; /* names and times of the files that were read last; NULL: none yet */
};

/* An option, of either top, whose value is the next word. */
static bool wants_value(const char *word)
{
    static const char *const options[] = {"-d", "-e", "-o", "--duration", "--event", "--agent", "--output", "--view", "--last"};
    bool wants = false;
    for (size_t i = 0; i < HPX_ARRAY_LEN(options); i++) {
        wants |= strcmp(word, options[i]) == 0;
    }
    return wants;
}

bool hpx_top_is_files(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (wants_value(argv[i])) {
            i++;
            continue;
        }
        const char *word = argv[i], *slash = strrchr(word, '/'), *name = slash != NULL ? slash + 1 : word;
        bool exists = stat(word, &st) == 0, named = hpx_format_of(name) != NULL || strstr(name, ".hprof") != NULL;
        if (word[0] != '-' && (exists ? S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && named) : strpbrk(word, "*?[") != NULL)) {
            return true;
        }
    }
    return false;
}

/* ---- which files ---- */

static double time_of(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 ? (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9 : 0;
}

/* Leaves the newest. What they are: a text that is another one if they are others; the caller frees it. NULL: no memory. */
static char *keep_newest(struct hpx_inputs *in, double last)
{
    struct hpx_input *all = in->files.items;
    double newest = 0;
    size_t n, kept = 0;
    char *text = NULL;
    FILE *to = open_memstream(&text, &n);
    if (to == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < in->files.len; i++) {
        double at = time_of(all[i].name);
        newest = at > newest ? at : newest;
    }
    for (size_t i = 0; i < in->files.len; i++) {
        double at = time_of(all[i].name);
        if (at < newest - last) {
            free(all[i].name);
            continue;
        }
        (void)fprintf(to, "%s %.9f\n", all[i].name, at);
        all[kept++] = all[i];
    }
    in->files.len = kept;
    return fclose(to) == 0 ? text : NULL;
}

/* ---- what they say ---- */

static enum hpx_status say(const char *text, struct hpx_err *err)
{
    return hpx_screen_show(text) ? HPX_OK : hpx_fail(err, HPX_FAILED, "standard output cannot be written");
}

static enum hpx_status show(const struct asked *a, struct hpx_inputs *in, struct hpx_err *err)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    if (to == NULL) {
        return hpx_fail(err, HPX_FAILED, "no memory");
    }
    in->quiet = true;
    enum hpx_status s = hpx_look_sum(to, in, a->view, err);
    if (s != HPX_OK && s != HPX_PARTIAL) { /* the next ones may be better */
        (void)fprintf(to, "%s\n", hpx_plain(err->msg));
    } else if (in->unread > 0) {
        (void)fprintf(to, "\n%zu file%s could not be read, or not to the end: `hprofx view` says why.\n", in->unread,
                      in->unread == 1 ? "" : "s");
    } else if (s == HPX_PARTIAL) {
        (void)fprintf(to, "\n%s\n", hpx_plain(err->msg));
    }
    s = fclose(to) == 0 ? say(text, err) : hpx_fail(err, HPX_FAILED, "no memory");
    free(text);
    return s;
}

/* One look. */
static enum hpx_status look(struct asked *a, struct hpx_err *err)
{
    struct hpx_inputs in = {.read = 0};
    enum hpx_status s = HPX_OK;
    for (int i = 0; i < a->nwords; i++) {
        struct hpx_err none; /* of a folder: none yet */
        (void)hpx_inputs_add(&in, a->words[i], &none);
    }
    char *now = keep_newest(&in, a->last);
    if (now == NULL) {
        s = hpx_fail(err, HPX_FAILED, "no memory");
    } else if (a->shown == NULL || strcmp(now, a->shown) != 0) {
        s = in.files.len > 0 ? show(a, &in, err) : say("There is no profile yet.\n", err);
    }
    if (now != NULL) {
        free(a->shown);
        a->shown = now;
    }
    hpx_inputs_fini(&in);
    return s;
}

/* ---- the loop ---- */

/* The signals that end it are blocked, and waited for. One that was ignored, as by nohup, stays so. */
static sigset_t block_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;
    struct sigaction was;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < HPX_ARRAY_LEN(signals); i++) {
        if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN) {
            (void)sigaddset(&set, signals[i]);
        }
    }
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    return set;
}

/* true: somebody ends it. */
static bool wait_until(uint64_t until, const sigset_t *set)
{
    bool ends = false;
    for (uint64_t now; !ends && (now = hpx_clock_mono()) < until;) {
        uint64_t left = until - now < KEYS ? until - now : KEYS;
        const struct timespec most = {.tv_sec = 0, .tv_nsec = (long)left};
        ends = sigtimedwait(set, NULL, &most) > 0 || hpx_screen_quits();
    }
    return ends;
}

static int run(struct asked *a)
{
    struct hpx_err err = {""};
    sigset_t set = block_signals();
    enum hpx_status s = HPX_OK;
    uint64_t at = hpx_clock_mono(), end = a->seconds > 0 ? at + (uint64_t)(a->seconds * 1e9) : UINT64_MAX;
    hpx_screen_open();
    for (bool ends = false; !ends && s == HPX_OK; ends = ends || wait_until(at < end ? at : end, &set) || at >= end) {
        s = look(a, &err);
        at = hpx_clock_mono() + SECOND;
        ends = s != HPX_OK;
    }
    hpx_screen_close();
    free(a->shown);
    return hpx_complain(s, &err);
}

/* ---- the command line ---- */

static int misuse(const char *why)
{
    (void)fprintf(stderr, "hprofx: %s\n%s", why, usage);
    return HPX_USAGE;
}

int hpx_top_files(int argc, char **argv)
{
    static const struct option options[] = {{"view", required_argument, NULL, 'v'},
                                            {"last", required_argument, NULL, 'l'},
                                            {"duration", required_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct asked a = {.last = LAST};
    argv[0] = "hprofx"; /* getopt_long() begins its messages with it */
    for (int opt; (opt = getopt_long(argc, argv, "d:h", options, NULL)) != -1;) {
        double seconds = opt == 'l' || opt == 'd' ? hpx_seconds_of(optarg) : 1;
        if (opt == 'h') {
            (void)fputs(usage, stdout);
            return HPX_OK;
        }
        if (opt == '?') {
            return HPX_USAGE;
        }
        if (seconds <= 0) {
            return misuse("--last and -d want a time: 30s, 2m, 500ms");
        }
        a.view = opt == 'v' ? optarg : a.view;
        a.last = opt == 'l' ? seconds : a.last;
        a.seconds = opt == 'd' ? seconds : a.seconds;
    }
    a.words = argv + optind;
    a.nwords = argc - optind;
    for (int i = 0; i < a.nwords; i++) {
        if (strcmp(a.words[i], "-") == 0 || hpx_engine_is(a.words[i])) {
            return misuse("top shows files that come; use hprofx view");
        }
    }
    return run(&a);
}
