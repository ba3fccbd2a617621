/* SPDX-License-Identifier: BSD-2-Clause */
/* test_share.c: where the time between two looks goes; nothing of it is lost, and none goes to one side on average. */
#include "cmocka_all.h"
#include "run_delay.h"
#include "share.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

static struct hpx_share s;

static const struct hpx_share_pace early = {20 * MS, 320 * MS, 0}, at_last = {20 * MS, 320 * MS, UINT64_MAX};

static void begin(uint64_t now, uint64_t cpu)
{
    hpx_share_begin(&s, now, cpu, &early);
}

static bool look(uint64_t now, uint64_t cpu, uint64_t delay)
{
    return hpx_share_look(&s, now, cpu, delay, &early);
}

/* Of the time that has been given to somebody. */
static int64_t all(uint64_t cpu)
{
    return (int64_t)(s.due_ns + s.ready_ns + cpu - s.later_ns) + s.owed_ns;
}

TEST(an_idle_thread_is_where_it_was)
{
    begin(100 * MS, 7);
    assert_true(look(110 * MS, 7, 0)); /* nobody knows where it waits */
    assert_int_equal(s.due_ns, 0);
    hpx_share_place(&s);
    assert_int_equal(s.due_ns, 10 * MS);
    assert_false(look(150 * MS, 7, 0));
    assert_int_equal(s.due_ns, 50 * MS);
    assert_int_equal(s.owed_ns, 0);
}

TEST(a_very_late_look_gives_no_more_than_what_has_passed)
{
    begin(0, 0);
    assert_true(look(10000 * MS, 0, 0));
    hpx_share_place(&s); /* takes up the whole spread */
    for (uint64_t now = 20000 * MS; now <= 50000 * MS; now += 10000 * MS) {
        assert_false(look(now, 0, 0));
        assert_int_equal(s.due_ns, now);
        assert_int_equal(s.owed_ns, 0);
    }
}

TEST(a_period_belongs_to_the_place_that_its_look_found)
{
    begin(0, 0);
    (void)look(5 * MS, 0, 0);
    hpx_share_place(&s);
    assert_int_equal(s.end_ns, 20 * MS);
    assert_true(look(32 * MS, 1 * MS, 0));
    assert_int_equal(s.due_ns, 20 * MS); /* the old place's */
    s.due_ns = 0;
    hpx_share_place(&s);
    assert_in_range(s.due_ns, 11 * MS, 12 * MS - 1); /* the CPU time is taken off slowly */
    assert_true(look(58 * MS, 2 * MS, 0));
    s.due_ns = 0;
    assert_true(look(78 * MS, 20 * MS, 0)); /* that look found it running: nobody's */
    assert_int_equal(s.due_ns, 0);
}

TEST(a_late_look_counts_for_the_time_until_then)
{
    begin(0, 0);
    (void)look(7 * MS, 0, 0);
    hpx_share_place(&s);
    (void)look(95 * MS, 1, 0);
    s.due_ns = 0;
    hpx_share_place(&s);
    assert_int_equal(s.due_ns, 75 * MS);
    assert_int_equal(s.next_ns, 95 * MS);
}

/* It wants a CPU, and has none at several looks, which cannot tell that from waiting. */
TEST(what_was_owed_or_due_may_have_been_time_without_a_cpu)
{
    begin(0, 0);
    (void)look(20 * MS, 10 * MS, 0);
    (void)look(40 * MS, 10 * MS, 0);
    (void)look(60 * MS, 10 * MS, 0);
    (void)look(80 * MS, 25 * MS, 45 * MS);
    assert_int_equal(s.ready_ns, 45 * MS);
    assert_int_equal(all(25 * MS), s.given_ns);
    begin(0, 0);
    (void)look(10 * MS, 0, 0);
    hpx_share_place(&s);
    (void)look(50 * MS, 0, 0);
    (void)look(60 * MS, 2 * MS, 30 * MS);
    assert_int_equal(s.ready_ns, 30 * MS);
    assert_int_equal(all(2 * MS), s.given_ns);
}

