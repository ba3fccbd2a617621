/* SPDX-License-Identifier: BSD-2-Clause */
/* test_no_memory.c: a session from rings to file, with every kind of event, in which each allocation fails in its turn: alone, with some
 * more, and with all that follow. Nothing crashes or leaks (ASan), and what was told of is in the rows of the file, or counted by cause in
 * its report: made = shown + counted. */
#include "dump_request.h"
#include "failing_memory.h"
#include "folder_fixture.h"
#include "memory_shown.h"
#include "output.h"
#include "output_internal.h"
#include "session_life.h"
#include <semaphore.h>

/* ---- a clock that the test puts forward, and a service thread that answers at once ---- */

static _Atomic uint64_t ahead; /* ns */

uint64_t __real_hpx_clock_mono(void);
uint64_t __wrap_hpx_clock_mono(void);
uint64_t __wrap_hpx_clock_mono(void)
{
    return __real_hpx_clock_mono() + ahead;
}

static sem_t idle; /* posted when the writer's thread has nothing to do */

bool __real_hpx_wake_wait(struct hpx_wake *w, uint32_t seen, uint64_t ns);
bool __wrap_hpx_wake_wait(struct hpx_wake *w, uint32_t seen, uint64_t ns);
bool __wrap_hpx_wake_wait(struct hpx_wake *w, uint32_t seen, uint64_t ns)
{
    if (w == &hpx_output.lane.wake) {
        sem_post(&idle);
    }
    return __real_hpx_wake_wait(w, seen, ns);
}

static uint64_t gone_from, gone_to; /* classes with references between these are unloaded */
static uint32_t answers;

static void resolve(struct hpx_msg_resolve *r)
{
    static const struct hpx_line lines[] = {{8, 3}, {0, 1}, {4, 2}};
    static const char text[] = "Lq/Answer;\0A.java\0answer\0()V";
    struct hpx_msg_resolved *to = ++answers % 7 ? hpx_msg_resolved_new(3, r->want_name ? sizeof text : 0) : NULL;
    if (to != NULL) {
        to->method = r->method;
        to->named = r->want_name;
        memcpy(to->text, text, to->text_len);
        memcpy(to->lines, lines, sizeof lines);
        if (!hpx_msg_resolved_sort(to)) {
            free(to);
            to = NULL;
        }
    }
    post(to != NULL ? (void *)to : (void *)r);
    if (to != NULL) {
        free(r);
    }
}

static void request(struct hpx_msg *r)
{
    struct hpx_msg_sweep *s = (struct hpx_msg_sweep *)(void *)r;
    switch (r->kind) {
    case HPX_MSG_RESOLVE:
        resolve((struct hpx_msg_resolve *)(void *)r);
        break;
    case HPX_MSG_SWEEP:
        for (uint32_t i = 0; i < s->n; i++) {
            s->of[i].gone = s->of[i].ref >= gone_from && s->of[i].ref < gone_to;
        }
        r->kind = HPX_MSG_SWEPT;
        post(r);
        break;
    case HPX_MSG_LOOK:
        post(r);
        break;
    default:
        free(r);
        break;
    }
}

static bool collect_garbage(void (*done)(uint64_t unused))
{
    done(0);
    return true;
}

static void leave(void)
{
}

static int exit_program(void (*failed)(const char *why), struct hpx_err *err)
{
    (void)failed;
    return hpx_err_set(err, HPX_E_SYS, "no program");
}

static uint64_t no_cpu(void)
{
    return 0;
}

static const struct hpx_host host = {request, collect_garbage, leave, exit_program, no_cpu, NULL, NULL};

/* ---- a session ---- */

static uint32_t turn; /* of the virtual thread */
static unsigned done;

static void count_done(uint64_t unused)
{
    (void)unused;
    __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
}

static bool begin(void)
{
    struct hpx_err err = {0};
    memset((void *)threads, 0, sizeof threads);
    sem_init(&idle, 0, 0);
    ahead = 0;
    made = gone_from = gone_to = 0;
    turn = answers = done = 0;
    if (hpx_session_parse(NULL, NULL, now->options, &err) != 0) {
        return false;
    }
    hpx_session.start = 1;
    hpx_session_choose(now->modes);
    hpx_gate_open(&hpx_session.gate);
    return hpx_session_begin(&host) == 0 && hpx_output_init(&err) == 0 && hpx_output_start(&err) == 0;
}

/* Passes; the writer's thread has done with each before the next one begins, so that allocations come in the same order in each run. */
static void passes(unsigned n)
{
    for (; n > 0; n--) {
        ahead += 100 * MS;
        hpx_aggregator_pass(&hpx_session.aggregator);
        if (hpx_output_behind() > 0) {
            hpx_wake_post(&hpx_output.lane.wake);
        }
        while (hpx_output_behind() > 0 && !hpx_output.ends) { /* behind the end it is not idle again */
            (void)sem_wait(&idle);
        }
    }
}

