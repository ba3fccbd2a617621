/* SPDX-License-Identifier: BSD-2-Clause */
/* test_session.c: dump, output and peer without a JVM: two modes made for the test, requests during requests, the end during a request, an
 * output that stands, no memory at each step, one session after another, commands of a peer. The test's thread is the aggregator; the
 * writer's thread is the real one.
 */
#include "dump.h"
#include "failing_memory.h"
#include "folder_fixture.h"
#include "model_table.h"
#include "output.h"
#include "peer.h"
#include "report.h"
#include "session.h"
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- a host that has nothing, and a clock that the tests put forward ---- */

static _Atomic uint64_t ahead; /* ns */

uint64_t __real_hpx_clock_mono(void);
uint64_t __wrap_hpx_clock_mono(void);
uint64_t __wrap_hpx_clock_mono(void)
{
    return __real_hpx_clock_mono() + ahead;
}

static unsigned left;

static void request(struct hpx_msg *r)
{
    free(r);
}

static char order[256]; /* of collections and of what sections are asked for */

static bool collect_garbage(void (*done)(uint64_t unused))
{
    strncat(order, "gc ", sizeof order - strlen(order) - 1);
    done(0);
    return true;
}

static void leave(void)
{
    left++;
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

/* ---- the peer of net=, whose connection the tests have not ---- */

static char complaints[1024];
static unsigned begun;

bool __wrap_hpx_net_ends(void);
bool __wrap_hpx_net_ends(void)
{
    return false;
}

void __wrap_hpx_net_begun(uint8_t tag);
void __wrap_hpx_net_begun(uint8_t tag)
{
    (void)tag;
    begun++;
}

void __wrap_hpx_net_complain(const char *fmt, ...) HPX_PRINTF(1, 2);
void __wrap_hpx_net_complain(const char *fmt, ...)
{
    size_t len = strlen(complaints);
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(complaints + len, sizeof complaints - len, fmt, args);
    va_end(args);
    strncat(complaints, "\n", sizeof complaints - strlen(complaints) - 1);
}

static const struct hpx_host host = {request, collect_garbage, leave, exit_program, no_cpu};

/* ---- two modes: each counts, and shows what it has counted as one line ---- */

struct rows {
    uint64_t n;
};

static struct counting {
    uint64_t n, journaled; /* since the last reset; of the journal */
    unsigned prepares, prepared_after, taken, stopped, ended, controls;
    bool never_prepared;
} first, second;

static sem_t gate; /* the writer's thread waits here while `stands` */
static atomic_bool stands;

static bool always(const struct hpx_options *o)
{
    (void)o;
    return true;
}

static void configure(struct hpx_model_config *cfg)
{
    (void)cfg;
}

static bool empty(const void *rows)
{
    return ((const struct rows *)rows)->n == 0;
}

static const char *title_first(void)
{
    return "the first";
}

static const char *title_second(void)
{
    return "the second";
}

static void line(struct hpx_ascii *to, const char *name, void *rows)
{
    char text[64];
    if (atomic_load(&stands)) {
        while (sem_wait(&gate) != 0 && errno == EINTR) {
        }
    }
    snprintf(text, sizeof text, "%s %llu\n", name, (unsigned long long)((struct rows *)rows)->n);
    hpx_ascii_report(to, text);
}

static void text_first(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)cutoff, (void)answer;
    line(to, "FIRST", rows);
}

static void text_second(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)cutoff, (void)answer;
    line(to, "SECOND", rows);
}

static void *take_of(struct counting *c, enum hpx_take take)
{
    struct rows *r = malloc(sizeof *r);
    if (r == NULL) {
        return NULL;
    }
    r->n = c->n;
    if (take == HPX_TAKE_RESET) {
        c->n = 0;
    }
    return r;
}

static void *snapshot_first(enum hpx_take take)
{
    return take_of(&first, take);
}

static void *snapshot_second(enum hpx_take take)
{
    return take_of(&second, take);
}

static bool prepare_second(enum hpx_why why)
{
    (void)why;
    return ++second.prepares > second.prepared_after && !second.never_prepared;
}

static void taken_second(enum hpx_why why)
{
    (void)why;
    second.taken++;
}

static uint64_t tail(struct hpx_thread *t)
{
    return hpx_ring_peek(&t->ring);
}

