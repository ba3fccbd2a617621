/* SPDX-License-Identifier: BSD-2-Clause */
/* ship.c: the loop of `hprofx ship`: every second it adds what is new in the folders to the batches of all destinations, and seals these
 * after --batch seconds. */
#include "ship.h"
#include "bring.h"
#include "clock.h"
#include "collect.h"
#include "intake.h"
#include "metrics.h"
#include "outfile.h"
#include "owner.h"
#include "plain.h"
#include "receive.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BATCH_BYTES ((uint64_t)8 << 20) /* before they are packed: engines refuse larger bodies */
#define AT_A_TIME   64                  /* profiles; then destinations, signals and pulls get their turn */

struct ship {
    const struct hpx_ship_asked *asked;
    char spool[PATH_MAX];
    int state; /* the folder of the spools */
    struct hpx_dest *dests[HPX_SHIP_MOST];
    size_t ndests;
    struct hpx_intake *intake;
    struct hpx_receive *receive; /* NULL: no net: */
    struct hpx_collect *collect; /* NULL: nobody pulls */
    struct hpx_pull *pull;
    struct hpx_watch *watch;
    struct hpx_bring bring;
    bool brings;                 /* pulls have the watcher flush */
    char brought[PATH_MAX + 16]; /* the folder of the watcher */
    uint64_t since_ns;           /* when the open batches began; 0: there are none */
};

static volatile sig_atomic_t ended;

static void on_end(int number)
{
    (void)number;
    ended = 1;
}

/* Those that were ignored, as by nohup, stay so, but for SIGTERM. The watcher inherits that. */
static void catch_ends(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction a = {.sa_handler = on_end}, was;
    sigemptyset(&a.sa_mask);
    for (size_t i = 0; i < HPX_ARRAY_LEN(signals); i++) {
        if (sigaction(signals[i], NULL, &was) == 0 && (was.sa_handler != SIG_IGN || signals[i] == SIGTERM)) {
            (void)sigaction(signals[i], &a, NULL);
        }
    }
    (void)signal(SIGPIPE, SIG_IGN);
}

/* ---- begin and end ---- */

