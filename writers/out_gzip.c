/* SPDX-License-Identifier: BSD-2-Clause */
/* out_gzip.c: the blocks of out_gzip.h, by zlib. */
#include "out_gzip.h"
#include "clock.h"
#include "cpus.h"
#include "sigmask.h"
#include "trial.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#define ZLIB_CONST
#include <zlib.h>

#define LEVEL  1  /* level 6 takes two to five times as long and saves 14 % (heap dump) to 31 % (text) */
#define WINDOW 31 /* 15 bits, in gzip's format */
#define MEMORY 8  /* zlib's default */
#define UNIX   3
#define PIECE  (16u << 10) /* behind so many bytes whoever compresses looks whether that is still wanted */
#define STACK  ((size_t)256 << 10)
#define NICE   19

/* Of the library; NULL: not loaded. The versions that zlib.h's macros call. */
static struct {
    __typeof__(&deflateInit2_) init;
    __typeof__(&deflateSetHeader) set_header;
    __typeof__(&deflateBound) bound;
    __typeof__(&deflate) deflate;
    __typeof__(&deflateReset) reset;
    __typeof__(&deflateEnd) end;
} zlib;

static HPX_OF_SESSION _Atomic uint64_t workers_ns; /* relaxed: a sum */

enum { FULL, TAKEN /* by a worker or the writer's thread */, DONE, DROPPED /* its worker frees it */ };

/* A mapping: freeing it changes nothing in the program's malloc. */
struct block {
    struct block *next;
    _Atomic int state; /* relaxed; changed under the lock; without it read by who has TAKEN the block */
    bool first;        /* of the output */
    uint32_t n;
    size_t packed; /* 0: it could not be compressed */
    unsigned char *out, in[];
};

struct worker {
    struct hpx_gzip *of;
    pthread_t thread;
    bool begun; /* the thread has to be joined; the writer's thread alone looks */
    bool works; /* lock */
    z_stream stream;
};

struct hpx_gzip {
    const struct hpx_out_ops *to;
    void *ctx;
    z_stream stream;
    gz_header header; /* of the first block; zlib keeps the pointer */
    char comment[32];
    uint32_t block;
    size_t bound;       /* most compressed bytes of a block */
    struct block *open; /* where the next bytes go; NULL: to a free one */
    bool any;           /* there is a block */
    unsigned full;      /* blocks of this section so far */
    uint64_t done;      /* compressed bytes in the output */
    uint64_t mark;      /* of these, up to the end of the last section */
    size_t sent;        /* of these, of the oldest block */
    struct {
        uint64_t done;
        bool any;
        struct block *open; /* a copy; NULL: none */
    } point;                /* as they were there */
    unsigned workers;
    struct worker worker[HPX_GZIP_WORKERS];
    pthread_mutex_t lock;       /* of what follows, which the writer's thread and the workers change */
    struct block *head, **tail; /* full ones, in the order of the output */
    struct block *free;
    unsigned nfree; /* at least one while there are workers, for repeat() */
};

/* zlib would call malloc from its own library, where neither tests make it fail nor balance counts it. */
static void *allocate(void *unused, uInt n, uInt size)
{
    (void)unused;
    return calloc(n, size);
}

static void release(void *unused, void *p)
{
    (void)unused;
    free(p);
}

int hpx_gzip_load(struct hpx_err *err)
{
    void *lib = zlib.end != NULL ? NULL : dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (lib != NULL) {
        *(void **)&zlib.init = dlsym(lib, "deflateInit2_");
        *(void **)&zlib.set_header = dlsym(lib, "deflateSetHeader");
        *(void **)&zlib.bound = dlsym(lib, "deflateBound");
        *(void **)&zlib.deflate = dlsym(lib, "deflate");
        *(void **)&zlib.reset = dlsym(lib, "deflateReset");
        *(void **)&zlib.end = dlsym(lib, "deflateEnd");
    }
    if (zlib.init == NULL || zlib.set_header == NULL || zlib.bound == NULL || zlib.deflate == NULL || zlib.reset == NULL ||
        zlib.end == NULL) {
        const char *why = dlerror(); /* names the library */
        zlib.end = NULL;
        return hpx_err_set(err, HPX_E_SYS, "gz=y: cannot load %s; install zlib (Debian: zlib1g)", why != NULL ? why : "libz.so.1");
    }
    return 0;
}

/* ---- blocks ---- */

static size_t block_size(const struct hpx_gzip *z)
{
    return sizeof(struct block) + z->block + z->bound;
}

