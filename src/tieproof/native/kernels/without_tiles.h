/* Pairs that are counted without tiles: engine/resolve.py. */

#ifndef TIEPROOF_WITHOUT_TILES_H
#define TIEPROOF_WITHOUT_TILES_H

#include "masks.h"

KERNEL void hide_in_rows(Ints run, Longs first, Longs last, int64_t start, Floats nearness)
{
    for (int64_t q = 0; q < nearness.length; q++)
        hide_float(run, AT(first, q), AT(last, q), start, ROW(nearness, q));
}

#endif
