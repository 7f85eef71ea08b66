/* A tile of Hamming distances: distances/hamming.py. */

#ifndef TIEPROOF_HAMMING_H
#define TIEPROOF_HAMMING_H

#include "ones.h"

/* The numbers of codes, and of their words, that stay in a cache while the queries are processed one by one. */
#define CODES 256
#define CODE_WORDS 16

/* Add the bits of a and b to `low`, position by position; return the carries. */
static inline uint64_t add_bits(uint64_t *low, uint64_t a, uint64_t b)
{
    uint64_t half = *low ^ a, carry = (*low & a) | (half & b);
    *low = half ^ b;
    return carry;
}

/* The number of bits in each byte that differ between `code` and code j of a strip, for CODE_WORDS words. Bits at
   the same position are added first (Harley and Seal). A strip contains the first words of all codes, then their
   second words, and so on. */
static inline uint64_t differing_by_byte(const uint64_t *code, uint64_t (*strip)[CODES], int64_t j)
{
    uint64_t one = 0, two = 0, four = 0, eight = 0;
#define DIFFERING(w) (code[w] ^ strip[w][j])
#define TWOS(w) add_bits(&one, DIFFERING(w), DIFFERING(w + 1))
#define FOURS(w) add_bits(&two, TWOS(w), TWOS(w + 2))
#define EIGHTS(w) add_bits(&four, FOURS(w), FOURS(w + 4))
    uint64_t sixteen = add_bits(&eight, EIGHTS(0), EIGHTS(8));
    return ones_by_byte(one) + 2 * ones_by_byte(two) + 4 * ones_by_byte(four) + 8 * ones_by_byte(eight)
           + 16 * ones_by_byte(sixteen);
}

/* counts[j] = the number of bits that differ between `code` and code j of a strip, in the first `words` words. */
static inline void count_differing(const uint64_t *code, uint64_t (*strip)[CODES], int64_t words, int32_t *counts)
{
    _Alignas(64) uint64_t by_byte[CODES] = {0};
    if (words == CODE_WORDS) {
        for (int64_t j = 0; j < CODES; j++)
            counts[j] = (int32_t)sum_of_bytes(differing_by_byte(code, strip, j));
        return;
    }
    for (int64_t w = 0; w < words; w++)
        for (int64_t j = 0; j < CODES; j++)
            by_byte[j] += ones_by_byte(code[w] ^ strip[w][j]);
    for (int64_t j = 0; j < CODES; j++)
        counts[j] = (int32_t)sum_of_bytes(by_byte[j]);
}

#endif

/* out[i, j] = minus the number of bits that differ between x[i] and y[j]. */
KERNEL void OF(hamming_tile)(Words x, Words y, Reals out)
{
    _Alignas(64) uint64_t strip[CODE_WORDS][CODES] = {{0}};
    int32_t counts[CODES];
    for (int64_t start = 0; start < out.columns; start += CODES) {
        int64_t count = out.columns - start < CODES ? out.columns - start : CODES;
        for (int64_t first = 0; first < x.columns; first += CODE_WORDS) {
            int64_t words = x.columns - first < CODE_WORDS ? x.columns - first : CODE_WORDS;
            for (int64_t j = 0; j < count; j++)
                for (int64_t w = 0; w < words; w++)
                    strip[w][j] = AT2(y, start + j, first + w);
            for (int64_t i = 0; i < out.length; i++) {
                REAL *row = &AT2(out, i, start);
                count_differing(&AT2(x, i, first), strip, words, counts);
                for (int64_t j = 0; j < count; j++)
                    row[j] = (first ? row[j] : -(REAL)0.0) - (REAL)counts[j];
            }
        }
    }
}
