/* SPDX-License-Identifier: BSD-2-Clause */
/* method_table.h: classes, the methods they announced, and the methods that were sampled. Owner: the aggregator.
 *
 * A run knows hundreds of thousands of methods and samples thousands, so an announced method costs 12 bytes and its slot (its id, and its
 * name or the number of its sampled record); the class follows from its number, because a class announces its methods in one run. All else
 * is in the sampled record. Numbers of strings are those of string_table.h. */
#ifndef HPX_METHOD_TABLE_H
#define HPX_METHOD_TABLE_H

#include "id_map.h"

struct hpx_class {
    uint64_t ref; /* the caller's weak reference, 0: none */
    uint32_t name, source;
};

enum hpx_sampled_state {
    HPX_SAMPLED_NO_CLASS, /* no class announced it (yet) */
    HPX_SAMPLED_ASKED,
    HPX_SAMPLED_GAVE_UP, /* no longer waited for; an answer is still taken */
    HPX_SAMPLED_SETTLED, /* all that will be known is known */
    HPX_SAMPLED_GONE,    /* settled too: the class cannot be asked */
};

struct hpx_line; /* model.h */

struct hpx_sampled {
    const struct hpx_line *lines;
    uint32_t nlines;
    uint32_t method; /* HPX_INTERN_NONE: a pseudo method */
    uint32_t klass;  /* 0: none */
    uint32_t name, signature;
    uint32_t shown; /* number of its shown method, when it has one for good; else HPX_INTERN_NONE */
    uint8_t state;  /* enum hpx_sampled_state */
    bool unnamed_counted, unlined_counted;
};

struct hpx_methods {
    struct hpx_vec classes;    /* struct hpx_class; element 0: none */
    struct hpx_id_map ids;     /* jmethodID to the method's number */
    struct hpx_vec info;       /* uint32_t a method: name, or HPX_METHOD_SAMPLED | number of its sampled record */
    struct hpx_vec signatures; /* uint32_t a method, with `with_signatures` only */
    struct hpx_vec runs;       /* struct hpx_method_run, ascending: the class of each method */
    struct hpx_vec sampled;    /* struct hpx_sampled */
    bool with_signatures;
    uint32_t generation; /* moves when a sampled id is bound to another class: stacks of before and after differ */
};

#define HPX_METHOD_SAMPLED 0x80000000u

int hpx_methods_init(struct hpx_methods *t, bool signatures); /* 0, -HPX_E_NOMEM */
void hpx_methods_fini(struct hpx_methods *t);

/* A new class; 0 without memory. */
uint32_t hpx_methods_new_class(struct hpx_methods *t, uint64_t ref, uint32_t name, uint32_t source);
static inline struct hpx_class *hpx_methods_class(const struct hpx_methods *t, uint32_t klass)
{
    return hpx_vec_at(&t->classes, klass);
}

static inline uint32_t hpx_methods_find(const struct hpx_methods *t, uint64_t id)
{
    return hpx_id_map_find(&t->ids, id);
}
/* Binds the id to a new method of this class (rebinding it when it was bound). HPX_INTERN_NONE without memory (nothing changed). */
uint32_t hpx_methods_bind(struct hpx_methods *t, uint64_t id, uint32_t klass, uint32_t name, uint32_t signature);
uint32_t hpx_methods_class_of(const struct hpx_methods *t, uint32_t method);
/* The sampled record of a method, or NULL if it was never sampled. */
struct hpx_sampled *hpx_methods_sampled_of(const struct hpx_methods *t, uint32_t method);
/* Names a method that has no name yet. */
void hpx_methods_name(struct hpx_methods *t, uint32_t method, uint32_t name, uint32_t signature);

/* The number of the method's sampled record, which is made when there is none (*fresh). HPX_INTERN_NONE without memory. */
uint32_t hpx_methods_sample(struct hpx_methods *t, uint32_t method, bool *fresh);
/* A sampled record that stands for no method. NULL without memory. */
struct hpx_sampled *hpx_methods_pseudo(struct hpx_methods *t);
static inline struct hpx_sampled *hpx_methods_sampled(const struct hpx_methods *t, uint32_t sampled)
{
    return hpx_vec_at(&t->sampled, sampled);
}

size_t hpx_methods_bytes(const struct hpx_methods *t);

#endif
