/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_pipeline.c: gate, wake, lane and aggregator, each beside another way and the limit of the machine, in one run.
 *
 * Calls and the warm lane run on one pinned thread; the lane also between two cores. The aggregator has its own thread and 1, 2 or 4
 * producers, not pinned: as in the product, threads may outnumber cores. Its CPU an event, by its thread's clock, is what the budget is
 * about; events a second on few cores contain what the producers take from it. Nothing may be lost. */
#include "aggregator.h"
#include "clock.h"
#include "micro.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <urcu/urcu-bp.h> /* without _LGPL_SOURCE, as its licence asks of us: calls into the library */

#define BURST          512u
#define MESSAGE_BYTES  64u
#define RING_BYTES     65536u
#define HALF_A_RING    2048u /* events */
#define MOST_PRODUCERS 4

static_assert((size_t)HALF_A_RING * HPX_EV_UNIT * 2 == RING_BYTES, "half a ring of the smallest events");

static struct {
    uint64_t calls, bursts, messages, events, passes; /* of one measurement */
} amount = {1000000, 100, 100000, 8000000, 200};

static struct {
    int cpu[2];
    bool two, ok; /* ok: no pinning was refused */
    cpu_set_t all;
} place = {.ok = true};

static volatile uint64_t result;
static struct hpx_gate gate, closed_gate;
static struct hpx_gate_own own_gate;
static _Atomic int own_flag;

static void pin(int cpu)
{
    place.ok = hpx_bench_pin(cpu) && place.ok;
}

/* ---- calls ---- */
static struct hpx_wake wake;
static int event_fd;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t added;

static __attribute__((noinline)) void empty(void)
{
    __asm__ volatile("" ::: "memory");
}

#define CALLS(NAME, BODY)                                                                                                                  \
    static bool NAME(const struct hpx_bench_row *row, double *figures)                                                                     \
    {                                                                                                                                      \
        (void)row;                                                                                                                         \
        pin(place.cpu[0]);                                                                                                                 \
        uint64_t from = hpx_clock_mono();                                                                                                  \
        for (uint64_t i = 0; i < amount.calls; i++) {                                                                                      \
            BODY;                                                                                                                          \
        }                                                                                                                                  \
        figures[0] = (double)(hpx_clock_mono() - from) / (double)amount.calls;                                                             \
        return true;                                                                                                                       \
    }

CALLS(call_empty, empty())
CALLS(call_urcu, urcu_bp_read_lock(); empty(); urcu_bp_read_unlock())
CALLS(
    call_gate, if (hpx_gate_enter(&gate)) {
        empty();
        hpx_gate_leave(&gate);
    })
CALLS(
    call_closed, if (hpx_gate_enter(&closed_gate)) { hpx_gate_leave(&closed_gate); })
CALLS(
    call_own, if (hpx_gate_own_enter(&own_gate, &own_flag)) { empty(); } hpx_gate_own_leave(&own_flag))
CALLS(call_mutex, pthread_mutex_lock(&mutex); empty(); pthread_mutex_unlock(&mutex))
CALLS(call_add, atomic_fetch_add_explicit(&added, 1, memory_order_relaxed))
CALLS(call_wake, hpx_wake_post(&wake))

static bool call_eventfd(const struct hpx_bench_row *row, double *figures)
{
    (void)row;
    const uint64_t one = 1, n = amount.calls / 10;
    pin(place.cpu[0]);
    uint64_t from = hpx_clock_mono();
    for (uint64_t i = 0; i < n; i++) {
        if (write(event_fd, &one, sizeof(one)) != (ssize_t)sizeof(one)) {
            perror("bench_pipeline: eventfd");
            return false;
        }
    }
    figures[0] = (double)(hpx_clock_mono() - from) / (double)n;
    return true;
}

/* ---- lane ---- */
struct message {
    struct hpx_msg m;
    struct message *next; /* in the queue under the mutex */
    uint64_t x;
};
static_assert(sizeof(struct message) <= MESSAGE_BYTES, "all ways allocate the same size");

/* receive() frees all items, adds their words to *sum and returns their number. */
struct way {
    bool (*post)(uint64_t n, uint64_t x);
    uint64_t (*receive)(uint64_t *sum);
    bool pairs; /* hands over between threads */
};

static struct hpx_lane lane;
static struct {
    pthread_mutex_t lock;
    struct message *first, **last;
} queue = {PTHREAD_MUTEX_INITIALIZER, NULL, &queue.first};
static struct message *kept[BURST];
static uint64_t nkept;

