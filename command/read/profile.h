/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.h: what a person wants to know of a file: how much of what, the top of its tables, who filled the heap.
 *
 * A sink of the reader, behind the check. Memory: names once each (the first 4 KiB), one entry a frame, trace, thread and class, ten rows a
 * kind of table; with_methods: also four bytes for each frame of a trace. Without memory a name is "?", and the numbers stay right. */
#ifndef HPX_READ_PROFILE_H
#define HPX_READ_PROFILE_H

#include "check.h"
#include "methods.h"

#define HPX_PROFILE_TOP  10
#define HPX_PROFILE_SAID 160

struct hpx_profile_frame {
    uint32_t method, class_name, source; /* names */
    int32_t line;
};

struct hpx_profile_trace {
    uint32_t top, caller;   /* binary: frame + 1; text: names; 0: none */
    uint32_t first, frames; /* with_methods: of hpx_profile.frames_of_traces */
};

struct hpx_profile_thread {
    uint32_t serial, name, group;
    uint64_t start_us, end_us;
    bool ended;
};

struct hpx_profile_row {
    struct hpx_rd_row row;
    uint32_t name, caller; /* of the method, class or monitor; of who called it */
    uint32_t owner;        /* MONITOR OWNERS: where its owner was; else 0 */
};

/* The last table of a kind. */
struct hpx_profile_table {
    uint64_t seen; /* tables of this kind */
    struct hpx_rd_table table;
    uint64_t rows;
    struct hpx_profile_row top[HPX_PROFILE_TOP];
};

/* Objects of a class in the last heap dump. */
struct hpx_profile_class {
    uint32_t name;
    uint64_t key, count, bytes;
};

/* Objects of an allocation trace in the last heap dump. */
struct hpx_profile_site {
    uint32_t trace;
    uint32_t name, caller; /* hpx_profile_sort(): of its innermost frames */
    uint64_t count, bytes;
};

/* Threads of a state, and monitors of a class, in the last MONITOR DUMP. */
struct hpx_profile_state {
    uint32_t name;
    bool monitor, unowned;
    uint64_t count, waiting; /* waiting: threads at the monitors */
};

struct hpx_profile {
    struct hpx_rd_header header;
    char date[25];
    bool has_control;
    uint32_t flags, depth;
    uint64_t us; /* of the last record */
    uint64_t counts[HPX_TAGS], bytes[HPX_TAGS];
    uint64_t sub_counts[256], sub_bytes[256];
    uint64_t heap_dumps;
    bool heap_open;
    int open; /* tag of the open table */
    /* Of the last CPU SAMPLES, as hprofx's report behind it says; 0: it says nothing. */
    uint64_t effective;       /* samples, by weight */
    uint64_t in_probes;       /* samples inside probes since the start, which may be more than the table has */
    uint32_t in_probes_share; /* their share of all samples since the start, in hundredths of a percent */
    /* What the report behind the last table says, as text of the file; "": nothing. */
    char lost[HPX_PROFILE_SAID], own[HPX_PROFILE_SAID], older[HPX_PROFILE_SAID];
    bool with_methods;                /* set by the caller behind hpx_profile_init() */
    struct hpx_methods methods;       /* of the last CPU SAMPLES */
    struct hpx_list frames_of_traces; /* uint32_t, as top */
    struct hpx_profile_table summary;
    struct hpx_profile_table tables[HPX_TAGS - HPX_TAG_TIMES + 2]; /* hpx_profile_table() */
    struct hpx_list threads, frames, traces, classes, sites, states;
    struct hpx_idmap thread_of, frame_of, trace_of, class_of, site_of; /* -> index + 1 */
    struct hpx_idmap strings;                                          /* binary: id -> name */
    struct hpx_idmap class_names;                                      /* binary: class serial -> name */
    struct hpx_idmap object_names;                                     /* binary: class object -> name */
    struct hpx_list names;                                             /* char *; 0 is "?" */
    struct hpx_idmap name_of;                                          /* hash -> name */
    size_t monitor;                                                    /* of states: the open one */
    size_t near_site;                                                  /* of sites: of the object before */
    uint32_t trace_frames;
    struct hpx_profile_trace trace;
};

int hpx_profile_init(struct hpx_profile *p);
void hpx_profile_fini(struct hpx_profile *p);
/* A hpx_rd_sink. */
int hpx_profile_event(void *ctx, struct hpx_reader *r, const struct hpx_rd_event *ev);

const char *hpx_profile_name(const struct hpx_profile *p, uint32_t name);
struct hpx_profile_table *hpx_profile_table(struct hpx_profile *p, int tag);
/* How sure the rows at the top of CPU SAMPLES are (certainty.h): the samples that count. HPROF's files do not say which weigh more: there
 * every one is a sample. */
uint64_t hpx_profile_effective(struct hpx_profile *p);
/* Bit i: rows i and i + 1 of CPU SAMPLES are too close for their order. */
uint32_t hpx_profile_close(struct hpx_profile *p);
/* Sorts p->classes and p->sites by bytes, descending, and p->methods. */
void hpx_profile_sort(struct hpx_profile *p);

#endif
