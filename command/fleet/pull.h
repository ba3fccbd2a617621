/* SPDX-License-Identifier: BSD-2-Clause */
/* pull.h: the small HTTP server of --listen, by libmicrohttpd: Go's pprof, Parca, Alloy and Prometheus read from it. It knows nothing of
 * profiles.
 *
 *   GET /debug/pprof/                                          what there is, for people
 *   GET /debug/pprof/profile?seconds=N[&service=NAME][&pid=N]  what arrives in N seconds (30; 1 to 600)
 *   GET /debug/pprof/heap[?service=NAME][&pid=N]               live objects, as of the last profile of every JVM
 *   GET /metrics                                               for Prometheus
 *
 * Everything else is 404, every other method 405. At most 16 connections at a time, 4 of them for /profile (503 beyond); one request a
 * connection; 32 KiB for its head; no body. A peer that is silent for 30 s is cut off, and so is one that has not taken its answer in 60 s.
 * On loopback a request must name a loopback host (403 else), so that no web page can have a browser ask. There are neither
 * passwords nor TLS.
 *
 * Threads: hpx_pull_start() and hpx_pull_stop() on one thread; the hooks run on the server's threads, several at a time. */
#ifndef HPX_FLEET_PULL_H
#define HPX_FLEET_PULL_H

#include "err.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct hpx_pull_asked {
    unsigned seconds;                                 /* of /profile */
    const char *service;                              /* NULL: all; any bytes */
    uint64_t pid;                                     /* 0: all */
    bool (*gone)(const struct hpx_pull_asked *asked); /* whether the peer has closed its end: the answer is not needed any more */
    int fd;
};

enum hpx_pull_result {
    HPX_PULL_OK,
    HPX_PULL_NOTHING,   /* 503: there is no profile to answer with */
    HPX_PULL_TOO_LARGE, /* 503: it would need too much memory */
    HPX_PULL_STOPPED,   /* 503: the program ends */
    HPX_PULL_FAILED,    /* 500: no memory */
};

/* What answers. Every function may be called on any thread, several at a time. */
struct hpx_pull_hooks {
    void *ctx;
    /* Write pprof, gzipped, to an empty file in memory, which stays open. `profile` takes asked->seconds, and half of that more at most:
     * Go's pprof waits no longer. */
    enum hpx_pull_result (*profile)(void *ctx, const struct hpx_pull_asked *asked, int fd);
    enum hpx_pull_result (*heap)(void *ctx, const struct hpx_pull_asked *asked, int fd);
    void (*metrics)(FILE *to);
    /* Called by hpx_pull_stop(), which then waits for the other functions: they return soon. */
    void (*stop)(void *ctx);
};

struct hpx_pull;

/* Begins to listen. at: "unix:PATH" (mode 0600; a socket that nobody listens at is replaced, nothing else is, and links are not followed),
 * or "HOST:PORT" with a numeric address or "localhost"; port 0: any free one. anywhere: HOST may be another address than loopback; a
 * request may then name any host. NULL: err has the reason. hooks is copied. */
struct hpx_pull *hpx_pull_start(const char *at, bool anywhere, const struct hpx_pull_hooks *hooks, struct hpx_err *err);
/* Where it listens, for people, with the port: "unix:PATH", "127.0.0.1:40123". Lives as long as the server. */
const char *hpx_pull_at(const struct hpx_pull *p);
/* Ends it and removes its socket; waits a second at most for peers that take an answer. NULL: nothing to do. */
void hpx_pull_stop(struct hpx_pull *p);

#endif
