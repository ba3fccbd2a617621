/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c: takes the sources of options apart, in their order, and checks what goes together. */
#include "options.h"
#include "options_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 15u /* the original's limit: a longer name is a syntax error, not an unknown option */

static const struct hpx_opt *find(const char *name)
{
    for (size_t i = 0; i < hpx_opts_len; i++) {
        if (!strcmp(hpx_opts[i].name, name)) {
            return &hpx_opts[i];
        }
    }
    return NULL;
}

/* One value for one option; the row of the table says what is said when it does not fit. */
static int set_value(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    if (!*value && opt->missing) {
        return hpx_opt_refuse(p, NULL, "syntax error parsing %s=%s", opt->name, opt->missing);
    }
    int rc = opt->parse(p, opt, value);
    return rc == HPX_OPT_WRONG ? hpx_opt_refuse(p, NULL, "%s option value must be %s", opt->name, opt->must) : rc;
}

/* `item` runs to its 0 and is changed. A name goes on to the next '=' or ':', also over commas, as the original read it: so the value's end
 * is looked for only behind it. Returns the rest behind the value's comma in *rest, or takes all as the value where `commas` is false (a
 * line of an option file). */
static int parse_item(struct hpx_opt_parse *p, char *item, bool commas, char **rest)
{
    size_t n = strcspn(item, "=:");
    bool has_value = item[n] != 0;
    char *value = item + n + has_value;
    char *comma = commas ? strchr(value, ',') : NULL;
    item[n] = 0;
    *rest = value + strlen(value);
    if (comma) {
        *comma = 0;
        *rest = comma + 1;
    }
    if (n == 0 || n > NAME_MAX_BYTES) {
        return hpx_opt_refuse(p, NULL, "general syntax error parsing options");
    }
    const struct hpx_opt *opt = find(item);
    if (!opt) {
        char hint[64];
        (void)snprintf(hint, sizeof(hint), "did you mean %s?", hpx_opt_nearest(item));
        return hpx_opt_refuse(p, hint, "Unknown option: %s", item);
    }
    p->o->own = p->o->own || (!opt->hprof && !opt->no_effect);
    return set_value(p, opt, value);
}

/* One option per line. Options after @FILE on the command line override those of the file. */
static int parse_file(struct hpx_opt_parse *p, const char *name)
{
    struct hpx_opt_source own = {0}, *outer = p->source;
    char *text;
    int rc = hpx_opt_read_file(p, name, &text);
    if (rc < 0) {
        return rc;
    }
    p->source = &own;
    p->file = name;
    for (char *line = text, *next; rc == 0 && *line; line = next) {
        size_t n = strcspn(line, "\n");
        next = line + n + (line[n] != 0);
        line[n] = 0;
        p->line++;
        while (n && strchr(" \t\r", line[n - 1])) {
            line[--n] = 0;
        }
        line += strspn(line, " \t");
        if (*line == '@') {
            rc = hpx_opt_refuse(p, "an option file cannot name another", "cannot read option file: %s", line + 1);
        } else if (*line && *line != '#') {
            char *rest;
            rc = parse_item(p, line, false, &rest);
        }
    }
    p->source = outer;
    p->file = NULL;
    p->line = 0;
    free(text);
    return rc;
}

static int parse_source(struct hpx_opt_parse *p, const char *options)
{
    struct hpx_opt_source source = {0};
    int rc = 0;
    char *copy = strdup(options);
    if (!copy) {
        return hpx_opt_no_memory(p);
    }
    p->source = &source;
    for (char *item = copy, *rest; rc == 0 && *item; item = rest) {
        if (*item == '@') {
            size_t n = strcspn(item, ",");
            rest = item + n + (item[n] != 0);
            item[n] = 0;
            rc = parse_file(p, item + 1);
        } else {
            rc = parse_item(p, item, true, &rest);
        }
    }
    p->source = NULL;
    free(copy);
    return rc;
}

static char *join(const char *const *sources, size_t n)
{
    size_t len = 1;
    for (size_t i = 0; i < n; i++) {
        len += strlen(sources[i]) + 1;
    }
    char *s = malloc(len), *to = s;
    if (s) {
        *s = 0;
        for (size_t i = 0; i < n; i++) {
            to = stpcpy(stpcpy(to, i ? "," : ""), sources[i]);
        }
    }
    return s;
}

static int parse_defaults(struct hpx_opt_parse *p)
{
    struct hpx_opt_source none = {0};
    int rc = 0;
    p->source = &none;
    for (size_t i = 0; i < hpx_opts_len && rc == 0; i++) {
        const struct hpx_opt *opt = &hpx_opts[i];
        if (opt->def && opt->parse != hpx_opt_heap && opt->parse != hpx_opt_file) { /* these two depend on others: finish() */
            rc = set_value(p, opt, opt->def);
        }
    }
    p->o->sites = HPX_SITES_EXACT; /* sample= means sites=sampled only where it is given */
    p->source = NULL;
    return rc;
}

