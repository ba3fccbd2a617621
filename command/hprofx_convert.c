/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_convert.c: hprofx convert and hprofx merge: profiles of any format to one file of the format that its name asks for. */
#include "inputs.h"
#include "picture.h"
#include "plain.h"
#include <getopt.h>
#include <string.h>

static const char usage[] =
    "usage: hprofx convert [--view VIEW] [--to SUFFIX] IN OUT\n"
    "       hprofx merge [--view VIEW] [--to SUFFIX] IN IN... OUT\n"
    "Reads a profile, HPROF (text or binary), pprof or collapsed stacks, and writes it in the format of OUT's suffix; merge\n"
    "adds several. IN and OUT may be -, standard input and output; then --to tells the format. IN may also be a folder, a\n"
    "pattern in quotes, or a URL (hprofx fetch --help); all that it stands for is added.\n"
    "  --view VIEW   for formats with one value a stack: cpu, wall, times, alloc, heap, lock, owner, park, wait, pinned,\n"
    "                or a measure such as inuse_space; without it the first that the profile has\n"
    "  --to SUFFIX   the format, if OUT is - or has another suffix\n" HPX_ENGINE_HELP "Suffixes:\n";

static void help(FILE *to)
{
    size_t n;
    const struct hpx_format *f = hpx_formats(&n);
    (void)fputs(usage, to);
    for (size_t i = 0; i < n; i++) {
        (void)fprintf(to, "  %-17s %s%s\n", f[i].suffix, f[i].what, f[i].one_column ? ", one view" : "");
    }
    (void)fputs("Status: 0 ok, 1 a file cannot be read or written, 2 usage, 6 a profile was broken: what could be read is in OUT.\n", to);
}

static int misuse(const char *why)
{
    hpx_misuse("convert", why);
    return HPX_USAGE;
}

struct asked {
    const char *view, *to;
    char **files; /* the last is OUT */
    int n;
    struct hpx_inputs inputs;
};

static int run(struct asked *a, const struct hpx_format *f)
{
    struct hpx_tree t;
    struct hpx_err err = {""};
    enum hpx_status s = hpx_tree_init(&t) ? HPX_OK : hpx_fail(&err, HPX_FAILED, "no memory"), read = HPX_FAILED;
    for (int i = 0; i + 1 < a->n && s == HPX_OK; i++) {
        s = hpx_inputs_add(&a->inputs, a->files[i], &err);
    }
    if (s == HPX_OK) {
        read = s = hpx_inputs_read(&a->inputs, &t, &err);
    }
    if (s == HPX_OK || s == HPX_PARTIAL) {
        s = hpx_picture_save(&t, f, a->view, a->files[a->n - 1], &err);
    }
    hpx_tree_fini(&t);
    hpx_inputs_fini(&a->inputs);
    return s != HPX_OK ? hpx_complain(s, &err) : (int)read;
}

int hpx_convert(int argc, char **argv)
{
    static const struct option options[] = {{"view", required_argument, NULL, 'v'},
                                            {"to", required_argument, NULL, 't'},
                                            {"help", no_argument, NULL, 'h'},
                                            HPX_ENGINE_OPTIONS,
                                            {NULL, 0, NULL, 0}};
    struct asked a = {.to = NULL};
    bool merges = strcmp(argv[0], "merge") == 0;
    argv[0] = "hprofx"; /* getopt_long() begins its messages with it */
    for (int opt; (opt = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (opt == 'h') {
            help(stdout);
            return HPX_OK;
        }
        if (opt == '?') {
            return HPX_USAGE;
        }
        (void)hpx_engine_option(&a.inputs.how, opt, optarg);
        a.view = opt == 'v' ? optarg : a.view;
        a.to = opt == 't' ? optarg : a.to;
    }
    a.files = argv + optind;
    a.n = argc - optind;
    if (merges ? a.n < 2 : a.n != 2) {
        return misuse(merges ? "merge needs profiles, and behind them the file to write"
                             : "convert needs a profile, and the file to write");
    }
    struct hpx_err why;
    const char *name = a.to != NULL ? a.to : a.files[a.n - 1];
    const struct hpx_format *f = hpx_format_of(name);
    return f != NULL ? run(&a, f)
           : hpx_format_is_unknown(name, &why)
               ? misuse(why.msg)
               : misuse(a.to != NULL ? "no format has the suffix of --to"
                                     : "no format has the suffix of the file to write; --to SUFFIX tells it");
}