static void gone(struct hpx_thread *t)
{
    hpx_ring_fini(&t->ring);
}

static void stop_first(uint64_t until_ns)
{
    (void)until_ns;
    assert_int_equal(second.stopped, first.stopped + 1); /* in the reverse order */
    first.stopped++;
}

static void stop_second(uint64_t until_ns)
{
    (void)until_ns;
    second.stopped++;
}

static void stop_stream(uint64_t until_ns)
{
    (void)until_ns;
}

static void ended_second(void)
{
    second.ended++;
}

static bool control_first(const struct hpx_command *c)
{
    first.controls += c->control == HPX_CONTROL_CPU_ON;
    return c->control == HPX_CONTROL_CPU_ON;
}

static void collect(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    (void)total;
    f->v[0] = rows != NULL ? ((const struct rows *)rows)->n : 77;
}

static uint64_t own_cpu(const struct hpx_counters *total)
{
    (void)total;
    return 0;
}

static void lines(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    (void)r;
    hpx_lines_add(to, "hprofx: figure: %llu\n", (unsigned long long)f->v[0]);
}

static void summary(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    (void)r;
    hpx_lines_add(to, "hprofx: at the end: %llu\n", (unsigned long long)f->v[0]);
}

static void choose_second(void *rows, uint16_t flags)
{
    char text[32];
    snprintf(text, sizeof text, "%llu:%x ", (unsigned long long)((struct rows *)rows)->n, flags);
    strncat(order, text, sizeof order - strlen(order) - 1);
}

static const struct hpx_section section_first = {.title = title_first, .empty = empty, .destroy = free, .text = text_first};
static const struct hpx_section section_second = {
    .title = title_second, .empty = empty, .destroy = free, .choose = choose_second, .text = text_second};
static const struct hpx_mode mode_first = {.name = "test=first",
                                           .section = &section_first,
                                           .wanted = always,
                                           .configure = configure,
                                           .gone = gone,
                                           .snapshot = snapshot_first,
                                           .listed_by = HPX_COMMAND_CPU_SAMPLES,
                                           .control = control_first,
                                           .stop = stop_first,
                                           .collect = collect,
                                           .own_cpu = own_cpu,
                                           .lines = lines,
                                           .summary = summary};
static const struct hpx_mode mode_second = {.name = "test=second",
                                            .section = &section_second,
                                            .wanted = always,
                                            .configure = configure,
                                            .gone = gone,
                                            .listed_by = HPX_COMMAND_ALLOC_SITES,
                                            .prepare = prepare_second,
                                            .tail = tail,
                                            .taken = taken_second,
                                            .snapshot = snapshot_second,
                                            .stop = stop_second,
                                            .ended = ended_second,
                                            .collect = collect,
                                            .own_cpu = own_cpu,
                                            .lines = lines,
                                            .summary = summary};
/* ---- a mode whose section is no snapshot: a forked child, which has nothing but its descriptor, writes it while the writer's thread
 * passes it on, in pieces ---- */

#define STREAMED 3000000u

struct stream_rows {
    int fd;
    pid_t child;
};

static void *snapshot_stream(enum hpx_take take)
{
    struct stream_rows *r = malloc(sizeof *r);
    int ends[2];
    if (r == NULL || pipe(ends) != 0) {
        free(r);
        return NULL;
    }
    r->child = take == HPX_TAKE_RESET ? fork() : -1;
    if (r->child == 0) {
        static char piece[1000];
        memset(piece, '.', sizeof piece - 1);
        piece[sizeof piece - 1] = '\n';
        for (unsigned n = 0; n < STREAMED; n += sizeof piece) {
            if (write(ends[1], piece, sizeof piece) != sizeof piece) {
                _exit(1);
            }
        }
        (void)execl("/bin/true", "true", (char *)NULL); /* so that valgrind has no word on what the child holds */
        _exit(1);
    }
    close(ends[1]);
    r->fd = ends[0];
    return r;
}

static bool never_empty(const void *rows)
{
    (void)rows;
    return false;
}

static int child_status;

static void destroy_stream(void *rows)
{
    struct stream_rows *r = rows;
    if (r != NULL) {
        close(r->fd);
        if (r->child > 0) {
            waitpid(r->child, &child_status, 0);
        }
        free(r);
    }
}

