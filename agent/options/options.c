/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c: takes the sources of options apart, in their order, and checks what goes together. */
#include "options_internal.h"
#include "options_table.h"
#include "patterns.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 15u /* the original's limit: a longer name is a syntax error, not an unknown option */
#define NS_PER_MS      UINT64_C(1000000)

enum value_is { VALUE_GOOD, VALUE_MISSING, VALUE_WRONG };

static const struct hpx_opt *find(const char *name)
{
    for (size_t i = 0; i < hpx_opts_len; i++) {
        if (!strcmp(hpx_opts[i].name, name)) {
            return &hpx_opts[i];
        }
    }
    return NULL;
}

static enum value_is parse_flag(bool *flag, const char *value)
{
    bool yes = !strcmp(value, "y");
    if (!yes && strcmp(value, "n") != 0) {
        return VALUE_WRONG;
    }
    if (flag) {
        *flag = yes;
    }
    return VALUE_GOOD;
}

/* strtol's leading blanks and sign, digits, a fraction. The locale's decimal point must not matter, so not strtod. Rounded up to a
 * nanosecond. */
static enum value_is parse_interval(uint64_t *ns, const char *s)
{
    uint64_t sum = 0, unit = NS_PER_MS;
    bool digits = false, point = false, rest = false;
    while (isspace((unsigned char)*s)) {
        s++;
    }
    s += *s == '+';
    for (; *s; s++) {
        if (*s == '.' && !point) {
            point = true;
        } else if (*s < '0' || *s > '9') {
            return VALUE_WRONG;
        } else {
            uint64_t digit = (uint64_t)(*s - '0');
            digits = true;
            if (!point) {
                sum = sum > HPX_OPT_MAX_INTERVAL_NS ? sum : sum * 10 + digit * NS_PER_MS;
            } else {
                unit /= 10;
                sum += digit * unit;
                rest = rest || (digit && !unit);
            }
        }
    }
    sum += rest;
    if (!digits || !sum) {
        return VALUE_WRONG;
    }
    *ns = sum > HPX_OPT_MAX_INTERVAL_NS ? HPX_OPT_MAX_INTERVAL_NS : sum;
    return VALUE_GOOD;
}

static enum value_is parse_period(uint64_t *ns, const char *value)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"", UINT64_C(1000000000)},
                 {"ms", UINT64_C(1000000)},
                 {"s", UINT64_C(1000000000)},
                 {"m", UINT64_C(60000000000)},
                 {"h", UINT64_C(3600000000000)}};
    size_t n = strspn(value, "0123456789");
    unsigned long count = strtoul(value, NULL, 10); /* out of range: ULONG_MAX */
    for (size_t i = 0; i < HPX_ARRAY_LEN(units); i++) {
        if (n > 0 && !strcmp(value + n, units[i].name)) {
            *ns = count < HPX_OPT_MAX_PERIOD_NS / units[i].ns ? count * units[i].ns : HPX_OPT_MAX_PERIOD_NS;
            return *ns >= HPX_OPT_MIN_PERIOD_NS ? VALUE_GOOD : VALUE_WRONG;
        }
    }
    return VALUE_WRONG;
}

static enum value_is parse_cutoff(double *cutoff, const char *value)
{
    char *end;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double d = c ? strtod_l(value, &end, c) : strtod(value, &end);
    if (c) {
        freelocale(c);
    }
    if (end == value || *end || (!isnan(d) && d < 0)) {
        return VALUE_WRONG;
    }
    *cutoff = d;
    return VALUE_GOOD;
}

static enum value_is parse_sampler(enum hpx_engine *engine, const char *value)
{
    static const char *const names[] = {[HPX_ENGINE_ASYNC] = "async", [HPX_ENGINE_WALK] = "walk", [HPX_ENGINE_POLL] = "poll"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        if (!strcmp(value, names[i])) {
            *engine = (enum hpx_engine)i;
            return VALUE_GOOD;
        }
    }
    return VALUE_WRONG;
}

