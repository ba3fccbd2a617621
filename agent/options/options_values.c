/* SPDX-License-Identifier: BSD-2-Clause */
/* options_values.c: the values of options, by their kinds. */
#include "options_internal.h"
#include "options_table.h"
#include "patterns.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

static enum hpx_opt_is parse_flag(bool *flag, const char *value)
{
    bool yes = !strcmp(value, "y");
    if (!yes && strcmp(value, "n") != 0) {
        return HPX_OPT_IS_WRONG;
    }
    if (flag) {
        *flag = yes;
    }
    return HPX_OPT_IS_GOOD;
}

/* names: those of an enum, in its order, with '|' between. */
static enum hpx_opt_is parse_choice(int *to, const char *value, const char *names)
{
    size_t len = strlen(value);
    for (int i = 0; len > 0; i++) {
        size_t n = strcspn(names, "|");
        if (n == len && !strncmp(names, value, n)) {
            *to = i;
            return HPX_OPT_IS_GOOD;
        }
        if (!names[n]) {
            break;
        }
        names += n + 1;
    }
    return HPX_OPT_IS_WRONG;
}

static enum hpx_opt_is parse_waitlog(uint64_t *lines, const char *value)
{
    size_t n = strspn(value, "0123456789");
    if (!strcmp(value, "-1")) {
        *lines = HPX_OPT_ALL_WAITS;
        return HPX_OPT_IS_GOOD;
    }
    *lines = strtoul(value, NULL, 10); /* out of range: ULONG_MAX, which is all */
    return n > 0 && !value[n] ? HPX_OPT_IS_GOOD : HPX_OPT_IS_WRONG;
}

/* strtol's leading blanks and sign, digits, a fraction. The locale's decimal point must not matter, so not strtod. Rounded up to a
 * nanosecond. */
static enum hpx_opt_is parse_interval(uint64_t *ns, const char *s)
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
            return HPX_OPT_IS_WRONG;
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
        return HPX_OPT_IS_WRONG;
    }
    *ns = sum > HPX_OPT_MAX_INTERVAL_NS ? HPX_OPT_MAX_INTERVAL_NS : sum;
    return HPX_OPT_IS_GOOD;
}

static enum hpx_opt_is parse_wall(uint64_t *ns, const char *value)
{
    bool yes = false;
    if (parse_flag(&yes, value) == HPX_OPT_IS_GOOD) {
        *ns = yes ? HPX_OPT_WALL_NS : 0;
        return HPX_OPT_IS_GOOD;
    }
    enum hpx_opt_is is = parse_interval(ns, value);
    return is == HPX_OPT_IS_GOOD && *ns < HPX_OPT_MIN_WALL_NS ? HPX_OPT_IS_WRONG : is;
}

/* Digits and a unit; seconds without one. At most HPX_OPT_MAX_PERIOD_NS. */
static enum hpx_opt_is parse_time(uint64_t *ns, const char *value)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"", UINT64_C(1000000000)},
                 {"ms", NS_PER_MS},
                 {"s", UINT64_C(1000000000)},
                 {"m", UINT64_C(60000000000)},
                 {"h", UINT64_C(3600000000000)}};
    size_t n = strspn(value, "0123456789");
    unsigned long count = strtoul(value, NULL, 10); /* out of range: ULONG_MAX */
    for (size_t i = 0; i < HPX_ARRAY_LEN(units); i++) {
        if (n > 0 && !strcmp(value + n, units[i].name)) {
            *ns = count < HPX_OPT_MAX_PERIOD_NS / units[i].ns ? count * units[i].ns : HPX_OPT_MAX_PERIOD_NS;
            return HPX_OPT_IS_GOOD;
        }
    }
    return HPX_OPT_IS_WRONG;
}

static enum hpx_opt_is parse_period(uint64_t *ns, const char *value)
{
    if (!strcmp(value, "off")) {
        *ns = 0;
        return HPX_OPT_IS_GOOD;
    }
    enum hpx_opt_is is = parse_time(ns, value);
    return is == HPX_OPT_IS_GOOD && *ns < HPX_OPT_MIN_PERIOD_NS ? HPX_OPT_IS_WRONG : is;
}

static enum hpx_opt_is parse_maxpause(uint64_t *ns, const char *value)
{
    enum hpx_opt_is is = !strcmp(value, "off") ? HPX_OPT_IS_GOOD : parse_time(ns, value);
    if (is == HPX_OPT_IS_GOOD && (*value == 'o' || *ns == 0)) {
        *ns = UINT64_MAX;
    }
    return is;
}

static enum hpx_opt_is parse_cutoff(double *cutoff, const char *value)
{
    char *end;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double d = c ? strtod_l(value, &end, c) : strtod(value, &end);
    if (c) {
        freelocale(c);
    }
    if (end == value || *end || (!isnan(d) && d < 0)) {
        return HPX_OPT_IS_WRONG;
    }
    *cutoff = d;
    return HPX_OPT_IS_GOOD;
}

