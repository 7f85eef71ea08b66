/* The contribution of one tie to a sum of the means of the precisions before and at its relevant items:
   measures/precision_sums.py. */

#ifndef TIEPROOF_TRAPEZOID_TERMS_H
#define TIEPROOF_TRAPEZOID_TERMS_H

#include "precision_terms.h"

/* The sum of 1/i over i = k … k+length-1, without i = 0. */
static inline Pair inverses_before(Doubles sums, int64_t k, int64_t length)
{
    int64_t start = k > 1 ? k - 1 : 0, stop = k + length - 1;
    return between(sums, start, stop > start ? stop : start);
}

/* The sum over `count` hits, at the ranks from k+1 on, of the mean of the precision at the hit and the precision
   before it. */
static inline Pair trapezoids(Doubles sums, int64_t k, int64_t n, int64_t count)
{
    Pair before = plus(times(inverses_before(sums, k, count), pair((double)(n - k))), pair((double)count));
    return times(plus(precisions(sums, k, n, count), before), pair(0.5));
}

/* The expected value of that sum over the orders of a tie. At rank 1, the precision before a hit is 0/0, and
   counts as 1. For k = 0, the formula of `mean_precisions` counts rho = (m-1)/(l-1) for the first place; `first`
   adds the difference from 1. */
static inline Pair mean_trapezoids(Doubles sums, int64_t k, int64_t n, int64_t l, int64_t m)
{
    Pair first = times(exactly(k == 0 ? l - m : 0), pair((double)m));
    first = over(over(first, exactly(l)), exactly(l > 1 ? l - 1 : 1));
    Pair at = mean_precisions(n + 1, between(sums, k, k + l), k + 1, l, m, l);
    Pair before = mean_precisions(n, inverses_before(sums, k, l), k, l, m, l);
    return times(plus(plus(at, before), first), pair(0.5));
}

/* Var Z for a_i = (n u_i + w_i)/2 and b_i = u_i/2, where w_i = 1/(k+i) and u_i = w_(i-1) + w_i.

   At rank 1, the precision before is 1, and no pair of places ends there, so that b has no effect. */
static inline double variance_of_trapezoids(int64_t k, int64_t n, int64_t l, int64_t m, Doubles room)
{
    int64_t last = k + l;
    Doubles a = PART(ROW(room, 0), 0, l), b = PART(ROW(room, 1), 0, l);
    for (int64_t j = 0; j < l; j++) {
        int64_t rank = k + j + 1, before = rank > 1 ? rank - 1 : 1;
        double w = (last - rank) / (rank * (double)last);
        double w_before = (last - 1 - before) / (before * (double)(last > 1 ? last - 1 : 1));
        AT(b, j) = (w_before + w) / 2.0;
        AT(a, j) = n * AT(b, j) + w / 2.0 + (rank == 1 ? 0.5 : 0.0);
    }
    return variance_of(a, b, PART(ROW(room, 2), 0, l), l, m);
}

KERNEL void trapezoid_terms(
    Longs k, Longs n, Longs l, Longs m, const WeightTables *harmonic, Doubles room, Doubles terms)
{
    Doubles sums = harmonic->sums;
    for (int64_t t = 0; t < k.length; t++) {
        int64_t start = AT(k, t), before = AT(n, t), length = AT(l, t), relevant = AT(m, t);
        double upper = trapezoids(sums, start, before, relevant).hi;
        bool certain = relevant == length;
        AT2(terms, 0, t) = certain ? upper : trapezoids(sums, start + length - relevant, before, relevant).hi;
        AT2(terms, 1, t) = certain ? upper : mean_trapezoids(sums, start, before, length, relevant).hi;
        AT2(terms, 2, t) = upper;
        AT2(terms, 3, t) = certain ? 0.0 : variance_of_trapezoids(start, before, length, relevant, room);
    }
}

#endif
