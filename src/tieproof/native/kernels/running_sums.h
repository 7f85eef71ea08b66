/* Running sums of pairs of doubles: measures/numbers.py. */

#ifndef TIEPROOF_RUNNING_SUMS_H
#define TIEPROOF_RUNNING_SUMS_H

#include "pair_parts.h"

/* Replace the terms of each block, of which the first row has hi and the second lo, by their sums from its first on. */
KERNEL void sum_inside_blocks(Doubles terms, int64_t block)
{
    Pair total = pair(0.0);
    for (int64_t i = 0; i < terms.columns; i++) {
        Pair term = {AT2(terms, 0, i), AT2(terms, 1, i)};
        total = i % block ? plus(total, term) : term;
        AT2(terms, 0, i) = total.hi;
        AT2(terms, 1, i) = total.lo;
    }
}

#endif
