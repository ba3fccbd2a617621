/* SPDX-License-Identifier: BSD-2-Clause */
/* test_site_counts.c: sites=counts: places that probes count, the sizes that come behind, what lives as samples of the same places say. */
#include "site_counts_fixture.h"

static const struct hpx_site_options counts = {.ids = &ids, .live = true, .counts = true};

static void begin(void)
{
    begin_with(NULL, &counts);
}

/* ---- places ---- */

TEST(places_count_what_their_instruction_makes, NULL, teardown)
{
    begin();
    place(1, 10, NEW, "p/A");
    place(2, 11, NEWARRAY, "I");
    place(3, 12, ANEWARRAY, "p/A");
    place(4, 13, ANEWARRAY, "[I");
    place(5, 14, NEWARRAY, "Z");
    size("p/A", 24);
    count(1, 0, 3);
    count(2, 16, 2);
    count(2, 48, 1);
    count(3, 40, 5);
    count(4, 32, 7);
    count(5, 24, 1);
    struct hpx_site_snapshot *s = snapshot(5, 19);
    assert_row(s, "p.A", "p.A.run:10", 3, 72);
    assert_row(s, "int[]", "p.A.run:11", 3, 80);
    assert_row(s, "p.A[]", "p.A.run:12", 5, 200);
    assert_row(s, "int[][]", "p.A.run:13", 7, 224);
    assert_row(s, "boolean[]", "p.A.run:14", 1, 24);
    assert_int_equal(row_of(s, "p.A", "p.A.run:10")->array, 0);
    assert_int_equal(row_of(s, "int[]", "p.A.run:11")->array, 10);
    assert_int_equal(row_of(s, "p.A[]", "p.A.run:12")->array, 2);
    assert_int_equal(row_of(s, "int[][]", "p.A.run:13")->array, 2);
    fx_assert_frame(row_of(s, "p.A", "p.A.run:10")->trace, 0, "p.A.run(A.java:10)");
    assert_int_equal(row_of(s, "p.A", "p.A.run:10")->trace->nframes, 1);
    assert_int_equal(s->bytes, 72 + 80 + 200 + 224 + 24);
    assert_int_equal(s->unsized + s->missed_objects + s->missed_bytes, 0);
    hpx_site_snapshot_destroy(s);
}

static void multi(uint32_t id, uint32_t level, uint64_t n, uint64_t bytes)
{
    fx_event(&f, &f.t, HPX_EV_COUNT_MULTI, id, HPX_EV_MULTI_STAMP(level, n, bytes));
}

TEST(lines_are_left_out_with_lineno_n, NULL, teardown)
{
    static const struct hpx_model_config no_lines = {.lines = false};
    begin_with(&no_lines, &counts);
    place(1, 10, NEWARRAY, "I");
    place(2, 11, NEWARRAY, "I");
    count(1, 16, 1);
    count(2, 24, 1);
    struct hpx_site_snapshot *s = snapshot(1, 2);
    assert_row(s, "int[]", "p.A.run:-1", 2, 40);
    hpx_site_snapshot_destroy(s);
}

TEST(ids_that_nobody_announced_are_counted_as_lost, NULL, teardown)
{
    begin();
    place(5, 10, NEWARRAY, "I");
    count(4, 16, 2);
    count(6, 16, 3);
    count(UINT32_MAX, 16, 1);
    multi(4, 0, 1, 16);
    multi(5, 1, 1, 16);
    assert_int_equal(fx_counter(&f, HPX_C_ALLOCATIONS_UNCOUNTED), 8);
    count(5, 16, 1);
    struct hpx_site_snapshot *s = snapshot(1, 1);
    hpx_site_snapshot_destroy(s);
    assert_int_equal(fx_counter(&f, HPX_C_ALLOCATIONS_UNCOUNTED), 8);
    assert_int_equal(hpx_sites_recorded_objects(sites), 1);
    assert_int_equal(hpx_sites_recorded_bytes(sites), 16);
}

/* ---- sizes ---- */

TEST(arrays_without_bytes_are_of_unknown_size, NULL, teardown)
{
    begin();
    place(1, 10, NEWARRAY, "J");
    place(2, 11, MULTIANEWARRAY, "[[J");
    count(1, 0, 3);
    multi(2, 0, 1, 24);
    multi(2, 1, 2, 0);
    assert_int_equal(hpx_sites_counted_objects(sites), 6);
    struct hpx_site_snapshot *s = snapshot(3, 6);
    assert_int_equal(s->unsized, 5);
    hpx_site_snapshot_destroy(s);
}

/* ---- what lives ---- */

