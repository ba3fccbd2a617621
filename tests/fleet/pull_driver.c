/* SPDX-License-Identifier: BSD-2-Clause */
/* pull_driver.c: what hprofx-ship is to a pull, with profiles made up: pull_driver AT [anywhere] [flush]. Says where it listens, or why it
 * does not; then takes lines:
 *
 *   add SERVICE PID NUMBER CPU-NS LIVE-BYTES STACK   a profile of one stack, frames with ; between
 *   lost N                                            counts, for /metrics
 *   flushed                                           lets a flush go on, which has said "flush"
 *
 * and says "done" of each but the last. Ends at the end of its input. */
#include "collect.h"
#include "metrics.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static size_t flushed, ended;

static void say(const char *text)
{
    (void)printf("%s\n", text);
    (void)fflush(stdout);
}

static void flush(void *ctx, unsigned milliseconds)
{
    (void)ctx;
    if (milliseconds == 0) { /* the end, which main() has said */
        return;
    }
    (void)pthread_mutex_lock(&lock);
    size_t before = flushed;
    say("flush");
    while (flushed == before && ended == 0) {
        (void)pthread_cond_wait(&changed, &lock);
    }
    (void)pthread_mutex_unlock(&lock);
}

static void wake(size_t *of)
{
    (void)pthread_mutex_lock(&lock);
    ++*of;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

static uint32_t stack(struct hpx_tree *t, char *text)
{
    uint32_t node = 0;
    for (char *rest = text, *frame; (frame = strsep(&rest, ";")) != NULL;) {
        node = hpx_tree_node(t, node, hpx_tree_frame(t, hpx_tree_name(t, frame, strlen(frame)), 0, 7, HPX_FRAME_METHOD));
    }
    return node;
}

static void add(struct hpx_collect *c, char *service, uint64_t pid, uint64_t number, const uint64_t values[2], char *text)
{
    struct hpx_tree t;
    if (!hpx_tree_init(&t)) {
        abort();
    }
    uint32_t node = stack(&t, text), thread = hpx_tree_name(&t, "main", 4);
    if (values[0] > 0) {
        hpx_tree_add(&t, &t.views[HPX_VIEW_CPU], node, thread, (const uint64_t[]){1, values[0]});
    }
    if (values[1] > 0) {
        hpx_tree_add(&t, &t.views[HPX_VIEW_ALLOC], node, thread, (const uint64_t[]){2, 2 * values[1], 1, values[1]});
    }
    t.origin = (struct hpx_tree_origin){.host = hpx_tree_name(&t, "host", 4),
                                        .service = hpx_tree_name(&t, service, strlen(service)),
                                        .pid = pid,
                                        .began_ms = 1000,
                                        .number = number};
    t.start_ms = 1700000000000 + number * 1000;
    t.duration_ms = 1000;
    hpx_tree_finish(&t);
    hpx_collect_add(c, &t);
    hpx_tree_fini(&t);
    hpx_metric_add(HPX_METRIC_PROFILES_READ, NULL, NULL, 1);
}

static void obey(struct hpx_collect *c, char *line)
{
    char *service = line + 4, *rest = strchr(service, ' ');
    if (strcmp(line, "flushed") == 0) {
        wake(&flushed);
        return;
    }
    if (strncmp(line, "add ", 4) == 0 && rest != NULL) {
        *rest++ = '\0';
        uint64_t pid = strtoull(rest, &rest, 10), number = strtoull(rest, &rest, 10), values[2];
        values[0] = strtoull(rest, &rest, 10);
        values[1] = strtoull(rest, &rest, 10);
        add(c, service, pid, number, values, rest + 1);
    } else if (strncmp(line, "lost ", 5) == 0) {
        hpx_metric_add(HPX_METRIC_AGENTS_LOST, NULL, NULL, strtoull(line + 5, NULL, 10));
    }
    say("done");
}

int main(int argc, char **argv)
{
    bool anywhere = false, flushes = false;
    struct hpx_err err = {""};
    for (int i = 2; i < argc; i++) {
        anywhere |= strcmp(argv[i], "anywhere") == 0;
        flushes |= strcmp(argv[i], "flush") == 0;
    }
    struct hpx_collect *c = hpx_collect_new(flushes ? flush : NULL, NULL);
    const struct hpx_pull_hooks hooks = hpx_collect_hooks(c);
    struct hpx_pull *p = argc > 1 ? hpx_pull_start(argv[1], anywhere, &hooks, &err) : NULL;
    if (p == NULL) {
        say(err.msg);
        hpx_collect_free(c);
        return 1;
    }
    say(hpx_pull_at(p));
    char *line = NULL;
    size_t room = 0;
    for (ssize_t n; (n = getline(&line, &room, stdin)) > 0;) {
        line[n - 1] = '\0';
        obey(c, line);
    }
    free(line);
    wake(&ended);
    hpx_pull_stop(p);
    hpx_collect_free(c);
    return 0;
}
