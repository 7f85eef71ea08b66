/* Sums of precisions over the ties of each query, added up in the order of the ties: measures/relevant_ranks.py. */

#ifndef TIEPROOF_SUMS_BY_QUERY_H
#define TIEPROOF_SUMS_BY_QUERY_H

#include "precision_terms.h"

/* Add the precisions at the first of the ties t … stop-1, those of a single item above the cutoff, to the three
   estimates of a query; return the first other tie. The sums stay in registers, and divisions overlap with them. */
static inline int64_t add_first_singles(
    Longs k, Longs n, Longs l, int64_t t, int64_t stop, int64_t last, int64_t q, Doubles estimates)
{
    double worst = AT2(estimates, 0, q), mean = AT2(estimates, 1, q), best = AT2(estimates, 2, q);
    for (; t < stop && AT(l, t) == 1 && AT(k, t) < last; t++) {
        double precision = (AT(n, t) + 1.0) / (AT(k, t) + 1.0);
        worst += precision;
        mean += precision;
        best += precision;
    }
    AT2(estimates, 0, q) = worst;
    AT2(estimates, 1, q) = mean;
    AT2(estimates, 2, q) = best;
    return t;
}

/* Ties above the cutoff are processed in groups, whatever their queries; their contributions are added in the
   order of the ties. */
KERNEL void sum_precisions(
    Longs starts, Longs k, Longs n, Longs l, Longs m, Longs last, const WeightTables *harmonic, Doubles room,
    Doubles divisors, Doubles estimates)
{
    SomeTies ties;
    int64_t of[SIDE_BY_SIDE], tie[SIDE_BY_SIDE], q = 0, t = AT(starts, 0);
    while (q < last.length) {
        int64_t some = 0, several = 0;
        while (q < last.length && some < SIDE_BY_SIDE) {
            if (t == AT(starts, q))
                t = add_first_singles(k, n, l, t, AT(starts, q + 1), AT(last, q), q, estimates);
            if (t >= AT(starts, q + 1) || AT(k, t) >= AT(last, q)) {
                t = AT(starts, ++q);
                continue;
            }
            int64_t places = AT(last, q) - AT(k, t);
            ties.k[several] = AT(k, t);
            ties.n[several] = AT(n, t);
            ties.l[several] = AT(l, t);
            ties.m[several] = AT(m, t);
            ties.s[several] = places < AT(l, t) ? places : AT(l, t);
            several += AT(l, t) > 1;
            of[some] = q;
            tie[some++] = t++;
        }
        find_terms(&ties, several, harmonic, room);
        several = 0;
        for (int64_t i = 0; i < some; i++) {
            if (AT(l, tie[i]) == 1) {
                double precision = (AT(n, tie[i]) + 1.0) / (AT(k, tie[i]) + 1.0);
                for (int64_t row = 0; row < 3; row++)
                    AT2(estimates, row, of[i]) += precision;
                continue;
            }
            AT2(estimates, 0, of[i]) += ties.lower[several];
            AT2(estimates, 1, of[i]) += ties.expected[several];
            AT2(estimates, 2, of[i]) += ties.upper[several];
            AT2(estimates, 3, of[i]) += ties.variance[several];
            several++;
        }
    }
    divide_by_query(divisors, estimates);
}

KERNEL void add_trapezoids(Longs starts, Longs k, Longs n, Longs l, Doubles several, Doubles estimates)
{
    int64_t place = 0;
    for (int64_t q = 0; q < starts.length - 1; q++) {
        for (int64_t t = AT(starts, q); t < AT(starts, q + 1); t++) {
            if (AT(l, t) > 1) {
                for (int64_t i = 0; i < 4; i++)
                    AT2(estimates, i, q) += AT2(several, i, place);
                place++;
                continue;
            }
            double above = AT(n, t), rank = AT(k, t);
            double before = rank > 0.0 ? above / rank : 1.0;
            double precision = (before + (above + 1.0) / (rank + 1.0)) / 2.0;
            for (int64_t i = 0; i < 3; i++)
                AT2(estimates, i, q) += precision;
        }
    }
}

#endif
