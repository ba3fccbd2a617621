/* SPDX-License-Identifier: BSD-2-Clause */
/* bring.h: a pull that wants what the watched JVMs have counted so far, and the main thread that hands it on. */
#ifndef HPX_FLEET_BRING_H
#define HPX_FLEET_BRING_H

#include "watch.h"
#include <pthread.h>

struct hpx_bring {
    struct hpx_watch *watch; /* until hpx_pull_stop() */
    pthread_mutex_t lock;    /* of what follows */
    pthread_cond_t turned;
    bool flushes;   /* a pull does: the watcher takes one at a time */
    uint64_t turns; /* of the main thread, after which nothing new was left */
    bool ended;     /* the main thread takes no more turns */
    int wake;       /* an eventfd: turns that pulls want at once */
};

/* false: no memory, or no descriptor; nothing to end. */
bool hpx_bring_init(struct hpx_bring *b, struct hpx_watch *w);
/* After hpx_pull_stop(). */
void hpx_bring_fini(struct hpx_bring *b);

/* A hpx_collect_flush; ctx: the struct. Any thread; the main one with 0 ms only. */
void hpx_bring_now(void *ctx, unsigned ms);

/* The main thread: what the folders had is handed on. */
void hpx_bring_turned(struct hpx_bring *b);
/* The main thread sleeps so long, or until a pull wants a turn, or a signal comes. */
void hpx_bring_wait(struct hpx_bring *b, unsigned ms);

#endif
