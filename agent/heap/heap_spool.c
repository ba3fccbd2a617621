/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_spool.c: see heap_spool.h. */
#include "heap_spool.h"
#include "err.h"
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static int init(struct hpx_heap_spool *s, int fd, uint32_t id_size, size_t size, _Atomic uint64_t *end)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *s = (struct hpx_heap_spool){
        .fd = fd, .id_size = id_size, .buffer = p, .size = size, .used = HPX_RECORD_HEAD, .elements = p, .end = end};
    return p != MAP_FAILED ? 0 : -HPX_E_NOMEM;
}

int hpx_heap_spool_init(struct hpx_heap_spool *s, int fd, uint32_t id_size, size_t least)
{
    size_t largest = HPX_RECORD_HEAD + least + HPX_HEAP_SPOOL_HEAD;
    return init(s, fd, id_size, largest > HPX_HEAP_SEGMENT ? largest : HPX_HEAP_SEGMENT, &s->first_end);
}

int hpx_heap_spool_join(struct hpx_heap_spool *s, const struct hpx_heap_spool *first)
{
    return init(s, first->fd, first->id_size, first->size, first->end);
}

void hpx_heap_spool_fini(struct hpx_heap_spool *s)
{
    if (s->buffer != NULL && s->buffer != MAP_FAILED) {
        munmap(s->buffer, s->size);
    }
    s->buffer = NULL;
}

int hpx_heap_spool_write(int fd, const uint8_t *p, size_t n, uint64_t at)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = pwrite(fd, p + done, n - done, (off_t)(at + done));
        if (k == 0 || (k < 0 && errno != EINTR)) {
            return k == 0 ? ENOSPC : errno;
        }
        done += k > 0 ? (size_t)k : 0;
    }
    return 0;
}

static void write_all(struct hpx_heap_spool *s, const uint8_t *p, size_t n)
{
    s->error = s->error != 0 ? s->error : hpx_heap_spool_write(s->fd, p, n, s->at);
    s->at += n;
}

/* The next n bytes that are written lie together. */
static void reserve(struct hpx_heap_spool *s, uint64_t n)
{
    s->at = atomic_fetch_add_explicit(s->end, n, memory_order_relaxed);
}

/* rest: bytes of the segment that are not in the buffer. */
static void put_head(struct hpx_heap_spool *s, uint32_t rest)
{
    reserve(s, s->used + rest);
    (void)hpx_put_record(s->buffer, HPX_TAG_SEGMENT, s->sites != 0, (uint32_t)(s->used - HPX_RECORD_HEAD) + rest);
}

static void begin_segment(struct hpx_heap_spool *s)
{
    s->used = HPX_RECORD_HEAD;
    s->sites = 0;
}

int hpx_heap_spool_flush(struct hpx_heap_spool *s)
{
    if (s->used > HPX_RECORD_HEAD) {
        put_head(s, 0);
        write_all(s, s->buffer, s->used);
        begin_segment(s);
    }
    return s->error;
}

void hpx_heap_spool_bytes(struct hpx_heap_spool *s, const void *p, size_t n)
{
    (void)hpx_heap_spool_flush(s);
    reserve(s, n);
    write_all(s, p, n);
}

uint64_t hpx_heap_spool_at(struct hpx_heap_spool *s)
{
    (void)hpx_heap_spool_flush(s);
    return atomic_load_explicit(s->end, memory_order_relaxed);
}

/* ---- sub-records longer than a segment ---- */

/* A place for some of n bytes; *now: how many. */
static uint8_t *piece(struct hpx_heap_spool *s, uint64_t n, size_t *now)
{
    if (s->size - s->used < 8) {
        write_all(s, s->buffer, s->used);
        s->used = 0;
    }
    *now = s->size - s->used < n ? (s->size - s->used) & ~(size_t)7 : (size_t)n;
    s->used += *now;
    return s->buffer + s->used - *now;
}

