/* SPDX-License-Identifier: BSD-2-Clause */
/* engine.h: profiles that an engine keeps, where a command takes a file. hprofx-ship asks for them, in a process of its own: this program
 * loads no libcurl. One thread. */
#ifndef HPX_COMMAND_ENGINE_H
#define HPX_COMMAND_ENGINE_H

#include "status.h"
#include <stdbool.h>

/* Files of hprofx fetch; NULL: none. */
struct hpx_engine_how {
    const char *headers, *ca, *cert, *key;
};

/* For getopt_long(), and what takes them. false: another option. */
#define HPX_ENGINE_OPTIONS                                                                                                                 \
    {"headers", required_argument, NULL, HPX_ENGINE_HEADERS}, {"ca", required_argument, NULL, HPX_ENGINE_CA},                              \
        {"cert", required_argument, NULL, HPX_ENGINE_CERT},                                                                                \
    {                                                                                                                                      \
        "key", required_argument, NULL, HPX_ENGINE_KEY                                                                                     \
    }
enum { HPX_ENGINE_HEADERS = 512, HPX_ENGINE_CA, HPX_ENGINE_CERT, HPX_ENGINE_KEY };
bool hpx_engine_option(struct hpx_engine_how *how, int opt, const char *value);
/* The lines of a help that tell them. */
#define HPX_ENGINE_HELP                                                                                                                    \
    "  --headers FILE   for a URL: lines of HTTP headers, such as X-ClickHouse-Key: PASSWORD. FILE needs mode 600\n"                       \
    "  --ca FILE        trust these certificates instead of the system's\n"                                                                \
    "  --cert FILE      client certificate\n"                                                                                              \
    "  --key FILE       private key of the client certificate\n"

/* The word is a URL of an engine: clickhouse:http://... */
bool hpx_engine_is(const char *word);
/* A file in memory with what the engine answers, as pprof; the caller closes it. *s: HPX_OK, HPX_PARTIAL (err). -1: *s, err. */
int hpx_engine_open(const char *url, const struct hpx_engine_how *how, enum hpx_status *s, struct hpx_err *err);

#endif