/* The signals that neither a JVM nor glibc uses itself. */
static enum hpx_opt_is parse_signal(int *number, const char *value)
{
    static const struct {
        const char *name;
        int number;
    } plain[] = {{"PROF", SIGPROF}, {"VTALRM", SIGVTALRM}, {"USR1", SIGUSR1}, {"RTMIN", 0}};
    value += strncmp(value, "SIG", 3) == 0 ? 3 : 0;
    for (size_t i = 0; i < HPX_ARRAY_LEN(plain); i++) {
        if (!strcmp(value, plain[i].name)) {
            *number = plain[i].number ? plain[i].number : SIGRTMIN;
            return HPX_OPT_IS_GOOD;
        }
    }
    const char *digits = strncmp(value, "RTMIN+", 6) == 0 ? value + 6 : "";
    size_t n = strspn(digits, "0123456789");
    if (n == 0 || n > 2 || digits[n] || atoi(digits) > HPX_OPT_MAX_RTSIG) {
        return HPX_OPT_IS_WRONG;
    }
    *number = SIGRTMIN + atoi(digits);
    return HPX_OPT_IS_GOOD;
}

static int parse_depth(struct hpx_opt_parse *p, const char *value, enum hpx_opt_is *is)
{
    char *end;
    long n = strtol(value, &end, 10); /* out of range: LONG_MAX or LONG_MIN, which the limits refuse */
    if (end == value || *end || n < 0) {
        *is = HPX_OPT_IS_WRONG;
        return 0;
    }
    if (n > (long)HPX_OPT_MAX_DEPTH) {
        return hpx_opt_refuse(p, NULL, "depth option value must be decimal and 0..%u", HPX_OPT_MAX_DEPTH);
    }
    p->o->depth = (uint32_t)n;
    return 0;
}

static enum hpx_opt_is parse_cpu(struct hpx_opt_parse *p, const char *value)
{
    unsigned before = p->source->cpu ? p->o->cpu : HPX_CPU_OFF;
    if (!strcmp(value, "samples") || !strcmp(value, "y")) {
        p->o->cpu = before | HPX_CPU_SAMPLES;
    } else if (!strcmp(value, "times") || !strcmp(value, "old")) {
        p->o->cpu = (before & HPX_CPU_SAMPLES) | (*value == 't' ? HPX_CPU_TIMES : HPX_CPU_OLD);
    } else if (!strcmp(value, "off")) {
        p->o->cpu = HPX_CPU_OFF;
    } else {
        return HPX_OPT_IS_WRONG;
    }
    p->source->cpu = true;
    return HPX_OPT_IS_GOOD;
}

