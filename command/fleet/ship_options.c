/* SPDX-License-Identifier: BSD-2-Clause */
/* ship_options.c: the command lines of `hprofx ship` and `hprofx watch`. */
#include "asked.h"
#include "outfile.h"
#include "ship.h"
#include "units.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ship_usage[] =
    "usage: hprofx ship [OPTIONS] SOURCE... DESTINATION...       send profiles of agents: a SOURCE is a folder into which they\n"
    "                                                            write, or net:HOST:PORT, to which they send by net=\n"
    "       hprofx watch [OPTIONS] DESTINATION...                profile the JVMs of this host as they come, and send that\n"
    "A DESTINATION is\n"
    "  otlp:http://HOST:4318                     OpenTelemetry Collector, or another that takes OTLP profiles\n"
    "  clickhouse:http://HOST:8123/DB.TABLE      ClickHouse (docs/sql/schema.sql makes the table)\n"
    "  pyroscope:http://HOST:4040                Pyroscope\n"
    "  pprof:FOLDER                              a file of pprof for each profile\n"
    "  --headers FILE, --ca FILE, --cert FILE, --key FILE   for the next DESTINATION: lines of HTTP headers, as\n"
    "                         \"Authorization: Bearer ...\"; certificates that are trusted; our certificate and its key\n"
    "  --spool FOLDER         where profiles wait for a destination ($STATE_DIRECTORY, ~/.local/state/hprofx)\n"
    "  --spool-bytes SIZE     limit for each destination; beyond it the oldest profiles are dropped (256m)\n"
    "  --batch TIME           collect profiles for TIME, then send them together (10s)\n"
    "  --listen WHERE         answer /metrics, /debug/pprof/profile and /debug/pprof/heap at unix:PATH or 127.0.0.1:PORT\n"
    "  --listen-anywhere      WHERE, and HOST of net:, may be another address than this machine's own\n"
    "  --service NAME         name of the service, in place of the name in the profile\n"
    "  --remove               remove files that were sent\n"
    "  --once                 send what is there, wait at most --wait TIME (30s) for the destinations, and end\n"
    "For watch:\n"
    "  --match PATTERN        JVMs with this word in their command line, or of which the main class fits a pattern like '*Server'\n"
    "  --every TIME           write a profile of each JVM every TIME (60s)\n"
    "  --for TIME             profile only TIME of every --every (all of it)\n"
    "  --share PERCENT        profile on PERCENT of the hosts, always the same ones (100)\n"
    "  --budget PERCENT       of the CPU time of this host; above it JVMs are left alone (1)\n"
    "  -e WHAT                cpu, wall, times, alloc, live, lock or all (CPU and sampled allocations)\n"
    "  --agent FILE           another file of the library\n"
    "A profile is sent at least once: after a crash perhaps twice, with the same id.\n"
    "Status: 0 ok, 1 failed, 2 usage, 6 something was not sent in time (--once).\n";

enum {
    OPT_HEADERS = 256,
    OPT_CA,
    OPT_CERT,
    OPT_KEY,
    OPT_SPOOL,
    OPT_SPOOL_BYTES,
    OPT_BATCH,
    OPT_WAIT,
    OPT_LISTEN,
    OPT_ANYWHERE,
    OPT_SERVICE,
    OPT_REMOVE,
    OPT_ONCE,
    OPT_WATCH, /* those from here on are for watch */
    OPT_MATCH = OPT_WATCH,
    OPT_EVERY,
    OPT_FOR,
    OPT_SHARE,
    OPT_BUDGET,
    OPT_AGENT
};

