/* Rows as codes of type int8, and their products by the fastest instruction of this processor. */

#ifndef TIEPROOF_CODES_H
#define TIEPROOF_CODES_H

#include "matrix_unit.h"
#include "processor.h"

/* Dot products of rows of int8, by the fastest instruction of this processor: distances/codes.py.

   Items are arranged in blocks of 16, of which each step contains four codes of each item. The codes of items are
   passed as unsigned bytes, 128 larger, since the instructions of x86 multiply unsigned by signed bytes. */

#define IN_BLOCK 16

/* The most rows and items of one call of a function below. */
#define HIGHEST 32
#define WIDEST 48

/* The number of bytes of items that stay in the second-level cache while rows are multiplied with them (measured): the
   products of a row with so many items are written side by side. */
#define CACHED 262144

typedef void DotBlock(const int8_t *const *, const uint8_t *const *, int64_t, int32_t (*)[WIDEST]);

/* A way to compute dot products, with the number of rows, and of blocks of items, that it takes at a time. */
typedef struct {
    DotBlock *block;
    int64_t rows, blocks;
    int32_t excess; /* of the codes of items as the function takes them */
} DotWay;

SEPARATE void dot_by_loop(
    const int8_t *const *row, const uint8_t *const *block, int64_t steps, int32_t (*restrict products)[WIDEST])
{
    int32_t sum[IN_BLOCK] = {0};
    for (int64_t step = 0; step < steps; step++)
        for (int i = 0; i < IN_BLOCK; i++)
            for (int d = 0; d < 4; d++)
                sum[i] += block[0][64 * step + 4 * i + d] * row[0][4 * step + d];
    memcpy(products[0], sum, sizeof sum);
}

#if defined __AVX512F__
#include <immintrin.h>

#define NAME dot_by_256_bits
#define TARGET __attribute__((target("avx512vnni"), noinline))
#define VECTOR __m256i
#define PARTS 2
#define ROWS 6
#define BLOCKS 1
#define NEXT 4
#define ALL _mm256_set1_epi32
#define DOT _mm256_dpbusd_epi32
#include "dots.inc"

#define NAME dot_by_512_bits
#define TARGET __attribute__((target("avx512vnni"), noinline))
#define VECTOR __m512i
#define PARTS 1
#define ROWS 12
#define BLOCKS 2
#define NEXT 4
#define ALL _mm512_set1_epi32
#define DOT _mm512_dpbusd_epi32
#include "dots.inc"

#elif defined WITH_AVX_VNNI
#include <immintrin.h>

#define NAME dot_by_256_bits
#define TARGET __attribute__((target("avxvnni"), noinline))
#define VECTOR __m256i
#define PARTS 2
#define ROWS 6
#define BLOCKS 1
#define NEXT 4
#define ALL _mm256_set1_epi32
#define DOT _mm256_dpbusd_avx_epi32
#include "dots.inc"

#elif defined __aarch64__
#include <arm_neon.h>

#ifdef __clang__
#define WITH_DOT "dotprod"
#else
#define WITH_DOT "arch=armv8.2-a+dotprod"
#endif

#define NAME dot_by_128_bits
#define TARGET __attribute__((target(WITH_DOT), noinline))
#define VECTOR int32x4_t
#define PARTS 4
#define ROWS 4
#define BLOCKS 1
#define NEXT 4
#define ALL vdupq_n_s32
#define DOT(sum, items, row) \
    vdotq_s32(sum, veorq_s8(vreinterpretq_s8_s32(items), vdupq_n_s8(-128)), vreinterpretq_s8_s32(row))
#include "dots.inc"

#if KNOWS_MATRICES
#include "dot_matrices.inc"
#endif
#endif

#ifdef WITH_PANELS
/* The most codes of a row that are copied in the order of panels. */
#define MOST_COPIED 6144

