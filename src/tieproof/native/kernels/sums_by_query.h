/* Sums of precisions over the ties of each query, added up in the order of the ties: measures/kernels.py. */

#ifndef TIEPROOF_SUMS_BY_QUERY_H
#define TIEPROOF_SUMS_BY_QUERY_H

#include "precision_terms.h"

KERNEL void sum_precisions(
    Longs starts, Longs k, Longs n, Longs l, Longs m, Longs last, const WeightTables *harmonic, Doubles room,
    Doubles estimates)
{
    for (int64_t q = 0; q < last.length; q++) {
        double lower = 0.0, mean = 0.0, upper = 0.0, variance = 0.0;
        for (int64_t t = AT(starts, q); t < AT(starts, q + 1) && AT(k, t) < AT(last, q); t++) {
            if (AT(l, t) == 1) {
                double precision = (AT(n, t) + 1.0) / (AT(k, t) + 1.0);
                lower += precision;
                mean += precision;
                upper += precision;
                continue;
            }
            int64_t places = AT(last, q) - AT(k, t);
            if (places > AT(l, t))
                places = AT(l, t);
            Terms terms = terms_of_tie(AT(k, t), AT(n, t), AT(l, t), AT(m, t), places, harmonic, room);
            lower += terms.lower;
            mean += terms.expected;
            upper += terms.upper;
            variance += terms.variance;
        }
        AT2(estimates, 0, q) = lower;
        AT2(estimates, 1, q) = mean;
        AT2(estimates, 2, q) = upper;
        AT2(estimates, 3, q) = variance;
    }
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
