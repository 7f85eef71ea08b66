/* The bits of doubles. */

#ifndef TIEPROOF_BITS_H
#define TIEPROOF_BITS_H

#include "array.h"

static inline uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline double number_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

#endif
