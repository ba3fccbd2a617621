/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_top.c: see hprofx_top.h. It requests a profile of one session every second. With split=y the agent writes every profile into a
 * file, and names the file when the profile is complete. */
#include "hprofx_top.h"
#include "clock.h"
#include "picture.h"
#include "screen.h"
#include "session.h"
#include "trend.h"
#include "view.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SECOND     UINT64_C(1000000000)
#define LATE       (60 * SECOND) /* a profile that takes longer does not come */
#define LOOK       0.05          /* seconds between two looks for it */
#define KEYS       0.2           /* seconds between two looks for keys */
#define BY_DEFAULT "cpu=samples,monitor=y,depth=64,"

static struct hpx_live live;
static struct hpx_trend trend;
static unsigned session, asked; /* asked: the number of the last profile */

enum next { GOES_ON, ENDS, GONE };

static enum next wait_for(double seconds)
{
    if (hpx_live_interrupted() || hpx_screen_quits()) {
        return ENDS;
    }
    return hpx_live_wait(&live, seconds) ? GONE : hpx_live_interrupted() ? ENDS : GOES_ON;
}

static enum next wait_until(uint64_t until)
{
    enum next n;
    do {
        double left = hpx_clock_mono() < until ? (double)(until - hpx_clock_mono()) / 1e9 : 0;
        n = wait_for(left < KEYS ? left : KEYS);
    } while (n == GOES_ON && hpx_clock_mono() < until);
    return n;
}

/* *fd: of the next profile; -1: it does not come. */
static enum next await_profile(const char *behind, int *fd)
{
    uint64_t until = hpx_clock_mono() + LATE;
    enum next n = GOES_ON;
    while ((*fd = hpx_live_open(&live, behind)) < 0 && n == GOES_ON && hpx_clock_mono() < until) {
        n = wait_for(LOOK);
    }
    return n;
}

/* The report of a profile counts from the start of the session; the table does not. */
static void say_own(struct hpx_tree *t, const struct hpx_usage *used)
{
    char text[96];
    double program = used->total - used->agent;
    int n = snprintf(text, sizeof text, "%.3f ms (%.2f %% of the program's)", used->agent * 1e3,
                     program > 0 ? 100 * used->agent / program : 0.0);
    t->own = used->at > 0 && n > 0 ? hpx_tree_name(t, text, (size_t)n) : t->own;
}

