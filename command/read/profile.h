/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.h: what a person wants to know of a file: how much of what, and its tables, those of a kind as one.
 *
 * A sink of the reader, behind the check. Memory: names once each (the first 4 KiB), one entry a frame, trace, thread and class, four
 * bytes for each frame of a trace, the rows of tables (sums.h). Without memory a name is "?", and defined.no_memory is set.
 */
#ifndef HPX_READ_PROFILE_H
#define HPX_READ_PROFILE_H

#include "definitions.h"
#include "reader.h"
#include "said.h"
#include "sums.h"

/* What the tables of a kind say together. */
struct hpx_profile_table {
    uint64_t seen; /* tables of this kind */
    struct hpx_sums sums;
    /* After hpx_profile_finish(): */
    struct hpx_rd_table table; /* with the total of all that count */
    uint64_t rows;
};

/* Threads of a state, and monitors of a class, in the last MONITOR DUMP. */
struct hpx_profile_state {
    uint32_t name;
    bool monitor, unowned, is_virtual;
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
    struct hpx_said said;
    uint32_t fresh;         /* bits: which of the tables began since the last report */
    bool reported;          /* a report has come since the last table */
    uint64_t last;          /* samples of the last CPU SAMPLES */
    double weight, squares; /* of samples: of all CPU SAMPLES before the last, and those squared, by their effective number */
    uint64_t effective;     /* hpx_profile_finish(): samples, by weight */
    uint64_t interval_ns;   /* CPU time that a sample stands for */
    struct hpx_profile_table summary;
    struct hpx_profile_table tables[HPX_TAGS - HPX_TAG_TIMES + 2]; /* hpx_profile_table() */
    struct hpx_definitions defined;
    struct hpx_list states;
    size_t monitor; /* of states: the open one */
};

int hpx_profile_init(struct hpx_profile *p);
void hpx_profile_fini(struct hpx_profile *p);
/* A hpx_rd_sink. Ends the reading where there is no memory. */
int hpx_profile_event(void *ctx, struct hpx_reader *r, const struct hpx_rd_event *ev);

static inline const char *hpx_profile_name(const struct hpx_profile *p, uint32_t name)
{
    return hpx_defined_name(&p->defined, name);
}
/* After the last event, once: adds up the tables. */
void hpx_profile_finish(struct hpx_profile *p);
/* Of a stream: what comes is another profile of the same run. */
void hpx_profile_again(struct hpx_profile *p);
struct hpx_profile_table *hpx_profile_table(struct hpx_profile *p, int tag);
/* How sure the rows at the top of CPU SAMPLES are (certainty.h): the samples that count. HPROF's files do not say which weigh more: there
 * every one is a sample. */
uint64_t hpx_profile_effective(struct hpx_profile *p);
#define HPX_PROFILE_PERIOD 96
/* From when to when the profile is, and how many dumps of the file were added up; "": nothing says it, and there is one dump. */
void hpx_profile_period(const struct hpx_profile *p, char to[static HPX_PROFILE_PERIOD]);

#endif
