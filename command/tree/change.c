/* SPDX-License-Identifier: BSD-2-Clause */
/* change.c: the arithmetic of change.h. */
#include "change.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

#define HALF      0.5 /* a sample: what Haldane adds to each count, so that 0 has a logarithm, and its error is not too small */
#define AS_PARTS  1e3 /* events of an amount are this small a part of something, which makes the hypergeometric a binomial */
#define LARGE     0.5 /* a share */
#define NEGLECTED 1e-17
#define MANY      1e6 /* events from which on the normal distribution is as good as the exact test, which takes their root of steps */

/* ---- distributions ---- */

static double normal(double z)
{
    return erfc(z / M_SQRT2);
}

/* Two-sided, for whole degrees of freedom: the finite series. */
static double student(double t, double degrees)
{
    double angle = atan(t / sqrt(degrees)), c = cos(angle), s = sin(angle), term, sum;
    bool odd = fmod(degrees, 2) > 0.5;
    term = odd ? c : 1;
    sum = degrees > 1.5 ? term : 0;
    for (unsigned k = odd ? 3 : 2; k < degrees - 1; k += 2) {
        term *= (k - 1.0) / k * c * c;
        sum += term;
    }
    double inside = odd ? (angle + s * sum) * M_2_PI : s * sum;
    return inside < 1 ? 1 - inside : 0;
}

