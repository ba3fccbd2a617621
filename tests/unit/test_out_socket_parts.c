/* SPDX-License-Identifier: BSD-2-Clause */
/* test_out_socket_parts.c: records in parts: larger than the queue, cut where the peer does not read, whole records around them. */
#include "socket_fixture.h"

enum { PIECE = 50, END = 64 };

static void open_parts(void)
{
    struct hpx_out_socket_config cfg = config();
    cfg.piece = PIECE;
    cfg.end = END;
    open_with(&cfg);
    assert_true(hpx_out_socket_turn(sock));
}

/* Rows of 10 bytes; `each`: rounds of the net thread behind a row. true: its end was taken. */
static bool table(unsigned rows, unsigned each)
{
    hpx_out_str(&out, "BEGIN\n");
    for (unsigned i = 0; i < rows; i++) {
        hpx_out_printf(&out, "row %5u\n", i);
        hpx_out_part(&out, i + 1 == rows);
        steps(each);
    }
    return record("END\n");
}

/* Behind `at` a table of `rows`; where its end is. */
static const char *expect_table(const char *at, unsigned rows)
{
    assert_memory_equal(at, "BEGIN\n", 6);
    at += 6;
    for (unsigned i = 0; i < rows; i++) {
        char row[16];
        snprintf(row, sizeof(row), "row %5u\n", i);
        assert_memory_equal(at, row, 10);
        at += 10;
    }
    assert_memory_equal(at, "END\n", 4);
    return at + 4;
}

TEST(a_small_record_has_no_parts, setup, teardown)
{
    open_parts();
    assert_true(table(3, 0));
    struct hpx_out_socket_counts c;
    hpx_out_socket_count(sock, &c);
    assert_int_equal(c.given_records, 2);
    end();
    assert_string_equal(expect_table(fake.got + strlen(HEADER), 3), "");
}

TEST(a_record_larger_than_the_queue_goes_out_in_parts, setup, teardown)
{
    open_parts();
    assert_true(table(5000, 1));
    assert_true(record("after\n"));
    end();
    assert_string_equal(expect_table(fake.got + strlen(HEADER), 5000), "after\n");
    assert_string_equal(said(), "");
    assert_int_equal(out.refused, 0);
}

static unsigned rooms;
static void room(size_t n)
{
    assert_true(n >= PIECE + END);
    rooms++;
    steps(1);
}

TEST(room_is_waited_for_before_each_part, setup, teardown)
{
    open_parts();
    out.room = room;
    rooms = 0;
    assert_true(table(500, 0));
    assert_true(rooms >= 500 * 10 / (PIECE + 10));
    end();
    expect_table(fake.got + strlen(HEADER), 500);
}

TEST(a_peer_that_stalls_gets_the_first_rows_and_the_end, setup, teardown)
{
    for (unsigned rows = 60; rows < 120; rows++) {
        begin_again(state);
        open_parts();
        steps(1);
        fake.window = 0;
        assert_true(table(rows, 0));
        uint64_t refused = out.refused;
        assert_true(refused > 0 || rows < 95);
        assert_true(refused == 0 || rows > 60);
        fake.window = SIZE_MAX;
        steps(3);
        assert_true(record("after\n"));
        end();
        unsigned sent = 0;
        for (const char *at = fake.got; (at = strstr(at, "row ")) != NULL; at++) {
            sent++;
        }
        const char *behind = expect_table(fake.got + strlen(HEADER), sent);
        assert_int_equal(refused == 0, sent == rows);
        assert_true(refused == 0 || strncmp(behind, "hprofx: lost, socket: ", 22) == 0);
        assert_int_equal(said_times("the peer reads too slowly; records"), refused > 0);
    }
}

