/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c: hprofx-read, the reader of HPROF files: docs/reader.md, hprofx-read(1). */
#include "beside.h"
#include "gunzip.h"
#include "recover.h"
#include "show.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOUND = 0, BROKEN = 1, UNUSABLE = 2 };

struct asked {
    bool check, strict, json, recover, part;
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

static void show(const struct asked *a, const struct hpx_report *r)
{
    if (a->json) {
        hpx_report_json(r);
    } else if (a->check) {
        hpx_report_check(r);
    } else {
        hpx_report_view(r);
    }
}

static int read_file(const struct asked *a, const char *file, int fd)
{
    struct hpx_source s;
    struct hpx_check c;
    static struct hpx_profile p;
    static struct hpx_gunzip g;
    bool summary = a->json || !a->check;
    hpx_gunzip_init(&g, fd);
    if (hpx_source_init(&s, hpx_gunzip_read, &g) != 0 || (summary && hpx_profile_init(&p) != 0)) {
        fputs("hprofx-read: no memory\n", stderr);
        return UNUSABLE;
    }
    hpx_check_init(&c);
    struct hpx_reader r = {.source = &s,
                           .sinks = {hpx_check_event, summary ? hpx_profile_event : NULL},
                           .ctx = {&c, &p},
                           .strict = a->strict,
                           .judge_ours = true,
                           .unfinished = a->part};
    int result = hpx_reader_run(&r);
    if (g.cut && result == HPX_RD_SOUND && !a->part) {
        result = hpx_reader_break(&r, r.end, 0, "the compressed data end too early");
    }
    if (result == HPX_RD_FAILED) {
        fprintf(stderr, "hprofx-read: %s: %s\n", file, g.fault != NULL ? g.fault : r.why);
    } else {
        struct hpx_report report = {.to = stdout, .file = file, .reader = &r, .check = &c, .profile = summary ? &p : NULL};
        report.bold = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
        show(a, &report);
    }
    if (summary) {
        hpx_profile_fini(&p);
    }
    hpx_check_fini(&c);
    hpx_source_fini(&s);
    hpx_gunzip_fini(&g);
    return result == HPX_RD_FAILED ? UNUSABLE : result == HPX_RD_SOUND ? SOUND : BROKEN;
}

static int recover(const char *name)
{
    struct hpx_err said;
    int rc = hpx_recover(name, &said);
    fprintf(rc == 0 ? stdout : stderr, "%s%s\n", rc == 0 ? "" : "hprofx-read: ", said.msg);
    hpx_beside_say(name, hpx_recover_base(name), stdout);
    if (rc == 0) {
        return SOUND;
    }
    return rc == -HPX_E_RANGE ? BROKEN : UNUSABLE;
}

static int open_and_read(const struct asked *a, const char *file)
{
    if (strcmp(file, "-") == 0) {
        return read_file(a, "standard input", STDIN_FILENO);
    }
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        fprintf(stderr, "hprofx-read: %s: %s\n", file, strerror(errno));
        return UNUSABLE;
    }
    struct asked with = *a;
    with.part |= unfinished(file);
    int status = read_file(&with, file, fd);
    close(fd);
    return status;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"check", no_argument, NULL, 'c'},         {"strict", no_argument, NULL, 's'},
                                            {"json", no_argument, NULL, 'j'},          {"part", no_argument, NULL, 'p'},
                                            {"recover", optional_argument, NULL, 'r'}, {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'v'},       {NULL, 0, NULL, 0}};
    struct asked a = {0};
    const char *file = NULL;
    int files = 0;
    for (int opt; (opt = getopt_long(argc, argv, "-", options, NULL)) != -1;) { /* "-": in any order, also with POSIXLY_CORRECT */
        a.check |= opt == 'c' || opt == 's';
        a.strict |= opt == 's';
        a.json |= opt == 'j';
        a.part |= opt == 'p';
        a.recover |= opt == 'r';
        files += (opt == 'r' && optarg != NULL) || opt == 1;
        file = (opt == 'r' || opt == 1) && optarg != NULL ? optarg : file;
        if (opt == 'h' || opt == 'v') {
            fputs(opt == 'h' ? usage : "hprofx-read " HPX_VERSION "\n", stdout);
            return fflush(stdout) == 0 ? SOUND : UNUSABLE;
        }
        if (opt == '?') {
            fputs(usage, stderr);
            return UNUSABLE;
        }
    }
    if (files + argc - optind != 1 || (a.recover && (a.check || a.json || a.part))) {
        fputs(usage, stderr);
        return UNUSABLE;
    }
    file = file == NULL ? argv[optind] : file;
    int status = a.recover ? recover(file) : open_and_read(&a, file);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "hprofx-read: standard output: %s\n", strerror(errno));
        return UNUSABLE;
    }
    return status;
}
