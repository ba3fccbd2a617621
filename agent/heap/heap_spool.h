/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_spool.h: the objects of a heap walk as segments of the binary format, into a descriptor (heap_image.h).
 *
 * Everything here may run in a VM operation or in the child of a fork: no malloc, no lock, only async-signal-safe calls. One thread for
 * each writer. After a failed write the rest is dropped, and `error` is not 0. */
#ifndef HPX_HEAP_SPOOL_H
#define HPX_HEAP_SPOOL_H

#include "heap_image.h"
#include <stdatomic.h>

struct hpx_heap_spool {
    int fd, error;
    uint32_t id_size;
    uint8_t *buffer; /* a segment */
    size_t size, used;
    _Atomic uint64_t first_end, *end; /* relaxed: where the file ends; of several writers that of the first one */
    uint64_t at;                      /* where what is left of a record goes */
    uint32_t sites;                   /* 0: no sub-record of the segment has a site */
    uint32_t length, next;            /* of the last object array */
    uint8_t *elements;                /* of it; NULL: longer than a segment, it goes out piece by piece */
};

/* least: bytes of the largest instance. Maps the buffer; 0 or -HPX_E_NOMEM. The file is empty; *s is not moved; first_end may be set. */
int hpx_heap_spool_init(struct hpx_heap_spool *s, int fd, uint32_t id_size, size_t least);
/* One more writer of a file, on another thread or in another process that has the same memory: segments of both come in any order. */
int hpx_heap_spool_join(struct hpx_heap_spool *s, const struct hpx_heap_spool *first);
void hpx_heap_spool_fini(struct hpx_heap_spool *s);

/* Ends the segment and writes it. 0, or errno of the first failure. Not inside an object array. */
int hpx_heap_spool_flush(struct hpx_heap_spool *s);
/* Ends the segment. Where the file ends. Not inside an object array; no other writer has an open segment. */
uint64_t hpx_heap_spool_at(struct hpx_heap_spool *s);

/* All n bytes to this offset of a file. 0 or errno. */
int hpx_heap_spool_write(int fd, const uint8_t *p, size_t n, uint64_t at);

#define HPX_HEAP_SPOOL_HEAD 64u /* more than the head of any sub-record, and 16 bytes that may be written beyond the end */

/* The functions of the common objects are inline: the walk calls them once per object and field. */

/* A place for a sub-record of n bytes. */
static inline uint8_t *hpx_heap_spool_room(struct hpx_heap_spool *s, size_t n)
{
    if (hpx_unlikely(s->used + n > HPX_HEAP_SEGMENT)) {
        (void)hpx_heap_spool_flush(s);
    }
    return s->buffer + s->used;
}

/* id_size is an argument because the compiler takes every byte stored for a change of *s, and would load it again. */
static inline uint8_t *hpx_heap_spool_id(uint32_t id_size, uint8_t *at, uint64_t id)
{
    return hpx_likely(id_size == 8) ? hpx_put_be8(at, id) : hpx_put_be4(at, (uint32_t)id);
}

/* Of an object without a site: the trace that the file has for it. */
static inline uint8_t *hpx_heap_spool_head(uint32_t id_size, uint8_t *at, uint8_t sub, uint64_t object, uint32_t site)
{
    return hpx_put_be4(hpx_heap_spool_id(id_size, hpx_put_be1(at, sub), object), site != 0 ? site | HPX_HEAP_SITE : HPX_SERIAL_TRACE);
}

/* May write up to 15 bytes more; shorter than a call of memset(). */
static inline void hpx_heap_spool_clear(uint8_t *at, size_t n)
{
    if (hpx_unlikely(n > 256)) {
        memset(at, 0, n);
        return;
    }
    for (size_t i = 0; i < n; i += 16) {
        memset(at + i, 0, 16);
    }
}

/* An instance with n bytes of fields, cleared; the caller fills them until the next call. */
static inline uint8_t *hpx_heap_spool_instance(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint64_t klass, uint32_t n)
{
    const uint32_t ids = s->id_size;
    uint8_t *at = hpx_heap_spool_room(s, (size_t)HPX_HEAP_SPOOL_HEAD + n);
    s->used += 9 + 2 * (size_t)ids + n;
    s->sites |= site;
    at = hpx_heap_spool_head(ids, at, HPX_SUB_INSTANCE, object, site);
    at = hpx_put_be4(hpx_heap_spool_id(ids, at, klass), n);
    hpx_heap_spool_clear(at, n);
    return at;
}

/* Stores a value at a place in an instance: the low bytes, as many as the type has. */
static inline void hpx_heap_spool_value(const struct hpx_heap_spool *s, uint8_t *at, uint8_t type, uint64_t value)
{
    switch (hpx_type_size(type, s->id_size)) {
    case 1:
        (void)hpx_put_be1(at, (uint8_t)value);
        break;
    case 2:
        (void)hpx_put_be2(at, (uint16_t)value);
        break;
    case 4:
        (void)hpx_put_be4(at, (uint32_t)value);
        break;
    default:
        (void)hpx_put_be8(at, value);
        break;
    }
}

