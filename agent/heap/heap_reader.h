/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_reader.h: what the spool of a heap image has (heap_image.h): facts and roots in memory, objects segment by segment.
 *
 * The writer's thread only. */
#ifndef HPX_HEAP_READER_H
#define HPX_HEAP_READER_H

#include "heap_image.h"

/* ---- facts and roots ---- */

struct hpx_heap_facts {
    struct hpx_heap_fact *facts; /* ordered by class */
    struct hpx_heap_root_fact *roots;
    uint32_t *first; /* by class number: of its facts, for classes below nclasses; first[nclasses]: the end */
};
/* 0, -HPX_E_NOMEM, -HPX_E_IO. */
int hpx_heap_facts_read(struct hpx_heap_facts *f, const struct hpx_heap_image *i);
void hpx_heap_facts_free(struct hpx_heap_facts *f);
/* The value of a fact of this class; 0: it has none of that kind and index. */
uint64_t hpx_heap_fact_of(const struct hpx_heap_facts *f, struct hpx_class_number number, uint8_t kind, uint32_t index);
/* The kind of a root. *t: the thread that it names; NULL of other kinds. A root whose thread was not listed, because it started later, is
 * HPX_ROOT_UNKNOWN. */
uint32_t hpx_heap_kind_of_root(const struct hpx_heap_image *i, const struct hpx_heap_root_fact *r, const struct hpx_heap_thread **t);
/* Number of the root's frame in the trace of its thread; -1: it has none. */
int32_t hpx_heap_frame(const struct hpx_heap_thread *t, const struct hpx_heap_root_fact *r);
/* The class of an id of a class object; NULL: none. */
static inline const struct hpx_heap_klass *hpx_heap_class_of(const struct hpx_heap_image *i, uint64_t id)
{
    return id >= HPX_CLASS_OBJECT_FIRST && id - HPX_CLASS_OBJECT_FIRST < i->nclasses ? i->classes[id - HPX_CLASS_OBJECT_FIRST] : NULL;
}

/* ---- objects ---- */

struct hpx_heap_reader {
    const struct hpx_heap_image *image;
    uint8_t *segment; /* space for its head, then `have` bytes of its body */
    size_t size, have;
    uint32_t length;        /* of the body */
    uint32_t rest;          /* bytes of it that are still to come; not 0: it is one sub-record */
    bool sites;             /* a sub-record names a site */
    uint64_t offset, freed; /* of the spool: of what is read next; the disk space before it was freed */
    int error;
};
/* 0, -HPX_E_NOMEM. */
int hpx_heap_reader_init(struct hpx_heap_reader *r, const struct hpx_heap_image *i);
void hpx_heap_reader_fini(struct hpx_heap_reader *r);
/* Reads the next segment, which stays valid until the next call; what is left of the last one is passed over. false: the end, or
 * r->error is -HPX_E_IO. */
bool hpx_heap_reader_next(struct hpx_heap_reader *r);
/* Reads the next piece of a segment with a rest; pieces end between the elements of an array of objects. Results as hpx_heap_reader_next().
 */
bool hpx_heap_reader_more(struct hpx_heap_reader *r);
/* Only the head of the next segment: all of its body is its rest. Results as hpx_heap_reader_next(). */
bool hpx_heap_reader_head(struct hpx_heap_reader *r);
/* Passes over n bytes of the rest. */
void hpx_heap_reader_skip(struct hpx_heap_reader *r, size_t n);
static inline uint8_t *hpx_heap_reader_body(const struct hpx_heap_reader *r)
{
    return r->segment + HPX_RECORD_HEAD;
}
/* Length of the sub-record at p, of which n bytes are there; 0: too few to tell. */
uint64_t hpx_heap_sub_length(uint32_t id_size, const uint8_t *p, size_t n);
/* The site of an object from the bytes in the place of its trace; without one: above all sites. */
static inline uint32_t hpx_heap_site_at(const uint8_t *p)
{
    return hpx_get_be4(p) ^ HPX_HEAP_SITE;
}

#endif
