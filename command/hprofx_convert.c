/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_convert.c: hprofx convert and hprofx merge: profiles of any format to one file of the format that its name asks for. */
#include "filters.h"
#include "inputs.h"
#include "own.h"
#include "picture.h"
#include "subcommands.h"
#include <string.h>

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
    t.timed = f->times;
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
    return s != HPX_OK ? hpx_complain(s, &err) : (int)read;
}

static int convert(struct hpx_arguments *args, struct asked *a)
{
    bool merges = strcmp(args->verb->name, "merge") == 0;
    a->files = args->rest; /* words take the places of what was taken */
    for (int next; (next = hpx_arguments_next(args)) != HPX_ARGUMENTS_LAST;) {
        if (next == HPX_ARGUMENTS_ENDS) {
            return args->status;
        }
        const char *wrong;
        if (hpx_filters_option(&a->inputs.filter, next, args->value, &wrong) && wrong != NULL) {
            return hpx_arguments_misuse(args, "%s", wrong);
        }
        (void)hpx_engine_option(&a->inputs.how, next, args->value);
        a->view = next == HPX_O_VIEW ? args->value : a->view;
        a->to = next == HPX_O_TO && !hpx_filters_is_time(next, args->value) ? args->value : a->to;
        if (next == HPX_O_MINE && !hpx_own_mine(args->value)) {
            return hpx_arguments_misuse(args, "--mine wants prefixes of classes: com.acme,org.shop");
        }
        if (next == HPX_ARGUMENTS_WORD) {
            a->files[a->n++] = args->rest[-1];
        }
    }
    if (merges ? a->n < 2 : a->n != 2) {
        return hpx_arguments_misuse(args, merges ? "merge needs profiles, and behind them the file to write"
                                                 : "convert needs a profile, and the file to write");
    }
    struct hpx_err why;
    const char *name = a->to != NULL ? a->to : a->files[a->n - 1];
    const struct hpx_format *f = hpx_format_of(name);
    return f != NULL ? run(a, f)
           : hpx_format_is_unknown(name, &why)
               ? hpx_arguments_misuse(args, "%s", why.msg)
               : hpx_arguments_misuse(args, a->to != NULL ? "no format has the suffix of --to"
                                                          : "no format has the suffix of the file to write; --to SUFFIX tells it");
}

int hpx_convert(struct hpx_arguments *args)
{
    struct asked a = {.to = NULL};
    int status = convert(args, &a);
    hpx_inputs_fini(&a.inputs);
    return status;
}
