/* Rows as codes of type int8, and tiles of their products: distances/codes.py. */

#ifndef TIEPROOF_CODES_H
#define TIEPROOF_CODES_H

#include "dot_products.h"

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

APART double product_by_loop(
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
    if (way == 2 && dots_of_bytes() == 2)
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

/* The number of independent sums of squares. */
#undef LANES
#define LANES 16

/* Write the code and the finer code of a number; add the squares of what they lack. With `times`, the number is
   multiplied by the unit's reciprocal, which is exact, in less time than a division takes. */
static inline __attribute__((always_inline)) void OF(encode_number)(
    REAL number, double unit, bool times, double scale, double per_scale, int8_t *code, int8_t *finer, double *lost,
    double *still_lost)
{
    double value = times ? (double)number * unit : (double)number / unit, near = nearbyint(value * per_scale), rest = value - scale * near;
    double nearer = nearbyint(rest * (per_scale * FINER)), last = rest - scale / FINER * nearer;
    *code = (int8_t)near;
    *finer = (int8_t)nearer;
    *lost += rest * rest;
    *still_lost += last * last;
}

/* Encode the numbers of a row. */
static inline __attribute__((always_inline)) void OF(encode_row)(
    const REAL *restrict row, int64_t length, double unit, bool times, double of_code, int8_t *restrict code,
    int8_t *restrict fine, double *restrict rest, double *restrict last)
{
    double per_code = 1 / of_code;
    int64_t d = 0;
    for (; d + LANES <= length; d += LANES)
        for (int lane = 0; lane < LANES; lane++)
            OF(encode_number)(
                row[d + lane], unit, times, of_code, per_code, &code[d + lane], &fine[d + lane], &rest[lane],
                &last[lane]);
    for (; d < length; d++)
        OF(encode_number)(row[d], unit, times, of_code, per_code, &code[d], &fine[d], &rest[0], &last[0]);
}

/* codes[i] = the row first[i] of x, divided by unit[i] and by scale[i], rounded; finer[i] is what is left of it, FINER
   times larger, rounded; lost[i] are the norms of what the codes, and the codes and finer codes, lack of the row that
   is divided by unit[i]; total[i] is the sum of the codes. */
KERNEL void OF(encode)(
    Reals x, Longs first, Doubles unit, Doubles scale, Chars codes, Chars finer, Ints total, Doubles lost)
{
    for (int64_t i = 0; i < first.length; i++) {
        const REAL *restrict row = ROW(x, AT(first, i)).at;
        int8_t *restrict code = &AT2(codes, i, 0), *restrict fine = &AT2(finer, i, 0);
        double of_unit = AT(unit, i), of_code = AT(scale, i);
        double rest[LANES] = {0.0}, last[LANES] = {0.0};
        int exponent;
        if (frexp(of_unit, &exponent) == 0.5 && 1 / of_unit <= DBL_MAX)
            OF(encode_row)(row, x.columns, 1 / of_unit, true, of_code, code, fine, rest, last);
        else
            OF(encode_row)(row, x.columns, of_unit, false, of_code, code, fine, rest, last);
        int64_t d = x.columns;
        for (; d < codes.columns; d++)
            code[d] = fine[d] = 0;
        double squares = 0.0, last_squares = 0.0;
        for (int lane = 0; lane < LANES; lane++) {
            squares += rest[lane];
            last_squares += last[lane];
        }
        AT2(lost, i, 0) = sqrt(squares);
        AT2(lost, i, 1) = sqrt(last_squares);
        AT2(total, i, 0) = sum_of_codes(code, codes.columns);
        AT2(total, i, 1) = sum_of_codes(fine, codes.columns);
    }
}

/* Write products, less what the codes of items exceed, times the scales of their row and items. */
static inline void OF(scale_products)(
    const int32_t *restrict product, int32_t excess, REAL of_row, const REAL *restrict of_item, int64_t count,
    REAL *restrict out)
{
    for (int64_t j = 0; j < count; j++)
        out[j] = (REAL)(product[j] - excess) * of_row * of_item[j];
}

/* out[i, j] = the product of row i and of item first + j, each times its scale.

   way : the fastest way that may be used; all give the same products. */
KERNEL void OF(multiply_codes)(
    Chars rows, Ints total, Reals row_scale, Bytes blocks, Reals item_scale, int64_t first, int64_t way, Reals out)
{
    DotWay dots = dot_way(way);
    int32_t products[HIGHEST][WIDEST];
    int64_t together = pieces_together(dots, rows.columns), pieces = pieces_of(dots, first, out.columns);
    for (int64_t start = 0; start < pieces; start += together)
        for (int64_t i = 0; i < rows.length; i += dots.rows)
            for (int64_t number = start; number < start + together && number < pieces; number++) {
                Piece piece = piece_of(dots, number, first, out.columns);
                int64_t end = multiply_rows(dots, rows, i, blocks, piece.block, products);
                for (int64_t r = i; r < end; r++)
                    OF(scale_products)(
                        &products[r - i][piece.skipped], dots.excess * AT2(total, r, 0), AT(row_scale, r),
                        &AT(item_scale, piece.column), piece.count, &AT2(out, r, piece.column));
            }
}