static void text_stream(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    const struct stream_rows *r = rows;
    (void)cutoff, (void)answer;
    for (ssize_t n = 1; n > 0;) {
        char *at = hpx_out_piece(to->out);
        n = read(r->fd, at, HPX_OUT_PIECE);
        if (n > 0) {
            hpx_out_filled(to->out, at + n);
        }
    }
}

static const char *title_stream(void)
{
    return "the stream";
}

static const struct hpx_section section_stream = {
    .title = title_stream, .empty = never_empty, .destroy = destroy_stream, .text = text_stream};
static const struct hpx_mode mode_stream = {.name = "test=stream",
                                            .section = &section_stream,
                                            .wanted = always,
                                            .configure = configure,
                                            .gone = gone,
                                            .snapshot = snapshot_stream,
                                            .stop = stop_stream,
                                            .collect = collect,
                                            .own_cpu = own_cpu,
                                            .lines = lines,
                                            .summary = summary};
static const struct hpx_mode *const streaming[] = {&mode_stream, NULL};
static const struct hpx_mode *const both[] = {&mode_first, &mode_second, NULL};

/* ---- a table of the second mode, and a ring for events from threads that are nobody's: made beforehand, no state, no START ---- */

static const struct hpx_ev_head *apply(void *self, struct hpx_thread *t, const struct hpx_ev_head *ev, const struct hpx_ev_head *last)
{
    struct counting *c = self;
    assert_ptr_equal(t->mode, &mode_second);
    for (; ev < last && ev->kind == HPX_EV_TEST; ev += ev->units) {
        c->n += ev->stamp;
    }
    return ev;
}

static size_t no_bytes(const void *self)
{
    (void)self;
    return 0;
}

static const struct hpx_table table = {.first = HPX_EV_TEST, .last = HPX_EV_TEST, .apply = apply, .bytes = no_bytes};
static HPX_ALIGNED(HPX_CACHE_LINE) struct hpx_thread vms;

static void begin_ring(void)
{
    hpx_model_add_table(hpx_session.model, &table, &second);
    memset(&vms, 0, sizeof vms);
    vms.mode = &mode_second;
    assert_int_equal(hpx_ring_init(&vms.ring, 16384), 0);
    hpx_registry_attach(&hpx_session.aggregator.registry, &vms);
}

/* At a safepoint, say: never waits; what finds no room is counted as lost. */
static void push_as_the_vm(uint64_t weight)
{
    struct hpx_ev_head *ev = hpx_reserve_or_drop(&hpx_session.aggregator, &vms, sizeof *ev, weight);
    if (ev != NULL) {
        ev->kind = HPX_EV_TEST;
        ev->stamp = weight;
        hpx_ring_commit(&vms.ring, ev, sizeof *ev);
    }
}

/* ---- a run ---- */

/* false: no memory at the start. */
static bool begin_with(const struct hpx_mode *const *modes, const char *options)
{
    struct hpx_err err = {0};
    first = second = (struct counting){0};
    left = 0;
    ahead = 0;
    if (hpx_options_parse(&hpx_session.opt, NULL, NULL, options, &err) != 0) {
        return false;
    }
    hpx_session.start = 1;
    hpx_session_choose(modes);
    return hpx_session_begin(&host) == 0 && hpx_output_init(&err) == 0 && hpx_output_start(&err) == 0;
}

static bool begin(const char *options)
{
    return begin_with(both, options);
}

static void pass(void)
{
    (void)hpx_aggregator_pass(&hpx_session.aggregator);
}

static unsigned done;

static void count_done(uint64_t arg)
{
    __atomic_fetch_add(&done, (unsigned)arg, __ATOMIC_SEQ_CST);
}

static const struct hpx_dump_request reset_request = {.done = count_done, .arg = 1};
static const struct hpx_dump_request keep_request = {.done = count_done, .arg = 1, .keep = true};

static void end(void)
{
    hpx_gate_close(&hpx_session.gate);
    hpx_dump_request_final();
    for (int i = 0; i < 10; i++) {
        pass();
    }
}

static void wait_and_end(void)
{
    end();
    assert_true(hpx_output_wait(UINT64_C(60000000000)));
    hpx_session_end();
}

