/* SPDX-License-Identifier: BSD-2-Clause */
/* program.h: what the files of the program hprofx-bci share. */
#ifndef HPX_BCI_PROGRAM_H
#define HPX_BCI_PROGRAM_H

#include "hprofx_bci.h"

/* Exit codes of the program; 0 to 2 are those of hprofx_bci_rewrite. */
enum { HPX_EXIT_USAGE = 64, HPX_EXIT_DATA = 65, HPX_EXIT_FILE = 66 };

/* Counts over many classes, printed to stderr. */
struct hpx_summary {
    uint64_t classes[3]; /* by what hprofx_bci_rewrite returned */
    uint64_t methods, rewritten, sites, objects, left[HPROFX_BCI_LEFT_COUNT], bare[HPROFX_BCI_BARE_COUNT], widened, huge, whole;
    uint64_t bytes_in, bytes_out, nanoseconds, steps;
};

/* hprofx_bci_rewrite, counted; opts->result need not be set. */
int hpx_summary_rewrite(struct hpx_summary *s, const struct hprofx_bci_opts *opts, const uint8_t *in, size_t n, uint8_t **out, size_t *m,
                        const char **why);
void hpx_summary_print(const struct hpx_summary *s);

/* jar.c: every class of the archive `in` rewritten into `out`; what is no class is copied. An exit code. */
int hpx_jar_rewrite(const struct hprofx_bci_opts *opts, const char *in, const char *out, bool verbose);

#endif
