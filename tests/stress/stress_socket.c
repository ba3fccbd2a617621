/* SPDX-License-Identifier: BSD-2-Clause */
/* stress_socket.c: a writer, the net thread, one who carries commands out, and a peer on the loopback that reads slowly, stalls, resets,
 * closes, sends commands and garbage, and is connected to a thousand times. In each stream: the header first, each definition once and
 * before its users. Bytes: given + notes = sent + dropped + absent + cut. The last stream ends whole and tells all losses. */
#include "clock.h"
#include "log.h"
#include "out_socket.h"
#include "stress.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define DEFS   200u
#define FASTER 50u /* the clock of the net thread runs this many times faster: 1000 back-offs of 50 ms are 50 s */

struct stream { /* the peer's, of one connection */
    bool seen[DEFS], begun;
    char line[4096];
    size_t len;
    uint64_t noted;
};

struct peer {
    int listener;
    uint64_t connections, seed;
    uint64_t order_errors, lines, commands_sent, ended_whole;
    struct stream stream;
};

static struct hpx_out out;
static struct hpx_out_socket *sock;
static bool defined[DEFS];
static uint64_t refused; /* definitions */
static sem_t woken, work;
static atomic_bool enough;         /* release: the peer, before its last accept; acquire: the writer. Covers nothing but itself */
static _Atomic uint64_t queue[64]; /* tags for the executor; a semaphore orders them */
static _Atomic unsigned queued, done;
static uint64_t carried_out;

/* ---- what the peer looks at ---- */

static uint64_t look_at(struct stream *t, char *line)
{
    char *p = line + 1;
    if (!t->begun) {
        t->begun = true;
        return strcmp(line, "H") != 0;
    }
    if (*line == 'D') {
        unsigned long id = strtoul(p, &p, 10), needs = strtoul(p, &p, 10);
        bool bad = id >= DEFS || needs >= DEFS || t->seen[id] || (id > 0 && !t->seen[needs]);
        t->seen[id % DEFS] = true;
        return bad;
    }
    if (*line == 'U') {
        uint64_t bad = 0, n = strtoul(p, &p, 10);
        for (; n > 0; n--) {
            unsigned long id = strtoul(p, &p, 10);
            bad += id >= DEFS || !t->seen[id];
        }
        return bad + (*p != '\0');
    }
    unsigned long long a, b, c;
    if (sscanf(line, "hprofx: lost, socket: %*u records (%llu bytes) for a slow peer, %*u records (%llu bytes) without a connection, %llu",
               &a, &b, &c) != 3) {
        return 1;
    }
    t->noted = a + b + c;
    return 0;
}

static void take(struct peer *p, const char *bytes, size_t n)
{
    struct stream *t = &p->stream;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            t->line[t->len] = bytes[i];
            t->len += t->len + 1 < sizeof(t->line);
            continue;
        }
        t->line[t->len] = '\0';
        t->len = 0;
        p->lines++;
        p->order_errors += look_at(t, t->line);
    }
}