/* The lines of the modes' tables, in their order: "FIRST 1 SECOND 2 ". */
static const char *tables(const char *name)
{
    static char out[4096];
    const char *text = content(name), *at = text;
    out[0] = 0;
    while (at != NULL && (at = strpbrk(at, "FS")) != NULL) {
        if ((at == text || at[-1] == '\n') && (!strncmp(at, "FIRST ", 6) || !strncmp(at, "SECOND ", 7))) {
            strncat(out, at, strcspn(at, "\n"));
            strcat(out, " ");
        }
        at++;
    }
    return out;
}

static void a_dump_has_one_part_a_mode(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=y"));
    assert_string_equal(hpx_session_modes(), "test=first,test=second");
    first.n = 3;
    second.n = 4;
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 3 SECOND 4 ");
    assert_non_null(strstr(content("x.txt"), "hprofx: figure: 3\nhprofx: figure: 4\nhprofx: lost: 0\n"));
    assert_string_equal(content("said"), "Dumping the first ... the second ... done.\nhprofx: at the end: 3\nhprofx: at the end: 4\n");
}

static void a_phase_takes_several_passes_and_rows_are_taken_behind_one_more(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    second.prepared_after = 3;
    first.n = 1;
    assert_true(hpx_dump_request(&reset_request));
    for (int i = 0; i < 4; i++) {
        pass();
        assert_int_equal(second.prepares, i + 1);
        assert_int_equal(second.taken, 0);
    }
    first.n = 5; /* before the pass whose tails count */
    pass();
    assert_int_equal(second.taken, 1);
    assert_int_equal(first.n, 0);
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 5 SECOND 0 FIRST 0 SECOND 0 ");
    assert_int_equal(second.stopped, 2);
    assert_int_equal(second.ended, 1);
    assert_int_equal(left, 1);
}

static void events_of_the_vms_own_threads_come_by_a_ring_made_beforehand(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    begin_ring();
    pass();
    for (int i = 0; i < 2000; i++) { /* twice as many as there is room for */
        push_as_the_vm(1);
    }
    uint64_t lost = hpx_counter_get(&vms.counters, HPX_C_LOST_RING_FULL);
    assert_in_range(lost, 900, 1100);
    assert_true(hpx_dump_request(&reset_request));
    for (int i = 0; i < 4; i++) {
        pass();
    }
    push_as_the_vm(5);
    wait_and_end();
    char text[64];
    snprintf(text, sizeof text, "FIRST 0 SECOND %u FIRST 0 SECOND 5 ", (unsigned)(2000 - lost));
    assert_string_equal(tables("x.txt"), text);
    snprintf(text, sizeof text, "hprofx: lost, ring full: %u ", (unsigned)lost);
    assert_non_null(strstr(content("x.txt"), text));
}

static void a_phase_that_never_ends_is_given_up(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    second.never_prepared = true;
    first.n = 1;
    assert_true(hpx_dump_request(&reset_request));
    for (int i = 0; i < 20; i++) {
        pass();
    }
    assert_int_equal(second.taken, 0);
    ahead = 501000000;
    pass();
    pass();
    assert_int_equal(second.taken, 1);
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 1 SECOND 0 FIRST 0 SECOND 0 ");
}

static void a_request_during_a_request_has_a_dump_of_its_own(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    second.prepared_after = 2;
    done = 0;
    first.n = 1;
    assert_true(hpx_dump_request(&keep_request));
    pass();
    assert_true(hpx_dump_request(&reset_request));
    assert_true(hpx_dump_request(&reset_request));
    for (int i = 0; i < 12; i++) {
        pass();
    }
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 1 SECOND 0 FIRST 1 SECOND 0 FIRST 0 SECOND 0 FIRST 0 SECOND 0 ");
    assert_int_equal(done, 3);
}

static void the_end_during_a_request_serves_it_first(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    second.never_prepared = true;
    done = 0;
    first.n = 7;
    assert_true(hpx_dump_request(&keep_request));
    pass();
    pass();
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 7 SECOND 0 FIRST 7 SECOND 0 ");
    assert_int_equal(done, 1);
}

static void without_doe_the_end_has_no_dump(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,doe=n,verbose=n"));
    first.n = 7;
    wait_and_end();
    assert_string_equal(tables("x.txt"), "");
    assert_string_equal(content("said"), "");
}

