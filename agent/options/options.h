/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h: the option string of the command line, the environment and option files. Knows no JVM (jvmti.h is not included): tested and
 * fuzzed alone.
 *
 * One table (options_table.c) feeds the parser, `help` and the manual page. Rules, defaults, texts and exit codes are the
 * original's (measured), where the original had them. Called at load, on one thread, before anything of ours runs; may allocate, reads
 * option files, writes nothing. */
#ifndef HPX_OPTIONS_H
#define HPX_OPTIONS_H

#include "err.h"
#include "option_set.h"

/* Reads the sources in this order; a later one overrides: _JAVA_HPROF_OPTIONS, HPROFX_OPTIONS (both read by the caller, NULL: not set),
 * command line (may be NULL). The options of a file (@NAME) are a source at the place of @NAME. `help` is valid only as the whole command
 * line; the environment is then not read. 0; -HPX_E_OPT: err->msg is the text behind "HPROF ERROR: ", without controls but for '\n' between
 * lines ("\nhprofx: did you mean NAME?"); -HPX_E_NOMEM. On an error *o holds nothing. */
int hpx_options_parse(struct hpx_options *o, const char *java_hprof_options, const char *hprofx_options, const char *command_line,
                      struct hpx_err *err);
void hpx_options_fini(struct hpx_options *o);
/* Calls `say` for every option that asks for something which another option would have to turn on: "locks=y" needs "monitor=y" for "LOCK
 * TIME". */
void hpx_options_idle(const struct hpx_options *o, void (*say)(const char *option, const char *needs, const char *missing));
/* The help text, 80 columns, made from the table. Written with `put` piece by piece. */
void hpx_options_help(void (*put)(void *ctx, const char *s), void *ctx);

#endif
