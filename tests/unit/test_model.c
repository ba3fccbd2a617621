/* SPDX-License-Identifier: BSD-2-Clause */
/* test_model.c: events, threads, snapshots. Names and lines: test_model_names.c. */
#include "model_fixture.h"
#include "symbols_internal.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct hpx_model_config no_lines = {.lines = false};
static const struct hpx_model_config by_thread = {.lines = false, .thread_in_traces = true};

/* Methods 8, 16, 24 of class p.C. */
static void give_class(struct fx *f)
{
    fx_class(f, 1, 8, 3, FX_TEXT("Lp/C;\0C.java\0a\0()V\0b\0()V\0c\0()V"));
}

TEST(model_slot_never_defined_or_out_of_range_is_counted_lost, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    fx_event(f, &f->t, HPX_EV_SAMPLE, 9, 4);
    fx_event(f, &f->t, HPX_EV_SAMPLE, HPX_SLOTS, 2);
    assert_int_equal(fx_counter(f, HPX_C_LOST_NO_MEMORY), 6);
    assert_int_equal(hpx_samples_count(f->samples), 0);
    hpx_snapshot_destroy(fx_snapshot(f, 0, 0));
}

TEST(model_unknown_sample_is_a_trace_of_one_pseudo_frame, fx_setup, fx_teardown, (void *)(uintptr_t)(NULL))
{
    struct fx *f = *state;
    static const char *const names[] = {
#define NAME(sym, name) HPX_UNKNOWN_##sym != HPX_UNKNOWN_TRUNCATED ? "hprofx.unknown." name "(:-1)" : "hprofx.truncated(:-1)",
        HPX_UNKNOWNS(NAME)
#undef NAME
    };
    for (uint32_t i = 0; i < HPX_UNKNOWN_COUNT; i++) {
        fx_event(f, &f->t, HPX_EV_SAMPLE_UNKNOWN, i, i + 1);
    }
    fx_event(f, &f->t, HPX_EV_SAMPLE_UNKNOWN, HPX_UNKNOWN_COUNT + 7, 100); /* a cause of another version */
    struct hpx_snapshot *s = fx_snapshot(f, f->sent, HPX_UNKNOWN_COUNT);
    for (uint32_t i = 0; i < HPX_UNKNOWN_COUNT; i++) {
        uint64_t want = i + 1 + (i == HPX_UNKNOWN_OTHER ? 100 : 0);
        assert_int_equal(fx_row(s, 300001 + i)->count, want);
        assert_int_equal(hpx_samples_unknown(f->samples, (enum hpx_unknown)i), want);
        fx_assert_frame(fx_row(s, 300001 + i)->trace, 0, names[i]);
    }
    assert_int_equal(hpx_samples_count(f->samples), f->sent);
    assert_int_equal(fx_counter(f, HPX_C_METHODS_UNNAMED), 0);
    assert_int_equal(fx_counter(f, HPX_C_METHODS_UNLINED), 0);
    hpx_snapshot_destroy(s);
}

TEST(model_stall_is_a_row_of_its_thread_and_no_sample_without_a_stack, fx_setup, fx_teardown, (void *)(uintptr_t)(&by_thread))
{
    struct fx *f = *state;
    fx_thread_start(f, 1, &f->t, FX_TEXT("t\0g\0s"));
    fx_thread_start(f, 2, &f->u, FX_TEXT("u\0g\0s"));
    fx_event(f, &f->t, HPX_EV_SAMPLE_UNKNOWN, 0, 1);
    fx_event(f, &f->t, HPX_EV_SAMPLE_STALLED, 0, 300);
    fx_event(f, &f->u, HPX_EV_SAMPLE_STALLED, 0, 1000);
    fx_event(f, &f->t, HPX_EV_SAMPLE_STALLED, 0, 20);
    struct hpx_snapshot *s = fx_snapshot(f, 1321, 3);
    for (uint32_t i = 1; i < 3; i++) {
        const struct hpx_row *r = fx_row(s, 300001 + i);
        assert_int_equal(r->trace->thread, 200000 + i);
        assert_int_equal(r->count, i == 1 ? 320 : 1000);
        assert_int_equal(r->trace->nframes, 1);
        fx_assert_frame(r->trace, 0, "hprofx.stalled(:-1)");
    }
    const struct hpx_stalls *stalls = hpx_samples_stalls(f->samples);
    assert_int_equal(stalls->count, 3);
    assert_int_equal(stalls->intervals, 1320);
    assert_int_equal(stalls->longest, 1000);
    assert_int_equal(hpx_samples_count(f->samples), 1321);
    assert_int_equal(hpx_samples_unknown(f->samples, HPX_UNKNOWN_NO_JAVA), 1);
    assert_int_equal(s->effective, 1321); /* one sample in the 1321st part of the table */
    hpx_snapshot_destroy(s);
    assert_true(hpx_samples_choose(f->samples, &f->t, 200001, false));
    fx_event(f, &f->t, HPX_EV_SAMPLE_STALLED, 0, 5000);
    assert_int_equal(hpx_samples_stalls(f->samples)->longest, 1000);
    hpx_snapshot_destroy(fx_snapshot(f, 0, 0));
}

