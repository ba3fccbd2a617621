/* SPDX-License-Identifier: BSD-2-Clause */
/* http.h: one HTTP request after another to one server, by libcurl. Whoever has an object uses it on one thread at a time.
 *
 * Connections stay open between requests. Proxies are those of the environment (https_proxy, http_proxy, all_proxy, no_proxy), as companies
 * need them; this machine itself is never asked through one. ~/.netrc is not read, and a URL may not hold a password. No redirect is
 * followed: it could take the credentials along. Cookies are not kept, no body is unpacked. */
#ifndef HPX_FLEET_HTTP_H
#define HPX_FLEET_HTTP_H

#include "err.h"
#include <stdbool.h>
#include <stddef.h>

/* How a server is spoken to; the texts outlive the object. NULL: the system's certificates, and no credentials.
 *
 * `headers` and `key` are secrets: regular files (also behind a link, as Kubernetes mounts them) that only their owner and his group may
 * read, and only their owner may write. They are read again for every request and every connection, because tokens are replaced. */
struct hpx_http_how {
    const char *headers; /* a file with header lines, as "Authorization: Bearer ..."; blank lines and those with # are left out */
    const char *ca;      /* a file of certificates that are trusted, instead of the system's */
    const char *cert, *key;
    unsigned seconds; /* the longest that a request may take; 0: 30 */
};

struct hpx_http;

/* NULL: err has the reason, which may be that a file cannot be read. */
struct hpx_http *hpx_http_new(const struct hpx_http_how *how, struct hpx_err *err);
/* h: may be NULL. */
void hpx_http_free(struct hpx_http *h);

struct hpx_http_reply {
    /* Given by the caller: */
    void (*body)(void *ctx, const char *bytes, size_t n); /* takes the body that comes with status 200; NULL: it is dropped */
    void *ctx;
    size_t most;        /* bytes of a body; a longer one counts as no answer. 0: 1 MiB */
    const bool *cancel; /* looked at (atomically) about every second; true ends the request. NULL: never */
    /* Given back: */
    long status;          /* 100 to 999; 0: there was no answer, or no whole one, and `why` says why */
    unsigned retry_after; /* seconds, at most a day, from the number or date of Retry-After; 0: not said */
    char why[320];        /* of libcurl, or the first line of a body that came with an error; printable ASCII, perhaps "" */
};

/* Sends `n` bytes as they are; headers: NULL-terminated lines of this request, may be NULL. Only http and https are spoken. */
void hpx_http_post(struct hpx_http *h, const char *url, const char *const *headers, const void *bytes, size_t n,
                   struct hpx_http_reply *reply);

#endif
