/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_stolen.c: does the CPU clock of a thread count time in which a hypervisor ran something else?
 *
 * A thread on each processor does nothing but read the time. Between two reads, which are no system calls, a gap of milliseconds has
 * few causes: the scheduler ran another thread (the thread's context switches count it), an interrupt was served, or the processor was not
 * there. A processor that is there takes a timer interrupt every tick while a thread runs on it: a gap of many ticks with one interrupt is
 * the last. Each gap without a switch is held against what the thread's CPU clock counted, and all against `steal` of /proc/stat. */
#include "clock.h"
#include "micro.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_THREADS 64
#define GAP_NS       UINT64_C(2000000) /* a shorter one may be an interrupt */
#define SLICE_NS     UINT64_C(100000)  /* between two looks at the accounts: how much of its time before a gap is charged to the gap */
#define LOOK_NS      UINT64_C(5000000) /* between two looks at /proc: other interrupts in it are charged to the gap */
#define LEAST_TICKS  5                 /* of a gap by whose interrupts is judged */
#define NS_A_MS      1e6

/* What the kernel has charged to the calling thread. */
struct account {
    uint64_t at, cpu, system; /* ns: CLOCK_MONOTONIC, CPU clock, the part in the kernel */
    long switches;
};

/* What the kernel counts of a processor. */
struct processor {
    uint64_t at, ticks, steal_ns;
};

struct gaps {
    uint64_t n, ns, longest, cpu_ns, system_ns, ticks, due;
};

struct spinner {
    pthread_t thread;
    int cpu;
    uint64_t end, cpu_ns, steal_ns;
    struct gaps still, switched; /* without and with a context switch */
};

static uint64_t tick_ns;

static uint64_t ns_of(struct timeval t)
{
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_usec * 1000;
}

static struct account look_at_thread(void)
{
    struct rusage u;
    (void)getrusage(RUSAGE_THREAD, &u);
    return (struct account){hpx_clock_mono(), hpx_clock_thread_cpu(), ns_of(u.ru_stime), u.ru_nvcsw + u.ru_nivcsw};
}

/* The n-th number, from 0, behind a label at the start of a line of a file; 0: there is none. */
static uint64_t number_in(const char *path, const char *label, int n)
{
    char line[4096];
    uint64_t value = 0;
    FILE *f = fopen(path, "re");
    if (f == NULL) {
        return 0;
    }
    while (fgets(line, sizeof(line), f) != NULL) {
        char *at = line + strspn(line, " "), *next;
        if (strncmp(at, label, strlen(label)) != 0) {
            continue;
        }
        at += strlen(label);
        for (int i = 0; i <= n; i++, at = next) {
            value = strtoull(at, &next, 10);
            if (next == at) {
                value = 0;
                break;
            }
        }
        break;
    }
    (void)fclose(f);
    return value;
}

/* A number of a processor is its place among the columns: right if none before it is offline. */
static struct processor look_at_processor(int cpu)
{
    enum { STEAL = 7 }; /* user nice system idle iowait irq softirq steal */
    char label[32];
    (void)snprintf(label, sizeof(label), "cpu%d ", cpu);
    struct processor p = {.ticks = number_in("/proc/interrupts", "LOC:", cpu)};
    p.steal_ns = number_in("/proc/stat", label, STEAL) * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
    p.at = hpx_clock_mono();
    return p;
}

static void note(struct spinner *s, const struct account *before, const struct processor *p, uint64_t from, uint64_t to)
{
    struct account now = look_at_thread();
    struct processor q = look_at_processor(s->cpu);
    struct gaps *g = now.switches == before->switches ? &s->still : &s->switched;
    uint64_t length = to - from, outside = (now.at - before->at) - length, used = now.cpu - before->cpu;
    uint64_t due = (q.at - p->at - length) / tick_ns, ticks = q.ticks - p->ticks; /* due outside the gap */
    g->n++;
    g->ns += length;
    g->longest = length > g->longest ? length : g->longest;
    g->cpu_ns += used > outside ? used - outside : 0;
    g->system_ns += now.system - before->system;
    if (length >= LEAST_TICKS * tick_ns) {
        g->ticks += ticks > due ? ticks - due : 0;
        g->due += length / tick_ns;
    }
}

static void *spin(void *arg)
{
    struct spinner *s = arg;
    (void)hpx_bench_pin(s->cpu);
    struct account account = look_at_thread();
    struct processor processor = look_at_processor(s->cpu);
    uint64_t cpu = account.cpu, steal = processor.steal_ns, slice = hpx_clock_mono() + SLICE_NS;
    for (uint64_t last = hpx_clock_mono(), now = last; now < s->end; last = now) {
        now = hpx_clock_mono();
        bool gap = now - last > GAP_NS;
        if (gap) {
            note(s, &account, &processor, last, now);
        }
        if (gap || now >= slice) { /* what happens in here is no gap: system calls */
            if (gap || now - processor.at > LOOK_NS) {
                processor = look_at_processor(s->cpu);
            }
            account = look_at_thread();
            now = hpx_clock_mono();
            slice = now + SLICE_NS;
        }
    }
    s->cpu_ns = hpx_clock_thread_cpu() - cpu;
    s->steal_ns = look_at_processor(s->cpu).steal_ns - steal;
    return NULL;
}

static void add(struct gaps *to, const struct gaps *g)
{
    to->n += g->n;
    to->ns += g->ns;
    to->longest = g->longest > to->longest ? g->longest : to->longest;
    to->cpu_ns += g->cpu_ns;
    to->system_ns += g->system_ns;
    to->ticks += g->ticks;
    to->due += g->due;
}

/* All spinners as one. false: no thread. */
static bool spin_on_all(struct spinner *sum, double seconds)
{
    static struct spinner all[MOST_THREADS];
    cpu_set_t set;
    size_t n = 0;
    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        return false;
    }
    uint64_t end = hpx_clock_mono() + (uint64_t)(seconds * 1e9);
    for (int c = 0; c < CPU_SETSIZE && n < MOST_THREADS; c++) {
        if (CPU_ISSET(c, &set)) {
            all[n].cpu = c;
            all[n].end = end;
            if (pthread_create(&all[n].thread, NULL, spin, &all[n]) != 0) {
                perror("pthread_create");
                break;
            }
            n++;
        }
    }
    for (size_t i = 0; i < n; i++) {
        pthread_join(all[i].thread, NULL);
        sum->cpu_ns += all[i].cpu_ns;
        sum->steal_ns += all[i].steal_ns;
        add(&sum->still, &all[i].still);
        add(&sum->switched, &all[i].switched);
    }
    return n > 0;
}