static inline bool post_to_lane(uint64_t n, uint64_t x, bool now)
{
    for (uint64_t i = 0; i < n; i++) {
        struct message *m = hpx_msg_new(1, MESSAGE_BYTES);
        if (!m) {
            return false;
        }
        m->x = x + i;
        hpx_lane_post(&lane, &m->m, now);
    }
    return true;
}

static bool lane_post(uint64_t n, uint64_t x)
{
    return post_to_lane(n, x, false);
}

static bool lane_post_now(uint64_t n, uint64_t x)
{
    return post_to_lane(n, x, true);
}

static uint64_t lane_receive(uint64_t *sum)
{
    uint64_t n = 0;
    for (struct hpx_msg *m = hpx_lane_splice(&lane), *next; m; m = next, n++) {
        next = m->next;
        *sum += HPX_CONTAINER_OF(m, struct message, m)->x;
        free(m);
    }
    return n;
}

static bool mutex_post(uint64_t n, uint64_t x)
{
    for (uint64_t i = 0; i < n; i++) {
        struct message *m = calloc(1, MESSAGE_BYTES);
        if (!m) {
            return false;
        }
        m->x = x + i;
        pthread_mutex_lock(&queue.lock);
        *queue.last = m;
        queue.last = &m->next;
        pthread_mutex_unlock(&queue.lock);
    }
    return true;
}

static uint64_t mutex_receive_all(uint64_t *sum)
{
    uint64_t n = 0;
    pthread_mutex_lock(&queue.lock);
    struct message *m = queue.first;
    queue.first = NULL;
    queue.last = &queue.first;
    pthread_mutex_unlock(&queue.lock);
    for (struct message *next; m; m = next, n++) {
        next = m->next;
        *sum += m->x;
        free(m);
    }
    return n;
}

static uint64_t mutex_receive_each(uint64_t *sum)
{
    for (uint64_t n = 0;; n++) {
        pthread_mutex_lock(&queue.lock);
        struct message *m = queue.first;
        if (m) {
            queue.first = m->next;
            queue.last = queue.first ? queue.last : &queue.first;
        }
        pthread_mutex_unlock(&queue.lock);
        if (!m) {
            return n;
        }
        *sum += m->x;
        free(m);
    }
}

static bool malloc_post(uint64_t n, uint64_t x)
{
    for (nkept = 0; nkept < n; nkept++) {
        kept[nkept] = calloc(1, MESSAGE_BYTES);
        if (!kept[nkept]) {
            return false;
        }
        kept[nkept]->x = x + nkept;
    }
    return true;
}

static uint64_t malloc_receive(uint64_t *sum)
{
    for (uint64_t i = 0; i < nkept; i++) {
        *sum += kept[i]->x;
        free(kept[i]);
    }
    return nkept;
}

static const struct way way_lane = {lane_post, lane_receive, true}, way_lane_now = {lane_post_now, lane_receive, true},
                        way_mutex_all = {mutex_post, mutex_receive_all, true}, way_mutex_each = {mutex_post, mutex_receive_each, true},
                        way_malloc = {malloc_post, malloc_receive, false};

struct posting {
    const struct way *way;
    _Atomic uint64_t from; /* release: poster; acquire: receiver. 0: not begun; then the time */
    _Atomic bool failed;   /* relaxed: no memory; the receiver gives up */
};

static void *poster(void *arg)
{
    struct posting *p = arg;
    pin(place.cpu[1]);
    atomic_store_explicit(&p->from, hpx_clock_mono(), memory_order_release);
    if (!p->way->post(amount.messages, 1)) {
        atomic_store_explicit(&p->failed, true, memory_order_relaxed);
    }
    return NULL;
}

/* M messages a second, one core posting all the time, the other receiving. */
static bool between_cores(const struct way *way, double *rate)
{
    struct posting p = {.way = way};
    pthread_t thread;
    uint64_t n = 0, sum = 0;
    unsigned tries = 0;
    if (pthread_create(&thread, NULL, poster, &p) != 0) {
        return false;
    }
    while (n < amount.messages && !atomic_load_explicit(&p.failed, memory_order_relaxed)) {
        uint64_t got = way->receive(&sum);
        if (!got) {
            hpx_bench_pause(&tries);
        }
        n += got;
    }
    uint64_t from = atomic_load_explicit(&p.from, memory_order_acquire);
    *rate = (double)n * 1e3 / (double)(hpx_clock_mono() - from);
    pthread_join(thread, NULL);
    (void)way->receive(&sum);
    return n == amount.messages && sum == n * (n + 1) / 2;
}

