/* The numbers of bits that differ between rows and items, by the fastest instruction of this processor:
   distances/bits.py.

   Rows and blocks of items are arranged as for dot products, so each step compares 32 bits of each item. */

#ifndef TIEPROOF_DIFFERING_BITS_H
#define TIEPROOF_DIFFERING_BITS_H

#include "dot_products.h"

/* The number of steps whose bits are added position by position. */
#define STEPS 16

/* The number of bits set in each byte, written so that many words are counted side by side. */
static inline uint32_t ones_by_byte(uint32_t word)
{
    word -= word >> 1 & 0x55555555;
    word = (word & 0x33333333) + (word >> 2 & 0x33333333);
    return (word + (word >> 4)) & 0x0F0F0F0F;
}

/* The sum of the bytes of a word. */
static inline int32_t sum_of_bytes(uint32_t word)
{
    word = (word & 0x00FF00FF) + (word >> 8 & 0x00FF00FF);
    return (int32_t)((word + (word >> 16)) & 0xFFFF);
}

/* The bits of a row and of item i that differ in a step. */
static inline uint32_t differing(const int8_t *row, const uint8_t *block, int64_t step, int64_t i)
{
    uint32_t of_row, of_item;
    memcpy(&of_row, row + 4 * step, 4);
    memcpy(&of_item, block + 64 * step + 4 * i, 4);
    return of_row ^ of_item;
}

/* Add the bits of a and b to `low`, position by position; return the carries. */
static inline uint32_t add_bits(uint32_t *low, uint32_t a, uint32_t b)
{
    uint32_t half = *low ^ a, carry = (*low & a) | (half & b);
    *low = half ^ b;
    return carry;
}

/* Add the numbers of bits that differ in STEPS steps. Bits at the same position are added first (Harley and Seal). */
APART void differ_in_many_steps(const int8_t *row, const uint8_t *block, int32_t *restrict sum)
{
    for (int64_t i = 0; i < IN_BLOCK; i++) {
        uint32_t one = 0, two = 0, four = 0, eight = 0;
#define TWOS(step) add_bits(&one, differing(row, block, step, i), differing(row, block, step + 1, i))
#define FOURS(step) add_bits(&two, TWOS(step), TWOS(step + 2))
#define EIGHTS(step) add_bits(&four, FOURS(step), FOURS(step + 4))
        uint32_t sixteen = add_bits(&eight, EIGHTS(0), EIGHTS(8));
        uint32_t by_byte = ones_by_byte(one) + 2 * ones_by_byte(two) + 4 * ones_by_byte(four)
                           + 8 * ones_by_byte(eight) + 16 * ones_by_byte(sixteen);
        sum[i] += sum_of_bytes(by_byte);
    }
}

APART void differ_by_loop(
    const int8_t *const *row, const uint8_t *const *block, int64_t steps, int32_t (*restrict products)[WIDEST])
{
    int32_t sum[IN_BLOCK] = {0};
    int64_t step = 0;
    for (; step + STEPS <= steps; step += STEPS)
        differ_in_many_steps(row[0] + 4 * step, block[0] + 64 * step, sum);
    for (; step < steps; step++)
        for (int64_t i = 0; i < IN_BLOCK; i++)
            sum[i] += sum_of_bytes(ones_by_byte(differing(row[0], block[0], step, i)));
    memcpy(products[0], sum, sizeof sum);
}

#ifdef __AVX512F__
#define NAME differ_by_512_bits
#define TARGET __attribute__((target("avx512vpopcntdq"), noinline))
#define VECTOR __m512i
#define PARTS 1
#define ROWS 12
#define BLOCKS 2
#define NEXT 4
#define ALL _mm512_set1_epi32
#define DOT(sum, items, row) _mm512_add_epi32(sum, _mm512_popcnt_epi32(_mm512_xor_si512(items, row)))
#include "dot_block.h"
#endif

/* The fastest way of this processor that is not above `highest`: 0 is the loop, 1 is an instruction for 512 bits. */
static inline DotWay way_to_differ(int64_t highest)
{
#ifdef __AVX512F__
    if (highest > 0 && counts_bits_by_eight())
        return (DotWay){differ_by_512_bits, 12, 2, 0};
#endif
    (void)highest;
    return (DotWay){differ_by_loop, 1, 1, 0};
}

#endif
