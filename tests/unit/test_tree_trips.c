/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tree_trips.c: files of each format are read, written and read again; every reader and writer without memory. */
#include "failing_memory.h"
#include "idle.h"
#include "jfr_facts.h"
#include "tree_files.h"
#include "window.h"

#define DATE "Thu Jan  1 00:00:00 1970"

/* Each table that a text file has, and a heap dump. */
static const char all_tables[] =
    "JAVA PROFILE 1.0.1, created " DATE "\n\nwords\n--------\n\n"
    "THREAD START (obj=50000181, id = 200001, name=\"main\", group=\"main\")\n"
    "TRACE 300001: (thread=200001)\n\tA.main(A.java:12)\n\tp.B$$Lambda$14/1234567.x(<Unknown Source>:Unknown line)\n"
    "TRACE 300002:\n\tB.x(B.java:7)\n"
    "MONITOR TIME BEGIN (total = 2 ms) " DATE "\nrank   self  accum   count trace monitor\n"
    "   1 100.00% 100.00%       3 300001 java.lang.Object (Java)\nMONITOR TIME END\n"
    "MONITOR OWNERS BEGIN (total = 9 ms) " DATE "\nrank   self  accum   count trace owner monitor\n"
    "   1 50.00% 50.00%       2 300001 300002 java.lang.Object (Java)\n   2 50.00% 100.00%       1 300001 300000 java.lang.Object (Java)\n"
    "MONITOR OWNERS END\n"
    "LOCK TIME BEGIN (total = 7 ms) " DATE "\nrank   self  accum   count trace lock\n"
    "   1 100.00% 100.00%       5 300001 p.Lock$Sync (Java)\nLOCK TIME END\n"
    "PINNED TIME BEGIN (total = 8 ms) " DATE "\nrank   self  accum   count trace monitor\n"
    "   1 100.00% 100.00%       1 300002 p.C (Java)\nPINNED TIME END\n"
    "HEAP DUMP BEGIN (2 objects, 28 bytes) " DATE "\nROOT 61 (kind=<thread>, id=200001, trace=300001)\n"
    "CLS 51 (name=java.lang.Object, trace=300000)\nCLS 52 (name=A, trace=300000)\n\tsuper\t\t51\n"
    "OBJ 61 (sz=16, trace=300001, class=A@52)\nARR 65 (sz=12, trace=300002, nelems=3, elem type=int[])\nHEAP DUMP END\n"
    "SITES BEGIN (ordered by live bytes) " DATE "\n"
    "          percent          live          alloc'ed  stack class\n rank   self  accum     bytes objs     bytes  objs trace name\n"
    "    1 66.67% 66.67%        64    1        72     2 300001 A[]\n    2 33.33% 100.00%        32    1        40     2 300002 A\nSITES "
    "END\n"
    "CPU SAMPLES BEGIN (total = 10) " DATE "\nrank   self  accum   count trace method\n"
    "   1 60.00% 60.00%       6 300001 A.main\n   2 40.00% 100.00%       4 300002 B.x\nCPU SAMPLES END\n"
    "WALL CLOCK (ms) BEGIN (total = 50) " DATE "\nrank   self  accum        ms trace state    method\n"
    "   1 60.00% 60.00%        30 300001 parked p.Lock$Sync; A.main\n   2 24.00% 84.00%        12 300001 running  A.main\n"
    "   3 16.00% 100.00%         8 300002 io       B.x\nWALL CLOCK (ms) END\n"
    "hprofx: version: 1\nhprofx: samples: 10 (one per 20 ms of CPU time of a Java thread)\n";

