/* SPDX-License-Identifier: BSD-2-Clause */
/* options_doc.c: the program hprofx-options-doc of the build. It prints the option table as help text, Markdown, or parts of a manual page
 * and of what completes command lines, and takes an option string apart as the agent does, so that the tests need no JVM. */
#include "options.h"
#include "options_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_stdout(void *ctx, const char *s)
{
    (void)ctx;
    (void)fputs(s, stdout);
}

/* Escapes what roff interprets: a backslash, and a dot or an apostrophe at the start of a line. '-' becomes "\-", because a hyphen
 * cannot be pasted into a command. */
static void put_roff(const char *s)
{
    for (bool start = true; *s; s++, start = false) {
        if (start && (*s == '.' || *s == '\'')) {
            (void)fputs("\\&", stdout);
        }
        if (*s == '\\') {
            (void)fputs("\\e", stdout);
        } else if (*s == '-') {
            (void)fputs("\\-", stdout);
        } else {
            (void)putchar(*s);
        }
    }
}

static void man_options(void)
{
    for (size_t i = 0; i < hpx_opts_len; i++) {
        const struct hpx_opt *o = &hpx_opts[i];
        if (!hpx_opt_is_shown(o)) {
            continue;
        }
        (void)printf(".TP\n.BI ");
        put_roff(o->name);
        (void)printf("= ");
        put_roff(o->values);
        (void)printf("\n%c", o->what[0] >= 'a' && o->what[0] <= 'z' && o->what[1] != ':' ? o->what[0] - 32 : o->what[0]);
        put_roff(o->what + 1);
        (void)printf(".\n");
        if (o->more) {
            put_roff(o->more);
            (void)printf("\n");
        }
        (void)printf("Default: ");
        put_roff(o->def);
        (void)printf(".\n");
    }
}

static void man_no_effect(void)
{
    const char *before = "";
    for (size_t i = 0; i < hpx_opts_len; i++) {
        if (hpx_opts[i].no_effect) {
            (void)printf("%s\\fB%s=\\fI", before, hpx_opts[i].name);
            put_roff(hpx_opts[i].values);
            (void)printf("\\fR (%s)", hpx_opts[i].what);
            before = ",\n";
        }
    }
    (void)printf(".\n");
}

/* What completes a command line: a line for each value, or for the name alone where the values are no words. */
static void option_words(void)
{
    for (size_t i = 0; i < hpx_opts_len; i++) {
        const struct hpx_opt *o = &hpx_opts[i];
        if (!hpx_opt_is_shown(o)) {
            continue;
        }
        const char *values = o->parse == hpx_opt_choice ? o->must : o->values;
        bool words = values[strspn(values, "abcdefghijklmnopqrstuvwxyz0123456789|")] == 0;
        for (size_t n = 0; *values; values += n + (values[n] == '|')) {
            n = words ? strcspn(values, "|") : strlen(values);
            (void)printf("%s=%.*s\n", o->name, words ? (int)n : 0, values);
        }
    }
}

static const struct {
    const char *line;
    void (*print)(void);
} parts[] = {{"@OPTIONS@\n", man_options}, {"@NO_EFFECT@\n", man_no_effect}};

/* Lines of the template that name a part become the part, @VERSION@ the version. */
static int fill(const char *name)
{
    char line[1024];
    FILE *in = fopen(name, "re");
    if (!in) {
        perror(name);
        return 1;
    }
    while (fgets(line, sizeof(line), in)) {
        size_t i = 0;
        while (i < HPX_ARRAY_LEN(parts) && strcmp(line, parts[i].line) != 0) {
            i++;
        }
        char *version = strstr(line, "@VERSION@");
        if (i < HPX_ARRAY_LEN(parts)) {
            parts[i].print();
        } else if (version) {
            (void)printf("%.*s" HPX_VERSION "%s", (int)(version - line), line, version + strlen("@VERSION@"));
        } else {
            (void)fputs(line, stdout);
        }
    }
    int bad = ferror(in);
    (void)fclose(in);
    return bad ? 1 : 0;
}

