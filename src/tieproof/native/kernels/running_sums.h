/* Running sums of pairs of doubles: measures/numbers.py. */

#ifndef TIEPROOF_RUNNING_SUMS_H
#define TIEPROOF_RUNNING_SUMS_H

#include "pair_parts.h"

/* Replace the terms of each block by their running sums from the start of the block. The first row of `terms` has
   their high parts, the second their low parts. */
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
