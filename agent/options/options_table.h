/* SPDX-License-Identifier: BSD-2-Clause */
/* options_table.h: the one table of the options, hpx_opts. Parser (options.c), `help` (options_help.c) and the manual page (options_doc.c)
 * are made from it.
 *
 * To add an option: a row in options_table.c, and for a new kind of value a function in options_values.c. Constant data, any thread.
 */
#ifndef HPX_OPTIONS_TABLE_H
#define HPX_OPTIONS_TABLE_H

#include "option_set.h"
#include <stddef.h>

struct hpx_opt;
struct hpx_opt_parse;
/* Takes over a value. 0, HPX_OPT_WRONG (the option does not have this value), or the error of a refusal. */
typedef int hpx_opt_parser(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value);
#define HPX_OPT_WRONG 1

/* The parsers (options_values.c), of one option but for these: */
hpx_opt_parser hpx_opt_flag;           /* y or n, kept in the bool at `offset` */
hpx_opt_parser hpx_opt_choice;         /* one of the words of `must`, kept in the enum at `offset`, which has their order */
hpx_opt_parser hpx_opt_patterns;       /* kept in the char * at `offset` */
hpx_opt_parser hpx_opt_ignored_flag;   /* y or n, not kept */
hpx_opt_parser hpx_opt_ignored_number; /* anything but nothing, not kept */
hpx_opt_parser hpx_opt_removed;        /* refused whatever its value, with the text in `must` */
hpx_opt_parser hpx_opt_heap, hpx_opt_cpu, hpx_opt_format, hpx_opt_file, hpx_opt_net, hpx_opt_depth, hpx_opt_interval, hpx_opt_cutoff,
    hpx_opt_signal, hpx_opt_min, hpx_opt_idsize, hpx_opt_period, hpx_opt_heapdump, hpx_opt_maxpause, hpx_opt_redact, hpx_opt_sample,
    hpx_opt_keep_files, hpx_opt_keep_bytes, hpx_opt_maxfile, hpx_opt_waitlog, hpx_opt_wall;

struct hpx_opt {
    const char *name;
    hpx_opt_parser *parse;
    size_t offset;
    const char *values;  /* as help and manual page show them */
    const char *missing; /* no value: "syntax error parsing NAME=" and this; NULL: as for a wrong value */
    const char *must;    /* a wrong value: "NAME option value must be " and this */
    const char *def;     /* the default: a value of the option, which the parser takes over first; NULL: removed */
    const char *what;    /* one clause, for help and README */
    const char *more;    /* sentences, for the manual page; NULL: `what` is enough */
    bool hprof;          /* HPROF had it */
    bool no_effect;      /* accepted so that old command lines run */
};

/* It has an effect: help and manual page show it. */
static inline bool hpx_opt_is_shown(const struct hpx_opt *o)
{
    return !o->no_effect && o->def;
}

extern const struct hpx_opt hpx_opts[];
extern const size_t hpx_opts_len;

#endif