TEST(model_counts_the_samples_of_chosen_threads, fx_setup, fx_teardown, (void *)(uintptr_t)(NULL))
{
    struct fx *f = *state;
    struct hpx_thread later = {.serial = 0};
    fx_thread_start(f, 1, &f->t, FX_TEXT("t\0g\0s"));
    assert_false(hpx_samples_choose(f->samples, &f->t, 200002, false));
    assert_true(hpx_samples_choose(f->samples, &f->t, 0, false));
    assert_true(hpx_samples_choose(f->samples, &f->u, 0, false)); /* its start was not seen, and it has no sample */
    hpx_samples_choose_new(f->samples, false);
    fx_event(f, &f->t, HPX_EV_SAMPLE_UNKNOWN, 0, 1);
    fx_event(f, &f->u, HPX_EV_SAMPLE_UNKNOWN, 0, 2);
    fx_event(f, &later, HPX_EV_SAMPLE_UNKNOWN, 0, 4);
    assert_int_equal(hpx_samples_count(f->samples), 0);
    hpx_samples_choose_new(f->samples, true);
    assert_true(hpx_samples_choose(f->samples, &f->t, 200001, true));
    fx_event(f, &f->t, HPX_EV_SAMPLE_UNKNOWN, 0, 8);
    fx_event(f, &f->u, HPX_EV_SAMPLE_UNKNOWN, 0, 16);
    fx_event(f, &later, HPX_EV_SAMPLE_UNKNOWN, 0, 32);
    hpx_model_thread_gone(f->m, &later);
    fx_event(f, &later, HPX_EV_SAMPLE_UNKNOWN, 0, 64); /* another thread with this state */
    hpx_model_thread_gone(f->m, &later);
    hpx_snapshot_destroy(fx_snapshot(f, 72, 1));
}

static uint64_t effective_of(struct fx *f, enum hpx_take take)
{
    struct hpx_snapshot *s = hpx_samples_snapshot(f->samples, take);
    assert_non_null(s);
    uint64_t n = s->effective;
    hpx_snapshot_destroy(s);
    return n;
}

TEST(model_effective_samples_heed_weights_and_are_of_the_rows, fx_setup, fx_teardown, (void *)(uintptr_t)(NULL))
{
    struct fx *f = *state;
    assert_int_equal(effective_of(f, HPX_TAKE_RESET), 0);
    for (int i = 0; i < 100; i++) {
        fx_event(f, &f->t, HPX_EV_SAMPLE_UNKNOWN, 0, 40);
    }
    assert_int_equal(effective_of(f, HPX_TAKE_KEEP), 100);
    fx_event(f, &f->t, HPX_EV_SAMPLE_STALLED, 0, 36000); /* the 100 samples are a tenth of the table */
    assert_int_equal(effective_of(f, HPX_TAKE_KEEP), 1000);
    assert_int_equal(effective_of(f, HPX_TAKE_RESET), 1000);
    assert_int_equal(effective_of(f, HPX_TAKE_KEEP), 0);
    fx_event(f, &f->t, HPX_EV_SAMPLE_UNKNOWN, 0, 1);
    fx_event(f, &f->t, HPX_EV_SAMPLE_UNKNOWN, 0, 3); /* 16 / 10 */
    assert_int_equal(effective_of(f, HPX_TAKE_KEEP), 2);
    hpx_samples_clear(f->samples);
    assert_int_equal(effective_of(f, HPX_TAKE_KEEP), 0);
}

