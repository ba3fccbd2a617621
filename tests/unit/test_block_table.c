/* SPDX-License-Identifier: BSD-2-Clause */
/* test_block_table.c: blocked time by place and by class: rows, resets, estimates, waits. */
#include "block_table.h"
#include "failing_memory.h"
#include "model_fixture.h"
#include "site_ids.h"

static struct fx f;
static struct hpx_blocks *blocks;

#define MS UINT64_C(1000000)

static struct {
    char signature[32];
    int64_t ms;
    uint32_t thread;
    bool waited;
} lines[16];
static uint32_t nlines;

static void on_wait(struct hpx_text signature, int64_t ms, uint32_t thread, bool waited)
{
    assert_true(nlines < HPX_ARRAY_LEN(lines));
    snprintf(lines[nlines].signature, sizeof(lines[nlines].signature), "%.*s", (int)signature.len, signature.bytes);
    lines[nlines].ms = ms;
    lines[nlines].thread = thread;
    lines[nlines++].waited = waited;
}

static void give_class(uint32_t number, const char *signature)
{
    fx_message(&f, hpx_msg_row_class_new(HPX_MSG_BLOCK_CLASS, number, signature));
}

static void begin_as(const struct hpx_model_config *cfg, const struct hpx_block_options *o)
{
    nlines = 0;
    fx_begin(&f, cfg);
    blocks = hpx_blocks_create(f.m, o);
    assert_non_null(blocks);
    fx_class(&f, 1, 8, 3, FX_TEXT("Lp/C;\0C.java\0a\0()V\0b\0()V\0c\0()V"));
    give_class(1, "Lp/Gate;");
    give_class(2, "[Lp/Bell;");
}

static void begin(const struct hpx_model_config *cfg, uint64_t interval_ns)
{
    begin_as(cfg, &(struct hpx_block_options){.interval_ns = interval_ns, .wait = on_wait});
}

static void begin_with_owners(void)
{
    begin_as(NULL, &(struct hpx_block_options){.owners = true, .wait = on_wait});
}

static int end(void **state)
{
    (void)state;
    if (blocks) {
        fx_end(&f);
        blocks = NULL;
    }
    return 0;
}

static uint32_t virtual_thread; /* its serial; 0: the ring's */

/* owner: a method, 0: no owner. */
static void define(struct hpx_thread *t, uint32_t id, uint32_t klass, enum hpx_block_part part, uint64_t method, uint64_t owner)
{
    struct {
        struct hpx_ev_head head;
        struct hpx_ev_hash hash[2];
        struct hpx_ev_block block;
        struct hpx_ev_frame frames[2];
    } d;
    struct fx_def own, other;
    uint32_t n = owner ? 2 : 1;
    fx_fill_def(&own, 0, 0, FX_STACK({method, 1}));
    fx_fill_def(&other, 0, 0, FX_STACK({owner, 1}));
    d.head = (struct hpx_ev_head){HPX_EV_BLOCK_DEF, (uint16_t)(4 + n), id, 0};
    d.hash[0] = own.hash;
    d.hash[1] = other.hash;
    d.block = (struct hpx_ev_block){.klass = klass, .thread = virtual_thread, .part = part, .frames = 1};
    d.frames[0] = own.frames[0];
    d.frames[1] = other.frames[0];
    hpx_model_events(f.m, t, &d.head, HPX_EV_BLOCK_BYTES(n));
}

static void blocked(struct hpx_thread *t, uint32_t id, uint64_t ns)
{
    fx_event(&f, t, HPX_EV_BLOCKED, id, ns);
}

/* The table of a part, with this number of rows, whose totals are the sums of its rows. */
static const struct hpx_block_table *table(const struct hpx_block_snapshot *s, enum hpx_block_part part, uint32_t rows)
{
    const struct hpx_block_table *t = &s->of[part];
    uint64_t count = 0, ns = 0;
    for (uint32_t i = 0; i < t->nrows; i++) {
        count += t->rows[i].count;
        ns += t->rows[i].ns;
    }
    assert_int_equal(t->nrows, rows);
    assert_int_equal(t->count, count);
    assert_int_equal(t->ns, ns);
    return t;
}

