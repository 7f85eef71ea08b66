/* Tiles of numbers of bits that differ, and of short sums of products. */

#ifndef TIEPROOF_PRODUCTS_H
#define TIEPROOF_PRODUCTS_H

#include "codes.h"

/* The numbers of bits that differ between rows and items, by the fastest instruction of this processor:
   distances/bits.py.

   Rows and blocks of items are arranged as for dot products, so each step compares 32 bits of each item. */

SEPARATE void differ_by_loop(
    const int8_t *const *row, const uint8_t *const *block, int64_t steps, int32_t (*restrict products)[WIDEST])
{
    int32_t sum[IN_BLOCK] = {0};
    uint32_t of_row, of_item;
    for (int64_t step = 0; step < steps; step++)
        for (int64_t i = 0; i < IN_BLOCK; i++) {
            memcpy(&of_row, row[0] + 4 * step, 4);
            memcpy(&of_item, block[0] + 64 * step + 4 * i, 4);
            sum[i] += __builtin_popcount(of_row ^ of_item);
        }
    memcpy(products[0], sum, sizeof sum);
}

#ifdef __AVX2__
#include <immintrin.h>

/* The number of steps after which a byte with the number of its bits that differ may be full. */
#define STEPS 31

/* The number of bits set in each byte: those of its halves, each looked up in a table. */
static inline __m256i ones_by_byte(__m256i bytes)
{
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i ones = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    __m256i of_high = _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low));
    return _mm256_add_epi8(_mm256_shuffle_epi8(ones, _mm256_and_si256(bytes, low)), of_high);
}

/* Add the sums of four bytes each. */
static inline void add_bytes(int32_t *to, __m256i bytes)
{
    __m256i fours = _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
    _mm256_storeu_si256((__m256i *)to, _mm256_add_epi32(fours, _mm256_loadu_si256((const __m256i *)to)));
}

#define DIFFERING 4
#define NAME add_differing
#define TARGET __attribute__((noinline))
#define VECTOR __m256i
#define PARTS 2
#define ROWS DIFFERING
#define BLOCKS 1
#define NEXT 4
#define ALL _mm256_set1_epi32
#define DOT(sum, items, row) _mm256_add_epi8(sum, ones_by_byte(_mm256_xor_si256(items, row)))
#define PUT(to, sum) add_bytes(to, sum)
#include "dots.inc"

static void differ_by_256_bits(
    const int8_t *const *row, const uint8_t *const *block, int64_t steps, int32_t (*restrict products)[WIDEST])
{
    memset(products, 0, DIFFERING * sizeof products[0]);
    for (int64_t start = 0; start < steps; start += STEPS) {
        const int8_t *from[] = {row[0] + 4 * start, row[1] + 4 * start, row[2] + 4 * start, row[3] + 4 * start};
        const uint8_t *items = block[0] + 64 * start;
        add_differing(from, &items, steps - start < STEPS ? steps - start : STEPS, products);
    }
}
#endif

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
#include "dots.inc"
#endif

/* The fastest way of this processor that is not above `highest`: 0 is the loop, 1 are vectors. */
static inline DotWay way_to_differ(int64_t highest)
{
#ifdef __AVX512F__
    if (highest > 0 && counts_bits_by_eight())
        return (DotWay){differ_by_512_bits, 12, 2, 0};
#endif
#ifdef __AVX2__
    if (highest > 0)
        return (DotWay){differ_by_256_bits, DIFFERING, 1, 0};
#endif
    (void)highest;
    return (DotWay){differ_by_loop, 1, 1, 0};
}

/* Tiles of float32 products whose sums are short, by fused multiply-adds: distances/short_sums.py. */

/* The number of products that are summed before these sums are added. */
#define SUMMED 64

/* The number of dimensions that are arranged at a time, so that a block of items stays in the cache. */
#define ARRANGED 256

SEPARATE void sum_by_loop(
    const int8_t *const *row, const uint8_t *const *block, int64_t steps, int32_t (*restrict products)[WIDEST])
{
    float sum[IN_BLOCK] = {0}, of_row, of_item;
    for (int64_t step = 0; step < steps; step++)
        for (int i = 0; i < IN_BLOCK; i++) {
            memcpy(&of_row, row[0] + 4 * step, 4);
            memcpy(&of_item, block[0] + 64 * step + 4 * i, 4);
            sum[i] += of_row * of_item;
        }
    float total[IN_BLOCK];
    memcpy(total, products[0], sizeof total);
    for (int i = 0; i < IN_BLOCK; i++)
        total[i] += sum[i];
    memcpy(products[0], total, sizeof total);
}

