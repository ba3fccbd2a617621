/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_team.c: a trace by several workers (trace.h): they begin when there is much to read, pass work on, and their results become one. */
#include "child.h"
#include "trace_pool.h"
#include "walk_internal.h"
#include <sys/mman.h>
#include <time.h>

#define MOST         3u                  /* workers beside the first one */
#define STACK        ((size_t)256 << 10) /* bytes of a worker's, with a page that nobody may touch */
#define GUARD        ((size_t)64 << 10)  /* the largest page */
#define EVERY        32u                 /* objects between two looks at who is idle */
#define LEAST        16u                 /* words that are worth passing on in half */
#define WAIT_NS      20000
#define WAIT_MOST_NS 1000000

/* AddressSanitizer finds variables whose address is taken by a variable of the thread, which workers share. */
#if defined(__has_attribute) && __has_attribute(no_sanitize_address)
#define NO_FAKE_STACK __attribute__((no_sanitize_address))
#else
#define NO_FAKE_STACK
#endif

struct worker {
    struct hpx_walk walk; /* a copy of the first one's, with a stack, plans and results of its own */
    struct hpx_trace_pool *pool;
    void *stack;
    _Atomic int running; /* cleared by the kernel behind all that the worker has written */
};

struct hpx_trace_team {
    struct hpx_trace_pool pool;
    uint32_t n;
    struct worker workers[MOST];
};

static bool failed(const struct hpx_walk *w)
{
    return w->end != HPX_WALK_WHOLE || w->spool.error != 0;
}

/* Works for others until all is done. */
static NO_FAKE_STACK void help(struct hpx_walk *w, struct hpx_trace_pool *pool)
{
    struct hpx_walk_list *stack = &w->trace.stack;
    enum hpx_trace_turn turn = HPX_TRACE_WAIT;
    struct timespec pause = {0, WAIT_NS};
    uint32_t n;
    if (stack->room < HPX_TRACE_PIECE && !hpx_walk_room(w, stack, sizeof(uint64_t))) {
        hpx_trace_pool_end(pool);
    }
    while ((turn = hpx_trace_pool_take(pool, stack->at, &n)) != HPX_TRACE_OVER) {
        if (turn == HPX_TRACE_WORK) {
            stack->len = n;
            w->trace.bottom = 0;
            hpx_trace_work(w);
            hpx_trace_pool_idle(pool);
            pause.tv_nsec = WAIT_NS;
        } else {
            (void)nanosleep(&pause, NULL);
            pause.tv_nsec = pause.tv_nsec < WAIT_MOST_NS ? 2 * pause.tv_nsec : pause.tv_nsec;
        }
        if (failed(w)) {
            hpx_trace_pool_end(pool);
        }
    }
}

static int run(void *arg)
{
    struct worker *a = arg;
    hpx_child_worker_nice();
    help(&a->walk, a->pool);
    (void)hpx_heap_spool_flush(&a->walk.spool);
    return 0;
}

static void fini(struct worker *a)
{
    hpx_walk_list_fini(&a->walk.trace.stack, sizeof(uint64_t));
    hpx_walk_list_fini(&a->walk.trace.steps, sizeof(struct hpx_trace_step));
    hpx_walk_list_fini(&a->walk.trace.later, sizeof(uint64_t));
    hpx_address_map_fini(&a->walk.mirrors);
    hpx_heap_spool_fini(&a->walk.spool);
    hpx_walk_unmap(a->walk.classes, a->walk.classes_room * sizeof *a->walk.classes);
    hpx_walk_unmap(a->stack, STACK);
}

/* false: it has not begun. */
static bool begin(struct worker *a, const struct hpx_walk *w, struct hpx_trace_pool *pool)
{
    struct hpx_walk *own = &a->walk;
    const size_t classes = w->classes_room * sizeof *w->classes, steps = w->trace.steps.room * sizeof(struct hpx_trace_step);
    memcpy(own, w, sizeof *own);
    own->classes = hpx_walk_map(classes);
    own->trace.steps.at = steps != 0 ? hpx_walk_map(steps) : NULL;
    own->trace.stack = own->trace.later = (struct hpx_walk_list){.at = NULL};
    own->trace.bottom = own->trace.share_at = 0;
    own->mirrors = (struct hpx_address_map){.at = NULL};
    own->found = (struct hpx_heap_found){.objects = 0};
    a->pool = pool;
    a->stack = hpx_walk_map(STACK);
    bool good = hpx_heap_spool_join(&own->spool, &w->spool) == 0 && own->classes != NULL && a->stack != NULL &&
                (steps == 0 || own->trace.steps.at != NULL) && mprotect(a->stack, GUARD, PROT_NONE) == 0;
    if (good) {
        memcpy(own->classes, w->classes, classes);
        own->class_of_classes = w->class_of_classes != NULL ? own->classes + (w->class_of_classes - w->classes) : NULL;
        if (steps != 0) {
            memcpy(own->trace.steps.at, w->trace.steps.at, w->trace.steps.len * sizeof(struct hpx_trace_step));
        }
        good = hpx_child_worker(run, a, (char *)a->stack + STACK, &a->running);
    }
    if (!good) {
        fini(a);
        return false;
    }
    return true;
}

