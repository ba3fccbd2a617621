/* SPDX-License-Identifier: BSD-2-Clause */
/* fork_watch.c: see fork_watch.h. */
#include "fork_watch.h"
#include "cgroup.h"
#include "clock.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MIB  (UINT64_C(1) << 20)
#define TEXT 4096 /* bytes of smaps_rollup; it has about 1000 */

struct events {
    uint64_t reached, ran_out; /* sums of all groups: no counter ever falls */
    bool own;                  /* the process's own group was counted */
};

static bool add(uint64_t *sum, const struct hpx_cgroup *group, const char *file, const char *key)
{
    uint64_t n = 0;
    bool is = hpx_cgroup_number(group, file, key, &n);
    *sum += n; /* wraps around if a file lies */
    return is;
}

/* memory.events and memory.oom_control also count for all groups below, which may be those of other programs: a process that was killed
 * there is none of ours, so only those of the own group count. */
static bool count(void *arg, const struct hpx_cgroup *group)
{
    struct events *e = arg;
    uint64_t n;
    bool any = false, local = hpx_cgroup_number(group, "memory.events.local", "max ", &n); /* from 5.2 on */
    const char *file = local ? "memory.events.local" : group->v2 ? "memory.events" : "memory.oom_control";
    if (group->v2) {
        any |= add(&e->reached, group, file, "high ");
        any |= add(&e->reached, group, file, "max ");
    } else {
        any |= add(&e->reached, group, "memory.failcnt", NULL);
    }
    if (local || !e->own) {
        any |= add(&e->ran_out, group, file, "oom ");
        any |= add(&e->ran_out, group, file, "oom_kill ");
    }
    e->own |= any;
    return true;
}

static struct events count_all(const char *root)
{
    struct events e = {0, 0, false};
    hpx_cgroup_each(root, count, &e);
    return e;
}

void hpx_fork_watch_begin(struct hpx_fork_watch *watch, pid_t pid, uint64_t allowed_bytes, const char *root)
{
    struct events e = count_all(root);
    *watch = (struct hpx_fork_watch){.pid = pid, .allowed = allowed_bytes, .root = root, .reached = e.reached, .ran_out = e.ran_out};
}

static const char *look_room(struct hpx_fork_watch *w)
{
    struct events e = count_all(w->root);
    struct hpx_room room;
    if (e.ran_out != w->ran_out) {
        (void)snprintf(w->text, sizeof w->text, "the memory of the program's cgroup ran out");
        return w->text;
    }
    w->near |= e.reached != w->reached;
    if (!hpx_room_find(w->root, &room) || room.left >= room.reserve * (w->near ? HPX_FORK_WATCH_REACHED : 1)) {
        return NULL;
    }
    (void)snprintf(w->text, sizeof w->text, "%s%s leaves only %" PRIu64 " MiB", room.limit != NULL ? "the cgroup limit " : "the machine",
                   room.limit != NULL ? room.limit : "", room.left / MIB);
    return w->text;
}

/* Of the child's pages those that are its alone: a page that either side wrote is no longer shared, and what only the child has allocated.
 * The child's file, because reading it holds the lock of that process's mappings. */
static const char *look_growth(struct hpx_fork_watch *w)
{
    char path[64], text[TEXT];
    uint64_t kib = 0;
    (void)snprintf(path, sizeof path, "proc/%ld/smaps_rollup", (long)w->pid);
    if (!hpx_proc_read(w->root, path, text, sizeof text) || !hpx_proc_field(text, "Private_Dirty:", &kib) || kib <= w->allowed / 1024) {
        return NULL;
    }
    (void)snprintf(w->text, sizeof w->text, "the copy of the process grew to %" PRIu64 " MiB, %" PRIu64 " MiB were expected", kib / 1024,
                   w->allowed / MIB);
    return w->text;
}

uint64_t hpx_fork_watch_pause(uint64_t cost_ns)
{
    uint64_t pause;
    if (__builtin_mul_overflow(cost_ns, HPX_FORK_WATCH_SHARE, &pause)) {
        return UINT64_MAX / 2;
    }
    return pause < HPX_FORK_WATCH_STEP_NS ? HPX_FORK_WATCH_STEP_NS : pause;
}

static const char *timed(struct hpx_fork_watch *w, const char *(*look)(struct hpx_fork_watch *), uint64_t *at, uint64_t now)
{
    if (now < *at) {
        return NULL;
    }
    uint64_t begun = hpx_clock_mono();
    const char *why = look(w);
    *at = now + hpx_fork_watch_pause(hpx_clock_mono() - begun);
    return why;
}

const char *hpx_fork_watch_look(struct hpx_fork_watch *watch, uint64_t now_ns)
{
    const char *why = timed(watch, look_room, &watch->room_at, now_ns);
    return why != NULL || watch->pid == 0 ? why : timed(watch, look_growth, &watch->grown_at, now_ns);
}