static const struct hpx_block_row *row(const struct hpx_block_table *t, const char *name, const char *method)
{
    for (uint32_t i = 0; i < t->nrows; i++) {
        const struct hpx_trace_rec *trace = t->rows[i].trace;
        if (fx_text_is(t->rows[i].class_name, name) &&
            (method ? trace->nframes > 0 && fx_text_is(trace->frames[0].method->name, method) : trace->nframes == 0)) {
            return &t->rows[i];
        }
    }
    fail_msg("no row of %s at %s", name, method ? method : "no trace");
    return NULL;
}

static void assert_row(const struct hpx_block_row *r, uint64_t count, uint64_t ns)
{
    assert_int_equal(r->count, count);
    assert_int_equal(r->ns, ns);
}

TEST(a_contention_without_an_owner_is_among_the_owners_too, NULL, end)
{
    begin_with_owners();
    define(&f.t, 1, 1, HPX_BLOCK_ENTER, 8, 16);
    define(&f.t, 2, 1, HPX_BLOCK_ENTER, 8, 0);
    define(&f.t, 3, 1, HPX_BLOCK_WAIT, 8, 0);
    blocked(&f.t, 1, 20);
    blocked(&f.t, 2, 30);
    blocked(&f.t, 2, 5);
    blocked(&f.t, 3, 7);
    fx_event(&f, &f.t, HPX_EV_BLOCKED_CLASS, HPX_EV_BLOCK_ID(HPX_BLOCK_ENTER, 2), 4); /* its place had no id */
    struct hpx_block_snapshot *s = hpx_blocks_snapshot(blocks, false);
    assert_row(row(table(s, HPX_BLOCK_ENTER, 2), "p.Gate", "a"), 3, 55);
    const struct hpx_block_table *owners = table(s, HPX_BLOCK_OWNERS, 3);
    assert_row(row(owners, "p.Bell[]", NULL), 1, 4);
    uint32_t known = 0;
    for (uint32_t i = 0; i < owners->nrows; i++) {
        known += owners->rows[i].owner != NULL;
        if (owners->rows[i].trace->nframes > 0) {
            assert_row(&owners->rows[i], owners->rows[i].owner != NULL ? 1 : 2, owners->rows[i].owner != NULL ? 20 : 35);
        }
    }
    assert_int_equal(known, 1);
    assert_int_equal(owners->count, s->of[HPX_BLOCK_ENTER].count);
    assert_int_equal(owners->ns, s->of[HPX_BLOCK_ENTER].ns);
    assert_int_equal(hpx_blocks_totals(blocks).unowned, 3);
    hpx_block_snapshot_destroy(s);
}

/* 1000 blocks of 1 ms at a, 100 of 30 ms at b, a stack every 10 ms on average: chosen as an agent would. */
TEST(samples_divide_exact_sums, NULL, end)
{
    begin(NULL, 10 * MS);
    define(&f.t, 1, 1, HPX_BLOCK_ENTER, 8, 0);
    define(&f.t, 2, 1, HPX_BLOCK_ENTER, 16, 0);
    for (int i = 0; i < 1100; i++) {
        uint64_t ns = i % 11 ? MS : 30 * MS;
        fx_event(&f, &f.t, HPX_EV_BLOCKED_CLASS, HPX_EV_BLOCK_ID(HPX_BLOCK_ENTER, 1), ns);
        if (ns == MS && i % 11 == 1) { /* 1 - exp(-0.1) is 1 in 10.5 */
            fx_event(&f, &f.t, HPX_EV_BLOCK_SAMPLE, 1, ns);
        } else if (ns > MS && i % 20 != 0) { /* 1 - exp(-3) is 19 in 20 */
            fx_event(&f, &f.t, HPX_EV_BLOCK_SAMPLE, 2, ns);
        }
    }
    fx_event(&f, &f.t, HPX_EV_BLOCKED_CLASS, HPX_EV_BLOCK_ID(HPX_BLOCK_ENTER, 2), 5);
    struct hpx_block_snapshot *s = hpx_blocks_snapshot(blocks, false);
    const struct hpx_block_table *t = table(s, HPX_BLOCK_ENTER, 3);
    const struct hpx_block_row *a = row(t, "p.Gate", "a"), *b = row(t, "p.Gate", "b");
    assert_int_equal(a->count + b->count, 1100);
    assert_int_equal(a->ns + b->ns, 4000 * MS);
    assert_in_range(a->count, 980, 1020);
    assert_in_range(a->ns, 980 * MS, 1040 * MS);
    assert_row(row(t, "p.Bell[]", NULL), 1, 5);
    hpx_block_snapshot_destroy(s);
    s = hpx_blocks_snapshot(blocks, false);
    table(s, HPX_BLOCK_ENTER, 0);
    hpx_block_snapshot_destroy(s);
    assert_int_equal(hpx_blocks_totals(blocks).count[HPX_BLOCK_ENTER], 1101);
}