TEST(through_HPROF_names_and_what_is_known_of_errors_stay, setup, teardown)
{
    static const char *const suffixes[] = {"x.txt", "x.hprof"};
    uint32_t f = hpx_tree_frame(&tree, name_of("main (x)"), 0, 0, HPX_FRAME_METHOD);
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_ALLOC], hpx_tree_node(&tree, 0, f), 0, (uint64_t[]){1, 16, 1, 16});
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_CPU], hpx_tree_node(&tree, 0, f), 0, (uint64_t[]){10, 41000000}); /* one per 4.1 ms */
    tree.sampled = 12345;
    tree.live_drawn = true;
    tree.own = name_of("1 ms");
    tree.older = name_of("2 of 3");
    hpx_tree_finish(&tree);
    for (size_t i = 0; i < HPX_ARRAY_LEN(suffixes); i++) {
        struct hpx_tree again;
        size_t n;
        char *text = written(&tree, suffixes[i], NULL, &n);
        assert_true(hpx_tree_init(&again));
        assert_int_equal(read_bytes(&again, text, n), HPX_TREE_WHOLE);
        free(text);
        assert_int_equal(again.interval_ns, 4100000);
        assert_in_range(again.sampled, 12344, 12347);
        assert_true(again.live_drawn && !again.views[HPX_VIEW_ALLOC].exact);
        assert_string_equal(hpx_tree_text(&again, again.own), "1 ms");
        assert_string_equal(hpx_tree_text(&again, again.older), "2 of 3");
        hpx_tree_finish(&again);
        text = written(&again, "x.folded", "alloc_space", &n);
        assert_string_equal(text, "main (x);hprofx.unknown 16\n");
        free(text);
        hpx_tree_fini(&again);
    }
}

/* Their time stays, and their threads; nobody else's changes. */
TEST(idle_threads_become_one_row_that_says_how_much, setup, teardown)
{
    static const char text[] = "JAVA PROFILE 1.0.1, created " DATE "\n\nwords\n--------\n\n"
                               "THREAD START (obj=50000181, id = 200001, name=\"pool-1\", group=\"main\")\n"
                               "TRACE 300001: (thread=200001)\n\tjdk.internal.misc.Unsafe.park(Unsafe.java:1)\n"
                               "\tjava.util.concurrent.ThreadPoolExecutor.getTask(T.java:1)\n\tjava.lang.Thread.run(Thread.java:1)\n"
                               "TRACE 300002:\n\tjava.lang.ref.Reference.waitForReferencePendingList(R.java:1)\n"
                               "TRACE 300003:\n\tjdk.internal.misc.Unsafe.park(Unsafe.java:1)\n\tp.A.waits(A.java:1)\n"
                               "\tjava.util.concurrent.ThreadPoolExecutor.runWorker(T.java:1)\n"
                               "WALL CLOCK (ms) BEGIN (total = 100) " DATE "\nrank   self  accum        ms trace state    method\n"
                               "   1 50.00% 50.00%        50 300001 parked   jdk.internal.misc.Unsafe.park\n"
                               "   2 30.00% 80.00%        30 300002 waiting  java.lang.ref.Reference.waitForReferencePendingList\n"
                               "   3 15.00% 95.00%        15 300003 parked   jdk.internal.misc.Unsafe.park\n"
                               "   4  5.00% 100.00%         5 300001 running  jdk.internal.misc.Unsafe.park\nWALL CLOCK (ms) END\n";
    const struct hpx_tree_view *v = &tree.views[HPX_VIEW_WALL];
    assert_int_equal(read_text(text), HPX_TREE_WHOLE);
    hpx_tree_finish(&tree);
    assert_true(hpx_idle_fold(&tree));
    assert_int_equal(v->totals[0], 100000000);
    assert_folded("wall",
                  "java.util.concurrent.ThreadPoolExecutor.runWorker;p.A.waits;jdk.internal.misc.Unsafe.park;parked 15000000\n"
                  "java.lang.Thread.run;java.util.concurrent.ThreadPoolExecutor.getTask;jdk.internal.misc.Unsafe.park;running 5000000\n"
                  "[idle];parked 50000000\n[idle];waiting 30000000\n");
    assert_false(hpx_idle_fold(&tree)); /* it is done */
    size_t named = 0;
    for (size_t i = 0; i < v->samples.len; i++) {
        named += strcmp(hpx_tree_text(&tree, hpx_tree_sample_at(v, i)->thread), "pool-1") == 0;
    }
    assert_int_equal(named, 2);
}