/* The caller frees it. NULL: no memory. */
static char *text_of(int fd, const struct hpx_asked *a, const char *name, const struct hpx_usage *used)
{
    char *text = NULL;
    size_t n = 0;
    struct hpx_tree t;
    struct hpx_err err;
    FILE *to = hpx_tree_init(&t) ? open_memstream(&text, &n) : NULL;
    if (to == NULL) {
        hpx_tree_fini(&t);
        return NULL;
    }
    const struct hpx_verdict v = {.name = name, .usage = *used};
    (void)fprintf(to, "%u threads, %u on a CPU or waiting for one.\n", used->threads, used->running);
    hpx_trend_next(&trend);
    hpx_look_trend(hpx_screen_columns() > 0 ? &trend : NULL, hpx_screen_columns(), hpx_screen_is_utf8());
    if (hpx_picture_read_fd(&t, fd, "the profile", &v, &err) != HPX_FAILED) {
        say_own(&t, used);
        hpx_tree_finish(&t);
        hpx_filter_apply(&t, &a->filter);
        if (hpx_look_all(to, &t, true, &err) == HPX_FAILED && t.filtered != 0) { /* else there is nothing to say of a second without work */
            (void)fprintf(to, "\n%s.\n", err.msg);
        }
    }
    hpx_tree_fini(&t);
    if (fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static enum hpx_status show(int fd, const struct hpx_asked *a, const char *name, struct hpx_usage *before, enum next *n)
{
    struct hpx_usage now, used = {0};
    if (hpx_usage_read("", live.target.pid, &now)) {
        used = hpx_usage_between(before, &now);
        *before = now;
    }
    char *text = text_of(fd, a, name, &used);
    enum hpx_status s = text == NULL ? hpx_fail(&live.err, HPX_FAILED, "no memory") : HPX_OK;
    if (s == HPX_OK && !hpx_screen_show(text)) {
        if (hpx_out_nobody_reads()) { /* as head, which has seen enough */
            *n = ENDS;
        } else {
            s = hpx_fail(&live.err, HPX_FAILED, "standard output cannot be written");
        }
    }
    free(text);
    return s;
}

static enum hpx_status fail_gone(void)
{
    return hpx_target_ends(&live.target)
               ? hpx_fail(&live.err, HPX_NO_JVM, "the JVM has ended")
               : hpx_fail(&live.err, HPX_FAILED, "the agent writes no profile; its reason is on stderr of the JVM");
}

/* Also what the agent has not finished. */
static void remove_profile(unsigned k)
{
    static const char *const ends[] = {"", ".part"};
    char behind[32];
    for (size_t i = 0; i < HPX_ARRAY_LEN(ends); i++) {
        (void)snprintf(behind, sizeof behind, ".%u%s", k, ends[i]);
        hpx_live_remove(&live, behind);
    }
}

/* One second. *n: whether it was the last. */
static enum hpx_status look(unsigned k, const struct hpx_asked *a, const char *name, struct hpx_usage *before, enum next *n)
{
    char behind[16], dump[32];
    int fd = -1;
    (void)snprintf(behind, sizeof behind, ".%u", k);
    (void)snprintf(dump, sizeof dump, "dump %u", session);
    asked = k;
    enum hpx_status s = hpx_client_ask(&live.client, dump, NULL, NULL, &live.err);
    if (s == HPX_OK) {
        *n = await_profile(behind, &fd);
        s = fd >= 0 ? show(fd, a, name, before, n) : *n == ENDS ? HPX_OK : fail_gone();
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    remove_profile(k);
    return s;
}

static enum hpx_status watch(const struct hpx_asked *a)
{
    char name[256];
    enum hpx_status s = HPX_OK;
    enum next n = GOES_ON;
    struct hpx_usage before;
    uint64_t begin = hpx_clock_mono(), last = a->bounded ? begin + (uint64_t)(a->seconds * 1e9) : UINT64_MAX, at = begin;
    (void)hpx_usage_read("", live.target.pid, &before);
    hpx_target_name(&live.target, name, sizeof name);
    hpx_screen_open();
    hpx_trend_init(&trend);
    for (unsigned k = 1; s == HPX_OK && n == GOES_ON && hpx_clock_mono() < last; k++) {
        at = at + SECOND > hpx_clock_mono() ? at + SECOND : hpx_clock_mono(); /* seconds that were missed do not follow each other */
        n = wait_until(at);
        s = n == GOES_ON ? look(k, a, name, &before, &n) : n == GONE ? fail_gone() : HPX_OK;
    }
    hpx_screen_close();
    hpx_trend_fini(&trend);
    return s;
}

int hpx_top(const struct hpx_asked *a, const char *word)
{
    char file[96], more[7000];
    struct hpx_asked with = *a;
    bool chosen = a->what != NULL || hpx_asked_names_mode(a->more);
    int n = snprintf(more, sizeof more, "%s%s%ssplit=y", chosen ? "" : BY_DEFAULT, a->more, a->more[0] != 0 ? "," : "");
    if (n < 0 || (size_t)n >= sizeof more) {
        return hpx_complain(hpx_asked_bad_options(&live.err), &live.err);
    }
    with.more = more;
    enum hpx_status s = hpx_live_find(&live, word);
    s = s != HPX_OK ? s : hpx_live_reach(&live, a);
    (void)snprintf(file, sizeof file, "/tmp/%s", live.profile);
    s = s != HPX_OK ? s : hpx_live_begin(&live, &with, "hold", 0, file, &session);
    if (live.client.undone) {
        hpx_live_clean(&live);
        remove_profile(1);
    }
    if (s == HPX_OK) {
        s = watch(a);
        struct hpx_err why = live.err;
        enum hpx_status stopped = hpx_live_stop(&live, session);
        if (s != HPX_OK) {
            live.err = why;
        }
        s = s != HPX_OK ? s : stopped;
        hpx_live_clean(&live);
        remove_profile(asked); /* one that was on its way has come meanwhile */
    }
    return hpx_live_leave(&live, s);
}
