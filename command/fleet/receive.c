/* SPDX-License-Identifier: BSD-2-Clause */
/* receive.c: see receive.h. */
#include "receive.h"
#include "budget.h"
#include "formats.h"
#include "listen.h"
#include "memory.h"
#include "metrics.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define CONNECTIONS 256
#define WAITING     64

struct waiting {
    struct hpx_tree *tree;
    uint64_t bytes; /* of it, of the share */
    uint8_t id[HPX_PROFILE_ID];
};

struct hpx_receive {
    struct hpx_listen listen;
    struct hpx_budget_share share; /* of all connections, and of what waits */
    pthread_t accepter;
    bool accepts;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t room, gone;
    struct waiting queue[WAITING];
    size_t first, n;
    uint64_t bytes;       /* of all that wait */
    int fds[CONNECTIONS]; /* -1: free */
    size_t connections;
    bool end;
};

struct connection {
    struct hpx_receive *r;
    size_t place;
    int fd;
};

/* ---- the queue ---- */

/* The same for the same profile, where it says whose it is. */
static void id_of(const struct hpx_tree *t, uint8_t id[HPX_PROFILE_ID])
{
    const struct hpx_tree_origin *o = &t->origin;
    const char *const words[] = {hpx_tree_text(t, o->host), hpx_tree_text(t, o->container), hpx_tree_text(t, o->service)};
    uint64_t numbers[] = {o->pid, o->began_ms, o->number, 0, 0};
    for (size_t i = 0; i < HPX_ARRAY_LEN(words); i++) {
        numbers[3] = XXH3_64bits_withSeed(words[i], strlen(words[i]), numbers[3]);
    }
    if (o->number == 0) {
        (void)getrandom(&numbers[4], sizeof numbers[4], 0);
    }
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, XXH3_128bits(numbers, sizeof numbers));
    for (size_t i = 0; i < HPX_PROFILE_ID; i++) {
        id[i] = bytes.digest[i];
    }
}

/* In the queue; what waits leaves half of the share to those that read. */
static bool is_full(const struct hpx_receive *r, uint64_t bytes)
{
    return r->n == WAITING || (r->n > 0 && r->bytes + bytes > r->share.most / 2);
}

/* Waits for room. false: it is the end, or there is no memory. */
static bool enqueue(void *ctx, struct hpx_tree *t)
{
    struct connection *c = ctx;
    struct hpx_receive *r = c->r;
    struct hpx_tree *own = malloc(sizeof *own);
    uint64_t bytes = hpx_tree_bytes(t);
    pthread_mutex_lock(&r->lock);
    while (is_full(r, bytes) && !r->end) {
        (void)pthread_cond_wait(&r->room, &r->lock);
    }
    bool taken = own != NULL && !r->end;
    if (taken) {
        struct waiting *w = &r->queue[(r->first + r->n++) % WAITING];
        id_of(t, w->id);
        *own = *t;
        w->tree = own;
        w->bytes = hpx_budget_hand_on(bytes);
        r->bytes += w->bytes;
    }
    pthread_mutex_unlock(&r->lock);
    if (!taken) {
        free(own);
        hpx_tree_fini(t);
        hpx_metric_add(HPX_METRIC_PROFILES_BROKEN, own == NULL ? "no memory" : "end", NULL, 1);
    }
    return taken;
}

bool hpx_receive_take(struct hpx_receive *r, struct hpx_tree **t, uint8_t id[HPX_PROFILE_ID])
{
    pthread_mutex_lock(&r->lock);
    bool any = r->n > 0;
    if (any) {
        const struct waiting *w = &r->queue[r->first];
        *t = w->tree;
        memcpy(id, w->id, HPX_PROFILE_ID);
        r->first = (r->first + 1) % WAITING;
        r->n--;
        r->bytes -= w->bytes;
        hpx_budget_share_give(&r->share, w->bytes);
        (void)pthread_cond_broadcast(&r->room); /* what fits depends on who waits */
    }
    pthread_mutex_unlock(&r->lock);
    return any;
}

/* ---- connections ---- */

static ssize_t read_socket(void *fd, void *to, size_t n)
{
    ssize_t got;
    do {
        got = recv(*(const int *)fd, to, n, 0);
    } while (got < 0 && errno == EINTR);
    return got;
}

static void leave(struct connection *c)
{
    pthread_mutex_lock(&c->r->lock);
    c->r->fds[c->place] = -1; /* before the number can be another's */
    (void)close(c->fd);
    c->r->connections--;
    (void)pthread_cond_signal(&c->r->gone);
    pthread_mutex_unlock(&c->r->lock);
    free(c);
}

