/* SPDX-License-Identifier: BSD-2-Clause */
/* ship_options.c: the command lines of `hprofx ship` and `hprofx watch`. */
#include "asked.h"
#include "ship.h"
#include "units.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parse {
    struct hpx_ship_asked *a;
    struct hpx_http_how how; /* for the next destination */
    struct hpx_arguments *args;
};

static int wrong(const struct parse *p, const char *why)
{
    return hpx_arguments_misuse(p->args, "%s", why);
}

static int word(struct parse *p, const char *text)
{
    static const char net[] = "net:";
    struct hpx_ship_asked *a = p->a;
    if (hpx_dest_is_url(text)) {
        if (a->ndests == HPX_SHIP_MOST) {
            return wrong(p, "too many destinations");
        }
        for (size_t i = 0; i < a->ndests; i++) {
            if (strcmp(a->dests[i].url, text) == 0) {
                return wrong(p, "a destination is given twice"); /* both would write to one spool */
            }
        }
        a->dests[a->ndests++] = (struct hpx_dest_asked){text, p->how};
        p->how = (struct hpx_http_how){0};
        return -1;
    }
    if (strncmp(text, net, sizeof net - 1) == 0 && !a->watches) {
        if (a->receive != NULL) {
            return wrong(p, "net:HOST:PORT can be given once");
        }
        a->receive = text + sizeof net - 1;
        return -1;
    }
    if (a->watches || strstr(text, "://") != NULL) {
        return wrong(p, a->watches ? "watch takes destinations alone, as otlp:http://localhost:4318"
                                   : "a destination begins with its kind: otlp:, clickhouse:, pyroscope: or pprof:");
    }
    if (a->nfolders == HPX_SHIP_MOST) {
        return wrong(p, "too many folders");
    }
    a->folders[a->nfolders++] = text;
    return -1;
}

static int seconds(const struct parse *p, double *to)
{
    *to = hpx_seconds_of(p->args->value);
    return *to > 0 ? -1 : wrong(p, "times are like 30s, 2m, 500ms");
}

static int percent(const struct parse *p, double *to)
{
    char *end;
    const char *value = p->args->value;
    *to = strtod(value, &end);
    bool plain = end != value && end == value + strspn(value, "0123456789."); /* not "nan", "0x1", "1.2.3" */
    return plain && (*end == '\0' || strcmp(end, "%") == 0) && *to > 0 && *to <= 100 ? -1
                                                                                     : wrong(p, "percents are above 0 and at most 100");
}

static int watch_option(const struct parse *p, enum hpx_option_id option)
{
    struct hpx_watch_asked *w = &p->a->watch;
    switch (option) {
    case HPX_O_MATCH:
        w->match = p->args->value;
        return -1;
    case HPX_O_EVERY:
        return seconds(p, &w->every);
    case HPX_O_FOR:
        return seconds(p, &w->during);
    case HPX_O_SHARE:
        return percent(p, &w->share);
    case HPX_O_BUDGET:
        return percent(p, &w->budget);
    case HPX_O_AGENT:
        w->agent = p->args->value;
        return -1;
    default: /* HPX_O_EVENT */
        w->what = p->args->value;
        return hpx_asked_kind(w->what) != NULL ? -1 : wrong(p, "-e wants cpu, wall, times, calls, alloc, live, lock or all");
    }
}

/* Where an option of text goes; NULL: it is none. */
static const char **text_of(struct parse *p, enum hpx_option_id option)
{
    return option == HPX_O_HEADERS   ? &p->how.headers
           : option == HPX_O_CA      ? &p->how.ca
           : option == HPX_O_CERT    ? &p->how.cert
           : option == HPX_O_KEY     ? &p->how.key
           : option == HPX_O_SPOOL   ? &p->a->spool
           : option == HPX_O_LISTEN  ? &p->a->listen
           : option == HPX_O_SERVICE ? &p->a->service
                                     : NULL;
}

static int take(struct parse *p, enum hpx_option_id option)
{
    const char **text = text_of(p, option);
    switch (option) {
    case HPX_O_SPOOL_BYTES:
        p->a->spool_bytes = hpx_bytes_of(p->args->value);
        return p->a->spool_bytes > 0 ? -1 : wrong(p, "sizes are like 64k, 256m, 2g");
    case HPX_O_BATCH:
        return seconds(p, &p->a->batch);
    case HPX_O_WAIT:
        return seconds(p, &p->a->wait);
    case HPX_O_LISTEN_ANYWHERE:
        p->a->anywhere = true;
        return -1;
    case HPX_O_REMOVE:
        p->a->removes = true;
        return -1;
    case HPX_O_ONCE:
        p->a->once = true;
        return -1;
    default:
        if (text == NULL) {
            return watch_option(p, option);
        }
        *text = p->args->value;
        return -1;
    }
}

static int complete(const struct parse *p)
{
    const struct hpx_ship_asked *a = p->a;
    if (a->receive != NULL && a->once) {
        return wrong(p, "--once takes folders, and no net:HOST:PORT, to which agents send at any time");
    }
    if (!a->watches && a->nfolders == 0 && a->receive == NULL) {
        return wrong(p, "ship needs a folder with profiles, or net:HOST:PORT");
    }
    if (a->ndests == 0 && a->listen == NULL) {
        return wrong(p, "no destination is given, as otlp:http://localhost:4318, and no --listen");
    }
    if (p->how.headers != NULL || p->how.ca != NULL || p->how.cert != NULL || p->how.key != NULL) {
        return wrong(p, "--headers, --ca, --cert and --key stand before the destination that they are for");
    }
    return -1;
}

int hpx_ship_options(struct hpx_arguments *args, struct hpx_ship_asked *a)
{
    struct parse p = {.a = a, .args = args};
    *a = (struct hpx_ship_asked){.watches = strcmp(args->verb->name, "watch") == 0, .spool_bytes = 256 << 20, .batch = 10, .wait = 30};
    for (int next, status; (next = hpx_arguments_next(args)) != HPX_ARGUMENTS_LAST;) {
        status = next == HPX_ARGUMENTS_ENDS   ? args->status
                 : next == HPX_ARGUMENTS_WORD ? word(&p, args->value)
                                              : take(&p, (enum hpx_option_id)next);
        if (status >= 0) {
            return status;
        }
    }
    return complete(&p);
}

bool hpx_ship_spool(char *to, size_t size)
{
    const char *state = getenv("STATE_DIRECTORY"), *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = state != NULL && state[0] == '/' ? snprintf(to, size, "%.*s", (int)strcspn(state, ":"), state)
            : xdg != NULL && xdg[0] == '/'   ? snprintf(to, size, "%s/hprofx", xdg)
            : home != NULL && home[0] == '/' ? snprintf(to, size, "%s/.local/state/hprofx", home)
                                             : 0;
    return n > 0 && (size_t)n < size;
}
