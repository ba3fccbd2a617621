/* SPDX-License-Identifier: BSD-2-Clause */
/* options_values.c: takes over the values of options, a function for every kind of value. */
#include "c_locale.h"
#include "options_internal.h"
#include "patterns.h"

#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

/* Where the option is kept. */
static void *field(const struct hpx_opt_parse *p, const struct hpx_opt *opt)
{
    return (char *)p->o + opt->offset;
}

/* Digits alone; ULONG_MAX: out of range. */
static bool parse_number(unsigned long *n, const char *value)
{
    *n = strtoul(value, NULL, 10);
    return *value && !value[strspn(value, "0123456789")];
}

static bool is_yes_or_no(const char *value)
{
    return !strcmp(value, "y") || !strcmp(value, "n");
}

int hpx_opt_flag(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    *(bool *)field(p, opt) = *value == 'y';
    return is_yes_or_no(value) ? 0 : HPX_OPT_WRONG;
}

int hpx_opt_ignored_flag(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    (void)p, (void)opt;
    return is_yes_or_no(value) ? 0 : HPX_OPT_WRONG;
}

int hpx_opt_ignored_number(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    (void)p, (void)opt;
    return *value ? 0 : HPX_OPT_WRONG;
}

int hpx_opt_removed(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    (void)value;
    return hpx_opt_refuse(p, NULL, "%s", opt->must);
}

int hpx_opt_choice(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    const char *names = opt->must;
    size_t len = strlen(value);
    for (int i = 0; len > 0; i++) {
        size_t n = strcspn(names, "|");
        if (n == len && !strncmp(names, value, n)) {
            *(int *)field(p, opt) = i;
            return 0;
        }
        if (!names[n]) {
            break;
        }
        names += n + 1;
    }
    return HPX_OPT_WRONG;
}

int hpx_opt_waitlog(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    unsigned long n = HPX_OPT_ALL_WAITS; /* also what is out of range */
    bool good = !strcmp(value, "-1") || parse_number(&n, value);
    (void)opt;
    p->o->waitlog = n;
    return good ? 0 : HPX_OPT_WRONG;
}

/* strtol's leading blanks and sign, digits, a fraction. The locale's decimal point must not matter, so not strtod. Rounded up to a
 * nanosecond. */
static bool parse_interval(uint64_t *ns, const char *s)
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
            return false;
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
        return false;
    }
    *ns = sum > HPX_OPT_MAX_INTERVAL_NS ? HPX_OPT_MAX_INTERVAL_NS : sum;
    return true;
}

int hpx_opt_interval(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    (void)opt;
    return parse_interval(&p->o->interval_ns, value) ? 0 : HPX_OPT_WRONG;
}

int hpx_opt_wall(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    uint64_t *ns = &p->o->wall_ns;
    (void)opt;
    if (is_yes_or_no(value)) {
        *ns = *value == 'y' ? HPX_OPT_WALL_NS : 0;
        return 0;
    }
    return parse_interval(ns, value) && *ns >= HPX_OPT_MIN_WALL_NS ? 0 : HPX_OPT_WRONG;
}

struct unit {
    const char *name;
    uint64_t size;
};

/* Digits and a unit, the first one if none is given. NULL: neither. *count: ULONG_MAX if it is out of range. */
static const struct unit *parse_unit(unsigned long *count, const char *value, const struct unit *units, size_t n,
                                     int (*compare)(const char *, const char *))
{
    size_t digits = strspn(value, "0123456789");
    *count = strtoul(value, NULL, 10);
    for (size_t i = 0; digits > 0 && i < n; i++) {
        if (!compare(value + digits, units[i].name)) {
            return &units[i];
        }
    }
    return NULL;
}

/* At most HPX_OPT_MAX_PERIOD_NS. */
static bool parse_time(uint64_t *ns, const char *value)
{
    static const struct unit units[] = {{"", UINT64_C(1000000000)},
                                        {"ms", NS_PER_MS},
                                        {"s", UINT64_C(1000000000)},
                                        {"m", UINT64_C(60000000000)},
                                        {"h", UINT64_C(3600000000000)}};
    unsigned long count;
    const struct unit *u = parse_unit(&count, value, units, HPX_ARRAY_LEN(units), strcmp);
    *ns = u && count < HPX_OPT_MAX_PERIOD_NS / u->size ? count * u->size : HPX_OPT_MAX_PERIOD_NS;
    return u;
}

int hpx_opt_period(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    uint64_t ns = 0;
    bool good = !strcmp(value, "off") || (parse_time(&ns, value) && ns >= HPX_OPT_MIN_PERIOD_NS);
    (void)opt;
    p->o->dump_ns = ns;
    return good ? 0 : HPX_OPT_WRONG;
}