#if defined __AVX512F__
#define NAME sum_by_512_bits
#define TARGET __attribute__((noinline))
#define VECTOR __m512
#define PARTS 1
#define ROWS 9
#define BLOCKS 3
#define NEXT (4 * ROWS)
#define ALL(four) _mm512_castsi512_ps(_mm512_set1_epi32(four))
#define DOT(sum, items, row) _mm512_fmadd_ps(items, row, sum)
#define PUT(to, sum) _mm512_storeu_ps((float *)(to), _mm512_add_ps(_mm512_loadu_ps((const float *)(to)), sum))
#include "dots.inc"
#elif defined __AVX2__ && defined __FMA__
#define NAME sum_by_256_bits
#define TARGET __attribute__((noinline))
#define VECTOR __m256
#define PARTS 2
#define ROWS 6
#define BLOCKS 1
#define NEXT (4 * ROWS)
#define ALL(four) _mm256_castsi256_ps(_mm256_set1_epi32(four))
#define DOT(sum, items, row) _mm256_fmadd_ps(items, row, sum)
#define PUT(to, sum) _mm256_storeu_ps((float *)(to), _mm256_add_ps(_mm256_loadu_ps((const float *)(to)), sum))
#include "dots.inc"
#endif

/* The fastest way of this library that is not above `highest`: 0 is the loop, 1 are vectors. */
static inline DotWay way_to_sum(int64_t highest)
{
#if defined __AVX512F__
    if (highest > 0)
        return (DotWay){sum_by_512_bits, 9, 3, 0};
#elif defined __AVX2__ && defined __FMA__
    if (highest > 0)
        return (DotWay){sum_by_256_bits, 6, 1, 0};
#endif
    (void)highest;
    return (DotWay){sum_by_loop, 1, 1, 0};
}

/* Whether this library multiplies by vectors; otherwise the products of BLAS are faster. */
KERNEL int64_t sums_by_vectors(void)
{
    return way_to_sum(1).rows > 1;
}

/* Write dimensions start … stop-1 of the rows, `together` rows side by side; rows of zeros fill the last group. */
static inline void arrange_floats(Floats rows, int64_t start, int64_t stop, int64_t together, Floats out)
{
    int64_t depth = stop - start, groups = (rows.length + together - 1) / together;
    for (int64_t group = 0; group < groups; group++)
        for (int64_t first = 0; first < depth; first += IN_BLOCK) {
            int64_t last = first + IN_BLOCK < depth ? first + IN_BLOCK : depth;
            for (int64_t r = 0; r < together; r++) {
                int64_t row = group * together + r;
                float *to = &AT(out, (group * depth + first) * together + r);
                for (int64_t d = first; d < last; d++, to += together)
                    *to = row < rows.length ? AT2(rows, row, start + d) : 0.0f;
            }
        }
}

/* The sums of `depth` products each of a group of rows and of blocks of items; the functions of a way add to `total`,
   where the bits of floats are. */
static inline void sum_group(
    DotWay way, const float *rows, const float *items, int64_t depth, int32_t (*restrict total)[WIDEST])
{
    memset(total, 0, (size_t)way.rows * sizeof total[0]);
    for (int64_t start = 0; start < depth; start += SUMMED) {
        const int8_t *row[HIGHEST];
        const uint8_t *block[WIDEST / IN_BLOCK];
        for (int64_t r = 0; r < way.rows; r++)
            row[r] = (const int8_t *)(rows + start * way.rows + r);
        for (int64_t b = 0; b < way.blocks; b++)
            block[b] = (const uint8_t *)(items + (b * depth + start) * IN_BLOCK);
        way.block(row, block, depth - start < SUMMED ? depth - start : SUMMED, total);
    }
}

/* out[i, j] = rows[i] . items[j], each a sum of sums of SUMMED products.

   of_rows, of_items : room for ARRANGED dimensions of the rows and of the items, and for a whole group of either */
KERNEL void multiply_by_short_sums(
    Floats rows, Floats items, Floats of_rows, Floats of_items, int64_t way, Floats out)
{
    DotWay sums = way_to_sum(way);
    int32_t total[HIGHEST][WIDEST];
    int64_t width = sums.blocks * IN_BLOCK, dimensions = rows.columns;
    for (int64_t start = 0; start < dimensions; start += ARRANGED) {
        int64_t stop = start + ARRANGED < dimensions ? start + ARRANGED : dimensions, depth = stop - start;
        arrange_floats(rows, start, stop, sums.rows, of_rows);
        arrange_floats(items, start, stop, IN_BLOCK, of_items);
        for (int64_t j = 0; j < items.length; j += width)
            for (int64_t i = 0; i < rows.length; i += sums.rows) {
                sum_group(sums, of_rows.at + i * depth, of_items.at + j * depth, depth, total);
                int64_t end = i + sums.rows < rows.length ? i + sums.rows : rows.length;
                int64_t count = width < items.length - j ? width : items.length - j;
                for (int64_t r = i; r < end; r++) {
                    float *to = &AT2(out, r, j), sums[WIDEST];
                    memcpy(sums, total[r - i], (size_t)width * sizeof *sums);
                    for (int64_t c = 0; c < count; c++)
                        to[c] = start ? to[c] + sums[c] : sums[c];
                }
            }
    }
}

#endif