/* The writer's thread is inside a section: requests by signal pile up to their bound, and the end gives the output up. */
static void an_output_that_stands_holds_nobody(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    assert_int_equal(sem_init(&gate, 0, 0), 0);
    atomic_store(&stands, true);
    for (int i = 0; i < 70; i++) {
        hpx_dump_request_signal();
        pass();
        pass();
        pass();
    }
    assert_int_equal(hpx_counter_get(&hpx_session.counters, HPX_C_DUMPS_NOT_MADE), 6);
    end();
    assert_false(hpx_output_wait(1));
    assert_non_null(
        strstr(content("said"), "test=first,test=second: 64 requested dumps wait for the output; further requests are skipped"));
    assert_non_null(strstr(content("said"), "file=x.txt: the output is stalled; the program ends and the profile is incomplete"));
    atomic_store(&stands, false);
    sem_post(&gate);
    assert_true(hpx_output_wait(UINT64_C(60000000000)));
    hpx_session_end();
    assert_non_null(strstr(content("x.txt"), "hprofx: dumps skipped: 6 "));
}

static void journals_have_what_is_counted_since_the_last_one(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    first.n = 9;
    ahead = 601000000;
    for (int i = 0; i < 4; i++) {
        pass();
    }
    while (hpx_output_journal_waits()) {
        sched_yield();
    }
    assert_string_equal(tables("x.txt.journal.part"), "FIRST 9 SECOND 0 ");
    wait_and_end();
    assert_null(content("x.txt.journal.part"));
}

static void split_gives_each_request_a_file(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,split=y,verbose=n"));
    for (int i = 1; i <= 2; i++) {
        first.n = (unsigned)i;
        assert_true(hpx_dump_request(&reset_request));
        for (int k = 0; k < 4; k++) {
            pass();
        }
    }
    wait_and_end();
    assert_string_equal(tables("x.txt.1"), "FIRST 1 SECOND 0 ");
    assert_string_equal(tables("x.txt.2"), "FIRST 2 SECOND 0 ");
    assert_string_equal(tables("x.txt"), "FIRST 0 SECOND 0 ");
}

/* Nothing is once only: what one has said, opened and counted does not reach the next one. */
static void a_session_begins_where_another_one_has_ended(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        char name[24], options[64];
        snprintf(name, sizeof name, "x%d.txt", i);
        snprintf(options, sizeof options, "cpu=samples,file=%s,verbose=n", name);
        assert_true(begin(options));
        first.n = 1 + (unsigned)i;
        assert_true(hpx_dump_request(&reset_request));
        for (int k = 0; k < 4; k++) {
            pass();
        }
        wait_and_end();
        snprintf(options, sizeof options, "FIRST %d SECOND 0 FIRST 0 SECOND 0 ", 1 + i);
        assert_string_equal(tables(name), options);
    }
}

static void command(uint8_t tag, enum hpx_control what)
{
    static uint32_t serial;
    const struct hpx_command c = {.tag = tag, .serial = ++serial, .control = what};
    hpx_peer_command(NULL, &c);
}

/* Passes until as many commands have begun and their dumps are written. */
static void pass_until_begun(unsigned n)
{
    while (begun < n || hpx_output_behind() > 0) {
        pass();
        sched_yield();
    }
    assert_int_equal(begun, n);
}

static void commands_of_a_peer_are_carried_out_in_their_order(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=y"));
    complaints[0] = 0;
    begun = 0;
    first.n = 4;
    command(HPX_COMMAND_CPU_SAMPLES, HPX_CONTROL_NONE);
    command(HPX_COMMAND_CONTROL, HPX_CONTROL_CPU_ON);
    command(HPX_COMMAND_ALLOC_SITES, HPX_CONTROL_NONE);
    pass();
    assert_int_equal(begun, 1); /* the first dump is not written: what is behind it waits */
    assert_int_equal(first.controls, 0);
    pass_until_begun(3);
    assert_int_equal(first.controls, 1);
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 4 SECOND 0 FIRST 4 SECOND 0 "); /* the answers have one section each, and reset nothing */
    assert_string_equal(complaints, "");
    assert_string_equal(content("said"), "Dumping the first ... the second ... done.\nhprofx: at the end: 4\nhprofx: at the end: 0\n");
}