/* Makes every folder of a path that is missing, 0700. */
static bool make_folders(char *path)
{
    for (char *at = path + 1; at[-1] != '\0' && *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            (void)mkdir(path, 0700);
            *at = '/';
        }
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Two shippers in one spool would send everything twice. */
static enum hpx_status open_state(struct ship *s, struct hpx_err *err)
{
    if (s->asked->spool != NULL) {
        (void)snprintf(s->spool, sizeof s->spool, "%s", s->asked->spool);
    } else if (!hpx_ship_spool(s->spool, sizeof s->spool)) {
        return hpx_fail(err, HPX_FAILED, "no folder for the spool is known; give one by --spool");
    }
    bool made = make_folders(s->spool);
    s->state = made ? open(s->spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (s->state < 0) {
        return hpx_fail(err, HPX_FAILED, "the spool %s cannot be used: %s; give another folder by --spool", s->spool, strerror(errno));
    }
    struct stat st;
    if (fstat(s->state, &st) != 0 || !hpx_owner_may_read(&st)) {
        return hpx_fail(err, HPX_FAILED,
                        "the spool %s belongs to another user, whose files would be sent, too; give another folder by --spool", s->spool);
    }
    if (flock(s->state, LOCK_EX | LOCK_NB) != 0) {
        return hpx_fail(err, HPX_FAILED, "another hprofx-ship uses the spool %s; give this one another folder by --spool", s->spool);
    }
    return HPX_OK;
}

static bool is_folder(const char *name, const struct stat *of)
{
    struct stat st;
    return stat(name, &st) == 0 && st.st_dev == of->st_dev && st.st_ino == of->st_ino;
}

/* A shipper that writes into a folder which it reads would take its own files for new profiles, without end. */
static enum hpx_status check_folders(const struct ship *s, struct hpx_err *err)
{
    const struct hpx_ship_asked *a = s->asked;
    struct stat st;
    for (size_t i = 0; i < a->nfolders; i++) {
        if (fstat(s->state, &st) == 0 && is_folder(a->folders[i], &st)) {
            return hpx_fail(err, HPX_USAGE, "%s is the spool, too; give another folder by --spool", a->folders[i]);
        }
        for (size_t k = 0; k < a->ndests; k++) {
            struct hpx_dest_way way;
            if (stat(a->folders[i], &st) == 0 && hpx_dest_way(a->dests[k].url, &way, err) && way.folder != NULL &&
                is_folder(way.folder, &st)) {
                return hpx_fail(err, HPX_USAGE, "%s is read, so that profiles cannot be written into it; give pprof: another folder",
                                a->folders[i]);
            }
        }
    }
    return HPX_OK;
}

/* Keepers that were killed left these. None runs: a keeper has the lock of the spool, too. */
static void remove_parts(const char *folder)
{
    DIR *d = opendir(folder);
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        size_t n = strlen(e->d_name);
        if (n > 5 && strcmp(e->d_name + n - 5, ".part") == 0) {
            (void)unlinkat(dirfd(d), e->d_name, 0);
        }
    }
    if (d != NULL) {
        (void)closedir(d);
    }
}

static enum hpx_status begin_watch(struct ship *s, struct hpx_err *err)
{
    (void)snprintf(s->brought, sizeof s->brought, "%s/brought", s->spool);
    if (mkdir(s->brought, 0700) != 0 && errno != EEXIST) {
        return hpx_fail(err, HPX_FAILED, "%s cannot be made: %s", s->brought, strerror(errno));
    }
    remove_parts(s->brought);
    enum hpx_status status = hpx_watch_check(&s->asked->watch, err);
    return status != HPX_OK ? status : hpx_watch_start(&s->asked->watch, s->brought, &s->watch, err);
}

static enum hpx_status begin_pull(struct ship *s, struct hpx_err *err)
{
    s->brings = s->watch != NULL && hpx_bring_init(&s->bring, s->watch);
    s->collect = hpx_collect_new(s->brings ? hpx_bring_now : NULL, &s->bring);
    if (s->collect == NULL || s->brings != (s->watch != NULL)) {
        return hpx_fail(err, HPX_FAILED, "no memory");
    }
    const struct hpx_pull_hooks hooks = hpx_collect_hooks(s->collect);
    s->pull = hpx_pull_start(s->asked->listen, s->asked->anywhere, &hooks, err);
    if (s->pull == NULL) {
        return HPX_FAILED;
    }
    (void)fprintf(stderr, "hprofx: listens at %s\n", hpx_pull_at(s->pull));
    return HPX_OK;
}

static enum hpx_status begin_intake(struct ship *s, struct hpx_err *err)
{
    const char *const brought[] = {s->brought};
    const struct hpx_ship_asked *a = s->asked;
    const struct hpx_intake_asked asked = {.folders = a->watches ? brought : a->folders,
                                           .nfolders = a->watches ? 1 : a->nfolders,
                                           .state = s->state,
                                           .removes = a->removes || a->watches,
                                           .owns = a->watches,
                                           .service = a->service};
    s->intake = hpx_intake_open(&asked, err);
    return s->intake != NULL ? HPX_OK : HPX_FAILED;
}

/* The watcher is forked before there is another thread. */
static enum hpx_status begin(struct ship *s, struct hpx_err *err)
{
    enum hpx_status status = open_state(s, err);
    status = status == HPX_OK ? check_folders(s, err) : status;
    status = status == HPX_OK && s->asked->watches ? begin_watch(s, err) : status;
    for (size_t i = 0; status == HPX_OK && i < s->asked->ndests; i++) {
        s->dests[s->ndests] = hpx_dest_open(&s->asked->dests[i], s->state, s->asked->spool_bytes, &status, err);
        s->ndests += s->dests[s->ndests] != NULL;
    }
    status = status == HPX_OK ? begin_intake(s, err) : status;
    if (status == HPX_OK && s->asked->receive != NULL) {
        s->receive = hpx_receive_open(s->asked->receive, s->asked->anywhere, err);
        status = s->receive != NULL ? HPX_OK : HPX_FAILED;
    }
    if (s->receive != NULL) {
        (void)fprintf(stderr, "hprofx: agents can send to net=%s\n", hpx_receive_at(s->receive));
    }
    return status == HPX_OK && s->asked->listen != NULL ? begin_pull(s, err) : status;
}

/* Before the watcher, whom a pull may ask for something. */
static void end_pull(struct ship *s)
{
    hpx_pull_stop(s->pull);
    s->pull = NULL;
    if (s->brings) {
        hpx_bring_fini(&s->bring);
        s->brings = false;
    }
}

static void end(struct ship *s)
{
    hpx_receive_close(s->receive);
    for (size_t i = 0; i < s->ndests; i++) {
        hpx_dest_close(s->dests[i]);
    }
    if (s->collect != NULL) {
        hpx_collect_free(s->collect);
    }
    hpx_intake_close(s->intake);
    if (s->state >= 0) {
        (void)close(s->state);
    }
}

/* ---- the loop ---- */

static void flush(struct ship *s)
{
    for (size_t i = 0; i < s->ndests; i++) {
        hpx_dest_flush(s->dests[i]);
    }
    (void)hpx_intake_settle(s->intake);
    s->since_ns = 0;
}

static void take_profile(void *ctx, const struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID])
{
    struct ship *s = ctx;
    bool large = false;
    for (size_t i = 0; i < s->ndests; i++) {
        hpx_dest_add(s->dests[i], t, id);
        large = large || hpx_dest_bytes(s->dests[i]) > BATCH_BYTES;
    }
    if (s->collect != NULL) {
        hpx_collect_add(s->collect, t);
    }
    if (large) { /* this profile is settled with the next flush: it is in the spools, but not yet remembered */
        for (size_t i = 0; i < s->ndests; i++) {
            hpx_dest_flush(s->dests[i]);
        }
    }
}

