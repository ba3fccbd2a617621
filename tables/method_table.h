/* SPDX-License-Identifier: BSD-2-Clause */
/* method_table.h: classes, the methods they announced, and the methods that were sampled. Owner: the aggregator.
 *
 * A run announces hundreds of thousands of methods and samples thousands. So a class is stored as the message that announced it (ids and
 * names in one block), an announced method needs a slot besides its 8 bytes there, and its names are interned when it is first sampled.
 * When the class is unloaded, block and slots are freed; only sampled methods stay, because traces show them.
 *
 * An id belongs to the class that announced it last. If a sampled id is announced again, it means another method from then on: its
 * record becomes stale, and the next sample creates a new one. Numbers of strings are those of string_table.h. */
#ifndef HPX_METHOD_TABLE_H
#define HPX_METHOD_TABLE_H

#include "id_map.h"
#include "model_msg.h"

struct hpx_class {
    struct hpx_msg_class *said; /* NULL: removed, or a free place */
    uint32_t name, source;      /* 0: no method of the class was sampled, or there is none (yet) */
    uint32_t nsampled;          /* sampled records that refer to it */
    struct hpx_class_serial serial;
    bool listed;        /* rows of a table keep naming its serial: its unloading is not announced */
    uint32_t look;      /* the number of looks (symbols_look.c) when it was announced */
    uint32_t next_free; /* of a free place: the index of the next one, 0: none */
};

enum hpx_sampled_state {
    HPX_SAMPLED_NO_CLASS, /* no class announced it (yet) */
    HPX_SAMPLED_ASKED,
    HPX_SAMPLED_GAVE_UP, /* no longer awaited; a late answer is still used */
    HPX_SAMPLED_SETTLED, /* nothing more will become known */
    HPX_SAMPLED_GONE,    /* settled, because the class is unloaded or memory was missing */
};

struct hpx_sampled {
    const struct hpx_line *lines;
    uint32_t nlines;
    struct hpx_class_index klass;
    uint32_t name, signature;
    uint32_t symbolized; /* number of its symbolized method once that is final; else HPX_INTERN_NONE */
    uint8_t state;       /* enum hpx_sampled_state */
    bool stale;          /* its id means another method now */
    bool native;         /* true if an answer said so */
    bool unnamed_counted, unlined_counted;
};

struct hpx_methods {
    struct hpx_vec classes; /* struct hpx_class; element 0: none */
    uint32_t free;          /* index of a free place, 0: none */
    uint32_t live;          /* classes that are not removed */
    size_t said_bytes;      /* of their messages */
    struct hpx_slots index; /* {index of the class + 1, hash of the id} for each announced id */
    struct hpx_vec sampled; /* struct hpx_sampled: the pseudo ones, then those of `ids` in its order */
    uint32_t npseudo;
    struct hpx_id_map ids; /* of sampled methods */
    uint32_t generation;   /* changes when a sampled record becomes stale: stacks before and after differ */
};

int hpx_methods_init(struct hpx_methods *t); /* 0, -HPX_E_NOMEM */
void hpx_methods_fini(struct hpx_methods *t);

/* Adds a class, which then owns `said`; 0 without memory (the caller keeps `said`). */
struct hpx_class_index hpx_methods_new_class(struct hpx_methods *t, struct hpx_msg_class *said);
static inline struct hpx_class *hpx_methods_class(const struct hpx_methods *t, struct hpx_class_index klass)
{
    return hpx_vec_at(&t->classes, klass.v);
}
/* Assigns the id, which is in the class's message, to the class. false without memory. */
bool hpx_methods_announce(struct hpx_methods *t, struct hpx_class_index klass, uint64_t id);
/* The class of an id, and the id's index in the class's message; 0: none. */
struct hpx_class_index hpx_methods_find(const struct hpx_methods *t, uint64_t id, uint32_t *at);
/* Removes a class: frees its message and ids, and its place if no sampled record refers to it. */
void hpx_methods_forget(struct hpx_methods *t, struct hpx_class_index klass);

/* The sampled record of an id, HPX_INTERN_NONE: none. */
uint32_t hpx_methods_sampled_find(const struct hpx_methods *t, uint64_t id);
/* Creates a sampled record for an id that has none. HPX_INTERN_NONE without memory. */
uint32_t hpx_methods_sample(struct hpx_methods *t, uint64_t id, struct hpx_class_index klass);
/* Sets the class of a record that was sampled before its class was announced. */
void hpx_methods_adopt(struct hpx_methods *t, uint32_t sampled, struct hpx_class_index klass);
void hpx_methods_stale(struct hpx_methods *t, uint32_t sampled);
/* Creates a sampled record that stands for no method; before all other records. NULL without memory. */
struct hpx_sampled *hpx_methods_pseudo(struct hpx_methods *t);
static inline struct hpx_sampled *hpx_methods_sampled(const struct hpx_methods *t, uint32_t sampled)
{
    return hpx_vec_at(&t->sampled, sampled);
}
/* The id of a sampled record; 0: a pseudo method. */
static inline uint64_t hpx_methods_id(const struct hpx_methods *t, uint32_t sampled)
{
    return sampled < t->npseudo ? 0 : hpx_id_map_key(&t->ids, sampled - t->npseudo);
}

/* Of the classes and what they announced. */
static inline size_t hpx_methods_announced_bytes(const struct hpx_methods *t)
{
    return t->classes.bytes + t->said_bytes + t->index.bytes;
}

#endif
