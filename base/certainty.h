/* SPDX-License-Identifier: BSD-2-Clause */
/* certainty.h: how sure the rows of a table of samples are, at 95 %. Pure.
 *
 * A row with the share p of n samples is binomial. n: the effective samples, the total times the sum of weights, divided by the sum of
 * their squares, because a sample that stands for many intervals tells no more than one. The total has more than the weights only by
 * intervals that were measured, not drawn. */
#ifndef HPX_CERTAINTY_H
#define HPX_CERTAINTY_H

#include "compiler.h"

#define HPX_CERTAINTY_ROWS 10u /* whose order is judged */
#define HPX_CERTAINTY_TEXT 64u

/* Half the interval of Agresti and Coull for the share count/total, in percentage points: also sound for shares near 0 and 100 %. 0 if
 * n or total is 0. */
double hpx_certainty_points(uint64_t count, uint64_t total, uint64_t n);

/* Bit i: rows i and i + 1 are too close for their order: of the samples in both, so uneven a split may be chance (sign test). `rows`
 * counts, descending; no more than HPX_CERTAINTY_ROWS of them are looked at. 0 if n or total is 0. */
uint32_t hpx_certainty_close(const uint64_t *counts, uint64_t rows, uint64_t total, uint64_t n);
/* The rows of these bits, from 1: "1 to 2, 4 to 10"; returns `to`. */
const char *hpx_certainty_rows(char to[static HPX_CERTAINTY_TEXT], uint32_t close);

#endif
