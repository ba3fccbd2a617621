/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_spool.c: see heap_spool.h. */
#include "heap_spool.h"
#include "err.h"
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFER ((size_t)4 << 20)

int hpx_heap_spool_init(struct hpx_heap_spool *s, int fd, uint32_t id_size, size_t least)
{
    size_t size = BUFFER + (least + HPX_HEAP_SPOOL_HEAD > BUFFER ? least + HPX_HEAP_SPOOL_HEAD : 0);
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *s = (struct hpx_heap_spool){.fd = fd, .id_size = id_size, .buffer = p, .size = size};
    return p != MAP_FAILED ? 0 : -HPX_E_NOMEM;
}

void hpx_heap_spool_fini(struct hpx_heap_spool *s)
{
    if (s->buffer != NULL && s->buffer != MAP_FAILED) {
        munmap(s->buffer, s->size);
    }
    s->buffer = NULL;
}

static void write_all(struct hpx_heap_spool *s, const uint8_t *p, size_t n)
{
    while (n > 0 && s->error == 0) {
        ssize_t k = write(s->fd, p, n);
        if (k > 0) {
            p += k;
            n -= (size_t)k;
            s->written += (uint64_t)k;
        } else if (k == 0 || errno != EINTR) {
            s->error = k == 0 ? ENOSPC : errno;
        }
    }
}

int hpx_heap_spool_flush(struct hpx_heap_spool *s)
{
    write_all(s, s->buffer, s->used);
    s->used = 0;
    return s->error;
}

static void zeros(struct hpx_heap_spool *s, uint64_t n)
{
    while (n > 0) {
        uint8_t *at = hpx_heap_spool_room(s, n < s->size ? (size_t)n : s->size);
        size_t now = s->size - s->used < n ? s->size - s->used : (size_t)n;
        memset(at, 0, now);
        s->used += now;
        n -= now;
    }
}

void hpx_heap_spool_more_nulls(struct hpx_heap_spool *s, uint64_t n)
{
    zeros(s, n * s->id_size);
}

/* Elements from `first` on, as many as fit into `most` bytes, at `at`. */
static size_t convert(uint8_t *at, const void *elements, uint32_t size, size_t first, size_t n)
{
    const uint8_t *from = (const uint8_t *)elements + first * size;
    switch (size) {
    case 1:
        memcpy(at, from, n);
        break;
    case 2:
        for (size_t i = 0; i < n; i++) {
            uint16_t v;
            memcpy(&v, from + 2 * i, sizeof v);
            (void)hpx_be2(at + 2 * i, v);
        }
        break;
    case 4:
        for (size_t i = 0; i < n; i++) {
            uint32_t v;
            memcpy(&v, from + 4 * i, sizeof v);
            (void)hpx_be4(at + 4 * i, v);
        }
        break;
    default:
        for (size_t i = 0; i < n; i++) {
            uint64_t v;
            memcpy(&v, from + 8 * i, sizeof v);
            (void)hpx_be8(at + 8 * i, v);
        }
        break;
    }
    return n * size;
}

void hpx_heap_spool_elements(struct hpx_heap_spool *s, uint32_t size, uint32_t n, const void *elements)
{
    if (elements == NULL) {
        zeros(s, (uint64_t)n * size);
        return;
    }
    for (size_t i = 0, now; i < n; i += now) {
        uint8_t *at = hpx_heap_spool_room(s, (n - i) * (size_t)size < s->size ? (n - i) * (size_t)size : s->size);
        now = (s->size - s->used) / size < n - i ? (s->size - s->used) / size : n - i;
        s->used += convert(at, elements, size, i, now);
    }
}

void hpx_heap_spool_bytes(struct hpx_heap_spool *s, const void *p, size_t n)
{
    if (n > s->size - s->used) {
        (void)hpx_heap_spool_flush(s);
    }
    if (n > s->size) {
        write_all(s, p, n);
        return;
    }
    memcpy(s->buffer + s->used, p, n);
    s->used += n;
}
