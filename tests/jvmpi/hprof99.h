/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof99.h: a small HPROF in the manner of 1999: CPU samples by suspending all threads and asking for their stacks, allocation sites by
 * object events. It writes a text file that readers of HPROF read. What it keeps is protected by one raw monitor, `data`, which it has
 * entered before it suspends threads and while collections run, as the manual wants it. */
#ifndef HPX_TESTS_HPROF99_H
#define HPX_TESTS_HPROF99_H

#include "book.h"
#include <stdio.h>

#define MOST_DEPTH 64

struct trace {
    int n, serial; /* serial: 0 until it is printed */
    long samples;
    struct trace *next; /* of the same hash */
    JVMPI_CallFrame frames[];
};

struct site {
    struct trace *trace;
    jobjectID class_id;
    jint is_array;
    long live, live_bytes, objects, bytes;
    struct site *next;
};

struct thread {
    JNIEnv *env;
    jobjectID id;
    char name[64], group[64];
    bool alive, sampled; /* sampled: not one of the agent */
};

/* All under `data`. They end the process if there is no memory, but for object_freed(), which needs none. */
struct trace *trace_of(const JVMPI_CallFrame *frames, int n);
struct site *site_of(struct trace *trace, jobjectID class_id, jint is_array);
void object_made(jobjectID id, struct site *site, jint size);
void object_freed(jobjectID id);

struct tables {
    struct trace **traces;
    struct site **sites;
    int ntraces, nsites;
};
const struct tables *tables_all(void);

/* Writes the file: threads, then CPU SAMPLES and SITES as wanted. */
void write_profile(FILE *f, const JVMPI_Interface *jvmpi, const struct thread *threads, int nthreads, bool samples, bool sites);

#endif
