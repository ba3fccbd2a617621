/* SPDX-License-Identifier: BSD-2-Clause */
/* out_socket_link.c: the net thread of out_socket.h: connect, send, receive, connect again. */
#include "c_locale.h"
#include "log.h"
#include "out_socket_internal.h"
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS            UINT64_C(1000000)
#define BACKOFF_FIRST (50 * MS)
#define BACKOFF_MOST  (5000 * MS)
#define ADDRESS_NS    (3000 * MS)  /* for one address */
#define ROUND_NS      (10000 * MS) /* for all addresses of the name */
#define LEAVE_NS      (1000 * MS)  /* for the peer's end, when all is sent */
#define LEAVE_BYTES   (1u << 20)
#define PIECE         ((size_t)256 << 10) /* one send: so that room appears in steps */

static int get_fd(const struct hpx_out_socket *s)
{
    return atomic_load_explicit(&s->fd, memory_order_relaxed);
}

static uint64_t now(const struct hpx_out_socket *s)
{
    return s->ops->now(s->sys);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Waits for `events` of the connection (-1: for none, there is no connection), for wake(), until `until` (0: for ever). What came. */
static int wait_for(struct hpx_out_socket *s, int events, uint64_t until)
{
    struct pollfd fds[2] = {{.fd = s->wake_fd, .events = POLLIN}, {.fd = events < 0 ? -1 : get_fd(s), .events = (short)events}};
    int ms = -1;
    if (until != 0) {
        uint64_t at = now(s);
        uint64_t left = until > at ? (until - at + MS - 1) / MS : 0;
        ms = (int)least(left, 60000);
    }
    int n = s->ops->poll(s->sys, fds, 2, ms);
    if (n < 0 && errno != EINTR) {
        struct timespec pause = {0, (long)(10 * MS)}; /* no memory in the kernel: no spinning */
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    if (n <= 0) {
        return 0;
    }
    uint64_t count;
    if (fds[0].revents != 0 && read(s->wake_fd, &count, sizeof(count)) < 0) {
        count = 0; /* EAGAIN: another thread took the wake-up; nothing to do */
    }
    return fds[1].revents;
}

/* ---- no connection ---- */

static void close_fd(struct hpx_out_socket *s)
{
    int fd = atomic_exchange_explicit(&s->fd, -1, memory_order_relaxed);
    if (fd >= 0) {
        s->ops->close(s->sys, fd);
    }
}

static void free_found(struct hpx_out_socket *s)
{
    if (s->found != NULL) {
        s->ops->lookup_free(s->sys, s->found);
        s->found = s->next = NULL;
    }
}

static void go_away(struct hpx_out_socket *s)
{
    s->phase = HPX_PHASE_AWAY;
    s->backoff = s->backoff != 0 ? s->backoff : BACKOFF_FIRST;
    s->next_try = now(s) + s->backoff;
    s->backoff = least(2 * s->backoff, BACKOFF_MOST);
}

static void finish(struct hpx_out_socket *s)
{
    close_fd(s);
    free_found(s);
    hpx_socket_lock(s);
    s->count.cut_bytes += s->link == HPX_LINK_LIVE ? s->tail - s->head : 0;
    s->count.cut_bytes += s->extra_len - s->extra_at;
    s->head = s->tail;
    s->link = HPX_LINK_DOWN;
    s->ended = true;
    pthread_cond_broadcast(&s->moved);
    hpx_socket_unlock(s);
    s->phase = HPX_PHASE_ENDED;
}

/* Ends the connection. */
static void lose(struct hpx_out_socket *s, int error)
{
    close_fd(s);
    hpx_socket_lock(s);
    s->count.cut_bytes += s->link == HPX_LINK_LIVE ? s->tail - s->head : 0;
    s->count.cut_bytes += s->extra_len - s->extra_at;
    s->head = s->tail;
    s->link = HPX_LINK_DOWN;
    pthread_cond_broadcast(&s->moved);
    hpx_socket_unlock(s);
    s->extra_at = s->extra_len = 0;
    if (!s->lost_said) {
        s->lost_said = true;
        hpx_warn("net=%s: connection lost: %s; output is dropped until the peer is back; retrying", s->peer,
                 strerror_l(error, hpx_c_locale()));
    }
    go_away(s);
}

static void round_failed(struct hpx_out_socket *s)
{
    free_found(s);
    if (!s->absent_said && s->count.connections == 0) {
        s->absent_said = true;
        hpx_warn("net=%s: cannot connect yet: %s; retrying", s->peer,
                 s->last_error != 0 ? strerror_l(s->last_error, hpx_c_locale()) : "cannot resolve the host name");
    }
    go_away(s);
}

static void try_next_address(struct hpx_out_socket *s)
{
    close_fd(s);
    while (s->next != NULL && now(s) < s->round_until) {
        const struct addrinfo *to = s->next;
        s->next = to->ai_next;
        int fd = s->ops->connect(s->sys, to);
        if (fd >= 0) {
            atomic_store_explicit(&s->fd, fd, memory_order_relaxed);
            s->phase = HPX_PHASE_CONNECTING;
            s->phase_until = least(now(s) + ADDRESS_NS, s->round_until);
            return;
        }
        s->last_error = errno;
    }
    round_failed(s);
}

static void start_round(struct hpx_out_socket *s)
{
    hpx_socket_lock(s);
    s->looking = true;
    hpx_socket_unlock(s);
    s->last_error = 0;
    int rc = s->ops->lookup(s->sys, s->host, s->port, s->literal, &s->found);
    hpx_socket_lock(s);
    s->looking = false;
    pthread_cond_broadcast(&s->moved);
    hpx_socket_unlock(s);
    s->next = rc == 0 ? s->found : NULL;
    s->found = s->next;
    s->round_until = now(s) + ROUND_NS;
    try_next_address(s);
}

static void connected(struct hpx_out_socket *s)
{
    free_found(s);
    s->phase = HPX_PHASE_UP;
    s->sent = 0;
    s->probed = false;
    hpx_socket_reader_reset(s);
    hpx_socket_lock(s);
    s->link = HPX_LINK_FRESH;
    s->header_end = 0;
    s->count.connections++;
    pthread_cond_broadcast(&s->moved);
    hpx_socket_unlock(s);
    s->owner.wake(s->owner.ctx);
}

static void connecting(struct hpx_out_socket *s)
{
    int came = wait_for(s, POLLOUT, s->phase_until);
    if (came != 0) {
        int error = s->ops->connected(s->sys, get_fd(s));
        if (error == 0) {
            connected(s);
        } else {
            s->last_error = error;
            try_next_address(s);
        }
    } else if (now(s) >= s->phase_until) {
        s->last_error = ETIMEDOUT;
        try_next_address(s);
    }
}

bool hpx_socket_connect_now(struct hpx_out_socket *s)
{
    s->absent_said = true; /* the caller says it */
    start_round(s);
    while (s->phase == HPX_PHASE_CONNECTING) {
        connecting(s);
    }
    return s->phase == HPX_PHASE_UP;
}

/* ---- connected ---- */

struct view { /* a copy of fields under the lock */
    uint64_t head, queued, header_end, end_at;
    bool live, ending;
};

static struct view look(struct hpx_out_socket *s)
{
    hpx_socket_lock(s);
    struct view v = {.head = s->head, .header_end = s->header_end, .end_at = s->end_at, .ending = s->ending};
    v.live = s->link == HPX_LINK_LIVE;
    v.queued = v.live ? s->tail - s->head : 0;
    s->asleep = v.queued == 0;
    hpx_socket_unlock(s);
    return v;
}

/* A peer that stops sending may still read, or be gone: sending something tells, because the answer is then an error. */
static void probe(struct hpx_out_socket *s, const struct view *v)
{
    if (!s->in.end_seen || s->extra_len > 0 || v->queued > 0 || v->header_end == 0 || s->probed) {
        return;
    }
    hpx_socket_lock(s);
    if (s->tail == s->head) { /* still: the note goes out before what is queued, and must not be of a later time */
        s->probed = true;
        s->extra_len = (uint32_t)hpx_socket_note(s, s->extra, &s->count);
        s->extra_at = 0;
        s->count.note_bytes += s->extra_len;
    }
    hpx_socket_unlock(s);
}

static void send_some(struct hpx_out_socket *s, const struct view *v)
{
    bool extra = s->extra_at < s->extra_len;
    size_t at = (size_t)(v->head % s->size), n = (size_t)least(least(v->queued, s->size - at), PIECE);
    ssize_t k = extra ? s->ops->send(s->sys, get_fd(s), s->extra + s->extra_at, s->extra_len - s->extra_at)
                      : s->ops->send(s->sys, get_fd(s), s->ring + at, n);
    if (k <= 0) {
        if (k == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
            lose(s, k == 0 ? EPIPE : errno);
        }
        return;
    }
    hpx_socket_lock(s);
    s->count.sent_bytes += (uint64_t)k;
    if (!extra) {
        s->head += (uint64_t)k;
        pthread_cond_broadcast(&s->moved);
    }
    hpx_socket_unlock(s);
    if (extra) {
        s->extra_at += (uint32_t)k;
        if (s->extra_at == s->extra_len) {
            s->extra_at = s->extra_len = 0;
        }
        return;
    }
    s->sent += (uint64_t)k;
    if (v->header_end != 0 && s->sent >= v->header_end) {
        s->backoff = BACKOFF_FIRST;
    }
}

/* The end of the peer is awaited: closing with unread commands would make the system throw away what the peer has not yet read. */
static void leave(struct hpx_out_socket *s, uint64_t end_at)
{
    s->ops->shutdown(s->sys, get_fd(s));
    s->phase = HPX_PHASE_LEAVING;
    s->phase_until = least(now(s) + LEAVE_NS, end_at);
    s->discarded = 0;
}

static void leaving(struct hpx_out_socket *s)
{
    ssize_t n = 1;
    if (wait_for(s, POLLIN, s->phase_until) != 0) {
        n = s->ops->recv(s->sys, get_fd(s), s->in.bytes, sizeof(s->in.bytes));
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
            n = 1;
        }
        s->discarded += n > 0 ? (uint64_t)n : 0;
    }
    if (n <= 0 || s->discarded >= LEAVE_BYTES || now(s) >= s->phase_until) {
        finish(s);
    }
}

static int events_of(struct hpx_out_socket *s, const struct view *v, uint64_t *until)
{
    int events = v->queued > 0 || s->extra_at < s->extra_len ? POLLOUT : 0;
    uint64_t again_at = 0;
    if (v->ending) {
        *until = v->end_at;
    } else if (hpx_socket_wants_input(s, now(s), &again_at)) {
        events |= POLLIN;
    } else {
        *until = again_at;
    }
    if (!s->in.reading && !s->in.end_seen) {
        events |= POLLRDHUP;
    }
    return events;
}

static void up(struct hpx_out_socket *s)
{
    struct view v = look(s);
    uint64_t until = 0;
    if (!v.ending) {
        hpx_socket_deliver(s);
    }
    probe(s, &v);
    if (v.ending && v.queued == 0 && s->extra_at == s->extra_len) {
        leave(s, v.end_at);
        return;
    }
    if (v.ending && now(s) >= v.end_at) {
        finish(s);
        return;
    }
    int events = events_of(s, &v, &until), came = wait_for(s, events, until);
    if ((came & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
        int error = s->ops->connected(s->sys, get_fd(s));
        lose(s, error != 0 ? error : ECONNRESET);
        return;
    }
    if ((came & POLLRDHUP) != 0) {
        s->in.end_seen = true;
    }
    if ((came & POLLIN) != 0 && hpx_socket_receive(s) != 0) {
        lose(s, errno);
        return;
    }
    if ((came & POLLOUT) != 0) {
        send_some(s, &v);
    }
}

static void away(struct hpx_out_socket *s)
{
    if (now(s) >= s->next_try) {
        start_round(s);
    } else {
        wait_for(s, -1, s->next_try);
    }
}

bool hpx_out_socket_step(struct hpx_out_socket *s)
{
    if (s->phase == HPX_PHASE_AWAY || s->phase == HPX_PHASE_CONNECTING) {
        hpx_socket_lock(s);
        bool ending = s->ending;
        hpx_socket_unlock(s);
        if (ending) {
            finish(s);
            return false;
        }
    }
    switch (s->phase) {
    case HPX_PHASE_AWAY:
        away(s);
        break;
    case HPX_PHASE_CONNECTING:
        connecting(s);
        break;
    case HPX_PHASE_UP:
        up(s);
        break;
    case HPX_PHASE_LEAVING:
        leaving(s);
        break;
    case HPX_PHASE_ENDED:
        break;
    }
    return s->phase != HPX_PHASE_ENDED;
}

void hpx_out_socket_run(struct hpx_out_socket *s)
{
    hpx_socket_lock(s);
    bool second = s->running;
    s->running = true;
    hpx_socket_unlock(s);
    if (second) {
        return;
    }
    while (hpx_out_socket_step(s)) {
    }
}