static void list_sites(uint16_t flags)
{
    static uint32_t serial = 500;
    const struct hpx_command c = {.tag = HPX_COMMAND_ALLOC_SITES, .serial = ++serial, .flags = flags};
    hpx_peer_command(NULL, &c);
}

static void a_command_for_one_modes_section_dumps_that_alone(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    complaints[0] = order[0] = 0;
    begun = 0;
    first.n = 1;
    second.n = 2;
    list_sites(0);
    command(HPX_COMMAND_HEAP_SUMMARY, HPX_CONTROL_NONE);
    command(HPX_COMMAND_CPU_SAMPLES, HPX_CONTROL_NONE);
    pass_until_begun(3);
    wait_and_end();
    assert_int_equal(second.prepares, 2);                                       /* the phase of a mode that nobody asked for does not run */
    assert_string_equal(tables("x.txt"), "SECOND 2 FIRST 1 FIRST 1 SECOND 2 "); /* a HEAP SUMMARY writes nothing in text */
    assert_string_equal(order, "2:100 ");                                       /* but is asked for; flags of 0 ask for nothing */
    assert_string_equal(complaints, "");
}

static void flags_of_a_listing_reach_its_section(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    order[0] = 0;
    begun = 0;
    for (uint16_t flags = 1; flags < 4; flags++) {
        second.n = 10u * flags;
        list_sites(flags);
        pass_until_begun(flags);
        while (strlen(order) < strlen("10:1 ") * flags) {
            pass();
        }
    }
    wait_and_end();
    assert_string_equal(order, "10:1 20:2 30:3 "); /* and none at the end */
}

static void a_listing_with_a_collection_collects_first(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    complaints[0] = order[0] = 0;
    begun = 0;
    second.n = 3;
    list_sites(HPX_SITES_COLLECT | HPX_SITES_BY_ALLOCATED);
    pass_until_begun(1); /* the collection is no command of the peer's */
    wait_and_end();
    assert_string_equal(order, "gc 3:6 ");
    assert_string_equal(complaints, "");
    assert_string_equal(tables("x.txt"), "SECOND 3 FIRST 0 SECOND 3 ");
}

static void a_collection_without_memory_is_said_and_the_listing_comes(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    complaints[0] = order[0] = 0;
    begun = 0;
    list_sites(HPX_SITES_COLLECT);
    memory_fail(1, 1); /* of its message */
    pass_until_begun(1);
    memory_allow();
    wait_and_end();
    assert_string_equal(order, "0:4 ");
    assert_non_null(strstr(complaints, "ignored: no memory\n"));
}

static void what_cannot_be_carried_out_is_answered_by_a_line(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    complaints[0] = 0;
    begun = 0;
    command(HPX_COMMAND_CONTROL, HPX_CONTROL_CPU_OFF);
    command(HPX_COMMAND_CONTROL, HPX_CONTROL_CLEAR_SITES);
    command(HPX_COMMAND_DUMP_HEAP, HPX_CONTROL_NONE);
    command(HPX_COMMAND_EXIT, HPX_CONTROL_NONE);
    command(HPX_COMMAND_FORCE_GC, HPX_CONTROL_NONE);
    command(HPX_COMMAND_FORCE_GC, HPX_CONTROL_NONE); /* left out at once */
    pass_until_begun(6);
    assert_non_null(strstr(complaints, "ignored: another one is pending\n"));
    assert_non_null(strstr(complaints, "ignored: cpu=samples is not active\n"));
    assert_non_null(strstr(complaints, "ignored: heap=sites is not active\n"));
    assert_non_null(strstr(complaints, "ignored: heap= is not active\n"));
    assert_non_null(strstr(complaints, "ignored: it needs the option allow-exit=y\n"));
    wait_and_end();
}

/* A command that has not begun at the end is dropped; its message, too. */
static void commands_that_wait_at_the_end_are_dropped(void **state)
{
    (void)state;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    second.never_prepared = true;
    begun = 0;
    command(HPX_COMMAND_ALLOC_SITES, HPX_CONTROL_NONE);
    command(HPX_COMMAND_CPU_SAMPLES, HPX_CONTROL_NONE);
    pass();
    pass();
    wait_and_end();
    assert_int_equal(begun, 1);
    assert_string_equal(tables("x.txt"), "SECOND 0 FIRST 0 SECOND 0 ");
}

