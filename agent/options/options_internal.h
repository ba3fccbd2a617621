/* SPDX-License-Identifier: BSD-2-Clause */
/* options_internal.h: what the files of the parser share: options.c (sources, in their order), options_file.c (reads option files),
 * options_values.c (values), options_error.c (messages). Included by them only. Called as hpx_options_parse(), on one thread. */
#ifndef HPX_OPTIONS_INTERNAL_H
#define HPX_OPTIONS_INTERNAL_H

#include "compiler.h"
#include "err.h"
#include "options_table.h"

/* What one source has set so far. A source may set these once; a later source overrides an earlier one. */
struct hpx_opt_source {
    bool heap, output, cpu;
};

struct hpx_opt_parse {
    struct hpx_options *o;
    struct hpx_err *err;
    const char *given; /* all sources, for the messages */
    struct hpx_opt_source *source;
    const char *file; /* the option file being read, or NULL */
    unsigned line;
};

/* Sets err to "hprof option error: TEXT (STRING)", a line "hprofx: HINT" (hint may be NULL) and one with the line of the option file, if in
 * one. -HPX_E_OPT. */
int hpx_opt_refuse(const struct hpx_opt_parse *p, const char *hint, const char *fmt, ...) HPX_PRINTF(3, 4);
/* -HPX_E_NOMEM */
int hpx_opt_no_memory(const struct hpx_opt_parse *p);

/* The option whose name is nearest to `name`; "help", which lists all, if none is near. Never NULL. */
const char *hpx_opt_nearest(const char *name);

#define HPX_OPT_FILE_MAX 65536u
/* 0 and the malloc'ed text of a regular file of up to HPX_OPT_FILE_MAX bytes without a 0 in it; -HPX_E_OPT, -HPX_E_NOMEM. */
int hpx_opt_read_file(const struct hpx_opt_parse *p, const char *name, char **text);

#endif
