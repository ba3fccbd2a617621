/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_layout.h: what a dump needs to know of classes before it walks over objects: fields in their order, super classes, interfaces. Asked
 * of the VM by the thread that dumps; the callbacks of the walk look it up, and note what only the walk tells. */
#ifndef HPX_JVMPI_DUMP_LAYOUT_H
#define HPX_JVMPI_DUMP_LAYOUT_H

#include "address_map.h"
#include "arena.h"
#include "shim.h"

struct hpx_jvmpi_field {
    uint32_t at;  /* its place among the field values that its class declares */
    uint8_t type; /* JVMPI_CLASS: a reference; else a primitive type; 0: not in this dump */
    bool is_static;
};

struct hpx_jvmpi_klass {
    struct hpx_jvmpi_klass *next;
    struct hpx_jvmpi_klass *above; /* super class; NULL: none */
    jobjectID id, name, element;   /* name: the String, NULL if the VM has made none yet; element: of an array of objects */
    jobjectID *interfaces;         /* declared */
    uint32_t ninterfaces;
    jint kind;        /* of its objects, as is_array of OBJECT_ALLOC */
    uint32_t values;  /* bytes of the field values of an instance, those of super classes included */
    uint32_t skip;    /* JVMTI counts the fields of all interfaces before those of classes */
    uint32_t nabove;  /* fields of super classes */
    uint32_t nfields; /* declared; 0 if the class is not linked, because the VM does not tell them then */
    struct hpx_jvmpi_field *fields;
    struct hpx_jvmpi_field *slots;      /* nabove + nfields; `at` is among the values of an instance; type 0: static, or not in this dump */
    struct hpx_jvmpi_klass **declarers; /* interfaces with fields: of the class, of its super classes, and itself if it is one */
    uint32_t ndeclarers;

    /* the walk's */
    jobjectID loader, signers, domain;
    uint32_t vm_size;       /* of an instance, in bytes; 0: none was met */
    uint64_t *statics;      /* nfields values; other fields have 0 */
    uint64_t first, latest; /* number + 1 of constants of its pool (dump_walk.h); 0: none */
    uint32_t nconstants;
};

struct hpx_jvmpi_layout {
    bool fields;                          /* level 0 needs none */
    bool primitives;                      /* level 2 */
    JNIEnv *env;                          /* of the asking thread */
    struct hpx_jvmpi_klass *first, *last; /* in the order in which they were asked for: super classes first */
    struct hpx_jvmpi_klass *class_class;  /* java.lang.Class */
    jfieldID name;                        /* of java.lang.Class; NULL: this VM has no such field */
    struct hpx_address_map by_tag;        /* tag of a class -> struct hpx_jvmpi_klass * */
    struct hpx_arena arena;
    bool failed; /* no memory */
};

/* Knows java.lang.Class. In a local frame of the caller. fini() also after false. */
bool hpx_jvmpi_layout_init(struct hpx_jvmpi_layout *l, JNIEnv *env, jint level);
/* All loaded classes; local references to them stay in the caller's frame, so that none is unloaded. false: no memory or the VM refused. */
bool hpx_jvmpi_layout_all(struct hpx_jvmpi_layout *l);
/* One class and what it needs. NULL: no memory, or the VM refused. */
struct hpx_jvmpi_klass *hpx_jvmpi_layout_ask(struct hpx_jvmpi_layout *l, jclass klass);
void hpx_jvmpi_layout_fini(struct hpx_jvmpi_layout *l);

/* The class with this tag; NULL: not known. Also at a safepoint. */
static inline struct hpx_jvmpi_klass *hpx_jvmpi_layout_find(const struct hpx_jvmpi_layout *l, jlong tag)
{
    const struct hpx_address_entry *e = tag != 0 ? hpx_address_map_find(&l->by_tag, (uint64_t)tag) : NULL;
    return e != NULL ? (struct hpx_jvmpi_klass *)(uintptr_t)e->value : NULL;
}

/* Bytes of a value. */
static inline uint32_t hpx_jvmpi_type_size(uint8_t type)
{
    switch (type) {
    case 0:
        return 0;
    case JVMPI_BOOLEAN:
    case JVMPI_BYTE:
        return 1;
    case JVMPI_CHAR:
    case JVMPI_SHORT:
        return 2;
    case JVMPI_INT:
    case JVMPI_FLOAT:
        return 4;
    default:
        return 8;
    }
}

#endif
