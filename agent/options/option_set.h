/* SPDX-License-Identifier: BSD-2-Clause */
/* option_set.h: what the options of a run say, and the limits of their values. Data alone: below the table that describes the fields, the
 * parser that fills them, and whoever reads them. */
#ifndef HPX_OPTION_SET_H
#define HPX_OPTION_SET_H

#include <stdbool.h>
#include <stdint.h>

/* Bits: samples may stand beside one of the others. */
enum hpx_cpu_mode { HPX_CPU_OFF = 0, HPX_CPU_SAMPLES = 1, HPX_CPU_TIMES = 2, HPX_CPU_OLD = 4 };

/* Who takes the stacks of cpu=samples: the signal handler; a thread of ours after a signal; a thread of ours without signals; the handler,
 * by AsyncGetCallTrace alone. */
enum hpx_engine { HPX_ENGINE_ASYNC, HPX_ENGINE_WALK, HPX_ENGINE_POLL, HPX_ENGINE_ASGCT };

/* How cpu=times takes its times: at each call by the thread's CPU clock, or by wall time; by the signals of cpu=samples; not at all. */
enum hpx_times { HPX_TIMES_CPU, HPX_TIMES_WALL, HPX_TIMES_SAMPLED, HPX_TIMES_COUNTS };

/* How heap=sites counts. */
enum hpx_sites_how { HPX_SITES_EXACT, HPX_SITES_COUNTS, HPX_SITES_SAMPLED, HPX_SITES_OFF };

/* How heap=dump walks the heap: chosen at the dump; in a copy of the process; while the program is stopped. */
enum hpx_heapdump { HPX_HEAPDUMP_AUTO, HPX_HEAPDUMP_FORK, HPX_HEAPDUMP_WALK };
enum hpx_redact { HPX_REDACT_ARRAYS = 1, HPX_REDACT_FIELDS = 2, HPX_REDACT_STRINGS = 4 };

/* Which contentions of monitor=y have a stack. */
enum hpx_stacks { HPX_STACKS_EXACT, HPX_STACKS_SAMPLED };
enum hpx_owner { HPX_OWNER_NONE, HPX_OWNER_ALL, HPX_OWNER_SAMPLED };

struct hpx_options {
    unsigned cpu; /* enum hpx_cpu_mode */
    bool heap_dump, heap_sites;
    enum hpx_sites_how sites;
    uint64_t sample_bytes; /* allocated bytes between two samples of sites=sampled, and of what lives with sites=counts, 1 to
                              HPX_OPT_MAX_SAMPLE */
    bool live, gc;         /* heap=sites: counts live objects; collects garbage before a dump */
    enum hpx_heapdump heapdump;
    bool heapdump_oom;    /* a dump at the first OutOfMemoryError */
    uint64_t maxpause_ns; /* longest stop for a heap dump on request: 1 ms to HPX_OPT_MAX_PERIOD_NS; UINT64_MAX: no limit */
    unsigned redact;      /* enum hpx_redact: zeros in heap dumps */
    char *keep;           /* list of patterns.h: classes that redact= leaves readable; NULL: none */
    bool monitor;
    enum hpx_owner owner;      /* monitor=y: stacks of owners */
    bool waits, locks, pinned; /* monitor=y: tables of waits, parked time, pinned virtual threads */
    enum hpx_stacks stacks;
    uint64_t waitlog; /* most WAIT and WAITED lines; HPX_OPT_ALL_WAITS: no limit */
    uint64_t wall_ns; /* wall=: between two looks at a thread, from HPX_OPT_MIN_WALL_NS; 0: off */
    bool binary;      /* format=b */
    uint32_t idsize;  /* bytes of an identifier in format=b: 4 or 8 */
    bool gz;          /* the output file is compressed */
    bool timeline;    /* the time of every sample, allocation, contention and wait */
    bool lineno, thread, doe, split, msa, force, verbose, gc_okay, primfields, primarrays, vmstructs, native, start;
    bool help;            /* the string was exactly "help": print hpx_options_help() on stdout, exit 0 */
    uint32_t depth;       /* 0..HPX_OPT_MAX_DEPTH */
    uint64_t interval_ns; /* 1..HPX_OPT_MAX_INTERVAL_NS */
    uint32_t keep_files;  /* split=y: most complete files, 1 to HPX_OPT_MAX_KEEP; 0: no limit */
    uint64_t keep_bytes;  /* the same in bytes, 1 to HPX_OPT_MAX_BYTES; 0: no limit */
    uint64_t maxfile; /* bytes of an output from which on rows are summed; 0: no limit; HPX_OPT_AUTO_BYTES: only options of HPROF's own */
    bool own;         /* an option was given that HPROF had not */
    uint64_t dump_ns; /* a dump each; 0: none, else HPX_OPT_MIN_PERIOD_NS to HPX_OPT_MAX_PERIOD_NS */
    enum hpx_engine sampler;
    int signal;    /* number of the signal of cpu=samples and times=sampled */
    double cutoff; /* >= 0, inf or nan */
    enum hpx_times times;
    uint32_t min;  /* cpu=times leaves methods of fewer bytes alone */
    char *include; /* malloc'ed lists of patterns.h; NULL: none */
    char *exclude;
    char *file;           /* malloc'ed; not expanded; the format's default name when none was given */
    char *net;            /* malloc'ed HOST:PORT or NULL; HOST is a name, an IPv4 address, or in brackets any address */
    bool net_wait;        /* start even if nothing is listening */
    bool allow_exit;      /* the peer of `net` may end the program */
    bool heap_by_default; /* none of cpu, heap, monitor and wall was given */
    char *given;          /* malloc'ed: the sources joined by commas in the order taken, as the person wrote them */
};

/* Entries and exits of calls are followed: every thread has a stack of its open calls. */
static inline bool hpx_options_follow_calls(const struct hpx_options *o)
{
    return (o->cpu & HPX_CPU_OLD) != 0 || ((o->cpu & HPX_CPU_TIMES) != 0 && o->times != HPX_TIMES_COUNTS);
}

#define HPX_OPT_MAX_DEPTH  2048u
#define HPX_OPT_MAX_SAMPLE (UINT64_C(1) << 30) /* JVMTI takes an int */
#define HPX_OPT_ALL_WAITS  UINT64_MAX
#define HPX_OPT_MAX_KEEP   65536u /* files; the list of them is in memory */
#define HPX_OPT_MAX_BYTES  (UINT64_C(1) << 60)
#define HPX_OPT_AUTO_BYTES UINT64_MAX
#define HPX_OPT_MAXFILE    (UINT64_C(1) << 30) /* the default where options of our own are given */
#define HPX_OPT_MAX_RTSIG  27 /* signal=RTMIN+N: the JDK wakes blocked I/O by RTMIN+28 (SIGRTMAX-2), others have what is behind */
/* A longer interval counts as one day: no run has a sample then, and sums of intervals stay far from 2^63. */
#define HPX_OPT_MAX_INTERVAL_NS (86400u * UINT64_C(1000000000))

/* wall=y; the shortest: a look costs a system call for a thread that has run. */
#define HPX_OPT_WALL_NS     UINT64_C(20000000)
#define HPX_OPT_MIN_WALL_NS UINT64_C(1000000)

/* Every dump reads all tables and stays in the file. With shorter periods the program would only serve dumps. */
#define HPX_OPT_MIN_PERIOD_NS UINT64_C(100000000)
#define HPX_OPT_MAX_PERIOD_NS (1000u * HPX_OPT_MAX_INTERVAL_NS)

#endif
