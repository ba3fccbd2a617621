/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c: hprofx-read, the reader of HPROF files: docs/reader.md, hprofx-read(1). */
#include "beside.h"
#include "recover.h"
#include "view.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct asked {
    struct hpx_view view;
    bool recover;
};

static const char usage[] = "usage: hprofx-read [--check] [--strict] [--json] [--part] FILE\n"
                            "       hprofx-read --recover NAME\n"
                            "Shows what a binary or text HPROF file holds. FILE may be -, standard input.\n"
                            "  --check    only hold the file to the rules of the format: one line, and notes\n"
                            "  --strict   a note is a break\n"
                            "  --json     one JSON object\n"
                            "  --part     an unfinished file: its end inside a record is a note (so if FILE ends in .part,\n"
                            "             or FILE.journal.part exists)\n"
                            "  --recover  NAME or NAME.part, left by a run that was killed: cut behind its last whole record\n"
                            "Status: 0 sound, 1 broken, 2 usage or a file that cannot be read.\n";

/* Or its journal exists, which the run removes at its end: the run lives, or was killed while it appended a dump. */
static bool unfinished(const char *file)
{
    char journal[PATH_MAX];
    size_t n = strlen(file);
    int k = snprintf(journal, sizeof(journal), "%s.journal.part", file);
    return (n > 5 && strcmp(file + n - 5, ".part") == 0) || (k > 0 && (size_t)k < sizeof(journal) && access(journal, F_OK) == 0);
}

static int recover(const char *name)
{
    struct hpx_err said;
    int rc = hpx_recover(name, &said);
    fprintf(rc == 0 ? stdout : stderr, "%s%s\n", rc == 0 ? "" : "hprofx-read: ", said.msg);
    hpx_beside_say(name, hpx_recover_base(name), stdout);
    if (rc == 0) {
        return HPX_VIEW_SOUND;
    }
    return rc == -HPX_E_RANGE ? HPX_VIEW_BROKEN : HPX_VIEW_UNUSABLE;
}

static int open_and_read(const struct asked *a, const char *file)
{
    if (strcmp(file, "-") == 0) {
        return hpx_view(&a->view, "standard input", STDIN_FILENO);
    }
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        fprintf(stderr, "hprofx-read: %s: %s\n", file, strerror(errno));
        return HPX_VIEW_UNUSABLE;
    }
    struct hpx_view with = a->view;
    with.part |= unfinished(file);
    int status = hpx_view(&with, file, fd);
    close(fd);
    return status;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"check", no_argument, NULL, 'c'},         {"strict", no_argument, NULL, 's'},
                                            {"json", no_argument, NULL, 'j'},          {"part", no_argument, NULL, 'p'},
                                            {"recover", optional_argument, NULL, 'r'}, {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'v'},       {NULL, 0, NULL, 0}};
    struct asked a = {.view = {.program = "hprofx-read"}};
    const char *file = NULL;
    int files = 0;
    for (int opt; (opt = getopt_long(argc, argv, "-", options, NULL)) != -1;) { /* "-": in any order, also with POSIXLY_CORRECT */
        a.view.check |= opt == 'c' || opt == 's';
        a.view.strict |= opt == 's';
        a.view.json |= opt == 'j';
        a.view.part |= opt == 'p';
        a.recover |= opt == 'r';
        files += (opt == 'r' && optarg != NULL) || opt == 1;
        file = (opt == 'r' || opt == 1) && optarg != NULL ? optarg : file;
        if (opt == 'h' || opt == 'v') {
            fputs(opt == 'h' ? usage : "hprofx-read " HPX_VERSION "\n", stdout);
            return fflush(stdout) == 0 ? HPX_VIEW_SOUND : HPX_VIEW_UNUSABLE;
        }
        if (opt == '?') {
            fputs(usage, stderr);
            return HPX_VIEW_UNUSABLE;
        }
    }
    if (files + argc - optind != 1 || (a.recover && (a.view.check || a.view.json || a.view.part))) {
        fputs(usage, stderr);
        return HPX_VIEW_UNUSABLE;
    }
    file = file == NULL ? argv[optind] : file;
    int status = a.recover ? recover(file) : open_and_read(&a, file);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "hprofx-read: standard output: %s\n", strerror(errno));
        return HPX_VIEW_UNUSABLE;
    }
    return status;
}
