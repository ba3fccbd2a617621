/* SPDX-License-Identifier: BSD-2-Clause */
/* test_site_memory.c: allocation sites while allocations of their own fail, looks, and records that no producer makes. */
#include "failing_memory.h"
#include "site_fixture.h"

static const struct hpx_model_config no_lines = {.lines = false};

static void begin_exact(void)
{
    begin(&no_lines, 0, true);
    give_class();
    object_class(1, 8, "Lp/C;");
    object_class(2, 0, "[I");
}

static struct hpx_sites *of_mode(const struct hpx_site_options *o)
{
    fx_begin(&f, &no_lines);
    sites = hpx_sites_create(f.m, o);
    assert_non_null(sites);
    give_class();
    assert_true(object_class(1, 8, "Lp/C;"));
    return sites;
}

TEST(every_id_has_its_trace_or_none, NULL, end)
{
    uint32_t n;
    begin_exact();
    define(&f.t, id_of(0), 1, 16, 0, FX_STACK({8, 1}));
    allocate(&f.t, id_of(2), 16); /* not defined */
    const struct hpx_trace_rec **t = hpx_sites_traces(sites, &n);
    assert_int_equal(n, id_of(2) + 1);
    assert_true(t[id_of(0)]->nframes == 1 && t[id_of(2)] == NULL);
    free(t);
    memory_refuse();
    t = hpx_sites_traces(sites, &n);
    memory_allow();
    assert_true(t == NULL && n == 0);
    define(&f.t, id_of(1), 1, 16, 0, FX_STACK({16, 1}));
    memory_fail(2, UINT64_MAX);
    t = hpx_sites_traces(sites, &n);
    memory_allow();
    assert_non_null(t);
    free(t);
    end(NULL);
    (void)of_mode(&(struct hpx_site_options){.ids = &ids, .counts = true});
    define(&f.t, id_of(0), 1, 16, 0, FX_STACK({8, 1}));
    t = hpx_sites_traces(sites, &n); /* which places have, not ids */
    assert_int_equal(n, 0);
    free(t);
}

/* With looks the counters of ids are what lives, once a look was taken. */
TEST(what_a_look_has_counted_lives_but_no_more_than_was_allocated, NULL, end)
{
    (void)of_mode(&(struct hpx_site_options){.ids = &ids, .live = true, .looks = true});
    define(&f.t, id_of(0), 1, 16, 0, FX_STACK({8, 1}));
    struct hpx_site_snapshot *s = take(1);
    assert_false(s->live);
    hpx_site_snapshot_destroy(s);
    atomic_store(&ids.looked, true);
    for (int i = 0; i < 3; i++) {
        s = take(1);
        assert_true(s->live);
        assert_row(&s->rows[0], 1, 16, i > 0, i > 0 ? 16 : 0);
        hpx_site_snapshot_destroy(s);
        free_object(id_of(0), 16); /* the counter goes up to 1, and to 2 */
    }
}

TEST(records_and_classes_that_cannot_be_break_nothing, NULL, end)
{
    struct hpx_ev_head cut = {HPX_EV_SITE_DEF, 1, 1, 16};
    begin_exact();
    cut.id = id_of(0);
    hpx_model_events(f.m, &f.t, &cut, sizeof cut);
    assert_true(object_class(3, 0, "["));
    define(&f.t, id_of(1), 3, 16, 0, FX_STACK({8, 1}));
    hpx_site_snapshot_destroy(take(1));
    assert_null(hpx_msg_sites_new(UINT32_MAX, 1));
}

/* ---- without memory ---- */

/* Returns the number of objects. */
static uint64_t produce(void)
{
    struct fx_frame deep[FX_FRAMES];
    uint64_t made = 0;
    give_class();
    (void)object_class(1, 0, "Lp/C;");
    (void)object_class(2, 0, "Lp/C;"); /* of another loader */
    for (uint32_t i = 0; i < 200; i++) {
        for (uint32_t k = 0; k < FX_FRAMES; k++) {
            deep[k] = (struct fx_frame){8 + 8 * (i >> k % 8 & 1), 1};
        }
        uint32_t id = id_of(i);
        if (id != HPX_SITE_NONE) {
            define(&f.t, id, i % 3, 16, 0, deep, FX_FRAMES);
            allocate(&f.u, id, 16);
            made += 2;
        }
    }
    return made;
}

/* Only those of a snapshot, or of the traces of ids: it is there with everything, or not at all. */
TEST(without_memory_there_is_no_snapshot_and_the_next_one_has_all, NULL, end)
{
    for (int traces = 0; traces < 2; traces++) {
        bool made = false;
        for (uint64_t fault = 1; !made; fault++) {
            begin(&no_lines, 0, true);
            uint64_t objects = produce();
            uint32_t n;
            memory_fail(fault, UINT64_MAX);
            struct hpx_site_snapshot *s = traces ? NULL : hpx_sites_snapshot(sites);
            const struct hpx_trace_rec **t = traces ? hpx_sites_traces(sites, &n) : NULL;
            made = memory_calls() < fault;
            memory_allow();
            assert_true(made || s == NULL);
            hpx_site_snapshot_destroy(s);
            free(t);
            s = hpx_sites_snapshot(sites);
            assert_int_equal(s->objects, objects);
            hpx_site_snapshot_destroy(s);
            end(NULL);
        }
    }
}

TESTS(NULL, NULL)
