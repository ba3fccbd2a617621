/* SPDX-License-Identifier: BSD-2-Clause */
/* peer.c: the commands of peer.h. */
#include "peer.h"
#include "clock.h"
#include "dump.h"
#include "log.h"
#include "net.h"
#include "pace.h"
#include "service.h"
#include "spawn.h"
#include "thread_table.h"
#include <stdlib.h>

enum { MSG_COMMAND = HPX_MSG_OTHER + 32 }; /* on the aggregator's lane, beside those of dump.c */

struct msg_command {
    struct hpx_msg m;
    struct hpx_command c;
};

static struct {
    struct hpx_msg *first, *last; /* the aggregator's: not yet begun */
    struct hpx_pace pace;         /* the aggregator's */
    atomic_bool busy;             /* release: done(); acquire: hpx_peer_pass_end(): what a command began still runs */
    atomic_bool collection_waits; /* relaxed: a FORCE GC that has not begun */
    atomic_bool leaving;          /* relaxed: EXIT THE VM is being carried out */
} peer;

static void leave_out(const struct hpx_command *c, const char *why)
{
    hpx_net_complain("command %s, serial %u: left out: %s", hpx_command_name(c->tag), c->serial, why);
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
        leave_out(c, "one waits already");
        return;
    }
    m = hpx_msg_new(MSG_COMMAND, sizeof *m);
    if (m == NULL) {
        if (c->tag == HPX_COMMAND_FORCE_GC) {
            atomic_store_explicit(&peer.collection_waits, false, memory_order_relaxed);
        }
        hpx_net_begun(c->tag);
        leave_out(c, "no memory");
        return;
    }
    m->c = *c;
    hpx_lane_post(&hpx_agent.aggregator.control, &m->m, true);
}

bool hpx_peer_message(struct hpx_msg *m)
{
    if (m->kind != MSG_COMMAND) {
        return false;
    }
    m->next = NULL;
    *(peer.first != NULL ? &peer.last->next : &peer.first) = m;
    peer.last = m;
    return true;
}

/* The writer's thread, the aggregator, or the service thread. */
static void done(uint64_t unused)
{
    (void)unused;
    atomic_store_explicit(&peer.busy, false, memory_order_release); /* partner: hpx_peer_pass_end() */
    hpx_aggregator_wake(&hpx_agent.aggregator);
}

static void dump(const struct hpx_command *c)
{
    const struct hpx_dump_wish wish = {
        .keep = true, .traces = c->tag == HPX_COMMAND_DUMP_TRACES, .cutoff = (double)c->cutoff, .answer = true, .done = done};
    atomic_store_explicit(&peer.busy, true, memory_order_relaxed);
    if (!hpx_dump_request(&wish)) {
        atomic_store_explicit(&peer.busy, false, memory_order_relaxed);
    }
}

static void collect(const struct hpx_command *c)
{
    atomic_store_explicit(&peer.collection_waits, false, memory_order_relaxed);
    atomic_store_explicit(&peer.busy, true, memory_order_relaxed);
    if (!hpx_service_collect(done)) {
        atomic_store_explicit(&peer.busy, false, memory_order_relaxed);
        leave_out(c, "no memory");
    }
}

/* ---- EXIT THE VM ---- */

static void say_not_ended(const char *why)
{
    atomic_store_explicit(&peer.leaving, false, memory_order_relaxed); /* it may be asked for again */
    hpx_net_complain("EXIT THE VM: %s: the program goes on", why);
}

/* A thread of its own: the service thread has names to find for the last dump. The program's shutdown hooks run. */
static void *end_program(void *unused)
{
    JNIEnv *env = NULL;
    JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)(uintptr_t) "hprofx exit", NULL};
    (void)unused;
    (void)hpx_spawn_enter("hprofx-exit");
    hpx_self = &hpx_ours;
    if ((*hpx_agent.vm)->AttachCurrentThreadAsDaemon(hpx_agent.vm, (void **)&env, &args) != JNI_OK) {
        say_not_ended("the VM lets no thread of ours in");
        return NULL;
    }
    jclass system = (*env)->FindClass(env, "java/lang/System");
    jmethodID leave = system != NULL ? (*env)->GetStaticMethodID(env, system, "exit", "(I)V") : NULL;
    if (leave != NULL) {
        (*env)->CallStaticVoidMethod(env, system, leave, (jint)0); /* comes back with an exception alone */
    }
    (*env)->ExceptionClear(env);
    say_not_ended("System.exit threw an exception");
    (*hpx_agent.vm)->DetachCurrentThread(hpx_agent.vm);
    return NULL;
}