static bool measure_lane(const struct hpx_bench_row *row, double *figures)
{
    const struct way *way = row->how;
    uint64_t posting = 0, receiving = 0, sum = 0, got = 0;
    pin(place.cpu[0]);
    for (uint64_t i = 0; i < amount.bursts; i++) {
        uint64_t a = hpx_clock_mono();
        bool posted = way->post(BURST, i);
        uint64_t b = hpx_clock_mono();
        got += way->receive(&sum);
        posting += b - a;
        receiving += hpx_clock_mono() - b;
        if (!posted) {
            return false;
        }
    }
    result += sum;
    figures[0] = (double)posting / (double)(amount.bursts * BURST);
    figures[1] = (double)receiving / (double)(amount.bursts * BURST);
    bool ok = got == amount.bursts * BURST && (!way->pairs || !place.two || between_cores(way, &figures[2]));
    if (!ok) {
        (void)fprintf(stderr, "bench_pipeline: %s: messages lost, or no memory\n", row->name);
    }
    return ok;
}

/* ---- aggregator ---- */
static struct {
    struct hpx_aggregator a;
    HPX_ALIGNED(HPX_CACHE_LINE) struct hpx_thread threads[MOST_PRODUCERS];
    uint64_t each;              /* events of one producer */
    _Atomic bool go;            /* release: drain_threads; acquire: produce */
    uint64_t wanted, got, sum;  /* the aggregator's */
    uint64_t end_wall, end_cpu; /* when got == wanted; read after the join */
} run;

static void count(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    const struct hpx_ev_head *end = ev + n / HPX_EV_UNIT;
    uint64_t got = 0, sum = 0;
    (void)ctx;
    (void)t;
    for (; ev != end; ev = hpx_ring_next(ev, end)) {
        if (ev->kind != HPX_EV_PAD) {
            sum += ev->stamp;
            got++;
        }
    }
    run.sum += sum;
    run.got += got;
    if (run.got == run.wanted) {
        run.end_cpu = hpx_clock_thread_cpu();
        run.end_wall = hpx_clock_mono();
    }
}

static void no_message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    free(m);
}

static inline void fill_event(struct hpx_thread *t, struct hpx_ev_head *ev, uint64_t x)
{
    ev->kind = HPX_EV_TEST;
    ev->id = (uint32_t)x;
    ev->stamp = x;
    hpx_ring_commit(&t->ring, ev, HPX_EV_UNIT);
}

/* What found no place is in the thread's counters: the sum shows it. */
static void push(struct hpx_thread *t, uint64_t n)
{
    for (uint64_t i = 1; i <= n; i++) {
        struct hpx_ev_head *ev = hpx_reserve_or_wait(&run.a, &gate, t, HPX_EV_UNIT);
        if (hpx_likely(ev)) {
            fill_event(t, ev, i);
        }
    }
}

static void *produce(void *arg)
{
    struct hpx_thread *t = arg;
    unsigned tries = 0;
    while (!atomic_load_explicit(&run.go, memory_order_acquire)) {
        hpx_bench_pause(&tries);
    }
    push(t, run.each);
    hpx_registry_retire(t);
    hpx_aggregator_wake(&run.a); /* the last events are not to wait for the end of a sleep */
    return NULL;
}

static bool begin(unsigned producers, uint64_t events)
{
    const struct hpx_sink sink = {.message = no_message, .events = count};
    memset((void *)&run, 0, sizeof(run));
    run.each = events / producers;
    run.wanted = run.each * producers;
    hpx_aggregator_init(&run.a, &sink);
    run.a.wait_ns = UINT64_C(60000000000);
    for (unsigned i = 0; i < producers; i++) {
        if (hpx_ring_init(&run.threads[i].ring, RING_BYTES) != 0) {
            return false;
        }
        hpx_registry_push(&run.a.registry, &run.threads[i]);
    }
    return true;
}

static bool finish(const struct hpx_bench_row *row, unsigned producers)
{
    bool ok = run.got == run.wanted && run.sum == producers * (run.each * (run.each + 1) / 2);
    hpx_aggregator_fini(&run.a);
    for (unsigned i = 0; i < producers; i++) {
        hpx_ring_fini(&run.threads[i].ring);
    }
    if (!ok) {
        (void)fprintf(stderr, "bench_pipeline: %s: events lost\n", row->name);
    }
    return ok;
}

