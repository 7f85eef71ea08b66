/* Counting bits. */

#ifndef TIEPROOF_ONES_H
#define TIEPROOF_ONES_H

#include "array.h"

/* The number of bits set in each byte, written so that many words are counted side by side. */
static inline uint64_t ones_by_byte(uint64_t word)
{
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    return (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
}

/* The sum of the bytes of a word. */
static inline uint64_t sum_of_bytes(uint64_t word)
{
    word = (word & 0x00FF00FF00FF00FF) + (word >> 8 & 0x00FF00FF00FF00FF);
    word += word >> 16;
    return (word + (word >> 32)) & 0xFFFF;
}

#endif
