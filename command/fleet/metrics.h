/* SPDX-License-Identifier: BSD-2-Clause */
/* metrics.h: what hprofx-ship counts about itself, and the page that Prometheus reads. Any thread; a series lives as long as the process.
 *
 *     hpx_metric_add(HPX_METRIC_PROFILES_READ, NULL, NULL, 1);
 *     hpx_metric_add(HPX_METRIC_PROFILES_DROPPED, destination, "spool full", 1);
 *     hpx_metric_set(HPX_METRIC_LAG, destination, NULL, milliseconds); */
#ifndef HPX_FLEET_METRICS_H
#define HPX_FLEET_METRICS_H

#include <stdint.h>
#include <stdio.h>

/* X(id, type, name, first label, second label, what 1 of the name's unit is of the value's, help) */
#define HPX_METRICS(X)                                                                                                                     \
    X(PROFILES_READ, COUNTER, "hprofx_ship_profiles_read_total", NULL, NULL, 1, "Profiles read from agents.")                              \
    X(PROFILES_BROKEN, COUNTER, "hprofx_ship_profiles_broken_total", "cause", NULL, 1,                                                     \
      "Files that could not be read as profiles, or only in part.")                                                                        \
    X(FILES_LOOKED_AT, COUNTER, "hprofx_ship_files_looked_at_total", NULL, NULL, 1,                                                        \
      "Looks at files of the folders, to see which are new.")                                                                              \
    X(VALUES_READ, COUNTER, "hprofx_ship_values_read_total", "kind", NULL, 1,                                                              \
      "Sum of the values in the profiles read, by kind, in the unit of the kind.")                                                         \
    X(PROFILES_SENT, COUNTER, "hprofx_ship_profiles_sent_total", "destination", NULL, 1, "Profiles that a destination accepted.")          \
    X(PROFILES_DROPPED, COUNTER, "hprofx_ship_profiles_dropped_total", "destination", "cause", 1,                                          \
      "Profiles that a destination never got.")                                                                                            \
    X(VALUES_SENT, COUNTER, "hprofx_ship_values_sent_total", "destination", "kind", 1,                                                     \
      "Sum of the values in the profiles that a destination accepted.")                                                                    \
    X(VALUES_DROPPED, COUNTER, "hprofx_ship_values_dropped_total", "destination", "kind", 1,                                               \
      "Sum of the values in the profiles that a destination never got.")                                                                   \
    X(RUNS_WITHOUT_BASE, COUNTER, "hprofx_ship_allocations_unknown_total", NULL, NULL, 1,                                                  \
      "Profiles whose allocations were left out, because those of the run before are not known.")                                          \
    X(BYTES_SENT, COUNTER, "hprofx_ship_bytes_sent_total", "destination", NULL, 1,                                                         \
      "Bytes of request bodies that a destination accepted, as they were sent.")                                                           \
    X(REQUESTS, COUNTER, "hprofx_ship_requests_total", "destination", "status", 1,                                                         \
      "HTTP requests by the status of the answer; 0: there was none.")                                                                     \
    X(SPOOL_BYTES, GAUGE, "hprofx_ship_spool_bytes", "destination", NULL, 1, "Bytes on disk that wait for a destination.")                 \
    X(LAG, GAUGE, "hprofx_ship_lag_seconds", "destination", NULL, 1000,                                                                    \
      "Age of the oldest profile that waits for a destination; 0: none waits.")                                                            \
    X(PULLS, COUNTER, "hprofx_ship_pulls_total", "path", "status", 1, "HTTP requests answered by --listen.")                               \
    X(LIVE_DROPPED, COUNTER, "hprofx_ship_live_tables_dropped_total", "cause", NULL, 1,                                                    \
      "Live objects of a profile that /debug/pprof/heap lacks.")                                                                           \
    X(WATCH_JVMS, GAUGE, "hprofx_watch_jvms", "state", NULL, 1,                                                                            \
      "JVMs of this host as hprofx watch sees them; a JVM may be in several states.")                                                      \
    X(WATCH_EVENTS, COUNTER, "hprofx_watch_events_total", "event", NULL, 1, "What hprofx watch did and what it lost.")                     \
    X(WATCH_CPU, COUNTER, "hprofx_watch_cpu_seconds_total", NULL, NULL, 1000000000,                                                        \
      "CPU time of the processes that watch JVMs, without this one.")                                                                      \
    X(WATCH_SHARE, GAUGE, "hprofx_watch_cpu_share_ratio", NULL, NULL, 1000000, "CPU time of agents and watcher, of that of the host.")     \
    X(AGENTS_CPU, COUNTER, "hprofx_agents_cpu_seconds_total", NULL, NULL, 1000000000,                                                      \
      "CPU time that the agents used in the JVMs, as their reports say.")                                                                  \
    X(AGENTS_LOST, COUNTER, "hprofx_agents_lost_total", NULL, NULL, 1, "Events that the agents lost, as their reports say.")               \
    X(PROCESS_CPU, COUNTER, "process_cpu_seconds_total", NULL, NULL, 1000000000, "CPU time that this process used.")                       \
    X(PROCESS_MEMORY, GAUGE, "process_resident_memory_bytes", NULL, NULL, 1, "Memory that this process has in RAM.")                       \
    X(PROCESS_START, GAUGE, "process_start_time_seconds", NULL, NULL, 1000, "When this process began, since 1970.")

enum hpx_metric {
#define HPX_METRIC_ID(id, type, name, first, second, unit, help) HPX_METRIC_##id,
    HPX_METRICS(HPX_METRIC_ID)
#undef HPX_METRIC_ID
        HPX_METRIC_COUNT
};

/* Adds to a counter. The value is in the metric's unit times the number in the table above: LAG is in milliseconds, AGENTS_CPU in
 * nanoseconds. first, second: the values of the labels, any bytes; NULL for a label that the metric does not have. A metric has at most 64
 * series. More, and those for which there is no memory, are counted in one with the label value "other", so sums of counters stay right; a
 * gauge there is the one that was set last. Values of labels are public: no credentials. */
void hpx_metric_add(enum hpx_metric m, const char *first, const char *second, uint64_t n);
/* Sets a gauge, or a counter that is kept elsewhere. */
void hpx_metric_set(enum hpx_metric m, const char *first, const char *second, uint64_t n);
/* The value now; 0: there is no such series. */
uint64_t hpx_metric_get(enum hpx_metric m, const char *first, const char *second);

/* Writes all metrics that have a series, or need no label, in the text format 0.0.4 of Prometheus. The values of the process (PROCESS_*)
 * are taken now. Errors of the stream are the caller's. */
void hpx_metrics_write(FILE *to);

#endif