#define VIRTUAL(starts)                                                                                                                    \
    "\tjava.util.concurrent.FutureTask.run(F.java:1)\n" starts                                                                             \
    "\tjava.lang.Thread.runWith(T.java:1)\n\tjava.lang.VirtualThread.run(V.java:1)\n"

/* A carrier's name says nothing of who used the time; a name that the virtual thread has does, and so does one of a thread of the pool.
 * Waits of wall= name no thread, in binary files the unknown one. */
TEST(virtual_threads_without_a_name_are_called_by_what_they_were_started_with, setup, teardown)
{
    /* clang-format off */
    static const char text[] =
        "JAVA PROFILE 1.0.1, created " DATE "\n\nwords\n--------\n\n"
        "THREAD START (obj=50000181, id = 200001, name=\"ForkJoinPool-1-worker-1\", group=\"CarrierThreads\")\n"
        "THREAD START (obj=50000182, id = 200002, name=\"\", group=\"VirtualThreads\")\n"
        "THREAD START (obj=50000183, id = 200003, name=\"mine\", group=\"VirtualThreads\")\n"
        "THREAD START (obj=50000189, id = 200009, name=\"<unknown thread>\", group=\"\")\n"
        "TRACE 300001: (thread=200001)\n\tp.A.burns(A.java:1)\n\tp.A.serves(A.java:1)\n"
        "\tp.A$$Lambda$14/1234567.run(<Unknown Source>:Unknown line)\n" VIRTUAL("") "\tp.Scheduler.carries(S.java:1)\n"
        "TRACE 300002: (thread=200001)\n" VIRTUAL("")
        "TRACE 300003: (thread=200001)\n\tp.A.burns(A.java:1)\n"
        "TRACE 300004: (thread=200002)\n\tp.A.burns(A.java:1)\n" VIRTUAL("\tp.A.serves(A.java:1)\n")
        "TRACE 300005: (thread=200003)\n" VIRTUAL("\tp.A.serves(A.java:1)\n")
        "TRACE 300006: (thread=200000)\n" VIRTUAL("\tp.A.serves(A.java:1)\n")
        "TRACE 300007: (thread=200009)\n" VIRTUAL("\tp.A.serves(A.java:1)\n")
        "CPU SAMPLES BEGIN (total = 223) " DATE "\nrank   self  accum   count trace method\n"
        "   1 57.40%  57.40%     128 300007 x\n"
        "   2 28.70%  86.10%      64 300006 x\n"
        "   3  7.17%  93.27%      16 300001 p.A.burns\n"
        "   4  3.59%  96.86%       8 300002 x\n"
        "   5  1.79%  98.65%       4 300003 p.A.burns\n"
        "   6  0.90%  99.55%       2 300004 p.A.burns\n"
        "   7  0.45% 100.00%       1 300005 x\n"
        "CPU SAMPLES END\n";
    /* clang-format on */
    const struct hpx_tree_view *v = &tree.views[HPX_VIEW_CPU];
    static const struct {
        const char *thread;
        uint64_t samples;
    } wanted[] = {
        {"p.A.serves (virtual)", 210}, {"java.util.concurrent.FutureTask.run (virtual)", 8}, {"ForkJoinPool-1-worker-1", 4}, {"mine", 1}};
    assert_int_equal(read_text(text), HPX_TREE_WHOLE);
    hpx_tree_finish(&tree);
    for (size_t w = 0; w < HPX_ARRAY_LEN(wanted); w++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < v->samples.len; i++) {
            sum += strcmp(hpx_tree_text(&tree, hpx_tree_sample_at(v, i)->thread), wanted[w].thread) == 0 ? hpx_tree_values_at(v, i)[0] : 0;
        }
        assert_int_equal(sum, wanted[w].samples);
    }
}

