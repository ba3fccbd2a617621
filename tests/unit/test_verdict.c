/* SPDX-License-Identifier: BSD-2-Clause */
/* test_verdict.c: the CPU time of a JVM from /proc, methods by self and total, and what the command says of them. */
#include "folder_fixture.h"
#include "picture.h"
#include "usage.h"
#include "view.h"
#include <sys/stat.h>

/* ---- usage.c ---- */

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* A thread of process 7. sched: the text of its schedstat; NULL: it has none. */
static void make_thread(const char *tid, const char *name, const char *sched, const char *stat)
{
    char file[64];
    (void)snprintf(file, sizeof file, "proc/7/task/%s", tid);
    (void)mkdir(file, 0700);
    (void)snprintf(file, sizeof file, "proc/7/task/%s/comm", tid);
    write_file(file, name);
    (void)snprintf(file, sizeof file, "proc/7/task/%s/schedstat", tid);
    if (sched != NULL) {
        write_file(file, sched);
    }
    (void)snprintf(file, sizeof file, "proc/7/task/%s/stat", tid);
    write_file(file, stat);
}

static void make_process(const char *stat)
{
    assert_true(mkdir("proc", 0700) == 0 && mkdir("proc/7", 0700) == 0 && mkdir("proc/7/task", 0700) == 0);
    write_file("proc/7/stat", stat);
}

TEST(cpu_time_is_told_by_what_threads_are_for, setup, teardown)
{
    struct hpx_usage u;
    make_process("7 (a) b) R 1 7 7 0 -1 0 0 0 0 0 300 100 0 0 20 0 9 0 1 0 0\n");
    make_thread("7", "main\n", "9000000000 1 1\n", "");
    make_thread("8", "GC Thread#0\n", "500000000 1 1\n", "");
    make_thread("9", "VM Thread\n", "250000000 1 1\n", "");
    make_thread("10", "C2 CompilerThre\n", NULL, "10 (C2) R 1 7 7 0 -1 0 0 0 0 0 100 25 0 0 20 0 9 0 1 0 0\n");
    make_thread("11", "hprofx-out\n", "125000000 1 1\n", "");
    make_thread("12", "\n", "nothing\n", "nothing\n");
    assert_true(hpx_usage_read(".", 7, &u));
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    assert_true(u.total == 400 * tick && u.gc == 0.75 && u.compiler == 125 * tick && u.agent == 0.125);
    assert_true(u.parts && u.at > 0 && u.cpus > 0);
    assert_false(hpx_usage_read(".", 8, &u));
    assert_true(u.total == 0 && !u.parts);
}

TEST(a_thread_that_ended_makes_no_part_negative)
{
    const struct hpx_usage begin = {.at = 1, .total = 5, .gc = 2, .compiler = 3, .parts = true, .cpus = 2},
                           end = {.at = 4, .total = 9, .gc = 1, .compiler = 3.5, .agent = 1, .parts = true, .cpus = 4};
    struct hpx_usage u = hpx_usage_between(&begin, &end);
    assert_true(u.at == 3 && u.total == 4 && u.gc == 0 && u.compiler == 0.5 && u.agent == 1 && u.parts && u.cpus == 4);
}

/* ---- verdict.c ---- */

#define HEAD "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\nwords\n--------\n\n"
#define SAMPLES                                                                                                                            \
    HEAD "TRACE 300001:\n\tp.C.in(C.java:1)\n\tp.C.mid(C.java:2)\n\tp.C.main(C.java:3)\n\tjava.lang.Thread.run(Thread.java:1)\n"           \
         "TRACE 300002:\n\tp.C.mid(C.java:4)\n\tp.C.mid(C.java:2)\n\tp.C.main(C.java:3)\n"                                                 \
         "CPU SAMPLES BEGIN (total = 400) Thu Jan  1 00:00:00 1970\nrank   self  accum   count trace method\n"                             \
         "   1 75.00% 75.00%     300 300001 p.C.in\n   2 25.00% 100.00%     100 300002 p.C.mid\nCPU SAMPLES END\n"                         \
         "hprofx: lost: 3\nhprofx: own CPU time: 9.390 ms (0.93 % of the program's)\n"