static void free_block(const struct hpx_gzip *z, struct block *b)
{
    if (b != NULL) {
        munmap(b, block_size(z));
    }
}

static struct block *new_block(const struct hpx_gzip *z)
{
    struct block *b = mmap(NULL, block_size(z), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b == MAP_FAILED) {
        return NULL;
    }
    b->out = b->in + z->block;
    return b;
}

static int state(const struct block *b)
{
    return atomic_load_explicit(&b->state, memory_order_relaxed);
}

static void set_state(struct block *b, int to)
{
    atomic_store_explicit(&b->state, to, memory_order_relaxed);
}

static void push_free(struct hpx_gzip *z, struct block *b)
{
    b->n = 0;
    b->next = z->free;
    z->free = b;
    z->nfree++;
}

static void recycle(struct hpx_gzip *z, struct block *b)
{
    if (b != NULL) {
        pthread_mutex_lock(&z->lock);
        push_free(z, b);
        pthread_mutex_unlock(&z->lock);
    }
}

/* NULL: no more than `kept` are free. */
static struct block *take_free(struct hpx_gzip *z, unsigned kept)
{
    struct block *b = NULL;
    pthread_mutex_lock(&z->lock);
    if (z->nfree > kept) {
        b = z->free;
        z->free = b->next;
        z->nfree--;
    }
    pthread_mutex_unlock(&z->lock);
    return b;
}

/* lock: the oldest that nobody has taken is the caller's. NULL: there is none. */
static struct block *take_full(struct hpx_gzip *z)
{
    struct block *b = z->head;
    while (b != NULL && state(b) != FULL) {
        b = b->next;
    }
    if (b != NULL) {
        set_state(b, TAKEN);
    }
    return b;
}

static void leave_queue(struct hpx_gzip *z)
{
    z->head = z->head->next;
    z->tail = z->head != NULL ? z->tail : &z->head;
}

/* ---- compressing ---- */

static int init_stream(z_stream *s)
{
    *s = (z_stream){.zalloc = allocate, .zfree = release};
    return zlib.init(s, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY, ZLIB_VERSION, (int)sizeof(*s));
}

/* The content of b, as a member in `out`: its size. 0: it could not be done, or b was taken from the caller. */
static size_t pack(struct hpx_gzip *z, z_stream *s, const struct block *b, unsigned char *out)
{
    uint32_t left = b->n;
    int rc = Z_OK;
    (void)zlib.reset(s);
    (void)zlib.set_header(s, b->first ? &z->header : Z_NULL);
    s->next_in = b->in;
    s->next_out = out;
    s->avail_out = (uInt)z->bound;
    while (rc == Z_OK && state(b) == TAKEN) {
        s->avail_in = left < PIECE ? left : PIECE;
        left -= s->avail_in;
        rc = zlib.deflate(s, left == 0 ? Z_FINISH : Z_NO_FLUSH);
        rc = rc == Z_OK && s->avail_in > 0 ? Z_BUF_ERROR : rc;
    }
    return rc == Z_STREAM_END ? z->bound - s->avail_out : 0;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct hpx_gzip *z = w->of;
    struct block *b;
    pthread_setname_np(pthread_self(), "hprofx-gzip");
    bool polite = setpriority(PRIO_PROCESS, 0, NICE) == 0; /* of the thread */
    pthread_mutex_lock(&z->lock);
    while (polite && (b = take_full(z)) != NULL) {
        pthread_mutex_unlock(&z->lock);
        size_t packed = pack(z, &w->stream, b, b->out);
        pthread_mutex_lock(&z->lock);
        if (state(b) == DROPPED) {
            push_free(z, b);
        } else {
            b->packed = packed;
            set_state(b, DONE);
        }
    }
    w->works = false;
    pthread_mutex_unlock(&z->lock);
    atomic_fetch_add_explicit(&workers_ns, hpx_clock_thread_cpu(), memory_order_relaxed);
    return NULL;
}

static void join(struct worker *w)
{
    if (w->begun) {
        pthread_join(w->thread, NULL);
        w->begun = false;
    }
}

