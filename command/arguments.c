/* SPDX-License-Identifier: BSD-2-Clause */
/* arguments.c: see arguments.h. */
#include "arguments.h"
#include "outfile.h"
#include "plain.h"
#include <stdarg.h>
#include <string.h>

struct hpx_arguments hpx_arguments_of(const struct hpx_verb *verb, char **argv)
{
    return (struct hpx_arguments){.verb = verb, .rest = argv[0] != NULL ? argv + 1 : argv};
}

int hpx_arguments_misuse(const struct hpx_arguments *a, const char *why, ...)
{
    char text[300];
    va_list values;
    va_start(values, why);
    (void)vsnprintf(text, sizeof text, why, values);
    va_end(values);
    hpx_misuse(a->verb->name, hpx_plain(text));
    return HPX_USAGE;
}

/* A word that was given, as far as a line has room for it. */
#define SHOWN "%.60s"

static int wrong(struct hpx_arguments *a)
{
    a->status = HPX_USAGE;
    return HPX_ARGUMENTS_ENDS;
}

/* Letters of async-profiler, where a verb has sessions. */
static const char *hint_letter(const struct hpx_verb *v, char letter)
{
    static const struct {
        char letter;
        const char *text;
    } all[] = {{'f', "the file is -o FILE"},
               {'i', "the interval is an option of the agent, in ms, behind the JVM: interval=1"},
               {'j', "the depth of stacks is an option of the agent, behind the JVM: depth=64"},
               {'p', "the process is a word: hprofx PID"},
               {'I', "methods are chosen by an option of the agent, behind the JVM: include="},
               {'X', "methods are chosen by an option of the agent, behind the JVM: exclude="}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all) && v->session; i++) {
        if (all[i].letter == letter) {
            return all[i].text;
        }
    }
    return NULL;
}

/* Filters, where profiles are sent. */
static const char *hint_filter(const struct hpx_verb *v, const char *name)
{
    static const enum hpx_option_id all[] = {HPX_O_INCLUDE, HPX_O_EXCLUDE, HPX_O_THREAD, HPX_O_STATE, HPX_O_ROOT,
                                             HPX_O_LEAF,    HPX_O_BY,      HPX_O_FROM,   HPX_O_TO,    HPX_O_AROUND};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all) && v->fleet; i++) {
        if (strcmp(hpx_options_all[all[i]].name, name) == 0) {
            return strcmp(v->name, "fetch") != 0
                       ? "profiles are sent whole, so that the totals of an engine are those of the programs; hprofx view and fetch filter "
                         "what an engine keeps"
                   : all[i] == HPX_O_BY ? "hprofx view --by takes the same URL"
                                        : "an engine keeps no times of samples; from= and to= of the URL choose profiles";
        }
    }
    return NULL;
}

static int unknown(struct hpx_arguments *a, const char *dashes, const char *name)
{
    const char *hint = dashes[1] == '\0' ? hint_letter(a->verb, name[0]) : NULL;
    if (hint != NULL) {
        (void)hpx_arguments_misuse(a, "there is no option -%c; %s", name[0], hint);
        return wrong(a);
    }
    hint = dashes[1] != '\0' ? hint_filter(a->verb, name) : NULL;
    if (hint != NULL) {
        (void)hpx_arguments_misuse(a, "%s has no option --%s: %s", a->verb->name, name, hint);
        return wrong(a);
    }
    const char *verb = a->verb->name, *near = dashes[1] != '\0' ? hpx_option_nearest(a->verb, name) : NULL;
    (void)hpx_arguments_misuse(a, "%s%s no option %s" SHOWN "%s%s%s", verb[0] != '\0' ? verb : "there is", verb[0] != '\0' ? " has" : "",
                               dashes, name, near != NULL ? "; did you mean --" : "", near != NULL ? near : "", near != NULL ? "?" : "");
    return wrong(a);
}

/* What was found, with its value: `given`, or the next word if that is NULL. */
static int take(struct hpx_arguments *a, enum hpx_option_id id, const char *given)
{
    const struct hpx_option *o = &hpx_options_all[id];
    a->value = given;
    if (o->arg != NULL && given == NULL) {
        a->value = *a->rest;
        if (a->value == NULL) {
            (void)hpx_arguments_misuse(a, "--%s wants a value: --%s %s", o->name, o->name, o->arg);
            return wrong(a);
        }
        a->rest++;
    }
    if (id == HPX_O_HELP) {
        hpx_verb_help(a->verb, stdout);
        a->status = HPX_OK;
        return HPX_ARGUMENTS_ENDS;
    }
    return (int)id;
}

static int take_long(struct hpx_arguments *a, const char *word)
{
    size_t n = strcspn(word, "=");
    const char *given = word[n] == '=' ? word + n + 1 : NULL;
    int found = -1, begun = 0;
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)n, word);
    for (const struct hpx_verb_option *o = a->verb->own;; o++) {
        const char *full = hpx_options_all[o->id].name;
        if (strcmp(full, name) == 0) {
            found = (int)o->id;
            begun = 1;
            break;
        }
        if (n > 0 && strncmp(full, name, n) == 0) {
            found = (int)o->id;
            begun++;
        }
        if (o->id == HPX_O_HELP) {
            break;
        }
    }
    if (begun > 1) {
        (void)hpx_arguments_misuse(a, "--%s begins several options; write more of it", name);
        return wrong(a);
    }
    if (begun == 0) {
        return unknown(a, "--", name);
    }
    if (given != NULL && hpx_options_all[found].arg == NULL) {
        (void)hpx_arguments_misuse(a, "--%s takes no value", hpx_options_all[found].name);
        return wrong(a);
    }
    return take(a, (enum hpx_option_id)found, given);
}

static int take_letter(struct hpx_arguments *a, const char *letters)
{
    for (const struct hpx_verb_option *o = a->verb->own;; o++) {
        const struct hpx_option *of = &hpx_options_all[o->id];
        if (of->letter == letters[0]) {
            bool more = letters[1] != '\0';
            a->letters = of->arg == NULL && more ? letters + 1 : NULL;
            return take(a, o->id, of->arg != NULL && more ? letters + 1 : NULL);
        }
        if (o->id == HPX_O_HELP) {
            return unknown(a, "-", letters);
        }
    }
}

int hpx_arguments_next(struct hpx_arguments *a)
{
    const char *letters = a->letters, *word = *a->rest;
    a->letters = a->value = NULL;
    if (letters != NULL) {
        return take_letter(a, letters);
    }
    if (word == NULL) {
        return HPX_ARGUMENTS_LAST;
    }
    a->rest++;
    if (strcmp(word, "--") == 0 && (a->verb->separates || !a->plain)) {
        a->plain = a->plain || !a->verb->separates;
        return a->verb->separates ? HPX_ARGUMENTS_DASHES : hpx_arguments_next(a);
    }
    if (a->plain || word[0] != '-' || word[1] == '\0') {
        a->value = word;
        return HPX_ARGUMENTS_WORD;
    }
    return word[1] == '-' ? take_long(a, word + 2) : take_letter(a, word + 1);
}