static void nulls(struct hpx_heap_spool *s, uint64_t n)
{
    for (size_t now; n > 0; n -= now) {
        uint8_t *at = piece(s, n, &now);
        memset(at, 0, now);
    }
}

static void end_segment(struct hpx_heap_spool *s)
{
    write_all(s, s->buffer, s->used);
    begin_segment(s);
}

void hpx_heap_spool_far_objects(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint64_t klass)
{
    (void)hpx_heap_spool_flush(s);
    s->sites = site;
    uint8_t *at = hpx_heap_spool_head(s->id_size, s->buffer + s->used, HPX_SUB_OBJECTS, object, site);
    at = hpx_heap_spool_id(s->id_size, hpx_put_be4(at, s->length), klass);
    s->used = (size_t)(at - s->buffer);
    s->elements = NULL;
    put_head(s, s->length * s->id_size);
}

void hpx_heap_spool_far_element(struct hpx_heap_spool *s, uint32_t index, uint64_t value)
{
    size_t now;
    nulls(s, (uint64_t)(index - s->next) * s->id_size);
    uint8_t *at = piece(s, s->id_size, &now);
    (void)hpx_heap_spool_id(s->id_size, at, value);
    s->next = index + 1;
}

void hpx_heap_spool_far_end(struct hpx_heap_spool *s)
{
    nulls(s, (uint64_t)(s->length - s->next) * s->id_size);
    end_segment(s);
    s->length = s->next = 0;
    s->elements = s->buffer;
}

void hpx_heap_spool_far_primitives(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint8_t type, uint32_t n, const void *elements)
{
    const uint8_t *from = elements;
    uint32_t size = hpx_type_size(type, s->id_size);
    uint64_t bytes = (uint64_t)n * size;
    (void)hpx_heap_spool_flush(s);
    s->sites = site;
    uint8_t *at = hpx_heap_spool_head(s->id_size, s->buffer + s->used, HPX_SUB_PRIMITIVES, object, site);
    s->used = (size_t)(hpx_put_be1(hpx_put_be4(at, n), type) - s->buffer);
    put_head(s, (uint32_t)bytes);
    if (from == NULL) {
        nulls(s, bytes);
    }
    for (size_t now; from != NULL && bytes > 0; bytes -= now, from += now) {
        at = piece(s, bytes, &now);
        if (size == 1) {
            memcpy(at, from, now);
        } else {
            hpx_heap_spool_convert(at, from, size, now / size);
        }
    }
    end_segment(s);
}

/* ---- byte order ---- */

#if __BYTE_ORDER == __LITTLE_ENDIAN
/* The values in 8 bytes, each with its bytes in the other order. */
static inline uint64_t swapped(uint64_t v, uint32_t size)
{
    const uint64_t low = UINT64_C(0x00FF00FF00FF00FF);
    v = size == 2 ? (v & low) << 8 | (v >> 8 & low) : __builtin_bswap64(v);
    return size == 4 ? v << 32 | v >> 32 : v;
}

static inline void convert_all(uint8_t *at, const uint8_t *from, uint32_t size, size_t bytes)
{
    uint64_t v = 0;
    size_t i = 0;
    for (; i + 8 <= bytes; i += 8) {
        memcpy(&v, from + i, 8);
        v = swapped(v, size);
        memcpy(at + i, &v, 8);
    }
    if (i < bytes) {
        memcpy(&v, from + i, bytes - i);
        v = swapped(v, size);
        memcpy(at + i, &v, bytes - i);
    }
}
#endif

void hpx_heap_spool_convert(uint8_t *at, const void *elements, uint32_t size, size_t n)
{
#if __BYTE_ORDER == __LITTLE_ENDIAN
    switch (size) { /* a loop for each: in one loop the choice would be made for all 8 bytes */
    case 2:
        convert_all(at, elements, 2, 2 * n);
        break;
    case 4:
        convert_all(at, elements, 4, 4 * n);
        break;
    default:
        convert_all(at, elements, 8, 8 * n);
        break;
    }
#else
    memcpy(at, elements, size * n);
#endif
}
