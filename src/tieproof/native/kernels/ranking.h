/* Ranking items that queries share: engine/ranking.py. */

#ifndef TIEPROOF_RANKING_H
#define TIEPROOF_RANKING_H

#include "structures.h"

#define NARROW (1 + 0x1p-40)

KERNEL void reverse(
    Doubles keys, int64_t length, Doubles reach, Longs start, Doubles key, Ints gap, Bytes clear)
{
    for (int64_t q = 0; q < keys.length; q++) {
        Doubles falling = PART(key, AT(start, q), AT(start, q) + length);
        Ints marks = PART(gap, AT(start, q), AT(start, q) + length);
        for (int64_t i = 0; i < length; i++)
            AT(falling, i) = AT2(keys, q, keys.columns - 1 - i);
        double too_close = 2 * NARROW * AT(reach, q);
        uint32_t close = 0;
        for (int64_t i = 1; i < length; i++) {
            bool is_close = AT(falling, i - 1) - AT(falling, i) <= too_close;
            AT(marks, i) = is_close ? CONTINUED : AT(marks, i);
            close |= is_close;
        }
        AT(clear, q) = close == 0 || AT(reach, q) == 0.0;
    }
}

#endif