/* Files of other profilers, whose names were made elsewhere. */
TEST(runs_differ_in_no_generated_name_whatever_the_format, setup, teardown)
{
    static const char *const runs[] = {"p.A.main;user$eval12$fn__13.invoke;jdk.proxy1.$Proxy4.m;p.B$$Lambda$5/0x0000000800c03000.x 3\n",
                                       "p.A.main;user$eval98$fn__99.invoke;jdk.proxy2.$Proxy7.m;p.B$$Lambda$6/0x0000000800c07000.x 4\n"};
    struct hpx_tree pprof;
    assert_true(hpx_tree_init(&pprof));
    for (size_t i = 0; i < HPX_ARRAY_LEN(runs); i++) {
        struct hpx_tree raw;
        uint32_t node = 0;
        size_t n;
        char copy[200], *left = copy;
        (void)snprintf(copy, sizeof copy, "%.*s", (int)(strlen(runs[i]) - 3), runs[i]);
        assert_int_equal(read_bytes(&tree, runs[i], strlen(runs[i])), HPX_TREE_WHOLE);
        assert_true(hpx_tree_init(&raw));
        for (char *one; (one = strsep(&left, ";")) != NULL;) {
            node = hpx_tree_node(&raw, node, hpx_tree_frame(&raw, hpx_tree_name(&raw, one, strlen(one)), 0, 0, HPX_FRAME_METHOD));
        }
        hpx_tree_add(&raw, &raw.views[HPX_VIEW_CPU], node, 0, (uint64_t[]){3 + i, 0});
        hpx_tree_finish(&raw);
        char *text = written(&raw, "x.pprof", NULL, &n);
        assert_int_equal(read_bytes(&pprof, text, n), HPX_TREE_WHOLE);
        free(text);
        hpx_tree_fini(&raw);
    }
    assert_folded("samples", "p.A.main;user$eval$fn__.invoke;jdk.proxy.$Proxy.m;p.B$$Lambda.x 7\n");
    hpx_tree_finish(&pprof);
    assert_int_equal(pprof.views[HPX_VIEW_CPU].samples.len, 1);
    assert_int_equal(pprof.views[HPX_VIEW_CPU].totals[0], 7);
    hpx_tree_fini(&pprof);
}

/* Text and binary, in which every state has a record, and pprof, where the state is a label. */
TEST(through_HPROF_and_pprof_the_states_of_wall_clock_stay, setup, teardown)
{
    static const char *const suffixes[] = {"x.txt", "x.hprof", "x.pprof"};
    assert_int_equal(read_text(all_tables), HPX_TREE_WHOLE);
    hpx_tree_finish(&tree);
    for (size_t i = 0; i < HPX_ARRAY_LEN(suffixes); i++) {
        struct hpx_tree again;
        size_t n;
        char *text = written(&tree, suffixes[i], NULL, &n);
        assert_true(hpx_tree_init(&again));
        assert_int_equal(read_bytes(&again, text, n), HPX_TREE_WHOLE);
        free(text);
        hpx_tree_finish(&again);
        const struct hpx_tree_view *v = &again.views[HPX_VIEW_WALL];
        assert_int_equal(again.views[HPX_VIEW_CPU].totals[0], 10);
        assert_int_equal(v->samples.len, 3);
        assert_string_equal(hpx_tree_text(&again, hpx_tree_sample_at(v, 0)->thread), "main");
        text = written(&again, "x.folded", "wall", &n);
        assert_non_null(strstr(text, "p.B$$Lambda.x;A.main;parked p.Lock$Sync 30000000\n"));
        assert_non_null(strstr(text, "p.B$$Lambda.x;A.main;running 12000000\n"));
        assert_non_null(strstr(text, "B.x;io 8000000\n"));
        free(text);
        hpx_tree_fini(&again);
    }
}

