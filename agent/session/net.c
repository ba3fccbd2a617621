/* SPDX-License-Identifier: BSD-2-Clause */
/* net.c: the owner of the socket of net.h. */
#include "net.h"
#include "clock.h"
#include "live_threads.h"
#include "out_socket.h"
#include "pace.h"
#include "spawn.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MS         UINT64_C(1000000)
#define END_NS     (4500 * MS)
#define LAST_NS    (300 * MS) /* of these, for what is queued when the last dump was written */
#define SLICE_NS   (100 * MS) /* between two looks at whether a dump may wait on */
#define BEHIND     65536u     /* messages that wait for the writer's thread meanwhile: then it waits no more */
#define AWAIT_NS   (1000 * MS)
#define QUEUE      ((size_t)8 << 20)
#define LAST_NOTE  0x0fffffffu /* ids of notes: below those of all other strings */
#define NOTE_BYTES (HPX_OUT_SOCKET_NOTE - 9)

static HPX_OF_SESSION struct {
    struct hpx_out_socket *socket; /* NULL: the output is a file. Constant once open */
    struct hpx_net_owner owner;    /* constant once open */
    struct hpx_patience patience;  /* the writer's: this dump's */
    bool hurry;                    /* the writer's: it waits no more */
    uint64_t end_at;               /* the first hpx_net_end()'s, before `ends`; constant from then on */
    atomic_bool ends;              /* release: hpx_net_end(); acquire: hpx_net_ends(). Covers end_at */
    _Atomic uint32_t notes;        /* relaxed: so far, for their ids */
    struct hpx_spawned thread;
    bool started;
    sem_t left;          /* posted when the thread has left */
    atomic_bool awaited; /* relaxed: the writer's: a connection was waited for at the end */
} net;

static void wake(void *ctx)
{
    (void)ctx;
    hpx_wake_post(net.owner.wake);
}

static void begin_live_thread(const struct hpx_thread_rec *rec)
{
    hpx_stream_thread(net.owner.stream, 0, rec, HPX_THREAD_STARTS);
}

/* The header has ms: rounded down, its own records are of TIME 0, as a note of the net thread may be. */
static void restart(void *ctx)
{
    struct timespec wall = {.tv_sec = hpx_session.start};
    uint64_t mono = hpx_clock_mono();
    (void)ctx;
    if (hpx_session.opt->binary) {
        clock_gettime(CLOCK_REALTIME, &wall);
        mono -= (uint64_t)wall.tv_nsec % MS;
        wall.tv_nsec -= wall.tv_nsec % (long)MS;
    }
    hpx_stream_restart(net.owner.stream, wall, mono);
    hpx_live_threads_each(begin_live_thread);
}

/* A string that no record names. Either thread, so it cannot use the writer's numbers or time. */
static size_t note(void *ctx, char *to, size_t most, const struct hpx_out_socket_counts *c)
{
    char text[NOTE_BYTES];
    uint8_t *at = (uint8_t *)to;
    uint32_t id_size = hpx_session.opt->idsize, id = 1 + atomic_fetch_add_explicit(&net.notes, 1, memory_order_relaxed);
    size_t n = hpx_out_socket_note_text(text, sizeof text - id_size, c);
    (void)ctx;
    if (n == 0 || HPX_RECORD_HEAD + id_size + n > most || id > LAST_NOTE) {
        return 0;
    }
    uint32_t us = atomic_load_explicit(&net.owner.stream->binary.shown_us, memory_order_relaxed);
    at = hpx_put_record(at, HPX_TAG_STRING, us, (uint32_t)(id_size + n));
    at = id_size == 8 ? hpx_put_be8(at, id) : hpx_put_be4(at, id);
    memcpy(at, text, n);
    return HPX_RECORD_HEAD + id_size + n;
}

/* What this dump may wait at once; 0: nothing. At the end the time that is left bounds it, before that what the peer takes meanwhile. */
static uint64_t slice(void)
{
    if (!hpx_net_ends()) {
        return SLICE_NS;
    }
    uint64_t now = hpx_clock_mono();
    uint64_t left = now + LAST_NS < net.end_at ? net.end_at - LAST_NS - now : 0;
    return left < SLICE_NS ? left : SLICE_NS;
}

static bool may_wait_on(uint64_t waited)
{
    struct hpx_out_socket_counts c;
    if (hpx_net_ends()) {
        return true;
    }
    hpx_out_socket_count(net.socket, &c);
    return hpx_patience_lasts(&net.patience, waited, c.sent_bytes) && net.owner.behind() < BEHIND;
}

static void room(size_t n)
{
    n = n < QUEUE - HPX_OUT_SOCKET_NOTE ? n : QUEUE - HPX_OUT_SOCKET_NOTE;
    while (!net.hurry && hpx_out_socket_room(net.socket, n, 0) == 0) {
        uint64_t ns = slice(), began = hpx_clock_mono();
        if (ns > 0) {
            (void)hpx_out_socket_room(net.socket, n, ns);
        }
        net.hurry = ns == 0 || !may_wait_on(hpx_clock_mono() - began);
    }
}

