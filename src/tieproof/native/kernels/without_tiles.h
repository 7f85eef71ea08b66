/* Pairs that are counted or kept without tiles: engine/resolve.py, engine/keeping.py. */

#ifndef TIEPROOF_WITHOUT_TILES_H
#define TIEPROOF_WITHOUT_TILES_H

#include "masks.h"

KERNEL void hide_in_rows(Ints run, Longs first, Longs last, int64_t start, Floats nearness)
{
    for (int64_t q = 0; q < nearness.length; q++)
        hide_float(run, AT(first, q), AT(last, q), start, ROW(nearness, q));
}

/* The k-th largest of the values start[q] … start[q + 1] - 1 of each query; if they are fewer, minus infinity. */
KERNEL void floors(Longs start, Doubles value, int64_t k, Doubles floor)
{
    for (int64_t q = 0; q < floor.length; q++) {
        int64_t first = AT(start, q), count = AT(start, q + 1) - first;
        AT(floor, q) = count >= k ? kth_largest_double(value.at + first, count, k) : -INFINITY;
    }
}

#endif
