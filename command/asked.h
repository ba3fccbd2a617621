/* SPDX-License-Identifier: BSD-2-Clause */
/* asked.h: what the command line asks for, and what all subcommands do with it. */
#ifndef HPX_COMMAND_ASKED_H
#define HPX_COMMAND_ASKED_H

#include "filter.h"
#include "outfile.h"
#include "verdict.h"
#include <limits.h>
#include <time.h>

struct hpx_format;
struct hpx_tree;

struct hpx_asked {
    double seconds;    /* -d */
    bool bounded;      /* -d was given */
    bool old;          /* the JVM is older than JDK 11: it samples no allocations, so that "all" is without */
    const char *what;  /* -e: one for which hpx_asked_kind() has options; NULL: not given, which only top takes */
    const char *out;   /* -o; NULL: a table */
    const char *agent; /* --agent; NULL: not given */
    bool threads;      /* -t */
    bool times;        /* the profile shall have times (timeline=y), unless the options of the user say something else */
    const char *more;  /* options of the agent; "" */
    bool words;        /* a heap dump, told in words */
    bool census;       /* the threads of one moment, told in words */
    size_t rows;       /* -n; 0: not given */
    bool json;         /* the same as JSON */
    struct hpx_filter filter;
};

/* The options of the agent for -e; NULL: no such kind. */
const char *hpx_asked_kind(const char *what);
/* The options of the user name a mode, which takes the place of that of -e. */
bool hpx_asked_names_mode(const char *more);
/* The word looks like options of the agent, and not like a JVM. */
bool hpx_asked_is_option(const char *word);
/* They have this option. */
bool hpx_asked_names(const char *more, const char *option);
/* A file that exists stays (force=n). */
bool hpx_asked_keeps(const struct hpx_asked *a);
/* Every dump is a separate file (split=y). */
bool hpx_asked_splits(const struct hpx_asked *a);
/* For a command that takes one profile from the JVM. HPX_OK, HPX_USAGE. */
enum hpx_status hpx_asked_is_one(const struct hpx_asked *a, struct hpx_err *err);
/* What is asked for needs no time: a heap dump without sites. a->what is set. */
bool hpx_asked_at_once(const struct hpx_asked *a);
/* All options of the agent, with its output to `file`, an absolute name as file= takes it: %% is a percent sign. false: they do not fit, or
 * the name has a comma. */
bool hpx_asked_options(const struct hpx_asked *a, const char *file, char *to, size_t size);
enum hpx_status hpx_asked_bad_options(struct hpx_err *err);
/* The agent will take the options, as far as the command can tell; nothing of a JVM is touched. HPX_OK, HPX_USAGE, HPX_FAILED. */
enum hpx_status hpx_asked_check(const struct hpx_asked *a, struct hpx_err *err);
/* The library: as given, beside the program (in the build), or where it is installed. */
const char *hpx_asked_agent(const struct hpx_asked *a);
/* The jar for JMH, found in the same way; it may be missing. */
const char *hpx_asked_jmh(void);
/* The program that ships profiles, likewise. */
const char *hpx_asked_ship(void);
/* An absolute name, perhaps in `room`: the JVM has another working directory. */
const char *hpx_absolute(const char *file, char room[static 2 * PATH_MAX]);
/* The name of -o for file=, absolute, perhaps in `room`: what it says with percent signs is left to the agent, the working directory is as
 * it is. */
const char *hpx_asked_pattern(const char *file, char room[static 2 * PATH_MAX]);
/* The name of -o for a file that the command writes, perhaps in `room`: as the agent expands file=, with the number of that process, a
 * time, and the environment of the command. */
const char *hpx_asked_expanded(const char *file, pid_t pid, time_t at, char room[static 2 * PATH_MAX]);
/* The file of -o, which is made if it is missing, never through a link; hpx_asked_show() empties it. -1: there is no -o, or (err) it cannot
 * be, or it exists and is kept. */
int hpx_asked_open(const struct hpx_asked *a, struct hpx_err *err);
/* The file of -o wants another format than HPROF, which the JVM writes: hpx_asked_show() converts. */
bool hpx_asked_picture(const struct hpx_asked *a);
/* The file of -o is standard output: the JVM cannot write it. */
bool hpx_asked_is_stdout(const struct hpx_asked *a);
/* Removes the file of -o if it was made for a profile that does not come. */
void hpx_asked_drop(const struct hpx_asked *a);
/* What the profile `fd` holds, to `out`; -1: for a person, with the verdict. HPX_OK, HPX_FAILED, HPX_PARTIAL. */
enum hpx_status hpx_asked_show(const struct hpx_asked *a, const struct hpx_verdict *v, int fd, int out, struct hpx_err *err);
/* The same of a finished tree, in the format; read: what its reader returned, HPX_OK or HPX_PARTIAL. */
enum hpx_status hpx_asked_put(const struct hpx_asked *a, struct hpx_tree *t, const struct hpx_format *f, enum hpx_status read, int out,
                              struct hpx_err *err);

#endif