static bool drain_threads(const struct hpx_bench_row *row, double *figures)
{
    const unsigned producers = *(const unsigned *)row->how;
    pthread_t threads[MOST_PRODUCERS];
    unsigned made = 0;
    place.ok = sched_setaffinity(0, sizeof(place.all), &place.all) == 0 && place.ok;
    if (!begin(producers, amount.events) || hpx_aggregator_start(&run.a, NULL) != 0) {
        (void)fprintf(stderr, "bench_pipeline: %s: did not start\n", row->name);
        return false;
    }
    while (made < producers && pthread_create(&threads[made], NULL, produce, &run.threads[made]) == 0) {
        made++;
    }
    uint64_t cpu = hpx_clock_tid_cpu(run.a.tid), from = hpx_clock_mono();
    atomic_store_explicit(&run.go, true, memory_order_release);
    for (unsigned i = 0; i < made; i++) {
        pthread_join(threads[i], NULL);
    }
    hpx_aggregator_stop(&run.a);
    figures[1] = (double)(run.end_wall - from) / (double)run.wanted;
    figures[0] = 1e3 / figures[1];
    figures[2] = (double)(run.end_cpu - cpu) / (double)run.wanted;
    return finish(row, producers);
}

/* One thread pushes half a ring, then makes the pass itself: both sides without the way between cores. */
static bool drain_alone(const struct hpx_bench_row *row, double *figures)
{
    uint64_t pushing = 0, passing = 0, sum = 0;
    pin(place.cpu[0]);
    if (!begin(1, HALF_A_RING)) {
        return false;
    }
    for (uint64_t i = 0; i <= amount.passes; i++) {
        run.got = run.sum = 0;
        uint64_t a = hpx_clock_mono();
        push(&run.threads[0], HALF_A_RING);
        uint64_t b = hpx_clock_mono();
        hpx_aggregator_pass(&run.a);
        uint64_t c = hpx_clock_mono();
        sum += run.sum;
        if (i > 0) { /* the first touches the pages */
            pushing += b - a;
            passing += c - b;
        }
    }
    result += sum;
    figures[0] = (double)pushing / (double)(amount.passes * HALF_A_RING);
    figures[1] = (double)passing / (double)(amount.passes * HALF_A_RING);
    return finish(row, 1);
}

/* The same on the ring itself, with the same walk over the records. */
static bool drain_bare(const struct hpx_bench_row *row, double *figures)
{
    uint64_t pushing = 0, passing = 0;
    pin(place.cpu[0]);
    if (!begin(1, HALF_A_RING)) {
        return false;
    }
    struct hpx_thread *t = &run.threads[0];
    for (uint64_t i = 0; i <= amount.passes; i++) {
        run.got = run.sum = 0;
        uint64_t a = hpx_clock_mono();
        for (uint64_t k = 1; k <= HALF_A_RING; k++) {
            struct hpx_ev_head *ev = hpx_ring_reserve(&t->ring, HPX_EV_UNIT);
            if (hpx_likely(ev)) {
                fill_event(t, ev, k);
            }
        }
        uint64_t b = hpx_clock_mono(), at = hpx_ring_position(&t->ring), to = hpx_ring_peek(&t->ring);
        while (at != to) {
            size_t n;
            const struct hpx_ev_head *ev = hpx_ring_span(&t->ring, at, to, &n);
            count(NULL, t, ev, n);
            at += n;
            hpx_ring_release(&t->ring, at);
        }
        uint64_t c = hpx_clock_mono();
        if (i > 0) {
            pushing += b - a;
            passing += c - b;
        }
    }
    figures[0] = (double)pushing / (double)(amount.passes * HALF_A_RING);
    figures[1] = (double)passing / (double)(amount.passes * HALF_A_RING);
    return finish(row, 1);
}

