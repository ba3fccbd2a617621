/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_spool.c: see heap_spool.h. */
#include "heap_spool.h"
#include "big_endian.h"
#include "err.h"
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFER ((size_t)4 << 20)
#define HEAD   64u /* more than the head of any sub-record */

int hpx_heap_spool_init(struct hpx_heap_spool *s, int fd, uint32_t id_size, size_t least)
{
    size_t size = BUFFER + (least + HEAD > BUFFER ? least + HEAD : 0);
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

static uint8_t *room(struct hpx_heap_spool *s, size_t n)
{
    if (n > s->size - s->used) {
        (void)hpx_heap_spool_flush(s);
    }
    return s->buffer + s->used;
}

static uint8_t *put_id(const struct hpx_heap_spool *s, uint8_t *at, uint64_t id)
{
    return s->id_size == 8 ? hpx_be8(at, id) : hpx_be4(at, (uint32_t)id);
}

static uint8_t *put_head(const struct hpx_heap_spool *s, uint8_t *at, uint8_t sub, uint64_t object, uint32_t site)
{
    return hpx_be4(put_id(s, hpx_be1(at, sub), object), site);
}

static void end_at(struct hpx_heap_spool *s, const uint8_t *at)
{
    s->used = (size_t)(at - s->buffer);
}

uint8_t *hpx_heap_spool_instance(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint64_t klass, uint32_t n)
{
    uint8_t *at = put_head(s, room(s, (size_t)HEAD + n), HPX_HEAP_SUB_INSTANCE, object, site);
    at = hpx_be4(put_id(s, at, klass), n);
    memset(at, 0, n);
    end_at(s, at + n);
    return at;
}

void hpx_heap_spool_value(const struct hpx_heap_spool *s, uint8_t *at, uint8_t type, uint64_t value)
{
    switch (hpx_heap_size_of(type, s->id_size)) {
    case 1:
        (void)hpx_be1(at, (uint8_t)value);
        break;
    case 2:
        (void)hpx_be2(at, (uint16_t)value);
        break;
    case 4:
        (void)hpx_be4(at, (uint32_t)value);
        break;
    default:
        (void)hpx_be8(at, value);
        break;
    }
}

/* How many elements of `each` bytes fit into a record after `fixed` bytes. */
static uint32_t fit(uint32_t n, uint32_t fixed, uint32_t each)
{
    uint32_t most = (UINT32_MAX - fixed) / each;
    return n < most ? n : most;
}

static void zeros(struct hpx_heap_spool *s, uint64_t n)
{
    while (n > 0) {
        uint8_t *at = room(s, n < s->size ? (size_t)n : s->size);
        size_t now = s->size - s->used < n ? s->size - s->used : (size_t)n;
        memset(at, 0, now);
        s->used += now;
        n -= now;
    }
}

uint32_t hpx_heap_spool_objects(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint64_t klass, uint32_t n)
{
    uint8_t *at = put_head(s, room(s, HEAD), HPX_HEAP_SUB_OBJECTS, object, site);
    s->length = fit(n, 9 + 2 * s->id_size, s->id_size);
    s->next = 0;
    end_at(s, put_id(s, hpx_be4(at, s->length), klass));
    return s->length;
}

bool hpx_heap_spool_element(struct hpx_heap_spool *s, uint32_t index, uint64_t value)
{
    if (index < s->next) {
        return false;
    }
    if (index >= s->length) {
        return true; /* cut */
    }
    zeros(s, (uint64_t)(index - s->next) * s->id_size);
    end_at(s, put_id(s, room(s, s->id_size), value));
    s->next = index + 1;
    return true;
}

void hpx_heap_spool_objects_end(struct hpx_heap_spool *s)
{
    zeros(s, (uint64_t)(s->length - s->next) * s->id_size);
    s->next = s->length;
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

uint32_t hpx_heap_spool_primitives(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint8_t type, uint32_t n, const void *elements)
{
    uint32_t size = hpx_heap_size_of(type, s->id_size);
    uint8_t *at = put_head(s, room(s, HEAD), HPX_HEAP_SUB_PRIMITIVES, object, site);
    n = fit(n, 10 + s->id_size, size);
    end_at(s, hpx_be1(hpx_be4(at, n), type));
    if (elements == NULL) {
        zeros(s, (uint64_t)n * size);
        return n;
    }
    for (size_t i = 0, now; i < n; i += now) {
        at = room(s, (n - i) * (size_t)size < s->size ? (n - i) * (size_t)size : s->size);
        now = (s->size - s->used) / size < n - i ? (s->size - s->used) / size : n - i;
        s->used += convert(at, elements, size, i, now);
    }
    return n;
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