/* The signals that neither a JVM nor glibc uses itself. */
static enum value_is parse_signal(int *number, const char *value)
{
    static const struct {
        const char *name;
        int number;
    } plain[] = {{"PROF", SIGPROF}, {"VTALRM", SIGVTALRM}, {"USR1", SIGUSR1}, {"RTMIN", 0}};
    value += strncmp(value, "SIG", 3) == 0 ? 3 : 0;
    for (size_t i = 0; i < HPX_ARRAY_LEN(plain); i++) {
        if (!strcmp(value, plain[i].name)) {
            *number = plain[i].number ? plain[i].number : SIGRTMIN;
            return VALUE_GOOD;
        }
    }
    const char *digits = strncmp(value, "RTMIN+", 6) == 0 ? value + 6 : "";
    size_t n = strspn(digits, "0123456789");
    if (n == 0 || n > 2 || digits[n] || atoi(digits) > HPX_OPT_MAX_RTSIG) {
        return VALUE_WRONG;
    }
    *number = SIGRTMIN + atoi(digits);
    return VALUE_GOOD;
}

static int parse_depth(struct hpx_opt_parse *p, const char *value, enum value_is *is)
{
    char *end;
    long n = strtol(value, &end, 10); /* out of range: LONG_MAX or LONG_MIN, which the limits refuse */
    if (end == value || *end || n < 0) {
        *is = VALUE_WRONG;
        return 0;
    }
    if (n > (long)HPX_OPT_MAX_DEPTH) {
        return hpx_opt_refuse(p, NULL, "depth option value must be decimal and 0..%u", HPX_OPT_MAX_DEPTH);
    }
    p->o->depth = (uint32_t)n;
    return 0;
}

static enum value_is parse_cpu(struct hpx_opt_parse *p, const char *value)
{
    unsigned before = p->source->cpu ? p->o->cpu : HPX_CPU_OFF;
    if (!strcmp(value, "samples") || !strcmp(value, "y")) {
        p->o->cpu = before | HPX_CPU_SAMPLES;
    } else if (!strcmp(value, "times") || !strcmp(value, "old")) {
        p->o->cpu = (before & HPX_CPU_SAMPLES) | (*value == 't' ? HPX_CPU_TIMES : HPX_CPU_OLD);
    } else {
        return VALUE_WRONG;
    }
    p->source->cpu = true;
    return VALUE_GOOD;
}

static enum value_is parse_heap(struct hpx_opt_parse *p, const char *value)
{
    bool all = !strcmp(value, "all"), dump = all || !strcmp(value, "dump"), sites = all || !strcmp(value, "sites");
    if (!dump && !sites) {
        return VALUE_WRONG;
    }
    if (!p->source->heap) {
        p->o->heap_dump = p->o->heap_sites = false;
        p->source->heap = true;
    }
    p->o->heap_dump |= dump;
    p->o->heap_sites |= sites;
    return VALUE_GOOD;
}

/* HOST:PORT, HOST in brackets where it has colons itself. What the resolver makes of HOST is seen when connecting. */
static int check_net(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    const char *colon = strchr(value, ':');
    if (*value == '[') {
        const char *close = strchr(value, ']');
        colon = close && close > value + 1 && (close[1] == ':' || !close[1]) ? close + 1 : NULL;
        if (!colon) {
            return hpx_opt_refuse(p, NULL, "net option value must be %s", opt->must);
        }
        colon = *colon ? colon : NULL;
    }
    if (!*value || colon == value) {
        return hpx_opt_refuse(p, NULL, "net option missing ':'");
    }
    if (*value != '[' && colon && strchr(colon + 1, ':')) {
        return hpx_opt_refuse(p, "an address with colons stands in brackets: net=[::1]:9000", "net option value must be %s", opt->must);
    }
    if (!colon || !colon[1]) {
        return hpx_opt_refuse(p, NULL, "net option missing port");
    }
    const char *digits = colon + 1;
    size_t n = strspn(digits, "0123456789");
    unsigned long port = strtoul(digits, NULL, 10); /* out of range: ULONG_MAX */
    if (digits[n] || port < 1 || port > 65535) {
        return hpx_opt_refuse(p, NULL, "net option value must be %s", opt->must);
    }
    return 0;
}

