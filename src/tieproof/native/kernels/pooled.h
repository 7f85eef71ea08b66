/* Count the pairs of a block by their distance; distances are integers that number all doubles in order:
   analyses/rates/counting.py. */

#ifndef TIEPROOF_POOLED_H
#define TIEPROOF_POOLED_H

#include "types.h"

typedef struct {
    Longs weight, lowest, highest;
} Bins;

KERNEL void number_floats(Longs bits)
{
    for (int64_t i = 0; i < bits.length; i++)
        AT(bits, i) = AT(bits, i) < 0 ? INT64_MIN - AT(bits, i) : AT(bits, i);
}

KERNEL int64_t histogram(
    Longs block, Longs row_weight, Longs column_weight, int64_t low, int64_t high, int64_t shift, const Bins *bins)
{
    Longs weights = bins->weight, lowest = bins->lowest, highest = bins->highest;
    int64_t below = 0;
    for (int64_t i = 0; i < block.length; i++) {
        Longs row = ROW(block, i);
        int64_t weight = AT(row_weight, i), before = 0;
        for (int64_t j = 0; j < row.length; j++) {
            int64_t entry = AT(row, j);
            if (entry < low) {
                before += AT(column_weight, j);
            } else if (entry <= high) {
                /* Differences have up to 64 bits, and are right modulo 2^64. */
                uint64_t place = ((uint64_t)entry - (uint64_t)low) >> shift;
                AT(weights, place) += weight * AT(column_weight, j);
                AT(lowest, place) = entry < AT(lowest, place) ? entry : AT(lowest, place);
                AT(highest, place) = entry > AT(highest, place) ? entry : AT(highest, place);
            }
        }
        below += weight * before;
    }
    return below;
}

KERNEL int64_t weight_below(Longs block, Longs row_weight, Longs column_weight, int64_t low)
{
    int64_t below = 0;
    for (int64_t i = 0; i < block.length; i++) {
        Longs row = ROW(block, i);
        int64_t before = 0;
        for (int64_t j = 0; j < row.length; j++)
            before += AT(column_weight, j) & -(int64_t)(AT(row, j) < low); /* vectorized everywhere, unlike `if` */
        below += AT(row_weight, i) * before;
    }
    return below;
}

#endif