/* What is shown of a profile. */
static const char *shown(const char *profile, struct hpx_usage usage, bool bounded)
{
    const struct hpx_verdict v = {.name = "p.C\033", .usage = usage, .bounded = bounded};
    struct hpx_tree t;
    struct hpx_err err = {""};
    write_file("profile", profile);
    (void)fflush(stdout);
    int fd = open("profile", O_RDONLY), to = open("shown", O_RDWR | O_CREAT | O_TRUNC, 0600), out = dup(STDOUT_FILENO);
    assert_true(fd >= 0 && to >= 0 && out >= 0 && dup2(to, STDOUT_FILENO) >= 0);
    assert_true(hpx_tree_init(&t));
    enum hpx_status read = hpx_picture_read_fd(&t, fd, "profile", &v, &err);
    hpx_tree_finish(&t);
    enum hpx_status drawn = hpx_look_all(stdout, &t, false, &err);
    hpx_tree_fini(&t);
    (void)fflush(stdout);
    assert_true(dup2(out, STDOUT_FILENO) >= 0);
    close(fd), close(to), close(out);
    assert_int_equal(read, HPX_OK);
    assert_int_equal(drawn, HPX_OK);
    return content("shown");
}

static void begins(const char *text, const char *with)
{
    assert_int_equal(strncmp(text, with, strlen(with)), 0);
}

TEST(the_verdict_says_what_to_ask_next, setup, teardown)
{
    const struct hpx_usage busy = {.at = 4, .total = 4, .gc = 0.4, .compiler = 0.4, .agent = 0.04, .parts = true, .cpus = 1};
    struct hpx_usage u = busy;
    begins(shown(SAMPLES, u, true),
           "p.C\\u001B used 1.00 of 1 CPU for 4.0 s: 79 % the program, 10 % garbage collector and VM, 10 % compiler.\n"
           "400 samples");
    u.gc = 1;
    u.cpus = 2;
    begins(shown(SAMPLES, u, true),
           "p.C\\u001B used 1.00 of 2 CPUs for 4.0 s: 64 % the program, 25 % garbage collector and VM, 10 % compiler.\n"
           "The garbage collector takes much: -e alloc shows who allocates.\n");
    u = busy;
    u.compiler = 2;
    assert_non_null(strstr(shown(SAMPLES, u, true), "\nThe compiler is still busy"));
    u = (struct hpx_usage){.at = 4, .total = 0.1, .cpus = 1};
    begins(shown(HEAD "CPU SAMPLES BEGIN (total = 0) Thu Jan  1 00:00:00 1970\nCPU SAMPLES END\n", u, true),
           "p.C\\u001B used 0.03 of 1 CPU for 4.0 s.\n"
           "It was idle nearly all the time. -e wall shows what its threads wait for.\n"
           "There is no sample: no Java thread used CPU time.\n");
}

TEST(code_that_is_older_is_told, setup, teardown)
{
    assert_non_null(strstr(shown(SAMPLES "hprofx: without debug information: 8 of 19 compiled methods, 61.2 % of the code\n",
                                 (struct hpx_usage){.at = 0}, true),
                           "\n8 of 19 compiled methods, 61.2 % of the code, lack debug information: "));
    assert_null(strstr(shown(SAMPLES, (struct hpx_usage){.at = 0}, true), "lack debug"));
    assert_null(strstr(shown(SAMPLES "hprofx: without debug information: 8 of 19 compiled methods, 61.2 % of the code\n"
                                     "CPU SAMPLES BEGIN (total = 1) Thu Jan  1 00:00:00 1970\nrank   self  accum   count trace method\n"
                                     "   1 100.00% 100.00%       1 300001 p.C.in\nCPU SAMPLES END\nhprofx: effective samples: 1\n",
                             (struct hpx_usage){.at = 0}, true),
                       "lack debug"));
}

