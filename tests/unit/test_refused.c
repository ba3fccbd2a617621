/* SPDX-License-Identifier: BSD-2-Clause */
/* test_refused.c: both formats over an output that refuses records at random, and begins anew now and then: each stream is sound, and what
 * was refused comes before its next user. */
#include "binary_check.h"
#include "binary_fixture.h"
#include "hprof_ascii.h"
#include <inttypes.h>

#define TRACES  40u
#define THREADS 12u

static struct hpx_ascii a;
static size_t taken; /* of the sink: whole records */
static unsigned chance, refusals;
static uint64_t dice;
static struct hpx_method_rec methods[TRACES];
static struct hpx_trace_rec *traces[TRACES];
static char names[TRACES][16];
static unsigned found; /* threads that were asked for */

static unsigned roll(unsigned n)
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(dice >> 33) % n;
}

static bool refuse(void *ctx)
{
    (void)ctx;
    if (roll(100) < chance) {
        sink.len = taken;
        refusals++;
        return false;
    }
    taken = sink.len;
    return true;
}

/* As a socket does: behind a part that was refused the rest but the end is. */
static enum { WHOLE, BEGUN, CUT, LOST } parts;
static unsigned cuts;

static bool refuse_part(void *ctx)
{
    bool in = (parts == WHOLE || parts == BEGUN) && refuse(ctx);
    if (!in) {
        sink.len = taken;
    }
    cuts += !in && parts == BEGUN;
    parts = in ? BEGUN : parts == BEGUN || parts == CUT ? CUT : LOST;
    return in;
}

static bool end_parts(void *ctx)
{
    bool begun = parts == BEGUN || parts == CUT, lost = parts == LOST;
    parts = WHOLE;
    if (begun) {
        taken = sink.len;
    } else if (lost) {
        sink.len = taken;
    }
    return begun || (!lost && refuse(ctx));
}

static const struct hpx_thread_rec *live_thread(uint32_t serial)
{
    static struct hpx_thread_rec t;
    found++;
    t = (struct hpx_thread_rec){.serial = serial, .object = serial, .name = text("living"), .group = text("g")};
    return serial % 2 ? &t : NULL;
}

static void make_traces(void)
{
    for (uint32_t i = 0; i < TRACES; i++) {
        snprintf(names[i], sizeof names[i], "m%u", i);
        methods[i] = (struct hpx_method_rec){text("p.Hot"), text(names[i]), text("()V"), text("Hot.java"), {100001 + i / 4}, i % 7 ? i : 0};
        traces[i] = calloc(1, sizeof(*traces[i]) + 2 * sizeof(struct hpx_frame_rec));
        traces[i]->serial = HPX_SERIAL_TRACE + 1 + i;
        traces[i]->thread = HPX_SERIAL_THREAD + 1 + i % THREADS;
        traces[i]->nframes = 2;
        traces[i]->frames[0] = (struct hpx_frame_rec){&methods[i], 3, 1 + i};
        traces[i]->frames[1] = (struct hpx_frame_rec){&methods[i / 2], 9, i % 5 ? 1000 + i / 2 : 0};
    }
}

static struct hpx_snapshot some_rows(struct hpx_row rows[TRACES])
{
    struct hpx_snapshot s = {.rows = rows};
    for (uint32_t i = 0; i < TRACES; i++) {
        if (roll(3) == 0) {
            rows[s.nrows++] = (struct hpx_row){traces[i], 1 + roll(50)};
            s.total += rows[s.nrows - 1].count;
        }
    }
    return s;
}

static void step_binary(void)
{
    struct hpx_row rows[TRACES];
    struct hpx_thread_rec t = {.serial = HPX_SERIAL_THREAD + 1 + roll(THREADS), .object = 1, .name = text(names[roll(TRACES)])};
    hpx_binary_at(&w, UINT64_C(1000000) * roll(1000));
    switch (roll(4)) {
    case 0:
        if (!hpx_bitset_has(&w.begun, t.serial - HPX_SERIAL_THREAD)) {
            hpx_binary_thread_start(&w, &t);
        }
        break;
    case 1:
        hpx_binary_class_load(&w, &(struct hpx_class_rec){.serial = {100001 + roll(TRACES / 4)}, .name = text("p.Hot")});
        break;
    default: {
        struct hpx_snapshot s = some_rows(rows);
        hpx_binary_cpu_samples(&w, &s, 0);
        hpx_binary_dump_end(&w, "hprofx: report\n");
        break;
    }
    }
}

TEST(each_binary_stream_is_sound)
{
    make_traces();
    for (unsigned round = 0; round < 60; round++) {
        struct bin_figures f;
        uint64_t rows = 0;
        begin(round % 2 ? 4 : 8);
        out.record = refuse;
        w.live_thread = round % 3 ? live_thread : NULL;
        dice = round + 1;
        for (unsigned stream = 0; stream < 4; stream++) {
            sink.len = taken = 0;
            chance = 0;
            if (stream > 0) {
                hpx_binary_restart(&w);
            }
            hpx_binary_header(&w, (struct timespec){1795250000, 0}, 0, HPX_SETTING_CPU, 4);
            chance = round % 4 * 15;
            for (unsigned i = 0; i < 30; i++) {
                step_binary();
            }
            chance = 0; /* and in the end all can be written */
            struct hpx_row last[TRACES];
            struct hpx_snapshot s = some_rows(last);
            uint32_t wanted = s.nrows;
            hpx_binary_cpu_samples(&w, &s, 0);
            (void)hpx_out_flush(&out);
            const char *fault = bin_check(sink.bytes, taken, &f);
            if (fault != NULL) {
                fail_msg("round %u, stream %u: %s", round, stream, fault);
            }
            uint8_t *n = sink.bytes + taken - (size_t)8 * wanted - 4; /* the last table has all rows */
            assert_int_equal(n[2] << 8 | n[3], wanted);
            rows += f.rows;
        }
        assert_true(rows > 0);
        end();
    }
    assert_true(refusals > 100 && found > 0);
    for (uint32_t i = 0; i < TRACES; i++) {
        free(traces[i]);
    }
}