static void begin_thread(uint32_t which)
{
    static const struct hpx_mode *const of[RINGS][2] = {[SAMPLES] = {&samples_mode},
                                                        [WALLS] = {&walls_mode},
                                                        [CALLS] = {&calls_mode},
                                                        [SITES] = {&sites_mode, &counts_mode},
                                                        [BLOCKS] = {&blocks_mode}};
    post_thread_start(which);
    for (uint32_t i = 0; i < RINGS; i++) {
        struct hpx_thread *t = &threads[which][i];
        t->mode = has(of[i][0]) ? of[i][0] : of[i][1] != NULL && has(of[i][1]) ? of[i][1] : NULL;
        if (t->mode != NULL && hpx_ring_init(&t->ring, i == SAMPLES && now->n < 1000 ? HPX_RING_MIN : 1u << 20) == 0) {
            hpx_registry_push(&hpx_session.aggregator.registry, t);
        }
    }
}

static void end_thread(uint32_t which)
{
    for (uint32_t i = 0; i < RINGS; i++) {
        if (threads[which][i].ring.bytes != NULL) {
            hpx_registry_retire(&threads[which][i]);
        }
    }
    post_thread_end(which);
}

static void produce(uint32_t which, uint32_t n)
{
    if (has(&samples_mode)) {
        make_samples(which, n, has(&walls_mode));
    }
    if (has(&walls_mode)) {
        make_walls(which, n);
    }
    if (has(&calls_mode)) {
        make_calls(which, n, turn++, now->ticks, has(&counts_mode));
    }
    if (has(&sites_mode)) {
        make_sites(which, n);
    }
    for (uint32_t i = 1; has(&counts_mode) && i <= n; i++) {
        if (!has(&calls_mode)) {
            make_places(&threads[which][SITES], i);
        }
        hpx_sites_add_counter(sites, i, 3, 48, true); /* of a thread that has ended */
        made += 3;
    }
    if (has(&blocks_mode)) {
        make_blocks(which, n, now->sampled);
    }
}

static void live(void)
{
    static const struct hpx_dump_request reset = {.done = count_done}, keep = {.done = count_done, .keep = true},
                                         all = {.done = count_done, .traces = true};
    post_classes(0);
    begin_thread(0);
    begin_thread(1);
    if (has(&counts_mode)) {
        post_places(now->n);
        made += COUNTED;
    }
    memory_fail_maps(now->maps);
    passes(1);
    post_thread_name(0);
    produce(0, now->n);
    passes(2);
    (void)hpx_dump_request(&reset);
    passes(3);
    produce(0, now->n / 2);
    gone_from = 1;
    gone_to = CLASSES / 2;
    hpx_symbols_look_for_unloaded(hpx_model_symbols(hpx_session.model));
    passes(3);
    post_classes(8);
    (void)hpx_dump_request(&keep);
    (void)hpx_dump_request(&all);
    passes(3);
    produce(1, now->n);
    end_thread(1);
    passes(10); /* a table of the journal, and records that wait for a thread that has lost its last one */
}

static uint64_t counted_most;

static void check(uint64_t first, uint64_t last, uint64_t journaled)
{
    shown = (struct shown){0};
    (void)read_file("x.1"); /* with split=y */
    (void)read_file("x.2");
    assert_true(read_file("x"));
    uint64_t seen = shown.rows + shown.sites;
    if (seen + shown.counted != made) {
        fail_msg("%s, allocations %" PRIu64 " to %" PRIu64 ": made %" PRIu64 ", shown %" PRIu64 ", counted %" PRIu64 "\n%s", now->name,
                 first, last, made, seen, shown.counted, content("said"));
    }
    if (journaled != UINT64_MAX && journaled + shown.lacks != seen + shown.unwritten) {
        fail_msg("%s, allocations %" PRIu64 " to %" PRIu64 ": shown %" PRIu64 ", in the journal %" PRIu64 "\n%s", now->name, first, last,
                 seen, journaled, content("said"));
    }
    counted_most = shown.counted > counted_most ? shown.counted : counted_most;
}

/* Those from call `first` to `last` fail; until the end, or else not at the end, which shows what was kept. Returns how many there were. */
static uint64_t run(uint64_t first, uint64_t last, bool end)
{
    uint64_t journaled = UINT64_MAX, n;
    assert_int_equal(ftruncate(said_fd, 0), 0);
    assert_int_equal(lseek(said_fd, 0, SEEK_SET), 0);
    memory_fail(first, last);
    bool begun = begin();
    if (begun) {
        live();
    }
    n = memory_calls();
    if (!end) {
        memory_allow();
    }
    if (begun) {
        passes(16); /* with the last table of the journal */
        shown = (struct shown){0};
        if (now->journals && !end && read_file("x.journal.part")) {
            journaled = shown.rows + shown.dump;
        }
        hpx_gate_close(&hpx_session.gate);
        hpx_dump_request_final();
        passes(8);
        assert_true(hpx_output_wait(UINT64_C(60000000000)));
        memory_allow();
        if (!end || strstr(content("said"), "no memory for a dump; it is not written") == NULL) {
            check(first, last, end ? UINT64_MAX : journaled);
        }
    }
    memory_allow();
    hpx_session_end();
    hpx_site_ids_fini(&ids);
    hpx_site_ids_fini(&places);
    memset((void *)&ids, 0, sizeof ids);
    memset((void *)&places, 0, sizeof places);
    (void)unlink("x");
    (void)unlink("x.part"); /* of a session that could not begin */
    (void)unlink("x.1");
    (void)unlink("x.2");
    return n;
}

