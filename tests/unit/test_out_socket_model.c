/* SPDX-License-Identifier: BSD-2-Clause */
/* test_out_socket_model.c: a writer with definitions and users over a queue that is always too small, at random: what each stream holds is
 * looked at as a peer would. In each stream: the header first, each definition once and before its users, losses marked where they are.
 * Bytes: each one given is sent, dropped, absent or cut; the notes tell as many as are missing. */
#include "socket_fake.h"

enum { DEFS = 40, ROUNDS = 100, MESSAGES = 120 };

static struct hpx_out out;
static struct hpx_out_socket *sock;
static bool defined[DEFS]; /* what the writer believes of its stream */
static unsigned restarts;
static uint64_t seed, refused, users, left_out, tables;

static unsigned pick(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)((seed >> 16) % n);
}

static void wake(void *ctx)
{
    (void)ctx;
}

static void command(void *ctx, const struct hpx_command *c)
{
    (void)ctx;
    (void)c;
}

/* A definition of any length: it may depend on one of a smaller number, as a trace on its frames. */
static bool define(unsigned id)
{
    if (defined[id]) {
        return true;
    }
    if (id > 0 && !define(id / 2)) {
        return false;
    }
    hpx_out_printf(&out, "D %u %u %.*s\n", id, id / 2, (int)pick(60), "------------------------------------------------------------");
    defined[id] = hpx_out_record(&out);
    refused += !defined[id];
    return defined[id];
}

static void restart(void *ctx)
{
    (void)ctx;
    restarts++;
    memset(defined, 0, sizeof(defined));
    hpx_out_str(&out, "H\n");
    hpx_out_record(&out);
    define(pick(DEFS));
}

static void step(void);

static void use(void)
{
    unsigned ids[4], n = 0, asked = 1 + pick(4);
    for (unsigned i = 0; i < asked; i++) {
        unsigned id = pick(DEFS);
        if (define(id)) {
            ids[n++] = id;
        } else {
            left_out++;
        }
    }
    hpx_out_printf(&out, "U %u", n);
    for (unsigned i = 0; i < n; i++) {
        hpx_out_printf(&out, " %u", ids[i]);
    }
    if (pick(4) == 0) {
        hpx_out_flush(&out); /* as a full buffer does, in the middle of a record; meanwhile the link goes and comes */
        for (unsigned i = pick(4); i > 0; i--) {
            step();
        }
    }
    hpx_out_str(&out, "\n");
    users += hpx_out_record(&out);
}

/* A record in parts: it may be cut before its end. */
static void table(void)
{
    unsigned n = pick(60);
    hpx_out_str(&out, "T\n");
    for (unsigned i = 0; i < n; i++) {
        hpx_out_printf(&out, "R %u\n", i);
        hpx_out_part(&out, i + 1 == n);
        if (pick(20) == 0) {
            step();
        }
    }
    hpx_out_str(&out, "E\n");
    uint64_t before = out.refused;
    bool in = hpx_out_record(&out);
    assert_int_equal(out.refused - before, !in);
    tables += in;
}

/* One stream as the peer got it; `whole`: it ended well. */
static void check_stream(const char *text, size_t len, bool whole)
{
    bool seen[DEFS] = {false}, begun = false;
    int row = -1; /* of the table that is open */
    for (const char *at = text, *stop; len > 0 && at < text + len; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(text + len - at));
        if (stop == NULL) {
            assert_false(whole);
            return;
        }
        unsigned id, needs;
        if (!begun) {
            assert_memory_equal(at, "H\n", 2);
            begun = true;
        } else if (row >= 0) {
            row = *at == 'E' ? -1 : row + 1;
            assert_true(row < 0 || (*at == 'R' && atoi(at + 2) == row - 1));
        } else if (*at == 'T') {
            row = 0;
        } else if (*at == 'D') {
            assert_int_equal(sscanf(at, "D %u %u ", &id, &needs), 2);
            assert_true(id < DEFS && !seen[id] && (id == 0 || seen[needs]));
            seen[id] = true;
        } else if (*at == 'U') {
            char *p;
            unsigned n = (unsigned)strtoul(at + 2, &p, 10);
            for (unsigned i = 0; i < n; i++) {
                id = (unsigned)strtoul(p, &p, 10);
                assert_true(id < DEFS && seen[id]);
            }
            assert_ptr_equal(p, stop);
        } else {
            assert_memory_equal(at, "hprofx: lost, socket: ", 22);
        }
    }
    assert_true(!whole || (begun && row < 0));
}