static void number_class(uint32_t number, const char *signature)
{
    struct hpx_msg_site_class *m = hpx_msg_site_class_new((uint32_t)strlen(signature));
    assert_non_null(m);
    m->number.v = number;
    m->method = 0;
    memcpy(m->signature, signature, strlen(signature) + 1);
    fx_message(&f, m);
}

/* An object of `bytes` that was sampled there, n times. Method 8 is p.A.run(), whose line is the bci. */
static void sample(uint32_t id, uint32_t klass, uint64_t bytes, int32_t bci, uint32_t n)
{
    struct {
        struct hpx_ev_head head;
        struct hpx_ev_hash hash;
        struct hpx_ev_site site;
        struct hpx_ev_frame frame;
    } ev = {.head = {HPX_EV_SITE_DEF, 4, id, bytes}, .site = {.klass = {klass}, .bytes = bytes}, .frame = {.method = 8, .bci = bci}};
    struct hpx_hash128 h = hpx_hash128(&ev.frame, sizeof(ev.frame));
    ev.hash = (struct hpx_ev_hash){h.lo, h.hi};
    hpx_model_events(f.m, &f.t, &ev.head, sizeof(ev));
    for (uint32_t i = 1; i < n; i++) {
        fx_event(&f, &f.t, HPX_EV_ALLOC, id, bytes);
    }
}

static void announce_class(void)
{
    fx_class(&f, 77, 8, 1, FX_TEXT("Lp/A;\0A.java\0run\0()V"));
}

static void lines_of(uint32_t methods)
{
    static const struct hpx_line lines[] = {{0, 1}, {10, 10}, {11, 11}, {12, 12}};
    assert_int_equal(f.nasked, methods);
    for (uint32_t i = 0; i < methods; i++) {
        fx_answer(&f, i, lines, 4, "", 0);
    }
}

static void lines_as_bytecode(void)
{
    lines_of(1);
}

static uint32_t fresh_id(uint64_t key)
{
    bool fresh = false;
    uint32_t id = hpx_site_ids_get(&ids, key, &fresh);
    assert_true(fresh);
    return id;
}

static void free_of(uint32_t id, uint64_t bytes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        hpx_site_ids_freed(&ids, hpx_site_tag(id, bytes));
    }
}

/* ---- makers ---- */

enum { INVOKEVIRTUAL = 182, INVOKESTATIC = 184 };

static void made(uint32_t id, uint32_t klass, uint64_t n, uint64_t bytes)
{
    fx_event(&f, &f.t, HPX_EV_COUNT_MADE, id, HPX_EV_MADE_STAMP((struct hpx_class_number){klass}, n, bytes));
}

TEST(the_stamp_of_what_was_made_holds_the_largest_array)
{
    uint64_t all = HPX_EV_MADE_STAMP((struct hpx_class_number){HPX_SITE_MOST - 1}, HPX_EV_MADE_MOST_N, UINT64_C(1) << 40);
    assert_int_equal(HPX_EV_MADE_CLASS(all).v, HPX_SITE_MOST - 1);
    assert_int_equal(HPX_EV_MADE_N(all), HPX_EV_MADE_MOST_N);
    assert_int_equal(HPX_EV_MADE_BYTES(all), UINT64_C(8) * UINT32_MAX);
    uint64_t longs = HPX_EV_MADE_STAMP((struct hpx_class_number){0}, 1, UINT64_C(8) * INT32_MAX + 16);
    assert_int_equal(HPX_EV_MADE_BYTES(longs), UINT64_C(8) * INT32_MAX + 16);
    assert_int_equal(HPX_EV_MADE_CLASS(longs).v, 0);
}

/* A sample of what a maker made has the maker's own frame on top, unless it is compiled into its caller. */
TEST(samples_below_a_maker_are_of_its_place, NULL, teardown)
{
    begin();
    announce_class();
    fx_class(&f, 78, 16, 1, FX_TEXT("Ljava/lang/Object;\0\0clone\0()Ljava/lang/Object;"));
    fx_class(&f, 79, 24, 1, FX_TEXT("Lp/Object;\0\0clone\0()Ljava/lang/Object;"));
    place(1, 10, INVOKEVIRTUAL, "");
    number_class(1, "Lp/A;");
    made(1, 1, 100, 24);
    for (uint32_t i = 0; i < 3; i++) {
        struct {
            struct hpx_ev_head head;
            struct hpx_ev_hash hash;
            struct hpx_ev_site site;
            struct hpx_ev_frame frames[2];
        } ev = {.head = {HPX_EV_SITE_DEF, 5, fresh_id(i + 1), 24}, .site = {.klass = {1}, .bytes = 24}};
        ev.frames[0] = (struct hpx_ev_frame){.method = 8 + 8 * i, .bci = i == 0 ? 10 : -1};
        ev.frames[1] = (struct hpx_ev_frame){.method = 8, .bci = 10};
        struct hpx_hash128 h = hpx_hash128(ev.frames, sizeof(ev.frames));
        ev.hash = (struct hpx_ev_hash){h.lo, h.hi};
        hpx_model_events(f.m, &f.t, &ev.head, sizeof(ev));
    }
    lines_of(3);
    struct hpx_site_snapshot *s = snapshot(1, 100);
    assert_int_equal(row_of(s, "p.A", "p.A.run:10")->live_objects, 2);
    assert_int_equal(s->missed_objects, 1); /* below a method of the program */
    hpx_site_snapshot_destroy(s);
}

