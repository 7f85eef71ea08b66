/* The scores of a query's list among those of its relevant items. */

#ifndef TIEPROOF_LIST_COUNTS_H
#define TIEPROOF_LIST_COUNTS_H

#include "array.h"

/* Count the items above and at each of a query's distinct thresholds, which fall.

   The list of query q is start[q] … start[q+1]-1, its thresholds are first[q] … first[q+1]-1. */
KERNEL void count_scores(Doubles score, Longs start, Doubles threshold, Longs first, Longs above, Longs equal)
{
    for (int64_t q = 0; q + 1 < start.length; q++) {
        int64_t begin = AT(first, q), count = AT(first, q + 1) - begin, before = 0;
        if (count == 0)
            continue;
        const double *thresholds = &AT(threshold, begin);
        int64_t *gaps = &AT(above, begin), *equals = &AT(equal, begin);
        memset(gaps, 0, (size_t)count * sizeof *gaps);
        memset(equals, 0, (size_t)count * sizeof *equals);
        for (int64_t i = AT(start, q); i < AT(start, q + 1); i++) {
            double value = AT(score, i);
            if (value < thresholds[count - 1])
                continue;
            /* The first threshold that is not above it, by halving without branches. */
            int64_t at = 0;
            for (int64_t length = count; length > 1; length -= length / 2)
                at += thresholds[at + length / 2 - 1] > value ? length / 2 : 0;
            at += thresholds[at] > value;
            bool is_equal = thresholds[at] == value;
            equals[at] += is_equal;
            gaps[at] += !is_equal;
        }
        for (int64_t t = 0; t < count; t++) {
            gaps[t] += before;
            before = gaps[t] + equals[t];
        }
    }
}

#endif
