/* SPDX-License-Identifier: BSD-2-Clause */
/* test_wall_table.c: time by state and stack: rows, resets, the journal's takes, samples as running time. */
#include "failing_memory.h"
#include "model_fixture.h"
#include "wall_table.h"

#define MS UINT64_C(1000000)

static struct fx f;
static struct hpx_walls *walls;

static void begin(const struct hpx_model_config *cfg)
{
    fx_begin(&f, cfg);
    walls = hpx_walls_create(f.m, 10 * MS);
    assert_non_null(walls);
    fx_class(&f, 1, 8, 3, FX_TEXT("Lp/C;\0C.java\0a\0()V\0b\0()V\0c\0()V"));
    fx_class(&f, 2, 100, 1, FX_TEXT("Lsun/nio/ch/EPoll;\0EPoll.java\0wait\0()I"));
    fx_thread_start(&f, 5, &f.t, FX_TEXT("T\0main\0"));
}

static int end(void **state)
{
    (void)state;
    if (f.m) { /* without walls: the table had no memory */
        fx_end(&f);
        f.m = NULL;
        walls = NULL;
    }
    return 0;
}

/* method 0: no stack, thread_ended. */
static void tell(struct hpx_ev_head head, uint32_t serial, enum hpx_wall_state in, uint64_t method, uint32_t klass)
{
    struct {
        struct hpx_ev_head head;
        struct hpx_ev_hash hash;
        struct hpx_ev_wall wall;
        struct hpx_ev_frame frames[1];
    } d;
    struct fx_def stack;
    uint32_t n = method != 0;
    fx_fill_def(&stack, 0, 0, FX_STACK({method, 1}));
    d.head = head;
    d.head.units = (uint16_t)(3 + n);
    d.hash = stack.hash;
    d.wall = (struct hpx_ev_wall){serial, in, HPX_UNKNOWN_THREAD_ENDED, klass};
    d.frames[0] = stack.frames[0];
    hpx_model_events(f.m, &f.u, &d.head, HPX_EV_WALL_BYTES(n));
}

static void define_class(uint32_t place, uint32_t serial, enum hpx_wall_state in, uint64_t method, uint32_t klass)
{
    tell((struct hpx_ev_head){.kind = HPX_EV_WALL_DEF, .id = place}, serial, in, method, klass);
}

static void define(uint32_t place, uint32_t serial, enum hpx_wall_state in, uint64_t method)
{
    define_class(place, serial, in, method, 0);
}

static void passes(uint32_t place, uint64_t ns)
{
    fx_event(&f, &f.u, HPX_EV_WALL, place, ns);
}

static void ready(uint32_t serial, uint64_t ns)
{
    struct {
        struct hpx_ev_head head;
        struct hpx_ev_thread thread;
    } r = {{HPX_EV_WALL_READY, 2, 0, ns}, {.serial = serial}};
    hpx_model_events(f.m, &f.u, &r.head, sizeof(r));
}

/* The snapshot has a row of this method in this state; 0: none. */
static uint64_t in_row(const struct hpx_wall_snapshot *s, const char *method, enum hpx_wall_state state)
{
    uint64_t ns = 0;
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct hpx_wall_row *r = &s->rows[i];
        ns += r->state == state && r->trace->nframes > 0 && fx_text_is(r->trace->frames[0].method->name, method) ? r->ns : 0;
    }
    return ns;
}

static struct hpx_wall_snapshot *take(enum hpx_take how, uint64_t ns, uint32_t rows)
{
    struct hpx_wall_snapshot *s = hpx_walls_snapshot(walls, how);
    assert_non_null(s);
    assert_int_equal(s->ns, ns);
    assert_int_equal(s->nrows, rows);
    return s;
}

static void taken(enum hpx_take how, uint64_t ns, uint32_t rows)
{
    hpx_wall_snapshot_destroy(take(how, ns, rows));
}

