/* SPDX-License-Identifier: BSD-2-Clause */
/* notify.c: the one place where the agent's NotifyEvent is called. */
#include "functions.h"
#include "java_threads.h"
#include "log.h"

#define MODE(name, class, asked, mode, sentence) [JVMPI_EVENT_##name] = HPX_JVMPI_##mode,
static const unsigned char modes[JVMPI_MAX_EVENT_TYPE_VAL + 1] = {HPX_JVMPI_EVENTS(MODE)};
#undef MODE

static _Thread_local struct {
    int own; /* hpx_jvmpi_own_begin() without its end */
    int held;
    bool stopped; /* the thread stops the world, and a handler runs */
    enum hpx_jvmpi_mode mode;
} self;

/* What comes so often that no agent asks whether it knows the thread: the manual's own example does not. A thread that attaches itself runs
 * methods of Java before it has started, and the VM does before VMInit. */
static bool needs_known_thread(jint event)
{
    switch (event) {
    case JVMPI_EVENT_METHOD_ENTRY:
    case JVMPI_EVENT_METHOD_ENTRY2:
    case JVMPI_EVENT_METHOD_EXIT:
    case JVMPI_EVENT_OBJECT_ALLOC:
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTER:
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTERED:
    case JVMPI_EVENT_MONITOR_WAIT:
    case JVMPI_EVENT_MONITOR_WAITED:
        return true;
    default: /* also those that were requested */
        return false;
    }
}

/* JDK 8 to 15 free objects, and so unload classes, while the world is stopped, on a thread without a JNIEnv. A raw monitor that the handler
 * enters may belong to a thread that stands still, so it must be borrowed (raw_monitors.c). */
static enum hpx_jvmpi_mode mode_of(const JVMPI_Event *event)
{
    enum hpx_jvmpi_mode mode = modes[event->event_type & ~JVMPI_REQUESTED_EVENT];
    return mode == HPX_JVMPI_HELD && event->env_id == NULL ? HPX_JVMPI_STOP : mode;
}

/* From JDK 16 on objects are freed while the program runs. */
static bool stops_world(const JVMPI_Event *event, enum hpx_jvmpi_mode mode)
{
    return event->event_type == JVMPI_EVENT_GC_START || event->event_type == JVMPI_EVENT_GC_FINISH ||
           (mode == HPX_JVMPI_STOP && hpx_jvmpi.jdk < 16);
}

void hpx_jvmpi_notify(JVMPI_Event *event)
{
    static atomic_bool said, left_out;
    if (self.own > 0 || atomic_load_explicit(&hpx_jvmpi.phase, memory_order_relaxed) == HPX_JVMPI_DEAD) {
        return;
    }
    if (needs_known_thread(event->event_type) && !hpx_jvmpi_self_is_announced()) {
        return;
    }
    /* The agent may write it at any time, though the manual has it written in JVM_OnLoad(). */
    void (*call)(JVMPI_Event *) = __atomic_load_n(&hpx_jvmpi.interface.NotifyEvent, __ATOMIC_RELAXED);
    if (call == NULL) {
        hpx_warn_once(&said, "jvmpi: the agent has set no NotifyEvent; it gets no events");
        return;
    }
    const enum hpx_jvmpi_mode before = self.mode, mine = mode_of(event);
    const bool stopped = stops_world(event, mine);
    if (stopped && !hpx_jvmpi_raw_stop()) {
        hpx_warn_once(&left_out,
                      "jvmpi: an event of a collection is left out, as others may be: a thread has entered a raw monitor, and this "
                      "build cannot see whether it can exit; use a build of hprofx with -Dhotspot=true");
        return;
    }
    self.mode = mine;
    self.stopped = stopped;
    self.held += mine == HPX_JVMPI_HELD;
    int depth = hpx_jvmpi_vm_pause();
    call(event);
    hpx_jvmpi_vm_resume(depth);
    self.held -= mine == HPX_JVMPI_HELD;
    self.mode = before;
    if (stopped) {
        self.stopped = false;
        hpx_jvmpi_raw_go_on();
    }
}

bool hpx_jvmpi_world_is_stopped(void)
{
    return self.stopped;
}

void hpx_jvmpi_own_begin(void)
{
    self.own++;
}

void hpx_jvmpi_own_end(void)
{
    self.own--;
}

bool hpx_jvmpi_own(void)
{
    return self.own > 0;
}

enum hpx_jvmpi_mode hpx_jvmpi_mode(void)
{
    return self.mode;
}

bool hpx_jvmpi_gc_is_disabled(void)
{
    return self.held > 0 || atomic_load_explicit(&hpx_jvmpi.gc_disabled, memory_order_relaxed) > 0;
}

bool hpx_jvmpi_listen(jvmtiEvent event, bool on)
{
    return (*hpx_jvmpi.jvmti)->SetEventNotificationMode(hpx_jvmpi.jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE, event, NULL) ==
           JVMTI_ERROR_NONE;
}

bool hpx_jvmpi_need(const jvmtiCapabilities *wanted)
{
    return (*hpx_jvmpi.jvmti)->AddCapabilities(hpx_jvmpi.jvmti, wanted) == JVMTI_ERROR_NONE;
}
