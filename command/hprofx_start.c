/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_start.c: hprofx start: a session that goes on when the command ends. Contract: subcommands.h. */
#include "session.h"
#include "subcommands.h"
#include <stdio.h>
#include <string.h>

static struct hpx_live live;

/* Where the session writes, and how it ends. */
static void say_start(const struct hpx_asked *a, unsigned number, const char *file)
{
    int pid = (int)live.target.pid;
    if (a->bounded) {
        (void)printf("session %u of process %d has begun; it ends by itself after %g s and writes %s", number, pid, a->seconds, file);
        if (a->out == NULL) {
            (void)printf(" in the /tmp of the JVM, which `hprofx stop %d` shows, also later", pid);
        }
        (void)puts("");
    } else if (a->out == NULL) {
        (void)printf("session %u of process %d has begun; `hprofx stop %d` ends it and shows its profile\n", number, pid, pid);
    } else {
        (void)printf("session %u of process %d has begun; `hprofx stop %d` ends it, and its profile is %s\n", number, pid, pid, file);
    }
}

int hpx_live_start(const struct hpx_asked *a, const char *word)
{
    char room[2 * PATH_MAX];
    unsigned number;
    enum hpx_status s = a->out == NULL ? hpx_asked_is_one(a, &live.err) : HPX_OK;
    if (s != HPX_OK) {
        return hpx_complain(s, &live.err);
    }
    s = hpx_live_find(&live, word);
    s = s != HPX_OK ? s : hpx_live_reach(&live, a);
    if (a->out == NULL && s == HPX_OK) { /* not as one that this command waits for */
        hpx_live_keep(&live);
        (void)snprintf(room, sizeof room, "/tmp/%s", live.profile);
    }
    const char *file = a->out != NULL ? hpx_asked_pattern(a->out, room) : room;
    if (s == HPX_OK) {
        struct hpx_asked fits = hpx_live_fitting(&live, a);
        s = hpx_live_begin(&live, &fits, "start", a->bounded ? a->seconds : 0, file, &number);
    }
    if (s == HPX_OK) {
        char output[PATH_MAX]; /* as the agent has expanded it; a short session may have ended */
        say_start(a, number, hpx_live_output(&live, output) == HPX_OK && output[0] != '\0' ? output : file);
    }
    if (live.client.undone && a->out != NULL) {
        (void)fprintf(stderr, "hprofx: %s has what was counted until then\n", a->out);
    } else if (live.client.undone) {
        hpx_live_clean(&live);
    }
    return hpx_live_leave(&live, s);
}