/* file and net replace each other: the last source that names either says where the output goes. */
static int parse_output(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    if (p->source->output) {
        return hpx_opt_refuse(p, NULL, "file or net options should only appear once");
    }
    int rc = opt->kind == HPX_OPT_NET ? check_net(p, opt, value) : 0;
    if (rc < 0) {
        return rc;
    }
    char *copy = strdup(value);
    if (!copy) {
        return hpx_opt_no_memory(p);
    }
    free(p->o->file);
    free(p->o->net);
    p->o->file = p->o->net = NULL;
    *(opt->kind == HPX_OPT_FILE ? &p->o->file : &p->o->net) = copy;
    p->source->output = true;
    return 0;
}

static enum value_is parse_min(uint32_t *min, const char *value)
{
    size_t n = strspn(value, "0123456789");
    unsigned long v = strtoul(value, NULL, 10); /* out of range: ULONG_MAX */
    if (n == 0 || value[n] || v > UINT16_MAX) {
        return VALUE_WRONG;
    }
    *min = (uint32_t)v;
    return VALUE_GOOD;
}

static enum value_is parse_times(enum hpx_times *times, const char *value)
{
    static const char *const names[] = {[HPX_TIMES_CPU] = "cpu", [HPX_TIMES_WALL] = "wall", [HPX_TIMES_SAMPLED] = "sampled"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        if (!strcmp(value, names[i])) {
            *times = (enum hpx_times)i;
            return VALUE_GOOD;
        }
    }
    return VALUE_WRONG;
}

static enum value_is parse_sites(enum hpx_sites_how *sites, const char *value)
{
    static const char *const names[] = {
        [HPX_SITES_EXACT] = "exact", [HPX_SITES_COUNTS] = "counts", [HPX_SITES_SAMPLED] = "sampled", [HPX_SITES_OFF] = "none"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(names); i++) {
        if (!strcmp(value, names[i])) {
            *sites = (enum hpx_sites_how)i;
            return VALUE_GOOD;
        }
    }
    return VALUE_WRONG;
}

static enum value_is parse_sample(uint64_t *bytes, const char *value)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {{"", 1}, {"k", UINT64_C(1) << 10}, {"m", UINT64_C(1) << 20}, {"g", UINT64_C(1) << 30}};
    size_t n = strspn(value, "0123456789");
    unsigned long count = strtoul(value, NULL, 10); /* out of range: ULONG_MAX */
    for (size_t i = 0; i < HPX_ARRAY_LEN(units); i++) {
        if (n > 0 && !strcasecmp(value + n, units[i].name)) {
            *bytes = count * units[i].bytes;
            return count >= 1 && count <= HPX_OPT_MAX_SAMPLE / units[i].bytes ? VALUE_GOOD : VALUE_WRONG;
        }
    }
    return VALUE_WRONG;
}

static int parse_patterns(struct hpx_opt_parse *p, char **list, const char *value, enum value_is *is)
{
    if (!hpx_patterns_valid(value)) {
        *is = VALUE_WRONG;
        return 0;
    }
    char *copy = strdup(value);
    if (!copy) {
        return hpx_opt_no_memory(p);
    }
    free(*list);
    *list = copy;
    return 0;
}

/* The words that `take` knows, joined by '+'. */
static enum value_is parse_words(const char *value, bool (*take)(void *ctx, const char *word, size_t n), void *ctx)
{
    for (;;) {
        size_t n = strcspn(value, "+");
        if (!take(ctx, value, n)) {
            return VALUE_WRONG;
        }
        if (value[n] == 0) {
            return VALUE_GOOD;
        }
        value += n + 1;
    }
}

static bool is_word(const char *at, size_t n, const char *word)
{
    return strlen(word) == n && strncmp(at, word, n) == 0;
}