TEST(waits_are_told_and_counted, NULL, end)
{
    struct {
        struct hpx_ev_head head;
        struct hpx_ev_thread thread;
    } other = {{HPX_EV_WAITED, 2, 2, 12345678}, {.serial = 200077}};
    begin(NULL, 0);
    fx_thread_start(&f, 1, &f.t, FX_TEXT("main\0main\0"));
    fx_event(&f, &f.t, HPX_EV_WAIT, 1, 150);
    fx_event(&f, &f.t, HPX_EV_WAITED, 1, 151 * MS + 999999);
    fx_event(&f, &f.u, HPX_EV_WAIT, 9, 0); /* of an unknown class, on a thread that was never announced */
    hpx_model_events(f.m, &f.t, &other.head, sizeof(other));
    assert_int_equal(nlines, 4);
    assert_string_equal(lines[0].signature, "Lp/Gate;");
    assert_int_equal(lines[0].ms, 150);
    assert_int_equal(lines[0].thread, f.started[0]);
    assert_false(lines[0].waited);
    assert_int_equal(lines[1].ms, 151);
    assert_true(lines[1].waited);
    assert_string_equal(lines[2].signature, "");
    assert_int_equal(lines[2].thread, HPX_SERIAL_THREAD);
    assert_string_equal(lines[3].signature, "[Lp/Bell;");
    assert_int_equal(lines[3].thread, 200077);
    struct hpx_block_totals t = hpx_blocks_totals(blocks);
    assert_int_equal(t.waits, 2);
    assert_int_equal(t.wait_ns, 151 * MS + 999999 + 12345678);
}

TEST(threads_in_traces, NULL, end)
{
    static const struct hpx_model_config threads = {.thread_in_traces = true, .lines = true};
    begin(&threads, 0);
    fx_thread_start(&f, 1, &f.t, FX_TEXT("t\0main\0"));
    fx_thread_start(&f, 2, &f.u, FX_TEXT("u\0main\0"));
    define(&f.t, 1, 1, HPX_BLOCK_ENTER, 8, 0);
    define(&f.u, 2, 1, HPX_BLOCK_ENTER, 8, 0);
    blocked(&f.t, 1, 3);
    blocked(&f.u, 2, 4);
    struct hpx_block_snapshot *s = hpx_blocks_snapshot(blocks, false);
    const struct hpx_block_table *t = table(s, HPX_BLOCK_ENTER, 2);
    assert_int_equal(t->rows[0].trace->thread + t->rows[1].trace->thread, f.started[0] + f.started[1]);
    hpx_block_snapshot_destroy(s);
}

/* Each allocation of a snapshot fails, and all behind it: a later one shows everything. */
TEST(without_memory_nothing_is_reset, NULL, end)
{
    begin(NULL, 0);
    define(&f.t, 1, 1, HPX_BLOCK_ENTER, 8, 0);
    blocked(&f.t, 1, 20);
    struct hpx_block_snapshot *s = NULL;
    uint64_t failed = 1;
    for (; s == NULL; failed++) {
        assert_true(failed < 100);
        memory_fail(failed, MEMORY_NEVER);
        s = hpx_blocks_snapshot(blocks, false);
        memory_allow();
    }
    assert_true(failed > 3);
    assert_row(row(table(s, HPX_BLOCK_ENTER, 1), "p.Gate", "a"), 1, 20);
    hpx_block_snapshot_destroy(s);
}