/* How many profiles came. */
static size_t scan(struct ship *s)
{
    struct hpx_tree *t;
    uint8_t id[HPX_PROFILE_ID];
    size_t n = hpx_intake_scan(s->intake, AT_A_TIME, take_profile, s);
    for (size_t i = 0; s->receive != NULL && i < AT_A_TIME && hpx_receive_take(s->receive, &t, id); i++, n++) {
        hpx_intake_receive(s->intake, t, id, take_profile, s);
        hpx_tree_fini(t);
        free(t);
    }
    return n;
}

static size_t turn(struct ship *s)
{
    size_t n = scan(s);
    uint64_t now = hpx_clock_mono();
    s->since_ns = s->since_ns == 0 && (n > 0 || hpx_intake_unsettled(s->intake)) ? now : s->since_ns;
    if (s->since_ns != 0 && (double)(now - s->since_ns) / 1e9 >= s->asked->batch) {
        flush(s);
    }
    return n;
}

static void count_watch(const struct hpx_watch *w)
{
    struct hpx_watch_counts c;
    hpx_watch_counts(w, &c);
    for (size_t i = 0; i < HPX_WATCH_COUNT; i++) {
        enum hpx_metric m = i == HPX_WATCH_AGENT_CPU_NS                  ? HPX_METRIC_AGENTS_CPU
                            : i == HPX_WATCH_OWN_CPU_NS                  ? HPX_METRIC_WATCH_CPU
                            : i == HPX_WATCH_BUDGET_USED                 ? HPX_METRIC_WATCH_SHARE
                            : hpx_watch_infos[i].kind == HPX_WATCH_GAUGE ? HPX_METRIC_WATCH_JVMS
                                                                         : HPX_METRIC_WATCH_EVENTS;
        hpx_metric_set(m, hpx_watch_infos[i].key, NULL, c.of[i]);
    }
}

static bool look(struct ship *s)
{
    bool all = true;
    for (size_t i = 0; i < s->ndests; i++) {
        all = hpx_dest_look(s->dests[i]) && all;
    }
    if (s->watch != NULL) {
        count_watch(s->watch);
        if (hpx_watch_ended(s->watch)) {
            ended = 1;
        }
    }
    return all;
}

static void wait_ms(unsigned ms)
{
    const struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    if (!ended) {
        (void)nanosleep(&t, NULL);
    }
}

/* Until the time is over, or there is something to do. A pull waits for the end of turns, also of those without a rest. */
static void rest(struct ship *s, unsigned ms)
{
    if (s->brings) {
        hpx_bring_turned(&s->bring);
    }
    if (s->brings && ms > 0 && !ended) {
        hpx_bring_wait(&s->bring, ms);
    } else if (ms > 0) {
        wait_ms(ms);
    }
}

static void drain(struct ship *s)
{
    while (scan(s) > 0 && !ended) {
    }
    flush(s);
}

/* Until the destinations have everything. false: not in time. */
static bool deliver(struct ship *s, double seconds)
{
    uint64_t until = hpx_clock_mono() + (uint64_t)(seconds * 1e9);
    bool all = look(s);
    while (!all && !ended && hpx_clock_mono() < until) {
        wait_ms(20);
        all = look(s);
    }
    return all;
}

static int once(struct ship *s)
{
    drain(s);
    if (deliver(s, s->asked->wait)) {
        return HPX_OK;
    }
    (void)fprintf(stderr, "hprofx: not everything was sent; the rest waits in %s\n", s->spool);
    return HPX_PARTIAL;
}

static int run(struct ship *s)
{
    while (!ended) {
        size_t n = turn(s);
        (void)look(s); /* also while many wait: it sees that the watcher has ended */
        rest(s, n < AT_A_TIME ? 1000 : 0);
    }
    end_pull(s);
    hpx_watch_stop(s->watch, NULL); /* it brings the last profiles */
    s->watch = NULL;
    ended = 0; /* a second signal ends the rest */
    drain(s);
    if (!deliver(s, 2)) {
        (void)fprintf(stderr, "hprofx: what was not sent waits in %s\n", s->spool);
    }
    return HPX_OK;
}

int hpx_ship(const struct hpx_ship_asked *a)
{
    static struct ship s;
    static struct hpx_err err;
    s = (struct ship){.asked = a, .state = -1};
    catch_ends();
    enum hpx_status status = begin(&s, &err);
    int result = status != HPX_OK ? hpx_complain(status, &err) : a->once ? once(&s) : run(&s);
    end_pull(&s);
    hpx_watch_stop(s.watch, NULL);
    end(&s);
    return result;
}
