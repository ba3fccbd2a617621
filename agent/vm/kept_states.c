/* SPDX-License-Identifier: BSD-2-Clause */
/* kept_states.c: see kept_states.h. */
#include "kept_states.h"
#include "vm_mode.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LISTS 8192u

static struct {
    pthread_mutex_t lock;                 /* never held over a call of the JVM */
    struct hpx_mode_thread *first[LISTS]; /* by kernel id */
    _Atomic uint32_t n;                   /* relaxed: 0 is a hint */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct hpx_mode_thread **list_of(pid_t tid)
{
    return &kept.first[(uint32_t)tid % LISTS];
}

/* From two pages on a state has separate pages, which the kernel clears when they are first used. A smaller one, as that of cpu=samples,
 * is of memory that earlier threads have used: first uses of pages were half of the handler's time in short threads. */
static bool is_large(size_t bytes)
{
    return bytes >= 2 * (size_t)getpagesize();
}

static struct hpx_mode_thread *new_state(size_t bytes)
{
    void *at = NULL;
    if (!is_large(bytes)) {
        at = posix_memalign(&at, HPX_CACHE_LINE, bytes) == 0 ? memset(at, 0, bytes) : NULL;
    } else {
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        at = at != MAP_FAILED ? at : NULL;
    }
    return at;
}

/* A large one gives its pages back, but for the first: those of an idle thread were never used. */
static void clear_state(struct hpx_mode_thread *s, size_t bytes)
{
    size_t page = (size_t)getpagesize();
    char *rest = (char *)s + page;
    if (is_large(bytes) && madvise(rest, bytes - page, MADV_DONTNEED) == 0) {
        bytes = page;
    }
    memset((void *)s, 0, bytes);
}

static void free_state(struct hpx_mode_thread *s)
{
    size_t bytes = hpx_vm_mode_of(s)->state_bytes;
    if (is_large(bytes)) {
        munmap(s, bytes);
    } else {
        free(s);
    }
}

static bool has_ended(const struct hpx_mode_thread *s)
{
    return atomic_load_explicit(&s->base.state, memory_order_acquire) == HPX_THREAD_RETIRED; /* partner: hpx_registry_retire() */
}

void hpx_kept_states_give(struct hpx_mode_thread *s)
{
    hpx_ring_fini(&s->base.ring);
    if (has_ended(s) && !s->adopted) {
        free_state(s);
        return;
    }
    pthread_mutex_lock(&kept.lock);
    s->next = *list_of(s->tid);
    *list_of(s->tid) = s;
    atomic_fetch_add_explicit(&kept.n, 1, memory_order_relaxed);
    pthread_mutex_unlock(&kept.lock);
}

static void unlink_state(struct hpx_mode_thread **at)
{
    *at = (*at)->next;
    atomic_fetch_sub_explicit(&kept.n, 1, memory_order_relaxed);
}

struct hpx_mode_thread *hpx_kept_states_take(const struct hpx_mode *mode, pid_t tid)
{
    struct hpx_mode_thread *found = NULL;
    if (atomic_load_explicit(&kept.n, memory_order_relaxed) == 0 || tid == 0) {
        return NULL;
    }
    pthread_mutex_lock(&kept.lock);
    for (struct hpx_mode_thread **at = list_of(tid); *at != NULL && found == NULL;) {
        if ((*at)->tid == tid && (*at)->base.mode == mode && !has_ended(*at)) {
            found = *at;
            unlink_state(at);
        } else {
            at = &(*at)->next;
        }
    }
    pthread_mutex_unlock(&kept.lock);
    return found;
}

struct hpx_mode_thread *hpx_kept_states_make(const struct hpx_mode *mode, struct hpx_mode_thread *from)
{
    const struct hpx_vm_mode *m = mode->vm;
    pid_t tid = from != NULL ? from->tid : 0;
    struct hpx_mode_thread *s = from;
    if (s != NULL) {
        clear_state(s, m->state_bytes);
    } else if ((s = new_state(m->state_bytes)) == NULL) {
        return NULL;
    }
    s->base.mode = mode;
    s->tid = tid;
    s->renewed = from != NULL;
    if (m->made != NULL) {
        m->made(s);
    }
    if (hpx_ring_init(&s->base.ring, m->ring_bytes()) != 0) {
        hpx_kept_states_drop(s);
        return NULL;
    }
    return s;
}

void hpx_kept_states_drop(struct hpx_mode_thread *s)
{
    hpx_ring_fini(&s->base.ring);
    if (hpx_vm_mode_of(s)->unmake != NULL) {
        hpx_vm_mode_of(s)->unmake(s);
    }
    if (s->renewed) {
        hpx_kept_states_give(s);
    } else {
        free_state(s);
    }
}

void hpx_kept_states_replaced(const struct hpx_mode *mode, pid_t tid)
{
    pthread_mutex_lock(&kept.lock);
    for (struct hpx_mode_thread *s = *list_of(tid); s != NULL; s = s->next) {
        if (s->tid == tid && s->base.mode == mode) {
            s->tid = 0; /* in its list it stays */
        }
    }
    pthread_mutex_unlock(&kept.lock);
}

static bool lives(pid_t tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) == 0 || errno != ESRCH;
}

/* A thread whose kernel id is unknown has never found its state, or has another one. */
uint32_t hpx_kept_states_sweep(void)
{
    pthread_mutex_lock(&kept.lock);
    for (uint32_t i = 0; i < LISTS; i++) {
        for (struct hpx_mode_thread **at = &kept.first[i]; *at != NULL;) {
            struct hpx_mode_thread *s = *at;
            if (s->tid == 0 || has_ended(s) || !lives(s->tid)) {
                unlink_state(at);
                free_state(s);
            } else {
                at = &s->next;
            }
        }
    }
    pthread_mutex_unlock(&kept.lock);
    return atomic_load_explicit(&kept.n, memory_order_relaxed);
}

void hpx_kept_states_each(void (*each)(void *ctx, const struct hpx_mode_thread *s), void *ctx)
{
    pthread_mutex_lock(&kept.lock);
    for (uint32_t i = 0; i < LISTS; i++) {
        for (const struct hpx_mode_thread *s = kept.first[i]; s != NULL; s = s->next) {
            each(ctx, s);
        }
    }
    pthread_mutex_unlock(&kept.lock);
}