int hpx_opt_maxpause(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    uint64_t ns = 0;
    bool good = !strcmp(value, "off") || parse_time(&ns, value);
    (void)opt;
    p->o->maxpause_ns = ns > 0 ? ns : UINT64_MAX;
    return good ? 0 : HPX_OPT_WRONG;
}

/* Bytes without a unit. 1 to `most`. */
static bool parse_size(uint64_t *bytes, const char *value, uint64_t most)
{
    static const struct unit units[] = {
        {"", 1}, {"k", UINT64_C(1) << 10}, {"m", UINT64_C(1) << 20}, {"g", UINT64_C(1) << 30}, {"t", UINT64_C(1) << 40}};
    unsigned long count;
    const struct unit *u = parse_unit(&count, value, units, HPX_ARRAY_LEN(units), strcasecmp);
    *bytes = u ? count * u->size : 0;
    return u && count >= 1 && count <= most / u->size;
}

int hpx_opt_sample(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    (void)opt;
    if (!parse_size(&p->o->sample_bytes, value, HPX_OPT_MAX_SAMPLE)) {
        return HPX_OPT_WRONG;
    }
    p->o->sites = p->o->sites == HPX_SITES_COUNTS ? HPX_SITES_COUNTS : HPX_SITES_SAMPLED;
    return 0;
}

int hpx_opt_keep_bytes(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    uint64_t bytes = 0;
    bool good = !strcmp(value, "off") || parse_size(&bytes, value, HPX_OPT_MAX_BYTES);
    (void)opt;
    p->o->keep_bytes = bytes;
    return good ? 0 : HPX_OPT_WRONG;
}

int hpx_opt_maxfile(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    uint64_t bytes = strcmp(value, "auto") == 0 ? HPX_OPT_AUTO_BYTES : 0;
    bool good = bytes != 0 || !strcmp(value, "off") || parse_size(&bytes, value, HPX_OPT_MAX_BYTES);
    (void)opt;
    p->o->maxfile = bytes;
    return good ? 0 : HPX_OPT_WRONG;
}

int hpx_opt_keep_files(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    unsigned long n = 0;
    bool good = !strcmp(value, "off") || (parse_number(&n, value) && n >= 1 && n <= HPX_OPT_MAX_KEEP);
    (void)opt;
    p->o->keep_files = (uint32_t)n;
    return good ? 0 : HPX_OPT_WRONG;
}

int hpx_opt_min(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    unsigned long n;
    bool good = parse_number(&n, value) && n <= UINT16_MAX;
    (void)opt;
    p->o->min = (uint32_t)n;
    return good ? 0 : HPX_OPT_WRONG;
}

int hpx_opt_cutoff(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    (void)opt;
    char *end;
    double d = strtod_l(value, &end, hpx_c_locale());
    if (end == value || *end || (!isnan(d) && d < 0)) {
        return HPX_OPT_WRONG;
    }
    p->o->cutoff = d;
    return 0;
}

/* The signals that neither a JVM nor glibc uses itself. */
int hpx_opt_signal(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    static const struct {
        const char *name;
        int number;
    } plain[] = {{"PROF", SIGPROF}, {"VTALRM", SIGVTALRM}, {"USR1", SIGUSR1}, {"RTMIN", 0}};
    (void)opt;
    value += strncmp(value, "SIG", 3) == 0 ? 3 : 0;
    for (size_t i = 0; i < HPX_ARRAY_LEN(plain); i++) {
        if (!strcmp(value, plain[i].name)) {
            p->o->signal = plain[i].number ? plain[i].number : SIGRTMIN;
            return 0;
        }
    }
    const char *digits = strncmp(value, "RTMIN+", 6) == 0 ? value + 6 : "";
    size_t n = strspn(digits, "0123456789");
    if (n == 0 || n > 2 || digits[n] || atoi(digits) > HPX_OPT_MAX_RTSIG) {
        return HPX_OPT_WRONG;
    }
    p->o->signal = SIGRTMIN + atoi(digits);
    return 0;
}

int hpx_opt_depth(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    char *end;
    (void)opt;
    long n = strtol(value, &end, 10); /* out of range: LONG_MAX or LONG_MIN, which the limits refuse */
    if (end == value || *end || n < 0) {
        return HPX_OPT_WRONG;
    }
    if (n > (long)HPX_OPT_MAX_DEPTH) {
        return hpx_opt_refuse(p, NULL, "depth option value must be decimal and 0..%u", HPX_OPT_MAX_DEPTH);
    }
    p->o->depth = (uint32_t)n;
    return 0;
}