TEST(what_is_waited_for_tells_rows_apart, NULL, end)
{
    begin(NULL);
    hpx_model_message(f.m, &hpx_msg_row_class_new(HPX_MSG_WALL_CLASS, 1, "Lp/Account;")->m);
    hpx_model_message(f.m, &hpx_msg_row_class_new(HPX_MSG_WALL_CLASS, 2, "[I")->m);
    define_class(3, 200001, HPX_WALL_BLOCKED, 8, 1);
    passes(3, 5 * MS);
    define_class(3, 200001, HPX_WALL_BLOCKED, 8, 2);
    passes(3, 2 * MS);
    define_class(3, 200001, HPX_WALL_BLOCKED, 8, 7); /* no message: its rows are those of no class */
    passes(3, 1 * MS);
    define(3, 200001, HPX_WALL_BLOCKED, 8);
    passes(3, 1 * MS);
    struct hpx_wall_snapshot *s = take(HPX_TAKE_RESET, 9 * MS, 3);
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct hpx_wall_row *r = &s->rows[i];
        const char *want = r->ns == 5 * MS ? "p.Account" : r->ns == 2 * MS && r->class_name.len > 0 ? "int[]" : "";
        assert_true(fx_text_is(r->class_name, want));
    }
    hpx_wall_snapshot_destroy(s);
}

TEST(samples_are_running_time_whatever_resets_them, NULL, end)
{
    begin(NULL);
    fx_define(&f, &f.t, 1, 2, FX_STACK({16, 1}));
    hpx_snapshot_destroy(hpx_samples_snapshot(f.samples, HPX_TAKE_RESET));
    fx_event(&f, &f.t, HPX_EV_SAMPLE, 1, 1);
    hpx_samples_clear(f.samples);
    ready(200001, 4 * MS);
    struct hpx_wall_snapshot *s = take(HPX_TAKE_RESET, 34 * MS, 2);
    assert_int_equal(in_row(s, "b", HPX_WALL_RUNNING), 30 * MS);
    assert_int_equal(in_row(s, "b", HPX_WALL_RUNNABLE), 4 * MS); /* at its last sample */
    hpx_wall_snapshot_destroy(s);
    ready(200077, 3 * MS); /* no sample */
    s = take(HPX_TAKE_RESET, 3 * MS, 1);
    assert_int_equal(in_row(s, "no_Java_frame", HPX_WALL_RUNNABLE), 3 * MS);
    hpx_wall_snapshot_destroy(s);
    assert_int_equal(hpx_walls_totals(walls).ns[HPX_WALL_RUNNING], 30 * MS);
}

/* The VM may refuse cpu=samples what it needs; the other modes continue. */
TEST(without_samples_there_is_the_other_time, NULL, end)
{
    const struct hpx_model_config cfg = {.lines = false};
    f = (struct fx){.m = hpx_model_create(&cfg)};
    walls = hpx_walls_create(f.m, 10 * MS);
    assert_non_null(walls);
    define(1, 200001, HPX_WALL_PARKED, 8);
    passes(1, 1 * MS);
    ready(200001, 2 * MS);
    taken(HPX_TAKE_RESET, 3 * MS, 2);
}

TEST(the_method_on_top_tells_io_from_native, NULL, end)
{
    begin(NULL);
    define(1, 200001, HPX_WALL_NATIVE, 100);
    passes(1, 1 * MS);
    define(1, 200001, HPX_WALL_NATIVE, 24);
    passes(1, 2 * MS);
    define(1, 200001, HPX_WALL_PARKED, 100);
    passes(1, 4 * MS);
    struct hpx_wall_snapshot *s = take(HPX_TAKE_RESET, 7 * MS, 3);
    assert_int_equal(in_row(s, "wait", HPX_WALL_IO), 1 * MS);
    assert_int_equal(in_row(s, "c", HPX_WALL_NATIVE), 2 * MS);
    assert_int_equal(in_row(s, "wait", HPX_WALL_PARKED), 4 * MS);
    hpx_wall_snapshot_destroy(s);
    static const struct {
        const char *class_name, *method;
        bool io;
    } all[] = {{"java.net.SocketInputStream", "socketRead0", true},
               {"java.net.SocketInputStream", "available", false},
               {"java.io.FileInputStream", "readBytes", true},
               {"java.io.FileInputStreamX", "readBytes", false},
               {"java.io.FileDescriptor", "sync0", true},
               {"java.nio.MappedMemoryUtils", "force0", true},
               {"java.nio.MappedMemoryUtils", "isLoaded0", false},
               {"sun.nio.ch.Net", "poll", true},
               {"java.lang.Object", "wait", false}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        struct hpx_text c = {all[i].class_name, (uint32_t)strlen(all[i].class_name)};
        struct hpx_text m = {all[i].method, (uint32_t)strlen(all[i].method)};
        assert_int_equal(hpx_walls_is_io(c, m), all[i].io);
    }
}