/* Each TRACE once, before the rows that name it; its thread before it. */
static void check_text(unsigned round)
{
    bool trace[TRACES + 1] = {false}, thread[THREADS + 1] = {false};
    unsigned serial, of;
    bool table = false; /* one is open */
    sink.bytes[taken] = 0;
    for (char *line = (char *)sink.bytes, *stop; *line; line = stop + 1) {
        stop = strchr(line, '\n');
        assert_non_null(stop);
        if (sscanf(line, "TRACE %u: (thread=%u)", &serial, &of) == 2) {
            if (trace[serial - 300000] || !thread[of - 200000]) {
                fail_msg("round %u: trace %u of thread %u", round, serial, of);
            }
            trace[serial - 300000] = true;
        } else if (sscanf(line, "THREAD START (obj=%*x, id = %u", &serial) == 1) {
            assert_false(thread[serial - 200000]);
            thread[serial - 200000] = true;
        } else if (sscanf(line, "THREAD END (id = %u", &serial) == 1) {
            assert_true(thread[serial - 200000]);
        } else if (sscanf(line, "%*u %*f%% %*f%% %*u %u p.", &serial) == 1) {
            assert_true(trace[serial - 300000] && table);
            continue;
        } else if (strncmp(line, "CPU SAMPLES ", 12) == 0) {
            assert_int_equal(table, line[12] == 'E');
            table = !table;
            continue;
        }
        assert_true(!table || strncmp(line, "rank ", 5) == 0);
    }
}

TEST(each_text_stream_is_sound)
{
    refusals = 0;
    make_traces();
    for (unsigned round = 0; round < 24; round++) {
        begin(4);
        hpx_ascii_init(&a, &out);
        out.record = end_parts;
        out.part = refuse_part;
        out.piece = round % 2 ? 100 : 1u << 20;
        parts = WHOLE;
        a.live_thread = round % 3 ? live_thread : NULL;
        dice = round + 1;
        sink.len = taken = 0;
        chance = 0;
        hpx_ascii_header(&a, 0);
        chance = round % 4 * 15;
        for (unsigned i = 0; i < 40; i++) {
            struct hpx_row rows[TRACES];
            struct hpx_thread_rec t = {.serial = HPX_SERIAL_THREAD + 1 + roll(THREADS), .object = 1, .name = text("t")};
            if (roll(3) == 0 && !hpx_bitset_has(&a.begun, t.serial - HPX_SERIAL_THREAD)) {
                hpx_ascii_thread_start(&a, &t);
            } else if (roll(9) == 0) {
                hpx_ascii_thread_end(&a, &t);
            } else {
                struct hpx_snapshot s = some_rows(rows);
                hpx_ascii_cpu_samples(&a, &s, 0, 0);
                hpx_ascii_report(&a, "hprofx: report\n");
            }
        }
        (void)hpx_out_flush(&out);
        check_text(round);
        hpx_ascii_fini(&a);
        end();
    }
    assert_true(refusals > 100 && cuts > 10);
    for (uint32_t i = 0; i < TRACES; i++) {
        free(traces[i]);
    }
}

static uint64_t left_out;
static void leave_out(void *ctx, uint64_t bytes)
{
    (void)ctx;
    left_out += bytes;
}

/* A table is one record: of one that the output cannot take, the largest rows are. */
TEST(a_binary_table_has_the_rows_that_fit)
{
    make_traces();
    for (uint32_t fit = 0; fit <= TRACES; fit += 10) {
        struct bin_figures f;
        struct hpx_row rows[TRACES];
        struct hpx_snapshot s = {.rows = rows, .nrows = TRACES};
        for (uint32_t i = 0; i < TRACES; i++) {
            rows[i] = (struct hpx_row){traces[i], 100 - i};
            s.total += 100 - i;
        }
        begin(8);
        out.record = refuse;
        out.leave_out = leave_out;
        out.most = 9 + 8 + 8 * fit + 7;
        sink.len = taken = left_out = chance = 0;
        hpx_binary_header(&w, (struct timespec){1795250000, 0}, 0, HPX_SETTING_CPU, 4);
        hpx_binary_cpu_samples(&w, &s, 0);
        (void)hpx_out_flush(&out);
        assert_null(bin_check(sink.bytes, taken, &f));
        assert_int_equal(f.rows, fit);
        assert_int_equal(left_out, (TRACES - fit) * 8);
        assert_int_equal(out.refused, fit < TRACES);
        end();
    }
    for (uint32_t i = 0; i < TRACES; i++) {
        free(traces[i]);
    }
}

int main(void)
{
    int rc = run_the_tests(NULL, NULL);
    free(sink.bytes);
    return rc;
}
