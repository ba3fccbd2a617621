/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_graph.h: a heap dump of a binary HPROF file as arrays: objects, their classes and sizes, and who refers to whom.
 *
 * Sizes are estimates, as those of other readers of HPROF: the file has the bytes of fields alone, and references in it have the size of
 * ids. Headers, references, and the place of elements are those of several kinds of HotSpot's; the one counts that fits most of the
 * distances between neighbours in the heap. Sizes are multiples of 8 bytes. A class object has the fields of java.lang.Class and its static
 * ones.
 *
 * An object also refers to its class object, as Eclipse MAT counts it; a class object to its superclass, loader, signers, protection
 * domain, what its static fields and constants refer to. Left out are references to what is not in the dump, and the referents of weak and
 * phantom references, which keep nothing alive. */
#ifndef HPX_HEAP_GRAPH_H
#define HPX_HEAP_GRAPH_H

#include "definitions.h"
#include "reader.h"

#define HPX_HEAP_NO_CLASS UINT32_MAX

struct hpx_heap_class {
    uint64_t id, super_id;   /* of class objects; 0: the file does not tell */
    char *name;              /* as people write it: p.C, int[] */
    uint64_t objects, bytes; /* of that class itself */
    uint64_t empty;          /* of them, arrays without elements */
    uint32_t node;           /* its class object; 0: it is not in the dump */
    uint32_t super;          /* a class; HPX_HEAP_NO_CLASS: none */
    /* Fields that it declares itself, those of superclasses behind them in an instance: */
    uint32_t field, fields; /* of `fields` of the graph */
    uint32_t up;            /* the next class above that has fields; HPX_HEAP_NO_CLASS: none */
    uint32_t depth;         /* superclasses */
    uint32_t statics_refs, statics_bytes;
    uint64_t all_refs, all_bytes; /* references, and bytes of other fields, with those of superclasses */
    uint64_t padded[3];           /* bytes of both, as HotSpot laid them out before JDK 15, by HPX_HEAP_PADDED_ODD and so on */
    int array_of;                 /* enum hpx_type of elements; 0: it is no array */
    bool dumped;
    bool weak; /* weak and phantom references: what they refer to they keep not alive */
};

struct hpx_heap_field {
    uint64_t name; /* a string of the file */
    int type;
};

/* References of 4 bytes behind a header that is no multiple of 8 bytes, and behind one that is; references of 8 bytes behind one that is.
 */
enum { HPX_HEAP_PADDED_ODD, HPX_HEAP_PADDED_EVEN, HPX_HEAP_PADDED_WIDE };

/* How objects lie in the heap of the JVM. */
struct hpx_heap_layout {
    uint32_t ref, header, array, array8; /* bytes of a reference, before fields, before elements, before those of 8 bytes */
    uint32_t align;                      /* of objects */
    bool padded;                         /* fields of a class begin at a multiple of a reference, as before JDK 15 */
};

#define HPX_HEAP_LISTED 16 /* dumps of a file that a message lists */

/* A dump of the file, whether it is read or not. */
struct hpx_heap_dump {
    uint64_t objects; /* records */
    bool complete;
};

#define HPX_HEAP_LAYOUTS 15 /* that are known: heap_classes.h */

/* How many neighbours in the heap are as far apart as an object is long in a layout; 0: hardly any. */
struct hpx_heap_fit {
    uint64_t arrays, instances;
};

struct hpx_heap_graph {
    uint32_t n;      /* node 0 is the root of roots; 1 to n - 1 are objects, in the order of their ids */
    uint64_t *ids;   /* 0 for node 0 */
    uint32_t *klass; /* of classes; of node 0 HPX_HEAP_NO_CLASS */
    uint32_t *size;  /* in units of 8 bytes, saturating; 0 for node 0 */
    uint64_t *first; /* n + 1: node i refers to refs[first[i]] to refs[first[i + 1] - 1] */
    uint32_t *refs;
    uint8_t *roots; /* enum hpx_root of the references of node 0: the first that was told of each object */

    struct hpx_list classes; /* struct hpx_heap_class */
    struct hpx_list fields;  /* struct hpx_heap_field */
    const struct hpx_heap_layout *layout;
    struct hpx_heap_fit fits[HPX_HEAP_LAYOUTS];
    bool common;       /* the layout fits the dump beside this one, too */
    uint32_t referent; /* of fields: that of java.lang.ref.Reference; UINT32_MAX: none */
    uint32_t id_size;
    uint32_t dump, dumps;                         /* the one that was read, from 1; how many there are */
    bool sited;                                   /* there are objects with a stack of their allocation */
    bool complete;                                /* of that dump */
    struct hpx_heap_dump listed[HPX_HEAP_LISTED]; /* the first of them */
    uint64_t objects, bytes;                      /* of all */
    uint64_t dangling;                            /* references and roots to what is not in the dump */
    uint64_t twice;                               /* objects that the dump has a second time */
    char why[640];                                /* the file is broken, or ends too early: where, and why; "": it does not */

    /* For those that look at contents: */
    struct hpx_definitions defined;
    uint32_t *bucket; /* hpx_heap_node() */
    uint32_t buckets, shift;
};

void hpx_heap_graph_fini(struct hpx_heap_graph *g);
/* Classes and fields alone. */
void hpx_heap_graph_drop_classes(struct hpx_heap_graph *g);

/* The object with that id; 0: none. */
uint32_t hpx_heap_node(const struct hpx_heap_graph *g, uint64_t id);
static inline struct hpx_heap_class *hpx_heap_class_at(const struct hpx_heap_graph *g, uint32_t i)
{
    return (struct hpx_heap_class *)g->classes.items + i;
}
/* Those that it declares itself. */
static inline const struct hpx_heap_field *hpx_heap_fields_of(const struct hpx_heap_graph *g, const struct hpx_heap_class *c)
{
    return c->fields > 0 ? (const struct hpx_heap_field *)g->fields.items + c->field : NULL;
}
/* Bytes of an array of that class without elements. */
uint64_t hpx_heap_empty_array(const struct hpx_heap_graph *g, const struct hpx_heap_class *c);
/* Where a field stands in instances of the class that declares it; false: it declares none with that name and type. */
bool hpx_heap_field_at(const struct hpx_heap_graph *g, const struct hpx_heap_class *c, const char *name, int type, uint64_t *at);
/* Bytes of the contents of instances of a class; fields of superclasses come last. */
static inline uint64_t hpx_heap_content_bytes(const struct hpx_heap_graph *g, uint32_t klass)
{
    const struct hpx_heap_class *c = hpx_heap_class_at(g, klass);
    return c->all_refs * g->id_size + c->all_bytes;
}
/* An id in the contents of an object. */
static inline uint64_t hpx_heap_id(const struct hpx_heap_graph *g, const char *p)
{
    return g->id_size == 4 ? hpx_get_be4(p) : hpx_get_be8(p);
}

/* The references in the contents of an instance. Inline, because a heap has as many of them as anything. */
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