static void send_commands(struct peer *p, int fd)
{
    static const char kinds[][12] = {"\1\0\0\0\1\0\0\0\0", "\x55\0\0\0\1\0\0\0\0", "\x08\0\0\0\1\0\0\0\2\0\5", "\6\0\0\0\2\0\0\0\0"};
    for (uint64_t n = stress_random(&p->seed) % 40; n > 0; n--) {
        uint64_t kind = stress_random(&p->seed) % 4;
        p->commands_sent += send(fd, kinds[kind], kind == 2 ? 11 : 9, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
    }
    if (stress_random(&p->seed) % 4 == 0) {
        (void)send(fd, "\1\0\0\0\1\xff", 6, MSG_NOSIGNAL | MSG_DONTWAIT); /* half of one, or a length that cannot be */
    } else if (stress_random(&p->seed) % 4 == 0) {
        (void)shutdown(fd, SHUT_WR);
    }
}

/* false: the stream has ended. */
static bool read_some(struct peer *p, int fd, size_t most)
{
    static char bytes[65536];
    struct pollfd pfd = {.fd = fd, .events = POLLIN};
    if (poll(&pfd, 1, 5) == 0) {
        return true; /* the writer waits for commands of ours, or has nothing */
    }
    ssize_t n = recv(fd, bytes, most < sizeof(bytes) ? most : sizeof(bytes), 0);
    if (n > 0) {
        take(p, bytes, (size_t)n);
    }
    return n > 0;
}

static void serve(struct peer *p, int fd)
{
    uint64_t how = stress_random(&p->seed) % 6;
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    if (how == 0) {
        close(fd); /* at once */
        return;
    }
    if (how >= 4) {
        send_commands(p, fd);
    }
    size_t most = how == 2 ? 50 : 60000;
    for (uint64_t n = 1 + stress_random(&p->seed) % 6; n > 0 && read_some(p, fd, most); n--) {
        if (how == 1) {
            (void)poll(NULL, 0, 2); /* stalls: the queue fills up, records are dropped, and the stream goes on */
        }
    }
    if (how == 3) {
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    }
    close(fd);
}

static void *be_peer(void *arg)
{
    struct peer *p = arg;
    for (uint64_t i = 0; i <= p->connections; i++) {
        bool last = i == p->connections;
        int fd = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) {
            p->order_errors++;
            continue;
        }
        memset(&p->stream, 0, sizeof(p->stream));
        if (!last) {
            serve(p, fd);
            continue;
        }
        atomic_store_explicit(&enough, true, memory_order_release);
        while (read_some(p, fd, 60000)) {
        }
        p->ended_whole = p->stream.begun && p->stream.len == 0;
        close(fd);
    }
    return NULL;
}

/* ---- the writer ---- */

static void wake(void *ctx)
{
    (void)ctx;
    sem_post(&woken);
}

static bool define(unsigned id)
{
    if (!defined[id] && (id == 0 || define(id / 2))) {
        hpx_out_printf(&out, "D %u %u %0300u\n", id, id / 2, 0u); /* all of them are more than the queue holds */
        defined[id] = hpx_out_record(&out);
        refused += !defined[id];
    }
    return defined[id];
}

static void restart(void *ctx)
{
    (void)ctx;
    memset(defined, 0, sizeof(defined));
    hpx_out_str(&out, "H\n");
    hpx_out_record(&out);
}

static bool use(uint64_t *seed)
{
    unsigned ids[50], n = 0;
    for (unsigned i = 0; i < HPX_ARRAY_LEN(ids); i++) {
        unsigned id = (unsigned)(stress_random(seed) % DEFS);
        if (define(id)) {
            ids[n++] = id;
        }
    }
    hpx_out_printf(&out, "U %u", n);
    for (unsigned i = 0; i < n; i++) {
        hpx_out_printf(&out, " %u", ids[i]);
    }
    hpx_out_str(&out, "\n");
    return hpx_out_record(&out);
}

static void write_until_enough(void)
{
    uint64_t seed = 88172645463325252u;
    while (!atomic_load_explicit(&enough, memory_order_acquire)) {
        bool live = hpx_out_socket_turn(sock), in = true;
        for (unsigned i = 0; i < 20 && live; i++) {
            in = use(&seed) && in;
        }
        if (!live || !in) {
            uint64_t until = hpx_clock_mono() + 1000000;
            struct timespec ts = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
            if (stress_random(&seed) % 2) {
                hpx_out_socket_room(sock, 4096, 1000000);
            }
            (void)sem_clockwait(&woken, CLOCK_MONOTONIC, &ts);
        }
    }
}

/* ---- commands ---- */

static void command(void *ctx, const struct hpx_command *c)
{
    (void)ctx;
    unsigned n = atomic_fetch_add_explicit(&queued, 1, memory_order_relaxed);
    atomic_store_explicit(&queue[n % 64], c->tag, memory_order_relaxed);
    sem_post(&work);
}

static void *carry_out(void *arg)
{
    (void)arg;
    for (;;) {
        while (sem_wait(&work) != 0) {
        }
        unsigned n = atomic_load_explicit(&done, memory_order_relaxed);
        if (n == atomic_load_explicit(&queued, memory_order_relaxed)) {
            return NULL; /* woken without work: the end */
        }
        carried_out++;
        atomic_store_explicit(&done, n + 1, memory_order_relaxed);
        hpx_out_socket_begun(sock, (uint8_t)atomic_load_explicit(&queue[n % 64], memory_order_relaxed));
    }
}