TEST(clocks_that_contradict_each_other_give_no_time)
{
    begin(10 * MS, 5 * MS);
    (void)look(12 * MS, 9 * MS, 50 * MS); /* more CPU time than time */
    assert_int_equal(s.ready_ns, 0);
    assert_int_equal(s.later_ns, 2 * MS);
    (void)look(14 * MS, 9 * MS + 1, 50 * MS); /* more delay than is left */
    assert_int_equal(s.ready_ns, 2 * MS - 1);
    (void)look(13 * MS, 9 * MS + 1, 0); /* back */
    assert_int_equal(s.looked_ns, 14 * MS);
    assert_int_equal(s.due_ns, 0);
}

TEST(who_is_idle_for_long_is_looked_at_seldom)
{
    begin(0, 0);
    (void)hpx_share_look(&s, 20 * MS, 0, 0, &at_last);
    assert_in_range(s.next_ns, 40 * MS - 1, 40 * MS);
    hpx_share_place(&s);
    (void)hpx_share_look(&s, 320 * MS, 0, 0, &at_last); /* a sixteenth is an interval */
    assert_in_range(s.next_ns, 340 * MS - 1, 340 * MS);
    (void)hpx_share_look(&s, 800 * MS, 0, 0, &at_last);
    assert_in_range(s.next_ns, 850 * MS - 1, 850 * MS);
    (void)hpx_share_look(&s, 100000 * MS, 0, 0, &at_last);
    assert_in_range(s.next_ns, 100320 * MS - 1, 100320 * MS);
    (void)hpx_share_look(&s, 100320 * MS, 1, 0, &at_last);
    assert_in_range(s.next_ns, 100340 * MS - 1, 100340 * MS);
}

TEST(a_reading_out_of_turn_leaves_the_looks_as_they_are)
{
    begin(0, 0);
    (void)hpx_share_look(&s, 10 * MS, 0, 0, &at_last);
    hpx_share_place(&s);
    hpx_share_read(&s, 30 * MS, 0, 0);
    assert_int_equal(s.due_ns, 30 * MS);
    assert_int_equal(s.end_ns, 30 * MS);
    hpx_share_read(&s, 35 * MS, 1, 0); /* where it is now the look tells: all since then is its place's */
    assert_int_equal(s.due_ns, 30 * MS);
    assert_true(look(40 * MS, 1, 0));
    s.due_ns = 0;
    hpx_share_place(&s);
    assert_in_range(s.due_ns, 10 * MS - 1, 10 * MS);
}

TEST(a_thread_that_ends_was_where_it_was_found)
{
    uint64_t debt = 0;
    begin(0, 0);
    (void)look(20 * MS, 0, 0);
    hpx_share_place(&s);
    hpx_share_end(&s, 35 * MS, 1 * MS, 0);
    assert_int_equal(hpx_share_settle(&s, true, &debt), 0);
    assert_int_equal(s.due_ns, 34 * MS);
    begin(0, 0);
    hpx_share_end(&s, 35 * MS, 1 * MS, 0);
    assert_int_equal(hpx_share_settle(&s, false, &debt), 34 * MS); /* never seen waiting */
    assert_int_equal(debt, 0);
}

/* The kernel tells a delay when it is over. */
TEST(who_wants_a_cpu_at_the_end_has_waited_for_it_since_it_ran)
{
    uint64_t debt = 0;
    begin(0, 0);
    (void)look(10 * MS, 10 * MS, 0);
    (void)look(25 * MS, 12 * MS, 0);
    (void)look(60 * MS, 12 * MS, 0);
    hpx_share_queued(&s);
    assert_int_equal(s.ready_ns, 48 * MS); /* from the reading at 10 ms on, but for its CPU time */
    assert_int_equal(hpx_share_settle(&s, false, &debt), 0);
    assert_int_equal(debt, 0);
    begin(0, 0);
    (void)look(20 * MS, 0, 0);
    hpx_share_place(&s);
    (void)look(100 * MS, 1 * MS, 0);
    (void)look(130 * MS, 1 * MS, 0);
    assert_int_equal(s.due_ns, 20 * MS);
    hpx_share_queued(&s);
    assert_int_equal(s.ready_ns, 109 * MS); /* since the reading at 20 ms; a place has the rest */
    assert_int_equal(hpx_share_settle(&s, true, &debt), 0);
    assert_int_equal(s.due_ns, 20 * MS);
}