static const struct option options[] = {{"headers", required_argument, NULL, OPT_HEADERS},
                                        {"ca", required_argument, NULL, OPT_CA},
                                        {"cert", required_argument, NULL, OPT_CERT},
                                        {"key", required_argument, NULL, OPT_KEY},
                                        {"spool", required_argument, NULL, OPT_SPOOL},
                                        {"spool-bytes", required_argument, NULL, OPT_SPOOL_BYTES},
                                        {"batch", required_argument, NULL, OPT_BATCH},
                                        {"wait", required_argument, NULL, OPT_WAIT},
                                        {"listen", required_argument, NULL, OPT_LISTEN},
                                        {"listen-anywhere", no_argument, NULL, OPT_ANYWHERE},
                                        {"service", required_argument, NULL, OPT_SERVICE},
                                        {"remove", no_argument, NULL, OPT_REMOVE},
                                        {"once", no_argument, NULL, OPT_ONCE},
                                        {"match", required_argument, NULL, OPT_MATCH},
                                        {"every", required_argument, NULL, OPT_EVERY},
                                        {"for", required_argument, NULL, OPT_FOR},
                                        {"share", required_argument, NULL, OPT_SHARE},
                                        {"budget", required_argument, NULL, OPT_BUDGET},
                                        {"agent", required_argument, NULL, OPT_AGENT},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

struct parse {
    struct hpx_ship_asked *a;
    struct hpx_http_how how; /* for the next destination */
    const char *verb;
};

static int wrong(const struct parse *p, const char *why)
{
    hpx_misuse(p->verb, why);
    return HPX_USAGE;
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
    *to = hpx_seconds_of(optarg);
    return *to > 0 ? -1 : wrong(p, "times are like 30s, 2m, 500ms");
}

static int percent(const struct parse *p, double *to)
{
    char *end;
    *to = strtod(optarg, &end);
    bool plain = end != optarg && end == optarg + strspn(optarg, "0123456789."); /* not "nan", "0x1", "1.2.3" */
    return plain && (*end == '\0' || strcmp(end, "%") == 0) && *to > 0 && *to <= 100 ? -1
                                                                                     : wrong(p, "percents are above 0 and at most 100");
}

static int watch_option(struct parse *p, int opt)
{
    struct hpx_watch_asked *w = &p->a->watch;
    switch (opt) {
    case OPT_MATCH:
        w->match = optarg;
        return -1;
    case OPT_EVERY:
        return seconds(p, &w->every);
    case OPT_FOR:
        return seconds(p, &w->during);
    case OPT_SHARE:
        return percent(p, &w->share);
    case OPT_BUDGET:
        return percent(p, &w->budget);
    case OPT_AGENT:
        w->agent = optarg;
        return -1;
    default:
        w->what = optarg;
        return hpx_asked_kind(w->what) != NULL ? -1 : wrong(p, "-e wants cpu, wall, times, alloc, live, lock or all");
    }
}

static int text_option(struct parse *p, int opt)
{
    const char **to = opt == OPT_HEADERS   ? &p->how.headers
                      : opt == OPT_CA      ? &p->how.ca
                      : opt == OPT_CERT    ? &p->how.cert
                      : opt == OPT_KEY     ? &p->how.key
                      : opt == OPT_SPOOL   ? &p->a->spool
                      : opt == OPT_LISTEN  ? &p->a->listen
                      : opt == OPT_SERVICE ? &p->a->service
                                           : NULL;
    if (to == NULL) {
        return HPX_USAGE; /* getopt has said what is wrong */
    }
    *to = optarg;
    return -1;
}

static int take(struct parse *p, int opt)
{
    switch (opt) {
    case 1:
        return word(p, optarg);
    case 'h':
        (void)fputs(ship_usage, stdout);
        return HPX_OK;
    case OPT_SPOOL_BYTES:
        p->a->spool_bytes = hpx_bytes_of(optarg);
        return p->a->spool_bytes > 0 ? -1 : wrong(p, "sizes are like 64k, 256m, 2g");
    case OPT_BATCH:
        return seconds(p, &p->a->batch);
    case OPT_WAIT:
        return seconds(p, &p->a->wait);
    case OPT_ANYWHERE:
        p->a->anywhere = true;
        return -1;
    case OPT_REMOVE:
        p->a->removes = true;
        return -1;
    case OPT_ONCE:
        p->a->once = true;
        return -1;
    default:
        return opt == 'e' || opt >= OPT_WATCH ? watch_option(p, opt) : text_option(p, opt);
    }
}

static int complete(const struct parse *p, bool of_watch)
{
    const struct hpx_ship_asked *a = p->a;
    if (!a->watches && of_watch) {
        return wrong(p, "this option is one of hprofx watch");
    }
    if (a->receive != NULL && a->once) {
        return wrong(p, "--once takes folders, and no net:HOST:PORT, to which agents send at any time");
    }
    if (a->watches && (a->once || a->removes)) {
        return wrong(p, "watch takes neither --once nor --remove");
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

int hpx_ship_options(int argc, char **argv, struct hpx_ship_asked *a)
{
    struct parse p = {.a = a, .verb = argv[0]};
    int status = -1;
    bool of_watch = false;
    *a = (struct hpx_ship_asked){.watches = strcmp(argv[0], "watch") == 0, .spool_bytes = 256 << 20, .batch = 10, .wait = 30};
    for (int opt; status < 0 && (opt = getopt_long(argc, argv, "-e:h", options, NULL)) != -1;) { /* "-": in any order */
        of_watch = of_watch || (opt >= OPT_WATCH && opt <= OPT_AGENT) || opt == 'e';
        status = take(&p, opt);
    }
    for (; status < 0 && optind < argc; optind++) { /* behind "--" */
        status = word(&p, argv[optind]);
    }
    return status < 0 ? complete(&p, of_watch) : status;
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
