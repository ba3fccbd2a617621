/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.h: an agent of JVMPI that asks for dumps, reads them by the manual, and compares what they say with what JNI says of the same
 * objects (tests/jvm/programs/JvmpiDump.java). A check that fails prints a line "BAD ...". */
#ifndef HPX_TESTS_DUMP_H
#define HPX_TESTS_DUMP_H

#include <jvmpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CHECK(cond)                                                                                                                        \
    do {                                                                                                                                   \
        if (!(cond)) {                                                                                                                     \
            printf("BAD %s:%d %s\n", __FILE__, __LINE__, #cond);                                                                           \
            fflush(stdout);                                                                                                                \
        }                                                                                                                                  \
    } while (0)

extern JVMPI_Interface *jvmpi;

/* ---- dump_read.c ---- */

/* What CLASS_LOAD tells of a class. */
struct class_info {
    struct class_info *next;
    jobjectID id;
    char *name;
    unsigned long objects, arrays; /* in the dump: instances; arrays whose elements it is the class of */
    int ninterfaces, nstatics, nfields;
    char **names, *letters; /* of statics, then of fields; the first letters of their signatures */
};
struct class_info *class_of(jobjectID id); /* NULL: not known */
void class_loaded(const JVMPI_Event *e);
/* Prints what is counted of every class. */
void print_classes(void);

/* A record of a dump. */
struct record {
    uint8_t type;
    jobjectID object, klass;
    const char *begin, *end, *values; /* values: of fields, elements or statics */
    uint32_t n;                       /* bytes of fields, or elements */
    uint8_t of;                       /* type of primitive elements; of level 0: of the object */
    JNIEnv *thread;                   /* of a root */
    int32_t frame;
    jobjectID super, loader, signers, domain, name;
    const char *interfaces, *constants;
    uint16_t nconstants;
};
/* Reads one; its end; NULL: it is none. */
const char *read_record(const char *at, const char *end, int level, struct record *r);
/* Bytes of a value whose signature begins with this letter; 0: a primitive one of a dump of level 1. */
size_t size_of(char letter, int level);

/* A dump, copied. */
struct heap {
    int level;
    char *bytes;
    size_t n;
    int ntraces;
    JVMPI_CallTrace *traces;
};
extern struct heap heap;
void take_heap(const JVMPI_Event *e);
/* The only record of an object; of roots the first with that type (and thread, if not NULL). false: none. */
bool find_record(jobjectID object, struct record *r);
bool find_root(uint8_t type, jobjectID object, JNIEnv *thread, struct record *r);

#endif