int hpx_net_open(const struct hpx_net_owner *owner, struct hpx_err *err)
{
    const struct hpx_out_socket_config cfg = {.peer = hpx_session.opt->net,
                                              .queue = QUEUE,
                                              .end_ns = END_NS,
                                              .wait = hpx_session.opt->net_wait,
                                              .id_size = hpx_session.opt->binary ? (uint8_t)hpx_session.opt->idsize : 4,
                                              .owner = {NULL, wake, restart, hpx_session.opt->binary ? note : NULL, owner->command}};
    net.owner = *owner;
    int rc = hpx_out_socket_open(&owner->stream->out, &net.socket, &cfg, err);
    if (rc == 0) {
        owner->stream->out.room = room;
    }
    return rc;
}

static void *run(void *unused)
{
    (void)unused;
    hpx_spawn_enter("hprofx-net", &net.thread);
    hpx_out_socket_run(net.socket);
    hpx_spawn_leave(&net.thread);
    sem_post(&net.left);
    return NULL;
}

int hpx_net_start(struct hpx_err *err)
{
    sem_init(&net.left, 0, 0);
    int rc = hpx_spawn(run, "hprofx-net", err);
    net.started = rc == 0;
    return rc;
}

bool hpx_net_is(void)
{
    return net.socket != NULL;
}

bool hpx_net_turn(void)
{
    return hpx_out_socket_turn(net.socket);
}

void hpx_net_before_dump(void)
{
    struct hpx_out_socket_counts c;
    if (hpx_net_ends() && !atomic_exchange_explicit(&net.awaited, true, memory_order_relaxed)) {
        (void)hpx_out_socket_await(net.socket, AWAIT_NS);
    }
    (void)hpx_net_turn();
    hpx_out_socket_count(net.socket, &c);
    net.patience = (struct hpx_patience){.taken = c.sent_bytes};
    net.hurry = false;
}

void hpx_net_begin(void)
{
    hpx_stream_init(net.owner.stream);
    net.owner.stream->ascii.live_thread = net.owner.stream->binary.live_thread = hpx_live_threads_find;
    (void)hpx_net_turn();
}

bool hpx_net_thread(uint64_t at, const struct hpx_thread_rec *rec, enum hpx_thread_event what, const struct hpx_thread_rec **before)
{
    bool live = hpx_net_turn(); /* first: a new stream begins with the live threads */
    *before = hpx_live_threads_remove(rec->serial);
    if (live) {
        hpx_stream_thread(net.owner.stream, at, rec, what);
    }
    bool lives = what == HPX_THREAD_STARTS || (what == HPX_THREAD_RENAMED && *before != NULL);
    bool kept = lives && hpx_live_threads_add(rec);
    if (lives && !kept) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED, 1);
    }
    return kept;
}

void hpx_net_class(uint64_t at, const struct hpx_class_rec *rec, bool unloaded)
{
    if (hpx_net_turn() || (unloaded && rec->in_traces)) {
        hpx_stream_class(net.owner.stream, at, rec, unloaded);
    }
}

void hpx_net_end(void)
{
    if (net.socket == NULL) {
        return;
    }
    if (!atomic_load_explicit(&net.ends, memory_order_relaxed)) { /* the net thread reads the deadline from then on: it does not change */
        net.end_at = hpx_clock_mono() + END_NS;
        atomic_store_explicit(&net.ends, true, memory_order_release); /* partner: hpx_net_ends() */
    }
    hpx_out_socket_deadline(net.socket, net.end_at);
}

bool hpx_net_wait(uint64_t until)
{
    return !net.started || hpx_spawn_wait(&net.left, until);
}

void hpx_net_fini(void)
{
    if (net.socket != NULL) {
        hpx_out_socket_destroy(net.socket);
    }
    memset(&net, 0, sizeof net);
}

void hpx_net_count(struct hpx_counters *to)
{
    struct hpx_out_socket_counts c;
    if (net.socket == NULL) {
        return;
    }
    hpx_out_socket_count(net.socket, &c);
    hpx_count(to, HPX_C_NET_DROPPED, c.dropped_records);
    hpx_count(to, HPX_C_NET_ABSENT, c.absent_records);
    hpx_count(to, HPX_C_NET_CUT, c.cut_bytes);
}

void hpx_net_said(struct hpx_counters *c)
{
    static const enum hpx_counter ours[] = {HPX_C_NET_DROPPED, HPX_C_NET_ABSENT, HPX_C_NET_CUT};
    for (size_t i = 0; i < HPX_ARRAY_LEN(ours); i++) {
        atomic_store_explicit(&c->v[ours[i]], 0, memory_order_relaxed);
    }
}

void hpx_net_forget(void)
{
    if (net.socket != NULL) {
        hpx_out_socket_forget(net.socket);
    }
}

uint64_t hpx_net_cpu(void)
{
    return hpx_spawn_cpu(&net.thread);
}

bool hpx_net_ends(void)
{
    return atomic_load_explicit(&net.ends, memory_order_acquire); /* partner: hpx_net_end() */
}

void hpx_net_begun(uint8_t tag)
{
    hpx_out_socket_begun(net.socket, tag);
}

void hpx_net_complain(const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof text, fmt, args) < 0) {
        text[0] = 0;
    }
    va_end(args);
    hpx_out_socket_complain(net.socket, "%s", text);
}
