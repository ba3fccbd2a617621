/* SPDX-License-Identifier: BSD-2-Clause */
/* tally.c: see tally.h. */
#include "tally.h"
#include "call_rows.h"
#include "compiler.h"
#include "session.h"
#include "tracker_class.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLACES ((HPX_TRACKER_MASK + 16) / 16)
#define STEP   (1u << 16)                 /* numbers by which blocks grow */
#define PAGE   (4096u / sizeof(uint64_t)) /* counters of the smallest page */

/* What the probe reads. Its own thread writes it while it runs probes, or whoever closes. */
struct place {
    _Atomic uint64_t thread; /* 0: free */
    _Atomic uint64_t counts; /* address */
};

static_assert(sizeof(struct place) == 16, "as the probe has it");

struct block {
    _Atomic uint64_t *counts; /* HPX_CALL_COUNTERS of them, of which those below `reached` can be used */
    struct place *place;      /* NULL: none. Under the lock */
    pid_t tid;                /* of the thread that has it; 0: none. Under the lock */
    _Atomic uint32_t session; /* in which it counts. release: its thread, when it is empty; acquire: who adds up */
    struct block *next;       /* constant */
};

static struct {
    struct place *table;
    struct block *blocks;     /* all */
    _Atomic uint32_t reached; /* relaxed */
    atomic_bool open;         /* relaxed: a hint without the lock */
} tally;
static HPX_OF_SESSION struct block *stray; /* calls of threads without memory for a block. Under the lock */
static HPX_OF_SESSION uint64_t apart;      /* under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Of the calling thread, for as long as it lives. */
static __thread struct block *own;

static uint32_t this_session(void)
{
    return atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
}

static void *reserve(size_t n, int protection)
{
    void *p = mmap(NULL, n, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p != MAP_FAILED ? p : NULL;
}

uint64_t hpx_tally_table(void)
{
    pthread_mutex_lock(&lock);
    if (tally.table == NULL) {
        tally.table = reserve(PLACES * sizeof(struct place), PROT_READ | PROT_WRITE);
        if (tally.table != NULL) {
            (void)madvise(tally.table, PLACES * sizeof(struct place), MADV_NOHUGEPAGE);
            atomic_store_explicit(&tally.table[0].thread, 1, memory_order_relaxed); /* the number 0, of no thread, is never found */
        }
    }
    pthread_mutex_unlock(&lock);
    return (uint64_t)(uintptr_t)tally.table;
}

static bool open_to(struct block *b, uint32_t end)
{
    return end == 0 || mprotect(b->counts, (size_t)end * sizeof *b->counts, PROT_READ | PROT_WRITE) == 0;
}

bool hpx_tally_reach(uint32_t end)
{
    bool all = true;
    end = end < HPX_CALL_COUNTERS ? end : HPX_CALL_COUNTERS;
    if (end <= atomic_load_explicit(&tally.reached, memory_order_relaxed)) {
        return true;
    }
    pthread_mutex_lock(&lock);
    end = (end + STEP - 1) / STEP * STEP;
    for (struct block *b = tally.blocks; all && b != NULL; b = b->next) {
        all = open_to(b, end);
    }
    if (all && end > atomic_load_explicit(&tally.reached, memory_order_relaxed)) {
        atomic_store_explicit(&tally.reached, end, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
    return all;
}

/* NULL: no memory. Under the lock. */
static struct block *make(void)
{
    const size_t room = HPX_CALL_COUNTERS * sizeof(uint64_t);
    struct block *b = calloc(1, sizeof *b);
    if (b == NULL) {
        return NULL;
    }
    b->counts = reserve(room, PROT_NONE);
    if (b->counts == NULL || !open_to(b, atomic_load_explicit(&tally.reached, memory_order_relaxed))) {
        if (b->counts != NULL) {
            (void)munmap(b->counts, room);
        }
        free(b);
        return NULL;
    }
    (void)madvise(b->counts, room, MADV_NOHUGEPAGE); /* a thread uses few of the pages */
    b->next = tally.blocks;
    tally.blocks = b;
    return b;
}

/* One that no thread has. Under the lock. */
static struct block *find(pid_t tid)
{
    struct block *b = tally.blocks;
    while (b != NULL && (b->tid != 0 || b == stray)) {
        b = b->next;
    }
    b = b != NULL ? b : make();
    if (b != NULL) {
        b->tid = tid;
    }
    return b;
}

/* Locked pages cannot be given back. */
static void clear(struct block *b)
{
    size_t n = (size_t)atomic_load_explicit(&tally.reached, memory_order_relaxed) * sizeof *b->counts;
    if (n > 0 && madvise(b->counts, n, MADV_DONTNEED) != 0) {
        memset((void *)(uintptr_t)b->counts, 0, n);
    }
}

/* It is empty, and counts in this session. Nobody is about to write it. */
static void begin(struct block *b)
{
    uint32_t now = this_session();
    if (atomic_load_explicit(&b->session, memory_order_relaxed) != now) {
        clear(b);
        atomic_store_explicit(&b->session, now, memory_order_release); /* partner: hpx_tally_add_up() */
    }
}

static struct place *place_at(uint64_t offset)
{
    return &tally.table[offset / sizeof(struct place)];
}

/* false: both are taken. Under the lock; on the thread itself. */
static bool put(struct block *b, uint64_t thread)
{
    struct place *both[] = {place_at(hpx_tracker_first(thread)), place_at(hpx_tracker_second(thread))};
    for (size_t i = 0; i < HPX_ARRAY_LEN(both); i++) {
        uint64_t had = atomic_load_explicit(&both[i]->thread, memory_order_relaxed);
        if (had == 0 || had == thread) { /* the same: of a thread that has ended without telling */
            b->place = both[i];
            atomic_store_explicit(&b->place->counts, (uint64_t)(uintptr_t)b->counts, memory_order_relaxed);
            atomic_store_explicit(&b->place->thread, thread, memory_order_relaxed); /* read by this thread; others compare it alone */
            return true;
        }
    }
    return false;
}

/* The calling thread's first call in this session. NULL: no memory, or nothing is counted any more. */
static struct block *enter(uint64_t thread)
{
    struct block *b = NULL;
    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&tally.open, memory_order_relaxed)) {
        b = own != NULL ? own : find((pid_t)syscall(SYS_gettid));
        own = b;
    }
    if (b != NULL) {
        begin(b);
        apart += thread != 0 && !put(b, thread);
    }
    pthread_mutex_unlock(&lock);
    return b;
}

static void add(struct block *b, uint32_t number)
{
    uint64_t n = atomic_load_explicit(&b->counts[number], memory_order_relaxed);
    atomic_store_explicit(&b->counts[number], n + 1, memory_order_relaxed);
}

static bool count_stray(uint32_t number)
{
    pthread_mutex_lock(&lock);
    bool is_open = atomic_load_explicit(&tally.open, memory_order_relaxed);
    if (is_open && stray != NULL) {
        add(stray, number);
    }
    pthread_mutex_unlock(&lock);
    return !is_open || stray != NULL;
}

bool hpx_tally_count(uint32_t number, uint64_t thread)
{
    struct block *b = own;
    if (!atomic_load_explicit(&tally.open, memory_order_relaxed)) {
        return true;
    }
    if (number >= atomic_load_explicit(&tally.reached, memory_order_relaxed)) {
        return false;
    }
    if (b == NULL || atomic_load_explicit(&b->session, memory_order_relaxed) != this_session()) {
        b = enter(thread);
    }
    if (b == NULL) {
        return count_stray(number);
    }
    add(b, number);
    return true;
}

static void leave_place(struct block *b)
{
    if (b->place != NULL) {
        atomic_store_explicit(&b->place->thread, 0, memory_order_relaxed);
        b->place = NULL;
    }
}

void hpx_tally_leave(void)
{
    if (own != NULL) {
        pthread_mutex_lock(&lock);
        leave_place(own);
        own->tid = 0;
        pthread_mutex_unlock(&lock);
        own = NULL;
    }
}

static bool lives(pid_t tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) == 0 || errno != ESRCH;
}

