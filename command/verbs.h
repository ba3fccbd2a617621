/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs.h: all subcommands of hprofx and hprofx-ship with their options: one table. From it come the parser (arguments.h), every --help,
 * the nearest name for a misspelt one, and what completes command lines; tests/unit/test_verbs.py holds the manual pages to it. A verb
 * has a row in verbs_table.c, and a function in hprofx.c or fleet/main.c. No state; any thread. */
#ifndef HPX_COMMAND_VERBS_H
#define HPX_COMMAND_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Every option; a name means one thing wherever it is. */
enum hpx_option_id {
    HPX_O_ABSOLUTE,
    HPX_O_AGENT,
    HPX_O_AROUND,
    HPX_O_BATCH,
    HPX_O_BUDGET,
    HPX_O_BY,
    HPX_O_CA,
    HPX_O_CERT,
    HPX_O_DUMP,
    HPX_O_DURATION,
    HPX_O_EVENT,
    HPX_O_EVERY,
    HPX_O_EXCLUDE,
    HPX_O_FAIL_IF,
    HPX_O_FOR,
    HPX_O_FROM,
    HPX_O_HEADERS,
    HPX_O_HELP,
    HPX_O_IDLE,
    HPX_O_INCLUDE,
    HPX_O_JSON,
    HPX_O_KEY,
    HPX_O_LEAF,
    HPX_O_LISTEN,
    HPX_O_LISTEN_ANYWHERE,
    HPX_O_MATCH,
    HPX_O_METHOD,
    HPX_O_MIN,
    HPX_O_MINE,
    HPX_O_ONCE,
    HPX_O_OUTPUT,
    HPX_O_PART,
    HPX_O_PRINT_AGENT_PATH,
    HPX_O_REMOVE,
    HPX_O_RETAINED,
    HPX_O_ROOT,
    HPX_O_ROWS,
    HPX_O_SERVICE,
    HPX_O_SHARE,
    HPX_O_SPOOL,
    HPX_O_SPOOL_BYTES,
    HPX_O_STATE,
    HPX_O_STRICT,
    HPX_O_TABLE,
    HPX_O_THREAD,
    HPX_O_THREADS,
    HPX_O_TO,
    HPX_O_TO_TIME, /* --to of the verbs that take no suffix */
    HPX_O_TREE,
    HPX_O_VERBOSE,
    HPX_O_VERSION,
    HPX_O_VIEW,
    HPX_O_WAIT,
    HPX_O_COUNT
};

/* What completes the value of an option. */
enum hpx_value { HPX_VALUE_ANY, HPX_VALUE_FILE, HPX_VALUE_CHOICE, HPX_VALUE_SUFFIX };

struct hpx_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    const char *arg;  /* what the help calls its value; NULL: it takes none */
    enum hpx_value value;
    const char *choices; /* of HPX_VALUE_CHOICE: words with blanks between */
    const char *help;    /* lines */
};

/* What completes the words of a verb. */
enum hpx_words {
    HPX_WORDS_NONE,
    HPX_WORDS_JVM,     /* one JVM */
    HPX_WORDS_SESSION, /* a JVM, then options of the agent */
    HPX_WORDS_PROGRAM, /* options of the agent, then a program with its words */
    HPX_WORDS_FILE,
    HPX_WORDS_FILES,
};

struct hpx_verb_option {
    enum hpx_option_id id;
    const char *help; /* for this verb; NULL: that of the option; "": --help names it before the next one, in one line with that */
};

struct hpx_verb {
    const char *name;                  /* "": no verb, but a JVM */
    const char *summary;               /* a line */
    const char *synopsis;              /* lines, each behind "hprofx NAME " */
    const char *about;                 /* lines of its help, each with its end */
    const char *more;                  /* lines behind the options: examples, status */
    const struct hpx_verb_option *own; /* up to a row of --help, which is one of them */
    enum hpx_words words;
    bool separates; /* "--" separates words, and is no end of options by itself */
    bool session;   /* of a JVM: its options may come before it */
    bool fleet;     /* of hprofx-ship */
};

extern const struct hpx_option hpx_options_all[HPX_O_COUNT];
extern const struct hpx_verb hpx_verbs[];
extern const size_t hpx_verbs_len;

/* NULL: the word is none. "" is the verb without a name, which is always there. */
const struct hpx_verb *hpx_verb_of(const char *word);
/* What the verb says of this option; NULL: it has none. */
const struct hpx_verb_option *hpx_verb_option(const struct hpx_verb *v, enum hpx_option_id id);
/* The verb, or the option of a verb, that is spelt nearly so, without dashes; NULL: none is near. */
const char *hpx_verb_nearest(const char *word);
const char *hpx_option_nearest(const struct hpx_verb *v, const char *name);
/* What --help of the verb prints, or that of hprofx. */
void hpx_verb_help(const struct hpx_verb *v, FILE *to);
/* The table for programs: completions.py explains the lines. */
void hpx_verbs_print(FILE *to);

#endif
