/* SPDX-License-Identifier: BSD-2-Clause */
/* c_frames.c: the frames of c_frames.h. */
#include "c_frames.h"
#include "c_names.h"
#include "clock.h"
#include "code_cache.h"
#include "guard.h"
#include "libraries.h"
#include "log.h"
#include "names.h"
#include "session.h"
#include "spawn.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS   UINT64_C(100000000) /* between two looks at which libraries are mapped */
#define MISSED_NS UINT64_C(5000000)   /* at least, if handlers ask for them */
#define ADDRESSES 65536u /* frames in code of no library that have their address: code that is made anew has new ones without end */

enum { MSG_QUIT = HPX_MSG_OTHER };

static HPX_OF_SESSION struct {
    struct hpx_lane lane;
    sem_t left;           /* posted when the thread has left */
    struct hpx_msg *quit; /* asking needs no memory. NULL: it has been asked to leave */
    bool runs, has_left;  /* of the thread; for who begins and ends the session */
    uint64_t due;         /* the thread's: handlers may wake it again */
    struct hpx_spawned thread;
    atomic_bool missed;                        /* relaxed: a handler met an address of no library since the last look */
    atomic_uint addresses;                     /* relaxed: such frames so far */
    atomic_bool on;                            /* handlers walk. release: live; acquire: handlers, who asks the thread. Covers the lane */
    atomic_bool said;                          /* relaxed: why there are no frames of C */
    _Atomic uint64_t libraries, tables, bytes; /* relaxed: the thread's, for the report */
    _Atomic uint64_t ends[HPX_UNWIND_ENDS_N], faults; /* relaxed: samples by the end of their walk */
} c;

/* ---- handlers ---- */

uint32_t hpx_c_frames_room(void)
{
    return hpx_session.opt->native ? HPX_EV_C_MOST + 1 : 0;
}

bool hpx_c_frames_on_sig(void)
{
    return atomic_load_explicit(&c.on, memory_order_acquire); /* partner: live */
}

struct question {
    struct hpx_unwind_walk walk;
    struct hpx_unwind_place places[HPX_EV_C_MOST];
    int most;
};

static void begin(struct question *q, const struct hpx_raw_thread *t, uint32_t most)
{
    q->walk = (struct hpx_unwind_walk){.stack_low = t->stack_low, .stack_end = t->stack_end, .is_code_sig = hpx_code_cache_has_sig};
    q->most = (int)most;
}

static uint64_t nowhere(uintptr_t address)
{
    if (!atomic_exchange_explicit(&c.missed, true, memory_order_relaxed)) {
        hpx_wake_post(&c.lane.wake); /* it may be a new library */
    }
    if (atomic_load_explicit(&c.addresses, memory_order_relaxed) >= ADDRESSES) {
        return HPX_EV_METHOD_OF_ADDRESS(0);
    }
    atomic_fetch_add_explicit(&c.addresses, 1, memory_order_relaxed);
    return HPX_EV_METHOD_OF_ADDRESS(address);
}

static int walk(void *arg)
{
    struct question *q = arg;
    hpx_unwind_walk_sig(&q->walk, q->places, q->most);
    return 0;
}

static bool is_whole(enum hpx_unwind_end end)
{
    return end == HPX_UNWIND_END_CODE || end == HPX_UNWIND_END_OUTERMOST;
}

/* Asks, and puts what was found into `methods`, which have room for one more than the question's most: a mark where callers are missing.
 * Returns their number. *passed: false if a read has faulted, behind what was found. */
static uint32_t ask(struct question *q, uint64_t *methods, bool *passed)
{
    int unused;
    *passed = hpx_guard_read_sig(walk, q, &unused);
    uint32_t n = 0;
    for (; n < (uint32_t)q->walk.n; n++) {
        const struct hpx_unwind_place *p = &q->places[n];
        methods[n] = p->library == 0 ? nowhere(p->address) : HPX_EV_METHOD_OF_C((uint64_t)p->library << 32 | p->address);
    }
    if (!*passed || !is_whole(q->walk.end)) {
        if (n == 0) { /* a mark behind a frame of Java would be one of Java */
            methods[n++] = HPX_EV_METHOD_OF_ADDRESS(0);
        }
        methods[n++] = HPX_EV_METHOD_OF(HPX_UNKNOWN_TRUNCATED);
    }
    return n;
}

