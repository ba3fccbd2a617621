/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hprof_ascii_calls.c: CPU TIME and the table of cpu=old byte for byte; lines marked "original" are those of the original's files for
 * the same program. */
#include "ascii_fixture.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS   UINT64_C(1000000)
#define MOST 100u

static struct hpx_call_row rows[MOST];
static struct hpx_call_snapshot s;
static struct hpx_trace_rec *made[MOST];
static uint32_t nmade;

static int begin(void **state)
{
    nmade = 0;
    s = (struct hpx_call_snapshot){.rows = rows};
    return setup(state);
}

static int end(void **state)
{
    while (nmade > 0) {
        free(made[--nmade]);
    }
    return teardown(state);
}

#define TEXT(literal)                                                                                                                      \
    {                                                                                                                                      \
        (literal), sizeof(literal) - 1                                                                                                     \
    }
#define METHOD(klass, name, sig, src)       (&(const struct hpx_method_rec){TEXT(klass), TEXT(name), TEXT(sig), TEXT(src), {0}, 0})
#define ROW(serial, thread, calls, ns, ...) row(serial, thread, calls, ns, (const struct hpx_method_rec *const[]){__VA_ARGS__})

/* The last arguments: frames, leaf first, NULL behind the last. */
static void row(uint32_t serial, uint32_t thread, uint64_t calls, uint64_t ns, const struct hpx_method_rec *const *frames)
{
    struct hpx_trace_rec *t = calloc(1, sizeof(*t) + 4 * sizeof(t->frames[0]));
    assert_non_null(t);
    t->serial = serial;
    t->thread = thread;
    for (; frames[t->nframes]; t->nframes++) {
        t->frames[t->nframes] = (struct hpx_frame_rec){frames[t->nframes], -1, 0};
    }
    made[nmade++] = t;
    rows[s.nrows++] = (struct hpx_call_row){t, calls, ns, ns};
    s.self_ns += ns;
    s.calls += calls;
}

TEST(total_is_in_whole_ms_however_long, begin, end)
{
    ROW(300001, 0, UINT64_C(1) << 60, UINT64_C(9000000000000500000), METHOD("C", "m", "", ""), NULL);
    hpx_ascii_cpu_times(&w, &s, 0, NOW);
    const char *text = written();
    assert_non_null(strstr(text, "(total = 9000000000001) "));
    assert_non_null(strstr(text, " 1152921504606846976 300001 C.m\n"));
}

TEST(calls_without_times_are_ranked_by_their_number, begin, end)
{
    ROW(300001, 0, 1, 0, METHOD("C", "rare", "", "C.java"), NULL);
    ROW(300002, 0, 40000, 0, METHOD("C", "often", "", "C.java"), NULL);
    ROW(300003, 0, 9999, 0, METHOD("C", "some", "", ""), NULL);
    hpx_ascii_calls(&w, &s, 0, NOW);
    const char *table = strstr(written(), "METHOD CALLS BEGIN");
    assert_non_null(table);
    assert_string_equal(strchr(table, '\n'), "\nrank   self  accum   count trace method\n"
                                             "   1 80.00% 80.00%   40000 300002 C.often\n"
                                             "   2 20.00% 100.00%    9999 300003 C.some\n"
                                             "   3  0.00% 100.00%       1 300001 C.rare\n"
                                             "METHOD CALLS END\n");
    assert_non_null(strstr(table, "BEGIN (total = 50000) "));
}

TEST(old_table_is_laid_out_as_in_the_originals_file, begin, end)
{
    const struct hpx_method_rec *main = METHOD("Calls", "main", "([Ljava/lang/String;)V", "Calls.java");
    const struct hpx_method_rec *fib = METHOD("Calls", "fib", "(I)I", "Calls.java");
    ROW(300003, 0, 1, 310500000, main, NULL);
    ROW(300002, 0, 1, 6 * MS, fib, main, NULL);
    ROW(300001, 0, 1972, 51 * MS + 499999, fib, fib, NULL);
    ROW(300009, 0, 385, 0, METHOD("java.lang.String", "charAt", "(I)C", ""),
        METHOD("java.nio.charset.Charset", "checkName", "(Ljava/lang/String;)V", ""), NULL);
    ROW(300000, 0, 2, 0, NULL);
    hpx_ascii_cpu_old(&w, &s);
    assert_string_equal(written(), "count callee caller time\n" /* original, but for the trace without frames */
                                   "1972 Calls.fib(I)I Calls.fib(I)I 51\n"
                                   "385 java.lang.String.charAt(I)C java.nio.charset.Charset.checkName(Ljava/lang/String;)V 0\n"
                                   "2 <unknown callee> <unknown caller> 0\n"
                                   "1 Calls.fib(I)I Calls.main([Ljava/lang/String;)V 6\n"
                                   "1 Calls.main([Ljava/lang/String;)V <unknown caller> 311\n");
}

TEST(names_in_the_old_table_are_escaped, begin, end)
{
    ROW(300001, 0, 3, 0, METHOD("C", "a\nb", "(Lx\t;)V", ""), METHOD("C", "", "", ""), NULL);
    hpx_ascii_cpu_old(&w, &s);
    assert_string_equal(written(), "count callee caller time\n3 C.a\\nb(Lx\\t;)V C.<Unknown Method> 0\n");
}

TESTS(NULL, NULL)
