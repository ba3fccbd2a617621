/* SPDX-License-Identifier: BSD-2-Clause */
/* session_fixture.h: a session without a JVM: a host, two modes made for the test, a run. The test's thread is the aggregator; the writer's
 * thread is the real one. */
#ifndef HPX_SESSION_FIXTURE_H
#define HPX_SESSION_FIXTURE_H

#include "dump.h"
#include "dump_request.h"
#include "failing_memory.h"
#include "folder_fixture.h"
#include "output.h"
#include "peer.h"
#include "report.h"
#include "session_life.h"
#include <errno.h>
#include <semaphore.h>

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

static char order[256]; /* of collections and of the sections that are requested */

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

static const struct hpx_host host = {request, collect_garbage, leave, exit_program, no_cpu, NULL, NULL};

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

static bool empty(const void *rows)
{
    return ((const struct rows *)rows)->n == 0;
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
    return why == HPX_WHY_OTHERS || (++second.prepares > second.prepared_after && !second.never_prepared);
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

static void ended_second(void)
{
    second.ended++;
}

static bool control_second(const struct hpx_command *c)
{
    if (c->control == HPX_CONTROL_CLEAR_CPU) {
        second.n = 0;
        second.controls++;
    }
    return c->control == HPX_CONTROL_CLEAR_CPU;
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

static const struct hpx_section section_first = {.title = "the first", .empty = empty, .destroy = free, .text = text_first};
static bool second_excluded;

static bool second_is_shown(void)
{
    return !second_excluded;
}

static const struct hpx_section section_second = {
    .title = "the second", .shown = second_is_shown, .empty = empty, .destroy = free, .choose = choose_second, .text = text_second};
static const struct hpx_mode mode_first = {
    .name = "test=first",
    .section = &section_first,
    .load = {.wanted = always},
    .pass = {.gone = gone},
    .dump = {.snapshot = snapshot_first},
    .peer = {.listed_by = HPX_COMMAND_CPU_SAMPLES, .control = control_first},
    .end = {.stop = stop_first},
    .report = {.collect = collect, .lines = lines, .summary = summary},
};
static const struct hpx_mode mode_second = {
    .name = "test=second",
    .section = &section_second,
    .load = {.wanted = always},
    .pass = {.gone = gone},
    .dump = {.prepare = prepare_second, .tail = tail, .taken = taken_second, .snapshot = snapshot_second},
    .peer = {.listed_by = HPX_COMMAND_ALLOC_SITES, .control = control_second},
    .end = {.stop = stop_second, .ended = ended_second},
    .report = {.collect = collect, .lines = lines, .summary = summary},
};
static const struct hpx_mode *const both[] = {&mode_first, &mode_second, NULL};

/* ---- a run ---- */

/* false: no memory at the start. */
static inline bool begin_with(const struct hpx_mode *const *modes, const char *options)
{
    struct hpx_err err = {0};
    first = second = (struct counting){0};
    left = 0;
    ahead = 0;
    if (hpx_session_parse(NULL, NULL, options, &err) != 0) {
        return false;
    }
    hpx_session.start = 1;
    hpx_session_choose(modes);
    hpx_gate_open(&hpx_session.gate);
    return hpx_session_begin(&host) == 0 && hpx_output_init(&err) == 0 && hpx_output_start(&err) == 0;
}

static inline bool begin(const char *options)
{
    return begin_with(both, options);
}

static inline void pass(void)
{
    (void)hpx_aggregator_pass(&hpx_session.aggregator);
}

static unsigned done;

static inline void count_done(uint64_t arg)
{
    __atomic_fetch_add(&done, (unsigned)arg, __ATOMIC_SEQ_CST);
}

static const struct hpx_dump_request reset_request = {.done = count_done, .arg = 1};
static const struct hpx_dump_request keep_request = {.done = count_done, .arg = 1, .keep = true};

static inline void end(void)
{
    hpx_gate_close(&hpx_session.gate);
    hpx_dump_request_final();
    for (int i = 0; i < 10; i++) {
        pass();
    }
}

static inline void wait_and_end(void)
{
    end();
    assert_true(hpx_output_wait(UINT64_C(60000000000)));
    hpx_session_end();
}

/* The lines of the modes' tables, in their order: "FIRST 1 SECOND 2 ". */
static inline const char *tables(const char *name)
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

#endif