TEST(what_one_thread_got_too_much_another_gets_less)
{
    uint64_t debt = 0;
    s = (struct hpx_share){.owed_ns = -30 * (int64_t)MS, .due_ns = 10 * MS, .spread_ns = 320 * MS};
    assert_int_equal(hpx_share_settle(&s, true, &debt), 0);
    assert_int_equal(s.due_ns, 0);
    assert_int_equal(debt, 20 * MS);
    s = (struct hpx_share){.owed_ns = 25 * (int64_t)MS, .due_ns = 10 * MS, .spread_ns = 320 * MS};
    assert_int_equal(hpx_share_settle(&s, true, &debt), 0);
    assert_int_equal(s.due_ns, 15 * MS);
    assert_int_equal(debt, 0);
}

/* ---- known programs, looked at as the agent does it ---- */

enum { RUN, PLACES = 4 }; /* places 1 to 3 */

struct step {
    uint64_t ns;
    int place; /* RUN: on a CPU */
    int times; /* of this step and the next one together; 0: once, alone */
};

struct program {
    const char *name;
    struct step steps[6];
};

#define US UINT64_C(1000)

static const struct program programs[] = {
    {"short waits", {{1 * MS, 1, 0}, {3 * MS, 2, 0}}},
    {"waits in turn", {{30 * MS, 1, 0}, {70 * MS, 2, 0}}},
    {"a short wait after a long one", {{3000 * MS, 1, 0}, {50 * MS, 2, 0}}},
    {"a very short wait after a long one", {{1000 * MS, 1, 0}, {5 * MS, 2, 0}}},
    {"a wait longer than most periods", {{5000 * MS, 1, 0}, {500 * MS, 2, 0}}},
    {"a burst, a short wait", {{5000 * MS, 1, 0}, {200 * MS, RUN, 0}, {50 * MS, 2, 0}}},
    {"a short wait, a burst", {{5000 * MS, 1, 0}, {50 * MS, 2, 0}, {200 * MS, RUN, 0}}},
    {"a burst, a wait, a burst", {{2000 * MS, 1, 0}, {100 * MS, RUN, 0}, {20 * MS, 2, 0}, {100 * MS, RUN, 0}, {30 * MS, 3, 0}}},
    {"half running", {{10 * MS, RUN, 0}, {3 * MS, 1, 0}, {7 * MS, 2, 0}}},
    {"nearly always running", {{200 * MS, RUN, 0}, {5 * MS, 1, 0}, {300 * MS, RUN, 0}, {15 * MS, 2, 0}}},
    {"a series of short waits", {{2000 * MS, 1, 0}, {5 * MS, 2, 40}, {1 * MS, RUN, 0}, {20 * MS, 3, 0}}},
    {"two kinds of series", {{1000 * MS, 1, 0}, {2 * MS, 2, 100}, {20 * US, RUN, 0}, {300 * MS, 1, 0}, {15 * MS, 3, 20}, {5 * MS, RUN, 0}}},
};

/* What a thread that repeats the program does. */
struct sim {
    const struct program *program;
    uint64_t until, cpu, at; /* end of the current step, CPU time at its begin, its begin */
    int step, left;
    uint64_t truth[PLACES], got[PLACES];
    struct hpx_share share;
    int known;
};

static void next_step(struct sim *t)
{
    const struct step *all_steps = t->program->steps, *now = &all_steps[t->step];
    uint64_t ns = t->until - t->at;
    t->truth[now->place] += ns;
    t->cpu += now->place == RUN ? ns : 1; /* to change costs something */
    t->at = t->until;
    if (t->step > 0 && all_steps[t->step - 1].times > 0 && --t->left > 0) {
        t->step--;
    } else {
        t->step = t->step + 1 < (int)HPX_ARRAY_LEN(t->program->steps) && all_steps[t->step + 1].ns > 0 ? t->step + 1 : 0;
        t->left = all_steps[t->step].times > 0 ? all_steps[t->step].times : t->left;
    }
    t->until += all_steps[t->step].ns;
}

static int place_at(struct sim *t, uint64_t now)
{
    while (t->until <= now) {
        next_step(t);
    }
    return t->program->steps[t->step].place;
}

static uint64_t cpu_at(struct sim *t, uint64_t now)
{
    bool runs = place_at(t, now) == RUN;
    return t->cpu + (runs ? now - t->at : 0);
}