/* A bar ends a cell of the table, also inside code. */
static void put_cell(const char *s)
{
    for (; *s; s++) {
        (void)printf(*s == '|' ? "\\|" : "%c", *s);
    }
}

/* Options without an effect are one row. */
static void markdown(void)
{
    (void)printf("| option | default | meaning |\n| --- | --- | --- |\n");
    for (size_t i = 0; i < hpx_opts_len; i++) {
        const struct hpx_opt *o = &hpx_opts[i];
        if (!hpx_opt_is_shown(o)) {
            continue;
        }
        (void)printf("| `%s=", o->name);
        put_cell(o->values);
        (void)printf("` | %s | ", o->def);
        put_cell(o->what);
        (void)printf(" |\n");
    }
    const char *before = "| ";
    for (size_t i = 0; i < hpx_opts_len; i++) {
        if (hpx_opts[i].no_effect) {
            (void)printf("%s`%s=`", before, hpx_opts[i].name);
            before = ", ";
        }
    }
    (void)printf(" | | accepted for compatibility; no effect |\n");
}

static void print_options(const struct hpx_options *o)
{
    static const char *const cpu[] = {"off", "samples", "times", "samples,times", "old", "samples,old"}; /* by the bits */
    const struct {
        const char *name;
        bool v;
    } flags[] = {
        {"heap_dump", o->heap_dump},
        {"heap_sites", o->heap_sites},
        {"heap_by_default", o->heap_by_default},
        {"monitor", o->monitor},
        {"binary", o->binary},
        {"lineno", o->lineno},
        {"thread", o->thread},
        {"doe", o->doe},
        {"msa", o->msa},
        {"force", o->force},
        {"verbose", o->verbose},
        {"gc_okay", o->gc_okay},
        {"help", o->help},
        {"primfields", o->primfields},
        {"primarrays", o->primarrays},
        {"net-wait", o->net_wait},
        {"allow-exit", o->allow_exit},
    };
    (void)printf("cpu=%s\n", cpu[o->cpu]);
    for (size_t i = 0; i < HPX_ARRAY_LEN(flags); i++) {
        (void)printf("%s=%c\n", flags[i].name, flags[i].v ? 'y' : 'n');
    }
    (void)printf("depth=%" PRIu32 "\ninterval_ns=%" PRIu64 "\ncutoff=%.17g\nfile=%s\nnet=%s\n", o->depth, o->interval_ns, o->cutoff,
                 o->file, o->net ? o->net : "");
}

/* As the agent: exit code 1 and the message on stderr, or the values on stdout. */
static int parse(const char *command_line)
{
    struct hpx_options o;
    struct hpx_err err;
    if (hpx_options_parse(&o, getenv("_JAVA_HPROF_OPTIONS"), getenv("HPROFX_OPTIONS"), command_line, &err) < 0) {
        (void)fprintf(stderr, "HPROF ERROR: %s\n", err.msg);
        return 1;
    }
    if (o.help) {
        hpx_options_help(put_stdout, NULL);
    } else {
        print_options(&o);
    }
    hpx_options_fini(&o);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (argc == 2 && !strcmp(what, "--help")) {
        hpx_options_help(put_stdout, NULL);
    } else if (argc == 2 && !strcmp(what, "--markdown")) {
        markdown();
    } else if (argc == 2 && !strcmp(what, "--words")) {
        option_words();
    } else if (argc == 3 && !strcmp(what, "--fill")) {
        return fill(argv[2]);
    } else if (argc == 3 && !strcmp(what, "--parse")) {
        return parse(argv[2]);
    } else {
        (void)fputs("usage: hprofx-options-doc --help | --markdown | --words | --fill TEMPLATE | --parse OPTIONS\n", stderr);
        return 2;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