void hpx_c_frames_take_sig(const struct hpx_raw_thread *t, const void *context, uint64_t weight, struct hpx_c_frames *to)
{
    struct question q;
    bool passed;
    begin(&q, t, HPX_EV_C_MOST);
    q.walk.at = hpx_unwind_load_sig(context);
    q.walk.interrupted = true;
    to->n = 0;
    to->called = false;
    if (hpx_code_cache_has_sig(q.walk.at.pc)) {
        return; /* the thread is in Java */
    }
    to->n = ask(&q, to->methods, &passed);
    to->called = passed && q.walk.end == HPX_UNWIND_END_CODE;
    atomic_fetch_add_explicit(passed ? &c.ends[q.walk.end] : &c.faults, weight, memory_order_relaxed);
}

uint32_t hpx_c_frames_between_sig(const struct hpx_raw_thread *t, const struct hpx_registers *at, uint64_t *methods, uint32_t most)
{
    struct question q;
    bool passed;
    begin(&q, t, most - 1);
    q.walk.at = (struct hpx_unwind_at){.pc = at->pc, .sp = at->sp, .fp = at->fp};
    return ask(&q, methods, &passed); /* guarded by itself: a fault of a walk of C says nothing of the VM's structures */
}

/* ---- the thread ---- */

static void look(void)
{
    hpx_libraries_look();
    const struct hpx_libraries_figures f = hpx_libraries_figures();
    atomic_store_explicit(&c.libraries, f.libraries, memory_order_relaxed);
    atomic_store_explicit(&c.tables, f.tables, memory_order_relaxed);
    atomic_store_explicit(&c.bytes, f.bytes, memory_order_relaxed);
}

/* Samples in code of no library do not wake the thread at every sample. */
static void allow_wakes(void)
{
    const uint64_t now = hpx_clock_mono();
    if (now >= c.due) {
        c.due = now + MISSED_NS;
        atomic_store_explicit(&c.missed, false, memory_order_relaxed);
    }
}

static char *put(char *to, const char *from)
{
    const size_t n = strlen(from) + 1;
    memcpy(to, from, n);
    return to + n;
}

static void name(struct hpx_msg_resolve *r)
{
    char library[HPX_C_NAME_BYTES], function[HPX_C_NAME_BYTES];
    const uint64_t place = HPX_EV_C_PLACE(r->id);
    const struct hpx_unwind_place of = hpx_ev_is_c_address(r->id) ? (struct hpx_unwind_place){0, (uintptr_t)place}
                                                                  : (struct hpx_unwind_place){(uint32_t)(place >> 32), (uint32_t)place};
    hpx_c_names_of(of, library, function);
    struct hpx_msg_resolved *m = hpx_msg_resolved_new(0, (uint32_t)(strlen(library) + 1 + strlen(function) + 1));
    if (m == NULL) {
        hpx_names_refuse(r);
        return;
    }
    m->method = r->method;
    m->named = m->native = true;
    put(put(m->text, library), function);
    hpx_lane_post(&hpx_session.aggregator.control, &m->m, true);
    free(r);
}

/* false: the thread must leave. */
static bool serve(void)
{
    bool go_on = true;
    for (struct hpx_msg *m = hpx_lane_splice(&c.lane), *next; m != NULL; m = next) {
        next = m->next;
        if (m->kind == MSG_QUIT) {
            go_on = false;
            free(m);
        } else {
            name((struct hpx_msg_resolve *)(void *)m);
        }
    }
    return go_on;
}

static void *run(void *unused)
{
    (void)unused;
    hpx_spawn_enter("hprofx-native", &c.thread);
    for (;;) {
        uint32_t seen = hpx_wake_value(&c.lane.wake);
        allow_wakes();
        look();
        if (!serve()) {
            break;
        }
        hpx_wake_wait(&c.lane.wake, seen, LOOK_NS);
    }
    hpx_c_names_end();
    hpx_spawn_leave(&c.thread);
    sem_post(&c.left);
    return NULL;
}

