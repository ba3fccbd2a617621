/* SPDX-License-Identifier: BSD-2-Clause */
/* asker.h: one image of threads and monitors while it is taken from the JVM. Its parts come from different moments, but owner, entry count
 * and waiters of one monitor come from one. asker.c, ask_*.c; called by monitor_take.c on the taking thread, which has pushed a local
 * frame. */
#ifndef HPX_ASKER_H
#define HPX_ASKER_H

#include "askable.h"
#include "attach_barrier.h"
#include "taken.h"

#define HPX_ASKED_NONE UINT32_MAX

/* A thread that the VM lists or that was announced. */
struct hpx_asked_thread {
    jthread ref;
    uint32_t serial; /* HPX_SERIAL_THREAD: never announced */
    bool alive;      /* the VM lists it */
    jint state;      /* JVMTI's */
    struct hpx_named_stack stack;
    uint32_t monitor;    /* that it waits to enter; HPX_ASKED_NONE: none */
    uint32_t notified;   /* the one that it waits to be notified by; HPX_ASKED_NONE: none */
    jobject waited;      /* of its Object.wait, if its events told it (waits.h); NULL: none */
    jobject blocker;     /* the lock of java.util.concurrent that it is parked for; NULL: none, or nobody owns it */
    uint32_t lock_owner; /* thread; of the blocker */
};

struct hpx_asked_monitor {
    struct hpx_monitor shown;
    jobject ref;           /* NULL: nobody can find it a second time */
    uint32_t owner;        /* thread; HPX_ASKED_NONE: none, or one that is not listed */
    uint32_t strangers[2]; /* threads that are not listed: wait to enter, to be notified */
    uint32_t before;       /* number + 1 of the one before it with the same signature and a reference; 0: none */
};

struct hpx_asker {
    jvmtiEnv *jvmti;
    JNIEnv *env;
    struct hpx_monitor_take *take;
    struct hpx_vec threads;             /* struct hpx_asked_thread; announced ones first, by serial */
    uint32_t announced;                 /* number of those */
    struct hpx_id_map by_tid;           /* their numbers */
    struct hpx_id_map by_virtual;       /* of threads in edges of the census: their places there */
    struct hpx_vec monitors;            /* struct hpx_asked_monitor */
    struct hpx_vec latest;              /* uint32_t, by number of the signature: monitor number + 1 */
    struct hpx_vec serials;             /* uint32_t */
    uint32_t untold[HPX_USAGE_ANSWERS]; /* questions about monitors that the VM did not answer, by the reason */
    uint32_t hidden_owners;             /* monitors that somebody waits to enter, of which the VM names no owner */
    uint32_t unknown_owners;            /* monitors whose owner is shown as an unknown thread */
    uint32_t owned_asked;               /* threads whose owned monitors were asked for */
    uint32_t owned_unasked;             /* and were not, because each stops the program */
    uint32_t unknown_waits;             /* threads in Object.wait of an unknown monitor */
    struct {                            /* not asked for, because the time was over */
        uint32_t stacks, waits, owns, deadlocks;
    } late;
    const char *uncounted; /* why there is no census of virtual threads; NULL: there is, or there are none */
    bool no_memory;
};

static inline struct hpx_asked_thread *hpx_asked_thread(const struct hpx_asker *a, uint32_t number)
{
    return hpx_vec_at(&a->threads, number);
}
static inline struct hpx_asked_monitor *hpx_asked_monitor(const struct hpx_asker *a, uint32_t number)
{
    return hpx_vec_at(&a->monitors, number);
}

/* The time of a question that stops something: begin, ask, end. */
uint64_t hpx_asker_begin(void);
void hpx_asker_end(struct hpx_asker *a, uint64_t begun);
/* Counts one that somebody else has asked. */
void hpx_asker_count(struct hpx_asker *a, uint64_t ns);
/* The time for questions ends at ns (hpx_clock_mono()); 0: never. Any thread. */
void hpx_asker_until(uint64_t ns);
/* The time for questions is over. */
bool hpx_asker_late(void);
/* The number of a thread; HPX_ASKED_NONE: it is not listed. */
uint32_t hpx_asker_thread(const struct hpx_asker *a, jthread thread);
void hpx_asker_release(const struct hpx_asker *a, void *jvmtis);

/* It is in a list of some monitor. Lists are of different moments, so a thread may turn up twice; the first one counts. */
static inline bool hpx_asked_waits(const struct hpx_asked_thread *t)
{
    return t->monitor != HPX_ASKED_NONE || t->notified != HPX_ASKED_NONE;
}

/* In this order. */
void hpx_ask_virtuals(struct hpx_asker *a); /* takes the census */
void hpx_ask_threads(struct hpx_asker *a);
void hpx_ask_waited(struct hpx_asker *a); /* monitors with waiters */
void hpx_ask_deadlocks(struct hpx_asker *a);
void hpx_ask_owned(struct hpx_asker *a);     /* those without; then the lists of all */
void hpx_name_virtuals(struct hpx_asker *a); /* groups of the census */

/* Owner, entry count and waiters of an object. false: it was not told, which is counted. hpx_asked_usage_free() afterwards. */
bool hpx_ask_usage(struct hpx_asker *a, jobject object, jvmtiMonitorUsage *u);
void hpx_asked_usage_free(const struct hpx_asker *a, jvmtiMonitorUsage *u);
/* The monitor that a thread enters or waits for, a local reference; NULL: none. */
jobject hpx_ask_contended(struct hpx_asker *a, jthread thread);

#endif
