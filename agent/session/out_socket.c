/* SPDX-License-Identifier: BSD-2-Clause */
/* out_socket.c: the writer's side of out_socket.h: queues records, ends the stream, reports losses. */
#include "clock.h"
#include "log.h"
#include "out_socket_internal.h"
#include "trial.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define QUEUE     ((size_t)8 << 20)
#define PART      ((size_t)256 << 10)
#define ROW       ((size_t)64 << 10)                /* a part may be larger by */
#define NOTES     ((size_t)2 * HPX_OUT_SOCKET_NOTE) /* one before a record, and the last one's room */
#define END_NS    UINT64_C(5000000000)
#define GRACE_NS  UINT64_C(200000000) /* between the net thread's own deadline and giving up on it */
#define LINES     20u
#define SECOND_NS UINT64_C(1000000000)

void hpx_socket_lock(struct hpx_out_socket *s)
{
    pthread_mutex_lock(&s->lock);
}

void hpx_socket_unlock(struct hpx_out_socket *s)
{
    pthread_mutex_unlock(&s->lock);
}

void hpx_socket_wake(struct hpx_out_socket *s)
{
    uint64_t one = 1;
    ssize_t n;
    do {
        n = write(s->wake_fd, &one, sizeof(one)); /* EAGAIN: it is awake */
    } while (n < 0 && errno == EINTR);
}

uint64_t hpx_socket_losses(const struct hpx_out_socket_counts *c)
{
    return c->dropped_bytes + c->absent_bytes + c->cut_bytes;
}

