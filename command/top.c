/* SPDX-License-Identifier: BSD-2-Clause */
/* top.c: see top.h. One session, of which a profile is requested every second; each is a file of its own (split=y), which the agent gives
 * its name when it is whole. */
#include "top.h"
#include "clock.h"
#include "screen.h"
#include "session.h"
#include "view.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SECOND     UINT64_C(1000000000)
#define LATE       (10 * SECOND) /* a profile that takes longer does not come */
#define LOOK       0.05          /* seconds between two looks for it */
#define KEYS       0.2           /* seconds between two looks for keys */
#define BY_DEFAULT "cpu=samples,monitor=y,depth=64,"

static struct hpx_live live;

/* Waits; false: the session is to end. */
static bool pause_for(uint64_t until)
{
    while (hpx_clock_mono() < until) {
        double left = (double)(until - hpx_clock_mono()) / 1e9;
        if (hpx_live_wait(&live, left < KEYS ? left : KEYS) || hpx_live_interrupted() || hpx_screen_quits()) {
            return false;
        }
    }
    return true;
}

/* Of the k-th profile. -1: the JVM has ended, or its output does not move. */
static int await_profile(const char *behind)
{
    uint64_t until = hpx_clock_mono() + LATE;
    int fd;
    while ((fd = hpx_live_open(&live, behind)) < 0 && hpx_clock_mono() < until) {
        if (hpx_live_wait(&live, LOOK)) {
            return -1;
        }
    }
    return fd;
}

/* The caller frees it. NULL: no memory. */
static char *text_of(int fd, const char *name, const struct hpx_usage *used)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (to == NULL) {
        return NULL;
    }
    const struct hpx_verdict v = {.name = name, .usage = *used};
    (void)fprintf(to, "%u threads, %u on a CPU or waiting for one.\n", used->threads, used->running);
    (void)hpx_view(&(struct hpx_view){.program = "hprofx", .verdict = &v, .to = to}, "profile", fd);
    if (fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* One second; false: it was the last. */
static bool look(unsigned k, const char *name, struct hpx_usage *before, enum hpx_status *s)
{
    char behind[16];
    struct hpx_usage now, used = {0};
    (void)snprintf(behind, sizeof behind, ".%u", k);
    *s = hpx_client_ask(&live.client, "dump", NULL, NULL, &live.err);
    int fd = *s == HPX_OK ? await_profile(behind) : -1;
    if (fd < 0) {
        *s = *s != HPX_OK ? *s : hpx_fail(&live.err, HPX_NO_JVM, "the JVM has ended, or does not write");
        return false;
    }
    if (hpx_usage_read("/proc", live.target.pid, &now)) {
        used = hpx_usage_between(before, &now);
        *before = now;
    }
    char *text = text_of(fd, name, &used);
    (void)close(fd);
    hpx_live_remove(&live, behind);
    if (text == NULL) {
        *s = hpx_fail(&live.err, HPX_FAILED, "no memory");
        return false;
    }
    hpx_screen_show(text);
    free(text);
    return true;
}

static enum hpx_status watch(const struct hpx_asked *a)
{
    char name[256];
    enum hpx_status s = HPX_OK;
    struct hpx_usage before;
    uint64_t begin = hpx_clock_mono(), seconds = a->bounded ? (uint64_t)(a->seconds * 1e9) : UINT64_MAX;
    (void)hpx_usage_read("/proc", live.target.pid, &before);
    hpx_target_name(&live.target, name, sizeof name);
    hpx_screen_open();
    for (unsigned k = 1; hpx_clock_mono() - begin < seconds && pause_for(begin + k * SECOND) && look(k, name, &before, &s); k++) {
    }
    hpx_screen_close();
    return s;
}

int hpx_top(const struct hpx_asked *a, const char *word)
{
    char file[96], more[7000];
    unsigned number;
    struct hpx_asked with = *a;
    int n = snprintf(more, sizeof more, "%ssplit=y%s%s", a->what == NULL ? BY_DEFAULT : "", a->more[0] != 0 ? "," : "", a->more);
    if (n < 0 || (size_t)n >= sizeof more) {
        return hpx_complain(hpx_asked_bad_options(&live.err), &live.err);
    }
    with.more = more;
    enum hpx_status s = hpx_live_reach(&live, a, word);
    (void)snprintf(file, sizeof file, "/tmp/%s", live.profile);
    s = s != HPX_OK ? s : hpx_live_begin(&live, &with, "hold", 0, file, &number);
    if (s == HPX_OK) {
        s = watch(a);
        if (s != HPX_NO_JVM) {
            enum hpx_status stopped = hpx_live_stop(&live, number);
            s = s != HPX_OK ? s : stopped;
        }
        hpx_live_remove(&live, "");
    }
    return hpx_live_leave(&live, s);
}