static const struct hpx_mode *const only_samples[] = {&samples_mode, NULL}, *const only_calls[] = {&calls_mode, NULL},
                                    *const only_sites[] = {&sites_mode, NULL}, *const only_blocks[] = {&blocks_mode, NULL},
                                    *const only_counts[] = {&counts_mode, NULL}, *const clocks[] = {&samples_mode, &walls_mode, NULL},
                                    *const counted_calls[] = {&calls_mode, &counts_mode, NULL},
                                    *const most[] = {&samples_mode, &walls_mode, &sites_mode, NULL};

#define TEXT   "cpu=samples,file=x,verbose=n,cutoff=0"
#define BINARY TEXT ",format=b"

static void each_fails(const struct variant *v)
{
    now = v;
    counted_most = 0;
    uint64_t n = run(MEMORY_NEVER, 0, false);
    assert_true(n > 50);
    uint64_t least = counted_most; /* in no row without a failure: calls that are open */
    for (uint64_t k = memory_first_fault(); k <= n; k += memory_fault_step() * (v->step > 0 ? v->step : 1)) {
        (void)run(k, k, false);
        if (k % 2 == 0) {
            (void)run(k, k % 6 == 0 ? k + 9 : UINT64_MAX, k % 6 == 2);
        }
    }
    assert_true(counted_most > least || memory_fault_step() > 1);
}

#define EACH(test, ...)                                                                                                                    \
    TEST(test, setup, teardown)                                                                                                            \
    {                                                                                                                                      \
        static const struct variant v = {.name = #test, __VA_ARGS__};                                                                      \
        each_fails(&v);                                                                                                                    \
    }

EACH(samples_as_text, .options = TEXT ",thread=y", .modes = only_samples, .n = 60, .journals = true)
EACH(samples_in_binary, .options = BINARY, .modes = only_samples, .n = 60, .journals = true)
EACH(times_by_the_clock, .options = TEXT, .modes = clocks, .n = 40, .journals = true)
EACH(times_by_the_clock_in_binary, .options = BINARY, .modes = clocks, .n = 40, .journals = true)
EACH(exact_calls, .options = TEXT, .modes = only_calls, .n = 60, .journals = true)
EACH(exact_calls_timed_by_ticks, .options = TEXT ",thread=y", .modes = only_calls, .n = 60, .journals = true, .ticks = true)
EACH(allocation_sites, .options = TEXT, .modes = only_sites, .n = 60)
EACH(allocation_sites_in_binary, .options = BINARY, .modes = only_sites, .n = 60)
EACH(counted_allocations, .options = TEXT, .modes = only_counts, .n = 40)
EACH(counted_allocations_of_calls, .options = TEXT, .modes = counted_calls, .n = 40)
EACH(blocks_and_their_owners, .options = TEXT, .modes = only_blocks, .n = 40, .owners = true)
EACH(files_of_their_own, .options = TEXT ",split=y,thread=y", .modes = only_samples, .n = 30)
EACH(files_that_are_remembered, .options = BINARY ",split=y,keep-files=9", .modes = only_samples, .n = 30)
EACH(rows_beyond_the_bound, .options = TEXT ",maxfile=4k", .modes = most, .n = 40)
EACH(rows_beyond_the_bound_in_binary, .options = BINARY ",thread=y,maxfile=4k", .modes = most, .n = 40)
EACH(sampled_blocks, .options = TEXT, .modes = only_blocks, .n = 40, .sampled = true)
EACH(many_stacks, .options = TEXT, .modes = only_samples, .n = 3200, .step = 17, .journals = true) /* whose tables become mappings */
EACH(many_stacks_in_binary, .options = BINARY ",thread=y", .modes = only_samples, .n = 3200, .step = 37)

TEST(large_tables_whose_mappings_fail_at_first_lose_nothing, setup, teardown)
{
    static const struct variant v = {.name = "maps", .options = TEXT, .modes = only_samples, .n = 3200, .maps = 20};
    now = &v;
    (void)run(MEMORY_NEVER, 0, false);
    assert_int_equal(memory_maps_left(), 0);
    assert_int_equal(shown.counted, 0);
}

TESTS(NULL, NULL)