int hpx_opt_cpu(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    (void)opt;
    unsigned before = p->source->cpu ? p->o->cpu : HPX_CPU_OFF;
    if (!strcmp(value, "samples") || !strcmp(value, "y")) {
        p->o->cpu = before | HPX_CPU_SAMPLES;
    } else if (!strcmp(value, "times") || !strcmp(value, "old")) {
        p->o->cpu = (before & HPX_CPU_SAMPLES) | (*value == 't' ? HPX_CPU_TIMES : HPX_CPU_OLD);
    } else if (!strcmp(value, "off")) {
        p->o->cpu = HPX_CPU_OFF;
    } else {
        return HPX_OPT_WRONG;
    }
    p->source->cpu = true;
    return 0;
}

int hpx_opt_heap(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    (void)opt;
    bool all = !strcmp(value, "all"), dump = all || !strcmp(value, "dump"), sites = all || !strcmp(value, "sites");
    if (!dump && !sites) {
        return HPX_OPT_WRONG;
    }
    if (!p->source->heap) {
        p->o->heap_dump = p->o->heap_sites = false;
        p->source->heap = true;
    }
    p->o->heap_dump |= dump;
    p->o->heap_sites |= sites;
    return 0;
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
static int set_output(struct hpx_opt_parse *p, char **to, const char *value)
{
    if (p->source->output) {
        return hpx_opt_refuse(p, NULL, "file or net options should only appear once");
    }
    char *copy = strdup(value);
    if (!copy) {
        return hpx_opt_no_memory(p);
    }
    free(p->o->file);
    free(p->o->net);
    p->o->file = p->o->net = NULL;
    *to = copy;
    p->source->output = true;
    return 0;
}

int hpx_opt_file(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    (void)opt;
    return set_output(p, &p->o->file, value);
}

/* net=off takes back net, and names none. */
int hpx_opt_net(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    if (!strcmp(value, opt->def)) {
        free(p->o->net);
        p->o->net = NULL;
        return 0;
    }
    int rc = p->source->output ? 0 : check_net(p, opt, value);
    return rc < 0 ? rc : set_output(p, &p->o->net, value);
}

/* The default's word is no list: include=all is every class. */
int hpx_opt_patterns(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    char **list = field(p, opt), *copy = NULL;
    if (strcmp(value, opt->def) != 0) {
        if (!hpx_patterns_valid(value)) {
            return HPX_OPT_WRONG;
        }
        copy = strdup(value);
        if (!copy) {
            return hpx_opt_no_memory(p);
        }
    }
    free(*list);
    *list = copy;
    return 0;
}

/* The words that `take` knows, joined by '+'. */
static int parse_words(struct hpx_options *o, const char *value, bool (*take)(struct hpx_options *o, const char *word, size_t n))
{
    for (;;) {
        size_t n = strcspn(value, "+");
        if (!take(o, value, n)) {
            return HPX_OPT_WRONG;
        }
        if (value[n] == 0) {
            return 0;
        }
        value += n + 1;
    }
}

static bool is_word(const char *at, size_t n, const char *word)
{
    return strlen(word) == n && strncmp(at, word, n) == 0;
}

static bool take_heapdump(struct hpx_options *o, const char *word, size_t n)
{
    if (is_word(word, n, "oom")) {
        o->heapdump_oom = true;
        return true;
    }
    o->heapdump = is_word(word, n, "fork") ? HPX_HEAPDUMP_FORK : is_word(word, n, "walk") ? HPX_HEAPDUMP_WALK : HPX_HEAPDUMP_AUTO;
    return o->heapdump != HPX_HEAPDUMP_AUTO || is_word(word, n, "auto");
}

int hpx_opt_heapdump(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    (void)opt;
    p->o->heapdump = HPX_HEAPDUMP_AUTO;
    p->o->heapdump_oom = false;
    return parse_words(p->o, value, take_heapdump);
}

static bool take_redact(struct hpx_options *o, const char *word, size_t n)
{
    unsigned bit = is_word(word, n, "arrays")    ? HPX_REDACT_ARRAYS
                   : is_word(word, n, "fields")  ? HPX_REDACT_FIELDS
                   : is_word(word, n, "strings") ? HPX_REDACT_STRINGS
                                                 : 0;
    o->redact |= bit;
    return bit != 0;
}

int hpx_opt_redact(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    (void)opt;
    p->o->redact = 0;
    return !strcmp(value, "off") ? 0 : parse_words(p->o, value, take_redact);
}

int hpx_opt_format(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    (void)opt;
    p->o->binary = *value == 'b';
    return !strcmp(value, "a") || !strcmp(value, "b") ? 0 : HPX_OPT_WRONG;
}

int hpx_opt_idsize(struct hpx_opt_parse *p, const struct hpx_opt *opt, const char *value)
{
    (void)opt;
    p->o->idsize = *value == '4' ? 4 : 8;
    return !strcmp(value, "4") || !strcmp(value, "8") ? 0 : HPX_OPT_WRONG;
}
