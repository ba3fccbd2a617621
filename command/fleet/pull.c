/* SPDX-License-Identifier: BSD-2-Clause */
/* pull.c: see pull.h. Every connection has a thread, because a pull waits; so there are few. */
#include "pull.h"
#include "listen.h"
#include "metrics.h"
#include "outfile.h"
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS  16U
#define WINDOWS      4 /* pulls of a span of time */
#define HEAD         ((size_t)32 << 10)
#define SILENCE      30U /* seconds */
#define TAKEN        60  /* seconds, in which a peer takes its answer */
#define SECONDS      30U
#define MOST_SECONDS 600U
#define BLOCK        ((size_t)64 << 10)

struct hpx_pull {
    struct hpx_pull_hooks hooks;
    struct hpx_listen listen;
    struct MHD_Daemon *server;
    _Atomic int windows;  /* relaxed: a number alone */
    _Atomic int requests; /* that are not answered to the end; relaxed */
};

/* ---- answers ---- */

/* An answer that stands in a file in memory. */
struct body {
    int fd;
    time_t until; /* CLOCK_MONOTONIC */
};

static time_t now(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static ssize_t read_body(void *ctx, uint64_t at, char *to, size_t room)
{
    const struct body *b = ctx;
    ssize_t n = now() < b->until ? pread(b->fd, to, room, (off_t)at) : -1;
    return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void free_body(void *ctx)
{
    struct body *b = ctx;
    (void)close(b->fd);
    free(b);
}

static enum MHD_Result send_answer(struct MHD_Connection *c, unsigned status, const char *path, const char *type, struct MHD_Response *r)
{
    char code[16];
    enum MHD_Result done = MHD_NO;
    if (r != NULL) {
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
        (void)MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
        if (status >= 400) { /* Go's pprof shows the text then */
            (void)MHD_add_response_header(r, "X-Go-Pprof", "1");
        }
        if (status == MHD_HTTP_SERVICE_UNAVAILABLE) {
            (void)MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, "5");
        }
        if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
            (void)MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, MHD_HTTP_METHOD_GET);
        }
        done = MHD_queue_response(c, status, r);
        MHD_destroy_response(r);
    }
    (void)snprintf(code, sizeof code, "%u", status);
    hpx_metric_add(HPX_METRIC_PULLS, path, code, 1);
    return done;
}