static bool take_heapdump(void *ctx, const char *word, size_t n)
{
    struct hpx_options *o = ctx;
    if (is_word(word, n, "oom")) {
        o->heapdump_oom = true;
        return true;
    }
    o->heapdump = is_word(word, n, "fork") ? HPX_HEAPDUMP_FORK : is_word(word, n, "walk") ? HPX_HEAPDUMP_WALK : HPX_HEAPDUMP_AUTO;
    return o->heapdump != HPX_HEAPDUMP_AUTO || is_word(word, n, "auto");
}

static enum value_is parse_heapdump(struct hpx_options *o, const char *value)
{
    o->heapdump = HPX_HEAPDUMP_AUTO;
    o->heapdump_oom = false;
    return parse_words(value, take_heapdump, o);
}

static bool take_redact(void *ctx, const char *word, size_t n)
{
    unsigned bit = is_word(word, n, "arrays")    ? HPX_REDACT_ARRAYS
                   : is_word(word, n, "fields")  ? HPX_REDACT_FIELDS
                   : is_word(word, n, "strings") ? HPX_REDACT_STRINGS
                                                 : 0;
    *(unsigned *)ctx |= bit;
    return bit != 0;
}

static enum value_is parse_redact(unsigned *redact, const char *value)
{
    *redact = 0;
    return parse_words(value, take_redact, redact);
}

static int parse_value(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value, enum value_is *is)
{
    switch (opt->kind) {
    case HPX_OPT_HEAP:
        *is = parse_heap(p, value);
        return 0;
    case HPX_OPT_CPU:
        *is = parse_cpu(p, value);
        return 0;
    case HPX_OPT_FORMAT:
        *is = !strcmp(value, "a") || !strcmp(value, "b") ? VALUE_GOOD : VALUE_WRONG;
        p->o->binary = *value == 'b';
        return 0;
    case HPX_OPT_IDSIZE:
        *is = !strcmp(value, "4") || !strcmp(value, "8") ? VALUE_GOOD : VALUE_WRONG;
        p->o->idsize = *value == '4' ? 4 : 8;
        return 0;
    case HPX_OPT_FILE:
    case HPX_OPT_NET:
        return parse_output(p, opt, value);
    case HPX_OPT_DEPTH:
        return parse_depth(p, value, is);
    case HPX_OPT_INTERVAL:
        *is = parse_interval(&p->o->interval_ns, value);
        return 0;
    case HPX_OPT_PERIOD:
        *is = parse_period(&p->o->dump_ns, value);
        return 0;
    case HPX_OPT_SAMPLER:
        *is = parse_sampler(&p->o->sampler, value);
        return 0;
    case HPX_OPT_SIGNAL:
        *is = parse_signal(&p->o->signal, value);
        return 0;
    case HPX_OPT_SITES:
        *is = parse_sites(&p->o->sites, value);
        return 0;
    case HPX_OPT_HEAPDUMP:
        *is = parse_heapdump(p->o, value);
        return 0;
    case HPX_OPT_REDACT:
        *is = parse_redact(&p->o->redact, value);
        return 0;
    case HPX_OPT_SAMPLE:
        *is = parse_sample(&p->o->sample_bytes, value);
        if (*is == VALUE_GOOD && p->o->sites != HPX_SITES_COUNTS) {
            p->o->sites = HPX_SITES_SAMPLED;
        }
        return 0;
    case HPX_OPT_TIMES:
        *is = parse_times(&p->o->times, value);
        return 0;
    case HPX_OPT_MIN:
        *is = parse_min(&p->o->min, value);
        return 0;
    case HPX_OPT_PATTERNS:
        return parse_patterns(p, (char **)(void *)((char *)p->o + opt->offset), value, is);
    case HPX_OPT_CUTOFF:
        *is = parse_cutoff(&p->o->cutoff, value);
        return 0;
    case HPX_OPT_FLAG:
        *is = parse_flag((bool *)((char *)p->o + opt->offset), value);
        return 0;
    case HPX_OPT_IGNORED_FLAG:
        *is = parse_flag(NULL, value);
        return 0;
    case HPX_OPT_IGNORED_NUMBER:
        *is = *value ? VALUE_GOOD : VALUE_WRONG;
        return 0;
    case HPX_OPT_REMOVED:
        break;
    }
    return hpx_opt_refuse(p, NULL, "%s", opt->must);
}

