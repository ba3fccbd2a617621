/* SPDX-License-Identifier: BSD-2-Clause */
/* engine.h: profiles that an engine keeps, where a command takes a file. hprofx-ship asks for them, in a separate process: this program
 * loads no libcurl. One thread. */
#ifndef HPX_COMMAND_ENGINE_H
#define HPX_COMMAND_ENGINE_H

#include "status.h"
#include <stdbool.h>

/* Files of hprofx fetch; NULL: none. */
struct hpx_engine_how {
    const char *headers, *ca, *cert, *key;
};

/* Takes an option of these. false: it is another one. */
bool hpx_engine_option(struct hpx_engine_how *how, int option, const char *value);

/* The word is a URL of an engine: clickhouse:http://... */
bool hpx_engine_is(const char *word);
/* A file in memory with what the engine answers, as pprof; the caller closes it. *s: HPX_OK, HPX_PARTIAL (err). -1: *s, err. */
int hpx_engine_open(const char *url, const struct hpx_engine_how *how, enum hpx_status *s, struct hpx_err *err);

#endif