/* How many elements of `each` bytes a record holds after `fixed` bytes. */
static inline uint32_t hpx_heap_spool_fit(uint32_t n, uint32_t fixed, uint32_t each)
{
    uint32_t most = each != 0 ? (UINT32_MAX - fixed) / each : 0; /* each is constant where this matters */
    return n < most ? n : most;
}

#define HPX_HEAP_SPOOL_MOST (HPX_HEAP_SEGMENT - HPX_RECORD_HEAD - HPX_HEAP_SPOOL_HEAD) /* bytes of the elements of an array */

/* Arrays beyond HPX_HEAP_SPOOL_MOST. */
void hpx_heap_spool_far_objects(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint64_t klass);
void hpx_heap_spool_far_element(struct hpx_heap_spool *s, uint32_t index, uint64_t value);
void hpx_heap_spool_far_end(struct hpx_heap_spool *s);
void hpx_heap_spool_far_primitives(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint8_t type, uint32_t n,
                                   const void *elements);

/* An array of n objects: elements by ascending index, then the end; those that do not come are null. Returns the length in the record,
 * which is less than n if the record would be too long. */
static inline uint32_t hpx_heap_spool_objects(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint64_t klass, uint32_t n)
{
    const uint32_t ids = s->id_size, length = ids == 8 ? hpx_heap_spool_fit(n, 25, 8) : hpx_heap_spool_fit(n, 17, 4);
    const size_t bytes = (size_t)length * ids;
    s->length = length;
    s->next = 0;
    if (hpx_unlikely(bytes > HPX_HEAP_SPOOL_MOST)) {
        hpx_heap_spool_far_objects(s, object, site, klass);
        return length;
    }
    uint8_t *at = hpx_heap_spool_room(s, HPX_HEAP_SPOOL_HEAD + bytes);
    s->used += 9 + 2 * (size_t)ids + bytes;
    s->sites |= site;
    s->elements = at + 9 + 2 * (size_t)ids;
    at = hpx_heap_spool_head(ids, at, HPX_SUB_OBJECTS, object, site);
    hpx_heap_spool_clear(hpx_heap_spool_id(ids, hpx_put_be4(at, length), klass), bytes);
    return length;
}
/* false: the index is not above that of the last element. */
static inline bool hpx_heap_spool_element(struct hpx_heap_spool *s, uint32_t index, uint64_t value)
{
    if (hpx_unlikely(index < s->next || index >= s->length)) {
        return index >= s->next; /* behind the cut */
    }
    if (hpx_unlikely(s->elements == NULL)) {
        hpx_heap_spool_far_element(s, index, value);
        return true;
    }
    s->next = index + 1;
    if (hpx_likely(s->id_size == 8)) {
        (void)hpx_put_be8(s->elements + 8 * (size_t)index, value);
    } else {
        (void)hpx_put_be4(s->elements + 4 * (size_t)index, (uint32_t)value);
    }
    return true;
}
static inline void hpx_heap_spool_objects_end(struct hpx_heap_spool *s)
{
    if (hpx_unlikely(s->elements == NULL)) {
        hpx_heap_spool_far_end(s);
    }
}

/* n values of 2, 4 or 8 bytes from the machine's byte order; neither place needs alignment. */
void hpx_heap_spool_convert(uint8_t *at, const void *elements, uint32_t size, size_t n);
/* An array of n primitive values; elements: of the machine's byte order, NULL: zeros. Returns as hpx_heap_spool_objects(). */
static inline uint32_t hpx_heap_spool_primitives(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint8_t type, uint32_t n,
                                                 const void *elements)
{
    const uint32_t ids = s->id_size, size = hpx_type_size(type, ids);
    n = hpx_likely(n < UINT32_MAX / 16) ? n : hpx_heap_spool_fit(n, 10 + ids, size);
    const size_t bytes = (size_t)n * size;
    if (hpx_unlikely(bytes > HPX_HEAP_SPOOL_MOST)) {
        hpx_heap_spool_far_primitives(s, object, site, type, n, elements);
        return n;
    }
    uint8_t *at = hpx_heap_spool_room(s, HPX_HEAP_SPOOL_HEAD + bytes);
    s->used += 10 + (size_t)ids + bytes;
    s->sites |= site;
    at = hpx_heap_spool_head(ids, at, HPX_SUB_PRIMITIVES, object, site);
    at = hpx_put_be1(hpx_put_be4(at, n), type);
    if (elements == NULL) {
        hpx_heap_spool_clear(at, bytes);
    } else if (size == 1) {
        memcpy(at, elements, bytes);
    } else {
        hpx_heap_spool_convert(at, elements, size, n);
    }
    return n;
}

/* Bytes as they are, outside of segments. */
void hpx_heap_spool_bytes(struct hpx_heap_spool *s, const void *p, size_t n);

#endif
