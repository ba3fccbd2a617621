/* SPDX-License-Identifier: BSD-2-Clause */
/* options_help.c: the text that the option `help` prints, from the table of options. */
#include "options.h"
#include "options_table.h"

#include <stdio.h>

struct page {
    void (*put)(void *ctx, const char *s);
    void *ctx;
};

static void row(const struct page *to, const char *name, const char *what, const char *def)
{
    char line[256];
    int n = snprintf(line, sizeof(line), "  %-23s %-39s%s%s\n", name, what, *def ? " " : "", def);
    if (n > 0) {
        to->put(to->ctx, line);
    }
}

/* Words behind the indent `at` of the first line, broken before column 80. */
static void wrap(const struct page *to, size_t at, const char *const *words, size_t n)
{
    size_t column = at;
    for (size_t i = 0; i < n; i++) {
        char piece[64];
        int len = snprintf(piece, sizeof(piece), "%s%s", words[i], i + 1 < n ? "," : "");
        if (i && column + 1 + (size_t)len > 80) {
            to->put(to->ctx, "\n  ");
            column = 2;
        } else if (i) {
            to->put(to->ctx, " ");
            column++;
        }
        to->put(to->ctx, piece);
        column += (size_t)len;
    }
    to->put(to->ctx, "\n");
}

static void table(const struct page *to)
{
    row(to, "option", "meaning", "default");
    row(to, "------", "-------", "-------");
    for (size_t i = 0; i < hpx_opts_len; i++) {
        const struct hpx_opt *o = &hpx_opts[i];
        char name[64];
        if (hpx_opt_is_shown(o)) {
            (void)snprintf(name, sizeof(name), "%s=%s", o->name, o->values);
            row(to, name, o->what, o->def);
        }
    }
}

static void lists(const struct page *to)
{
    const char *words[64];
    size_t n = 0;
    for (size_t i = 0; i < hpx_opts_len && n < HPX_ARRAY_LEN(words); i++) {
        if (hpx_opts[i].no_effect) {
            words[n++] = hpx_opts[i].name;
        }
    }
    to->put(to->ctx, "\nAccepted for compatibility; no effect:\n  ");
    wrap(to, 2, words, n);
}

void hpx_options_help(void (*put)(void *ctx, const char *s), void *ctx)
{
    const struct page to = {put, ctx};
    put(ctx, "hprofx " HPX_VERSION ": profiles Java programs, with the options of HPROF\n\n"
             "usage: java -agentpath:/path/libhprofx.so=OPTION=VALUE[,OPTION=VALUE...] Main\n"
             "       java -agentpath:/path/libhprofx.so=help\n"
             "OPTION:VALUE is the same as OPTION=VALUE. @NAME takes options from a file.\n\n");
    table(&to);
    put(ctx, "\n"
             "heap=all is the default only if none of heap, cpu, monitor and wall is given.\n"
             "format=b (default file java.hprof) excludes cpu=times, cpu=old and monitor=y.\n");
    lists(&to);
    put(ctx, "\n"
             "Examples:\n"
             "  Where does the CPU time go? Stacks of 20 frames:\n"
             "    java -agentpath:/path/libhprofx.so=cpu=samples,depth=20 Main\n"
             "  A sample every half millisecond, one file per process:\n"
             "    java -agentpath:/path/libhprofx.so=cpu=samples,interval=0.5,file=%p.txt Main\n"
             "  Options from a file:\n"
             "    java -agentpath:/path/libhprofx.so=@profile.opts Main\n"
             "\n"
             "Environment, read before the command line (the later source wins):\n"
             "  _JAVA_HPROF_OPTIONS, then HPROFX_OPTIONS: options as on the command line.\n"
             "\n"
             "Files:\n"
             "  java.hprof.txt       the profile: the table of methods at its end, the stacks\n"
             "                       (TRACE) before the table. file= changes the name.\n"
             "  NAME.part            the profile while the program runs\n"
             "  @NAME                one option per line; # starts a comment line\n");
}