/* What can be known only when all sources were taken, in the order in which the original checks. */
static int finish(struct hpx_opt_parse *p)
{
    struct hpx_options *o = p->o;
    if (o->cpu == HPX_CPU_OFF && !o->heap_dump && !o->heap_sites && !o->monitor && o->wall_ns == 0) {
        o->heap_dump = o->heap_sites = o->heap_by_default = true;
    }
    if (o->heap_sites && !o->heap_dump && o->sites == HPX_SITES_OFF) {
        return hpx_opt_refuse(p, NULL, "sites=none leaves nothing of heap=sites");
    }
    if (o->binary && (o->cpu & (HPX_CPU_TIMES | HPX_CPU_OLD))) {
        return hpx_opt_refuse(p, NULL, "cpu=times|old is not supported with format=b");
    }
    if ((o->cpu & HPX_CPU_OLD) && o->times == HPX_TIMES_COUNTS) {
        return hpx_opt_refuse(p, NULL, "cpu=old needs callers, which times=counts does not follow");
    }
    if (o->binary && o->monitor) {
        return hpx_opt_refuse(p, NULL, "monitor=y is not supported with format=b");
    }
    if (o->monitor && o->owner && o->stacks == HPX_STACKS_SAMPLED) {
        return hpx_opt_refuse(p, NULL, "owner=%s needs stacks=exact", o->owner == HPX_OWNER_ALL ? "y" : "sampled");
    }
    if (o->wall_ns > 0 && o->depth == 0) {
        return hpx_opt_refuse(p, NULL, "wall= needs stacks: depth=0 has none");
    }
    if (o->maxfile == HPX_OPT_AUTO_BYTES && o->own) {
        o->maxfile = HPX_OPT_MAXFILE;
    }
    if (!o->file) {
        static const char *const names[2][2] = {{"java.hprof.txt", "java.hprof.txt.gz"}, {"java.hprof", "java.hprof.gz"}};
        o->file = strdup(names[o->binary][o->gz]);
        if (!o->file) {
            return hpx_opt_no_memory(p);
        }
    }
    return 0;
}

int hpx_options_parse(struct hpx_options *o, const char *java_hprof_options, const char *hprofx_options, const char *command_line,
                      struct hpx_err *err)
{
    const char *all[] = {java_hprof_options, hprofx_options, command_line}, *sources[HPX_ARRAY_LEN(all)];
    struct hpx_opt_parse p = {.o = o, .err = err};
    bool help = command_line && !strcmp(command_line, "help");
    size_t n = 0;
    for (size_t i = help ? 2 : 0; i < HPX_ARRAY_LEN(all); i++) {
        if (all[i] && *all[i]) {
            sources[n++] = all[i];
        }
    }
    *o = (struct hpx_options){.help = help};
    o->given = join(sources, n);
    p.given = o->given;
    int rc = o->given ? parse_defaults(&p) : hpx_opt_no_memory(&p);
    for (size_t i = 0; i < n && rc == 0 && !help; i++) {
        rc = parse_source(&p, sources[i]);
    }
    if (rc == 0) {
        rc = finish(&p);
    }
    if (rc < 0) {
        hpx_options_fini(o);
    }
    return rc;
}

void hpx_options_idle(const struct hpx_options *o, void (*say)(const char *option, const char *needs, const char *missing))
{
    const struct {
        bool given, there;
        const char *option, *needs, *missing;
    } all[] = {
        {o->owner, o->monitor, o->owner == HPX_OWNER_SAMPLED ? "owner=sampled" : "owner=y", "monitor=y", "MONITOR OWNERS"},
        {o->waits, o->monitor, "waits=y", "monitor=y", "WAIT TIME"},
        {o->locks, o->monitor, "locks=y", "monitor=y", "LOCK TIME"},
        {o->pinned, o->monitor, "pinned=y", "monitor=y", "PINNED TIME"},
        {o->keep_files > 0, o->split, "keep-files=", "split=y", "removal of old files"},
        {o->keep_bytes > 0, o->split, "keep-bytes=", "split=y", "removal of old files"},
        {o->heapdump_oom, o->heap_dump, "heapdump=oom", "heap=dump", "heap dump"},
        {o->native, (o->cpu & HPX_CPU_SAMPLES) != 0, "native=y", "cpu=samples", "C functions"},
    };
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        if (all[i].given && !all[i].there) {
            say(all[i].option, all[i].needs, all[i].missing);
        }
    }
}

void hpx_options_fini(struct hpx_options *o)
{
    free(o->file);
    free(o->net);
    free(o->include);
    free(o->exclude);
    free(o->keep);
    free(o->given);
    *o = (struct hpx_options){0};
}