static void begin_worker(struct worker *w)
{
    pthread_attr_t attr;
    sigset_t all, was;
    join(w);
    if (pthread_attr_init(&attr) != 0) {
        return;
    }
    (void)pthread_attr_setstacksize(&attr, STACK); /* a refusal leaves the default stack, which is larger */
    w->works = true;                               /* no thread of it looks */
    hpx_sigmask_ours(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    w->begun = pthread_create(&w->thread, &attr, work, w) == 0;
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    pthread_attr_destroy(&attr);
    if (!w->begun) {
        w->works = false;
    }
}

/* One more, if one has nothing to do. It needs no memory of its own. */
static void begin_one(struct hpx_gzip *z)
{
    for (unsigned i = 0; i < z->workers; i++) {
        pthread_mutex_lock(&z->lock);
        bool works = z->worker[i].works;
        pthread_mutex_unlock(&z->lock);
        if (!works) {
            begin_worker(&z->worker[i]);
            return;
        }
    }
}

static bool add_worker(struct hpx_gzip *z)
{
    struct worker *w = &z->worker[z->workers];
    struct block *one = new_block(z), *two = new_block(z);
    *w = (struct worker){.of = z};
    if (one == NULL || two == NULL || init_stream(&w->stream) != Z_OK) {
        free_block(z, one);
        free_block(z, two);
        return false;
    }
    recycle(z, one);
    recycle(z, two);
    z->workers++;
    return true;
}

static void add_workers(struct hpx_gzip *z)
{
    unsigned most = hpx_cpus_spare();
    most = most < HPX_GZIP_WORKERS ? most : HPX_GZIP_WORKERS;
    struct block *kept = most > 0 && hpx_trial_passes(HPX_TRIAL_SETPRIORITY) ? new_block(z) : NULL;
    while (kept != NULL && z->workers < most && add_worker(z)) {
    }
    if (z->workers > 0) {
        recycle(z, kept);
    } else {
        free_block(z, kept);
    }
}

/* The queue is empty: the workers end. Frees all blocks but one. */
static void end_workers(struct hpx_gzip *z)
{
    struct block *b;
    for (unsigned i = 0; i < z->workers; i++) {
        join(&z->worker[i]);
        (void)zlib.end(&z->worker[i].stream);
    }
    z->workers = 0;
    while ((b = take_free(z, z->open == NULL)) != NULL) {
        free_block(z, b);
    }
}

/* ---- the writer's thread ---- */

/* A worker has the oldest block, and there is nothing else to do. */
static int repeat(struct hpx_gzip *z)
{
    struct block *old = z->head, *copy = take_free(z, 0);
    size_t packed = pack(z, &z->stream, old, copy->out);
    pthread_mutex_lock(&z->lock);
    bool late = state(old) == DONE, good = late || packed > 0;
    if (late || !good) {
        push_free(z, copy);
    } else {
        copy->packed = packed;
        copy->next = old->next;
        z->head = copy;
        z->tail = z->tail == &old->next ? &copy->next : z->tail;
        set_state(copy, DONE);
        set_state(old, DROPPED);
    }
    pthread_mutex_unlock(&z->lock);
    return good ? 0 : -1;
}

/* One step towards it: compresses a block. */
static int compress_one(struct hpx_gzip *z, struct block *b)
{
    if (b == NULL) {
        return repeat(z);
    }
    size_t packed = pack(z, &z->stream, b, b->out);
    pthread_mutex_lock(&z->lock);
    b->packed = packed;
    set_state(b, packed > 0 ? DONE : FULL);
    pthread_mutex_unlock(&z->lock);
    return packed > 0 ? 0 : -1;
}

/* Until the oldest block is compressed. */
static int compress_oldest(struct hpx_gzip *z)
{
    for (;;) {
        struct block *b = NULL;
        pthread_mutex_lock(&z->lock);
        if (state(z->head) == DONE && z->head->packed == 0) {
            set_state(z->head, FULL); /* its worker could not */
        }
        bool done = state(z->head) == DONE;
        b = done ? NULL : take_full(z);
        pthread_mutex_unlock(&z->lock);
        if (done) {
            return 0;
        }
        if (compress_one(z, b) != 0) {
            errno = EIO;
            return -1;
        }
    }
}

/* The oldest block goes out. 0; -1: errno, and the call may be repeated. */
static int put_oldest(struct hpx_gzip *z)
{
    if (compress_oldest(z) != 0) {
        return -1;
    }
    struct block *b = z->head;
    while (z->sent < b->packed) {
        ssize_t n = z->to->write(z->ctx, b->out + z->sent, b->packed - z->sent);
        if (n <= 0) {
            errno = n < 0 ? errno : EIO;
            return -1;
        }
        z->sent += (size_t)n;
        z->done += (uint64_t)n;
    }
    z->sent = 0;
    pthread_mutex_lock(&z->lock);
    leave_queue(z);
    push_free(z, b);
    pthread_mutex_unlock(&z->lock);
    return 0;
}

static int drain(struct hpx_gzip *z)
{
    int rc = 0;
    while (rc == 0 && z->head != NULL) {
        rc = put_oldest(z);
    }
    return rc;
}

static struct block *open_block(struct hpx_gzip *z)
{
    while (z->open == NULL && (z->open = take_free(z, z->workers > 0)) == NULL && put_oldest(z) == 0) {
    }
    return z->open;
}

static void end_block(struct hpx_gzip *z)
{
    struct block *b = z->open;
    z->open = NULL;
    b->first = !z->any;
    b->next = NULL;
    z->any = true;
    set_state(b, FULL);
    pthread_mutex_lock(&z->lock);
    *z->tail = b;
    z->tail = &b->next;
    pthread_mutex_unlock(&z->lock);
    if (++z->full == HPX_GZIP_LARGE + 1) {
        add_workers(z);
    }
    begin_one(z);
}

/* Nothing is held back any more, and nobody works. */
static void drop_all(struct hpx_gzip *z)
{
    pthread_mutex_lock(&z->lock);
    while (z->head != NULL) {
        struct block *b = z->head;
        leave_queue(z);
        if (state(b) == TAKEN) {
            set_state(b, DROPPED);
        } else {
            push_free(z, b);
        }
    }
    pthread_mutex_unlock(&z->lock);
    recycle(z, z->open);
    z->open = NULL;
    z->sent = 0;
    z->full = 0;
    end_workers(z);
}

static void forget_point(struct hpx_gzip *z)
{
    free_block(z, z->point.open);
    z->point.open = NULL;
}

struct hpx_gzip *hpx_gzip_new(const struct hpx_out_ops *to, void *ctx, uint32_t block)
{
    struct hpx_gzip *z = calloc(1, sizeof(*z));
    if (z == NULL || init_stream(&z->stream) != Z_OK) {
        free(z);
        return NULL;
    }
    z->to = to;
    z->ctx = ctx;
    z->block = block;
    z->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    z->tail = &z->head;
    snprintf(z->comment, sizeof(z->comment), "HPROF BLOCKSIZE=%u", block);
    z->header = (gz_header){.os = UNIX, .comment = (Bytef *)z->comment};
    (void)zlib.set_header(&z->stream, &z->header);
    z->bound = zlib.bound(&z->stream, block);
    z->open = new_block(z);
    if (z->open == NULL) {
        hpx_gzip_free(z);
        return NULL;
    }
    return z;
}

ssize_t hpx_gzip_write(struct hpx_gzip *z, const void *p, size_t n)
{
    struct block *b = open_block(z);
    if (b == NULL) {
        return -1;
    }
    uint32_t room = z->block - b->n, k = n < room ? (uint32_t)n : room;
    memcpy(b->in + b->n, p, k);
    b->n += k;
    if (b->n == z->block) {
        end_block(z);
    }
    return (ssize_t)k;
}

int hpx_gzip_section(struct hpx_gzip *z)
{
    if ((z->open != NULL && z->open->n > 0) || !z->any) {
        if (open_block(z) == NULL) {
            return -1;
        }
        end_block(z);
    }
    if (drain(z) != 0) {
        return -1;
    }
    forget_point(z);
    drop_all(z);
    z->mark = z->done;
    return 0;
}

int hpx_gzip_truncate(struct hpx_gzip *z)
{
    drop_all(z);
    return z->to->truncate != NULL ? z->to->truncate(z->ctx, (off_t)z->mark) : -1;
}

int hpx_gzip_point(struct hpx_gzip *z)
{
    forget_point(z);
    if (drain(z) != 0) {
        return -1;
    }
    if (z->open != NULL && z->open->n > 0) {
        struct block *copy = new_block(z);
        if (copy == NULL) {
            errno = ENOMEM;
            return -1;
        }
        copy->n = z->open->n;
        memcpy(copy->in, z->open->in, copy->n);
        z->point.open = copy;
    }
    z->point.done = z->done;
    z->point.any = z->any;
    return 0;
}

int hpx_gzip_back(struct hpx_gzip *z)
{
    if (z->to->truncate(z->ctx, (off_t)z->point.done) != 0) {
        return -1;
    }
    drop_all(z);
    z->open = z->point.open;
    z->point.open = NULL;
    z->done = z->point.done;
    z->any = z->point.any;
    return 0;
}

void hpx_gzip_free(struct hpx_gzip *z)
{
    if (z != NULL) {
        drop_all(z);
        forget_point(z);
        free_block(z, take_free(z, 0));
        (void)zlib.end(&z->stream);
        free(z);
    }
}

uint64_t hpx_gzip_workers_cpu(void)
{
    return atomic_load_explicit(&workers_ns, memory_order_relaxed);
}