/* What has the probability p of being exceeded. */
static double exceeded(double p, double degrees)
{
    double low = 0, high = 1;
    while ((degrees > 0 ? student(high, degrees) : normal(high)) > p && high < 1e9) {
        high *= 2;
    }
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if ((degrees > 0 ? student(middle, degrees) : normal(middle)) > p) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

double hpx_change_z(double p)
{
    return exceeded(p, 0);
}

double hpx_change_t(double p, double degrees)
{
    return exceeded(p, degrees);
}

/* What Stirling's formula lacks of the logarithm of n!. */
static double beyond_stirling(double n)
{
    int sign;
    return n < 16 ? lgamma_r(n + 1, &sign) - (n + HALF) * log(n) + n - HALF * log(2 * M_PI)
                  : (1 - (1 / (n * n)) * (1.0 / 30 - 1 / (105 * n * n))) / (12 * n);
}

/* x log(x / mean) - x + mean, also where both are nearly the same: then the series, in which nothing is cancelled. */
static double deviance(double x, double mean)
{
    double v = (x - mean) / (x + mean), sum = (x - mean) * v, term = 2 * x * v;
    if (fabs(v) > 0.1) {
        return x * log(x / mean) - x + mean;
    }
    for (int j = 3; j < 40; j += 2) {
        term *= v * v;
        sum += term / j;
    }
    return sum;
}

/* Logarithm of the binomial probability of x among n. Not by factorials: their logarithms are so large that with 1e12 samples nothing of
 * the difference is left (Loader). */
static double log_binomial(double x, double n, double p)
{
    return x <= 0   ? n * log1p(-p)
           : x >= n ? n * log(p)
                    : beyond_stirling(n) - beyond_stirling(x) - beyond_stirling(n - x) - deviance(x, n * p) - deviance(n - x, n * (1 - p)) +
                          HALF * log(n / (2 * M_PI * x * (n - x)));
}

/* Of x successes among n, and y among m, as uneven a split or a more uneven one: Fisher's test, twice the smaller tail. */
static double fisher(double x, double n, double y, double m)
{
    double k = x + y, all = n + m, sum = 0;
    if (n < 1 || m < 1 || k < 1 || k > all - 1) {
        return 1;
    }
    /* Walk in the cell that is expected to be the smallest: a step of 1 must not be lost in a large number. */
    double least = fmin(n, m), fewer = fmin(k, all - k), expected = least * fewer / all;
    x = 2 * k > all ? n - x : x;
    x = n > m ? fewer - x : x;
    if (expected > MANY) {
        double error = sqrt(expected * (1 - least / all) * (1 - fewer / all));
        return normal(fmax(fabs(x - expected) - HALF, 0) / error);
    }
    double most = all - least, p = fewer / all;
    double term = exp(log_binomial(x, least, p) + log_binomial(fewer - x, most, p) - log_binomial(fewer, all, p));
    bool down = x < expected;
    while (term > NEGLECTED * sum && term > 0) {
        sum += term;
        term *= down ? x * (most - fewer + x) / ((least - x + 1) * (fewer - x + 1))
                     : (least - x) * (fewer - x) / ((x + 1) * (most - fewer + x + 1));
        x += down ? -1 : 1;
    }
    return sum < HALF ? 2 * sum : 1;
}

/* ---- a change ---- */

static bool is_amount(const struct hpx_change_side *s)
{
    return isinf(s->of);
}

/* Squared error of the logarithm. */
static double log_error(const struct hpx_change_side *s)
{
    return 1 / (s->events + HALF) - (is_amount(s) ? 0 : 1 / (s->of + HALF));
}

static double centre(const struct hpx_change_side *s)
{
    return is_amount(s) ? (s->events + HALF) * s->unit : (s->events + HALF) / (s->of + HALF);
}

/* What the F distribution exceeds as often as the normal one exceeds z (Paulson): quadratic in the cube root. */
static double f_beyond(double n, double m, double z)
{
    double a = 2 / (9 * n), b = 2 / (9 * m), p = (1 - b) * (1 - b) - z * z * b, q = (1 - a) * (1 - b), r = (1 - a) * (1 - a) - z * z * a;
    double root = p > 0 ? (q + sqrt(fmax(q * q - p * r, 0))) / p : INFINITY;
    return root * root * root;
}

/* The most that the ratio of two Poisson means can be: Clopper and Pearson's bound. */
static double ratio_below(double x, double y, double z)
{
    return y > 0 ? (x + 1) / y * f_beyond(2 * (x + 1), 2 * y, z) : INFINITY;
}

/* A share has a smaller error than Poisson's count: as if it had this many events. */
static double as_poisson(const struct hpx_change_side *s, double *unit)
{
    double rest = is_amount(s) ? 1 : (s->of - s->events + HALF) / (s->of + 1);
    *unit = is_amount(s) ? s->unit : rest / s->of;
    return s->events / rest;
}

/* Wilson's interval of a figure; for amounts its limit. */
static double wilson(const struct hpx_change_side *s, double z)
{
    double n = s->of, x = s->events, part = is_amount(s) ? x : x * (n - x) / n;
    double at = x + z * z / 2 + z * sqrt(fmax(part, 0) + z * z / 4); /* z < 0: the lower end */
    return is_amount(s) ? at * s->unit : at / (n + z * z);
}

/* Large shares: what is left of them up to 1 is as rare as a small share, and lopsided, which Poisson's count does not know. So, by the
 * logarithms of Wilson's limits, the errors to the sides that matter. */
static void widen_large(struct hpx_change *c, const struct hpx_change_side *a, const struct hpx_change_side *b, double z)
{
    double down = hypot(log(b->mean / wilson(b, -z)), log(wilson(a, z) / a->mean));
    double up = hypot(log(wilson(b, z) / b->mean), log(a->mean / wilson(a, -z)));
    c->low = fmin(c->low, b->mean / a->mean * exp(-down));
    c->high = fmax(c->high, b->mean / a->mean * exp(up));
}

static void ratio_by_drawing(struct hpx_change *c, const struct hpx_change_side *a, const struct hpx_change_side *b, double z)
{
    double a_unit, b_unit, x = as_poisson(a, &a_unit), y = as_poisson(b, &b_unit);
    c->low = b_unit / a_unit / ratio_below(x, y, z);
    c->high = b_unit / a_unit * ratio_below(y, x, z);
    if (!is_amount(a) && !is_amount(b) && a->mean > 0 && b->mean > 0 && fmax(a->mean, b->mean) > LARGE) {
        widen_large(c, a, b, z);
    }
    bool both = c->low > 0 && !isinf(c->high);
    c->drawn = both ? log(c->high / c->low) / 2 : z * sqrt(log_error(a) + log_error(b));
}

/* Newcombe's interval of a difference, from those of both figures: the errors to the sides that matter. */
static void points_by_drawing(struct hpx_change *c, const struct hpx_change_side *a, const struct hpx_change_side *b, double z)
{
    double down = hypot(b->mean - wilson(b, -z), wilson(a, z) - a->mean), up = hypot(wilson(b, z) - b->mean, a->mean - wilson(a, -z));
    c->points_low = c->points - down;
    c->points_high = c->points + up;
    c->points_drawn = (down + up) / 2;
}

static double chance_of(const struct hpx_change_side *a, const struct hpx_change_side *b)
{
    double x = nearbyint(a->events), y = nearbyint(b->events), n = nearbyint(a->of), m = nearbyint(b->of);
    if (is_amount(a) || is_amount(b)) { /* an event of the side with the larger unit weighs more */
        n = nearbyint(AS_PARTS * (x + y + 1) * (b->unit > a->unit ? b->unit / a->unit : 1));
        m = nearbyint(AS_PARTS * (x + y + 1) * (a->unit > b->unit ? a->unit / b->unit : 1));
    }
    return fisher(x < n ? x : n, n, y < m ? y : m, m);
}

/* The spread of the runs about their mean is taken to be the same on both sides, as a part of the mean. */
static double spread(const struct hpx_change_side *a, const struct hpx_change_side *b, double *degrees)
{
    double squares = (a->mean > 0 ? a->squares : 0) + (b->mean > 0 ? b->squares : 0);
    *degrees = (a->mean > 0 ? (double)a->runs - 1 : 0) + (b->mean > 0 ? (double)b->runs - 1 : 0);
    return *degrees > 0 ? squares / *degrees : 0;
}

static void by_drawing(struct hpx_change *c, const struct hpx_change_side *a, const struct hpx_change_side *b, double chance)
{
    double z = hpx_change_z(chance);
    ratio_by_drawing(c, a, b, z);
    points_by_drawing(c, a, b, z);
    c->p = chance_of(a, b);
}

static void by_runs(struct hpx_change *c, const struct hpx_change_side *a, const struct hpx_change_side *b, double chance)
{
    double each = spread(a, b, &c->degrees);
    if (c->degrees < 1) {
        return;
    }
    double t = hpx_change_t(chance, c->degrees), runs = 1 / (double)a->runs + 1 / (double)b->runs;
    double points = a->mean * a->mean / (double)a->runs + b->mean * b->mean / (double)b->runs, error_now = sqrt(each * points);
    c->between = t * sqrt(each * runs);
    c->points_between = t * error_now;
    double p = error_now > 0 ? student(fabs(c->points) / error_now, c->degrees) : c->points != 0 ? 0 : 1;
    c->p = p > c->p ? p : c->p;
}

/* A side has no samples; or it is not known how many samples there were, and so not what it means that a side has nothing. */
static bool cannot_tell(enum hpx_change_kind kind, const struct hpx_change *c, const struct hpx_change_side *a,
                        const struct hpx_change_side *b)
{
    bool empty = !(a->of > 0) || !(b->of > 0);
    return kind == HPX_CHANGE_DRAWN ? empty : kind == HPX_CHANGE_UNKNOWN && (c->degrees < 1 || !(a->mean > 0) || !(b->mean > 0));
}

/* The wider of both intervals. */
static void widen(struct hpx_change *c, double middle)
{
    c->points_low = fmin(c->points_low, c->points - c->points_between);
    c->points_high = fmax(c->points_high, c->points + c->points_between);
    if (isfinite(middle)) {
        c->low = fmin(c->low, exp(middle - c->between));
        c->high = fmax(c->high, exp(middle + c->between));
    } else { /* measured, and new or gone: the ratio is that, or nothing is known of it */
        c->low = c->points_low > 0 ? c->low : 0;
        c->high = c->points_high < 0 ? c->high : INFINITY;
    }
}

/* The mean of several shares is rounded, so that equal ones may differ. That of amounts is one whole number by another. */
static bool alike(const struct hpx_change_side *a, const struct hpx_change_side *b)
{
    double runs = (double)(a->runs + b->runs), rounding = is_amount(a) || runs < 3 ? 0 : runs * DBL_EPSILON;
    return fabs(b->mean - a->mean) <= rounding * fmax(a->mean, b->mean);
}

struct hpx_change hpx_change_between(enum hpx_change_kind kind, const struct hpx_change_side *before, const struct hpx_change_side *after,
                                     double chance)
{
    bool equal = alike(before, after);
    double ratio = before->mean > 0 ? equal ? 1 : after->mean / before->mean : after->mean > 0 ? INFINITY : NAN;
    double points = equal ? 0 : after->mean - before->mean;
    struct hpx_change c = {.ratio = ratio, .low = ratio, .high = ratio, .points = points, .points_low = points, .points_high = points};
    bool drawn = kind == HPX_CHANGE_DRAWN && before->of > 0 && after->of > 0;
    if (drawn) {
        by_drawing(&c, before, after, chance);
    }
    if (kind != HPX_CHANGE_COUNTED) {
        by_runs(&c, before, after, chance);
    }
    if (kind == HPX_CHANGE_COUNTED || (kind == HPX_CHANGE_MEASURED && c.degrees < 1)) {
        c.p = points == 0 ? 1 : 0;
    } else if (cannot_tell(kind, &c, before, after)) {
        c.low = 0;
        c.high = c.points_high = INFINITY;
        c.points_low = -INFINITY;
        c.p = 1;
    } else if (c.degrees > 0) {
        widen(&c, drawn ? log(centre(after) / centre(before)) : log(ratio));
    }
    return c;
}

/* ---- many of them ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double hpx_change_limit(double *p, size_t n, double chance)
{
    if (n > 1) {
        qsort(p, n, sizeof *p, ascending);
    }
    for (size_t i = n; i > 0; i--) {
        if (p[i - 1] <= chance * (double)i / (double)n) {
            return p[i - 1];
        }
    }
    return -1;
}

double hpx_change_within(double share, double before, double after)
{
    double error = (1 - share) / share * (1 / before + 1 / after);
    return before > 0 && after > 0 ? exp(hpx_change_z(HPX_CHANGE_CHANCE) * sqrt(error)) - 1 : INFINITY;
}