/* The sums of the products of 32 rows, in the order of panels, and of two blocks of items. */
WITH_UNIT static void dot_by_panels(
    const int8_t *const *row, const uint8_t *const *block, int64_t steps, int32_t (*restrict products)[WIDEST])
{
    enum { STRIDE = sizeof products[0] };
    START_PANELS();
    for (int64_t at = 0; at < PANEL_ROW * steps; at += PANEL) {
        LOAD_PANEL(4, row[0] + at);
        LOAD_PANEL(6, block[0] + at);
        MULTIPLY_PANELS(0, 4, 6);
        LOAD_PANEL(7, block[1] + at);
        MULTIPLY_PANELS(1, 4, 7);
        LOAD_PANEL(5, row[16] + at);
        MULTIPLY_PANELS(2, 5, 6);
        MULTIPLY_PANELS(3, 5, 7);
    }
    STORE_PANEL(0, &products[0][0], STRIDE);
    STORE_PANEL(1, &products[0][16], STRIDE);
    STORE_PANEL(2, &products[16][0], STRIDE);
    STORE_PANEL(3, &products[16][16], STRIDE);
    END_PANELS();
}
#endif

/* The fastest way of this processor that is not above `highest`, for rows of so many codes: 0 is the loop, 3 the matrix
   unit, which takes whole panels, the others are vectors. */
static inline DotWay dot_way(int64_t highest, int64_t width)
{
#ifdef WITH_PANELS
    if (highest >= 3 && width % PANEL_ROW == 0 && width <= MOST_COPIED && has_matrix_unit())
        return (DotWay){dot_by_panels, 32, 2, 128};
#endif
    int64_t best = dots_by_vectors();
    int64_t way = highest < best ? highest : best;
#if defined __AVX512F__
    if (way == 2)
        return (DotWay){dot_by_512_bits, 12, 2, 128};
#endif
#if defined __AVX512F__ || defined WITH_AVX_VNNI
    if (way == 1)
        return (DotWay){dot_by_256_bits, 6, 1, 128};
#elif defined __aarch64__
#if KNOWS_MATRICES
    if (way == 2)
        return (DotWay){dot_by_matrices, 6, 1, 0};
#endif
    if (way == 1)
        return (DotWay){dot_by_128_bits, 4, 1, 0};
#endif
    (void)way, (void)width;
    return (DotWay){dot_by_loop, 1, 1, 128};
}

#ifdef __AVX512F__
/* For each of some rows, with their own products, which of 32 items reach `lowest` with (product - excess) * of_row *
   of_item * factor - shift, in float. Returns whether any does. */
static inline bool near_codes(
    const int32_t (*products)[WIDEST], const int64_t *row, const int32_t *excess, const float *of_row,
    const float *lowest, int64_t rows, const void *of_item, const void *factor, const void *shift, uint32_t *near)
{
    __m512 item[2], times[2], minus[2];
    for (int part = 0; part < 2; part++) {
        item[part] = _mm512_loadu_ps((const float *)of_item + 16 * part);
        times[part] = _mm512_loadu_ps((const float *)factor + 16 * part);
        minus[part] = _mm512_loadu_ps((const float *)shift + 16 * part);
    }
    uint32_t any = 0;
    for (int64_t r = 0; r < rows; r++) {
        near[r] = 0;
        for (int part = 0; part < 2; part++) {
            __m512i whole = _mm512_loadu_si512(products[row[r]] + 16 * part);
            whole = _mm512_sub_epi32(whole, _mm512_set1_epi32(excess[r]));
            __m512 value = _mm512_mul_ps(_mm512_cvtepi32_ps(whole), _mm512_set1_ps(of_row[r]));
            value = _mm512_sub_ps(_mm512_mul_ps(_mm512_mul_ps(value, item[part]), times[part]), minus[part]);
            near[r] |= (uint32_t)_mm512_cmp_ps_mask(value, _mm512_set1_ps(lowest[r]), _CMP_GE_OQ) << 16 * part;
        }
        any |= near[r];
    }
    return any != 0;
}

/* What a row is to the items of a tile, whose queries count it, too: its factor and shift. */
typedef struct {
    int32_t excess;
    float scale, lowest, factor, shift;
} RowOfCodes;