/* A text of the program. */
static enum MHD_Result say(struct MHD_Connection *c, unsigned status, const char *path, const char *text)
{
    return send_answer(c, status, path, "text/plain; charset=utf-8",
                       MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result send_file(struct MHD_Connection *c, const char *path, const char *type, int fd)
{
    struct stat st;
    struct body *b = malloc(sizeof *b);
    if (b == NULL || fstat(fd, &st) != 0) {
        free(b);
        (void)close(fd);
        return say(c, MHD_HTTP_INTERNAL_SERVER_ERROR, path, "no memory\n");
    }
    *b = (struct body){fd, now() + TAKEN};
    struct MHD_Response *r = MHD_create_response_from_callback((uint64_t)st.st_size, BLOCK, read_body, b, free_body);
    if (r == NULL) {
        free_body(b);
    }
    return send_answer(c, MHD_HTTP_OK, path, type, r);
}

/* ---- the paths ---- */

static const char index_text[] =
    "<!doctype html>\n<meta charset=\"utf-8\">\n<title>hprofx</title>\n"
    "<h1>hprofx: JVMs of this host</h1>\n<table>\n"
    "<tr><td><a href=\"profile?seconds=30\">profile</a>?seconds=N[&amp;service=NAME][&amp;pid=N]"
    "<td>CPU time, allocations and waits that JVMs report within N seconds (1 to 600)\n"
    "<tr><td><a href=\"heap\">heap</a>[?service=NAME][&amp;pid=N]"
    "<td>live objects, as of the last profile of every JVM\n"
    "<tr><td><a href=\"/metrics\">/metrics</a><td>the shipper's own cost, losses and lag\n</table>\n"
    "<p>Profiles are pprof. They arrive when their time is over, so the first of them begin before the N seconds.\n";

static enum MHD_Result index_page(struct hpx_pull *p, struct MHD_Connection *c, const char *path)
{
    (void)p;
    return send_answer(c, MHD_HTTP_OK, path, "text/html; charset=utf-8",
                       MHD_create_response_from_buffer(sizeof index_text - 1, (void *)(uintptr_t)index_text, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result metrics_page(struct hpx_pull *p, struct MHD_Connection *c, const char *path)
{
    int fd = memfd_create("hprofx-metrics", MFD_CLOEXEC);
    FILE *to = fd >= 0 ? hpx_out_stream(fd, false) : NULL;
    if (to != NULL) {
        p->hooks.metrics(to);
    }
    if (to == NULL || fclose(to) != 0) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return say(c, MHD_HTTP_INTERNAL_SERVER_ERROR, path, "no memory\n");
    }
    return send_file(c, path, "text/plain; version=0.0.4; charset=utf-8", fd);
}

/* A number of the query; `otherwise` where it is not there. false: it is none, or out of range. */
static bool number(struct MHD_Connection *c, const char *name, uint64_t otherwise, uint64_t most, uint64_t *to)
{
    const char *text = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
    *to = otherwise;
    if (text == NULL) {
        return true;
    }
    size_t n = strspn(text, "0123456789");
    *to = n > 0 && n < 12 && text[n] == '\0' ? strtoull(text, NULL, 10) : 0;
    return *to > 0 && *to <= most;
}

static bool peer_gone(const struct hpx_pull_asked *asked)
{
    struct pollfd peer = {.fd = asked->fd, .events = POLLRDHUP};
    return poll(&peer, 1, 0) > 0 && (peer.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* A text for what could not be answered. */
static enum MHD_Result say_why(struct MHD_Connection *c, const char *path, enum hpx_pull_result r, bool waits)
{
    static const char *const why[] = {
        [HPX_PULL_NOTHING] = "no JVM has reported live objects; profile with heap=sites (hprofx watch -e live)\n",
        [HPX_PULL_TOO_LARGE] = "the profile has too many stacks: ask for fewer seconds, or for one service=\n",
        [HPX_PULL_STOPPED] = "hprofx ends\n",
        [HPX_PULL_FAILED] = "no memory\n"};
    const char *text = r == HPX_PULL_NOTHING && waits
                           ? "no profile arrived in this time: ask for more seconds than the agents take for one (dump=, --every)\n"
                           : why[r];
    return say(c, r == HPX_PULL_FAILED ? MHD_HTTP_INTERNAL_SERVER_ERROR : MHD_HTTP_SERVICE_UNAVAILABLE, path, text);
}

typedef enum hpx_pull_result make_profile(void *ctx, const struct hpx_pull_asked *asked, int fd);

static enum MHD_Result make_and_send(struct hpx_pull *p, struct MHD_Connection *c, const char *path, make_profile *make,
                                     const struct hpx_pull_asked *asked)
{
    int fd = memfd_create("hprofx-profile", MFD_CLOEXEC);
    enum hpx_pull_result r = fd >= 0 ? make(p->hooks.ctx, asked, fd) : HPX_PULL_FAILED;
    if (r == HPX_PULL_OK) {
        return send_file(c, path, "application/octet-stream", fd);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return say_why(c, path, r, asked->seconds > 0);
}

/* What heap and profile may be asked for. */
static bool take_query(struct MHD_Connection *c, struct hpx_pull_asked *asked)
{
    const union MHD_ConnectionInfo *fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    asked->service = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "service");
    asked->gone = peer_gone;
    asked->fd = fd != NULL ? fd->connect_fd : -1;
    return number(c, "pid", 0, UINT64_MAX, &asked->pid);
}

static enum MHD_Result heap(struct hpx_pull *p, struct MHD_Connection *c, const char *path)
{
    struct hpx_pull_asked asked = {0};
    return take_query(c, &asked) ? make_and_send(p, c, path, p->hooks.heap, &asked)
                                 : say(c, MHD_HTTP_BAD_REQUEST, path, "pid= wants a number\n");
}

static enum MHD_Result profile(struct hpx_pull *p, struct MHD_Connection *c, const char *path)
{
    struct hpx_pull_asked asked = {0};
    uint64_t seconds;
    if (!take_query(c, &asked) || !number(c, "seconds", SECONDS, MOST_SECONDS, &seconds)) {
        return say(c, MHD_HTTP_BAD_REQUEST, path, "seconds= wants a number from 1 to 600, pid= a number\n");
    }
    asked.seconds = (unsigned)seconds;
    enum MHD_Result done;
    if (atomic_fetch_add_explicit(&p->windows, 1, memory_order_relaxed) < WINDOWS) {
        (void)MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, 2 * asked.seconds + SILENCE); /* our own silence counts */
        done = make_and_send(p, c, path, p->hooks.profile, &asked);
    } else {
        done = say(c, MHD_HTTP_SERVICE_UNAVAILABLE, path, "4 profiles are being taken: ask again later\n");
    }
    (void)atomic_fetch_sub_explicit(&p->windows, 1, memory_order_relaxed);
    return done;
}

static const struct {
    const char *path;
    enum MHD_Result (*answer)(struct hpx_pull *p, struct MHD_Connection *c, const char *path);
} paths[] = {{"/metrics", metrics_page}, {"/debug/pprof/profile", profile}, {"/debug/pprof/heap", heap}, {"/debug/pprof/", index_page}};

/* ---- requests ---- */

/* A page that a browser shows could ask with a name of its own that leads here; it cannot choose what the browser says of the host. */
static bool host_is_ours(const struct hpx_pull *p, struct MHD_Connection *c)
{
    const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    if (!p->listen.loopback || host == NULL) {
        return true;
    }
    size_t n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    return (n == 9 && strncasecmp(host, "localhost", n) == 0) || (n == 5 && strncmp(host, "[::1]", n) == 0) ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == n);
}

static bool has_body(struct MHD_Connection *c)
{
    const char *n = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return (n != NULL && strcmp(n, "0") != 0) || MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL;
}

static enum MHD_Result answer(struct hpx_pull *p, struct MHD_Connection *c, const char *url, const char *method)
{
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const char *path = paths[i].path;
        if (strcmp(url, path) != 0) {
            continue;
        }
        return strcmp(method, MHD_HTTP_METHOD_GET) != 0 ? say(c, MHD_HTTP_METHOD_NOT_ALLOWED, path, "only GET\n")
               : has_body(c)                            ? say(c, MHD_HTTP_BAD_REQUEST, path, "a body is not read\n")
               : !host_is_ours(p, c)                    ? say(c, MHD_HTTP_FORBIDDEN, path, "ask for localhost or a loopback address\n")
                                                        : paths[i].answer(p, c, path);
    }
    return say(c, MHD_HTTP_NOT_FOUND, "other", "see /debug/pprof/\n");
}

/* Called when the head of a request is there, and again at its end. What is no plain GET is answered at once. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url, const char *method, const char *version,
                                  const char *upload, size_t *upload_size, void **seen)
{
    (void)version;
    (void)upload;
    (void)upload_size;
    struct hpx_pull *p = ctx;
    bool first = *seen == NULL;
    if (first) {
        *seen = p;
        (void)atomic_fetch_add_explicit(&p->requests, 1, memory_order_relaxed);
    }
    if (first && strcmp(method, MHD_HTTP_METHOD_GET) == 0 && !has_body(c)) {
        return MHD_YES;
    }
    return answer(p, c, url, method);
}

static void on_answered(void *ctx, struct MHD_Connection *c, void **seen, enum MHD_RequestTerminationCode how)
{
    struct hpx_pull *p = ctx;
    (void)c;
    (void)how;
    if (*seen != NULL) {
        *seen = NULL;
        (void)atomic_fetch_sub_explicit(&p->requests, 1, memory_order_relaxed);
    }
}

/* ---- begin and end ---- */

/* Its threads take no signals: those are for the main thread. */
static struct MHD_Daemon *start_server(struct hpx_pull *p)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    struct MHD_Daemon *d = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC, 0,
                                            NULL, NULL, on_request, p, MHD_OPTION_LISTEN_SOCKET, p->listen.fd, MHD_OPTION_CONNECTION_LIMIT,
                                            CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEAD, MHD_OPTION_CONNECTION_TIMEOUT, SILENCE,
                                            MHD_OPTION_NOTIFY_COMPLETED, on_answered, p, MHD_OPTION_END);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return d;
}

struct hpx_pull *hpx_pull_start(const char *at, bool anywhere, const struct hpx_pull_hooks *hooks, struct hpx_err *err)
{
    struct hpx_pull *p = calloc(1, sizeof *p);
    if (p == NULL) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        return NULL;
    }
    p->hooks = *hooks;
    if (hpx_listen_open(&p->listen, at, anywhere, err) != 0) {
        free(p);
        return NULL;
    }
    p->server = start_server(p);
    if (p->server == NULL) {
        (void)hpx_err_set(err, HPX_E_SYS, "cannot listen at %s: %s", at, strerror(errno));
        hpx_listen_remove(&p->listen);
        (void)close(p->listen.fd);
        free(p);
        return NULL;
    }
    return p;
}

const char *hpx_pull_at(const struct hpx_pull *p)
{
    return p->listen.at;
}

/* No more requests; those that are there get their answer, if their peers take it soon. */
static void wait_for_peers(struct hpx_pull *p)
{
    for (int i = 0; i < 100 && atomic_load_explicit(&p->requests, memory_order_relaxed) > 0; i++) {
        (void)poll(NULL, 0, 10);
    }
}

void hpx_pull_stop(struct hpx_pull *p)
{
    if (p != NULL) {
        hpx_listen_remove(&p->listen);
        MHD_socket fd = MHD_quiesce_daemon(p->server);
        p->hooks.stop(p->hooks.ctx);
        wait_for_peers(p);
        MHD_stop_daemon(p->server);
        if (fd != MHD_INVALID_SOCKET) {
            (void)close(fd);
        }
        free(p);
    }
}
