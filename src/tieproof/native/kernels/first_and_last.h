/* The rank of the first relevant item of each query, or of the last one: measures/relevant_ranks.py.

   Let J be the place of the first relevant item in a tie of l items, m of them relevant, counted from the front or
   from the back of the tie. Then P(J > j) = C(l-j, m) / C(l, m), which is a product. */

#ifndef TIEPROOF_FIRST_AND_LAST_H
#define TIEPROOF_FIRST_AND_LAST_H

#include "weighted_sums.h"

/* A walk through the places of a tie: P(J = j) at place j, and P(J > j). */
typedef struct {
    int64_t l, m, j;
    double here, beyond;
} Walk;

static inline Walk walk(int64_t l, int64_t m)
{
    return (Walk){l, m, 0, 0.0, 1.0};
}

static inline void step(Walk *walk)
{
    int64_t left = walk->l - walk->j, others = left - walk->m;
    walk->here = walk->beyond * (walk->m / (double)left);
    walk->beyond *= (others > 0 ? others : 0) / (double)left;
    walk->j++;
}

/* The number of places of a tie that can change a value by 2^-60 of itself.

   P(J > j) <= (1 - m/l)^j < 2^(-1.44 j m/l). No two values differ by more than a factor of (k + l)^2, and no two
   of their squared distances from the mean by more than a factor of (k + l)^4 l^2. */
static inline int64_t places_that_matter(int64_t k, int64_t l, int64_t m)
{
    int bits;
    frexp((double)(k + l), &bits);
    int64_t places = (64 + 6 * (int64_t)bits) * l / m + 1;
    return places < l - m + 1 ? places : l - m + 1;
}

/* The mean and the variance of a value of a tie. */
typedef struct {
    double mean, variance;
} Moments;

/* The mean and the variance of whether any of m relevant items among l is in the first s places. The probability
   of any is a sum, and the probability of none a product, of positive terms, so that neither loses digits if it is
   small. m and s can be exchanged, so the smaller one is the number of steps. */
static inline Moments any_of(int64_t l, int64_t m, int64_t s)
{
    int64_t steps = m < s ? m : s;
    Walk at = walk(l, m < s ? s : m);
    double some = 0.0;
    while (at.j < steps) {
        step(&at);
        some += at.here;
    }
    return (Moments){at.beyond < 0.5 ? 1.0 - at.beyond : some, some * at.beyond};
}

/* The moments of 1/(k+J), which counts as 0 for J > s, from the distances 1/(k+1) - 1/(k+J). */
static inline Moments first_reciprocal(int64_t k, int64_t l, int64_t m, int64_t s)
{
    int64_t steps = places_that_matter(k, l, m);
    if (steps > s)
        steps = s;
    double first = k + 1.0, mean = 0.0, mean_distance = 0.0, variance = 0.0;
    Walk at = walk(l, m);
    for (int64_t j = 0; j < steps; j++) {
        step(&at);
        mean += at.here / (first + j);
        mean_distance += at.here * (j / ((first + j) * first));
    }
    double rest = at.beyond;
    mean_distance += rest / first;
    at = walk(l, m);
    for (int64_t j = 0; j < steps; j++) {
        step(&at);
        double distance = j / ((first + j) * first) - mean_distance;
        variance += at.here * (distance * distance);
    }
    variance += rest * (mean * mean);
    return (Moments){mean_distance < 0.5 / first ? 1.0 / first - mean_distance : mean, variance};
}

/* The moments of 1/(k+l+1-J) - 1/(k+l), where J is counted from the back of the tie. */
static inline Moments last_reciprocal(int64_t k, int64_t l, int64_t m)
{
    int64_t steps = places_that_matter(k, l, m);
    double last = (double)(k + l), mean = 0.0, variance = 0.0;
    Walk at = walk(l, m);
    for (int64_t j = 0; j < steps; j++) {
        step(&at);
        mean += at.here * (j / ((last - j > 1.0 ? last - j : 1.0) * last));
    }
    at = walk(l, m);
    for (int64_t j = 0; j < steps; j++) {
        step(&at);
        double distance = j / ((last - j > 1.0 ? last - j : 1.0) * last) - mean;
        variance += at.here * (distance * distance);
    }
    return (Moments){mean, variance};
}

