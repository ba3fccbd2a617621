/* SPDX-License-Identifier: BSD-2-Clause */
/* test_out_socket.c: the output over a connection, step by step, against a network made of memory: connecting, records, the end. */
#include "socket_fixture.h"

/* ---- connecting ---- */

TEST(the_peer_is_taken_apart, setup, teardown)
{
    static const struct {
        const char *peer, *asked;
    } all[] = {{"localhost:9000", "localhost|9000|0"}, {"[::1]:1", "::1|1|1"}, {"[fe80::1%eth0]:65535", "fe80::1%eth0|65535|1"}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        struct hpx_out_socket_config cfg = config();
        cfg.peer = all[i].peer;
        open_with(&cfg);
        assert_string_equal(fake.asked, all[i].asked);
        end();
        hpx_out_socket_destroy(sock);
        sock = NULL;
    }
    static const char *const bad[] = {"host", ":9", "host:", "[]:9", "[::1:9", "host:123456789"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        struct hpx_out_socket_config cfg = config();
        struct hpx_err err;
        cfg.peer = bad[i];
        assert_int_equal(hpx_out_socket_open(&out, &sock, &cfg, &err), -HPX_E_IO);
        assert_null(sock);
    }
}

TEST(nobody_there_is_an_error_at_start, setup, teardown)
{
    struct hpx_out_socket_config cfg = config();
    struct hpx_err err;
    for (int i = 0; i < 4; i++) {
        fake_reset();
        fake.refuse = i == 0 ? 10 : 0;
        fake.lookup_fails = i == 1;
        fake.connect_errno = i == 2 ? ENETUNREACH : 0;
        fake.silent = i == 3;
        uint64_t start = fake.now;
        assert_int_equal(hpx_out_socket_open(&out, &sock, &cfg, &err), -HPX_E_IO);
        assert_string_equal(err.msg, "can't connect to host.example:9000");
        assert_string_equal(said(), "");
        assert_false(fake.open);
        assert_int_equal(fake.now - start, i == 3 ? 3000 * FAKE_MS : 0);
    }
}

TEST(attempts_back_off_from_50_ms_to_5_s, setup, teardown)
{
    static const unsigned gaps[] = {50, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000};
    struct hpx_out_socket_config cfg = config();
    cfg.wait = true;
    fake.refuse = 100;
    open_with(&cfg);
    while (fake.attempts <= HPX_ARRAY_LEN(gaps)) {
        steps(1);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(gaps); i++) {
        assert_int_equal(fake.attempt_at[i + 1] - fake.attempt_at[i], gaps[i] * FAKE_MS);
    }
    assert_true(fake.polls < 40);
    /* accepted and closed before the header: it goes on backing off; after a whole header it starts anew */
    fake.refuse = 0;
    while (wakes == 0) {
        steps(1);
    }
    fake.gone = true;
    steps(1);
    uint64_t lost = fake.now;
    while (wakes == 1) {
        steps(1);
    }
    assert_int_equal(fake.now - lost, 5000 * FAKE_MS);
    assert_true(hpx_out_socket_turn(sock));
    steps(1);
    assert_got(HEADER);
    fake.gone = true;
    steps(1);
    lost = fake.now;
    while (wakes == 2) {
        steps(1);
    }
    assert_int_equal(fake.now - lost, 50 * FAKE_MS);
    end();
    assert_int_equal(said_times("cannot connect yet"), 1);
    assert_int_equal(said_times("connection lost"), 1);
}

TEST(half_a_header_does_not_end_the_back_off, setup, teardown)
{
    open_live();
    steps(1);
    assert_got(HEADER);
    for (unsigned stream = 2, gap = 50; stream < 6; stream++, gap *= 2) {
        fake.gone = true;
        steps(1);
        uint64_t lost = fake.now;
        fake.window = SIZE_MAX;
        while (wakes < stream) {
            steps(1);
        }
        assert_int_equal(fake.now - lost, gap * FAKE_MS);
        hpx_out_socket_turn(sock);
        fake.window = 6;
        steps(1);
        assert_int_equal(fake.len, 6);
    }
    fake.window = SIZE_MAX;
    end();
}

/* ---- records ---- */