#define FEW                                                                                                                                \
    HEAD "TRACE 300001:\n\tp.C.in(C.java:1)\n"                                                                                             \
         "CPU SAMPLES BEGIN (total = 1) Thu Jan  1 00:00:00 1970\nrank   self  accum   count trace method\n"                               \
         "   1 100.00% 100.00%       1 300001 p.C.in\nCPU SAMPLES END\n"

TEST(too_few_samples_want_a_longer_session, setup, teardown)
{
    const struct hpx_usage u = {.at = 1, .total = 1, .cpus = 1};
    assert_non_null(strstr(shown(FEW, u, true), "\n1 sample: shares are right within 98.0 points; -d 385s makes that 5.\n"));
    assert_non_null(strstr(shown(FEW, u, false), "\n1 sample: shares are right within 98.0 points.\n"));
}

TEST(other_tables_have_places_too, setup, teardown)
{
    const struct hpx_usage none = {.at = 0};
    begins(shown(HEAD "TRACE 300001:\n\tp.C.in(C.java:1)\n"
                      "SITES BEGIN (ordered by allocated bytes) Thu Jan  1 00:00:00 1970\n"
                      "          percent          live          alloc'ed  stack class\n"
                      " rank   self  accum     bytes objs     bytes  objs trace name\n"
                      "    1 80.00% 80.00%         0    0       800    10 300001 byte[]\n"
                      "    2 20.00% 100.00%         0    0       200    10 300001 p.D\nSITES END\n",
                 none, true),
           "Look at byte[] in p.C.in (80 % of the allocated bytes), p.D in p.C.in (20 %).\n");
    begins(shown(HEAD "TRACE 300001:\n\tp.C.in(C.java:1)\n"
                      "CPU TIME (ms) BEGIN (total = 10) Thu Jan  1 00:00:00 1970\nrank   self  accum   count trace method\n"
                      "   1 100.00% 100.00%       1 300001 p.C.in\nCPU TIME (ms) END\n",
                 none, true),
           "Look at p.C.in (100 % of the CPU time).\n");
}

#define NO_LIVE(allocations) LIVE_OF(allocations, "0")
#define LIVE_OF(allocations, living)                                                                                                       \
    HEAD "SITES BEGIN (ordered by live bytes) Thu Jan  1 00:00:00 1970\n"                                                                  \
         "          percent          live          alloc'ed  stack class\n"                                                                \
         " rank   self  accum     bytes objs     bytes  objs trace name\nSITES END\n"                                                      \
         "hprofx: allocations: estimated from " allocations " samples (one every 524288 bytes)\n"                                          \
         "hprofx: live: " living " objects, 0 bytes, as of the last collection, estimated\n"

TEST(a_table_without_a_live_object_has_a_reason, setup, teardown)
{
    const struct hpx_usage none = {.at = 0};
    assert_non_null(strstr(shown(NO_LIVE("12"), none, true),
                           "No object lives: 12 allocations were sampled, and the last collection freed all of these objects.\n"));
    assert_non_null(strstr(shown(NO_LIVE("0"), none, true), "No object lives: no allocation was sampled, because"));
    assert_non_null(strstr(shown(LIVE_OF("12", "1,234"), none, true), "Objects live, but the rows of all of them are below cutoff="));
    assert_null(strstr(shown(LIVE_OF("12", "1,234"), none, true), "No object lives"));
}

TEST(methods_that_the_vm_replaces_are_named, setup, teardown)
{
    const char *seen = shown(HEAD "TRACE 300001:\n\tjava.lang.Math.max(Math.java:1)\n"
                                  "CPU TIME (ms) BEGIN (total = 10) Thu Jan  1 00:00:00 1970\nrank   self  accum   count trace method\n"
                                  "   1 100.00% 100.00%       1 300001 java.lang.Math.max\nCPU TIME (ms) END\n"
                                  "hprofx: replaced by the VM: 1 methods of this table: java.lang.Math.max; why\nhprofx: lost: 0\n",
                             (struct hpx_usage){.at = 0}, true);
    assert_non_null(strstr(seen, "\n\nReplaced by the VM: 1 methods of this table: java.lang.Math.max; why.\n\nLost: 0.\n"));
}

TESTS(NULL, NULL)