TEST(sample_stands_for_many_but_not_for_more_than_were_counted, NULL, teardown)
{
    static const struct hpx_site_options sampled = {.ids = &ids, .live = true, .counts = true, .interval = 1 << 20};
    begin_with(NULL, &sampled);
    announce_class();
    place(1, 10, NEWARRAY, "B");
    place(2, 11, NEWARRAY, "B");
    for (uint32_t i = 0; i < 100000; i++) {
        fx_event(&f, &f.t, HPX_EV_COUNT, 1, 1024);
    }
    count(2, 1024, 10);
    number_class(1, "[B");
    uint32_t a = fresh_id(1), b = fresh_id(2);
    sample(a, 1, 1024, 10, 5); /* each of 1 / (1 - exp(-1/1024)) = 1024.5 objects */
    sample(b, 1, 1024, 11, 1);
    lines_as_bytecode();
    free_of(a, 1024, 3);
    struct hpx_site_snapshot *s = snapshot(2, 100010);
    assert_int_equal(row_of(s, "byte[]", "p.A.run:10")->live_objects, 2049);
    assert_int_equal(row_of(s, "byte[]", "p.A.run:11")->live_objects, 10);
    assert_int_equal(row_of(s, "byte[]", "p.A.run:11")->live_bytes, 10240);
    hpx_site_snapshot_destroy(s);
}

TEST(samples_where_no_probe_counts_are_missed, NULL, teardown)
{
    begin();
    announce_class();
    place(1, 10, NEW, "p/A");
    size("p/A", 24);
    count(1, 0, 1);
    number_class(1, "Lp/A;");
    number_class(2, "Lp/B;");
    sample(fresh_id(1), 1, 24, 12, 2); /* another line */
    sample(fresh_id(2), 2, 40, 10, 3); /* another class in a line that has a place */
    lines_as_bytecode();
    struct hpx_site_snapshot *s = snapshot(1, 1);
    assert_int_equal(s->missed_objects, 5);
    assert_int_equal(s->missed_bytes, 2 * 24 + 3 * 40);
    assert_int_equal(s->live_objects, 0);
    hpx_site_snapshot_destroy(s);
    place(2, 12, NEW, "p/A"); /* is announced behind its first object */
    count(2, 0, 2);
    s = snapshot(2, 3);
    assert_int_equal(s->missed_objects, 3);
    assert_int_equal(row_of(s, "p.A", "p.A.run:12")->live_objects, 2);
    hpx_site_snapshot_destroy(s);
}

/* ---- counters of threads ---- */

TEST(counters_are_cleared_for_what_they_had, NULL, teardown)
{
    begin();
    announce_class();
    place(2, 11, NEWARRAY, "I");
    hpx_sites_add_counter(sites, 2, 3, 96, false);
    hpx_sites_clear(sites);
    struct hpx_site_snapshot *s = snapshot(0, 0);
    hpx_site_snapshot_destroy(s);
    hpx_sites_forget_running(sites);
    hpx_sites_add_counter(sites, 2, 5, 160, true);
    s = snapshot(1, 2);
    assert_row(s, "int[]", "p.A.run:11", 2, 64);
    hpx_site_snapshot_destroy(s);
}

TEST(what_calls_allocated_is_cleared_with_the_rest, NULL, teardown)
{
    const struct hpx_call_options exact = {.depth = 4};
    begin();
    assert_non_null(hpx_call_rows_create(f.m, &exact));
    announce_class();
    place(1, 11, NEWARRAY, "I");
    fx_event(&f, &f.t, HPX_EV_PLACE, 1, 24);
    hpx_site_snapshot_destroy(snapshot(1, 1));
    hpx_sites_clear(sites);
    hpx_site_snapshot_destroy(snapshot(0, 0));
}

TESTS(NULL, NULL)
