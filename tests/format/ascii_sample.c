/* SPDX-License-Identifier: BSD-2-Clause */
/* ascii_sample.c: a whole text file from the writer, without a JVM, for test_written.py to check.
 * ascii_sample FILE MODE...: words of threads (thread=y), depth1, two (dumps), empty (no samples), cut (cutoff 0.2), hostile (names), many,
 * times (CPU TIME behind each CPU SAMPLES), monitor (what monitor=y writes before each CPU SAMPLES), binary (FILE.b as well: the same
 * threads and snapshots in the binary format).
 */
#include "hprof_ascii.h"
#include "hprof_binary.h"
#include "hprof_blocks.h"
#include "monitor_text.h"
#include "out_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(s)                                                                                                                            \
    {                                                                                                                                      \
        s, (uint32_t)sizeof(s) - 1                                                                                                         \
    }
#define MANY 20000u

static const struct hpx_method_rec plain[] = {
    {TEXT("p.Hot$Split"), TEXT("hotA"), TEXT(""), TEXT("HotSplit.java"), {HPX_SERIAL_CLASS + 1}, 1},
    {TEXT("p.Hot$Split"), TEXT("<init>"), TEXT(""), TEXT("HotSplit.java"), {HPX_SERIAL_CLASS + 1}, 2},
    {TEXT("p.Hot$$Lambda$1.123"), TEXT("run"), TEXT(""), TEXT(""), {HPX_SERIAL_CLASS + 2}, 3},
    {TEXT("hprofx.unknown"), TEXT("GC_active"), TEXT(""), TEXT(""), {0}, 4},
    {TEXT("hprofx.unknown"), TEXT("not_walkable_Java"), TEXT(""), TEXT(""), {0}, 5},
};
static const struct hpx_method_rec hostile[] = {
    {TEXT("p.gr\xC3\xB6\xC3\x9F"
          "e"),
     TEXT("a\nCPU\tSAMPLES\rEND"),
     TEXT(""),
     TEXT("S\x1B[2J.java"),
     {0},
     6},
    {TEXT("p.\xED\xA0\xBD\xED\xB8\x80"), TEXT("\xED\xA0\xBD"), TEXT(""), TEXT("\xFF\xC0\x80\"\\.java"), {0}, 7},
    {TEXT("p.\xC2\x85"), TEXT("\x7F"), TEXT(""), TEXT("\xE2\x80\xA8"), {0}, 8},
    {TEXT("hprofx.unknown"), TEXT("GC_active"), TEXT(""), TEXT(""), {0}, 9},
    {TEXT("p.X"), TEXT("\xF0\x9F\x98\x80"), TEXT(""), TEXT(""), {0}, 10},
};

static struct hpx_out binary_out;
static struct hpx_binary *binary; /* NULL: not asked for */

static bool asked(int argc, char **argv, const char *mode)
{
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], mode) == 0) {
            return true;
        }
    }
    return false;
}

static struct hpx_trace_rec *make_trace(uint32_t i, const struct hpx_method_rec *methods, bool threads, bool depth1)
{
    uint32_t n = depth1 || i % 5 >= 3 ? 1 : 3;
    struct hpx_trace_rec *t = calloc(1, sizeof(*t) + 3 * sizeof(t->frames[0]));
    if (t == NULL) {
        exit(2);
    }
    t->serial = HPX_SERIAL_TRACE + 1 + i;
    t->thread = threads ? HPX_SERIAL_THREAD + 1 + i % 3 : 0;
    t->nframes = n;
    for (uint32_t k = 0; k < n; k++) {
        const struct hpx_method_rec *m = &methods[(i + k) % 5];
        t->frames[k] = (struct hpx_frame_rec){m, m->source.len > 0 && k != 1 ? (int32_t)(i % 1000 + 1) : -1, 0};
    }
    return t;
}

static void dump(struct hpx_ascii *w, struct hpx_trace_rec **traces, uint32_t n, uint32_t add, double cutoff, time_t now)
{
    struct hpx_snapshot s = {.rows = calloc(n + 1, sizeof(s.rows[0]))};
    if (s.rows == NULL) {
        exit(2);
    }
    for (uint32_t i = 0; i < n; i++) {
        s.rows[s.nrows] = (struct hpx_row){traces[i], (uint64_t)(i * 7919 + add) % 97 + (i == 1 ? 100 : 0)};
        s.total += s.rows[s.nrows].count;
        s.nrows += s.rows[s.nrows].count > 0;
    }
    hpx_ascii_cpu_samples(w, &s, cutoff, now);
    hpx_ascii_report(w, "hprofx: effective interval: 4 ms\nhprofx: samples: 1234\n");
    if (binary != NULL) {
        hpx_binary_cpu_samples(binary, &s, cutoff);
        hpx_binary_dump_end(binary, "hprofx: effective interval: 4 ms\nhprofx: samples: 1234\n");
    }
    free(s.rows);
}