TEST(model_frame_of_a_cause_stands_among_methods, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    give_class(f);
    for (int i = 0; i < 2; i++) { /* the second one is compared with the first where frames are compared */
        fx_define(f, &f->t, 0, 1, FX_STACK({8, 1}, {HPX_EV_METHOD_OF(HPX_UNKNOWN_DRIFTED), -1}));
    }
    const struct hpx_ev_frame same[] = {{1, 0, 8}, {-1, 0, HPX_EV_METHOD_OF(HPX_UNKNOWN_DRIFTED)}};
    assert_true(hpx_symbols_same_frames(f->symbols, hpx_traces_at(&f->symbols->traces, 0), same, 2));
    struct hpx_snapshot *s = fx_snapshot(f, 2, 1);
    fx_assert_frame(s->rows[0].trace, 1, "hprofx.unknown.drifted(:-1)");
    hpx_snapshot_destroy(s);
}

TEST(model_reads_a_run_and_skips_pads_and_records_of_others, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    struct hpx_ev_head run[FX_FRAMES] = {0};
    struct fx_def d;
    give_class(f);
    run[0] = (struct hpx_ev_head){HPX_EV_PAD, 3, 0, 77};
    fx_fill_def(&d, 1, 1, FX_STACK({8, 1}, {16, 1}));
    memcpy(run + 3, &d, HPX_EV_SAMPLE_BYTES(2));
    run[7] = (struct hpx_ev_head){HPX_EV_TEST, 2, 0, 77};
    run[9] = (struct hpx_ev_head){HPX_EV_SAMPLE, 1, 1, 4};
    hpx_model_events(f->m, &f->t, run, 10 * HPX_EV_UNIT);
    hpx_snapshot_destroy(fx_snapshot(f, 5, 1));
}

TEST(model_counts_in_64_bits, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    uint64_t big = (UINT64_C(1) << 40) + 1;
    fx_event(f, &f->t, HPX_EV_SAMPLE_UNKNOWN, 0, big);
    fx_event(f, &f->t, HPX_EV_SAMPLE_UNKNOWN, 0, big);
    hpx_snapshot_destroy(fx_snapshot(f, 2 * big, 1));
}

struct announced {
    char name[32], group[32], parent_group[32], newest[32];
    uint32_t object, serial, number;
    bool replayed;
};

static bool keep_record(void *ctx, const struct hpx_thread_rec *rec, enum hpx_thread_event what)
{
    struct announced *t = ctx;
    *t = (struct announced){.object = rec->object, .serial = rec->serial, .replayed = t->replayed, .number = t->number + 1};
    assert_true(what != HPX_THREAD_ENDS || (rec->name.len == 0 && rec->group.len == 0));
    assert_int_equal(rec->newest.bytes != NULL, what == HPX_THREAD_RENAMED || (what == HPX_THREAD_STARTS && t->replayed));
    (void)snprintf(t->newest, sizeof(t->newest), "%.*s", (int)rec->newest.len, rec->newest.len ? rec->newest.bytes : "");
    (void)snprintf(t->name, sizeof(t->name), "%.*s", (int)rec->name.len, rec->name.len ? rec->name.bytes : "");
    (void)snprintf(t->group, sizeof(t->group), "%.*s", (int)rec->group.len, rec->group.len ? rec->group.bytes : "");
    (void)snprintf(t->parent_group, sizeof(t->parent_group), "%.*s", (int)rec->parent_group.len,
                   rec->parent_group.len ? rec->parent_group.bytes : "");
    return true;
}

static void assert_announced(const struct announced *t, uint32_t object, const char *name, const char *group, const char *parent_group)
{
    assert_int_equal(t->object, object);
    assert_int_equal(t->serial, object - HPX_OBJECT_FIRST + HPX_SERIAL_THREAD + 1);
    assert_string_equal(t->name, name);
    assert_string_equal(t->group, group);
    assert_string_equal(t->parent_group, parent_group);
}