static uint64_t bits(unsigned short random[3])
{
    return (uint64_t)jrand48(random) << 40 ^ (uint64_t)jrand48(random) << 20 ^ (uint64_t)jrand48(random);
}

static void look_sim(struct sim *t, uint64_t now, const struct hpx_share_pace *p)
{
    uint64_t cpu = cpu_at(t, now);
    bool asks = hpx_share_look(&t->share, now, cpu, 0, p);
    t->got[t->known] += t->share.due_ns;
    t->share.due_ns = 0;
    int place = place_at(t, now);
    if (asks && place != RUN) {
        t->known = place;
        hpx_share_place(&t->share);
    }
}

static void end_sim(struct sim *t, uint64_t now, uint64_t *debt)
{
    hpx_share_end(&t->share, now, cpu_at(t, now), 0);
    (void)hpx_share_settle(&t->share, true, debt);
    t->got[t->known] += t->share.due_ns;
    t->truth[place_at(t, now)] += now - t->at;
}

static struct hpx_share_pace draw(const struct hpx_share_pace *how, unsigned short random[3])
{
    return (struct hpx_share_pace){how->interval, how->most, bits(random)};
}

/* Does so from a random moment of its program on. */
static void begin_sim(struct sim *t, const struct program *p, uint64_t begin_ns, const struct hpx_share_pace *how)
{
    *t = (struct sim){.program = p, .until = p->steps[0].ns, .left = p->steps[0].times};
    (void)place_at(t, begin_ns);
    memset(t->truth, 0, sizeof t->truth);
    t->truth[place_at(t, begin_ns)] -= begin_ns - t->at;
    hpx_share_begin(&t->share, begin_ns, cpu_at(t, begin_ns), how);
}

/* Looks come up to an eighth of the interval late. */
static void run_sim(struct sim *t, uint64_t end_ns, const struct hpx_share_pace *how, unsigned short random[3], uint64_t *debt)
{
    for (uint64_t now; (now = t->share.next_ns + bits(random) % (how->interval / 8)) < end_ns;) {
        struct hpx_share_pace p = draw(how, random);
        look_sim(t, now, &p);
    }
    end_sim(t, end_ns, debt);
}

struct sums {
    double truth[PLACES], got[PLACES], square[PLACES], total, total_truth;
};

static uint64_t cycle_of(const struct program *p)
{
    uint64_t cycle = 0;
    for (size_t i = 0; i < HPX_ARRAY_LEN(p->steps); i++) {
        cycle += p->steps[i].ns;
    }
    return cycle;
}

static void add_run(struct sums *sum, const struct program *p, const struct hpx_share_pace *how, unsigned short random[3], uint64_t *debt)
{
    struct sim t;
    uint64_t cycle = cycle_of(p), begin_ns = bits(random) % (4 * cycle);
    struct hpx_share_pace first = draw(how, random);
    begin_sim(&t, p, begin_ns, &first);
    run_sim(&t, begin_ns + (cycle > 900 * MS ? 10 : 40) * cycle + 1000 * MS, how, random, debt);
    for (int place = 1; place < PLACES; place++) {
        double off = (double)t.got[place] - (double)t.truth[place];
        sum->truth[place] += (double)t.truth[place];
        sum->got[place] += (double)t.got[place];
        sum->square[place] += off * off;
        sum->total += (double)t.got[place];
        sum->total_truth += (double)t.truth[place];
    }
}

static bool is_certain(const struct sums *sum, double part)
{
    bool certain = true;
    for (int place = 1; place < PLACES; place++) {
        certain = certain && 4 * sqrt(sum->square[place]) <= part * sum->truth[place];
    }
    return certain;
}

/* Two percent, and what chance allows the mean of so many runs: as many as make that a percent, if it does not take too long. */
static void expect(const struct program *p, const struct hpx_share_pace *how, int most_runs)
{
    struct sums sum = {.total = 0};
    uint64_t debt = 0;
    for (int run = 0; run < most_runs && (run < 50 || !is_certain(&sum, 0.01)); run++) {
        unsigned short random[3] = {(unsigned short)(run * 40503), (unsigned short)run, 2};
        add_run(&sum, p, how, random, &debt);
    }
    for (int place = 1; place < PLACES; place++) {
        double off = fabs(sum.got[place] - sum.truth[place]), chance = 4 * sqrt(sum.square[place]);
        if (off > 0.02 * sum.truth[place] + chance) {
            fail_msg("%s, periods of %d to %d ms, place %d: %.0f ms instead of %.0f", p->name, (int)(how->interval / MS),
                     (int)(how->most / MS), place, sum.got[place] / 1e6, sum.truth[place] / 1e6);
        }
    }
    assert_true(fabs(sum.total / sum.total_truth - 1) < 0.005);
}