static void leave_vm(const struct hpx_command *c)
{
    static struct hpx_err err;
    if (!hpx_agent.opt.allow_exit) {
        leave_out(c, "allow-exit=y is not given");
    } else if (!atomic_exchange_explicit(&peer.leaving, true, memory_order_relaxed)) {
        hpx_say("HPROF: received exit event, exiting ...");
        if (hpx_spawn(end_program, "hprofx-exit", &err) != 0) {
            atomic_store_explicit(&peer.leaving, false, memory_order_relaxed);
            leave_out(c, err.msg);
        }
    }
}

/* ---- CONTROL ---- */

struct choice {
    uint32_t serial; /* 0: all */
    bool on, found;
};

static void choose(void *ctx, struct hpx_thread *t)
{
    struct choice *choice = ctx;
    choice->found |= hpx_model_sample_thread(hpx_agent.model, t, choice->serial, choice->on);
}

static void choose_threads(const struct hpx_command *c)
{
    struct choice choice = {.on = c->control == HPX_CONTROL_CPU_ON};
    if (!hpx_agent_samples()) {
        leave_out(c, "cpu=samples is not active");
        return;
    }
    if (c->thread != 0) {
        uint64_t n = c->thread - HPX_OBJECT_FIRST; /* below it: a large one */
        choice.serial = n < UINT32_MAX - HPX_SERIAL_THREAD ? HPX_SERIAL_THREAD + 1 + (uint32_t)n : UINT32_MAX;
    } else {
        hpx_model_sample_new_threads(hpx_agent.model, choice.on);
    }
    hpx_aggregator_each(&hpx_agent.aggregator, choose, &choice);
    if (c->thread != 0 && !choice.found) {
        leave_out(c, "no thread with this id lives");
    }
}

static void set_depth(const struct hpx_command *c)
{
    static atomic_bool said;
    if (c->depth_cut) {
        hpx_warn_once(&said, "net=%s: a depth above %u is %u", hpx_agent.opt.net, HPX_COMMAND_MAX_DEPTH, HPX_COMMAND_MAX_DEPTH);
    }
    if (hpx_agent_calls()) {
        leave_out(c, "the depth of exact calls is that of the start");
    }
    if (hpx_agent_samples() && hpx_agent.opt.depth == 0) {
        leave_out(c, "the program was started with depth=0: nothing is sampled");
    } else if (hpx_agent_samples()) {
        atomic_store_explicit(&hpx_agent.depth, c->depth, memory_order_relaxed);
        if (c->depth == 0) {
            hpx_net_complain("command %s, serial %u: a depth of 0: nothing is sampled until it is set again", hpx_command_name(c->tag),
                             c->serial);
        }
    }
}

static void clear_cpu(void)
{
    if (hpx_agent_calls()) {
        hpx_shard_gather(&hpx_agent.shard); /* what the drainers have counted, too */
    }
    hpx_model_clear(hpx_agent.model);
}

static void control(const struct hpx_command *c)
{
    switch (c->control) {
    case HPX_CONTROL_CPU_ON:
    case HPX_CONTROL_CPU_OFF:
        choose_threads(c);
        break;
    case HPX_CONTROL_CLEAR_CPU:
        clear_cpu();
        break;
    case HPX_CONTROL_DEPTH:
        set_depth(c);
        break;
    default:
        leave_out(c, "heap=sites is not active");
        break;
    }
}

static void carry_out(const struct hpx_command *c)
{
    hpx_net_begun(c->tag);
    switch (c->tag) {
    case HPX_COMMAND_FORCE_GC:
        collect(c);
        break;
    case HPX_COMMAND_DUMP_TRACES:
    case HPX_COMMAND_CPU_SAMPLES:
        dump(c);
        break;
    case HPX_COMMAND_EXIT:
        leave_vm(c);
        break;
    case HPX_COMMAND_CONTROL:
        control(c);
        break;
    default:
        leave_out(c, "heap= is not active");
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
    hpx_pace_end(&peer.pace, hpx_clock_mono());
    while (peer.first != NULL && !is_busy()) {
        struct msg_command *m = (struct msg_command *)(void *)peer.first;
        uint64_t now = hpx_clock_mono();
        if (!hpx_pace_may(&peer.pace, &m->c, now)) {
            break;
        }
        hpx_pace_begin(&peer.pace, &m->c, now);
        peer.first = m->m.next;
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