void hpx_tally_open(void)
{
    pthread_mutex_lock(&lock);
    for (struct block *b = tally.blocks; b != NULL; b = b->next) {
        b->tid = b->tid != 0 && lives(b->tid) ? b->tid : 0; /* threads that ended while no session heard of it */
    }
    stray = find(0);
    if (stray != NULL) {
        begin(stray);
    }
    atomic_store_explicit(&tally.open, true, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

void hpx_tally_close(void)
{
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&tally.open, false, memory_order_relaxed);
    for (struct block *b = tally.blocks; b != NULL; b = b->next) {
        leave_place(b);
    }
    pthread_mutex_unlock(&lock);
}

static struct block *all_blocks(void)
{
    pthread_mutex_lock(&lock);
    struct block *b = tally.blocks;
    pthread_mutex_unlock(&lock);
    return b;
}

static bool counts_now(struct block *b)
{
    return atomic_load_explicit(&b->session, memory_order_acquire) == this_session(); /* partner: begin() */
}

struct hpx_tally_figures hpx_tally_add_up(uint64_t *sums, uint32_t n)
{
    pthread_mutex_lock(&lock);
    struct hpx_tally_figures f = {.apart = apart};
    const struct block *of_no_thread = stray;
    pthread_mutex_unlock(&lock);
    for (struct block *b = all_blocks(); b != NULL; b = b->next) {
        bool counts = counts_now(b);
        f.blocks += counts && b != of_no_thread;
        for (uint32_t i = 0, touched = UINT32_MAX; counts && i < n; i++) {
            uint64_t count = atomic_load_explicit(&b->counts[i], memory_order_relaxed);
            sums[i] += count;
            if (count > 0 && touched != i / PAGE) {
                touched = i / PAGE;
                f.bytes += PAGE * sizeof count;
            }
        }
    }
    return f;
}

uint32_t hpx_tally_end(void)
{
    return atomic_load_explicit(&tally.reached, memory_order_relaxed);
}

void hpx_tally_forget(void)
{
    for (struct block *b = all_blocks(); b != NULL; b = b->next) {
        (void)madvise(b->counts, (size_t)hpx_tally_end() * sizeof *b->counts, MADV_DONTNEED);
    }
}
