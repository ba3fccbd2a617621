/* SPDX-License-Identifier: BSD-2-Clause */
/* origin.h: whose profile it is, for those who collect the profiles of many JVMs: lines of the report.
 *
 *   hprofx: host: NAME
 *   hprofx: pid: N
 *   hprofx: service: NAME                 OTEL_SERVICE_NAME, else service.name of OTEL_RESOURCE_ATTRIBUTES, else the main class, or the
 *                                         file name of the jar; without any: no line
 *   hprofx: service version: V            service.version of OTEL_RESOURCE_ATTRIBUTES; without: no line
 *   hprofx: container: ID                 64 hexadecimal digits; outside a container no line
 *   hprofx: run began: MS ms since 1970   the same in all profiles of a session
 *   hprofx: recorded from: MS ms since 1970, MS ms after the run began; in all threads and loaded classes MS ms later
 *   hprofx: profile: K, from MS to MS ms since 1970
 *
 * Names are cut at HPX_ORIGIN_NAME bytes and escaped as in text.h. `to` is the wall clock when the counts were taken; `from` is as much
 * before it as the monotonic clock has moved since the counts were last reset, so a wall clock that jumps does not make a period longer. */
#ifndef HPX_ORIGIN_H
#define HPX_ORIGIN_H

#include "lines.h"

#define HPX_ORIGIN_NAME      255u /* bytes of a name */
#define HPX_ORIGIN_CONTAINER 64u  /* digits */

/* A profile among those of its session. */
struct hpx_period {
    uint64_t from_ms, to_ms; /* since 1970: when what it resets was counted */
    uint32_t number;         /* from 1 */
};

/* At load, or when a session begins, before threads of ours run: reads environment and clock. command: the main class or jar and its
 * arguments, as sun.java.command has them; NULL: unknown. */
void hpx_origin_begin(const char *command);
/* The session records from now on; partly: not yet in all threads and loaded classes. Before the gate is open, by the thread that begins
 * it. */
void hpx_origin_recorded(bool partly);
/* In all from now on. The same thread. */
void hpx_origin_recorded_all(void);
/* The writer's thread, before the first report: reads the kernel's files about groups and mounts. root: a prefix of all paths, for tests;
 * NULL: /. */
void hpx_origin_look_for_container(const char *root);
/* The writer's thread. */
void hpx_origin_lines(struct hpx_lines *to, const struct hpx_period *profile);
/* Wall clock in ms since 1970; 0: there is none. Any thread. */
uint64_t hpx_origin_wall_ms(void);

#endif
