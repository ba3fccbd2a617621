/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr_types.h: the bytes of one chunk of a JFR recording as its own metadata declare them: types, their fields, and constants, which values
 * name by type and key. Nothing here knows a layout: a reader names the fields that it wants (a shape), and gets those that there are.
 *
 * One thread. Memory: the types, and a map entry for each constant, whose value stays in the bytes of the chunk. Hostile files: every read
 * is bounded by the chunk; types and constants that contain themselves end at a depth; and the steps of all reads together are bounded by
 * the size of the chunk, and by what a file has to spare: a type without bytes, or a long text, could be repeated for hours. */
#ifndef HPX_READ_JFR_TYPES_H
#define HPX_READ_JFR_TYPES_H

#include "list.h"

/* Bytes that are read. What does not fit is 0, and sets broken. */
struct hpx_jfr_in {
    const uint8_t *at, *end;
    bool raw; /* integers have their full width; else LEB128 */
    bool broken;
};

enum hpx_jfr_unit { HPX_JFR_PLAIN, HPX_JFR_TICKS, HPX_JFR_NS, HPX_JFR_US, HPX_JFR_MS, HPX_JFR_S };

enum hpx_jfr_basic {
    HPX_JFR_STRUCT,
    HPX_JFR_BYTE, /* and boolean */
    HPX_JFR_SHORT,
    HPX_JFR_INT,
    HPX_JFR_LONG,
    HPX_JFR_FLOAT,
    HPX_JFR_DOUBLE,
    HPX_JFR_STRING,
};

struct hpx_jfr_field {
    uint64_t type_id;
    uint32_t name; /* a string of the metadata */
    uint32_t type; /* index + 1; 0: not declared */
    bool pool;     /* the value is the key of a constant of that type */
    bool array;
    uint8_t slot; /* of the shape that its type was last read as, + 1; 0: not wanted */
    enum hpx_jfr_unit unit;
};

#define HPX_JFR_SHAPE 24 /* fields, at most */
struct hpx_jfr_shape {
    const char *names[HPX_JFR_SHAPE]; /* up to NULL */
};

struct hpx_jfr_type {
    uint64_t id;
    uint32_t name;
    enum hpx_jfr_basic basic;
    size_t first, fields; /* of hpx_jfr_chunk.fields */
    int role;             /* the caller's; 0 at first */
    const struct hpx_jfr_shape *shape;
    struct hpx_seeded_map pool; /* key -> where in the chunk its value is */
};

struct hpx_jfr_chunk {
    const uint8_t *bytes;
    size_t n; /* < 4 GiB */
    bool raw;
    struct hpx_list strings; /* uint32_t: where those of the metadata are in the chunk */
    struct hpx_list types;   /* struct hpx_jfr_type */
    struct hpx_list fields;  /* struct hpx_jfr_field */
    struct hpx_seeded_map type_of;
    uint32_t string; /* index + 1 of java.lang.String */
    uint64_t steps;  /* that are left */
    bool no_memory;
};

/* A field as it was read. */
struct hpx_jfr_value {
    const struct hpx_jfr_field *f; /* NULL: the type has none of that name */
    uint64_t n;                    /* an integer, sign extended; or the key of a constant */
    const uint8_t *at;             /* where the value is */
};

/* spare: steps beside those that the size allows. */
void hpx_jfr_chunk_init(struct hpx_jfr_chunk *c, const uint8_t *bytes, size_t n, bool raw, uint64_t spare);
void hpx_jfr_chunk_fini(struct hpx_jfr_chunk *c);
/* in: behind the head of a metadata event. false: it is broken, or there is no memory. Once. */
bool hpx_jfr_metadata(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in);
/* in: behind the type of a checkpoint event. Of two constants of a key the first counts. false: as above; those before stay. */
bool hpx_jfr_constants(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in);

/* One value of a type (index + 1): the fields that the shape names, in its order; the others are skipped. false: it is broken. */
bool hpx_jfr_take(struct hpx_jfr_chunk *c, struct hpx_jfr_in *in, uint32_t type, const struct hpx_jfr_shape *shape,
                  struct hpx_jfr_value *to);
/* The constant, or the value itself, of a field that is no array. false: there is none. */
bool hpx_jfr_open(struct hpx_jfr_chunk *c, const struct hpx_jfr_value *v, struct hpx_jfr_in *in);
/* The string that a value is, names, or has as its first field, as UTF-8 with a 0; cut where `room` ends. false: it is null, or none. */
bool hpx_jfr_text(struct hpx_jfr_chunk *c, const struct hpx_jfr_value *v, char *to, size_t room);
/* The name of a type. */
void hpx_jfr_type_name(struct hpx_jfr_chunk *c, const struct hpx_jfr_type *t, char *to, size_t room);

uint64_t hpx_jfr_long(struct hpx_jfr_in *in);
uint32_t hpx_jfr_int(struct hpx_jfr_in *in);

static inline struct hpx_jfr_type *hpx_jfr_type_at(const struct hpx_jfr_chunk *c, uint32_t type)
{
    return (struct hpx_jfr_type *)c->types.items + type - 1;
}

/* Index + 1; 0: it is not declared. */
static inline uint32_t hpx_jfr_type_of(const struct hpx_jfr_chunk *c, uint64_t id)
{
    const uint32_t *type = hpx_seeded_map_find(&c->type_of, id);
    return type != NULL ? *type : 0;
}

#endif
