/* Convert flags of one byte each to a list of the positions of the flags that are set. */

#ifndef TIEPROOF_LISTING_H
#define TIEPROOF_LISTING_H

#include "array.h"
#ifdef __BMI2__
#include <immintrin.h>
#endif

/* The number of positions whose flags are computed and listed together, and of rows and columns of a tile that are
   transposed together. */
#define GROUP 64

/* Append the positions that are set in a block of flags, which begins at position `start`; return the new number
   of listed positions. Eight flags are tested together, because few are usually set. `close` has room for eight
   more positions. */
static inline int64_t list_flags(const uint8_t *flag, uint32_t start, uint32_t *close, int64_t found)
{
    for (uint32_t place = 0; place < GROUP; place += 8) {
        uint64_t word;
        memcpy(&word, flag + place, sizeof word);
        if (!word)
            continue;
#ifdef __BMI2__
        uint64_t places = _pext_u64(0x0706050403020100, word * 255);
        uint32_t *next = close + found;
        for (int i = 0; i < 8; i++)
            next[i] = start + place + (uint32_t)(places >> (8 * i) & 7);
        found += __builtin_popcountll(word);
#else
        for (uint32_t i = 0; i < 8; i++) {
            close[found] = start + place + i;
            found += flag[place + i];
        }
#endif
    }
    return found;
}

#endif
