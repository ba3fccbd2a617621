/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_spool.h: the objects of a heap walk as sub-records of the binary format, into a descriptor (heap_image.h).
 *
 * Everything here may run in a VM operation or in the child of a fork: no malloc, no lock, only async-signal-safe calls. One thread. After
 * a failed write the rest is dropped, and `error` is its errno. */
#ifndef HPX_HEAP_SPOOL_H
#define HPX_HEAP_SPOOL_H

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

/* Offset of the next byte. */
static inline uint64_t hpx_heap_spool_at(const struct hpx_heap_spool *s)
{
    return s->written + s->used;
}

/* An instance with n bytes of fields, cleared; the caller fills them until the next call. */
uint8_t *hpx_heap_spool_instance(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint64_t klass, uint32_t n);
/* Stores a value at a place in an instance: the low bytes, as many as the type has. */
void hpx_heap_spool_value(const struct hpx_heap_spool *s, uint8_t *at, uint8_t type, uint64_t value);
/* An array of n objects: elements by ascending index, then the end; those that do not come are null. Returns the length in the record,
 * which is less than n if the record would be too long. */
uint32_t hpx_heap_spool_objects(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint64_t klass, uint32_t n);
/* false: the index is not above that of the last element. */
bool hpx_heap_spool_element(struct hpx_heap_spool *s, uint32_t index, uint64_t value);
void hpx_heap_spool_objects_end(struct hpx_heap_spool *s);
/* An array of n primitive values; elements: of the machine's byte order, NULL: zeros. Returns as hpx_heap_spool_objects(). */
uint32_t hpx_heap_spool_primitives(struct hpx_heap_spool *s, uint64_t object, uint32_t site, uint8_t type, uint32_t n,
                                   const void *elements);
/* Bytes as they are. */
void hpx_heap_spool_bytes(struct hpx_heap_spool *s, const void *p, size_t n);
/* Writes what is buffered. 0, or errno of the first failure. */
int hpx_heap_spool_flush(struct hpx_heap_spool *s);

#endif