size_t hpx_out_socket_note_text(char *to, size_t room, const struct hpx_out_socket_counts *c)
{
    int n = snprintf(
        to, room,
        "hprofx: lost, socket: %llu records (%llu bytes) for a slow peer, %llu records (%llu bytes) without a connection, %llu bytes "
        "of lost connections\n",
        (unsigned long long)c->dropped_records, (unsigned long long)c->dropped_bytes, (unsigned long long)c->absent_records,
        (unsigned long long)c->absent_bytes, (unsigned long long)c->cut_bytes);
    return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

size_t hpx_socket_note(struct hpx_out_socket *s, char *to, const struct hpx_out_socket_counts *c)
{
    size_t n = s->owner.note != NULL ? s->owner.note(s->owner.ctx, to, HPX_OUT_SOCKET_NOTE, c)
                                     : hpx_out_socket_note_text(to, HPX_OUT_SOCKET_NOTE, c);
    return n <= HPX_OUT_SOCKET_NOTE ? n : 0;
}

/* ---- records ---- */

static void put(struct hpx_out_socket *s, const char *p, size_t n)
{
    size_t at = (size_t)(s->fill % s->size), k = s->size - at < n ? s->size - at : n;
    memcpy(s->ring + at, p, k);
    memcpy(s->ring, p + k, n - k);
    s->fill += n;
}

/* Room for a note is kept, so that the last one always fits. */
static bool fits(struct hpx_out_socket *s, size_t n)
{
    hpx_socket_lock(s);
    uint64_t used = s->fill - s->head;
    hpx_socket_unlock(s);
    return n <= s->size - HPX_OUT_SOCKET_NOTE && used <= s->size - HPX_OUT_SOCKET_NOTE - n;
}

/* Or a part of one. */
static void begin_record(struct hpx_out_socket *s)
{
    struct hpx_out_socket_counts count;
    hpx_socket_lock(s);
    s->absent = s->link != HPX_LINK_LIVE;
    if (s->head == s->tail) {
        s->head = s->tail = 0; /* nothing is being sent: pages that were never used stay so */
    }
    count = s->count;
    hpx_socket_unlock(s);
    s->open = true;
    s->skip = s->absent || s->parts == HPX_PARTS_LOST;
    s->fill = s->tail;
    s->record_bytes = s->record_note = 0;
    s->record_losses = s->noted;
    if (!s->skip && !s->first && s->parts == HPX_PARTS_NONE && hpx_socket_losses(&count) != s->noted) {
        char note[HPX_OUT_SOCKET_NOTE];
        size_t n = hpx_socket_note(s, note, &count);
        s->skip = !fits(s, n);
        if (!s->skip) {
            put(s, note, n);
            s->record_note = n;
            s->record_losses = hpx_socket_losses(&count);
        }
    }
}

static ssize_t socket_write(void *ctx, const void *p, size_t n)
{
    struct hpx_out_socket *s = ctx;
    if (!s->open) {
        begin_record(s);
    }
    s->record_bytes += n;
    s->skip = s->skip || !fits(s, n);
    if (!s->skip) {
        put(s, p, n);
    }
    return (ssize_t)n;
}

/* Under the lock. */
static bool commit(struct hpx_out_socket *s)
{
    s->count.given_records++;
    s->count.given_bytes += s->record_bytes;
    if (s->absent || s->link != HPX_LINK_LIVE) {
        s->count.absent_records++;
        s->count.absent_bytes += s->record_bytes;
        return false;
    }
    if (s->skip) {
        s->count.dropped_records++;
        s->count.dropped_bytes += s->record_bytes;
        return false;
    }
    s->tail = s->fill;
    s->count.note_bytes += s->record_note;
    if (s->first) {
        s->header_end = s->tail;
    }
    return true;
}

/* Of a record, or of a part of one. */
static bool end_piece(struct hpx_out_socket *s)
{
    if (!s->open) {
        return s->parts != HPX_PARTS_LOST;
    }
    hpx_socket_lock(s);
    bool in = commit(s), full = !in && !s->absent && s->skip && s->link == HPX_LINK_LIVE, wake = in && s->asleep;
    if (wake) {
        s->asleep = false;
    }
    hpx_socket_unlock(s);
    s->open = false;
    s->fill = s->tail;
    if (in) {
        s->first = false;
        s->noted = s->record_losses;
    }
    if (wake) {
        hpx_socket_wake(s);
    }
    if (full && !s->full_said) {
        s->full_said = true;
        hpx_warn("net=%s: the peer reads too slowly; records are dropped and counted; read faster or request fewer dumps", s->peer);
    }
    return in;
}

static bool socket_record(void *ctx)
{
    struct hpx_out_socket *s = ctx;
    bool in = end_piece(s);
    s->parts = HPX_PARTS_NONE;
    return in;
}

/* Behind a part there is room for the end, and for a note. */
static bool socket_part(void *ctx)
{
    struct hpx_out_socket *s = ctx;
    if (s->open && !s->skip) {
        s->skip = s->parts == HPX_PARTS_CUT || !fits(s, s->end);
    }
    bool in = end_piece(s), begun = s->parts == HPX_PARTS_TAKEN || s->parts == HPX_PARTS_CUT;
    s->parts = in ? HPX_PARTS_TAKEN : begun ? HPX_PARTS_CUT : HPX_PARTS_LOST;
    return in;
}

static void socket_leave_out(void *ctx, uint64_t bytes)
{
    struct hpx_out_socket *s = ctx;
    hpx_socket_lock(s);
    bool live = s->link == HPX_LINK_LIVE;
    s->count.given_records++;
    s->count.given_bytes += bytes;
    *(live ? &s->count.dropped_records : &s->count.absent_records) += 1;
    *(live ? &s->count.dropped_bytes : &s->count.absent_bytes) += bytes;
    hpx_socket_unlock(s);
}

bool hpx_out_socket_turn(struct hpx_out_socket *s)
{
    hpx_socket_lock(s);
    bool fresh = s->link == HPX_LINK_FRESH && !s->ending;
    if (fresh) {
        s->link = HPX_LINK_LIVE;
    }
    bool live = s->link == HPX_LINK_LIVE;
    hpx_socket_unlock(s);
    if (fresh) {
        s->noted = 0; /* the new stream reports the losses of earlier ones */
        s->first = true;
        s->open = false;
        s->parts = HPX_PARTS_NONE;
        s->owner.restart(s->owner.ctx);
    }
    return live;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
}

int hpx_out_socket_room(struct hpx_out_socket *s, size_t n, uint64_t ns)
{
    struct timespec until = timespec_of(hpx_clock_mono() + ns);
    size_t most = s->size - HPX_OUT_SOCKET_NOTE;
    int rc = 0;
    hpx_socket_lock(s);
    while (n <= most && s->link == HPX_LINK_LIVE && s->tail - s->head > most - n && rc == 0) {
        rc = pthread_cond_timedwait(&s->moved, &s->lock, &until);
    }
    bool never = n > most || s->link != HPX_LINK_LIVE, room = !never && s->tail - s->head <= most - n;
    hpx_socket_unlock(s);
    return never ? -1 : room;
}

bool hpx_out_socket_await(struct hpx_out_socket *s, uint64_t ns)
{
    struct timespec until = timespec_of(hpx_clock_mono() + ns);
    int rc = 0;
    hpx_socket_lock(s);
    while (s->link == HPX_LINK_DOWN && rc == 0) {
        rc = pthread_cond_timedwait(&s->moved, &s->lock, &until);
    }
    bool there = s->link != HPX_LINK_DOWN;
    hpx_socket_unlock(s);
    return there;
}

/* ---- any thread ---- */

void hpx_out_socket_begun(struct hpx_out_socket *s, uint8_t tag)
{
    hpx_socket_lock(s);
    s->waiting[tag] = false;
    s->in_flight -= s->in_flight > 0;
    bool wake = s->held;
    s->held = false;
    hpx_socket_unlock(s);
    if (wake) {
        hpx_socket_wake(s);
    }
}

void hpx_out_socket_complain(struct hpx_out_socket *s, const char *fmt, ...)
{
    uint64_t now = s->ops->now(s->sys), left_out = 0;
    hpx_socket_lock(s);
    uint64_t seconds = (now - s->token_at) / SECOND_NS;
    if (seconds > 0) {
        s->tokens = s->tokens + seconds > LINES ? LINES : s->tokens + (uint32_t)seconds;
        s->token_at += seconds * SECOND_NS;
    }
    bool may = s->tokens > 0;
    if (may) {
        s->tokens--;
        left_out = s->left_out;
        s->left_out = 0;
    } else {
        s->left_out++;
    }
    hpx_socket_unlock(s);
    if (!may) {
        return;
    }
    char text[512], more[64] = "";
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof(text), fmt, args) < 0) {
        text[0] = '\0';
    }
    va_end(args);
    if (left_out > 0) {
        (void)snprintf(more, sizeof(more), " (%llu earlier messages suppressed)", (unsigned long long)left_out);
    }
    hpx_warn("net=%s: %s%s", s->peer, text, more);
}