static uint64_t last_noted; /* of the last note in the stream that ended well */

static void find_last_note(void)
{
    last_noted = 0;
    for (const char *at = fake.got, *stop; at < fake.got + fake.len; at = stop + 1) {
        unsigned long long drops, absents, cut;
        stop = memchr(at, '\n', (size_t)(fake.got + fake.len - at));
        assert_non_null(stop);
        if (*at == 'h') {
            assert_int_equal(sscanf(at,
                                    "hprofx: lost, socket: %*u records (%llu bytes) for a slow peer, %*u records (%llu bytes) without a "
                                    "connection, %llu bytes of",
                                    &drops, &absents, &cut),
                             3);
            last_noted = drops + absents + cut;
        }
    }
}

static void step(void)
{
    bool was = fake.open;
    hpx_out_socket_step(sock);
    if (was && !fake.open) {
        check_stream(fake.got, fake.len, false);
    }
}

/* What the peer and the network do next. */
static void nature(void)
{
    switch (pick(8)) {
    case 0:
        fake.window = pick(200);
        break;
    case 1:
        fake.window = SIZE_MAX;
        break;
    case 2:
        fake.piece = pick(20);
        break;
    case 3:
        fake.eintr_every = pick(4);
        break;
    case 4:
        fake.refuse = pick(3);
        break;
    case 5:
        fake.reset_at = pick(6) == 0 ? fake.len + pick(300) : SIZE_MAX;
        break;
    default:
        break;
    }
    for (unsigned i = pick(12); i > 0; i--) {
        step();
    }
}

static void round_of(uint64_t number)
{
    fake_reset();
    seed = number * 0x9E3779B97F4A7C15u + 1;
    struct hpx_out_socket_config cfg = {.peer = "h:1",
                                        .queue = 400 + pick(800),
                                        .piece = 1 + pick(60),
                                        .end = 2,
                                        .wait = true,
                                        .id_size = 8,
                                        .ops = &fake_ops,
                                        .owner = {NULL, wake, restart, NULL, command}};
    struct hpx_err err;
    assert_int_equal(hpx_out_socket_open(&out, &sock, &cfg, &err), 0);
    for (unsigned i = 0; i < MESSAGES; i++) {
        hpx_out_socket_turn(sock);
        for (unsigned n = pick(5); n > 0; n--) {
            if (pick(3)) {
                use();
            } else {
                table();
            }
            if (pick(2)) {
                step(); /* the link may go and come in the middle of a message */
            }
        }
        nature();
    }
    fake.eintr_every = fake.eintr_every == 1 ? 0 : fake.eintr_every;
    fake.window = pick(4) ? SIZE_MAX : pick(100);
    fake.reset_at = SIZE_MAX;
    bool flows = fake.open && !fake.gone && hpx_out_socket_turn(sock);
    struct hpx_out_socket_counts before, after;
    hpx_out_socket_count(sock, &before);
    assert_int_equal(hpx_out_close(&out), 0);
    hpx_out_socket_count(sock, &after);
    bool whole = flows && after.cut_bytes == before.cut_bytes;
    if (flows) {
        check_stream(fake.got, fake.len, whole);
    }
    if (whole) {
        find_last_note();
        assert_int_equal(last_noted, after.dropped_bytes + after.absent_bytes + after.cut_bytes);
    }
    assert_conserved(sock, 0);
    hpx_out_socket_destroy(sock);
}

TEST(definitions_come_before_their_users_whatever_the_peer_does)
{
    said_begin();
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        round_of(i);
    }
    said_end();
    print_message("%u streams, %llu users, %llu definitions refused, %llu uses left out\n", restarts, (unsigned long long)users,
                  (unsigned long long)refused, (unsigned long long)left_out);
    assert_true(restarts > ROUNDS && users > 1000 && tables > 1000 && refused > 1000 && left_out > 1000);
}

TESTS(NULL, NULL)
