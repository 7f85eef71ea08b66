/* Sums over the ties of each query, added up in the order of the ties: measures/sums_by_query.py. */

#ifndef TIEPROOF_SUMS_BY_QUERY_H
#define TIEPROOF_SUMS_BY_QUERY_H

#include "array.h"

KERNEL void add_precisions(
    bool trapezoid, Longs starts, Longs k, Longs n, Longs l, Longs last, Doubles several, Doubles sums)
{
    int64_t place = 0;
    for (int64_t q = 0; q < last.length; q++) {
        for (int64_t t = AT(starts, q); t < AT(starts, q + 1) && AT(k, t) < AT(last, q); t++) {
            if (AT(l, t) > 1) {
                AT(sums, q) += AT(several, place++);
                continue;
            }
            double above = AT(n, t), rank = AT(k, t);
            double precision = (above + 1.0) / (rank + 1.0);
            if (trapezoid)
                precision = ((rank > 0.0 ? above / rank : 1.0) + precision) / 2.0;
            AT(sums, q) += precision;
        }
    }
}

KERNEL void certain_hits(Longs starts, Longs k, Longs l, Longs m, Longs last, Longs hits)
{
    for (int64_t q = 0; q < last.length; q++) {
        for (int64_t t = AT(starts, q); t < AT(starts, q + 1) && AT(k, t) < AT(last, q); t++) {
            if (AT(m, t) == AT(l, t)) {
                int64_t places = AT(last, q) - AT(k, t);
                AT(hits, q) += places < AT(l, t) ? places : AT(l, t);
            }
        }
    }
}

#endif