TEST(every_place_has_its_time_on_average)
{
    static const uint64_t intervals[] = {4 * MS, 20 * MS}, most[] = {1, 3, 10, 50};
    for (size_t i = 0; i < HPX_ARRAY_LEN(programs); i++) {
        for (size_t k = 0; k < HPX_ARRAY_LEN(intervals) * HPX_ARRAY_LEN(most); k++) {
            uint64_t interval = intervals[k / HPX_ARRAY_LEN(most)];
            const struct hpx_share_pace how = {interval, interval * most[k % HPX_ARRAY_LEN(most)], 0};
            expect(&programs[i], &how, 200);
        }
    }
}

/* Threads that do the same at the same time: one waking of the looking thread looks at all that are due. The variance of the sum of their
 * short waits is the sum of the variances; with a common look it would be THREADS times as much. */
#define THREADS 60

static double time_together(struct sim *threads, const struct hpx_share_pace *how, unsigned short random[3])
{
    static const struct program steps = {"steps", {{3000 * MS, 1, 0}, {50 * MS, 2, 0}}};
    uint64_t debt = 0, now = 0;
    double sum = 0;
    for (int i = 0; i < THREADS; i++) {
        struct hpx_share_pace p = draw(how, random);
        begin_sim(&threads[i], &steps, 0, &p);
    }
    for (uint64_t end_ns = 4000 * MS; now < end_ns; now += how->interval / 16 + bits(random) % (how->interval / 8)) {
        for (int i = 0; i < THREADS; i++) {
            if (threads[i].share.next_ns <= now) {
                struct hpx_share_pace p = draw(how, random);
                look_sim(&threads[i], now, &p);
            }
        }
    }
    for (int i = 0; i < THREADS; i++) {
        end_sim(&threads[i], now, &debt);
        sum += (double)threads[i].got[2] / (double)MS;
    }
    return sum;
}

TEST(threads_in_step_are_looked_at_independently)
{
    static struct sim threads[THREADS];
    static const struct hpx_share_pace paces[] = {{20 * MS, 20 * MS, 0}, {20 * MS, 100 * MS, 0}, {20 * MS, 1000 * MS, 0}};
    enum { RUNS = 300 };
    for (size_t k = 0; k < HPX_ARRAY_LEN(paces); k++) {
        double sum = 0, square = 0, one = 0;
        for (int run = 0; run < RUNS; run++) {
            unsigned short random[3] = {(unsigned short)(run * 40503), (unsigned short)run, 3};
            double all_of_them = time_together(threads, &paces[k], random);
            sum += all_of_them;
            square += all_of_them * all_of_them;
            for (int i = 0; i < THREADS; i++) {
                double off = (double)threads[i].got[2] / (double)MS - 50;
                one += off * off;
            }
        }
        double mean = sum / RUNS, variance = square / RUNS - mean * mean, independent = one / RUNS;
        assert_true(fabs(mean / (50 * THREADS) - 1) < 0.02 + 4 * sqrt(variance / RUNS) / (50 * THREADS));
        assert_true(variance < 2 * independent && variance > 0.5 * independent); /* the ends of a step are common to them, by an eighth */
    }
}

TEST(the_run_delay_is_the_second_figure)
{
    assert_int_equal(hpx_run_delay_of("123 456789 12\n"), 456789);
    assert_int_equal(hpx_run_delay_of("0 0 0\n"), 0);
    assert_int_equal(hpx_run_delay_of(""), 0);
    assert_int_equal(hpx_run_delay_of("123"), 0);
    assert_int_equal(hpx_run_delay(-1), 0);
    assert_true(hpx_run_wants_cpu_of("12 (a) S) R 1 2"));
    assert_false(hpx_run_wants_cpu_of("12 (a) R) S 1 2"));
    assert_false(hpx_run_wants_cpu_of(""));
    assert_false(hpx_run_wants_cpu(-1));
}

TESTS(NULL, NULL)
