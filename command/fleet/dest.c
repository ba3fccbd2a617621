/* SPDX-License-Identifier: BSD-2-Clause */
/* dest.c: see dest.h. */
#include "dest.h"
#include "clock.h"
#include "files.h"
#include "metrics.h"
#include "outfile.h"
#include "spool.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* What was told last. */
struct said {
    long status;   /* 0: nothing is wrong */
    char why[256]; /* a warning; "" */
};

/* The body of an answer; what is longer is of no use. */
struct received {
    uint8_t bytes[1 << 16];
    size_t n;
};

struct hpx_dest {
    struct hpx_dest_way way;
    struct hpx_http *http;   /* of the sender */
    struct hpx_files *files; /* of a folder; NULL: an engine */
    struct hpx_spool *spool;
    struct hpx_batch batch;
    int body; /* the open batch; -1: there is none */
    pthread_t sender;
    bool sends, end;       /* end: atomic */
    struct said said;      /* the sender's */
    struct received reply; /* the sender's: of an OTLP engine */
};

/* ---- what is counted ---- */

static void count_kinds(enum hpx_metric m, const char *label, const struct hpx_batch_head *head)
{
    for (size_t i = 0; i < head->nkinds; i++) {
        hpx_metric_add(m, label, head->kinds[i].name, head->kinds[i].sum);
    }
}

static void dropped(void *ctx, const struct hpx_batch_head *head, const char *cause)
{
    const struct hpx_dest *d = ctx;
    hpx_metric_add(HPX_METRIC_PROFILES_DROPPED, d->way.label, cause, head->profiles);
    count_kinds(HPX_METRIC_VALUES_DROPPED, d->way.label, head);
    if (head->profiles > 0) {
        (void)fprintf(stderr, "hprofx: %s: %llu profiles were dropped: %s\n", d->way.label, (unsigned long long)head->profiles, cause);
    } else { /* its file does not say how many */
        (void)fprintf(stderr, "hprofx: %s: a file of the spool was dropped, with an unknown number of profiles: %s\n", d->way.label, cause);
    }
}

/* ---- the sender ---- */

static bool ends(const struct hpx_dest *d)
{
    return __atomic_load_n(&d->end, __ATOMIC_RELAXED);
}

static void rest(const struct hpx_dest *d, uint64_t ms)
{
    for (; ms > 0 && !ends(d); ms -= ms < 200 ? ms : 200) {
        const struct timespec step = {0, (long)(ms < 200 ? ms : 200) * 1000000};
        (void)nanosleep(&step, NULL);
    }
}

/* Says what is wrong when it begins and when it changes. */
static void tell(struct hpx_dest *d, const struct hpx_http_reply *reply, enum hpx_dest_fate fate)
{
    bool fine = fate == HPX_DEST_TAKEN;
    if (fine && d->said.status != 0) {
        (void)fprintf(stderr, "hprofx: %s takes profiles again\n", d->way.label);
        d->said.status = 0;
    }
    long now = fine ? 0 : reply->status == 0 ? -1 : reply->status;
    if (now != d->said.status) {
        char status[32] = "no answer";
        if (now > 0) {
            (void)snprintf(status, sizeof status, "HTTP %ld", now);
        }
        (void)fprintf(stderr, "hprofx: %s did not take profiles, which %s: %s%s%s\n", d->way.label,
                      fate == HPX_DEST_REFUSED ? "are lost" : "wait", status, reply->why[0] != '\0' ? ": " : "", reply->why);
        d->said.status = now;
    }
}

static void receive(void *ctx, const char *bytes, size_t n)
{
    struct received *r = ctx;
    size_t room = sizeof r->bytes - r->n;
    memcpy(r->bytes + r->n, bytes, n < room ? n : room);
    r->n += n < room ? n : room;
}

/* How many of the batch are lost, although the engine took it. It counts each column as a profile; of which profiles they are, and their
 * values, it does not say. */