/* One value for one option; the row of the table says what is said when it does not fit. */
static int set_value(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    enum value_is is = !*value && opt->missing ? VALUE_MISSING : VALUE_GOOD;
    int rc = is == VALUE_GOOD ? parse_value(p, opt, value, &is) : 0;
    if (rc < 0 || is == VALUE_GOOD) {
        return rc;
    }
    if (is == VALUE_MISSING) {
        return hpx_opt_refuse(p, NULL, "syntax error parsing %s=%s", opt->name, opt->missing);
    }
    return hpx_opt_refuse(p, NULL, "%s option value must be %s", opt->name, opt->must);
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
        enum hpx_opt_kind kind = hpx_opts[i].kind;
        if (kind == HPX_OPT_FLAG || kind == HPX_OPT_FORMAT || kind == HPX_OPT_DEPTH || kind == HPX_OPT_INTERVAL || kind == HPX_OPT_CUTOFF ||
            kind == HPX_OPT_SAMPLER || kind == HPX_OPT_SIGNAL || kind == HPX_OPT_TIMES || kind == HPX_OPT_MIN || kind == HPX_OPT_IDSIZE ||
            kind == HPX_OPT_SITES || kind == HPX_OPT_SAMPLE || kind == HPX_OPT_HEAPDUMP) {
            rc = set_value(p, &hpx_opts[i], hpx_opts[i].def);
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
    if (o->cpu == HPX_CPU_OFF && !o->heap_dump && !o->heap_sites && !o->monitor) {
        o->heap_dump = o->heap_sites = o->heap_by_default = true;
    }
    if (o->heap_sites && !o->heap_dump && o->sites == HPX_SITES_OFF) {
        return hpx_opt_refuse(p, NULL, "sites=none leaves nothing of heap=sites");
    }
    if (o->binary && (o->cpu & (HPX_CPU_TIMES | HPX_CPU_OLD))) {
        return hpx_opt_refuse(p, NULL, "cpu=times|old is not supported with format=b");
    }
    if (o->binary && o->monitor) {
        return hpx_opt_refuse(p, NULL, "monitor=y is not supported with format=b");
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

int hpx_options_supported(const struct hpx_options *o, struct hpx_err *err)
{
    bool all = o->heap_dump && o->heap_sites;
    const bool asked[HPX_MODE_COUNT] = {
        [HPX_MODE_CPU_SAMPLES] = o->cpu & HPX_CPU_SAMPLES,
        [HPX_MODE_CPU_TIMES] = o->cpu & HPX_CPU_TIMES,
        [HPX_MODE_CPU_OLD] = o->cpu & HPX_CPU_OLD,
        [HPX_MODE_HEAP_ALL] = all,
        [HPX_MODE_HEAP_DUMP] = o->heap_dump && !all,
        [HPX_MODE_HEAP_SITES] = o->heap_sites && !all,
        [HPX_MODE_MONITOR] = o->monitor,
        [HPX_MODE_FORMAT_B] = o->binary,
        [HPX_MODE_NET] = o->net != NULL,
    };
    for (size_t i = 0; i < HPX_MODE_COUNT; i++) {
        if (asked[i] && !hpx_opt_modes[i].ready) {
            const struct hpx_opt_parse p = {.given = o->given, .err = err};
            return hpx_opt_refuse(&p, NULL, "%s%s is not in this version of hprofx yet; the cpu= and heap= modes are",
                                  hpx_opt_modes[i].text, o->heap_by_default ? ", the default," : "");
        }
    }
    return 0;
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
