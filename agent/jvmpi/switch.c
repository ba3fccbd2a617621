/* SPDX-License-Identifier: BSD-2-Clause */
/* switch.c: EnableEvent, DisableEvent, RequestEvent: looks into the table, then asks the module that sends the event. */
#include "shim.h"
#include <pthread.h>

enum { MAPS, PART, NOT };
enum { ENABLE = 1, REQUEST = 2, ENABLE_AND_REQUEST = 3 };

static const struct {
    unsigned char class, asked;
} rows[] = {
#define ROW(name, class, asked, mode, sentence) [JVMPI_EVENT_##name] = {class, asked},
    HPX_JVMPI_EVENTS(ROW)
#undef ROW
};
static_assert(HPX_ARRAY_LEN(rows) == JVMPI_MAX_EVENT_TYPE_VAL + 1, "a row for every event");

/* Recursive: a switch may cause events, in whose handlers the agent switches others. The VM's, because threads wait for it while others
 * collect. */
static jrawMonitorID switching;
static pthread_t loader; /* the thread that loads: until the VM is made, it has no JNIEnv */

static const struct hpx_jvmpi_source *source_of(jint event)
{
    for (const struct hpx_jvmpi_source *const *s = hpx_jvmpi_sources; *s != NULL; s++) {
        for (const jint *e = (*s)->events; *e != 0; e++) {
            if (*e == event) {
                return *s;
            }
        }
    }
    return NULL;
}

static bool can(jint event, unsigned asked)
{
    return event > 0 && event <= JVMPI_MAX_EVENT_TYPE_VAL && rows[event].class != NOT && (rows[event].asked & asked) != 0;
}

static jint switch_locked(jint event, bool on, void *arg)
{
    const struct hpx_jvmpi_source *s = source_of(event);
    if (s == NULL) {
        return JVMPI_NOT_AVAILABLE;
    }
    if (atomic_exchange_explicit(&hpx_jvmpi.on[event], on, memory_order_relaxed) == on || s->switched == NULL) {
        return JVMPI_SUCCESS;
    }
    jint rc = s->switched(event, on, arg);
    if (rc != JVMPI_SUCCESS) {
        atomic_store_explicit(&hpx_jvmpi.on[event], !on, memory_order_relaxed);
    }
    return rc;
}

static jint change(jint event, bool on, void *arg)
{
    if (!can(event, ENABLE)) {
        return JVMPI_NOT_AVAILABLE;
    }
    enum hpx_jvmpi_phase now = atomic_load_explicit(&hpx_jvmpi.phase, memory_order_relaxed);
    if (now == HPX_JVMPI_DEAD) {
        return JVMPI_FAIL;
    }
    if (hpx_jvmpi_mode() == HPX_JVMPI_STOP) { /* whoever switches just now may stand still for this collection */
        hpx_jvmpi_rule("EnableEvent or DisableEvent was called in a collection");
        return JVMPI_FAIL;
    }
    /* The VM does not look whether it knows the thread (JDK 8 crashes). */
    if ((hpx_jvmpi_env() == NULL && (now != HPX_JVMPI_LOADING || !pthread_equal(loader, pthread_self()))) ||
        (*hpx_jvmpi.jvmti)->RawMonitorEnter(hpx_jvmpi.jvmti, switching) != JVMTI_ERROR_NONE) {
        return JVMPI_FAIL;
    }
    jint rc = switch_locked(event, on, arg);
    (void)(*hpx_jvmpi.jvmti)->RawMonitorExit(hpx_jvmpi.jvmti, switching);
    return rc;
}

jint hpx_jvmpi_enable(jint event, void *arg)
{
    hpx_jvmpi_called(HPX_JVMPI_F_EnableEvent);
    return change(event, true, arg);
}

jint hpx_jvmpi_disable(jint event, void *arg)
{
    hpx_jvmpi_called(HPX_JVMPI_F_DisableEvent);
    return change(event, false, arg);
}

jint hpx_jvmpi_request(jint event, void *arg)
{
    hpx_jvmpi_called(HPX_JVMPI_F_RequestEvent);
    const struct hpx_jvmpi_source *s = can(event, REQUEST) ? source_of(event) : NULL;
    if (s == NULL || s->requested == NULL) {
        return JVMPI_NOT_AVAILABLE;
    }
    if (atomic_load_explicit(&hpx_jvmpi.phase, memory_order_relaxed) != HPX_JVMPI_LIVE || hpx_jvmpi_env() == NULL ||
        hpx_jvmpi_mode() == HPX_JVMPI_STOP) { /* the VM answers no question while it collects */
        return JVMPI_FAIL;
    }
    if (event != JVMPI_EVENT_HEAP_DUMP && event != JVMPI_EVENT_MONITOR_DUMP && !hpx_jvmpi_gc_is_disabled()) {
        hpx_jvmpi_rule("RequestEvent was called with a jobjectID while collections were enabled; call DisableGC first");
    }
    return s->requested(event, arg);
}

bool hpx_jvmpi_switch_init(void)
{
    loader = pthread_self();
    return (*hpx_jvmpi.jvmti)->CreateRawMonitor(hpx_jvmpi.jvmti, "hprofx-jvmpi switch", &switching) == JVMTI_ERROR_NONE;
}