static double part(uint64_t a, uint64_t b)
{
    return b ? 100 * (double)a / (double)b : 0;
}

/* What the figures show, in words. */
static void say_verdict(const struct spinner *s, char *text, size_t size)
{
    const struct gaps *g = &s->still;
    double counted = part(g->cpu_ns, g->ns);
    if (g->n == 0) {
        (void)snprintf(text, size, "no gap without a context switch: nothing is shown, run it longer or while neighbours are busy");
    } else if (counted < 50) {
        (void)snprintf(text, size, "the CPU clock of the thread leaves %.0f %% of the gaps out: what happened in them is not charged to it",
                       100 - counted);
    } else if (g->due == 0) {
        (void)snprintf(text, size, "the CPU clock counts the gaps, which are too short to tell stolen time from an interrupt");
    } else if (2 * g->ticks > g->due) {
        (void)snprintf(text, size, "the timer interrupts of the gaps came: the processor was there, and ran the kernel");
    } else {
        (void)snprintf(text, size,
                       "the processor was not there, and the CPU clock of the thread counts it: %.2f %% of its CPU time is time in which "
                       "nothing of it ran",
                       part(g->cpu_ns, s->cpu_ns));
    }
}

static struct hpx_bench_row rows[] = {
    {.name = "gaps above 2 ms"},
    {.name = "together, ms"},
    {.name = "longest, ms"},
    {.name = "counted as CPU time, ms"},
    {.name = "... as system, ms"},
    {.name = "counted, % of the gaps"},
    {.name = "timer interrupts in long ones"},
    {.name = "... due at the tick"},
    {.name = "% of all CPU time of the threads"},
};

static void fill(unsigned column, const struct gaps *g, uint64_t cpu_ns)
{
    const double figures[] = {(double)g->n,
                              (double)g->ns / NS_A_MS,
                              (double)g->longest / NS_A_MS,
                              (double)g->cpu_ns / NS_A_MS,
                              (double)g->system_ns / NS_A_MS,
                              part(g->cpu_ns, g->ns),
                              (double)g->ticks,
                              (double)g->due,
                              part(g->cpu_ns, cpu_ns)};
    static_assert(HPX_ARRAY_LEN(figures) == HPX_ARRAY_LEN(rows), "a row each");
    for (size_t i = 0; i < HPX_ARRAY_LEN(rows); i++) {
        rows[i].figures[column] = figures[i];
    }
}

int main(int argc, char **argv)
{
    static struct hpx_bench_section table = {.title = "gaps between two reads of the time",
                                             .key = "gaps",
                                             .columns = {{"no switch", "still"}, {"switched", "switched"}},
                                             .rows = rows,
                                             .nrows = HPX_ARRAY_LEN(rows)};
    struct hpx_bench_args args;
    struct spinner sum = {0};
    char verdict[256], head[512];
    if (!hpx_bench_parse(&args, "stolen", argc, argv)) {
        return 2;
    }
    tick_ns = hpx_clock_tick();
    if (args.quick || args.seconds <= 0) {
        args.seconds = args.quick ? 2 : 20;
    }
    if (!spin_on_all(&sum, args.seconds)) {
        return 1;
    }
    fill(0, &sum.still, sum.cpu_ns);
    fill(1, &sum.switched, sum.cpu_ns);
    hpx_bench_print(&table, 1);
    say_verdict(&sum, verdict, sizeof(verdict));
    printf("CPU time of the threads %.0f ms; steal of /proc/stat %.0f ms (of the whole time)\n%s\n", (double)sum.cpu_ns / NS_A_MS,
           (double)sum.steal_ns / NS_A_MS, verdict);
    (void)snprintf(head, sizeof(head), "\"cpu_ms\": %.3f, \"steal_ms\": %.3f, \"verdict\": \"%s\"", (double)sum.cpu_ns / NS_A_MS,
                   (double)sum.steal_ns / NS_A_MS, verdict);
    struct hpx_bench_report report = {"stolen", head, 1, &table, 1, NULL, 0};
    return args.json && !hpx_bench_write_json(&report, args.json);
}