static uint64_t rejected(struct hpx_dest *d, const struct hpx_batch_head *head)
{
    struct hpx_dest_partial p = hpx_dest_partial(d->reply.bytes, d->reply.n);
    if (p.rejected > 0) {
        (void)fprintf(stderr, "hprofx: %s: %llu profiles were rejected and are lost, each kind of values counted as one%s%s\n",
                      d->way.label, (unsigned long long)p.rejected, p.why[0] != '\0' ? ": " : "", p.why);
    } else if (p.why[0] != '\0' && strcmp(p.why, d->said.why) != 0) {
        (void)fprintf(stderr, "hprofx: %s took all profiles and says: %s\n", d->way.label, p.why);
    }
    (void)snprintf(d->said.why, sizeof d->said.why, "%s", p.why);
    return p.rejected < head->profiles ? p.rejected : head->profiles;
}

static enum hpx_dest_fate send_one(struct hpx_dest *d, const struct hpx_spool_item *item, struct hpx_http_reply *reply)
{
    char status[24];
    *reply = (struct hpx_http_reply){.cancel = &d->end, .ctx = &d->reply, .body = d->way.engine == HPX_OTLP ? receive : NULL};
    d->reply.n = 0;
    hpx_http_post(d->http, d->way.request, d->way.headers, item->body, item->n, reply);
    (void)snprintf(status, sizeof status, "%ld", reply->status);
    hpx_metric_add(HPX_METRIC_REQUESTS, d->way.label, status, 1);
    enum hpx_dest_fate fate = hpx_dest_fate(reply->status);
    if (fate == HPX_DEST_TAKEN) {
        uint64_t lost = rejected(d, &item->head);
        hpx_metric_add(HPX_METRIC_PROFILES_SENT, d->way.label, NULL, item->head.profiles - lost);
        if (lost > 0) {
            hpx_metric_add(HPX_METRIC_PROFILES_DROPPED, d->way.label, "rejected", lost);
        }
        hpx_metric_add(HPX_METRIC_BYTES_SENT, d->way.label, NULL, item->n);
        count_kinds(HPX_METRIC_VALUES_SENT, d->way.label, &item->head);
    }
    return fate;
}

/* false: it is dropped, or has to wait. */
static bool read_item(struct hpx_dest *d, struct hpx_spool_item *item)
{
    if (hpx_spool_read(d->spool, item)) {
        return true;
    }
    if (errno == EINVAL) {
        dropped(d, &item->head, "broken");
        hpx_spool_done(d->spool, item);
    } else {
        hpx_spool_later(d->spool, item);
        rest(d, 1000);
    }
    return false;
}

static void *send_all(void *ctx)
{
    struct hpx_dest *d = ctx;
    struct hpx_spool_item item;
    struct hpx_http_reply reply;
    unsigned failures = 0;
    unsigned seed = (unsigned)hpx_clock_mono() ^ (unsigned)getpid(); /* shippers of many hosts must not come together */
    while (!ends(d)) {
        if (!hpx_spool_take(d->spool, &item, 1000)) {
            continue;
        }
        if (!read_item(d, &item)) {
            continue;
        }
        enum hpx_dest_fate fate = send_one(d, &item, &reply);
        if (!ends(d)) {
            tell(d, &reply, fate);
        }
        if (fate == HPX_DEST_REFUSED) {
            dropped(d, &item.head, "refused");
        }
        if (fate != HPX_DEST_AGAIN) {
            hpx_spool_done(d->spool, &item);
            failures = 0;
        } else {
            hpx_spool_later(d->spool, &item);
            rest(d, hpx_dest_pause(reply.retry_after, ++failures, (double)rand_r(&seed) / RAND_MAX));
        }
    }
    return NULL;
}

/* ---- the open batch ---- */

static bool begin(struct hpx_dest *d)
{
    d->body = hpx_spool_begin(d->spool);
    if (d->body >= 0 && !hpx_batch_begin(&d->batch, d->way.engine, d->body)) {
        hpx_spool_abort(d->spool, d->body);
        d->body = -1;
        errno = ENOMEM;
    }
    return d->body >= 0;
}

static void drop_tree(struct hpx_dest *d, const struct hpx_tree *t, const char *cause)
{
    struct hpx_batch_head head = {0};
    hpx_batch_count(&head, t);
    dropped(d, &head, cause);
}

