/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_spool.h: the objects of a heap walk as sub-records of the binary format, into a descriptor (heap_image.h).
 *
 * Everything here may run in a VM operation or in the child of a fork: no malloc, no lock, only async-signal-safe calls. One thread. After
 * a failed write the rest is dropped, and `error` is its errno. */
#ifndef HPX_HEAP_SPOOL_H
#define HPX_HEAP_SPOOL_H

#include "big_endian.h"
#include "heap_image.h"

struct hpx_heap_spool {
    int fd, error;
    uint32_t id_size;
    uint8_t *buffer;
    size_t size, used;
    uint64_t written;      /* bytes that went to fd */
    uint32_t length, next; /* of an open object array */
};

/* least: bytes of the largest instance. Maps the buffer; 0 or -HPX_E_NOMEM. */
int hpx_heap_spool_init(struct hpx_heap_spool *s, int fd, uint32_t id_size, size_t least);
void hpx_heap_spool_fini(struct hpx_heap_spool *s);

/* Writes what is buffered. 0, or errno of the first failure. */
int hpx_heap_spool_flush(struct hpx_heap_spool *s);
/* Offset of the next byte. */
static inline uint64_t hpx_heap_spool_at(const struct hpx_heap_spool *s)
{
    return s->written + s->used;
}

#define HPX_HEAP_SPOOL_HEAD 64u /* more than the head of any sub-record */

/* The functions of the common objects are inline: the walk calls them once per object and field. */
static inline uint8_t *hpx_heap_spool_room(struct hpx_heap_spool *s, size_t n)
{
    if (hpx_unlikely(n > s->size - s->used)) {
        (void)hpx_heap_spool_flush(s);
    }
    return s->buffer + s->used;
}

static inline uint8_t *hpx_heap_spool_id(const struct hpx_heap_spool *s, uint8_t *at, uint64_t id)
{
    return hpx_likely(s->id_size == 8) ? hpx_be8(at, id) : hpx_be4(at, (uint32_t)id);
}

static inline uint8_t *hpx_heap_spool_head(const struct hpx_heap_spool *s, uint8_t *at, uint8_t sub, uint64_t object, uint32_t site)
{
    return hpx_be4(hpx_heap_spool_id(s, hpx_be1(at, sub), object), site);
}

/* An instance with n bytes of fields, cleared; the caller fills them until the next call. */
static inline uint8_t *hpx_heap_spool_instance(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint64_t klass, uint32_t n)
{
    uint8_t *at = hpx_heap_spool_room(s, (size_t)HPX_HEAP_SPOOL_HEAD + n);
    at = hpx_heap_spool_head(s, at, HPX_HEAP_SUB_INSTANCE, object, site);
    at = hpx_be4(hpx_heap_spool_id(s, at, klass), n);
    for (uint32_t i = 0; i < n; i += 16) { /* the room has 16 bytes more; shorter than a call of memset() */
        memset(at + i, 0, 16);
    }
    s->used = (size_t)(at + n - s->buffer);
    return at;
}

/* Stores a value at a place in an instance: the low bytes, as many as the type has. */
static inline void hpx_heap_spool_value(const struct hpx_heap_spool *s, uint8_t *at, uint8_t type, uint64_t value)
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

/* n null elements of an array of objects. */
void hpx_heap_spool_more_nulls(struct hpx_heap_spool *s, uint64_t n);
static inline void hpx_heap_spool_nulls(struct hpx_heap_spool *s, uint32_t n)
{
    if (n == 1 && s->size - s->used >= 8) { /* most of them */
        memset(s->buffer + s->used, 0, 8);
        s->used += s->id_size;
    } else {
        hpx_heap_spool_more_nulls(s, n);
    }
}

/* How many elements of `each` bytes a record holds after `fixed` bytes. */
static inline uint32_t hpx_heap_spool_fit(uint32_t n, uint32_t fixed, uint32_t each)
{
    uint32_t most = each != 0 ? (UINT32_MAX - fixed) / each : 0; /* each is constant where this matters */
    return n < most ? n : most;
}

/* An array of n objects: elements by ascending index, then the end; those that do not come are null. Returns the length in the record,
 * which is less than n if the record would be too long. */
static inline uint32_t hpx_heap_spool_objects(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint64_t klass, uint32_t n)
{
    uint8_t *at = hpx_heap_spool_head(s, hpx_heap_spool_room(s, HPX_HEAP_SPOOL_HEAD), HPX_HEAP_SUB_OBJECTS, object, site);
    s->length = s->id_size == 8 ? hpx_heap_spool_fit(n, 25, 8) : hpx_heap_spool_fit(n, 17, 4);
    s->next = 0;
    s->used = (size_t)(hpx_heap_spool_id(s, hpx_be4(at, s->length), klass) - s->buffer);
    return s->length;
}
/* false: the index is not above that of the last element. */
static inline bool hpx_heap_spool_element(struct hpx_heap_spool *s, uint32_t index, uint64_t value)
{
    if (hpx_unlikely(index < s->next || index >= s->length)) {
        return index >= s->next; /* behind the cut */
    }
    if (index > s->next) {
        hpx_heap_spool_nulls(s, index - s->next);
    }
    s->used = (size_t)(hpx_heap_spool_id(s, hpx_heap_spool_room(s, s->id_size), value) - s->buffer);
    s->next = index + 1;
    return true;
}
static inline void hpx_heap_spool_objects_end(struct hpx_heap_spool *s)
{
    if (s->length > s->next) {
        hpx_heap_spool_nulls(s, s->length - s->next);
    }
    s->next = s->length;
}

/* The elements of an array of primitive values, after its head. */
void hpx_heap_spool_elements(struct hpx_heap_spool *s, uint32_t size, uint32_t n, const void *elements);
/* An array of n primitive values; elements: of the machine's byte order, NULL: zeros. Returns as hpx_heap_spool_objects(). */
static inline uint32_t hpx_heap_spool_primitives(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint8_t type, uint32_t n,
                                                 const void *elements)
{
    uint32_t size = hpx_heap_size_of(type, s->id_size);
    uint8_t *at = hpx_heap_spool_head(s, hpx_heap_spool_room(s, HPX_HEAP_SPOOL_HEAD), HPX_HEAP_SUB_PRIMITIVES, object, site);
    n = hpx_likely(n < UINT32_MAX / 16) ? n : hpx_heap_spool_fit(n, 10 + s->id_size, size);
    s->used = (size_t)(hpx_be1(hpx_be4(at, n), type) - s->buffer);
    hpx_heap_spool_elements(s, size, n, elements);
    return n;
}

/* Bytes as they are. */
void hpx_heap_spool_bytes(struct hpx_heap_spool *s, const void *p, size_t n);

#endif
