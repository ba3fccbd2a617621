/* SPDX-License-Identifier: BSD-2-Clause */
/* test_site_counts_calls.c: sites=counts with cpu=times: the traces of calls are those of what they allocate. */
#include "site_counts_fixture.h"

static const struct hpx_call_options with_calls = {.depth = 3};
static const struct hpx_site_options by_call = {.ids = &ids, .counts = true};

static void begin_by_call(void)
{
    begin_with(NULL, &by_call);
    f.calls = hpx_call_rows_create(f.m, &with_calls);
    assert_non_null(f.calls);
}

static void announce_methods(void)
{
    static const char text[] = "Lp/A;\0A.java\0main\0()V\0a\0()V\0run\0()V";
    struct hpx_msg_methods *m = hpx_msg_methods_new(3, sizeof(text));
    assert_non_null(m);
    m->first = 1;
    memcpy(m->text, text, sizeof(text));
    fx_message(&f, m);
}

TEST(calls_give_their_traces_to_what_they_allocate, NULL, teardown)
{
    begin_by_call();
    announce_methods();
    place(1, 10, NEW, "p/B");
    place(2, 11, MULTIANEWARRAY, "[[I");
    size("p/B", 24);
    fx_event(&f, &f.t, HPX_EV_PLACE, 2, 0); /* outside of any call; level 0 is an array, whose bytes are in the stamp */
    fx_event(&f, &f.t, HPX_EV_ENTER, 1, 0);
    fx_event(&f, &f.t, HPX_EV_PLACE, 1, 0);
    fx_event(&f, &f.t, HPX_EV_ENTER, 3, 0);
    fx_event(&f, &f.t, HPX_EV_PLACE, 1, 0);
    fx_event(&f, &f.t, HPX_EV_PLACE, 1, 0);
    fx_event(&f, &f.t, HPX_EV_EXIT, 3, 0);
    fx_event(&f, &f.t, HPX_EV_ENTER, 2, 0);
    fx_event(&f, &f.t, HPX_EV_ENTER, 3, 0);
    fx_event(&f, &f.t, HPX_EV_PLACE, 1, 0);
    fx_event(&f, &f.t, HPX_EV_PLACE_MULTI, 2, HPX_EV_MULTI_STAMP(0, 1, 32));
    fx_event(&f, &f.t, HPX_EV_PLACE_MULTI, 2, HPX_EV_MULTI_STAMP(1, 3, 24));
    struct hpx_site_snapshot *s = hpx_sites_snapshot(sites);
    assert_int_equal(s->nrows, 6);
    assert_int_equal(s->objects, 1 + 1 + 2 + 1 + 1 + 3);
    assert_row(s, "p.B", "p.A.main:-1", 1, 24);
    assert_row(s, "int[][]", "", 1, 0);
    assert_row(s, "int[][]", "p.A.run:-1", 1, 32);
    assert_row(s, "int[]", "p.A.run:-1", 3, 72);
    uint64_t of_run[4] = {0};
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct hpx_trace_rec *t = s->rows[i].trace;
        if (fx_text_is(s->rows[i].class_name, "p.B")) {
            of_run[t->nframes] += s->rows[i].objects;
        }
    }
    assert_int_equal(of_run[1], 1);
    assert_int_equal(of_run[2], 2); /* run < main */
    assert_int_equal(of_run[3], 1); /* run < a < main */
    hpx_site_snapshot_destroy(s);
}

TEST(what_a_maker_made_is_of_the_open_call, NULL, teardown)
{
    begin_by_call();
    announce_methods();
    place(1, 10, 184, "");
    place(2, 11, MULTIANEWARRAY, "[[I");
    struct hpx_msg_site_class *m = hpx_msg_site_class_new(5);
    assert_non_null(m);
    m->number.v = 3;
    m->method = 0;
    memcpy(m->signature, "Lp/B;", 6);
    fx_message(&f, m);
    fx_event(&f, &f.t, HPX_EV_ENTER, 1, 0);
    fx_event(&f, &f.t, HPX_EV_PLACE_MADE, 1, HPX_EV_MADE_STAMP((struct hpx_class_number){3}, 4, 24));
    fx_event(&f, &f.t, HPX_EV_PLACE_MADE, 1, HPX_EV_MADE_STAMP((struct hpx_class_number){3}, 1, 32));
    fx_event(&f, &f.t, HPX_EV_PLACE_MULTI, 2, HPX_EV_MULTI_STAMP(1, 3, 24));
    fx_event(&f, &f.t, HPX_EV_PLACE_MADE, 7, HPX_EV_MADE_STAMP((struct hpx_class_number){3}, 2, 24)); /* not announced */
    struct hpx_site_snapshot *s = hpx_sites_snapshot(sites);
    assert_int_equal(s->nrows, 2);
    assert_row(s, "p.B", "p.A.main:-1", 5, 128);
    assert_row(s, "int[]", "p.A.main:-1", 3, 72);
    assert_int_equal(s->missed_objects, 2);
    hpx_site_snapshot_destroy(s);
}

TEST(clear_begins_anew_for_calls, NULL, teardown)
{
    begin_by_call();
    announce_methods();
    place(1, 10, NEW, "p/B");
    size("p/B", 24);
    fx_event(&f, &f.t, HPX_EV_ENTER, 1, 0);
    fx_event(&f, &f.t, HPX_EV_PLACE, 1, 0);
    hpx_sites_clear(sites);
    struct hpx_site_snapshot *s = snapshot(0, 0);
    hpx_site_snapshot_destroy(s);
    fx_event(&f, &f.t, HPX_EV_PLACE, 1, 0);
    fx_event(&f, &f.t, HPX_EV_EXIT, 1, 0);
    for (int again = 0; again < 2; again++) { /* a snapshot resets nothing */
        s = snapshot(1, 1);
        assert_row(s, "p.B", "p.A.main:-1", 1, 24);
        hpx_site_snapshot_destroy(s);
        hpx_call_snapshot_destroy(hpx_call_rows_snapshot(f.calls, HPX_TAKE_RESET));
    }
}

TESTS(NULL, NULL)