void hpx_out_socket_deadline(struct hpx_out_socket *s, uint64_t at)
{
    hpx_socket_lock(s);
    if (s->end_at == 0 || at < s->end_at) {
        s->end_at = at;
    }
    hpx_socket_unlock(s);
    hpx_socket_wake(s);
}

void hpx_out_socket_count(struct hpx_out_socket *s, struct hpx_out_socket_counts *c)
{
    hpx_socket_lock(s);
    *c = s->count;
    hpx_socket_unlock(s);
}

void hpx_out_socket_forget(struct hpx_out_socket *s)
{
    int fd = atomic_exchange_explicit(&s->fd, -1, memory_order_relaxed);
    if (fd >= 0) {
        close(fd);
    }
    if (s->wake_fd >= 0) {
        close(s->wake_fd);
        s->wake_fd = -1; /* a child of the child forgets once more, and the number may be another's then */
    }
}

/* ---- the end ---- */

/* Under the lock: notes the losses that the stream does not have yet. The space is reserved. */
static void last_note(struct hpx_out_socket *s)
{
    char note[HPX_OUT_SOCKET_NOTE];
    if (s->link != HPX_LINK_LIVE || s->first || hpx_socket_losses(&s->count) == s->noted) {
        return;
    }
    size_t n = hpx_socket_note(s, note, &s->count);
    s->fill = s->tail;
    put(s, note, n);
    s->tail = s->fill;
    s->count.note_bytes += n;
}

static void say_losses(struct hpx_out_socket *s)
{
    struct hpx_out_socket_counts c;
    hpx_out_socket_count(s, &c);
    if (c.dropped_records > 0) {
        hpx_warn("net=%s: %llu records (%llu bytes) dropped: the peer reads too slowly; read faster or request fewer dumps", s->peer,
                 (unsigned long long)c.dropped_records, (unsigned long long)c.dropped_bytes);
    }
    if (c.absent_records > 0) {
        hpx_warn("net=%s: %llu records (%llu bytes) dropped while disconnected", s->peer, (unsigned long long)c.absent_records,
                 (unsigned long long)c.absent_bytes);
    }
    if (c.cut_bytes > 0) {
        hpx_warn("net=%s: %llu bytes not sent: a connection was lost, or the time limit at exit expired", s->peer,
                 (unsigned long long)c.cut_bytes);
    }
}

