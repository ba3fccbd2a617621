/* SPDX-License-Identifier: BSD-2-Clause */
/* options_table.h: the one table of the options. Parser, help, manual page and README are made from it.
 *
 * To add an option: a row in options_table.c, and for a new kind of value a case in options_values.c. Constant data, any thread.
 */
#ifndef HPX_OPTIONS_TABLE_H
#define HPX_OPTIONS_TABLE_H

#include "option_set.h"
#include <stddef.h>

enum hpx_opt_kind {
    HPX_OPT_HEAP,
    HPX_OPT_CPU,
    HPX_OPT_FORMAT,
    HPX_OPT_FILE,
    HPX_OPT_NET,
    HPX_OPT_DEPTH,
    HPX_OPT_INTERVAL,
    HPX_OPT_CUTOFF,
    HPX_OPT_SIGNAL,
    HPX_OPT_MIN,
    HPX_OPT_IDSIZE,
    HPX_OPT_PERIOD,
    HPX_OPT_HEAPDUMP,
    HPX_OPT_MAXPAUSE,
    HPX_OPT_REDACT,
    HPX_OPT_SAMPLE,
    HPX_OPT_KEEP_FILES,
    HPX_OPT_KEEP_BYTES,
    HPX_OPT_WAITLOG,
    HPX_OPT_WALL,
    HPX_OPT_PATTERNS,       /* kept in the char * at `offset` */
    HPX_OPT_CHOICE,         /* one of the words of `must`, kept in the enum at `offset`, which has their order */
    HPX_OPT_FLAG,           /* y or n, kept in the bool at `offset` */
    HPX_OPT_IGNORED_FLAG,   /* y or n, not kept */
    HPX_OPT_IGNORED_NUMBER, /* anything but nothing, not kept */
    HPX_OPT_REMOVED,        /* refused whatever its value, with the text in `must` */
};

struct hpx_opt {
    const char *name;
    enum hpx_opt_kind kind;
    size_t offset;
    const char *values;  /* as help, manual page and README show them */
    const char *missing; /* no value: "syntax error parsing NAME=" and this; NULL: as for a wrong value */
    const char *must;    /* a wrong value: "NAME option value must be " and this */
    const char *def;     /* the default: a value of the option, which the parser takes over first */
    const char *what;    /* one clause, for help and README */
    const char *more;    /* sentences, for the manual page; NULL: `what` is enough */
    bool no_effect;      /* accepted so that old command lines run */
};

extern const struct hpx_opt hpx_opts[];
extern const size_t hpx_opts_len;

#endif