TEST(parts_behind_one_that_was_refused_are_refused_though_there_is_room, setup, teardown)
{
    open_parts();
    steps(1);
    fake.window = 0;
    hpx_out_str(&out, "BEGIN\n");
    for (unsigned i = 0; i < 300; i++) {
        hpx_out_printf(&out, "row %5u\n", i);
        hpx_out_part(&out, i + 1 == 300);
        fake.window = i == 150 ? SIZE_MAX : fake.window;
        steps(i > 150);
    }
    assert_true(record("END\n"));
    end();
    assert_non_null(strstr(fake.got, "row    60"));
    assert_null(strstr(fake.got, "row   299"));
    assert_non_null(strstr(fake.got, "\nEND\nhprofx: lost"));
}

TEST(without_its_first_part_nothing_of_a_record_is_sent, setup, teardown)
{
    char big[741];
    memset(big, 'b', 740);
    big[740] = '\0';
    open_parts();
    steps(1);
    fake.window = 0;
    assert_true(record(big));
    hpx_out_str(&out, "BEGIN\n");
    for (unsigned i = 0; i < 60; i++) {
        hpx_out_printf(&out, "row %5u\n", i);
        hpx_out_part(&out, i == 59);
        fake.window = i == 20 ? SIZE_MAX : fake.window;
        steps(i > 20);
    }
    assert_false(record("END\n"));
    assert_true(record("after\n"));
    end();
    const char *behind = fake.got + strlen(HEADER) + 740;
    assert_memory_equal(behind, "hprofx: lost", 12);
    assert_null(strstr(behind, "row"));
    assert_null(strstr(behind, "END"));
    assert_non_null(strstr(behind, "\nafter\n"));
}

TEST(a_link_that_is_lost_loses_the_rest_and_the_next_stream_is_whole, setup, teardown)
{
    open_parts();
    hpx_out_str(&out, "BEGIN\n");
    for (unsigned i = 0; i < 100; i++) {
        hpx_out_printf(&out, "row %5u\n", i);
        hpx_out_part(&out, i == 99);
        fake.gone = i == 40;
        while (i == 50 && wakes < 2) { /* a new connection, in the middle */
            steps(1);
        }
        steps(1);
    }
    assert_false(record("END\n"));
    assert_true(hpx_out_socket_turn(sock));
    assert_true(table(20, 1));
    end();
    const char *at = strstr(fake.got, "BEGIN");
    assert_memory_equal(fake.got, HEADER "hprofx: lost", strlen(HEADER) + 12);
    assert_non_null(at);
    assert_string_equal(expect_table(at, 20), "");
}

TEST(a_new_stream_forgets_a_record_that_did_not_end, setup, teardown)
{
    open_parts();
    hpx_out_str(&out, "BEGIN\n");
    for (unsigned i = 0; i < 20; i++) {
        hpx_out_printf(&out, "row %5u\n", i);
        hpx_out_part(&out, false);
        fake.gone = i == 0;
        steps(1);
    }
    while (wakes < 2) {
        steps(1);
    }
    assert_true(hpx_out_socket_turn(sock));
    assert_true(record("after\n"));
    end();
    assert_memory_equal(fake.got, HEADER "hprofx: lost", strlen(HEADER) + 12);
    assert_non_null(strstr(fake.got, "\nafter\n"));
}

TEST(what_was_left_out_is_counted_where_it_belongs, setup, teardown)
{
    struct hpx_out_socket_counts c;
    open_parts();
    assert_int_equal(out.most, 1024 - 2 * HPX_OUT_SOCKET_NOTE);
    hpx_out_leave_out(&out, 80);
    steps(1);
    fake.gone = true;
    steps(1);
    hpx_out_leave_out(&out, 7);
    hpx_out_socket_count(sock, &c);
    assert_int_equal(c.dropped_records, 1);
    assert_int_equal(c.dropped_bytes, 80);
    assert_int_equal(c.absent_records, 1);
    assert_int_equal(c.absent_bytes, 7);
    assert_int_equal(out.refused, 2);
    end();
}

TESTS(NULL, NULL)