static void *read_stream(void *ctx)
{
    struct connection *c = ctx;
    struct hpx_source s;
    struct hpx_err err = {""};
    struct hpx_budget budget;
    hpx_budget_begin(&budget, c->r->share.most / 2, &c->r->share); /* one cannot take all */
    if (hpx_source_init(&s, read_socket, &c->fd) == 0) {
        if (hpx_tree_stream_hprof(&s, enqueue, c, &err) != HPX_TREE_WHOLE && err.msg[0] != '\0') {
            hpx_metric_add(HPX_METRIC_PROFILES_BROKEN,
                           hpx_budget_refused_by_share() ? "no memory"
                           : hpx_budget_refused()        ? "too large"
                                                         : "cut off",
                           NULL, 1);
            (void)fprintf(stderr, "hprofx: what an agent sends by net= is not read on: %s\n", err.msg);
        }
        hpx_source_fini(&s);
    }
    hpx_budget_end(&budget);
    leave(c);
    return NULL;
}

/* A place for a connection; CONNECTIONS: there is none. */
static size_t enter(struct hpx_receive *r, int fd)
{
    size_t place = 0;
    pthread_mutex_lock(&r->lock);
    while (place < CONNECTIONS && (r->end || r->fds[place] >= 0)) {
        place++;
    }
    if (place < CONNECTIONS) {
        r->fds[place] = fd;
        r->connections++;
    }
    pthread_mutex_unlock(&r->lock);
    return place;
}

static void begin(struct hpx_receive *r, int fd)
{
    pthread_t thread;
    struct connection *c = malloc(sizeof *c);
    size_t place = c != NULL ? enter(r, fd) : CONNECTIONS;
    if (place == CONNECTIONS) {
        hpx_metric_add(HPX_METRIC_PROFILES_BROKEN, "too many connections", NULL, 1);
        free(c);
        (void)close(fd);
        return;
    }
    *c = (struct connection){r, place, fd};
    if (pthread_create(&thread, NULL, read_stream, c) == 0) {
        (void)pthread_detach(thread);
    } else {
        leave(c);
    }
}

static bool ends(struct hpx_receive *r)
{
    pthread_mutex_lock(&r->lock);
    bool end = r->end;
    pthread_mutex_unlock(&r->lock);
    return end;
}

static void *accept_all(void *ctx)
{
    struct hpx_receive *r = ctx;
    const struct timespec pause = {0, 100000000};
    while (!ends(r)) {
        int fd = accept4(r->listen.fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) {
            begin(r, fd);
        } else if (errno != EINTR && errno != ECONNABORTED && !ends(r)) {
            (void)nanosleep(&pause, NULL); /* descriptors or memory are short */
        }
    }
    return NULL;
}

/* ---- begin and end ---- */

struct hpx_receive *hpx_receive_open(const char *at, bool anywhere, struct hpx_err *err)
{
    struct hpx_receive *r = calloc(1, sizeof *r);
    if (r == NULL) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        return NULL;
    }
    memset(r->fds, 0xff, sizeof r->fds);
    r->share.most = hpx_memory_of_server();
    (void)pthread_mutex_init(&r->lock, NULL);
    (void)pthread_cond_init(&r->room, NULL);
    (void)pthread_cond_init(&r->gone, NULL);
    if (hpx_listen_open(&r->listen, at, anywhere, err) != 0) {
        free(r);
        return NULL;
    }
    r->accepts = pthread_create(&r->accepter, NULL, accept_all, r) == 0;
    if (!r->accepts) {
        (void)hpx_err_set(err, HPX_E_SYS, "no thread can be made for %s", at);
        hpx_receive_close(r);
        return NULL;
    }
    return r;
}

const char *hpx_receive_at(const struct hpx_receive *r)
{
    return r->listen.at;
}

void hpx_receive_close(struct hpx_receive *r)
{
    struct hpx_tree *t;
    uint8_t id[HPX_PROFILE_ID];
    if (r == NULL) {
        return;
    }
    pthread_mutex_lock(&r->lock);
    r->end = true;
    (void)shutdown(r->listen.fd, SHUT_RDWR); /* ends accept4() */
    for (size_t i = 0; i < CONNECTIONS; i++) {
        (void)(r->fds[i] >= 0 ? shutdown(r->fds[i], SHUT_RDWR) : 0);
    }
    (void)pthread_cond_broadcast(&r->room);
    pthread_mutex_unlock(&r->lock);
    if (r->accepts) {
        (void)pthread_join(r->accepter, NULL);
    }
    pthread_mutex_lock(&r->lock);
    while (r->connections > 0) {
        (void)pthread_cond_wait(&r->gone, &r->lock);
    }
    pthread_mutex_unlock(&r->lock);
    while (hpx_receive_take(r, &t, id)) {
        hpx_metric_add(HPX_METRIC_PROFILES_BROKEN, "end", NULL, 1);
        hpx_tree_fini(t);
        free(t);
    }
    (void)close(r->listen.fd);
    hpx_listen_remove(&r->listen);
    (void)pthread_cond_destroy(&r->room);
    (void)pthread_cond_destroy(&r->gone);
    (void)pthread_mutex_destroy(&r->lock);
    free(r);
}