TEST(the_first_record_wakes_the_net_thread, setup, teardown)
{
    open_live();
    steps(2);
    unsigned stuck = fake.stuck;
    assert_int_equal(stuck, 1); /* nothing to do */
    fake.window = 0;
    record("one\n");
    steps(1);
    assert_int_equal(fake.stuck, stuck);
    record("two\n");
    steps(1);
    assert_int_equal(fake.stuck, stuck + 1); /* it waits for the peer: no wake */
    fake.window = SIZE_MAX;
    end();
    assert_got(HEADER "one\ntwo\n");
}

static size_t own_note(void *ctx, char *to, size_t room, const struct hpx_out_socket_counts *c)
{
    assert_ptr_equal(ctx, &out);
    return (size_t)snprintf(to, room, "<%u>", (unsigned)c->dropped_records);
}

TEST(the_owner_words_the_note, setup, teardown)
{
    struct hpx_out_socket_config cfg = config();
    cfg.owner.note = own_note;
    cfg.queue = 300;
    open_with(&cfg);
    hpx_out_socket_turn(sock);
    assert_false(record("0123456789012345678901234567890123456789"));
    assert_true(record("a"));
    assert_true(record("b"));
    end();
    assert_got(HEADER "<1>ab");
}

TEST(a_reset_at_any_byte_leaves_whole_streams, setup, teardown)
{
    for (size_t at = 0; at < 60; at++) {
        begin_again(state);
        open_live();
        fake.reset_at = at;
        for (int i = 0; i < 12; i++) {
            hpx_out_socket_turn(sock);
            record("0123456789\n");
            steps(2);
            fake.reset_at = fake.gone ? SIZE_MAX : fake.reset_at;
            fake.now += 100 * FAKE_MS;
        }
        end();
        assert_memory_equal(fake.got, HEADER, strlen(HEADER));
        assert_int_equal(fake.got[fake.len - 1], '\n');
        assert_int_equal(restarts, 2);
    }
}

TEST(errors_of_send_and_recv_lose_the_connection_alone, setup, teardown)
{
    char lost[96];
    (void)snprintf(lost, sizeof lost, "connection lost: %s", strerror(ETIMEDOUT));
    open_live();
    fake.recv_errno = ETIMEDOUT;
    fake.window = 0;
    steps(1);
    assert_false(fake.open);
    fake.recv_errno = 0;
    fake.window = SIZE_MAX;
    while (wakes < 2) {
        steps(1);
    }
    assert_int_equal(said_times(lost), 1);
    fake.recv_errno = EINTR;
    steps(3);
    assert_true(fake.open);
    end();
}

/* ---- the end ---- */

TEST(the_owner_may_set_an_earlier_deadline, setup, teardown)
{
    open_live();
    fake.window = 0;
    uint64_t start = fake.now;
    hpx_out_socket_deadline(sock, start + 300 * FAKE_MS);
    hpx_out_socket_deadline(sock, start + 400 * FAKE_MS);
    end();
    assert_int_equal(fake.now - start, 300 * FAKE_MS);
}

TEST(room_is_waited_for_at_most_so_long, setup, teardown)
{
    char text[701];
    memset(text, 'x', 700);
    text[700] = '\0';
    open_live();
    assert_int_equal(hpx_out_socket_room(sock, 700, 0), 1);
    assert_int_equal(hpx_out_socket_room(sock, 1024, UINT64_C(3600000000000)), -1); /* no waiting */
    fake.window = 0;
    record(text);
    assert_int_equal(hpx_out_socket_room(sock, 700, 1), 0);
    fake.gone = true;
    steps(1);
    assert_int_equal(hpx_out_socket_room(sock, 700, UINT64_C(3600000000000)), -1);
    end();
}

TEST(a_connection_is_waited_for_at_most_so_long, setup, teardown)
{
    open_live();
    assert_true(hpx_out_socket_await(sock, 0));
    fake.gone = true;
    steps(1);
    assert_false(hpx_out_socket_await(sock, 1));
    while (wakes < 2) {
        steps(1);
    }
    assert_true(hpx_out_socket_await(sock, 0));
    end();
}

TEST(a_second_runner_returns, setup, teardown)
{
    open_live();
    end();
    hpx_out_socket_run(sock);
    assert_false(hpx_out_socket_step(sock));
}

TESTS(NULL, NULL)
