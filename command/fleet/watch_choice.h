/* SPDX-License-Identifier: BSD-2-Clause */
/* watch_choice.h: decisions of `hprofx watch` that need nothing but numbers. No state; any thread. */
#ifndef HPX_FLEET_WATCH_CHOICE_H
#define HPX_FLEET_WATCH_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One session: CPU time of its agent in the time that is looked at. */
struct hpx_watch_cost {
    uint64_t ns;
    bool ends; /* set by hpx_watch_balance(): it costs too much */
};

/* Marks the costliest sessions until the others and `own`, the watcher's CPU time, fit into `allowed`. Sessions without a cost are never
 * marked: their end saves nothing. Returns how many were marked. */
size_t hpx_watch_balance(struct hpx_watch_cost *of, size_t n, uint64_t own, uint64_t allowed);
/* CPU time that `percent` of `cpus` is in `ns` of time. */
uint64_t hpx_watch_allowance(double percent, unsigned cpus, uint64_t ns);
/* What the last line "own CPU time" of a text says, in ns; 0: there is none. The text is another user's. */
uint64_t hpx_watch_own_cpu(const char *text, size_t n);

/* A file that an agent wrote for a watcher, as its name tells: hprofx-watch-PID-ID.hprof, or that name and what is not "" here. */
enum hpx_watch_file { HPX_WATCH_LAST, HPX_WATCH_NUMBERED, HPX_WATCH_UNFINISHED };
struct hpx_watch_name {
    int pid;               /* of the JVM, as it sees itself */
    unsigned long long id; /* of the session */
    enum hpx_watch_file file;
    unsigned number; /* .1, .2: of HPX_WATCH_NUMBERED */
};
/* false: it is none. The name is another user's. */
bool hpx_watch_parse(const char *name, struct hpx_watch_name *to);
/* The name of the last profile of a session; the others have more behind it. */
void hpx_watch_print(int pid, unsigned long long id, char *to, size_t size);

/* The pattern is in a word of the command line (`command`: words with their 0, `n` bytes), or, if it has a wildcard * ? [, it fits the
 * whole of a word or of `name`, the main class. */
bool hpx_watch_matches(const char *pattern, const char *name, const char *command, size_t n);
/* The host of that name is among `percent` of all: the same ones every time, and those of a smaller share are in a larger one. */
bool hpx_watch_in_share(const char *host, double percent);

#endif