/* Without memory or processes for workers the walk goes on alone. */
static void begin_team(struct hpx_walk *w)
{
    struct hpx_trace_team *team = hpx_walk_map(sizeof *team);
    w->trace.share_at = UINT64_MAX;
    if (team == NULL) {
        return;
    }
    const uint32_t most = w->workers - 1 < MOST ? w->workers - 1 : MOST;
    hpx_trace_pool_init(&team->pool, most + 1);
    w->trace.team = team; /* bits are set for all from here on */
    while (team->n < most && begin(&team->workers[team->n], w, &team->pool)) {
        team->n++;
    }
    atomic_store_explicit(&team->pool.workers, team->n + 1, memory_order_relaxed);
    w->found.team = w->found.team > team->n + 1 ? w->found.team : team->n + 1;
    if (team->n > 0) {
        w->trace.share_at = 0;
    }
}

/* Half of what the lowest long array has left, as it may be most of the heap; else half of the stack. */
static NO_FAKE_STACK void give(struct hpx_trace *t)
{
    uint64_t *words = (uint64_t *)t->stack.at + t->bottom, n = (t->stack.len - t->bottom) / 2;
    n = n < HPX_TRACE_PIECE ? n : HPX_TRACE_PIECE;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t from = HPX_TRACE_RANGE_FROM(words[i]), to = HPX_TRACE_RANGE_TO(words[i]), middle = from + (to - from) / 2;
        if (HPX_TRACE_IS_RANGE(words[i]) && to - from > 2 * HPX_TRACE_CHUNK) {
            const uint64_t half[] = {HPX_TRACE_RANGE(middle, to), words[i + 1]};
            words[i] = hpx_trace_pool_give(&t->team->pool, half, 2) ? HPX_TRACE_RANGE(from, middle) : words[i];
            return;
        }
    }
    n -= HPX_TRACE_IS_RANGE(words[n - 1]); /* its array lies above */
    t->bottom += n > 0 && hpx_trace_pool_give(&t->team->pool, words, (uint32_t)n) ? n : 0;
}

void hpx_trace_share(struct hpx_walk *w)
{
    struct hpx_trace *t = &w->trace;
    if (t->team == NULL) {
        begin_team(w);
        return;
    }
    t->share_at = w->found.objects + EVERY;
    if (hpx_unlikely(hpx_trace_pool_ended(&t->team->pool))) {
        t->stack.len = t->bottom;
        return;
    }
    if (t->stack.len - t->bottom >= LEAST && hpx_trace_pool_hungry(&t->team->pool)) {
        give(t);
    }
}

static void add_results(struct hpx_walk *w, const struct hpx_walk *of)
{
    w->found.objects += of->found.objects;
    w->found.bytes += of->found.bytes;
    w->found.cut += of->found.cut;
    w->found.heads += of->found.heads;
    w->spool.error = w->spool.error != 0 ? w->spool.error : of->spool.error;
    fail(w, of->end);
    for (uint64_t i = 0; i < of->trace.later.len; i++) {
        (void)push_key(w, &w->trace.later, key_at(&of->trace.later, i));
    }
    for (uint64_t i = 0; i < of->mirrors.room; i++) {
        if (of->mirrors.at[i].key != 0) {
            (void)put(w, &w->mirrors, of->mirrors.at[i].key); /* objects of a trace have no site */
        }
    }
    for (uint32_t i = 0; i < of->classes_room; i++) {
        if (of->classes[i].vm_size != 0) {
            find_class(w, of->classes[i].word)->vm_size = of->classes[i].vm_size;
        }
    }
}

void hpx_trace_join(struct hpx_walk *w)
{
    struct hpx_trace_team *team = w->trace.team;
    if (team == NULL) {
        return;
    }
    if (failed(w)) {
        hpx_trace_pool_end(&team->pool);
    }
    hpx_trace_pool_idle(&team->pool);
    help(w, &team->pool);
    w->trace.team = NULL;
    for (uint32_t i = 0; i < team->n; i++) {
        while (atomic_load_explicit(&team->workers[i].running, memory_order_acquire) != 0) {
            (void)nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
        }
        add_results(w, &team->workers[i].walk);
        fini(&team->workers[i]);
    }
    hpx_walk_unmap(team, sizeof *team);
}