/* Frames of calls have no lines, so their traces are others. */
static void dump_calls(struct hpx_ascii *w, struct hpx_trace_rec **traces, uint32_t n, uint32_t add, double cutoff, time_t now)
{
    struct hpx_call_snapshot s = {.rows = calloc(n + 1, sizeof(s.rows[0]))};
    if (s.rows == NULL) {
        exit(2);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t ns = i % 3 ? (uint64_t)(i * 7919 + add) % 97 * 1234567 : 0;
        struct hpx_call_row *r = &s.rows[s.nrows++];
        *r = (struct hpx_call_row){make_trace(MANY + i, plain, traces[i]->thread != 0, false), i + add, ns, ns};
        struct hpx_trace_rec *t = (struct hpx_trace_rec *)(uintptr_t)r->trace;
        for (uint32_t k = 0; k < t->nframes; k++) {
            t->frames[k].line = -1;
        }
        s.self_ns += ns;
        s.calls += r->calls;
    }
    hpx_ascii_cpu_times(w, &s, cutoff, now);
    hpx_ascii_report(w, "hprofx: open calls: 3, 4.5 ms\n");
    for (uint32_t i = 0; i < n; i++) {
        free((void *)(uintptr_t)s.rows[i].trace);
    }
    free(s.rows);
}

static struct hpx_monitor_image image_of(struct hpx_trace_rec **traces, const struct hpx_text *name)
{
    static uint32_t serials[] = {HPX_SERIAL_THREAD + 3, HPX_SERIAL_THREAD, HPX_SERIAL_THREAD + 2};
    static struct hpx_monitor_thread threads[4];
    static struct hpx_monitor monitors[3];
    static struct hpx_deadlock_thread deadlocks[2];
    static struct hpx_virtual_group virtuals[3];
    static const struct hpx_trace_rec *of_virtuals[2];
    for (uint32_t i = 0; i < 4; i++) { /* 1 and the unknown one have no trace */
        threads[i] =
            (struct hpx_monitor_thread){HPX_SERIAL_THREAD + 3 - i, (enum hpx_thread_status)(i + 2), i * 2, i < 2 ? traces[5 - i] : NULL};
    }
    monitors[0] = (struct hpx_monitor){name[0], true, HPX_SERIAL_THREAD, 1, {0, 0}, {0, 0}};
    monitors[1] = (struct hpx_monitor){name[1], false, 0, 0, {0, 0}, {2, 1}};
    monitors[2] = (struct hpx_monitor){name[0], true, HPX_SERIAL_THREAD + 1, 3, {0, 2}, {0, 0}};
    deadlocks[0] = (struct hpx_deadlock_thread){
        .serial = HPX_SERIAL_THREAD + 2, .trace = traces[4], .name = name[0], .waits_for = name[1], .monitor = true, .first = true};
    deadlocks[1] = (struct hpx_deadlock_thread){.virtual_tid = 21, .trace = traces[9], .name = name[1], .waits_for = name[0]};
    of_virtuals[0] = traces[6];
    of_virtuals[1] = NULL;
    virtuals[0] = (struct hpx_virtual_group){
        .count = 1, .stack = 1, .status = HPX_STATUS_RUNNABLE, .mounted = true, .who = {{.virtual_tid = 21}}, .nwho = 1};
    virtuals[0].carrier.serial = HPX_SERIAL_THREAD + 1;
    virtuals[1] = (struct hpx_virtual_group){.count = 1000000,
                                             .status = HPX_STATUS_WAITING,
                                             .waits_for = name[0],
                                             .owned = true,
                                             .who = {{.virtual_tid = 22}, {.virtual_tid = 23}},
                                             .nwho = 2};
    virtuals[1].owner = (struct hpx_monitor_who){.virtual_tid = 21, .name = name[1]};
    virtuals[1].who[0].name = name[0];
    virtuals[2] = (struct hpx_virtual_group){
        .count = 2, .status = HPX_STATUS_ENTERING, .waits_for = name[1], .owned = true, .who = {{.virtual_tid = 24}}, .nwho = 1};
    virtuals[2].owner.serial = HPX_SERIAL_THREAD + 3;
    return (struct hpx_monitor_image){.threads = threads,
                                      .monitors = monitors,
                                      .serials = serials,
                                      .deadlocks = deadlocks,
                                      .virtuals = virtuals,
                                      .virtual_traces = of_virtuals,
                                      .nthreads = 4,
                                      .nmonitors = 3,
                                      .nserials = 3,
                                      .ndeadlocks = 2,
                                      .nvirtuals = 3,
                                      .nvirtual_traces = 2,
                                      .notes = {"Nothing is known.", NULL}};
}

