/* SPDX-License-Identifier: BSD-2-Clause */
/* select.c: see select.h. Words of the user stand in SQL as quoted literals and names alone: old servers have no parameters. */
#include "select.h"
#include "compiler.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME "clickhouse:"

enum key { SERVICE, VERSION, HOST, CONTAINER, KIND, PID, FROM, TO, KEYS };
static const char *const keys[KEYS] = {"service", "version", "host", "container", "kind", "pid", "from", "to"};

long long hpx_select_time(const char *text, time_t now)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};
    static const char units[] = "smhd";
    static const long long seconds[] = {1, 60, 3600, 86400};
    char *end;
    long long at = -1, n = strtoll(text + (text[0] == '-'), &end, 10);
    bool digits = isdigit((unsigned char)text[text[0] == '-']) && n <= UINT32_MAX;
    const char *unit = *end != '\0' && end[1] == '\0' ? strchr(units, *end) : NULL;
    if (digits && text[0] == '-' && unit != NULL) {
        at = (long long)now - n * seconds[unit - units];
    } else if (digits && text[0] != '-' && *end == '\0') {
        at = n;
    } else {
        for (size_t i = 0; i < HPX_ARRAY_LEN(forms) && at < 0; i++) {
            struct tm tm = {.tm_isdst = -1};
            const char *rest = strptime(text, forms[i], &tm);
            bool utc = rest != NULL && strcmp(rest, "Z") == 0;
            at = utc ? timegm(&tm) : rest != NULL && *rest == '\0' ? mktime(&tm) : -1;
        }
    }
    return at >= 0 && at <= UINT32_MAX ? at : -1;
}

/* ---- words ---- */

static unsigned hex(char c)
{
    unsigned char digit = (unsigned char)c;
    return isdigit(digit) ? digit - (unsigned)'0' : (unsigned)tolower(digit) - (unsigned)'a' + 10;
}

/* Decodes %XX in place, from `n` bytes at `at`; the length. */
static size_t decode(char *at, size_t n)
{
    size_t to = 0;
    for (size_t i = 0; i < n; i++) {
        char c = at[i];
        if (c == '%' && i + 2 < n && isxdigit((unsigned char)at[i + 1]) && isxdigit((unsigned char)at[i + 2])) {
            c = (char)(unsigned char)(hex(at[i + 1]) << 4 | hex(at[i + 2]));
            i += 2;
        }
        at[to++] = c;
    }
    return to;
}

/* Between quotes of that kind. What is no plain character there is an escape, so nothing ends the literal. */
static void quoted(FILE *to, char quote, const char *text, size_t n)
{
    (void)fputc(quote, to);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c == '\'' || c == '\\' || c == '`' || c == 0x7F) {
            (void)fprintf(to, "\\x%02X", c);
        } else {
            (void)fputc(c, to);
        }
    }
    (void)fputc(quote, to);
}

/* ---- the conditions ---- */

struct value {
    enum key key;
    char *text; /* into the copy of the URL, decoded and terminated; a zero in it is part of it */
    size_t n;
};

struct wanted {
    struct value *values;
    size_t n;
};

static bool is_number(const struct value *v)
{
    return v->n > 0 && v->n < 11 && strspn(v->text, "0123456789") == v->n;
}

static int take(struct wanted *w, char *word, time_t now, struct hpx_err *err)
{
    char *equals = strchr(word, '=');
    struct value *v = &w->values[w->n];
    *v = (struct value){.key = KEYS};
    for (enum key k = 0; k < KEYS && equals != NULL; k++) {
        v->key = strncmp(word, keys[k], (size_t)(equals - word)) == 0 && keys[k][equals - word] == '\0' ? k : v->key;
    }
    if (v->key == KEYS) {
        return hpx_err_set(err, HPX_E_OPT,
                           "unknown key in the URL: %s; the keys are service, version, host, container, kind, pid, from and to", word);
    }
    v->text = equals + 1;
    v->n = decode(v->text, strlen(v->text));
    v->text[v->n] = '\0';
    bool time = v->key == FROM || v->key == TO;
    if (time && (strlen(v->text) != v->n || hpx_select_time(v->text, now) < 0)) {
        return hpx_err_set(err, HPX_E_OPT, "%s=%s is not a time; use -1h, 2026-11-25T10:00 or seconds since 1970", keys[v->key], v->text);
    }
    if (v->key == PID && !is_number(v)) {
        return hpx_err_set(err, HPX_E_OPT, "pid=%s is not a number", v->text);
    }
    w->n++;
    return 0;
}

static void condition(FILE *to, const struct wanted *w, enum key key)
{
    bool open = false;
    for (size_t i = 0; i < w->n; i++) {
        const struct value *v = &w->values[i];
        if (v->key != key) {
            continue;
        }
        if (open) {
            (void)fputs(", ", to);
        } else {
            (void)fprintf(to, " AND %s IN (", keys[key]);
        }
        open = true;
        if (key == PID) {
            (void)fputs(v->text, to);
        } else {
            quoted(to, '\'', v->text, v->n);
        }
    }
    (void)fputs(open ? ")" : "", to);
}

static void conditions(FILE *to, const struct wanted *w, time_t now)
{
    (void)fputs(" WHERE 1", to);
    for (enum key k = 0; k < FROM; k++) {
        condition(to, w, k);
    }
    for (size_t i = 0; i < w->n; i++) {
        if (w->values[i].key == FROM || w->values[i].key == TO) {
            (void)fprintf(to, " AND ts %s toDateTime(%lld)", w->values[i].key == FROM ? ">=" : "<",
                          hpx_select_time(w->values[i].text, now));
        }
    }
}