TEST(through_pprof_all_values_stay, setup, teardown)
{
    struct hpx_tree again;
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    size_t n;
    assert_int_equal(read_text(all_tables), HPX_TREE_WHOLE);
    tree.effective = 987654321;
    tree.lost = name_of("3 of 4");
    tree.own = name_of("5 ms");
    hpx_tree_finish(&tree);
    char *pprof = written(&tree, "x.pprof", NULL, &n);
    assert_true(hpx_tree_init(&again));
    assert_int_equal(read_bytes(&again, pprof, n), HPX_TREE_WHOLE);
    assert_int_equal(again.effective, tree.effective);
    assert_string_equal(hpx_tree_text(&again, again.lost), hpx_tree_text(&tree, tree.lost));
    assert_string_equal(hpx_tree_text(&again, again.own), hpx_tree_text(&tree, tree.own));
    hpx_tree_finish(&again);
    free(pprof);
    size_t columns = hpx_tree_columns(&tree, of);
    assert_int_equal(columns, 17);
    for (size_t i = 0; i < columns; i++) {
        size_t a, b;
        const char *name = tree.views[of[i].view].measures[of[i].measure].name;
        char *before = written(&tree, "x.folded", name, &a), *after = written(&again, "x.folded", name, &b);
        assert_string_equal(before, after);
        free(before);
        free(after);
    }
    hpx_tree_fini(&again);
}

/* The tree with the time of a sample, a wait and a pause. */
static void fill_timed(void)
{
    tree.timed = true;
    assert_int_equal(read_text(all_tables), HPX_TREE_WHOLE);
    static const enum hpx_view_kind kinds[] = {HPX_VIEW_CPU, HPX_VIEW_WALL};
    for (size_t i = 0; i < HPX_ARRAY_LEN(kinds); i++) {
        struct hpx_tree_view *v = &tree.views[kinds[i]];
        const struct hpx_tree_sample *s = hpx_tree_sample_at(v, 0);
        hpx_tree_add_moment(&tree, v, &(struct hpx_tree_moment){1000 + i, 1, s->node, s->thread, i > 0}, (uint64_t[HPX_TREE_VALUES]){1, 5});
    }
    hpx_tree_add_pause(&tree, &(struct hpx_tree_pause){1001, 2000000, name_of("G1 Young")});
    hpx_tree_add_times(&tree, 900, 1100);
}

TEST(through_JFR_what_is_known_of_the_run_stays, setup, teardown)
{
    fill_timed();
    uint32_t *const texts[] = {&tree.lost,     &tree.own,         &tree.older,          &tree.replaced,
                               &tree.filtered, &tree.origin.host, &tree.origin.version, &tree.origin.container};
    static const char *const said[] = {"3 of 4", "5 ms", "2 of 3", "p.C.m", "--thread x", "h.example", "1.2", "c0ffee"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(texts); i++) {
        *texts[i] = name_of(said[i]);
    }
    tree.verdict = strdup("Look at p.C.m.\n\x1b[31m2 samples.\n");
    tree.origin.pid = 12;
    tree.effective = 987654321;
    hpx_tree_finish(&tree);
    for (int drawn = 0; drawn < 2; drawn++) { /* allocations were counted, or drawn */
        struct hpx_tree again;
        size_t n;
        tree.views[HPX_VIEW_ALLOC].exact = drawn == 0;
        tree.sampled = drawn == 0 ? 0 : 77;
        char *jfr = written(&tree, "x.jfr", NULL, &n);
        assert_true(hpx_tree_init(&again));
        assert_int_equal(read_bytes(&again, jfr, n), HPX_TREE_WHOLE);
        const uint32_t read[] = {again.lost,     again.own,         again.older,          again.replaced,
                                 again.filtered, again.origin.host, again.origin.version, again.origin.container};
        for (size_t i = 0; i < HPX_ARRAY_LEN(read); i++) {
            assert_string_equal(hpx_tree_text(&again, read[i]), said[i]);
        }
        assert_string_equal(again.verdict, "Look at p.C.m.\n\\u001B[31m2 samples.\n");
        assert_int_equal(again.origin.pid, 12);
        assert_int_equal(again.effective, 987654321);
        assert_int_equal(again.sampled, tree.sampled);
        assert_int_equal(again.views[HPX_VIEW_ALLOC].exact, drawn == 0);
        free(jfr);
        hpx_tree_fini(&again);
    }
}

