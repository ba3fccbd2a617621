/* SPDX-License-Identifier: BSD-2-Clause */
/* mode.h: the interface of a mode (cpu=samples, ...) to the session. Dump, output, report and peer know a mode only by it.
 *
 * A mode is one constant struct hpx_mode, listed in agent/modes.c. Its JVM side is `vm` (vm/vm_mode.h), opaque to the session. Its
 * events are a range of kinds of one table of the model (model.h). A dump copies rows of that table and hands them to the writer's
 * thread, one part per mode.
 *
 * A mode names the functions that it has, by phase; the others are NULL. The aggregator calls them unless stated otherwise, those of
 * `load` the thread that loads the agent. None may wait longer than stated. */
#ifndef HPX_MODE_H
#define HPX_MODE_H

#include "hprof_ascii.h"
#include "hprof_binary.h"
#include "hprof_commands.h"
#include "model.h"
#include "option_set.h"
#include <string.h>

#define HPX_MODES_MAX   8u
#define HPX_MODE_VALUES 64u

struct hpx_vm_mode;
struct hpx_report;
struct hpx_lines;

/* Figures of one mode in a report: a copy, so that reporting a loss needs no memory. Only the mode knows their meaning. It may keep a
 * struct here: `of` is its variable. */
struct hpx_figures {
    uint64_t v[HPX_MODE_VALUES];
};
#define HPX_FIGURES_FIT(of)    _Static_assert(sizeof(of) <= sizeof(struct hpx_figures), "the figures have room for those of the mode")
#define HPX_FIGURES_PUT(f, of) ((void)memcpy((f)->v, &(of), sizeof(of)))
#define HPX_FIGURES_GET(f, of) ((void)memcpy(&(of), (f)->v, sizeof(of)))

/* How a mode's rows are written. The writer's thread owns the rows of a dump. */
struct hpx_section {
    bool bare;           /* a text file with only such sections has no header, no threads and no report, as its readers expect */
    bool lasting;        /* its rows are of everything so far: no dump resets them */
    const char *title;   /* in the line "Dumping TITLE ... done." */
    bool (*shown)(void); /* false: the options exclude the section; NULL: they never do */
    bool (*empty)(const void *rows);
    bool (*missing)(const void *rows); /* these rows could not be had, which was reported; NULL: never */
    void (*destroy)(void *rows);       /* any thread; rows may be NULL: no effect */
    uint32_t settings;                 /* HPX_SETTING_* of CONTROL SETTINGS */
    /* Applies the flags of a command before text or binary. NULL: the section has no flags. */
    void (*choose)(void *rows, uint16_t flags);
    /* Writes one line at once, from the bytes of hpx_output_line(). NULL: it has none. */
    void (*line)(struct hpx_ascii *to, const void *data);
    /* May sort the rows. cutoff: smallest share to list. answer: for a peer of net=. binary may be NULL if the options exclude it. */
    void (*text)(struct hpx_ascii *to, void *rows, double cutoff, bool answer);
    void (*binary)(struct hpx_binary *to, void *rows, double cutoff);
};

static inline bool hpx_section_is_shown(const struct hpx_section *s)
{
    return s->shown == NULL || s->shown();
}

/* Why a mode prepares. OTHERS: a request without its section, or a clear: its rings and drainers may hold what other modes show. */
enum hpx_why { HPX_WHY_REQUEST, HPX_WHY_OTHERS, HPX_WHY_JOURNAL };

struct hpx_mode {
    const char *name; /* in messages: "cpu=samples" */
    const struct hpx_vm_mode *vm;
    const struct hpx_section *section;

    struct {
        bool (*wanted)(const struct hpx_options *o); /* never NULL */
        bool (*tables)(struct hpx_model *m); /* adds tables without which it cannot run; false: no memory, the session does not begin */
        void (*begin)(void);                 /* after `tables` and before the aggregator runs */
    } load;

    struct {
        void (*look)(void);                 /* at the end of every pass, first */
        void (*idle)(void);                 /* last in every pass, but not between its prepare() and its snapshot */
        void (*came)(struct hpx_thread *t); /* the aggregator has a new thread of this mode */
        /* The thread has retired, its ring is drained, and the model no longer needs it: frees it. Never NULL if the mode has threads. */
        void (*gone)(struct hpx_thread *t);
    } pass;

    /* A dump on request, or a table of the journal. */
    struct {
        /* An asynchronous phase, called once per pass until it returns true: the work is done, and the next pass reads its events. Modes
         * prepare one after the other, in the order of modes.c. A dump waits for each at most half a second. */
        bool (*prepare)(enum hpx_why why);
        /* ns that a dump on request waits for `prepare`, if half a second is too short. Tables of the journal are made meanwhile. */
        uint64_t (*patience)(void);
        /* In the next pass, for every thread of the mode that has not retired: as hpx_sink.tail. NULL: hpx_ring_peek(). */
        uint64_t (*tail)(struct hpx_thread *t);
        /* At the end of that pass, before the snapshot: applies what tail() saw. */
        void (*taken)(enum hpx_why why);
        /* Never NULL. Returns NULL: no memory, nothing was reset. HPX_TAKE_RESET and _KEEP: for a dump; _NEW and _ALL: for the journal. */
        void *(*snapshot)(enum hpx_take take);
        uint32_t (*waiting)(void); /* number of rows that wait for a later table of the journal */
    } dump;

    struct {
        /* Tag of the command that requests only this mode's section; 0: none. HEAP SUMMARY counts as ALLOC SITES. */
        uint8_t listed_by;
        /* Carries out a CONTROL command of the peer. false: the command is not for this mode. */
        bool (*control)(const struct hpx_command *c);
    } peer;

    struct {
        /* The gate is closed: waits until no producer of this mode is inside, at most until `until_ns` (hpx_clock_mono()). Called twice,
         * because threads that were starting may register in between; in the reverse order of modes.c. NULL: the mode has no producer
         * outside the session's gate. */
        void (*stop)(uint64_t until_ns);
        void (*ended)(void); /* all rings are drained, the last snapshot follows */
        void (*fini)(void);  /* hpx_session_end(): undoes begin */
    } end;

    /* `collect`, `lines` and `summary` are never NULL. */
    struct {
        bool names_classes; /* the number of known classes is shown */
        /* rows: of this dump, or NULL. May add to `total`. */
        void (*collect)(struct hpx_figures *f, struct hpx_counters *total, const void *rows);
        uint64_t (*own_cpu)(const struct hpx_counters *total); /* CPU time of its threads and handlers, ns */
        /* The writer's thread. summary: one line, for verbose=y. */
        void (*lines)(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f);
        void (*summary)(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f);
    } report;
};

#endif