/* The tie that determines the value of a query: its numbers k, l and m, and the number s of its places that count. */
typedef struct {
    int64_t k, l, m, s;
} Place;

static inline bool same(Place a, Place b)
{
    return a.k == b.k && a.l == b.l && a.m == b.m && a.s == b.s;
}

/* The first tie of a query, if it has one that begins above rank `last`. */
static inline bool find_first(Place *first, int64_t q, Longs starts, Longs k, Longs l, Longs m, int64_t last)
{
    int64_t t = AT(starts, q);
    if (t == AT(starts, q + 1) || AT(k, t) >= last)
        return false;
    int64_t places = last - AT(k, t);
    *first = (Place){AT(k, t), AT(l, t), AT(m, t), places < AT(l, t) ? places : AT(l, t)};
    return true;
}

KERNEL void find_successes(Longs queries, Longs starts, Longs k, Longs l, Longs m, Longs last, Doubles estimates)
{
    Place before = {-1, 0, 0, 0}, first;
    Moments found = {0.0, 0.0};
    for (int64_t i = 0; i < queries.length; i++) {
        int64_t q = AT(queries, i);
        if (!find_first(&first, q, starts, k, l, m, AT(last, q)))
            continue;
        bool certain = first.s > first.l - first.m;
        if (!certain && !same(first, before)) {
            found = any_of(first.l, first.m, first.s);
            before = first;
        }
        AT2(estimates, 0, q) = certain ? 1.0 : 0.0;
        AT2(estimates, 1, q) = certain ? 1.0 : found.mean;
        AT2(estimates, 2, q) = 1.0;
        AT2(estimates, 3, q) = certain ? 0.0 : found.variance;
    }
}

KERNEL void find_first_reciprocals(
    Longs queries, Longs starts, Longs k, Longs l, Longs m, Longs last, const WeightTables *harmonic, Doubles estimates)
{
    Place before = {-1, 0, 0, 0}, first;
    Moments found = {0.0, 0.0};
    for (int64_t i = 0; i < queries.length; i++) {
        int64_t q = AT(queries, i);
        if (!find_first(&first, q, starts, k, l, m, AT(last, q)))
            continue;
        int64_t others = first.l - first.m, end = first.k + first.s;
        double upper = 1.0 / (first.k + 1);
        if (others && !same(first, before)) {
            if (first.m == 1) {
                found.mean = over(sum_of_run(harmonic, first.k, end), exactly(first.l)).hi;
                found.variance = spread_in_tie(harmonic, first.k, first.l, end) / first.l;
            } else {
                found = first_reciprocal(first.k, first.l, first.m, first.s);
            }
            before = first;
        }
        AT2(estimates, 0, q) = first.s > others ? 1.0 / (first.k + others + 1) : 0.0;
        AT2(estimates, 1, q) = others ? found.mean : upper;
        AT2(estimates, 2, q) = upper;
        AT2(estimates, 3, q) = others ? found.variance : 0.0;
    }
}

KERNEL void find_last_reciprocals(
    Longs queries, Longs starts, Longs k, Longs n, Longs l, Longs m, Longs n_relevant, Doubles estimates)
{
    Place before = {-1, 0, 0, 0};
    Moments found = {0.0, 0.0};
    for (int64_t i = 0; i < queries.length; i++) {
        int64_t q = AT(queries, i), t = AT(starts, q + 1) - 1, relevant = AT(n_relevant, q);
        if (t < AT(starts, q) || AT(n, t) + AT(m, t) != relevant)
            continue;
        Place last = {AT(k, t), AT(l, t), AT(m, t), AT(l, t)};
        double lower = relevant / (double)(last.k + last.l);
        bool ambiguous = last.m < last.l;
        if (ambiguous && !same(last, before)) {
            found = last_reciprocal(last.k, last.l, last.m);
            before = last;
        }
        AT2(estimates, 0, q) = lower;
        AT2(estimates, 1, q) = ambiguous ? lower + relevant * found.mean : lower;
        AT2(estimates, 2, q) = relevant / (double)(last.k + last.m);
        AT2(estimates, 3, q) = ambiguous ? found.variance * relevant * relevant : 0.0;
    }
}

#endif