static void *run_net(void *arg)
{
    hpx_out_socket_run(arg);
    return NULL;
}

/* ---- the system, with a clock that runs faster ---- */

extern const struct hpx_out_socket_ops hpx_out_socket_system;

static uint64_t fast_now(void *ctx)
{
    (void)ctx;
    return hpx_clock_mono() * FASTER;
}

static int fast_poll(void *ctx, struct pollfd *fds, nfds_t n, int ms)
{
    (void)ctx;
    return poll(fds, n, ms > 0 ? (ms + (int)FASTER - 1) / (int)FASTER : ms);
}

static int listen_on_loopback(char *name, size_t n)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int small = 4096, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)); /* a stalled peer is felt soon */
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(fd, 16) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) != 0) {
        return -1;
    }
    snprintf(name, n, "127.0.0.1:%u", ntohs(at.sin_port));
    return fd;
}

TEST(a_thousand_connections_to_a_peer_of_every_kind)
{
    static struct peer peer;
    struct hpx_out_socket_ops ops = hpx_out_socket_system;
    struct hpx_err err;
    char name[64];
    pthread_t peer_thread, net_thread, executor;
    peer = (struct peer){.connections = stress_times(1000), .seed = 2463534242u, .listener = listen_on_loopback(name, sizeof(name))};
    assert_true(peer.listener >= 0);
    ops.now = fast_now;
    ops.poll = fast_poll;
    sem_init(&woken, 0, 0);
    sem_init(&work, 0, 0);
    int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
    hpx_log_set_fd(quiet);
    struct hpx_out_socket_config cfg = {.peer = name,
                                        .queue = 16384,
                                        .end_ns = UINT64_C(600000000000) * FASTER, /* the watchdog is the test's time limit */
                                        .id_size = 8,
                                        .ops = &ops,
                                        .owner = {NULL, wake, restart, NULL, command}};
    assert_int_equal(pthread_create(&peer_thread, NULL, be_peer, &peer), 0);
    assert_int_equal(hpx_out_socket_open(&out, &sock, &cfg, &err), 0);
    assert_int_equal(pthread_create(&executor, NULL, carry_out, NULL), 0);
    assert_int_equal(pthread_create(&net_thread, NULL, run_net, sock), 0);
    write_until_enough();
    while (!hpx_out_socket_turn(sock)) { /* the peer accepted the last connection; we may not know yet */
        assert_true(hpx_out_socket_await(sock, UINT64_C(600000000000)));
    }
    assert_int_equal(hpx_out_close(&out), 0);
    pthread_join(net_thread, NULL);
    pthread_join(peer_thread, NULL);
    sem_post(&work);
    pthread_join(executor, NULL);
    hpx_log_set_fd(2);
    close(quiet);
    close(peer.listener);

    struct hpx_out_socket_counts c;
    hpx_out_socket_count(sock, &c);
    print_message(
        "%llu connections, %llu lines, %llu MB given, %llu records dropped, %llu absent, %llu MB cut, %llu commands carried out\n",
        (unsigned long long)c.connections, (unsigned long long)peer.lines, (unsigned long long)c.given_bytes >> 20,
        (unsigned long long)c.dropped_records, (unsigned long long)c.absent_records, (unsigned long long)c.cut_bytes >> 20,
        (unsigned long long)carried_out);
    assert_int_equal(peer.order_errors, 0);
    assert_int_equal(c.given_bytes + c.note_bytes, c.sent_bytes + c.dropped_bytes + c.absent_bytes + c.cut_bytes);
    /* one that the peer ended at once may be over before we know of it */
    assert_true(c.connections > peer.connections / 2 && c.dropped_records > 0 && c.cut_bytes > 0 && carried_out > 64 && refused > 0);
    assert_true(peer.ended_whole);
    assert_int_equal(peer.stream.noted, c.dropped_bytes + c.absent_bytes + c.cut_bytes);
    assert_int_equal(atomic_load(&queued), atomic_load(&done));
    hpx_out_socket_destroy(sock);
}

TESTS(NULL, NULL)
