/* SPDX-License-Identifier: BSD-2-Clause */
/* census_image.h: what a census (census.h) has found. */
#ifndef HPX_CENSUS_IMAGE_H
#define HPX_CENSUS_IMAGE_H

#include "thread_status.h"

#define HPX_CENSUS_NAMES 3u /* threads of a group that are named */

/* What a method means in a stack. */
enum hpx_census_part {
    HPX_CENSUS_OF_PROGRAM,
    HPX_CENSUS_YIELDS, /* by which a thread leaves its carrier: on top, not told, as JVMTI does */
    HPX_CENSUS_LAST,   /* VirtualThread.run(): those that call it are not told either */
    HPX_CENSUS_SLEEPS
};

struct hpx_census_method {
    const char *class_signature, *name, *signature;
    enum hpx_census_part part;
};

struct hpx_census_frame {
    uint32_t method;
    int32_t bci; /* as in struct jvmtiFrameInfo; -1: a native method; of a thread that was asked a line; -1: not known */
};

struct hpx_census_stack {
    struct hpx_census_frame *frames; /* innermost first */
    uint32_t n;
};

struct hpx_census_who {
    uint64_t tid;     /* Thread.threadId(); 0: nobody */
    const char *name; /* modified UTF-8; "": none */
    bool is_virtual;
};

/* Threads with one stack in one state, which wait for objects of one class with one owner. A mounted one is a group by itself. */
struct hpx_census_group {
    uint64_t count, named; /* threads; of these with a name */
    uint32_t stack;
    enum hpx_thread_status status;
    const char *container;                       /* that they were started in: its name, or else its class as in "p.C"; NULL: none */
    const char *waits_for;                       /* signature of the class; NULL: nothing that is known */
    struct hpx_census_who owner;                 /* of what they wait for */
    struct hpx_census_who carrier;               /* tid 0: they are not mounted */
    struct hpx_census_who who[HPX_CENSUS_NAMES]; /* those with names first */
};

/* Counts one more thread: the place where it is to be named; NULL: it is not. */
static inline struct hpx_census_who *hpx_census_count(struct hpx_census_group *g, bool named)
{
    const uint64_t at = named ? g->named++ : g->count;
    if (named && g->count < HPX_CENSUS_NAMES) {
        g->who[g->count] = g->who[at]; /* the first one without a name, if there is one */
    }
    g->count++;
    return at < HPX_CENSUS_NAMES ? &g->who[at] : NULL;
}

/* A thread that waits for another one. If they are many, only those that others wait for. */
struct hpx_census_edge {
    struct hpx_census_who who;
    uint64_t owner; /* tid */
    uint32_t group;
};

struct hpx_census {
    struct hpx_census_method *methods;
    struct hpx_census_stack *stacks;
    struct hpx_census_group *groups;
    struct hpx_census_edge *edges;
    uint32_t nmethods, nstacks, ngroups, nedges;
    uint64_t threads; /* in all */
    uint64_t unread;  /* of these: their stacks are not read */
    bool untracked;   /* those that no executor or scope has started are not known (jdk.trackAllThreads=false) */
    /* Not NULL: each thread was asked by itself, because a copy was refused: why. Then there are no edges. */
    const char *asked;
    uint64_t unasked, closed;     /* then: threads, executors and scopes for which the time did not suffice */
    uint64_t untold;              /* then: sets of threads that the JDK did not list: it threw an exception */
    uint64_t stop_ns, checked_ns; /* the program stopped for the copy; for the check of addresses before it, at most */
    uint64_t ns;                  /* in all */
    size_t used, size;            /* bytes of its memory, which begins with this */
};

/* Whether the time for the census is over. Asked while the copy runs. */
typedef bool hpx_census_late(void);

#endif