/* ---- tables ---- */
static const unsigned producers[] = {1, 2, 4};
static struct hpx_bench_row calls[] = {
    {.name = "empty call (limit)", .once = call_empty},         {.name = "urcu-bp read lock + unlock", .once = call_urcu},
    {.name = "gate enter + leave", .once = call_gate},          {.name = "own gate enter + leave", .once = call_own},
    {.name = "gate enter, closed", .once = call_closed},        {.name = "mutex lock + unlock, uncontended", .once = call_mutex},
    {.name = "locked add (limit of a post)", .once = call_add}, {.name = "wake post, no waiter", .once = call_wake},
    {.name = "eventfd write, no waiter", .once = call_eventfd},
};
static struct hpx_bench_row lanes[] = {
    {.name = "lane", .once = measure_lane, .how = &way_lane},
    {.name = "lane, post with wake", .once = measure_lane, .how = &way_lane_now},
    {.name = "mutex queue, taken whole", .once = measure_lane, .how = &way_mutex_all},
    {.name = "mutex queue, one by one", .once = measure_lane, .how = &way_mutex_each},
    {.name = "calloc, then free (limit)", .once = measure_lane, .how = &way_malloc},
};
static struct hpx_bench_row threaded[] = {
    {.name = "1 producer", .once = drain_threads, .how = &producers[0]},
    {.name = "2 producers", .once = drain_threads, .how = &producers[1]},
    {.name = "4 producers", .once = drain_threads, .how = &producers[2]},
};
static struct hpx_bench_row alone[] = {
    {.name = "reserve_or_wait, aggregator's pass", .once = drain_alone},
    {.name = "reserve, walk and release (limit)", .once = drain_bare},
};
static struct hpx_bench_section tables[] = {
    {"calls", "calls", {{"ns", "ns"}}, calls, HPX_ARRAY_LEN(calls)},
    {"messages of 64 bytes",
     "lane",
     {{"post, ns", "post_ns"}, {"receive, ns", "receive_ns"}, {"2 cores, M/s", "cores_m_s"}},
     lanes,
     HPX_ARRAY_LEN(lanes)},
    {"aggregator, events of 16 bytes",
     "aggregator",
     {{"M events/s", "m_s"}, {"ns an event", "event_ns"}, {"its CPU, ns/event", "cpu_ns"}},
     threaded,
     HPX_ARRAY_LEN(threaded)},
    {"the same by one thread, warm", "alone", {{"push, ns", "push_ns"}, {"drain, ns", "drain_ns"}}, alone, HPX_ARRAY_LEN(alone)},
};

static void *nothing(void *arg)
{
    return arg;
}

/* malloc takes short cuts until there has been a second thread; in a JVM there has. */
static bool prepare(void)
{
    pthread_t thread;
    event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    hpx_wake_init(&wake);
    hpx_gate_open(&gate);
    hpx_gate_own_open(&own_gate);
    place.two = hpx_bench_two_processors(place.cpu);
    hpx_lane_init(&lane);
    if (sched_getaffinity(0, sizeof(place.all), &place.all) != 0 || event_fd < 0 || pthread_create(&thread, NULL, nothing, NULL) != 0) {
        return false;
    }
    return pthread_join(thread, NULL) == 0;
}

static void set_goals(struct hpx_bench_goal *goals, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct hpx_bench_row *row = &threaded[i / 2];
        goals[i] = i % 2 ? (struct hpx_bench_goal){.value = row->figures[0], .limit = 100, .at_least = true, .later = true}
                         : (struct hpx_bench_goal){.value = row->figures[2], .limit = 10};
        (void)snprintf(goals[i].what, sizeof(goals[i].what),
                       i % 2 ? "aggregator, %s, M events/s (with folding)" : "aggregator, %s, CPU ns an event", row->name);
    }
}

int main(int argc, char **argv)
{
    struct hpx_bench_args args;
    struct hpx_bench_goal goals[2 * HPX_ARRAY_LEN(threaded)];
    unsigned rounds = 11;
    char head[128];
    if (!hpx_bench_parse(&args, "pipeline", argc, argv)) {
        return 2;
    }
    if (args.quick) {
        rounds = 3;
        amount.calls = 100000;
        amount.bursts = 20;
        amount.messages = 20000;
        amount.events = 400000;
        amount.passes = 20;
    }
    rounds = prepare() ? hpx_bench_measure(tables, HPX_ARRAY_LEN(tables), rounds, args.seconds) : 0;
    if (rounds == 0) {
        (void)fprintf(stderr, "bench_pipeline: did not run to its end\n");
        return 1;
    }
    printf("pipeline; medians of %u alternating rounds%s%s\n", rounds, place.two ? "" : "; one core only", place.ok ? "" : "; NOT pinned");
    hpx_bench_print(tables, HPX_ARRAY_LEN(tables));
    set_goals(goals, HPX_ARRAY_LEN(goals));
    hpx_bench_print_goals(goals, HPX_ARRAY_LEN(goals));
    (void)snprintf(head, sizeof(head), "\"two_cores\": %s, \"pinned\": %s", place.two ? "true" : "false", place.ok ? "true" : "false");
    const struct hpx_bench_report report = {"pipeline", head, rounds, tables, HPX_ARRAY_LEN(tables), goals, HPX_ARRAY_LEN(goals)};
    hpx_lane_fini(&lane);
    (void)close(event_fd);
    return args.json && !hpx_bench_write_json(&report, args.json);
}
