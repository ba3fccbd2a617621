/* SPDX-License-Identifier: BSD-2-Clause */
/* changes.c: see changes.h. */
#include "changes.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS        (IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM) /* all that changes the time of a folder */
#define LOOKS         600 /* in any case all of a folder is looked at after so many looks */
#define LOOKS_UNAIDED 60  /* the same without inotify */
#define FINEST        2   /* seconds; a file system may tell times no finer */

/* Through /proc, so that it is the folder that is open, whatever has its name now. */
static void watch(struct hpx_changes *c, struct hpx_changes_folder *f)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", f->dir);
    f->watch = c->inotify >= 0 ? inotify_add_watch(c->inotify, path, EVENTS | IN_ONLYDIR) : -1;
}

bool hpx_changes_open(struct hpx_changes *c, const int *dirs, size_t n)
{
    *c = (struct hpx_changes){.folders = calloc(n > 0 ? n : 1, sizeof *c->folders), .n = n, .inotify = -1};
    if (c->folders == NULL) {
        return false;
    }
    c->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        c->folders[i] = (struct hpx_changes_folder){.dir = dirs[i], .whole = true};
        watch(c, &c->folders[i]);
        c->folders[i].time = fstat(dirs[i], &st) == 0 ? st.st_mtim : c->folders[i].time;
    }
    return true;
}

void hpx_changes_close(struct hpx_changes *c)
{
    hpx_changes_taken(c);
    if (c->folders != NULL && c->inotify >= 0) { /* else it was never opened */
        (void)close(c->inotify);
    }
    free(c->names.items);
    free(c->folders);
    *c = (struct hpx_changes){.inotify = -1};
}

void hpx_changes_taken(struct hpx_changes *c)
{
    for (size_t i = 0; i < c->names.len; i++) {
        free(((struct hpx_changed_name *)c->names.items)[i].name);
    }
    c->names.len = 0;
}

void hpx_changes_all(struct hpx_changes *c)
{
    for (size_t i = 0; i < c->n; i++) {
        c->folders[i].whole = true;
    }
}

void hpx_changes_again(struct hpx_changes *c, size_t folder, const char *name)
{
    char *copy = c->names.len < HPX_CHANGES_NAMES ? strdup(name) : NULL;
    struct hpx_changed_name *slot = copy != NULL ? hpx_list_push(&c->names, sizeof *slot) : NULL;
    if (slot == NULL) {
        free(copy);
        c->folders[folder].whole = true;
        return;
    }
    *slot = (struct hpx_changed_name){folder, copy};
}

static void take_event(struct hpx_changes *c, const struct inotify_event *e)
{
    if ((e->mask & IN_Q_OVERFLOW) != 0) {
        hpx_changes_all(c);
        return;
    }
    for (size_t i = 0; i < c->n; i++) { /* two names of one folder have one watch */
        struct hpx_changes_folder *f = &c->folders[i];
        if (f->watch != e->wd) {
            continue;
        }
        if ((e->mask & IN_IGNORED) != 0) { /* the folder was removed, or its file system */
            f->watch = -1;
            f->whole = true;
        }
        if ((e->mask & (IN_CREATE | IN_MOVED_TO)) != 0 && e->len > 0 && !f->whole) {
            hpx_changes_again(c, i, e->name);
        }
        c->gone += (e->mask & (IN_DELETE | IN_MOVED_FROM)) != 0;
        f->told = true;
        f->silent = false;
    }
}

static void take_events(struct hpx_changes *c)
{
    static char buffer[1 << 16] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n;
    while (c->inotify >= 0 && (n = read(c->inotify, buffer, sizeof buffer)) > 0) {
        const struct inotify_event *e;
        for (const char *at = buffer; at < buffer + n; at += sizeof *e + e->len) {
            e = (const struct inotify_event *)(const void *)at;
            take_event(c, e);
        }
    }
}

static bool is_recent(const struct timespec *time)
{
    struct timespec now;
    return clock_gettime(CLOCK_REALTIME, &now) != 0 || time->tv_sec > now.tv_sec - FINEST - 1;
}

static void compare_time(struct hpx_changes *c, struct hpx_changes_folder *f)
{
    struct stat st;
    bool known = fstat(f->dir, &st) == 0;
    bool changed = !known || st.st_mtim.tv_sec != f->time.tv_sec || st.st_mtim.tv_nsec != f->time.tv_nsec;
    if (changed && !f->told) { /* it may have changed since the events were read */
        take_events(c);
        f->silent = f->silent || !f->told;
    }
    if (f->watch < 0 || f->silent) {
        f->whole = f->whole || changed || f->unsure;
        f->unsure = known && is_recent(&st.st_mtim);
    }
    f->whole = f->whole || ++f->calls >= (f->watch < 0 || f->silent ? LOOKS_UNAIDED : LOOKS);
    f->calls = f->whole ? 0 : f->calls;
    f->time = known ? st.st_mtim : f->time;
    f->told = false;
}

void hpx_changes_look(struct hpx_changes *c)
{
    take_events(c);
    for (size_t i = 0; i < c->n; i++) {
        compare_time(c, &c->folders[i]);
    }
}
