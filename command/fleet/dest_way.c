/* SPDX-License-Identifier: BSD-2-Clause */
/* dest_way.c: the parts of dest.h without effects: what a URL asks for, and what an answer means. */
#include "dest.h"
#include "protobuf.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MOST_URL 1500 /* with columns and path it fits a request */

static const struct kind {
    const char *name, *path, *headers[3];
    enum hpx_engine engine;
} kinds[] = {
    {"otlp:", "/v1development/profiles", {"Content-Type: application/x-protobuf", "Content-Encoding: gzip"}, HPX_OTLP},
    {"clickhouse:", NULL, {"Content-Type: application/octet-stream", "Content-Encoding: gzip"}, HPX_CLICKHOUSE},
    {"pyroscope:", "/push.v1.PusherService/Push", {"Content-Type: application/proto"}, HPX_PYROSCOPE},
};

static const char folder[] = "pprof:";

static const struct kind *kind_of(const char *url)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(kinds); i++) {
        if (strncmp(url, kinds[i].name, strlen(kinds[i].name)) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

bool hpx_dest_is_url(const char *word)
{
    return kind_of(word) != NULL || strncmp(word, folder, sizeof folder - 1) == 0;
}

/* DATABASE.TABLE or TABLE: letters, digits and _, so that nothing needs quotes. */
static bool table_is_plain(const char *name, size_t n)
{
    size_t dots = 0;
    for (size_t i = 0; i < n; i++) {
        dots += name[i] == '.';
        if (name[i] == '.' ? i == 0 || i + 1 == n : !isalnum((unsigned char)name[i]) && name[i] != '_') {
            return false;
        }
    }
    return n > 0 && dots <= 1;
}

/* The columns with %20 for blanks; a comma may stand in a query. */
static void put_columns(char *to, size_t size)
{
    size_t at = 0;
    for (const char *c = HPX_BATCH_COLUMNS; *c != '\0' && at + 4 < size; c++) {
        if (*c != ' ') {
            to[at++] = *c;
        }
    }
    to[at] = '\0';
}

static bool clickhouse(struct hpx_dest_way *way, const char *http, const char *host, struct hpx_err *err)
{
    char columns[256];
    size_t server = strcspn(host, "/?#"), table = 0;
    const char *query = strchr(host, '?'), *path = host + server;
    table = *path == '/' ? strcspn(path + 1, "?#") : 0;
    if (!table_is_plain(path + 1, table)) {
        (void)hpx_err_set(err, HPX_E_OPT,
                          "clickhouse: wants a table behind the host, as in clickhouse:http://localhost:8123/hprofx.profiles");
        return false;
    }
    put_columns(columns, sizeof columns);
    int n = snprintf(way->request, sizeof way->request, "%.*s/?query=INSERT%%20INTO%%20%.*s%%20(%s)%%20FORMAT%%20RowBinary%s%s",
                     (int)(host + server - http), http, (int)table, path + 1, columns, query != NULL ? "&" : "",
                     query != NULL ? query + 1 : "");
    (void)snprintf(way->label, sizeof way->label, "clickhouse:%.*s/%.*s", (int)server, host, (int)table, path + 1);
    return n > 0 && (size_t)n < sizeof way->request;
}

/* What may stand in a request: no blanks, no controls, nothing beyond ASCII. */
static bool is_plain(const char *url)
{
    while (*url > ' ' && *url < 0x7f) {
        url++;
    }
    return *url == '\0';
}

static bool engine(const struct kind *k, const char *url, struct hpx_dest_way *way, struct hpx_err *err)
{
    const char *http = url + strlen(k->name), *host = strstr(http, "://");
    bool spoken = strncmp(http, "http://", 7) == 0 || strncmp(http, "https://", 8) == 0;
    host = spoken ? host + 3 : NULL;
    size_t server = spoken ? strcspn(host, "/?#") : 0;
    if (strlen(url) > MOST_URL || !is_plain(url)) {
        (void)hpx_err_set(err, HPX_E_OPT, "%s: a URL has at most %d characters of ASCII, without blanks", url, MOST_URL);
        return false;
    }
    if (server == 0) {
        (void)hpx_err_set(err, HPX_E_OPT, "%s: after %s comes http:// or https:// and a host", url, k->name);
        return false;
    }
    if (memchr(host, '@', server) != NULL) {
        (void)hpx_err_set(err, HPX_E_OPT, "a URL may not hold a password, which everybody on this machine could see; use --headers FILE");
        return false;
    }
    way->engine = k->engine;
    memcpy(way->headers, k->headers, sizeof way->headers);
    if (k->path == NULL) {
        return clickhouse(way, http, host, err);
    }
    const char *path = host + server, *query = path + (*path == '/');
    bool bare = *query == '\0' || *query == '?' || *query == '#';
    (void)snprintf(way->request, sizeof way->request, "%.*s%s%s", (int)(path - http), http, bare ? k->path : "", bare ? query : path);
    (void)snprintf(way->label, sizeof way->label, "%s%.*s", k->name, (int)server, host);
    return true;
}

bool hpx_dest_way(const char *url, struct hpx_dest_way *way, struct hpx_err *err)
{
    const struct kind *k = kind_of(url);
    memset(way, 0, sizeof *way);
    if (k != NULL) {
        return engine(k, url, way, err);
    }
    if (strncmp(url, folder, sizeof folder - 1) != 0 || url[sizeof folder - 1] == '\0') {
        (void)hpx_err_set(err, HPX_E_OPT, "%s: a destination is otlp:URL, clickhouse:URL, pyroscope:URL or pprof:FOLDER", url);
        return false;
    }
    way->folder = url + sizeof folder - 1;
    (void)snprintf(way->label, sizeof way->label, "%s", url);
    return true;
}

enum hpx_dest_fate hpx_dest_fate(long status)
{
    return status >= 200 && status < 300                     ? HPX_DEST_TAKEN
           : status == 400 || status == 413 || status == 422 ? HPX_DEST_REFUSED
                                                             : HPX_DEST_AGAIN;
}

static void take_partial(struct hpx_dest_partial *p, struct hpx_pb_in m)
{
    struct hpx_pb_field f;
    while (hpx_pb_next(&m, &f)) {
        if (f.number == 1 && !f.is_bytes) {
            p->rejected = f.v <= INT64_MAX ? f.v : 0;
        } else if (f.number == 2 && f.is_bytes) {
            size_t n = (size_t)(f.bytes.end - f.bytes.at);
            n = n < sizeof p->why ? n : sizeof p->why - 1;
            for (size_t i = 0; i < n; i++) {
                p->why[i] = (char)(f.bytes.at[i] >= ' ' && f.bytes.at[i] < 0x7f ? f.bytes.at[i] : '?');
            }
            p->why[n] = '\0';
        }
    }
}

struct hpx_dest_partial hpx_dest_partial(const void *body, size_t n)
{
    struct hpx_dest_partial p = {.why = ""};
    struct hpx_pb_in m = {.at = body, .end = (const uint8_t *)body + n};
    struct hpx_pb_field f;
    while (hpx_pb_next(&m, &f)) {
        if (f.number == 1 && f.is_bytes) {
            take_partial(&p, f.bytes);
        }
    }
    return m.broken ? (struct hpx_dest_partial){.why = ""} : p;
}

uint64_t hpx_dest_pause(unsigned retry_after, unsigned failures, double chance)
{
    uint64_t pause = (uint64_t)retry_after * 1000;
    if (pause == 0) {
        pause = failures < 7 ? (uint64_t)1000 << (failures > 0 ? failures - 1 : 0) : 60000;
        pause = pause < 60000 ? pause : 60000;
        return (uint64_t)((double)pause * (0.5 + chance)); /* half of it to one and a half */
    }
    return pause + (uint64_t)(chance * 1000); /* never before it was asked for */
}