/* For each of some rows: which of 32 items are near it, as `near_codes`, and of which items it is near, if
   `lowest_of` are the limits of these items. Returns whether there are any. */
static inline bool near_both_ways(
    const int32_t (*products)[WIDEST], const RowOfCodes *rows, int64_t count, const void *of_item, const void *factor,
    const void *shift, const void *lowest_of, uint32_t (*near)[2])
{
    __m512 item[2], times[2], minus[2], limit[2];
    for (int part = 0; part < 2; part++) {
        item[part] = _mm512_loadu_ps((const float *)of_item + 16 * part);
        times[part] = _mm512_loadu_ps((const float *)factor + 16 * part);
        minus[part] = _mm512_loadu_ps((const float *)shift + 16 * part);
        limit[part] = lowest_of ? _mm512_loadu_ps((const float *)lowest_of + 16 * part) : _mm512_set1_ps(INFINITY);
    }
    uint32_t any = 0;
    for (int64_t r = 0; r < count; r++) {
        near[r][0] = near[r][1] = 0;
        for (int part = 0; part < 2; part++) {
            __m512i whole = _mm512_loadu_si512(products[r] + 16 * part);
            whole = _mm512_sub_epi32(whole, _mm512_set1_epi32(rows[r].excess));
            __m512 value = _mm512_mul_ps(_mm512_cvtepi32_ps(whole), _mm512_set1_ps(rows[r].scale));
            value = _mm512_mul_ps(value, item[part]);
            __m512 own = _mm512_sub_ps(_mm512_mul_ps(value, times[part]), minus[part]);
            __m512 of_row = _mm512_mul_ps(value, _mm512_set1_ps(rows[r].factor));
            of_row = _mm512_sub_ps(of_row, _mm512_set1_ps(rows[r].shift));
            near[r][0] |= (uint32_t)_mm512_cmp_ps_mask(own, _mm512_set1_ps(rows[r].lowest), _CMP_GE_OQ) << 16 * part;
            near[r][1] |= (uint32_t)_mm512_cmp_ps_mask(of_row, limit[part], _CMP_GE_OQ) << 16 * part;
        }
        any |= near[r][0] | near[r][1];
    }
    return any != 0;
}
#endif

/* The items of some consecutive blocks that are in a tile. */
typedef struct {
    int64_t block, skipped; /* the first block, and the number of its items that are not in the tile */
    int64_t column, count;  /* the column of the first item that is, and the number of items */
} Piece;

/* Piece `number` of a tile of so many columns, whose first item is `first`. */
static inline Piece piece_of(DotWay way, int64_t number, int64_t first, int64_t columns)
{
    int64_t block = first / IN_BLOCK + number * way.blocks, start = block * IN_BLOCK - first;
    int64_t left = start < 0 ? 0 : start, right = start + way.blocks * IN_BLOCK;
    return (Piece){block, left - start, left, (right < columns ? right : columns) - left};
}

/* The number of pieces of a tile of so many columns, whose first item is `first`. */
static inline int64_t pieces_of(DotWay way, int64_t first, int64_t columns)
{
    int64_t width = way.blocks * IN_BLOCK;
    return columns ? (first % IN_BLOCK + columns + width - 1) / width : 0;
}

/* The number of pieces whose items stay in the cache; rows have so many bytes. */
static inline int64_t pieces_together(DotWay way, int64_t bytes)
{
    int64_t many = CACHED / (way.blocks * IN_BLOCK * bytes);
    return many > 1 ? many : 1;
}

/* Rows that are multiplied together, up to `end`; behind it, the last one is repeated. */
typedef struct {
    int64_t end;
    const int8_t *row[HIGHEST];
#ifdef WITH_PANELS
    int8_t copied[HIGHEST * MOST_COPIED] __attribute__((aligned(64)));
#endif
} TakenRows;