static enum hpx_opt_is parse_heap(struct hpx_opt_parse *p, const char *value)
{
    bool all = !strcmp(value, "all"), dump = all || !strcmp(value, "dump"), sites = all || !strcmp(value, "sites");
    if (!dump && !sites) {
        return HPX_OPT_IS_WRONG;
    }
    if (!p->source->heap) {
        p->o->heap_dump = p->o->heap_sites = false;
        p->source->heap = true;
    }
    p->o->heap_dump |= dump;
    p->o->heap_sites |= sites;
    return HPX_OPT_IS_GOOD;
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

/* file and net replace each other: the last source that names either says where the output goes. net=off takes back net, and names none. */
static int parse_output(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    if (opt->kind == HPX_OPT_NET && !strcmp(value, opt->def)) {
        free(p->o->net);
        p->o->net = NULL;
        return 0;
    }
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

static enum hpx_opt_is parse_min(uint32_t *min, const char *value)
{
    size_t n = strspn(value, "0123456789");
    unsigned long v = strtoul(value, NULL, 10); /* out of range: ULONG_MAX */
    if (n == 0 || value[n] || v > UINT16_MAX) {
        return HPX_OPT_IS_WRONG;
    }
    *min = (uint32_t)v;
    return HPX_OPT_IS_GOOD;
}

/* Digits and a unit; bytes without one. 1 to `most`. */
static enum hpx_opt_is parse_size(uint64_t *bytes, const char *value, uint64_t most)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {{"", 1}, {"k", UINT64_C(1) << 10}, {"m", UINT64_C(1) << 20}, {"g", UINT64_C(1) << 30}, {"t", UINT64_C(1) << 40}};
    size_t n = strspn(value, "0123456789");
    unsigned long count = strtoul(value, NULL, 10); /* out of range: ULONG_MAX */
    for (size_t i = 0; i < HPX_ARRAY_LEN(units); i++) {
        if (n > 0 && !strcasecmp(value + n, units[i].name)) {
            *bytes = count * units[i].bytes;
            return count >= 1 && count <= most / units[i].bytes ? HPX_OPT_IS_GOOD : HPX_OPT_IS_WRONG;
        }
    }
    return HPX_OPT_IS_WRONG;
}

static enum hpx_opt_is parse_keep_files(uint32_t *files, const char *value)
{
    size_t n = strspn(value, "0123456789");
    unsigned long v = strtoul(value, NULL, 10); /* out of range: ULONG_MAX */
    if (!strcmp(value, "off")) {
        *files = 0;
        return HPX_OPT_IS_GOOD;
    }
    *files = (uint32_t)v;
    return n > 0 && !value[n] && v >= 1 && v <= HPX_OPT_MAX_KEEP ? HPX_OPT_IS_GOOD : HPX_OPT_IS_WRONG;
}

static enum hpx_opt_is parse_keep_bytes(uint64_t *bytes, const char *value)
{
    if (!strcmp(value, "off")) {
        *bytes = 0;
        return HPX_OPT_IS_GOOD;
    }
    return parse_size(bytes, value, HPX_OPT_MAX_BYTES);
}

/* The default's word is no list: include=all is every class. */
static int parse_patterns(struct hpx_opt_parse *p, char **list, const char *value, const char *def, enum hpx_opt_is *is)
{
    if (!strcmp(value, def)) {
        free(*list);
        *list = NULL;
        return 0;
    }
    if (!hpx_patterns_valid(value)) {
        *is = HPX_OPT_IS_WRONG;
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
static enum hpx_opt_is parse_words(const char *value, bool (*take)(void *ctx, const char *word, size_t n), void *ctx)
{
    for (;;) {
        size_t n = strcspn(value, "+");
        if (!take(ctx, value, n)) {
            return HPX_OPT_IS_WRONG;
        }
        if (value[n] == 0) {
            return HPX_OPT_IS_GOOD;
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

static enum hpx_opt_is parse_heapdump(struct hpx_options *o, const char *value)
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

static enum hpx_opt_is parse_redact(unsigned *redact, const char *value)
{
    *redact = 0;
    return !strcmp(value, "off") ? HPX_OPT_IS_GOOD : parse_words(value, take_redact, redact);
}

static enum hpx_opt_is parse_format(bool *binary, const char *value)
{
    *binary = *value == 'b';
    return !strcmp(value, "a") || !strcmp(value, "b") ? HPX_OPT_IS_GOOD : HPX_OPT_IS_WRONG;
}

static enum hpx_opt_is parse_idsize(uint32_t *bytes, const char *value)
{
    *bytes = *value == '4' ? 4 : 8;
    return !strcmp(value, "4") || !strcmp(value, "8") ? HPX_OPT_IS_GOOD : HPX_OPT_IS_WRONG;
}

int hpx_opt_value(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value, enum hpx_opt_is *is)
{
    switch (opt->kind) {
    case HPX_OPT_HEAP:
        *is = parse_heap(p, value);
        return 0;
    case HPX_OPT_CPU:
        *is = parse_cpu(p, value);
        return 0;
    case HPX_OPT_FORMAT:
        *is = parse_format(&p->o->binary, value);
        return 0;
    case HPX_OPT_IDSIZE:
        *is = parse_idsize(&p->o->idsize, value);
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
    case HPX_OPT_SIGNAL:
        *is = parse_signal(&p->o->signal, value);
        return 0;
    case HPX_OPT_HEAPDUMP:
        *is = parse_heapdump(p->o, value);
        return 0;
    case HPX_OPT_MAXPAUSE:
        *is = parse_maxpause(&p->o->maxpause_ns, value);
        return 0;
    case HPX_OPT_REDACT:
        *is = parse_redact(&p->o->redact, value);
        return 0;
    case HPX_OPT_SAMPLE:
        *is = parse_size(&p->o->sample_bytes, value, HPX_OPT_MAX_SAMPLE);
        if (*is == HPX_OPT_IS_GOOD && p->o->sites != HPX_SITES_COUNTS) {
            p->o->sites = HPX_SITES_SAMPLED;
        }
        return 0;
    case HPX_OPT_KEEP_FILES:
        *is = parse_keep_files(&p->o->keep_files, value);
        return 0;
    case HPX_OPT_KEEP_BYTES:
        *is = parse_keep_bytes(&p->o->keep_bytes, value);
        return 0;
    case HPX_OPT_WAITLOG:
        *is = parse_waitlog(&p->o->waitlog, value);
        return 0;
    case HPX_OPT_WALL:
        *is = parse_wall(&p->o->wall_ns, value);
        return 0;
    case HPX_OPT_MIN:
        *is = parse_min(&p->o->min, value);
        return 0;
    case HPX_OPT_PATTERNS:
        return parse_patterns(p, (char **)(void *)((char *)p->o + opt->offset), value, opt->def, is);
    case HPX_OPT_CUTOFF:
        *is = parse_cutoff(&p->o->cutoff, value);
        return 0;
    case HPX_OPT_FLAG:
        *is = parse_flag((bool *)((char *)p->o + opt->offset), value);
        return 0;
    case HPX_OPT_CHOICE:
        *is = parse_choice((int *)(void *)((char *)p->o + opt->offset), value, opt->must);
        return 0;
    case HPX_OPT_IGNORED_FLAG:
        *is = parse_flag(NULL, value);
        return 0;
    case HPX_OPT_IGNORED_NUMBER:
        *is = *value ? HPX_OPT_IS_GOOD : HPX_OPT_IS_WRONG;
        return 0;
    case HPX_OPT_REMOVED:
        break;
    }
    return hpx_opt_refuse(p, NULL, "%s", opt->must);
}