static int socket_close(void *ctx)
{
    struct hpx_out_socket *s = ctx;
    socket_record(s);
    hpx_socket_lock(s);
    last_note(s);
    s->ending = true;
    if (s->end_at == 0) {
        s->end_at = s->ops->now(s->sys) + s->end_ns;
    }
    struct timespec until = timespec_of(s->end_at + GRACE_NS);
    bool alone = !s->running;
    hpx_socket_unlock(s);
    hpx_socket_wake(s);
    if (alone) {
        hpx_out_socket_run(s);
    }
    hpx_socket_lock(s);
    for (int rc = 0; !s->ended && !s->looking && rc == 0;) {
        rc = pthread_cond_timedwait(&s->moved, &s->lock, &until);
    }
    hpx_socket_unlock(s);
    say_losses(s);
    return 0;
}

/* ---- the beginning ---- */

static const struct hpx_out_ops record_ops = {socket_write, NULL, NULL, socket_close};

static bool split(struct hpx_out_socket *s, const char *peer)
{
    const char *colon = strrchr(peer, ':'), *from = peer;
    if (colon == NULL) {
        return false;
    }
    size_t n = (size_t)(colon - peer), digits = strlen(colon + 1);
    s->literal = *peer == '[';
    if (s->literal) {
        if (n < 2 || peer[n - 1] != ']') {
            return false;
        }
        from++;
        n -= 2;
    }
    if (n == 0 || n >= sizeof(s->host) || digits == 0 || digits >= sizeof(s->port)) {
        return false;
    }
    memcpy(s->host, from, n);
    memcpy(s->port, colon + 1, digits);
    return true;
}

static int make_lock(struct hpx_out_socket *s)
{
    pthread_condattr_t attr;
    int rc = pthread_condattr_init(&attr);
    if (rc != 0) {
        return rc;
    }
    rc = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    rc = rc != 0 ? rc : pthread_mutex_init(&s->lock, NULL);
    rc = rc != 0 ? rc : pthread_cond_init(&s->moved, &attr);
    pthread_condattr_destroy(&attr);
    return rc;
}

static struct hpx_out_socket *make(const struct hpx_out_socket_config *cfg)
{
    struct hpx_out_socket *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return NULL;
    }
    s->ops = cfg->ops != NULL ? cfg->ops : &hpx_out_socket_system;
    s->sys = cfg->sys;
    s->owner = cfg->owner;
    s->id_size = cfg->id_size;
    s->size = cfg->queue != 0 ? cfg->queue : QUEUE;
    s->end = cfg->end != 0 ? cfg->end : HPX_OUT_END;
    s->end_ns = cfg->end_ns != 0 ? cfg->end_ns : END_NS;
    s->tokens = LINES;
    s->token_at = s->ops->now(s->sys);
    atomic_init(&s->fd, -1);
    s->wake_fd = !hpx_trial_passes(HPX_TRIAL_EVENTFD) ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->ring = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    s->peer = strdup(cfg->peer);
    if (s->wake_fd < 0 || s->ring == MAP_FAILED || s->peer == NULL || s->size <= HPX_OUT_SOCKET_NOTE || make_lock(s) != 0) {
        hpx_out_socket_destroy(s);
        return NULL;
    }
    return s;
}

void hpx_out_socket_destroy(struct hpx_out_socket *s)
{
    if (s->ring != MAP_FAILED) {
        munmap(s->ring, s->size);
    }
    if (s->wake_fd >= 0) {
        close(s->wake_fd);
    }
    free((char *)(uintptr_t)s->peer);
    free(s);
}

int hpx_out_socket_open(struct hpx_out *o, struct hpx_out_socket **made, const struct hpx_out_socket_config *cfg, struct hpx_err *err)
{
    struct hpx_out_socket *s = make(cfg);
    if (s == NULL) {
        return hpx_err_set(err, HPX_E_NOMEM, "no memory for the output");
    }
    if (!split(s, cfg->peer) || (!cfg->wait && !hpx_socket_connect_now(s))) {
        hpx_out_socket_destroy(s);
        return hpx_err_set(err, HPX_E_IO, "can't connect to %s", cfg->peer);
    }
    if (hpx_out_init(o, &record_ops, s, cfg->peer) != 0) {
        hpx_out_socket_forget(s);
        hpx_out_socket_destroy(s);
        return hpx_err_set(err, HPX_E_NOMEM, "no memory for the output");
    }
    o->record = socket_record;
    o->part = socket_part;
    o->piece = cfg->piece != 0 ? cfg->piece : PART;
    o->piece_room = o->piece + ROW + s->end;
    o->leave_out = socket_leave_out;
    o->most = s->size > NOTES ? s->size - NOTES : 1;
    *made = s;
    return 0;
}