static void a_section_may_stream_from_a_forked_child(void **state)
{
    struct stat st;
    (void)state;
    child_status = -1;
    assert_true(begin_with(streaming, "cpu=samples,file=x.txt,verbose=n"));
    end();
    assert_true(hpx_output_wait(UINT64_C(60000000000)));
    hpx_session_end();
    assert_int_equal(child_status, 0);
    assert_int_equal(stat("x.txt", &st), 0);
    assert_in_range(st.st_size, STREAMED, STREAMED + 10000);
    assert_string_equal(content("said"), "");
}

static uint64_t sum_of(const char *text)
{
    uint64_t sum = 0;
    for (const char *at = text; (at = strstr(at, "FIRST ")) != NULL; at++) {
        sum += strtoull(at + 6, NULL, 10);
    }
    return sum;
}

/* The k-th request of memory fails, then so many more: each count is in one of the dumps, or a line says that one was left out; the output
 * has its end. */
static void no_memory_at_each_step_loses_nothing_in_silence(void **state)
{
    (void)state;
    for (uint64_t more = 0; more < 3; more += 2) {
        for (uint64_t k = memory_first_fault();; k += memory_fault_step()) {
            assert_int_equal(ftruncate(said_fd, 0), 0);
            assert_int_equal(lseek(said_fd, 0, SEEK_SET), 0);
            assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
            memory_fail(k, k + more);
            for (int i = 0; i < 2; i++) {
                first.n += 10;
                (void)hpx_dump_request(&reset_request);
                for (int n = 0; n < 4; n++) {
                    pass();
                }
            }
            first.n += 10;
            end();
            uint64_t calls = memory_calls();
            memory_allow();
            assert_true(hpx_output_wait(UINT64_C(60000000000)));
            uint64_t sum = sum_of(tables("x.txt"));
            if (sum != 30 && strstr(content("said"), "no memory for a dump; it is not written") == NULL) {
                fail_msg("request %u of memory: %u of 30 counted, said: %s", (unsigned)k, (unsigned)sum, content("said"));
            }
            hpx_session_end();
            (void)unlink("x.txt");
            (void)unlink("x.txt.journal.part");
            if (calls < k) {
                break;
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_dump_has_one_part_a_mode, setup, teardown),
        cmocka_unit_test_setup_teardown(a_phase_takes_several_passes_and_rows_are_taken_behind_one_more, setup, teardown),
        cmocka_unit_test_setup_teardown(events_of_the_vms_own_threads_come_by_a_ring_made_beforehand, setup, teardown),
        cmocka_unit_test_setup_teardown(a_phase_that_never_ends_is_given_up, setup, teardown),
        cmocka_unit_test_setup_teardown(a_request_during_a_request_has_a_dump_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(the_end_during_a_request_serves_it_first, setup, teardown),
        cmocka_unit_test_setup_teardown(without_doe_the_end_has_no_dump, setup, teardown),
        cmocka_unit_test_setup_teardown(an_output_that_stands_holds_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(journals_have_what_is_counted_since_the_last_one, setup, teardown),
        cmocka_unit_test_setup_teardown(split_gives_each_request_a_file, setup, teardown),
        cmocka_unit_test_setup_teardown(a_session_begins_where_another_one_has_ended, setup, teardown),
        cmocka_unit_test_setup_teardown(commands_of_a_peer_are_carried_out_in_their_order, setup, teardown),
        cmocka_unit_test_setup_teardown(a_command_for_one_modes_section_dumps_that_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(flags_of_a_listing_reach_its_section, setup, teardown),
        cmocka_unit_test_setup_teardown(a_listing_with_a_collection_collects_first, setup, teardown),
        cmocka_unit_test_setup_teardown(a_collection_without_memory_is_said_and_the_listing_comes, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_carried_out_is_answered_by_a_line, setup, teardown),
        cmocka_unit_test_setup_teardown(commands_that_wait_at_the_end_are_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_section_may_stream_from_a_forked_child, setup, teardown),
        cmocka_unit_test_setup_teardown(no_memory_at_each_step_loses_nothing_in_silence, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