TEST(a_virtual_thread_tells_of_a_wait_at_once, NULL, end)
{
    begin(NULL);
    define(0, 200001, HPX_WALL_PARKED, 8);
    const struct hpx_ev_head wait = {.kind = HPX_EV_WALL_VIRTUAL, .stamp = 5 * MS};
    tell(wait, HPX_SERIAL_THREAD, HPX_WALL_SLEEPING, 16, 0);
    tell(wait, HPX_SERIAL_THREAD, HPX_WALL_SLEEPING, 16, 0);
    tell(wait, HPX_SERIAL_THREAD, HPX_WALL_PARKED, 0, 0);
    passes(0, 3 * MS); /* the watched thread is where it was */
    struct hpx_wall_snapshot *s = take(HPX_TAKE_RESET, 18 * MS, 3);
    assert_int_equal(in_row(s, "b", HPX_WALL_SLEEPING), 10 * MS);
    assert_int_equal(in_row(s, "a", HPX_WALL_PARKED), 3 * MS);
    assert_int_equal(in_row(s, "thread_ended", HPX_WALL_PARKED), 5 * MS);
    hpx_wall_snapshot_destroy(s);
    assert_int_equal(hpx_walls_totals(walls).unknown_ns, 5 * MS);
}

TEST(what_has_no_stack_has_a_row, NULL, end)
{
    begin(NULL);
    define(1, 200001, HPX_WALL_NATIVE, 0);
    passes(1, 6 * MS);
    struct hpx_wall_snapshot *s = take(HPX_TAKE_RESET, 6 * MS, 1);
    assert_int_equal(in_row(s, "thread_ended", HPX_WALL_NATIVE), 6 * MS);
    hpx_wall_snapshot_destroy(s);
    assert_int_equal(hpx_walls_totals(walls).unknown_ns, 6 * MS);
    passes(9, 7 * MS); /* never defined */
    assert_int_equal(fx_counter(&f, HPX_C_WALL_LOST), 7);
    assert_int_equal(fx_counter(&f, HPX_C_LOST_NO_MEMORY), 0); /* no sample */
}

TEST(the_journal_has_everything_once, NULL, end)
{
    begin(NULL);
    define(1, 200001, HPX_WALL_PARKED, 8);
    passes(1, 1 * MS);
    taken(HPX_TAKE_NEW, 1 * MS, 1);
    passes(1, 2 * MS);
    taken(HPX_TAKE_RESET, 3 * MS, 1);
    taken(HPX_TAKE_NEW, 2 * MS, 1);
    taken(HPX_TAKE_NEW, 0, 0);
    taken(HPX_TAKE_ALL, 3 * MS, 1);
}

TEST(without_memory_nothing_is_reset, NULL, end)
{
    begin(NULL);
    define(1, 200001, HPX_WALL_PARKED, 8);
    passes(1, 1 * MS);
    taken(HPX_TAKE_KEEP, 1 * MS, 1); /* its trace is made */
    memory_refuse();
    assert_null(hpx_walls_snapshot(walls, HPX_TAKE_RESET));
    memory_allow();
    taken(HPX_TAKE_RESET, 1 * MS, 1);
}

/* A server that starts a thread for every request. */
TEST(threads_that_have_ended_take_no_memory, NULL, end)
{
    size_t before = 0;
    begin(NULL);
    for (uint32_t i = 0; i < 100000; i++) {
        f.t.serial = HPX_SERIAL_THREAD + 1 + i;
        fx_define(&f, &f.t, 1, 1, FX_STACK({16, 1}));
        hpx_model_thread_gone(f.m, &f.t);
        ready(HPX_SERIAL_THREAD + 1 + i, 1 * MS); /* its last record is drained after its ring */
        (void)hpx_model_pass_end(f.m);
        before = i == 1000 ? hpx_model_bytes(f.m) : before;
    }
    assert_true(hpx_model_bytes(f.m) < before + 8192); /* where it is in the moves of its hash table */
    struct hpx_wall_snapshot *s = hpx_walls_snapshot(walls, HPX_TAKE_RESET);
    assert_int_equal(in_row(s, "b", HPX_WALL_RUNNABLE), 100000 * MS);
    hpx_wall_snapshot_destroy(s);
}

TESTS(NULL, NULL)
