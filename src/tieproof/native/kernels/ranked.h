/* Convert the counts between thresholds to ties: engine/ranked.py. */

#ifndef TIEPROOF_RANKED_H
#define TIEPROOF_RANKED_H

#include "structures.h"

KERNEL int64_t ties_of(Longs first, Longs last, Ints gap, Ints equal, Longs ties)
{
    Longs query = ROW(ties, 0), k = ROW(ties, 1), n = ROW(ties, 2), l = ROW(ties, 3), m = ROW(ties, 4);
    int64_t tie = -1;
    for (int64_t q = 0; q < first.length; q++) {
        int64_t start = AT(first, q), others = 0;
        for (int64_t i = start; i < AT(last, q); i++) {
            if (AT(gap, i) != CONTINUED) {
                tie++;
                others += AT(gap, i);
                AT(query, tie) = q;
                AT(k, tie) = others + i - start;
                AT(n, tie) = i - start;
                AT(l, tie) = AT(equal, i);
                AT(m, tie) = 0;
            }
            AT(l, tie)++;
            AT(m, tie)++;
        }
    }
    return tie + 1;
}

#endif