void hpx_dest_add(struct hpx_dest *d, const struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID])
{
    if (d->files != NULL) {
        struct hpx_batch_head head = {0};
        hpx_batch_count(&head, t);
        if (hpx_files_add(d->files, t, id)) {
            hpx_metric_add(HPX_METRIC_PROFILES_SENT, d->way.label, NULL, 1);
            count_kinds(HPX_METRIC_VALUES_SENT, d->way.label, &head);
        } else {
            dropped(d, &head, hpx_spool_cause(errno));
        }
        return;
    }
    while (d->body < 0 && !begin(d)) {
        int error = errno;
        if (!hpx_spool_is_full(error) || !hpx_spool_drop(d->spool, "disk full")) {
            drop_tree(d, t, hpx_spool_cause(error));
            return;
        }
    }
    hpx_batch_add(&d->batch, t, id);
}

uint64_t hpx_dest_bytes(const struct hpx_dest *d)
{
    return d->body >= 0 ? d->batch.bytes : 0;
}

void hpx_dest_flush(struct hpx_dest *d)
{
    if (d->body < 0) {
        return;
    }
    if (hpx_batch_end(&d->batch)) {
        (void)hpx_spool_add(d->spool, d->body, &d->batch.head);
    } else {
        int error = errno;
        hpx_spool_abort(d->spool, d->body);
        dropped(d, &d->batch.head, hpx_spool_cause(error));
        if (hpx_spool_is_full(error)) {
            (void)hpx_spool_drop(d->spool, "disk full"); /* room for the next one */
        }
    }
    d->body = -1;
}

bool hpx_dest_look(struct hpx_dest *d)
{
    struct hpx_spool_state s;
    struct timespec now;
    if (d->files != NULL) {
        return true;
    }
    hpx_spool_look(d->spool, &s);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    hpx_metric_set(HPX_METRIC_SPOOL_BYTES, d->way.label, NULL, s.bytes);
    hpx_metric_set(HPX_METRIC_LAG, d->way.label, NULL, s.oldest_ms > 0 && ms > s.oldest_ms ? ms - s.oldest_ms : 0);
    return s.batches == 0;
}

/* ---- begin and end ---- */

static bool open_engine(struct hpx_dest *d, const struct hpx_dest_asked *asked, int spool, uint64_t most, struct hpx_err *err)
{
    char name[32]; /* the same for the same destination */
    (void)snprintf(name, sizeof name, "%016llx", (unsigned long long)XXH3_64bits(asked->url, strlen(asked->url)));
    d->http = hpx_http_new(&asked->how, err);
    d->spool = d->http != NULL ? hpx_spool_open(spool, name, most, dropped, d, err) : NULL;
    if (d->spool == NULL) {
        return false;
    }
    d->sends = pthread_create(&d->sender, NULL, send_all, d) == 0;
    return d->sends || (hpx_err_set(err, HPX_E_SYS, "no thread can be made for %s", d->way.label), false);
}

struct hpx_dest *hpx_dest_open(const struct hpx_dest_asked *asked, int spool, uint64_t most, enum hpx_status *status, struct hpx_err *err)
{
    struct hpx_dest *d = calloc(1, sizeof *d);
    *status = HPX_FAILED;
    if (d == NULL) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        return NULL;
    }
    d->body = -1;
    bool known = hpx_dest_way(asked->url, &d->way, err);
    *status = known ? HPX_FAILED : HPX_USAGE;
    if (known && d->way.folder != NULL) {
        d->files = hpx_files_open(d->way.folder, err);
    }
    if (!known || (d->way.folder != NULL ? d->files == NULL : !open_engine(d, asked, spool, most, err))) {
        hpx_dest_close(d);
        return NULL;
    }
    *status = HPX_OK;
    return d;
}

void hpx_dest_close(struct hpx_dest *d)
{
    hpx_dest_flush(d);
    __atomic_store_n(&d->end, true, __ATOMIC_RELAXED);
    if (d->sends) {
        hpx_spool_wake(d->spool);
        (void)pthread_join(d->sender, NULL);
    }
    if (d->spool != NULL) {
        hpx_spool_close(d->spool);
    }
    hpx_http_free(d->http);
    hpx_files_close(d->files);
    free(d);
}
