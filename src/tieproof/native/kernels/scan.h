/* One pass over rows of numbers: distances/exact/rows.py. */

#ifndef TIEPROOF_SCAN_H
#define TIEPROOF_SCAN_H

#include "bits.h"

#define MAGNITUDE (UINT64_MAX >> 1)          /* all bits but the sign */
#define INFINITE ((uint64_t)0x7FF << 52)     /* the bits of infinity; NaN has larger ones */
#define SQUARES 8                            /* independent partial sums */

typedef struct {
    Doubles largest, smallest, square;
    Bytes negative;
    Words checksum;
} Statistics;

/* The bits of the largest magnitude; the bits of the smallest magnitude other than zero, minus one; and the union
   of the bits of all numbers other than zero. Bits of magnitudes are ordered as the magnitudes are. The bits of
   zero, minus one, are the largest of all, so that zero is never the smallest. */
typedef struct {
    uint64_t largest, below_smallest, any;
} Extremes;

static inline Extremes extremes_of(Doubles row)
{
    Extremes found = {0, UINT64_MAX, 0};
    for (int64_t d = 0; d < row.length; d++) {
        uint64_t bits = bits_of(AT(row, d)), magnitude = bits & MAGNITUDE, below = magnitude - 1;
        found.largest = magnitude > found.largest ? magnitude : found.largest;
        found.below_smallest = below < found.below_smallest ? below : found.below_smallest;
        found.any |= magnitude ? bits : 0;
    }
    return found;
}

/* The sum of squares of a row divided by 2^exponent: eight partial sums, which are then added up. The division is
   done in two steps of half the power each, so that the inverse of each step is finite. Numbers that these steps
   round are so small that their squares are zero. */
static inline double sum_of_squares(Doubles row, int exponent)
{
    double half = ldexp(1.0, -(exponent >> 1)), rest = ldexp(1.0, -(exponent - (exponent >> 1)));
    double sums[SQUARES] = {0.0}, total = 0.0;
    int64_t d = 0;
    for (; d + SQUARES <= row.length; d += SQUARES) {
        for (int lane = 0; lane < SQUARES; lane++) {
            double scaled = AT(row, d + lane) * half * rest;
            sums[lane] += scaled * scaled;
        }
    }
    for (; d < row.length; d++) {
        double scaled = AT(row, d) * half * rest;
        total += scaled * scaled;
    }
    for (int lane = 0; lane < SQUARES; lane++)
        total += sums[lane];
    return total;
}

static inline uint64_t mixed(double number)
{
    uint64_t bits = bits_of(number + 0.0); /* zeros of either sign get equal bits */
    return bits ^ (bits >> 32);
}

/* The checksum of a row divided by `divisor`. */
static inline uint64_t checksum_of(Doubles row, Words multipliers, double divisor)
{
    uint64_t checksum = 0;
    if (divisor == 1.0)
        for (int64_t d = 0; d < row.length; d++)
            checksum += mixed(AT(row, d)) * AT(multipliers, d);
    else
        for (int64_t d = 0; d < row.length; d++)
            checksum += mixed(AT(row, d) / divisor) * AT(multipliers, d);
    return checksum;
}

/* Write the statistics of row `i`; return whether all of its numbers are finite. */
static inline bool describe_row(Doubles row, Words multipliers, bool up_to_factor, int64_t i, const Statistics *of)
{
    Extremes found = extremes_of(row);
    if (found.largest >= INFINITE)
        return false;
    double largest = number_of(found.largest);
    int exponent = 1; /* 1 + the exponent of the power of two at or below `largest` */
    if (largest > 0.0)
        frexp(largest, &exponent);
    AT(of->largest, i) = largest;
    AT(of->smallest, i) = largest > 0.0 ? number_of(found.below_smallest + 1) : INFINITY;
    AT(of->square, i) = sum_of_squares(row, exponent - 1);
    AT(of->negative, i) = found.any > MAGNITUDE;
    AT(of->checksum, i) = checksum_of(row, multipliers, up_to_factor && largest > 0.0 ? largest : 1.0);
    return true;
}

KERNEL int64_t scan_block(
    Doubles block, Words multipliers, bool up_to_factor, int64_t start, const Statistics *statistics)
{
    for (int64_t i = 0; i < block.length; i++)
        if (!describe_row(ROW(block, i), multipliers, up_to_factor, start + i, statistics))
            return i;
    return -1;
}

static inline uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* More than the difference of the exponents of any two bits. */
#define NO_BIT 5000

/* The exponent of the last bit of a number (for zero, more than any), and the bits of the number up to this one. No
   branch depends on whether an entry is zero, which a processor could not predict. */
static inline int last_bit(double number, uint64_t *odd)
{
    uint64_t bits = bits_of(number), mantissa = bits & (((uint64_t)1 << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7FF);
    mantissa |= (uint64_t)(exponent > 0) << 52;
    int zeros = __builtin_ctzll(mantissa | (uint64_t)1 << 53);
    *odd = mantissa >> zeros;
    return exponent + (exponent == 0) - 1075 + zeros + NO_BIT * (mantissa == 0);
}

/* The numbers of a row are whole multiples of its unit. */
KERNEL void row_units(Doubles rows, Doubles unit)
{
    for (int64_t i = 0; i < rows.length; i++) {
        uint64_t divisor = 0, odd;
        int lowest = NO_BIT;
        for (int64_t d = 0; d < rows.columns; d++) {
            int exponent = last_bit(AT2(rows, i, d), &odd);
            lowest = exponent < lowest ? exponent : lowest;
        }
        for (int64_t d = 0; d < rows.columns && divisor != 1; d++) {
            last_bit(AT2(rows, i, d), &odd);
            divisor = greatest_common_divisor(odd, divisor);
        }
        AT(unit, i) = divisor ? ldexp((double)divisor, lowest) : 1.0;
    }
}

#endif