static inline void take_rows(DotWay way, Chars rows, int64_t first, TakenRows *some)
{
    some->end = first + way.rows < rows.length ? first + way.rows : rows.length;
    for (int64_t r = 0; r < way.rows; r++)
        some->row[r] = &AT2(rows, first + r < some->end ? first + r : some->end - 1, 0);
#ifdef WITH_PANELS
    if (way.block != dot_by_panels)
        return;
    int8_t *to = some->copied;
    for (int64_t r = 0; r < way.rows; r += 16) {
        const int8_t *copy = to;
        for (int64_t d = 0; d < rows.columns; d += PANEL_ROW)
            for (int64_t own = r; own < r + 16; own++, to += PANEL_ROW)
                memcpy(to, some->row[own] + d, PANEL_ROW);
        some->row[r] = copy;
    }
#endif
}

/* Compute the products of a piece for some rows of `width` bytes. */
static inline void multiply_rows(
    DotWay way, const TakenRows *some, int64_t width, Bytes blocks, int64_t block, int32_t (*products)[WIDEST])
{
    const uint8_t *of_items[WIDEST / IN_BLOCK];
    for (int64_t b = 0; b < way.blocks; b++)
        of_items[b] = &AT2(blocks, block + b < blocks.length ? block + b : blocks.length - 1, 0);
    way.block(some->row, of_items, width / 4, products);
}

/* Rows as codes of type int8, and tiles of their products: distances/codes.py. */

#ifdef WITH_PANELS
/* Whether the matrix unit's products of some rows and items, the largest codes among them, are those of the loop. */
static inline bool panels_agree(void)
{
    enum { CODES = 3 * PANEL_ROW };
    int8_t codes[HIGHEST][CODES];
    uint8_t items[2][IN_BLOCK * CODES];
    uint32_t state = 1;
    for (int64_t i = 0; i < (int64_t)sizeof codes; i++) {
        state = state * 1664525 + 1013904223;
        codes[i / CODES][i % CODES] = (int8_t)(i < CODES ? -128 : (int32_t)(state >> 24) - 128);
        items[i / (int64_t)sizeof items[0]][i % (int64_t)sizeof items[0]] = (uint8_t)(i < CODES ? 255 : state >> 16 & 255);
    }
    DotWay way = {dot_by_panels, HIGHEST, 2, 128};
    TakenRows some;
    int32_t found[HIGHEST][WIDEST], expected[HIGHEST][WIDEST];
    take_rows(way, (Chars){&codes[0][0], HIGHEST, CODES, CODES}, 0, &some);
    multiply_rows(way, &some, CODES, (Bytes){&items[0][0], 2, sizeof items[0], sizeof items[0]}, 0, found);
    for (int64_t r = 0; r < HIGHEST; r++)
        for (int64_t b = 0; b < 2; b++) {
            const int8_t *row = codes[r];
            const uint8_t *block = items[b];
            dot_by_loop(&row, &block, CODES / 4, expected);
            if (memcmp(&found[r][b * IN_BLOCK], expected[0], IN_BLOCK * sizeof expected[0][0]))
                return false;
        }
    return true;
}
#endif

/* The fastest way to multiply codes by an instruction of this processor, 0 if it has none; 3 only if products agree. */
KERNEL int64_t dots_of_bytes(void)
{
#ifdef WITH_PANELS
    if (has_matrix_unit() && panels_agree())
        return 3;
#endif
    return dots_by_vectors();
}

/* Arrange the codes of items, `excess` larger, in blocks of 16; the last block is filled with codes of zero. */
KERNEL void arrange_codes(Chars codes, int64_t excess, Bytes blocks)
{
    int64_t steps = codes.columns / 4;
    for (int64_t b = 0; b < blocks.length; b++)
        for (int64_t i = 0; i < IN_BLOCK; i++) {
            int64_t item = IN_BLOCK * b + i;
            uint8_t *to = &AT2(blocks, b, 0) + 4 * i;
            for (int64_t step = 0; step < steps; step++)
                for (int64_t d = 0; d < 4; d++)
                    to[64 * step + d] =
                        (uint8_t)((item < codes.length ? AT2(codes, item, 4 * step + d) : 0) + excess);
        }
}

