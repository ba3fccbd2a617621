/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs.c: see verbs.h. */
#include "verbs.h"
#include "compiler.h"
#include "edits.h"
#include "formats.h"
#include <string.h>

#define NEAR 2u /* letters that differ at most; exchanged neighbours are one */

const struct hpx_verb *hpx_verb_of(const char *word)
{
    for (size_t i = 0; i < hpx_verbs_len; i++) {
        if (strcmp(hpx_verbs[i].name, word) == 0) {
            return &hpx_verbs[i];
        }
    }
    return NULL;
}

const struct hpx_verb_option *hpx_verb_option(const struct hpx_verb *v, enum hpx_option_id id)
{
    const struct hpx_verb_option *o = v->own;
    while (o->id != id && o->id != HPX_O_HELP) {
        o++;
    }
    return o->id == id ? o : NULL;
}

/* ---- what is spelt nearly so ---- */

/* Takes the place of *nearest if it is nearer to the word. */
static void consider(const char *word, const char *name, unsigned *best, const char **nearest)
{
    unsigned d = strlen(word) > NEAR && name[0] != '\0' ? hpx_edits(word, name) : NEAR + 1;
    if (d < *best) {
        *best = d;
        *nearest = name;
    }
}

const char *hpx_verb_nearest(const char *word)
{
    const char *nearest = NULL;
    unsigned best = NEAR + 1;
    for (size_t i = 0; i < hpx_verbs_len; i++) {
        consider(word, hpx_verbs[i].name, &best, &nearest);
    }
    return nearest;
}

const char *hpx_option_nearest(const struct hpx_verb *v, const char *name)
{
    const char *nearest = NULL;
    unsigned best = NEAR + 1;
    for (const struct hpx_verb_option *o = v->own;; o++) {
        consider(name, hpx_options_all[o->id].name, &best, &nearest);
        if (o->id == HPX_O_HELP) {
            return nearest;
        }
    }
}

/* ---- help ---- */

/* "-o, --output FILE" */
static void put_names(const struct hpx_option *o, char *to, size_t size)
{
    char letter[8] = "";
    if (o->letter != 0) {
        (void)snprintf(letter, sizeof letter, "-%c, ", o->letter);
    }
    (void)snprintf(to, size, "%s--%s%s%s", letter, o->name, o->arg != NULL ? " " : "", o->arg != NULL ? o->arg : "");
}

/* Lines that begin in one column, the first behind `head`. */
static void put_lines(FILE *to, const char *head, int column, const char *lines)
{
    for (const char *at = lines; *at != '\0';) {
        size_t n = strcspn(at, "\n");
        (void)fprintf(to, "  %-*s  %.*s\n", column, head, (int)n, at);
        at += n + (at[n] == '\n');
        head = "";
    }
}

/* What the verb says of an option. */
static const char *said(const struct hpx_verb_option *o)
{
    return o->help != NULL && o->help[0] != '\0' ? o->help : hpx_options_all[o->id].help;
}

static void put_options(FILE *to, const struct hpx_verb *v)
{
    char names[256] = ""; /* of one option, or of several whose names share a line */
    int widest = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t before = 0;
        for (const struct hpx_verb_option *o = v->own;; o++) {
            bool goes_on = o->help != NULL && o->help[0] == '\0';
            put_names(&hpx_options_all[o->id], names + before, sizeof names - before);
            int n = (int)strlen(names);
            widest = before == 0 && !goes_on && n > widest ? n : widest;
            if (goes_on) {
                before = (size_t)snprintf(names + n, sizeof names - (size_t)n, "  ") + (size_t)n;
            } else {
                before = 0;
                if (pass == 1) {
                    put_lines(to, names, widest, said(o));
                }
            }
            if (o->id == HPX_O_HELP) {
                break;
            }
        }
    }
}

static void put_formats(FILE *to)
{
    size_t n;
    const struct hpx_format *f = hpx_formats(&n);
    (void)fputs("Suffixes:\n", to);
    for (size_t i = 0; i < n; i++) { /* formats with two suffixes stand one behind the other */
        const bool both = i + 1 < n && f[i].write == f[i + 1].write && strcmp(f[i].what, f[i + 1].what) == 0;
        const int width = (int)strlen(f[i].suffix);
        (void)fprintf(to, "  %s%s%-*s %s%s\n", f[i].suffix, both ? " " : "", width < 18 ? 18 - width - both : 0,
                      both ? f[i + 1].suffix : "", f[i].what, f[i].one_column ? ", one view" : "");
        i += both;
    }
}

void hpx_verb_help(const struct hpx_verb *v, FILE *to)
{
    const char *head = "usage:", *at = v->synopsis;
    do {
        size_t n = strcspn(at, "\n");
        (void)fprintf(to, "%-6s hprofx %s%s%.*s\n", head, v->name, v->name[0] != '\0' && n > 0 ? " " : "", (int)n, at);
        at += n + (at[n] == '\n');
        head = "";
    } while (*at != '\0');
    (void)fputs(v->about, to);
    put_options(to, v);
    if (hpx_verb_option(v, HPX_O_TO) != NULL) {
        put_formats(to);
    }
    (void)fputs(v->more, to);
}

void hpx_verbs_print(FILE *to)
{
    static const char *const values[] = {"any", "file", "choice", "suffix"};
    static const char *const words[] = {"none", "jvm", "session", "program", "file", "files"};
    size_t n;
    const struct hpx_format *f = hpx_formats(&n);
    for (size_t i = 0; i < n; i++) {
        (void)fprintf(to, "suffix\t%s\n", f[i].suffix);
    }
    for (size_t i = 0; i < hpx_verbs_len; i++) {
        const struct hpx_verb *v = &hpx_verbs[i];
        (void)fprintf(to, "verb\t%s\t%s\t%s\t%s\n", v->name, words[v->words], v->separates ? "separates" : "", v->summary);
        for (const struct hpx_verb_option *o = v->own;; o++) {
            const struct hpx_option *of = &hpx_options_all[o->id];
            const char *help = said(o);
            (void)fprintf(to, "option\t%s\t%s\t%s\t%s\t%.*s\n", of->name, of->letter != 0 ? (char[]){of->letter, 0} : "",
                          of->arg != NULL ? values[of->value] : "", of->choices != NULL ? of->choices : "", (int)strcspn(help, "\n"), help);
            if (o->id == HPX_O_HELP) {
                break;
            }
        }
    }
}
