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
    const char *verb;    /* NULL: hprofx-read */
    const char *program; /* before messages */
    const char *recover; /* the command that recovers a file, to its name */
    const char *usage;
    bool checks, recovers; /* without an option */
    struct option options[8];
};

struct asked {
    struct hpx_view view;
    bool recover;
    const char *file;
    int files;
};

static const struct form before = {
    .program = "hprofx-read",
    .recover = "hprofx-read --recover",
    .usage = "usage: hprofx-read [--check] [--strict] [--json] [--part] FILE\n"
             "       hprofx-read --recover NAME\n"
             "Shows what a binary or text HPROF file holds. FILE may be -, standard input.\n"
             "  --check    validate the file: one line, and notes\n"
             "  --strict   treat notes as errors\n"
             "  --json     one JSON object\n"
             "  --part     an unfinished file: its end inside a record is a note (default if FILE ends in .part,\n"
             "             or FILE.journal.part exists)\n"
             "  --recover  NAME or NAME.part, left by a run that was killed: cut after its last complete record\n"
             "Status: 0 sound, 1 broken, 2 usage or a file that cannot be read.\n",
    .options = {{"check", no_argument, NULL, 'c'},
                {"strict", no_argument, NULL, 's'},
                {"json", no_argument, NULL, 'j'},
                {"part", no_argument, NULL, 'p'},
                {"recover", optional_argument, NULL, 'r'},
                {"help", no_argument, NULL, 'h'},
                {"version", no_argument, NULL, 'v'}}};

#define STATUS "Status: 0 ok, 1 the file cannot be read or written, 2 usage, 6 the file is broken.\n"

static const struct form forms[] = {
    {.verb = "info",
     .program = "hprofx",
     .recover = "hprofx recover",
     .usage = "usage: hprofx info [--json] [--part] FILE\n"
              "Shows what a binary or text HPROF file holds. FILE may be -, standard input.\n"
              "  --json  one JSON object\n"
              "  --part  an unfinished file: its end inside a record is a note\n" STATUS,
     .options = {{"json", no_argument, NULL, 'j'}, {"part", no_argument, NULL, 'p'}, {"help", no_argument, NULL, 'h'}}},
    {.verb = "check",
     .program = "hprofx",
     .recover = "hprofx recover",
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
     .program = "hprofx",
     .recover = "hprofx recover",
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

static enum hpx_status recover(const struct form *f, const char *name)
{
    struct hpx_err said;
    int rc = hpx_recover(name, &said);
    (void)fprintf(rc == 0 ? stdout : stderr, "%s%s%s\n", rc == 0 ? "" : f->program, rc == 0 ? "" : ": ", said.msg);
    hpx_beside_say(name, hpx_recover_base(name), f->recover, stdout);
    return rc == 0 ? HPX_OK : rc == -HPX_E_RANGE ? HPX_PARTIAL : HPX_FAILED;
}

static enum hpx_status view(const struct hpx_view *with, const char *file, int fd)
{
    int found = hpx_view(with, file, fd);
    return found == HPX_VIEW_SOUND ? HPX_OK : found == HPX_VIEW_BROKEN ? HPX_PARTIAL : HPX_FAILED;
}

static enum hpx_status open_and_view(const struct hpx_view *asked, const char *file)
{
    if (strcmp(file, "-") == 0) {
        return view(asked, "standard input", STDIN_FILENO);
    }
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        (void)fprintf(stderr, "%s: %s: %s\n", asked->program, file, strerror(errno));
        return HPX_FAILED;
    }
    struct hpx_view with = *asked;
    with.part |= unfinished(file);
    enum hpx_status s = view(&with, file, fd);
    (void)close(fd);
    return s;
}

/* One option or file. The status with which the command ends at once, or -1. */
static int take(const struct form *f, int opt, struct asked *a)
{
    a->view.check |= opt == 'c' || opt == 's';
    a->view.strict |= opt == 's';
    a->view.json |= opt == 'j';
    a->view.part |= opt == 'p';
    a->recover |= opt == 'r';
    a->files += (opt == 'r' && optarg != NULL) || opt == 1;
    a->file = (opt == 'r' || opt == 1) && optarg != NULL ? optarg : a->file;
    if (opt == 'h' || opt == 'v') {
        (void)fputs(opt == 'h' ? f->usage : "hprofx-read " HPX_VERSION "\n", stdout);
        return HPX_OK;
    }
    if (opt == '?') {
        (void)fputs(f->usage, stderr);
        return HPX_USAGE;
    }
    return -1;
}

static enum hpx_status examine(const struct form *f, int argc, char **argv)
{
    struct asked a = {.view = {.program = f->program, .check = f->checks}, .recover = f->recovers};
    for (int opt; (opt = getopt_long(argc, argv, "-", f->options, NULL)) != -1;) { /* "-": in any order, also with POSIXLY_CORRECT */
        int s = take(f, opt, &a);
        if (s >= 0) {
            return (enum hpx_status)s;
        }
    }
    if (a.files + argc - optind != 1 || (a.recover && (a.view.check || a.view.json || a.view.part))) {
        (void)fputs(f->usage, stderr);
        return HPX_USAGE;
    }
    const char *file = a.file != NULL ? a.file : argv[optind];
    return a.recover ? recover(f, file) : open_and_view(&a.view, file);
}

static enum hpx_status examine_and_flush(const struct form *f, int argc, char **argv)
{
    enum hpx_status s = examine(f, argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && !hpx_out_nobody_reads()) {
        (void)fprintf(stderr, "%s: standard output: %s\n", f->program, strerror(errno));
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
    argv[0] = (char *)(uintptr_t)f->program; /* getopt_long() begins its messages with it */
    return (int)examine_and_flush(f, argc, argv);
}

int hpx_examine_as_before(int argc, char **argv)
{
    enum hpx_status s = examine_and_flush(&before, argc, argv);
    return s == HPX_OK ? HPX_VIEW_SOUND : s == HPX_PARTIAL ? HPX_VIEW_BROKEN : HPX_VIEW_UNUSABLE;
}
