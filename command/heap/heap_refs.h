/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_refs.h: the references in the contents of an instance. Inline, because a heap has as many of them as anything. */
#ifndef HPX_HEAP_REFS_H
#define HPX_HEAP_REFS_H

#include "heap_graph.h"

struct hpx_heap_refs {
    const struct hpx_heap_graph *g;
    uint32_t klass; /* of the instance; then the superclass whose fields come next */
    struct hpx_rd_text contents;
    size_t at;     /* in contents */
    uint32_t next; /* field of klass */

    uint64_t id;    /* the reference; 0: null */
    uint32_t field; /* of g->fields */
};

/* The next reference: fields that the class itself declares, then those of its superclasses. false: there is no more, or the contents end.
 */
static inline bool hpx_heap_refs_next(struct hpx_heap_refs *r)
{
    while (r->klass != HPX_HEAP_NO_CLASS && r->at < r->contents.n) {
        const struct hpx_heap_class *c = hpx_heap_class_at(r->g, r->klass);
        const struct hpx_heap_field *f = hpx_heap_fields_of(r->g, c);
        while (r->next < c->fields) {
            uint32_t k = r->next++, size = hpx_type_size(f[k].type, r->g->id_size);
            if (size > r->contents.n - r->at) {
                return false;
            }
            const char *value = r->contents.p + r->at;
            r->at += size;
            if (f[k].type == HPX_TYPE_OBJECT) {
                r->id = hpx_heap_id(r->g, value);
                r->field = c->field + k;
                return true;
            }
        }
        r->klass = c->up;
        r->next = 0;
    }
    return false;
}

#endif
