/* SPDX-License-Identifier: BSD-2-Clause */
/* select.h: what `clickhouse:http://HOST:8123/DATABASE.TABLE?service=...` asks for, as SQL that ClickHouse 18 understands, too. One thread.
 *
 * Keys: service, version, host, container, kind, pid; a key that is given several times means any of the values. from, to: the profiles
 * that begin at or after, and before: seconds since 1970; -90s, -30m, -1h, -7d: before now; 2026-11-25, 2026-11-25T10:00,
 * 2026-11-25T10:00:30 in local time, or with a Z at the end in UTC. Values may have %XX. */
#ifndef HPX_FLEET_SELECT_H
#define HPX_FLEET_SELECT_H

#include "err.h"
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Texts are owned. */
struct hpx_select {
    char *url;   /* of the server, for a POST */
    char *facts; /* query: rows, begin of the first profile, end of the last (ms since 1970), UInt64 each */
    char *from;  /* of a query: the table, and which of its rows */
};

/* 0; -HPX_E_OPT: what is wrong with the URL is in err; -HPX_E_NOMEM. hpx_select_fini() in any case. */
int hpx_select_parse(struct hpx_select *s, const char *url, time_t now, struct hpx_err *err);
void hpx_select_fini(struct hpx_select *s);
/* The query for rows as answer.h reads them: each profile once, and of live objects the last profile of each JVM, without times. step: a
 * row has the profiles that began in so many seconds; 0: all, and no times. The caller frees it. NULL: no memory. */
char *hpx_select_rows(const struct hpx_select *s, uint64_t step);
/* A time as above; -1: it is none, or beyond what ClickHouse's DateTime has. */
long long hpx_select_time(const char *text, time_t now);

#endif