/* ---- the queries ---- */

/* `DATABASE`.`TABLE`, or the table alone. */
static void table(FILE *to, const char *name)
{
    const char *dot = strchr(name, '.');
    if (dot != NULL) {
        quoted(to, '`', name, (size_t)(dot - name));
        (void)fputc('.', to);
        name = dot + 1;
    }
    quoted(to, '`', name, strlen(name));
}

/* What lived at the time of a profile: sums over time mean nothing. */
#define LIVE "('inuse_objects', 'inuse_space', 'heap_objects', 'heap_space')"

/* Rows that came twice have the same profile and number. Inner names differ from the columns, which old servers would mix up in WHERE. */
static void sums(FILE *to, const char *from, bool live, uint64_t step)
{
    (void)fprintf(to, "SELECT toString(k), s, sum(v), %s FROM (SELECT profile, row, any(kind) AS k, any(stack) AS s, any(value) AS v",
                  step > 0 ? "min(b) * 1000, max(b * 1000 + d)" : "toUInt64(0), toUInt64(0)");
    (void)fputs(step > 0 ? ", any(toUInt64(toUnixTimestamp(ts))) AS b, any(duration_ms) AS d" : "", to);
    (void)fprintf(to, "%s AND kind %s " LIVE, from, live ? "IN" : "NOT IN");
    if (live) { /* GLOBAL, for a table that is spread over servers */
        (void)fprintf(to,
                      " AND (profile, kind) GLOBAL IN (SELECT argMax(profile, ts), kind%s AND kind IN " LIVE
                      " GROUP BY service, host, container, pid, kind)",
                      from);
    }
    (void)fputs(" GROUP BY profile, row) GROUP BY k, s", to);
    if (step > 0) {
        (void)fprintf(to, ", intDiv(b, %" PRIu64 ")", step);
    }
}

char *hpx_select_rows(const struct hpx_select *s, uint64_t step)
{
    size_t n;
    char *rows = NULL;
    FILE *to = open_memstream(&rows, &n);
    if (to == NULL) {
        return NULL;
    }
    sums(to, s->from, false, step);
    (void)fputs(" UNION ALL ", to);
    sums(to, s->from, true, 0);
    (void)fputs(" FORMAT RowBinary", to);
    if (fclose(to) != 0) {
        free(rows);
        rows = NULL;
    }
    return rows;
}

static bool write_queries(struct hpx_select *s, const char *name, const struct wanted *w, time_t now)
{
    size_t n;
    FILE *to = open_memstream(&s->from, &n);
    if (to == NULL) {
        return false;
    }
    (void)fputs(" FROM ", to);
    table(to, name);
    conditions(to, w, now);
    return fclose(to) == 0 && asprintf(&s->facts,
                                       "SELECT toUInt64(count()), toUInt64(min(toUnixTimestamp(ts))) * 1000, "
                                       "max(toUInt64(toUnixTimestamp(ts)) * 1000 + duration_ms)%s FORMAT RowBinary",
                                       s->from) >= 0;
}

static int parse(struct hpx_select *s, char *copy, struct wanted *w, time_t now, struct hpx_err *err)
{
    char *question = strchr(copy, '?'), *rest = question != NULL ? question + 1 : NULL, *host = strstr(copy, "://");
    if (question != NULL) {
        *question = '\0';
    }
    while (rest != NULL) {
        char *word = strsep(&rest, "&");
        if (word[0] != '\0' && take(w, word, now, err) != 0) {
            return -HPX_E_OPT;
        }
    }
    char *slash = host != NULL ? strrchr(host + 3, '/') : NULL;
    if (slash == NULL || slash == host + 3 || slash[1] == '\0') {
        return hpx_err_set(err, HPX_E_OPT, "%s%s is not clickhouse:http://HOST:8123/DATABASE.TABLE", SCHEME, copy);
    }
    *slash = '\0';
    slash[1 + decode(slash + 1, strlen(slash + 1))] = '\0';
    bool made = asprintf(&s->url, "%s/?wait_end_of_query=1", copy) >= 0; /* else an error could come in the middle of the rows */
    s->url = made ? s->url : NULL;
    return made && write_queries(s, slash + 1, w, now) ? 0 : hpx_err_set(err, HPX_E_NOMEM, "no memory");
}

int hpx_select_parse(struct hpx_select *s, const char *url, time_t now, struct hpx_err *err)
{
    *s = (struct hpx_select){NULL, NULL, NULL};
    if (strncmp(url, SCHEME, strlen(SCHEME)) != 0) {
        return hpx_err_set(err, HPX_E_OPT, "%s is not clickhouse:http://HOST:8123/DATABASE.TABLE", url);
    }
    char *copy = strdup(url + strlen(SCHEME));
    struct wanted w = {copy != NULL ? calloc(strlen(copy) + 1, sizeof *w.values) : NULL, 0};
    int rc = w.values != NULL ? parse(s, copy, &w, now, err) : hpx_err_set(err, HPX_E_NOMEM, "no memory");
    free(w.values);
    free(copy);
    return rc;
}

void hpx_select_fini(struct hpx_select *s)
{
    free(s->url);
    free(s->facts);
    free(s->from);
}
