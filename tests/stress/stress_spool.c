/* SPDX-License-Identifier: BSD-2-Clause */
/* stress_spool.c: one thread adds to a spool with room for few, and drops as on a full disk; one takes, reads, sends or puts back; one
 * looks. Numbers of what is sent only grow; added = sent + dropped, by profiles and by the sums of their heads. */
#include "spool.h"
#include "stress.h"
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct world {
    struct hpx_spool *spool;
    uint64_t added, added_sum, lost, lost_sum;            /* of the thread that adds */
    uint64_t sent, sent_sum, later, order_errors, broken; /* of the one that takes */
    uint64_t look_errors;
    bool end; /* atomic */
};

static void dropped(void *ctx, const struct hpx_batch_head *head, const char *cause)
{
    struct world *w = ctx;
    (void)cause;
    w->lost += head->profiles;
    w->lost_sum += head->kinds[0].sum;
}

static bool over(const struct world *w)
{
    return __atomic_load_n(&w->end, __ATOMIC_RELAXED);
}

static void *send_all(void *arg)
{
    struct world *w = arg;
    struct hpx_spool_item item;
    uint64_t seed = 88172645463325252u, last = 0;
    for (;;) {
        if (!hpx_spool_take(w->spool, &item, 50)) {
            if (over(w)) {
                return NULL;
            }
            continue;
        }
        w->order_errors += item.number <= last;
        uint64_t what = stress_random(&seed) % 4;
        if (what > 0 && !hpx_spool_read(w->spool, &item)) {
            w->broken++;
        }
        if (what < 2) {
            w->later++;
            hpx_spool_later(w->spool, &item);
            continue;
        }
        last = item.number;
        w->sent += item.head.profiles;
        w->sent_sum += item.head.kinds[0].sum;
        w->broken += item.n != item.head.profiles || item.body[0] != 'x';
        hpx_spool_done(w->spool, &item);
    }
}

static void *look(void *arg)
{
    struct world *w = arg;
    while (!over(w)) {
        struct hpx_spool_state s;
        hpx_spool_look(w->spool, &s);
        w->look_errors += (s.batches == 0) != (s.bytes == 0);
    }
    return NULL;
}

static void add(struct world *w, uint64_t *seed)
{
    static const char body[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    uint64_t n = 1 + stress_random(seed) % 40;
    struct hpx_batch_head head = {.profiles = n, .oldest_ms = 1, .nkinds = 1, .kinds = {{"cpu", 3 * n}}};
    int fd = hpx_spool_begin(w->spool);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, body, n), n);
    if (stress_random(seed) % 16 == 0) {
        hpx_spool_abort(w->spool, fd);
        return;
    }
    w->added += n;
    w->added_sum += 3 * n;
    assert_true(hpx_spool_add(w->spool, fd, &head));
    if (stress_random(seed) % 8 == 0) {
        (void)hpx_spool_drop(w->spool, "disk full");
    }
}

TEST(what_is_added_is_sent_or_dropped)
{
    static struct world w;
    struct hpx_err err;
    char folder[] = "/tmp/hpx_stress_XXXXXX";
    pthread_t sender, looker;
    uint64_t seed = 2463534242u;
    assert_non_null(mkdtemp(folder));
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    w = (struct world){.spool = hpx_spool_open(dir, "0", 6 * (HPX_BATCH_LINE + 40), dropped, &w, &err)};
    assert_non_null(w.spool);
    assert_int_equal(pthread_create(&sender, NULL, send_all, &w), 0);
    assert_int_equal(pthread_create(&looker, NULL, look, &w), 0);
    for (uint64_t i = stress_times(4000); i > 0; i--) {
        add(&w, &seed);
    }
    __atomic_store_n(&w.end, true, __ATOMIC_RELAXED);
    hpx_spool_wake(w.spool);
    assert_int_equal(pthread_join(sender, NULL), 0);
    assert_int_equal(pthread_join(looker, NULL), 0);
    print_message("%llu profiles, %llu sent, %llu dropped, %llu batches put back\n", (unsigned long long)w.added,
                  (unsigned long long)w.sent, (unsigned long long)w.lost, (unsigned long long)w.later);
    assert_int_equal(w.order_errors, 0);
    assert_int_equal(w.look_errors, 0);
    assert_int_equal(w.broken, 0);
    assert_int_equal(w.added, w.sent + w.lost);
    assert_int_equal(w.added_sum, w.sent_sum + w.lost_sum);
    assert_true(w.sent > 0 && w.lost > 0 && w.later > 0);
    hpx_spool_close(w.spool);
    assert_int_equal(unlinkat(dir, "0", AT_REMOVEDIR), 0); /* it is empty */
    (void)close(dir);
    assert_int_equal(rmdir(folder), 0);
}

TESTS(NULL, NULL)