/* ---- without memory ---- */

static uint64_t lost(void)
{
    return fx_counter(&f, HPX_C_LOST_NO_MEMORY);
}

/* What a snapshot shows of a part. */
static uint64_t shown(enum hpx_block_part part)
{
    struct hpx_block_snapshot *s = hpx_blocks_snapshot(blocks, false);
    uint64_t count = s->of[part].count;
    hpx_block_snapshot_destroy(s);
    return count;
}

/* The stack is deeper than any before, so that it needs memory. */
static void define_deep(struct hpx_thread *t, uint32_t id)
{
    static struct {
        struct hpx_ev_head head;
        struct hpx_ev_hash hash[2];
        struct hpx_ev_block block;
        struct hpx_ev_frame frames[HPX_MAX_DEPTH];
    } d;
    d.head = (struct hpx_ev_head){HPX_EV_BLOCK_DEF, 4 + HPX_MAX_DEPTH, id, 0};
    d.hash[0] = (struct hpx_ev_hash){id, 77};
    d.block = (struct hpx_ev_block){.klass = 1, .part = HPX_BLOCK_ENTER, .frames = HPX_MAX_DEPTH};
    for (uint32_t i = 0; i < HPX_MAX_DEPTH; i++) {
        d.frames[i] = (struct hpx_ev_frame){.method = 24, .bci = 1};
    }
    hpx_model_events(f.m, t, &d.head, sizeof(d));
}

static void define_without_memory(struct hpx_thread *t, uint32_t id)
{
    memory_refuse();
    define_deep(t, id);
    memory_allow();
}

#define FAR 1000000u /* its place needs memory; that of place 1 is there once place 2 was used */

TEST(blocks_of_a_lost_definition_are_counted_as_lost, NULL, end)
{
    static const uint32_t ids[] = {1, FAR};
    for (uint32_t i = 0; i < HPX_ARRAY_LEN(ids); i++) {
        begin(NULL, 0);
        define(&f.t, 2, 1, HPX_BLOCK_ENTER, 8, 0);
        blocked(&f.t, 2, 20);
        if (ids[i] != FAR) {
            blocked(&f.u, ids[i], 5); /* before its definition */
        }
        define_without_memory(&f.t, ids[i]);
        uint64_t before = ids[i] != FAR;
        assert_int_equal(lost(), before); /* at once: there may be no dump */
        blocked(&f.t, ids[i], 6);
        blocked(&f.u, ids[i], 7);
        assert_int_equal(lost(), before + 2);
        assert_int_equal(hpx_blocks_totals(blocks).count[HPX_BLOCK_ENTER], 1);
        assert_int_equal(shown(HPX_BLOCK_ENTER), 1);
        blocked(&f.t, ids[i], 8);
        assert_int_equal(shown(HPX_BLOCK_ENTER), 0);
        assert_int_equal(lost(), before + 3);
        end(NULL);
    }
}

TEST(a_definition_that_comes_again_is_taken, NULL, end)
{
    begin(NULL, 0);
    define_without_memory(&f.t, 1);
    blocked(&f.t, 1, 5);
    define(&f.t, 1, 1, HPX_BLOCK_ENTER, 8, 0);
    blocked(&f.t, 1, 6);
    define_without_memory(&f.u, 1); /* it is known: nothing is lost */
    blocked(&f.t, 1, 7);
    struct hpx_block_totals t = hpx_blocks_totals(blocks);
    assert_int_equal(t.count[HPX_BLOCK_ENTER], 2);
    assert_int_equal(t.ns[HPX_BLOCK_ENTER], 13);
    assert_int_equal(shown(HPX_BLOCK_ENTER), 2);
    assert_int_equal(lost(), 1);
}

