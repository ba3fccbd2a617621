/* SPDX-License-Identifier: BSD-2-Clause */
/* test_lane.c: order and ownership of messages. */
#include "cmocka_all.h"
#include "lane.h"

#include <stdlib.h>

struct numbered {
    struct hpx_msg msg;
    int number;
    char body[100];
};

static void post(struct hpx_lane *l, int number, bool now)
{
    struct numbered *m = hpx_msg_new(3, sizeof(*m));
    assert_non_null(m);
    m->number = number;
    hpx_lane_post(l, &m->msg, now);
}

TEST(lane_message_is_cleared_and_knows_its_size)
{
    struct numbered *m = hpx_msg_new(3, sizeof(*m));
    assert_non_null(m);
    assert_int_equal(m->msg.kind, 3);
    assert_int_equal(m->msg.size, sizeof(*m));
    assert_null(m->msg.next);
    for (size_t i = 0; i < sizeof(m->body); i++) {
        assert_int_equal(m->body[i], 0);
    }
    free(m);
}

TEST(lane_gives_messages_in_order_and_once)
{
    struct hpx_lane l;
    assert_int_equal(hpx_lane_init(&l), 0);
    assert_null(hpx_lane_splice(&l));
    for (int round = 1; round < 4; round++) {
        for (int i = 0; i < round; i++) {
            post(&l, i, false);
        }
        struct hpx_msg *m = hpx_lane_splice(&l);
        for (int i = 0; i < round; i++) {
            assert_non_null(m);
            struct hpx_msg *next = m->next;
            assert_int_equal(((struct numbered *)(void *)m)->number, i);
            free(m);
            m = next;
        }
        assert_null(m);
        assert_null(hpx_lane_splice(&l));
    }
    hpx_lane_fini(&l);
}

TEST(lane_takes_a_received_message_again)
{
    struct hpx_lane l, back;
    assert_int_equal(hpx_lane_init(&l), 0);
    assert_int_equal(hpx_lane_init(&back), 0);
    post(&l, 0, false);
    post(&l, 1, false);
    for (int round = 0; round < 4; round++) { /* the first goes behind the second */
        struct hpx_lane *from = round % 2 ? &back : &l, *to = round % 2 ? &l : &back;
        struct hpx_msg *first = hpx_lane_splice(from), *second = first->next;
        assert_int_equal(((struct numbered *)(void *)first)->number, round % 2);
        assert_null(second->next);
        hpx_lane_post(to, second, false);
        hpx_lane_post(to, first, false);
    }
    hpx_lane_fini(&l);
    hpx_lane_fini(&back);
}

TEST(lane_post_wakes_only_when_asked)
{
    struct hpx_lane l;
    assert_int_equal(hpx_lane_init(&l), 0);
    uint32_t seen = hpx_wake_value(&l.wake);
    post(&l, 1, false);
    assert_int_equal(hpx_wake_value(&l.wake), seen);
    post(&l, 2, true);
    assert_int_not_equal(hpx_wake_value(&l.wake), seen);
    hpx_lane_fini(&l);
}

TEST(lane_fini_frees_what_nobody_received)
{
    struct hpx_lane l;
    assert_int_equal(hpx_lane_init(&l), 0);
    post(&l, 1, false);
    post(&l, 2, false);
    hpx_lane_fini(&l); /* a leak is LeakSanitizer's to see */
    assert_null(hpx_lane_splice(&l));
}

TESTS(NULL, NULL)
