/* SPDX-License-Identifier: BSD-2-Clause */
/* refuses.c: a preload for test_engines.py. REFUSES=missing: no AsyncGetCallTrace; failing: one that never answers; timers: timer_create
 * fails. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct call_trace {
    void *env;
    int num_frames;
    void *frames;
};

static int refuses(const char *what)
{
    const char *s = getenv("REFUSES");
    return s != NULL && strcmp(s, what) == 0;
}

static void no_answer(struct call_trace *t, int depth, void *context)
{
    (void)depth, (void)context;
    t->num_frames = -1;
}

void *dlsym(void *restrict handle, const char *restrict name)
{
    static void *(*next)(void *, const char *);
    if (next == NULL) {
        void *sym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        memcpy(&next, &sym, sizeof sym);
    }
    if (strcmp(name, "AsyncGetCallTrace") == 0) {
        void (*fake)(struct call_trace *, int, void *) = no_answer;
        void *sym = NULL;
        memcpy(&sym, &fake, sizeof sym);
        return refuses("missing") ? NULL : refuses("failing") ? sym : next(handle, name);
    }
    return next(handle, name);
}

int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer)
{
    static int (*next)(clockid_t, struct sigevent *, timer_t *);
    if (refuses("timers")) {
        errno = EAGAIN;
        return -1;
    }
    if (next == NULL) {
        void *sym = dlvsym(RTLD_NEXT, "timer_create", "GLIBC_2.3.3");
        memcpy(&next, &sym, sizeof sym);
    }
    return next(clock, event, timer);
}
