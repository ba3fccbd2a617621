/* SPDX-License-Identifier: BSD-2-Clause */
/* test_out_socket_commands.c: what a peer sends over the output's connection: commands, faults, floods, its end. */
#include "socket_fixture.h"

static void peer_sends(const void *bytes, size_t n)
{
    fake.in = (uint8_t *)(uintptr_t)bytes;
    fake.in_len = n;
    fake.in_at = 0;
}

#define PEER_SENDS(s) peer_sends(s, sizeof(s) - 1)
#define FORCE_GC      "\1\0\0\0\7\0\0\0\0"
#define CPU(serial)   "\7\0\0\0" serial "\0\0\0\6\0\0\x3f\0\0\0"

TEST(commands_come_in_order_and_one_dump_of_a_kind_waits, setup, teardown)
{
    open_live();
    PEER_SENDS(FORCE_GC CPU("\1") "\6\0\0\0\2\0\0\0\0" CPU("\3") "\x08\0\0\0\4\0\0\0\2\0\5"
                                                                 "\x08\0\0\0\5\0\0\0\2\0\5");
    steps(2);
    assert_int_equal(ncommands, 5);
    static const uint8_t tags[] = {1, 7, 6, 8, 8};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(commands[i].tag, tags[i]);
    }
    assert_int_equal(said_times("command CPU SAMPLES, serial 3: ignored: another one is pending"), 1);
    hpx_out_socket_begun(sock, 7); /* it runs: one more may wait */
    PEER_SENDS(CPU("\4") CPU("\5"));
    steps(1);
    assert_int_equal(ncommands, 6);
    assert_int_equal(commands[5].serial, 4);
    assert_int_equal(said_times("serial 5: ignored"), 1);
    end();
}

TEST(controls_wait_in_the_peer_when_all_places_are_taken, setup, teardown)
{
    static uint8_t many[100][11];
    open_live();
    for (uint8_t i = 0; i < 100; i++) {
        memcpy(many[i], "\x08\0\0\0\0\0\0\0\2\0\5", 11);
        many[i][4] = i;
    }
    peer_sends(many, sizeof(many));
    steps(5);
    assert_int_equal(ncommands, 64);
    unsigned polls = fake.polls, stuck = fake.stuck;
    steps(3);
    assert_int_equal(fake.stuck - stuck, fake.polls - polls); /* it sleeps */
    for (unsigned i = 0; i < 36; i++) {
        hpx_out_socket_begun(sock, 8);
        steps(2);
        assert_int_equal(ncommands, 65 + i);
    }
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(commands[i].serial, i);
    }
    end();
    assert_string_equal(said(), "");
}

TEST(a_flood_is_read_at_a_bounded_rate, setup, teardown)
{
    static uint8_t flood[3 << 20]; /* commands of tag 0 */
    open_live();
    steps(1);
    peer_sends(flood, sizeof(flood));
    uint64_t start = fake.now;
    unsigned polls = fake.polls;
    while (fake.in_at < fake.in_len) {
        steps(1);
    }
    assert_true(fake.now - start >= 2000 * FAKE_MS);
    assert_true(fake.polls - polls < 2000);
    assert_true(said_times("ignored: unknown tag") < 30);
    assert_true(said_times("earlier messages suppressed)") > 0);
    end();
}

/* It may have been the rest of a command whose beginning another connection had. */
TEST(the_next_connection_has_commands_again, setup, teardown)
{
    open_live();
    PEER_SENDS("\1\0\0\0\x08\0\1\0\1");
    steps(2);
    assert_int_equal(ncommands, 0);
    fake.gone = true;
    steps(1);
    PEER_SENDS(FORCE_GC);
    while (ncommands < 1) {
        steps(1);
    }
    end();
}

TEST(a_peer_that_only_listens_is_no_lost_peer, setup, teardown)
{
    open_live();
    steps(1);
    fake.in_end = true;
    steps(3); /* the end is seen, a note goes out */
    unsigned polls = fake.polls, stuck = fake.stuck;
    steps(3);
    assert_int_equal(fake.stuck - stuck, fake.polls - polls);
    assert_true(record("one\n"));
    end();
    assert_int_equal(fake.attempts, 1);
    assert_got(HEADER
               "hprofx: lost, socket: 0 records (0 bytes) for a slow peer, 0 records (0 bytes) without a connection, 0 bytes of lost "
               "connections\none\n");
}

TEST(a_peer_that_only_listens_gets_the_header_first, setup, teardown)
{
    struct hpx_out_socket_config cfg = config();
    open_with(&cfg);
    for (unsigned stream = 1; stream < 3; stream++) {
        fake.in_end = true;
        steps(3);
        assert_int_equal(fake.len, 0);
        assert_true(hpx_out_socket_turn(sock));
        steps(1);
        assert_memory_equal(fake.got, HEADER, strlen(HEADER));
        fake.gone = true;
        fake.in_end = false;
        while (wakes <= stream) {
            steps(1);
        }
    }
    end();
}

TEST(a_peer_that_closed_is_noticed_without_a_record, setup, teardown)
{
    for (int after_eof = 0; after_eof < 2; after_eof++) {
        begin_again(state);
        open_live();
        steps(1);
        if (after_eof) {
            PEER_SENDS("\xff");
            steps(2);
        }
        fake.in_end = fake.closed_by_peer = true;
        steps(4);
        assert_false(fake.open);
        fake.in_end = fake.closed_by_peer = false;
        while (wakes < 2) {
            steps(1);
        }
        end();
    }
}

TESTS(NULL, NULL)