static void dump_monitors(struct hpx_ascii *w, struct hpx_trace_rec **traces, bool hostile_names, double cutoff, time_t now)
{
    static const struct hpx_text names[][2] = {{TEXT("Lp/Gate;"), TEXT("[[I")},
                                               {TEXT("Lp/\n\"MONITOR DUMP END\n;"), TEXT("Lp/\xED\xA0\xBD, timeout=7, thread 200001;")}};
    const struct hpx_text *name = names[hostile_names];
    struct hpx_monitor_image image = image_of(traces, name);
    for (uint32_t i = 0; i < 4; i++) {
        hpx_ascii_wait(w, &(struct hpx_wait_line){name[i / 2], 1000 * i, HPX_SERIAL_THREAD + i, i % 2 != 0});
    }
    hpx_ascii_monitor_dump(w, &image);
    for (int part = 0; part < HPX_BLOCK_PARTS; part++) {
        struct hpx_block_row rows[20];
        struct hpx_block_table t = {.rows = rows, .nrows = 20};
        for (uint32_t i = 0; i < 20; i++) {
            uint64_t ns = part == HPX_BLOCK_PINNED ? 0 : (uint64_t)i * i * 1234567;
            rows[i] = (struct hpx_block_row){traces[i / 2], part == HPX_BLOCK_OWNERS ? traces[i % 10] : NULL, name[i % 2], i + 1, ns};
            t.ns += ns;
        }
        hpx_ascii_block_table(w, (enum hpx_block_part)part, &t, cutoff, now);
    }
}

static void threads_begin(struct hpx_ascii *w, bool hostile_names, bool end)
{
    struct hpx_thread_rec t[] = {
        {HPX_SERIAL_THREAD + 1, 0x50000001, TEXT("main"), TEXT("main"), TEXT("system"), {NULL, 0}},
        {HPX_SERIAL_THREAD + 2, 0x50000002, TEXT("worker \"one\"\\"), TEXT("group"), TEXT("main"), {NULL, 0}},
        {HPX_SERIAL_THREAD + 3, 0x50000003, TEXT("a\", group=\"x\")\nTRACE 300001:\n\xC0\x80"), TEXT(""), TEXT(""), {NULL, 0}}};
    for (size_t i = 0; i < 3; i++) {
        if (i == 2 && !hostile_names) {
            t[i].name = t[1].group;
        }
        if (end) {
            hpx_ascii_thread_end(w, &t[i]);
        } else {
            hpx_ascii_thread_start(w, &t[i]);
        }
        if (binary != NULL) {
            (end ? hpx_binary_thread_end : hpx_binary_thread_start)(binary, &t[i]);
        }
    }
}

static bool begin_binary(const char *text_name)
{
    static struct hpx_binary w;
    char name[4096];
    struct hpx_err err;
    snprintf(name, sizeof(name), "%s.b", text_name);
    if (hpx_out_file_open(&binary_out, &(struct hpx_out_file_opts){.name = name, .force = true}, &err) != 0) {
        return false;
    }
    binary = &w;
    hpx_binary_init(binary, &binary_out, 8);
    hpx_binary_header(binary, (struct timespec){1795250000, 0}, 0, HPX_SETTING_CPU, 3);
    return true;
}

static int end_binary(void)
{
    hpx_binary_release(binary);
    hpx_binary_fini(binary);
    return hpx_out_close(&binary_out);
}

int main(int argc, char **argv)
{
    struct hpx_out out;
    struct hpx_ascii w;
    struct hpx_err err;
    if (argc < 2 || hpx_out_file_open(&out, &(struct hpx_out_file_opts){.name = argv[1], .force = true, .text = true}, &err) != 0) {
        return 2;
    }
    if (asked(argc, argv, "binary") && !begin_binary(argv[1])) {
        return 2;
    }
    bool bad_names = asked(argc, argv, "hostile");
    uint32_t n = asked(argc, argv, "empty") ? 0 : asked(argc, argv, "many") ? MANY : 10;
    double cutoff = asked(argc, argv, "cut") ? 0.2 : 0;
    static struct hpx_trace_rec *traces[MANY];
    for (uint32_t i = 0; i < n; i++) {
        traces[i] = make_trace(i, bad_names ? hostile : plain, asked(argc, argv, "threads"), asked(argc, argv, "depth1"));
    }
    hpx_ascii_init(&w, &out);
    hpx_ascii_header(&w, 1795250000);
    threads_begin(&w, bad_names, false);
    if (asked(argc, argv, "monitor")) {
        dump_monitors(&w, traces, bad_names, cutoff, 1795250060);
    }
    dump(&w, traces, n, 5, cutoff, 1795250060);
    if (asked(argc, argv, "times")) {
        dump_calls(&w, traces, n, 5, cutoff, 1795250060);
    }
    int rc = hpx_out_section(&out, true);
    if (asked(argc, argv, "two")) {
        if (asked(argc, argv, "monitor")) {
            dump_monitors(&w, traces, bad_names, cutoff, 1795250061);
        }
        dump(&w, traces, n, 11, cutoff, 1795250061);
        if (asked(argc, argv, "times")) {
            dump_calls(&w, traces, n, 12, cutoff, 1795250061);
        }
    }
    threads_begin(&w, bad_names, true);
    hpx_ascii_fini(&w);
    rc |= hpx_out_close(&out);
    rc |= binary != NULL ? end_binary() : 0;
    for (uint32_t i = 0; i < n; i++) {
        free(traces[i]);
    }
    return rc == 0 ? 0 : 1;
}