/* Nor is what it costs to refuse them: a line is entered as a name. */
TEST(lines_of_a_verdict_in_JFR_are_not_without_end, setup, teardown)
{
    struct hpx_jfr_told told = {.verdict = 0};
    char line[64];
    size_t full = 0;
    for (int i = 0; i < 10000; i++) {
        const size_t before = tree.names.len;
        (void)snprintf(line, sizeof line, "line %d of a verdict that has many of them", i);
        hpx_jfr_take_fact(&tree, &told, "verdict", line);
        full = full == 0 && tree.names.len == before ? before : full;
    }
    assert_in_range(strlen(tree.verdict), 60000, 1 << 16);
    assert_true(full > 0 && tree.names.len == full);
    assert_memory_equal(tree.verdict, "line 0 of a verdict that has many of them\nline 1 ", 49);
}

TEST(what_is_too_large_for_a_record_of_JFR_counts_as_no_memory, setup, teardown)
{
    const size_t most = ((size_t)1 << 28) - 1;
    for (size_t over = 0; over < 2; over++) {
        struct hpx_jfr_out j;
        size_t n;
        char *text = NULL;
        FILE *to = open_memstream(&text, &n);
        assert_true(to != NULL && hpx_jfr_out_init(&j, &tree, to, 0, 0));
        j.event = (struct hpx_pb){.bytes = calloc(1, most), .len = most - 4 + over, .cap = most};
        assert_non_null(j.event.bytes);
        hpx_jfr_end(&j);
        assert_int_equal(j.events.no_memory, over);
        hpx_jfr_out_fini(&j);
        assert_int_equal(fclose(to), 0);
        free(text);
    }
}

struct sample_file {
    const char *what;
    void *bytes;
    size_t n;
};

/* Reads and writes all; *whole: it says that the memory sufficed. What was written. */
static uint64_t read_and_write(int fd, bool *whole)
{
    struct hpx_tree t;
    struct hpx_err why = {""};
    size_t n, length;
    uint64_t bytes = 0;
    *whole = hpx_tree_init(&t) && (t.timed = true) && hpx_tree_read(&t, fd, NULL, NULL, &why) == HPX_TREE_WHOLE;
    hpx_tree_finish(&t);
    *whole = *whole && !t.no_memory;
    const struct hpx_format *f = hpx_formats(&n);
    for (size_t i = 0; i < n && *whole; i++) {
        struct hpx_tree_column c;
        char *text = NULL;
        FILE *to = open_memstream(&text, &length);
        *whole = to != NULL && hpx_tree_column(&t, NULL, &c) && f[i].write(&t, c, to) && ferror(to) == 0;
        *whole = to != NULL && fclose(to) == 0 && *whole;
        bytes += *whole && !f[i].hprof ? length : 0; /* without memory, HPROF has some strings twice */
        free(text);
    }
    hpx_tree_fini(&t);
    return bytes;
}

static void fail_each(const struct sample_file *f)
{
    int fd = file_of(f->bytes, f->n);
    bool whole, reached = true;
    uint64_t wanted = read_and_write(fd, &whole), first = memory_first_fault();
    assert_true(whole && wanted > 0);
    for (; reached; first += memory_fault_step()) {
        assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
        memory_fail(first, first);
        uint64_t got = read_and_write(fd, &whole);
        reached = memory_calls() >= first;
        memory_allow();
        if (whole && got != wanted) {
            fail_msg("%s without allocation %u: whole, but something is missing", f->what, (unsigned)first);
        }
        assert_true(whole || reached);
    }
    assert_true(first > 20);
    (void)close(fd);
}

