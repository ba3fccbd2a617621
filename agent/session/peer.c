/* SPDX-License-Identifier: BSD-2-Clause */
/* peer.c: the commands of peer.h. */
#include "peer.h"
#include "clock.h"
#include "dump_request.h"
#include "log.h"
#include "net.h"
#include "pace.h"
#include <stdlib.h>
#include <string.h>

enum { MSG_COMMAND = HPX_MSG_OTHER + 32 }; /* on the aggregator's lane, beside those of dump.c */

struct msg_command {
    struct hpx_msg m;
    struct hpx_command c;
    bool ours; /* not the peer's: its listing asked for it */
};

static HPX_OF_SESSION struct {
    struct hpx_msg *first, *last; /* the aggregator's: not yet started */
    struct hpx_pace pace;         /* the aggregator's */
    atomic_bool busy;             /* release: done(); acquire: hpx_peer_pass_end(): what a command began still runs */
    atomic_bool collection_waits; /* relaxed: a FORCE GC that has not begun */
    atomic_bool said_depth;       /* relaxed */
    atomic_bool leaving;          /* relaxed: EXIT THE VM is being carried out */
} peer;

void hpx_peer_leave_out(const struct hpx_command *c, const char *why)
{
    hpx_net_complain("command %s, serial %u: ignored: %s", hpx_command_name(c->tag), c->serial, why);
}

void hpx_peer_command(void *ctx, const struct hpx_command *c)
{
    struct msg_command *m;
    (void)ctx;
    if (hpx_net_ends()) {
        return;
    }
    if (c->tag == HPX_COMMAND_FORCE_GC && atomic_exchange_explicit(&peer.collection_waits, true, memory_order_relaxed)) {
        hpx_net_begun(c->tag);
        hpx_peer_leave_out(c, "another one is pending");
        return;
    }
    m = hpx_msg_new(MSG_COMMAND, sizeof *m);
    if (m == NULL) {
        if (c->tag == HPX_COMMAND_FORCE_GC) {
            atomic_store_explicit(&peer.collection_waits, false, memory_order_relaxed);
        }
        hpx_net_begun(c->tag);
        hpx_peer_leave_out(c, "no memory");
        return;
    }
    m->c = *c;
    m->ours = false;
    hpx_lane_post(&hpx_session.aggregator.control, &m->m, true);
}

static void add(struct hpx_msg *m)
{
    m->next = NULL;
    *(peer.first != NULL ? &peer.last->next : &peer.first) = m;
    peer.last = m;
}

/* The collection that a listing requests becomes a separate command, so that it is paced as one. */
static void collect_before(const struct msg_command *listing)
{
    struct msg_command *m;
    if (listing->c.tag != HPX_COMMAND_ALLOC_SITES || (listing->c.flags & HPX_SITES_COLLECT) == 0 || hpx_session.opt->gc) {
        return; /* gc=y: the dump collects */
    }
    m = hpx_msg_new(MSG_COMMAND, sizeof *m);
    if (m == NULL) {
        const struct hpx_command collection = {.tag = HPX_COMMAND_FORCE_GC, .serial = listing->c.serial};
        hpx_peer_leave_out(&collection, "no memory");
        return;
    }
    m->c = (struct hpx_command){.tag = HPX_COMMAND_FORCE_GC, .serial = listing->c.serial};
    m->ours = true;
    add(&m->m);
}

bool hpx_peer_message(struct hpx_msg *m)
{
    if (m->kind != MSG_COMMAND) {
        return false;
    }
    collect_before((struct msg_command *)(void *)m);
    add(m);
    return true;
}

void hpx_peer_fini(void)
{
    hpx_peer_drop();
    memset(&peer, 0, sizeof peer);
}

/* The writer's thread, the aggregator, or the service thread. */
static void done(uint64_t unused)
{
    (void)unused;
    atomic_store_explicit(&peer.busy, false, memory_order_release); /* partner: hpx_peer_pass_end() */
    hpx_aggregator_wake(&hpx_session.aggregator);
}

/* Bits: the modes whose sections the command requests, without those that the options exclude. */
static uint32_t asked_of(uint8_t tag)
{
    uint32_t modes = 0;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        const struct hpx_mode *m = hpx_session.modes[i];
        modes |= m->peer.listed_by == tag && hpx_section_is_shown(m->section) ? 1u << i : 0;
    }
    return modes;
}

static void request(const struct hpx_dump_request *r)
{
    atomic_store_explicit(&peer.busy, true, memory_order_relaxed);
    if (!hpx_dump_request(r)) {
        atomic_store_explicit(&peer.busy, false, memory_order_relaxed);
    }
}

static void dump(const struct hpx_command *c, uint32_t modes, uint16_t flags)
{
    const struct hpx_dump_request listing = {.keep = true,
                                             .traces = c->tag == HPX_COMMAND_DUMP_TRACES,
                                             .modes = modes,
                                             .flags = flags,
                                             .binary_only = c->tag == HPX_COMMAND_HEAP_SUMMARY,
                                             .cutoff = (double)c->cutoff,
                                             .answer = true,
                                             .done = done};
    request(&listing);
}

static void list(const struct hpx_command *c, uint32_t modes, uint16_t flags)
{
    if (modes != 0) {
        dump(c, modes, flags);
    } else {
        hpx_peer_leave_out(c, c->tag == HPX_COMMAND_CPU_SAMPLES ? "cpu= is not active"
                              : c->tag == HPX_COMMAND_DUMP_HEAP ? "heap= is not active"
                                                                : "heap=sites is not active");
    }
}

