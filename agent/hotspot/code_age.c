/* SPDX-License-Identifier: BSD-2-Clause */
/* code_age.c: tells code by the numbers of its compilations. Contract: code_age.h. */
#include "code_age.h"
#include "guard.h"
#include "internals.h"
#include <pthread.h>

#define SPANS 64 /* of sessions; older ones are forgotten, and their code counts as old */

/* Compilations with a number above `after`, up to `last`, were made while a session had the information enabled. */
struct span {
    int32_t after, last;
};

static struct {
    pthread_mutex_t lock; /* guards all; a look holds it, so that the end waits for the look before the guard goes */
    struct span spans[SPANS];
    uint32_t n; /* of the spans in use */
} past = {.lock = PTHREAD_MUTEX_INITIALIZER};

static HPX_OF_SESSION struct {
    bool begun;
    int32_t after;
} session;

struct look {
    struct hpx_code_age age;
    int32_t last;
    bool known;
};

static bool is_old(int32_t id)
{
    bool old = !session.begun || id <= session.after;
    for (uint32_t i = 0; old && i < past.n && i < SPANS; i++) {
        old = id <= past.spans[i].after || id > past.spans[i].last;
    }
    return old;
}

static void add(void *ctx, int32_t id, uint64_t bytes)
{
    struct look *l = ctx;
    l->last = id > l->last ? id : l->last;
    l->age.methods++;
    l->age.bytes += bytes;
    if (is_old(id)) {
        l->age.old_methods++;
        l->age.old_bytes += bytes;
    }
}

static int look_at_all(void *arg)
{
    hpx_code_cache_each(add, arg);
    return 0;
}

static struct look look(void)
{
    struct look l = {.known = false};
    l.known = hpx_internals_on_sig(HPX_INTERNALS_CODE) && hpx_guard_read(look_at_all, &l);
    return l;
}

void hpx_code_age_begin(void)
{
    pthread_mutex_lock(&past.lock);
    struct look l = look();
    session.begun = l.known;
    session.after = l.last;
    pthread_mutex_unlock(&past.lock);
}

void hpx_code_age_end(void)
{
    pthread_mutex_lock(&past.lock);
    if (session.begun) {
        struct look l = look();
        session.begun = false;
        if (l.known) {
            past.spans[past.n++ % SPANS] = (struct span){session.after, l.last};
        }
    }
    pthread_mutex_unlock(&past.lock);
}

bool hpx_code_age_now(struct hpx_code_age *age)
{
    pthread_mutex_lock(&past.lock);
    struct look l = {.known = false};
    if (session.begun) {
        l = look();
    }
    pthread_mutex_unlock(&past.lock);
    *age = l.age;
    return l.known && l.age.old_methods > 0;
}