/* The unit of codes in that of finer codes. */
#define FINER 254

static inline int32_t sum_of_codes(const int8_t *code, int64_t length)
{
    int32_t total = 0;
    for (int64_t d = 0; d < length; d++)
        total += code[d];
    return total;
}

/* The product of two rows of codes, to which the finer codes add the digits below; `total` are the sums of the codes
   and of the finer codes of y. */
typedef double ProductOfCodes(
    const int8_t *x,
    const int8_t *finer_x,
    const int8_t *y,
    const int8_t *finer_y,
    const int32_t *total,
    int64_t length);

static inline double with_finer(int32_t coarse, int32_t mixed, int32_t fine)
{
    return coarse + (mixed + fine / (double)FINER) / FINER;
}

SEPARATE double product_by_loop(
    const int8_t *x,
    const int8_t *finer_x,
    const int8_t *y,
    const int8_t *finer_y,
    const int32_t *total,
    int64_t length)
{
    int32_t coarse = 0, mixed = 0, fine = 0;
    for (int64_t d = 0; d < length; d++) {
        coarse += x[d] * y[d];
        mixed += x[d] * finer_y[d] + finer_x[d] * y[d];
        fine += finer_x[d] * finer_y[d];
    }
    (void)total;
    return with_finer(coarse, mixed, fine);
}

#ifdef __AVX512F__
/* The codes of x are made unsigned, 128 larger, as the instruction requires. */
__attribute__((target("avx512vnni"), noinline)) static double product_by_512_bits(
    const int8_t *x,
    const int8_t *finer_x,
    const int8_t *y,
    const int8_t *finer_y,
    const int32_t *total,
    int64_t length)
{
    __m512i coarse = _mm512_setzero_si512(), mixed = coarse, fine = coarse, excess = _mm512_set1_epi8(-128);
    for (int64_t d = 0; d < length; d += 64) {
        __mmask64 some = length - d < 64 ? ((uint64_t)1 << (length - d)) - 1 : ~(uint64_t)0;
        __m512i a = _mm512_xor_si512(_mm512_maskz_loadu_epi8(some, x + d), excess);
        __m512i finer_a = _mm512_xor_si512(_mm512_maskz_loadu_epi8(some, finer_x + d), excess);
        __m512i b = _mm512_maskz_loadu_epi8(some, y + d), finer_b = _mm512_maskz_loadu_epi8(some, finer_y + d);
        coarse = _mm512_dpbusd_epi32(coarse, a, b);
        mixed = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(mixed, a, finer_b), finer_a, b);
        fine = _mm512_dpbusd_epi32(fine, finer_a, finer_b);
    }
    return with_finer(
        _mm512_reduce_add_epi32(coarse) - 128 * total[0],
        _mm512_reduce_add_epi32(mixed) - 128 * (total[0] + total[1]),
        _mm512_reduce_add_epi32(fine) - 128 * total[1]);
}
#endif

static inline ProductOfCodes *fastest_product(int64_t way)
{
#ifdef __AVX512F__
    if (way >= 2 && dots_by_vectors() == 2)
        return product_by_512_bits;
#endif
    (void)way;
    return product_by_loop;
}

/* out[i] = the product of the codes of x[rows[i]] and y[columns[i]], to which the finer codes add the digits below. */
KERNEL void multiply_pairs_of_codes(
    Chars x, Chars finer_x, Chars y, Chars finer_y, Ints total, Longs rows, Longs columns, int64_t way, Doubles out)
{
    ProductOfCodes *product = fastest_product(way);
    for (int64_t i = 0; i < rows.length; i++) {
        FETCH_AHEAD(y, columns, i);
        FETCH_AHEAD(finer_y, columns, i);
        int64_t row = AT(rows, i), column = AT(columns, i);
        AT(out, i) = product(
            &AT2(x, row, 0),
            &AT2(finer_x, row, 0),
            &AT2(y, column, 0),
            &AT2(finer_y, column, 0),
            &AT2(total, column, 0),
            x.columns);
    }
}

#endif