static void collect(const struct hpx_command *c)
{
    atomic_store_explicit(&peer.busy, true, memory_order_relaxed);
    if (!hpx_session.host->collect(done)) {
        atomic_store_explicit(&peer.busy, false, memory_order_relaxed);
        hpx_peer_leave_out(c, "no memory");
    }
}

/* ---- EXIT THE VM ---- */

static void say_not_ended(const char *why)
{
    atomic_store_explicit(&peer.leaving, false, memory_order_relaxed); /* the peer may send the command again */
    hpx_net_complain("EXIT THE VM: %s; the program continues", why);
}

static void leave_vm(const struct hpx_command *c)
{
    static struct hpx_err err;
    if (!hpx_session.opt->allow_exit) {
        hpx_peer_leave_out(c, "it needs the option allow-exit=y");
    } else if (!atomic_exchange_explicit(&peer.leaving, true, memory_order_relaxed)) {
        hpx_say("HPROF: received exit event, exiting ...");
        if (hpx_session.host->exit(say_not_ended, &err) != 0) {
            atomic_store_explicit(&peer.leaving, false, memory_order_relaxed);
            hpx_peer_leave_out(c, err.msg);
        }
    }
}

/* ---- CONTROL ---- */

static const char *not_active(const struct hpx_command *c)
{
    return c->control == HPX_CONTROL_CPU_ON || c->control == HPX_CONTROL_CPU_OFF ? "cpu=samples is not active" : "heap=sites is not active";
}

void hpx_peer_control(const struct hpx_command *c)
{
    bool some = false;
    if (c->control == HPX_CONTROL_DEPTH && c->depth_cut) {
        hpx_warn_once(&peer.said_depth, "net=%s: a peer asks for a depth above %u; using %u", hpx_session.opt->net, HPX_COMMAND_MAX_DEPTH,
                      HPX_COMMAND_MAX_DEPTH);
    }
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        const struct hpx_mode *m = hpx_session.modes[i];
        some |= m->peer.control != NULL && m->peer.control(c);
    }
    if (!some) {
        hpx_peer_leave_out(c, not_active(c));
    }
}

/* What drainers and rings still hold was counted before the clear: it is carried out where a dump would reset the counts. */
static void clear(const struct hpx_command *c)
{
    request(&(struct hpx_dump_request){.clear = *c, .done = done});
}

static void control(const struct hpx_command *c)
{
    if (c->control == HPX_CONTROL_CLEAR_CPU || c->control == HPX_CONTROL_CLEAR_SITES) {
        clear(c);
    } else {
        hpx_peer_control(c);
    }
}

/* A command of the peer's is one that waits no more. */
static void begin(const struct msg_command *m)
{
    if (m->ours) {
        return;
    }
    if (m->c.tag == HPX_COMMAND_FORCE_GC) {
        atomic_store_explicit(&peer.collection_waits, false, memory_order_relaxed);
    }
    hpx_net_begun(m->c.tag);
}

static void carry_out(const struct hpx_command *c)
{
    switch (c->tag) {
    case HPX_COMMAND_FORCE_GC:
        collect(c);
        break;
    case HPX_COMMAND_DUMP_TRACES:
        dump(c, 0, 0);
        break;
    case HPX_COMMAND_CPU_SAMPLES:
    case HPX_COMMAND_DUMP_HEAP:
        list(c, asked_of(c->tag), 0);
        break;
    case HPX_COMMAND_ALLOC_SITES:
        list(c, asked_of(c->tag), c->flags & (HPX_SITES_CHANGED | HPX_SITES_BY_ALLOCATED | HPX_SITES_COLLECT));
        break;
    case HPX_COMMAND_HEAP_SUMMARY:
        list(c, asked_of(HPX_COMMAND_ALLOC_SITES), HPX_SITES_SUMMARY);
        break;
    case HPX_COMMAND_EXIT:
        leave_vm(c);
        break;
    case HPX_COMMAND_CONTROL:
        control(c);
        break;
    default:
        hpx_peer_leave_out(c, "heap= is not active");
        break;
    }
}

static bool is_busy(void)
{
    return atomic_load_explicit(&peer.busy, memory_order_acquire); /* partner: done() */
}

/* What may not begin yet is looked at again in the next pass. */
void hpx_peer_pass_end(void)
{
    if ((peer.first == NULL && !peer.pace.turn) || is_busy()) {
        return;
    }
    peer.pace.sites_collect = hpx_session.opt->gc;
    hpx_pace_end(&peer.pace, hpx_clock_mono());
    while (peer.first != NULL && !is_busy()) {
        struct msg_command *m = (struct msg_command *)(void *)peer.first;
        uint64_t now = hpx_clock_mono();
        if (!hpx_pace_may(&peer.pace, &m->c, now)) {
            break;
        }
        hpx_pace_begin(&peer.pace, &m->c, now);
        peer.first = m->m.next;
        begin(m);
        carry_out(&m->c);
        free(m);
    }
    if (!is_busy()) {
        hpx_pace_end(&peer.pace, hpx_clock_mono());
    }
}

void hpx_peer_drop(void)
{
    for (struct hpx_msg *next; peer.first != NULL; peer.first = next) {
        next = peer.first->next;
        free(peer.first);
    }
}
