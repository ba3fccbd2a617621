/* SPDX-License-Identifier: BSD-2-Clause */
/* session.h: the data of one run of the profiler: options, modes, pipeline and tables. It knows no JVM; a host provides what it needs of
 * one, and tests provide another host. session_life.h begins and ends it; between the two it is constant unless stated otherwise. */
#ifndef HPX_SESSION_H
#define HPX_SESSION_H

#include "aggregator.h"
#include "mode.h"
#include "option_set.h"
#include <time.h>

/* What the session needs of the JVM side. Any thread calls these unless stated otherwise. */
struct hpx_host {
    void (*request)(struct hpx_msg *r);             /* hpx_model_config.request */
    bool (*collect)(void (*done)(uint64_t unused)); /* collects garbage, then calls done; false: no memory, done is never called */
    void (*leave)(void);                            /* the model has no more requests: the service thread may leave the JVM */
    int (*exit)(void (*failed)(const char *why),
                struct hpx_err *err);    /* ends the program with status 0; 0 or -HPX_E_SYS; calls failed() if that fails later */
    uint64_t (*own_cpu)(void);           /* ns, of its threads so far */
    void (*lines)(struct hpx_lines *to); /* the report: what is not of one mode; the writer's thread. May be NULL */
    /* Asks threads whether they have other names, and tells the model. true: it has asked; the names are in the next pass. dump: for a
     * dump, else for the journal. Called until then in every pass, by the aggregator. May be NULL */
    bool (*names)(bool dump);
};

/* What options mean in this JVM and for this output: as given at first; at load the modes and the output take back, with a message, what
 * they cannot do. */
struct hpx_in_effect {
    enum hpx_times times;
    enum hpx_sites_how sites;
    bool live, split, gz;
    enum hpx_owner owner;
    bool rewrites;    /* classes may be changed */
    uint64_t maxfile; /* 0: no limit */
};

struct hpx_session {
    const struct hpx_options *opt; /* as given; never NULL */
    struct hpx_in_effect in_effect;
    _Atomic uint32_t depth; /* relaxed: current depth of stacks: opt->depth until a peer changes it */
    const struct hpx_host *host;
    const struct hpx_mode *modes[HPX_MODES_MAX]; /* the active ones, in the order of modes.c */
    uint32_t nmodes;
    char names[64]; /* their names, separated by commas */
    struct hpx_gate gate;
    atomic_bool answers; /* relaxed: the JVM, to any question: VMInit is over */
    struct hpx_aggregator aggregator;
    struct hpx_model *model;      /* the aggregator's */
    struct hpx_counters counters; /* losses and figures of no particular thread */
    time_t start;                 /* wall clock, for headers and names */
    uint64_t start_cpu;           /* CPU time of the process when it went live */
    uint64_t start_mono;          /* hpx_clock_mono() at that moment */
};

extern struct hpx_session hpx_session;
/* Number of the session, from 1; counts on in the process, so what is left of an earlier session is recognised. relaxed: it changes while
 * no thread is inside a gate */
extern _Atomic uint32_t hpx_session_number;
static inline bool hpx_session_is(uint32_t number)
{
    return hpx_likely(atomic_load_explicit(&hpx_session_number, memory_order_relaxed) == number);
}

/* Before the reserve of a record that timeline=y is to know the time of: hpx_time_put(). Async-signal-safe. */
static inline void hpx_session_time(struct hpx_thread *t)
{
    if (hpx_session.opt->timeline) {
        hpx_time_put(&hpx_session.aggregator, t);
    }
}

/* Calls fn of every active mode that has one, in their order: HPX_EACH_MODE(pass.look, ()). */
#define HPX_EACH_MODE(fn, args)                                                                                                            \
    do {                                                                                                                                   \
        for (uint32_t i_ = 0; i_ < hpx_session.nmodes; i_++) {                                                                             \
            if (hpx_session.modes[i_]->fn != NULL) {                                                                                       \
                hpx_session.modes[i_]->fn args;                                                                                            \
            }                                                                                                                              \
        }                                                                                                                                  \
    } while (0)

/* Parses the options of a session, which are in effect from then on. At load. As hpx_options_parse(). */
int hpx_session_parse(const char *java_hprof_options, const char *hprofx_options, const char *command_line, struct hpx_err *err);
/* Forgets the options. At the end. */
void hpx_session_forget_options(void);
/* Chooses the modes that the options want among `all` (ends with NULL). At load, behind parse. */
void hpx_session_choose(const struct hpx_mode *const *all);
/* Removes a chosen mode that cannot run; the others continue. At load, before begin. */
void hpx_session_drop(const struct hpx_mode *mode);
/* The active modes, for messages: "cpu=samples,cpu=times". */
static inline const char *hpx_session_modes(void)
{
    return hpx_session.nmodes > 0 ? hpx_session.names : "profiling"; /* before the options are parsed */
}
/* Calls fn for every live thread of the mode. The aggregator. */
void hpx_session_each(const struct hpx_mode *mode, void (*fn)(void *ctx, struct hpx_thread *t), void *ctx);

/* One part per mode, in the order of session.modes: rows of its table, or NULL. */
struct hpx_parts {
    void *of[HPX_MODES_MAX];
    uint32_t modes; /* bits: the modes that have a part; 0: all */
};
static inline bool hpx_parts_has(const struct hpx_parts *p, uint32_t mode)
{
    return p->modes == 0 || (p->modes & 1u << mode) != 0;
}
/* Destroys all parts. Any thread. */
void hpx_parts_destroy(struct hpx_parts *p);
/* The output is a text file of bare sections (hpx_section.bare). With net= there are header, threads and report in any case. */
bool hpx_session_bare(void);
/* Some part has rows. */
bool hpx_parts_any(const struct hpx_parts *p);
/* No requested part is NULL. */
bool hpx_parts_all(const struct hpx_parts *p);

#endif
