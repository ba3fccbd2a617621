/* SPDX-License-Identifier: BSD-2-Clause */
/* http.h: one HTTP request after another to one server, by libcurl. Whoever has an object uses it on one thread at a time. */
#ifndef HPX_FLEET_HTTP_H
#define HPX_FLEET_HTTP_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>

/* How a server is spoken to; the texts outlive the object. NULL: as libcurl does by itself, and never from the environment or ~/.netrc. */
struct hpx_http_how {
    const char *headers; /* a file with header lines, as "Authorization: Bearer ..."; only its owner may be able to read it */
    const char *ca;      /* a file of certificates that are trusted, instead of the system's */
    const char *cert, *key;
    unsigned seconds; /* the longest that a request may take; 0: 30 */
};

struct hpx_http;

/* NULL: err has the reason, which may be that a file cannot be read. */
struct hpx_http *hpx_http_new(const struct hpx_http_how *how, struct hpx_err *err);
void hpx_http_free(struct hpx_http *h);

struct hpx_http_reply {
    long status;          /* 0: there was no answer, and `why` says why */
    unsigned retry_after; /* seconds, at most a day; 0: not said */
    char why[320];        /* of libcurl, or the first line of a body that came with an error; without controls */
    void (*body)(void *ctx, const char *bytes, size_t n); /* given by the caller for a body of status 200; NULL: it is dropped */
    void *ctx;
    size_t most;        /* bytes of a body; a longer one counts as no answer. 0: 1 MiB */
    const bool *cancel; /* looked at (atomically) about every second; true ends the request. NULL: never */
};

/* Sends `n` bytes as they are; headers: NULL-terminated lines of this request. No redirect is followed, only http and https are spoken. */
void hpx_http_post(struct hpx_http *h, const char *url, const char *const *headers, const void *bytes, size_t n,
                   struct hpx_http_reply *reply);

#endif