static void rename_thread(struct hpx_model *m, uint64_t key, uint32_t serial, const char *name)
{
    struct hpx_msg_thread_name *msg = hpx_msg_thread_name_new((uint32_t)strlen(name));
    assert_non_null(msg);
    msg->key = key;
    msg->serial = serial;
    memcpy(msg->text, name, strlen(name));
    assert_true(hpx_model_message(m, &msg->m));
}

/* Of a thread that has ended there is none, also if another thread has its key. */
TEST(model_tells_the_newest_name_of_a_live_thread)
{
    struct announced announced = {.number = 0};
    struct hpx_model_config cfg = {.ctx = &announced, .thread_event = keep_record};
    struct fx f = {.m = hpx_model_create(&cfg)};
    fx_thread_start(&f, 1, NULL, FX_TEXT("main\0group\0parent"));
    rename_thread(f.m, 1, 200001, "second");
    rename_thread(f.m, 1, 200001, "third");
    assert_announced(&announced, 0x50000001, "main", "group", "parent");
    assert_string_equal(announced.newest, "third");
    announced.replayed = true;
    assert_true(hpx_model_replay(f.m));
    assert_announced(&announced, 0x50000001, "main", "group", "parent");
    assert_string_equal(announced.newest, "third");
    assert_int_equal(announced.number, 4);
    announced.replayed = false;
    size_t bytes = hpx_model_bytes(f.m);
    fx_thread_end(&f, 1);
    assert_true(hpx_model_bytes(f.m) < bytes);
    fx_thread_start(&f, 1, NULL, FX_TEXT("another\0group\0parent"));
    rename_thread(f.m, 1, 200001, "late");
    rename_thread(f.m, 2, 200003, "of nobody");
    assert_announced(&announced, 0x50000002, "another", "group", "parent");
    assert_int_equal(announced.number, 6);
    hpx_model_destroy(f.m);
}

/* Ten thousand threads, 50 at once, under new keys and old ones. */
TEST(model_of_many_short_threads_is_as_large_as_that_of_few, fx_setup, fx_teardown, (void *)(uintptr_t)(NULL))
{
    struct fx *f = *state;
    size_t after_few = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        char text[64];
        int n = snprintf(text, sizeof(text), "thread number %05u%cgroup%c", i, 0, 0);
        if (i >= 50) {
            fx_thread_end(f, i % 3 ? i - 50 : 1000000 + i - 50);
        }
        fx_thread_start(f, (i + 50) % 3 ? i : 1000000 + i, NULL, text, (uint32_t)n);
        after_few = i == 300 ? hpx_model_bytes(f->m) : after_few;
    }
    assert_true(hpx_model_bytes(f->m) <= after_few);
    fx_thread_start(f, 20000, &f->t, FX_TEXT("last\0g\0s"));
    assert_int_equal(f->t.serial, 200001 + 10000);
}

/* The frames of `d` are not those that its hash was made of. */
static void forge(struct fx_def *d, uint32_t slot)
{
    fx_fill_def(d, slot, 1, FX_STACK({8, 1}, {16, 1}));
    d->frames[1].method = 24;
}

TEST(model_sees_other_frames_behind_an_equal_hash, fx_setup, fx_teardown, (void *)(uintptr_t)(&no_lines))
{
    struct fx *f = *state;
    struct fx_def d;
    give_class(f);
    fx_define(f, &f->t, 0, 1, FX_STACK({8, 1}, {16, 1}));
    const struct hpx_raw *raw = hpx_traces_at(&f->symbols->traces, 0);
    fx_fill_def(&d, 1, 1, FX_STACK({8, 1}, {16, 1}));
    assert_true(hpx_symbols_same_frames(f->symbols, raw, d.frames, 2));
    assert_false(hpx_symbols_same_frames(f->symbols, raw, d.frames, 1));
    d.frames[0].bci = 2;
    assert_false(hpx_symbols_same_frames(f->symbols, raw, d.frames, 2));
    forge(&d, 1);
    assert_false(hpx_symbols_same_frames(f->symbols, raw, d.frames, 2));
#ifndef NDEBUG
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)close(2);
        hpx_model_events(f->m, &f->t, &d.head, HPX_EV_SAMPLE_BYTES(2));
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
}

TESTS(NULL, NULL)
