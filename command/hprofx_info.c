/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_info.c: see hprofx_info.h. */
#include "hprofx_info.h"
#include "beside.h"
#include "hprof_show.h"
#include "outfile.h"
#include "recover.h"
#include "status.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A command line and its options. */
struct form {
    const char *verb;
    const char *usage;
    bool checks, recovers;
    struct option options[8];
};

struct asked {
    struct hpx_view view;
    const char *file;
    int files;
};

#define STATUS "Status: 0 ok, 1 the file cannot be read or written, 2 usage, 6 the file is broken.\n"

static const struct form forms[] = {
    {.verb = "info",
     .usage = "usage: hprofx info [--json] [--part] FILE\n"
              "Shows what a binary or text HPROF file holds. FILE may be -, standard input.\n"
              "  --json  one JSON object\n"
              "  --part  an unfinished file: its end inside a record is a note\n" STATUS,
     .options = {{"json", no_argument, NULL, 'j'}, {"part", no_argument, NULL, 'p'}, {"help", no_argument, NULL, 'h'}}},
    {.verb = "check",
     .usage = "usage: hprofx check [--strict] [--json] [--part] FILE\n"
              "Validates an HPROF file. FILE may be -, standard input.\n"
              "  --strict  treat notes as errors\n"
              "  --json    one JSON object\n"
              "  --part    an unfinished file: its end inside a record is a note\n" STATUS,
     .checks = true,
     .options = {{"strict", no_argument, NULL, 's'},
                 {"json", no_argument, NULL, 'j'},
                 {"part", no_argument, NULL, 'p'},
                 {"help", no_argument, NULL, 'h'}}},
    {.verb = "recover",
     .usage = "usage: hprofx recover NAME\n"
              "Completes NAME or NAME.part, left by a run that was killed: cuts it after its last complete record.\n" STATUS,
     .recovers = true,
     .options = {{"help", no_argument, NULL, 'h'}}},
};

/* Or its journal exists, which the run removes at its end: the run lives, or was killed while it appended a dump. */
static bool unfinished(const char *file)
{
    char journal[PATH_MAX];
    size_t n = strlen(file);
    int k = snprintf(journal, sizeof(journal), "%s.journal.part", file);
    return (n > 5 && strcmp(file + n - 5, ".part") == 0) || (k > 0 && (size_t)k < sizeof(journal) && access(journal, F_OK) == 0);
}

static enum hpx_status recover(const char *name)
{
    struct hpx_err said;
    int rc = hpx_recover(name, &said);
    (void)fprintf(rc == 0 ? stdout : stderr, "%s%s\n", rc == 0 ? "" : "hprofx: ", said.msg);
    hpx_beside_say(name, hpx_recover_base(name), stdout);
    return rc == 0 ? HPX_OK : rc == -HPX_E_RANGE ? HPX_PARTIAL : HPX_FAILED;
}

static enum hpx_status open_and_view(const struct hpx_view *asked, const char *file)
{
    if (strcmp(file, "-") == 0) {
        return hpx_view(asked, "standard input", STDIN_FILENO);
    }
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        (void)fprintf(stderr, "hprofx: %s: %s\n", file, strerror(errno));
        return HPX_FAILED;
    }
    struct hpx_view with = *asked;
    with.part |= unfinished(file);
    enum hpx_status s = hpx_view(&with, file, fd);
    (void)close(fd);
    return s;
}

static enum hpx_status misuse(const struct form *f, const char *why)
{
    hpx_misuse(f->verb, why);
    return HPX_USAGE;
}

/* One option or file. The status with which the command ends at once, or -1. */
static int take(const struct form *f, int opt, struct asked *a)
{
    a->view.strict |= opt == 's';
    a->view.json |= opt == 'j';
    a->view.part |= opt == 'p';
    a->files += opt == 1;
    a->file = opt == 1 ? optarg : a->file;
    if (opt == 'h') {
        (void)fputs(f->usage, stdout);
        return HPX_OK;
    }
    return opt == '?' ? (int)misuse(f, "no such option") : -1;
}

static enum hpx_status examine(const struct form *f, int argc, char **argv)
{
    opterr = 0;
    struct asked a = {.view = {.check = f->checks}};
    for (int opt; (opt = getopt_long(argc, argv, "-", f->options, NULL)) != -1;) { /* "-": in any order, also with POSIXLY_CORRECT */
        int s = take(f, opt, &a);
        if (s >= 0) {
            return (enum hpx_status)s;
        }
    }
    if (a.files + argc - optind != 1) {
        return misuse(f, "it takes one file");
    }
    const char *file = a.file != NULL ? a.file : argv[optind];
    return f->recovers ? recover(file) : open_and_view(&a.view, file);
}

static enum hpx_status examine_and_flush(const struct form *f, int argc, char **argv)
{
    enum hpx_status s = examine(f, argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && !hpx_out_nobody_reads()) {
        (void)fputs("hprofx: standard output cannot be written\n", stderr);
        return HPX_FAILED;
    }
    return s;
}

static const struct form *form_of(const char *verb)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(forms); i++) {
        if (strcmp(forms[i].verb, verb) == 0) {
            return &forms[i];
        }
    }
    return NULL;
}

bool hpx_examine_is(const char *verb)
{
    return form_of(verb) != NULL;
}

int hpx_examine(int argc, char **argv)
{
    const struct form *f = form_of(argv[0]);
    argv[0] = "hprofx";
    return (int)examine_and_flush(f, argc, argv);
}