static void say(const char *why)
{
    hpx_warn_once(&c.said, "native=y: %s; stacks have Java frames only", why);
}

void hpx_c_frames_left_out(void)
{
    if (hpx_session.opt->native) {
        say("it needs sampler=async");
    }
}

static void give_back(bool inside)
{
    hpx_lane_fini(&c.lane);
    sem_destroy(&c.left);
    free(c.quit);
    c.quit = NULL;
    hpx_libraries_end(inside);
}

void hpx_c_frames_start(void)
{
    struct hpx_err err = {0};
    if (!hpx_session.opt->native || c.runs || atomic_load_explicit(&c.said, memory_order_relaxed)) {
        return;
    }
    const char *why = hpx_libraries_begin();
    if (why != NULL) {
        say(why);
        return;
    }
    hpx_lane_init(&c.lane);
    sem_init(&c.left, 0, 0);
    c.quit = hpx_msg_new(MSG_QUIT, sizeof *c.quit);
    c.runs = c.quit != NULL && hpx_spawn(run, "hprofx-native", &err) == 0;
    if (!c.runs) {
        say(err.msg[0] != 0 ? err.msg : "no memory");
        give_back(false);
    }
}

void hpx_c_frames_live(void)
{
    hpx_c_frames_start();
    atomic_store_explicit(&c.on, c.runs, memory_order_release); /* partner: hpx_c_frames_on_sig() */
}

void hpx_c_frames_post(struct hpx_msg_resolve *r)
{
    if (hpx_c_frames_on_sig()) {
        hpx_lane_post(&c.lane, &r->m, true);
    } else {
        hpx_names_refuse(r);
    }
}

void hpx_c_frames_over(void)
{
    if (c.quit != NULL) {
        hpx_lane_post(&c.lane, c.quit, true);
        c.quit = NULL;
    }
}

bool hpx_c_frames_left(uint64_t until_ns)
{
    hpx_c_frames_over();
    c.has_left = c.has_left || !c.runs || hpx_spawn_wait(&c.left, until_ns);
    return c.has_left;
}

void hpx_c_frames_end(bool inside)
{
    atomic_store_explicit(&c.on, false, memory_order_relaxed);
    if (c.runs) {
        c.runs = false;
        give_back(inside);
    }
}

uint64_t hpx_c_frames_cpu(void)
{
    return hpx_spawn_cpu(&c.thread);
}

/* ---- the report ---- */

void hpx_c_frames_lines(struct hpx_lines *to, uint64_t samples)
{
    static const char *const ends[HPX_UNWIND_ENDS_N] = {
#define NAME(sym, name) name,
        HPX_UNWIND_ENDS(NAME)
#undef NAME
    };
    const uint64_t faults = atomic_load_explicit(&c.faults, memory_order_relaxed);
    uint64_t broken = faults;
    if (!hpx_c_frames_on_sig()) {
        return;
    }
    hpx_lines_add(to, "hprofx: libraries: %" PRIu64 ", %" PRIu64 " with an unwind table, %" PRIu64 " KiB\n",
                  atomic_load_explicit(&c.libraries, memory_order_relaxed), atomic_load_explicit(&c.tables, memory_order_relaxed),
                  atomic_load_explicit(&c.bytes, memory_order_relaxed) >> 10);
    for (int i = 0; i < HPX_UNWIND_ENDS_N; i++) {
        broken += is_whole((enum hpx_unwind_end)i) ? 0 : atomic_load_explicit(&c.ends[i], memory_order_relaxed);
    }
    hpx_lines_add(to, "hprofx: C stacks broken off: %" PRIu64 " (%.2f %%)\n", broken, hpx_lines_percent(broken, samples));
    if (faults > 0) {
        hpx_lines_add(to, "hprofx: C stacks broken off, %s: %" PRIu64 "\n", "fault", faults);
    }
    for (int i = 0; i < HPX_UNWIND_ENDS_N; i++) {
        uint64_t n = atomic_load_explicit(&c.ends[i], memory_order_relaxed);
        if (!is_whole((enum hpx_unwind_end)i) && n > 0) {
            hpx_lines_add(to, "hprofx: C stacks broken off, %s: %" PRIu64 "\n", ends[i], n);
        }
    }
}