/* Count and time are in the row without a trace: no block is lost with its sample. */
TEST(blocks_whose_samples_are_lost_stay_in_their_class, NULL, end)
{
    begin(NULL, 10 * MS);
    for (int i = 0; i < 6; i++) {
        if (i == 3) {
            define_without_memory(&f.t, 1);
        }
        fx_event(&f, &f.t, HPX_EV_BLOCKED_CLASS, HPX_EV_BLOCK_ID(HPX_BLOCK_ENTER, 1), MS);
        fx_event(&f, &f.t, HPX_EV_BLOCK_SAMPLE, 1, MS);
    }
    assert_int_equal(shown(HPX_BLOCK_ENTER), 6);
    assert_int_equal(lost(), 0);
}

/* The serial of a record is that of its thread, if traces have threads at all. */
TEST(a_virtual_threads_blocks_are_its_own, NULL, end)
{
    static const struct hpx_model_config threads = {.thread_in_traces = true};
    for (int apart = 0; apart < 2; apart++) {
        begin(apart ? &threads : NULL, 0);
        fx_thread_start(&f, 1, &f.t, FX_TEXT("t\0main\0"));
        virtual_thread = 200099;
        define(&f.t, 1, 1, HPX_BLOCK_ENTER, 8, 0);
        virtual_thread = 0;
        blocked(&f.t, 1, 3);
        struct hpx_block_snapshot *s = hpx_blocks_snapshot(blocks, false);
        assert_int_equal(table(s, HPX_BLOCK_ENTER, 1)->rows[0].trace->thread, apart ? 200099 : 0);
        hpx_block_snapshot_destroy(s);
        end(NULL);
    }
}

/* Ids and parts that no producer makes, and records cut short: all are counted as lost or without effect. */
TEST(records_that_cannot_be_show_nothing, NULL, end)
{
    struct hpx_ev_head cut = {HPX_EV_BLOCK_DEF, 1, 7, 0};
    begin(NULL, 0);
    hpx_model_events(f.m, &f.t, &cut, sizeof cut);
    define(&f.t, 3, 1, HPX_BLOCK_PARTS, 8, 0);
    assert_int_equal(lost(), 0); /* what they stand for is counted by its uses */
    blocked(&f.t, 7, 1);
    blocked(&f.t, 3, 1);
    blocked(&f.t, HPX_SITE_IDS_MOST, 1);
    fx_event(&f, &f.t, HPX_EV_BLOCKED_CLASS, HPX_EV_BLOCK_ID(HPX_BLOCK_PARTS, 1), 1);
    assert_int_equal(lost(), 4);
    define(&f.t, 9, 1, HPX_BLOCK_ENTER, 8, 0);
    fx_event(&f, &f.t, HPX_EV_BLOCK_SAMPLE, 9, MS); /* where stacks are exact */
    assert_int_equal(shown(HPX_BLOCK_ENTER), 0);
    assert_int_equal(lost(), 4);
}

/* Its class has nothing exact: that was lost. A block of 0 ns stands for itself. */
TEST(samples_of_a_class_without_blocks_are_nothing, NULL, end)
{
    begin(NULL, 10 * MS);
    define(&f.t, 1, 2, HPX_BLOCK_ENTER, 8, 0);
    fx_event(&f, &f.t, HPX_EV_BLOCK_SAMPLE, 1, MS);
    assert_int_equal(shown(HPX_BLOCK_ENTER), 0);
    define(&f.t, 2, 1, HPX_BLOCK_ENTER, 8, 0);
    for (int i = 0; i < 2; i++) {
        fx_event(&f, &f.t, HPX_EV_BLOCKED_CLASS, HPX_EV_BLOCK_ID(HPX_BLOCK_ENTER, 1), 0);
        fx_event(&f, &f.t, HPX_EV_BLOCK_SAMPLE, 2, 0);
    }
    assert_int_equal(shown(HPX_BLOCK_ENTER), 2);
    fx_event(&f, &f.t, HPX_EV_BLOCK_SAMPLE, 1, MS); /* of a class that has a place by now, and still nothing exact */
    assert_int_equal(shown(HPX_BLOCK_ENTER), 0);
}

TESTS(NULL, NULL)