/* With a TIMELINE before the report, which events of every kind have; one is coarse. */
static struct sample_file timed_text(void)
{
    static const char lines[] = "TIMELINE BEGIN (zero = 1000000000000, end = 20000, places = 6, events = 10, coarse = 2000)\n"
                                "p cpu 300001\np cpu 300002\np wall 300001 parked p.Lock$Sync\np alloc 300001 36 1000 A[]\n"
                                "p block 300001 enter 0 java.lang.Object\np gc 0\nt @1000 ~1000 #200001 0*2 3\n"
                                "t @2000 #200001 0 +10 0 1*3 2*1/30000000 +500 5*1/7000000 +500 5*1/9000000 4*2/1000000\n"
                                "t @9000 #200002 1\nTIMELINE END\n";
    struct sample_file f = {.what = "text with times"};
    size_t before = (size_t)(strstr(all_tables, "hprofx: version") - all_tables);
    FILE *to = open_memstream((char **)&f.bytes, &f.n);
    assert_non_null(to);
    (void)fprintf(to, "%.*s%s%s", (int)before, all_tables, lines, all_tables + before);
    assert_int_equal(fclose(to), 0);
    return f;
}

/* A binary file with times, in a string that nothing names. Its events are of trace 0, which all files have. */
static void add_times(struct sample_file *f)
{
    static const char lines[] = "hprofx: TIMELINE\nTIMELINE BEGIN (zero = 1000000000000, end = 20000, places = 2, events = 3, coarse = 0)\n"
                                "p cpu 0\np gc 0\nt @1000 #200001 0*2 +10 0 +500 1*1/7000000\nTIMELINE END\n";
    enum { ID = 8, HEAD = 9 };
    const size_t size = ID + sizeof lines - 1;
    const uint8_t head[HEAD + ID] = {[0] = 1, [7] = (uint8_t)(size >> 8), [8] = (uint8_t)size, [HEAD + 4] = 0x10, [HEAD + ID - 1] = 1};
    uint8_t *all = realloc(f->bytes, f->n + HEAD + size);
    assert_non_null(all);
    memcpy(all + f->n, head, sizeof head);
    memcpy(all + f->n + sizeof head, lines, sizeof lines - 1);
    f->bytes = all;
    f->n += HEAD + size;
}

static void assert_times(const struct sample_file *f, size_t moments, size_t pauses)
{
    struct hpx_tree t;
    size_t n = 0;
    assert_true(hpx_tree_init(&t));
    t.timed = true;
    assert_int_equal(read_bytes(&t, f->bytes, f->n), HPX_TREE_WHOLE);
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        n += t.views[k].moments.len;
    }
    assert_int_equal(n, moments);
    assert_int_equal(t.pauses.len, pauses);
    hpx_tree_fini(&t);
}

TEST(without_memory_a_file_is_read_whole_or_not, setup, teardown)
{
    struct sample_file pprof = {.what = "pprof"}, folded = {.what = "folded"}, binary = {.what = "binary"}, jfr = {.what = "jfr"};
    struct sample_file text = timed_text();
    fill_timed();
    tree.verdict = strdup("Look at p.C.m.\n");
    hpx_tree_finish(&tree);
    pprof.bytes = written(&tree, "x.pprof", NULL, &pprof.n);
    folded.bytes = written(&tree, "x.folded", NULL, &folded.n);
    binary.bytes = written(&tree, "x.hprof", NULL, &binary.n);
    jfr.bytes = written(&tree, "x.jfr", NULL, &jfr.n);
    add_times(&binary);
    assert_times(&text, 8 + 5, 2); /* those of CPU are time of the wall clock, too */
    assert_times(&binary, 2 + 2, 1);
    fail_each(&text);
    text.what = "text with times, a part of it";
    assert_true(hpx_window_set(HPX_WINDOW_FROM, "1500ms") && hpx_window_set(HPX_WINDOW_TO, "5s"));
    fail_each(&text);
    hpx_window_clear();
    fail_each(&pprof);
    fail_each(&folded);
    fail_each(&binary);
    fail_each(&jfr);
    free(pprof.bytes);
    free(folded.bytes);
    free(binary.bytes);
    free(jfr.bytes);
    free(text.bytes);
}

TESTS(NULL, NULL)
