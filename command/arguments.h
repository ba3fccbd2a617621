/* SPDX-License-Identifier: BSD-2-Clause */
/* arguments.h: takes a command line apart by the table of verbs.h: options and words in any order, -n 5, -n5, --rows 5, --rows=5, the
 * beginning of a long name that only one option has. What is wrong is told in one line. One thread. */
#ifndef HPX_COMMAND_ARGUMENTS_H
#define HPX_COMMAND_ARGUMENTS_H

#include "verbs.h"

struct hpx_arguments {
    const struct hpx_verb *verb;
    char **rest;         /* the words of the command line that have not been taken, up to NULL */
    bool plain;          /* the rest has no options: -- was there, or the caller says so */
    const char *value;   /* of the option that was taken, or the word */
    int status;          /* with HPX_ARGUMENTS_ENDS: of the command */
    const char *letters; /* behind an option without a value, in the same word; NULL: none */
};

enum {
    HPX_ARGUMENTS_WORD = -1,
    HPX_ARGUMENTS_DASHES = -2, /* "--", for a verb that separates words by it */
    HPX_ARGUMENTS_LAST = -3,   /* there are no more */
    HPX_ARGUMENTS_ENDS = -4,   /* the command is done: help was asked for, or the command line is wrong, which was told */
};

/* argv[0] is the verb, or stands for the one without a name. */
struct hpx_arguments hpx_arguments_of(const struct hpx_verb *verb, char **argv);
/* The next one: an option (enum hpx_option_id), or one of the above. */
int hpx_arguments_next(struct hpx_arguments *a);
/* Tells what is wrong with the command line, in one line that names the help of the verb. HPX_USAGE. */
int hpx_arguments_misuse(const struct hpx_arguments *a, const char *why, ...) __attribute__((format(printf, 2, 3)));

#endif
